"""Forces and motions of actuated joints: by the null space of the closure's Jacobian."""

from __future__ import annotations

import numpy as np
import pytest

from closed_dynamics_cases import closed_case, null_space
from linkwork.algorithms.actuation import actuated_forces, actuated_numbers, actuation, balanced
from linkwork.algorithms.closure import closure_rows, loop_length, row_scales
from linkwork.ops.numpy import NUMPY
from seeds import rng


def at(case, free_motions=None):
    rows = closure_rows(NUMPY, case.m, case.q[0])
    return rows, actuation(NUMPY, case.m, rows, free_motions)


NAMES = ("four_bar", "delta", "excavator", "revolute, fixed", "couplings")


@pytest.mark.sweep(1)
@pytest.mark.parametrize("name", NAMES)
def test_both_sides_are_solved(name: str):
    case, random = closed_case(name), rng(f"driven {name}")
    rows, by = at(case)
    assert by.actuated == actuated_numbers(case.m) == case.columns
    J = np.array([[row.get(k, 0.0) for k in range(case.m.n_v)] for row in rows], float)
    S = np.diag([float(k in by.actuated) for k in range(case.m.n_v)])
    x, f = J.T @ random.normal(size=len(J)), random.normal(size=len(J))
    found = balanced(by, list(S @ x + J.T @ f), list(J @ x))
    got_x, got_f = np.array(found.x, float), np.array(found.forces, float)
    np.testing.assert_allclose(S @ got_x + J.T @ got_f, S @ x + J.T @ f, atol=1e-12)
    np.testing.assert_allclose(J @ got_x, J @ x, atol=1e-12)


@pytest.mark.parametrize("name", NAMES)
def test_actuated_forces_work_as_those_of_all(name: str):
    case, random = closed_case(name), rng(f"virtual work {name}")
    by, N = at(case)[1], null_space(case.J[0])
    S = np.diag([float(k in by.actuated) for k in range(case.m.n_v)])
    given = S @ random.normal(size=case.m.n_v) + case.J[0].T @ random.normal(size=len(case.J[0]))
    found = np.array(actuated_forces(by, list(given)), float)
    np.testing.assert_allclose(N.T @ found, N.T @ given, atol=1e-12)
    assert np.array_equal(found, S @ found)


@pytest.mark.parametrize("name", ["universal, floating", "prismatic, fixed"])
def test_what_moves_freely_does_not_count(name: str):
    """Forces along motions that nothing drives change nothing, however large they are."""
    case, random = closed_case(name), rng(f"moves freely {name}")
    by = at(case)[1]
    S = np.eye(case.m.n_v)[:, case.columns]
    free = null_space(np.vstack([S.T, case.J[0]]))
    assert free.shape[1] > 0
    known = S @ random.normal(size=S.shape[1]) + case.J[0].T @ random.normal(size=len(case.J[0]))
    more = known + free @ random.normal(size=free.shape[1])
    found, with_more = (np.array(actuated_forces(by, list(x)), float) for x in (known, more))
    np.testing.assert_allclose(with_more, found, atol=1e-10 * np.abs(found).max())


@pytest.mark.sweep(1)
@pytest.mark.parametrize("name", ["four_bar", "stewart", "universal, floating", "two loops"])
def test_the_number_of_free_motions_leaves_out_what_is_not_needed(name: str):
    case, random = closed_case(name), rng(f"free motions {name}")
    S, J = np.eye(case.m.n_v)[:, case.columns], case.J[0]
    n = null_space(np.vstack([S.T, J])).shape[1]
    given = S @ random.normal(size=S.shape[1]) + J.T @ random.normal(size=len(J))
    beside = sum(not J[:, k].any() for k in range(case.m.n_v) if k not in case.columns)
    by, known = at(case)[1], at(case, n - beside)[1]
    np.testing.assert_allclose(
        np.array(actuated_forces(known, list(given)), float),
        np.array(actuated_forces(by, list(given)), float),
        atol=1e-11,
    )
    assert not known.singular
    if n - beside:
        refused = at(case, n - beside - 1)[1]
        assert refused.singular and np.isnan(actuated_forces(refused, list(given))[case.columns[0]])


def test_rows_are_compared_in_lengths_of_their_loops():
    m = closed_case("four_bar").m
    length = loop_length(m, m.loops[0])
    assert 0.3 < length < 3.0
    assert row_scales(m) == [1 / length] * 3 + [1.0] * 2
