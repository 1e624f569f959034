"""The least change under inequalities: optimal by its conditions, and as Python runs it."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import nnls

from linkwork import settings
from linkwork.solve.least_change import SOFTNESS, LeastChange, least_change, work_size
from seeds import rng


@pytest.fixture(scope="module")
def least():
    return LeastChange(settings.compiler())


def problems(n, m, count):
    """Problems (H, A, b, x0, ends) that have a solution; where nothing is in the way some."""
    r = rng(f"least change {n} {m}")
    J = r.normal(size=(count, min(6, n), n))
    H = J.transpose(0, 2, 1) @ J + 1e-3 * np.eye(n)
    A, x0 = r.normal(size=(count, m, n)), 0.3 * r.normal(size=(count, n))
    lower, upper = -0.3 * r.random((count, n)), 0.3 * r.random((count, n))
    inside = r.uniform(lower, upper)
    b = (A @ inside[:, :, None])[:, :, 0] - r.exponential(0.05, (count, m))
    lower[: count // 4], upper[: count // 4] = -1e30, 1e30
    return H, A, b, x0, (lower, upper)


@pytest.mark.parametrize(("n", "m"), [(1, 1), (3, 2), (7, 8), (7, 16), (18, 8)])
def test_the_answer_is_inside_and_no_other_is_nearer(least, n, m):
    H, A, b, x0, (lower, upper) = problems(n, m, 60)
    x = least(H, A, b, x0, (lower, upper))
    assert ((x >= lower) & (x <= upper)).all()
    assert (b - (A @ x[:, :, None])[:, :, 0]).max() < 2e-4
    for k in range(len(x)):
        # the gradient is a sum of the rows that hold, each pushing: nothing nearer is allowed
        push = H[k] @ (x[k] - x0[k])
        rows = A[k][A[k] @ x[k] - b[k] < 1e-7]
        one = np.eye(n)
        holding = [rows, one[x[k] <= lower[k] + 1e-9], -one[x[k] >= upper[k] - 1e-9]]
        assert nnls(np.concatenate([*holding, np.zeros((1, n))]).T, push)[1] < 1e-6


def test_what_cannot_be_kept_is_missed_by_the_least(least):
    # x >= 1 and x <= -1 and both as hard: the middle; bounds are never left
    H, x0 = np.eye(1)[None], np.zeros((1, 1))
    A, b = np.array([[[1.0], [-1.0]]]), np.ones((1, 2))
    assert abs(least(H, A, b, x0, (x0 - 9.0, x0 + 9.0))[0, 0]) < 1e-9
    assert least(H, A[:, :1], b[:, :1], x0, (x0 - 9.0, x0 + 0.25))[0, 0] == 0.25
    assert least(H, 0.0 * A, b, x0 + 0.5, (x0 - 9.0, x0 + 9.0))[0, 0] == 0.5


def test_compiled_is_what_python_gives(least):
    n, m = 4, 5
    H, A, b, x0, ends = problems(n, m, 6)
    x = least(H, A, b, x0, ends)
    for k in range(len(x)):
        parts = [H[k].ravel(), A[k].ravel(), b[k], ends[0][k], ends[1][k], x0[k]]
        record, active = np.concatenate(parts), np.zeros(n + m, dtype=np.int64)
        least_change(n, m, SOFTNESS, record, np.full(work_size(n, m), np.nan), active)
        np.testing.assert_allclose(record[-n:], x[k], rtol=1e-9, atol=1e-12)
