"""The order of minimum degree: what is joined to least goes first."""

from __future__ import annotations

import numpy as np
import pytest

from closed_dynamics_cases import closed_case
from linkwork.algorithms.closed_dynamics import held, moved
from linkwork.algorithms.closure import closure_rows
from linkwork.algorithms.elimination_order import minimum_degree, split
from linkwork.algorithms.independent_rows import RowGroup, Scales, independent_rows
from linkwork.algorithms.mass_matrix import mass_matrix
from linkwork.algorithms.sweep import Sweep
from linkwork.mechanism.model import Mechanism
from linkwork.ops.numpy import NUMPY
from seeds import rng


def test_the_middle_of_a_star_comes_late():
    star = [{1, 2, 3, 4}, {0}, {0}, {0}, {0}]
    order, cost = minimum_degree(star)
    assert order[:3] == (1, 2, 3) and sorted(order) == list(range(5))
    assert cost == 4 * 4 + 1
    assert star[0] == {1, 2, 3, 4}  # what is given stays


def test_neighbours_of_what_goes_are_joined():
    order, cost = minimum_degree([{1, 3}, {0, 2}, {1, 3}, {2, 0}])
    assert order == (0, 1, 2, 3) and cost == 9 + 9 + 4 + 1
    assert minimum_degree([]) == ((), 0)


def test_some_of_them():
    path = [{1}, {0, 2}, {1, 3}, {2}]
    assert minimum_degree(path, among=(1, 2)) == ((1, 2), 18)


LEGS = [(r, leg) for leg in range(4) for r in range(2)]


def legs(per_leg: int) -> tuple[list[tuple[int, int]], list[set[int]]]:
    """A platform of joints 0 to 2, and four legs of two rows each."""
    n = 3 + 4 * per_leg
    masses = [(k, k) for k in range(n)] + [(1, 0), (2, 0), (2, 1)]
    rows = [{0, 1, 2, *(3 + leg * per_leg + k for k in range(per_leg))} for _, leg in LEGS]
    return masses, rows


def test_legs_go_before_the_platform():
    masses, rows = legs(2)
    found = split(11, masses, rows)
    assert found.first == tuple(range(3, 11))
    assert sorted(found.border[:3]) == [0, 1, 2]
    assert sorted(found.border[3:]) == list(range(11, 19))
    pairs = [(k - 11) // 2 for k in found.border[3:]]
    assert pairs[::2] == pairs[1::2]  # a leg's rows one after the other


def test_all_joints_first_where_legs_cannot_answer_for_their_rows():
    masses, rows = legs(1)  # two rows and one joint each: the second would divide by nothing
    assert split(7, masses, rows) == (tuple(range(7)), tuple(range(7, 15)))
    assert split(2, [(0, 0), (1, 0), (1, 1)], []) == ((0, 1), ())


def pattern(m: Mechanism, q: np.ndarray) -> tuple[list[tuple[int, int]], list[set[int]]]:
    rows = [set(row) for row in closure_rows(NUMPY, m, q)]
    return list(mass_matrix.passes(Sweep(NUMPY, m, q)).lower()), rows


def test_bundled_mechanisms():
    firsts = {}
    for name in ("four_bar", "slider_crank", "five_bar", "excavator", "delta", "stewart"):
        case = closed_case(name)
        found = split(case.m.n_v, *pattern(case.m, case.q[0]))
        firsts[name] = len(found.first) - case.m.n_v
    assert firsts.pop("stewart") == -6
    assert not any(firsts.values())


@pytest.mark.parametrize("weak", [0, 2])
def test_both_equations_are_solved(weak: int):
    """Also where the joints of some legs can answer for one of their rows alone."""
    random = rng(f"legs {weak}")
    for _ in range(20):
        one_system(random, weak)


def one_system(random: np.random.Generator, weak: int) -> None:
    _, pattern_ = legs(2)
    J = np.zeros((8, 11))
    for r, row in enumerate(pattern_):
        J[r, sorted(row)] = random.normal(size=5)
    for leg in range(weak):
        at = slice(3 + 2 * leg, 5 + 2 * leg)
        J[2 * leg + 1, at] = 0.5 * J[2 * leg, at]
    A = random.normal(size=(3, 3))
    M = np.diag(random.uniform(0.5, 2.0, 11))
    M[:3, :3] += A @ A.T
    push, bias = random.normal(size=11), J @ random.normal(size=11)
    entries = {(i, j): float(M[i, j]) for i in range(11) for j in range(i + 1) if M[i, j]}
    rows = [{k: float(row[k]) for k in range(11) if row[k] != 0.0} for row in J]
    groups = [RowGroup((r,), tuple(sorted(row)), 1) for r, row in enumerate(rows)]
    scales = Scales([1.0] * len(rows), [1.0] * 11)
    by = held(NUMPY, entries, 11, independent_rows(NUMPY, rows, scales, groups))
    assert len(by.parts.first) == 8
    dv, f = map(np.array, moved(by, dict(enumerate(map(float, push))), list(bias)))
    K = np.block([[M, -J.T], [J, np.zeros((8, 8))]])
    expected = np.linalg.lstsq(K, np.concatenate([push, -bias]), rcond=1e-12)[0]
    np.testing.assert_allclose(dv, expected[:11], atol=1e-10 * np.abs(expected[:11]).max())
    np.testing.assert_allclose(M @ dv, push + J.T @ f, atol=1e-10 * np.abs(f).max())
