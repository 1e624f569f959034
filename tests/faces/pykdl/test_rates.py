"""Values with rates of change."""

from __future__ import annotations

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
    doubleVel,
)
from seeds import rng

H = 1e-6
F = Frame(Rotation.RPY(0.1, 0.2, 0.3), Vector(1, 2, 3))
S = doubleVel(0.7, -0.4)
V, W = [VectorVel(*map(Vector.FromArray, rng(k).normal(size=(2, 3)))) for k in "vw"]
T, U = [TwistVel(*map(Twist.FromArray, rng(k).normal(size=(2, 6)))) for k in "tu"]
R = RotationVel(Rotation.RPY(0.1, 0.2, 0.3), Vector(1, -2, 0.5))
Q = RotationVel(Rotation.RPY(-1, 0.7, 2), Vector(0.3, 0.2, -0.9))
A = FrameVel(F, Twist(Vector(0.4, -0.2, 0.3), Vector(1, -2, 0.5)))
B = FrameVel(F.Inverse(), Twist(Vector(-1, 0.1, 2), Vector(0.3, 0.2, -0.9)))
PAIRS = [(V, W), (T, U), (R, Q), (A, B)]
EACH = pytest.mark.parametrize(("a", "b"), PAIRS, ids=lambda value: type(value).__name__)


@pytest.mark.row("S3-102", "S3-103", "S3-105", "S3-106")
@EACH
def test_constructors_copies_and_differences(a: Any, b: Any):
    kind, plain, rate = type(a), a.value(), a.deriv()
    assert kind(plain, rate) == a == kind(a)
    assert kind(plain) == plain
    assert kind(plain).deriv() == type(rate)()
    assert kind() == type(plain)()
    assert Equal(addDelta(a, diff(a, b, 0.5), 0.5), b, 1e-12)
    assert diff(a, b).value() == diff(plain, b.value())
    for wrong in ((1,), (plain, 1), (a, plain)):
        with pytest.raises(TypeError, match=f"{kind.__name__} takes nothing"):
            kind(*wrong)
    for call in (diff, addDelta):
        with pytest.raises(TypeError):
            call(a, 3)
    with pytest.raises(TypeError, match="value"):
        a.ToArray()


@pytest.mark.row("S3-102", "S3-106")
@pytest.mark.parametrize(("a", "b"), PAIRS[:2], ids=["VectorVel", "TwistVel"])
def test_sums_and_multiples(a: Any, b: Any):
    kind = type(a)
    for made, at_, rate in (
        (-a, -a.value(), -a.deriv()),
        (a * 2, a.value() * 2, a.deriv() * 2),
        (2 * a, a.value() * 2, a.deriv() * 2),
        (a / 2, a.value() / 2, a.deriv() / 2),
    ):
        assert isinstance(made, kind)
        assert (made.value(), made.deriv()) == (at_, rate)
    kept = a = kind(a)
    a += b
    a -= b
    assert a is kept
    assert a == PAIRS[kind is TwistVel][0]
    a.ReverseSign()
    assert a == -PAIRS[kind is TwistVel][0]
    assert kind.Zero() == type(b.value())()
    a.Zero()
    assert a == kind()
    for code in ("a + 1", "a * 'a'", "a / b", "'a' * a", "1 - a"):
        with pytest.raises(TypeError, match="not defined"):
            eval(code)
    many = kind.Stack([a, b])
    assert (many * S).At(1) == b * S


def test_division_by_zero_is_infinite():
    made = VectorVel(Vector(1, 2, 3)) / doubleVel(0.0)
    assert list(made.p) == [np.inf] * 3


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
    assert d + doubleVel(1, 1) == doubleVel(4, 5)
    assert d - d == doubleVel()
    assert d * 2 == 2 * d == d / 0.5 == doubleVel(6, 8)
    assert repr(d) == "doubleVel(3,4)"
    for wrong in (("a",), (1, "a"), (d, 1)):
        with pytest.raises(TypeError):
            doubleVel(*wrong)


@pytest.mark.parametrize(("a", "b"), PAIRS[2:], ids=["RotationVel", "FrameVel"])
def test_the_inverse_of_its_own_type_undoes_the_product(a: Any, b: Any):
    assert Equal(a.Inverse(a * b), b, 1e-12)
    assert Equal(a.Inverse() * a, type(a)(), 1e-12)


@pytest.mark.row("S3-103", "S3-104")
@pytest.mark.parametrize("name", ["RotX", "RotY", "RotZ"])
def test_turns_about_axes(name: str):
    angle, plain = doubleVel(0.4, 1.7), getattr(Rotation, name)
    made = getattr(RotationVel, name)(angle)
    rate = diff(plain(0.4 - H), plain(0.4 + H), 2 * H / 1.7)
    assert made.R == plain(0.4)
    assert np.allclose(list(made.w), list(rate), atol=1e-8)
    turned = RotationVel(R)
    assert getattr(turned, f"Do{name}")(angle) is None
    assert turned == R * made
    for call in (getattr(RotationVel, name), getattr(turned, f"Do{name}")):
        with pytest.raises(TypeError, match="a doubleVel"):
            call(0.3)


@pytest.mark.row("S3-103")
def test_turns_about_any_axis():
    made = RotationVel.Rot(Vector(0, 0, 2), S)
    assert made == RotationVel.RotZ(S)
    assert RotationVel.Rot2(Vector(0, 0, 1), S) == made
    assert RotationVel.Identity() == Rotation()
    with pytest.raises(TypeError):
        RotationVel.Rot(1, S)  # pyright: ignore


@pytest.mark.row("S3-102", "S3-103", "S3-105", "S3-106")
def test_parts_are_live_and_setting_them_copies():
    v, t, r, f = VectorVel(V), TwistVel(T), RotationVel(R), FrameVel(A)
    v.p[0], v.v = 9.0, Vector(1, 2, 3)
    assert (v.value()[0], v.deriv()) == (9.0, Vector(1, 2, 3))
    t.vel.p[0], t.rot = 9.0, U.rot
    assert t.value()[0] == 9.0
    assert t.rot == U.rot
    assert t.rot is not U.rot
    r.R.DoRotX(0.1)
    r.w = Vector(9, 9, 9)
    assert r == RotationVel(R.R * Rotation.RotX(0.1), Vector(9, 9, 9))
    f.p.v[0] = 9.0
    f.M.w = Vector()
    assert f.GetTwist() == Twist(Vector(9.0, *list(A.p.v)[1:]), Vector())
    f.M, f.p = RotationVel(), VectorVel()
    assert f == Frame()
    assert (A.GetFrame(), A.M, A.p) == (F, FrameVel(F, A.GetTwist()).M, A.p)
    for value, name, wrong in ((v, "p", 3), (t, "vel", Vector()), (f, "M", F.M), (f, "p", F.p)):
        with pytest.raises(TypeError, match=r"takes a (Vector|RotationVel)"):
            setattr(value, name, wrong)


@pytest.mark.row("S3-105", "S3-106", "S3-107")
def test_moving_frames_and_twists_by_their_parts_and_names():
    twist, rate = T.GetTwist(), T.GetTwistDot()
    assert (
        TwistVel(p=twist, v=rate) == TwistVel(T.vel, T.rot) == TwistVel(vel=T.vel, rot=T.rot) == T
    )
    assert FrameVel(T=F, t=A.GetTwist()) == FrameVel(M=A.M, p=A.p) == FrameVel(A.M, A.p) == A
    assert FrameVel.Identity() == FrameVel() == Frame()
    for wrong in (lambda: FrameVel(RotationVel(), Vector()), lambda: FrameVel(F, M=A.M)):
        with pytest.raises(TypeError, match=r"FrameVel takes (nothing|at most two)"):
            wrong()
    with pytest.raises(TypeError, match="takes a VectorVel"):
        T.RefPoint(1)  # pyright: ignore
