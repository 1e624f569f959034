from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from linkwork.faces.pykdl import (
    Frame,
    Rotation,
    Twist,
    Vector,
    Wrench,
    ZeroQuaternionWarning,
    angles,
    batches,
)
from seeds import rng

SPECIAL = [0.0, math.pi / 2, -math.pi / 2, math.pi, -math.pi, 1e-9, math.pi - 1e-8, 1e-13]


def rotations() -> list[Rotation]:
    """Random ones, and all with special angles: every branch is taken by some row."""
    some = [Rotation.RPY(*row) for row in rng("batches").uniform(-4, 4, (100, 3)).tolist()]
    some += [Rotation.RPY(a, b, 0.3) for a in SPECIAL for b in SPECIAL]
    some += [Rotation.EulerZYZ(a, b, 0.0) for a in SPECIAL for b in SPECIAL]
    return [*some, *[Rotation.Rot(Vector(*axis), math.pi) for axis in np.eye(3)[:, ::-1]]]


@pytest.mark.parametrize(
    "call",
    [
        lambda r: r.GetRPY(),
        lambda r: r.GetEulerZYX(),
        lambda r: r.GetEulerZYZ(),
        lambda r: r.GetQuaternion(),
        lambda r: tuple(r.GetRot()),
        lambda r: (r.GetRotAngle()[0], *r.GetRotAngle()[1]),
    ],
)
def test_each_row_is_what_one_rotation_gives(call: Callable[[Rotation], Any]):
    given = rotations()
    columns = call(Rotation.Stack(given))
    for k, r in enumerate(given):
        row, alone = [float(column[k]) for column in columns], call(r)
        assert np.allclose(row, alone, rtol=0, atol=2e-15), (k, row, alone)


def test_quaternions():
    q = rng("q").normal(size=(20, 4))
    batch = Rotation.Quaternion(*q.T)
    for k in range(20):
        assert np.allclose(batch.At(k).ToArray(), Rotation.Quaternion(*q[k]).ToArray(), atol=1e-15)
    q[7] = 0.0
    with pytest.warns(ZeroQuaternionWarning):
        assert Rotation.Quaternion(*q.T).At(7) == Rotation()


def test_turns_by_vectors():
    v = rng("v").normal(size=(3, 10))
    v[:, 4] = 0.0
    nine = angles.from_vector(tuple(v))  # pyright: ignore
    for k in range(10):
        alone = angles.from_vector(tuple(v[:, k].tolist()))  # pyright: ignore
        assert np.allclose([np.broadcast_to(x, 10)[k] for x in nine], alone, atol=1e-15)


def test_a_batch_has_any_shape():
    batch = Rotation.RPY(np.zeros((2, 3)), np.ones((2, 3)), 0.2)
    assert batch.shape == (2, 3)
    assert batch.GetRPY()[1].shape == (2, 3)  # pyright: ignore
    assert batch.ToArray().shape == (2, 3, 3, 3)
    assert batch.At((1, 2)).shape == ()
    assert batch.At(0).shape == (3,)


def test_lengths_do_not_overflow():
    x = np.array([3e200])
    assert batches.norm((x, x * 0, 4 * x / 3)) == pytest.approx(5e200)


def test_arrays_become_batches_without_a_copy():
    import linkwork as lw  # noqa: PLC0415  loads what compiles

    robot = lw.load("ur5e")
    poses = robot.fk(robot.random(20, seed=0))
    frames = Frame.FromArray(poses)
    assert frames.shape == (20,)
    for part in (*frames.M._m, *frames.p._v):
        assert np.shares_memory(part, poses)
    before = poses.copy()
    frames.p += Vector(1, 2, 3)
    frames.M.DoRotZ(0.3)
    assert np.array_equal(poses, before)  # a batch never writes into what it looks at
    assert np.array_equal(Frame.FromArray(poses).ToArray(), poses)
    for kind, width in ((Vector, 3), (Twist, 6), (Wrench, 6)):
        numbers = rng(f"no copy {width}").normal(size=(4, 5, width))
        made = kind.FromArray(numbers)
        assert made.shape == (4, 5)
        assert all(np.shares_memory(part, numbers) for part in made._numbers())
        assert np.array_equal(made.ToArray(), numbers)
        assert np.array_equal(np.asarray(made), numbers)


def test_scipy_and_back():
    transform = pytest.importorskip("scipy.spatial.transform", reason="SciPy is not installed")
    given = transform.Rotation.from_rotvec(rng("scipy").normal(size=(7, 3)))
    made = Rotation.FromScipy(given)
    assert made.shape == (7,)
    np.testing.assert_allclose(made.ToScipy().as_matrix(), given.as_matrix(), atol=1e-14)
    assert np.allclose((made * Vector(1, 2, 3)).ToArray(), given.apply([1, 2, 3]), atol=1e-14)
