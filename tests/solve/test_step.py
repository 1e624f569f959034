"""One step: its state is the true error, it goes downhill, and it never leaves the limits."""

from __future__ import annotations

import math

import numpy as np
import pytest

import linkwork as lw
from linkwork.models import MODELS
from linkwork.ops.numpy import NUMPY
from linkwork.solve.inputs import rows_of, settings_of
from linkwork.solve.objectives import NearPosture
from linkwork.solve.options import Options
from linkwork.solve.problem import make_problem
from linkwork.solve.step import STATE, step
from linkwork.solve.tasks.pose import Pose
from linkwork.solve.tasks.position import Position
from seeds import rng

ROBOTS = [("ur5e", {}), ("panda", {}), ("scara", {}), ("mobile_arm", {}), ("puma560", {})]
GAP, GOING, SCORE = (STATE.index(name) for name in ("gap", "going", "score"))


def setup(name, options):
    robot = lw.load(name, **options)
    frame = MODELS[name].tip
    return robot, frame, make_problem(robot.mechanism, Pose(frame))


def numbers(problem, targets, q0=None, **how):
    """The parameters and settings of one row."""
    neutral = np.zeros(problem.mechanism.n_q)
    parameters, _, _ = rows_of(problem, targets, neutral if q0 is None else q0)
    return parameters[0], settings_of(problem, Options(**how))


def tight(problem, target, position=1e-6, rotation=1e-6):
    return numbers(problem, target, position_tolerance=position, rotation_tolerance=rotation)


@pytest.mark.parametrize(("name", "options"), ROBOTS)
def test_steps_stay_inside_and_end_at_the_target(name, options):
    robot, frame, problem = setup(name, options)
    solved = 0
    for q in robot.random(8, seed=3):
        given = tight(problem, robot.fk(q, frame))
        near = robot.integrate(q, 0.05 * rng(f"near {name}").normal(size=robot.n_v))
        x = np.clip(near[list(problem.moved)], problem.lower, problem.upper)
        for _ in range(30):
            after, state = step(NUMPY, problem, x, *given)
            assert (after >= problem.lower).all()
            assert (after <= problem.upper).all()
            if state[GAP] <= 0.0:
                solved += 1
                break
            x = after
    assert solved >= 7


@pytest.mark.parametrize(("name", "options"), ROBOTS)
def test_the_step_goes_downhill(name, options):
    robot, frame, problem = setup(name, options)
    for q in robot.random(10, seed=4):
        given = tight(problem, robot.fk(robot.integrate(q, np.full(robot.n_v, 0.02)), frame))
        x = q[list(problem.moved)]
        after, before = step(NUMPY, problem, x, *given)
        _, then = step(NUMPY, problem, after, *given)
        assert then[SCORE] <= before[SCORE] * 1.01


def test_a_solved_x_is_recognised_and_only_a_solved_one():
    robot, frame, problem = setup("ur5e", {})
    q = robot.random(seed=5)
    for position, rotation in ((1e-4, 1e-3), (1e-9, 1e-9), (1.0, 2.0), (1.0, math.pi)):
        given = tight(problem, robot.fk(q, frame), position, rotation)
        for scale in (0.0, 1e-8, 1e-4, 1e-2, 1.0):
            x = q + scale * np.array([0.3, -0.2, 0.5, 0.1, -0.4, 0.7])
            _, state = step(NUMPY, problem, x, *given)
            relative = np.linalg.inv(robot.fk(x, frame)) @ robot.fk(q, frame)
            distance = np.linalg.norm(robot.fk(x, frame)[:3, 3] - robot.fk(q, frame)[:3, 3])
            sine = 0.5 * np.linalg.norm((relative - relative.T)[[2, 0, 1], [1, 2, 0]])
            angle = math.atan2(sine, 0.5 * (np.trace(relative[:3, :3]) - 1.0))
            assert (state[GAP] <= 0.0) == (distance <= position and angle <= rotation)


def test_joints_that_do_not_move_are_taken_from_the_parameters():
    robot = lw.load("ur5e")
    problem = make_problem(robot.mechanism, Pose("tool0"), joints=robot.joint_names[:3])
    assert problem.layout.n_parameters == 12 + 3
    q = robot.random(seed=6)
    given = numbers(
        problem, robot.fk(q, "tool0"), q, position_tolerance=1e-9, rotation_tolerance=1e-9
    )
    _, state = step(NUMPY, problem, q[:3], *given)
    assert state[GAP] <= 0.0


def test_misses_are_ranked_by_the_highest_priority_that_is_missed():
    robot = lw.load("panda")
    tip = MODELS["panda"].tip
    tasks = [Position(tip), Position("link4", priority=1)]
    problem = make_problem(robot.mechanism, tasks)
    a, b = robot.random(2, seed=7)
    here = {tip: robot.fk(a, tip)[:3, 3], "link4": robot.fk(a, "link4")[:3, 3]}
    states = []
    for top, low in ((0.0, 0.0), (0.0, 0.1), (0.0, 0.2), (1e-3, 0.0), (0.1, 0.0)):
        targets = {tip: here[tip] + [top, 0, 0], "link4": here["link4"] + [low, 0, 0]}
        parameters, settings = numbers(problem, targets, b)
        states.append(step(NUMPY, problem, a[list(problem.moved)], parameters, settings)[1])
    scores = [state[SCORE] for state in states]
    assert scores == sorted(scores)
    assert len(set(scores)) == len(scores)
    assert [bool(state[GAP] <= 0.0) for state in states] == [True, False, False, False, False]


def test_a_lower_level_takes_no_part_in_what_the_first_level_asks_for():
    """To first order, the rows of the first level move as they do without a second."""
    robot = lw.load("panda")
    tip, g = MODELS["panda"].tip, rng("lower level")
    alone = make_problem(robot.mechanism, Pose(tip))
    both = make_problem(robot.mechanism, [Pose(tip), Position("link4", priority=1)])
    gaps = []
    for q in 0.2 * robot.neutral() + 0.8 * robot.random(20, seed=8):  # away from limits
        goal = robot.fk(robot.integrate(q, 1e-4 * g.normal(size=robot.n_v)), tip)
        elbow = robot.fk(q, "link4")[:3, 3] + 1e-4 * g.normal(size=3)
        first, _ = step(NUMPY, alone, q, *numbers(alone, goal))
        second, _ = step(NUMPY, both, q, *numbers(both, [goal, elbow]))
        J = robot.jacobian(q, tip)
        gaps.append(np.linalg.norm(J @ (second - first)) / np.linalg.norm(J @ (first - q)))
        assert np.linalg.norm(second - first) > 1e-6
    assert max(gaps) < 1e-6


def test_objectives_move_on_until_nothing_is_left_to_gain():
    robot = lw.load("panda")
    tip = MODELS["panda"].tip
    q = robot.random(seed=9)
    for goal, going in ((q, False), (q + 0.3, True)):
        problem = make_problem(robot.mechanism, Pose(tip), objectives=[NearPosture(goal)])
        _, state = step(NUMPY, problem, q, *numbers(problem, robot.fk(q, tip)))
        assert (state[GOING] > 0.0) == going
        assert state[GAP] <= 0.0
