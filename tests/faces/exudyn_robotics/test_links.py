"""Links, base, tool, and the options of how they are drawn."""

from __future__ import annotations

import numpy as np
import pytest

from linkwork.faces.exudyn_robotics import (
    RobotBase,
    RobotLink,
    RobotTool,
    VRobotBase,
    VRobotLink,
    VRobotTool,
)


def link(**more: object) -> RobotLink:
    return RobotLink(1.5, [0.1, 0, 0], np.diag([1, 2, 3]).tolist(), **more)


@pytest.mark.row("S4-010")
def test_drawing_options_are_not_shared():
    first, second = VRobotLink(), VRobotLink(jointRadius=0.1, graphicsData=[1])
    first.graphicsData.append(2)
    first.linkColor[0] = 1.0
    assert VRobotLink().graphicsData == []
    assert VRobotLink().linkColor == [0.4, 0.4, 0.4, 1]
    assert (second.jointRadius, second.jointWidth, second.linkWidth) == (0.1, 0.12, 0.1)
    assert (second.showMBSjoint, second.showCOM, second.graphicsData) == (True, True, [1])


@pytest.mark.row("S4-011", "S4-012", "S4-013", "S4-014", "S4-016")
def test_a_link_has_the_documented_defaults():
    made = link()
    assert (made.mass, made.jointType, made.parent) == (1.5, "Rz", -2)
    assert np.array_equal(made.localHT, np.eye(4))
    assert np.array_equal(made.preHT, np.eye(4))
    assert np.array_equal(made.COM, [0.1, 0, 0])
    assert np.array_equal(made.inertia, np.diag([1, 2, 3]))
    assert isinstance(made.visualization, VRobotLink)
    placed = link(localHT=np.eye(4).tolist(), preHT=2 * np.eye(4), parent=3)
    assert placed.parent == 3
    assert placed.preHT[0, 0] == 2.0
    with pytest.raises(ValueError, match=r"\(4, 4\)"):
        placed.localHT = np.eye(3)


@pytest.mark.parametrize("wrong", ["x", 1j, [1.0, 2.0]])
def test_what_is_no_number_is_refused(wrong: object):
    with pytest.raises(ValueError, match="COM"):
        RobotLink(1.0, [0.0, wrong, 0.0], np.eye(3))
    with pytest.raises(ValueError, match="inertia"):
        RobotLink(1.0, [0, 0, 0], [[wrong, 0, 0]] * 3)


@pytest.mark.row("S4-015")
def test_types_of_joints():
    for k, axis in enumerate("xyz"):
        for kind in "RP":
            made = link(jointType=kind + axis)
            assert made.turns == (kind == "R")
            assert np.array_equal(made.axis, np.eye(3)[k])
    with pytest.raises(ValueError, match="Rx, Ry, Rz, Px, Py, Pz"):
        link(jointType="Rw")
    with pytest.raises(ValueError, match="jointType"):
        made.jointType = "xR"
    assert made.jointType == "Pz"


@pytest.mark.row("S4-017", "S4-018", "S4-019", "S4-020")
def test_gains():
    made = link()
    assert made.HasPDcontrol() is False
    with pytest.raises(ValueError, match="PDcontrol"):
        made.GetPDcontrol()
    made.SetPDcontrol(3.0, 4.0)
    assert made.HasPDcontrol() is True
    assert made.GetPDcontrol() == (3.0, 4.0)
    made.SetPDcontrol(None, None)
    assert made.HasPDcontrol() is False
    assert link(PDcontrol=(1, None)).GetPDcontrol() == (1, None)
    assert not link(PDcontrol=(None, 1)).HasPDcontrol()


@pytest.mark.row("S4-021", "S4-022", "S4-023", "S4-024")
@pytest.mark.parametrize(("kind", "look"), [(RobotTool, VRobotTool), (RobotBase, VRobotBase)])
def test_base_and_tool(kind: type, look: type):
    made = kind()
    assert np.array_equal(made.HT, np.eye(4))
    made.visualization.graphicsData.append(1)
    assert kind().visualization.graphicsData == []
    given = kind(
        HT=[[1, 0, 0, 5], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]], visualization=look([1])
    )
    assert given.HT[0, 3] == 5.0
    assert given.visualization.graphicsData == [1]


@pytest.mark.row("S4-025")
def test_listings():
    for made in (link(PDcontrol=(1, 2)), RobotBase(), RobotTool(), VRobotLink(), VRobotBase()):
        assert repr(made) == str(made)
    assert "  jointType = Rz\n  parent = -2\n" in str(link())
    assert "HT(rotation=[[1,0,0],[0,1,0],[0,0,1]], translation=[0,0,0])" in str(RobotBase())
    assert "  PDcontrol = (1, 2)" in str(link(PDcontrol=(1, 2)))


@pytest.mark.row("S4-025")
def test_listings_are_those_of_the_original():
    original = pytest.importorskip("exudyn.robotics", reason="exudyn is not installed")
    inertia = np.diag([1.0, 2.0, 3.0])
    theirs = original.RobotLink(1.5, [0.1, 0, 0], inertia, jointType="Py", PDcontrol=(1, 2))
    ours = RobotLink(1.5, [0.1, 0, 0], inertia, jointType="Py", PDcontrol=(1, 2))
    assert sorted(str(ours).splitlines()) == sorted(str(theirs).splitlines())
    assert str(original.RobotBase()) == str(RobotBase())
    assert str(original.VRobotLink()) == str(VRobotLink())
