"""The parts of derivatives with loops; the whole of them in tests/contracts."""

from __future__ import annotations

import numpy as np

from closed_dynamics_cases import closed_case
from dynamics_cases import rows
from linkwork.algorithms.closed_derivatives import (
    added_up,
    along,
    closed_forward_derivatives,
    closed_inverse_derivatives,
    less_column,
    unit,
)
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
