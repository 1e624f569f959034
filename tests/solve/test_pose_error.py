"""The residual: zero at the target, the right direction everywhere, second order near it."""

from __future__ import annotations

import numpy as np
import pytest

from linkwork.ops.numpy import NUMPY
from linkwork.solve.pose_error import pose_error
from linkwork.spatial import so3
from linkwork.spatial.poses import Pose
from seeds import rng

ANGLES = [1e-12, 1e-9, 1e-6, 1e-3, 0.1, 1.0, 2.0, 3.0, np.pi - 1e-6]


def unit(g):
    v = g.normal(size=3)
    return v / np.linalg.norm(v)


@pytest.mark.parametrize("angle", ANGLES)
def test_error_of_a_known_turn(angle):
    g = rng(f"turn {angle}")
    axis, R = unit(g), so3.exp(NUMPY, g.normal(size=3))
    p, e = g.normal(size=3), g.normal(size=3)
    target = Pose(so3.exp(NUMPY, axis * angle) @ R, p + e)
    error = pose_error(NUMPY, Pose(R, p), target)
    np.testing.assert_allclose(error.position, e, atol=1e-15)
    assert np.sqrt(error.sine_squared) == pytest.approx(np.sin(angle), rel=1e-6, abs=1e-15)
    assert error.cosine == pytest.approx(np.cos(angle), abs=1e-15)
    direction = error.rotation / np.linalg.norm(error.rotation)
    if angle > 1e-9:
        np.testing.assert_allclose(direction, axis, atol=1e-6)
    assert np.arctan2(np.sqrt(error.sine_squared), error.cosine) == pytest.approx(
        angle, rel=1e-6, abs=1e-15
    )


def test_the_rotation_error_is_the_rotation_vector_to_second_order():
    g = rng("order")
    R, axis = so3.exp(NUMPY, g.normal(size=3)), unit(g)
    gaps = []
    for angle in (0.2, 0.1, 0.05):
        target = Pose(so3.exp(NUMPY, axis * angle) @ R, np.zeros(3))
        error = pose_error(NUMPY, Pose(R, np.zeros(3)), target)
        gaps.append(np.linalg.norm(error.rotation - angle * axis))
    assert gaps[0] / gaps[1] > 6.0  # the gap is of third order in the angle
    assert gaps[1] / gaps[2] > 6.0


def test_it_grows_up_to_near_half_a_turn():
    sizes = []
    for angle in np.linspace(0.0, 2.6, 100):
        target = Pose(so3.exp(NUMPY, np.array([0.0, 0.0, angle])), np.zeros(3))
        error = pose_error(NUMPY, Pose(np.eye(3), np.zeros(3)), target)
        sizes.append(error.rotation[2])
    assert (np.diff(sizes[:75]) > 0.0).all()
    assert min(sizes[75:]) > 1.5
