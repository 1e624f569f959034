"""Orientations, whole and in parts."""

from __future__ import annotations

import numpy as np
import pytest

import ik_measures as measures
from ik_solving import postures, robot_of, solved
from linkwork.solve.tasks.orientation import Orientation

PARTS = [
    ("xyz", "world", None),
    ("xy", "tool", None),
    ("yz", "world", None),
    ("y", "target", None),
    ("xyz", "tool", "x"),
    ("yz", "tool", "y"),
]


@pytest.mark.sweep(1)
@pytest.mark.parametrize("name", ["panda", "two_arm_torso"])
@pytest.mark.parametrize(("axes", "of", "mirror"), PARTS)
def test_orientations_are_reached(name, axes, of, mirror):
    robot = robot_of(name)
    frame = "tool0" if name == "panda" else "left_tool0"
    T = robot.fk(postures(robot, f"{axes} {of}"), frame)
    task = Orientation(frame, axes=axes, axes_of=of, mirror=mirror)
    reached = robot.fk(solved(robot, task, T[:, :3, :3]), frame)
    assert measures.rotation_left(reached, T, axes, of, mirror).max() <= 1.001e-4


def test_a_pose_gives_its_orientation():
    robot = robot_of("ur5e")
    bound = Orientation("tool0").bind(robot.mechanism)
    T = robot.fk(postures(robot, "poses", 5), "tool0")
    np.testing.assert_array_equal(bound.rows_of(T), bound.rows_of(T[:, :3, :3]))


def test_slack_is_in_radians_about_each_axis():
    robot = robot_of("ur5e")
    T = robot.fk(postures(robot, "slack"), "tool0")
    slack = np.array([0.5, 0.0, 0.1])
    task = Orientation("tool0", axes_of="tool", slack=tuple(slack))
    reached = robot.fk(solved(robot, task, T), "tool0")
    turn = np.abs(measures.turn_in_axes(reached, T, "tool"))
    assert (turn <= slack + 1.001e-4).all()
    assert np.median(turn[:, 0]) > 0.1
