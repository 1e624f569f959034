"""The smallest correction, by the masses, that closes what a step has opened."""

from __future__ import annotations

import numpy as np
import pytest

import linkwork as lw
from closed_models import parallelogram, swung
from linkwork.algorithms.registry import evaluate
from linkwork.mechanism.model import Mechanism
from linkwork.ops.numpy import NUMPY
from linkwork.simulation.projection import CLOSED, STEADY, gaps, projected
from seeds import rng

NAMES = ("four_bar", "slider_crank", "five_bar", "stewart", "delta", "excavator")


def corrected(m: Mechanism, q: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray, float]:
    found = np.asarray(projected(NUMPY, m, NUMPY.const(q), NUMPY.const(v)))
    return found[: m.n_q], found[m.n_q : -1], float(found[-1])


def opened(name: str, by: float) -> tuple[lw.Robot, np.ndarray, np.ndarray]:
    robot, random = lw.load(name), rng(f"opened {name}")
    q = robot.integrate(robot.neutral(), by * random.standard_normal(robot.n_v))
    return robot, q, random.standard_normal(robot.n_v)


@pytest.mark.sweep(4)
@pytest.mark.parametrize("name", NAMES)
def test_corrections_close_and_the_last_number_says_so(name: str):
    robot, q, v = opened(name, 1e-3)
    left = []
    for _ in range(3):
        q, v, found = corrected(robot.mechanism, q, v)
        left.append(found)
    assert left[0] > 1.0 >= left[2]
    assert np.abs(robot.closure(q)).max() < CLOSED
    opening = np.abs(robot.closure_jacobian(q) @ v).max()
    assert opening < STEADY * (1.0 + np.abs(v).max())


@pytest.mark.parametrize("name", NAMES)
def test_it_is_the_smallest_change_by_the_masses(name: str):
    """dv is M⁻¹ Jᵀ times something: what keeps the loops closed is not touched."""
    robot, q, v = opened(name, 0.0)
    q1, v1, _ = corrected(robot.mechanism, q, v)
    J, M = robot.closure_jacobian(q1), robot.mass_matrix(q1)
    allowed = np.linalg.svd(J)[2][np.linalg.matrix_rank(J, tol=1e-8) :]
    change = allowed @ M @ (v1 - v)
    np.testing.assert_allclose(change, 0.0, atol=1e-7 * np.abs(M).max())
    again = corrected(robot.mechanism, q1, v1)[1]
    np.testing.assert_allclose(again, v1, rtol=1e-9, atol=1e-9)


def test_rows_that_follow_from_others_do_no_harm():
    m = parallelogram("position")
    assert m.loops[0].row_names == ("position x", "position y", "position z")
    q0, v0 = swung(0.4) + np.array([1e-4, -2e-4, 1e-4]), np.array([1.0, 0.5, -2.0])
    q, v, _ = corrected(m, q0, v0)
    q, v, left = corrected(m, q, v)
    assert left <= 1.0
    np.testing.assert_allclose(q, swung(q[0]), atol=1e-12)
    np.testing.assert_allclose(v, [v[0], -v[0], v[0]], atol=1e-9)


def test_gaps():
    m = parallelogram("position")
    found = np.asarray(gaps(NUMPY, m, swung(0.3), np.array([2.0, -2.0, 2.0])))
    np.testing.assert_allclose(found, 0.0, atol=1e-12)
    opening = np.asarray(gaps(NUMPY, m, swung(0.3), np.array([1.0, 0.0, 0.0])))[-1]
    J = evaluate("closure_jacobian", m, swung(0.3))
    assert opening == pytest.approx(np.abs(J[:, 0]).max())
