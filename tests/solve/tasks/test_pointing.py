"""Axes of frames that point at points: checked by angles."""

from __future__ import annotations

import numpy as np
import pytest

import ik_measures as measures
from ik_solving import postures, robot_of, solved
from linkwork.ops.numpy import NUMPY
from linkwork.solve.ik import InverseKinematics
from linkwork.solve.tasks.pointing import Pointing
from seeds import rng

AXIS, LENS = (1.0, 0.2, -0.3), (0.03, 0.0, 0.05)


def angles(robot, q, frame, targets, axis=AXIS, point=LENS):
    T = robot.fk(q, frame)
    return measures.angle_between(measures.axis_of(T, axis), targets - measures.point_of(T, point))


@pytest.mark.sweep(1)
@pytest.mark.parametrize(("name", "frame"), [("panda", "tool0"), ("mobile_arm", "hand")])
def test_they_point_at_the_target(name, frame):
    robot = robot_of(name)
    T = robot.fk(postures(robot, "pointing"), frame)
    far = rng("far").uniform(0.05, 3.0, (len(T), 1))
    targets = measures.point_of(T, LENS) + far * measures.axis_of(T, AXIS)
    q = solved(robot, Pointing(frame, axis=AXIS, point=LENS), targets)
    assert angles(robot, q, frame, targets).max() <= 1.001e-4


def test_with_slack_they_point_into_a_cone():
    robot = robot_of("panda")
    targets = robot.fk(postures(robot, "cone"), "tool0")[:, :3, 3] + 1.0
    q = solved(robot, Pointing("tool0", axis=AXIS, point=LENS, slack=0.2), targets)
    found = angles(robot, q, "tool0", targets)
    assert found.max() <= 0.2001 + 1e-9
    assert np.median(found) > 0.05


def test_a_start_that_points_away_is_turned_round():
    robot = robot_of("ur5e")
    q = postures(robot, "away")
    T = robot.fk(q, "tool0")
    targets = T[:, :3, 3] - 0.8 * T[:, :3, 2]
    solver = InverseKinematics(robot.mechanism, Pointing("tool0"))
    result = solver.solve(targets, q)
    assert result.success.all()
    away = angles(robot, result.q, "tool0", targets, (0, 0, 1), (0, 0, 0))
    assert away.max() <= 1.001e-4


def test_standing_in_the_target_is_not_pointing_at_it():
    robot = robot_of("panda")
    bound = Pointing("tool0").bind(robot.mechanism)
    for q in postures(robot, "inside", 5):
        found = bound.residual(NUMPY, q, robot.fk(q, "tool0")[:3, 3])
        assert found.squared[0] == pytest.approx(1.0, abs=1e-3)
        assert np.isfinite(np.array(found.columns)).all()
