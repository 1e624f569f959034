"""The comparison of what loads: its truth, its verdicts, its page."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from benchmarks.corpus import mjcf, probe
from benchmarks.corpus.judge import VERDICTS, judge
from benchmarks.corpus.sides import without_meshes
from benchmarks.corpus.truth import truth_of

import robots

GOOD = """<robot name="r"><link name="a"/><link name="b"/><link name="c"/>
<joint name="j" type="revolute"><parent link="a"/><child link="b"/><origin xyz="1 0 0"/>
  <axis xyz="0 0 2"/><limit lower="-1" upper="0.5" effort="1" velocity="1"/></joint>
<joint name="k" type="prismatic"><parent link="b"/><child link="c"/><axis xyz="0 1 0"/>
  <limit lower="0" upper="2" effort="1" velocity="1"/><mimic joint="j" multiplier="2" offset="1"/>
</joint></robot>"""


def written(folder: Path, text: str) -> Path:
    path = folder / "robot.urdf"
    path.write_text(text, encoding="utf-8")
    return path


def test_the_truth_is_that_of_a_hand_made_robot(tmp_path: Path):
    truth = truth_of(written(tmp_path, GOOD))
    assert not truth.faults
    q = truth.positions["j"]
    assert -1 <= q <= 0.5
    assert truth.followers == {"k": 2 * q + 1}
    y = np.array([-np.sin(q), np.cos(q), 0])
    np.testing.assert_allclose(truth.poses["c"][:3, 3], [1, 0, 0] + (2 * q + 1) * y, atol=1e-15)


def test_the_truth_agrees_with_a_robot_of_every_joint_type(tmp_path: Path):
    path = written(tmp_path, robots.every_joint_urdf())
    truth = truth_of(path)
    assert not truth.faults
    answer = {"poses": probe.linkwork(str(path), truth.positions, truth.followers)}
    assert judge(truth, answer) == ("right", "")


@pytest.mark.parametrize(
    ("old", "new", "fault"),
    [
        ("</robot>", "", "broken XML"),
        ('<robot name="r">', "<robot>", "no name"),
        ('<link name="c"/>', "", "its links"),
        ('<link name="c"/>', '<link name="c"/><link name="d"/>', "2 roots"),
        ('"revolute"', '"ball"', "type 'ball'"),
        ('xyz="1 0 0"', 'xyz="1 0"', "not 3 numbers"),
        ('xyz="1 0 0"', 'xyz="1, 0, 0"', "could not convert"),
        ('joint="j"', 'joint="k"', "mimic cycle"),
        ('joint="j"', 'joint="x"', "no leader"),
        ('<axis xyz="0 0 2"/>', '<axis xyz="0 0 0"/>', "zero axis"),
        ('<parent link="a"/>', '<parent link="c"/>', "a cycle"),
    ],
)
def test_a_faulty_file_is_known_as_one(tmp_path: Path, old: str, new: str, fault: str):
    assert old in GOOD
    truth = truth_of(written(tmp_path, GOOD.replace(old, new, 1)))
    assert any(fault in f for f in truth.faults) or (fault == "a cycle" and truth.faults)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('<link name="c"/>', '<link name="c"><inertial/></link>'),
        ('<axis xyz="0 0 2"/>', '<axis xyz="0 0 2"/><axis xyz="1 0 0"/>'),
        ("<robot", '\n <?xml version="1.0"?><robot'),
    ],
)
def test_what_leaves_the_poses_alone_is_no_fault(tmp_path: Path, old: str, new: str):
    path = written(tmp_path, GOOD.replace(old, new, 1))
    truth = truth_of(path)
    answer = {"poses": probe.linkwork(str(path), truth.positions, truth.followers)}
    assert judge(truth, answer) == ("right", "")


def test_each_verdict(tmp_path: Path):
    good = truth_of(written(tmp_path, GOOD))
    bad = truth_of(written(tmp_path, "<robot/>"))
    poses: dict[str, Any] = {name: T.tolist() for name, T in good.poses.items()}
    moved = {**poses, "c": (good.poses["c"] + np.eye(4) * 1e-3).tolist()}
    wild = {**poses, "c": (good.poses["c"] * np.nan).tolist()}
    verdicts = [
        judge(good, {"poses": poses})[0],
        judge(good, {"poses": moved})[0],
        judge(good, {"error": "no"})[0],
        judge(bad, {"error": "no"})[0],
        judge(bad, {"poses": poses})[0],
        judge(good, {"end": "crash"})[0],
        judge(good, {"end": "hang"})[0],
    ]
    assert tuple(verdicts) == VERDICTS
    assert judge(good, {"poses": wild})[0] == "wrong"
    del poses["c"]
    assert "1 of 3 links are not there: c" in judge(good, {"poses": poses})[1]


def test_a_copy_without_meshes_has_the_same_kinematics(tmp_path: Path):
    (tmp_path / "copies").mkdir()
    text = GOOD.replace(
        '<link name="c"/>',
        '<link name="c"><visual><geometry><mesh filename="no.stl"/></geometry></visual></link>',
    )
    path = written(tmp_path, text)
    copy = without_meshes(path, tmp_path / "copies")
    assert "<mesh" not in copy.read_text()
    expected, found = truth_of(path), truth_of(copy)
    assert (expected.meshes, found.meshes) == (["no.stl"], [])
    assert all(np.array_equal(T, found.poses[name]) for name, T in expected.poses.items())
    broken = written(tmp_path, "<robot")
    assert without_meshes(broken, tmp_path / "copies") == broken


def test_an_mjcf_is_compared_with_mujoco(tmp_path: Path):
    pytest.importorskip("mujoco", reason="MuJoCo (pip install mujoco) is not installed")
    model = """<mujoco><worldbody><body><freejoint/><geom size=".1" pos="1 2 3"/>
        <body><joint range="0 2" armature="3"/><geom type="box" size=".1 .2 .3"/><site/></body>
        </body></worldbody></mujoco>"""
    (tmp_path / "a.xml").write_text(model)
    (tmp_path / "same.xml").write_text(model)
    (tmp_path / "b.xml").write_text(model.replace('type="box"', 'type="blob"'))
    good, bad = sorted(mjcf.models(tmp_path))
    found = mjcf.compared(good)
    assert (found["mujoco"], found["linkwork"], found["said"]) == ("", "", "")
    assert set(found["differences"]) == set(mjcf.COMPARED)
    assert max(found["differences"].values()) < 1e-14
    wrong = mjcf.compared(bad)
    assert "blob" in wrong["mujoco"] and "blob" in wrong["linkwork"]
    rows = {str(path): {"package": "p", **row} for path, row in ((good, found), (bad, wrong))}
    assert "| p | 1 | 1 |" in mjcf.tables(rows)
