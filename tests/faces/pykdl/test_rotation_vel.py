"""A rotation that turns is compared with where it is a moment later."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from linkwork.faces.pykdl import (
    Rotation,
    RotationVel,
    Twist,
    TwistVel,
    Vector,
    VectorVel,
    addDelta,
    diff,
    doubleVel,
)

H = 1e-6
A = RotationVel(Rotation.RPY(0.1, 0.2, 0.3), Vector(1, -2, 0.5))
B = RotationVel(Rotation.RPY(-1, 0.7, 2), Vector(0.3, 0.2, -0.9))
V = VectorVel(Vector(1, 2, 3), Vector(-0.3, 0.1, 0.4))
T = TwistVel(V, VectorVel(Vector(4, 5, 6), Vector(1, 0, 2)))
D = doubleVel(0.4, 1.7)


def at(value: Any, time: float) -> Any:
    if isinstance(value, doubleVel):
        return value.t + value.grad * time
    return addDelta(value.value(), value.deriv(), time)


@pytest.mark.row("S3-103")
@pytest.mark.parametrize(
    ("call", "given"),
    [
        (lambda a, b: a * b, (A, B)),
        (lambda a, b: a * b, (A, V)),
        (lambda a, b: a * b, (A, T)),
        (lambda a: a.Inverse(), (A,)),
        (lambda a, b: a.Inverse(b), (A, V)),
        (lambda a, b: a.Inverse(b), (A, T)),
        (lambda a: a.UnitX(), (A,)),
        (lambda a: a.UnitY(), (A,)),
        (lambda a: a.UnitZ(), (A,)),
    ],
)
def test_rates_are_differences_in_time(call: Callable[..., Any], given: tuple[Any, ...]):
    made = call(*given)
    now, later, before = [call(*[at(x, t) for x in given]) for t in (0.0, H, -H)]
    assert made.value() == now
    rate = diff(before, later, 2 * H)
    assert np.allclose(list(made.deriv()), list(rate), atol=1e-8)


@pytest.mark.row("S3-103", "S3-104")
@pytest.mark.parametrize("name", ["RotX", "RotY", "RotZ"])
def test_turns_about_axes(name: str):
    made = getattr(RotationVel, name)(D)
    plain = getattr(Rotation, name)
    assert made.R == plain(0.4)
    assert np.allclose(
        list(made.w), list(diff(plain(0.4 - H), plain(0.4 + H), 2 * H / 1.7)), atol=1e-8
    )
    turned = RotationVel(A)
    assert getattr(turned, f"Do{name}")(D) is None
    assert turned == A * made
    with pytest.raises(TypeError, match="a doubleVel"):
        getattr(RotationVel, name)(0.3)


@pytest.mark.row("S3-103")
def test_turns_about_any_axis():
    made = RotationVel.Rot(Vector(0, 0, 2), D)
    assert made == RotationVel.RotZ(D)
    assert RotationVel.Rot2(Vector(0, 0, 1), D) == made
    with pytest.raises(TypeError):
        RotationVel.Rot(1, D)  # pyright: ignore


@pytest.mark.row("S3-103")
def test_plain_values_do_not_change():
    r, v = Rotation.RotX(0.2), Vector(1, 2, 3)
    assert A * r == A * RotationVel(r)
    assert r * A == RotationVel(r) * A
    assert A * v == A * VectorVel(v)
    assert A * Twist(v, v) == A * TwistVel(Twist(v, v))
    assert A.Inverse(v) == A.Inverse() * v
    assert RotationVel(r) == r
    for wrong in (lambda: A * 3, lambda: A.Inverse(3)):
        with pytest.raises(TypeError):
            wrong()


@pytest.mark.row("S3-103")
def test_parts_constructors_and_differences():
    a = RotationVel(A)
    a.R.DoRotX(0.1)
    a.w = Vector(9, 9, 9)
    assert A.w == Vector(1, -2, 0.5)
    assert a.deriv() == Vector(9, 9, 9)
    a.R = Rotation()
    assert a.value() == Rotation()
    assert RotationVel() == RotationVel.Identity() == Rotation()
    assert addDelta(A, diff(A, B, 0.5), 0.5) == B
    for wrong in ((1,), (Vector(),), (Rotation(), 1)):
        with pytest.raises(TypeError, match="RotationVel takes nothing"):
            RotationVel(*wrong)  # pyright: ignore
    for call in (diff, addDelta):
        with pytest.raises(TypeError):
            call(A, 3)
