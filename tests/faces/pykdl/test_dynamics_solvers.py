from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from kdl_small import GRAVITY, arm, array
from linkwork.faces.pykdl import (
    Chain,
    ChainDynParam,
    ChainIdSolver_RNE,
    Frame,
    JntArray,
    JntSpaceInertiaMatrix,
    Joint,
    RigidBodyInertia,
    Segment,
    Vector,
    Wrench,
)

Q = array(math.pi / 2, -math.pi / 2)  # the upper arm up, the lower one level


@pytest.mark.row("S3-131")
def test_parts_of_the_equation_of_motion():
    solver, out, H = ChainDynParam(arm(), GRAVITY), JntArray(2), JntSpaceInertiaMatrix(2)
    assert solver.JntToGravity(Q, out) == 0
    assert list(out) == pytest.approx([5, 5], abs=1e-13)
    assert solver.JntToMass(Q, H) == 0
    assert np.allclose(H.ToArray(), [[3.25, 0.25], [0.25, 0.25]], rtol=0, atol=1e-14)
    assert solver.JntToCoriolis(Q, array(1, 2), out) == 0
    # m l1 l2 sin(q2) (-(2 v1 v2 + v2^2), v1^2) with m l1 l2 = 0.5 and sin(q2) = -1
    assert list(out) == pytest.approx([4.0, -0.5], abs=1e-13)


@pytest.mark.row("S3-130")
def test_inverse_dynamics_is_their_sum():
    v, a = array(1, 2), array(0.3, -0.4)
    solver, out, other = ChainIdSolver_RNE(arm(), GRAVITY), JntArray(2), JntArray(2)
    assert solver.CartToJnt(Q, v, a, [Wrench(), Wrench()], out) == 0
    wanted = np.array([[3.25, 0.25], [0.25, 0.25]]) @ [0.3, -0.4] + [5 + 4, 5 - 0.5]
    assert list(out) == pytest.approx(wanted.tolist(), abs=1e-13)
    push = Wrench(Vector(0, 7, 0), Vector(0, 0, 1))  # on the tip, whose axes are those of the base
    assert solver.CartToJnt(Q, v, a, [Wrench(), push], other) == 0
    change = [x - y for x, y in zip(other, out, strict=True)]
    assert change == pytest.approx([-(7 * 0.5 + 1), -(7 * 0.5 + 1)], abs=1e-13)


@pytest.mark.row("S3-130")
def test_wrenches_are_in_the_axes_of_their_segments():
    still, out = JntArray(2), JntArray(2)
    solver = ChainIdSolver_RNE(arm(), Vector())
    sideways = Wrench(Vector(0, 7, 0), Vector())  # on the end of the upper arm, across it
    assert solver.CartToJnt(Q, still, still, [sideways, Wrench()], out) == 0
    assert list(out) == pytest.approx([-7, 0], abs=1e-13)


@pytest.mark.row("S3-130", "S3-131")
def test_rotors_and_scales():
    made = Chain()
    joint = Joint("j", Joint.RotZ, 2.0, 0.0, 5.0)
    made.addSegment(Segment("s", joint, Frame(Vector(1, 0, 0)), RigidBodyInertia(3.0)))
    H, out = JntSpaceInertiaMatrix(1), JntArray(1)
    assert ChainDynParam(made, Vector()).JntToMass(array(0.3), H) == 0
    assert H[0, 0] == pytest.approx(2 * 3 * 2 + 5, rel=1e-15)
    solver = ChainIdSolver_RNE(made, Vector())
    assert solver.CartToJnt(array(0.3), array(0), array(2), [Wrench()], out) == 0
    assert out[0] == pytest.approx(34, rel=1e-15)


@pytest.mark.row("S3-130", "S3-131")
def test_codes():
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
