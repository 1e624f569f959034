"""Joints that a file beside the URDF says are others: how they move, and what they close.

The linkage has a crank and a rocker on skew axes and a rod with a ball at either end, as legs have.
"""

from __future__ import annotations

import numpy as np
import pytest

import linkwork as lw
from linkwork.errors import DescriptionError
from linkwork.formats.loops import JointRecord, LoopRecord, LoopsRecord, with_joints
from linkwork.saving import save
from robots import model_poses
from seeds import rng


def joint(name, parent, child, xyz, axis="0 0 1", rpy="0 0 0"):
    return (
        f'<link name="{child}"><inertial><mass value="1"/>'
        '<inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial></link>\n'
        f'<joint name="{name}" type="revolute"><parent link="{parent}"/><child link="{child}"/>'
        f'<origin xyz="{xyz}" rpy="{rpy}"/><axis xyz="{axis}"/>'
        '<limit lower="-3" upper="3" effort="1" velocity="1"/></joint>\n'
    )


LINKAGE = (
    '<robot name="leg">\n<link name="base"/>\n'
    + joint("crank", "base", "arm", "0 0 0")
    + joint("ball_1", "arm", "rod", "0.1 0 0", rpy="0.3 -0.2 0.1")
    + joint("tip", "rod", "rod_end", "0.3 0.1 0.05")
    + joint("rocker", "base", "lever", "0.3 0.2 0", axis="0 1 1")
    + joint("ball_2", "lever", "socket", "0.07 -0.09 0.135")
    + "</robot>\n"
)
BALLS = "joint_name: [ball_1, ball_2, tip]\njoint_type: [{}, SPHERICAL, FIXED]\n"
LOOP = "closed_loop: [[rod_end, ball_2]]\ntype: [6d]\nname_mot: [crank]\n"


def document():
    return lw.urdf.read(LINKAGE)


def written(tmp_path, text):
    (tmp_path / "robot.urdf").write_text(LINKAGE)
    (tmp_path / "robot.yaml").write_text(text)
    return tmp_path / "robot.urdf"


def test_nothing_is_changed_without_them():
    given, record = document(), LoopsRecord((LoopRecord("rod_end", "ball_2"),))
    assert with_joints(given, record) == (given, record)


@pytest.mark.sweep(1)
@pytest.mark.parametrize(("axes", "letters"), [("xy", "CARDAN"), ("zy", "UJOINT_ZY")])
def test_a_joint_moves_as_its_hinges_about_its_own_axes(axes, letters, tmp_path):
    text = f"closed_loop: []\njoint_name: [ball_1]\njoint_type: [{letters}]\n"
    robot, plain = lw.load(written(tmp_path, text)), lw.load(LINKAGE, loops=False)
    names = [f"ball_1_{axis}" for axis in axes]
    assert [n for n in robot.joint_names if n.startswith("ball_1")] == names
    assert np.isinf(robot.limits.lower[[robot.joint_names.index(n) for n in names]]).all()
    angles = rng("hinges").uniform(-2, 2, len(axes))
    q = robot.configuration({"crank": 0.4, **dict(zip(names, angles, strict=True))})
    poses = model_poses(robot.mechanism, q)
    still = model_poses(plain.mechanism, plain.configuration({"crank": 0.4}))
    expected = still["rod"]
    for axis, angle in zip(axes, angles, strict=True):
        turn = np.zeros(3)
        turn["xyz".index(axis)] = angle
        expected = expected @ lw.pose([0, 0, 0], rpy=turn)
    np.testing.assert_allclose(poses["rod"], expected, atol=1e-14)
    assert robot.mechanism.mass.sum() == plain.mechanism.mass.sum()
    np.testing.assert_allclose(robot.fk(q, names[-1]), expected, atol=1e-14)


def test_a_ball_is_a_spherical_joint(tmp_path):
    text = "closed_loop: []\njoint_name: [ball_1]\njoint_type: [SPHERICAL]\n"
    robot, plain = lw.load(written(tmp_path, text)), lw.load(LINKAGE, loops=False)
    assert robot.joint_names == plain.joint_names
    assert robot.mechanism.joint_types[robot.joint_names.index("ball_1")] is lw.JointType.SPHERICAL
    wxyz = rng("ball").normal(size=4)
    wxyz /= np.linalg.norm(wxyz)
    q = robot.configuration({"crank": 0.4, "ball_1": wxyz})
    still = model_poses(plain.mechanism, plain.configuration({"crank": 0.4}))
    expected = still["rod"] @ lw.pose([0, 0, 0], wxyz=wxyz)
    np.testing.assert_allclose(model_poses(robot.mechanism, q)["rod"], expected, atol=1e-14)


@pytest.mark.sweep(1)
@pytest.mark.parametrize(("first", "freedoms"), [("SPHERICAL", 2), ("CARDAN", 1)])
def test_a_leg_with_balls_loads_and_assembles(first, freedoms, tmp_path):
    robot = lw.load(written(tmp_path, LOOP + BALLS.format(first)))
    assert robot.loops[0].frame_b == "ball_2" and robot.actuated == ("crank",)
    assert robot.mobility().degrees_of_freedom == freedoms  # a rod with two balls spins by itself
    found = robot.assemble({"crank": 0.2})
    assert found.success and np.abs(robot.closure(found.q)).max() < 1e-12
    notes = {(f.name, f.message) for f in robot.findings if f.code == "other-joint"}
    assert notes >= {("tip", "it is fixed"), ("ball_2", "it is a spherical joint")}


def test_it_is_saved_as_it_was_understood(tmp_path):
    robot = lw.load(written(tmp_path, LOOP + BALLS.format("CARDAN")))
    saved = save(robot, tmp_path / "other" / ".." / "mine.urdf")
    assert saved.loops == tmp_path / "mine.loops.yaml"
    again = lw.load(tmp_path / "mine.urdf")
    assert again.mechanism.loops == robot.loops and again.actuated == robot.actuated
    q = rng("saved").normal(size=robot.n_q)
    assert again.joint_names == robot.joint_names
    np.testing.assert_array_equal(again.closure(q), robot.closure(q))


def test_names_that_are_taken_are_left_alone():
    taken = LINKAGE.replace('"tip"', '"ball_1_x"').replace('"rod_end"', '"ball_1_x_link"')
    record = LoopsRecord(joints=(JointRecord("ball_1", "xy"),))
    made, _ = with_joints(lw.urdf.read(taken), record)
    names = [j.name for j in made.robot.joints]
    assert names == ["crank", "ball_1_x_", "ball_1_y", "ball_1_x", "rocker", "ball_2"]
    assert "ball_1_x_link_" in [link.name for link in made.robot.links]


def test_joints_that_do_not_exist_are_all_named():
    record = LoopsRecord(joints=(JointRecord("bal", "xyz", 4), JointRecord("x", "")), file="r.yaml")
    with pytest.raises(DescriptionError, match=r"r.yaml:4.*no joint named 'bal'.*ball_1") as caught:
        with_joints(document(), record)
    assert len(caught.value.problems) == 2


def test_joints_of_an_mjcf_are_not_replaced(tmp_path):
    pytest.importorskip("mujoco", reason="MuJoCo (pip install mujoco) is not installed")
    (tmp_path / "robot.xml").write_text("<mujoco><worldbody/></mujoco>")
    (tmp_path / "robot.yaml").write_text(LOOP + BALLS.format("CARDAN"))
    with pytest.raises(lw.UnsupportedFeatureError, match="joints of a URDF"):
        lw.load(tmp_path / "robot.xml")
