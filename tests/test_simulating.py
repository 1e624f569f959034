"""The public call: robots, defaults, threads and progress."""

from __future__ import annotations

import numpy as np
import pytest

import linkwork as lw
from linkwork.errors import InputError
from linkwork.simulating import simulate
from linkwork.simulation.joint_forces import PD

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


@pytest.mark.parametrize("method", ["rk4", "implicit"])
def test_payloads_are_those_of_robots_that_carry_them(method):
    loads = np.array([[0.0, 0, 0, 0], [2.0, 0.1, 0.0, 0.2]])
    how = {"duration": 0.1, "dt": 1e-2, "method": method, "gravity": [0.0, -9.8, 0.0]}
    both = simulate(ROBOT, Q0, V0, payload={ROBOT.tip: loads}, **how)
    assert both.q.shape == (2, 11, 2)
    plain = simulate(ROBOT, Q0, V0, **how)
    heavy = simulate(ROBOT.with_payload(ROBOT.tip, 2.0, [0.1, 0.0, 0.2]), Q0, V0, **how)
    for row, alone in enumerate((plain, heavy)):
        for name in ("q", "v", "kinetic_energy", "potential_energy"):
            one, other = getattr(both, name)[row], getattr(alone, name)
            np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-12)
    assert np.abs(heavy.q - plain.q).max() > 1e-3


def test_a_mass_alone_is_at_the_origin_of_the_frame_and_stops_know_it():
    how = {"duration": 0.05, "dt": 1e-2, "stops": True}
    one = simulate(ROBOT, Q0, payload={ROBOT.tip: 3.0}, **how)
    other = simulate(ROBOT.with_payload(ROBOT.tip, 3.0), Q0, **how)
    np.testing.assert_allclose(one.q, other.q, rtol=1e-9, atol=1e-12)


def test_a_closed_mechanism_carries_a_payload():
    bars = lw.load("four_bar")
    q = bars.assemble([1.0]).q
    frame = bars.frame_names[bars.mechanism.n_link_frames - 1]
    how = {"duration": 0.05, "dt": 1e-3, "gravity": [0, -9.8, 0]}
    one = simulate(bars, q, payload={frame: [2.0, 0.1, 0, 0]}, **how)
    other = simulate(bars.with_payload(frame, 2.0, [0.1, 0, 0]), q, **how)
    np.testing.assert_allclose(one.q, other.q, rtol=1e-8, atol=1e-11)
    assert np.abs(bars.closure(one.q)).max() < 1e-11


@pytest.mark.parametrize(
    ("payload", "text"),
    [
        (2.0, "payload is {frame: mass}"),
        ({"tool": 1.0}, "no frame named 'tool'"),
        ({ROBOT.tip: -1.0}, "its mass must not be negative, and has -1"),
        ({ROBOT.tip: [1.0, 2.0]}, r"must have shape \(\.\.\., 4\)"),
        ({ROBOT.frame_names[0]: 1.0}, "no joint moves"),
        ({ROBOT.tip: lambda t: t}, "must be numbers, not a function"),
    ],
)
def test_payloads_that_are_none_are_refused_by_name(payload, text):
    with pytest.raises((InputError, lw.UnknownNameError), match=text):
        simulate(ROBOT, Q0, payload=payload)


def test_positions_and_velocities_by_name():
    first, second = ROBOT.joint_names
    named = simulate(ROBOT, {second: 0.4}, {first: 1.0}, 0.01)
    np.testing.assert_array_equal(named.q[0], ROBOT.configuration({second: 0.4}))
    np.testing.assert_array_equal(named.v[0], [1.0, 0.0])
    assert simulate(ROBOT, {}, None, 0.01).q[0].tolist() == ROBOT.neutral().tolist()
    for wrong in ({"q0": {"elbow9": 1.0}}, {"q0": Q0, "v0": {"elbow9": 1.0}}):
        with pytest.raises(lw.UnknownNameError, match="no joint named 'elbow9'"):
            simulate(ROBOT, **wrong)
    with pytest.raises(InputError, match=f"the velocity of joint '{first}'"):
        simulate(ROBOT, Q0, {first: "fast"})
