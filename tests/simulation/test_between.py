"""States between states: cubics are exact, ends are met, and errors fall as they should."""

from __future__ import annotations

import numpy as np
import pytest

from linkwork.ops.numpy import NUMPY
from linkwork.simulation.between import between
from pendulums import brick, orders, pendulum, simulated

M = pendulum(1)


@pytest.mark.parametrize("s", [0.0, 0.3, 0.5, 1.0])
def test_cubics_are_exact(s: float):
    def x(t):
        return 1 + 2 * t - 3 * t**2 + 0.5 * t**3

    def v(t):
        return 2 - 6 * t + 1.5 * t**2

    h = 0.8
    first, second = np.array([x(0.0), v(0.0)]), np.array([x(h), v(h)])
    found = between(NUMPY, M, first, second, np.array([s, h]))
    np.testing.assert_allclose(found, [x(s * h), v(s * h)], rtol=1e-13, atol=1e-14)


def test_orders_on_the_group():
    m = brick()
    q0, v0 = [0, 0, 0, 1, 0, 0, 0], [0.1, 0.2, 0.3, 3.0, 0.1, -2.0]
    fine = simulated(m, q0, v0, 0.4, dt=1e-3)
    errors_q, errors_v = [], []
    for every in (80, 40, 20):
        coarse = simulated(m, q0, v0, 0.4, dt=1e-3, record=every)
        q, v = coarse.at(fine.times)
        errors_q.append(np.abs(q - fine.q).max())
        errors_v.append(np.abs(v - fine.v).max())
        np.testing.assert_allclose(np.linalg.norm(q[:, 3:], axis=1), 1.0, atol=1e-14)
    assert orders(errors_q) == pytest.approx(4.0, abs=0.25)
    assert orders(errors_v) == pytest.approx(3.0, abs=0.25)
