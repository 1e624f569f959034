"""The update of the joints: its length, units and limits, and spherical joints at theirs."""

from __future__ import annotations

import math

import numpy as np
import pytest

import linkwork as lw
from linkwork.ops.numpy import NUMPY
from linkwork.solve.joint_update import JointUpdate, along_limits, beyond_angle, narrowed, times
from linkwork.solve.limits import AccelerationLimit, CoupledLimit, PositionLimit, VelocityLimit
from linkwork.solve.problem import make_problem
from linkwork.solve.tasks import Pose
from robots import every_joint_urdf, mechanism_from
from seeds import rng


@pytest.fixture(scope="module")
def m():
    return lw.load("ur5e").mechanism


def numbers_of(problem, start, v=None):
    """Parameters and settings with only the numbers of limits in them."""
    layout = problem.layout
    parameters, settings = np.zeros(layout.n_parameters), np.zeros(layout.n_settings)
    if layout.start[1] > layout.start[0]:
        parameters[slice(*layout.start)] = start[list(problem.moved)]
    for limit, span, own in zip(
        problem.limits, layout.limit_settings, layout.limit_numbers, strict=True
    ):
        settings[slice(*span)] = limit.settings
        if limit.n_numbers:
            parameters[slice(*own)] = v
    return parameters, settings


def problem_of(m, *limits, joints=None):
    return make_problem(m, Pose("tool0"), limits=limits, joints=joints)


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        ((0.0, 1.0), (0.2, 0.7), (0.2, 0.7)),
        ((0.0, 1.0), (-1.0, 2.0), (0.0, 1.0)),
        ((0.0, 1.0), (2.0, 3.0), (1.0, 1.0)),
        ((0.0, 1.0), (-3.0, -2.0), (0.0, 0.0)),
        ((None, None), (2.0, 3.0), (2.0, 3.0)),
        ((0.0, None), (-3.0, -2.0), (0.0, 0.0)),
        ((0.0, 1.0), (None, 0.5), (0.0, 0.5)),
        ((0.0, 1.0), (None, None), (0.0, 1.0)),
    ],
)
def test_what_both_allow_and_what_comes_first(a, b, expected):
    assert narrowed(NUMPY, a, b) == expected


def test_position_then_velocity_then_acceleration(m):
    v = np.full(m.n_v, 50.0)  # far too fast for anything
    dt = 0.1
    limits = [AccelerationLimit(dt, 1.0), VelocityLimit(dt), PositionLimit(0.1)]
    problem = problem_of(m, *limits)
    start = m.upper + 1.0
    parameters, settings = numbers_of(problem, start, v)
    reach = JointUpdate(NUMPY, problem, parameters, settings).reach(start)
    for (lower, upper), end in zip(reach, m.upper - 0.1, strict=True):
        assert lower == upper == end  # braking too late, at the limit already
    start = np.zeros(m.n_q)
    parameters, settings = numbers_of(problem, start, v)
    for k, (lower, upper) in enumerate(
        JointUpdate(NUMPY, problem, parameters, settings).reach(start)
    ):
        assert lower == upper == pytest.approx(m.velocity_limit[k] * dt)


def test_a_start_outside_is_moved_inside_first(m):
    problem = problem_of(m, VelocityLimit(0.01), PositionLimit(0.2))
    start = m.lower - 3.0
    numbers = numbers_of(problem, start)
    for k, (lower, upper) in enumerate(JointUpdate(NUMPY, problem, *numbers).reach(start)):
        assert lower == m.lower[k] + 0.2
        assert upper == pytest.approx(m.lower[k] + 0.2 + 0.01 * m.velocity_limit[k])


def test_points_from_anywhere_are_entered_and_points_inside_keep_their_bits(m):
    problem = problem_of(m, VelocityLimit(0.1))
    r = rng("entered")
    start = r.uniform(m.lower, m.upper)
    numbers = numbers_of(problem, start)
    update = JointUpdate(NUMPY, problem, *numbers)
    reach = update.reach(start)
    low, high = np.array(reach).T
    found = np.array([update.entered(r.uniform(m.lower, m.upper), reach) for _ in range(2000)])
    assert ((found >= low) & (found <= high)).all()
    share = (found - low) / (high - low)
    for k in range(m.n_q):  # as if drawn from within
        counts, _ = np.histogram(share[:, k], bins=5, range=(0.0, 1.0))
        assert counts.min() > 300
    inside = low + r.random(m.n_q) * (high - low)
    np.testing.assert_array_equal(update.entered(inside, reach), inside)
    little = update.entered(high + 1e-6, reach)
    np.testing.assert_allclose(little, high - 1e-6, atol=1e-12)


def test_a_violation_is_how_far_the_farthest_is_outside(m):
    problem = problem_of(m, VelocityLimit(0.1, 1.0), CoupledLimit(*m.joint_names[:2], [[0, -1, 1]]))
    start = np.zeros(m.n_q)
    numbers = numbers_of(problem, start)
    q = np.zeros(m.n_q)
    assert JointUpdate(NUMPY, problem, *numbers).violation(q) == 0.0
    q[3] = 0.35
    assert JointUpdate(NUMPY, problem, *numbers).violation(q) == pytest.approx(0.25)
    q[0] = -3.0
    assert JointUpdate(NUMPY, problem, *numbers).violation(q) == pytest.approx(2.9)


def test_a_joint_that_is_held_bounds_the_one_that_it_is_coupled_to(m):
    names = m.joint_names
    limit = CoupledLimit(names[1], names[2], [[-1.0, -1.0, 0.0], [1.0, 0.0, 1.0]])
    problem = problem_of(m, limit, joints=[n for n in names if n != names[1]])
    parameters, settings = numbers_of(problem, np.zeros(m.n_q))
    held = problem.layout.held[0] + problem.held.index(1)
    parameters[held] = 0.5  # inside while the other is above 0
    place = problem.moved.index(2)
    x = np.zeros(len(problem.moved))
    x[place] = 0.5
    assert JointUpdate(NUMPY, problem, parameters, settings).violation(x) == 0.0
    step = np.zeros(len(problem.moved))
    step[place] = -0.8
    reach = JointUpdate(NUMPY, problem, parameters, settings).reach(x)
    after = JointUpdate(NUMPY, problem, parameters, settings).moved(x, step, reach)
    np.testing.assert_array_equal(after, x)
    step[place] = -0.3
    after = JointUpdate(NUMPY, problem, parameters, settings).moved(x, step, reach)
    assert after[place] == pytest.approx(0.2)


def test_coupled_joints_slide_along_a_region_that_both_describe(m):
    a, b = m.joint_names[1:3]
    diamond = [[-1.0, 0.0, 0.0], [0.0, -1.0, 1.0], [1.0, 0.0, 0.0]]
    problem = problem_of(m, CoupledLimit(a, b, diamond), CoupledLimit(b, a, diamond))
    numbers = numbers_of(problem, np.zeros(m.n_q))
    x = np.zeros(m.n_q)
    r = rng("slides")
    for _ in range(300):
        step = np.zeros(m.n_q)
        step[1:3] = r.uniform(-0.5, 0.5, 2) + 0.2
        reach = JointUpdate(NUMPY, problem, *numbers).reach(x)
        after = JointUpdate(NUMPY, problem, *numbers).moved(x, step, reach)
        assert np.abs(after[1]) + np.abs(after[2]) <= 1.0
        assert JointUpdate(NUMPY, problem, *numbers).violation(after) == 0.0
        if np.abs(x[1] + step[1]) + np.abs(x[2] + step[2]) < 0.999:
            np.testing.assert_allclose(after, x + step)
        x = after


def test_an_edge_that_both_describe_in_their_own_rounding_does_not_hold_them(m):
    a, b = m.joint_names[1:3]
    r = rng("edges")
    for _ in range(30):
        low, high = -r.uniform(0.2, 1.0, 2), r.uniform(0.2, 1.0, 2)
        by_b = [[low[1], low[0], low[0]], [high[1], low[0], high[0]]]  # from corner to corner
        by_a = [[low[0], low[1], high[1]], [high[0], high[1], high[1]]]
        problem = problem_of(m, CoupledLimit(a, b, by_b), CoupledLimit(b, a, by_a))
        numbers = numbers_of(problem, np.zeros(m.n_q))
        x = np.zeros(m.n_q)
        x[1:3] = low + 0.05 * (high - low)
        reach = JointUpdate(NUMPY, problem, *numbers).reach(x)
        for _ in range(12):  # pressed against the edge while it goes along
            step = np.zeros(m.n_q)
            step[1:3] = 0.05 * (high - low) + r.uniform(0.0, 0.1) * np.array([1.0, 0.0])
            after = JointUpdate(NUMPY, problem, *numbers).moved(x, step, reach)
            assert JointUpdate(NUMPY, problem, *numbers).violation(after) == 0.0
            assert np.abs(after - x).max() > 1e-4
            edge = np.interp(after[2], (low[1], high[1]), (low[0], high[0]))
            assert 5e-13 < edge - after[1] < 2e-11
            x = after


def test_regions_that_exclude_each_other_leave_joints_where_they_were(m):
    a, b = m.joint_names[1:3]
    limits = [
        CoupledLimit(a, b, [[-1.0, 0.5, 1.0], [0.0, -1.0, 1.0]]),
        CoupledLimit(b, a, [[0.0, -1.0, 1.0], [0.5, 0.5, 1.0]]),
    ]
    problem = problem_of(m, *limits)
    numbers = numbers_of(problem, np.zeros(m.n_q))
    x = np.zeros(m.n_q)
    step = np.zeros(m.n_q)
    step[2], step[4] = -1.0, 0.1
    reach = JointUpdate(NUMPY, problem, *numbers).reach(x)
    after = JointUpdate(NUMPY, problem, *numbers).moved(x, step, reach)
    assert after[4] == 0.1
    assert JointUpdate(NUMPY, problem, *numbers).violation(after) == 0.0


def test_turns_of_a_step_are_limited_and_slides_are_not():
    m = mechanism_from(every_joint_urdf())
    problem = make_problem(m, Pose("hand"))
    update = JointUpdate(NUMPY, problem, np.zeros(0), np.zeros(problem.layout.n_settings))
    unit = update.unit
    slide = problem.moved_v.index(int(m.v_start[m.joint("slide")]))
    assert unit[slide] == problem.length
    dx = np.ones(len(unit)) * 5.0
    after, squared = update.limited(dx)
    turns = [float(d) for k, d in enumerate(after) if k != slide]
    assert math.hypot(*turns) == pytest.approx(1.2)
    assert squared == pytest.approx(25.0 * len(unit))


def test_angles_without_limits_wrap_unless_asked_not_to():
    m = mechanism_from(
        '<robot name="one"><link name="a"/><link name="b"/><joint name="j" type="continuous">'
        '<parent link="a"/><child link="b"/><axis xyz="0 0 1"/></joint></robot>'
    )
    problem = make_problem(m, Pose("b"))
    x = np.array([3.1])
    for wrap, expected in ((True, 3.2 - 2 * math.pi), (False, 3.2)):
        update = JointUpdate(NUMPY, problem, np.zeros(12), np.zeros(9))
        after = update.moved(x, [0.1], [(None, None)], wrap=wrap)
        assert after[0] == pytest.approx(expected)


def test_joint_weights_scale_and_a_plain_one_costs_nothing(m):
    problem = make_problem(m, Pose("tool0"), joint_weights={m.joint_names[0]: 0.1})
    settings = np.zeros(problem.layout.n_settings)
    settings[slice(*problem.layout.joint_weights)] = problem.joint_weights
    assert [float(s) for s in JointUpdate(NUMPY, problem, np.zeros(0), settings).unit] == [
        0.1,
        *[1.0] * 5,
    ]
    value = object()
    assert times(1.0, value) is value


LIMIT = 1.2
ROBOT = lw.load(
    '<robot name="two"><link name="a"/><link name="b"/><link name="c"/>'
    '<joint name="slide" type="prismatic"><parent link="a"/><child link="b"/>'
    '<limit lower="-1" upper="1" effort="1" velocity="1"/></joint>'
    '<joint name="ball" type="spherical"><parent link="b"/><child link="c"/>'
    f'<limit upper="{LIMIT}" effort="1" velocity="1"/></joint></robot>'
)
PROBLEM = make_problem(ROBOT.mechanism, Pose("c"))
BALL = JointUpdate(NUMPY, PROBLEM, np.zeros(0), np.zeros(0))


def turned(angle: float, length: float = 1.0) -> np.ndarray:
    """x with the ball turned about a skew axis."""
    axis = np.array([0.6, -0.64, 0.48])
    return np.array([0.3, *(length * np.array([np.cos(angle / 2), *(np.sin(angle / 2) * axis)]))])


def angle_of(x: np.ndarray) -> float:
    return float(2 * np.arctan2(np.linalg.norm(x[2:]), abs(x[1])))


@pytest.mark.parametrize("length", [1.0, -1.0, 0.01, 30.0])
@pytest.mark.parametrize("angle", [0.0, 1e-9, 0.5, 1.1999, 1.3, 2.5, np.pi, -2.0])
def test_entering_is_the_nearest_rotation_inside(angle: float, length: float):
    x = turned(angle, length)
    found = np.array(BALL.inside_angles(list(x)))
    assert found[0] == x[0]
    assert np.linalg.norm(found[1:]) == pytest.approx(1, abs=1e-15)
    assert angle_of(found) == pytest.approx(min(abs(angle), LIMIT), abs=1e-11)
    assert angle_of(found) <= LIMIT
    assert np.linalg.norm(np.cross(found[2:], x[2:])) <= 1e-15 * abs(length)  # the same axis
    again = np.array(BALL.inside_angles(list(found)))
    np.testing.assert_allclose(again, found, rtol=0, atol=1e-15)


def test_excess_is_how_far_it_is_outside():
    assert BALL.angle_excess(list(turned(LIMIT + 1e-5))) == pytest.approx(1e-5, rel=1e-4)
    assert BALL.angle_excess(list(turned(LIMIT - 1e-5))) <= 1e-15
    assert BALL.angle_excess(list(turned(0.5, 1.001))) == pytest.approx(0.002, rel=1e-3)
    wxyz = list(turned(LIMIT + 1e-5, 7.0)[1:])
    assert beyond_angle(NUMPY, wxyz, LIMIT) == pytest.approx(1e-5, rel=1e-4)


def test_columns_at_the_limit_lead_along_it():
    generator, h = rng("columns"), 1e-6
    for sign in (1.0, -1.0):
        x = np.array(BALL.inside_angles(list(sign * turned(2.0))))
        x[0] = 0.3
        columns = [np.array(c) for c in generator.normal(size=(4, 6))]
        outward = np.array([0.0, 0.6, -0.64, 0.48])
        joints = BALL.pressed(x, list(outward))
        found = along_limits(columns, joints)
        assert np.array_equal(found[0], columns[0])
        step = np.array([found[k] @ np.ones(6) for k in range(4)])
        after = ROBOT.integrate(x, h * step)
        assert abs(angle_of(after) - angle_of(x)) < 1e-11
        free = BALL.pressed(x, list(-outward))
        same = along_limits(columns, free)
        assert all(np.array_equal(a, b) for a, b in zip(same, columns, strict=True))
        inside = BALL.pressed(turned(1.0), list(outward))
        assert np.array_equal(along_limits(columns, inside), columns)
