"""Programs that were written for the original, run by changing nothing but the start."""

from __future__ import annotations

import json
from math import cos, sin
from pathlib import Path

import pytest

from fresh_python import program_as

EXCAVATOR = """
from math import radians

import numpy as np

from trip_kinematics.KinematicGroup import KinematicGroup
from trip_kinematics.Robot import Robot, forward_kinematics
from trip_kinematics.Transformation import Transformation

boom, stick = 1.0, 0.7


def to_length(state, tips=None):
    corner = radians(90) - state["q_1"]["ry"]
    return {"a_1": np.sqrt(boom**2 + stick**2 - 2 * boom * stick * np.cos(corner))}


def to_angle(state, tips=None):
    cosine = (boom**2 + stick**2 - state["a_1"] ** 2) / (2 * boom * stick)
    return {"q_1": {"ry": radians(90) - np.arccos(cosine)}}


hinge = Transformation(name="q_1", values={"ry": 0}, state_variables=["ry"])
arm = Transformation(name="link_1", values={"tx": 2.6}, parent=hinge)
group = KinematicGroup(
    name="first group",
    virtual_chain=[hinge, arm],
    actuated_state={"a_1": 0},  # a length that no triangle has: arccos gives NaN
    actuated_to_virtual=to_angle,
    virtual_to_actuated=to_length,
)
robot = Robot([group])
robot.set_virtual_state({"q_1": {"ry": 0.3}})
length = robot.get_actuated_state()["a_1"]
robot.set_actuated_state({"a_1": length})
print(round(robot.get_virtual_state()["q_1"]["ry"], 9))
print(np.round(forward_kinematics(robot, "first group")[:3, 3], 6).tolist())

from trip_robots.triped import triped
from trip_robots.triped_leg import gimbal_to_swing, swing_to_gimbal, triped_leg
from trip_robots.excavator_rr import geometric_excavator, closure_excavator

for shipped in (triped, triped_leg, geometric_excavator, closure_excavator):
    print(forward_kinematics(shipped, shipped.get_endeffectors()[-1]).shape)
"""

LEG = """
from math import radians

import numpy as np
from casadi import SX, nlpsol, vertcat

import trip_kinematics
from trip_kinematics.KinematicGroup import KinematicGroup
from trip_kinematics.Robot import Robot, forward_kinematics
from trip_kinematics.Solver import SimpleInvKinSolver
from trip_kinematics.Transformation import Transformation
from trip_kinematics.Utility import get_translation, hom_rotation, hom_translation_matrix
from trip_kinematics.Utility import x_axis_rotation_matrix, y_axis_rotation_matrix
from trip_kinematics.Utility import z_axis_rotation_matrix


def centers(r_x, r_y, r_z):
    turned = hom_translation_matrix(t_x=0.265, t_z=0.014) @ hom_rotation(
        x_axis_rotation_matrix(r_x) @ y_axis_rotation_matrix(r_y) @ z_axis_rotation_matrix(r_z)
    )
    return [
        get_translation(turned @ hom_translation_matrix(t_x=0.015, t_y=y, t_z=-0.0965))
        for y in (0.029, -0.029)
    ]


def ball(theta, side):
    return get_translation(
        hom_translation_matrix(0.139807669447128, side * 0.0549998406976098, -0.051)
        @ hom_rotation(z_axis_rotation_matrix(side * radians(-345.0)))
        @ hom_rotation(z_axis_rotation_matrix(theta))
        @ hom_translation_matrix(t_x=0.085, t_z=-0.0245)
    )


swings = vertcat(SX.sym("left"), SX.sym("right"))
gimbal = vertcat(SX.sym("x"), SX.sym("y"), SX.sym("z"))
ways = [
    c - b
    for c, b in zip(
        centers(gimbal[0], gimbal[1], gimbal[2]), (ball(swings[1], 1), ball(swings[0], -1))
    )
]
closing = sum((w.T @ w - 0.11**2) ** 2 for w in ways) * 1e6
quiet = {"ipopt.print_level": 0, "print_time": 0, "ipopt.sb": "yes", "ipopt.tol": 1e-12}


def to_gimbal(state, tips=None):
    solver = nlpsol("a", "ipopt", {"x": gimbal, "f": closing, "p": swings}, quiet)
    found = np.array(solver(x0=[0, 0, 0], p=[state["swing_left"], state["swing_right"]])["x"])
    return {"gimbal_joint": {"rx": found[0], "ry": found[1], "rz": found[2]}}


def to_swing(state, tips=None):
    start = [0, 0] if tips is None else [tips["swing_left"], tips["swing_right"]]
    solver = nlpsol("b", "ipopt", {"x": swings, "f": closing, "p": gimbal}, quiet)
    found = np.array(solver(x0=start, p=list(state["gimbal_joint"].values()))["x"])
    return {"swing_left": found[0][0], "swing_right": found[1][0]}


place = Transformation(name="A_ccs_P_trans", values={"tx": 0.265, "tz": 0.014})
turns = Transformation(
    name="gimbal_joint",
    values={"rx": 0, "ry": 0, "rz": 0},
    state_variables=["rx", "ry", "rz"],
    parent=place,
)
chain = KinematicGroup(
    name="closed_chain",
    virtual_chain=[place, turns],
    actuated_state={"swing_left": 0, "swing_right": 0},
    actuated_to_virtual=to_gimbal,
    virtual_to_actuated=to_swing,
)
plate = Transformation(name="A_P_LL", values={"tx": 1.640, "tz": -0.037}, parent=chain)
zero = Transformation(name="zero_angle", values={"ry": radians(-3)}, parent=plate)
knee = Transformation(name="extend", values={"ry": 0}, state_variables=["ry"], parent=zero)
foot = Transformation(name="foot", values={"tx": -1.5}, parent=knee)
leg = Robot([chain, foot, knee, zero, plate])

solver = SimpleInvKinSolver(leg, "foot")
target = np.array([0.4, 0.05, -0.3])
state = solver.solve_actuated(target, mapping_argument={
    "closed_chain": [{"swing_left": -0.4, "swing_right": 0.4}]
})
leg.set_virtual_state(solver.solve_virtual(target))
print(np.abs(forward_kinematics(leg, "foot")[:3, 3] - target).max() < 1e-8)
swing = {key: state[key] for key in ("swing_left", "swing_right")}

from trip_robots.triped_leg import gimbal_to_swing

ours = gimbal_to_swing({"gimbal_joint": leg.get_virtual_state()["gimbal_joint"]})
print(max(abs(swing[key] - ours[key]) for key in swing) < 1e-5)
print(trip_kinematics.__name__)
"""


CYLINDERS = """
from math import pi, sqrt

import numpy as np
from casadi import SX, nlpsol

from trip_kinematics.KinematicGroup import KinematicGroup
from trip_kinematics.Robot import Robot, forward_kinematics
from trip_kinematics.Transformation import Transformation
from trip_kinematics.Utility import get_translation, hom_rotation, hom_translation_matrix
from trip_kinematics.Utility import y_axis_rotation_matrix

quiet = {"ipopt.print_level": 0, "print_time": 0, "ipopt.sb": "yes", "ipopt.tol": 1e-14}


def turn(angle):
    return hom_rotation(y_axis_rotation_matrix(angle))


def mappings(hinge, cylinder, lever, foot, start):
    # the hinge, its lever, the cylinder's turn, the cylinder, and there is its foot again
    x = SX.sym("x", 3)
    around = turn(x[0]) @ hom_translation_matrix(t_x=lever) @ turn(x[1])
    end = get_translation(around @ hom_translation_matrix(t_x=x[2]))
    open_by = sum((end[k] - foot[k]) ** 2 for k in range(3))

    def to_length(state, tips=None):
        solver = nlpsol("l", "ipopt", {"x": x[1:], "f": open_by, "p": x[0]}, quiet)
        found = np.array(solver(x0=start[1:], p=[state[hinge]["ry"]])["x"])
        return {cylinder: found[1]}

    def to_angle(state, tips=None):
        solver = nlpsol("a", "ipopt", {"x": x[:2], "f": open_by, "p": x[2]}, quiet)
        found = np.array(solver(x0=start[:2], p=[state[cylinder]])["x"])
        return {hinge: {"ry": found[0]}}

    return to_angle, to_length


q_1 = Transformation(name="q_1", values={"ry": 0}, state_variables=["ry"])
link_1 = Transformation(name="link_1", values={"tx": 2.6}, parent=q_1)
q_2 = Transformation(name="q_2", values={"ry": -pi / 2}, state_variables=["ry"])
link_2 = Transformation(name="link_2", values={"tx": 1.7}, parent=q_2)
one = mappings("q_1", "a_1", 1.0, (0.0, 0.0, -0.7), (0.0, 2.5, sqrt(1.49)))
two = mappings("q_2", "a_2", -0.4, (-1.2, 0.0, 0.0), (-pi / 2, -1.3, sqrt(1.6)))
first = KinematicGroup("first", [q_1, link_1], {"a_1": sqrt(1.49)}, one[0], one[1])
second = KinematicGroup("second", [q_2, link_2], {"a_2": sqrt(1.6)}, two[0], two[1], parent=first)
robot = Robot([first, second])

from trip_robots.excavator_rr import closure_excavator, geometric_excavator

robot.set_virtual_state({"q_1": {"ry": 0.3}, "q_2": {"ry": -1.2}})
lengths = robot.get_actuated_state()
print(forward_kinematics(robot, "second")[:3, 3].round(9).tolist())
for other in (closure_excavator, geometric_excavator):
    other.set_actuated_state(lengths)
    print(forward_kinematics(other, other.get_endeffectors()[1])[:3, 3].round(9).tolist())
robot.set_virtual_state({"q_1": {"ry": -0.2}, "q_2": {"ry": -1.9}})
robot.set_actuated_state(lengths)
print(forward_kinematics(robot, "second")[:3, 3].round(9).tolist())
"""

LEGS = """
from copy import deepcopy
from math import radians

import numpy as np

from trip_kinematics.KinematicGroup import KinematicGroup
from trip_kinematics.Robot import Robot, forward_kinematics
from trip_kinematics.Solver import SimpleInvKinSolver
from trip_kinematics.Transformation import Transformation
from trip_robots.triped import triped
from trip_robots.triped_leg import gimbal_to_swing, swing_to_gimbal


def leg(number):
    p = f"leg_{number}_"

    def to_gimbal(swing, tips=None):
        plain = {key[len(p):]: value for key, value in deepcopy(swing).items()}
        tips = None if tips is None else tips[p + "gimbal_joint"]
        return {p + "gimbal_joint": swing_to_gimbal(plain, tips)["gimbal_joint"]}

    def to_swing(gimbal, tips=None):
        plain = {"gimbal_joint": gimbal[p + "gimbal_joint"]}
        tips = None if tips is None else {key[len(p):]: value for key, value in tips.items()}
        return {p + key: value for key, value in gimbal_to_swing(plain, tips).items()}

    turn = Transformation(name=p + "turn", values={"rz": -radians(120) * number})
    place = Transformation(name=p + "place", values={"tx": 0.265, "tz": 0.014}, parent=turn)
    angles = {"rx": 0, "ry": 0, "rz": 0}
    joint = Transformation(p + "gimbal_joint", angles, list(angles), parent=place)
    chain = KinematicGroup(
        name=p + "chain",
        virtual_chain=[turn, place, joint],
        actuated_state={p + "swing_left": 0, p + "swing_right": 0},
        actuated_to_virtual=to_gimbal,
        virtual_to_actuated=to_swing,
    )
    plate = Transformation(name=p + "plate", values={"tx": 1.640, "tz": -0.037}, parent=chain)
    zero = Transformation(name=p + "zero", values={"ry": radians(-3)}, parent=plate)
    knee = Transformation(p + "extend_joint", {"ry": 0}, ["ry"], parent=zero)
    foot = Transformation(name=p + "foot", values={"tx": -1.5}, parent=knee)
    return [chain, knee, foot, plate, zero]


robot = Robot(leg(0) + leg(1) + leg(2))
swings = {"leg_1_swing_left": -0.3, "leg_1_swing_right": 0.4, "leg_1_extend_joint_ry": -0.2}
for each in (robot, triped):
    each.set_actuated_state(swings)
foot = forward_kinematics(robot, "leg_1_foot")
print(np.abs(foot - forward_kinematics(triped, "leg_1_A_LL_Joint_FCS")).max() < 1e-12)
solver = SimpleInvKinSolver(robot, "leg_1_foot", update_robot=True)
state = solver.solve_actuated(foot[:3, 3])
print(np.abs(forward_kinematics(robot, "leg_1_foot")[:3, 3] - foot[:3, 3]).max() < 1e-8)
print(sorted(state) == sorted(robot.get_actuated_state()), len(state))
"""


def run(program: str, folder: Path) -> list[str]:
    return program_as("trip_kinematics", program, folder)


@pytest.mark.row("S1-081", "S1-024", "S1-020", "S1-085")
def test_the_excavator_of_a_program_and_the_shipped_robots(tmp_path: Path):
    lines = run(EXCAVATOR, tmp_path)
    assert " ".join(lines) == f"0.3 [2.483875, 0.0, -0.768353]{4 * ' (4, 4)'}"


@pytest.mark.slow
@pytest.mark.row("S1-083", "S1-037", "S1-062", "S1-066")
def test_a_leg_whose_mappings_call_an_optimiser(tmp_path: Path):
    lines = run(LEG, tmp_path)
    assert lines[-3:] == ["True", "True", "linkwork.faces.trip_kinematics"]


@pytest.mark.slow
@pytest.mark.row("S1-082", "S1-085", "S1-066")
def test_the_excavator_by_programs_for_an_optimiser(tmp_path: Path):
    lines = run(CYLINDERS, tmp_path)[-4:]
    x, z = 2.6 * cos(0.3) + 1.7 * cos(-0.9), -2.6 * sin(0.3) - 1.7 * sin(-0.9)
    for line in lines:  # one robot with programs, both shipped ones, and back to the first
        assert json.loads(line) == pytest.approx([x, 0.0, z], abs=1e-5)


@pytest.mark.slow
@pytest.mark.row("S1-084", "S1-085", "S1-037")
def test_three_legs_with_mappings_under_other_names(tmp_path: Path):
    assert run(LEGS, tmp_path)[-3:] == ["True", "True", "True 9"]
