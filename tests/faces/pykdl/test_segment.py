from __future__ import annotations

import copy
import pickle

import pytest

from linkwork.faces.pykdl import (
    Frame,
    Joint,
    RigidBodyInertia,
    Rotation,
    Segment,
    Vector,
    addDelta,
)

TIP = Frame(Rotation.RotX(0.3), Vector(4, 5, 6))


@pytest.mark.row("S3-112")
def test_the_joint_moves_the_tip():
    joint = Joint("j", Vector(1, 2, 3), Vector(0, 1, 0), Joint.RotAxis)
    segment = Segment("s", joint, TIP)
    assert segment.pose(0.0) == segment.getFrameToTip() == TIP
    turn = Frame(Rotation.RotY(0.3), Vector(1, 2, 3)) * Frame(Vector(-1, -2, -3))
    assert segment.pose(0.3) == turn * TIP
    near = addDelta(segment.pose(0.3), segment.twist(0.3, 2.0), 1e-7)
    away = (segment.pose(0.3 + 2e-7).p - near.p).Norm()
    assert away < 1e-12
    assert segment.getJoint().getName() == "j"
    assert segment.getName() == "s"


@pytest.mark.row("S3-112")
def test_an_offset_does_not_move_a_segment():
    segment = Segment(Joint(Joint.RotZ, 2.0, 0.5), TIP)
    assert segment.pose(0.0) == TIP
    assert segment.pose(0.2) == Frame(Rotation.RotZ(0.4)) * TIP


@pytest.mark.row("S3-112")
def test_the_inertia_is_a_copy():
    segment = Segment("s", Joint(Joint.RotX), TIP, RigidBodyInertia(2.0))
    other = Segment(segment)
    segment.setInertia(RigidBodyInertia(5.0))
    assert segment.getInertia().getMass() == 5.0
    assert other.getInertia().getMass() == 2.0
    segment.getFrameToTip().p.x(99.0)
    assert segment.getFrameToTip() == TIP


def test_turned_round_it_leads_back():
    joint = Joint("j", Vector(1, 2, 3), Vector(1, 1, 0), Joint.RotAxis, 2.0, 0.4)
    segment = Segment("s", joint, TIP)
    back = segment.reversed("before", RigidBodyInertia())
    assert back.pose(0.7) * segment.pose(0.7) == Frame()
    assert back.getName() == "before"


def test_copies():
    segment = Segment("s", Joint("j", Joint.RotX), TIP, RigidBodyInertia(2.0))
    for other in (copy.copy(segment), copy.deepcopy(segment), pickle.loads(pickle.dumps(segment))):
        assert repr(other) == repr(segment)
        assert other.getInertia() == segment.getInertia()


@pytest.mark.parametrize("given", [(3,), ("s", 3), ("s", Joint(), 1), (TIP,)])
def test_wrong_arguments(given: tuple[object, ...]):
    with pytest.raises(TypeError, match="Segment takes"):
        Segment(*given)
