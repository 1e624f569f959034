"""Vectors, twists and wrenches."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from linkwork.errors import LinkworkError, ShapeError
from linkwork.faces.pykdl import Equal, Twist, Vector, Wrench
from linkwork.faces.pykdl.values import WrongTypeError
from seeds import rng

# vector


@pytest.mark.row("S3-001", "S3-002")
def test_nothing_three_numbers_or_a_copy():
    assert list(Vector()) == [0.0, 0.0, 0.0]
    v = Vector(1, 2.5, np.float32(3))
    assert list(v) == [1.0, 2.5, 3.0]
    assert {type(x) for x in v} == {float}
    other = Vector(v)
    other[0] = 9.0
    assert list(v) == [1.0, 2.5, 3.0]
    assert list(Vector(x=1, z=3, y=2)) == [1.0, 2.0, 3.0]


@pytest.mark.row("S3-004")
def test_products_and_quotients_with_numbers():
    v = Vector(1, 2, 3)
    for twice in (v * 2, 2 * v, v * 2.0, 2.0 * v, np.float64(2) * v, v * np.int64(2), v / 0.5):
        assert isinstance(twice, Vector)
        assert list(twice) == [2.0, 4.0, 6.0]
    v *= 2
    v /= 4
    assert list(v) == [0.5, 1.0, 1.5]
    by_zero = Vector(1, 0, -1) / 0
    assert by_zero[0] == math.inf
    assert math.isnan(by_zero[1])
    assert by_zero[2] == -math.inf
    assert list(Vector(1, 1, 1) / -0.0) == [-math.inf] * 3
    with pytest.raises(TypeError, match="takes a number, or a Vector for the cross product"):
        v * "a"  # pyright: ignore
    with pytest.raises(TypeError, match="Vector / takes a number"):
        v / v  # pyright: ignore


@pytest.mark.row("S3-005")
def test_elements():
    v = Vector(1, 2, 3)
    assert [v[k] for k in range(3)] == [1.0, 2.0, 3.0]
    v[np.int64(1)] = 7
    with pytest.raises(TypeError):
        v[0] = "a"  # pyright: ignore
    assert list(v) == [1.0, 7.0, 3.0]


@pytest.mark.row("S3-007")
def test_length_is_exact_at_all_sizes():
    assert Vector(3, 4, 12).Norm() == 13.0
    for scale in (1e-300, 1e-7, 1e300):
        for k in range(3):
            v = Vector()
            v[k] = scale
            assert v.Norm() == scale
            assert v.Norm(1e-6) == scale
    assert Vector(3e200, 4e200, 0).Norm() == pytest.approx(5e200, rel=1e-15)


@pytest.mark.row("S3-010")
def test_zero_of_the_class_and_of_an_object():
    v = Vector(1, 2, 3)
    assert list(Vector.Zero()) == [0.0, 0.0, 0.0]
    assert list(v) == [1.0, 2.0, 3.0]
    assert list(v.Zero()) == [0.0, 0.0, 0.0]
    assert list(v) == [0.0, 0.0, 0.0]


@pytest.mark.row("S3-016")
def test_shown_as_twelve_places():
    assert repr(Vector(1, 2, 3)) == "[           1,           2,           3]"


def test_no_new_attributes_and_our_errors():
    with pytest.raises(AttributeError):
        Vector().foo = 1  # pyright: ignore
    assert issubclass(WrongTypeError, LinkworkError)


# batches


def test_a_batch_does_the_same_to_each():
    random = rng("batch")
    a, b = random.normal(size=(2, 7, 3))
    A, B = Vector.FromArray(a), Vector.FromArray(b)
    assert A.shape == (7,)
    factors = random.normal(size=7)
    for batch, one in (
        (A + B, lambda p, q, f: p + q),
        (A * B, lambda p, q, f: p * q),
        (A * factors, lambda p, q, f: p * f),
        (factors * A, lambda p, q, f: f * p),
        (A / factors, lambda p, q, f: p / f),
        (-A, lambda p, q, f: -p),
        (A - Vector(1, 2, 3), lambda p, q, f: p - Vector(1, 2, 3)),
    ):
        assert isinstance(batch, Vector)
        for k in range(7):
            expected = one(Vector(*a[k]), Vector(*b[k]), float(factors[k]))
            assert list(batch.At(k)) == list(expected)
    assert np.allclose(A.Norm(), np.linalg.norm(a, axis=1), rtol=1e-15)
    assert np.array_equal(A.ToArray(), a)
    assert repr(A) == "<Vector: a batch of shape (7,)>"
    assert (A == B).tolist() == [False] * 7
    assert (A != B).all()
    assert Equal(A, A + Vector(0, 0, 1e-7)).all()


def test_a_batch_of_short_vectors_is_normalized_row_by_row():
    batch = Vector.FromArray([[0, 3, 4], [0, 0, 0], [1e-9, 0, 0]])
    assert batch.Normalize().tolist() == [5.0, 0.0, 0.0]
    assert batch.ToArray().tolist() == [[0, 0.6, 0.8], [1, 0, 0], [1, 0, 0]]


def test_a_batch_of_one_is_a_batch():
    one = Vector.FromArray([[3, 4, 0]])
    assert one.shape == (1,)
    assert one.Norm().tolist() == [5.0]  # pyright: ignore
    one[1] = 0.0
    assert (one * one).ToArray().tolist() == [[0, 0, 0]]
    assert (one == one).tolist() == [True]


def test_a_batch_looks_into_its_array_and_never_writes_there():
    array = np.arange(6.0).reshape(2, 3)
    batch = Vector.FromArray(array)
    array[0, 0] = 7.0
    assert batch.At(0)[0] == 7.0
    batch.ReverseSign()
    batch[1] = 5.0
    batch += Vector(1, 1, 1)
    assert array.tolist() == [[7, 1, 2], [3, 4, 5]]


def test_shapes_that_do_not_fit():
    with pytest.raises(ShapeError, match=r"\(\.\.\., 3\), not \(2,\)"):
        Vector.FromArray([1, 2])
    with pytest.raises(ShapeError, match="do not fit together"):
        Vector(np.ones(2), np.ones(3), 0)
    with pytest.raises(ValueError):
        Vector.FromArray(np.ones((2, 3))) + Vector.FromArray(np.ones((4, 3)))


# pair


A, B = Vector(1, 2, 3), Vector(4, 5, 6)
BOTH = pytest.mark.parametrize("kind", [Twist, Wrench])


@pytest.mark.row("S3-076")
@BOTH
def test_elements_of_pairs(kind: type[Any]):
    t = kind(A, B)  # pyright: ignore
    assert [t[k] for k in range(6)] == [1, 2, 3, 4, 5, 6]
    t[0], t[5] = 7, 8
    assert list(t) == [7, 2, 3, 4, 5, 8]


@pytest.mark.row("S3-077")
def test_twists_and_wrenches_are_not_multiplied_or_mixed():
    t, w = Twist(A, B), Wrench(A, B)
    for wrong in (
        lambda: t * t, lambda: t * w, lambda: w * t, lambda: t + w, lambda: w - t,
        lambda: t + 1, lambda: t / t, lambda: t * "a", lambda: 1 - w,
    ):  # fmt: skip
        with pytest.raises(TypeError, match=r"is not defined: (Twist|Wrench) (. takes a|has no)"):
            wrong()
    assert t != w


@pytest.mark.row("S3-070", "S3-071")
@pytest.mark.parametrize(
    ("kind", "names"), [(Twist, ("vel", "rot")), (Wrench, ("force", "torque"))]
)
def test_pairs_of_vectors_and_their_parts(kind: Any, names: tuple[str, str]):
    first, second = names
    assert list(kind()) == [0.0] * 6
    t = kind(A, B)
    assert list(t) == [1, 2, 3, 4, 5, 6]
    assert list(kind(**{first: A, second: B})) == list(t)
    other = kind(t)
    getattr(other, first)[0] = 9.0
    setattr(t, second, Vector(7, 8, 9))
    assert list(other) == [9, 2, 3, 4, 5, 6]
    assert list(getattr(t, second)) == [7, 8, 9]
    another = Wrench if kind is Twist else Twist
    for wrong in ((A,), (A, 1), (A, B, A), (another(A, B),)):
        with pytest.raises(TypeError):
            kind(*wrong)
    with pytest.raises(TypeError, match="takes a Vector, not int"):
        setattr(t, first, 1)


@pytest.mark.row("S3-075")
@BOTH
def test_zero_in_place(kind: type[Any]):
    t = kind(A, B)  # pyright: ignore
    assert list(kind.Zero()) == [0.0] * 6  # pyright: ignore
    assert list(t.Zero()) == list(t) == [0.0] * 6  # pyright: ignore


@BOTH
def test_reference_points_of_a_batch(kind: type[Any]):
    six = rng("arrays").normal(size=(5, 6))
    batch: Any = kind.FromArray(six)
    assert batch.RefPoint(A).At(3) == kind.FromArray(six[3]).RefPoint(A)  # pyright: ignore
