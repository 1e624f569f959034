"""The integrators: conditions and measured orders, damping of stiff motion, Newton's Jacobian."""

from __future__ import annotations

import numpy as np
import pytest

from linkwork.ops.numpy import NUMPY
from linkwork.simulation.integrators import (
    DOPRI5,
    IMPLICIT,
    Implicit,
    Method,
    no_solution,
    weights,
)
from linkwork.simulation.joint_forces import PD, Stops
from pendulums import brick, orders, pendulum, request, simulated, slider_urdf
from robots import every_joint_urdf, mechanism_from, random_configuration
from seeds import rng


def matrix(method: Method) -> np.ndarray:
    a = np.zeros((method.stages, method.stages))
    for i, row in enumerate(method.a):
        a[i, : len(row)] = row
    return a


def test_the_estimate_of_dopri5_is_of_order_four():
    error, c, a = np.array(DOPRI5.error), np.array(DOPRI5.c), matrix(DOPRI5)
    embedded = np.array(DOPRI5.b) - error
    for k in range(4):
        assert embedded @ c**k == pytest.approx(1.0 / (k + 1), abs=1e-14)
    assert embedded @ a @ a @ c == pytest.approx(1 / 24, abs=1e-14)
    assert abs(embedded @ c**4 - 1 / 5) > 1e-5
    # the last stage is the first of the next step
    np.testing.assert_array_equal(matrix(DOPRI5)[-1], np.array(DOPRI5.b))


@pytest.mark.parametrize(("name", "order"), [("rk4", 4), ("euler", 1), ("implicit", 2)])
@pytest.mark.parametrize(
    ("m", "v0"),
    [(pendulum(2), [1.0, -2.0]), (brick(), [0.1, 0.2, 0.3, 4.0, 0.1, -3.0])],
    ids=["pendulum", "brick"],
)
def test_order_of_convergence(name: str, order: int, m, v0: list[float]):
    q0 = np.eye(1, m.n_q, 3)[0] if m.n_q > m.n_v else np.array([0.4, 0.9])
    exact = simulated(m, q0, v0, 0.4, dt=1e-4, record=0)
    errors = []
    for dt in (0.02, 0.01, 0.005):
        found = simulated(m, q0, v0, 0.4, method=name, dt=dt, record=0)
        errors.append(np.abs(found.q[-1] - exact.q[-1]).max())
    assert orders(errors)[-1] == pytest.approx(order, abs=0.15)


@pytest.mark.parametrize("dt", [1e-3, 0.05, 1.0])
def test_a_start_out_of_balance_with_stiff_forces_leads_nowhere(dt: float):
    """1 m/s against 1e6 N s/m stops within a micrometre, and in a step within half of its way."""
    text = slider_urdf().replace('damping="3"', 'damping="1e6"').replace("0.5", "9")
    m = mechanism_from(text)
    found = simulated(m, [0.0], [1.0], 5.0, method="implicit", dt=dt, losses=True, torque=[1e4])
    np.testing.assert_allclose(found.v[-1], 0.01, rtol=1e-3)
    assert np.abs(found.q[:, 0] - 0.01 * found.times).max() < 0.6 * dt


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
    each = np.ones(m.n_v)  # floating joints too
    law = PD(3.0 * each, 0.5 * each, q_target=random_configuration(random, m))
    rotors = 0.1 * each
    asked = request(m, q, v, torque=law, stops=Stops(100.0, 10.0), losses=True, armature=rotors)
    alpha = Implicit(asked.system)
    none = np.zeros(len(alpha.local))
    a, dv, x = (random.standard_normal(m.n_v) for _ in range(3))
    before, h = np.concatenate([asked.q0[0], v, a, dv]), np.array([0.1])
    constants, controls = asked.constants()[0], np.zeros(0)

    def left(at: np.ndarray) -> np.ndarray:
        return alpha.newton(NUMPY, before, at, h, constants, controls, none)[: m.n_v]

    found = alpha.newton(NUMPY, before, x, h, constants, controls, none)
    n = m.n_v
    slope = found[n : n + n * n].reshape(n, n)
    step = 1e-5
    for k in range(m.n_v):
        e = step * np.eye(m.n_v)[k]
        expected = (left(x + e) - left(x - e)) / (2 * step)
        np.testing.assert_allclose(slope[:, k], expected, rtol=1e-6, atol=1e-6)


def test_a_step_without_a_solution_names_the_fastest_joint():
    text = no_solution(pendulum(2), IMPLICIT, np.array([0.0, 0.0, 1.0, np.nan]))
    assert "implicit step has no solution that 20 iterations find; joint 'j2'" in text
    assert "smaller dt" in text


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
