"""Solvers for velocities and positions of joints."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kdl_chains import chain
from kdl_small import arm, array
from linkwork.errors import InputError, ShapeError
from linkwork.faces import pykdl
from linkwork.faces.pykdl import (
    Chain,
    ChainFkSolverPos_recursive,
    ChainIkSolverPos_LMA,
    ChainIkSolverPos_NR,
    ChainIkSolverPos_NR_JL,
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
    diff,
)
from linkwork.faces.pykdl.kdl_parser import treeFromFile

# ik velocity


TWIST = Twist(Vector(1, 2, 3), Vector(0.1, 0.2, 0.3))
Q = array(0.2, 0.5, -0.4, 0.9, 0.3, -0.7, 0.1)


def seven() -> Chain:
    made = Chain()
    for k in range(7):
        joint = Joint(Joint.RotY if k % 2 else Joint.RotZ)
        made.addSegment(Segment(joint, Frame(Rotation.RotX(0.1 * k), Vector(0.1, 0.02 * k, 0.3))))
    return made


def columns(q: JntArray, made: Chain | None = None) -> np.ndarray:
    J = Jacobian(q.rows())
    ChainJntToJacSolver(made or seven()).JntToJac(q, J)
    return J.ToArray()


def velocities(solver: Any, q: JntArray = Q) -> tuple[int, np.ndarray]:
    out = JntArray(q.rows())
    return solver.CartToJnt(q, TWIST, out), out.ToArray()


@pytest.mark.row("S3-125", "S3-126", "S3-128")
@pytest.mark.parametrize(
    "kind", [ChainIkSolverVel_pinv, ChainIkSolverVel_pinv_givens, ChainIkSolverVel_wdls]
)
@pytest.mark.parametrize("scaled", [False, True])
def test_the_smallest_velocities_that_give_the_twist(kind: Any, scaled: bool):
    made = chain(pykdl, "calls", 9, scaled=True) if scaled else seven()
    q = array(*np.resize(Q.ToArray(), made.getNrOfJoints()))
    code, found = velocities(kind(made), q)
    J = columns(q, made)
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
@pytest.mark.parametrize("scaled", [False, True])
def test_what_is_left_free_goes_to_a_position(scaled: bool):
    made = chain(pykdl, "calls", 9, scaled=True) if scaled else seven()
    n = made.getNrOfJoints()
    q, goal, weights = array(*np.resize(Q.ToArray(), n)), array(*[0.5] * n), array(*range(1, n + 1))
    solver = ChainIkSolverVel_pinv_nso(made)
    assert velocities(solver, q)[0] == -4
    assert solver.setOptPos(JntArray(2)) == solver.setWeights(JntArray(2)) == -4
    assert solver.setOptPos(goal) == solver.setWeights(weights) == solver.setAlpha(0.3) == 0
    assert (solver.getAlpha(), solver.getOptPos(), solver.getWeights()) == (0.3, goal, weights)
    J, plain = columns(q, made), velocities(ChainIkSolverVel_pinv(made), q)[1]
    code, found = velocities(solver, q)
    extra = found - plain
    assert code == 0
    assert np.abs(J @ extra).max() < 1e-12
    way = np.array(goal) - np.array(q)
    assert extra @ (np.array(weights) * way) > 1e-6  # nearer to the position
    assert solver.setOptPos(q) == 0
    assert np.abs(velocities(solver, q)[1] - plain).max() < 1e-12


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
    for angle in (1.0, 0.1, 1e-3, 1e-6, 0.0):
        chain = slides(angle)
        solver = kind(chain)
        assert solver.CartToJnt(JntArray(2), twist, out) in (0, 100)
        J = chain.core.robot.jacobian(np.zeros(2), "2")
        s = np.linalg.svd(J, compute_uv=False)
        expected = np.linalg.pinv(J, rcond=1e-5 / s[0]) @ twist.ToArray()
        assert np.abs(np.array(list(out)) - expected).max() < 1e-12 * max(
            1.0, np.abs(expected).max()
        )
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


# ik position


def panda() -> Any:
    return treeFromFile("panda")[1].getChain("link0", "link7")


CHAIN = panda()
ZERO = array(0.1, -0.5, 0.3, -2.0, 0.2, 1.6, 0.7)
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
    assert solver.CartToJnt(START, pose(ZERO), out) == solver.getError() == 0
    off = diff(pose(out), pose(ZERO)).ToArray()
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
    lower, upper = array(*(ZERO.ToArray() - 0.2)), array(*(ZERO.ToArray() + 0.2))
    solver = ChainIkSolverPos_NR_JL(CHAIN, lower, upper, fk, ik, 100, 1e-8)
    assert solver.CartToJnt(START, pose(ZERO), out) == 0
    assert (np.abs(out.ToArray() - ZERO.ToArray()) <= 0.2).all()
    assert np.abs(diff(pose(out), pose(ZERO)).ToArray()).max() < 1e-8
    beyond = ChainIkSolverPos_NR_JL(CHAIN, lower, JntArray(2), fk, ik)
    assert beyond.CartToJnt(START, pose(ZERO), out) == -4
    endless = ChainIkSolverPos_NR_JL(CHAIN, array(*[-1e9] * 7), array(*[1e9] * 7), fk, ik)
    assert endless.CartToJnt(START, pose(ZERO), out) == 0


@pytest.mark.row("S3-129")
def test_weights_of_zero_do_not_count():
    solver = ChainIkSolverPos_LMA(CHAIN, np.array([1, 1, 1, 0, 0, 0.0]), eps=1e-8)
    out, turned = JntArray(7), Frame(Rotation.RotX(3), pose(ZERO).p)
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
        (
            lambda: ChainIkSolverPos_LMA(CHAIN).CartToJnt(ZERO, Vector(), ZERO),
            TypeError,
        ),
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
def test_limits_are_those_of_each_solver_and_compile_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    fk, ik = ChainFkSolverPos_recursive(CHAIN), ChainIkSolverVel_pinv(CHAIN)
    goal, found = pose(ZERO), JntArray(7)
    for most in (2.9, 1.0, 2.8, 1.1):  # made anew, in turn
        limits = array(*[-most] * 7), array(*[most] * 7)
        code = ChainIkSolverPos_NR_JL(CHAIN, *limits, fk, ik).CartToJnt(START, goal, found)
        assert np.abs(found.ToArray()).max() <= most
        assert code == (0 if most > 2 else -5)
        monkeypatch.setenv("LINKWORK_CACHE", str(tmp_path))  # what is compiled from now on
    assert not [*tmp_path.iterdir()]
    with pytest.raises(InputError, match="leaves no position of joint 'joint 1'"):
        ChainIkSolverPos_NR_JL(CHAIN, *limits[::-1], fk, ik).CartToJnt(START, goal, found)
