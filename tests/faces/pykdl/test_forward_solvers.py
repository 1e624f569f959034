from __future__ import annotations

import math

import pytest

from kdl_small import arm, array
from linkwork.errors import InputError
from linkwork.faces.pykdl import (
    ChainFkSolverPos_recursive,
    ChainFkSolverVel_recursive,
    Frame,
    FrameVel,
    JntArrayVel,
    Rotation,
    Twist,
    Vector,
)

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


@pytest.mark.row("S3-122")
def test_velocities():
    solver, moving = ChainFkSolverVel_recursive(arm()), FrameVel()
    assert solver.JntToCart(JntArrayVel(Q, array(1, 2)), moving) == 0
    assert moving.GetFrame() == Frame(Vector(0.5, 1, 0))
    assert moving.GetTwist() == Twist(Vector(-1, 1.5, 0), Vector(0, 0, 3))
    assert solver.JntToCart(JntArrayVel(Q, array(1, 2)), moving, 1) == 0
    assert moving.deriv() == Twist(Vector(-1, 0, 0), Vector(0, 0, 1))
    assert solver.JntToCart(JntArrayVel(3), moving) == -4
    assert solver.JntToCart(JntArrayVel(2), moving, 3) == -6


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
