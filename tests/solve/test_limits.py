"""Limits: the bounds that they give, and what they refuse."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import linkwork as lw
from linkwork.errors import InputError, ShapeError, UnknownNameError, UnsupportedFeatureError
from linkwork.ops.numpy import NUMPY
from linkwork.solve.limits import (
    AccelerationLimit,
    CoupledLimit,
    Limit,
    PositionLimit,
    VelocityLimit,
    Where,
    per_joint,
    position_of_velocity,
    single_position,
)
from robots import every_joint_urdf, mechanism_from
from seeds import rng


def test_a_limit_must_say_how_it_is_bound():
    with pytest.raises(TypeError, match="bind"):
        type("Unfinished", (Limit,), {})()
    with pytest.raises(TypeError, match="bind"):
        Limit()


def test_the_key_holds_the_structure_and_not_the_numbers():
    m = lw.load("ur5e").mechanism
    first, second = VelocityLimit(0.1).bind(m), VelocityLimit(0.2, 3.0).bind(m)
    assert first.key == second.key
    assert first.settings != second.settings
    assert VelocityLimit(0.1, {m.joint_names[2]: 1.0}).bind(m).key != first.key


@pytest.fixture(scope="module")
def m():
    return mechanism_from(every_joint_urdf())


def test_one_number_some_names_or_all_of_them(m):
    def read(given):
        return per_joint(m, given, "x", otherwise=7.0)

    np.testing.assert_array_equal(read(2), np.full(m.n_v, 2.0))
    np.testing.assert_array_equal(read(np.arange(m.n_v)), np.arange(m.n_v))
    plane, elbow = m.joint("plane"), m.joint("elbow")
    found = read({"plane": [1, 2, 3], "elbow": 4})
    expected = np.full(m.n_v, 7.0)
    expected[m.v_start[plane] : m.v_start[plane + 1]] = (1, 2, 3)
    expected[m.v_start[elbow]] = 4
    np.testing.assert_array_equal(found, expected)


def test_what_cannot_be_meant_is_refused(m):
    def read(given):
        return per_joint(m, given, "x", otherwise=0.0)

    with pytest.raises(UnknownNameError, match="elbow"):
        read({"elbo": 1.0})
    with pytest.raises(ShapeError, match=r"x\['plane'\]"):
        read({"plane": [1.0, 2.0]})
    with pytest.raises(ShapeError, match="one number"):
        read(np.ones(m.n_v + 1))
    for bad in (-1e-9, float("nan")):
        with pytest.raises(InputError, match="elbow"):
            read({"elbow": bad})
    with pytest.raises(InputError):
        read("fast")


@pytest.mark.parametrize("dt", [0.0, -1.0, float("nan"), float("inf"), "0.1", None])
def test_a_time_step_is_a_positive_number(dt):
    with pytest.raises(InputError, match="dt"):
        VelocityLimit(dt).bind(lw.load("planar_2r").mechanism)


def test_the_position_of_each_velocity(m):
    for c, name in enumerate(m.joint_names):
        for k in range(int(m.v_start[c]), int(m.v_start[c + 1])):
            if name in ("free", "socket"):
                with pytest.raises(UnsupportedFeatureError, match=name):
                    position_of_velocity(m, k, "VelocityLimit")
            else:
                place = position_of_velocity(m, k, "VelocityLimit")
                assert place - m.q_start[c] == k - m.v_start[c]


def test_single_positions(m):
    c, k = single_position(m, "slide", "x")
    assert (c, k) == (m.joint("slide"), m.q_start[m.joint("slide")])
    with pytest.raises(InputError, match="follows 'grip_a'"):
        single_position(m, "grip_c", "x")
    for name in ("plane", "free", "socket"):
        with pytest.raises(UnsupportedFeatureError, match=name):
            single_position(m, name, "x")
    with pytest.raises(UnknownNameError):
        single_position(lw.load("ur5e").mechanism, "slide", "x")


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
    with pytest.raises(InputError, match=r"'slide': its limits are \S+ and \S+, the margin is 0.2"):
        PositionLimit({"slide": 0.2}).bind(m)
    with pytest.raises(InputError, match="finite"):
        PositionLimit(float("inf")).bind(m)
    PositionLimit({"slide": 0.17}).bind(m)


def bounds_velocity(limit, start):
    return limit.bounds(NUMPY, Where(start, start, {}), np.array(limit.settings), np.zeros(0))


@pytest.mark.parametrize("dt", [1e-6, 3e-5, 2e-3, 0.1, 1.0, 10.0])
def test_bounds_are_exact_in_real_numbers_and_lose_next_to_nothing(m, dt):
    r = rng(f"velocity {dt}")
    names = ["shoulder", "elbow", "slide"]
    for _ in range(200):
        v_max = dict(zip(names, np.exp(r.uniform(-5, 3, 3)).tolist(), strict=True))
        limit = VelocityLimit(dt, v_max).bind(m)
        start = r.uniform(-7.0, 7.0, m.n_q)
        for name in names:
            k = int(m.q_start[m.joint(name)])
            lower, upper = bounds_velocity(limit, start)[k]
            far = Fraction(v_max[name]) * Fraction(dt)
            for end in (lower, upper):
                gone = abs(Fraction(float(end)) - Fraction(float(start[k])))
                assert gone <= far
                assert gone >= far * (1 - Fraction(1, 10**12)) - Fraction(1, 10**14)
                assert abs(end - start[k]) / dt <= v_max[name]


def test_the_description_is_the_default_and_free_joints_stay_free(m):
    limit = VelocityLimit(0.1).bind(m)
    named = {int(m.q_start[m.joint(name)]) for name in ("shoulder", "elbow", "slide", "grip_a")}
    assert set(limit.positions) == named
    start = np.zeros(m.n_q)
    k = int(m.q_start[m.joint("slide")])
    assert bounds_velocity(limit, start)[k][1] == pytest.approx(0.05)


@pytest.mark.parametrize("name", ["delta", "stewart", "quadruped"])
def test_floating_joints_are_left_out_where_no_limit_is_named(name):
    base = {"base": "floating"} if name == "quadruped" else {}
    r = lw.load(name, **base)
    bound = VelocityLimit(0.01).bind(r.mechanism)
    c = next(c for c, kind in enumerate(r.mechanism.joint_types) if kind.n_q == 7)
    free = range(int(r.mechanism.q_start[c]), int(r.mechanism.q_start[c + 1]))
    assert bound.positions and not set(free) & set(bound.positions)


def test_floating_joints_are_refused_by_name_where_they_are_to_be_limited(m):
    for v_max in (1.0, {"free": 1.0}):
        with pytest.raises(UnsupportedFeatureError, match="free"):
            VelocityLimit(0.1, v_max).bind(m)
    planar = VelocityLimit(0.1, {"plane": [1.0, 2.0, 3.0]}).bind(m)
    assert len(planar.positions) == 3


def test_a_velocity_of_zero_holds_the_joint(m):
    limit = VelocityLimit(0.1, {"elbow": 0.0}).bind(m)
    k = int(m.q_start[m.joint("elbow")])
    start = np.full(m.n_q, 0.3)
    assert bounds_velocity(limit, start)[k] == (0.3, 0.3)


A = 2.0


@pytest.fixture(scope="module")
def m_acceleration():
    return mechanism_from(
        '<robot name="one"><link name="a"/><link name="b"/><joint name="j" type="revolute">'
        '<parent link="a"/><child link="b"/><axis xyz="0 0 1"/>'
        '<limit lower="-1" upper="1.5" velocity="3" effort="1"/></joint></robot>'
    )


def interval(limit, q, v, room=(-1.0, 1.5)):
    where = Where(np.array([q]), np.array([q]), {0: room})
    return limit.bounds(NUMPY, where, np.array(limit.settings), np.array([v]))[0]


@pytest.mark.sweep(4)
@pytest.mark.parametrize("dt", [1e-5, 1e-3, 0.01, 0.1, 1.0, 10.0])
@pytest.mark.parametrize("sign", [1, -1])
def test_pressing_on_for_ever_never_needs_more_and_ends_at_the_limit(m_acceleration, dt, sign):
    limit = AccelerationLimit(dt, A).bind(m_acceleration)
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


def test_as_fast_as_one_may_go_and_still_stop(m_acceleration):
    dt = 0.01
    limit = AccelerationLimit(dt, A).bind(m_acceleration)
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


def test_without_limits_only_the_change_is_bounded():
    m_acceleration = mechanism_from(every_joint_urdf())
    limit = AccelerationLimit(0.1, {"spin": A}).bind(m_acceleration)
    k = int(m_acceleration.q_start[m_acceleration.joint("spin")])
    r = rng("spin")
    for _ in range(50):
        q, v = r.normal(size=m_acceleration.n_q), r.normal(size=m_acceleration.n_v)
        where = Where(q, q, {k: (None, None)})
        lower, upper = limit.bounds(NUMPY, where, np.array(limit.settings), v)[k]
        rate = v[m_acceleration.v_start[m_acceleration.joint("spin")]]
        assert lower == pytest.approx(q[k] + (rate - A * 0.1) * 0.1, abs=1e-14)
        assert upper == pytest.approx(q[k] + (rate + A * 0.1) * 0.1, abs=1e-14)


def test_what_it_takes(m_acceleration):
    limit = AccelerationLimit(0.1, A).bind(m_acceleration)
    assert limit.name == "acceleration"
    assert limit.numbers is None
    assert limit.rows_of([[1.0], [2.0]]).shape == (2, 1)
    with pytest.raises(ShapeError, match="acceleration"):
        limit.rows_of([1.0, 2.0])
    np.testing.assert_array_equal(
        AccelerationLimit(0.1, A, v=[0.5]).bind(m_acceleration).numbers, [0.5]
    )
    for bad in (0.0, -1.0, {"j": 0.0}):
        with pytest.raises(InputError, match="'j'"):
            AccelerationLimit(0.1, bad).bind(m_acceleration)
    with pytest.raises(UnsupportedFeatureError, match="free"):
        AccelerationLimit(0.1, A).bind(mechanism_from(every_joint_urdf()))
    assert AccelerationLimit(0.1, {}).bind(lw.load("ur5e").mechanism).positions == ()


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
