"""One edge of the tree: conventions, states, errors."""

from __future__ import annotations

import copy
from typing import Any

import casadi
import numpy as np
import pytest

from linkwork.errors import InputError, LinkworkError
from linkwork.faces import trip_kinematics
from linkwork.faces.trip_kinematics.KinematicGroup import KinematicGroup
from linkwork.faces.trip_kinematics.Transformation import (
    Transformation,
    array_find,
    parent_name,
    quaternion_of,
    use_euler,
)
from seeds import rng
from trip_samples import by_hand, homogeneous, quaternion, rx, ry, rz


@pytest.mark.row("S1-001")
def test_a_transformation_keeps_what_it_is_given():
    t = Transformation("joint", {"tx": 1, "ry": 0.5}, ["ry"])
    assert (str(t), t.convention, t.parent, t.children) == ("joint", "euler", "joint", [])
    assert t.get_state() == {"ry": 0.5}
    assert t.values == {"tx": 1.0, "ry": 0.5}
    assert "joint" in repr(t)


@pytest.mark.row("S1-001", "S1-070")
@pytest.mark.parametrize(
    ("values", "states", "said"),
    [
        ({"tx": 1}, ["ry"], "'ry'"),
        ({"tx": 1, "foo": 2}, [], r"Invalid key.*'foo'.*'tx'"),
        ({"rx": 1, "qw": 1}, [], "State can't have euler angles and quaternions!"),
        ({"tx": float("nan")}, [], "finite"),
        ({"tx": [1.0, 2.0]}, [], "one number"),
    ],
)
def test_what_is_refused_is_a_value_error(values: Any, states: list[str], said: str):
    with pytest.raises(ValueError, match=said) as caught:
        Transformation("t", values, states)
    assert isinstance(caught.value, LinkworkError)


@pytest.mark.row("S1-001")
@pytest.mark.parametrize(
    ("name", "values", "states", "parent"),
    [
        ("t", {}, [], "base"),
        ("t", {}, [], 3),
        (3, {}, [], None),
        ("", {}, [], None),
        ("t", [1], [], None),
        ("t", {"rx": 0}, "rx", None),
        ("t", {"rx": "much"}, [], None),
    ],
)
def test_what_has_a_wrong_type_is_a_type_error(name: Any, values: Any, states: Any, parent: Any):
    with pytest.raises(TypeError):
        Transformation(name, values, states, parent)


@pytest.mark.row("S1-002", "S1-003", "S1-005", "S1-010")
def test_matrices_of_angles_are_rx_ry_rz_and_then_the_translation():
    for x in rng("euler").uniform(-3, 3, (20, 6)):
        values = dict(zip(("tx", "ty", "tz", "rx", "ry", "rz"), x.tolist(), strict=True))
        T = Transformation("t", values).get_transformation_matrix()
        assert T.dtype == np.float64
        np.testing.assert_allclose(T, by_hand(values), atol=1e-15)


@pytest.mark.row("S1-003")
def test_the_printed_order_by_argument_and_by_switch():
    values = {"rx": 0.1, "ry": 0.2, "rz": 0.3}
    printed = homogeneous(rz(0.3) @ ry(0.2) @ rx(0.1))
    own = Transformation("t", values, euler="rpy")
    np.testing.assert_allclose(own.get_transformation_matrix(), printed, atol=1e-15)
    assert own.euler == "rpy"
    before = use_euler("rpy")
    try:
        switched = Transformation("t", values).get_transformation_matrix()
        assert trip_kinematics.Transformation("u", values).euler == "rpy"
    finally:
        assert use_euler(before) == "rpy"
    np.testing.assert_allclose(switched, printed, atol=1e-15)
    assert Transformation("t", values).euler == "xyz"
    for bad in ("zyx", 3):
        with pytest.raises(InputError, match="'xyz' or 'rpy'"):
            use_euler(bad)  # pyright: ignore[reportArgumentType]


@pytest.mark.row("S1-004")
def test_matrices_of_quaternions():
    for x in rng("quaternion").normal(size=(20, 4)):
        unit = x / np.linalg.norm(x)
        keys = ("qw", "qx", "qy", "qz")
        T = Transformation("t", {"ty": 2, **dict(zip(keys, unit.tolist(), strict=True))})
        np.testing.assert_allclose(
            T.get_transformation_matrix(), homogeneous(quaternion(*unit), (0, 2, 0)), atol=1e-15
        )
        longer = Transformation("t", dict(zip(keys, (3 * unit).tolist(), strict=True)))
        np.testing.assert_allclose(
            longer.get_transformation_matrix()[:3, :3], quaternion(*unit), atol=1e-15
        )


@pytest.mark.row("S1-004")
@pytest.mark.parametrize("values", [{}, {"tx": 0}, {"qx": 0}, {"qw": 0, "qz": 0}])
def test_no_quaternion_is_no_rotation(values: dict[str, float]):
    t = Transformation("t", values)
    assert t.convention == "quaternion"
    np.testing.assert_array_equal(t.get_transformation_matrix(), np.eye(4))
    assert quaternion_of(t.values) == [1.0, 0.0, 0.0, 0.0]


@pytest.mark.row("S1-006")
def test_conventions():
    assert Transformation.get_convention({"tx": 1, "rz": 0}) == "euler"
    assert Transformation.get_convention({"qw": 1}) == "quaternion"
    assert Transformation.get_convention({}) == "quaternion"


@pytest.mark.row("S1-007", "S1-008", "S1-014")
def test_name_and_state_are_copies():
    t = Transformation("a b", {"tx": 1, "tz": 2}, ["tz"])
    assert t.get_name() == "a b"
    t.get_state()["tz"] = 9
    t.values["tx"] = 9
    assert t.get_state() == {"tz": 2.0}
    fixed = Transformation("f", {"tx": 1})
    assert fixed.get_state() == {}
    with pytest.raises(KeyError):
        fixed.set_state({"tx": 2})


@pytest.mark.row("S1-009")
def test_set_state_takes_all_or_nothing():
    t = Transformation("t", {"rx": 0, "rz": 0, "tx": 1}, ["rx", "rz"])
    t.set_state({"rz": 0.5})
    assert t.get_state() == {"rx": 0.0, "rz": 0.5}
    np.testing.assert_allclose(t.get_transformation_matrix(), by_hand({"rz": 0.5, "tx": 1}))
    with pytest.raises(KeyError, match="'rx', 'rz'"):
        t.set_state({"rx": 1.0, "ry": 1.0})
    with pytest.raises(ValueError, match="finite"):
        t.set_state({"rx": 1.0, "rz": float("inf")})
    assert t.get_state() == {"rx": 0.0, "rz": 0.5}
    t.set_state({"rx": np.array([0.25])})  # arrays of length 1 are numbers
    assert t.get_state()["rx"] == 0.25


@pytest.mark.row("S1-010")
def test_symbols_pass_through():
    a = casadi.SX.sym("a")
    t = Transformation("t", {"ry": a, "tx": 2}, ["ry"])
    T = t.get_transformation_matrix()
    assert T.dtype == object and T.shape == (4, 4)
    assert T[0, 3] == 2.0
    f = casadi.Function("f", [a], [casadi.vertcat(T[0, 0], T[0, 2], T[2, 0])])
    np.testing.assert_allclose(np.array(f(0.3)).ravel(), ry(0.3)[[0, 0, 2], [0, 2, 0]])
    with pytest.raises(ValueError, match="scalar SX"):
        t.set_state({"ry": casadi.MX.sym("m")})


@pytest.mark.row("S1-011", "S1-012")
def test_parents_and_children_are_names():
    a = Transformation("a", {"tx": 1})
    b = Transformation("b", {"tx": 1}, parent=a)
    Transformation("c", {"tx": 1}, parent=a)
    assert (a.parent, b.parent, a.children) == ("a", "a", ["b", "c"])
    a.add_children("d")
    assert a.children == ["b", "c", "d"]
    group = KinematicGroup("g", [b])
    assert Transformation("e", {}, parent=group).parent == "g"
    assert group.children == ["e"]
    assert parent_name("x", None) is None


@pytest.mark.row("S1-013")
def test_array_find():
    assert array_find(["a", "b", "c"], "b") == 1
    assert array_find([], "b") == -1
    assert array_find(np.array([3, 4]), 5) == -1
    assert trip_kinematics.Transformation.array_find is array_find


def test_copies_do_not_share_state():
    t = Transformation("t", {"rx": 0}, ["rx"])
    for other in (copy.copy(t), copy.deepcopy(t)):
        other.set_state({"rx": 1})
        other.add_children("x")
        assert (t.get_state(), t.children) == ({"rx": 0.0}, [])
