"""Words for failures: true distances, joints at their limits, limits that hold back."""

from __future__ import annotations

import re

import numpy as np
import pytest

import linkwork as lw
from linkwork.solve.ik import InverseKinematics
from linkwork.solve.limits.coupled import CoupledLimit
from linkwork.solve.limits.velocity import VelocityLimit
from linkwork.solve.tasks.center_of_mass import CenterOfMass
from linkwork.solve.tasks.manipulability import Manipulability
from linkwork.solve.tasks.pose import Pose
from linkwork.solve.tasks.position import Position
from linkwork.solve.tasks.posture import Posture


def failed(robot, tasks, *, limits=(), **how):
    solver = InverseKinematics(robot.mechanism, tasks, limits=limits)
    result = solver.solve(**{"tries": 3, **how})
    assert not result.success
    return result


def test_out_of_reach_is_said_with_a_distance_that_is_a_lower_bound():
    robot = lw.load("ur5e")
    result = robot.ik(lw.pose((3.0, 0.0, 0.2)), "tool0", tries=20)
    assert not result.success
    beyond = float(re.search(r"at least ([\d.]+) m out of reach", result.reason)[1])
    assert 1.0 < beyond <= result.position_error
    assert f"{float(result.position_error):.3g} m" in result.reason


@pytest.mark.parametrize("kind", ["slack", "tolerance", "option", "both"])
def test_out_of_reach_leaves_out_what_slack_and_tolerance_allow(kind):
    robot = lw.load("ur5e")
    point, options = np.array([5.0, 0.0, 0.2]), {"tries": 3}
    how = {"slack": (4.2, 0.3, 0.3)} if kind in ("slack", "both") else {}
    if kind == "both":  # 4.22 m by slack, 0.1 m by tolerance, and 4.0 m are missing at least
        how["tolerance"] = 0.1
    if kind == "tolerance":
        how["tolerance"] = 3.97
    if kind == "option":
        options["position_tolerance"] = 3.97
    result = robot.ik(tasks=lw.ik.Position("tool0", point, **how), **options)
    assert result.success or "out of reach" not in result.reason
    far = robot.ik(tasks=lw.ik.Position("tool0", 2.0 * point, **how), **options)
    beyond = float(re.search(r"at least ([\d.]+) m out of reach", far.reason)[1])
    assert 4.0 < beyond <= max(far.position_error, 5.0)
    near = robot.fk(far.q, "tool0")[:3, 3]
    allowed = np.linalg.norm(how.get("slack", 0.0))
    allowed += options.get("position_tolerance", how.get("tolerance", 1e-5))
    assert beyond <= np.linalg.norm(near - 2.0 * point) - allowed + 1e-3


def test_a_slide_without_limits_has_no_reach():
    result = lw.load("mobile_arm").ik(lw.pose((0.0, 0.0, 9.0)), "tool0", tries=5)
    assert not result.success
    assert "out of reach" not in result.reason


def test_joints_at_their_limits_are_named():
    text = """<robot name="r"><link name="a"/><link name="b"/><joint name="hinge" type="revolute">
    <parent link="a"/><child link="b"/><axis xyz="0 0 1"/>
    <limit lower="-1" upper="0.5" effort="1" velocity="1"/></joint></robot>"""
    robot = lw.load(text)
    result = robot.ik(lw.pose(rpy=(0.0, 0.0, 0.8)), "b", tries=30)
    assert not result.success
    assert "hinge (upper)" in result.reason
    assert result.q == pytest.approx([0.5])
    assert float(result.rotation_error) == pytest.approx(0.3)


def test_several_tasks_are_told_apart_by_name():
    robot = lw.load("two_arm_torso")
    near = robot.fk(robot.random(seed=1), "right_tool0")
    tasks = [Pose("left_tool0", lw.pose((9.0, 0.0, 0.0))), Pose("right_tool0", near)]
    reason = failed(robot, tasks).reason
    assert re.search(r"the target of 'left_tool0' is at least [\d.]+ m out of reach", reason)
    assert re.search(r" m and [\d.e-]+ rad away \('left_tool0'\)", reason)
    assert "('right_tool0')" in reason
    assert "target of 'right_tool0'" not in reason


def test_errors_have_the_units_of_their_tasks():
    robot = lw.load("panda")
    lower = robot.limits.lower - 0.3
    assert re.search(r"ends [\d.]+ rad away", failed(robot, Posture(lower)).reason)
    assert "joint1 (lower)" in failed(robot, Posture(lower)).reason
    reason = failed(robot, Manipulability("tool0", at_least=50.0)).reason
    assert re.search(r"ends [\d.]+ away", reason)
    reason = failed(robot, CenterOfMass(np.array([0.0, 0.0, 9.0]))).reason
    assert re.search(r"ends [\d.]+ m away", reason)


def test_priorities_that_do_not_decide_are_not_told():
    robot = lw.load("panda")
    far = np.array([9.0, 0.0, 0.0])
    tasks = [Position("tool0", far), Position("link4", -far, priority=1)]
    assert "link4" not in failed(robot, tasks).reason


def test_velocity_limits_that_bound_the_move_are_named():
    robot = lw.load("ur5e")
    q = robot.random(seed=2)
    target = robot.fk(q + 0.3)
    limit = VelocityLimit(0.001, v_max=1.0)
    reason = failed(robot, Pose("tool0", target), limits=[limit], q0=q).reason
    assert "held back by the limit 'velocity': " in reason
    assert "elbow_joint" in reason
    assert "at a limit there" not in reason


def test_coupled_limits_that_bound_the_move_are_named():
    robot = lw.load("planar_2r")
    a, b = robot.joint_names
    table = [[-3.0, -0.2, 0.2], [3.0, -0.2, 0.2]]
    reason = failed(
        robot, Posture(np.array([0.5, 1.5])), limits=[CoupledLimit(b, a, np.array(table))]
    ).reason
    assert f"held back by the limit '{b} by {a}': {b}" in reason


def test_a_frame_that_nothing_moves_has_a_reason_too():
    robot = lw.load("ur5e")
    tasks = [Pose("tool0", robot.fk(robot.random(seed=3))), Position("base_link", np.ones(3))]
    reason = failed(robot, tasks).reason
    assert "1.73 m away ('base_link')" in reason
