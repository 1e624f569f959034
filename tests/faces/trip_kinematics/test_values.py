"""Values of states, arrays of them, errors, and classes that stand for their modules."""

from __future__ import annotations

import pickle
from typing import Any

import casadi
import numpy as np
import pytest

from linkwork.errors import InputError, LinkworkError
from linkwork.faces import trip_kinematics
from linkwork.faces.trip_kinematics import KinematicGroup, Robot, Transformation
from linkwork.faces.trip_kinematics import values as mistakes
from linkwork.faces.trip_kinematics.values import (
    NotFiniteError,
    as_array,
    as_block,
    is_symbol,
    mapping_of,
    number,
)

# values


@pytest.mark.parametrize(
    "value",
    [
        2, 2.0, True + 1, np.float32(2), np.array(2), np.array([2.0]), np.array([[2]]), [2.0],
        casadi.DM(2), casadi.SX(2), np.array([casadi.SX(2)], object), np.array([2.0], object),
    ],
)  # fmt: skip
def test_what_holds_one_number(value: Any):
    found = number(value, "x")
    assert type(found) is float and found == 2.0


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf, [np.nan], casadi.DM(np.inf)])
def test_what_is_not_finite(value: Any):
    with pytest.raises(NotFiniteError, match="x must be finite"):
        number(value, "x")


@pytest.mark.parametrize(
    "value", [[], [1, 2], np.eye(2), casadi.MX.sym("m"), casadi.SX.sym("m", 2)]
)
def test_what_is_not_one_number(value: Any):
    with pytest.raises(ValueError, match="x takes"):
        number(value, "x")


@pytest.mark.parametrize("value", ["a", None, {}, object()])
def test_what_is_no_number(value: Any):
    with pytest.raises(TypeError, match="x takes a number"):
        number(value, "x")


def test_symbols_stay():
    a = casadi.SX.sym("a")
    assert number(a, "x") is a
    assert is_symbol(a) and is_symbol(casadi.MX.sym("b"))
    assert not is_symbol(casadi.DM(1)) and not is_symbol(1.0)


def test_mappings_are_copied():
    before = {"a": 1.0}
    mapping_of(before, "x")["c"] = 1
    assert before == {"a": 1.0}
    with pytest.raises(TypeError, match="x is a dict, not list"):
        mapping_of([1], "x")


# mistakes


@pytest.mark.parametrize(
    ("error", "kinds"),
    [
        (mistakes.WrongTypeError("x"), (TypeError,)),
        (mistakes.UnknownKeyError("joint", "x", ["a", "b"]), (KeyError, ValueError, InputError)),
        (mistakes.NameClashError("x"), (KeyError,)),
        (mistakes.MappingError("x"), (RuntimeError, ValueError)),
        (mistakes.NotFiniteError("x"), (ValueError,)),
        (mistakes.StaticGroupError("x"), (RuntimeError,)),
        (mistakes.TipError("x"), (RuntimeError, ValueError, KeyError)),
        (mistakes.NoSolution("x"), (RuntimeError,)),
        (mistakes.SequenceError("x"), (AssertionError, ValueError)),
    ],
)
def test_kinds(error: Exception, kinds: tuple[type, ...]):
    assert isinstance(error, LinkworkError)
    assert all(isinstance(error, kind) for kind in kinds)
    again = pickle.loads(pickle.dumps(error))
    assert (type(again), str(again)) == (type(error), str(error))
    assert not str(error).startswith(("'", '"'))


def test_all_names_are_listed():
    error = mistakes.UnknownKeyError("joint", "x", ["a", "b"])
    assert str(error) == "no joint named 'x'; there are: 'a', 'b'"
    many = mistakes.UnknownKeyError("joint", "x" * 200, [f"j{k}" for k in range(60)])
    assert str(many).endswith("'j39', ...") and len(str(many)) < 500
    assert mistakes.listed([]) == "none"


# matrices


def test_there_and_back():
    a = casadi.SX.sym("a")
    block = casadi.SX(2, 3)
    block[0, 1], block[1, 2] = a, 2.0
    found = as_array(block)
    assert found.dtype == object and found.shape == (2, 3)
    assert (found[0, 0], found[1, 2]) == (0.0, 2.0)
    f = casadi.Function("f", [a], [as_block(found)])
    np.testing.assert_array_equal(np.array(f(5)), [[0, 5, 0], [0, 0, 2]])
    assert as_array(casadi.vertcat(a, 1)).shape == (2,)
    assert as_block(block) is block


# both


@pytest.mark.row("S1-001", "S1-020", "S1-040")
def test_names_of_the_module_are_found_by_the_class():
    assert trip_kinematics.Robot.Robot is Robot
    assert trip_kinematics.Robot.forward_kinematics is trip_kinematics.forward_kinematics
    assert trip_kinematics.KinematicGroup.KinematicGroup is KinematicGroup
    assert trip_kinematics.KinematicGroup.Transformation is Transformation
    assert trip_kinematics.KinematicGroup.OpenKinematicGroup.__name__ == "OpenKinematicGroup"
    assert trip_kinematics.Transformation.Transformation is Transformation


def test_objects_do_not_have_them():
    t = Transformation("t", {})
    assert not hasattr(t, "array_find")
    assert not hasattr(Transformation, "cast")
    with pytest.raises(AttributeError, match="'Robot' has no attribute 'np'"):
        Robot.np  # noqa: B018  the look-up is what raises
