"""Tasks of joints: postures, and joints that follow each other."""

from __future__ import annotations

import numpy as np
import pytest

from ik_solving import postures, robot_of, solved
from linkwork.errors import InputError
from linkwork.mechanism.model import JointType
from linkwork.solve.ik import InverseKinematics
from linkwork.solve.tasks import JointCoupling, Position, Posture
from robots import every_joint_urdf, mechanism_from
from seeds import rng


@pytest.mark.sweep(1)
@pytest.mark.parametrize("name", ["panda", "mobile_arm"])
def test_postures_are_reached(name):
    robot = robot_of(name)
    m = robot.mechanism
    targets = postures(robot, "posture")
    q = solved(robot, Posture(), targets)
    away = q - targets
    for c, kind in enumerate(m.joint_types):
        k = int(m.q_start[c + 1]) - 1
        if kind in (JointType.CONTINUOUS, JointType.PLANAR):
            away[:, k] = np.angle(np.exp(1j * away[:, k]))
    assert np.abs(away).max() <= 1.001e-4


def test_some_joints_in_the_order_of_their_names():
    robot = robot_of("panda")
    g = rng("some")
    targets = np.stack([g.uniform(0, 3, 200), g.uniform(-1, 1, 200)], axis=1)
    q = solved(robot, Posture(joints=["joint6", "joint2"]), targets)
    np.testing.assert_allclose(q[:, [5, 1]], targets, atol=1.001e-4)
    one = solved(robot, Posture(joints="joint2"), targets[:, 1:])
    np.testing.assert_allclose(one[:, 1], targets[:, 1], atol=1.001e-4)


def test_a_floating_base_comes_to_its_pose():
    robot = robot_of("quadruped", base="floating")
    targets = postures(robot, "base")
    base = targets[:, :7] * np.where(
        rng("signs").random((200, 1)) < 0.5, 1.0, [1, 1, 1, -1, -1, -1, -1]
    )
    q = solved(robot, Posture(joints=robot.joint_names[0]), base)
    np.testing.assert_allclose(robot.fk(q, "trunk"), robot.fk(targets, "trunk"), atol=2e-4)


def test_an_angle_without_limits_comes_from_the_nearer_side():
    robot = robot_of("mobile_arm")
    wheel = robot.joint_names[1]
    solver = InverseKinematics(robot.mechanism, Posture(joints=wheel))
    start = np.zeros((5, robot.n_q))
    start[:, 3] = [0.1, 3.0, -3.0, 9.5, -40.0]
    targets = np.array([[0.2], [-3.0], [3.0], [0.0], [100.0]])
    result = solver.solve(targets, start, tries=1)
    assert result.success.all()
    way = result.q[:, 3] - start[:, 3]
    assert np.abs(way).max() <= np.pi
    np.testing.assert_allclose(np.cos(result.q[:, 3] - targets[:, 0]), 1.0, atol=1e-8)


def test_it_is_measured_in_radians_and_in_metres():
    m = robot_of("scara").mechanism
    groups = Posture().bind(m).groups
    assert [(g.name, g.unit, g.start, g.stop, g.chord) for g in groups] == [
        ("angles", "rad", 0, 3, False),
        ("lengths", "m", 3, 4, False),
    ]
    only = Posture(joints="joint3").bind(m)
    assert [g.name for g in only.groups] == ["lengths"]
    assert only.kind.n == 1


def test_a_joint_that_another_follows_in_part_counts_its_turns():
    # half a turn of the follower is not the same as none
    text = """<robot name="pair"><link name="a"/><link name="b"/><link name="c"/>
    <joint name="first" type="continuous"><parent link="a"/><child link="b"/><axis xyz="0 0 1"/>
    </joint><joint name="second" type="continuous"><parent link="a"/><child link="c"/>
    <axis xyz="0 0 1"/><mimic joint="first" multiplier="{}"/></joint></robot>"""
    for multiplier, same in ((0.5, False), (2.0, True)):
        bound = Posture().bind(mechanism_from(text.format(multiplier)))
        assert ("[0]" in bound.key.split("]", 1)[1]) is same


def test_a_quaternion_of_zeros_is_refused():
    m = robot_of(every_joint_urdf()).mechanism
    bound = Posture(joints="free").bind(m)
    assert bound.kind.n == 7
    with pytest.raises(InputError, match="quaternion 0 0 0 0"):
        bound.rows_of([[1, 2, 3, 0.1, 0, 0, 0], [1, 2, 3, 0, 0, 0, 0]])


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
    assert bound.kind.n == 0
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
