"""Functions between the two states of a group: a program's own, and derived ones."""

from __future__ import annotations

import pickle
from math import acos, cos, pi, sin, sqrt
from typing import Any

import casadi
import numpy as np
import pytest

import linkwork as lw
from linkwork.faces.trip_kinematics import KinematicGroup, Robot, Transformation, derived_mappings
from linkwork.faces.trip_kinematics.mappings import (
    DerivedMapping,
    GroupMapping,
    differ,
)
from linkwork.faces.trip_kinematics.trip_robots.loops import Tree
from linkwork.faces.trip_kinematics.trip_robots.triped_leg import gimbal_to_swing, swing_to_gimbal
from linkwork.faces.trip_kinematics.values import (
    MappingError,
    NotAssembledError,
    NotFiniteError,
)
from seeds import rng

# mappings


KEYS = {"a": ("rx", "rz"), "b": ("ty",)}


def mapped(found: Any) -> GroupMapping:
    """A mapping that gives this, whatever the state."""
    return GroupMapping(lambda state, *args: found, "m")


def test_keys_in_any_order():
    found = mapped({"b": {"ty": 1}, "a": {"rz": 2, "rx": 3}}).virtual({}, KEYS)
    assert found == {"a": {"rx": 3.0, "rz": 2.0}, "b": {"ty": 1.0}}
    assert list(found["a"]) == ["rx", "rz"]
    assert list(mapped({"y": 1, "x": 2}).actuated({}, ["x", "y"])) == ["x", "y"]


def test_numbers_that_are_not_finite_can_be_told_from_other_faults():
    with pytest.raises(MappingError, match="no finite number") as caught:
        mapped({"x": float("nan")}).actuated({}, ["x"])
    assert isinstance(caught.value.__cause__, NotFiniteError)
    with pytest.raises(MappingError) as caught:
        mapped({"x": [1, 2]}).actuated({}, ["x"])
    assert not isinstance(caught.value.__cause__, NotFiniteError)


def test_differences():
    assert not differ({"a": {"x": 1.0}}, {"a": {"x": 1.0 + 1e-8}})
    assert differ({"a": {"x": 1.0, "y": 0.1}}, {"a": {"x": 1.0, "y": 0.0}})
    assert not differ(casadi.SX.sym("a"), 1.0)  # nobody knows


# derived


AXES = ("rx", "ry", "rz")


def slider_crank() -> lw.Robot:
    """A crank of 1 m and a rod of 2 m, whose end slides along x."""
    tree = Tree("slider crank")
    tree.joint("crank")
    tree.joint("rod", "crank", at=((1.0, 0.0, 0.0), None))
    tree.frame("end", "rod", (2.0, 0.0, 0.0))
    tree.joint("slide", slides=(1.0, 0.0, 0.0))
    return tree.robot().with_loop("end", "slide", "xy").with_actuated("slide")


def mappings(**more: Any) -> tuple[DerivedMapping, DerivedMapping]:
    virtual = {"pedal": {"rz": "crank"}}
    near = {"crank": 1.0, "rod": -1.4, "slide": 2.3}
    return derived_mappings(slider_crank(), virtual, {"motor": "slide"}, near=near, **more)


def place(angle: float) -> float:
    return cos(angle) + sqrt(4 - sin(angle) ** 2)


def angle_at(slide: float) -> float:
    return acos((1 + slide**2 - 4) / (2 * slide))


def group(**more: Any) -> KinematicGroup:
    turn = Transformation("pedal", {"rz": 1.0}, ["rz"])
    return KinematicGroup("press", [turn], {"motor": place(1.0)}, *mappings(**more))


@pytest.mark.row("S1-030", "S1-031")
def test_a_group_stays_on_its_branch():
    mine = group()
    mine.set_virtual_state({"pedal": {"rz": -1.0}})  # the other side, from where motors push it
    for slide in np.linspace(place(1.0), place(2.5), 20).tolist():
        mine.set_actuated_state({"motor": slide})
        found = mine.get_virtual_state()["pedal"]["rz"]
        assert found == pytest.approx(-angle_at(slide), abs=1e-9)
    fixed = group(follow=False)
    fixed.set_virtual_state({"pedal": {"rz": -1.0}})
    fixed.set_actuated_state({"motor": 2.5})
    assert fixed.get_virtual_state()["pedal"]["rz"] == pytest.approx(angle_at(2.5), abs=1e-9)
    passed = group()
    passed.pass_arg_a_to_v([{"rz": -1.0}])  # tips that a program passes come first
    passed.set_actuated_state({"motor": 2.5})
    assert passed.get_virtual_state()["pedal"]["rz"] == pytest.approx(-angle_at(2.5), abs=1e-9)


def test_the_chain_itself_where_joints_are_named_so():
    tree = Tree("lever")
    tree.joint("pedal_rz")
    tree.joint("motor")
    robot = tree.robot().with_coupling("motor", "pedal_rz", rate=3.0)
    chain = [
        Transformation("pedal", {"rz": 0.0}, ["rz"]),
        Transformation("arm", {"tx": 1.0}),
    ]
    to_virtual, to_actuated = derived_mappings(robot, chain, ["motor"])
    assert to_actuated({"pedal": {"rz": 0.2}})["motor"] == pytest.approx(0.6, abs=1e-12)
    assert to_virtual({"motor": 0.9})["pedal"]["rz"] == pytest.approx(0.3, abs=1e-12)


@pytest.mark.row("S1-036", "S1-083")
def test_numbers_of_all_kinds():
    wanted = swing_to_gimbal({"swing_left": 0.0, "swing_right": 1.0})
    for kind in (int, np.float32, np.int64, lambda x: np.array([x]), lambda x: np.array([[x]])):
        given = {"swing_left": kind(0), "swing_right": kind(1)}
        assert swing_to_gimbal(given) == wanted
    assert swing_to_gimbal({"swing_right": 1.0, "swing_left": 0.0, "more": "is not read"}) == wanted
    assert all(type(value) is float for value in wanted["gimbal_joint"].values())


@pytest.mark.row("S1-070", "S1-083")
def test_what_is_no_state():
    with pytest.raises(ValueError, match="finite"):
        swing_to_gimbal({"swing_left": float("nan"), "swing_right": 0.0})
    with pytest.raises(TypeError, match="takes a number"):
        swing_to_gimbal({"swing_left": "far", "swing_right": 0.0})
    with pytest.raises(TypeError, match="is a dict"):
        swing_to_gimbal([0.0, 0.0])  # pyright: ignore[reportArgumentType] -- that is the test
    with pytest.raises(KeyError, match="gimbal_joint"):
        gimbal_to_swing({"gimbal_join": dict.fromkeys(AXES, 0.0)})
    to_virtual, _ = mappings()
    with pytest.raises(RuntimeError, match=r"'slider crank' cannot be assembled at motor = 3\.5"):
        to_virtual({"motor": 3.5})
    with pytest.raises(ValueError, match="singular"):
        to_virtual({"motor": 3.5}, {"rz": 0.1, "motor": 2.9})


@pytest.mark.row("S1-083")
def test_batches_are_the_single_calls():
    draw = rng("batch")
    swings = draw.uniform(-0.6, 0.6, (6, 50, 2))
    found = swing_to_gimbal.batch(swings)
    assert (swing_to_gimbal.given, swing_to_gimbal.found[0]) == (
        ("swing_left", "swing_right"),
        "gimbal_joint_rx",
    )
    for at in ((0, 0), (3, 7), (5, 49)):
        one = swing_to_gimbal(dict(zip(swing_to_gimbal.given, swings[at].tolist(), strict=True)))
        assert found[at].tolist() == [one["gimbal_joint"][key] for key in AXES]
    few, half = 0.4 * swings, 0.2 * swings  # before a swing stands in line with its rod
    near = np.concatenate([swing_to_gimbal.batch(half), half], axis=-1)
    assert swing_to_gimbal.loops.robot.joint_names[3:] == swing_to_gimbal.given
    back = gimbal_to_swing.batch(swing_to_gimbal.batch(few), near=near)
    np.testing.assert_allclose(back, few, atol=1e-9)
    assert swing_to_gimbal.batch(swings[0, 0]).shape == (3,)


@pytest.mark.row("S1-083")
def test_batches_with_rows_that_cannot_be():
    to_virtual, _ = mappings()
    rows = np.array([[2.0], [3.5], [2.5]])
    with pytest.raises(NotAssembledError, match=r"row 1: .* cannot be assembled at motor"):
        to_virtual.batch(rows)
    found = to_virtual.batch(rows, on_bad="nan")
    assert np.isnan(found[1]).all()
    np.testing.assert_allclose(found[[0, 2], 0], [angle_at(2.0), angle_at(2.5)], atol=1e-9)
    with pytest.raises(ValueError, match="must be a finite number"):
        to_virtual.batch([[2.0], [np.nan]])


def test_mappings_go_to_other_processes():
    mapping = pickle.loads(pickle.dumps(mappings()[0]))
    assert mapping({"motor": 2.5})["pedal"]["rz"] == pytest.approx(angle_at(2.5), abs=1e-9)


@pytest.mark.row("S1-049")
def test_no_symbols():
    with pytest.raises(lw.UnsupportedFeatureError, match="takes no symbols"):
        Robot([group()]).get_symbolic_rep("press", actuated=True)


def test_what_mappings_are_not_made_of():
    robot = slider_crank()
    with pytest.raises(lw.InputError, match="no loops"):
        tree = Tree("open")
        tree.joint("j")
        derived_mappings(tree.robot(), {"a": {"rz": "j"}}, ["j"])
    with pytest.raises(KeyError, match="crunk"):
        derived_mappings(robot, {"a": {"rz": "crunk"}})
    with pytest.raises(lw.InputError, match="no actuated joint"):
        derived_mappings(robot, {"a": {"rz": "crank"}}, [])
    with pytest.raises(lw.InputError, match="no virtual joint"):
        derived_mappings(robot, {})
    with pytest.raises(TypeError, match="from a Robot"):
        derived_mappings("robot", {})  # pyright: ignore[reportArgumentType] -- that is the test
    with pytest.raises(TypeError, match="list of Transformations"):
        derived_mappings(robot, ["crank"])  # pyright: ignore[reportArgumentType] -- that is the test
    with pytest.raises(lw.ShapeError, match="3 finite numbers"):
        derived_mappings(robot, {"a": {"rz": "crank"}}, near=[0.0])
    assert pi > derived_mappings(robot, {"a": {"rz": "crank"}})[0].loops.near[0]
