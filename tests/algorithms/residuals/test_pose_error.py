"""The residual: zero at the target, the right direction everywhere, second order near it."""

from __future__ import annotations

import numpy as np
import pytest

from linkwork.algorithms.residuals.pose_error import bend, direction_error, rotation_error
from linkwork.ops.numpy import NUMPY
from linkwork.spatial import so3
from seeds import rng

ANGLES = [1e-12, 1e-9, 1e-6, 1e-3, 0.1, 1.0, 2.0, 3.0, np.pi - 1e-6]


def unit(g):
    v = g.normal(size=3)
    return v / np.linalg.norm(v)


@pytest.mark.parametrize("angle", ANGLES)
def test_error_of_a_known_turn(angle):
    g = rng(f"turn {angle}")
    axis, R = unit(g), so3.exp(NUMPY, g.normal(size=3))
    turn, squared = rotation_error(NUMPY, R, so3.exp(NUMPY, axis * angle) @ R)
    if angle > 1e-9:
        np.testing.assert_allclose(turn / np.linalg.norm(turn), axis, atol=1e-6)
        assert np.sqrt(squared) == pytest.approx(2.0 * np.sin(angle / 2), rel=1e-6)
    # digits are not lost in the trace: an angle of 1e-12 is not taken for none, nor for 1e-8
    assert np.sqrt(squared) == pytest.approx(2.0 * np.sin(angle / 2), rel=1e-6, abs=3e-16)


@pytest.mark.parametrize("angle", ANGLES)
def test_error_of_a_known_tilt(angle):
    g = rng(f"tilt {angle}")
    a = unit(g)
    axis = np.cross(a, unit(g))
    axis /= np.linalg.norm(axis)
    turn, squared = direction_error(NUMPY, a, so3.exp(NUMPY, axis * angle) @ a)
    assert np.sqrt(squared) == pytest.approx(2.0 * np.sin(angle / 2), rel=1e-6, abs=3e-16)
    assert turn @ axis == pytest.approx(np.sin(angle) * bend(np.cos(angle)), rel=1e-6, abs=3e-16)
    assert abs(turn @ a) < 1e-15


def test_the_rotation_error_is_the_rotation_vector_to_second_order():
    g = rng("order")
    R, axis = so3.exp(NUMPY, g.normal(size=3)), unit(g)
    gaps = []
    for angle in (0.2, 0.1, 0.05):
        turn, _ = rotation_error(NUMPY, R, so3.exp(NUMPY, axis * angle) @ R)
        gaps.append(np.linalg.norm(turn - angle * axis))
    assert gaps[0] / gaps[1] > 6.0  # the gap is of third order in the angle
    assert gaps[1] / gaps[2] > 6.0


def test_it_grows_up_to_near_half_a_turn():
    sizes = []
    for angle in np.linspace(0.0, 2.6, 100):
        turn, _ = rotation_error(NUMPY, np.eye(3), so3.exp(NUMPY, np.array([0.0, 0.0, angle])))
        sizes.append(turn[2])
    assert (np.diff(sizes[:75]) > 0.0).all()
    assert min(sizes[75:]) > 1.5


def test_half_a_turn_is_as_far_as_can_be():
    for R in (np.diag([1.0, -1.0, -1.0]), np.diag([-1.0, -1.0, 1.0])):
        turn, squared = rotation_error(NUMPY, np.eye(3), R)
        assert squared == 4.0
        assert np.abs(turn).max() == 0.0
    turn, squared = direction_error(NUMPY, np.array([0.0, 1.0, 0.0]), np.array([0.0, -1.0, 0.0]))
    assert squared == 4.0
    assert np.abs(turn).max() == 0.0
