from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from kdl_small import arm, array
from linkwork.compile.numpy_abi import array_abi
from linkwork.errors import InputError
from linkwork.faces.pykdl import (
    Chain,
    ChainIkSolverVel_pinv,
    ChainIkSolverVel_pinv_givens,
    ChainIkSolverVel_pinv_nso,
    ChainIkSolverVel_wdls,
    ChainJntToJacSolver,
    Frame,
    Jacobian,
    JntArray,
    Joint,
    Rotation,
    Segment,
    Twist,
    Vector,
)

TWIST = Twist(Vector(1, 2, 3), Vector(0.1, 0.2, 0.3))
Q = array(0.2, 0.5, -0.4, 0.9, 0.3, -0.7, 0.1)


def seven() -> Chain:
    made = Chain()
    for k in range(7):
        joint = Joint(Joint.RotY if k % 2 else Joint.RotZ)
        made.addSegment(Segment(joint, Frame(Rotation.RotX(0.1 * k), Vector(0.1, 0.02 * k, 0.3))))
    return made


def columns(q: JntArray) -> np.ndarray:
    J = Jacobian(7)
    ChainJntToJacSolver(seven()).JntToJac(q, J)
    return J.ToArray()


def velocities(solver: Any, q: JntArray = Q) -> tuple[int, np.ndarray]:
    out = JntArray(q.rows())
    return solver.CartToJnt(q, TWIST, out), out.ToArray()


@pytest.mark.row("S3-125", "S3-126", "S3-128")
@pytest.mark.parametrize(
    "kind", [ChainIkSolverVel_pinv, ChainIkSolverVel_pinv_givens, ChainIkSolverVel_wdls]
)
def test_the_smallest_velocities_that_give_the_twist(kind: Any):
    code, found = velocities(kind(seven()))
    J = columns(Q)
    assert code == 0
    assert np.abs(J @ found - TWIST.ToArray()).max() < 1e-10
    assert np.abs(found - np.linalg.pinv(J) @ TWIST.ToArray()).max() < 1e-9


@pytest.mark.row("S3-125")
def test_a_singular_chain():
    code, found = velocities(ChainIkSolverVel_pinv(seven(), 1e-5), array(0, 0, 0, 0, 0, 0, 0))
    straight = columns(array(0, 0, 0, 0, 0, 0, 0))
    least = np.linalg.svd(straight)[1][-1]
    assert code == (100 if least < 1e-5 else 0)
    code, found = velocities(ChainIkSolverVel_pinv(seven(), 10.0))
    assert code == 100 and not found.any()
    few = ChainIkSolverVel_pinv(arm())  # with fewer than six joints nothing is said, as there
    assert velocities(few, array(0, 0))[0] == 0


@pytest.mark.row("S3-127")
def test_what_is_left_free_goes_to_a_position():
    solver, goal, weights = (
        ChainIkSolverVel_pinv_nso(seven()),
        array(*[0.5] * 7),
        array(*range(1, 8)),
    )
    assert velocities(solver)[0] == -4
    assert solver.setOptPos(JntArray(2)) == solver.setWeights(JntArray(2)) == -4
    assert solver.setOptPos(goal) == solver.setWeights(weights) == solver.setAlpha(0.3) == 0
    assert (solver.getAlpha(), solver.getOptPos(), solver.getWeights()) == (0.3, goal, weights)
    J, plain = columns(Q), velocities(ChainIkSolverVel_pinv(seven()))[1]
    code, found = velocities(solver)
    extra = found - plain
    assert code == 0
    assert np.abs(J @ extra).max() < 1e-12
    way = np.array(goal) - np.array(Q)
    assert extra @ (np.array(weights) * way) > 1e-6  # nearer to the position
    assert solver.setOptPos(Q) == 0
    assert np.abs(velocities(solver)[1] - plain).max() < 1e-12


@pytest.mark.row("S3-128")
def test_damping_and_weights():
    solver, J = ChainIkSolverVel_wdls(seven()), columns(Q)
    s = np.linalg.svd(J)[1]
    solver.setEps(10.0)
    solver.setLambda(0.2)
    code, found = velocities(solver)
    scaled = 0.2 * (1 - (s[-1] / 10) ** 2) ** 0.5
    assert code == 100
    assert solver.getLambdaScaled() == pytest.approx(scaled, rel=1e-12)
    assert solver.getSigmaMin() == pytest.approx(s[-1], rel=1e-9)
    assert solver.getNrZeroSigmas() == 7
    damped = J.T @ np.linalg.solve(J @ J.T + scaled**2 * np.eye(6), TWIST.ToArray())
    assert np.abs(found - damped).max() < 1e-10
    sigma = np.zeros(7)
    assert solver.getSigma(sigma) == 0 and sigma[5] == solver.getSigmaMin()
    assert solver.getSigma(np.zeros(2)) == -4
    assert (solver.getEps(), solver.getLambda(), solver.getSVDResult()) == (10.0, 0.2, 0)
    solver.setEps(1e-5)
    only = np.diag([1.0, 1, 1, 0, 0, 0])
    assert solver.setWeightTS(only) == solver.setWeightJS(np.diag(range(1, 8))) == 0
    assert solver.setWeightTS(np.eye(3)) == solver.setWeightJS(np.eye(3)) == -4
    found = velocities(solver)[1]
    weighted = np.diag(range(1, 8)) @ np.linalg.pinv(J[:3] @ np.diag(range(1, 8)))
    assert np.abs(found - weighted @ [1, 2, 3]).max() < 1e-10


@pytest.mark.row("S3-125")
def test_codes():
    chain = seven()
    solver = ChainIkSolverVel_pinv(chain)
    assert solver.CartToJnt(JntArray(2), TWIST, JntArray(7)) == -4
    assert solver.CartToJnt(Q, TWIST, JntArray(2)) == -4
    chain.addChain(arm())
    assert solver.CartToJnt(Q, TWIST, JntArray(7)) == -3 == solver.getError()
    with pytest.raises(TypeError):
        solver.CartToJnt(Q, Vector(), JntArray(7))
    with pytest.raises(InputError):
        velocities(ChainIkSolverVel_pinv(seven()), array(*[float("inf")] * 7))


@pytest.mark.row("S3-125", "S3-128")
@pytest.mark.parametrize("kind", [ChainIkSolverVel_pinv, ChainIkSolverVel_wdls])
def test_singular_values_decide_near_a_singular_position(kind: Any):
    twist, out = Twist(Vector(0.1, -0.2, 0.3), Vector(0, 0, 0.3)), JntArray(2)
    for angle, regular in ((1.0, True), (0.1, True), (1e-3, False), (1e-6, False), (0.0, False)):
        chain = slides(angle)
        solver = kind(chain)
        found = solver._regular(JntArray(2)._a, twist, 1e-5)
        assert (found is not None) == (regular and array_abi() is not None)
        assert solver.CartToJnt(JntArray(2), twist, out) in (0, 100)
        J = chain.core.robot.jacobian(np.zeros(2), "2")
        s = np.linalg.svd(J, compute_uv=False)
        expected = np.linalg.pinv(J, rcond=1e-5 / s[0]) @ twist.ToArray()
        assert np.abs(out._a - expected).max() < 1e-12 * max(1.0, np.abs(expected).max())
        if kind is ChainIkSolverVel_wdls:
            assert solver.getSigmaMin() == pytest.approx(s[-1], rel=1e-9, abs=1e-15)
            assert solver.getNrZeroSigmas() == int(angle < 1e-5)
            assert solver.getLambdaScaled() == 0.0


def slides(angle: float) -> Chain:
    """Two slides, this angle between them."""
    made = Chain()
    for turn in (0.0, angle):
        axis = Rotation.RotZ(turn).UnitX()
        made.addSegment(Segment(Joint("slide", Vector(), axis, Joint.TransAxis)))
    return made
