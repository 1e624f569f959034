"""The robot's kinematics and static torques, in all forms of arguments, and beside the original."""

from __future__ import annotations

import copy
import warnings
from typing import Any

import numpy as np
import pytest

from exudyn_robots import KINDS, random_robot
from linkwork.faces import exudyn_robotics as face
from linkwork.faces.exudyn_robotics.transformations import HTtranslate, HTtranslateX
from seeds import rng

ROBOTS = [(tree, k) for tree in (False, True) for k in range(3)]


def robot_of(tree: bool, k: int, module: Any = face) -> Any:
    return random_robot(module, f"{tree} {k}", 6, tree=tree)


@pytest.fixture(name="arm", scope="module")
def _arm() -> Any:
    return robot_of(False, 0)


@pytest.fixture(name="branched", scope="module")
def _branched() -> Any:
    return robot_of(True, 0)


Q = [0.1, -0.2, 0.3, 0.4, -0.5, 0.6]


@pytest.mark.row("S4-030", "S4-037", "S4-038", "S4-051")
def test_a_robot_has_a_base_and_a_tool_of_its_own():
    first, second = face.Robot(), face.Robot(gravity=(1, 2, 3), referenceConfiguration=[0.5])
    first.base.HT = HTtranslateX(1)
    assert np.array_equal(second.GetBaseHT(), np.eye(4))
    assert np.array_equal(second.GetToolHT(), np.eye(4))
    assert np.array_equal(first.gravity, [0, 0, -9.81])
    assert np.array_equal(second.gravity, [1, 2, 3])
    assert (first.links, first.isSerialRobot, len(first.referenceConfiguration)) == ([], True, 0)
    assert np.array_equal(second.referenceConfiguration, [0.5])
    assert isinstance(first.base, face.RobotBase)
    assert isinstance(first.tool, face.RobotTool)


@pytest.mark.row("S4-031", "S4-032", "S4-033", "S4-034", "S4-035", "S4-036")
def test_links_are_added_as_copies():
    robot, link = face.Robot(), face.RobotLink(1.0, [0, 0, 0], np.eye(3))
    assert robot.AddLink(link) == 0
    link.mass = 7.0
    assert robot.AddLink(link) == 1
    assert robot.IsSerialRobot() is True
    assert [robot.GetLink(k).mass for k in range(2)] == [1.0, 7.0]
    link.parent = 0
    assert robot.AddLink(link) == 2
    assert robot.IsSerialRobot() is False
    assert [robot.GetParentIndex(k) for k in range(3)] == [-1, 0, 0]
    assert [robot.HasParent(k) for k in range(3)] == [False, True, True]
    assert robot.NumberOfLinks() == 3
    assert np.array_equal(robot.referenceConfiguration, [0, 0, 0])
    link.parent = 5
    with pytest.raises(ValueError, match="the parent of link 3 is 5"):
        robot.AddLink(link)
    assert robot.NumberOfLinks() == 3
    with pytest.raises(IndexError):
        robot.GetLink(3)


@pytest.mark.row("S4-031")
def test_a_tool_on_a_tree_is_warned_of():
    robot = face.Robot(tool=face.RobotTool(HTtranslateX(1)))
    link = face.RobotLink(1.0, [0, 0, 0], np.eye(3), parent=-1)
    robot.AddLink(link)
    with pytest.warns(UserWarning, match="tree"):
        robot.AddLink(link)


@pytest.mark.row("S4-039", "S4-040", "S4-041")
def test_poses_follow_from_each_other(branched: Any):
    joints, links = branched.JointHT(Q), branched.LinkHT(Q)
    assert isinstance(joints, list)
    for k, link in enumerate(branched.links):
        assert links[k] == pytest.approx(joints[k] @ link.localHT, abs=1e-14)
        above = links[link.parent] if link.parent >= 0 else branched.GetBaseHT()
        moved = np.linalg.inv(above @ link.preHT) @ joints[k]
        if link.turns:
            assert moved[:3, :3] @ link.axis == pytest.approx(link.axis, abs=1e-13)
            assert np.arccos((np.trace(moved) - 2.0) / 2.0) == pytest.approx(abs(Q[k]), abs=1e-12)
        else:
            assert moved == pytest.approx(HTtranslate(Q[k] * link.axis), abs=1e-13)
    centres = branched.COMHT(joints)
    for T, L, link in zip(centres, links, branched.links, strict=True):
        assert T == pytest.approx(L @ HTtranslate(link.COM), abs=1e-14)


@pytest.mark.row("S4-040")
def test_positions_in_all_forms(arm: Any):
    expected = arm.JointHT(np.array(Q))
    for given in (Q, tuple(Q), [*Q, 9.0], [np.float32(x) for x in np.float32(Q)]):
        assert np.array(arm.JointHT(given)) == pytest.approx(np.array(expected), abs=1e-6)
    with pytest.raises(ValueError, match="6 positions"):
        arm.JointHT(Q[:3])
    assert face.Robot().JointHT([]) == face.Robot().LinkHT([]) == []


@pytest.mark.row("S4-043")
def test_columns_are_the_rates_of_a_point(branched: Any):
    h, HT = 1e-6, branched.JointHT(Q)
    for index in range(6):
        J = branched.Jacobian(HT, linkIndex=index)
        assert J.shape == (6, 6)
        for k in range(6):
            step = h * np.eye(6)[k]
            after, before = (branched.LinkHT(Q + s)[index] for s in (step, -step))
            rate = (after[:3, 3] - before[:3, 3]) / (2 * h)
            assert J[:3, k] == pytest.approx(rate, abs=1e-8)
            spin = (after[:3, :3] - before[:3, :3]) / (2 * h) @ branched.LinkHT(Q)[index][:3, :3].T
            assert J[3:, k] == pytest.approx([spin[2, 1], spin[0, 2], spin[1, 0]], abs=1e-8)


@pytest.mark.row("S4-043")
def test_forms_of_a_jacobian(arm: Any):
    HT = arm.JointHT(Q)
    J = arm.Jacobian(HT)
    assert np.array_equal(arm.Jacobian(HT, mode="trans"), J[:3])
    assert np.array_equal(arm.Jacobian(HT, mode="rot"), J[3:])
    tip = arm.LinkHT(Q)[-1][:3, 3]
    for point in (tip, tip.tolist(), tuple(tip)):
        assert arm.Jacobian(HT, point) == pytest.approx(J, abs=1e-14)
    for same in (np.array(HT), [T.tolist() for T in HT]):
        assert np.array_equal(arm.Jacobian(same), J)
    assert np.array_equal(arm.Jacobian(HT, linkIndex=-1), J)
    assert arm.Jacobian(HT[:3]).shape == (6, 3)
    assert np.array_equal(arm.Jacobian(HT[:3]), arm.Jacobian(HT, linkIndex=2)[:, :3])
    assert not arm.Jacobian(HT, linkIndex=2)[:, 3:].any()
    with pytest.raises(ValueError, match="'all', 'trans' or 'rot'"):
        arm.Jacobian(HT, mode="translation")
    with pytest.raises(IndexError):
        arm.Jacobian(HT, linkIndex=6)
    with pytest.raises(ValueError, match="7 transformations"):
        arm.Jacobian([*HT, HT[0]])
    with pytest.raises(ValueError, match="toolPosition"):
        arm.Jacobian(HT, [1, 2])


@pytest.mark.row("S4-042")
def test_static_torques_are_the_forces_of_gravity(branched: Any):
    HT = branched.JointHT(Q)
    found = branched.StaticTorques(HT)
    core = branched.core().gravity_forces(Q, gravity=branched.gravity)
    assert found == pytest.approx(-core, abs=1e-10)
    assert np.array_equal(branched.HoldingTorques(HT), -found)
    assert np.array_equal(branched.StaticTorques([*HT, HT[0]]), found)
    with pytest.raises(ValueError, match="2 transformations"):
        branched.StaticTorques(HT[:2])


@pytest.mark.row("S4-051")
def test_links_may_be_changed_in_place():
    robot = robot_of(False, 1)
    before = robot.JointHT(Q)
    robot.links[0].preHT = HTtranslateX(2.0)
    robot.gravity = [0, 0, 0]
    assert not np.allclose(robot.JointHT(Q), before)
    assert not robot.StaticTorques(robot.JointHT(Q)).any()
    again = copy.deepcopy(robot)
    assert np.array_equal(again.JointHT(Q), robot.JointHT(Q))


@pytest.mark.row("S4-050")
def test_dictionaries_of_older_models():
    row = {"mass": 1.0, "COM": [0, 0, 0], "inertia": np.eye(3)}
    links = [row | {"stdDH": [0.1, 0.2, 0.3, 0.4]}, row | {"modDHcraig": [0.1, 0.2, 0.3, 0.4]}]
    given = {
        "base": {"HT": HTtranslateX(1)}, "tool": {"HT": HTtranslateX(2)}, "links": links,
        "gravity": [0, 0, 9.81], "referenceConfiguration": [0.1, 0.2],
    }  # fmt: skip
    robot = face.Robot()
    with pytest.warns(DeprecationWarning, match="AddLink"):
        robot.BuildFromDictionary(given)
    expected = HTtranslateX(1) @ face.StdDH2HT([0.1, 0.2, 0.3, 0.4])
    assert robot.LinkHT([0, 0])[0] == pytest.approx(expected, abs=1e-14)
    pre, post = face.ModDHKK2HT([0.1, 0.2, 0.3, 0.4])
    assert robot.LinkHT([0, 0])[1] == pytest.approx(expected @ pre @ post, abs=1e-14)
    assert np.array_equal(robot.gravity, [0, 0, 9.81])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.raises(ValueError, match="neither stdDH nor modDHcraig"):
            face.Robot().BuildFromDictionary(given | {"links": [row]})


@pytest.mark.row("S4-039", "S4-040", "S4-041", "S4-042", "S4-043")
@pytest.mark.parametrize(("tree", "k"), ROBOTS)
def test_as_the_original(tree: bool, k: int):
    original = pytest.importorskip("exudyn.robotics", reason="exudyn is not installed")
    theirs, ours = robot_of(tree, k, original), robot_of(tree, k)
    assert {link.jointType for link in ours.links} <= set(KINDS)
    for q in rng(f"positions {tree} {k}").uniform(-3, 3, (5, 6)):
        HT = theirs.JointHT(q)
        assert np.array([np.array(T) for T in HT]) == pytest.approx(
            np.array(ours.JointHT(q)), abs=1e-12
        )
        assert np.array([np.array(T) for T in theirs.LinkHT(q)]) == pytest.approx(
            np.array(ours.LinkHT(q)), abs=1e-12
        )
        assert np.array([np.array(T) for T in theirs.COMHT(HT)]) == pytest.approx(
            np.array(ours.COMHT(HT)), abs=1e-12
        )
        assert ours.StaticTorques(HT) == pytest.approx(theirs.StaticTorques(HT), abs=1e-9)
        for options in (
            {},
            {"mode": "trans"},
            {"mode": "rot"},
            {"linkIndex": 3},
            {"linkIndex": -1},
        ):
            for point in ([], [0.1, 0.2, 0.3]):
                assert ours.Jacobian(HT, point, **options) == pytest.approx(
                    theirs.Jacobian(HT, point, **options), abs=1e-12
                )
