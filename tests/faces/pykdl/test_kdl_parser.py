from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import linkwork as lw
from fresh_python import program_as
from linkwork.errors import DescriptionError, UnsupportedFeatureError
from linkwork.faces.pykdl import ChainDynParam, JntArray, JntSpaceInertiaMatrix, Vector
from linkwork.faces.pykdl.kdl_parser import (
    LeftOverWarning,
    treeFromFile,
    treeFromParam,
    treeFromString,
    treeFromUrdfModel,
)

URDF = """<robot name="r"><link name="a"/><link name="b"/><link name="c"/>
<joint name="one" type="{kind}"><parent link="a"/><child link="b"/><axis xyz="0 0 1"/>
<limit lower="-1" upper="1" effort="1" velocity="1"/></joint>
<joint name="two" type="fixed"><parent link="b"/><child link="c"/></joint></robot>"""


@pytest.mark.row("S3-134")
def test_the_chain_is_the_robot():
    robot = lw.load("panda")
    ok, tree = treeFromFile("panda")
    assert ok is True
    chain = tree.getChain("link0", "link7")
    q = robot.random(seed=1)
    own = q[: chain.getNrOfJoints()]
    assert np.abs(chain.core.robot.fk(own) - robot.fk(q, "link7")).max() < 1e-14
    part = robot.subchain("link0", "link7")
    H, out = JntSpaceInertiaMatrix(7), JntArray(7)
    assert chain.getNrOfJoints() == part.n_q == 7
    solver = ChainDynParam(chain, Vector(0, 0, -9.80665))
    assert solver.JntToMass(JntArray.FromArray(own), H) == 0
    assert np.isfinite(H.ToArray()).all()
    assert solver.JntToGravity(JntArray.FromArray(own), out) == 0


@pytest.mark.row("S3-134")
def test_files_texts_and_models(tmp_path: Path):
    text = URDF.format(kind="revolute")
    path = tmp_path / "r.urdf"
    path.write_text(text)
    models: list[Any] = [lw.load(text), lw.load(text).document]
    trees = [treeFromFile(str(path)), treeFromString(text), *map(treeFromUrdfModel, models)]
    for ok, tree in trees:
        assert ok is True
        assert (tree.getNrOfJoints(), tree.getNrOfSegments()) == (1, 2)
        assert tree.getChain("a", "c").getSegment(0).getJoint().getName() == "one"


@pytest.mark.parametrize("kind", ["floating", "planar"])
def test_joints_that_a_tree_cannot_hold(kind: str):
    with pytest.raises(UnsupportedFeatureError, match="'one'"):
        treeFromString(URDF.format(kind=kind))


@pytest.mark.row("S3-134")
@pytest.mark.parametrize(
    "mimics",
    [
        {"one": "nobody"},
        {"one": "one"},
        {"one": "two", "two": "one"},
        {"one": "three"},
        {"three": "one"},
    ],
)
def test_what_joints_mimic_does_not_count(mimics: dict[str, str]):
    joints = [("one", "a", "b", "revolute"), ("two", "b", "c", "continuous")]
    text = "".join(
        f"<joint name='{name}' type='{kind}'><parent link='{above}'/><child link='{below}'/>"
        "<limit lower='-1' upper='1' effort='1' velocity='1'/>"
        + (f"<mimic joint='{mimics[name]}'/>" if name in mimics else "")
        + "</joint>"
        for name, above, below, kind in [*joints, ("three", "c", "d", "fixed")]
    )
    links = "".join(f"<link name='{name}'/>" for name in "abcd")
    ok, tree = treeFromString(f"<robot name='r'>{links}{text}</robot>")
    assert ok is True
    assert tree.getNrOfJoints() == 2
    assert tree.getChain("a", "d").getNrOfSegments() == 3


@pytest.mark.row("S3-134")
def test_elements_of_xacro_that_are_left(tmp_path: Path):
    text = URDF.format(kind="revolute").replace(
        '<robot name="r">',
        '<robot name="r" xmlns:xacro="http://www.ros.org/wiki/xacro">'
        '<xacro:include filename="$(find r)/gripper.xacro"/><xacro:gripper parent="b"/>',
    )
    path = tmp_path / "r.urdf"
    path.write_text(text)
    for make, source in ((treeFromFile, str(path)), (treeFromString, text)):
        with pytest.warns(LeftOverWarning, match=r"xacro:include.*1 more") as caught:
            ok, tree = make(source)
        assert len(caught) == 1
        assert (ok, tree.getNrOfJoints(), tree.getNrOfSegments()) == (True, 1, 2)
    with pytest.raises(DescriptionError, match="xacro"):
        lw.load(text, strict=True)  # who needs all of the robot can have it refused


@pytest.mark.row("S3-134")
def test_parameters_of_ros(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    with pytest.raises(ImportError, match="treeFromString"):
        treeFromParam("robot_description")
    texts = {"robot_description": URDF.format(kind="revolute")}
    (tmp_path / "rospy.py").write_text(f"def get_param(name):\n    return {texts!r}[name]\n")
    monkeypatch.syspath_prepend(tmp_path)
    ok, tree = treeFromParam("robot_description")
    assert (ok, tree.getNrOfJoints()) == (True, 1)
    with pytest.raises(KeyError):
        treeFromParam("nothing")
    sys.modules.pop("rospy")


INCOMPLETE = (
    '<inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/>',
    '<mass value="2"/>',
    '<mass/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/>',
    '<mass value="2"/><inertia ixx="1" iyy="1" izz="1"/>',
)


@pytest.mark.parametrize("inner", INCOMPLETE)
def test_an_inertial_that_is_said_in_part_is_refused_as_in_the_original(inner: str):
    inertial = f'<link name="b"><inertial>{inner}</inertial></link>'
    text = URDF.format(kind="revolute").replace('<link name="b"/>', inertial)
    with pytest.raises(DescriptionError, match=r"there is no .*<(mass|inertia)>"):
        treeFromString(text)


def test_refused():
    with pytest.raises(DescriptionError):
        treeFromString("<robot name='r'><link name='a'>")
    with pytest.raises(TypeError):
        treeFromUrdfModel(3)
    with pytest.raises(TypeError):
        treeFromString(3)  # pyright: ignore[reportArgumentType] -- that is the point


@pytest.mark.row("S3-134")
def test_the_module_of_programs_has_its_place_in_linkwork():
    from linkwork.faces.pykdl.kdl_parser_py import urdf  # noqa: PLC0415  as programs do

    assert urdf.treeFromFile is treeFromFile
    assert urdf.treeFromParam is treeFromParam
    assert urdf.treeFromString is treeFromString
    assert urdf.treeFromUrdfModel is treeFromUrdfModel


# --------------------------------------------------------------------------- a script as it stands


SCRIPT = """
import PyKDL as kdl
from kdl_parser_py.urdf import treeFromFile

ok, tree = treeFromFile("ur5e")
chain = tree.getChain("base_link", "tool0")
n = chain.getNrOfJoints()
q = kdl.JntArray(n)
for k in range(n):
    q[k] = 0.1 * (k + 1)
tip = kdl.Frame()
print(ok, kdl.ChainFkSolverPos_recursive(chain).JntToCart(q, tip))
lower, upper = kdl.JntArray(n), kdl.JntArray(n)
for k in range(n):
    lower[k], upper[k] = -3.0, 3.0
fk, velocities = kdl.ChainFkSolverPos_recursive(chain), kdl.ChainIkSolverVel_pinv(chain)
solver = kdl.ChainIkSolverPos_NR_JL(chain, lower, upper, fk, velocities, 100, 1e-9)
start, found, there = kdl.JntArray(q), kdl.JntArray(n), kdl.Frame()
start[0] += 0.2
print(solver.CartToJnt(start, tip, found), fk.JntToCart(found, there), kdl.Equal(there, tip, 1e-6))
twist, qdot = kdl.diff(tip, tip * kdl.Frame(kdl.Vector(0.1, 0, 0))), kdl.JntArray(n)
print(velocities.CartToJnt(q, twist, qdot), kdl.dot(twist.vel, tip.M.UnitX()))
print(kdl.__file__ is not None, kdl.Frame.__module__)
"""


def test_a_kdl_script_runs_as_it_stands(tmp_path: Path):
    lines = program_as("pykdl", SCRIPT, tmp_path)
    assert lines[:2] == ["True 0", "0 0 True"]
    code, along = lines[2].split()
    assert int(code) == 0
    assert abs(float(along) - 0.1) < 1e-12
    assert lines[3].endswith("linkwork.faces.pykdl.frame")
