from __future__ import annotations

import math

import numpy as np
import pytest

from linkwork.faces.pykdl import Twist, Vector, Wrench
from linkwork.faces.pykdl.pair import Pair

A, B = Vector(1, 2, 3), Vector(4, 5, 6)
BOTH = pytest.mark.parametrize("kind", [Twist, Wrench])


@pytest.mark.row("S3-076")
@BOTH
def test_operators(kind: type[Pair]):
    a, b = kind(A, B), kind(B, A)  # pyright: ignore
    for made, expected in (
        (a + b, [5, 7, 9, 5, 7, 9]),
        (a - b, [-3, -3, -3, 3, 3, 3]),
        (a * 2, [2, 4, 6, 8, 10, 12]),
        (2.0 * a, [2, 4, 6, 8, 10, 12]),
        (np.float64(2) * a, [2, 4, 6, 8, 10, 12]),
        (a / 2, [0.5, 1, 1.5, 2, 2.5, 3]),
        (-a, [-1, -2, -3, -4, -5, -6]),
    ):
        assert isinstance(made, kind)
        assert list(made) == expected
    kept = a
    a += b
    a -= b
    assert a is kept
    assert list(a) == [1, 2, 3, 4, 5, 6]
    assert list(a / 0) == [math.inf] * 6
    assert a == kind(A, B + Vector(0, 0, 9e-7))  # pyright: ignore
    assert a != kind(A, B + Vector(0, 0, 2e-6))  # pyright: ignore
    assert (a * np.arange(3.0)).At(2) == 2 * a
    with pytest.raises(TypeError, match="unhashable"):
        hash(a)


@pytest.mark.row("S3-076")
@BOTH
def test_elements(kind: type[Pair]):
    t = kind(A, B)  # pyright: ignore
    assert [t[k] for k in range(6)] == [1, 2, 3, 4, 5, 6]
    t[0], t[5] = 7, 8
    assert list(t) == [7, 2, 3, 4, 5, 8]
    for outside in (-1, 6):
        with pytest.raises(IndexError, match="0 to 5"):
            t[outside]
    with pytest.raises(TypeError):
        t["a"]  # pyright: ignore


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


def test_differences_of_one_kind_only():
    t, w = Twist(A, B), Wrench(A, B)
    with pytest.raises(TypeError, match="diff of a Twist"):
        t._difference(w, 1.0)
    with pytest.raises(TypeError, match="addDelta of a Wrench"):
        w._added(t, 1.0)
