"""Words for failures: true distances, joints at their limits."""

from __future__ import annotations

import re

import pytest

import linkwork as lw


def test_out_of_reach_is_said_with_a_distance_that_is_a_lower_bound():
    robot = lw.load("ur5e")
    result = robot.ik(lw.pose((3.0, 0.0, 0.2)), "tool0", tries=20)
    assert not result.success
    beyond = float(re.search(r"at least ([\d.]+) m out of reach", result.reason)[1])
    assert 1.0 < beyond <= result.position_error
    assert f"{float(result.position_error):.3g} m" in result.reason


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
