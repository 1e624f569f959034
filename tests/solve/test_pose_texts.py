"""The texts of a pose target, on NumPy: what is fit, which turn, which features."""

from __future__ import annotations

import numpy as np
import pytest

import linkwork as lw
from linkwork.algorithms.registry import evaluate
from linkwork.mechanism.neutral import neutral
from linkwork.ops.numpy import NUMPY
from linkwork.solve import pose_texts as texts
from linkwork.solve.problem import pose_problem
from linkwork.spatial import so3
from robots import mechanism_from
from seeds import rng

M = lw.load("ur5e").mechanism
PROBLEM = pose_problem(M, "tool0")


def pose(q):
    return evaluate("fk", M, q, frame="tool0")


def fault(T):
    return float(texts.prepare(NUMPY, PROBLEM, np.ravel(T), neutral(M))["fault"][0])


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
    got = texts.prepare(NUMPY, PROBLEM, np.ravel(pose(neutral(M))), q0)
    assert np.array_equal(got["x0"], np.clip(q0, PROBLEM.lower, PROBLEM.upper))
    T = pose(neutral(M))
    assert np.array_equal(got["parameters"], [*T[:3, 3], *T[:3, :3].ravel()])


def test_features_tell_where_a_pose_is():
    g = rng("features")
    for _ in range(200):
        R, p = so3.exp(NUMPY, g.normal(size=3) * 2.0), g.normal(size=3)
        found = np.array(texts.pose_features(NUMPY, list(p), [list(row) for row in R]))
        assert np.array_equal(found[:3], p)
        assert (np.abs(found[3:6]) <= 1.0 + 1e-12).all()
        which = int(found[6])
        quaternion = np.insert(found[3:6], which, 1.0)
        w, x, y, z = quaternion / np.linalg.norm(quaternion)
        v, k = np.array([x, y, z]), np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
        again = np.eye(3) + 2.0 * w * k + 2.0 * (np.outer(v, v) - v @ v * np.eye(3))
        np.testing.assert_allclose(again, R, atol=1e-12)


def test_what_x_reaches_has_the_features_of_its_pose():
    q = rng("place").uniform(-3.0, 3.0, 6)
    T = pose(q)
    expected = texts.pose_features(NUMPY, list(T[:3, 3]), [list(row) for row in T[:3, :3]])
    np.testing.assert_allclose(texts.place(NUMPY, PROBLEM, q), expected, atol=1e-12)


CONTINUOUS = """<robot name="r"><link name="a"/><link name="b"/><link name="c"/>
  <joint name="j" type="continuous"><parent link="a"/><child link="b"/>
    <origin xyz="0 0 0.2"/><axis xyz="0 0 1"/></joint>
  <joint name="k" type="revolute"><parent link="b"/><child link="c"/><origin xyz="0.3 0 0"/>
    <axis xyz="0 1 0"/><limit lower="-8" upper="10" effort="1" velocity="1"/></joint></robot>"""


def test_angles_without_limits_stay_on_the_turn_of_q0():
    m = mechanism_from(CONTINUOUS)
    problem = pose_problem(m, "c")
    T = evaluate("fk", m, np.array([0.4, 0.3]), frame="c")
    parameters = np.concatenate([T[:3, 3], T[:3, :3].ravel()])
    for turns in (-3, 0, 1, 7):
        q0 = np.array([0.4 + 2.0 * np.pi * turns + 0.3, 5.0])
        got = texts.verify(NUMPY, problem, np.array([0.4, 0.3]), q0, parameters)
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
    measures = texts.verify(NUMPY, PROBLEM, x, q0, parameters)["measures"]
    expected = [0.02**2, np.sin(0.3) ** 2, -np.cos(0.3), 0.0]
    np.testing.assert_allclose(measures, expected, atol=1e-12)
    x[0] = PROBLEM.upper[0] + 0.25
    assert texts.verify(NUMPY, PROBLEM, x, q0, parameters)["measures"][3] == pytest.approx(0.25)
    assert texts.thresholds([1.0, 2.0, 3.0]) == [1.0, 2.0, -3.0, 0.0]


def test_starts_lie_inside_the_limits_on_one_turn():
    m = mechanism_from(CONTINUOUS)
    base, span, kept = texts.start_box(pose_problem(m, "c"))
    np.testing.assert_allclose(base, [-np.pi, 1.0 - np.pi])
    np.testing.assert_allclose(span, [2.0 * np.pi, 2.0 * np.pi])
    assert not kept.any()
    arm = pose_problem(lw.load("panda").mechanism, "link7")
    base, span, _ = texts.start_box(arm)
    assert np.array_equal(base, arm.lower)
    np.testing.assert_allclose(base + span, arm.upper, rtol=1e-14)


def test_a_scaled_joint_keeps_all_of_its_turns():
    text = CONTINUOUS.replace('<robot name="r">', '<robot name="r"><link name="d"/>').replace(
        "</robot>",
        """<joint name="l" type="revolute"><parent link="c"/><child link="d"/>
        <origin xyz="0.1 0 0"/><axis xyz="0 1 0"/><mimic joint="k" multiplier="0.3"/>
        <limit lower="-8" upper="10" effort="1" velocity="1"/></joint></robot>""",
    )
    problem = pose_problem(mechanism_from(text), "d")
    base, span, _ = texts.start_box(problem)
    k = next(i for i in range(2) if np.isfinite(problem.lower[i]))
    assert base[k] == -8.0
    assert span[k] == 18.0


def test_what_is_held_or_not_bounded_has_no_seeds():
    assert texts.has_seeds(PROBLEM)
    held = pose_problem(M, "tool0", M.joint_names[:4])
    assert not texts.has_seeds(held)
    assert texts.pose_texts(held).place is None
    assert texts.prepare(NUMPY, held, np.ravel(pose(neutral(M))), neutral(M))["features"].size == 0
    free = lw.load("panda", base="floating").mechanism
    assert not texts.has_seeds(pose_problem(free, "link7"))
    assert texts.pose_texts(PROBLEM).key != texts.pose_texts(held).key
