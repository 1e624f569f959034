"""Groups: chains, mappings both ways, and that nothing changes where one fails."""

from __future__ import annotations

import copy
import warnings
from typing import Any

import numpy as np
import pytest

from linkwork.errors import LinkworkError
from linkwork.faces.trip_kinematics.KinematicGroup import (
    KinematicGroup,
    OpenKinematicGroup,
    open_group_of,
)
from linkwork.faces.trip_kinematics.Transformation import Transformation
from linkwork.faces.trip_kinematics.values import StateWarning
from trip_samples import by_hand, doubled


def chain() -> list[Transformation]:
    turn = Transformation("j", {"rz": 0.0}, ["rz"])
    return [turn, Transformation("arm", {"tx": 1.0}, parent=turn)]


def to_virtual(state: Any) -> Any:
    return {"j": {"rz": state["m"] / 2}}


def to_actuated(state: Any) -> Any:
    return {"m": 2 * state["j"]["rz"]}


@pytest.mark.row("S1-020", "S1-025", "S1-026", "S1-036")
def test_a_group_has_two_states_that_follow_each_other():
    group = KinematicGroup("g", chain(), {"m": 0.0}, to_virtual, to_actuated)
    group.set_actuated_state({"m": 0.8})
    assert group.get_virtual_state() == {"j": {"rz": 0.4}}
    group.set_virtual_state({"j": {"rz": -0.3}})
    assert group.get_actuated_state() == {"m": -0.6}
    assert type(group.get_actuated_state()["m"]) is float
    group.get_virtual_state()["j"]["rz"] = 9.0
    group.get_actuated_state()["m"] = 9.0
    assert (group.virtual_state, group.actuated_state) == ({"j": {"rz": -0.3}}, {"m": -0.6})


@pytest.mark.row("S1-020", "S1-070")
@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (({"m": 0},), "Mappings missing"),
        (({"m": 0}, to_virtual), "Only one mapping"),
        (({"m": 0}, None, to_actuated), "Only one mapping"),
        ((None, to_virtual, to_actuated), "Actuated state is missing"),
        ((None, to_virtual), "Actuated state is missing"),
    ],
)
def test_half_a_group_is_a_value_error(arguments: tuple[Any, ...], said: str):
    with pytest.raises(ValueError, match=f"'g'.*{said}"):
        KinematicGroup("g", chain(), *arguments)


@pytest.mark.row("S1-020", "S1-070")
@pytest.mark.parametrize(
    ("forth", "back", "said"),
    [
        (lambda s: {"k": {"rz": 0.0}}, to_actuated, "actuated_to_virtual does not fit virtual"),
        (lambda s: {"j": {"ry": 0.0}}, to_actuated, "actuated_to_virtual does not fit virtual"),
        (lambda s: {"j": 0.0}, to_actuated, "actuated_to_virtual does not fit virtual"),
        (lambda s: None, to_actuated, "actuated_to_virtual does not fit virtual"),
        (lambda s: {"j": {"rz": "x"}}, to_actuated, "actuated_to_virtual does not fit virtual"),
        (to_virtual, lambda s: {"n": 0.0}, "virtual_to_actuated does not fit actuated"),
        (to_virtual, lambda s: {"m": 0.0, "n": 1.0}, "virtual_to_actuated does not fit actuated"),
        (to_virtual, lambda s: {"m": [1.0, 2.0]}, "virtual_to_actuated does not fit actuated"),
    ],
)
def test_mappings_that_give_something_else_are_a_runtime_error(forth: Any, back: Any, said: str):
    with pytest.raises(RuntimeError, match=f"'g': {said}") as caught:
        KinematicGroup("g", chain(), {"m": 0.0}, forth, back)
    assert isinstance(caught.value, LinkworkError)


@pytest.mark.row("S1-020")
def test_wrong_types():
    for arguments in (
        (3, chain()),
        ("g", chain()[0]),
        ("g", ["j"]),
        ("g", 5),
        ("g", chain(), [0.0], to_virtual, to_actuated),
        ("g", chain(), {"m": 0}, 3, to_actuated),
        ("g", chain(), {"m": "x"}, to_virtual, to_actuated),
    ):
        with pytest.raises(TypeError):
            KinematicGroup(*arguments)  # pyright: ignore[reportArgumentType]
    with pytest.raises(TypeError, match="parent of 'g'"):
        KinematicGroup("g", chain(), parent="base")


@pytest.mark.row("S1-020", "S1-021")
def test_chains_that_are_none():
    a = Transformation("a", {"rz": 0}, ["rz"])
    b, c = (Transformation(name, {"tx": 1}, parent=a) for name in "bc")
    with pytest.raises(ValueError, match="one open chain: 'a' carries 'b' and 'c'"):
        KinematicGroup("g", [a, b, c])
    with pytest.raises(ValueError, match=r"one open chain.*'a', 'd'"):
        KinematicGroup("g", [a, b, Transformation("d", {})])
    with pytest.raises(ValueError, match="two transformations are named 'a'"):
        KinematicGroup("g", [a, Transformation("a", {})])
    with pytest.raises(ValueError, match="empty"):
        KinematicGroup("g", [])
    b.parent, c.parent = "c", "b"
    with pytest.raises(ValueError, match="'b', 'c' stand on each other"):
        KinematicGroup("g", [a, b, c])


@pytest.mark.row("S1-021")
def test_the_order_of_the_list_is_free():
    a = Transformation("a", {"tx": 1})
    b = Transformation("b", {"rz": 0.5}, ["rz"], parent=a)
    c = Transformation("c", {"tx": 2}, parent=b)
    wanted = by_hand({"tx": 1}) @ by_hand({"rz": 0.5}) @ by_hand({"tx": 2})
    for order in ([a, b, c], [c, b, a], [b, a, c]):
        group = KinematicGroup("g", order)
        assert list(group.get_virtual_chain()) == ["a", "b", "c"]
        np.testing.assert_allclose(group.get_transformation_matrix(), wanted, atol=1e-15)


@pytest.mark.row("S1-022")
def test_parents_of_groups():
    base = Transformation("base", {"tz": 1})
    first = doubled("first", "a", base)
    second = doubled("second", "b", first)
    assert (base.children, first.children) == (["first"], ["second"])
    assert (first.parent, second.parent, doubled("third", "c").parent) == ("base", "first", "third")
    on_base = Transformation("j", {"rz": 0}, ["rz"], parent=base)
    assert KinematicGroup("g", [on_base]).parent == "base"
    with pytest.raises(ValueError, match="parent 'first', and its chain begins on 'base'"):
        KinematicGroup("g", [on_base], parent=first)


@pytest.mark.row("S1-023", "S1-032", "S1-037")
def test_arguments_of_mappings_come_behind_the_state():
    seen: list[Any] = []

    def forth(state: Any, tips: Any = None, more: Any = 0) -> Any:
        seen.append(("forth", tips, more))
        return to_virtual(state)

    def back(state: Any, tips: Any = None) -> Any:
        seen.append(("back", tips))
        return to_actuated(state)

    group = KinematicGroup("g", chain(), {"m": 0.0}, forth, back, [{"rz": 1}, 5], [{"m": 2}])
    assert seen == [("forth", {"rz": 1}, 5), ("back", {"m": 2})]
    seen.clear()
    group.set_actuated_state({"m": 1.0})
    group.pass_arg_a_to_v([7])
    group.set_actuated_state({"m": 1.0})
    group.pass_arg_a_to_v(None)
    group.set_actuated_state({"m": 1.0})
    group.set_virtual_state({"j": {"rz": 1.0}})
    group.pass_arg_v_to_a([8])
    group.set_virtual_state({"j": {"rz": 1.0}})
    assert seen == [
        ("forth", {"rz": 1}, 5), ("forth", 7, 0), ("forth", None, 0),
        ("back", {"m": 2}), ("back", 8),
    ]  # fmt: skip
    with pytest.raises(TypeError, match="arguments of group 'g': virtual_to_actuated are a list"):
        group.pass_arg_v_to_a({"m": 2})


@pytest.mark.row("S1-024")
def test_states_that_do_not_agree_are_said():
    with pytest.warns(StateWarning, match=r"'g'.*do not agree.*set_"):
        KinematicGroup("g", chain(), {"m": 1.0}, to_virtual, to_actuated)
    with pytest.warns(StateWarning):
        KinematicGroup("g", chain(), {"m": 0.0}, lambda s: {"j": {"rz": np.nan}}, to_actuated)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        KinematicGroup("g", chain(), {"m": 0.0}, to_virtual, to_actuated)


@pytest.mark.row("S1-027", "S1-028", "S1-029", "S1-033", "S1-034")
def test_what_a_group_says_of_itself():
    group = doubled("g", "j")
    group.set_actuated_state({"j motor": 1.0})
    wanted = by_hand({"rz": 0.5}) @ by_hand({"tx": 1})
    np.testing.assert_allclose(group.get_transformation_matrix(), wanted, atol=1e-15)
    copies = group.get_virtual_chain()
    copies["j"].set_state({"rz": 2.0})
    np.testing.assert_allclose(group.get_transformation_matrix(), wanted, atol=1e-15)
    assert (group.get_name(), str(group), group.children) == ("g", "g", [])
    group.add_children("x")
    assert group.children == ["x"]
    assert KinematicGroup.object_list_to_key_lists({"a": 1, "b": 2}) == ["a", "b"]


@pytest.mark.row("S1-030", "S1-031", "S1-071")
def test_a_part_of_a_state():
    two = Transformation("j", {"rx": 0.1, "rz": 0.2}, ["rx", "rz"])
    other = Transformation("k", {"ry": 0.3}, ["ry"], parent=two)
    group = KinematicGroup("g", [two, other])
    assert group.get_actuated_state() == {"j_rx": 0.1, "j_rz": 0.2, "k_ry": 0.3}
    group.set_virtual_state({"j": {"rz": 0.5}})  # the rest of the joint stays
    assert group.get_virtual_state() == {"j": {"rx": 0.1, "rz": 0.5}, "k": {"ry": 0.3}}
    group.set_actuated_state({"k_ry": -1})
    assert group.get_actuated_state() == {"j_rx": 0.1, "j_rz": 0.5, "k_ry": -1.0}


def failing(state: Any) -> Any:
    if abs(state.get("m", 0.0)) > 1.0:
        raise ZeroDivisionError("cannot be assembled")
    return {"j": {"rz": state["m"] / 2 if state["m"] < 0.9 else np.nan}}


@pytest.mark.row("S1-030", "S1-031")
@pytest.mark.parametrize(
    ("call", "kind"),
    [
        (lambda g: g.set_actuated_state({"m": 2.0}), ZeroDivisionError),
        (lambda g: g.set_actuated_state({"m": 0.95}), RuntimeError),  # the mapping gives NaN
        (lambda g: g.set_actuated_state({"m": np.nan}), ValueError),
        (lambda g: g.set_actuated_state({"n": 0.1}), ValueError),
        (lambda g: g.set_actuated_state({"m": 0.1, "n": 0.1}), ValueError),
        (lambda g: g.set_actuated_state(0.1), TypeError),
        (lambda g: g.set_virtual_state({"k": {"rz": 0.1}}), ValueError),
        (lambda g: g.set_virtual_state({"j": {"rz": 0.1, "rx": 0.1}}), ValueError),
        (lambda g: g.set_virtual_state({"arm": {"tx": 0.1}}), ValueError),
        (lambda g: g.set_virtual_state({"j": 0.1}), TypeError),
        (lambda g: g.set_virtual_state({"j": {"rz": "x"}}), TypeError),
    ],
)
def test_where_something_fails_nothing_changes(call: Any, kind: type[Exception]):
    group = KinematicGroup("g", chain(), {"m": 0.0}, failing, to_actuated)
    group.set_actuated_state({"m": 0.4})
    before = group.get_transformation_matrix()
    with pytest.raises(kind):
        call(group)
    assert (group.virtual_state, group.actuated_state) == ({"j": {"rz": 0.2}}, {"m": 0.4})
    np.testing.assert_array_equal(group.get_transformation_matrix(), before)


@pytest.mark.row("S1-025", "S1-030", "S1-031")
def test_a_group_in_which_nothing_moves():
    group = KinematicGroup("g", [Transformation("a", {"tx": 1})])
    assert (group.get_actuated_state(), group.get_virtual_state()) == (None, {})
    for call in (group.set_actuated_state, group.set_virtual_state):
        with pytest.raises(RuntimeError, match=r"'g' has no state"):
            call({})
    with pytest.raises(ValueError, match="static"):
        KinematicGroup("g", [Transformation("a", {})], {"m": 0}, to_virtual, to_actuated)


def test_mappings_get_copies():
    def spoiling(state: Any) -> Any:
        result = to_virtual(state)
        state["m"] = 77.0
        return result

    group = KinematicGroup("g", chain(), {"m": 0.0}, spoiling, to_actuated)
    group.set_actuated_state({"m": 1.0})
    assert group.get_actuated_state() == {"m": 1.0}


@pytest.mark.row("S1-035")
def test_states_as_attributes():
    group = KinematicGroup("g", chain(), {"m": 0.0}, to_virtual, to_actuated)
    group.actuated_state = {"m": 1.0}
    assert group.virtual_state == {"j": {"rz": 0.5}}
    group.virtual_state = {"j": {"rz": 1.0}}
    assert group.actuated_state == {"m": 2.0}
    assert (group.parent, group.children) == ("g", [])


@pytest.mark.row("S1-038", "S1-041")
def test_open_groups():
    two = Transformation("T", {"rx": 0.0, "tz": 0.5}, ["rx", "tz"])
    group = OpenKinematicGroup("open", [two, Transformation("end", {"tx": 1}, parent=two)])
    assert group.get_actuated_state() == {"T_rx": 0.0, "T_tz": 0.5}
    group.set_actuated_state({"T_rx": 0.25})
    assert group.get_virtual_state() == {"T": {"rx": 0.25, "tz": 0.5}}
    group.set_virtual_state({"T": {"tz": 1.0}})
    assert group.get_actuated_state() == {"T_rx": 0.25, "T_tz": 1.0}
    with pytest.raises(ValueError, match="no mapping that takes arguments"):
        group.pass_arg_a_to_v([1])


def test_copies_are_apart():
    group = doubled("g", "j")
    for other in (copy.copy(group), copy.deepcopy(group)):
        other.set_actuated_state({"j motor": 1.0})
        other.pass_arg_a_to_v([1])
        other.add_children("x")
        assert group.get_virtual_state() == {"j": {"rz": 0.0}}
        assert (group.children, group.mappings[0].passed) == ([], ())


def test_the_callers_transformations_stay_as_they_are():
    members = chain()
    group = KinematicGroup("g", members)
    group.set_actuated_state({"j_rz": 1.0})
    assert members[0].get_state() == {"rz": 0.0}
    own = open_group_of(members[0])
    assert (own.parent, own.children) == ("j", ["arm"])
