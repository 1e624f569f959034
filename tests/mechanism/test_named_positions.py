"""Configurations by name, neutral ones, and positions that have to lie inside limits."""

from __future__ import annotations

import numpy as np
import pytest

import linkwork as lw
import robots
from linkwork.errors import InputError
from linkwork.mechanism.neutral import neutral
from linkwork.mechanism.position_limits import bounded_places, inside_limits
from seeds import rng


def test_neutral_is_zero_clamped():
    m = robots.mechanism_from(robots.every_joint_urdf())
    positions = robots.by_name(m, neutral(m))
    assert positions["slide"].tolist() == [0.05]
    assert positions["free"].tolist() == [0, 0, 0, 1, 0, 0, 0]
    np.testing.assert_allclose(positions["grip_a"], [0.03], atol=1e-16)  # so that finger_c can be
    assert positions["socket"].tolist() == [1, 0, 0, 0]
    free_of_limits = set(m.joint_names) - {"slide", "free", "grip_a", "socket"}
    assert not any(positions[name].any() for name in free_of_limits)


def test_limits_on_one_side_of_zero_and_reversed_ones():
    text = robots.chain_urdf(1).replace('upper="1"', 'upper="-0.5"')
    assert neutral(robots.mechanism_from(text)).tolist() == [-0.5]
    reversed_limits = robots.chain_urdf(1).replace('upper="1"', 'upper="-3"')
    assert neutral(robots.mechanism_from(reversed_limits)).tolist() == [0.0]


M = robots.mechanism_from(robots.every_joint_urdf())
ALL = range(M.n_q)


def checked(q, places=ALL):
    return inside_limits(M, q, places, "q0", whose="is at", hint="clip it")


def inside(label, lead):
    """Configurations (*lead, nq) inside the limits."""
    q = np.clip(rng(label).uniform(-3, 3, (*lead, M.n_q)), M.lower, M.upper)
    at = int(M.q_start[M.joint("socket")])
    q[..., at : at + 4] = [3.0, 0.5, -0.5, 0.5]  # of any length
    return q


def test_what_is_inside_is_the_same_array():
    q = inside("inside", (5,))
    assert checked(q) is q
    assert checked(q[0]).tobytes() == q[0].tobytes()


def test_rounding_is_put_at_the_limit_and_nothing_else_is_changed():
    q = inside("rounding", (5,))
    for k in bounded_places(M, ALL):
        outside = q.copy()
        outside[2, k] = M.upper[k] + 5e-7
        expected = q.copy()
        expected[2, k] = M.upper[k]
        assert checked(outside).tobytes() == expected.tobytes()
        assert outside[2, k] > M.upper[k]  # what was given is not changed


def test_more_is_refused_with_row_joint_and_limits():
    q = inside("more", (3, 2))
    for k in bounded_places(M, ALL):
        outside = q.copy()
        outside[1, 0, k] = M.lower[k] - 0.1
        name = M.joint_names[[c for c, s in enumerate(M.q_start[:-1]) if s <= k][-1]]
        assert M.joint_of_q(k) == name
        with pytest.raises(InputError, match=rf"q0\[1\]\[0\]: joint '{name}' is at .*; clip it"):
            checked(outside)
        others = [place for place in ALL if place != k]
        assert checked(outside, others) is outside


def test_reversed_limits_bound_nothing():
    text = (
        '<robot name="r"><link name="a"/><link name="b"/><joint name="j" type="revolute">'
        '<parent link="a"/><child link="b"/><limit lower="1" upper="-1" effort="1" velocity="1"/>'
        "</joint></robot>"
    )
    assert bounded_places(lw.load(text).mechanism, [0]) == []


def test_an_angle_is_taken_back_about_its_axis_or_refused():
    q, at = inside("angle", (3,)), int(M.q_start[M.joint("socket")])
    axis = np.array([0.6, 0.0, -0.8])
    for sign in (1, -1):
        for beyond in (5e-7, 0.1):
            half = 0.5 * (1.2 + beyond)
            q[1, at : at + 4] = sign * 2.0 * np.array([np.cos(half), *(np.sin(half) * axis)])
            if beyond > 1e-6:
                with pytest.raises(InputError, match=r"q0\[1\]: joint 'socket' is at 1\.3 rad"):
                    checked(q)
                continue
            found = checked(q)
            at_limit = sign * 2.0 * np.array([np.cos(0.6), *(np.sin(0.6) * axis)])
            np.testing.assert_allclose(found[1, at : at + 4], at_limit, rtol=0, atol=1e-11)
            assert checked(found) is found
