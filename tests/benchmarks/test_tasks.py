from __future__ import annotations

import math
from pathlib import Path

import pytest
from benchmarks.tasks import Robot, prepare

URDF = """<robot name="r">
  <link name="base"><visual><geometry><box size="1 1 1"/></geometry></visual></link>
  <link name="a"/><link name="b"/><link name="tip"/><link name="side"/>
  <joint name="slide" type="prismatic"><parent link="a"/><child link="b"/><axis xyz="0 0 1"/>
    <limit lower="-0.5" upper="0.25" effort="1" velocity="1"/></joint>
  <joint name="turn" type="continuous"><parent link="base"/><child link="a"/></joint>
  <joint name="end" type="fixed"><parent link="b"/><child link="tip"/></joint>
  <joint name="spare" type="revolute"><parent link="a"/><child link="side"/>
    <limit lower="-1" upper="1" effort="1" velocity="1"/>{mimic}</joint>
  <transmission name="t"/>
</robot>"""


@pytest.fixture
def data(tmp_path: Path) -> Path:
    (tmp_path / "r.urdf").write_text(URDF.format(mimic=""))
    (tmp_path / "m.urdf").write_text(URDF.format(mimic='<mimic joint="turn"/>'))
    return tmp_path


def test_an_arm_keeps_its_chain_only(data: Path, tmp_path: Path) -> None:
    task = prepare(Robot("arm", "r.urdf", "base", "tip", 2), data, tmp_path)
    assert task.joint_names == ["slide", "turn"]
    assert task.links == ("base", "a", "b", "tip")
    assert [(j.lower, j.upper) for j in task.joints] == [(-0.5, 0.25), (-math.inf, math.inf)]
    text = task.prepared.read_text()
    assert "visual" not in text and "transmission" not in text and "spare" not in text


def test_a_whole_robot_keeps_every_link_and_fixes_what_is_locked(
    data: Path, tmp_path: Path
) -> None:
    robot = Robot("all", "r.urdf", "base", "tip", 2, locked=("spare",), whole=True)
    task = prepare(robot, data, tmp_path)
    assert task.joint_names == ["slide", "turn"] and "side" in task.links
    assert '<joint name="spare" type="fixed">' in task.prepared.read_text()


@pytest.mark.parametrize(
    ("robot", "message"),
    [
        (Robot("x", "r.urdf", "base", "tip", 3), "expected 3 joints, found 2: slide, turn"),
        (Robot("x", "r.urdf", "side", "tip", 2), "'side' is not an ancestor of 'tip'"),
        (Robot("x", "r.urdf", "a", "tip", 2, whole=True), "'a' is not the root"),
        (Robot("x", "m.urdf", "base", "tip", 3, whole=True), "'spare' .* must be locked"),
    ],
)
def test_a_file_that_does_not_fit_is_refused(
    data: Path, tmp_path: Path, robot: Robot, message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        prepare(robot, data, tmp_path)


def test_a_missing_file_says_how_to_name_another_folder(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="--data"):
        prepare(Robot("x", "no.urdf", "base", "tip", 1), tmp_path, tmp_path)
