"""Poses: a group, the same as 4 x 4 matrices; twists and wrenches seen from them."""

from __future__ import annotations

import numpy as np
import pytest

from linkwork.ops.numpy import NUMPY as o
from linkwork.spatial import poses, se3
from linkwork.spatial.poses import Pose
from seeds import random_rotation, rng

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


@pytest.fixture
def generator() -> np.random.Generator:
    return rng("twists")


def random_pose(generator: np.random.Generator) -> Pose:
    return Pose(random_rotation(generator), generator.normal(size=3))


def test_power_does_not_depend_on_the_frame(generator: np.random.Generator):
    for _ in range(20):
        pose, twist, wrench = random_pose(generator), *generator.normal(size=(2, 6))
        power = poses.transform_twist(o, pose, twist) @ poses.transform_wrench(o, pose, wrench)
        assert power == pytest.approx(twist @ wrench, abs=100 * EPS)


def test_wrenches_transform_by_the_inverse_transposed_adjoint(generator: np.random.Generator):
    pose, wrench = random_pose(generator), generator.normal(size=6)
    dual = se3.adjoint(o, poses.inverse(o, pose)).T
    np.testing.assert_allclose(
        poses.transform_wrench(o, pose, wrench), dual @ wrench, atol=32 * EPS
    )


def test_transforms_compose(generator: np.random.Generator):
    a, b, x = random_pose(generator), random_pose(generator), generator.normal(size=6)
    for transform in (poses.transform_twist, poses.transform_wrench):
        once = transform(o, poses.compose(o, a, b), x)
        np.testing.assert_allclose(once, transform(o, a, transform(o, b, x)), atol=32 * EPS)
        back = transform(o, poses.inverse(o, a), transform(o, a, x))
        np.testing.assert_allclose(back, x, atol=32 * EPS)


def test_known_values():
    # b sits one metre along x of a; a turn about z at b moves the point at a's origin along -y
    pose = Pose(np.eye(3), np.array([1.0, 0.0, 0.0]))
    turn = poses.transform_twist(o, pose, np.array([0, 0, 0, 0, 0, 2.0]))
    np.testing.assert_array_equal(turn, [0, -2, 0, 0, 0, 2])
    # a force along y at b has a moment about z at a
    push = poses.transform_wrench(o, pose, np.array([0, 3.0, 0, 0, 0, 0]))
    np.testing.assert_array_equal(push, [0, 3, 0, 0, 0, 3])


def test_cross_motion_is_the_derivative_of_the_transform(generator: np.random.Generator):
    # d/dt Ad(exp(t V)) m = V x m at t = 0
    twist, motion, wrench = generator.normal(size=(3, 6))
    step = 1e-5
    after, before = se3.exp(o, step * twist), se3.exp(o, -step * twist)
    for transform, cross, x in (
        (poses.transform_twist, poses.cross_motion, motion),
        (poses.transform_wrench, poses.cross_force, wrench),
    ):
        slope = (transform(o, after, x) - transform(o, before, x)) / (2 * step)
        np.testing.assert_allclose(cross(o, twist, x), slope, atol=1e-8)


def test_cross_products_are_dual_and_form_a_lie_algebra(generator: np.random.Generator):
    a, b, c = generator.normal(size=(3, 6))
    cross = lambda x, y: poses.cross_motion(o, x, y)
    # (a x b)·f = -b·(a x* f)
    assert cross(a, b) @ c == pytest.approx(-b @ poses.cross_force(o, a, c), abs=100 * EPS)
    np.testing.assert_allclose(cross(a, b), -cross(b, a), atol=32 * EPS)
    np.testing.assert_allclose(cross(a, a), np.zeros(6), atol=32 * EPS)
    jacobi = cross(a, cross(b, c)) + cross(b, cross(c, a)) + cross(c, cross(a, b))
    np.testing.assert_allclose(jacobi, np.zeros(6), atol=200 * EPS)
