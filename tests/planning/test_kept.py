"""Paths along which loops stay closed and tasks are done: everywhere, without leaps, and true."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

import linkwork as lw
from linkwork.errors import InputError, UnsupportedFeatureError
from linkwork.planning.planner import Plan
from linkwork.planning.roadmap import Roadmap

Floats = NDArray[np.float64]

START = np.array([-1.0, 0.3, 0.0, -1.8, 0.0, 2.1, 0.8])
GOAL = START * [-1, 1, 1, 1, 1, 1, 1]


@pytest.fixture(scope="module")
def panda() -> lw.Robot:
    return lw.load("panda")


def shelf() -> lw.Scene:
    scene = lw.Scene()
    for k, height in enumerate((0.2, 0.5, 0.8)):
        scene.add_box(f"board {k}", (0.3, 0.8, 0.02), (0.65, 0.0, height))
    return scene


def lean(robot: lw.Robot, q: Floats) -> Floats:
    """How far (rad) the axis of the hand is from where it begins."""
    z = robot.fk(q, "tool0")[:, :3, 2]
    return np.arctan2(np.linalg.norm(np.cross(z, z[0]), axis=1), z @ z[0])


def must_hold(robot: lw.Robot, plan: Plan, start: Floats) -> Floats:
    """What every kept path keeps, looked at ten times finer than its points; the samples."""
    assert plan.success, plan.reason
    assert np.array_equal(plan.q[0], start)
    q = plan.sample(2e-3)
    assert (q >= robot.limits.lower - 1e-9).all()
    assert (q <= robot.limits.upper + 1e-9).all()
    assert not robot.collision().collides(q, plan.scene).any()
    steps = np.linalg.norm(robot.difference(q[:-1], q[1:]), axis=1)
    assert steps.max() < 6e-3  # it leaps nowhere
    return q


def test_a_cup_stays_upright_past_a_shelf(panda: lw.Robot) -> None:
    plan = panda.plan(START, GOAL, scene=shelf(), keep=lw.ik.Direction("tool0"))
    q = must_hold(panda, plan, START)
    assert np.allclose(plan.q[-1], GOAL, atol=1e-9)
    assert plan.proven
    assert lean(panda, q).max() < 1e-4
    assert plan.errors()["tool0"] < 1e-4
    # without the task it leans, so the test can fail
    free = panda.plan(START, GOAL, scene=shelf())
    assert lean(panda, free.sample(0.01)).max() > 0.05
    # straight motions between the points are no farther away than the bow says
    for a, b in zip(plan.q[:-1], plan.q[1:], strict=True):
        middle, ok = plan.kept.between(a[None], b[None], np.array([0.5]))  # type: ignore[union-attr]
        assert ok.all()
        assert np.linalg.norm(middle[0] - 0.5 * (a + b)) <= plan.bow + 1e-12


def test_slack_leaves_a_cone(panda: lw.Robot) -> None:
    keep = lw.ik.Direction("tool0", slack=0.15)
    plan = panda.plan(START, GOAL, scene=shelf(), keep=keep, seed=2)
    q = must_hold(panda, plan, START)
    assert lean(panda, q).max() < 0.15 + 1e-3


def test_a_seed_gives_the_same_kept_path_on_any_number_of_threads(panda: lw.Robot) -> None:
    axis = panda.fk(START, "tool0")[:3, 2]
    planner = panda.planner(keep=lw.ik.Direction("tool0", axis))
    starts, goals = np.stack([START, GOAL]), np.stack([GOAL, START])
    one = planner.plan_all(starts, goals, shelf(), threads=1)
    two = planner.plan_all(starts, goals, shelf(), threads=2)
    for a, b in zip(one, two, strict=True):
        assert a.success
        assert np.array_equal(a.q, b.q)
    alone = panda.plan(START, GOAL, scene=shelf(), keep=lw.ik.Direction("tool0", axis))
    assert np.array_equal(alone.q, one[0].q)


@pytest.mark.slow
def test_two_hands_hold_a_box() -> None:
    twin = lw.load("two_arm_torso")
    q0 = twin.configuration({"left_elbow": -1.0, "right_elbow": -1.0})
    assert not twin.collision().collides(q0)
    hold = lw.ik.RelativePose("right_tool0", "left_tool0")
    aim = twin.fk(q0, "left_tool0") @ lw.pose([0.05, 0.0, 0.05])
    plan = twin.plan(q0, tasks=lw.ik.Position("left_tool0", aim[:3, 3]), keep=hold)
    q = must_hold(twin, plan, q0)
    left, right = twin.fk(q, "left_tool0"), twin.fk(q, "right_tool0")
    between = np.linalg.inv(left) @ right
    assert np.abs(between - between[0]).max() < 2e-4
    assert np.allclose(left[-1, :3, 3], aim[:3, 3], atol=1e-4)


LOOPS = {
    "four_bar": [1.0],
    "five_bar": [0.6, -0.4],
    "linkage_leg": [0.1, 0.1, 0.1],
    "slider_crank": [1.0],
    "stewart": [0.1, 0.05, -0.05, 0.1, 0.0, 0.05],
    "delta": [0.3, -0.2, 0.1],
}


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=[] if name in ("four_bar", "five_bar") else pytest.mark.slow)
        for name in LOOPS
        if name != "stewart"  # takes longest; the delta has loops in space, too
    ],
)
def test_loops_stay_closed_on_their_branch(name: str) -> None:
    robot = lw.load(name)
    start = robot.assemble(np.zeros(len(robot.actuated))).q
    plan = robot.plan(start, dict(zip(robot.actuated, LOOPS[name], strict=True)))
    q = must_hold(robot, plan, start)
    assert robot.is_assembled(q, tolerance=1e-10).all()
    assert max(plan.errors().values()) < 1e-10
    # the actuated joints alone lead along it: no change of the way it is put together
    own = [robot.mechanism.q_start[robot.mechanism.joint(x)] for x in robot.actuated]
    at = start
    for row in q[:: max(1, len(q) // 40)]:
        led = robot.assemble(row[own], q0=at)
        assert led.success
        assert np.abs(robot.difference(led.q, row)).max() < 1e-7
        at = led.q


@pytest.mark.parametrize("beside", [0.0, 0.012, -0.012])
def test_a_loop_goes_around_a_post(beside: float) -> None:
    robot, scene = lw.load("five_bar"), lw.Scene()
    start = robot.assemble([0.5, 0.5]).q
    goal = robot.assemble([-0.5, -0.5], q0=start).q
    straight = robot.plan(start, goal)
    usual = robot.fk(straight.sample(0.01), "left_end")[:, :3, 3]
    post = usual[len(usual) // 2] + [0.0, beside, 0.0]  # in the middle of the way of the tip
    scene.add_sphere("post", 0.01, post)
    assert robot.collision().collides(straight.sample(0.01), scene).any()
    plan = robot.plan(start, goal, scene=scene, seconds=20.0)
    q = must_hold(robot, plan, start)
    assert np.allclose(plan.q[-1], goal, atol=1e-9)
    assert robot.is_assembled(q, tolerance=1e-9).all()
    assert plan.length > straight.length + 0.01
    # told by the points of the linkage alone, whatever the model takes its links to be
    ends = robot.fk(q, "left_end")[:, :3, 3]
    for name in ("left_far", "right_far"):
        elbow = robot.fk(q, name)[:, :3, 3]
        along = ends - elbow
        t = np.sum((post - elbow) * along, axis=1) / np.sum(along * along, axis=1)
        foot = elbow + np.clip(t, 0.0, 1.0)[:, None] * along
        assert np.linalg.norm(foot - post, axis=1).min() > 0.01


def test_another_branch_of_assembly_is_not_reached() -> None:
    robot = lw.load("four_bar")
    every = robot.assemblies([0.4]).q
    assert len(every) == 2
    plan = robot.plan(every[0], every[1], seconds=0.3)
    assert not plan.success
    assert "branches of assembly" in plan.reason or "limits" in plan.reason


def test_why_kept_paths_are_none(panda: lw.Robot) -> None:
    up = lw.ik.Direction("tool0")
    tilted = GOAL + 0.1 * np.eye(7)[5]
    plan = panda.plan(START, tilted, keep=up)
    assert plan.reason.startswith(
        "the goal does not keep what is to be kept: 'tool0' is 0.1 rad off"
    )
    down = lw.ik.Direction("tool0", [0.0, 0.0, 1.0])
    assert "the start does not keep" in panda.plan(START, GOAL, keep=down).reason
    robot = lw.load("five_bar")
    q = robot.assemble([0.2, -0.1]).q
    assert "'hinge position'" in robot.plan(q + 0.1 * np.eye(4)[2], q).reason
    with pytest.raises(InputError, match="priority"):
        panda.plan(START, GOAL, keep=lw.ik.Posture(START, priority=1))
    with pytest.raises(InputError, match="no target"):
        panda.planner(keep=up)
    with pytest.raises(InputError, match="none that the start"):
        panda.plan(START, GOAL, keep=lw.ik.Pointing("tool0"))
    with pytest.raises(UnsupportedFeatureError, match="roadmap"):
        Roadmap(panda.planner(keep=lw.ik.Posture(START[6:], joints="joint7")))
    with pytest.raises(InputError, match="follows the loops"):
        lw.load("four_bar").planner("rocker")


def test_motions_along_kept_paths(panda: lw.Robot) -> None:
    plan = panda.plan(START, GOAL, scene=shelf(), keep=lw.ik.Direction("tool0"))
    move = lw.trajectory.along(plan, robot=panda, acceleration=10.0)
    q = move(np.linspace(0.0, move.duration, 5000))
    assert lean(panda, q).max() < 1e-4
    assert not panda.collision().collides(q, plan.scene).any()
    most = {"velocity": panda.limits.velocity, "acceleration": 10.0, "torque": panda.limits.effort}
    used = move.uses(robot=panda, **most)
    assert all(share.max() < 1.0 + 1e-6 for share in used.values())


def test_motions_along_paths_of_loops() -> None:
    robot = lw.load("five_bar")
    start = robot.assemble([0.0, 0.0]).q
    plan = robot.plan(start, {"left": 0.6, "right": -0.4})
    move = lw.trajectory.along(plan, robot=robot, acceleration=10.0)
    q = move(np.linspace(0.0, move.duration, 3000))
    assert robot.is_assembled(q, tolerance=1e-6).all()
    with pytest.raises(InputError, match="give robot="):
        lw.trajectory.along(plan, acceleration=10.0)


@pytest.mark.slow
def test_motions_of_quaternions_are_refused() -> None:
    robot = lw.load("stewart")
    start = robot.assemble(np.zeros(6)).q
    plan = robot.plan(start, dict(zip(robot.actuated, LOOPS["stewart"], strict=True)))
    assert plan.proven
    with pytest.raises(UnsupportedFeatureError, match="quaternion"):
        lw.trajectory.along(plan, robot=robot, acceleration=10.0)
