"""Tasks that share no moved joint are searched for by themselves, with the same numbers."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import linkwork as lw
from linkwork.ops.numpy import NUMPY
from linkwork.solve.ik import InverseKinematics
from linkwork.solve.inputs import rows_of, settings_of
from linkwork.solve.limits.acceleration import AccelerationLimit
from linkwork.solve.limits.coupled import CoupledLimit
from linkwork.solve.limits.velocity import VelocityLimit
from linkwork.solve.objectives import Centred
from linkwork.solve.options import Options
from linkwork.solve.parts import numbers_of, parts_of
from linkwork.solve.problem import make_problem
from linkwork.solve.step import step
from linkwork.solve.tasks.center_of_mass import CenterOfMass
from linkwork.solve.tasks.pose import Pose
from linkwork.solve.tasks.position import Position

ROBOT = lw.load("humanoid")
M = ROBOT.mechanism
FEET = [Pose("left_foot"), Pose("right_foot")]
LEFT, RIGHT = "left_hip_yaw", "right_hip_yaw"


def parts(*tasks, m=M, **how):
    return parts_of(make_problem(m, list(tasks), **how))


def names(problem):
    return [task.name for task in problem.tasks]


def test_two_legs_are_two_parts_and_one_is_itself():
    found = parts(*FEET)
    assert [names(part) for part in found] == [["left_foot"], ["right_foot"]]
    whole = make_problem(M, FEET)
    assert sorted(k for part in found for k in part.moved) == list(whole.moved)
    one = make_problem(M, FEET[0])
    assert parts_of(one) == (one,)
    assert found[0].key == one.key  # the code of one leg serves the part


def test_what_shares_a_joint_stays_together():
    assert len(parts(*FEET, CenterOfMass(axes="xy"))) == 1
    assert len(parts(*FEET, m=lw.load("humanoid", base="floating").mechanism)) == 1
    hands = [Pose("left_hand"), Pose("right_hand")]
    together = parts(*hands, *FEET)
    assert [names(part) for part in together] == [
        ["left_foot"], ["right_foot"], ["left_hand", "right_hand"],
    ]  # fmt: skip
    arms = [name for name in M.joint_names if "shoulder" in name or "elbow" in name]
    assert len(parts(*hands, joints=arms)) == 2  # the torso that they share is held


def test_a_coupled_limit_ties_its_joints():
    table = [[-1.0, -1.0, 1.0], [1.0, -0.5, 0.5]]
    assert len(parts(*FEET, limits=[CoupledLimit(LEFT, RIGHT, table)])) == 1
    own = parts(*FEET, limits=[CoupledLimit(LEFT, "left_knee", table), VelocityLimit(0.1)])
    assert [[limit.name for limit in part.limits] for part in own] == [
        [f"{LEFT} by left_knee", "velocity"], ["velocity"],
    ]  # fmt: skip


def test_what_only_lower_priorities_ask_for_does_not_come_apart():
    assert len(parts(FEET[0], Pose("right_foot", priority=1))) == 1
    lower = parts(*FEET, Position("left_knee_link", priority=1))
    assert [names(part) for part in lower] == [["left_foot", "left_knee_link"], ["right_foot"]]
    assert len(parts(*FEET, objectives=[Centred()])) == 1


def test_a_task_that_nothing_moves_belongs_to_the_first_part():
    fixed = Position("head")
    legs = [name for name in M.joint_names if any(x in name for x in ("hip", "knee", "ankle"))]
    found = parts(fixed, *FEET, joints=legs)
    assert [names(part) for part in found] == [["head", "left_foot"], ["right_foot"]]


HOW = {
    "limits": [
        VelocityLimit(0.1, v_max=3.0),
        CoupledLimit(RIGHT, "right_knee", [[0.0, -1, 1], [1.0, 0, 1]]),
        AccelerationLimit(0.1, 50.0),
    ],
    "joint_weights": {LEFT: 0.5, "right_knee": 0.25},
    "joints": [
        f"{side}_{name}" for side in ("left", "right")
        for name in ("hip_yaw", "hip_roll", "hip_pitch", "knee", "ankle_pitch")
    ],
}  # fmt: skip
TASKS = [
    Pose("left_foot", slack=0.01),
    Position("right_knee_link", weight=3.0, priority=1),
    Pose("right_foot", weight=2.0, tolerance=0.1),
    Position("left_knee_link", weight=0.5, slack=(0.1, 0.2, 0.3)),
]


def test_the_numbers_of_a_part_are_those_that_it_would_have_alone():
    whole = make_problem(M, TASKS, **HOW)
    q0, v = ROBOT.random(3, seed=1), np.linspace(0, 1, M.n_v)
    goals = {
        task.name: (np.eye(4) if "foot" in task.name else np.arange(3.0)) for task in whole.tasks
    }
    parameters, _, _ = rows_of(whole, {**goals, "acceleration": v}, q0)
    settings = settings_of(whole, Options())
    found = parts_of(whole)
    assert len(found) == 2
    for part in found:
        of_rows, of_call = numbers_of(whole, part)
        mine = {name: goals[name] for name in names(part)}
        alone, _, _ = rows_of(part, {**mine, "acceleration": v}, q0)
        np.testing.assert_array_equal(parameters[:, of_rows], alone)
        np.testing.assert_array_equal(settings[of_call], settings_of(part, Options()))


def test_a_part_steps_as_the_whole_does_but_for_what_they_share():
    """The damping of the whole is for all errors together: with one leg still, they agree."""
    whole = make_problem(M, FEET)
    q = 0.3 * ROBOT.random(seed=2) + 0.7 * ROBOT.neutral()
    goals = [ROBOT.fk(q + 0.01, "left_foot"), ROBOT.fk(q, "right_foot")]
    parameters, _, _ = rows_of(whole, goals, q)
    settings = settings_of(whole, Options())
    x = q[list(whole.moved)]
    after, _ = step(NUMPY, whole, x, parameters[0], settings)
    part = parts_of(whole)[0]
    of_rows, of_call = numbers_of(whole, part)
    mine, _ = step(NUMPY, part, q[list(part.moved)], parameters[0, of_rows], settings[of_call])
    places = [whole.moved.index(k) for k in part.moved]
    np.testing.assert_allclose(mine, after[places], atol=1e-12)
    assert np.abs(mine - q[list(part.moved)]).max() > 1e-3


def test_parts_survive_pickling():
    for part in parts(*TASKS, **HOW):
        again = pickle.loads(pickle.dumps(part))
        assert again.key == part.key
        assert again.layout == part.layout
        assert (again.held, again.moved, again.order) == (part.held, part.moved, part.order)


@pytest.fixture(scope="module")
def legs():
    return InverseKinematics(M, FEET)


@pytest.mark.slow
def test_the_answer_of_one_leg_does_not_depend_on_the_other(legs):
    q = ROBOT.random(30, seed=3)
    left, right = ROBOT.fk(q, "left_foot"), ROBOT.fk(q, "right_foot")
    both = legs.solve([left, right])
    assert both.success.all()
    mixed = legs.solve([left, right[::-1]])
    own = list(legs.parts[0].moved)
    assert both.q[:, own].tobytes() == mixed.q[:, own].tobytes()
    alone = InverseKinematics(M, FEET[0]).solve(left)
    assert alone.q[:, own].tobytes() == both.q[:, own].tobytes()
    assert (both.restarts >= alone.restarts).all()


def test_where_one_leg_fails_the_other_is_kept(legs):
    q = ROBOT.random(seed=4)
    far = lw.pose((9.0, 0.0, 0.0))
    result = legs.solve([far, ROBOT.fk(q, "right_foot")], tries=3)
    assert not result.success
    assert result.errors["right_foot"]["position"] <= 1e-5
    assert result.errors["right_foot"]["rotation"] <= 1e-4
    assert "target of 'left_foot'" in result.reason


def test_one_target_is_a_row_of_a_batch_bit_for_bit(legs):
    q = ROBOT.random(20, seed=5)
    goals = [ROBOT.fk(q, "left_foot"), ROBOT.fk(q, "right_foot")]
    start = ROBOT.random(seed=6)
    batch = legs.solve(goals, start, steps=4)
    assert batch.restarts.max() > 0
    for k in range(20):
        one = legs.solve([goal[k] for goal in goals], start, steps=4)
        assert one.q.tobytes() == batch.q[k].tobytes()
        assert one.restarts == batch.restarts[k]
        assert one.iterations == batch.iterations[k]
