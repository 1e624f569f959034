"""Pseudo-inverses of sparse matrices against singular values, of any rank, shape and scale."""

from __future__ import annotations

import numpy as np
import pytest

from linkwork.algorithms.orthogonal_factors import (
    Sparse,
    across,
    orthogonal_factors,
    solved_least,
    solved_transposed,
)
from linkwork.ops.numpy import NUMPY
from seeds import rng

CASES = [(5, 2, 2), (6, 6, 6), (18, 18, 17), (10, 12, 7), (12, 7, 7), (4, 6, 4), (3, 3, 0)]


def sparse(a: np.ndarray) -> list[Sparse]:
    """The columns of a matrix, without entries that are zero."""
    return [{i: x for i, x in enumerate(column) if x} for column in a.T]


def dense(v: Sparse, n: int) -> np.ndarray:
    return np.array([v.get(k, 0.0) for k in range(n)], float)


@pytest.mark.parametrize(("m", "n", "rank"), CASES)
@pytest.mark.parametrize("spread", [0.0, 2.0])
@pytest.mark.parametrize("scale", [1e-100, 1.0, 1e100])
def test_both_solutions_are_those_of_the_pseudo_inverse(m, n, rank, spread, scale):
    g = rng(f"orthogonal {m} {n} {rank} {spread}")
    for _ in range(5):
        a = g.normal(size=(m, rank)) @ np.diag(10.0 ** -g.uniform(0, spread, rank))
        a = scale * a @ g.normal(size=(rank, n))
        by, inverse = orthogonal_factors(NUMPY, sparse(a), may_lack_rank=True), np.linalg.pinv(a)
        assert by.rank == rank
        s, r = g.normal(size=m), g.normal(size=n)
        for found, wanted in (
            (dense(solved_least(by, dict(enumerate(s))), n), inverse @ s),
            (dense(solved_transposed(by, dict(enumerate(r))), m), inverse.T @ r),
        ):
            np.testing.assert_allclose(found, wanted, atol=1e-10 * np.abs(wanted).max(initial=0))


def test_at_full_rank_nothing_else_is_needed():
    a = rng("full rank").normal(size=(9, 5))
    both = [orthogonal_factors(NUMPY, sparse(a), may_lack_rank=lack) for lack in (False, True)]
    assert not both[0].N.vectors and len(both[1].N.vectors) == 5
    s = dict(enumerate(np.arange(9.0)))
    np.testing.assert_allclose(*(dense(solved_least(by, s), 5) for by in both), atol=1e-14)


def test_patterns_stay_sparse():
    """Two legs and a platform: the columns of a leg keep the rows of that leg."""
    g, a = rng("legs"), np.zeros((6, 7))
    a[:3, :2], a[3:, 2:4], a[:, 4:] = (g.normal(size=s) for s in ((3, 2), (3, 2), (6, 3)))
    by = orthogonal_factors(NUMPY, sparse(a), may_lack_rank=True)
    assert [sorted(q) for q in by.Q.vectors[:4]] == [[0, 1, 2]] * 2 + [[3, 4, 5]] * 2
    np.testing.assert_allclose(
        dense(solved_least(by, {0: 1.0}), 7), np.linalg.pinv(a)[:, 0], atol=1e-12
    )


@pytest.mark.parametrize("share", [1e-3, 1e-6, 1e-8, 1e-10, 1e-12, 0.0])
def test_rank_is_told_by_what_is_left_of_a_column(share):
    a = np.array([[1.0, 1.0], [1.0, 1.0 + share], [0.0, 0.0]])
    assert orthogonal_factors(NUMPY, sparse(a), may_lack_rank=False).rank == 1 + (share > 1e-9)


def test_what_is_across():
    a = rng("across").normal(size=(6, 3))
    by = orthogonal_factors(NUMPY, sparse(a), may_lack_rank=False)
    left = dense(across(by.Q, dict(enumerate(np.ones(6)))), 6)
    np.testing.assert_allclose(a.T @ left, 0.0, atol=1e-14)
    np.testing.assert_allclose(left, np.ones(6) - a @ np.linalg.pinv(a) @ np.ones(6), atol=1e-14)
