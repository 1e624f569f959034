"""Frames, and batches of them."""

from __future__ import annotations

import math

import numpy as np
import pytest

from linkwork.errors import InputError, ShapeError
from linkwork.faces.pykdl import Frame, Rotation, Twist, Vector, Wrench, addDelta, diff
from robots import about
from seeds import rng

X, Z = [1, 0, 0], [0, 0, 1]
F = Frame(Rotation.RPY(0.1, 0.2, 0.3), Vector(1, 2, 3))
T = Twist(Vector(0.1, 0.2, 0.3), Vector(0.4, 0.5, 0.6))


def near(a: object, b: object, off: float = 1e-14) -> bool:
    return bool(np.allclose(a, b, rtol=0, atol=off))  # pyright: ignore


def slid(x: float = 0, z: float = 0) -> np.ndarray:
    pose = np.eye(4)
    pose[:3, 3] = x, 0, z
    return pose


def turned(axis: list[int], angle: float) -> np.ndarray:
    pose = np.eye(4)
    pose[:3, :3] = about(axis, angle)
    return pose


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
@pytest.mark.row("S3-083")
def test_integrate_in_the_frame_s_own_axes():
    f = Frame(F)
    assert f.Integrate(T, 10) is None
    assert near(list(f.p), (1.01041, 2.02092, 3.02923), 1e-5)
    turn = addDelta(Rotation(), Vector(0.04, 0.05, 0.06))
    assert near(f.M.ToArray(), (F.M * turn).ToArray())
    f = Frame(F)
    f.Integrate(Twist(Vector(1, 0, 0), Vector(0, 0, 9e-7)), 1.0)
    assert np.array_equal(f.M.ToArray(), F.M.ToArray())  # a turn below eps is left out
    assert near(list(f.p), list(F.p + F.M.UnitX()))
    f.Integrate(T, 0.0)
    assert not np.isfinite(f.ToArray()[:3]).any()
    for wrong in ((Vector(), 1.0), (T, None), (T, "a")):
        with pytest.raises(TypeError):
            f.Integrate(*wrong)  # pyright: ignore


@pytest.mark.row("S3-055", "S3-080")
def test_twists_are_moved():
    moved = F * T
    assert near(list(moved), (-0.502443, 0.758544, 0.128183, 0.36798, 0.57189, 0.554556), 1e-6)
    rot = F.M * T.rot
    assert near(list(moved), [*(F.M * T.vel + F.p * rot), *rot])


@pytest.mark.row("S3-056", "S3-081")
def test_wrenches_are_moved():
    w = Wrench(T.vel, T.rot)
    moved = F * w
    assert near(list(moved), (0.104115, 0.209161, 0.292253, 0.325003, 0.591983, 0.555486), 1e-6)
    force = F.M * w.force
    assert near(list(moved), [*force, *(F.M * w.torque + F.p * force)])


@pytest.mark.row("S3-058")
def test_elements():
    f = Frame(F)
    assert near([[f[i, j] for j in range(4)] for i in range(3)], f.ToArray()[:3])
    f[1, 3] = 9.0
    f[1, 2] = 8.0
    assert f.p[1] == 9.0
    assert f.M[1, 2] == 8.0
    for outside in ((3, 0), (0, 4), (-1, 0)):
        with pytest.raises(IndexError):
            f[outside]
        with pytest.raises(IndexError):
            f[outside] = 1.0
    with pytest.raises(TypeError):
        f[0]  # pyright: ignore


@pytest.mark.row("S3-060", "S3-061", "S3-085")
def test_denavit_and_hartenberg():
    assert near(list(Frame.DH(0.1, 0.2, 0.3, 0.4).p), (0.0921061, 0.0389418, 0.3), 1e-7)
    assert near(list(Frame.DH_Craig1989(0.1, 0.2, 0.3, 0.4).p), (0.1, -0.0596008, 0.29402), 1e-6)
    for a, alpha, d, theta in rng("dh").uniform(-3, 3, (30, 4)).tolist():
        own = turned(Z, theta) @ slid(z=d) @ slid(x=a) @ turned(X, alpha)
        craig = turned(X, alpha) @ slid(x=a) @ turned(Z, theta) @ slid(z=d)
        assert near(Frame.DH(a, alpha, d, theta).ToArray(), own)
        assert near(Frame.HD(a, alpha, d, theta).ToArray(), own)
        assert near(Frame.DH_Craig1989(a, alpha, d, theta).ToArray(), craig)
    assert Frame.DH(0, 0, 1, 0).p == Vector(0, 0, 1)
    assert math.isnan(Frame.DH(0.0, math.inf, 1.0, 0.0)[1, 1])
    with pytest.raises(TypeError, match="Denavit"):
        Frame.DH("a", 0, 0, 0)  # pyright: ignore


@pytest.mark.row("S3-062", "S3-063")
def test_diff_and_add_delta_are_inverse():
    some = frames("delta", 40)
    some += [f * Frame(Rotation.RotX(angle)) for f in some for angle in (1e-9, 1e-4, 3.14, math.pi)]
    for f, g in zip(some, [*some[1:], some[0]], strict=True):
        for d in (0.3, 1.0):
            assert near(Frame.AddDelta(f, Frame.diff(f, g, d), d).ToArray(), g.ToArray(), 1e-12)
            assert near(addDelta(f, diff(f, g, d), d).ToArray(), g.ToArray(), 1e-12)
    for call in (Frame.diff, Frame.AddDelta, diff, addDelta):
        with pytest.raises(TypeError):
            call(F, Vector())
        with pytest.raises(TypeError):
            call(3, F)


@pytest.mark.row("S3-084", "S3-063")
def test_golden_diff():
    t = Frame.diff(Frame.Identity(), F, 0.5)
    assert near(list(t), (2, 4, 6, 0.137849, 0.426452, 0.577498), 1e-6)
    assert list(diff(Frame(), F, 0.0))[:3] == [math.inf] * 3


@pytest.mark.row("S3-062")
def test_the_twist_is_in_the_outer_frame():
    moved = Frame.AddDelta(F, Twist(Vector(1, 0, 0), Vector(0, 0, 0.2)), 0.5)
    assert moved.p == F.p + Vector(0.5, 0, 0)
    assert near(moved.M.ToArray(), (Rotation.RotZ(0.1) * F.M).ToArray())


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
