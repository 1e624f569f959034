"""One rule for what counts as numbers."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

from linkwork.arrays import real_array, real_rows
from linkwork.errors import InputError, ShapeError


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
