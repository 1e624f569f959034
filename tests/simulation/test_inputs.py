"""Every wrong argument is refused by name, before anything is computed."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import linkwork as lw
from linkwork.errors import InputError, ShapeError, UnknownNameError
from linkwork.simulation.inputs import (
    Event,
    Grid,
    Options,
    for_actuated,
    for_joints,
)
from linkwork.simulation.joint_forces import PD, Stops
from pendulums import brick, pendulum, request, slider_urdf
from robots import mechanism_from

M = pendulum(2)
NAN = float("nan")


@pytest.mark.parametrize(
    ("how", "kind", "text"),
    [
        ({"duration": -1.0}, InputError, "duration must be a finite number from 0"),
        ({"duration": NAN}, InputError, "duration must be"),
        ({"duration": float("inf")}, InputError, "duration must be"),
        ({"duration": "1"}, InputError, "duration must be"),
        ({"dt": 0.0}, InputError, "dt must be a finite number above 0"),
        ({"dt": -1e-3}, InputError, "dt must be a finite number above 0"),
        ({"tolerance": 0}, InputError, "tolerance must be a finite number above 0"),
        ({"max_speed": NAN}, InputError, "max_speed must be a finite number above 0"),
        ({"method": "rk5"}, UnknownNameError, "no method of integration named 'rk5'; nearest: rk4"),
        ({"method": None}, UnknownNameError, "no method of integration"),
        (
            {"record": -1},
            InputError,
            r"record \(every k-th state; 0: first and last\) must be a whole number from 0",
        ),
        (
            {"record": 1.5},
            InputError,
            r"record \(every k-th state; 0: first and last\) must be a whole number from 0",
        ),
        (
            {"record": True},
            InputError,
            r"record \(every k-th state; 0: first and last\) must be a whole number from 0",
        ),
        ({"events": [lambda t, q, v: 1.0]}, InputError, "events are found by method='dopri5'"),
        ({"torque": [0.0, NAN]}, InputError, r"torque\[1\] \(joint 'j2'\) is nan"),
        ({"torque": [1.0]}, ShapeError, r"torque must have shape \(..., 2\)"),
        ({"torque": "hold"}, InputError, "torque must be real numbers"),
        ({"torque": PD([1.0, float("inf")])}, InputError, r"kp\[1\] \(joint 'j2'\) is inf"),
        ({"torque": PD(1.0, q_target=[0.0])}, ShapeError, "q_target must have shape"),
        ({"torque": PD(1.0, effort_limit=-1.0)}, InputError, "effort_limit must not be negative"),
        ({"gravity": [0.0, NAN, 0.0]}, InputError, r"gravity\[1\] is nan"),
        ({"gravity": 9.81}, ShapeError, r"gravity must have shape \(..., 3\)"),
        ({"external": [1]}, InputError, "external is {frame: wrench"),
        ({"external": {"l3": np.zeros(6)}}, UnknownNameError, "no frame named 'l3'"),
        ({"external": {"l2": np.zeros(3)}}, ShapeError, r"external\['l2'\] must have shape"),
        ({"armature": [0.1, -0.1]}, InputError, "armature must not be negative"),
        ({"stops": 3}, InputError, r"stops is True or Stops\(...\)"),
        ({"stops": True}, InputError, "no joint with a limit"),
        ({"torque": np.zeros((3, 2))}, ShapeError, None),
    ],
)
def test_refusals(how: dict[str, Any], kind: type[Exception], text: str | None):
    with pytest.raises(kind, match=text):
        request(M, np.zeros((2, 2)), **{"duration": 0.01, **how})


@pytest.mark.parametrize(
    ("q0", "v0", "text"),
    [
        ([0.0, NAN], None, r"q0\[1\] \(joint 'j2'\) is nan"),
        ([[0.0, 0.0], [np.inf, 0.0]], None, r"q0\[1, 0\] \(joint 'j1'\) is inf"),
        ([0.0, 0.0], [0.0, NAN], r"v0\[1\] \(joint 'j2'\) is nan"),
        ([0.0], None, r"q0 must have shape \(..., 2\)"),
        ([0.0, 0.0], [1.0], r"v0 must have shape \(..., 2\)"),
        (np.zeros((0, 2)), None, "there is no roll-out"),
        (np.zeros((2, 2)), np.zeros((3, 2)), r"do not go together: q0 \(2, 2\), v0 \(3, 2\)"),
    ],
)
def test_states_are_checked(q0: Any, v0: Any, text: str):
    with pytest.raises(InputError, match=text):
        request(M, q0, v0)


def test_a_quaternion_without_length():
    with pytest.raises(InputError, match=r"the quaternion of joint '.*' has length zero"):
        request(brick(), np.zeros(7))


def test_what_cannot_move_and_what_has_no_mass():
    with pytest.raises(InputError, match="no joint that moves"):
        request(mechanism_from('<robot name="rock"><link name="rock"/></robot>'), [])
    text = """<robot name="bare"><link name="base"/><link name="arm"/>
      <joint name="hinge" type="continuous"><parent link="base"/><child link="arm"/></joint>
      </robot>"""
    with pytest.raises(InputError, match=r"(?s)hinge|arm"):
        request(mechanism_from(text), [0.0])


def test_stops_take_the_inertia_of_the_joint_where_they_say_nothing():
    m = mechanism_from(slider_urdf())
    asked = request(m, [0.0], stops=Stops(time=0.1))
    assert asked.values["stop_stiffness"].tolist() == pytest.approx([100.0])  # of 1 kg
    assert asked.values["stop_damping"].tolist() == pytest.approx([20.0])
    asked = request(m, [0.0], stops=Stops(stiffness=4.0))
    assert asked.values["stop_damping"].tolist() == pytest.approx([4.0])
    with pytest.raises(InputError, match="Stops: stiffness must not be negative"):
        request(m, [0.0], stops=Stops(stiffness=-4.0))


def test_leading_shapes_are_broadcast_over_all_that_is_given():
    asked = request(M, np.zeros((3, 1, 2)), torque=PD(np.ones((4, 2)), 0.1), gravity=[0, 0, -1.0])
    assert asked.lead == (3, 4)
    assert asked.q0.shape == (12, 2)
    assert asked.values["kp"].shape == (12, 2)
    assert asked.values["kd"].shape == (2,)
    assert asked.values["q_target"].shape == (12, 2)  # where each begins


def test_functions_of_time_are_checked_when_they_are_called():
    asked = request(M, np.zeros((3, 2)), torque=PD(lambda t: [1.0, np.nan if t > 1 else 1.0]))
    assert asked.functions["kp"](0.5).tolist() == [1.0, 1.0]
    with pytest.raises(InputError, match=r"kp\(2\)\[1\] \(joint 'j2'\) is nan"):
        asked.functions["kp"](2.0)
    wrong = request(M, np.zeros((3, 2)), torque=PD(lambda t: np.ones((2, 2))))
    with pytest.raises(ShapeError, match=r"kp\(0\) must have the shape \(3, 2\), not \(2, 2\)"):
        wrong.functions["kp"](0.0)


def test_steps_fill_the_duration():
    assert Options(duration=1.0, dt=1e-3).grid().steps == 1000
    assert Options(duration=0.3, dt=0.1).grid().steps == 3
    assert Options(duration=0.31, dt=0.1).grid().steps == 4
    assert Options(duration=0.0).grid().steps == 0
    assert Options(duration=1.0, record=0).grid().kept == 2
    with pytest.raises(InputError, match="too short"):
        Options(duration=1.0, dt=1e-300).grid()


def test_events_have_names_and_directions():
    options = Options(duration=1.0, method="dopri5", events=[lambda t, q, v: 0.0, Event(min)])
    assert [e.name for e in options.event_list()] == ["event 0", "event 1"]
    with pytest.raises(InputError, match="direction"):
        Options(duration=1.0, method="dopri5", events=[Event(min, direction=2)]).event_list()
    with pytest.raises(InputError, match="is no function"):
        Options(duration=1.0, method="dopri5", events=[3]).event_list()  # type: ignore[list-item]
    for alone in (min, Event(min)):
        with pytest.raises(InputError, match="events are a list, also where it is one"):
            Options(duration=1.0, method="dopri5", events=alone).event_list()  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("steps", "every", "expected"),
    [(4, 1, [0, 1, 2, 3, 4]), (5, 2, [0, 2, 4, 5]), (6, 3, [0, 3, 6]), (3, 9, [0, 3]), (0, 1, [0])],
)
def test_kept_instants(steps: int, every: int, expected: list[int]):
    grid = Grid(2.0 if steps else 0.0, steps, every)
    h = 2.0 / steps if steps else 0.0
    np.testing.assert_allclose(grid.times(), [k * h for k in expected])
    assert grid.kept == len(expected)


def test_constants_are_shared_where_they_can_be():
    one = request(M, np.zeros((5, 2)), torque=[1.0, 2.0], gravity=[0, 0, -1])
    assert one.constants().tolist() == [[1.0, 2.0, 0.0, 0.0, -1.0]]
    many = request(M, np.zeros((5, 2)), torque=np.ones((5, 2)), gravity=[0, 0, -1])
    assert many.constants().shape == (5, 5)
    assert many.rows == 5


def test_functions_of_time_side_by_side():
    """At one instant for all rows, or one each."""
    asked = request(M, np.zeros(2), torque=PD(1.0, q_target=lambda t: [t, 2 * t]))
    assert asked.controls(0.5).tolist() == [[0.5, 1.0]]
    law = PD(1.0, q_target=lambda t: np.outer([1.0, 2.0, 3.0], [t, -t]))
    rows = request(M, np.zeros((3, 2)), torque=law)
    assert rows.controls(0.5).tolist() == [[0.5, -0.5], [1.0, -1.0], [1.5, -1.5]]
    found = rows.controls(np.array([1.0, 1.0, 2.0]))
    assert found[:, 0].tolist() == [1.0, 2.0, 6.0]


def test_a_trajectory_of_some_joints_leaves_the_others_where_they_begin():
    move = lw.trajectory.point_to_point(
        [0.2], [1.0], velocity=1.0, profile="cubic", joint_names=["j2"]
    )
    t = 0.5 * move.duration
    asked = request(M, np.array([[0.7, 0.2], [0.9, 0.2]]), torque=PD(1.0, 0.1, q_target=move))
    rates = [0.0, float(move.velocity(t)[0])]
    expected = [[0.7, float(move(t)[0]), *rates], [0.9, float(move(t)[0]), *rates]]
    np.testing.assert_allclose(asked.controls(t), expected)
    mirrored = lw.trajectory.from_polynomials(
        [0.0, 1.0], [[[0.1, 0.2], [1.0, 2.0]]], joint_names=["j2", "j1"]
    )
    asked = request(M, np.zeros(2), torque=PD(1.0, q_target=mirrored))
    np.testing.assert_allclose(asked.controls(0.0), [[0.2, 0.1, 2.0, 1.0]])
    other = lw.trajectory.from_polynomials([0.0, 1.0], [[[0.1]]], joint_names=["elbow"])
    with pytest.raises(UnknownNameError, match="elbow"):
        request(M, np.zeros(2), torque=PD(1.0, q_target=other))


def test_the_derivative_of_a_quaternion_is_no_target_velocity():
    names = [f"base/{part}" for part in ("x", "y", "z", "qw", "qx", "qy", "qz")]
    m = brick()
    names = [name.replace("base", m.joint_names[0]) for name in names]
    still = lw.trajectory.from_polynomials([0.0, 1.0], [np.eye(1, 7, 3)], joint_names=names)
    with pytest.raises(InputError, match="v_target has to be given"):
        request(m, np.eye(1, 7, 3)[0], torque=PD(np.ones(6), np.ones(6), q_target=still))
    asked = request(m, np.eye(1, 7, 3)[0], torque=PD(np.ones(6), np.ones(6), still, np.zeros(6)))
    assert asked.controls(0.0).tolist() == np.eye(1, 7, 3).tolist()


# numbers for joints: of all, of those that are actuated, or by name

FIVE_BAR = lw.load("five_bar").mechanism  # left, left_elbow, right, right_elbow


def test_one_number_is_for_the_actuated_joints():
    assert for_actuated(FIVE_BAR, 3.0, "kp").tolist() == [3.0, 0.0, 3.0, 0.0]
    assert for_actuated(pendulum(3), 3.0, "kp").tolist() == [3.0, 3.0, 3.0]


def test_one_number_drives_no_floating_base():
    """Held by gains that are meant for its legs, it would hang in the air."""
    dog = lw.load("quadruped", base="floating")
    legs = np.r_[np.zeros(6), np.ones(dog.n_v - 6)]
    law = {"kp": 50.0, "kd": 2.0, "feed_forward": 0.5}
    one = lw.simulate(dog, dog.neutral(), duration=0.1, torque=PD(**law), armature=0.05)
    each = {name: value * legs for name, value in law.items()}
    same = lw.simulate(dog, dog.neutral(), duration=0.1, torque=PD(**each), armature=0.05 * legs)
    np.testing.assert_array_equal(one.q, same.q)
    assert not one.torques[:, :6].any() and one.torques[:, 6:].all()
    fallen = dog.com(one.q[-1])[2] - dog.com(one.q[0])[2]
    assert fallen == pytest.approx(-0.5 * 9.80665 * 0.1**2, rel=0.02)
    with pytest.raises(InputError, match="kp: one number is for all joints but floating ones"):
        request(brick(), np.eye(1, 7, 3)[0], torque=PD(5.0))


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ([1.0, 2.0, 3.0, 4.0], [1.0, 2.0, 3.0, 4.0]),
        ([1.0, 2.0], [1.0, 0.0, 2.0, 0.0]),
        ([[1.0, 2.0], [3.0, 4.0]], [[1.0, 0.0, 2.0, 0.0], [3.0, 0.0, 4.0, 0.0]]),
        ({"right": 5.0}, [0.0, 0.0, 5.0, 0.0]),
        ({"right": [[5.0], [6.0]], "left": 1}, [[1.0, 0.0, 5.0, 0.0], [1.0, 0.0, 6.0, 0.0]]),
        ({}, [0.0, 0.0, 0.0, 0.0]),
    ],
)
def test_by_joint(given: object, expected: list[object]):
    np.testing.assert_array_equal(for_joints(FIVE_BAR, given, "kp"), expected)


def test_what_is_not_meant_stays():
    base = np.array([0.1, 0.2, 0.3, 0.4])
    found = for_joints(FIVE_BAR, [1.0, 2.0], "q_target", of_q=True, elsewhere=base)
    assert found.tolist() == [1.0, 0.2, 2.0, 0.4]
    assert base.tolist() == [0.1, 0.2, 0.3, 0.4]
    named = for_joints(brick(), {brick().joint_names[0]: 2.0}, "kp")
    assert named.tolist() == [2.0] * 6


def test_numbers_for_joints_that_are_refused():
    said = r"kp must have shape \(..., 4\), or \(..., 2\) for the actuated joints \(left, right\)"
    with pytest.raises(ShapeError, match=said):
        for_joints(FIVE_BAR, [1.0, 2.0, 3.0], "kp")
    with pytest.raises(ShapeError, match=r"kp must have shape \(..., 2\), not \(3,\)"):
        for_joints(pendulum(2), [1.0, 2.0, 3.0], "kp")
    with pytest.raises(UnknownNameError, match="lefty"):
        for_joints(FIVE_BAR, {"lefty": 1.0}, "kp")
    with pytest.raises(ShapeError, match=r"kp\['left'\] must have shape \(..., 1\)"):
        for_joints(FIVE_BAR, {"left": [1.0, 2.0]}, "kp")
    with pytest.raises(InputError, match=r"kp\['left'\] must be real numbers"):
        for_joints(FIVE_BAR, {"left": "much"}, "kp")
