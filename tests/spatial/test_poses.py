"""Poses: a group, and the same as 4 x 4 matrices."""

from __future__ import annotations

import numpy as np
import pytest

from ladders import random_rotation
from linkwork.ops.numpy import NUMPY as o
from linkwork.spatial import poses
from linkwork.spatial.poses import Pose
from seeds import rng

EPS = np.finfo(np.float64).eps


@pytest.fixture
def three() -> list[Pose]:
    generator = rng("poses")
    return [Pose(random_rotation(generator), generator.normal(size=3)) for _ in range(3)]


def close(a: Pose, b: Pose) -> None:
    np.testing.assert_allclose(a.R, b.R, atol=16 * EPS)
    np.testing.assert_allclose(a.p, b.p, atol=32 * EPS)


def test_group(three: list[Pose]):
    a, b, c = three
    left = poses.compose(o, poses.compose(o, a, b), c)
    close(left, poses.compose(o, a, poses.compose(o, b, c)))
    close(poses.compose(o, a, poses.inverse(o, a)), poses.identity(o))
    close(poses.compose(o, poses.inverse(o, a), a), poses.identity(o))
    for whole in (poses.compose(o, a, poses.identity(o)), poses.compose(o, poses.identity(o), a)):
        assert np.array_equal(whole.R, a.R) and np.array_equal(whole.p, a.p)


def test_action(three: list[Pose]):
    a, b, _ = three
    point = np.array([0.3, -1.0, 2.0])
    twice = poses.act(o, a, poses.act(o, b, point))
    np.testing.assert_allclose(poses.act(o, poses.compose(o, a, b), point), twice, atol=16 * EPS)
    back = poses.act(o, poses.inverse(o, a), poses.act(o, a, point))
    np.testing.assert_allclose(back, point, atol=16 * EPS)
    # the origin of b lands on p
    assert np.array_equal(poses.act(o, a, np.zeros(3)), a.p)


def test_matrices(three: list[Pose]):
    a, b, _ = three
    A, B = poses.to_matrix(o, a), poses.to_matrix(o, b)
    assert A.shape == (4, 4) and np.array_equal(A[3], [0, 0, 0, 1])
    assert np.array_equal(A[:3, :3], a.R) and np.array_equal(A[:3, 3], a.p)
    np.testing.assert_allclose(A @ B, poses.to_matrix(o, poses.compose(o, a, b)), atol=16 * EPS)
    back = poses.from_matrix(o, A)
    assert np.array_equal(back.R, a.R) and np.array_equal(back.p, a.p)
    assert np.array_equal(poses.to_matrix(o, poses.identity(o)), np.eye(4))
