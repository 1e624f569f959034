"""Numbers of joints in a row, tables of them, and inertias."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pytest

from kdl_small import array
from linkwork.errors import InputError, ShapeError
from linkwork.faces.pykdl import (
    Add,
    Divide,
    Equal,
    Frame,
    Jacobian,
    JntArray,
    JntArrayVel,
    JntSpaceInertiaMatrix,
    Multiply,
    MultiplyJacobian,
    RigidBodyInertia,
    Rotation,
    RotationalInertia,
    SetToZero,
    Subtract,
    Twist,
    Vector,
    changeBase,
    changeRefFrame,
    changeRefPoint,
)
from seeds import rng

# joint arrays


@pytest.mark.row("S3-115")
def test_elements():
    q = JntArray(3)
    q[1] = 2
    assert list(q) == [0.0, 2.0, 0.0]
    assert (q.rows(), q.columns(), len(q)) == (3, 1, 3)
    assert repr(q) == "[           0           2           0]"
    assert repr(JntArray()) == "[]"
    for k in (3, -1):
        with pytest.raises(IndexError):
            q[k]
    with pytest.raises(TypeError):
        q[0] = "1"


@pytest.mark.row("S3-115")
def test_copies_and_sizes():
    q = array(1, 2, 3)
    other = JntArray(q)
    q.resize(2)
    q.resize(4)
    assert list(q) == [1, 2, 0, 0]
    assert list(other) == [1, 2, 3]
    assert other == array(1, 2, 3 + 1e-7) and other != array(1, 2, 3.1) and other != q
    assert Equal(other, array(1, 2, 3.1), 0.2)
    for same in (copy.copy(other), copy.deepcopy(other), pickle.loads(pickle.dumps(other))):
        assert same == other and same is not other
    SetToZero(other)
    assert list(other) == [0, 0, 0]


def test_arrays():
    q = JntArray.FromArray([1, 2])
    taken = np.asarray(q)
    taken[0] = 5.0
    q.ToArray()[1] = 5.0
    assert list(q) == [1, 2]
    with pytest.raises(ShapeError):
        JntArray.FromArray([[1.0]])


@pytest.mark.row("S3-116")
def test_velocities():
    q = array(1, 2)
    both = JntArrayVel(q)
    q[0] = 5
    assert list(both.q) == [1, 2] and list(both.qdot) == [0, 0]
    live = both.q
    both.q[1] = 7
    assert live[1] == 7
    both.q = q
    assert list(live) == [5, 2]
    both.value()[0] = both.deriv()[0] = 9
    assert list(both.q) == [5, 2] and list(both.qdot) == [0, 0]
    assert Equal(both, JntArrayVel(array(5, 2), array(0, 0)))
    assert both != JntArrayVel(array(5, 2), array(0, 1))
    assert pickle.loads(pickle.dumps(both)) == copy.deepcopy(both) == both
    both.resize(3)
    assert list(both.qdot) == [0, 0, 0]
    SetToZero(both)
    assert list(both.q) == [0, 0, 0]
    with pytest.raises(ShapeError, match="3 and 2"):
        JntArrayVel(array(1, 2), array(1, 2, 3))


@pytest.mark.row("S3-135")
def test_sums_and_products():
    a, b, out = array(1, 2), array(3, 5), JntArray(2)
    Add(a, b, out)
    assert list(out) == [4, 7]
    Subtract(a, out, out)
    assert list(out) == [-3, -5]
    Multiply(a, 2, out)
    assert list(out) == [2, 4]
    Divide(b, 2, out)
    assert list(out) == [1.5, 2.5]
    Divide(array(1, -1), 0, out)
    assert list(out) == [np.inf, -np.inf]
    both = JntArrayVel(2)
    Add(JntArrayVel(a, b), JntArrayVel(b, a), both)
    assert list(both.q) == list(both.qdot) == [4, 7]


# jacobian


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


# inertias


MOMENTS = RotationalInertia(1, 2, 3, 0.1, 0.2, 0.3)
BODY = RigidBodyInertia(2.0, Vector(1, -2, 0.5), MOMENTS)


@pytest.mark.row("S3-108")
def test_rotational_inertia():
    one = MOMENTS.__copy__()
    assert one.ToArray().tolist() == [[1, 0.1, 0.2], [0.1, 2, 0.3], [0.2, 0.3, 3]]
    assert [one[k] for k in range(9)] == [1, 0.1, 0.2, 0.1, 2, 0.3, 0.2, 0.3, 3]
    assert RotationalInertia(Izz=2)[8] == 2.0
    assert RotationalInertia.Zero() == RotationalInertia()
    assert RotationalInertia.FromArray(one.ToArray()) == one
    one[1] = 7
    assert one[1] == 7.0
    one.Zero()
    assert one == RotationalInertia()


@pytest.mark.row("S3-109")
def test_a_body_without_mass():
    made, none = RigidBodyInertia(2.0, Vector(1, 2, 3)), RigidBodyInertia()
    assert none.getMass() == 0.0
    assert none.getCOG() == Vector()
    assert RigidBodyInertia.Zero() == none != made
    made.Zero()
    assert made == none


REFUSED: list[tuple[Any, type[Exception]]] = [
    (lambda: JntArray(1.5), TypeError),
    (lambda: JntArray(-1), InputError),
    (lambda: Add(array(1), 2, array(1)), TypeError),
    (lambda: Add(array(1), array(1, 2), array(1)), ShapeError),
    (lambda: hash(array(1)), TypeError),
    (lambda: jacobian()[6, 0], IndexError),
    (lambda: jacobian()[0, 2], IndexError),
    (lambda: jacobian()[0], TypeError),
    (lambda: jacobian().getColumn(2), IndexError),
    (lambda: jacobian().setColumn(0, Vector()), TypeError),
    (lambda: changeBase(jacobian(), FRAME, Jacobian(2)), TypeError),
    (lambda: changeBase(jacobian(), FRAME.M, Jacobian(3)), ShapeError),
    (lambda: MultiplyJacobian(jacobian(), array(1), Twist()), ShapeError),
    (lambda: MultiplyJacobian(jacobian(), 1, Twist()), TypeError),
    (lambda: MOMENTS * 3, TypeError),
    (lambda: MOMENTS + 3, TypeError),
    (lambda: "a" * MOMENTS, TypeError),
    (lambda: MOMENTS[9.0], TypeError),
    (lambda: MOMENTS[9], IndexError),
    (lambda: RotationalInertia("a"), TypeError),
    (lambda: RotationalInertia.FromArray(np.eye(4)), ShapeError),
    (lambda: BODY * 3, TypeError),
    (lambda: BODY + 3, TypeError),
    (lambda: "a" * BODY, TypeError),
    (lambda: BODY.RefPoint(3), TypeError),
    (lambda: RigidBodyInertia("a"), TypeError),
    (lambda: RigidBodyInertia(1, 2), TypeError),
    (lambda: RigidBodyInertia(1, Vector(), Vector()), TypeError),
]


@pytest.mark.parametrize(("call", "kind"), REFUSED)
def test_what_is_refused(call: Any, kind: type[Exception]):
    with pytest.raises(kind):
        call()


def test_batches():
    other = BODY.RefPoint(Vector(3, 2, 1))
    made = RigidBodyInertia.Stack([BODY, other])
    assert (FRAME * made).At(1) == FRAME * other
    assert made.getCOG().At(0) == BODY.getCOG()
