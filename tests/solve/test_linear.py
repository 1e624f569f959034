"""L D Lᵀ solutions against NumPy's."""

from __future__ import annotations

import numpy as np
import pytest

from linkwork.ops.numpy import NUMPY
from linkwork.solve.linear import factors, solve_factored
from seeds import rng


def solve(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    lower = [[a[i, j] for j in range(i + 1)] for i in range(len(b))]
    return solve_factored(NUMPY, factors(lower), b)


@pytest.mark.parametrize("n", [1, 2, 6, 9])
@pytest.mark.parametrize("spread", [0.0, 3.0, 6.0])
def test_agrees_with_a_dense_solver(n, spread):
    g = rng(f"linear {n} {spread}")
    for _ in range(20):
        basis = np.linalg.qr(g.normal(size=(n, n)))[0]
        a = basis @ np.diag(10.0 ** g.uniform(-spread, 0, n)) @ basis.T
        a = (a + a.T) / 2
        b = g.normal(size=n)
        x = solve(a, b)
        assert np.linalg.norm(a @ x - b) <= 1e-13 * np.linalg.norm(x)


def test_only_the_lower_triangle_is_read():
    a = np.array([[2.0, np.nan], [1.0, 3.0]])
    x = solve(a, np.array([1.0, 2.0]))
    np.testing.assert_allclose(x, np.linalg.solve([[2, 1], [1, 3]], [1, 2]))
