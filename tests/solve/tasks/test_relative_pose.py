"""One frame in another one that moves as well."""

from __future__ import annotations

import numpy as np
import pytest

import ik_measures as measures
from ik_solving import postures, robot_of, solved
from linkwork.errors import InputError
from linkwork.solve.ik import InverseKinematics
from linkwork.solve.tasks.pose import Pose
from linkwork.solve.tasks.relative_pose import RelativePose
from robots import every_joint_urdf


def between(robot, q, frame, other):
    return measures.back(robot.fk(q, other)) @ robot.fk(q, frame)


PAIRS = [
    ("two_arm_torso", {}, "left_tool0", "right_tool0"),
    ("humanoid", {"base": "floating"}, "left_hand", "right_foot"),
]


@pytest.mark.sweep(1)
@pytest.mark.parametrize(("name", "options", "frame", "other"), PAIRS)
def test_relative_poses_are_reached(name, options, frame, other):
    robot = robot_of(name, **options)
    T = between(robot, postures(robot, "pairs"), frame, other)
    q = solved(robot, RelativePose(frame, other), T)
    reached = between(robot, q, frame, other)
    assert np.linalg.norm(reached[:, :3, 3] - T[:, :3, 3], axis=-1).max() <= 1.001e-5
    assert measures.turn_between(reached, T).max() <= 1.001e-4


@pytest.mark.sweep(1)
@pytest.mark.parametrize("of", ["other", "target", "tool"])
def test_parts_are_reached(of):
    robot = robot_of("two_arm_torso")
    T = between(robot, postures(robot, of), "left_tool0", "right_tool0")
    how = {"position": "xy", "rotation": "xy", "axes_of": of}
    q = solved(robot, RelativePose("left_tool0", "right_tool0", **how), T)
    reached = between(robot, q, "left_tool0", "right_tool0")
    assert measures.position_left(reached, T, "xy", of).max() <= 1.001e-5
    assert measures.rotation_left(reached, T, "xy", of).max() <= 1.001e-4


def test_only_the_joints_between_matter():
    m = robot_of("two_arm_torso").mechanism
    bound = RelativePose("left_tool0", "right_tool0").bind(m)
    names = {m.joint_names[c] for c in bound.coordinates}
    assert names == {n for n in m.joint_names if "left_" in n or "right_" in n} - {
        "left_finger",
        "right_finger",
    }
    floating = robot_of("humanoid", base="floating").mechanism
    bound = RelativePose("left_hand", "right_foot").bind(floating)
    assert all(floating.joint_types[c].n_q == 1 for c in bound.coordinates)


def test_a_planar_joint_on_the_way_up():
    # there the chain between the two cannot be turned round, and both go through the world
    robot = robot_of(every_joint_urdf())
    q = postures(robot, "ball", 50)
    T = between(robot, q, "hand", "ball")
    solver = InverseKinematics(robot.mechanism, RelativePose("hand", "ball"))
    near = robot.integrate(q, np.full((50, robot.n_v), 0.05))
    near = np.clip(near, robot.limits.lower, robot.limits.upper)  # of what does not move as well
    at = int(robot.mechanism.q_start[robot.mechanism.joint("socket")])
    near[:, at : at + 4] = q[:, at : at + 4]  # it does not move either
    result = solver.solve(T, near)
    assert result.success.all()
    reached = between(robot, result.q, "hand", "ball")
    assert measures.turn_between(reached, T).max() <= 1.001e-4


def test_holding_one_thing_with_two_hands():
    robot = robot_of("two_arm_torso")
    q = postures(robot, "hands")
    T, held = robot.fk(q, "left_tool0"), between(robot, q, "right_tool0", "left_tool0")
    tasks = [Pose("left_tool0"), RelativePose("right_tool0", "left_tool0")]
    found = solved(robot, tasks, [T, held])
    # the errors of both add up at the right hand
    assert measures.turn_between(robot.fk(found, "right_tool0"), T @ held).max() <= 2.002e-4


def test_a_frame_in_itself_moves_by_nothing():
    m = robot_of("panda").mechanism
    with pytest.raises(InputError, match="no joint moves"):
        InverseKinematics(m, RelativePose("tool0", "link7"))
