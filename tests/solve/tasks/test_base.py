"""What is common to tasks: their numbers, their names, their thresholds and slack."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pytest

import linkwork as lw
from linkwork.checks import finite_rows
from linkwork.errors import InputError, ShapeError
from linkwork.ops.numpy import NUMPY
from linkwork.solve.ik import InverseKinematics
from linkwork.solve.tasks import (
    TOLERANCES,
    Direction,
    Group,
    OnLine,
    Orientation,
    Position,
    Residual,
    TargetKind,
    Task,
    beyond_slack,
    bound,
    coordinates_of,
    has_slack,
    turns_freely,
)
from linkwork.spatial import so3
from robots import mechanism_from
from seeds import rng

M = lw.load("planar_3r").mechanism


@dataclass(frozen=True, eq=False)
class Sum(Task):
    """All angles together: a task as anyone may write it."""

    target: object = None

    def bind(self, m):
        """The task for one mechanism."""

        def residual(o, q, target):
            total = q[0] + q[1] + q[2]
            error = o.vector([target[0] - total])
            return Residual(error, [o.const([1.0])] * 3, [error[0] * error[0]])

        def read(target, name):
            return finite_rows(target, name, 1)

        return bound(
            self,
            m,
            TargetKind(1, read),
            residual,
            name="sum",
            key="sum",
            groups=[Group("angle", "rad", 0, 1)],
            coordinates=(0, 1, 2),
        )


def test_a_task_of_one_s_own_is_solved_like_any_other():
    result = InverseKinematics(M, Sum()).solve([[0.5], [1.0], [-2.0]])
    assert result.success.all()
    np.testing.assert_allclose(result.q.sum(axis=1), [0.5, 1.0, -2.0], atol=1e-4)
    assert list(result.errors) == ["sum"]


def test_defaults_by_the_unit():
    task = Sum().bind(M)
    assert task.tolerances == (TOLERANCES["rad"],)
    assert task.thresholds == (TOLERANCES["rad"] ** 2,)
    assert (task.name, task.weight, task.priority, task.slack) == ("sum", 1.0, 0, (0.0,))
    assert task.target is None
    assert task.n_rows == 1


def test_numbers_for_all_groups_or_for_each():
    assert Sum(tolerance=0.1).bind(M).tolerances == (0.1,)
    assert Sum(tolerance=[0.2]).bind(M).tolerances == (0.2,)
    assert Sum(tolerance=np.float32(0.5)).bind(M).tolerances == (0.5,)
    assert Sum(slack=np.array([0.3])).bind(M).slack == (0.3,)
    assert Sum(priority=np.int64(3)).bind(M).priority == 3
    with pytest.raises(InputError, match=r"Sum\.tolerance must be one number or 1, .* not 2"):
        Sum(tolerance=(0.1, 0.2)).bind(M)


def test_messages_have_the_name_that_the_problem_gave():
    task = replace(Sum(name="mine").bind(M), name="mine_2")
    with pytest.raises(InputError, match=r"task 'mine_2': target\[1, 0\] is nan"):
        task.rows_of([[0.0], [np.nan]])
    with pytest.raises(InputError, match="task 'mine': target must have shape"):
        Sum([1.0, 2.0], name="mine").bind(M)


def test_lists_and_arrays_are_copied_when_the_task_is_made():
    target, slack = np.array([1.0]), [0.1]
    task = Sum(target, slack=slack)
    target[0], slack[0] = 9.0, 9.0
    assert task.bind(M).target.tolist() == [1.0]
    assert task.bind(M).slack == (0.1,)
    with pytest.raises(ValueError, match="read-only"):
        task.target[0] = 9.0


def test_slack_takes_away_error_and_columns():
    error, slack = np.array([0.5, -0.05, -0.5, 0.0]), np.array([0.1, 0.1, 0.2, 0.0])
    columns = [np.array([1.0, 2.0, 3.0, 4.0]), np.array([5.0, 6.0, 7.0, 8.0])]
    groups = [Group("a", "m", 0, 2), Group("b", "rad", 2, 4)]
    found = beyond_slack(NUMPY, Residual(error, columns, [0.0, 0.0]), slack, groups)
    assert found.error.tolist() == [0.4, 0.0, -0.3, 0.0]
    # a row without slack is held where it is, also at zero
    assert [c.tolist() for c in found.columns] == [[1.0, 0.0, 3.0, 4.0], [5.0, 0.0, 7.0, 8.0]]
    np.testing.assert_allclose(found.squared, [0.16, 0.09])


def test_whether_there_is_slack():
    assert not has_slack(Sum())
    assert not has_slack(Sum(slack=(0.0, 0.0)))
    assert has_slack(Sum(slack=(0.0, 0.1)))
    with pytest.raises(InputError, match=r"Sum\.slack"):
        Sum(slack="wide").bind(M)


def test_coordinates_of_several_frames():
    m = lw.load("two_arm_torso").mechanism
    left, right = (coordinates_of(m, f"{side}_tool0") for side in ("left", "right"))
    assert coordinates_of(m, "left_tool0", "right_tool0") == tuple(sorted({*left, *right}))
    assert coordinates_of(m, "base_link") == ()


def test_whether_a_turn_more_is_the_same():
    text = """<robot name="pair"><link name="a"/><link name="b"/><link name="c"/>
    <joint name="first" type="continuous"><parent link="a"/><child link="b"/><axis xyz="0 0 1"/>
    </joint><joint name="second" type="{}"><parent link="a"/><child link="c"/>
    <axis xyz="0 0 1"/><mimic joint="first" multiplier="{}"/></joint></robot>"""
    for kind, multiplier, same in (
        ("continuous", 2.0, True),
        ("continuous", -1.0, True),
        ("continuous", 0.5, False),
        ("prismatic", 1.0, False),
    ):
        assert turns_freely(mechanism_from(text.format(kind, multiplier)), 0) is same
    m = lw.load("mobile_arm").mechanism
    # the planar base, four wheels, an arm with limits and a finger
    assert [turns_freely(m, c) for c in range(len(m.joint_names))] == [True] * 5 + [False] * 7


def test_targets_of_rotations_directions_and_lines():
    m = lw.load("panda").mechanism
    g = rng("targets")
    orientation, direction = Orientation("tool0").bind(m), Direction("tool0").bind(m)
    T = np.tile(np.eye(4), (4, 1, 1))
    for each in T:
        each[:3, :3] = so3.exp(NUMPY, g.normal(size=3))
    np.testing.assert_array_equal(orientation.rows_of(T), T[:, :3, :3].reshape(4, 9))
    np.testing.assert_array_equal(orientation.rows_of(T[:, :3, :3]), orientation.rows_of(T))
    with pytest.raises(ShapeError, match=r"target .*3, 3\) or \(\.\.\., 4, 4\), not \(4,\)"):
        orientation.rows_of(np.zeros(4))
    T[2, 3, 0] = 1.0  # a pose must be one as a whole
    with pytest.raises(InputError, match=r"target \[2\]"):
        orientation.rows_of(T)
    given = g.normal(size=(50, 3)) * 10.0 ** g.uniform(-300, 300, (50, 1))
    found = direction.rows_of(given)
    np.testing.assert_allclose(np.linalg.norm(found, axis=1), 1.0, rtol=1e-15)
    given /= np.abs(given).max(axis=1, keepdims=True)
    np.testing.assert_allclose(np.cross(found, given), 0.0, atol=1e-15)
    assert (np.sum(found * given, axis=1) > 0.0).all()
    with pytest.raises(InputError, match=r"target \[0\] has the direction 0 0 0"):
        direction.rows_of([[0, 0, 0], [0, 0, 1]])
    line = OnLine("tool0").bind(m)
    assert line.rows_of([[1, 2, 3, 0, 0, -9]]).tolist() == [[1.0, 2.0, 3.0, 0.0, 0.0, -1.0]]
    with pytest.raises(InputError, match="direction 0 0 0"):
        line.rows_of([1, 2, 3, 0, 0, 0])
    with pytest.raises(ShapeError, match=r"\(\.\.\., 6\), not \(3,\)"):
        line.rows_of([1, 2, 3])
    for wrong in (None, "abc", [True, False, True], [1j, 0, 0]):
        with pytest.raises(InputError, match="target must be real numbers"):
            Position("tool0").bind(m).rows_of(wrong)
