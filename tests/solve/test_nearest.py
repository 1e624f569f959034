"""The nearest configurations to targets that are out of reach."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import least_squares

import linkwork as lw
from linkwork.algorithms.configuration import random
from linkwork.solve.nearest import Tangent
from linkwork.solve.problem import make_problem
from linkwork.solve.tasks import Pose
from robots import every_joint_urdf, mechanism_from
from seeds import rng

ROBOTS = {"panda": lw.load("panda"), "ur5e": lw.load("ur5e"), "mobile": lw.load("mobile_arm")}
PER_RADIAN = 0.22
"""Of the mechanism's length: the metres that count as much as a radian."""


def out_of_reach(name, count):
    """Poses above, below and around what the tool can reach; a base that drives may come below."""
    robot, g = ROBOTS[name], rng(f"out of reach {name}")
    T = robot.fk(robot.random(count, seed=3), "tool0")
    if name == "mobile":
        T[:, 2, 3] = g.uniform(1.9, 4.0, count)
        return T
    way = g.normal(size=(count, 3))
    way *= g.uniform(1.1, 4.0, (count, 1)) / np.linalg.norm(way, axis=1, keepdims=True)
    T[:, :3, 3] = way
    T[:, 2, 3] += 0.3
    return T


def judged(name, solver, target, *, turns, starts):
    """The least that SciPy finds from random starts: (whole, position alone) in metres."""
    robot, problem, g = ROBOTS[name], solver.problem, rng(f"judge {name} {target[0, 3]}")
    length = PER_RADIAN * problem.length

    def error(x):
        q = robot.neutral()
        q[list(problem.moved)] = x
        T = robot.fk(q, "tool0")
        rotation = (T[:3, :3] - target[:3, :3]).ravel() * np.sqrt(0.5) if turns else []
        return np.concatenate([(T[:3, 3] - target[:3, 3]) / length, rotation])

    lower, upper = problem.lower, problem.upper
    bounded = np.isfinite(lower)
    best = None
    for _ in range(starts):
        x0 = g.uniform(np.where(bounded, lower, -1.0), np.where(bounded, upper, 1.0))
        x0[:2] = x0[:2] if bounded[0] else target[:2, 3]
        found = least_squares(error, x0, bounds=(lower, upper), xtol=1e-10, max_nfev=200)
        best = found if best is None or found.cost < best.cost else best
    return error, np.linalg.norm(best.fun) * length, np.linalg.norm(best.fun[:3]) * length


def as_near_as_the_judge(name, kind, count, starts):
    robot, targets = ROBOTS[name], out_of_reach(name, count)
    turns = kind == "pose"
    solver = robot.solver(tasks=lw.ik.Pose("tool0", rotation="xyz" if turns else ""))
    result = solver.solve(targets)
    assert not result.success.any()
    lower, upper = robot.limits.lower, robot.limits.upper
    assert ((result.q >= lower) & (result.q <= upper)).all()
    for q, target in zip(result.q, targets, strict=True):
        error, whole, position = judged(name, solver, target, turns=turns, starts=starts)
        ours, length = error(q[list(solver.problem.moved)]), PER_RADIAN * solver.problem.length
        least = np.linalg.norm(ours) * length
        assert least < whole + 1e-3
        if least > whole - 1e-6:  # the same place: another one that is nearer as a whole may differ
            assert np.linalg.norm(ours[:3]) * length < position + 1e-3
    return solver, targets, result


@pytest.mark.parametrize(("name", "kind"), [("panda", "pose"), ("mobile", "position")])
def test_out_of_reach_it_is_as_near_as_bounded_least_squares(name, kind):
    solver, targets, result = as_near_as_the_judge(name, kind, 4, 2)
    again = solver.solve(targets[::-1], threads=2)
    assert again.q[::-1].tobytes() == result.q.tobytes()
    assert solver.solve(targets[2]).q.tobytes() == result.q[2].tobytes()


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["pose", "position"])
@pytest.mark.parametrize("name", list(ROBOTS))
def test_out_of_reach_it_is_as_near_as_bounded_least_squares_everywhere(name, kind):
    as_near_as_the_judge(name, kind, 200 if kind == "position" else 60, 6)


def test_what_decides_is_as_near_as_without_lower_priorities():
    robot = ROBOTS["panda"]
    point = np.array([0.9, 0.9, 0.4])
    reach = lw.ik.Position("tool0", point)
    alone = robot.ik(tasks=reach)
    both = robot.ik(tasks=[reach, lw.ik.Posture(robot.neutral(), priority=1)])
    assert not alone.success
    assert both.position_error == pytest.approx(alone.position_error, abs=1e-6)


def test_of_two_arms_the_one_that_cannot_come_is_as_near_as_alone():
    robot = lw.load("two_arm_torso")
    far, near = np.array([2.0, 1.0, 1.0]), robot.fk(robot.neutral(), "right_tool0")[:3, 3]
    hands = [lw.ik.Position("left_tool0", far), lw.ik.Position("right_tool0", near)]
    fixed = [name for name in robot.joint_names if not name.startswith(("left", "right"))]
    both = robot.ik(tasks=hands, fixed=fixed)
    alone = robot.ik(tasks=hands[0], fixed=fixed)
    assert both.errors["right_tool0"]["position"] < 1e-5
    error = both.errors["left_tool0"]["position"]
    assert error == pytest.approx(alone.position_error, abs=1e-6)


@pytest.mark.parametrize("base", ["planar", "floating"])
def test_targets_far_from_the_origin_are_solved_as_those_near_it(base):
    robot = ROBOTS["mobile"] if base == "planar" else lw.load("ur5e", base="floating")
    near = robot.fk(robot.random(60, seed=4), "tool0")
    way = rng(f"far {base}").normal(size=(60, 3))
    if base == "planar":
        way[:, 2] = 0.0
    way /= np.linalg.norm(way, axis=1, keepdims=True)
    for metres in (1e3, 1e6):
        far = near.copy()
        far[:, :3, 3] += metres * way
        result = robot.ik(far, "tool0")
        assert result.success.all()
        assert result.restarts.max() < 20
        reached = robot.fk(result.q, "tool0")
        assert np.abs(reached[:, :3, 3] - far[:, :3, 3]).max() < 1.01e-5


def arm_at(place, rows):
    """An arm of turning joints on a base that is fixed at a place; its tool is ``tip``."""
    joints = [("fixed", place, "1 0 0"), *(("revolute", *row) for row in rows)]
    joints.append(("fixed", ".2 0 .1", "1 0 0"))
    names = ["world", *(f"l{k}" for k in range(len(rows) + 1)), "tip"]
    parts = [f'<link name="{name}"/>' for name in names]
    for k, (kind, xyz, axis) in enumerate(joints):
        parts.append(
            f'<joint name="j{k}" type="{kind}"><parent link="{names[k]}"/>'
            f'<child link="{names[k + 1]}"/><origin xyz="{xyz}"/><axis xyz="{axis}"/>'
            '<limit lower="-2.5" upper="2.5" effort="1" velocity="1"/></joint>'
        )
    return lw.load(f'<robot name="arm">{"".join(parts)}</robot>')


def test_a_base_that_stands_far_from_the_origin_changes_nothing():
    rows = [("0 0 .3", "0 0 1"), (".1 0 .1", "0 1 0"), ("0 0 .5", "0 1 0"), ("0 0 .4", "1 0 0")]
    arms = [arm_at(place, rows) for place in ("0 0 0", "-1e6 3e5 2e5")]
    q = arms[0].random(60, seed=6)
    near, far = (arm.ik(arm.fk(q, "tip"), "tip", position_tolerance=1e-8) for arm in arms)
    assert near.success.all()
    assert far.success.all()
    beyond = [arm.fk(q[0], "tip")[:3, 3] + [0.0, 0.0, 3.0] for arm in arms]
    a, b = (arm.ik(tasks=lw.ik.Position("tip", at)) for arm, at in zip(arms, beyond, strict=True))
    assert a.position_error == pytest.approx(b.position_error, abs=1e-6)
    assert a.reason.split(" m out")[0] == b.reason.split(" m out")[0]


def problem_of(name: str):
    m = lw.load(name).mechanism if name != "every joint" else mechanism_from(every_joint_urdf())
    return make_problem(m, Pose(m.frame_names[-1]))


@pytest.mark.parametrize("name", ["ur5e", "mobile_arm", "every joint"])
def test_a_move_is_as_long_as_it_says_and_comes_back(name: str):
    problem = problem_of(name)
    tangent, g = Tangent(problem), rng(f"moves {name}")
    x = random(problem.mechanism, g, 50)[:, list(problem.moved)]
    moves = 1e-4 * g.normal(size=(50, len(tangent.unit)))
    there = tangent.moved(x, moves)
    length = np.linalg.norm(moves, axis=1)
    np.testing.assert_allclose(tangent.apart(there, x), length, rtol=1e-6)
    np.testing.assert_allclose(tangent.apart(tangent.moved(there, -moves), x), 0.0, atol=1e-7)
    for at, _ in tangent.quaternions:
        norms = np.linalg.norm(there[:, at : at + 4], axis=1)
        np.testing.assert_allclose(norms, 1.0, rtol=0, atol=1e-14)


def test_room_ends_at_the_limits():
    problem = problem_of("ur5e")
    tangent, g = Tangent(problem), rng("room")
    x = random(problem.mechanism, g, 20)
    lower, upper = tangent.room(x)
    m = problem.mechanism
    np.testing.assert_allclose(tangent.moved(x, lower), np.tile(m.lower, (20, 1)), atol=1e-12)
    np.testing.assert_allclose(tangent.moved(x, upper), np.tile(m.upper, (20, 1)), atol=1e-12)


def test_slope_and_bend_of_a_quadratic_score():
    problem = problem_of("ur5e")
    tangent, g = Tangent(problem), rng("bend")
    n = len(tangent.unit)
    A, b, x = g.normal(size=(n, n)), g.normal(size=n), g.normal(size=(5, n))
    H = A + A.T

    def score(points, m):
        assert len(points) == 5 * m
        return 0.5 * np.einsum("ki,ij,kj->k", points, H, points) + points @ b

    slope, bend = tangent.slope_and_bend(score, x)
    np.testing.assert_allclose(slope, (x @ H + b) * tangent.unit, atol=1e-9)
    scaled = H * np.outer(tangent.unit, tangent.unit)
    np.testing.assert_allclose(bend, np.tile(scaled, (5, 1, 1)), atol=1e-6)
