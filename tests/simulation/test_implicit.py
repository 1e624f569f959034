"""The implicit method: order two, stiff forces, and what is said where no step is found."""

from __future__ import annotations

import numpy as np
import pytest

from linkwork.compile.compiler import Compiler
from linkwork.simulation.actuators import PD
from linkwork.simulation.implicit import run_implicit, stepped
from linkwork.simulation.library import Library
from pendulums import brick, orders, pendulum, request, simulated, slider_urdf
from robots import mechanism_from


@pytest.mark.parametrize(
    ("m", "q0", "v0"),
    [
        (pendulum(2), [0.4, 0.9], [1.0, -2.0]),
        (brick(), [0, 0, 0, 1, 0, 0, 0], [0.1, 0.2, 0.3, 4.0, 0.1, -3.0]),
    ],
    ids=["pendulum", "brick"],
)
def test_order_of_convergence(m, q0: list[float], v0: list[float]):
    exact = simulated(m, q0, v0, 0.4, dt=1e-4, record=0)
    errors = []
    for dt in (0.02, 0.01, 0.005):
        found = simulated(m, q0, v0, 0.4, method="implicit", dt=dt, record=0)
        errors.append(np.abs(found.q[-1] - exact.q[-1]).max())
    assert orders(errors) == pytest.approx(2.0, abs=0.1)


def test_stiff_control_with_long_steps():
    """A spring and a damper a hundred times stiffer than an explicit step of this length takes."""
    m = mechanism_from(slider_urdf())
    law = PD(1.0e6, 1.0e5, q_target=[0.3])
    assert not simulated(m, [0.0], None, 1.0, torque=law, dt=0.01).finished
    held = simulated(m, [0.0], None, 1.0, torque=law, dt=0.01, method="implicit")
    assert held.finished
    # overdamped: the slow root of 2 s² + 1e5 s + 1e6
    slow = np.min(np.abs(np.roots([2.0, 1.0e5, 1.0e6])))
    exact = 0.3 * (1 - np.exp(-slow * held.times))
    np.testing.assert_allclose(held.q[30:, 0], exact[30:], atol=3e-3)  # the start has faded


def test_torques_by_a_function_are_kept_and_seen():
    m, seen = pendulum(1), []

    def push(t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        seen.append(t)
        return np.full_like(v, 2.0 * t)

    result = simulated(m, [[0.1], [0.2]], None, 0.1, torque=push, dt=0.02, method="implicit")
    np.testing.assert_allclose(result.torques[0, :, 0], 2.0 * result.times)
    exact = simulated(m, [[0.1], [0.2]], None, 0.1, torque=push, dt=1e-3)
    np.testing.assert_allclose(result.q[:, -1], exact.q[:, -1], atol=2e-4)


def test_no_solution_is_told_natively_and_from_python(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("linkwork.simulation.implicit_code.MOST", 2)
    monkeypatch.setattr("linkwork.simulation.implicit.MOST", 2)
    library = Library(Compiler())
    m = pendulum(2)
    asked = request(m, [[0.0, 0.0], [1.0, 2.0]], [[0.0, 0.0], [9.0, -9.0]], dt=0.1)
    for track in (run_implicit(asked, library), stepped(asked, library)):
        assert track.failed[0] == -1.0
        assert track.failed[1] >= 0.0
        assert "no solution that 20 iterations find" in track.causes[1]
        assert track.failed_at[1] == pytest.approx(track.ended_at[1] + 0.1)
        assert np.isnan(track.q[1, -1]).all()
