"""Descriptions in the scikit-robot face: checks of their structure, trees as text, other roots."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import trimesh

from linkwork.faces.skrobot.model import RobotModel
from linkwork.faces.skrobot.urdf import (
    MOVABLE_JOINT_TYPES,
    JointInfo,
    change_urdf_root_link,
    extract_sub_urdf,
    find_root_link,
    kinematic_tree,
    print_urdf_tree,
    validate_urdf_structure,
)
from robots import chain_urdf

TEXT = """<robot name="m"><link name="base"/><link name="arm"/><link name="wrist"/>
<link name="camera_mount"/><link name="lens"/><link name="finger"/><link name="thumb"/>
<joint name="j1" type="revolute"><parent link="base"/><child link="arm"/>
<origin xyz="0 0 1" rpy="0 0.5 0"/><axis xyz="0 0 1"/>
<limit lower="-1" upper="1" velocity="1" effort="1"/>
</joint><joint name="j2" type="continuous"><parent link="arm"/><child link="wrist"/>
<origin xyz="0 0 1"/><axis xyz="0 1 0"/></joint>
<joint name="f1" type="fixed"><parent link="wrist"/><child link="camera_mount"/></joint>
<joint name="f2" type="fixed"><parent link="camera_mount"/><child link="lens"/></joint>
<joint name="j3" type="prismatic"><parent link="wrist"/><child link="finger"/>
<axis xyz="1 0 0"/><limit lower="0" upper="1" velocity="0" effort="1"/></joint>
<joint name="j4" type="prismatic"><parent link="wrist"/><child link="thumb"/>
<axis xyz="1 0 0"/><limit lower="0" upper="1" velocity="1" effort="1"/>
<mimic joint="j1"/></joint></robot>"""


@pytest.fixture(name="path")
def _path(tmp_path: Path) -> Path:
    path = tmp_path / "m.urdf"
    path.write_text(TEXT)
    return path


def test_joints_that_move():
    for kind in ("revolute", "continuous", "prismatic", "planar", "floating", "fixed", "other"):
        assert JointInfo("j", kind, "a", "b").is_movable == (kind not in ("fixed", "other"))
    assert "planar" in MOVABLE_JOINT_TYPES


def test_trees_as_text(path: Path):
    expected = """Kinematic Tree (movable skeleton):
└── base
    └── [revolute [0, 0, 1]] arm
        └── [continuous [0, 1, 0]] wrist  ◆BRANCH(2)
            ├── [prismatic [1, 0, 0]] finger  gripper
            ├── [prismatic [1, 0, 0]] thumb  gripper
            └── (+2 fixed frames: camera_mount, lens)"""
    robot = RobotModel.from_urdf(path)
    for source in (TEXT, TEXT.encode(), path, str(path), robot):
        assert kinematic_tree(source) == expected
    plain = kinematic_tree(path, collapse_fixed=False, annotate=False, classify_leaves=False)
    assert plain.splitlines()[-2:] == [
        "            ├── finger", "            └── thumb"
    ]  # fmt: skip
    assert "            ├── camera_mount\n            │   └── lens" in plain
    in_world = kinematic_tree(robot, world=True)
    assert "[revolute [0.479, 0, 0.878]] arm @[0, 0, 1]" in in_world
    assert print_urdf_tree(chain_urdf(2)).splitlines() == [
        "URDF Link Tree Structure:", "└── link0", "    └── link1", "        └── link2"
    ]  # fmt: skip
    assert "wrist @[0.479, 0, 1.878]" in print_urdf_tree(path, world=True)
    assert print_urdf_tree(chain_urdf(1500)).count("\n") == 1501


def test_checks_of_the_structure(path: Path, capsys: pytest.CaptureFixture[str]):
    found = validate_urdf_structure(path, verbose=True)
    assert found.is_valid
    assert not found.errors
    assert any("zero velocity limit" in each and each.endswith(": j3") for each in found.warnings)
    assert found.summary == {
        "links_count": 7, "joints_count": 6, "base_links": ["base"],
        "end_links": ["lens", "finger", "thumb"], "connected_components": 1,
    }  # fmt: skip
    assert found.format_summary() in capsys.readouterr().out
    assert "End links: 3 (lens, finger, thumb)" in found.format_summary()
    broken = TEXT.replace('<child link="lens"/>', '<child link="nope"/>')
    found = validate_urdf_structure(broken.replace('"thumb"', '"B-1"'))
    assert not found.is_valid
    assert any("nope" in each for each in found.errors)
    assert any("naming conventions: B-1" in each for each in found.warnings)
    assert found.summary["connected_components"] == 2
    assert not validate_urdf_structure("<robot").is_valid
    assert validate_urdf_structure(RobotModel.from_urdf(path)).is_valid
    with pytest.raises(OSError, match="no_such"):
        validate_urdf_structure("no_such.urdf")


def test_another_root(path: Path, tmp_path: Path):
    assert find_root_link(path) == "base"
    change_urdf_root_link(path, "wrist", tmp_path / "w.urdf")
    assert find_root_link(tmp_path / "w.urdf") == "wrist"
    before, after = RobotModel.from_urdf(path), RobotModel.from_urdf(tmp_path / "w.urdf")
    assert after.name == "m_root_wrist"
    for robot in (before, after):
        robot.j1.joint_angle(0.4)
        robot.j2.joint_angle(0.7)
    first = before.wrist.worldcoords().inverse_transformation()
    for link in before.link_list:
        at = first * link.worldcoords()
        assert after.links[link.name].worldcoords().T() == pytest.approx(at.T(), abs=1e-9)
    with pytest.raises(ValueError, match="nearest: wrist"):
        change_urdf_root_link(path, "wrst", tmp_path / "x.urdf")
    assert not (tmp_path / "x.urdf").exists()


def test_a_part(path: Path, tmp_path: Path):
    trimesh.creation.box((1, 1, 1)).export(tmp_path / "box.stl")
    shown = (
        '<link name="thumb"><visual><geometry><mesh filename="box.stl"/></geometry></visual></link>'
    )
    path.write_text(TEXT.replace('<link name="thumb"/>', shown))
    part = extract_sub_urdf(path, "wrist")
    assert {link.name for link in part.links} == {
        "wrist",
        "camera_mount",
        "lens",
        "finger",
        "thumb",
    }
    assert part.link_map["thumb"].visuals[0].geometry.meshes[0].extents == pytest.approx(np.ones(3))
    assert part.name == "m_sub"
    moving = extract_sub_urdf(path, "arm", keep_fixed_joints=False)
    assert {link.name for link in moving.links} == {"arm", "wrist", "finger", "thumb"}
    extract_sub_urdf(path, "arm", "finger", tmp_path / "sub.urdf")
    robot = RobotModel.from_urdf(tmp_path / "sub.urdf")
    assert [link.name for link in robot.link_list] == ["arm", "wrist", "finger"]
    with pytest.raises(ValueError, match="not below"):
        extract_sub_urdf(path, "wrist", "base")
