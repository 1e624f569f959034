"""Frames, and batches of them."""

from __future__ import annotations

import math

import numpy as np
import pytest

from linkwork.errors import InputError, ShapeError
from linkwork.faces.pykdl import Frame, Rotation, Twist, Vector, addDelta, diff
from seeds import rng

F = Frame(Rotation.RPY(0.1, 0.2, 0.3), Vector(1, 2, 3))
T = Twist(Vector(0.1, 0.2, 0.3), Vector(0.4, 0.5, 0.6))


def near(a: object, b: object, off: float = 1e-14) -> bool:
    return bool(np.allclose(a, b, rtol=0, atol=off))  # pyright: ignore


def frames(label: str, count: int = 20) -> list[Frame]:
    rows = rng(label).uniform(-3, 3, (count, 6)).tolist()
    return [Frame(Rotation.RPY(a, b, c), Vector(x, y, z)) for a, b, c, x, y, z in rows]


@pytest.mark.row("S3-050")
def test_parts_are_live_and_setting_copies():
    f = Frame(F)
    place, turn = f.p, f.M
    place[0] = 7.0
    turn.DoRotX(1.0)
    assert f[0, 3] == 7.0
    assert f.M == F.M * Rotation.RotX(1.0)
    v, r = Vector(4, 5, 6), Rotation.RotZ(0.3)
    f.p, f.M = v, r
    v[0] = -1.0
    r.SetInverse()
    assert list(f.p) == [4.0, 5.0, 6.0]
    assert list(place) == [4.0, 5.0, 6.0]
    assert f.M == Rotation.RotZ(0.3)
    assert f.M is turn
    with pytest.raises(TypeError, match=r"Frame\.M takes a Rotation, not int"):
        f.M = 3  # pyright: ignore
    with pytest.raises(TypeError, match=r"Frame\.p takes a Vector, not Rotation"):
        f.p = r  # pyright: ignore


@pytest.mark.row("S3-051", "S3-059")
def test_constructors():
    r, v = Rotation.RotX(0.3), Vector(1, 2, 3)
    for none in (Frame(), Frame.Identity()):
        assert np.array_equal(none.ToArray(), np.eye(4))
    f = Frame(r, v)
    assert f.M == r
    assert f.p == v
    v[0] = 9.0
    assert f.p[0] == 1.0
    assert Frame(Vector(1, 2, 3)).p == f.p
    assert Frame(Vector(1, 2, 3)).M == Rotation()
    assert Frame(r).M == r
    assert Frame(r).p == Vector()
    assert Frame(f) == f
    assert Frame(R=r, V=v).M == r
    for wrong in ((1,), (v, r), (f, f), (r, r), (None,)):
        with pytest.raises(TypeError, match="Frame takes nothing, a Rotation and a Vector"):
            Frame(*wrong)  # pyright: ignore


@pytest.mark.row("S3-052")
def test_integrate_small_turns_and_endless_steps():
    f = Frame(F)
    f.Integrate(Twist(Vector(1, 0, 0), Vector(0, 0, 9e-7)), 1.0)
    assert np.array_equal(f.M.ToArray(), F.M.ToArray())  # a turn below eps is left out
    assert near(list(f.p), list(F.p + F.M.UnitX()))
    f.Integrate(T, 0.0)
    assert not np.isfinite(f.ToArray()[:3]).any()


@pytest.mark.row("S3-058")
def test_elements():
    f = Frame(F)
    assert near([[f[i, j] for j in range(4)] for i in range(3)], f.ToArray()[:3])
    f[1, 3] = 9.0
    f[1, 2] = 8.0
    assert f.p[1] == 9.0
    assert f.M[1, 2] == 8.0
    with pytest.raises(IndexError):
        f[0, 4] = 1.0


@pytest.mark.row("S3-060")
def test_denavit_and_hartenberg():
    assert Frame.HD(0.1, 0.2, 0.3, 0.4) == Frame.DH(0.1, 0.2, 0.3, 0.4)
    assert Frame.HD(0, 0, 1, 0).p == Vector(0, 0, 1)
    assert math.isnan(Frame.DH(0.0, math.inf, 1.0, 0.0)[1, 1])
    with pytest.raises(TypeError, match="Denavit"):
        Frame.DH("a", 0, 0, 0)  # pyright: ignore


@pytest.mark.row("S3-062", "S3-063")
def test_diff_and_add_delta_are_inverse():
    some = frames("delta", 40)
    some += [f * Frame(Rotation.RotX(angle)) for f in some for angle in (1e-9, 1e-4, 3.14, math.pi)]
    for f, g in zip(some, [*some[1:], some[0]], strict=True):
        for d in (0.3, 1.0):
            there = addDelta(f, diff(f, g, d), d)
            assert near(there.ToArray(), g.ToArray(), 1e-12)
            assert list(Frame.diff(f, g, d)) == list(diff(f, g, d))
            assert np.array_equal(Frame.AddDelta(f, diff(f, g, d), d), there)
    assert list(diff(Frame(), F, 0.0))[:3] == [math.inf] * 3
    for call in (Frame.diff, Frame.AddDelta):
        with pytest.raises(TypeError):
            call(F, Vector())
        with pytest.raises(TypeError):
            call(3, F)


def test_shown_as_rotation_and_position():
    lines = repr(Frame()).splitlines()
    assert lines[0] == "[[           1,           0,           0;"
    assert lines[3] == "[           0,           0,           0]]"


# batches and poses


def test_poses_there_and_back():
    pose = F.ToArray()
    assert Frame.FromArray(pose) == F
    assert Frame.FromArray(pose.tolist()) == F
    assert np.array_equal(np.asarray(F), pose)
    poses = np.stack([f.ToArray() for f in frames("poses", 6)]).reshape(2, 3, 4, 4)
    batch = Frame.FromArray(poses)
    assert batch.shape == (2, 3)
    assert np.array_equal(batch.ToArray(), poses)
    poses[0, 0, 0, 3] = 42.0
    assert batch.p.x()[0, 0] == 42.0  # pyright: ignore
    with pytest.raises(ShapeError, match=r"\(\.\.\., 4, 4\)"):
        Frame.FromArray(np.eye(3))
    pose[3, 0] = 1.0
    with pytest.raises(InputError, match="last row"):
        Frame.FromArray(pose)


def test_a_batch_does_the_same_to_each():
    some, others = frames("batch", 8), frames("others", 8)
    F8, G8 = Frame.Stack(some), Frame.Stack(others)
    moving = Twist(Vector(*np.ones((3, 8))), F8.p)
    for batch, one in (
        (F8 * G8, lambda f, g: f * g),
        (F8.Inverse(), lambda f, g: f.Inverse()),
        (F * G8, lambda f, g: F * g),
        (F8 * F, lambda f, g: f * F),
        (diff(F8, G8, 0.5), lambda f, g: diff(f, g, 0.5)),
        (addDelta(F8, T), lambda f, g: addDelta(f, T)),
        (F8 * moving, lambda f, g: f * Twist(Vector(1, 1, 1), f.p)),
        (F8.Inverse(G8.p), lambda f, g: f.Inverse(g.p)),
    ):
        assert batch.shape == (8,)
        for k, (f, g) in enumerate(zip(some, others, strict=True)):
            assert near(batch.At(k).ToArray(), one(f, g).ToArray())
    assert (F8 == F8).all()
    assert not (F8 == G8).any()
    F8.Integrate(T, 10.0)
    some[5].Integrate(T, 10.0)
    assert near(F8.At(5).ToArray(), some[5].ToArray())
    assert Frame.DH(np.arange(3.0), 0.1, 0.2, 0.3).At(2) == Frame.DH(2.0, 0.1, 0.2, 0.3)
    assert repr(F8) == "<Frame: a batch of shape (8,)>"


def test_parts_may_be_a_batch_alone():
    f = Frame(F.M, Vector(np.arange(4.0), 0.0, 0.0))
    assert f.shape == (4,)
    assert f.At(3) == Frame(F.M, Vector(3, 0, 0))
    assert (f * F).At(2) == f.At(2) * F
    assert (f == f).tolist() == [True] * 4
    assert f.ToArray().shape == (4, 4, 4)
