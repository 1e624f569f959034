from __future__ import annotations

import pytest

from kdl_small import array
from linkwork.faces.pykdl import (
    Equal,
    Frame,
    FrameVel,
    JntArray,
    JntArrayVel,
    JntSpaceInertiaMatrix,
    Rotation,
    RotationVel,
    SetToZero,
    Twist,
    TwistVel,
    Vector,
    VectorVel,
    Wrench,
    addDelta,
    diff,
    dot,
    doubleVel,
)

V, W = Vector(1, 2, 3), Vector(4, 5, 7)


@pytest.mark.row("S3-012")
def test_dot():
    assert dot(V, W) == 35.0
    assert dot(Twist(V, W), Wrench(W, V)) == 70.0
    assert dot(VectorVel(V, W), V).t == 14.0
    assert dot(V, VectorVel(V, W)).grad == 35.0
    with pytest.raises(TypeError, match=r"dot takes two Vectors, .* not Vector, int"):
        dot(V, 3)


@pytest.mark.row("S3-015")
@pytest.mark.parametrize(
    ("plain", "moving"),
    [
        (V, VectorVel(V)),
        (Rotation.RotX(0.1), RotationVel(Rotation.RotX(0.1))),
        (Frame(V), FrameVel(Frame(V))),
        (Twist(V, W), TwistVel(Twist(V, W))),
    ],
)
def test_a_plain_value_equals_one_that_is_at_rest(plain: object, moving: object):
    assert Equal(plain, moving)
    assert Equal(moving, plain)
    assert plain == moving
    assert moving == plain
    with pytest.raises(TypeError):
        Equal(plain, Wrench())


def test_other_types_are_refused():
    for call, given in (
        (diff, (3, V)), (diff, (V, Rotation())), (diff, (V, 3)), (diff, (Twist(), Wrench())),
        (diff, (Frame(), V)), (addDelta, (3, V)), (addDelta, (Rotation(), Twist())),
        (addDelta, (Wrench(), Twist())), (addDelta, (Frame(), V)),
    ):  # fmt: skip
        with pytest.raises(TypeError, match=call.__name__):
            call(*given)


@pytest.mark.row("S3-110")
def test_set_to_zero():
    for value in (Vector(V), Twist(V, W), Wrench(V, W), VectorVel(V, W), TwistVel(Twist(V, W))):
        assert SetToZero(value) is None
        assert Equal(value, type(value)(), 1e-300)
    with pytest.raises(TypeError, match="SetToZero takes a Vector"):
        SetToZero(Frame())


@pytest.mark.row("S3-015")
@pytest.mark.parametrize("names", [("r1", "r2"), ("src1", "src2"), ("a", "b")])
def test_equal_takes_the_names_that_the_original_has(names: tuple[str, str]):
    pairs = [
        (V, V, W), (doubleVel(1, 2), doubleVel(1, 2), doubleVel(1, 3)),
        (VectorVel(V, W), VectorVel(V, W), VectorVel(W, V)), (VectorVel(V), V, W),
        (Rotation(), RotationVel(), Rotation.RotX(1)), (JntArray(2), JntArray(2), array(0, 1)),
        (JntArrayVel(2), JntArrayVel(2), JntArrayVel(array(0, 1))),
        (JntSpaceInertiaMatrix(2), JntSpaceInertiaMatrix(2), JntSpaceInertiaMatrix(3)),
    ]  # fmt: skip
    for one, same, other in pairs:
        assert Equal(**dict(zip(names, (one, same), strict=True)))
        assert not Equal(**dict(zip(names, (one, other), strict=True)), eps=1e-3)


def test_equal_takes_two():
    for given in ({}, {"r1": V}, {"src2": V}, {"a": V}, {"r1": V, "src2": V}, {"a": V, "r2": V}):
        with pytest.raises(TypeError, match="Equal takes two"):
            Equal(**given)
