"""Transformations from URDF files, against the core's own kinematics of the same file."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import linkwork as lw
from linkwork.faces import trip_kinematics
from linkwork.faces.trip_kinematics import Robot, Transformation, forward_kinematics
from linkwork.faces.trip_kinematics.urdf_parser import align_vectors, from_urdf
from seeds import rng

TEXT = """<robot name="r">
  <link name="base"/><link name="a"/><link name="b"/><link name="c"/><link name="d"/>
  <link name="e"/><link name="f"/>
  <joint name="second" type="continuous"><parent link="a"/><child link="b"/>
    <origin rpy="0.1 0.2 0.3"/><axis xyz="0 1 0"/></joint>
  <joint name="first" type="revolute"><parent link="base"/><child link="a"/>
    <origin xyz="0 0 1"/><axis xyz="0 0 2"/><limit lower="-1" upper="1" effort="1" velocity="1"/>
  </joint>
  <joint name="slide" type="prismatic"><parent link="b"/><child link="c"/>
    <origin xyz="1 0 0" rpy="0 0 0.5"/><axis xyz="0 0 -1"/>
    <limit lower="-1" upper="1" effort="1" velocity="1"/></joint>
  <joint name="unsaid" type="continuous"><parent link="c"/><child link="d"/></joint>
  <joint name="weld" type="fixed"><parent link="b"/><child link="e"/><origin xyz="0 1 0"/></joint>
  <joint name="skew" type="continuous"><parent link="d"/><child link="f"/>
    <axis xyz="1 -2 0.5"/></joint>
</robot>"""


@pytest.fixture(name="file")
def _file(tmp_path: Path) -> Path:
    path = tmp_path / "r.urdf"
    path.write_text(TEXT, encoding="utf-8")
    return path


@pytest.mark.row("S1-068")
def test_poses_are_those_of_the_file(file: Path):
    parts = from_urdf(str(file))
    assert all(isinstance(part, Transformation) for part in parts)
    robot = Robot(parts)
    # a missing axis is z here and x in URDF: the same robot with it written out
    written = TEXT.replace('<child link="d"/>', '<child link="d"/><axis xyz="0 0 1"/>')
    core = lw.load(written)
    for q in rng("urdf").uniform(-1, 1, (5, 5)):
        at = dict(zip(core.joint_names, q.tolist(), strict=True))
        keys = {"slide": "tz"}
        robot.set_virtual_state({f"{n}_mov": {keys.get(n, "rz"): v} for n, v in at.items()})
        poses = dict(zip(core.frame_names, core.fk_all(q), strict=True))
        for joint in ("second", "unsaid", "weld", "skew"):
            np.testing.assert_allclose(forward_kinematics(robot, joint), poses[joint], atol=1e-14)


@pytest.mark.row("S1-068")
def test_names_and_what_is_left_out(file: Path):
    parts = {str(part): part for part in trip_kinematics.from_urdf(file)}
    assert list(parts) == [
        "first_tra", "first_rot", "first_mov", "first",
        "second_rot", "second_sta", "second_mov", "second_unsta", "second",
        "slide_tra", "slide_rot", "slide_sta", "slide_mov", "slide_unsta", "slide",
        "unsaid_rot", "unsaid_mov", "unsaid", "weld_tra", "weld_rot", "weld",
        "skew_rot", "skew_sta", "skew_mov", "skew_unsta", "skew",
    ]  # fmt: skip
    assert parts["second_rot"].parent == "first"
    assert (parts["slide_mov"].get_state(), parts["first_mov"].get_state()) == (
        {"tz": 0.0},
        {"rz": 0.0},
    )
    flip = parts["slide_sta"].get_transformation_matrix()[:3, :3]
    np.testing.assert_allclose(flip, np.diag([1.0, -1.0, -1.0]), atol=1e-15)
    assert trip_kinematics.urdf_parser.from_urdf is from_urdf


@pytest.mark.row("S1-069")
def test_other_transformations_beside_them(file: Path):
    parts = from_urdf(file)
    tool = Transformation("tool", {"tz": 0.5}, parent=parts[-1])
    robot = Robot([*parts, tool])
    wanted = forward_kinematics(robot, "skew") @ tool.get_transformation_matrix()
    np.testing.assert_allclose(forward_kinematics(robot, "tool"), wanted, atol=1e-15)


@pytest.mark.row("S1-068")
@pytest.mark.parametrize(
    ("old", "new"),
    [
        (' name="second"', ""),
        (' type="fixed"', ""),
        ('type="fixed"', 'type="glued"'),
        ('<parent link="b"/><child link="e"/>', '<parent link="x"/><child link="e"/>'),
    ],
)
def test_files_that_are_wrong(file: Path, old: str, new: str):
    assert old in TEXT
    file.write_text(TEXT.replace(old, new), encoding="utf-8")
    with pytest.raises(ValueError, match=r"r\.urdf:\d+"):
        from_urdf(file)


@pytest.mark.row("S1-068")
def test_what_is_taken_for_something_else_is_said(file: Path):
    text = TEXT.replace('type="fixed"', 'type="floating"')
    file.write_text(text, encoding="utf-8")
    with pytest.warns(UserWarning, match="'weld' is floating: it is taken as fixed"):
        robot = Robot(from_urdf(file))
    assert forward_kinematics(robot, "weld")[1, 3] != 0.0
    text = TEXT.replace('<child link="d"/>', '<child link="d"/><mimic joint="first"/>')
    file.write_text(text, encoding="utf-8")
    with pytest.warns(UserWarning, match="'unsaid' follows 'first'"):
        assert "unsaid_mov_rz" in Robot(from_urdf(file)).get_actuated_state()


@pytest.mark.row("S1-068")
def test_vectors_are_aligned():
    for a, b in rng("vectors").normal(size=(20, 2, 3)):
        R = align_vectors(a, b)
        np.testing.assert_allclose(R @ R.T, np.eye(3), atol=1e-14)
        assert np.linalg.det(R) == pytest.approx(1.0)
        turned = b @ R
        np.testing.assert_allclose(
            turned / np.linalg.norm(turned), a / np.linalg.norm(a), atol=1e-14
        )
        cosine = a @ b / np.linalg.norm(a) / np.linalg.norm(b)
        assert (np.trace(R) - 1) / 2 == pytest.approx(cosine, abs=1e-12)  # the smallest
    quarter = align_vectors([0, 0, 1], [1, 0, 0])
    np.testing.assert_allclose(quarter, [[0, 0, 1], [0, 1, 0], [-1, 0, 0]], atol=1e-15)
    np.testing.assert_allclose([0, 0, 1] @ align_vectors([0, 0, -1], [0, 0, 1]), [0, 0, -1])
    for bad in ([0, 0, 0], [1, 2], [np.nan, 0, 0]):
        with pytest.raises(ValueError):
            align_vectors([0, 0, 1], bad)
