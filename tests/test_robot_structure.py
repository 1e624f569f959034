"""Links, parents, axes and mass; the tree from the description and from a chain cut out of it."""

from __future__ import annotations

import numpy as np
import pytest

import linkwork as lw
from linkwork import models
from linkwork.algorithms.registry import evaluate
from linkwork.robot_structure import drawn, edges_of, leaders_of, limits_of, root_of
from robots import every_joint_urdf
from seeds import rng


@pytest.mark.parametrize("name", list(models.MODELS))
def test_the_edges_are_those_of_the_description(name: str):
    robot = lw.load(name)
    edges = edges_of(robot)
    assert robot.document is not None
    described = robot.document.robot
    assert [(e.joint, e.parent, e.child) for e in edges] == [
        (j.name, j.parent, j.child) for j in described.joints
    ]
    assert not any(edge.locked for edge in edges)
    for edge in edges:
        if edge.joint in robot.joint_names and edge.lower is not None:
            k = int(robot.mechanism.q_start[robot.mechanism.joint(edge.joint)])
            assert (edge.lower, edge.upper) == (robot.limits.lower[k], robot.limits.upper[k])
    links = {link.name for link in described.links}
    assert {root_of(robot, edges), *[e.child for e in edges]} == links


def test_every_link_is_drawn_once():
    robot = lw.load("two_arm_torso")
    edges = edges_of(robot)
    lines = [str(line) for line in drawn(root_of(robot, edges), edges, floating=True)]
    assert lines[0] == "base_link (floats)"
    shown = [line.lstrip("│├└─ ").split("  ")[0] for line in lines[1:]]
    assert sorted(shown) == sorted(edge.child for edge in edges)
    assert any(
        "left_finger_follower (prismatic, axis 0 -1 0, follows left_finger)" in x for x in lines
    )


def test_a_chain_keeps_the_links_that_are_fixed_to_it():
    robot = lw.load("two_arm_torso").subchain("left_tool0", "torso_link")
    edges = edges_of(robot)
    moving = [edge for edge in edges if edge.joint]
    assert {edge.joint for edge in moving} == set(robot.joint_names)
    assert root_of(robot, edges) == robot.mechanism.body_names[0] == "left_wrist_roll_link"
    assert {edge.child for edge in edges if not edge.joint} >= {"left_tool0", "head_link"}


def test_locked_joints_are_marked():
    robot = lw.load("panda").with_locked(["joint2"])
    marked = [edge.joint for edge in edges_of(robot) if edge.locked]
    assert marked == ["joint2"]


def test_what_followers_follow():
    text = (
        '<robot name="r"><link name="a"/><link name="b"/><link name="c"/><link name="d"/>'
        '<joint name="lead" type="revolute"><parent link="a"/><child link="b"/>'
        '<limit lower="-1" upper="2" effort="1" velocity="1"/></joint>'
        '<joint name="f" type="continuous"><parent link="a"/><child link="c"/>'
        '<mimic joint="lead" multiplier="-2" offset="0.1"/></joint>'
        '<joint name="p" type="planar"><parent link="a"/><child link="d"/></joint></robot>'
    )
    m = lw.load(text).mechanism
    assert leaders_of(m) == {"f": "-2 * lead +0.1"}
    assert limits_of(m, "lead") == (-1.0, 2.0)
    assert limits_of(m, "p") == limits_of(m, "f") == (None, None)
    assert leaders_of(lw.load("mobile_arm").mechanism) == {"finger_follower": "finger"}


def test_a_single_link_and_a_long_chain():
    single = lw.load('<robot name="r"><link name="only"/></robot>')
    assert root_of(single, edges_of(single)) == "only"
    n = 1500
    links = "".join(f'<link name="l{k}"/>' for k in range(n))
    joints = "".join(
        f'<joint name="j{k}" type="fixed"><parent link="l{k}"/><child link="l{k + 1}"/></joint>'
        for k in range(n - 1)
    )
    robot = lw.load(f'<robot name="r">{links}{joints}</robot>')
    lines = [str(line) for line in drawn("l0", edges_of(robot), floating=False)]
    assert len(lines) == n
    indents = [len(line) - len(line.lstrip("│├└─ ")) for line in lines]
    assert indents == [*range(0, 4 * 61, 4), *[4 * 61] * (n - 61)]  # deeper levels are folded
    assert lines[100].endswith("l100  j99 (fixed) on l99")


@pytest.mark.parametrize("name", [*models.MODELS, every_joint_urdf()])
def test_links_parents_and_mass_are_those_of_the_description(name: str):
    robot = lw.load(name)
    assert robot.document is not None
    described = robot.document.robot
    assert robot.link_names == tuple(link.name for link in described.links)
    assert set(robot.link_names) <= set(robot.frame_names)
    above = {joint.child: joint.parent for joint in described.joints}
    assert dict(robot.parents) == {link: above.get(link) for link in robot.link_names}
    total = sum(link.inertial.mass for link in described.links if link.inertial)
    assert robot.mass == pytest.approx(total, rel=1e-12)


@pytest.mark.parametrize("name", [*models.MODELS, every_joint_urdf()])
def test_axes_are_those_of_the_description_and_what_the_joints_move_about(name: str):
    robot = lw.load(name)
    assert robot.document is not None
    joints = {joint.name: joint for joint in robot.document.robot.joints}
    axes, m = robot.joint_axes, robot.mechanism
    assert axes.shape == (len(robot.joint_names), 3)
    q = robot.random(seed=rng("axes"))
    for c, name in enumerate(robot.joint_names):
        if m.joint_types[c].has_quaternion:
            assert not axes[c].any()
            continue
        axis = np.array(joints[name].axis)
        np.testing.assert_allclose(axes[c], axis / np.linalg.norm(axis), rtol=0, atol=1e-15)
        J = evaluate("jacobian", m, q, frame=joints[name].child, reference="local")
        J = J[:, int(m.v_start[c])]
        if m.joint_types[c].turns:
            np.testing.assert_allclose(J[3:], axes[c], rtol=0, atol=1e-14)
        elif m.joint_types[c] is lw.JointType.PRISMATIC:
            np.testing.assert_allclose(J[:3], axes[c], rtol=0, atol=1e-14)


def test_edits_keep_parents_and_axes():
    robot = lw.load("panda")
    locked = robot.with_locked("joint2")
    assert locked.parents == robot.parents
    assert np.array_equal(locked.joint_axes, np.delete(robot.joint_axes, 1, axis=0))
    assert locked.mass == pytest.approx(robot.mass, rel=1e-12)
    chain = robot.subchain("tool0", "link0")
    assert chain.parents["link6"] == "link5"
    assert chain.tree().splitlines()[0] == "link7"
    with pytest.raises(TypeError):
        robot.parents["link0"] = "x"  # type: ignore[index]


def test_the_picture_is_text():
    assert lw.load("planar_2r").tree().splitlines()[0] == lw.load("planar_2r").link_names[0]
    robot = lw.load("two_arm_torso", base="floating")
    lines = robot.tree().splitlines()
    assert len(lines) == len(robot.link_names)
    assert lines[0] == "base_link (floats)"
    assert not any(line != line.rstrip() or "\x1b" in line for line in lines)
    assert "locked" in robot.with_locked("left_elbow").tree()
    assert (
        robot.subchain("left_tool0", "torso_link").tree().splitlines()[0] == "left_wrist_roll_link"
    )
