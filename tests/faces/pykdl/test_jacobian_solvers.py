from __future__ import annotations

import math

import numpy as np
import pytest

from kdl_chains import chain
from kdl_small import arm, array
from linkwork.errors import InputError
from linkwork.faces import pykdl
from linkwork.faces.pykdl import (
    ChainJntToJacDotSolver,
    ChainJntToJacSolver,
    Jacobian,
    JntArray,
    JntArrayVel,
    Twist,
)
from seeds import rng

Q = array(math.pi / 2, -math.pi / 2)
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
        return made.core.behind(8, "jacobian", reference=names[representation])(at)

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
