"""The best of many solutions, all of them, and what they are compared by."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import linkwork as lw
from linkwork.compile.compiler import Compiler
from linkwork.errors import InputError, ShapeError
from linkwork.solve.problem import make_problem
from linkwork.solve.seeds import starting_points, starts_of
from linkwork.solve.selection import cheapest, cost_of, distance, distinct, nearest_turns
from linkwork.solve.tasks import CenterOfMass, JointCoupling, Pose, Position
from robots import mechanism_from
from seeds import rng

UR5E, PANDA = lw.load("ur5e"), lw.load("panda")


@pytest.fixture(scope="module")
def arm():
    return UR5E.solver("tool0")


def turns_apart(a, b):
    """The largest difference of a joint, whole turns left out."""
    return np.abs((a - b + np.pi) % (2.0 * np.pi) - np.pi).max(axis=-1)


# starts


def test_starts_lie_inside_limits_and_on_the_circle_without():
    robot = lw.load("mobile_arm")
    problem = make_problem(robot.mechanism, Pose("tool0"))
    q0 = robot.random(2, seed=1)
    points = starting_points(problem, q0, 200, 0)
    assert points.shape == (2, 200, robot.n_q)
    np.testing.assert_array_equal(points[:, 0], q0)
    x = points[:, 1:, list(problem.moved)]
    assert (x >= problem.lower).all()
    assert (x <= problem.upper).all()
    angles = x[..., problem.wraps]
    assert np.abs(angles).max() <= np.pi
    assert np.ptp(angles, axis=1).min() > 5.0
    held = [k for k in range(robot.n_q) if k not in problem.moved]
    assert (points[..., held] == q0[:, None, held]).all()


def test_starts_are_the_same_for_every_row_and_differ_by_seed():
    problem = make_problem(PANDA.mechanism, Pose("tool0"))
    a, b = PANDA.random(2, seed=2)
    both = starting_points(problem, np.array([a, b]), 8, 3)
    alone = starting_points(problem, b[None], 8, 3)
    assert both[1].tobytes() == alone[0].tobytes()
    assert starting_points(problem, b[None], 8, 4)[0, 1:].tobytes() != alone[0, 1:].tobytes()


def test_limits_too_wide_for_numbers_are_no_range():
    text = """<robot name="r"><link name="a"/><link name="b"/><joint name="j" type="revolute">
    <parent link="a"/><child link="b"/><limit lower="-1e308" upper="1e308" effort="1"
    velocity="1"/></joint></robot>"""
    starts = starts_of(make_problem(mechanism_from(text), Pose("b")))
    assert np.isfinite(np.stack(starts)).all()


# choosing among solutions


def test_the_cheapest_success_is_chosen_else_the_nearest_miss():
    cost = np.array([[3.0, 1.0, 2.0], [3.0, 1.0, 2.0], [3.0, 1.0, 2.0]])
    success = np.array([[True, False, True], [False, False, False], [True, True, True]])
    misses = np.array([[0.0, 0.5, 0.0], [0.3, 0.2, 0.1], [0.0, 0.0, 0.0]])
    assert cheapest(cost, success, misses).tolist() == [2, 2, 1]


@pytest.mark.sweep(1)
@pytest.mark.parametrize("choose", ["nearest", "centred", "manipulable"])
def test_the_best_is_the_best_of_what_the_same_starts_find(arm, choose):
    q0 = UR5E.random(6, seed=4)
    targets = UR5E.fk(UR5E.random(6, seed=5))
    many = 12
    best = arm.solve(targets, q0, best_of=many, choose=choose)
    assert best.success.all()
    lower, upper = UR5E.limits.lower, UR5E.limits.upper
    spread = 0.0
    for k in range(6):
        points = starting_points(arm.problem, q0[k : k + 1], many, 0)[0]
        found = arm.solve(targets[k], points)
        q = nearest_turns(arm.problem, found.q, np.broadcast_to(q0[k], found.q.shape))
        q = np.concatenate([q, found.q[:1]])  # the plain answer counts as it is, too
        J = UR5E.jacobian(q)
        cost = {
            "nearest": np.linalg.norm(q - q0[k], axis=1),
            "centred": np.abs((q - (lower + upper) / 2) / ((upper - lower) / 2)).max(axis=1),
            "manipulable": -np.abs(np.linalg.det(J)),
        }[choose]
        least = np.where(np.append(found.success, found.success[0]), cost, np.inf).min()
        assert float(best.cost[k]) == pytest.approx(least, rel=1e-9)
        spread = max(spread, np.ptp(cost) / abs(least))
    assert spread > 0.1  # there was something to choose


def test_the_least_of_a_function_is_taken(arm):
    target = UR5E.fk(UR5E.random(seed=6))
    for sign in (1.0, -1.0):
        best = arm.solve(target, best_of=24, choose=lambda q, sign=sign: sign * np.cos(q[:, 0]))
        assert best.success
        assert float(best.cost) == pytest.approx(sign * np.cos(best.q[0]))
    high, low = (
        arm.solve(target, best_of=24, choose=lambda q, s=s: s * q[:, 2]).q[2] for s in (-1, 1)
    )
    assert high > low + 0.1


def test_the_answer_depends_on_the_row_alone(arm):
    targets, q0 = UR5E.fk(UR5E.random(30, seed=8)), UR5E.random(30, seed=9)
    how = {"best_of": 6, "choose": "centred"}
    batch = arm.solve(targets, q0, **how)
    again = arm.solve(targets[::-1], q0[::-1], threads=2, **how)
    assert again.q[::-1].tobytes() == batch.q.tobytes()
    one = arm.solve(targets[11], q0[11], **how)
    assert one.q.tobytes() == batch.q[11].tobytes()
    assert one.cost == batch.cost[11]


@pytest.mark.parametrize("choose", ["nearest", "centred", "of my own"])
@pytest.mark.parametrize("given", [False, True], ids=["no q0", "q0"])
def test_the_best_of_many_is_never_worse_than_the_plain_answer(arm, choose, given):
    targets = UR5E.fk(UR5E.random(500, seed=16))
    q0 = UR5E.random(500, seed=17) if given else None
    lower, upper = UR5E.limits.lower, UR5E.limits.upper
    start = np.zeros(6) if q0 is None else q0
    costs = {
        "nearest": lambda q: np.linalg.norm(q - start, axis=1),
        "centred": lambda q: np.abs((2.0 * q - lower - upper) / (upper - lower)).max(axis=1),
        "of my own": lambda q: q[:, 5] - q[:, 0],
    }
    plain = arm.solve(targets, q0)
    how = costs[choose] if choose == "of my own" else choose
    best = arm.solve(targets, q0, best_of=2, choose=how)
    assert plain.success.all()
    assert best.success.all()
    assert (costs[choose](best.q) <= costs[choose](plain.q) + 1e-9).all()
    np.testing.assert_allclose(best.cost, costs[choose](best.q), atol=1e-9)


# turns


def test_angles_go_to_the_turn_that_is_nearest_inside_their_limits(arm):
    g = rng("turns")
    q = g.uniform(-np.pi, np.pi, (200, 6))
    start = g.uniform(UR5E.limits.lower, UR5E.limits.upper, (200, 6))
    turned = nearest_turns(arm.problem, q, start)
    np.testing.assert_allclose(turns_apart(turned, q), 0.0, atol=1e-12)
    choices = q[..., None] + 2.0 * np.pi * np.arange(-2, 3)
    lower, upper = UR5E.limits.lower[:, None], UR5E.limits.upper[:, None]
    away = np.where(
        (choices >= lower) & (choices <= upper), np.abs(choices - start[..., None]), np.inf
    )
    np.testing.assert_allclose(np.abs(turned - start), away.min(axis=-1), atol=1e-9)
    same = nearest_turns(arm.problem, q, q)
    assert same.tobytes() == q.tobytes()


def test_the_best_of_tasks_that_count_turns_still_does_them():
    joints = UR5E.joint_names
    tasks = [Pose("tool0", rotation=""), JointCoupling(joints[5], joints[3], ratio=0.5)]
    solver = UR5E.solver(tasks=tasks)
    target = UR5E.fk(UR5E.random(seed=11))
    result = solver.solve(target, np.full(6, 6.0), best_of=8)
    assert result.success
    assert result.q[5] == pytest.approx(0.5 * result.q[3], abs=2e-4)


# all solutions


def test_distinct_leaves_one_of_each_group():
    problem = make_problem(UR5E.mechanism, Pose("tool0"))
    a, b = UR5E.random(2, seed=12)
    rows = np.array([a, b, a + 1e-4, b + 2.0 * np.pi, a + 0.1 * np.eye(6)[0]])
    assert distinct(problem, rows, 1e-2).tolist() == [0, 1, 4]
    assert distinct(problem, rows[:0], 1e-2).tolist() == []


def test_a_quaternion_and_its_negative_are_one():
    robot = lw.load("quadruped", base="floating")
    foot = next(name for name in robot.frame_names if name.endswith("foot"))
    problem = make_problem(robot.mechanism, Pose(foot))
    a, b = robot.random(2, seed=13)
    flipped = a.copy()
    flipped[3:7] *= -1.0
    assert distinct(problem, np.array([a, flipped, b]), 1e-2).tolist() == [0, 2]
    near = nearest_turns(problem, flipped[None], a[None])
    np.testing.assert_array_equal(near[0], a)


def test_the_length_of_a_quaternion_does_not_decide_what_is_nearest():
    robot = lw.load("quadruped", base="floating")
    feet = [name for name in robot.frame_names if name.endswith("foot")][:2]
    a, b, q0 = robot.random(3, seed=16)
    longer = q0.copy()
    longer[3:7] *= -7.0
    solver = robot.solver(tasks=[Position(foot) for foot in feet])
    targets = [robot.fk(a, feet[0])[:3, 3], robot.fk(a, feet[1])[:3, 3]]
    one, other = (solver.solve(targets, start, best_of=8) for start in (q0, longer))
    assert one.success
    np.testing.assert_allclose(other.cost, one.cost, rtol=1e-9)
    assert np.linalg.norm(other.q[3:7]) == pytest.approx(1.0, abs=1e-15)
    both = np.array([a, b])
    same_side = q0.copy()
    same_side[3:7] *= 7.0
    ways = [distance(solver.problem, both, start[None]) for start in (q0, same_side)]
    np.testing.assert_allclose(*ways, rtol=1e-12)


def test_two_links_in_a_plane_have_two():
    robot = lw.load("planar_2r")
    solver = robot.solver(tasks=Position(robot.tip, axes="xy"))
    q = np.array([0.3, 0.9])
    target = robot.fk(q, robot.tip)[:3, 3]
    found = solver.all_solutions(target, q).q
    assert len(found) == 2
    np.testing.assert_allclose(found[0], q, atol=1e-3)  # the nearest to q0 first
    assert found[1, 1] == pytest.approx(-0.9, abs=1e-3)
    none = solver.all_solutions(target + 9.0)
    assert none.q.shape == (0, 2)
    assert "the best of at most 500 tries ends 12.6 m away" in none.reason


def test_a_continuum_is_sampled_apart():
    solver = PANDA.solver("tool0")
    target = PANDA.fk(PANDA.random(seed=14), "tool0")
    few, many = (solver.all_solutions(target, starts=n, apart=0.5).q for n in (50, 300))
    assert 1 < len(few) <= len(many)
    moved = list(solver.problem.moved)
    for a, b in itertools.combinations(many[:, moved], 2):
        assert np.abs(a - b).max() > 0.5
    away = np.linalg.norm((many - PANDA.neutral())[:, moved], axis=1)
    assert (np.diff(away) >= 0.0).all()
    assert many.tobytes() == solver.all_solutions(target, starts=300, apart=0.5).q.tobytes()


def test_wrong_requests_are_refused(arm):
    targets = UR5E.fk(UR5E.random(2, seed=15))
    with pytest.raises(ShapeError, match="one target"):
        arm.all_solutions(targets)
    for starts in (0, 1.5, "many", True):
        with pytest.raises(InputError, match="starts"):
            arm.all_solutions(targets[0], starts=starts)
    for apart in (-1.0, np.nan, "far"):
        with pytest.raises(InputError, match="apart"):
            arm.all_solutions(targets[0], apart=apart)


PROBLEM = make_problem(PANDA.mechanism, Pose("tool0"))
COMPILER = Compiler()


def test_nearest_is_the_length_of_the_way():
    q, q0 = PANDA.random(9, seed=1), PANDA.random(9, seed=2)
    moved = list(PROBLEM.moved)
    expected = np.linalg.norm((q - q0)[:, moved], axis=1)
    np.testing.assert_allclose(cost_of(PROBLEM, "nearest", COMPILER)(q, q0), expected)


def test_slides_count_by_the_length_and_joints_that_stay_not_at_all():
    robot = lw.load("scara")
    m = robot.mechanism
    problem = make_problem(m, Pose(robot.tip), joints=m.joint_names[1:])
    slide = next(k for k in range(m.n_q) if m.joint_types[k].label == "prismatic")
    q0 = np.zeros((1, m.n_q))
    for k in range(m.n_q):
        q = q0.copy()
        q[0, k] = 0.5
        expected = 0.0 if k == 0 else 0.5 / problem.length if k == slide else 0.5
        assert distance(problem, q, q0)[0] == pytest.approx(expected)


def test_centred_is_the_worst_share_of_half_a_range():
    lower, upper = PANDA.limits.lower, PANDA.limits.upper
    moved = list(PROBLEM.moved)
    cost = cost_of(PROBLEM, "centred", COMPILER)
    middle = np.clip(0.5 * (lower + upper), lower, upper)
    assert cost(middle[None], middle[None])[0] == pytest.approx(0.0, abs=1e-15)
    q = middle.copy()
    q[moved[2]] = upper[moved[2]]
    assert cost(q[None], q[None])[0] == pytest.approx(1.0)


def test_without_limits_everything_is_centred():
    text = (
        '<robot name="r"><link name="a"/><link name="b"/><joint name="j" type="continuous">'
        '<parent link="a"/><child link="b"/></joint></robot>'
    )
    free = make_problem(lw.load(text).mechanism, Pose("b"))
    assert not np.any(cost_of(free, "centred", COMPILER)(np.ones((3, 1)), np.ones((3, 1))))


def test_manipulable_is_the_volume_of_the_ellipsoid_with_its_sign_turned():
    q = PANDA.random(9, seed=3)
    J = PANDA.jacobian(q, "tool0")[:, :, list(PROBLEM.moved_v)]
    expected = -np.sqrt(np.linalg.det(J @ np.swapaxes(J, 1, 2)))
    np.testing.assert_allclose(cost_of(PROBLEM, "manipulable", COMPILER)(q, q), expected, rtol=1e-9)
    m = PANDA.mechanism
    no_frame = make_problem(m, [CenterOfMass(), JointCoupling("joint1", "joint2")])
    with pytest.raises(InputError, match="needs a task of a frame"):
        cost_of(no_frame, "manipulable", COMPILER)


def test_a_function_of_ones_own_is_called_with_all_rows():
    q = rng("own").normal(size=(5, PANDA.n_q))
    cost = cost_of(PROBLEM, lambda rows: rows[:, 0] ** 2, COMPILER)
    np.testing.assert_array_equal(cost(q, q), q[:, 0] ** 2)
    holes = cost_of(PROBLEM, lambda rows: np.where(rows[:, 0] > 0, np.nan, 1.0), COMPILER)
    assert not np.isnan(holes(q, q)).any()
    with pytest.raises(ShapeError, match="one number for each of 5 rows"):
        cost_of(PROBLEM, lambda rows: 1.0, COMPILER)(q, q)
    with pytest.raises(InputError, match="real numbers"):
        cost_of(PROBLEM, lambda rows: ["a"] * len(rows), COMPILER)(q, q)
