from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from kdl_small import arm, array
from linkwork.errors import InputError, ShapeError
from linkwork.faces.pykdl import (
    Chain,
    ChainFkSolverPos_recursive,
    ChainIkSolverPos_LMA,
    ChainIkSolverPos_NR,
    ChainIkSolverPos_NR_JL,
    ChainIkSolverVel_pinv,
    Frame,
    JntArray,
    Joint,
    Rotation,
    Segment,
    Vector,
    diff,
)
from linkwork.faces.pykdl.kdl_parser import treeFromFile


def panda() -> Any:
    return treeFromFile("panda")[1].getChain("link0", "link7")


CHAIN = panda()
Q = array(0.1, -0.5, 0.3, -2.0, 0.2, 1.6, 0.7)
START = array(0.4, -0.3, 0.3, -1.7, 0.2, 1.4, 0.7)


def pose(q: JntArray) -> Frame:
    frame = Frame()
    assert ChainFkSolverPos_recursive(CHAIN).JntToCart(q, frame) == 0
    return frame


def solvers() -> list[Any]:
    fk, ik = ChainFkSolverPos_recursive(CHAIN), ChainIkSolverVel_pinv(CHAIN)
    limits = array(*[-2.9] * 7), array(*[2.9] * 7)
    return [
        ChainIkSolverPos_LMA(CHAIN),
        ChainIkSolverPos_NR(CHAIN, fk, ik),
        ChainIkSolverPos_NR_JL(CHAIN, *limits, fk, ik),
    ]


@pytest.mark.sweep(1)
@pytest.mark.row("S3-129", "S3-132", "S3-133")
@pytest.mark.parametrize("k", range(3))
def test_the_frame_is_reached(k: int):
    solver, out = solvers()[k], JntArray(7)
    assert solver.CartToJnt(START, pose(Q), out) == solver.getError() == 0
    off = diff(pose(out), pose(Q)).ToArray()
    assert np.abs(off).max() < (1e-5, 1e-6, 1e-6)[k]
    assert np.abs(out.ToArray() - START.ToArray()).max() < 1.5  # it begins there


@pytest.mark.row("S3-129", "S3-132", "S3-133")
@pytest.mark.parametrize("k", range(3))
def test_what_is_out_of_reach_says_so(k: int):
    solver, out = solvers()[k], JntArray(7)
    assert solver.CartToJnt(START, Frame(Vector(5, 0, 0)), out) == -5
    assert np.isfinite(out.ToArray()).all()
    assert solver.strError(-5) == "The maximum number of iterations is exceeded"
    assert solver.CartToJnt(JntArray(2), Frame(), out) == -4
    assert solver.CartToJnt(START, Frame(), JntArray(2)) == -4


@pytest.mark.row("S3-133")
def test_limits_hold():
    fk, ik, out = ChainFkSolverPos_recursive(CHAIN), ChainIkSolverVel_pinv(CHAIN), JntArray(7)
    lower, upper = array(*(Q.ToArray() - 0.2)), array(*(Q.ToArray() + 0.2))
    solver = ChainIkSolverPos_NR_JL(CHAIN, lower, upper, fk, ik, 100, 1e-8)
    assert solver.CartToJnt(START, pose(Q), out) == 0
    assert (np.abs(out.ToArray() - Q.ToArray()) <= 0.2).all()
    assert np.abs(diff(pose(out), pose(Q)).ToArray()).max() < 1e-8
    beyond = ChainIkSolverPos_NR_JL(CHAIN, lower, JntArray(2), fk, ik)
    assert beyond.CartToJnt(START, pose(Q), out) == -4
    endless = ChainIkSolverPos_NR_JL(CHAIN, array(*[-1e9] * 7), array(*[1e9] * 7), fk, ik)
    assert endless.CartToJnt(START, pose(Q), out) == 0


@pytest.mark.row("S3-129")
def test_weights_of_zero_do_not_count():
    solver = ChainIkSolverPos_LMA(CHAIN, np.array([1, 1, 1, 0, 0, 0.0]), eps=1e-8)
    out, turned = JntArray(7), Frame(Rotation.RotX(3), pose(Q).p)
    assert solver.CartToJnt(START, turned, out) == 0
    assert (pose(out).p - turned.p).Norm() < 1e-8
    assert pose(out).M != turned.M
    flat = ChainIkSolverPos_LMA(arm(), [1, 1, 0, 0, 0, 0])
    found = JntArray(2)
    assert flat.CartToJnt(array(0.1, 0.2), Frame(Vector(0.7, 0.8, 5)), found) == 0


@pytest.mark.row("S3-129")
def test_a_chain_that_has_grown():
    chain, out = arm(), JntArray(2)
    solver = ChainIkSolverPos_LMA(chain)
    chain.addChain(arm())
    assert solver.CartToJnt(out, Frame(), out) == -3
    solver.updateInternalDataStructures()
    four = array(0.1, 0.2, 0.3, 0.4)
    goal = Frame()
    assert ChainFkSolverPos_recursive(chain).JntToCart(four, goal) == 0
    assert solver.CartToJnt(array(0, 0.1, 0.1, 0.1), goal, four) == 0


@pytest.mark.parametrize(
    ("call", "kind"),
    [
        (lambda: ChainIkSolverPos_LMA(3), TypeError),
        (lambda: ChainIkSolverPos_LMA(CHAIN, [1, 2]), ShapeError),
        (lambda: ChainIkSolverPos_LMA(CHAIN, [0] * 6), InputError),
        (lambda: ChainIkSolverPos_LMA(CHAIN, maxit=3), TypeError),
        (lambda: ChainIkSolverPos_NR(CHAIN, 1, 2), TypeError),
        (lambda: ChainIkSolverPos_NR_JL(CHAIN, 1, 2, 3, 4), TypeError),
        (lambda: ChainIkSolverPos_LMA(CHAIN).CartToJnt(Q, Vector(), Q), TypeError),
    ],
)
def test_refused(call: Any, kind: type[Exception]):
    with pytest.raises(kind):
        call()


@pytest.mark.row("S3-132", "S3-133")
def test_a_chain_that_nothing_moves():
    standing, none = Chain(), JntArray(0)
    for _ in range(2):
        fk, ik = ChainFkSolverPos_recursive(standing), ChainIkSolverVel_pinv(standing)
        tip = Frame()
        assert fk.JntToCart(none, tip) == 0
        for solver in (
            ChainIkSolverPos_LMA(standing),
            ChainIkSolverPos_NR(standing, fk, ik),
            ChainIkSolverPos_NR_JL(standing, none, none, fk, ik),
        ):
            assert solver.CartToJnt(none, tip, none) == 0
            assert solver.CartToJnt(none, Frame(Vector(1, 0, 0)) * tip, none) == -5
            assert solver.CartToJnt(none, tip * Frame(Rotation.RotX(0.1)), none) == -5
        standing.addSegment(Segment("foot", Joint(), Frame(Rotation.RotY(1.0), Vector(1, 2, 3))))


@pytest.mark.row("S3-133")
def test_limits_are_those_of_each_solver():
    fk, ik = ChainFkSolverPos_recursive(CHAIN), ChainIkSolverVel_pinv(CHAIN)
    goal, found = pose(Q), JntArray(7)
    for most in (2.9, 1.0, 2.9, 1.0):  # made anew, in turn
        limits = array(*[-most] * 7), array(*[most] * 7)
        code = ChainIkSolverPos_NR_JL(CHAIN, *limits, fk, ik).CartToJnt(START, goal, found)
        assert np.abs(found.ToArray()).max() <= most
        assert code == (0 if most > 2 else -5)
