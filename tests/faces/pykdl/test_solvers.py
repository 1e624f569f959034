"""Solvers for poses, velocities, Jacobians, forces and mass matrices."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from kdl_chains import chain
from kdl_small import GRAVITY, arm, array
from linkwork.errors import InputError
from linkwork.faces import pykdl
from linkwork.faces.pykdl import (
    Chain,
    ChainDynParam,
    ChainFkSolverPos_recursive,
    ChainFkSolverVel_recursive,
    ChainIdSolver_RNE,
    ChainJntToJacDotSolver,
    ChainJntToJacSolver,
    Frame,
    FrameVel,
    Jacobian,
    JntArray,
    JntArrayVel,
    JntSpaceInertiaMatrix,
    Joint,
    Rotation,
    Segment,
    SolverI,
    Twist,
    Vector,
    Wrench,
)
from seeds import rng

# solver


@pytest.mark.row("S3-120")
def test_codes_in_words():
    solver = SolverI(arm())
    assert solver.getError() == 0
    assert solver.strError(0) == "No error"
    assert solver.strError(-4) == "The size of the input does not match the internal state"
    assert solver.strError(-5) == "The maximum number of iterations is exceeded"
    assert solver.strError(77) == "UNKNOWN ERROR"
    singular = pykdl.ChainIkSolverVel_pinv(arm()).strError(100)
    assert singular.endswith("is singular.")


@pytest.mark.row("S3-120")
def test_a_chain_that_has_grown():
    chain = arm()
    solver = pykdl.ChainJntToJacSolver(chain)
    chain.addChain(arm())
    q, J = array(0, 0, 0, 0), Jacobian(4)
    assert solver.JntToJac(q, J) == solver.getError() == -3
    solver.updateInternalDataStructures()
    assert solver.JntToJac(q, J) == solver.getError() == 0


def test_the_words_are_those_of_pykdl():
    kdl: Any = pytest.importorskip("PyKDL", reason="PyKDL (python3-pykdl) is not installed")
    names = [
        "ChainFkSolverPos_recursive", "ChainJntToJacDotSolver", "ChainIkSolverVel_pinv",
        "ChainIkSolverVel_wdls", "ChainIkSolverPos_LMA",
    ]  # fmt: skip
    for name in names:
        ours, theirs = getattr(pykdl, name)(arm()), getattr(kdl, name)(kdl.Chain())
        for code in range(-110, 110):
            assert ours.strError(code) == theirs.strError(code), (name, code)


@pytest.mark.parametrize("chain", [3, None, [Chain()]])
def test_a_solver_is_of_a_chain(chain: Any):
    with pytest.raises(TypeError, match="takes a Chain first"):
        SolverI(chain)


# forward solvers


Q = array(math.pi / 2, -math.pi / 2)


@pytest.mark.row("S3-121")
def test_poses_along_a_chain():
    solver, frame = ChainFkSolverPos_recursive(arm(fixed=True)), Frame()
    live = frame.p
    expected = {
        0: Frame(),
        1: Frame(Rotation.RotZ(math.pi / 2), Vector(0, 1, 0)),
        2: Frame(Vector(0.5, 1, 0)),
        -1: Frame(Vector(0.5, 1, 0.25)),
    }
    for count, pose in expected.items():
        assert solver.JntToCart(Q, frame, count) == 0
        assert frame == pose
    assert live == Vector(0.5, 1, 0.25)


@pytest.mark.row("S3-121")
def test_all_poses_at_once():
    solver, frames = ChainFkSolverPos_recursive(arm(fixed=True)), [Frame() for _ in range(3)]
    assert solver.JntToCart(Q, frames) == 0
    assert [frame.p.x() for frame in frames] == pytest.approx([0, 0.5, 0.5], abs=1e-15)
    assert solver.JntToCart(Q, frames[:2]) == -4
    assert solver.JntToCart(Q, frames[:2], 2) == 0


@pytest.mark.row("S3-121")
def test_codes():
    chain, frame = arm(), Frame()
    solver = ChainFkSolverPos_recursive(chain)
    assert solver.JntToCart(array(0), frame) == -4
    assert solver.JntToCart(Q, frame, 3) == -6 == solver.getError()
    chain.addChain(arm())
    assert solver.JntToCart(Q, frame) == -4
    assert solver.JntToCart(array(0, 0, 0, 0), frame) == 0
    assert frame.p.x() == 3.0
    with pytest.raises(TypeError):
        solver.JntToCart(array(0, 0, 0, 0), Vector())
    with pytest.raises(InputError):
        solver.JntToCart(array(math.nan, 0, 0, 0), frame)


@pytest.mark.row("S3-121", "S3-122")
def test_later_calls_refuse_what_first_ones_refuse():
    chain, out, moving = arm(), Frame(), FrameVel()
    fk, fkv = ChainFkSolverPos_recursive(chain), ChainFkSolverVel_recursive(chain)
    q, both = array(0.1, 0.2), JntArrayVel(array(0.1, 0.2), array(0.3, 0.4))
    for _ in range(3):
        assert fk.JntToCart(q, out) == fkv.JntToCart(both, moving) == 0
        assert fk.JntToCart(array(1), out) == fkv.JntToCart(JntArrayVel(1), moving) == -4
        assert fk.JntToCart(q, out, 3) == fkv.JntToCart(both, moving, 3) == -6
        assert fk.getError() == fkv.getError() == -6
        for call in (
            lambda: fk.JntToCart(q.ToArray(), out),
            lambda: fk.JntToCart(q, out, 1.0),
            lambda: fk.JntToCart(q, 1.0),
            lambda: fkv.JntToCart(q, moving),
            lambda: fkv.JntToCart(both, out),
        ):
            with pytest.raises(TypeError):
                call()
        with pytest.raises(ValueError, match="nan"):
            fk.JntToCart(array(0.1, float("nan")), out)
        with pytest.raises(ValueError, match="nan"):
            fkv.JntToCart(JntArrayVel(q, array(float("nan"), 0)), moving)
    assert moving.GetFrame() == out
    chain.addChain(arm())
    assert fk.JntToCart(array(0.1, 0.2, 0.3, 0.4), out) == 0
    assert fk.JntToCart(q, out) == fkv.JntToCart(both, moving) == -4


# jacobian solvers


COLUMNS = np.array([[-1, 0.5, 0, 0, 0, 1], [0, 0.5, 0, 0, 0, 1]]).T


@pytest.mark.row("S3-123")
def test_a_jacobian_by_heart():
    solver, J = ChainJntToJacSolver(arm(fixed=True)), Jacobian(2)
    assert solver.JntToJac(Q, J) == 0
    assert np.allclose(J.ToArray(), COLUMNS, rtol=0, atol=1e-15)
    assert solver.JntToJac(Q, J, 1) == 0
    assert J.ToArray()[:, 1].tolist() == [0] * 6
    assert solver.JntToJac(Q, Jacobian(3)) == solver.JntToJac(array(0), J) == -4
    assert solver.JntToJac(Q, J, 4) == -6


@pytest.mark.row("S3-123")
def test_joints_that_are_left_out():
    solver, J = ChainJntToJacSolver(arm()), Jacobian(2)
    assert solver.setLockedJoints([True]) == -4
    assert solver.setLockedJoints([True, False]) == 0
    assert solver.JntToJac(Q, J) == 0
    assert np.allclose(J.ToArray(), np.stack([COLUMNS[:, 1], np.zeros(6)], 1), atol=1e-15)


@pytest.mark.sweep(1)
@pytest.mark.row("S3-124")
@pytest.mark.parametrize("representation", [0, 1, 2])
def test_derivatives_are_differences(representation: int):
    made = chain(pykdl, "dot", 8, scaled=True)
    n, h = made.getNrOfJoints(), 1e-6
    q, v = rng("dot").normal(size=(2, n))

    def jacobian(at: np.ndarray) -> np.ndarray:
        names = ("world-aligned", "local", "world")
        return made.core.robot.jacobian(at, "8", reference=names[representation])

    solver, J, twist = ChainJntToJacDotSolver(made), Jacobian(n), Twist()
    solver.setRepresentation(representation)
    both = JntArrayVel(JntArray.FromArray(q), JntArray.FromArray(v))
    assert solver.JntToJacDot(both, J) == solver.JntToJacDot(both, twist) == 0
    slope = (jacobian(q + h * v) - jacobian(q - h * v)) / (2 * h)
    assert np.abs(J.ToArray() - slope).max() < 1e-7
    assert np.abs(J.ToArray() @ v - twist.ToArray()).max() < 1e-12


@pytest.mark.row("S3-124")
def test_what_is_left_out_stands_still():
    solver, J = ChainJntToJacDotSolver(arm()), Jacobian(2)
    both = JntArrayVel(Q, array(1, 2))
    assert solver.setLockedJoints([True, False]) == 0
    assert solver.JntToJacDot(both, J) == 0
    assert np.allclose(J.ToArray()[:, 0], [-1, 0, 0, 0, 0, 0], atol=1e-14)
    assert J.ToArray()[:, 1].tolist() == [0] * 6


@pytest.mark.row("S3-124")
def test_codes_and_names():
    solver = ChainJntToJacDotSolver(arm())
    assert solver.JntToJacDot(JntArrayVel(3), Twist()) == -4
    assert solver.JntToJacDot(JntArrayVel(2), Jacobian(1)) == -4
    assert solver.JntToJacDot(JntArrayVel(2), Twist(), 9) == -6
    assert (solver.HYBRID, solver.BODYFIXED, solver.INERTIAL) == (0, 1, 2)
    moves = JntArrayVel(array(0.3, 0.4), array(1, 2))
    found: list[list[float]] = []
    for name in ("Hybrid", "BodyFixed", "Inertial"):
        getattr(solver, f"set{name}Representation")()
        twist = Twist()
        assert solver.JntToJacDot(moves, twist) == 0
        found.append(twist.ToArray().round(12).tolist())
    assert found[0] != found[1] != found[2] != found[0]
    with pytest.raises(InputError, match="HYBRID"):
        solver.setRepresentation(7)
    with pytest.raises(TypeError):
        solver.JntToJacDot(moves, JntArray(2))


@pytest.mark.row("S3-124")
def test_the_twist_has_a_name_of_its_own():
    solver, both, one, other = ChainJntToJacDotSolver(arm()), JntArrayVel(Q, Q), Twist(), Twist()
    assert solver.JntToJacDot(both, one) == 0
    assert solver.JntToJacDot(q_in=both, jac_dot_q_dot=other, seg_nr=-1) == 0
    assert one.ToArray().tolist() == other.ToArray().tolist()
    assert one != Twist()
    with pytest.raises(TypeError, match="takes"):
        solver.JntToJacDot(both)


# dynamics solvers


@pytest.mark.row("S3-130", "S3-131")
def test_codes_dynamics_solvers():
    chain, out = arm(), JntArray(2)
    rne, dyn = ChainIdSolver_RNE(chain, GRAVITY), ChainDynParam(chain, GRAVITY)
    assert rne.CartToJnt(Q, Q, Q, [Wrench()], out) == -4
    assert rne.CartToJnt(Q, Q, Q, [Wrench()] * 2, JntArray(1)) == -4
    assert dyn.JntToGravity(JntArray(3), out) == dyn.JntToCoriolis(Q, JntArray(1), out) == -4
    assert dyn.JntToMass(Q, JntSpaceInertiaMatrix(3)) == -4
    chain.addChain(arm())
    assert dyn.JntToGravity(Q, out) == rne.CartToJnt(Q, Q, Q, [Wrench()] * 2, out) == -3


def test_without_mass_and_without_joints():
    made, out = Chain(), JntArray(1)
    made.addSegment(Segment("s", Joint(Joint.RotZ), Frame(Vector(1, 0, 0))))
    assert ChainDynParam(made, GRAVITY).JntToGravity(array(1), out) == 0
    assert out[0] == 0.0
    none = JntArray()
    assert ChainIdSolver_RNE(Chain(), GRAVITY).CartToJnt(none, none, none, [], none) == 0


@pytest.mark.parametrize(
    "call",
    [
        lambda: ChainIdSolver_RNE(arm(), 9.81),
        lambda: ChainDynParam(arm(), None),
        lambda: ChainDynParam(arm(), GRAVITY).JntToGravity(Q, Q.ToArray()),
        lambda: ChainIdSolver_RNE(arm(), GRAVITY).CartToJnt(Q, Q, Q, [1, 2], JntArray(2)),
        lambda: ChainIdSolver_RNE(arm(), GRAVITY).CartToJnt(Q, Q, 3, [], JntArray(2)),
    ],
)
def test_wrong_arguments(call: Any):
    with pytest.raises(TypeError):
        call()
