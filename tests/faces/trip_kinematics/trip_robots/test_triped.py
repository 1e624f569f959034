"""The TriPed, its leg, and trees of joints for ready-made robots."""

from __future__ import annotations

from math import radians
from typing import Any

import casadi
import numpy as np
import pytest

from linkwork.faces.trip_kinematics import Robot, SimpleInvKinSolver, forward_kinematics
from linkwork.faces.trip_kinematics.trip_robots import triped_leg as leg
from linkwork.faces.trip_kinematics.trip_robots.triped import leg_model, triped
from linkwork.faces.trip_kinematics.trip_robots.triped_leg import closing_equation, triped_leg
from seeds import rng
from trip_samples import by_hand, homogeneous, rx, ry, rz

# triped leg


AXES = ("rx", "ry", "rz")


def balls(angles: Any) -> tuple[Any, Any]:
    """On the leg: left and right."""
    R = rx(angles[0]) @ ry(angles[1]) @ rz(angles[2])
    place = np.array([0.265, 0.0, 0.014])
    return place + R @ [0.015, 0.029, -0.0965], place + R @ [0.015, -0.029, -0.0965]


def lever(theta: float, side: float) -> Any:
    place = np.array([0.139807669447128, side * 0.0549998406976098, -0.051])
    return place + rz(side * radians(-345) + theta) @ [0.085, 0.0, -0.0245]


def rods(angles: Any, swings: Any) -> Any:
    """How much longer than its length each rod would have to be."""
    left, right = balls(angles)
    ways = (left - lever(swings[1], 1.0), right - lever(swings[0], -1.0))
    return np.array([np.linalg.norm(way) - 0.11 for way in ways])


def by_circles(angles: Any) -> list[tuple[float, float]]:
    """Both angles of the lever left and of the one right: where a circle meets a sphere."""
    found: list[tuple[float, float]] = []
    for ball, side in zip(balls(angles)[::-1], (-1.0, 1.0), strict=True):
        arm = ball - [0.139807669447128, side * 0.0549998406976098, -0.051 - 0.0245]
        reach = np.hypot(arm[0], arm[1])
        corner = np.arccos((reach**2 + 0.085**2 + arm[2] ** 2 - 0.11**2) / (2 * reach * 0.085))
        middle = np.arctan2(arm[1], arm[0]) - side * radians(-345)
        pair = [(middle + s * corner + np.pi) % (2 * np.pi) - np.pi for s in (1, -1)]
        found.append((pair[0], pair[1]))
    return found


def gimbal(angles: Any) -> Any:
    return {"gimbal_joint": dict(zip(AXES, np.asarray(angles).tolist(), strict=True))}


@pytest.mark.row("S1-083")
def test_swings_of_the_gimbal_are_the_nearer_ones():
    for angles in rng("gimbal").uniform(-0.4, 0.4, (100, 3)):
        swings = leg.gimbal_to_swing(gimbal(angles))
        wanted = [min(pair, key=abs) for pair in by_circles(angles)]
        np.testing.assert_allclose([swings["swing_left"], swings["swing_right"]], wanted, atol=1e-9)


@pytest.mark.row("S1-083")
def test_the_closure_holds_both_ways():
    draw = rng("swings")
    for swings in draw.uniform(-0.7, 0.7, (100, 2)):
        given = dict(zip(("swing_left", "swing_right"), swings.tolist(), strict=True))
        found = leg.swing_to_gimbal(given)["gimbal_joint"]
        angles = [found[key] for key in AXES]
        assert np.abs(rods(angles, swings)).max() < 1e-11
        assert leg.closing_equation(angles, swings) < 1e-20
        assert np.abs(angles).max() < 1.5
        again = leg.gimbal_to_swing({"gimbal_joint": found}, given)
        assert again == pytest.approx(given, abs=1e-9)


@pytest.mark.row("S1-083", "S1-037")
def test_tips_choose_between_assemblies():
    for angles in rng("tips").uniform(-0.3, 0.3, (20, 3)):
        (l0, l1), (r0, r1) = by_circles(angles)
        for left in (l0, l1):
            for right in (r0, r1):
                tips = {"swing_left": left + 0.05, "swing_right": right - 0.05}
                found = leg.gimbal_to_swing(gimbal(angles), tips)
                assert found["swing_left"] == pytest.approx(left, abs=1e-9)
                assert found["swing_right"] == pytest.approx(right, abs=1e-9)
    swings = leg.gimbal_to_swing(gimbal([0.1, 0.2, 0.3]))
    for tips in (gimbal([0.1, 0.2, 0.3]), gimbal([0.1, 0.2, 0.3])["gimbal_joint"]):
        near = leg.swing_to_gimbal(swings, tips)["gimbal_joint"]
        np.testing.assert_allclose([near[k] for k in AXES], [0.1, 0.2, 0.3], atol=1e-9)


@pytest.mark.row("S1-083")
def test_states_that_are_none():
    with pytest.raises(KeyError, match="swing_right"):
        leg.swing_to_gimbal({"swing_left": 0.0})
    with pytest.raises(KeyError, match="key of a virtual state of 'gimbal_joint' named 'rx'"):
        leg.gimbal_to_swing({})
    with pytest.raises(KeyError, match="tips"):
        leg.gimbal_to_swing(gimbal([0, 0, 0]), {"swing_left": 0.0})
    with pytest.raises(
        RuntimeError, match="cannot be assembled at gimbal_joint_rx = 0, gimbal_joint_ry = 2"
    ):
        leg.gimbal_to_swing(gimbal([0.0, 2.0, 0.0]))


@pytest.mark.row("S1-083")
def test_the_closing_equation_of_symbols():
    virtual, actuated = casadi.SX.sym("v", 3), casadi.SX.sym("a", 2)
    f = casadi.Function("f", [virtual, actuated], [leg.closing_equation(virtual, actuated)])
    v, a = [0.1, -0.2, 0.3], [0.4, -0.5]
    wanted = np.sum(((rods(v, a) + 0.11) ** 2 - 0.11**2) ** 2)
    assert float(f(v, a)) == pytest.approx(wanted, rel=1e-10)
    assert leg.closing_equation(v, a) == pytest.approx(wanted, rel=1e-10)


@pytest.mark.row("S1-083", "S1-085")
def test_the_foot():
    robot = leg.triped_leg
    assert robot.get_virtual_state()["gimbal_joint"] == dict.fromkeys(AXES, 0.0)
    copy = SimpleInvKinSolver(robot, "A_LL_Joint_FCS").robot
    draw = rng("foot")
    for angles in draw.uniform(-0.3, 0.3, (10, 3)):
        knee = float(draw.uniform(-1, 0.5))
        copy.set_virtual_state({**gimbal(angles), "extend_joint": {"ry": knee}})
        R = rx(angles[0]) @ ry(angles[1]) @ rz(angles[2])
        wanted = homogeneous(R, (0.265, 0, 0.014)) @ by_hand({"tx": 1.640, "tz": -0.037})
        wanted = (
            wanted @ by_hand({"ry": radians(-3)}) @ by_hand({"ry": knee}) @ by_hand({"tx": -1.5})
        )
        np.testing.assert_allclose(forward_kinematics(copy, "A_LL_Joint_FCS"), wanted, atol=1e-14)


def test_the_parts():
    assert leg.closed_chain.get_name() == "closed_chain"
    assert leg.gimbal_chain("x_")[1].get_name() == "x_gimbal_joint"
    np.testing.assert_allclose(leg.intersection_left(0.3), lever(0.3, 1.0), atol=1e-15)
    np.testing.assert_allclose(leg.intersection_right(0.3), lever(0.3, -1.0), atol=1e-15)
    for found, wanted in zip(
        leg.sphere_centers(0.1, 0.2, 0.3), balls([0.1, 0.2, 0.3]), strict=True
    ):
        np.testing.assert_allclose(found, wanted, atol=1e-15)
    parts = leg.build("p_", leg.gimbal_chain("p_"))
    assert [part.get_name() for part in parts][0::4] == ["p_closed_chain", "p_A_LL_Joint_FCS"]
    to_gimbal, to_swing = leg.leg_mappings("p_")
    swings = {"p_swing_left": -0.3, "p_swing_right": 0.2}
    assert set(to_gimbal(swings)) == {"p_gimbal_joint"}
    assert to_swing(to_gimbal(swings)) == pytest.approx(swings, abs=1e-11)


def test_the_loops():
    robot = leg.leg_loops()
    assert robot.actuated == ("swing_left", "swing_right")
    assert [loop.kind for loop in robot.loops] == ["distance", "distance"]
    assert robot.mobility().degrees_of_freedom == 3  # the gimbal's third turn is free


# triped


FEET = [f"leg_{k}_A_LL_Joint_FCS" for k in range(3)]


def fresh() -> Robot:
    return Robot([part for number in range(3) for part in leg_model(number)])


@pytest.mark.row("S1-084", "S1-085")
def test_the_legs_are_a_third_of_a_turn_apart():
    one = forward_kinematics(triped_leg, "A_LL_Joint_FCS")
    for k, foot in enumerate(FEET):
        wanted = homogeneous(rz(-radians(120) * k)) @ one
        np.testing.assert_allclose(forward_kinematics(triped, foot), wanted, atol=1e-14)
    assert set(triped.get_endeffectors()) >= {*FEET, "leg_0_closed_chain", "leg_2_A_P_LL"}


@pytest.mark.row("S1-084")
def test_setting_one_leg_does_not_move_the_others():
    robot = fresh()
    before = [forward_kinematics(robot, foot) for foot in FEET]
    state = {"leg_1_swing_left": -0.3, "leg_1_swing_right": 0.6, "leg_1_extend_joint_ry": -0.4}
    robot.set_actuated_state(state)
    for k, foot in enumerate(FEET):
        same = np.array_equal(forward_kinematics(robot, foot), before[k])
        assert same is (k != 1)
    found = robot.get_virtual_state()["leg_1_gimbal_joint"]
    assert any(abs(value) > 1e-3 for value in found.values())


@pytest.mark.slow
@pytest.mark.row("S1-084", "S1-083")
def test_all_three_feet():
    draw, robot, goal = rng("feet"), fresh(), fresh()
    solvers = [SimpleInvKinSolver(robot, foot, update_robot=True) for foot in FEET]
    for _ in range(100):
        targets: list[np.ndarray] = []
        for k, (foot, solver) in enumerate(zip(FEET, solvers, strict=True)):
            left, right, knee = draw.uniform((-0.6, 0.2, -1.0), (-0.2, 0.6, 0.3)).tolist()
            goal.set_actuated_state(
                {
                    f"leg_{k}_swing_left": left,
                    f"leg_{k}_swing_right": right,
                    f"leg_{k}_extend_joint_ry": knee,
                }
            )
            targets.append(forward_kinematics(goal, foot)[:3, 3])
            solver.solve_actuated(targets[-1])
            assert solver.last_result is not None and bool(solver.last_result.success)
        for foot, target in zip(FEET, targets, strict=True):
            np.testing.assert_allclose(forward_kinematics(robot, foot)[:3, 3], target, atol=1e-9)
        virtual, actuated = robot.get_virtual_state(), robot.get_actuated_state()
        for k in range(3):
            angles = [virtual[f"leg_{k}_gimbal_joint"][key] for key in ("rx", "ry", "rz")]
            swings = [actuated[f"leg_{k}_swing_{side}"] for side in ("left", "right")]
            assert closing_equation(angles, swings) < 1e-20  # assembled


@pytest.mark.row("S1-084", "S1-037", "S1-050")
def test_tips_under_the_names_of_the_leg():
    robot = fresh()
    tips = {"leg_2_swing_left": 1.3, "leg_2_swing_right": 0.4}
    robot.pass_group_arg_v_to_a({"leg_2_closed_chain": [tips]})
    zero = dict.fromkeys(("rx", "ry", "rz"), 0.0)
    robot.set_virtual_state({"leg_2_gimbal_joint": zero, "leg_1_gimbal_joint": zero})
    state = robot.get_actuated_state()
    assert state["leg_2_swing_left"] > 1.0 > 0.0 > state["leg_1_swing_left"]
    gimbal = {"leg_0_gimbal_joint": {"rx": 0.1, "ry": 0.0, "rz": 0.2}}
    robot.set_virtual_state(gimbal)
    swings = {key: v for key, v in robot.get_actuated_state().items() if "leg_0_swing" in key}
    robot.pass_group_arg_a_to_v({"leg_0_closed_chain": [gimbal]})
    robot.set_actuated_state(swings)
    found = robot.get_virtual_state()["leg_0_gimbal_joint"]
    assert found == pytest.approx(gimbal["leg_0_gimbal_joint"], abs=1e-9)
