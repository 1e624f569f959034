"""The parts of derivatives with loops; the whole of them in tests/contracts."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from closed_dynamics_cases import closed_case
from dynamics_cases import rows
from linkwork.algorithms.closed_derivatives import (
    acceleration_changes,
    added_up,
    along,
    closed_forward_derivatives,
    closed_inverse_derivatives,
    force_changes,
    less_column,
    moving_position,
    rate_changes,
    unit,
)
from linkwork.algorithms.closure import (
    acceleration_bias,
    closure_jacobian,
    closure_rates,
    closure_rows,
    transposed_product,
)
from linkwork.ops.dual import Duals
from linkwork.ops.numpy import NUMPY


def test_what_forces_do_is_what_loops_leave_of_the_inverse():
    case = closed_case("excavator")
    m, q, v, tau = case.m, case.q[0], case.v[0], case.every[0]
    by_tau = closed_forward_derivatives(NUMPY, m, q, v, tau)[2]
    N, M = case.free(0), rows("mass_matrix", case.tree, case.q)[0]
    expected = N @ np.linalg.solve(N.T @ M @ N, N.T)
    np.testing.assert_allclose(by_tau, expected, atol=1e-9 * np.abs(expected).max())


def test_forces_of_accelerations_are_the_driven_mass():
    case = closed_case("excavator")
    m, q, v = case.m, case.q[0], case.v[0]
    by_dv = closed_inverse_derivatives(NUMPY, m, q, v, 0 * v)[2]
    rates = case.robot.passive_rates(q)
    M = rows("mass_matrix", case.tree, case.q)[0]
    np.testing.assert_allclose(by_dv[case.columns], rates.T @ M, atol=1e-9 * np.abs(M).max())


def test_sparse_sums():
    columns = [[1.0, 2.0], [3.0, 4.0]]
    assert added_up([(columns, {1: 2.0}), (columns, {0: 1.0})], 2) == [7.0, 10.0]
    assert along([1.0, 2.0, 3.0], {0: 4.0, 2: 5.0}) == 19.0
    assert unit(1, 3) == [0.0, 1.0, 0.0]
    assert less_column({0: 1.0}, [{3: 5.0}, {2: 1.0, 3: 2.0}], 3) == {0: -4.0, 1: -2.0}


NAMES = ("excavator", "revolute, floating", "/y, fixed", "everything", "couplings")


def dense(rows: list[dict[int, float]], n: int) -> np.ndarray:
    return np.array([[row.get(k, 0.0) for k in range(n)] for row in rows], float)


def slope(f: Callable[[np.ndarray], np.ndarray], n: int, h: float = 1e-5) -> np.ndarray:
    steps = h * np.eye(n)
    return np.stack([(f(x) - f(-x)) / (2 * h) for x in steps], axis=-1)


@pytest.mark.sweep(1)
@pytest.mark.parametrize("name", NAMES)
def test_against_differences(name: str):
    case = closed_case(name)
    m, q, v, dv = case.m, case.q[0], case.v[0], case.every[0]
    move = case.robot.integrate
    n = m.n_v

    def acceleration(q: np.ndarray, v: np.ndarray) -> np.ndarray:
        return acceleration_bias(NUMPY, m, q, v) + closure_rates(NUMPY, m, q, dv)

    found = acceleration_changes(NUMPY, m, q, list(v), list(dv))
    by_q = slope(lambda x: acceleration(move(q, x), v), n)
    np.testing.assert_allclose(dense(found.q, n), by_q, atol=1e-6)
    by_v = slope(lambda x: acceleration(q, v + x), n)
    np.testing.assert_allclose(dense(found.v, n), by_v, atol=1e-6)
    rates = slope(lambda x: closure_rates(NUMPY, m, move(q, x), v), n)
    np.testing.assert_allclose(dense(rate_changes(NUMPY, m, q, list(v)), n), rates, atol=1e-6)
    f = list(np.linspace(-1.0, 1.0, len(rates)))

    def forces(x: np.ndarray) -> np.ndarray:
        rows = closure_rows(NUMPY, m, move(q, x))
        return np.array(transposed_product(rows, f, n), float)

    np.testing.assert_allclose(dense(force_changes(NUMPY, m, q, f), n), slope(forces, n), atol=1e-6)


def test_positions_change_along_the_tangent():
    case = closed_case("revolute, floating")
    q, d = case.q[0], Duals(NUMPY)
    found = moving_position(d, case.m, q)
    change = np.array([[d.change(x, k) for k in range(case.m.n_v)] for x in found])
    np.testing.assert_allclose(
        change, slope(lambda x: case.robot.integrate(q, x), case.m.n_v), atol=1e-8
    )
    J = closure_jacobian(NUMPY, case.m, q)
    assert J.shape[1] == case.m.n_v
