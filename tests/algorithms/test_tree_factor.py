"""Factors of a symmetric matrix with a tree's pattern."""

from __future__ import annotations

import numpy as np
import pytest

from dynamics_textbook import near
from linkwork.algorithms.tree_factor import factor, inverted, solved
from seeds import rng


def with_pattern(random: np.random.Generator, parents: list[int]):
    """A positive definite matrix that is zero where neither index carries the other."""
    n = len(parents)
    M = 10 * np.eye(n)
    for k in range(n):
        at = parents[k]
        while at >= 0:
            M[k, at] = M[at, k] = random.normal()
            at = parents[at]
    return M, {(i, j): M[i, j] for i in range(n) for j in range(i + 1) if M[i, j] != 0}


@pytest.mark.parametrize("parents", [[-1, 0, 1, 2], [-1, 0, 0, 1, 2, 2], [-1, 0, -1, 2, 2], [-1]])
def test_it_solves(parents: list[int]):
    random = rng("tree factor")
    M, entries = with_pattern(random, parents)
    n = len(parents)
    found, right = factor(entries, n), random.normal(size=n)
    near(solved(found, list(right)), np.linalg.solve(M, right))
    L = np.eye(n)
    for k, row in enumerate(found.rows):
        for j, value in row.items():
            L[k, j] = -value
    near(L.T @ np.diag(-1 / np.array(found.inverse)) @ L, M)
    # nothing fills that the tree leaves empty
    assert {(k, j) for k, row in enumerate(found.rows) for j in row} == {
        key for key in entries if key[0] != key[1]
    }


def test_what_is_not_a_tree_fills():
    entries = {(0, 0): 4.0, (1, 1): 5.0, (2, 2): 6.0, (2, 0): 1.0, (2, 1): 2.0}
    M = np.array([[4.0, 0, 1], [0, 5, 2], [1, 2, 6]])
    found = factor(entries, 3)
    assert 0 in found.rows[1]
    near(solved(found, [1.0, 2.0, 3.0]), np.linalg.solve(M, [1, 2, 3]))


def test_it_inverts():
    random = rng("tree inverse")
    M, entries = with_pattern(random, [-1, 0, 0, 1, 2, -1, 5])
    W = np.linalg.inv(M)
    found = inverted(factor(entries, len(M)))
    for i in range(len(M)):
        for j in range(i + 1):
            near(found.get((i, j), 0.0), W[i, j])
    assert (5, 0) not in found and (6, 5) in found


def test_nothing():
    assert solved(factor({}, 0), []) == [] and inverted(factor({}, 0)) == {}
