"""The public call: robots, defaults, threads and progress."""

from __future__ import annotations

import numpy as np
import pytest

import linkwork as lw
from linkwork.errors import InputError
from linkwork.simulating import _library, simulate
from linkwork.simulation.actuators import PD

ROBOT = lw.load("planar_2r")
Q0, V0 = np.array([0.3, 0.4]), np.array([1.0, -2.0])


def test_a_robot_and_its_mechanism():
    result = simulate(ROBOT, Q0, duration=0.05)
    assert result.finished
    np.testing.assert_array_equal(result.q, simulate(ROBOT.mechanism, Q0, None, 0.05).q)
    assert result.times[-1] == 0.05
    np.testing.assert_array_equal(result.q[0], Q0)
    np.testing.assert_array_equal(result.v[0], 0.0)


def test_every_option_reaches_the_simulation():
    base = simulate(ROBOT, Q0, V0, 0.05).q[-1]
    tip = ROBOT.tip
    changes = (
        {"torque": PD(100.0, 1.0, q_target=[1.0, 1.0])}, {"method": "euler"}, {"dt": 0.05},
        {"gravity": [9.0, 0.0, 0.0]}, {"external": {tip: [0, 9.0, 0, 0, 0, 0]}},
        {"armature": 5.0, "torque": [1.0, 1.0]}, {"torque": lambda t, q, v: np.ones(2)},
    )  # fmt: skip
    for change in changes:
        changed = simulate(ROBOT, Q0, V0, 0.05, **change)
        assert np.abs(changed.q[-1] - base).max() > 1e-12, change
    assert simulate(ROBOT, Q0, V0, 0.05, record=0).times.size == 2
    assert not simulate(ROBOT, Q0, V0, 0.05, max_speed=0.1).finished
    told = []
    simulate(ROBOT, Q0, V0, 0.05, progress=lambda *a: told.append(a), threads=2)
    assert told[-1] == (50, 50)


def test_wrong_arguments_are_refused():
    with pytest.raises(InputError, match="duration"):
        simulate(ROBOT, Q0, duration=-1.0)
    with pytest.raises(InputError, match="q0"):
        simulate(ROBOT, [0.0])


def test_code_is_compiled_once():
    simulate(ROBOT, Q0, duration=0.01)
    known = len(_library()._found)
    simulate(ROBOT, 2 * Q0, duration=0.02, dt=1e-4)
    assert len(_library()._found) == known


def test_what_is_no_robot_is_said():
    for wrong in ("panda", None, 3):
        with pytest.raises(InputError, match="as linkwork"):
            simulate(wrong, [0.0], duration=1.0)  # type: ignore[arg-type]


def test_states_that_fit_nowhere_are_said():
    robot = lw.load("planar_2r")
    with pytest.raises(InputError, match="by record="):
        simulate(robot, np.zeros((100_000, 2)), duration=1e6, dt=1e-3)


def test_a_rotor_of_zero_moves_nothing():
    text = """<robot name="r"><link name="a"/><link name="b"><inertial><mass value="1"/>
    <inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial></link><link name="tool"/>
    <joint name="j1" type="continuous"><parent link="a"/><child link="b"/></joint>
    <joint name="j2" type="continuous"><parent link="b"/><child link="tool"/></joint></robot>"""
    robot = lw.load(text)
    for armature in ([0.1, 0.0], [[0.1, 0.2], [0.1, 0.0]]):
        with pytest.raises(InputError, match="'j2'"):
            simulate(robot, [0.1, 0.2], duration=0.01, armature=armature)
    assert simulate(robot, [0.1, 0.2], duration=0.01, armature=[0.0, 0.1])
