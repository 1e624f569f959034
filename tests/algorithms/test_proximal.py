"""Systems of independent rows, also where they are so only with what is ahead of them."""

from __future__ import annotations

import numpy as np
import pytest

from linkwork.algorithms.proximal import proximal, settled
from seeds import rng


def entries(A: np.ndarray) -> dict[tuple[int, int], float]:
    return {(i, j): float(A[i, j]) for i in range(len(A)) for j in range(i + 1)}


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
