"""Inverse kinematics: states that bring an end effector to a target."""

from __future__ import annotations

from math import hypot, pi, sqrt
from typing import Any

import numpy as np
import pytest

import linkwork as lw
from linkwork.faces.trip_kinematics.KinematicGroup import KinematicGroup
from linkwork.faces.trip_kinematics.mappings import derived_mappings
from linkwork.faces.trip_kinematics.Robot import Robot, forward_kinematics
from linkwork.faces.trip_kinematics.Solver import (
    CCDSolver,
    NewtonSolver,
    NoSolution,
    SimpleInvKinSolver,
)
from linkwork.faces.trip_kinematics.Transformation import Transformation
from seeds import rng
from trip_samples import branched, two_links

SOLVERS = [
    pytest.param(SimpleInvKinSolver, id="simple"),
    pytest.param(CCDSolver, id="ccd"),
    pytest.param(NewtonSolver, id="newton"),
]
BALL = ("qw", "qx", "qy", "qz")


def arm() -> Robot:
    """Six joints, of which one slides; poses in all directions."""
    parts: list[Transformation] = []
    for k, (joint, shift) in enumerate(
        [("rz", {"tz": 0.3}), ("ry", {"tz": 0.5}), ("ry", {"tx": 0.4}), ("rx", {"tx": 0.1}),
         ("ry", {"tx": 0.1}), ("rx", {"tx": 0.05}), ("tx", {})]
    ):  # fmt: skip
        parts.append(Transformation(f"j{k}", {joint: 0.0}, [joint], parts[-1] if parts else None))
        parts.append(Transformation(f"l{k}", shift, parent=parts[-1]))
    return Robot(parts)


@pytest.mark.row("S1-060", "S1-064", "S1-065", "S1-061", "S1-086")
@pytest.mark.parametrize("solver", SOLVERS)
def test_two_links_as_the_law_of_cosines_has_them(solver: Any):
    robot = Robot(two_links())
    found = solver(robot, "L2")
    for r, angle in rng("two links").uniform((0.1, -pi), (1.9, pi), (20, 2)):
        target = [r * np.cos(angle), 0.0, -r * np.sin(angle)]
        state = found.solve_virtual(target)
        corner = np.arccos(1 - r * r / 2)  # between the links
        bend = state["J2"]["ry"]
        assert abs(bend) == pytest.approx(pi - corner, abs=1e-7)
        first = angle - np.sign(bend) * (pi - corner) / 2
        assert np.exp(1j * state["J"]["ry"]) == pytest.approx(np.exp(1j * first), abs=1e-7)
        assert bool(found.last_result.success)
    assert robot.get_virtual_state() == {"J": {"ry": 0.5}, "J2": {"ry": 0.0}}


@pytest.mark.row("S1-060")
def test_unknown_end_effectors_and_other_robots():
    with pytest.raises(KeyError, match="no end effector named 'x'"):
        SimpleInvKinSolver(Robot(two_links()), "x")
    with pytest.raises(TypeError, match="takes a Robot"):
        SimpleInvKinSolver(two_links(), "L2")  # pyright: ignore[reportArgumentType]


@pytest.mark.row("S1-060", "S1-061", "S1-063")
@pytest.mark.parametrize("solver", SOLVERS)
def test_poses_with_orientation(solver: Any):
    robot = arm()
    found = solver(robot, "l6", orientation=True)
    moved = arm()
    draw = rng("poses")
    for _ in range(10):
        names = robot.get_virtual_state()
        moved.set_virtual_state(
            {n: {k: draw.uniform(-1, 1) for k in own} for n, own in names.items()}
        )
        T = forward_kinematics(moved, "l6")
        moved.set_virtual_state(found.solve_virtual(T))
        np.testing.assert_allclose(forward_kinematics(moved, "l6"), T, atol=1e-8)
        moved.set_actuated_state(found.solve_actuated(T))
        np.testing.assert_allclose(forward_kinematics(moved, "l6"), T, atol=1e-8)
    with pytest.raises(ValueError, match=r"pose \(4, 4\), not \(3,\)"):
        found.solve_virtual([1, 0, 0])


@pytest.mark.row("S1-061")
def test_targets():
    found = SimpleInvKinSolver(Robot(two_links()), "L2")
    T = np.eye(4)
    T[:3, 3] = 1.0, 0.0, -1.0
    wanted = found.solve_virtual([1.0, 0.0, -1.0])
    for target in (T, np.array([[1.0], [0.0], [-1.0]]), (1, 0, -1)):
        assert found.solve_virtual(target) == wanted
    for target in ([1, 2], np.eye(3), [np.nan, 0, 0], "here", None):
        with pytest.raises((ValueError, TypeError)):
            found.solve_virtual(target)  # pyright: ignore[reportArgumentType]


@pytest.mark.row("S1-061")
def test_the_search_begins_at_the_tip():
    found = SimpleInvKinSolver(Robot(two_links()), "L2")
    for bend in (-1.0, 1.0):
        tip = {"J": {"ry": -bend / 2}, "J2": {"ry": bend}}
        state = found.solve_virtual([1.5, 0, 0.1], initial_tip=tip)
        assert np.sign(state["J2"]["ry"]) == np.sign(bend)
        assert found.solve_virtual([1.5, 0, 0.1], tip) == state  # nothing is kept between calls


@pytest.mark.row("S1-061")
def test_wrong_tips():
    found = SimpleInvKinSolver(branched(), "slide")
    good = {"a": {"rz": 0.5}, "slide": {"ty": 0.1}}
    found.solve_virtual([0.5, 0.5, 0.5], good)
    found.solve_virtual([0.5, 0.5, 0.5], {**good, "b": {"rz": 0}})  # of the whole robot
    for tip in ({}, {"a": {"rz": 0.5}}, {**good, "c": {"rz": 0.5}}):
        with pytest.raises(RuntimeError, match="values, the chain to 'slide' 2"):
            found.solve_virtual([0.5, 0.5, 0.5], tip)
    for tip in ({"a": {"rz": 0.5}, "x": {"ty": 0.1}}, {"a": {"rx": 0.5}, "slide": {"ty": 0.1}}):
        with pytest.raises(KeyError):
            found.solve_virtual([0.5, 0.5, 0.5], tip)
    with pytest.raises(ValueError, match="finite"):
        found.solve_virtual([0.5, 0.5, 0.5], {**good, "a": {"rz": np.inf}})
    with pytest.raises(TypeError):
        found.solve_virtual([0.5, 0.5, 0.5], {**good, "a": 0.5})  # pyright: ignore


@pytest.mark.row("S1-061")
@pytest.mark.parametrize(
    "target", [(3, 0, 0), (0, 0, 3), (2, 0, 2), (-5, 0, 1), (0, 1, 3), (0, 3, 0)]
)
def test_out_of_reach_gives_the_nearest(target: tuple[float, float, float]):
    robot = Robot(two_links())
    found = SimpleInvKinSolver(robot, "L2")
    robot.set_virtual_state(found.solve_virtual(target))
    away = np.linalg.norm(forward_kinematics(robot, "L2")[:3, 3] - target)
    x, y, z = target
    assert away == pytest.approx(hypot(y, max(0.0, hypot(x, z) - 2)), abs=1e-4)
    assert found.last_result is not None and not bool(found.last_result.success)
    strict = SimpleInvKinSolver(robot, "L2", strict=True)
    for call in (strict.solve_virtual, strict.solve_actuated):
        with pytest.raises(NoSolution, match="'L2' does not reach the target"):
            call(target)


@pytest.mark.row("S1-062")
def test_actuated_states_and_whose_robot_moves():
    for update in (False, True):
        robot = branched()
        found = SimpleInvKinSolver(robot, "slide", update_robot=update)
        target = forward_kinematics(robot, "slide")[:3, 3] + [0.1, -0.2, 0.0]
        state = found.solve_actuated(target)
        assert (robot.get_actuated_state() == state) is update
        assert (found.robot is robot) is update
        robot.set_actuated_state(state)
        np.testing.assert_allclose(forward_kinematics(robot, "slide")[:3, 3], target, atol=1e-9)
        assert set(state) == {"a motor", "b motor", "slide_ty"}


@pytest.mark.row("S1-062")
def test_arguments_for_the_mappings():
    seen: list[Any] = []
    joint = Transformation("j", {"rz": 0.0}, ["rz"])

    def back(state: Any, tips: Any = None) -> Any:
        seen.append(tips)
        return {"m": state["j"]["rz"]}

    group = KinematicGroup("g", [joint], {"m": 0.0}, lambda s: {"j": {"rz": s["m"]}}, back)
    robot = Robot([group, Transformation("tip", {"tx": 1}, parent=group)])
    found = SimpleInvKinSolver(robot, "tip", update_robot=True)
    state = found.solve_actuated([0, 1, 0], mapping_argument={"g": [{"m": 1}]})
    assert state["m"] == pytest.approx(pi / 2)
    assert seen == [None, {"m": 1}]
    with pytest.raises(KeyError, match="no group named 'h'"):
        found.solve_actuated([0, 1, 0], mapping_argument={"h": [1]})


def gate(state: Any) -> Any:
    """Takes one of the two ways to bend only."""
    if state["J2"]["ry"] > 0:
        raise ValueError("no length of the cylinder gives this")
    return {"a": state["J"]["ry"], "b": state["J2"]["ry"]}


def gated(back: Any) -> Robot:
    group = KinematicGroup(
        "g",
        two_links(),
        {"a": 0.5, "b": 0.0},
        lambda s: {"J": {"ry": s["a"]}, "J2": {"ry": s["b"]}},
        back,
    )
    return Robot([group])


@pytest.mark.row("S1-062")
def test_virtual_states_without_an_actuated_one_are_left_for_others():
    robot = gated(gate)
    found = SimpleInvKinSolver(robot, "g", update_robot=True)
    tip = {"J": {"ry": -0.5}, "J2": {"ry": 1.0}}
    assert found.solve_virtual([1.5, 0, 0.1], tip)["J2"]["ry"] > 0
    state = found.solve_actuated([1.5, 0, 0.1], tip)
    assert state["b"] < 0
    np.testing.assert_allclose(forward_kinematics(robot, "g")[:3, 3], [1.5, 0, 0.1], atol=1e-9)


@pytest.mark.row("S1-062")
@pytest.mark.parametrize("refusal", [ValueError("no"), None])
def test_where_no_virtual_state_has_an_actuated_one(refusal: Exception | None):
    calls: list[int] = []

    def back(state: Any, *args: Any) -> Any:
        calls.append(1)
        if len(calls) > 1 and refusal is not None:
            raise refusal
        return {"a": 0.5, "b": np.nan if len(calls) > 1 else 0.0}

    robot = gated(back)
    found = SimpleInvKinSolver(robot, "g", update_robot=True)
    with pytest.raises(NoSolution, match="has an actuated one"):
        found.solve_actuated([1.5, 0, 0.1], mapping_argument={"g": [1]})
    assert robot.get_actuated_state() == {"a": 0.5, "b": 0.0}
    assert robot.get_virtual_state() == {"J": {"ry": 0.5}, "J2": {"ry": 0.0}}
    assert robot.get_groups()["g"].mappings[1].passed == ()


def arm_with_cylinders(*, known: bool = True) -> Robot:
    """The excavator, of whose mappings it is known that they are derived, or not."""
    from linkwork.faces.trip_kinematics.trip_robots import excavator_rr as ex  # noqa: PLC0415  makes robots

    q_1 = Transformation("q_1", {"ry": 0.0}, ["ry"])
    boom = Transformation("boom", {"tx": 2.6}, parent=q_1)
    q_2 = Transformation("q_2", {"ry": -pi / 2}, ["ry"])
    stick = Transformation("stick", {"tx": 1.7}, parent=q_2)
    functions = (ex.closure_a_to_q_group_1, ex.closure_q_to_a_group_1)
    others = (ex.closure_a_to_q_group_2, ex.closure_q_to_a_group_2)
    if not known:
        functions = tuple(lambda state, f=f: f(state) for f in functions)
        others = tuple(lambda state, f=f: f(state) for f in others)
    first = KinematicGroup("first", [q_1, boom], {"a_1": sqrt(1.49)}, *functions)
    second = KinematicGroup("second", [q_2, stick], {"a_2": sqrt(1.6)}, *others, parent=first)
    return Robot([first, second])


@pytest.mark.slow
@pytest.mark.row("S1-062", "S1-082", "S1-061")
def test_every_virtual_state_has_an_actuated_one_where_loops_are_known():
    from linkwork.faces.trip_kinematics.trip_robots import excavator_rr as ex  # noqa: PLC0415  makes robots

    known = SimpleInvKinSolver(arm_with_cylinders(), "second")
    other = SimpleInvKinSolver(arm_with_cylinders(known=False), "second")
    robot, draw = known.robot, rng("bucket")
    missed = 0
    for q_1, q_2 in draw.uniform((-1.4, -2.8), (1.4, -0.3), (100, 2)).tolist():
        robot.set_virtual_state({"q_1": {"ry": q_1}, "q_2": {"ry": q_2}})
        target = forward_kinematics(robot, "second")[:3, 3]
        tip = {"q_1": {"ry": q_1 - q_2}, "q_2": {"ry": -q_2}}  # the elbow up, which no cylinder can
        found = known.solve_virtual(target, tip)
        assert known.last_result is not None and bool(known.last_result.success)
        assert -pi <= found["q_2"]["ry"] <= 0 and abs(found["q_1"]["ry"]) <= pi / 2
        lengths = known.solve_actuated(target, tip)
        assert 0.3 <= lengths["a_1"] <= 1.7 and 0.8 <= lengths["a_2"] <= 1.6
        at = robot.get_virtual_state()
        for geometric, joint, length in (
            (ex.geometric_q_to_a_group_1, "q_1", lengths["a_1"]),
            (ex.geometric_q_to_a_group_2, "q_2", lengths["a_2"]),
        ):
            assert next(iter(geometric({joint: at[joint]}).values())) == pytest.approx(
                length, abs=1e-9
            )
        np.testing.assert_allclose(
            forward_kinematics(robot, "second")[:3, 3], target, rtol=0, atol=1e-9
        )
        missed += other.solve_virtual(target, tip)["q_2"]["ry"] > 0
    assert missed > 50  # what the sequential approach would hand to the mappings


@pytest.mark.slow
@pytest.mark.row("S1-061", "S1-082")
def test_what_is_nearest_is_assembled():
    found = SimpleInvKinSolver(arm_with_cylinders(), "second")
    target = np.array([-3.0, 0.0, 1.0])  # behind: a boom straight up or down is as far as it goes
    robot = found.robot
    robot.set_virtual_state(found.solve_virtual(target))
    assert found.last_result is not None and not bool(found.last_result.success)
    away = np.linalg.norm(forward_kinematics(robot, "second")[:3, 3] - target)
    q_1, q_2 = np.meshgrid(np.linspace(-pi / 2, pi / 2, 600), np.linspace(-pi, 0, 600))
    x = 2.6 * np.cos(q_1) + 1.7 * np.cos(q_1 + q_2)
    z = -2.6 * np.sin(q_1) - 1.7 * np.sin(q_1 + q_2)
    assert away <= np.hypot(x - target[0], z - target[2]).min() + 1e-4


@pytest.mark.sweep(1)
@pytest.mark.row("S1-016", "S1-060")
@pytest.mark.parametrize("free", [(), ("tx",), ("tx", "ty", "tz")])
def test_quaternions_are_solved_for_on_the_sphere(free: tuple[str, ...]):
    values = {"tx": 0.5, "ty": 0.0, "tz": 0.2, **dict.fromkeys(BALL, 0.0)}
    ball = Transformation("ball", values, [*free, *BALL])
    bend = Transformation("bend", {"tx": 1.0, "ry": 0.0}, ["ry"], ball)
    robot = Robot([ball, bend, Transformation("tip", {"tx": 1.0}, parent=bend)])
    position = SimpleInvKinSolver(robot, "tip")
    poses = SimpleInvKinSolver(robot, "tip", orientation=True)
    robot.set_virtual_state(position.solve_virtual([0.9, 0.8, 1.1]))
    pose = forward_kinematics(robot, "tip")
    for solver, target in ((position, pose[:3, 3]), (position, [0.2, -0.8, 0.1]), (poses, pose)):
        state = solver.solve_virtual(target)
        assert np.linalg.norm([state["ball"][key] for key in BALL]) == pytest.approx(1, abs=1e-12)
        assert set(state["ball"]) == {*free, *BALL}
        robot.set_virtual_state(state)
        T = forward_kinematics(robot, "tip")
        np.testing.assert_allclose(T if solver is poses else T[:3, 3], target, atol=1e-8)


@pytest.mark.row("S1-016")
def test_half_a_quaternion_is_refused():
    t = Transformation("half", {"qw": 1.0, "qx": 0.0}, ["qx"])
    robot = Robot([t, Transformation("tip", {"ty": 1}, parent=t)])
    with pytest.raises(NotImplementedError, match=r"'half'.*'qw', 'qy', 'qz' are constant"):
        SimpleInvKinSolver(robot, "tip")


@pytest.mark.row("S1-064", "S1-065")
def test_options_of_the_originals_searches():
    robot = Robot(two_links())
    assert CCDSolver(robot, "L2").options == {
        "stepsize": 0.2, "max_iterations": 100000, "precision": 1e-6
    }  # fmt: skip
    assert NewtonSolver(robot, "L2").options["stepsize"] == 0.05
    assert CCDSolver(robot, "L2", options={"stepsize": 1}).options["stepsize"] == 1
    with pytest.raises(KeyError, match="no option named 'step'"):
        NewtonSolver(robot, "L2", options={"step": 1})
    for bad in (0, -1, np.nan):
        with pytest.raises(ValueError, match="precision"):
            CCDSolver(robot, "L2", False, False, {"precision": bad})


def test_where_nothing_moves():
    found = SimpleInvKinSolver(Robot([Transformation("a", {"tx": 1})]), "a")
    with pytest.raises(ValueError, match="nothing moves between the ground and 'a'"):
        found.solve_virtual([1, 0, 0])


@pytest.mark.slow
@pytest.mark.row("S1-061", "S1-062")
def test_loops_stay_on_the_branch_of_the_tip():
    """A five-bar whose tip is on any of its assemblies; the answer is that of a fine way there."""
    bars = lw.load("five_bar")
    q = dict(zip(bars.joint_names, range(4), strict=True))
    hinges, drives = ("right", "right_elbow"), ("left", "right")
    to_virtual, to_actuated = derived_mappings(
        bars, {name: {"rz": name} for name in hinges}, {f"drive {name}": name for name in drives}
    )
    chain = [Transformation("at", {"tx": 0.2})]
    for name, parent_length in zip(hinges, (None, 0.15), strict=True):
        if parent_length is not None:
            chain.append(Transformation("arm", {"tx": parent_length}, parent=chain[-1]))
        chain.append(Transformation(name, {"rz": 0.0}, ["rz"], parent=chain[-1]))
    chain.append(Transformation("end", {"tx": 0.2}, parent=chain[-1]))
    rest = to_actuated({name: {"rz": 0.0} for name in hinges})
    group = KinematicGroup("bars", chain, rest, to_virtual, to_actuated)
    solver = SimpleInvKinSolver(Robot([group]), "bars")
    given, follow = bars.assembler(drives), bars.assembler(hinges)
    places, r, checked, sides = [q[name] for name in hinges], rng("tips"), 0, set[bool]()
    for angles in r.uniform(-1.5, 1.5, (60, 2)):
        for start in given.all_solutions(angles, bars.neutral(), starts=8).q:
            goal, way = start[places] + r.uniform(-0.05, 0.05, 2), [start]
            whole = True
            for s in np.linspace(0, 1, 20)[1:]:
                step = follow.solve(start[places] + s * (goal - start[places]), way[-1])
                way.append(step.q)
                whole = whole and bool(step.success)
            if not whole or abs(np.sin(goal[1])) < 0.3 or np.abs(np.diff(way, axis=0)).max() > 0.05:
                continue  # near to where two assemblies meet
            tip = {name: {"rz": float(start[q[name]])} for name in hinges}
            there = {f"drive {name}": float(start[q[name]]) for name in drives}
            solver.robot.pass_group_arg_v_to_a({"bars": [there]})
            solver.robot.set_virtual_state(tip)
            solver.robot.pass_group_arg_v_to_a({"bars": None})
            x, y = (0.15 * f(goal[0]) + 0.2 * f(goal[0] + goal[1]) for f in (np.cos, np.sin))
            found = solver.solve_actuated([0.2 + x, y, 0.0], tip)
            for name in drives:
                off = found[f"drive {name}"] - way[-1][q[name]]
                assert np.remainder(off + np.pi, 2 * np.pi) - np.pi == pytest.approx(0, abs=1e-6)
            checked += 1
            sides.add(bool(start[q["left_elbow"]] > 0))
    assert checked > 10
    assert sides == {False, True}
