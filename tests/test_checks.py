"""One rule for what counts as numbers, and for what counts as a pose."""

from __future__ import annotations

import json
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

from linkwork.checks import (
    broadcast_rows,
    finite_number,
    finite_rows,
    leading_shape,
    real_array,
    real_rows,
    rigid_pose,
    rigid_poses,
    rotation_matrices,
    whole_number,
)
from linkwork.errors import InputError, ShapeError
from linkwork.json_values import as_json
from linkwork.legible import legible
from linkwork.ops.numpy import NUMPY
from linkwork.spatial import so3
from seeds import rng


def test_float64_is_not_copied():
    a = np.arange(6.0).reshape(2, 3)
    assert real_array(a, "q") is a


@pytest.mark.parametrize(
    "a",
    [
        [1, 2],
        (1.0, 2.0),
        np.array([1, 2], np.uint8),
        np.array([1, 2], ">f4"),
        range(1, 3),
        np.array([1, 2], np.longdouble),
        np.array([1, 2], object),
        [Fraction(1), Fraction(4, 2)],
        [Decimal("1.0"), 2],
        [np.longdouble(1), 2.0],
    ],
)
def test_other_real_numbers_are_converted(a):
    result = real_array(a, "q")
    assert result.dtype == np.float64
    assert result.tolist() == [1.0, 2.0]


def test_fractions_become_the_nearest_float64():
    given = [[Fraction(1, 3), Fraction(-22, 7)], [Decimal("0.1"), 2**70]]
    assert real_array(given, "q").tolist() == [[1 / 3, -22 / 7], [0.1, 2.0**70]]
    third = np.longdouble(1) / 3
    assert real_array(third, "q") == float(third)


TOO_LARGE = [[10**400], [Fraction(10**400)], [Decimal("-1e400")]]
if np.finfo(np.longdouble).maxexp > np.finfo(np.float64).maxexp:
    TOO_LARGE.append(np.array([np.finfo(np.longdouble).max]))


@pytest.mark.parametrize("a", TOO_LARGE, ids=range(len(TOO_LARGE)))
def test_finite_numbers_that_float64_does_not_reach_are_refused(a):
    with pytest.raises(InputError, match="q must be real numbers that float64 reaches"):
        real_array(a, "q")


def test_what_is_infinite_or_nan_stays_so():
    for infinite in (np.array([np.inf], np.longdouble), [Decimal("inf")], [10**20, np.inf]):
        assert np.isinf(real_array(infinite, "q")[-1])
    assert np.isnan(real_array([Decimal("nan")], "q")[0])


def test_nothing_at_all_is_fine():
    assert real_array([], "q").shape == (0,)


LOSSY = [
    [1j],
    ["1"],
    "1",
    None,
    [True],
    [None],
    [[1], [1, 2]],
    object(),
    {1: 2},
    [b"1"],
    [Fraction(1), True],
    [Fraction(1), 1j],
    [Decimal("snan")],
    [Fraction(1), "1"],
]


@pytest.mark.parametrize("a", LOSSY, ids=range(len(LOSSY)))
def test_what_would_lose_something_is_refused(a):
    with pytest.raises(InputError, match="q must be real numbers"):
        real_array(a, "q")


def test_positions_by_name_are_told_what_makes_an_array_of_them():
    with pytest.raises(InputError, match=r"not a dict; robot\.configuration makes an array"):
        real_array({"joint1": 1.0}, "q")  # type: ignore[arg-type]  the fault


def test_masked_values_are_refused_and_masks_that_hide_nothing_are_not():
    with pytest.raises(InputError, match="masked"):
        real_array(np.ma.masked_array([1.0, 2.0], [True, False]), "q")
    assert real_array(np.ma.masked_array([1.0, 2.0]), "q").tolist() == [1.0, 2.0]


def test_rows_have_their_length():
    assert real_rows(np.zeros((2, 0, 3)), "q", 3).shape == (2, 0, 3)
    assert real_rows([1, 2, 3], "q", 3).shape == (3,)
    for wrong in (1.0, [1, 2], np.zeros((3, 2))):
        with pytest.raises(ShapeError, match=r"q must have shape \(..., 3\), not"):
            real_rows(wrong, "q", 3)


def test_whole_numbers():
    for value in (1, np.int8(1), np.uint64(1)):
        found = whole_number(value, "n")
        assert (found, type(found)) == (1, int)
    assert whole_number(0, "n", least=0) == 0
    for wrong in (0, -1, 2**31, 10**5000, True, np.True_, 1.0, "1", None, np.ones(1, int)):
        with pytest.raises(InputError, match="n must be a whole number from 1 to 2147483647, not "):
            whole_number(wrong, "n")
    with pytest.raises(InputError, match="n must be a whole number from 0 to 3, not 4"):
        whole_number(4, "n", least=0, most=3)


def test_finite_numbers():
    for value in (2, 2.0, np.float32(2), np.array(2), Fraction(2), Decimal(2)):
        found = finite_number(value, "dt")
        assert (found, type(found)) == (2.0, float)
    for wrong in (np.nan, np.inf, 10**400, True, "2", None, [2.0], np.ones(1), 1j):
        with pytest.raises(InputError, match="dt must be a finite number, not "):
            finite_number(wrong, "dt")
    assert finite_number(0, "dt", least=0.0, most=1.0) == 0.0
    for wrong in (-1, 1.5):
        with pytest.raises(InputError, match="dt must be a finite number from 0 up to 1, not "):
            finite_number(wrong, "dt", least=0.0, most=1.0)
    with pytest.raises(InputError, match="dt must be a finite number above 0, not 0"):
        finite_number(0, "dt", above=0.0)


def test_finite_rows_name_the_first_number_that_is_not():
    assert finite_rows([[1, 2]], "q", 2).tolist() == [[1.0, 2.0]]
    given = np.zeros((2, 3, 2))
    given[1, 0, 1] = np.nan
    with pytest.raises(InputError, match=r"q\[1, 0, 1\] \(elbow\) is nan; it must be a finite"):
        finite_rows(given, "q", 2, ["shoulder", "elbow"])


def test_leading_shapes():
    arrays = {"q": np.zeros((3, 1, 7)), "v": np.zeros((4, 6)), "T": np.zeros(6)}
    assert leading_shape(arrays) == (3, 4)
    assert leading_shape({"T": np.zeros((2, 4, 4))}, axes=2) == (2,)
    assert leading_shape({}) == ()
    assert broadcast_rows(arrays["v"], (3, 4)).shape == (12, 6)
    assert broadcast_rows(arrays["T"], ()).shape == (1, 6)
    with pytest.raises(ShapeError, match=r"go together: q \(3, 1, 7\), v \(4, 6\), w \(2, 6\)"):
        leading_shape({"q": arrays["q"], "v": arrays["v"], "w": np.zeros((2, 6))})


def poses(n, label):
    g = rng(label)
    T = np.tile(np.eye(4), (n, 1, 1))
    for each in T:
        each[:3, :3], each[:3, 3] = so3.exp(NUMPY, g.normal(size=3)), g.normal(size=3)
    return T


def test_poses_pass_as_they_are():
    T = poses(6, "pass")
    assert rigid_poses(T) is T
    assert rigid_poses(T.reshape(2, 3, 4, 4)).shape == (2, 3, 4, 4)
    assert rigid_poses(T[0].tolist()).dtype == np.float64
    assert rigid_poses(np.zeros((0, 4, 4))).shape == (0, 4, 4)
    assert rotation_matrices(T[:, :3, :3]).shape == (6, 3, 3)


BAD = {
    "not a number": lambda T: T.__setitem__((0, 0), np.nan),
    "infinite position": lambda T: T.__setitem__((1, 3), np.inf),
    "infinite rotation": lambda T: T.__setitem__((1, 1), np.inf),
    "scaled": lambda T: T.__setitem__((slice(3), slice(3)), 1.001 * T[:3, :3]),
    "sheared": lambda T: T.__setitem__((0, 1), T[0, 1] + 1e-3),
    "reflected": lambda T: T.__setitem__((slice(3), 0), -T[:3, 0]),
    "last row": lambda T: T.__setitem__((3, 3), 2.0),
}


@pytest.mark.parametrize("what", BAD)
def test_what_is_not_rigid_is_refused_by_its_row(what):
    T = poses(6, what).reshape(2, 3, 4, 4)
    BAD[what](T[1, 2])
    with pytest.raises(InputError, match=r"^T \[1, 2\] is not a rigid pose: the upper left"):
        rigid_poses(T)
    with pytest.raises(InputError, match=r"^task 'left': target is not a rigid pose"):
        rigid_poses(T[1, 2], "task 'left': target")
    if what not in ("infinite position", "last row"):
        with pytest.raises(InputError, match=r"^R \[1, 2\] is not a rotation"):
            rotation_matrices(T[..., :3, :3])


@pytest.mark.parametrize("shape", [(), (4,), (3, 4), (4, 3), (16,), (2, 3, 3)])
def test_other_shapes_are_named(shape):
    with pytest.raises(ShapeError, match=r"^T must have shape \(\.\.\., 4, 4\), not"):
        rigid_poses(np.zeros(shape))
    with pytest.raises(ShapeError, match=r"^T must have shape \(4, 4\), not"):
        rigid_pose(np.zeros(shape))


# ---------------------------------------------------------------------------------- values as JSON


def test_arrays_and_numbers_become_pythons_own():
    given = {
        "q": np.arange(4.0).reshape(2, 2),
        "n": np.int64(3),
        "fine": np.bool_(True),
        1: (2, "a"),
    }
    told = as_json(given)
    assert told == {"q": [[0.0, 1.0], [2.0, 3.0]], "n": 3, "fine": True, "1": [2, "a"]}
    assert type(told["n"]) is int
    assert type(told["fine"]) is bool
    assert json.loads(json.dumps(told)) == told


def test_what_json_has_no_number_for_is_none():
    given = {"a": np.array([1.0, np.nan]), "b": np.float64(np.inf), "c": [float("-inf"), None]}
    assert as_json(given) == {"a": [1.0, None], "b": None, "c": [None, None]}


def test_legible_leaves_scripts_of_all_kinds_alone():
    for text in ("arm_1", "Größe", "\u5de6\u624b", "\u05e9\u05dc\u05d5\u05dd", "a b"):
        assert legible(text) == text
    assert legible("a\nb") == r"a\nb" and legible("a\nb", lines=True) == "a\nb"
