"""Robots by name: what they are made of, their limbs, ends and poses."""

from __future__ import annotations

import os
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

import linkwork as lw
from linkwork.errors import InputError, MissingExtraError, UnsupportedFeatureError
from linkwork.faces.skrobot import data, models
from linkwork.faces.skrobot.models import G1, PR2, Fetch, Kuka, Nextage, Panda, RobotModelFromURDF
from skrobot_robots import needs_robots

GENERATOR = Path(__file__).resolve().parents[3] / "tools" / "models" / "skrobot.py"
ABSENT = (
    *("Aero", "DifferentialWristSample", "Griphis", "Hydrus", "JaxonJVRC", "Jedy", "Nextage"),
    *("R8_6", "RoverArmedTycoon"),
)


def test_the_files_are_what_the_generator_writes(tmp_path: Path):
    if not GENERATOR.is_file():
        pytest.skip("tools/models is not part of this source distribution")
    environment = dict(os.environ, PYTHONDONTWRITEBYTECODE="1")
    line = [sys.executable, str(GENERATOR), str(tmp_path)]
    subprocess.run(line, check=True, timeout=60, env=environment)
    for path in (data.fetch_urdfpath(), data.kuka_urdfpath()):
        written = (tmp_path / Path(path).name).read_text(encoding="utf-8")
        assert Path(path).read_text(encoding="utf-8") == written
        assert lw.load(path).findings == ()


def test_kuka_has_the_published_dimensions():
    """360 mm to the shoulder, 420 to the elbow, 400 to the wrist, 126 to the flange."""
    robot = Kuka()
    at = [robot.links[f"lbr_iiwa_with_wsg50__lbr_iiwa_link_{k}"].worldpos()[2] for k in (2, 4, 6)]
    np.testing.assert_allclose(at, [0.36, 0.78, 1.18], atol=1e-12)
    hand = robot.links["lbr_iiwa_with_wsg50__base_link"]
    assert hand.worldpos()[2] == pytest.approx(1.305)
    assert len(robot.joint_list) == 11


@pytest.mark.row("S0-014", "S0-046", "S0-047", "S0-048", "S0-049")
def test_kuka():
    robot = Kuka()
    pose = robot.reset_manip_pose()
    bent = np.radians([0, 10, 0, -90, 0, 90, 0])
    np.testing.assert_allclose(pose, [*bent, 0, 0, 0, 0], atol=1e-7)
    np.testing.assert_allclose(robot.rarm.end_coords.worldpos(), [0.409, 0.03, 0.378], atol=5e-4)
    np.testing.assert_allclose(
        robot.rarm_end_coords.rotation, [[0, 1, 0], [0, 0, 1], [1, 0, 0]], atol=1e-12
    )
    assert robot.arm is robot.right_arm is robot.rarm
    assert robot.arm_end_coords is robot.right_arm_end_coords is robot.rarm_end_coords
    assert robot.end_coords == [robot.rarm_end_coords]
    assert robot.left_arm is None
    assert [joint.name[-2:] for joint in robot.rarm.joint_list] == [f"J{k}" for k in range(7)]
    for refused in ("larm", "rleg", "lleg"):
        with pytest.raises(NotImplementedError):
            getattr(robot, refused)
    with pytest.raises(NotImplementedError):
        robot.reset_pose()
    opened = robot.open_hand()
    np.testing.assert_allclose(opened[-4:], [-np.pi / 18, 0, np.pi / 18, 0])
    np.testing.assert_allclose(robot.close_hand()[-4:], 0.0)


@pytest.mark.row("S0-013", "S0-014")
def test_fetch():
    robot = Fetch()
    assert len(robot.joint_list) == 14
    tucked = [0, 0, 0, 0, 0, 1.32, 1.4, -0.2, 1.72, 0, 1.66, 0, 0, 0]
    np.testing.assert_allclose(robot.reset_pose(), tucked, atol=1e-6)
    ready = robot.reset_manip_pose()
    np.testing.assert_allclose(ready[5:12], [0, 0, 0, np.pi / 2, 0, -np.pi / 2, 0])
    np.testing.assert_allclose(robot.rarm.end_coords.worldpos(), [0.807, 0, 0.465], atol=1e-3)
    assert len(robot.rarm.joint_list) == 7
    assert robot.arm_with_torso is robot.rarm_with_torso
    assert robot.rarm_with_torso.joint_list[0].name == "torso_lift_joint"
    before = robot.rarm.end_coords.worldpos()
    robot.torso_lift_joint.joint_angle(0.1)
    np.testing.assert_allclose(robot.rarm.end_coords.worldpos() - before, [0, 0, 0.1], atol=1e-12)


@needs_robots
@pytest.mark.row("S0-013", "S0-014", "S0-046")
def test_pr2():
    robot = PR2()
    turn = np.radians
    robot.reset_pose()
    arm = [joint.joint_angle() for joint in robot.larm.joint_list]
    np.testing.assert_allclose(arm, turn([60, 74, 70, -120, 20, -30, 180]), atol=1e-9)
    robot.reset_manip_pose()
    arm = [joint.joint_angle() for joint in robot.rarm.joint_list]
    np.testing.assert_allclose(arm, turn([-75, 50, -110, -110, 20, -10, -10]), atol=1e-9)
    head = [joint.joint_angle() for joint in robot.head.joint_list]
    np.testing.assert_allclose(head, turn([0, 50]))
    assert robot.torso[0].name == "torso_lift_link"
    assert robot.right_arm_with_torso.joint_list[0].name == "torso_lift_joint"
    assert robot.left_arm_with_torso.end_coords is robot.larm_end_coords
    assert robot.rarm.end_coords.parent.name == "r_gripper_tool_frame"


@needs_robots
def test_pr2_grips_and_keeps_the_limits_of_its_controllers():
    robot = PR2()
    np.testing.assert_allclose(robot.gripper_distance(), [-1e-4, -1e-4], atol=1e-9)
    np.testing.assert_allclose(robot.gripper_distance(0.05), [0.05, 0.05], atol=1e-9)
    assert robot.gripper_distance(0.04, arm="rarm") == pytest.approx(0.04)
    assert robot.gripper_distance(arm="left_arm") == pytest.approx(0.05)
    assert robot.gripper_distance(0.2)[0] == pytest.approx(0.0936544, abs=1e-6)  # as far as it goes
    with pytest.raises(InputError, match="arm is one of"):
        robot.gripper_distance(0.1, arm="head")
    wide = PR2(use_tight_joint_limit=False)
    tight = {j.name: (j.min_angle, j.max_angle) for j in robot.joint_list}
    given = {j.name: (j.min_angle, j.max_angle) for j in wide.joint_list}
    assert tight["l_shoulder_pan_joint"] == pytest.approx((-0.5646018, 2.1353929), abs=1e-6)
    assert given["l_shoulder_pan_joint"] == pytest.approx((-0.7146018, 2.2853982), abs=1e-6)
    assert all(low >= given[n][0] and high <= max(given[n][1], 0.325)
               for n, (low, high) in tight.items())  # fmt: skip


@needs_robots
def test_panda():
    robot = Panda()
    np.testing.assert_allclose(robot.angle_vector()[:3], [0.039422, -0.955812, -0.014801])
    q = np.pi / 4 * np.array([0, -1, 0, -3, 0, 2, 1])
    np.testing.assert_allclose(robot.ready_pose()[:7], q, atol=1e-9)
    np.testing.assert_allclose(robot.reset_manip_pose(), robot.reset_pose())
    assert robot.rarm_end_coords.parent.name == "panda_hand"
    np.testing.assert_allclose(robot.rarm_end_coords.translation, [0, 0, 0.1034])


@needs_robots
def test_g1_with_23_and_29_joints():
    whole, held = G1(dof=29), G1()
    assert (len(whole.joint_list), len(held.joint_list)) == (29, 23)
    for name in ("rarm_end_coords", "larm_end_coords", "rleg_end_coords", "lleg_end_coords"):
        T = [getattr(robot, name).worldcoords().T() for robot in (whole, held)]
        np.testing.assert_allclose(T[0], T[1], atol=1e-12)
    assert (len(whole.rarm.joint_list), len(held.rarm.joint_list)) == (7, 5)
    assert len(whole.lleg.joint_list) == 6
    with pytest.raises(InputError, match="23 or 29"):
        G1(dof=24)


@pytest.mark.parametrize("name", ABSENT)
def test_robots_without_a_description_are_refused_by_name(name: str):
    with pytest.raises(UnsupportedFeatureError, match=rf"{name}\(urdf_file="):
        getattr(models, name)()


def chain(links: list[str]) -> str:
    text = "".join(f'<link name="{link}"/>' for link in links)
    for k, (parent, child) in enumerate(pairwise(links)):
        text += (
            f'<joint name="j{k}" type="revolute"><parent link="{parent}"/><child link="{child}"/>'
            '<axis xyz="0 0 1"/><limit lower="-1" upper="1" effort="1" velocity="1"/></joint>'
        )
    return text


def test_a_file_of_your_own_makes_them_whole(tmp_path: Path):
    arms = [f"{side}ARM_JOINT{k}_Link" for side in "RL" for k in range(6)]
    names = ["WAIST", "CHEST_JOINT0_Link", "HEAD_JOINT0_Link", "HEAD_JOINT1_Link", *arms]
    path = tmp_path / "nextage.urdf"
    path.write_text(f'<robot name="nextage">{chain(names)}</robot>')
    robot = Nextage(urdf_file=path)
    assert len(robot.rarm.joint_list) == 6
    assert robot.larm.end_coords is robot.larm_end_coords
    assert (len(robot.head.joint_list), len(robot.torso.joint_list)) == (2, 1)
    path.write_text(f'<robot name="nextage">{chain(["a", "b"])}</robot>')
    with pytest.raises(InputError, match="no link 'RARM_JOINT5_Link'"):
        Nextage(urdf_file=path)


def test_a_robot_from_text_or_a_file(tmp_path: Path):
    text = f'<robot name="two">{chain(["a", "b"])}</robot>'
    path = tmp_path / "two.urdf"
    path.write_text(text)
    for robot in (RobotModelFromURDF(urdf=text), RobotModelFromURDF(urdf_file=str(path))):
        assert (robot.name, len(robot.link_list)) == ("two", 2)
    with pytest.raises(ValueError, match="at the same time"):
        RobotModelFromURDF(urdf=text, urdf_file=path)
    with pytest.raises(ValueError, match="is not a file"):
        RobotModelFromURDF(urdf_file=tmp_path / "none.urdf")
    with pytest.raises(NotImplementedError):
        RobotModelFromURDF()


def test_paths(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    assert Path(data.fetch_urdfpath()).is_file()
    monkeypatch.setenv("SKROBOT_CACHE_DIR", str(tmp_path))
    assert data.get_cache_dir() == str(tmp_path)
    monkeypatch.delenv("SKROBOT_CACHE_DIR")
    assert Path(data.get_cache_dir()).name == ".skrobot"
    with pytest.raises(UnsupportedFeatureError, match="bunny"):
        data.bunny_objpath()
    with pytest.raises(UnsupportedFeatureError, match="dof=29"):
        data.g1_urdfpath()
    monkeypatch.setattr(sys, "path", [])
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    with pytest.raises(MissingExtraError, match=r"linkwork\[robots\]"):
        data.pr2_urdfpath()
