"""Joints that follow others."""

from __future__ import annotations

import numpy as np
import pytest

from ik_solving import postures, robot_of, solved
from linkwork.errors import InputError
from linkwork.solve.tasks.joint_coupling import JointCoupling
from linkwork.solve.tasks.position import Position
from seeds import rng


@pytest.mark.sweep(1)
@pytest.mark.parametrize("name", ["panda", "two_arm_torso"])
def test_the_joint_follows_while_the_tool_gets_there(name):
    robot = robot_of(name)
    frame = "tool0" if name == "panda" else "left_tool0"
    first, second = ("joint6", "joint2") if name == "panda" else ("left_elbow", "left_shoulder_yaw")
    ratio, offset = (0.5, 1.5) if name == "panda" else (0.3, -1.2)
    a, b = (robot.joint_names.index(n) for n in (first, second))
    q = postures(robot, "coupled")
    q[:, a] = ratio * q[:, b] + offset
    p = robot.fk(q, frame)[:, :3, 3]
    tasks = [Position(frame), JointCoupling(first, second, ratio=ratio, offset=offset)]
    found = solved(robot, tasks, p)
    assert np.linalg.norm(robot.fk(found, frame)[:, :3, 3] - p, axis=1).max() <= 1.001e-5
    assert np.abs(found[:, a] - ratio * found[:, b] - offset).max() <= 1.001e-4


def test_a_slide_is_measured_in_metres():
    m = robot_of("scara").mechanism
    bound = JointCoupling("joint3", "joint1", ratio=0.02).bind(m)
    assert [(g.name, g.unit) for g in bound.groups] == [("position", "m")]
    assert bound.n_target == 0
    assert bound.counts_turns == (2, 0)


def test_what_cannot_be_coupled_is_refused():
    m = robot_of("mobile_arm").mechanism
    with pytest.raises(InputError, match="'base' is a planar joint"):
        JointCoupling("arm_1", "base").bind(m)
    with pytest.raises(InputError, match="to itself"):
        JointCoupling("arm_1", "arm_1").bind(m)


def test_joints_without_limits_count_their_turns():
    robot = robot_of("mobile_arm")
    first, second = robot.joint_names[1:3]
    start = np.zeros((200, robot.n_q))
    start[:, 3:5] = rng("wheels").uniform(-9.0, 9.0, (200, 2))
    task = JointCoupling(first, second, ratio=0.3, offset=2.0)
    q = solved(robot, task, None, q0=start)
    assert np.abs(q[:, 3] - 0.3 * q[:, 4] - 2.0).max() <= 1.001e-4
    # by the nearest way, which is shorter than a turn of either
    assert np.abs(q - start).max() <= np.abs(start[:, 3] - 0.3 * start[:, 4] - 2.0).max()
