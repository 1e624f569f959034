"""Native projections: what they do to rows that are closed, open, and beyond closing."""

from __future__ import annotations

import numpy as np

import linkwork as lw
from linkwork.simulation.drive import Drive
from linkwork.simulation.request import Track
from linkwork.simulation.rollout import rollout_of
from linkwork.simulation.steppers import EULER, RK4
from pendulums import LIBRARY, request

ROBOT = lw.load("five_bar")
M = ROBOT.mechanism
DOWN = [0.0, -9.80665, 0.0]


def test_native_steps_are_those_of_python():
    from linkwork.simulation.stepping import run_steps  # noqa: PLC0415  beside its counterpart

    q0 = ROBOT.assemble([[0.0, 0.0], [0.2, -0.3], [0.1, 0.2]], near=ROBOT.neutral()).q
    for method in (RK4, EULER):
        asked = request(M, q0, None, 0.05, gravity=DOWN, dt=5e-3)
        rollout = rollout_of(asked.system, method, LIBRARY, single=False)
        assert rollout is not None
        native, python = rollout.run(asked), run_steps(Drive(asked, LIBRARY), method)
        np.testing.assert_allclose(native.q, python.q, atol=1e-11)
        np.testing.assert_allclose(native.v, python.v, atol=1e-9)
        assert np.abs(ROBOT.closure(native.q)).max() < 1e-11


def test_a_row_that_cannot_be_closed_is_noted_and_the_others_go_on():
    """The request is not checked here: its second row is far from any assembled configuration."""
    q0 = np.stack([ROBOT.neutral(), [0.0, 1.4, 0.0, 1.4], ROBOT.neutral()])
    v0 = np.zeros((3, 4))
    asked = request(M, q0, v0, 0.02, gravity=DOWN)
    rollout = rollout_of(asked.system, RK4, LIBRARY, single=False)
    assert rollout is not None
    track: Track = rollout.run(asked)
    np.testing.assert_array_equal(track.q[0], track.q[2])
    assert np.isfinite(track.q[0]).all()
    alone = request(M, q0[0], v0[0], 0.02, gravity=DOWN)
    one = rollout_of(alone.system, RK4, LIBRARY, single=True)
    assert one is not None
    np.testing.assert_array_equal(one.run(alone).q[0], track.q[0])
    if track.failed[1] >= 0.0:
        assert np.isnan(track.q[1, -1]).all()
    else:  # another branch is reached at once, and kept
        assert np.abs(ROBOT.closure(track.q[1, 1:])).max() < 1e-11
