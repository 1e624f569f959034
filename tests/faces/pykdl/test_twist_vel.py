from __future__ import annotations

import numpy as np
import pytest

from linkwork.faces.pykdl import Twist, TwistVel, Vector, VectorVel, doubleVel
from seeds import rng


def some(label: str) -> TwistVel:
    a, b = rng(label).normal(size=(2, 6))
    return TwistVel(Twist.FromArray(a), Twist.FromArray(b))


A, B = some("a"), some("b")


@pytest.mark.row("S3-106")
def test_operators_act_on_both_parts():
    s = doubleVel(0.7, -0.4)
    for made, vel, rot in (
        (A + B, A.vel + B.vel, A.rot + B.rot),
        (A - B, A.vel - B.vel, A.rot - B.rot),
        (-A, -A.vel, -A.rot),
        (A * 2, A.vel * 2, A.rot * 2),
        (2 * A, A.vel * 2, A.rot * 2),
        (A * s, A.vel * s, A.rot * s),
        (s * A, A.vel * s, A.rot * s),
        (A / s, A.vel / s, A.rot / s),
        (A / 2, A.vel / 2, A.rot / 2),
    ):
        assert isinstance(made, TwistVel)
        assert made.vel == vel
        assert made.rot == rot
    for code in ("A + 1", "A * 'a'", "A / A", "A - B.vel", "'a' * A"):
        with pytest.raises(TypeError, match="not defined"):
            eval(code)


@pytest.mark.row("S3-106")
def test_reference_point_moves_in_time():
    h, base = 1e-6, VectorVel(Vector(1, 2, 3), Vector(0.3, 0.2, 0.1))
    made = A.RefPoint(base)
    at = [(A.value() + A.deriv() * t).RefPoint(base.p + base.v * t) for t in (h, -h)]
    assert made.value() == A.value().RefPoint(base.p)
    assert np.allclose(list(made.deriv()), list((at[0] - at[1]) / (2 * h)), atol=1e-9)
    with pytest.raises(TypeError, match="takes a VectorVel"):
        A.RefPoint(1)  # pyright: ignore


@pytest.mark.row("S3-106")
def test_constructors_and_parts():
    t, rate = A.GetTwist(), A.GetTwistDot()
    assert TwistVel(t, rate) == A
    assert TwistVel(p=t, v=rate) == A
    assert TwistVel(A.vel, A.rot) == A
    assert TwistVel(vel=A.vel, rot=A.rot) == A
    assert TwistVel(A) == A
    assert TwistVel(t).deriv() == Twist()
    assert TwistVel().value() == Twist()
    a = TwistVel(A)
    a.vel.p[0] = 9.0
    assert A.vel.p[0] != 9.0
    a.rot = B.rot
    assert a.rot == B.rot
    a.ReverseSign()
    assert a.rot == -B.rot
    kept = a
    a += B
    a -= B
    assert a is kept
    assert TwistVel.Zero() == Twist()
    a.Zero()
    assert a == Twist()
    for wrong in ((1,), (t, 1), (A, t)):
        with pytest.raises(TypeError, match="TwistVel takes nothing"):
            TwistVel(*wrong)  # pyright: ignore
    with pytest.raises(TypeError, match="takes a VectorVel"):
        a.vel = Vector()  # pyright: ignore
