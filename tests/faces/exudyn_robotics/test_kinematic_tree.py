"""Trees in Plücker coordinates: against the core, and against the original where it is right."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np
import pytest

from exudyn_robots import random_robot
from linkwork.faces import exudyn_robotics as face
from linkwork.faces.exudyn_robotics.kinematic_tree import KinematicTree66
from linkwork.faces.exudyn_robotics.transformations import HTtranslateX, Skew
from seeds import rng

Q, V = [0.1, -0.2, 0.3, 0.4], [0.5, 0.6, -0.7, 0.8]


@pytest.fixture(name="robot", scope="module")
def _robot() -> Any:
    return random_robot(face, "tree of 6x6", 4, tree=True, local=False)


@pytest.fixture(name="tree", scope="module")
def _tree(robot: Any) -> KinematicTree66:
    return robot.GetKinematicTree66()


@pytest.mark.row("S4-047")
def test_a_tree_keeps_its_parents_and_its_base(robot: Any, tree: KinematicTree66):
    assert tree.Size() == 4
    assert tree.parents.tolist() == [link.parent for link in robot.links]
    assert tree.jointTypes == [link.jointType for link in robot.links]
    first = robot.GetBaseHT() @ robot.links[0].preHT
    twist = rng("a twist").normal(size=6)  # of what moves with the world: the same in other axes
    E, p = first[:3, :3].T, first[:3, 3]
    moved = np.concatenate([E @ twist[:3], E @ (twist[3:] + np.cross(twist[:3], p))])
    assert tree.XL(0) @ twist == pytest.approx(moved, abs=1e-14)
    link = robot.links[1]
    c = Skew(link.COM)
    assert tree.inertias[1][:3, :3] == pytest.approx(link.inertia + link.mass * c @ c.T)
    assert tree.inertias[1][3:, 3:] == pytest.approx(link.mass * np.eye(3))
    with pytest.raises(IndexError):
        tree.XL(4)


@pytest.mark.row("S4-047")
def test_a_local_transformation_is_refused():
    robot = face.Robot()
    robot.AddLink(face.RobotLink(1.0, [0, 0, 0], np.eye(3), localHT=HTtranslateX(1)))
    with pytest.raises(ValueError, match="localHT of link 0"):
        robot.GetKinematicTree66()


@pytest.mark.row("S4-048")
def test_equations_of_motion_are_those_of_the_robot(robot: Any, tree: KinematicTree66):
    core = robot.core()
    M, f = tree.ComputeMassMatrixAndForceTerms(Q, V)
    assert M == pytest.approx(core.mass_matrix(Q), abs=1e-12)
    assert f == pytest.approx(core.bias_forces(Q, V, gravity=robot.gravity), abs=1e-11)
    assert tree.ComputeMassMatrixAndForceTerms(Q, [0] * 4)[1] == pytest.approx(
        -robot.StaticTorques(robot.JointHT(Q)), abs=1e-11
    )
    tau = np.array([1.0, 2.0, 3.0, 4.0])
    assert M @ tree.ForwardDynamicsCRB(Q, V, tau) + f == pytest.approx(tau, abs=1e-10)
    assert M @ tree.ForwardDynamicsCRB(Q, V) + f == pytest.approx(0 * tau, abs=1e-10)


@pytest.mark.row("S4-048")
def test_external_forces_are_added(robot: Any, tree: KinematicTree66):
    wrenches = rng("external forces").normal(size=(4, 6))
    f = tree.ComputeMassMatrixAndForceTerms(Q, V)[1]
    pushed = tree.ComputeMassMatrixAndForceTerms(Q, V, wrenches)[1]
    HT = robot.JointHT(Q)
    expected = np.zeros(4)
    for k, wrench in enumerate(wrenches):
        J = robot.Jacobian(HT, [0, 0, 0], linkIndex=k)  # of the point at the world's origin
        expected += J[3:].T @ wrench[:3] + J[:3].T @ wrench[3:]
    assert pushed - f == pytest.approx(expected, abs=1e-11)
    fvp = [np.zeros(6) for _ in wrenches]
    X = [tree.XL(k) for k in range(4)]
    assert tree.AddExternalForces(X, fvp, wrenches) is fvp
    above = X[0]
    assert above.T @ fvp[0] == pytest.approx(wrenches[0], abs=1e-13)
    assert tree.AddExternalForces(X, fvp) is fvp


@pytest.mark.row("S4-048")
def test_what_does_not_fit_together_is_refused(tree: KinematicTree66):
    one = [np.eye(6)]
    for lists in ((["Rz"] * 2, one, one), (["Rz"], one, one, [0]), (["Rw"], one, one)):
        with pytest.raises(ValueError, match=r"need|parent|type"):
            KinematicTree66(*lists)
    for wrong in (np.diag([1, 1, 1, 1, 1, 2.0]), np.ones((6, 6))):
        with pytest.raises(ValueError, match=r"no|not"):
            KinematicTree66(["Rz"], one, [wrong])
    with pytest.raises(ValueError, match="transformation 0"):
        KinematicTree66(["Rz"], [np.ones((6, 6))], one)
    with pytest.raises(ValueError, match="q has 4 numbers"):
        tree.ComputeMassMatrixAndForceTerms([1], V)
    with pytest.raises(ValueError, match="externalForces are 4"):
        tree.ComputeMassMatrixAndForceTerms(Q, V, [np.ones(6)])
    with pytest.raises(ValueError, match="forces are for"):
        tree.ForwardDynamicsCRB(Q, V, [1] * 4, [1] * 4)


@pytest.mark.row("S4-047", "S4-048")
def test_as_the_original():
    """A chain that turns, without a base: there the original has no faults."""
    original = pytest.importorskip("exudyn.robotics", reason="exudyn is not installed")
    options: dict[str, Any] = dict(local=False, base=False, kinds=("Rx", "Ry", "Rz"))
    theirs, ours = (
        random_robot(module, "6x6 chain", 4, **options).GetKinematicTree66()
        for module in (original, face)
    )
    assert isinstance(theirs, importlib.import_module("exudyn.kinematicTree").KinematicTree66)
    for k in range(4):
        assert ours.XL(k) == pytest.approx(np.array(theirs.XL(k)), abs=1e-14)
        assert ours.inertias[k] == pytest.approx(theirs.inertias[k], abs=1e-13)
    push = [np.arange(6.0), *[np.zeros(6)] * 3]
    for forces in ([], push):
        for a, b in zip(
            ours.ComputeMassMatrixAndForceTerms(Q, V, forces),
            theirs.ComputeMassMatrixAndForceTerms(Q, V, forces),
            strict=True,
        ):
            assert a == pytest.approx(b, abs=1e-9)
    tau = [1.0, 2.0, 3.0, 4.0]
    expected = theirs.ForwardDynamicsCRB(Q, V, tau)
    assert ours.ForwardDynamicsCRB(Q, V, tau) == pytest.approx(expected, abs=1e-8)
