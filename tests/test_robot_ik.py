"""The methods of robots that solve: what they take, keep and share."""

from __future__ import annotations

import numpy as np
import pytest

import linkwork as lw
from linkwork import ik
from linkwork.errors import InputError, UnknownNameError
from linkwork.models import MODELS
from seeds import rng

ARMS = lw.load("two_arm_torso")
LEFT, RIGHT = "left_tool0", "right_tool0"


@pytest.fixture(scope="module")
def panda():
    return lw.load("panda")


def test_a_frame_stands_for_its_pose(panda):
    T = panda.fk(panda.random(5, seed=1), "tool0")
    named = panda.ik(T, "tool0")
    asked = panda.ik(T, tasks=ik.Pose("tool0"))
    assert named.q.tobytes() == asked.q.tobytes()
    assert list(named.errors) == ["tool0"]
    assert list(named.errors["tool0"]) == ["position", "rotation"]


def test_the_tip_is_meant_where_no_frame_is_named():
    robot = lw.load("ur5e")
    T = robot.fk(robot.random(seed=2))
    assert robot.ik(T).q.tobytes() == robot.ik(T, robot.tip).q.tobytes()
    with pytest.raises(InputError, match="links at an end"):
        ARMS.ik(np.eye(4))


def test_tasks_bring_their_targets_or_take_them_from_the_call():
    q = ARMS.random(seed=3)
    left, right = ARMS.fk(q, LEFT), ARMS.fk(q, RIGHT)
    own = ARMS.ik(tasks=[ik.Pose(LEFT, left), ik.Pose(RIGHT, right)])
    given = ARMS.ik([left, right], tasks=[ik.Pose(LEFT), ik.Pose(RIGHT)])
    mixed = ARMS.ik({RIGHT: right}, tasks=[ik.Pose(LEFT, left), ik.Pose(RIGHT)])
    assert own.success
    assert own.q.tobytes() == given.q.tobytes() == mixed.q.tobytes()
    assert set(own.errors) == {LEFT, RIGHT}
    lefts = ARMS.fk(ARMS.random(4, seed=4), LEFT)
    many = ARMS.ik([lefts, right], tasks=[ik.Pose(LEFT), ik.Pose(RIGHT)])
    assert many.success.shape == (4,)


def test_a_frame_and_tasks_exclude_each_other(panda):
    with pytest.raises(InputError, match="a frame or tasks, not both"):
        panda.ik(np.eye(4), "tool0", tasks=ik.Pose("tool0"))
    with pytest.raises(InputError, match="there is no task"):
        panda.solver(tasks=[])
    with pytest.raises(UnknownNameError, match="tool0"):
        panda.solver("tool")
    with pytest.raises(UnknownNameError, match="option of inverse kinematics"):
        panda.ik(np.eye(4), "tool0", tolerance=1.0)


def test_plain_solvers_are_kept_and_others_share_code(panda):
    assert panda.solver("tool0") is panda.solver("tool0")
    assert panda.solver("tool0", "joint1") is panda.solver("tool0", ["joint1"])
    assert panda.solver("tool0") is not panda.solver("link4")
    a, b = (panda.solver(tasks=ik.Pose("tool0", tolerance=t)) for t in (0.1, 0.2))
    assert a is not b
    assert a.search is b.search


def test_limits_objectives_and_weights_are_kept_by_the_solver(panda):
    q = panda.random(20, seed=5)
    T = panda.fk(q, "tool0")
    plain = panda.solver("tool0").solve(T)
    margin = panda.solver("tool0", limits=[ik.PositionLimit(0.05)]).solve(T)
    lower, upper = panda.limits.lower + 0.05, panda.limits.upper - 0.05
    moved = list(panda.solver("tool0").problem.moved)
    inside = ((margin.q >= lower) & (margin.q <= upper))[:, moved].all(axis=1)
    assert inside[margin.success].all()
    assert margin.success.sum() > 10
    centred = panda.solver("tool0", objectives=[ik.Centred()]).solve(T)
    assert centred.success.all()

    def off(r):
        return np.abs((2 * r.q - panda.limits.lower - panda.limits.upper)[:, moved])

    span = (panda.limits.upper - panda.limits.lower)[moved]
    assert np.mean(off(centred) / span) < np.mean(off(plain) / span)
    frozen = panda.solver("tool0", joint_weights={"joint3": 0.0})
    assert 2 not in frozen.problem.moved


def test_joints_of_small_weight_move_less():
    robot = lw.load("mobile_arm")
    q0 = robot.neutral()
    near = robot.fk(robot.integrate(q0, 0.05 * np.ones(robot.n_v)), "tool0")
    base = robot.joint_names[0]
    ways = []
    for weight in (1.0, 0.1, 0.01):
        solver = robot.solver("tool0", joint_weights={base: weight})
        result = solver.solve(near, q0)
        assert result.success
        k = robot.mechanism.q_start[robot.mechanism.joint(base)]
        ways.append(float(np.linalg.norm((result.q - q0)[k : k + 1])))
    assert ways[0] > ways[1] > ways[2] or ways[2] < 0.1 * ways[0]


CLOSED = sorted(name for name in MODELS if MODELS[name].closed)


@pytest.mark.slow
@pytest.mark.parametrize("name", CLOSED)
def test_what_misses_an_unreachable_target_is_assembled(name):
    robot = lw.load(name)
    frame = robot.frame_names[robot.mechanism.n_link_frames - 1]
    T = np.tile(robot.fk(robot.neutral(), frame), (20, 1, 1))
    T[:, :3, 3] += rng(f"out of reach of {name}").normal(size=(20, 3)) + 3.0
    found = robot.ik(T, frame, tries=20)
    assert not found.success.any()
    assert np.abs(robot.closure(found.q)).max() < 1e-11
    away = np.linalg.norm(robot.fk(found.q, frame)[:, :3, 3] - T[:, :3, 3], axis=-1)
    np.testing.assert_allclose(found.position_error, away, atol=1e-9)


def test_one_miss_is_assembled_as_those_of_a_batch_are():
    robot = lw.load("four_bar")
    target = robot.fk(robot.neutral(), "rocker_end")[:3, 3] + [0.05, 0.03, 0.02]
    for given in ({"tasks": ik.Position("rocker_end")}, {"tasks": [ik.Position("rocker_end")]}):
        one, many = (robot.ik(t, tries=20, **given) for t in (target, np.tile(target, (3, 1))))
        assert not one.success and not many.success.any()
        for q in (one.q, *many.q):
            assert np.abs(robot.closure(q)).max() < 1e-11
        assert "away" in one.reason
