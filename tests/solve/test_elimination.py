"""The order of elimination: any order gives the same step, a good one is short."""

from __future__ import annotations

import numpy as np
import pytest

import linkwork as lw
from linkwork.ops.numpy import NUMPY
from linkwork.solve.damped import Damped
from linkwork.solve.elimination import Elimination, elimination
from linkwork.solve.problem import make_problem
from linkwork.solve.tasks.closed import Closed
from linkwork.solve.tasks.pose import Pose
from seeds import rng


@pytest.mark.parametrize("shape", [(6, 6), (4, 7), (9, 5)])
def test_any_form_and_order_gives_the_same_step(shape):
    g = rng(f"orders {shape}")
    J, e = g.normal(size=shape), g.normal(size=shape[0])
    plain = Damped(NUMPY, list(J.T), shape[0], np.float64(0.5)).step(e)
    for dual in (True, False):
        order = tuple(g.permutation(shape[0] if dual else shape[1]).tolist())
        by = Elimination(dual, order)
        found = Damped(NUMPY, list(J.T), shape[0], np.float64(0.5), by=by).step(e)
        np.testing.assert_allclose(found, plain, atol=1e-9)


def test_legs_go_before_the_platform():
    m = lw.load("stewart").mechanism
    passive = [name for name in m.joint_names if not name.startswith("slide")]
    problem = make_problem(m, Closed(), joints=passive)
    found = elimination(problem, problem.levels[0])
    assert found is not None and not found.dual
    assert sorted(found.order) == list(range(18))
    platform = {k for k, v in enumerate(problem.moved_v) if v < 6}
    assert platform.isdisjoint(found.order[:10])


def test_more_rows_than_columns_are_solved_by_columns():
    m = lw.load("four_bar").mechanism
    found = elimination(make_problem(m, Closed(), joints=["coupler", "rocker"]), (0,))
    assert found is not None and not found.dual and len(found.order) == 2


def test_other_tasks_are_as_they_were():
    m = lw.load("panda").mechanism
    problem = make_problem(m, Pose("tool0"))
    assert elimination(problem, problem.levels[0]) is None


def test_other_tasks_beside_it_are_whole_blocks():
    m = lw.load("five_bar").mechanism
    problem = make_problem(m, [Closed(), Pose("tool0", position="xy", rotation="")])
    found = elimination(problem, problem.levels[0])
    assert found is not None
    assert len(found.order) == (7 if found.dual else 4)
