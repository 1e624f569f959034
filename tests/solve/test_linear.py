"""L D Lᵀ solutions against NumPy's."""

from __future__ import annotations

import numpy as np
import pytest

from linkwork.ops.numpy import NUMPY
from linkwork.solve.linear import solve_positive_definite
from seeds import rng


@pytest.mark.parametrize("n", [1, 2, 6, 9])
@pytest.mark.parametrize("spread", [0.0, 3.0, 6.0])
def test_agrees_with_a_dense_solver(n, spread):
    g = rng(f"linear {n} {spread}")
    for _ in range(20):
        basis = np.linalg.qr(g.normal(size=(n, n)))[0]
        a = basis @ np.diag(10.0 ** g.uniform(-spread, 0, n)) @ basis.T
        a = (a + a.T) / 2
        b = g.normal(size=n)
        x = solve_positive_definite(NUMPY, a, b, n)
        assert np.linalg.norm(a @ x - b) <= 1e-13 * np.linalg.norm(x)


def test_only_the_lower_triangle_is_read():
    a = np.array([[2.0, np.nan], [1.0, 3.0]])
    x = solve_positive_definite(NUMPY, a, np.array([1.0, 2.0]), 2)
    np.testing.assert_allclose(x, np.linalg.solve([[2, 1], [1, 3]], [1, 2]))
