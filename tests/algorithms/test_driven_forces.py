"""What actuated joints do and move: by the null space of the closure's Jacobian."""

from __future__ import annotations

import numpy as np
import pytest

from closed_dynamics_cases import closed_case, null_space
from linkwork.algorithms.driven_forces import (
    actuated_columns,
    actuated_forces,
    at_actuated,
    balanced,
    driven,
    product,
)
from linkwork.ops.numpy import NUMPY
from seeds import rng

NAMES = ("four_bar", "delta", "excavator", "revolute, fixed", "couplings")


@pytest.mark.parametrize("name", NAMES)
def test_both_sides_are_solved(name: str):
    case, random = closed_case(name), rng(f"driven {name}")
    by = driven(NUMPY, case.m, case.q[0])
    assert sorted(by.actuated) == sorted(case.columns)
    assert actuated_columns(case.m) == by.actuated
    J = np.array([[row.get(k, 0.0) for k in range(case.m.n_v)] for row in by.rows], float)
    S = np.diag([float(k in by.actuated) for k in range(case.m.n_v)])
    x, f = J.T @ random.normal(size=len(J)), random.normal(size=len(J))
    found = balanced(by, list(S @ x + J.T @ f), list(J @ x))
    got_x, got_f = np.array(found.x, float), np.array(found.forces, float)
    np.testing.assert_allclose(S @ got_x + J.T @ got_f, S @ x + J.T @ f, atol=1e-8)
    np.testing.assert_allclose(J @ got_x, J @ x, atol=1e-8)


@pytest.mark.parametrize("name", NAMES)
def test_actuated_forces_work_as_those_of_all(name: str):
    case, random = closed_case(name), rng(f"virtual work {name}")
    by, N = driven(NUMPY, case.m, case.q[0]), null_space(case.J[0])
    S = np.diag([float(k in by.actuated) for k in range(case.m.n_v)])
    given = S @ random.normal(size=case.m.n_v) + case.J[0].T @ random.normal(size=len(case.J[0]))
    found = np.array(actuated_forces(by, list(given)), float)
    np.testing.assert_allclose(N.T @ found, N.T @ given, atol=1e-8)
    assert np.array_equal(found, S @ found)


@pytest.mark.parametrize("name", ["universal, floating", "prismatic, fixed"])
def test_what_moves_freely_does_not_count(name: str):
    """Forces along motions that nothing drives change nothing, however large they are."""
    case, random = closed_case(name), rng(f"moves freely {name}")
    by = driven(NUMPY, case.m, case.q[0])
    S = np.eye(case.m.n_v)[:, case.columns]
    free = null_space(np.vstack([S.T, case.J[0]]))
    assert free.shape[1] > 0
    known = S @ random.normal(size=S.shape[1]) + case.J[0].T @ random.normal(size=len(case.J[0]))
    more = known + free @ random.normal(size=free.shape[1])
    found, with_more = (np.array(actuated_forces(by, list(x)), float) for x in (known, more))
    np.testing.assert_allclose(with_more, found, atol=1e-7 * np.abs(found).max())
    assert len(by.order) <= case.m.n_v  # a base that no row knows is not among them


def test_small_parts():
    case = closed_case("four_bar")
    by = driven(NUMPY, case.m, case.q[0])
    assert product({0: 2.0, 2: 3.0}, [1.0, 5.0, 0.0]) == 2.0
    values = [1.0, 2.0, 3.0]
    assert [x for x in at_actuated(by, values) if x] == [values[k] for k in case.columns]
