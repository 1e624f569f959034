"""Frames, points and axes in motion, against finite differences of poses."""

from __future__ import annotations

import numpy as np
import pytest

import ik_measures as measures
import linkwork as lw
from linkwork.algorithms.residuals.frames import (
    across_from,
    moving_axis,
    moving_frame,
    moving_point,
    three,
    unit,
)
from linkwork.errors import InputError
from linkwork.ops.numpy import NUMPY
from robots import every_joint_urdf

ROBOTS = [("panda", "tool0"), ("mobile_arm", "finger_follower_link"), (every_joint_urdf(), "ball")]


@pytest.mark.sweep(1)
@pytest.mark.parametrize(("name", "frame"), ROBOTS, ids=["panda", "mobile_arm", "every_joint"])
def test_velocities_are_those_of_the_poses(name, frame):
    robot = lw.load(name)
    m, h, point = robot.mechanism, 1e-6, (0.1, -0.2, 0.05)
    q = robot.random(seed=1)
    T = robot.fk(q, frame)
    found = moving_frame(NUMPY, m, q, frame)
    at, linear = moving_point(NUMPY, found, point)
    np.testing.assert_allclose(found.pose.R, T[:3, :3], atol=1e-14)
    np.testing.assert_allclose(at, measures.point_of(T, point), atol=1e-14)
    for k in range(m.n_v):
        low, high = (robot.fk(robot.integrate(q, s * h * np.eye(m.n_v)[k]), frame) for s in (-1, 1))
        moved = (measures.point_of(high, point) - measures.point_of(low, point)) / (2 * h)
        np.testing.assert_allclose(linear[k], moved, atol=1e-8)
        spin = (high - low)[:3, :3] @ T[:3, :3].T / (2 * h)
        turned = [spin[2, 1], spin[0, 2], spin[1, 0]]
        np.testing.assert_allclose(found.angular[k], turned, atol=1e-8)


def test_the_origin_costs_nothing():
    robot = lw.load("panda")
    found = moving_frame(NUMPY, robot.mechanism, robot.random(seed=2), "tool0")
    at, linear = moving_point(NUMPY, found, (0.0, 0.0, 0.0))
    assert at is found.pose.p
    assert linear is found.linear


def test_axes_of_the_frame():
    robot = lw.load("panda")
    q = robot.random(seed=3)
    found = moving_frame(NUMPY, robot.mechanism, q, "tool0")
    for axis in ((1, 0, 0), (0, 0, 1), (0, -1, 0), (0.6, 0.0, 0.8)):
        expected = measures.axis_of(robot.fk(q, "tool0"), axis)
        np.testing.assert_allclose(moving_axis(NUMPY, found, axis), expected, atol=1e-14)


def test_three_numbers():
    assert three([1, 2, -0.0], "Task.point") == (1.0, 2.0, 0.0)
    assert str(three([1, 2, -0.0], "Task.point")) == "(1.0, 2.0, 0.0)"
    assert three(np.array([1.0, 2.0, 3.0]), "Task.point") == (1.0, 2.0, 3.0)
    for wrong in ((1, 2), (1, 2, 3, 4), (1, 2, np.nan), "123", 5, None, [[1, 2, 3]], "xyz"):
        with pytest.raises(InputError, match=r"Task\.point must be three finite numbers"):
            three(wrong, "Task.point")


def test_unit_vectors():
    assert unit((0, 0, 5), "Task.axis") == (0.0, 0.0, 1.0)
    for size in (1e-300, 1.0, 1e300):
        found = unit((3 * size, 0.0, -4 * size), "Task.axis")
        np.testing.assert_allclose(found, (0.6, 0.0, -0.8), rtol=1e-15)
    with pytest.raises(InputError, match=r"Task\.axis must be a direction"):
        unit((0, 0, 0), "Task.axis")


@pytest.mark.parametrize(
    "axis", [(1, 0, 0), (0, -1, 0), (0, 0, 1), (1, 2, 3), (1e-9, 0, 1), (0.6, 0.8, 0), (-5, 1, 5)]
)
def test_two_vectors_across_an_axis(axis):
    axis = unit(axis, "axis")
    B = np.array([axis, *across_from(axis)])
    np.testing.assert_allclose(B @ B.T, np.eye(3), atol=1e-15)
    if axis.count(0.0) == 2:  # those of the frame, which cost nothing
        assert np.count_nonzero(B) == 3
