"""Quaternions of a search: of unit length, inside their angle, and no column leads out of it."""

from __future__ import annotations

import numpy as np
import pytest

import linkwork as lw
from linkwork.ops.numpy import NUMPY
from linkwork.solve import cones
from linkwork.solve.problem import make_problem
from linkwork.solve.tasks.pose import Pose
from seeds import rng

LIMIT = 1.2
ROBOT = lw.load(
    '<robot name="two"><link name="a"/><link name="b"/><link name="c"/>'
    '<joint name="slide" type="prismatic"><parent link="a"/><child link="b"/>'
    '<limit lower="-1" upper="1" effort="1" velocity="1"/></joint>'
    '<joint name="ball" type="spherical"><parent link="b"/><child link="c"/>'
    f'<limit upper="{LIMIT}" effort="1" velocity="1"/></joint></robot>'
)
PROBLEM = make_problem(ROBOT.mechanism, Pose("c"))


def turned(angle: float, length: float = 1.0) -> np.ndarray:
    """x with the ball turned about a skew axis."""
    axis = np.array([0.6, -0.64, 0.48])
    return np.array([0.3, *(length * np.array([np.cos(angle / 2), *(np.sin(angle / 2) * axis)]))])


def angle_of(x: np.ndarray) -> float:
    return float(2 * np.arctan2(np.linalg.norm(x[2:]), abs(x[1])))


def test_where_it_stands():
    (ball,) = PROBLEM.balls
    assert (ball.place, ball.column, ball.limit) == (1, 1, LIMIT)


@pytest.mark.parametrize("length", [1.0, -1.0, 0.01, 30.0])
@pytest.mark.parametrize("angle", [0.0, 1e-9, 0.5, 1.1999, 1.3, 2.5, np.pi, -2.0])
def test_entering_is_the_nearest_rotation_inside(angle: float, length: float):
    x = turned(angle, length)
    found = np.array(cones.entered(NUMPY, PROBLEM, list(x)))
    assert found[0] == x[0]
    assert np.linalg.norm(found[1:]) == pytest.approx(1, abs=1e-15)
    assert angle_of(found) == pytest.approx(min(abs(angle), LIMIT), abs=1e-11)
    assert angle_of(found) <= LIMIT
    assert np.linalg.norm(np.cross(found[2:], x[2:])) <= 1e-15 * abs(length)  # the same axis
    again = np.array(cones.entered(NUMPY, PROBLEM, list(found)))
    np.testing.assert_allclose(again, found, rtol=0, atol=1e-15)


def test_excess_is_how_far_it_is_outside():
    assert cones.excess(NUMPY, PROBLEM, list(turned(LIMIT + 1e-5))) == pytest.approx(1e-5, rel=1e-4)
    assert cones.excess(NUMPY, PROBLEM, list(turned(LIMIT - 1e-5))) <= 1e-15
    assert cones.excess(NUMPY, PROBLEM, list(turned(0.5, 1.001))) == pytest.approx(0.002, rel=1e-3)
    wxyz = list(turned(LIMIT + 1e-5, 7.0)[1:])
    assert cones.beyond(NUMPY, wxyz, LIMIT) == pytest.approx(1e-5, rel=1e-4)


def test_columns_at_the_limit_lead_along_it():
    generator, h = rng("columns"), 1e-6
    for sign in (1.0, -1.0):
        x = np.array(cones.entered(NUMPY, PROBLEM, list(sign * turned(2.0))))
        x[0] = 0.3
        columns = [np.array(c) for c in generator.normal(size=(4, 6))]
        outward = np.array([0.0, 0.6, -0.64, 0.48])
        joints = cones.pressed(NUMPY, PROBLEM, x, list(outward))
        found = cones.along_limits(columns, joints)
        assert np.array_equal(found[0], columns[0])
        step = np.array([found[k] @ np.ones(6) for k in range(4)])
        after = ROBOT.integrate(x, h * step)
        assert abs(angle_of(after) - angle_of(x)) < 1e-11
        free = cones.pressed(NUMPY, PROBLEM, x, list(-outward))
        same = cones.along_limits(columns, free)
        assert all(np.array_equal(a, b) for a, b in zip(same, columns, strict=True))
        inside = cones.pressed(NUMPY, PROBLEM, turned(1.0), list(outward))
        assert np.array_equal(cones.along_limits(columns, inside), columns)
