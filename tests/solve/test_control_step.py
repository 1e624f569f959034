"""The text of a control step: its inputs, what it refuses, and that it can be computed by NumPy."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import linkwork as lw
from linkwork.ops.numpy import NUMPY
from linkwork.solve.control_step import as_taken, controlled, inputs_of, step_recipe
from linkwork.solve.differential import Controller
from linkwork.solve.inputs import rows_of, settings_of
from linkwork.solve.limits.acceleration import AccelerationLimit
from linkwork.solve.limits.velocity import VelocityLimit
from linkwork.solve.objectives import NearPosture
from linkwork.solve.options import Options
from linkwork.solve.problem import make_problem
from linkwork.solve.tasks.pose import Pose
from linkwork.solve.tasks.position import Position
from linkwork.solve.tasks.posture import Posture
from seeds import rng


@pytest.fixture(scope="module")
def robot():
    return lw.load("panda")


def test_the_inputs_are_what_tasks_limits_and_objectives_take(robot):
    m = robot.mechanism
    tasks = [Posture(priority=1), Pose("tool0"), Position("link4")]
    problem = make_problem(
        m,
        tasks,
        limits=[VelocityLimit(0.1), AccelerationLimit(0.1, 1.0)],
        objectives=[NearPosture()],
    )
    found = {each.name: each for each in inputs_of(problem)}
    assert found["tool0"].shape == (4, 4)
    assert found["tool0"].size == 16
    assert found["link4"].shape == (3,)
    assert found["acceleration"].shape == (m.n_v,)
    assert "velocity" not in found
    spans = sorted(each.span for each in found.values())
    assert all(a[1] <= b[0] for a, b in itertools.pairwise(spans))


def test_a_pose_is_taken_row_by_row(robot):
    problem = make_problem(robot.mechanism, Pose("tool0"))
    (given,) = inputs_of(problem)
    T = robot.fk(robot.random(5, seed=1), "tool0")
    numbers = problem.tasks[0].rows_of(T)
    np.testing.assert_array_equal(as_taken(given, numbers), T.reshape(5, 16))
    assert as_taken(given, None) is None


def test_compiled_and_plain_steps_agree(robot):
    m = robot.mechanism
    control = Controller(
        m,
        [Pose("tool0"), Posture(priority=1, target=np.zeros(m.n_q))],
        dt=0.01,
        objectives=[NearPosture(weight=0.1)],
    )
    problem = control.problem
    settings = np.concatenate([settings_of(problem, Options()), [0.01, 1.0, 1.0]])
    T = robot.fk(robot.random(6, seed=2), "tool0")
    for q, target in zip(robot.random(6, seed=3), T, strict=True):
        parameters, _, _ = rows_of(problem, {"tool0": target}, q)
        after, step = controlled(NUMPY, problem, q[list(problem.moved)], parameters[0], settings)
        found = control.step(q, {"tool0": target})
        np.testing.assert_allclose(found[list(problem.moved)], after, atol=1e-9)
        assert len(step) == len(problem.moved_v)


def test_the_moves_fit_before_anything_is_clamped(robot):
    m = robot.mechanism
    limits = [VelocityLimit(0.01), AccelerationLimit(0.01, 5.0)]
    problem = make_problem(m, Pose("tool0"), limits=limits, objectives=[NearPosture()])
    settings = np.concatenate([settings_of(problem, Options()), [0.01, 1.0, 1.0]])
    r = rng("fit")
    for q in np.clip(robot.random(20, seed=7), m.lower + 0.2, m.upper - 0.2):
        target = robot.fk(robot.random(seed=int(r.integers(99))), "tool0")
        v = r.uniform(-0.2, 0.2, m.n_v)  # which forces the joints to go on for a while
        given = {"tool0": target, "acceleration": v}
        parameters, _, _ = rows_of(problem, given, q)
        x = q[list(problem.moved)]
        after, moves = controlled(NUMPY, problem, x, parameters[0], settings)
        np.testing.assert_allclose(after, x + np.array([float(d) for d in moves]), atol=1e-9)


def test_the_key_tells_what_code_differs(robot):
    m = robot.mechanism

    def key(output, *limits):
        problem = make_problem(m, Pose("tool0"), limits=limits)
        return step_recipe(problem, inputs_of(problem), output).key

    assert key("q", VelocityLimit(0.1)) == key("q", VelocityLimit(0.2, 9.0))
    assert len({key("q"), key("v"), key("q", VelocityLimit(0.1))}) == 3


def test_a_matrix_that_is_no_pose_gives_no_number(robot):
    control = Controller(robot.mechanism, "tool0", dt=0.01)
    kernel = control._kernels["q"]  # what comes after is the general way, which says why
    settings, q = control._settings, robot.random(seed=4)
    T = robot.fk(q, "tool0")
    assert np.isfinite(kernel(q, T.reshape(16), settings)).all()
    r = rng("no pose")
    wrong = []
    for k in (0, 1, 5, 6, 12, 15):
        bad = T.copy()
        bad.flat[k] += 1e-3 * (1.0 + r.random())
        wrong.append(bad)
    mirrored = T.copy()
    mirrored[:3, 0] *= -1.0
    for bad in (*wrong, mirrored):
        assert np.isnan(kernel(q, bad.reshape(16), settings, on_bad="nan")).all()
