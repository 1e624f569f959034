"""Values of states."""

from __future__ import annotations

from typing import Any

import casadi
import numpy as np
import pytest

from linkwork.faces.trip_kinematics.mistakes import NotFiniteError
from linkwork.faces.trip_kinematics.values import copied, is_symbol, mapping_of, number


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
    with pytest.raises((TypeError, ValueError), match="x"):
        number(value, "x")


def test_symbols_stay():
    a = casadi.SX.sym("a")
    assert number(a, "x") is a
    assert is_symbol(a) and is_symbol(casadi.MX.sym("b"))
    assert not is_symbol(casadi.DM(1)) and not is_symbol(1.0)


def test_mappings_are_copied():
    before = {"a": {"b": 1.0}}
    found, deeper = mapping_of(before, "x"), copied(before)
    found["c"] = 1
    deeper["a"]["b"] = 2.0
    assert before == {"a": {"b": 1.0}}
    with pytest.raises(TypeError, match="x is a dict, not list"):
        mapping_of([1], "x")
