"""Systems with redundant rows: the least solution, exact in what is determined."""

from __future__ import annotations

import numpy as np
import pytest

from linkwork.algorithms.proximal import proximal, settled
from seeds import rng


def entries(A: np.ndarray) -> dict[tuple[int, int], float]:
    return {(i, j): float(A[i, j]) for i in range(len(A)) for j in range(i + 1)}


@pytest.mark.parametrize(("n", "rank"), [(1, 1), (4, 4), (6, 3), (5, 1)])
def test_the_least_solution(n: int, rank: int):
    random = rng(f"proximal {n} {rank}")
    B = random.normal(size=(n, rank)) * 10 ** random.uniform(-0.5, 0.5, (n, 1))  # rows of any size
    A = B @ B.T
    b = A @ random.normal(size=n)
    x = np.array(settled(proximal(entries(A), n), list(b)))
    np.testing.assert_allclose(A @ x, b, atol=1e-9 * np.abs(b).max())
    scale = np.sqrt(np.diagonal(A))  # least where each is measured by the root of its diagonal
    least = np.linalg.pinv(A / np.outer(scale, scale), rcond=1e-10, hermitian=True) @ (b / scale)
    np.testing.assert_allclose(x * scale, least, atol=1e-5 * np.abs(least).max())


def test_rows_of_zeros_have_no_force():
    A = np.diag([2.0, 0.0, 3.0])
    assert settled(proximal(entries(A), 3), [2.0, 0.0, 6.0]) == pytest.approx([1.0, 0.0, 2.0])


def test_none_at_all():
    assert settled(proximal({}, 0), []) == []


@pytest.mark.parametrize("small", [1.0, 1e-3, 0.0])
def test_unknowns_ahead(small: float):
    """Also where rows alone hardly determine what they meet."""
    random = rng(f"ahead {small}")
    A, C = (random.normal(size=(n, n)) for n in (4, 3))
    A[3] = A[2] + small * A[3]
    whole = np.block([[-(C @ C.T + np.eye(3)), random.normal(size=(3, 4))], [np.zeros((4, 7))]])
    whole[3:, 3:] = A @ A.T
    whole = np.tril(whole.T) + np.tril(whole.T, -1).T
    b = whole @ random.normal(size=7)
    x = np.array(settled(proximal(entries(whole), 7, 3), list(b)))
    np.testing.assert_allclose(whole @ x, b, atol=1e-11 * np.abs(x).max())
