"""Stops stop_forces back and never pull; their force has no jump."""

from __future__ import annotations

import numpy as np
import pytest

from linkwork.errors import InputError, UnknownNameError
from linkwork.ops.numpy import NUMPY
from linkwork.simulation.joint_forces import Stops, limited, stop_forces
from pendulums import pendulum, slider_urdf
from robots import every_joint_urdf, mechanism_from

M = mechanism_from(slider_urdf())
GIVEN = {
    "stop_stiffness": np.array([1000.0]),
    "stop_damping": np.array([50.0]),
    "stop_width": np.array([100.0]),
}


def force(x: float, v: float) -> float:
    return float(stop_forces(NUMPY, M, np.array([x]), np.array([v]), (0,), GIVEN)[0])


def test_inside_nothing_acts():
    assert [force(x, v) for x in (-0.5, 0.0, 0.5) for v in (-9.0, 0.0, 9.0)] == [0.0] * 9


def test_beyond_it_pushes_back_on_both_sides():
    assert force(0.6, 0.0) == pytest.approx(-100.0)
    assert force(-0.6, 0.0) == pytest.approx(100.0)
    assert force(0.6, 1.0) == pytest.approx(-150.0)
    assert force(-0.6, -1.0) == pytest.approx(150.0)
    assert force(0.505, 1.0) == pytest.approx(-5.0 - 0.5 * 50.0)  # damping sets in


def test_it_never_pulls():
    assert force(0.6, -10.0) == 0.0
    assert force(-0.6, 10.0) == 0.0


def test_no_force_jumps():
    for v in (-3.0, 0.0, 7.0):
        x = np.linspace(0.49, 0.53, 20001)
        values = np.array([force(a, v) for a in x])
        assert np.abs(np.diff(values)).max() < 0.08


def test_which_joints():
    assert limited(M, None) == (0,)
    assert limited(M, "slide") == (0,)
    m = mechanism_from(every_joint_urdf())
    names = [m.joint_names[c] for c in limited(m, None)]
    assert {"shoulder", "socket"} <= set(names)
    assert all(m.joint_types[m.joint(name)].n_q == 1 for name in set(names) - {"socket"})


def test_a_ball_joint_is_pushed_back_about_the_axis_that_it_is_turned_by():
    m = mechanism_from(
        '<robot name="r"><link name="a"/><link name="b"/><joint name="j" type="spherical">'
        '<parent link="a"/><child link="b"/><limit upper="1" effort="1" velocity="1"/></joint>'
        "</robot>"
    )
    axis = np.array([0.6, -0.64, 0.48])
    for angle, beyond in ((0.9, False), (1.2, True), (-1.2, True)):
        q = np.array([np.cos(angle / 2), *(np.sin(angle / 2) * axis)])
        pushed = np.array(stop_forces(NUMPY, m, q, np.zeros(3), (0,), GIVEN))
        assert bool(pushed.any()) == beyond
        assert pushed @ axis == pytest.approx(-np.sign(angle) * np.linalg.norm(pushed))


def test_refusals():
    with pytest.raises(UnknownNameError, match="no joint named 'slid'"):
        limited(M, "slid")
    with pytest.raises(InputError, match="joint 'j1' has no limit"):
        limited(pendulum(2), ["j1"])
    with pytest.raises(InputError, match="no joint with a limit"):
        limited(pendulum(2), None)
    with pytest.raises(InputError, match="time must be a finite number above 0"):
        Stops(time=0.0)
    with pytest.raises(InputError, match="width must be a finite number above 0"):
        Stops(width=float("nan"))
