"""One step: its state is the true error, it goes downhill, and it never leaves the limits."""

from __future__ import annotations

import math

import numpy as np
import pytest

import linkwork as lw
from linkwork.models import MODELS
from linkwork.ops.numpy import NUMPY
from linkwork.solve.problem import pose_problem
from linkwork.solve.step import n_parameters, step, tolerance_settings
from seeds import rng

ROBOTS = [("ur5e", {}), ("panda", {}), ("scara", {}), ("mobile_arm", {}), ("puma560", {})]


def parameters(T):
    return np.concatenate([T[:3, 3], T[:3, :3].ravel()])


def setup(name, options):
    robot = lw.load(name, **options)
    frame = MODELS[name].tip
    return robot, frame, pose_problem(robot.mechanism, frame)


@pytest.mark.parametrize(("name", "options"), ROBOTS)
def test_steps_stay_inside_and_end_at_the_target(name, options):
    robot, frame, problem = setup(name, options)
    settings = np.array(tolerance_settings(1e-6, 1e-6))
    solved = 0
    for q in robot.random(8, seed=3):
        target = parameters(robot.fk(q, frame))
        near = robot.integrate(q, 0.05 * rng(f"near {name}").normal(size=robot.n_v))
        x = np.clip(near[list(problem.moved)], problem.lower, problem.upper)
        for _ in range(30):
            after, state = step(NUMPY, problem, x, target, settings)
            assert (after >= problem.lower).all()
            assert (after <= problem.upper).all()
            if state[0] <= 0.0:
                solved += 1
                break
            x = after
    assert solved >= 7


@pytest.mark.parametrize(("name", "options"), ROBOTS)
def test_the_step_goes_downhill(name, options):
    robot, frame, problem = setup(name, options)
    settings = np.array(tolerance_settings(1e-6, 1e-6))
    for q in robot.random(10, seed=4):
        target = parameters(robot.fk(robot.integrate(q, np.full(robot.n_v, 0.02)), frame))
        x = q[list(problem.moved)]
        after, before = step(NUMPY, problem, x, target, settings)
        _, then = step(NUMPY, problem, after, target, settings)
        assert then[1] <= before[1] * 1.01


def test_a_solved_x_is_recognised_and_only_a_solved_one():
    robot, frame, problem = setup("ur5e", {})
    q = robot.random(seed=5)
    target = parameters(robot.fk(q, frame))
    for position, rotation in ((1e-4, 1e-3), (1e-9, 1e-9), (1.0, 2.0), (1.0, math.pi)):
        settings = np.array(tolerance_settings(position, rotation))
        for scale in (0.0, 1e-8, 1e-4, 1e-2, 1.0):
            x = q + scale * np.array([0.3, -0.2, 0.5, 0.1, -0.4, 0.7])
            _, state = step(NUMPY, problem, x, target, settings)
            relative = np.linalg.inv(robot.fk(x, frame)) @ robot.fk(q, frame)
            distance = np.linalg.norm(robot.fk(x, frame)[:3, 3] - robot.fk(q, frame)[:3, 3])
            sine = 0.5 * np.linalg.norm((relative - relative.T)[[2, 0, 1], [1, 2, 0]])
            angle = math.atan2(sine, 0.5 * (np.trace(relative[:3, :3]) - 1.0))
            assert (state[0] <= 0.0) == (distance <= position and angle <= rotation)


def test_joints_that_do_not_move_are_taken_from_the_parameters():
    robot = lw.load("ur5e")
    problem = pose_problem(robot.mechanism, "tool0", robot.joint_names[:3])
    assert n_parameters(problem) == 12 + 3
    q = robot.random(seed=6)
    target = np.concatenate([parameters(robot.fk(q, "tool0")), q[3:]])
    _, state = step(NUMPY, problem, q[:3], target, np.array(tolerance_settings(1e-9, 1e-9)))
    assert state[0] <= 0.0
