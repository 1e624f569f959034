"""From arguments to results: what is kept, what is computed later, and what is said."""

from __future__ import annotations

import numpy as np
import pytest

from linkwork.algorithms.registry import evaluate
from linkwork.errors import InputError
from linkwork.simulation.actuators import PD
from pendulums import brick, pendulum, simulated, slider_urdf
from robots import mechanism_from

M = pendulum(2)


def test_energies_and_torques_are_those_of_the_kept_states():
    law = PD(5.0, 1.0, q_target=lambda t: [t, -t])
    result = simulated(M, [[0.1, 0.2], [0.5, 1.0]], None, 0.1, torque=law, record=20,
                       gravity=[1.0, 0.0, -3.0], armature=0.2)  # fmt: skip
    assert result.times.tolist() == pytest.approx([0.0, 0.02, 0.04, 0.06, 0.08, 0.1])
    for row in range(2):
        for k, t in enumerate(result.times):
            q, v = result.q[row, k], result.v[row, k]
            given = {"armature": np.full(2, 0.2)}
            kinetic = evaluate("kinetic_energy", M, q, v, parameters=given)
            potential = evaluate(
                "potential_energy", M, q, parameters={"gravity": np.array([1.0, 0.0, -3.0])}
            )
            assert result.kinetic_energy[row, k] == pytest.approx(float(kinetic), rel=1e-12)
            assert result.potential_energy[row, k] == pytest.approx(float(potential), rel=1e-12)
            expected = 5.0 * (np.array([t, -t]) - q) - v
            np.testing.assert_allclose(result.torques[row, k], expected, rtol=1e-12, atol=1e-13)
    np.testing.assert_array_equal(result.energy, result.kinetic_energy + result.potential_energy)


def test_armature_counts():
    m = mechanism_from(slider_urdf())
    result = simulated(m, [0.0], None, 1.0, torque=[5.0], armature=3.0, record=0)
    assert result.q[-1, 0] == pytest.approx(0.5 * 5.0 / (2.0 + 3.0))


def test_external_wrenches_and_losses():
    m = mechanism_from(slider_urdf())
    pushed = simulated(m, [0.0], None, 1.0, external={"block": [4.0, 9, 9, 0, 0, 0]}, record=0)
    assert pushed.q[-1, 0] == pytest.approx(0.5 * 4.0 / 2.0)
    slowed = simulated(m, [0.0], [1.0], 1.0, losses=True, record=0)  # 2 dv/dt = -3 v
    assert slowed.v[-1, 0] == pytest.approx(np.exp(-1.5), rel=1e-9)
    varying = simulated(
        m, [0.0], None, 1.0, external={"block": lambda t: [6.0 * t, 0, 0, 0, 0, 0]}, record=0
    )
    assert varying.v[-1, 0] == pytest.approx(1.5)


def test_at():
    result = simulated(M, [[0.1, 0.2], [0.5, 1.0]], None, 0.1)
    q, v = result.at(0.0555)
    assert (q.shape, v.shape) == ((2, 2), (2, 2))
    exact = simulated(M, [[0.1, 0.2], [0.5, 1.0]], None, 0.0555)
    np.testing.assert_allclose(q, exact.q[:, -1], atol=1e-11)
    np.testing.assert_allclose(v, exact.v[:, -1], atol=1e-8)
    q, v = result.at([0.0, 0.1])
    np.testing.assert_allclose(q, result.q[:, [0, -1]], atol=1e-14)
    still = simulated(M, [0.1, 0.2], [1.0, 2.0], 0.0)
    np.testing.assert_allclose(still.at(0.0)[1], [1.0, 2.0], atol=1e-14)


@pytest.mark.parametrize("method", ["rk4", "euler", "dopri5", "implicit"])
def test_no_duration_gives_the_first_state(method: str):
    result = simulated(M, [[0.1, 0.2]], None, 0.0, method=method)
    assert result.times.tolist() == [0.0]
    assert result.q.tolist() == [[[0.1, 0.2]]]
    assert result.finished.all()
    assert result.energy.shape == (1, 1)


def test_divergence_says_when_and_who_and_keeps_what_was_before():
    v0 = [[0.0, 0.0], [0.0, 0.0], [900.0, -2000.0]]
    result = simulated(M, np.full((3, 2), 0.7), v0, 1.0, dt=0.01)
    assert result.finished.tolist() == [True, True, False]
    when = float(result.failed_at[2])
    assert 0.0 < when < 1.0
    assert result.ended_at[2] == pytest.approx(when - 0.01)
    text = result.reason
    assert text.startswith(f"1 of 3 did not finish; the first, [2]: at t = {when:.6g} s joint 'j")
    assert "above max_speed = 1e+05" in text
    assert "dt" in text
    assert result.reason_for(0) == "finished"
    kept = np.isfinite(result.q[2, :, 0])
    assert kept[: int(kept.sum())].all()
    assert np.isnan(result.energy[2, -1])
    assert np.isnan(result.torques[2, -1]).all()
    assert np.isnan(result.at(1.0)[0][2]).all()
    np.testing.assert_array_equal(
        result.q[:2], simulated(M, np.full((2, 2), 0.7), None, 1.0, dt=0.01).q
    )


def test_a_floating_base_tells_its_units():
    fast = simulated(brick(), [0, 0, 0, 1, 0, 0, 0], [0, 0, 9.0, 0, 0, 0], 1.0, max_speed=9.5,
                     gravity=[0, 0, 9.0])  # fmt: skip
    assert "m/s, above max_speed = 9.5" in fast.reason
    spun = simulated(brick(), [0, 0, 0, 1, 0, 0, 0], [0, 0, 0, 9.0, 0, 0], 1.0, max_speed=8.0)
    assert "rad/s, above max_speed = 8" in spun.reason


def test_threads_are_checked():
    with pytest.raises(InputError, match="threads must be a whole number from 1"):
        simulated(M, np.zeros((20, 2)), None, 0.1, threads=0)
