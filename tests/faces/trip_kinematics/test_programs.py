"""Programs that were written for the original, run by changing nothing but the start."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

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


def run(program: str, folder: Path) -> str:
    path = folder / "program.py"
    path.write_text(program, encoding="utf-8")
    line = [sys.executable, "-m", "linkwork", "run", "--as", "trip_kinematics", str(path)]
    done = subprocess.run(line, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.row("S1-081", "S1-024", "S1-020")
def test_the_excavator_of_a_program(tmp_path: Path):
    lines = run(EXCAVATOR, tmp_path).split("\n")
    assert lines[0] == "0.3"
    assert lines[1] == "[2.483875, 0.0, -0.768353]"


@pytest.mark.row("S1-083", "S1-037", "S1-062", "S1-066")
def test_a_leg_whose_mappings_call_an_optimiser(tmp_path: Path):
    lines = run(LEG, tmp_path).strip().split("\n")
    assert lines[-3:] == ["True", "True", "linkwork.faces.trip_kinematics"]


@pytest.mark.row("S1-085")
def test_the_shipped_robots_by_their_old_names(tmp_path: Path):
    program = (
        "from trip_kinematics import forward_kinematics\n"
        "from trip_robots.triped import triped\n"
        "from trip_robots.triped_leg import gimbal_to_swing, swing_to_gimbal, triped_leg\n"
        "from trip_robots.excavator_rr import geometric_excavator, closure_excavator\n"
        "for robot in (triped, triped_leg, geometric_excavator, closure_excavator):\n"
        "    print(forward_kinematics(robot, robot.get_endeffectors()[-1]).shape)\n"
    )
    assert run(program, tmp_path) == "(4, 4)\n" * 4
