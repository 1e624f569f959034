"""Factors of sparse matrices: orthogonal ones of any rank, those of trees, elimination orders."""

from __future__ import annotations

import numpy as np
import pytest

from closed_mechanisms import closed_case
from dynamics_cases import near
from linkwork.algorithms.closed_dynamics import held, moved, proximal, settled
from linkwork.algorithms.closure import closure_rows
from linkwork.algorithms.elimination_order import minimum_degree, split
from linkwork.algorithms.independent_rows import RowGroup, Scales, independent_rows
from linkwork.algorithms.mass_matrix import mass_matrix
from linkwork.algorithms.orthogonal_factors import (
    Sparse,
    across,
    orthogonal_factors,
    solved_least,
    solved_transposed,
)
from linkwork.algorithms.sweep import Sweep
from linkwork.algorithms.tree_factor import factor, inverted, solved
from linkwork.ops.numpy import NUMPY
from seeds import rng


def sparse(a: np.ndarray) -> list[Sparse]:
    """The columns of a matrix, without entries that are zero."""
    return [{i: x for i, x in enumerate(column) if x} for column in a.T]


def dense(v: Sparse, n: int) -> np.ndarray:
    return np.array([v.get(k, 0.0) for k in range(n)], float)


def lower(A: np.ndarray) -> dict[tuple[int, int], float]:
    return {(i, j): float(A[i, j]) for i in range(len(A)) for j in range(i + 1) if A[i, j]}


# ------------------------------------------------------------------------ pseudo-inverses by Q R

CASES = [(5, 2, 2), (6, 6, 6), (18, 18, 17), (10, 12, 7), (12, 7, 7), (4, 6, 4), (3, 3, 0)]


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


def test_at_full_rank_nothing_else_is_needed_and_what_is_across_is_left():
    a = rng("full rank").normal(size=(9, 5))
    both = [orthogonal_factors(NUMPY, sparse(a), may_lack_rank=lack) for lack in (False, True)]
    assert not both[0].N.vectors and len(both[1].N.vectors) == 5
    s = dict(enumerate(np.arange(9.0)))
    np.testing.assert_allclose(*(dense(solved_least(by, s), 5) for by in both), atol=1e-14)
    left = dense(across(both[0].Q, dict(enumerate(np.ones(9)))), 9)
    np.testing.assert_allclose(left, np.ones(9) - a @ np.linalg.pinv(a) @ np.ones(9), atol=1e-14)


def test_patterns_stay_sparse():
    """Two legs and a platform: the columns of a leg keep the rows of that leg."""
    g, a = rng("legs"), np.zeros((6, 7))
    a[:3, :2], a[3:, 2:4], a[:, 4:] = (g.normal(size=s) for s in ((3, 2), (3, 2), (6, 3)))
    by = orthogonal_factors(NUMPY, sparse(a), may_lack_rank=True)
    assert [sorted(q) for q in by.Q.vectors[:4]] == [[0, 1, 2]] * 2 + [[3, 4, 5]] * 2


@pytest.mark.parametrize("share", [1e-3, 1e-6, 1e-8, 1e-10, 1e-12, 0.0])
def test_rank_is_told_by_what_is_left_of_a_column(share):
    a = np.array([[1.0, 1.0], [1.0, 1.0 + share], [0.0, 0.0]])
    assert orthogonal_factors(NUMPY, sparse(a), may_lack_rank=False).rank == 1 + (share > 1e-9)


# ------------------------------------------------------------------------ symmetric ones of trees


@pytest.mark.parametrize("parents", [[-1, 0, 1, 2], [-1, 0, 0, 1, 2, 2], [-1, 0, -1, 2, 2, -1, 5]])
def test_factors_of_a_tree_solve_invert_and_do_not_fill(parents: list[int]):
    random, n = rng("tree factor"), len(parents)
    M = 10 * np.eye(n)
    for k in range(n):
        at = parents[k]
        while at >= 0:
            M[k, at] = M[at, k] = random.normal()
            at = parents[at]
    found, right = factor(lower(M), n), random.normal(size=n)
    near(solved(found, list(right)), np.linalg.solve(M, right))
    filled = {(k, j) for k, row in enumerate(found.rows) for j in row}
    assert filled == {(i, j) for i, j in lower(M) if i != j}
    W = inverted(found)
    near(
        [[W.get((max(i, j), min(i, j)), 0.0) for j in range(n)] for i in range(n)], np.linalg.inv(M)
    )


def test_what_is_not_a_tree_fills():
    M = np.array([[4.0, 0, 1], [0, 5, 2], [1, 2, 6]])
    found = factor(lower(M), 3)
    assert 0 in found.rows[1]
    near(solved(found, [1.0, 2.0, 3.0]), np.linalg.solve(M, [1, 2, 3]))
    assert solved(factor({}, 0), []) == [] and inverted(factor({}, 0)) == {}
    assert settled(proximal({}, 0), []) == []


@pytest.mark.parametrize("small", [1.0, 1e-3, 0.0])
def test_unknowns_ahead(small: float):
    """Also where rows alone hardly determine what they meet."""
    random = rng(f"ahead {small}")
    A, C = (random.normal(size=(n, n)) for n in (4, 3))
    A[3] = A[2] + small * A[3]
    across_ = random.normal(size=(3, 4))
    whole = np.block([[-(C @ C.T + np.eye(3)), across_], [across_.T, A @ A.T]])
    b = whole @ random.normal(size=7)
    x = np.array(settled(proximal(lower(whole), 7, 3), list(b)))
    np.testing.assert_allclose(whole @ x, b, atol=1e-11 * np.abs(x).max())


# ------------------------------------------------------------------------- orders of elimination


def test_the_order_of_minimum_degree():
    star = [{1, 2, 3, 4}, {0}, {0}, {0}, {0}]
    order, cost = minimum_degree(star)  # its middle comes late
    assert order[:3] == (1, 2, 3) and sorted(order) == list(range(5))
    assert cost == 4 * 4 + 1
    assert star[0] == {1, 2, 3, 4}  # what is given stays
    # neighbours of what goes are joined
    assert minimum_degree([{1, 3}, {0, 2}, {1, 3}, {2, 0}]) == ((0, 1, 2, 3), 9 + 9 + 4 + 1)
    assert minimum_degree([]) == ((), 0)
    assert minimum_degree([{1}, {0, 2}, {1, 3}, {2}], among=(1, 2)) == ((1, 2), 18)


def legs(per_leg: int) -> tuple[list[tuple[int, int]], list[set[int]]]:
    """A platform of joints 0 to 2, and four legs of two rows each."""
    n = 3 + 4 * per_leg
    masses = [(k, k) for k in range(n)] + [(1, 0), (2, 0), (2, 1)]
    own = [[3 + leg * per_leg + k for k in range(per_leg)] for leg in range(4) for _ in range(2)]
    return masses, [{0, 1, 2, *joints} for joints in own]


def test_legs_go_before_the_platform():
    found = split(11, *legs(2))
    assert found.first == tuple(range(3, 11))
    assert sorted(found.border[:3]) == [0, 1, 2]
    assert sorted(found.border[3:]) == list(range(11, 19))
    pairs = [(k - 11) // 2 for k in found.border[3:]]
    assert pairs[::2] == pairs[1::2]  # a leg's rows one after the other
    # all joints first where legs cannot answer for their rows: the second would divide by nothing
    assert split(7, *legs(1)) == (tuple(range(7)), tuple(range(7, 15)))
    assert split(2, [(0, 0), (1, 0), (1, 1)], []) == ((0, 1), ())
    for name in ("four_bar", "excavator", "stewart"):
        m, q = closed_case(name).m, closed_case(name).q[0]
        masses = mass_matrix.passes(Sweep(NUMPY, m, q)).lower()
        found = split(m.n_v, list(masses), [set(row) for row in closure_rows(NUMPY, m, q)])
        assert len(found.first) == m.n_v - (6 if name == "stewart" else 0)


@pytest.mark.parametrize("weak", [0, 2])
def test_both_equations_of_motion_with_rows_are_solved(weak: int):
    """M dv = push + J^T f and J dv = -bias, also where legs answer for one of their rows alone."""
    random, (_, pattern) = rng(f"legs {weak}"), legs(2)
    for _ in range(20):
        J = np.zeros((8, 11))
        for r, row in enumerate(pattern):
            J[r, sorted(row)] = random.normal(size=5)
        for leg in range(weak):
            at = slice(3 + 2 * leg, 5 + 2 * leg)
            J[2 * leg + 1, at] = 0.5 * J[2 * leg, at]
        A = random.normal(size=(3, 3))
        M = np.diag(random.uniform(0.5, 2.0, 11))
        M[:3, :3] += A @ A.T
        push, bias = random.normal(size=11), J @ random.normal(size=11)
        rows = [{k: float(row[k]) for k in range(11) if row[k] != 0.0} for row in J]
        groups = [RowGroup((r,), tuple(sorted(row)), 1) for r, row in enumerate(rows)]
        scales = Scales([1.0] * len(rows), [1.0] * 11)
        by = held(NUMPY, lower(M), 11, independent_rows(NUMPY, rows, scales, groups))
        assert len(by.parts.first) == 8
        dv, f = map(np.array, moved(by, dict(enumerate(map(float, push))), list(bias)))
        K = np.block([[M, -J.T], [J, np.zeros((8, 8))]])
        expected = np.linalg.lstsq(K, np.concatenate([push, -bias]), rcond=1e-12)[0]
        np.testing.assert_allclose(dv, expected[:11], atol=1e-10 * np.abs(expected[:11]).max())
        np.testing.assert_allclose(M @ dv, push + J.T @ f, atol=1e-10 * np.abs(f).max())


def test_forces_of_redundant_rows_are_the_least():
    random = rng("closed dynamics")
    A = random.normal(size=(5, 5))
    M, J = A @ A.T + np.eye(5), random.normal(size=(3, 5))
    J[2] = J[0] - 2 * J[1]
    push, bias = random.normal(size=5), J @ random.normal(size=5)
    rows = [dict(enumerate(map(float, row))) for row in J]
    scales, groups = Scales([1.0] * 3, [1.0] * 5), [RowGroup((0, 1, 2), tuple(range(5)), 2)]
    by = held(NUMPY, lower(M), 5, independent_rows(NUMPY, rows, scales, groups))
    dv, f = map(np.array, moved(by, dict(enumerate(map(float, push))), list(bias)))
    np.testing.assert_allclose(J @ dv, -bias, atol=1e-9)
    np.testing.assert_allclose(f, np.linalg.pinv(J.T) @ (M @ dv - push), atol=1e-9)
