"""A margin to the description's limits."""

from __future__ import annotations

import numpy as np
import pytest

from linkwork.errors import InputError
from linkwork.ops.numpy import NUMPY
from linkwork.solve.limits.base import Where
from linkwork.solve.limits.position import PositionLimit
from robots import every_joint_urdf, mechanism_from


@pytest.fixture(scope="module")
def m():
    return mechanism_from(every_joint_urdf())


def bounds(limit, m):
    zero = np.zeros(m.n_q)
    return limit.bounds(NUMPY, Where(zero, zero, {}), np.array(limit.settings), np.zeros(0))


def test_the_margin_narrows_both_ends(m):
    found = bounds(PositionLimit({"elbow": 0.25, "slide": 0.01}).bind(m), m)
    elbow, slide = (int(m.q_start[m.joint(name)]) for name in ("elbow", "slide"))
    assert set(found) == {elbow, slide}
    assert found[elbow] == (m.lower[elbow] + 0.25, m.upper[elbow] - 0.25)
    assert found[slide] == (m.lower[slide] + 0.01, m.upper[slide] - 0.01)


def test_no_margin_bounds_nothing_and_unlimited_joints_stay_so(m):
    assert PositionLimit().bind(m).positions == ()
    found = PositionLimit(0.01).bind(m).positions
    assert found == tuple(np.flatnonzero(np.isfinite(m.lower)).tolist())


def test_a_margin_that_leaves_nothing_is_refused(m):
    with pytest.raises(InputError, match="slide"):
        PositionLimit({"slide": 0.2}).bind(m)
    with pytest.raises(InputError, match="finite"):
        PositionLimit(float("inf")).bind(m)
    PositionLimit({"slide": 0.17}).bind(m)
