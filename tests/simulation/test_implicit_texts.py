"""Generalised alpha: its numbers, and its Jacobian against differences."""

from __future__ import annotations

import numpy as np
import pytest

from linkwork.ops.numpy import NUMPY
from linkwork.simulation.actuators import PD
from linkwork.simulation.implicit_texts import Implicit, no_solution, weights
from linkwork.simulation.stops import Stops
from pendulums import pendulum, request
from robots import every_joint_urdf, mechanism_from, random_configuration
from seeds import rng


@pytest.mark.parametrize("radius", [0.0, 0.5, 0.8, 1.0])
def test_weights_give_the_damping_that_they_promise(radius: float):
    """The spectral radius of y'' = -s y for a very large s, and order 2 for a small one."""
    w = weights(radius)
    af = radius / (1.0 + radius)
    assert w.of_x + w.of_dv + w.of_a == pytest.approx(1.0)  # constant accelerations stay
    am = (2 * radius - 1) / (radius + 1)
    assert w.gamma == pytest.approx(0.5 - am + af)
    assert spectral_radius(w, 1e12) == pytest.approx(radius, abs=2e-3)
    small = 1e-3
    assert spectral_radius(w, small) == pytest.approx(1.0, abs=1e-4)


def spectral_radius(w, s: float) -> float:
    """Of one step of (y, v, a, dv) with h = 1 and dv = -s y at every end."""
    columns = []
    for k in range(4):
        y, v, a, dv = np.eye(4)[k]
        # y' = y + v + (1/2 - beta) a + beta (of_x x + of_dv dv + of_a a),  x = -s y'
        known = y + v + (0.5 - w.beta) * a + w.beta * (w.of_dv * dv + w.of_a * a)
        y1 = known / (1.0 + s * w.beta * w.of_x)
        x = -s * y1
        a1 = w.of_x * x + w.of_dv * dv + w.of_a * a
        columns.append([y1, v + (1 - w.gamma) * a + w.gamma * a1, a1, x])
    return float(np.abs(np.linalg.eigvals(np.array(columns).T)).max())


def test_the_derivative_of_what_is_left():
    m = mechanism_from(every_joint_urdf())
    random = rng("newton")
    q, v = random_configuration(random, m), random.standard_normal(m.n_v)
    law = PD(3.0, 0.5, q_target=random_configuration(random, m))
    asked = request(m, q, v, torque=law, stops=Stops(100.0, 10.0), losses=True, armature=0.1)
    texts = Implicit(asked.system)
    a, dv, x = (random.standard_normal(m.n_v) for _ in range(3))
    before, h = np.concatenate([asked.q0[0], v, a, dv]), np.array([0.1])
    constants, controls = asked.constants()[0], np.zeros(0)

    def left(at: np.ndarray) -> np.ndarray:
        return texts.newton(NUMPY, before, at, h, constants, controls)[: m.n_v]

    found = texts.newton(NUMPY, before, x, h, constants, controls)
    n = m.n_v
    slope = found[n : n + n * n].reshape(n, n)
    step = 1e-5
    for k in range(m.n_v):
        e = step * np.eye(m.n_v)[k]
        expected = (left(x + e) - left(x - e)) / (2 * step)
        np.testing.assert_allclose(slope[:, k], expected, rtol=1e-6, atol=1e-6)


def test_the_end_of_a_step():
    m = pendulum(1)
    texts = Implicit(request(m, [0.0]).system)
    # a constant acceleration: q = t²/2, v = t
    end = texts.finish(NUMPY, np.array([0.0, 0.0, 1.0, 1.0]), np.array([1.0]), np.array([0.5]))
    np.testing.assert_allclose(end, [0.125, 0.5, 1.0, 1.0], rtol=1e-14)
    assert texts.n_before == 4


def test_words():
    text = no_solution(pendulum(2), np.array([0.0, 0.0, 1.0, np.nan]))
    assert "joint 'j2'" in text
    assert "smaller dt" in text
