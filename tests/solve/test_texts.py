"""The texts of a problem, on NumPy: what is fit, where it starts, which turn, what is measured."""

from __future__ import annotations

import numpy as np
import pytest

import linkwork as lw
from linkwork.algorithms.registry import evaluate
from linkwork.mechanism.neutral import neutral
from linkwork.ops.numpy import NUMPY
from linkwork.solve import texts
from linkwork.solve.best import starts_of
from linkwork.solve.explain import ROUNDING
from linkwork.solve.pose_features import pose_features
from linkwork.solve.problem import make_problem
from linkwork.solve.tasks.pose import Pose
from linkwork.solve.tasks.position import Position
from linkwork.spatial import so3
from robots import mechanism_from
from seeds import rng

M = lw.load("ur5e").mechanism
PROBLEM = make_problem(M, Pose("tool0"))


def pose(q):
    return evaluate("fk", M, q, frame="tool0")


def fault(T):
    return float(texts.problem_texts(PROBLEM).prepare(NUMPY, np.ravel(T), neutral(M))["fault"][0])


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


def test_starts_are_moved_into_the_limits():
    q0 = np.array([9.0, -9.0, 0.5, 1.0, -1.0, 7.0])
    got = texts.problem_texts(PROBLEM).prepare(NUMPY, np.ravel(pose(neutral(M))), q0)
    assert np.array_equal(got["x0"], np.clip(q0, PROBLEM.lower, PROBLEM.upper))
    T = pose(neutral(M))
    assert np.array_equal(got["parameters"], [*T[:3, 3], *T[:3, :3].ravel()])


def test_what_x_reaches_has_the_features_of_its_pose():
    q = rng("place").uniform(-3.0, 3.0, 6)
    T = pose(q)
    expected = pose_features(NUMPY, list(T[:3, 3]), [list(row) for row in T[:3, :3]])
    found = texts.problem_texts(PROBLEM).place(NUMPY, q)["features"]
    np.testing.assert_allclose(found, expected, atol=1e-12)


CONTINUOUS = """<robot name="r"><link name="a"/><link name="b"/><link name="c"/>
  <joint name="j" type="continuous"><parent link="a"/><child link="b"/>
    <origin xyz="0 0 0.2"/><axis xyz="0 0 1"/></joint>
  <joint name="k" type="revolute"><parent link="b"/><child link="c"/><origin xyz="0.3 0 0"/>
    <axis xyz="0 1 0"/><limit lower="-8" upper="10" effort="1" velocity="1"/></joint></robot>"""


def test_angles_without_limits_stay_on_the_turn_of_q0():
    m = mechanism_from(CONTINUOUS)
    problem = make_problem(m, Pose("c"))
    T = evaluate("fk", m, np.array([0.4, 0.3]), frame="c")
    parameters = np.concatenate([T[:3, 3], T[:3, :3].ravel()])
    for turns in (-3, 0, 1, 7):
        q0 = np.array([0.4 + 2.0 * np.pi * turns + 0.3, 5.0])
        got = texts.verify(NUMPY, problem, np.array([0.4, 0.3]), q0, parameters, np.zeros(2))
        np.testing.assert_allclose(got["q"], [0.4 + 2.0 * np.pi * turns, 0.3], atol=1e-14)
        assert abs(got["measures"][0]) < 1e-25


def test_measures():
    q0 = neutral(M)
    T = pose(np.array([0.1, -0.2, 0.3, 0.4, 0.5, -0.6]))
    turned = T.copy()
    turned[:3, :3] = T[:3, :3] @ so3.exp(NUMPY, np.array([0.0, 0.3, 0.0]))
    turned[:3, 3] += (0.0, 0.02, 0.0)
    parameters = np.concatenate([turned[:3, 3], turned[:3, :3].ravel()])
    x = np.array([0.1, -0.2, 0.3, 0.4, 0.5, -0.6])
    measures = texts.verify(NUMPY, PROBLEM, x, q0, parameters, np.zeros(2))["measures"]
    expected = [0.02**2, (2.0 * np.sin(0.15)) ** 2, 0.0]
    np.testing.assert_allclose(measures, expected, atol=1e-12)
    x[0] = PROBLEM.upper[0] + 0.25
    assert texts.verify(NUMPY, PROBLEM, x, q0, parameters, np.zeros(2))["measures"][
        2
    ] == pytest.approx(0.25)
    assert texts.thresholds(PROBLEM, np.array([1.0, 2.0])).tolist() == [1.0, 2.0, ROUNDING]
    lower = make_problem(M, [Pose("tool0", priority=1), Position("forearm_link")])
    most = texts.thresholds(lower, np.array([1.0, 2.0, 3.0]))
    assert most.tolist() == [1.0, np.inf, np.inf, ROUNDING]


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


def test_what_is_held_or_not_bounded_has_no_seeds():
    assert texts.has_seeds(PROBLEM)
    held = make_problem(M, Pose("tool0"), joints=M.joint_names[:4])
    assert not texts.has_seeds(held)
    made = texts.problem_texts(held)
    assert made.place is None
    given = np.ravel(pose(neutral(M)))
    assert made.prepare(NUMPY, given, neutral(M))["features"].size == 0
    free = lw.load("panda", base="floating").mechanism
    assert not texts.has_seeds(make_problem(free, Pose("link7")))
    assert texts.problem_texts(PROBLEM).key != made.key


def test_each_target_goes_in_by_itself():
    assert texts.problem_texts(PROBLEM).targets == ((4, 4),)
    two = make_problem(M, [Position("forearm_link"), Pose("tool0")])
    made = texts.problem_texts(two)
    assert made.targets == ((3,), (4, 4)) and texts.taking(two) == (0, 1)
    assert not texts.takes_pose(two) and texts.takes_pose(PROBLEM)
    T, point, q0 = pose(neutral(M)), rng("point").normal(size=3), np.full(6, 9.0)
    got = made.prepare(NUMPY, point, T.ravel(), q0)
    expected = np.concatenate([point, T[:3, 3], T[:3, :3].ravel()])
    assert np.array_equal(got["parameters"], expected)
    assert np.array_equal(got["x0"], two.upper)
    assert got["fault"][0] <= 0.0
    given = texts.targets_of(two, expected[None])
    assert [each.shape for each in given] == [(1, 3), (1, 4, 4)]
    assert np.array_equal(given[0][0], point) and np.array_equal(given[1][0], T)


def test_one_unfit_target_of_several_is_a_fault():
    two = make_problem(M, [Position("forearm_link"), Pose("tool0")])
    prepare, T = texts.problem_texts(two).prepare, pose(neutral(M))
    askew = T.copy()
    askew[0, 0] += 2e-6  # little more than is allowed: the other's margin does not make up for it
    askew[0, 1] += 2e-6
    q0 = neutral(M)
    for point, target in ((np.zeros(3), askew * 1.01), (np.array([1e301, 0.0, 0.0]), T)):
        fault = prepare(NUMPY, point, target.ravel(), q0)["fault"][0]
        assert not fault <= 0.0
    assert not prepare(NUMPY, np.array([np.nan, 0, 0]), T.ravel(), q0)["fault"][0] <= 0.0


def test_where_limits_take_numbers_rows_go_in_whole():
    limited = make_problem(M, Pose("tool0"), limits=lw.ik.VelocityLimit(dt=0.1))
    assert texts.taking(limited) == ()
    parameters = np.zeros((2, limited.layout.n_parameters))
    assert texts.problem_texts(limited).targets == ((parameters.shape[1],),)
    assert texts.targets_of(limited, parameters) == [parameters]
