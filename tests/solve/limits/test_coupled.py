"""One joint's limits as a table over another joint."""

from __future__ import annotations

import numpy as np
import pytest

import linkwork as lw
from linkwork.errors import InputError, ShapeError, UnsupportedFeatureError
from linkwork.ops.numpy import NUMPY
from linkwork.solve.differential import Controller
from linkwork.solve.limits.base import Where
from linkwork.solve.limits.coupled import CoupledLimit
from robots import every_joint_urdf, mechanism_from
from seeds import rng

TABLE = np.array([[-1.0, -2.0, 0.5], [0.0, -0.5, 0.5], [0.25, 0.0, 2.0], [2.0, 0.0, 0.1]])


@pytest.fixture(scope="module")
def robot():
    return lw.load("ur5e")


@pytest.mark.parametrize("rows", [1, 2, 4])
def test_linear_between_the_rows_and_constant_beyond(robot, rows):
    m, table = robot.mechanism, TABLE[:rows]
    limit = CoupledLimit(m.joint_names[1], m.joint_names[3], table).bind(m)
    assert limit.coordinates == (1, 3)
    for q in rng("table").uniform(-3.0, 3.0, (200, m.n_q)):
        settings = np.array(limit.settings)
        ((k, (lower, upper)),) = limit.bounds(NUMPY, Where(q, q, {}), settings, np.zeros(0)).items()
        assert k == 1
        assert lower == pytest.approx(np.interp(q[3], table[:, 0], table[:, 1]), abs=1e-14)
        assert upper == pytest.approx(np.interp(q[3], table[:, 0], table[:, 2]), abs=1e-14)


def test_a_control_loop_stays_in_a_region_that_both_joints_describe(robot):
    m = robot.mechanism
    names = m.joint_names
    # a diamond: |a| + |b| <= 1, from both sides
    diamond = [[-1.0, 0.0, 0.0], [0.0, -1.0, 1.0], [1.0, 0.0, 0.0]]
    limits = [CoupledLimit(names[1], names[2], diamond), CoupledLimit(names[2], names[1], diamond)]
    control = Controller(m, "tool0", dt=0.01, limits=limits)
    r = rng("diamond")
    q = r.uniform(-1.0, 1.0, (100, m.n_q))
    q[:, 1:3] *= 0.49
    T = robot.fk(robot.random(100, seed=4), "tool0")
    touched = np.zeros(100, dtype=bool)
    for _ in range(300):
        after = control.step(q, T)
        a, b = np.abs(after[:, 1]), np.abs(after[:, 2])
        assert (a <= np.interp(b, [0, 1], [1, 0])).all()
        assert (b <= np.interp(a, [0, 1], [1, 0])).all()
        touched |= a + b > 1.0 - 1e-9
        q = after
    assert touched.mean() > 0.5


def test_tables_that_are_none(robot):
    m = robot.mechanism
    a, b = m.joint_names[:2]

    def bind(table):
        return CoupledLimit(a, b, table).bind(m)

    for shape in ((0, 3), (2, 2), (3,)):
        with pytest.raises(ShapeError, match="table"):
            bind(np.zeros(shape))
    with pytest.raises(InputError, match="ascend"):
        bind([[0.0, -1.0, 1.0], [0.0, -1.0, 1.0]])
    with pytest.raises(InputError, match="row 1"):
        bind([[0.0, -1.0, 1.0], [1.0, 1.0, -1.0]])
    with pytest.raises(InputError, match="finite"):
        bind([[0.0, -np.inf, 1.0]])
    with pytest.raises(InputError, match="steep"):
        bind([[0.0, -1.0, 1.0], [5e-324, -2.0, 1.0]])
    with pytest.raises(InputError, match="itself"):
        CoupledLimit(a, a, TABLE).bind(m)
    every = mechanism_from(every_joint_urdf())
    with pytest.raises(UnsupportedFeatureError, match="plane"):
        CoupledLimit("elbow", "plane", TABLE).bind(every)
    with pytest.raises(InputError, match="grip_a"):
        CoupledLimit("grip_b", "elbow", TABLE).bind(every)
