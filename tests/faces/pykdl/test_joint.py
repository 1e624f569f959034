from __future__ import annotations

import copy
import math
import pickle

import pytest

from linkwork.errors import InputError
from linkwork.faces.pykdl import Frame, Joint, Rotation, Twist, Vector


@pytest.mark.row("S3-111")
def test_types_about_the_own_axes():
    for k, axis in enumerate("XYZ"):
        turn, slide = Joint(getattr(Joint, f"Rot{axis}")), Joint(getattr(Joint, f"Trans{axis}"))
        expected = Frame(getattr(Rotation, f"Rot{axis}")(0.3))
        assert turn.pose(0.3) == expected
        assert slide.pose(0.3).p[k] == 0.3
        assert turn.twist(2.0)[3 + k] == slide.twist(2.0)[k] == 2.0
        assert turn.getTypeName() == f"Rot{axis}"


@pytest.mark.row("S3-111")
def test_an_axis_through_a_point():
    joint = Joint("a", Vector(1, 2, 3), Vector(0, 2, 0), Joint.RotAxis)
    assert joint.JointAxis() == Vector(0, 1, 0)
    assert joint.JointOrigin() == Vector(1, 2, 3)
    assert joint.pose(0.3) == Frame(Rotation.RotY(0.3), Vector(1, 2, 3))
    slide = Joint(Vector(1, 2, 3), Vector(0, 2, 0), Joint.TransAxis)
    assert slide.pose(0.3) == Frame(Vector(1, 2.3, 3))
    assert slide.getName() == "NoName"
    assert slide.twist(1.5) == Twist(Vector(0, 1.5, 0), Vector())


@pytest.mark.row("S3-111")
def test_scale_and_offset():
    joint = Joint("z", Joint.RotZ, 2.0, 0.5)
    assert joint.pose(0.3) == Frame(Rotation.RotZ(1.1))
    assert joint.twist(2.0).rot == Vector(0, 0, 4)


@pytest.mark.row("S3-111")
def test_fixed_and_shown():
    assert Joint().getType() is Joint.Fixed
    assert Joint().pose(3.0) == Frame()
    assert repr(Joint("n")).startswith("n:[Fixed, axis: [           0,")
    assert str(Joint.RotX) == "JointType.RotX"
    assert Joint.RotX == 1 and Joint.JointType.Fixed == 8


def test_copies():
    joint = Joint("a", Vector(1, 2, 3), Vector(0, 2, 0), Joint.RotAxis, 2.0)
    for other in (Joint(joint), copy.deepcopy(joint), pickle.loads(pickle.dumps(joint))):
        assert repr(other) == repr(joint)
        assert other.pose(0.2) == joint.pose(0.2)


@pytest.mark.parametrize("given", [(Joint.RotAxis,), ("x", Vector(), Vector(0, 0, 1), Joint.RotZ)])
def test_types_that_do_not_fit(given: tuple[object, ...]):
    with pytest.raises(RuntimeError, match="axis"):
        Joint(*given)


@pytest.mark.parametrize("given", [(3,), ("x", 3), (Vector(),), (Joint.RotX, [1.0]), (1, 2, 3)])
def test_wrong_arguments(given: tuple[object, ...]):
    with pytest.raises(TypeError, match=r"Joint takes|scale is"):
        Joint(*given)


@pytest.mark.parametrize("axis", [(0, 0, 0), (math.nan, 0, 0), (math.inf, 0, 0)])
def test_an_axis_without_direction(axis: tuple[float, float, float]):
    with pytest.raises(InputError, match="not zero"):
        Joint(Vector(), Vector(*axis), Joint.RotAxis)
