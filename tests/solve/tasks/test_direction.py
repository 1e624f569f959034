"""Axes of frames along directions of the world."""

from __future__ import annotations

import numpy as np
import pytest

import ik_measures as measures
from ik_solving import postures, robot_of, solved
from linkwork.errors import InputError
from linkwork.solve.ik import InverseKinematics
from linkwork.solve.tasks.direction import Direction

AXIS = (0.5, 1.0, -0.3)


@pytest.mark.sweep(2)
@pytest.mark.parametrize(("name", "frame"), [("ur5e", "tool0"), ("two_arm_torso", "right_tool0")])
@pytest.mark.parametrize("axis", [AXIS, (0, 0, -1)])
def test_they_lie_along_the_direction(name, frame, axis):
    robot = robot_of(name)
    targets = 2.0 * measures.axis_of(robot.fk(postures(robot, f"along {axis}"), frame), axis)
    q = solved(robot, Direction(frame, axis=axis), targets)
    found = measures.angle_between(measures.axis_of(robot.fk(q, frame), axis), targets)
    assert found.max() <= 1.001e-4


def test_the_opposite_direction_is_turned_round():
    robot = robot_of("panda")
    q = postures(robot, "opposite")
    targets = -measures.axis_of(robot.fk(q, "tool0"), (0, 0, 1))
    result = InverseKinematics(robot.mechanism, Direction("tool0")).solve(targets, q)
    assert result.success.all()
    assert np.abs(robot.fk(result.q, "tool0")[:, :3, 2] - targets).max() < 1e-3


def test_with_slack_they_lie_in_a_cone():
    robot = robot_of("panda")
    targets = measures.axis_of(robot.fk(postures(robot, "cone"), "tool0"), AXIS)
    q = solved(robot, Direction("tool0", axis=AXIS, slack=0.3), targets)
    found = measures.angle_between(measures.axis_of(robot.fk(q, "tool0"), AXIS), targets)
    assert found.max() <= 0.3001 + 1e-9
    assert np.median(found) > 0.1


def test_a_direction_of_no_length_is_refused():
    bound = Direction("tool0").bind(robot_of("panda").mechanism)
    with pytest.raises(InputError, match=r"task 'tool0': target \[1\] has the direction 0 0 0"):
        bound.rows_of([[0, 0, 1], [0, 0, 0]])
