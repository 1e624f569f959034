"""What solutions are compared by, against plain computations."""

from __future__ import annotations

import numpy as np
import pytest

import linkwork as lw
from linkwork.compile.compiler import Compiler
from linkwork.errors import InputError, ShapeError
from linkwork.solve.cost import cost_of, distance
from linkwork.solve.problem import make_problem
from linkwork.solve.tasks.center_of_mass import CenterOfMass
from linkwork.solve.tasks.joint_coupling import JointCoupling
from linkwork.solve.tasks.pose import Pose
from seeds import rng

PANDA = lw.load("panda")
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
