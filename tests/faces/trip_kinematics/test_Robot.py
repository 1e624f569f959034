"""Robots: trees of groups, states, poses, symbols."""

from __future__ import annotations

import copy
import ctypes
import pickle
import shutil
import subprocess
from pathlib import Path
from typing import Any

import casadi
import numpy as np
import pytest

from linkwork.faces import trip_kinematics
from linkwork.faces.trip_kinematics.KinematicGroup import KinematicGroup
from linkwork.faces.trip_kinematics.Robot import Robot, forward_kinematics
from linkwork.faces.trip_kinematics.Transformation import Transformation
from linkwork.robot import Robot as CoreRobot
from seeds import rng
from trip_samples import branched, by_hand, doubled, two_links


@pytest.mark.row("S1-040", "S1-051", "S1-080")
def test_two_links():
    robot = Robot(two_links())
    T = forward_kinematics(robot, "L2")
    np.testing.assert_allclose(T[:3, 3], [1.7551651, 0.0, -0.9588511], atol=1e-7)
    wanted = by_hand({"ry": 0.5}) @ by_hand({"tx": 1}) @ by_hand({"tx": 1})
    np.testing.assert_allclose(T, wanted, atol=1e-15)
    assert T.dtype == np.float64
    with pytest.raises(KeyError, match=r"no end effector named 'L3'.*L2"):
        forward_kinematics(robot, "L3")
    with pytest.raises(TypeError, match="takes a Robot"):
        forward_kinematics(two_links(), "L2")  # pyright: ignore[reportArgumentType]
    assert trip_kinematics.Robot.forward_kinematics is forward_kinematics


@pytest.mark.row("S1-051", "S1-052", "S1-048")
def test_trees_in_any_order():
    robot = branched()
    assert sorted(robot.get_endeffectors()) == ["base", "left", "right", "slide"]
    robot.set_actuated_state({"a motor": 0.4, "b motor": -1.0, "slide_ty": 0.7})
    base = by_hand({"tz": 0.5, "rz": 0.3})
    left = base @ by_hand({"rz": 0.2}) @ by_hand({"tx": 1})
    wanted = {
        "base": base,
        "left": left,
        "right": base @ by_hand({"rz": -0.5}) @ by_hand({"tx": 1}),
        "slide": left @ by_hand({"ty": 0.7, "rx": 0.2}),
    }
    for name, T in wanted.items():
        np.testing.assert_allclose(forward_kinematics(robot, name), T, atol=1e-15)
    with pytest.raises(KeyError):
        forward_kinematics(robot, "a")  # inside a group


@pytest.mark.row("S1-002", "S1-003", "S1-004", "S1-005", "S1-051")
def test_poses_are_the_products_of_the_groups_matrices():
    draw = rng("chains")
    keys = ("tx", "ty", "tz", "rx", "ry", "rz", "qw", "qx", "qy", "qz")
    parts: list[Transformation] = []
    for k in range(7):
        own = keys[:6] if k % 3 else (*keys[:3], *keys[6:])
        some = [key for key in own if draw.uniform() < 0.7] or ["tx"]
        values = dict(zip(some, draw.uniform(-1, 1, len(some)).tolist(), strict=True))
        states = [key for key in some if draw.uniform() < 0.4]
        above = parts[-1] if parts else None
        euler = "rpy" if k % 2 else "xyz"
        parts.append(Transformation(f"t{k}", values, states, above, euler=euler))
    robot, T = Robot(parts), np.eye(4)
    for part in parts:
        T = T @ part.get_transformation_matrix()
        if part in (parts[3], parts[-1]):
            np.testing.assert_allclose(forward_kinematics(robot, str(part)), T, atol=1e-14)


@pytest.mark.row("S1-041", "S1-043", "S1-044", "S1-045", "S1-046")
def test_states_of_all_groups():
    robot = branched()
    assert robot.get_actuated_state() == {"a motor": 0.0, "b motor": 0.0, "slide_ty": 0.1}
    robot.set_actuated_state({"a motor": 0.5, "slide_ty": np.array([0.3])})
    assert robot.get_virtual_state() == {
        "a": {"rz": 0.25}, "b": {"rz": 0.0}, "slide": {"ty": 0.3}
    }  # fmt: skip
    robot.set_virtual_state({"b": {"rz": 1.0}, "slide": {"ty": 0.0}})
    assert robot.get_actuated_state() == {"a motor": 0.5, "b motor": 2.0, "slide_ty": 0.0}


@pytest.mark.row("S1-045", "S1-046")
@pytest.mark.parametrize(
    ("call", "kind"),
    [
        (lambda r: r.set_actuated_state({"a motor": 1.0, "c motor": 1.0}), KeyError),
        (lambda r: r.set_actuated_state({"a motor": 1.0, "b motor": np.nan}), ValueError),
        (lambda r: r.set_virtual_state({"a": {"rz": 1.0}, "c": {"rz": 1.0}}), KeyError),
        (lambda r: r.set_virtual_state({"a": {"rz": 1.0}, "b": {"rx": 1.0}}), KeyError),
        (lambda r: r.set_virtual_state({"a": {"rz": 1.0}, "base": {"tz": 1.0}}), KeyError),
        (lambda r: r.set_virtual_state({"a": {"rz": 1.0}, "b": {"rz": np.inf}}), ValueError),
        (lambda r: r.set_virtual_state([1.0]), TypeError),
    ],
)
def test_all_groups_change_or_none(call: Any, kind: type[Exception]):
    robot = branched()
    robot.set_actuated_state({"a motor": 0.5, "b motor": -0.5})
    before = robot.get_virtual_state(), robot.get_actuated_state()
    with pytest.raises(kind):
        call(robot)
    assert (robot.get_virtual_state(), robot.get_actuated_state()) == before


@pytest.mark.row("S1-084")
def test_only_the_groups_that_are_set_are_mapped():
    calls: list[str] = []

    def part(name: str) -> KinematicGroup:
        joint = Transformation(f"{name} j", {"rz": 0.0}, ["rz"])

        def forth(state: Any) -> Any:
            calls.append(name)
            return {f"{name} j": {"rz": state[name]}}

        return KinematicGroup(
            f"{name} g", [joint], {name: 0.0}, forth, lambda s: {name: s[f"{name} j"]["rz"]}
        )

    robot = Robot([part("a"), part("b")])
    calls.clear()
    robot.set_actuated_state({"b": 1.0})
    forward_kinematics(robot, "a g")
    assert calls == ["b"]


@pytest.mark.row("S1-015", "S1-040", "S1-042", "S1-070")
def test_names_may_not_clash():
    with pytest.raises(KeyError, match=r"More than one robot actuator has the same name!.*'m'"):
        parts = [
            KinematicGroup(
                f"g{k}",
                [Transformation(f"j{k}", {"rz": 0}, ["rz"])],
                {"m": 0.0},
                lambda s, k=k: {f"j{k}": {"rz": s["m"]}},
                lambda s, k=k: {"m": s[f"j{k}"]["rz"]},
            )
            for k in (1, 2)
        ]
        Robot(parts)
    with pytest.raises(KeyError, match="both have the frame 'j'"):
        Robot([doubled("a", "j"), KinematicGroup("b", [Transformation("j", {"rx": 0}, ["rx"])])])
    with pytest.raises(KeyError, match="both have the frame 't'"):
        Robot([Transformation("t", {"tx": 1}), Transformation("t", {"tx": 2})])
    with pytest.raises(KeyError, match="both have the frame 'j'"):
        Robot([doubled("a", "j"), doubled("j", "k")])
    group = doubled("a", "j")
    with pytest.raises(KeyError, match="twice"):
        Robot([group, group])


@pytest.mark.row("S1-042")
def test_names_with_underscores_that_meet():
    a = KinematicGroup(
        "g",
        [Transformation("x", {"rz": 0}, ["rz"])],
        {"A_ry": 0.0},
        lambda s: {"x": {"rz": s["A_ry"]}},
        lambda s: {"A_ry": s["x"]["rz"]},
    )
    with pytest.raises(KeyError, match="'A_ry'"):
        Robot([a, Transformation("A", {"ry": 0}, ["ry"])])


@pytest.mark.row("S1-040")
def test_what_robots_are_not_made_of():
    for parts in (3, Transformation("a", {}), ["a"], [None]):
        with pytest.raises(TypeError):
            Robot(parts)  # pyright: ignore[reportArgumentType]
    a = Transformation("a", {"tx": 1})
    b = Transformation("b", {"tx": 1}, parent=a)
    with pytest.raises(KeyError, match="parent of 'b' in the robot named 'a'"):
        Robot([b])
    c = Transformation("c", {}, parent=b)
    b.parent = "c"
    with pytest.raises(KeyError, match="'b', 'c' stand on each other"):
        Robot([a, b, c])


@pytest.mark.row("S1-040")
def test_a_transformation_may_be_in_two_robots():
    parts = two_links()
    one, other = Robot(parts), Robot(parts[:2])
    one.set_actuated_state({"J_ry": 0.1})
    other.set_actuated_state({"J_ry": 0.2})
    assert one.get_actuated_state()["J_ry"] == 0.1
    assert parts[0].get_state() == {"ry": 0.5}
    assert [part.children for part in parts] == [["L"], ["J2"], ["L2"], []]


@pytest.mark.row("S1-040")
def test_a_group_is_the_robots():
    group = doubled("g", "j")
    robot = Robot([group])
    group.set_actuated_state({"j motor": 1.0})
    np.testing.assert_allclose(
        forward_kinematics(robot, "g"), group.get_transformation_matrix(), atol=1e-15
    )
    assert robot.get_virtual_state() == {"j": {"rz": 0.5}}


@pytest.mark.row("S1-022", "S1-052")
def test_what_stands_inside_a_group():
    group = doubled("g", "j")
    inner = Transformation("inner", {"tz": 1}, parent=next(iter(group.members.values())))
    robot = Robot([inner, group])
    robot.set_actuated_state({"j motor": 1.0})
    wanted = by_hand({"rz": 0.5}) @ by_hand({"tz": 1})
    np.testing.assert_allclose(forward_kinematics(robot, "inner"), wanted, atol=1e-15)


@pytest.mark.row("S1-047")
def test_groups_are_copies():
    robot = branched()
    groups = robot.get_groups()
    assert sorted(groups) == ["base", "left", "right", "slide"]
    groups["left"].set_actuated_state({"a motor": 3.0})
    assert robot.get_actuated_state()["a motor"] == 0.0
    assert groups["slide"].get_actuated_state() == {"slide_ty": 0.1}


@pytest.mark.row("S1-049")
def test_the_symbolic_representation_unpacks_as_the_code_of_the_original_does():
    robot = branched()
    rep = robot.get_symbolic_rep("slide")
    pose, symbols, keys = rep
    assert isinstance(rep, casadi.SX) and type(pose) is casadi.SX
    assert [symbol.name() for symbol in symbols] == [f"{joint}_{key}" for joint, key in keys]
    both = casadi.symvar(rep - robot.get_symbolic_rep("left"))  # the same symbols
    for found in (symbols, casadi.symvar(rep), both):
        assert sorted(s.name() for s in found) == ["a_rz", "slide_ty"]
    values = rng("unpacked").uniform(-1, 1, len(symbols)).tolist()
    whole, part = casadi.Function("f", symbols, [rep, pose])(*values)
    for (joint, key), value in zip(keys, values, strict=True):
        robot.set_virtual_state({joint: {key: value}})
    for found in (whole, part):
        np.testing.assert_allclose(found, forward_kinematics(robot, "slide"), atol=1e-15)
    assert casadi.jacobian(rep[:3, 3], casadi.vertcat(*symbols)).shape == (3, len(symbols))
    assert trip_kinematics.get_translation(rep).shape == (3, 1)
    with pytest.raises(KeyError, match=r"no end effector named 'a'.*left"):
        robot.get_symbolic_rep("a")
    assert set(robot.get_symbols()) == {"a_rz", "b_rz", "slide_ty"}


@pytest.mark.row("S1-049")
def test_hybrid_chains_in_the_actuated_state():
    robot = branched()
    rep = robot.get_symbolic_rep("slide", actuated=True)
    symbols = casadi.symvar(rep)
    assert sorted(s.name() for s in symbols) == ["a motor", "slide_ty"]
    f = casadi.Function("f", symbols, [rep, casadi.jacobian(rep[0, 3], symbols[0])])
    at = {"a motor": 0.5, "slide_ty": 0.2}
    T, slope = f(*(at[s.name()] for s in symbols))
    robot.set_actuated_state(at)
    np.testing.assert_allclose(np.array(T), forward_kinematics(robot, "slide"), atol=1e-15)
    name, h = symbols[0].name(), 1e-6
    ends = []
    for side in (h, -h):
        robot.set_actuated_state({name: at[name] + side})
        ends.append(forward_kinematics(robot, "slide")[0, 3])
    assert float(slope) == pytest.approx((ends[0] - ends[1]) / (2 * h), abs=1e-9)


@pytest.mark.row("S1-049", "S1-051")
def test_symbols_as_states():
    robot, a = branched(), casadi.SX.sym("a")
    robot.set_actuated_state({"a motor": a})
    T = forward_kinematics(robot, "left")
    assert T.dtype == object
    f = casadi.Function("f", [a], [casadi.vertcat(T[0, 3], T[1, 3])])
    robot.set_actuated_state({"a motor": 0.6})
    np.testing.assert_allclose(
        np.array(f(0.6)).ravel(), forward_kinematics(robot, "left")[:2, 3], atol=1e-15
    )


def compiled(function: Any, folder: Path) -> Any:
    """A function of one vector to a matrix (4, 4), through C code that CasADi writes."""
    function.generate("pose.c")
    subprocess.run(["gcc", "-O2", "-shared", "-fPIC", "pose.c", "-o", "pose.so", "-lm"], check=True)
    code = ctypes.CDLL(str(folder / "pose.so"))
    pointer = ctypes.POINTER(ctypes.c_double)

    def call(values: list[float]) -> Any:
        q, out = np.array(values), np.zeros((4, 4))
        arrays = [(pointer * 1)(a.ctypes.data_as(pointer)) for a in (q, out)]
        assert code.pose(*arrays, None, (ctypes.c_double * 100)(), 0) == 0
        return out.T

    return call


@pytest.mark.row("S1-087")
@pytest.mark.skipif(shutil.which("gcc") is None, reason="no C compiler")
def test_generated_c_code_compiles_and_agrees(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    robot = branched()
    rep = robot.get_symbolic_rep("slide")
    symbols = casadi.symvar(rep)
    monkeypatch.chdir(tmp_path)
    function = casadi.Function("pose", [casadi.vertcat(*symbols)], [casadi.densify(rep)])
    at = {"a_rz": 0.4, "slide_ty": -0.3}
    found = compiled(function, tmp_path)([at[s.name()] for s in symbols])
    robot.set_virtual_state({"a": {"rz": at["a_rz"]}, "slide": {"ty": at["slide_ty"]}})
    np.testing.assert_allclose(found, forward_kinematics(robot, "slide"), atol=1e-15)


@pytest.mark.row("S1-050")
def test_arguments_by_group():
    seen: list[Any] = []
    joint = Transformation("j", {"rz": 0.0}, ["rz"])

    def forth(state: Any, *args: Any) -> Any:
        seen.append(("forth", *args))
        return {"j": {"rz": state["m"]}}

    def back(state: Any, *args: Any) -> Any:
        seen.append(("back", *args))
        return {"m": state["j"]["rz"]}

    robot = Robot([KinematicGroup("g", [joint], {"m": 0.0}, forth, back), doubled("h", "k")])
    seen.clear()
    robot.pass_group_arg_a_to_v({"g": [{"rz": 1}]})
    robot.pass_group_arg_v_to_a({"g": [2, 3]})
    robot.set_actuated_state({"m": 1.0})
    robot.set_virtual_state({"j": {"rz": 1.0}})
    assert seen == [("forth", {"rz": 1}), ("back", 2, 3)]
    for call in (robot.pass_group_arg_a_to_v, robot.pass_group_arg_v_to_a):
        with pytest.raises(KeyError, match="no group named 'x'"):
            call({"h": [1], "x": [1]})
        with pytest.raises(TypeError):
            call({"h": [1], "g": 3})
    assert [m.passed for m in robot.get_groups()["h"].mappings] == [(), ()]


def test_copies_are_apart_and_share_what_is_compiled():
    robot = branched()
    other = copy.deepcopy(robot)
    other.set_actuated_state({"a motor": 1.0})
    assert robot.get_actuated_state()["a motor"] == 0.0
    assert other.core is robot.core
    assert not np.allclose(forward_kinematics(robot, "left"), forward_kinematics(other, "left"))


class Named(Robot):
    """A robot with an attribute of its own."""

    label = ""


def test_copies_and_pickles_keep_attributes_and_go_without_symbols():
    robot = Named(two_links())
    robot.label = "left"
    robot.get_symbolic_rep("L2")
    for again in (copy.copy(robot), copy.deepcopy(robot), pickle.loads(pickle.dumps(robot))):
        assert (type(again), again.label) == (Named, "left")
        np.testing.assert_array_equal(
            forward_kinematics(again, "L2"), forward_kinematics(robot, "L2")
        )
        assert set(again.get_symbols()) == set(robot.get_symbols())


def test_deep_copies_share_no_attributes_of_the_user():
    arm = Transformation("j", {"rz": 0.0}, ["rz"])
    arm.notes = ["bent"]
    group = KinematicGroup("g", [arm])
    group.notes = ["spare"]
    robot = Named([group])
    robot.label = ["left"]
    for again in (arm, group, robot, {"g": group, "same": group}):
        other = copy.deepcopy(again)
        if isinstance(other, dict):
            assert other["g"] is other["same"]
            continue
        kept = "label" if other is robot or isinstance(other, Robot) else "notes"
        getattr(other, kept).append("changed")
    robot.get_groups()["g"].notes.append("changed")
    robot.get_groups()["g"].get_virtual_chain()["j"].notes.append("changed")
    assert (arm.notes, group.notes, robot.label) == (["bent"], ["spare"], ["left"])


def test_the_robot_of_linkwork_behind():
    robot = branched()
    core = robot.to_linkwork()
    assert isinstance(core, CoreRobot)
    assert set(core.joint_names) == {"a_rz", "b_rz", "slide_ty"}
    robot.set_actuated_state({"a motor": 1.0})
    q = core.configuration({"a_rz": 0.5, "slide_ty": 0.1})
    np.testing.assert_array_equal(robot.configuration(), q)
    np.testing.assert_array_equal(core.fk(q, "left"), forward_kinematics(robot, "left"))
    assert list(robot.members) == [name for g in robot.get_groups().values() for name in g.members]
    assert "left" in repr(robot)
