"""The instants of a simulation, and what a run leaves."""

from __future__ import annotations

import numpy as np
import pytest

from linkwork.simulation.actuators import PD
from linkwork.simulation.request import Grid, Track, finite_rows, row_name
from pendulums import pendulum, request


@pytest.mark.parametrize(
    ("steps", "every", "expected"),
    [(4, 1, [0, 1, 2, 3, 4]), (5, 2, [0, 2, 4, 5]), (6, 3, [0, 3, 6]), (3, 9, [0, 3]), (0, 1, [0])],
)
def test_kept_instants(steps: int, every: int, expected: list[int]):
    grid = Grid(2.0 if steps else 0.0, steps, every)
    h = 2.0 / steps if steps else 0.0
    np.testing.assert_allclose(grid.times(), [k * h for k in expected])
    assert grid.kept == len(expected)
    kept = {k + 1: grid.place(k) for k in range(steps) if grid.keeps(k)}
    assert kept == {k: place for place, k in enumerate(expected) if k}


def test_the_last_instant_is_the_duration():
    assert Grid(0.7, 7, 1).times()[-1] == 0.7
    assert Grid(0.3, 3000, 7).times()[-1] == pytest.approx(0.3, abs=1e-16)


def test_constants_are_shared_where_they_can_be():
    m = pendulum(2)
    one = request(m, np.zeros((5, 2)), torque=[1.0, 2.0], gravity=[0, 0, -1])
    assert one.constants().tolist() == [[1.0, 2.0, 0.0, 0.0, -1.0]]
    many = request(m, np.zeros((5, 2)), torque=np.ones((5, 2)), gravity=[0, 0, -1])
    assert many.constants().shape == (5, 5)
    assert many.rows == 5


def test_functions_of_time_side_by_side():
    m = pendulum(2)
    asked = request(m, np.zeros(2), torque=PD(1.0, q_target=lambda t: [t, 2 * t]))
    assert asked.controls(0.5).tolist() == [[0.5, 1.0]]
    rows = request(m, np.zeros((3, 2)), torque=PD(1.0, q_target=lambda t: np.full((3, 2), t)))
    assert rows.controls(0.5).shape == (3, 2)


def test_a_closed_track_forgets_what_came_after():
    asked = request(pendulum(1), [[0.0], [0.1]], duration=0.01)
    track = Track.begun(asked)
    track.q[:], track.v[:] = 1.0, 2.0
    track.failed[1] = 3.0
    track.close(asked.grid)
    assert np.isfinite(track.q[0]).all()
    assert np.isfinite(track.q[1, :4]).all()
    assert np.isnan(track.q[1, 4:]).all()
    assert np.isnan(track.v[1, 4:]).all()
    assert track.failed_at[1] == pytest.approx(0.004)
    assert track.ended_at.tolist() == pytest.approx([0.01, 0.003])


def test_finite_rows():
    assert finite_rows(np.array([[1.0, np.inf], [0.0, 1.0]])).tolist() == [False, True]


def test_row_name():
    assert row_name((2, 3), 4) == "[1, 1]"
    assert row_name((), 0) == "[]"
