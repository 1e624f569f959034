from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import linkwork as lw
from linkwork.errors import DescriptionError, UnsupportedFeatureError
from linkwork.faces.pykdl import ChainDynParam, JntArray, JntSpaceInertiaMatrix, Vector
from linkwork.faces.pykdl.kdl_parser import treeFromFile, treeFromString, treeFromUrdfModel

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


def test_refused():
    with pytest.raises(DescriptionError):
        treeFromString("<robot name='r'><link name='a'>")
    with pytest.raises(TypeError):
        treeFromUrdfModel(3)
    with pytest.raises(TypeError):
        treeFromString(3)  # pyright: ignore[reportArgumentType] -- that is the point
