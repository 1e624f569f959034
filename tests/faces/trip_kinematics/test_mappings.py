"""Functions between the two states of a group."""

from __future__ import annotations

import copy
from typing import Any

import casadi
import pytest

from linkwork.faces.trip_kinematics.mappings import (
    OpenMapping,
    UserMapping,
    actuated_key,
    actuated_state,
    checked_keys,
    differ,
    merged,
    virtual_state,
)
from linkwork.faces.trip_kinematics.mistakes import MappingError, NotFiniteError, UnknownKeyError

KEYS = {"a": ("rx", "rz"), "b": ("ty",)}


def test_open_mappings_are_each_others_inverse():
    state = {"a": {"rx": 1.0, "rz": 2.0}, "b": {"ty": 3.0}}
    flat = OpenMapping().actuated(state, ())
    assert flat == {"a_rx": 1.0, "a_rz": 2.0, "b_ty": 3.0}
    assert OpenMapping().virtual(flat, KEYS) == state
    assert actuated_key("a", "rx") == "a_rx"


def test_keys_in_any_order():
    assert checked_keys({"b": 1, "a": 2}, ["a", "b"], "it") == {"b": 1, "a": 2}
    found = virtual_state({"b": {"ty": 1}, "a": {"rz": 2, "rx": 3}}, KEYS, "it")
    assert found == {"a": {"rx": 3.0, "rz": 2.0}, "b": {"ty": 1.0}}
    assert list(found["a"]) == ["rx", "rz"]
    assert list(actuated_state({"y": 1, "x": 2}, ["x", "y"], "it")) == ["x", "y"]


@pytest.mark.parametrize(
    ("found", "said"),
    [
        ({"a": {"rx": 0, "rz": 0}}, "gave the keys 'a'; the state has 'a', 'b'"),
        ({"a": {"rx": 0}, "b": {"ty": 0}}, "for 'a' it gave the keys 'rx'"),
        ({"a": 0.5, "b": {"ty": 0}}, "for 'a' it gave float"),
        (None, "gave NoneType"),
    ],
)
def test_other_keys(found: Any, said: str):
    with pytest.raises(MappingError, match=said):
        virtual_state(found, KEYS, "it")


def test_numbers_that_are_not_finite_can_be_told_from_other_faults():
    with pytest.raises(MappingError, match="no finite number") as caught:
        actuated_state({"x": float("nan")}, ["x"], "it")
    assert isinstance(caught.value.__cause__, NotFiniteError)
    with pytest.raises(MappingError) as caught:
        actuated_state({"x": [1, 2]}, ["x"], "it")
    assert not isinstance(caught.value.__cause__, NotFiniteError)


def test_user_mappings():
    mapping = UserMapping(lambda s, *args: {"x": s["a"]["rx"] + sum(args)}, "m", [1, 2])
    assert mapping.actuated({"a": {"rx": 0.5}}, ["x"]) == {"x": 3.5}
    other = copy.copy(mapping)
    other.pass_on(None)
    assert (mapping.passed, other.passed) == ((1, 2), ())
    for bad in (3, "ab", {"a": 1}):
        with pytest.raises(TypeError, match="the arguments of m are a list"):
            mapping.pass_on(bad)
    with pytest.raises(TypeError, match="m is a function"):
        UserMapping(3, "m", None)  # pyright: ignore[reportArgumentType]


def test_changes_of_flat_states():
    assert merged({"a": 1.0, "b": 2.0}, {"b": 3}, "state") == {"a": 1.0, "b": 3.0}
    with pytest.raises(UnknownKeyError, match="no state named 'c'; there are: 'a'"):
        merged({"a": 1.0}, {"c": 1}, "state")


def test_differences():
    assert not differ({"a": {"x": 1.0}}, {"a": {"x": 1.0 + 1e-8}})
    assert differ({"a": {"x": 1.0, "y": 0.1}}, {"a": {"x": 1.0, "y": 0.0}})
    assert not differ(casadi.SX.sym("a"), 1.0)  # nobody knows
