"""The expressions of a problem on NumPy: what is fit, one iteration, what is measured."""

from __future__ import annotations

import math

import numpy as np
import pytest

import linkwork as lw
from ik_solving import rows_of
from linkwork.algorithms.registry import evaluate
from linkwork.mechanism.neutral import neutral
from linkwork.models import MODELS
from linkwork.ops.numpy import NUMPY
from linkwork.solve import expressions
from linkwork.solve.expressions import STATE, iteration, pose_features
from linkwork.solve.inputs import Options, settings_of
from linkwork.solve.problem import make_problem
from linkwork.solve.seeds import starts_of
from linkwork.solve.tasks import Pose, Position
from linkwork.spatial import so3
from robots import mechanism_from
from seeds import rng

M = lw.load("ur5e").mechanism
PROBLEM = make_problem(M, Pose("tool0"))


def pose(q):
    return evaluate("fk", M, q, frame="tool0")


def fault(T):
    return float(
        expressions.expressions_of(PROBLEM).prepare(NUMPY, np.ravel(T), neutral(M))["fault"][0]
    )


def test_poses_are_fit_and_others_are_not():
    g = rng("fit")
    for _ in range(20):
        T = pose(g.uniform(-3.0, 3.0, 6))
        assert fault(T) <= 0.0
        for i in range(4):
            for j in range(4):
                if j == 3 and i < 3:
                    continue
                other = T.copy()
                other[i, j] += 0.01 if abs(T[i, j]) > 0.1 or i == 3 else 0.2
                assert fault(other) > 0.0, (i, j)
        other = T.copy()
        other[:3, 0] *= -1.0
        assert fault(other) > 0.9999
        other = T.copy()
        other[:3, :3] *= 1.0 + 4e-7
        assert fault(other) <= 0.0


CONTINUOUS = """<robot name="r"><link name="a"/><link name="b"/><link name="c"/>
  <joint name="j" type="continuous"><parent link="a"/><child link="b"/>
    <origin xyz="0 0 0.2"/><axis xyz="0 0 1"/></joint>
  <joint name="k" type="revolute"><parent link="b"/><child link="c"/><origin xyz="0.3 0 0"/>
    <axis xyz="0 1 0"/><limit lower="-8" upper="10" effort="1" velocity="1"/></joint></robot>"""


def test_measures():
    q0 = neutral(M)
    T = pose(np.array([0.1, -0.2, 0.3, 0.4, 0.5, -0.6]))
    turned = T.copy()
    turned[:3, :3] = T[:3, :3] @ so3.exp(NUMPY, np.array([0.0, 0.3, 0.0]))
    turned[:3, 3] += (0.0, 0.02, 0.0)
    parameters = np.concatenate([turned[:3, 3], turned[:3, :3].ravel()])
    x = np.array([0.1, -0.2, 0.3, 0.4, 0.5, -0.6])
    measures = expressions.verified(NUMPY, PROBLEM, x, q0, parameters, np.zeros(2))["measures"]
    expected = [0.02**2, (2.0 * np.sin(0.15)) ** 2, 0.0]
    np.testing.assert_allclose(measures, expected, atol=1e-12)
    x[0] = PROBLEM.upper[0] + 0.25
    assert expressions.verified(NUMPY, PROBLEM, x, q0, parameters, np.zeros(2))["measures"][
        2
    ] == pytest.approx(0.25)


def test_starts_lie_inside_the_limits_on_one_turn():
    m = mechanism_from(CONTINUOUS)
    base, span, kept = starts_of(make_problem(m, Pose("c")))
    np.testing.assert_allclose(base, [-np.pi, 1.0 - np.pi])
    np.testing.assert_allclose(span, [2.0 * np.pi, 2.0 * np.pi])
    assert not kept.any()
    arm = make_problem(lw.load("panda").mechanism, Pose("link7"))
    base, span, _ = starts_of(arm)
    assert np.array_equal(base, arm.lower)
    np.testing.assert_allclose(base + span, arm.upper, rtol=1e-14)


def test_a_scaled_joint_keeps_all_of_its_turns():
    text = CONTINUOUS.replace('<robot name="r">', '<robot name="r"><link name="d"/>').replace(
        "</robot>",
        """<joint name="l" type="revolute"><parent link="c"/><child link="d"/>
        <origin xyz="0.1 0 0"/><axis xyz="0 1 0"/><mimic joint="k" multiplier="0.3"/>
        <limit lower="-8" upper="10" effort="1" velocity="1"/></joint></robot>""",
    )
    problem = make_problem(mechanism_from(text), Pose("d"))
    base, span, _ = starts_of(problem)
    k = next(i for i in range(2) if np.isfinite(problem.lower[i]))
    assert base[k] == -8.0
    assert span[k] == 18.0


def test_each_target_goes_in_by_itself():
    assert expressions.expressions_of(PROBLEM).inputs == ((4, 4),)
    two = make_problem(M, [Position("forearm_link"), Pose("tool0")])
    made = expressions.expressions_of(two)
    assert made.inputs == ((3,), (4, 4))
    T, point, q0 = pose(neutral(M)), rng("point").normal(size=3), np.full(6, 9.0)
    got = made.prepare(NUMPY, point, T.ravel(), q0)
    expected = np.concatenate([point, T[:3, 3], T[:3, :3].ravel()])
    assert np.array_equal(got["parameters"], expected)
    assert np.array_equal(got["x0"], two.upper)
    assert got["fault"][0] <= 0.0


def test_one_unfit_target_of_several_is_a_fault():
    two = make_problem(M, [Position("forearm_link"), Pose("tool0")])
    prepare, T = expressions.expressions_of(two).prepare, pose(neutral(M))
    askew = T.copy()
    askew[0, 0] += 2e-6  # little more than is allowed: the other's margin does not make up for it
    askew[0, 1] += 2e-6
    q0 = neutral(M)
    for point, target in ((np.zeros(3), askew * 1.01), (np.array([1e301, 0.0, 0.0]), T)):
        fault = prepare(NUMPY, point, target.ravel(), q0)["fault"][0]
        assert not fault <= 0.0
    assert not prepare(NUMPY, np.array([np.nan, 0, 0]), T.ravel(), q0)["fault"][0] <= 0.0


ROBOTS = [("ur5e", {}), ("panda", {}), ("scara", {}), ("mobile_arm", {}), ("puma560", {})]
GAP, SCORE = (STATE.index(name) for name in ("gap", "score"))


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
            after, state = iteration(NUMPY, problem, x, *given)
            assert (after >= problem.lower).all()
            assert (after <= problem.upper).all()
            if state[GAP] <= 0.0:
                solved += 1
                break
            x = after
    assert solved >= 7


def test_a_solved_x_is_recognised_and_only_a_solved_one():
    robot, frame, problem = setup("ur5e", {})
    q = robot.random(seed=5)
    for position, rotation in ((1e-4, 1e-3), (1e-9, 1e-9), (1.0, 2.0), (1.0, math.pi)):
        given = tight(problem, robot.fk(q, frame), position, rotation)
        for scale in (0.0, 1e-8, 1e-4, 1e-2, 1.0):
            x = q + scale * np.array([0.3, -0.2, 0.5, 0.1, -0.4, 0.7])
            _, state = iteration(NUMPY, problem, x, *given)
            relative = np.linalg.inv(robot.fk(x, frame)) @ robot.fk(q, frame)
            distance = np.linalg.norm(robot.fk(x, frame)[:3, 3] - robot.fk(q, frame)[:3, 3])
            sine = 0.5 * np.linalg.norm((relative - relative.T)[[2, 0, 1], [1, 2, 0]])
            angle = math.atan2(sine, 0.5 * (np.trace(relative[:3, :3]) - 1.0))
            assert (state[GAP] <= 0.0) == (distance <= position and angle <= rotation)


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
        states.append(iteration(NUMPY, problem, a[list(problem.moved)], parameters, settings)[1])
    scores = [state[SCORE] for state in states]
    assert scores == sorted(scores)
    assert len(set(scores)) == len(scores)
    assert [bool(state[GAP] <= 0.0) for state in states] == [True, False, False, False, False]


def test_features_tell_where_a_pose_is():
    g = rng("features")
    for _ in range(200):
        R, p = so3.exp(NUMPY, g.normal(size=3) * 2.0), g.normal(size=3)
        found = np.array(pose_features(NUMPY, list(p), [list(row) for row in R]))
        assert np.array_equal(found[:3], p)
        assert (np.abs(found[3:6]) <= 1.0 + 1e-12).all()
        which = int(found[6])
        quaternion = np.insert(found[3:6], which, 1.0)
        w, x, y, z = quaternion / np.linalg.norm(quaternion)
        v, k = np.array([x, y, z]), np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
        again = np.eye(3) + 2.0 * w * k + 2.0 * (np.outer(v, v) - v @ v * np.eye(3))
        np.testing.assert_allclose(again, R, atol=1e-12)
