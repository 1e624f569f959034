"""Poses, whole and in parts: reached, checked by their matrices."""

from __future__ import annotations

import numpy as np
import pytest

import ik_measures as measures
from ik_solving import postures, robot_of, solved
from linkwork.errors import InputError
from linkwork.solve.ik import InverseKinematics
from linkwork.solve.tasks.pose import Pose
from seeds import rng

ROBOTS = ["panda", "ur5e"]


@pytest.mark.sweep(1)
@pytest.mark.parametrize("name", ROBOTS)
def test_whole_poses_are_reached(name):
    robot = robot_of(name)
    T = robot.fk(postures(robot, "poses"), "tool0")
    reached = robot.fk(solved(robot, Pose("tool0"), T), "tool0")
    assert np.linalg.norm(reached[:, :3, 3] - T[:, :3, 3], axis=-1).max() <= 1.001e-5
    assert measures.turn_between(reached, T).max() <= 1.001e-4


PARTS = [
    {"position": "xy", "rotation": "xyz", "axes_of": "tool"},
    {"position": "xyz", "rotation": "xy", "axes_of": "target"},
    {"position": "xyz", "rotation": "xy", "axes_of": "world"},
    {"position": "xz", "rotation": "z", "axes_of": "world"},
    {"position": "xyz", "rotation": "x", "axes_of": "tool"},
    {"position": "xyz", "rotation": "xyz", "axes_of": "world", "mirror": "z"},
    {"position": "xyz", "rotation": "xy", "axes_of": "tool", "mirror": "x"},
    {"position": "xyz", "rotation": "xz", "axes_of": "world", "mirror": "y"},
]


@pytest.mark.sweep(1)
@pytest.mark.parametrize("name", ROBOTS)
@pytest.mark.parametrize("how", PARTS, ids=lambda how: " ".join(map(str, how.values())))
def test_parts_of_poses_are_reached(name, how):
    robot = robot_of(name)
    T = robot.fk(postures(robot, str(how)), "tool0")
    reached = robot.fk(solved(robot, Pose("tool0", **how), T), "tool0")
    where, turns, of = how["position"], how["rotation"], how["axes_of"]
    assert measures.position_left(reached, T, where, of).max() <= 1.001e-5
    mirror = how.get("mirror")
    assert measures.rotation_left(reached, T, turns, of, mirror).max() <= 1.001e-4


def test_what_is_free_is_left_free_and_what_is_mirrored_is_used():
    robot = robot_of("panda")
    T = robot.fk(postures(robot, "free"), "tool0")
    reached = robot.fk(solved(robot, Pose("tool0", rotation="xy", axes_of="tool"), T), "tool0")
    assert np.median(measures.turn_between(reached, T)) > 0.3
    either = robot.solver(tasks=Pose("tool0", mirror="z")).solve(T, robot.neutral())
    reached = robot.fk(either.q, "tool0")  # from q0, not from a seed for the target as it is
    turned = measures.turn_between(reached, T) > 3.0
    assert 20 < np.count_nonzero(turned) < 180


def test_slack_is_used_and_not_exceeded():
    robot = robot_of("ur5e")
    T = robot.fk(postures(robot, "slack"), "tool0")
    slack = (0.0, 0.0, 0.05, 0.0, 0.3, 0.3)
    task = Pose("tool0", axes_of="tool", slack=slack)
    reached = robot.fk(solved(robot, task, T), "tool0")
    way = measures.way_in_axes(reached, T, "tool")
    turn = measures.turn_in_axes(reached, T, "tool")
    beyond = np.maximum(np.abs(np.hstack([way, turn])) - slack, 0.0)
    assert np.linalg.norm(beyond[:, :3], axis=1).max() <= 1.001e-5
    assert np.linalg.norm(beyond[:, 3:], axis=1).max() <= 1.001e-4
    assert np.median(np.abs(turn[:, 1])) > 0.01
    assert np.median(np.abs(way[:, 2])) > 0.001


def test_a_target_that_slack_brings_into_reach():
    # the target is 40 cm further along the tool's z than what can be reached, and turned about it
    robot = robot_of("panda")
    T = robot.fk(postures(robot, "reach"), "tool0")
    target = T @ measures.shifted([0.0, 0.0, 0.4]) @ measures.turned(2, 0.5)
    plain = InverseKinematics(robot.mechanism, Pose("tool0")).solve(target, tries=50)
    assert np.count_nonzero(plain.success) < 120
    task = Pose("tool0", axes_of="tool", slack=(0.0, 0.0, 0.41, 0.0, 0.0, 0.51))
    solved(robot, task, target)


@pytest.mark.slow
def test_one_axis_of_a_rotation_at_large_free_turns():
    # the derivative is exact there, so steps converge as they do near the target
    robot = robot_of("panda")
    q = postures(robot, "large", 100)
    g = rng("large turns")
    T = robot.fk(q, "tool0")
    for k, axis in enumerate("xyz"):
        free = [measures.turned((k + 1) % 3, g.uniform(-2.9, 2.9)) for _ in q]
        tilt = [measures.turned(k, g.uniform(-3, 3)) for _ in q]
        turned = np.array([t @ f @ measures.back(t) for t, f in zip(tilt, free, strict=True)])
        target = T @ turned
        target[:, :3, 3] = T[:, :3, 3]
        task = Pose("tool0", rotation=axis, axes_of="tool")
        start = robot.integrate(q, 0.02 * g.normal(size=(100, 7)))
        result = InverseKinematics(robot.mechanism, task).solve(target, start, tries=1, steps=8)
        assert np.count_nonzero(result.success) >= 95, axis


def test_nothing_to_ask_for_is_refused():
    m = robot_of("panda").mechanism
    with pytest.raises(InputError, match="both empty"):
        Pose("tool0", position="", rotation="").bind(m)
    with pytest.raises(InputError, match="mirror is about rotations"):
        Pose("tool0", rotation="", mirror="x").bind(m)
