"""Which joints a problem moves, and what it refuses."""

from __future__ import annotations

import numpy as np
import pytest

import linkwork as lw
from linkwork.errors import InputError, UnknownNameError
from linkwork.solve.problem import pose_problem
from robots import mechanism_from


def mechanism(name, **kwargs):
    return lw.load(name, **kwargs).mechanism


def test_by_default_all_joints_between_base_and_frame():
    m = mechanism("two_arm_torso")
    tips = [name for name in m.frame_names if "left" in name and "tool" in name]
    problem = pose_problem(m, tips[0])
    names = [m.joint_names[c] for c in problem.coordinates]
    assert not any("right" in name for name in names)
    assert len(names) >= 8
    assert problem.held == ()


def test_named_joints_move_and_the_others_on_the_path_are_held():
    m = mechanism("ur5e")
    problem = pose_problem(m, "tool0", m.joint_names[:4])
    assert problem.moved == (0, 1, 2, 3)
    assert problem.held == (4, 5)
    assert pose_problem(m, "tool0", m.joint_names[2]).moved == (2,)


def test_a_floating_base_moves_too():
    m = mechanism("quadruped", base="floating")
    foot = next(name for name in m.frame_names if "foot" in name)
    problem = pose_problem(m, foot)
    assert len(problem.moved) == 7 + 3
    assert len(problem.moved_v) == 6 + 3


def test_what_cannot_be_moved_is_refused_by_name():
    m = mechanism("ur5e")
    with pytest.raises(InputError, match="no joint moves frame 'base_link'"):
        pose_problem(m, "base_link")
    with pytest.raises(InputError, match=r"wrist_3_joint.*does not move.*these do: shoulder"):
        pose_problem(m, "forearm_link", ["wrist_3_joint"])
    with pytest.raises(UnknownNameError, match="tool0"):
        pose_problem(m, "tool9")
    with pytest.raises(UnknownNameError, match="wrist_3_joint"):
        pose_problem(m, "tool0", ["wrist_9_joint"])
    with pytest.raises(InputError, match="joints is empty"):
        pose_problem(m, "tool0", [])


def test_reversed_limits_are_refused():
    m = mechanism_from(
        '<robot name="r"><link name="a"/><link name="b"/><joint name="j" type="revolute">'
        '<parent link="a"/><child link="b"/><axis xyz="0 0 1"/>'
        '<limit lower="1" upper="-1" effort="1" velocity="1"/></joint></robot>'
    )
    with pytest.raises(InputError, match="'j' has its lower limit above"):
        pose_problem(m, "b")


def test_angles_without_limits_wrap():
    problem = pose_problem(mechanism("mobile_arm"), lw.load("mobile_arm").frame_names[-1])
    assert problem.wraps.dtype == bool
    assert (problem.is_angle | ~problem.wraps).all()


def test_the_length_bounds_the_reach():
    robot = lw.load("planar_2r")
    problem = pose_problem(robot.mechanism, robot.tip)
    reach = np.linalg.norm(robot.fk(robot.random(2000, seed=0))[:, :3, 3], axis=1).max()
    assert reach <= problem.length + 1e-12
    assert problem.length <= reach * 1.05
