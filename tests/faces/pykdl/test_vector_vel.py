"""The formulas are tested as differences in time: a value, and the same a moment later."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from linkwork.faces.pykdl import Rotation, Vector, VectorVel, addDelta, diff, dot, doubleVel
from seeds import rng

H = 1e-6
S = doubleVel(0.7, -0.4)


def some(label: str) -> VectorVel:
    p, v = rng(label).normal(size=(2, 3))
    return VectorVel(Vector(*p), Vector(*v))


def at(value: Any, time: float) -> Any:
    """What a value with a rate is at a time."""
    return (
        addDelta(value.value(), value.deriv(), time)
        if isinstance(value, VectorVel)
        else (value.t + value.grad * time)
    )


A, B = some("a"), some("b")


@pytest.mark.row("S3-102")
@pytest.mark.parametrize(
    ("call", "given"),
    [
        (lambda a, b: a + b, (A, B)),
        (lambda a, b: a - b, (A, B)),
        (lambda a, b: a * b, (A, B)),
        (lambda a, s: a * s, (A, S)),
        (lambda a, s: s * a, (A, S)),
        (lambda a, s: a / s, (A, S)),
    ],
)
def test_rates_are_differences_in_time(call: Callable[..., Any], given: tuple[Any, ...]):
    made = call(*given)
    assert made.value() == call(*[at(x, 0.0) for x in given])
    later, before = [call(*[at(x, t) for x in given]) for t in (H, -H)]
    assert np.allclose(list(made.v), list((later - before) / (2 * H)), atol=1e-9)


@pytest.mark.row("S3-102")
def test_products_that_are_numbers():
    for made, call in (
        (dot(A, B), lambda t: dot(at(A, t), at(B, t))),
        (A.Norm(), lambda t: at(A, t).Norm()),
    ):
        assert made.t == pytest.approx(call(0.0))
        assert made.grad == pytest.approx((call(H) - call(-H)) / (2 * H), abs=1e-9)
    assert VectorVel().Norm() == doubleVel(0, 0)


@pytest.mark.row("S3-101")
def test_double_vel():
    d = doubleVel(1, 2)
    assert (d.t, d.grad, d.value(), d.deriv()) == (1.0, 2.0, 1.0, 2.0)
    d.t, d.grad = 3, 4
    assert d == doubleVel(3, 4)
    assert -d == doubleVel(-3, -4)
    assert doubleVel(5) == doubleVel(5, 0)
    assert doubleVel() == doubleVel(0, 0)
    assert doubleVel(d) == d
    assert diff(doubleVel(1, 2), doubleVel(3, 6), 2.0) == doubleVel(1, 2)
    assert addDelta(doubleVel(1, 2), doubleVel(1, 2), 2.0) == doubleVel(3, 6)
    assert repr(d) == "doubleVel(3,4)"
    for wrong in (("a",), (1, "a"), (d, 1)):
        with pytest.raises(TypeError):
            doubleVel(*wrong)


@pytest.mark.row("S3-102")
def test_vectors_do_not_change():
    v = Vector(1, 2, 3)
    for made, expected in (
        (A + v, A + VectorVel(v)), (v + A, A + v), (A - v, A - VectorVel(v)), (v - A, -(A - v)),
        (A * v, A * VectorVel(v)), (v * A, VectorVel(v) * A), (A * 2, 2 * A), (A / 2, A * 0.5),
    ):  # fmt: skip
        assert made == expected
    assert (Rotation.RotX(0.3) * A).v == Rotation.RotX(0.3) * A.v


@pytest.mark.row("S3-102")
def test_parts_in_place_and_constructors():
    a = VectorVel(A)
    a.p[0] = 9.0
    a.v = Vector(1, 2, 3)
    assert a.p[0] == 9.0
    assert A.p[0] != 9.0
    assert a.deriv() == Vector(1, 2, 3)
    a.ReverseSign()
    assert a.v == Vector(-1, -2, -3)
    kept = a
    a += B
    a -= B
    assert a is kept
    assert list(VectorVel.Zero().p) == [0, 0, 0]
    a.Zero()
    assert a == Vector()
    for wrong in ((1,), (Vector(), 1), (A, Vector())):
        with pytest.raises(TypeError, match="VectorVel takes nothing"):
            VectorVel(*wrong)  # pyright: ignore
    for code in ("A + 1", "A * 'a'", "A / A", "'a' * A", "1 - A"):
        with pytest.raises(TypeError, match="not defined"):
            eval(code)
    with pytest.raises(TypeError, match="takes a Vector"):
        a.p = 3  # pyright: ignore
    with pytest.raises(TypeError, match="value"):
        a.ToArray()


def test_batches():
    many = VectorVel.Stack([A, B])
    assert (many * S).At(1) == B * S
    assert many.Norm().At(0) == A.Norm()
