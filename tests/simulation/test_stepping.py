"""Steps whose forces are a function of (t, q, v)."""

from __future__ import annotations

import numpy as np
import pytest

from linkwork.errors import InputError, ShapeError
from linkwork.simulation.actuators import PD
from linkwork.simulation.stepping import combined
from pendulums import free_tree, pendulum, simulated

M = pendulum(2)
Q0 = np.array([[[0.1, 0.2], [0.3, 0.4], [0.5, -0.6]]])  # (1, 3, 2)


@pytest.mark.sweep(1)
@pytest.mark.parametrize("method", ["rk4", "euler", "dopri5", "implicit"])
def test_a_law_written_as_a_function_is_the_law(method: str):
    def law(t, q, v):
        return 0.5 * np.sin(t) + 8.0 * (Q0 - q) + 2.0 * (-v)

    how = {"method": method, "dt": 0.01, "tolerance": 1e-11}
    called = simulated(M, Q0, duration=0.2, torque=law, **how)
    native = simulated(
        M, Q0, duration=0.2,
        torque=PD(8.0, 2.0, feed_forward=lambda t: 0.5 * np.sin(t)), **how,
    )  # fmt: skip
    close = {"rtol": 1e-9, "atol": 1e-9 if method == "implicit" else 1e-12}
    np.testing.assert_allclose(called.q, native.q, **close)
    np.testing.assert_allclose(called.torques, native.torques, rtol=1e-8, atol=1e-7)
    assert called.torques.shape == (1, 3, 21, 2)


def test_what_the_function_sees():
    seen: list[tuple[float, tuple[int, ...], tuple[int, ...]]] = []

    def look(t, q, v):
        seen.append((t, q.shape, v.shape))
        q[...] = np.nan  # it may do with its copies what it likes
        return np.zeros(2)

    result = simulated(M, Q0, duration=0.02, dt=0.01, torque=look)
    assert result.finished.all()
    assert np.isfinite(result.q).all()
    assert all(s[1:] == ((1, 3, 2), (1, 3, 2)) for s in seen)
    times = [s[0] for s in seen]
    assert times == pytest.approx([0, 0.005, 0.005, 0.01, 0.01, 0.015, 0.015, 0.02, 0.02])
    seen.clear()
    simulated(M, Q0[0, 0], duration=0.01, dt=0.01, torque=look)
    assert seen[0] == (0.0, (2,), (2,))


@pytest.mark.parametrize("method", ["rk4", "euler", "dopri5", "implicit"])
def test_bad_forces_are_refused_by_joint_row_and_time(method: str):
    def bad(t, q, v):
        tau = np.zeros_like(v)
        if t if np.isscalar(t) else np.max(t) > 0.0:
            tau[0, 1, 1] = np.nan
        return tau

    with pytest.raises(InputError, match=r"returned nan for joint 'j2' of row \[0, 1\] at t = "):
        simulated(M, Q0, duration=0.1, dt=0.01, method=method, torque=bad)
    with pytest.raises(ShapeError, match=r"returns must have shape \(..., 2\)"):
        simulated(M, Q0, duration=0.1, method=method, torque=lambda t, q, v: 1.0)
    with pytest.raises(ShapeError, match=r"must return the shape \(1, 3, 2\), not \(5, 2\)"):
        simulated(M, Q0, duration=0.1, method=method, torque=lambda t, q, v: np.zeros((5, 2)))


def test_a_row_that_fails_stays_and_the_others_go_on():
    def push(t, q, v):
        assert np.isfinite(q).all()
        tau = np.zeros_like(v)
        tau[1] = 1e7 * (t > 0.05)
        return tau

    result = simulated(M, Q0[0], duration=0.1, torque=push)
    assert result.finished.tolist() == [True, False, True]
    assert 0.05 < result.failed_at[1] < 0.06
    free = simulated(M, Q0[0], duration=0.1)
    np.testing.assert_allclose(result.q[[0, 2]], free.q[[0, 2]], atol=1e-13)
    last = int(np.flatnonzero(np.isfinite(result.q[1, :, 0]))[-1])
    assert result.times[last] == pytest.approx(result.ended_at[1])


def test_progress_and_records():
    told: list[tuple[int, int]] = []
    result = simulated(
        free_tree(3), np.r_[0, 0, 0, 1.0, 0, 0, 0, 0, 0], duration=0.01, record=4,
        torque=lambda t, q, v: 0 * v, progress=lambda *a: told.append(a),
    )  # fmt: skip
    assert told[-1] == (10, 10)
    np.testing.assert_allclose(result.times, [0, 0.004, 0.008, 0.01])
    assert np.isfinite(result.torques).all()


def test_combined():
    rates = [np.ones((2, 3)), 2.0 * np.ones((2, 3))]
    np.testing.assert_allclose(combined((1.0, 0.5), rates, 2, 3), 2.0)
    np.testing.assert_allclose(combined((), [], 2, 3), 0.0)
