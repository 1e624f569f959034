"""Copies, batches, numbers, indices and errors: what all value types share."""

from __future__ import annotations

import copy
import math
import pickle
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from linkwork.errors import ShapeError
from linkwork.faces import pykdl
from linkwork.faces.pykdl import Equal, Frame, Rotation, Twist, Vector, Wrench
from linkwork.faces.pykdl.values import ElementError, Value, WrongTypeError

# values


V = Vector(1 / 3, 2, 3)
R = Rotation.RPY(0.1, 0.2, 0.3)
T = Twist(V, V)
ALL = [
    V, R, Frame(R, V), T, Wrench(V, V), pykdl.doubleVel(1 / 3, 2), pykdl.VectorVel(V, V),
    pykdl.RotationVel(R, V), pykdl.FrameVel(Frame(R, V), T), pykdl.TwistVel(T, T),
    pykdl.RotationalInertia(1, 2, 3, 0.1, 0.2, 1 / 3),
    pykdl.RigidBodyInertia(2, V, pykdl.RotationalInertia(1, 2, 3)),
]  # fmt: skip
EACH = pytest.mark.parametrize("value", ALL, ids=lambda value: type(value).__name__)


@pytest.mark.row("S3-017")
@EACH
def test_copies_and_pickles_keep_every_bit(value: Value):
    made = [copy.copy(value), copy.deepcopy(value)]
    made += [pickle.loads(pickle.dumps(value, p)) for p in range(2, 6)]
    for other in made:
        assert type(other) is type(value)
        assert other is not value
        assert other.__getstate__() == value.__getstate__()
        assert other == value


@pytest.mark.row("S3-017")
def test_copies_share_no_parts():
    f = Frame(R, V)
    other, deep = copy.copy(f), copy.deepcopy([f, f])
    other.p[0] = 9.0
    assert f.p[0] == 1 / 3
    assert deep[0].p is not f.p


@EACH
def test_nothing_can_be_hashed_and_nothing_else_is_equal(value: Value):
    with pytest.raises(TypeError, match="unhashable"):
        hash(value)
    assert value != 3
    assert not value == "a"
    assert (value == copy.copy(value)) is True
    assert (value != copy.copy(value)) is False


@EACH
def test_batches_are_made_of_values_and_taken_apart(value: Value):
    batch: Any = type(value).Stack([value, value, value])
    assert batch.shape == (3,)
    assert batch.At(1) == value
    assert batch.At(1).shape == ()
    assert batch.At(slice(0, 2)).shape == (2,)
    assert Equal(batch, batch).tolist() == [True] * 3
    assert (batch == batch).tolist() == [True] * 3
    assert "a batch of shape (3,)" in repr(batch)
    assert pickle.loads(pickle.dumps(batch)).shape == (3,)
    both = type(value).Stack([batch, batch])
    assert both.shape == (2, 3)
    with pytest.raises(IndexError):
        batch.At(3)


def test_what_cannot_be_stacked_or_selected():
    with pytest.raises(TypeError, match=r"Vector\.Stack takes values of type Vector, not Twist"):
        Vector.Stack([V, T])  # pyright: ignore
    with pytest.raises(ShapeError, match="one value at least"):
        Vector.Stack([])
    with pytest.raises(ShapeError, match=r"\(2,\), \(3,\)"):
        Vector.Stack([Vector.FromArray(np.ones((k, 3))) for k in (2, 3)])
    with pytest.raises(TypeError, match="one value and no batch"):
        V.At(0)


def test_numpy_reads_values():
    assert np.asarray(V).tolist() == [1 / 3, 2.0, 3.0]
    assert np.array(V, dtype=np.float32).dtype == np.float32
    assert np.asarray(Frame(R, V)).shape == (4, 4)
    assert isinstance(np.ones(3) * V, Vector)
    assert (np.ones(3) * V).shape == (3,)


def test_zero_has_a_documentation():
    assert "zero value" in Vector.Zero.__doc__
    assert "zero value" in V.Zero.__doc__


def test_operators_that_are_not_there_say_what_there_is():
    for code, said in (
        ("V + 3", "Vector + int is not defined: Vector + takes a Vector"),
        ("3 + V", r"int \+ Vector is not defined: Vector \+ takes a Vector"),
        ("R + 3", r"unsupported operand"),
        ("R * None", "Rotation . None is not defined: Rotation . takes a Vector, a Twist"),
        ("T / V", "Twist / Vector is not defined: Twist / takes a number"),
        ("3 / V", "int / Vector is not defined: Vector / takes a number"),
    ):
        with pytest.raises(TypeError, match=said.replace("Vector + ", r"Vector \+ ")):
            eval(code)


def test_another_class_may_know_what_to_do():
    class Other:
        def __radd__(self, left: object) -> str:
            return "mine"

        def __rmul__(self, left: object) -> str:
            return "mine"

    assert V + Other() == "mine"  # pyright: ignore
    assert V * Other() == "mine"  # pyright: ignore
    assert Frame() * Other() == "mine"  # pyright: ignore


@EACH
@pytest.mark.row("S3-017")
def test_what_messages_carry_may_be_set(value: Value):
    value = copy.copy(value)
    for name in ("header", "frame_id", "child_frame_id", "stamp"):
        assert not hasattr(value, name)
        setattr(value, name, {"of": name})
        assert getattr(value, name) == {"of": name}
    for other in (copy.copy(value), copy.deepcopy(value), pickle.loads(pickle.dumps(value))):
        assert not hasattr(other, "header")
        assert Equal(other, value)
    value.header = None
    del value.header
    with pytest.raises(AttributeError):
        value.colour = "red"  # pyright: ignore[reportAttributeAccessIssue] -- that is the point


# numbers and indices


@pytest.mark.row("S3-002")
@pytest.mark.parametrize(
    "given", [3, 3.0, True + 2, np.float32(3), np.int8(3), np.array(3.0), Fraction(3), Decimal(3)]
)
def test_numbers_become_floats(given: Any):
    taken = Vector(0, given, 0)[1]
    assert taken == 3.0
    assert type(taken) is float


@pytest.mark.row("S3-002")
@pytest.mark.parametrize(
    "given", ["3", b"3", None, 3j, [3], (3,), {}, 10**400, np.array(["a"]), np.array([1j]), T]
)
def test_anything_else_is_refused(given: Any):
    for call in (lambda: Vector(given, 2, 3), lambda: Vector(1, given), lambda: V.x(given)):
        with pytest.raises(WrongTypeError, match="Vector"):
            call()


def test_indices():
    for code, kind, said in (
        ("V[3]", IndexError, "elements of a Vector have the indices 0 to 2, not 3"),
        ("V[-1]", IndexError, "indices 0 to 2, not -1"),
        ("V[1.0]", TypeError, "have an integer 0 to 2, not float"),
        ("T[6]", IndexError, "indices 0 to 5"),
        ("R[3, 0]", IndexError, r"rows\) have the indices 0 to 2"),
        ("R[0, 1.0]", TypeError, "integer 0 to 2"),
        ("R[0,]", TypeError, "have two indices"),
        ("Frame(V)[0, 4]", IndexError, r"columns\) have the indices 0 to 3"),
    ):
        with pytest.raises(kind, match=said) as caught:
            eval(code)
        assert isinstance(caught.value, (ElementError, WrongTypeError))
    assert R[np.int8(1), 2] == R[1, 2]


@pytest.mark.row("S3-015")
def test_equal_takes_eps():
    a, b = Vector(1, 2, 3), Vector(1, 2, 3.5)
    assert not Equal(a, b)
    assert Equal(a, b, 0.6)
    assert not Equal(a, b, 0.5)
    assert not Equal(a, a, 0.0)
    assert Equal(a, b, eps=0.6)


def test_close_is_decided_by_each_number():
    a = [float(k) for k in range(12)]
    for k in range(12):
        for off, near in ((0.999e-6, True), (1.001e-6, False), (4e-6, False), (1.0, False)):
            b = twist_vel([x + off * (j == k) for j, x in enumerate(a)])
            assert Equal(twist_vel(a), b) is near
    assert Equal(twist_vel(a), twist_vel([x + 0.99e-6 for x in a])) is True
    for odd in (math.inf, math.nan):
        assert Vector(odd, 0, 0) != Vector(odd, 0, 0)
    pair = Vector(np.array([1.0, 2.0]), 0, 0)
    assert Equal(Vector(np.ones(2), 0, 0), pair).tolist() == [True, False]


def twist_vel(numbers: list[float]) -> Any:
    first, second = (pykdl.Twist.FromArray(numbers[k : k + 6]) for k in (0, 6))
    return pykdl.TwistVel(first, second)
