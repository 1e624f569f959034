"""What is said of roll-outs: joints that pass their limits, and how one ended."""

from __future__ import annotations

import numpy as np
import pytest

from pendulums import simulated, slider_urdf
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
