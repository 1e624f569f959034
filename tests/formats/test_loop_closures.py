"""``loop_closures.yaml``: hinges that close loops, by their place where every joint is at zero."""

from __future__ import annotations

import numpy as np
import pytest
import yaml

import linkwork as lw
from linkwork.formats.loops import HingeRecord, LoopsRecord, beside, from_text, with_joints
from seeds import rng

PARALLELOGRAM = """<robot name="parallelogram">
  <link name="base"/><link name="crank"/><link name="coupler"/><link name="rocker"/>
  <joint name="crank_joint" type="continuous"><parent link="base"/><child link="crank"/>
    <origin xyz="0.1 0 0.2" rpy="0.3 0 0"/><axis xyz="0 0 1"/></joint>
  <joint name="coupler_joint" type="continuous"><parent link="crank"/><child link="coupler"/>
    <origin xyz="0 0.1 0"/><axis xyz="0 0 1"/><mimic joint="crank_joint" multiplier="-0.9"/></joint>
  <joint name="rocker_joint" type="continuous"><parent link="base"/><child link="rocker"/>
    <origin xyz="0.4 0 0.2" rpy="0.3 0 0"/><axis xyz="0 0 1"/>
    <mimic joint="crank_joint" multiplier="1.1"/></joint>
</robot>"""
C, S = float(np.cos(0.3)), float(np.sin(0.3))
CLOSURES = {
    "closures": [
        {"link_a": "coupler", "link_b": "rocker", "point": [0.4, 0.1 * C, 0.2 + 0.1 * S],
         "axis": [0.0, -S, C]}
    ],
    "dependent": ["coupler_joint", "rocker_joint"],
    "independent": ["crank_joint"],
}  # fmt: skip


def written(folder, closures=CLOSURES, *, below: str = ""):
    place = folder / below
    place.mkdir(exist_ok=True)
    (place / "arm.urdf").write_text(PARALLELOGRAM)
    (folder / "loop_closures.yaml").write_text(yaml.safe_dump(closures))
    return place / "arm.urdf"


@pytest.mark.parametrize("below", ["", "urdf"])
def test_a_parallelogram_stays_one_whatever_was_mimicked(tmp_path, below):
    robot = lw.load(written(tmp_path, below=below))
    assert robot.mechanism.actuated == ("crank_joint",)
    assert robot.joint_names == ("crank_joint", "coupler_joint", "rocker_joint")
    for angle in np.linspace(-1.2, 1.2, 7):
        found = robot.assemble([angle], q0=np.zeros(3))
        assert found.success
        np.testing.assert_allclose(found.q, [angle, -angle, angle], atol=1e-9)
    notes = [each for each in robot.findings if each.code == "other-joint"]
    assert [each.name for each in notes] == ["coupler_joint", "rocker_joint"]
    again = tmp_path / "again.urdf"
    lw.save(robot, again)
    np.testing.assert_allclose(lw.load(again).assemble([0.7]).q, [0.7, -0.7, 0.7], atol=1e-9)


def test_without_it_the_description_mimics(tmp_path):
    robot = lw.load(written(tmp_path), loops=False)
    assert robot.joint_names == ("crank_joint",) and not robot.mechanism.loops


@pytest.mark.sweep(1)
@pytest.mark.parametrize("name", ["panda", "excavator", "humanoid", "scara"])
def test_frames_of_a_hinge_meet_where_it_is_with_every_joint_at_zero(name):
    plain = lw.load(name, loops=False)
    random = rng(f"hinges {name}")
    zero = np.zeros(plain.n_q)
    T_world_root = plain.fk(zero, plain.link_names[0])
    for _ in range(5):
        a, b = random.choice(plain.link_names, 2, replace=False)
        point, axis = random.normal(size=3), random.normal(size=3)
        entry = {"link_a": str(a), "link_b": str(b), "point": point.tolist(), "axis": axis.tolist()}
        record = from_text(yaml.safe_dump({"closures": [entry]}))
        assert record.hinges[0].point == tuple(point)
        document, record = with_joints(plain.document, record)
        robot, loop = lw.load(document, loops=False), record.loops[0]
        for frame, link in ((loop.frame_a, a), (loop.frame_b, b)):
            T = np.linalg.inv(T_world_root) @ robot.fk(zero, frame)
            np.testing.assert_allclose(T[:3, 3], point, atol=1e-12)
            np.testing.assert_allclose(T[:3, 2], axis / np.linalg.norm(axis), atol=1e-12)
            m = robot.mechanism
            assert m.frame_body[m.frame(frame)] == m.frame_body[m.frame(str(link))]


def test_a_closure_without_an_axis_holds_a_point():
    text = yaml.safe_dump({"closures": [{"link_a": "a", "link_b": "b", "point": [1, 2, 3]}]})
    assert from_text(text) == LoopsRecord(hinges=(HingeRecord("a", "b", (1.0, 2.0, 3.0)),))


def test_ours_comes_first(tmp_path):
    path = written(tmp_path)
    assert beside(path) == tmp_path / "loop_closures.yaml"
    (tmp_path / "arm.loops.yaml").write_text("version: 1\n")
    assert beside(path) == tmp_path / "arm.loops.yaml"


def changed(**entry):
    return {**CLOSURES, "closures": [{**CLOSURES["closures"][0], **entry}]}


@pytest.mark.parametrize(
    ("closures", "said"),
    [
        (changed(link_a="couple"), "no link named 'couple'"),
        (changed(point=[0.0, 1.0]), "point of a closure must be three numbers"),
        (changed(point=[0.0, float("nan"), 1.0]), "must be a finite number"),
        (changed(axis=[0, 0, 0]), "must not be zero"),
        (changed(type="prismatic"), "a closure is revolute"),
        ({**CLOSURES, "dependent": ["knee"]}, "no joint named 'knee'"),
        ({**CLOSURES, "independent": ["knee"]}, "no joint named 'knee'"),
        ({**CLOSURES, "closures": {}}, "closures must be a list"),
    ],
)
def test_what_does_not_fit_is_said_with_its_file(tmp_path, closures, said):
    with pytest.raises(lw.DescriptionError, match=said) as caught:
        lw.load(written(tmp_path, closures))
    assert caught.value.problems[0].file.endswith("loop_closures.yaml")


def test_an_mjcf_has_equalities_in_its_place(tmp_path):
    pytest.importorskip("mujoco")
    path = tmp_path / "arm.xml"
    path.write_text("<mujoco><worldbody><body name='a'><joint name='j'/>"
                    "<geom size='1'/></body></worldbody></mujoco>")  # fmt: skip
    (tmp_path / "loop_closures.yaml").write_text(yaml.safe_dump(CLOSURES))
    with pytest.raises(lw.UnsupportedFeatureError, match="closures is for joints of a URDF"):
        lw.load(path)
