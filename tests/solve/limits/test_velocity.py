"""How far a position gets in one time step."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import linkwork as lw
from linkwork.errors import UnsupportedFeatureError
from linkwork.ops.numpy import NUMPY
from linkwork.solve.limits.base import Where
from linkwork.solve.limits.velocity import VelocityLimit
from robots import every_joint_urdf, mechanism_from
from seeds import rng


@pytest.fixture(scope="module")
def m():
    return mechanism_from(every_joint_urdf())


def bounds(limit, start):
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
            lower, upper = bounds(limit, start)[k]
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
    assert bounds(limit, start)[k][1] == pytest.approx(0.05)


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
    assert bounds(limit, start)[k] == (0.3, 0.3)
