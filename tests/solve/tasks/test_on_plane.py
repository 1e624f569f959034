"""Points of frames on planes."""

from __future__ import annotations

import numpy as np
import pytest

import ik_measures as measures
from ik_solving import postures, robot_of, solved
from linkwork.solve.tasks.on_plane import OnPlane
from linkwork.solve.tasks.pointing import Pointing
from seeds import rng

TIP = (0.0, 0.03, 0.1)


def planes(robot, label):
    """Planes through points that the tip can reach, given by other points of theirs."""
    p = measures.point_of(robot.fk(postures(robot, label), "tool0"), TIP)
    g = rng(label)
    n = g.normal(size=p.shape)
    return np.hstack([p + np.cross(g.normal(size=p.shape), n), n])


@pytest.mark.sweep(1)
@pytest.mark.parametrize("name", ["panda", "scara"])
def test_points_come_to_lie_on_planes(name):
    robot = robot_of(name)
    targets = planes(robot, "planes")
    q = solved(robot, OnPlane("tool0", point=TIP), targets)
    away = measures.from_plane(measures.point_of(robot.fk(q, "tool0"), TIP), targets)
    assert away.max() <= 1.001e-5


def test_with_slack_they_lie_in_a_slab():
    robot = robot_of("ur5e")
    targets = planes(robot, "slab")
    q = solved(robot, OnPlane("tool0", point=TIP, slack=0.05), targets)
    found = measures.from_plane(measures.point_of(robot.fk(q, "tool0"), TIP), targets)
    assert found.max() <= 0.05 + 1.001e-5
    assert np.median(found) > 0.005


def test_two_tasks_on_one_frame():
    robot = robot_of("panda")
    q = postures(robot, "both")
    T = robot.fk(q, "tool0")
    n = rng("both").normal(size=(len(q), 3))
    plane = np.hstack([T[:, :3, 3], n])
    look = T[:, :3, 3] + 0.5 * T[:, :3, 2]
    tasks = [OnPlane("tool0", name="plane"), Pointing("tool0", name="look")]
    found = robot.fk(solved(robot, tasks, {"plane": plane, "look": look}), "tool0")
    assert measures.from_plane(found[:, :3, 3], plane).max() <= 1.001e-5
    assert measures.angle_between(found[:, :3, 2], look - found[:, :3, 3]).max() <= 1.001e-4
