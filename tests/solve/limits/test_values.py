"""Numbers for joints: one for all, by name, or one for each."""

from __future__ import annotations

import numpy as np
import pytest

import linkwork as lw
from linkwork.errors import InputError, ShapeError, UnknownNameError, UnsupportedFeatureError
from linkwork.solve.limits.values import (
    per_joint,
    position_of_velocity,
    single_position,
    time_step,
)
from robots import every_joint_urdf, mechanism_from


@pytest.fixture(scope="module")
def m():
    return mechanism_from(every_joint_urdf())


def test_one_number_some_names_or_all_of_them(m):
    def read(given):
        return per_joint(m, given, "x", starts=m.v_start, otherwise=7.0)

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
        return per_joint(m, given, "x", starts=m.v_start, otherwise=0.0)

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
        time_step(dt, "dt")
    assert time_step(np.float64(0.5), "dt") == 0.5


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
