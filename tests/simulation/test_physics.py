"""What simulations must keep: energy, momentum, unit quaternions, and motions that are known."""

from __future__ import annotations

import numpy as np
import pytest

from linkwork.algorithms.registry import evaluate
from linkwork.errors import InputError
from pendulums import brick, free_tree, pendulum, pendulum_urdf, simulated
from robots import mechanism_from
from seeds import rng

G = 9.80665


@pytest.mark.slow
def test_energy_of_a_double_pendulum_over_ten_seconds():
    """P24: RK4 at 1 ms drifts less than 1e-6 of m g l, Dormand-Prince less than 1e-9."""
    m, scale = pendulum(2), 1.0 * G * 1.0
    q0 = [np.pi / 2, 0.3]
    rk4 = simulated(m, q0, None, 10.0, record=10)
    assert np.abs(rk4.energy - rk4.energy[0]).max() < 1e-6 * scale
    fine = simulated(m, q0, None, 10.0, method="dopri5", tolerance=1e-12, dt=0.01)
    assert np.abs(fine.energy - fine.energy[0]).max() < 1e-9 * scale
    euler = simulated(m, q0, None, 10.0, method="euler", record=10)
    drift = np.abs(euler.energy - euler.energy[0])
    assert drift.max() < 0.1 * scale


@pytest.mark.slow
def test_a_free_floating_tree_over_ten_seconds():
    """Without gravity and damping: energy and momentum stay, quaternions have length 1."""
    m = free_tree(10)
    q0 = np.zeros(m.n_q)
    q0[3] = 1.0
    v0 = 0.5 * rng("tree speeds").standard_normal(m.n_v)
    how = {"gravity": [0.0, 0.0, 0.0], "record": 100}
    rk4 = simulated(m, q0, v0, 10.0, **how)
    kinetic = rk4.kinetic_energy
    assert np.abs(kinetic - kinetic[0]).max() < 1e-6 * kinetic[0]
    np.testing.assert_allclose(np.linalg.norm(rk4.q[:, 3:7], axis=1), 1.0, atol=1e-15)
    moments = np.array(
        [evaluate("centroidal_momentum", m, q, v) for q, v in zip(rk4.q, rk4.v, strict=True)]
    )
    np.testing.assert_allclose(moments, moments[:1].repeat(len(moments), 0), atol=1e-7)
    euler = simulated(m, q0, v0, 10.0, method="euler", **how).kinetic_energy
    assert np.abs(euler - euler[0]).max() < 0.05 * euler[0]
    implicit = simulated(m, q0, v0, 10.0, method="implicit", **how)
    assert np.abs(implicit.kinetic_energy - kinetic[0]).max() < 1e-3 * kinetic[0]
    np.testing.assert_allclose(np.linalg.norm(implicit.q[:, 3:7], axis=1), 1.0, atol=1e-15)


def test_the_double_pendulum_is_that_of_the_textbook():
    """Against Lagrange's equations of two point masses, integrated by SciPy."""
    integrate = pytest.importorskip("scipy.integrate", reason="SciPy is not installed")

    def slope(t, y):
        a, b = y[0], y[0] + y[1]  # angles of the rods from hanging
        da, db = y[2], y[2] + y[3]
        c, s = np.cos(a - b), np.sin(a - b)
        mass = np.array([[2.0, c], [c, 1.0]])
        force = np.array([-s * db**2 - 2 * G * np.sin(a), s * da**2 - G * np.sin(b)])
        dda, ddb = np.linalg.solve(mass, force)
        return [y[2], y[3], dda, ddb - dda]

    y0 = [0.9, -0.4, 0.5, 1.0]
    exact = integrate.solve_ivp(slope, (0, 2), y0, "DOP853", rtol=1e-12, atol=1e-12)
    found = simulated(pendulum(2), y0[:2], y0[2:], 2.0, record=0)
    np.testing.assert_allclose(found.q[-1], exact.y[:2, -1], atol=1e-9)
    np.testing.assert_allclose(found.v[-1], exact.y[2:, -1], atol=1e-9)


def test_a_brick_that_is_thrown_flies_along_a_parabola():
    m = brick()
    q0, v0 = np.array([0, 0, 0, 1.0, 0, 0, 0]), np.array([1.0, 0.0, 5.0, 3.0, 2.0, 1.0])
    result = simulated(m, q0, v0, 1.0, record=100)
    com = np.array([evaluate("com", m, q) for q in result.q])
    speed = evaluate("com_jacobian", m, q0) @ v0
    t = result.times[:, None]
    path = com[0] + speed * t + 0.5 * t**2 * np.array([0.0, 0.0, -G])
    np.testing.assert_allclose(com, path, atol=1e-9)


def test_the_middle_axis_turns_over():
    """Rotation about the middle moment is unstable, about the others stable."""
    m, q0 = brick(), np.array([0, 0, 0, 1.0, 0, 0, 0])
    com = np.array([0.1, -0.05, 0.2])
    turned = []
    for axis in range(3):
        w = np.array([1e-3, 2e-3, -3e-3])
        w[axis] = 5.0
        v0 = np.r_[-np.cross(w, com), w]  # the centre of mass rests
        result = simulated(m, q0, v0, 10.0, gravity=[0, 0, 0], record=10)
        turned.append(bool((result.v[:, 3 + axis] < 0.0).any()))
    assert turned == [False, True, False]


def test_a_massless_leaf_is_refused_by_name():
    """P28: before anything is computed, by link and joint."""
    leaf = pendulum_urdf(2).replace('<mass value="1.0"/>', '<mass value="0"/>', 2)
    with pytest.raises(InputError, match=r"link 'l2' has no mass .*joint 'j2'"):
        simulated(mechanism_from(leaf), [0.0, 0.0])
    wrong = pendulum_urdf(1).replace('ixx="0" iyy="0" izz="0"', 'ixx="1" iyy="1" izz="3"')
    with pytest.raises(InputError, match=r"link 'l1'.*"):
        simulated(mechanism_from(wrong), [0.0])
