"""Points of frames on lines."""

from __future__ import annotations

import numpy as np
import pytest

import ik_measures as measures
from ik_solving import postures, robot_of, solved
from linkwork.solve.tasks.on_line import OnLine
from seeds import rng

TIP = (0.0, 0.03, 0.1)


def lines(robot, label):
    """Lines through points that the tip can reach, given by other points of theirs."""
    p = measures.point_of(robot.fk(postures(robot, label), "tool0"), TIP)
    g = rng(label)
    d = g.normal(size=p.shape)
    return np.hstack([p + g.normal(size=(len(p), 1)) * d, d])


@pytest.mark.sweep(1)
@pytest.mark.parametrize("name", ["panda", "scara"])
def test_points_come_to_lie_on_lines(name):
    robot = robot_of(name)
    targets = lines(robot, "lines")
    q = solved(robot, OnLine("tool0", point=TIP), targets)
    assert (
        measures.from_line(measures.point_of(robot.fk(q, "tool0"), TIP), targets).max() <= 1.001e-5
    )


def test_with_slack_they_lie_in_a_cylinder():
    robot = robot_of("ur5e")
    targets = lines(robot, "cylinder")
    q = solved(robot, OnLine("tool0", point=TIP, slack=0.05), targets)
    found = measures.from_line(measures.point_of(robot.fk(q, "tool0"), TIP), targets)
    assert found.max() <= 0.05 + 1.001e-5
    assert np.median(found) > 0.01
