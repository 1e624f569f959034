"""The equation of motion called from Python, and the names that messages use."""

from __future__ import annotations

import numpy as np

from linkwork.simulation.actuators import PD
from linkwork.simulation.drive import Drive, joint_of_q, joint_of_v
from pendulums import LIBRARY, brick, pendulum, request


def test_rates_of_rows_at_their_own_times():
    m = pendulum(1)
    asked = request(m, np.zeros((3, 1)), torque=PD(0.0, feed_forward=lambda t: [10.0 * t]))
    drive = Drive(asked, LIBRARY)
    rates, controls = drive.rates(
        np.array([0.0, 1.0, 2.0]), asked.q0, np.zeros((3, 1)), np.ones((3, 1))
    )
    np.testing.assert_allclose(controls, [[0.0], [10.0], [20.0]])
    np.testing.assert_allclose(rates, [[1.0, 0.0], [1.0, 10.0], [1.0, 20.0]], atol=1e-14)
    rates, _ = drive.rates(1.0, asked.q0, np.zeros((3, 1)), np.ones((3, 1)))
    np.testing.assert_allclose(rates[:, 1], 10.0)


def test_functions_of_time_with_rows_give_each_row_its_own():
    m = pendulum(1)
    law = PD(0.0, feed_forward=lambda t: np.array([[1.0], [2.0], [3.0]]) * t)
    drive = Drive(request(m, np.zeros((3, 1)), torque=law), LIBRARY)
    found = drive.controls(np.array([1.0, 1.0, 2.0]), np.zeros((3, 1)), np.zeros((3, 1)))
    np.testing.assert_allclose(found, [[1.0], [2.0], [6.0]])


def test_move():
    drive = Drive(request(pendulum(2), [0.1, 0.2]), LIBRARY)
    np.testing.assert_allclose(
        drive.move(np.array([[0.1, 0.2]]), np.array([[1.0, 2.0]])), [[1.1, 2.2]]
    )


def test_names():
    m = brick()
    assert {joint_of_v(m, k) for k in range(6)} == set(m.joint_names)
    assert {joint_of_q(m, k) for k in range(7)} == set(m.joint_names)
    assert [joint_of_v(pendulum(3), k) for k in range(3)] == ["j1", "j2", "j3"]
