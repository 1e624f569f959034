"""A frame that moves is compared with where it is a moment later."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from linkwork.faces.pykdl import (
    Equal,
    Frame,
    FrameVel,
    Rotation,
    RotationVel,
    Twist,
    TwistVel,
    Vector,
    VectorVel,
    addDelta,
    diff,
)

H = 1e-6
F = Frame(Rotation.RPY(0.1, 0.2, 0.3), Vector(1, 2, 3))
A = FrameVel(F, Twist(Vector(0.4, -0.2, 0.3), Vector(1, -2, 0.5)))
B = FrameVel(F.Inverse(), Twist(Vector(-1, 0.1, 2), Vector(0.3, 0.2, -0.9)))
V = VectorVel(Vector(1, 2, 3), Vector(-0.3, 0.1, 0.4))
T = TwistVel(V, VectorVel(Vector(4, 5, 6), Vector(1, 0, 2)))


@pytest.mark.row("S3-105")
@pytest.mark.parametrize(
    ("call", "given"),
    [
        (lambda a, b: a * b, (A, B)),
        (lambda a, b: a * b, (A, V)),
        (lambda a, b: a * b, (A, T)),
        (lambda a: a.Inverse(), (A,)),
        (lambda a, b: a.Inverse(b), (A, V)),
        (lambda a, b: a.Inverse(b), (A, T)),
    ],
)
def test_rates_are_differences_in_time(call: Callable[..., Any], given: tuple[Any, ...]):
    made = call(*given)
    now, later, before = [
        call(*[addDelta(x.value(), x.deriv(), t) for x in given]) for t in (0.0, H, -H)
    ]
    assert made.value() == now
    assert np.allclose(list(made.deriv()), list(diff(before, later, 2 * H)), atol=2e-8)


@pytest.mark.row("S3-105")
def test_plain_values_do_not_move():
    v, t = Vector(1, 2, 3), Twist(Vector(1, 2, 3), Vector(4, 5, 6))
    assert A * F == A * FrameVel(F)
    assert F * A == FrameVel(F) * A
    assert A * v == A * VectorVel(v)
    assert A * t == A * TwistVel(t)
    assert A.Inverse(v) == A.Inverse() * v
    assert A.Inverse(t) == A.Inverse() * t
    assert FrameVel(F) == F
    for wrong in (lambda: A * 3, lambda: A.Inverse(3), lambda: A * Rotation()):
        with pytest.raises(TypeError):
            wrong()


@pytest.mark.row("S3-105")
def test_constructors_and_parts():
    twist = Twist(Vector(1, 2, 3), Vector(4, 5, 6))
    a = FrameVel(F, twist)
    assert a.GetFrame() == a.value() == F
    assert a.GetTwist() == a.deriv() == twist
    assert FrameVel(T=F, t=twist) == a
    assert FrameVel(M=a.M, p=a.p) == a
    assert FrameVel(a.M, a.p) == a
    assert FrameVel(a) == a
    assert FrameVel() == FrameVel.Identity() == Frame()
    other = FrameVel(a)
    other.p.v[0] = 9.0
    other.M.w = Vector()
    assert a.GetTwist() == twist
    other.M = RotationVel()
    other.p = VectorVel()
    assert other == Frame()
    for wrong in ((1,), (F, 1), (RotationVel(), Vector())):
        with pytest.raises(TypeError, match="FrameVel takes nothing"):
            FrameVel(*wrong)  # pyright: ignore
    with pytest.raises(TypeError, match="takes a RotationVel"):
        a.M = Rotation()  # pyright: ignore
    with pytest.raises(TypeError, match="takes a VectorVel"):
        a.p = Vector()  # pyright: ignore


@pytest.mark.row("S3-107")
def test_add_delta_undoes_diff():
    for d in (0.5, 1.0):
        assert Equal(addDelta(A, diff(A, B, d), d), B, 1e-12)
    assert diff(A, B).value() == diff(A.value(), B.value())
    for call in (diff, addDelta):
        with pytest.raises(TypeError):
            call(A, 3)
