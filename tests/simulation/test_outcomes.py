"""What is said of roll-outs: limits passed, energy that changes by itself, singular passages."""

from __future__ import annotations

import json
import pickle

import numpy as np
import pytest

import linkwork as lw
from overclosed import bennett, four_bar
from pendulums import pendulum, simulated, slider_urdf
from robots import mechanism_from

SLIDER = mechanism_from(slider_urdf())  # between -0.5 and 0.5 m


def test_joints_that_pass_their_limits_are_named():
    """A mass that slides freely at 1 m/s is at 0.5 m after 0.5 s, and at 0.8 m after 0.8 s."""
    one = simulated(SLIDER, [0.0], [1.0], 0.8, dt=0.01)
    assert one.limit_excess == pytest.approx([0.3])
    assert one.reason == (
        "finished; joint 'slide' passes its upper limit of 0.5 m at t = 0.51 s, by up to 0.3 m "
        "(stops=True lets limits push back)"
    )
    assert one
    assert "passes its upper limit" in repr(one)
    many = simulated(SLIDER, [[0.0], [0.0], [0.0]], [[0.1], [-1.0], [-2.0]], 0.8, dt=0.01)
    np.testing.assert_allclose(many.limit_excess, [[0.0], [0.3], [1.1]], atol=1e-12)
    low = "joint 'slide' passes its lower limit of -0.5 m at t = 0.51 s, by up to 0.3 m"
    assert many.reason.startswith(f"2 of 3 pass joint limits; the first, [1]: {low}")
    assert many.reason_for(0) == "finished"
    assert many.reason_for(1).startswith(f"finished; {low}")
    at_the_limit = simulated(SLIDER, [0.0], [1.0], 0.5, dt=0.01)
    assert at_the_limit.reason == "finished"


def test_limits_that_stops_hold_and_states_that_are_not_there():
    held = simulated(SLIDER, [0.0], [1.0], 0.8, stops=True)
    assert 0.0 < held.limit_excess[0] < 0.02
    assert "stops=True" not in held.reason
    wild = simulated(SLIDER, [0.0], [1.0], 0.8, torque=[100.0], max_speed=9.0, dt=0.01)
    assert not wild
    assert wild.limit_excess[0] == pytest.approx(np.nanmax(wild.q) - 0.5)
    assert "above max_speed" in wild.reason.split("; ")[0]
    assert "joint 'slide' passes" in wild.reason


SWING = pendulum(2)  # at rest it hangs


def test_energy_that_changes_by_itself_is_told():
    """Semi-implicit Euler at 20 ms drifts, RK4 does not; where something acts nobody can tell."""
    start = ([1.5, 0.0], None, 5.0)
    drifting = simulated(SWING, *start, method="euler", dt=0.02)
    change = np.abs(drifting.energy - drifting.energy[0]).max() / drifting.kinetic_energy.max()
    assert drifting.energy_drift == pytest.approx(change, rel=1e-6)
    assert drifting.energy_drift > 0.01
    assert f"{100 * drifting.energy_drift:.3g} % of the largest kinetic energy" in drifting.reason
    assert "take a smaller dt" in drifting.reason
    kept = simulated(SWING, *start)
    assert 0.0 < kept.energy_drift < 1e-6
    assert kept.reason == "finished"
    still = simulated(SWING, [0.0, 0.0], None, 5.0)
    assert still.energy_drift < 1e-3
    driven = {"torque": lw.PD(1.0)}, {"torque": [1.0, 0.0]}, {"gravity": lambda t: [t, 0, 0]}
    for acting in driven:
        assert np.isnan(simulated(SWING, *start, dt=0.02, **acting).energy_drift)
    many = simulated(SWING, [[0.0, 0.0], [1.5, 0.0]], None, 5.0, method="euler", dt=0.02)
    assert many.energy_drift[1] == pytest.approx(drifting.energy_drift)
    assert many.reason.startswith("1 of 2 gain or lose energy; the first, [1]: the energy, which")
    assert many.reason_for(0) == "finished"


@pytest.mark.parametrize("method", ["rk4", "euler", "implicit", "dopri5"])
def test_no_roll_out_of_a_bennett_linkage_has_another_energy_in_silence(method: str):
    robot = bennett()
    q = robot.assemble({"a": 0.7}).q
    speeds = robot.passive_rates(q) @ [[1.5, 3.0, 6.0]]
    found = simulated(robot.mechanism, q, speeds.T, 2.0, method=method, dt=5e-3)
    for row in range(3):
        words = found.reason_for(row)
        assert not found.finished[row] or (found.energy_drift[row] > 0.01) == ("energy" in words)


def test_what_is_told_is_data():
    robot = four_bar(0.0)
    q0 = np.array([2.5, -2.5, 2.5])
    v0 = robot.passive_rates(q0) @ [6.0]
    found = simulated(robot.mechanism, q0, v0, 0.2, gravity=[0, 0, 0], method="euler")
    written = json.loads(json.dumps(found.to_dict()))
    assert written["energy_drift"] == found.energy_drift
    assert [p["name"] for p in written["singular_passages"]] == ["hinge0"]
    copied = pickle.loads(pickle.dumps(found))
    assert copied.reason == found.reason


@pytest.mark.parametrize(
    ("method", "remedy"),
    [
        ("rk4", "take a smaller dt, or method='implicit'"),
        ("euler", "take a smaller dt, method='rk4'"),
        ("implicit", "take a smaller dt)"),
        ("dopri5", "take a smaller tolerance, or max_step"),
    ],
)
def test_what_to_do_about_long_steps_is_of_the_method(method: str, remedy: str):
    law = lw.PD(-1e3, q_target=[0.0])  # drives away
    found = simulated(SLIDER, [0.1], None, 2.0, torque=law, method=method, max_speed=50.0)
    assert not found
    assert "joint 'slide' moves at" in found.reason
    assert remedy in found.reason
