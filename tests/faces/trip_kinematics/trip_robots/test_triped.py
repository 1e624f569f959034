"""The TriPed: three legs that do not know of each other."""

from __future__ import annotations

from math import radians

import numpy as np
import pytest

from linkwork.faces.trip_kinematics import Robot, SimpleInvKinSolver, forward_kinematics
from linkwork.faces.trip_kinematics.trip_robots.triped import leg_model, triped
from linkwork.faces.trip_kinematics.trip_robots.triped_leg import closing_equation, triped_leg
from seeds import rng
from trip_samples import homogeneous, rz

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
