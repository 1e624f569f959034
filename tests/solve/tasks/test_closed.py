"""The task that keeps loops closed; the contract of tasks is in tests/contracts."""

from __future__ import annotations

import numpy as np
import pytest

import linkwork as lw
from closed_robots import with_every_kind
from linkwork.errors import InputError
from linkwork.ops.numpy import NUMPY
from linkwork.solve.options import Options
from linkwork.solve.problem import make_problem
from linkwork.solve.tasks.closed import TOLERANCE, Closed


def test_it_has_the_rows_of_every_loop_and_coupling():
    m = with_every_kind().mechanism
    bound = Closed().bind(m)
    assert bound.n_rows == sum(len(loop.row_names) for loop in m.loops) + 2
    assert bound.blocks[-1][1] == bound.n_rows and len(bound.blocks) == len(m.loops) + 2
    assert bound.n_target == 0 and set(bound.tolerances) == {TOLERANCE}
    assert Closed(tolerance=1e-6).bind(m).tolerances[0] == 1e-6


def test_each_block_depends_on_its_coordinates_alone():
    robot = with_every_kind()
    m, q = robot.mechanism, robot.at + 0.1
    bound = Closed().bind(m)
    columns = np.array(bound.residual(NUMPY, q, np.zeros(0)).columns).T
    for start, stop, coordinates in bound.blocks:
        own = {v for c in coordinates for v in range(m.v_start[c], m.v_start[c + 1])}
        others = [v for v in range(m.n_v) if v not in own]
        assert not columns[start:stop, others].any()
        assert columns[start:stop, sorted(own)].any()


def test_options_do_not_change_its_tolerance():
    m = lw.load("five_bar").mechanism
    problem = make_problem(m, [Closed(), lw.ik.Position("tool0")])
    loose = Options(position_tolerance=0.1, rotation_tolerance=0.1).thresholds(problem)
    assert loose == pytest.approx([1e-24, 1e-24, 0.01])


def test_a_tree_has_nothing_to_close():
    with pytest.raises(InputError, match="'panda' has no loops"):
        Closed().bind(lw.load("panda").mechanism)
    with pytest.raises(InputError, match="takes no target"):
        Closed().bind(lw.load("five_bar").mechanism).rows_of([1.0])
