"""Velocities that change slowly enough, and can be brought to rest before a limit."""

from __future__ import annotations

import numpy as np
import pytest

import linkwork as lw
from linkwork.errors import InputError, ShapeError, UnsupportedFeatureError
from linkwork.ops.numpy import NUMPY
from linkwork.solve.limits.acceleration import AccelerationLimit
from linkwork.solve.limits.base import Where
from robots import every_joint_urdf, mechanism_from
from seeds import rng

A = 2.0


@pytest.fixture(scope="module")
def m():
    return mechanism_from(
        '<robot name="one"><link name="a"/><link name="b"/><joint name="j" type="revolute">'
        '<parent link="a"/><child link="b"/><axis xyz="0 0 1"/>'
        '<limit lower="-1" upper="1.5" velocity="3" effort="1"/></joint></robot>'
    )


def interval(limit, q, v, room=(-1.0, 1.5)):
    where = Where(np.array([q]), np.array([q]), {0: room})
    return limit.bounds(NUMPY, where, np.array(limit.settings), np.array([v]))[0]


@pytest.mark.sweep(7)
@pytest.mark.parametrize("dt", [1e-5, 1e-3, 0.01, 0.1, 1.0, 10.0])
@pytest.mark.parametrize("sign", [1, -1])
def test_pressing_on_for_ever_never_needs_more_and_ends_at_the_limit(m, dt, sign):
    limit = AccelerationLimit(dt, A).bind(m)
    end = 1.5 if sign > 0 else -1.0
    q = end - sign * min(0.5, 2000 * A * dt)  # so that it takes a few thousand steps at most
    v = 0.0
    for _ in range(6000):
        lower, upper = interval(limit, q, v)
        assert lower <= upper
        after = upper if sign > 0 else lower
        change = (after - q) / dt - v
        assert abs(change) <= A * dt * (1 + 1e-9) + 1e-15 / dt
        q, v = after, (after - q) / dt
        assert -1.0 <= q <= 1.5
    if dt >= 1e-3:
        assert abs(q - end) < 1e-6 + A * dt * dt
        assert abs(v) < 1e-3


def test_as_fast_as_one_may_go_and_still_stop(m):
    dt = 0.01
    limit = AccelerationLimit(dt, A).bind(m)
    for room in (1e-6, 1e-3, 0.02, 0.5, 1.2):
        q = 1.5 - room
        _, upper = interval(limit, q, np.sqrt(2 * A * room))
        gone, step = 0.0, upper - q
        while step > 0.0:  # brake by A from here
            gone += step
            step -= A * dt * dt
        assert gone <= room * (1 + 1e-12)
        assert gone >= 0.97 * room or upper - q >= (np.sqrt(2 * A * room) - A * dt) * dt * (
            1 - 1e-9
        )


def test_who_is_too_fast_brakes_as_hard_as_allowed(m):
    dt = 0.01
    limit = AccelerationLimit(dt, A).bind(m)
    lower, upper = interval(limit, 1.4, 3.0)
    assert lower == upper == pytest.approx(1.4 + (3.0 - A * dt) * dt)


def test_without_limits_only_the_change_is_bounded():
    m = mechanism_from(every_joint_urdf())
    limit = AccelerationLimit(0.1, {"spin": A}).bind(m)
    k = int(m.q_start[m.joint("spin")])
    r = rng("spin")
    for _ in range(50):
        q, v = r.normal(size=m.n_q), r.normal(size=m.n_v)
        where = Where(q, q, {k: (None, None)})
        lower, upper = limit.bounds(NUMPY, where, np.array(limit.settings), v)[k]
        rate = v[m.v_start[m.joint("spin")]]
        assert lower == pytest.approx(q[k] + (rate - A * 0.1) * 0.1, abs=1e-14)
        assert upper == pytest.approx(q[k] + (rate + A * 0.1) * 0.1, abs=1e-14)


def test_what_it_takes(m):
    limit = AccelerationLimit(0.1, A).bind(m)
    assert limit.name == "acceleration"
    assert limit.numbers is None
    assert limit.rows_of([[1.0], [2.0]]).shape == (2, 1)
    with pytest.raises(ShapeError, match="acceleration"):
        limit.rows_of([1.0, 2.0])
    np.testing.assert_array_equal(AccelerationLimit(0.1, A, v=[0.5]).bind(m).numbers, [0.5])
    for bad in (0.0, -1.0, {"j": 0.0}):
        with pytest.raises(InputError, match="'j'"):
            AccelerationLimit(0.1, bad).bind(m)
    with pytest.raises(UnsupportedFeatureError, match="free"):
        AccelerationLimit(0.1, A).bind(mechanism_from(every_joint_urdf()))
    assert AccelerationLimit(0.1, {}).bind(lw.load("ur5e").mechanism).positions == ()
