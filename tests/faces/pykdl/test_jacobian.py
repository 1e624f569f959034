from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest

from kdl_small import array
from linkwork.errors import ShapeError
from linkwork.faces.pykdl import (
    Frame,
    Jacobian,
    JntSpaceInertiaMatrix,
    MultiplyJacobian,
    Rotation,
    SetToZero,
    Twist,
    Vector,
    changeBase,
    changeRefFrame,
    changeRefPoint,
)
from seeds import rng

NUMBERS = rng("jacobians").normal(size=(6, 2))
FRAME = Frame(Rotation.RPY(0.1, 0.2, 0.3), Vector(1, 2, 3))


def jacobian() -> Jacobian:
    return Jacobian.FromArray(NUMBERS)


@pytest.mark.row("S3-117")
def test_elements_and_columns():
    J = jacobian()
    assert (J.rows(), J.columns()) == (6, 2)
    assert J[4, 1] == NUMBERS[4, 1]
    assert J.getColumn(1).ToArray().tolist() == NUMBERS[:, 1].tolist()
    J.setColumn(0, Twist(Vector(1, 2, 3), Vector(4, 5, 6)))
    J[5, 0] = 7.0
    assert J.ToArray()[:, 0].tolist() == [1, 2, 3, 4, 5, 7]
    assert repr(Jacobian(1)) == "[" + "           0\n" * 6 + "]"
    J.resize(3)
    assert J.ToArray()[:, 2].tolist() == [0] * 6 and J[5, 0] == 7.0
    assert copy.deepcopy(J) == J != jacobian()


@pytest.mark.row("S3-117", "S3-119")
@pytest.mark.parametrize(
    ("by", "method", "function", "column"),
    [
        (FRAME.M, "changeBase", changeBase, lambda t: FRAME.M * t),
        (FRAME.p, "changeRefPoint", changeRefPoint, lambda t: t.RefPoint(FRAME.p)),
        (FRAME, "changeRefFrame", changeRefFrame, lambda t: FRAME * t),
        (FRAME, "changeRefFrame", SetToZero, lambda t: FRAME * t),
    ],
)
def test_columns_are_changed_as_twists(by: Any, method: str, function: Any, column: Any):
    J, out = jacobian(), Jacobian(2)
    function(J, by, out)
    getattr(J, method)(by)
    for k in (0, 1):
        assert out.getColumn(k) == J.getColumn(k) == column(jacobian().getColumn(k))


@pytest.mark.row("S3-118")
def test_a_matrix_of_joints_by_joints():
    H = JntSpaceInertiaMatrix(2)
    H[0, 1] = 3
    assert H.ToArray().tolist() == [[0, 3], [0, 0]]
    assert (H.rows(), H.columns()) == (2, 2)
    assert repr(H) == "[           0           3\n           0           0\n]"
    assert repr(JntSpaceInertiaMatrix()) == "[]"
    other = JntSpaceInertiaMatrix(H)
    SetToZero(H)
    assert other[0, 1] == 3 and H == JntSpaceInertiaMatrix(2)


@pytest.mark.row("S3-119")
def test_velocities_times_columns():
    twist = Twist()
    MultiplyJacobian(jacobian(), array(2, 3), twist)
    assert np.allclose(twist.ToArray(), NUMBERS @ [2, 3], rtol=0, atol=1e-14)


@pytest.mark.parametrize(
    ("call", "kind"),
    [
        (lambda: jacobian()[6, 0], IndexError),
        (lambda: jacobian()[0, 2], IndexError),
        (lambda: jacobian()[0], TypeError),
        (lambda: jacobian().getColumn(2), IndexError),
        (lambda: jacobian().setColumn(0, Vector()), TypeError),
        (lambda: changeBase(jacobian(), FRAME, Jacobian(2)), TypeError),
        (lambda: changeBase(jacobian(), FRAME.M, Jacobian(3)), ShapeError),
        (lambda: MultiplyJacobian(jacobian(), array(1), Twist()), ShapeError),
        (lambda: MultiplyJacobian(jacobian(), 1, Twist()), TypeError),
    ],
)
def test_refused(call: Any, kind: type[Exception]):
    with pytest.raises(kind):
        call()
