"""Planned paths: true on the shapes, within limits, the same for a seed; and why there is none."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import linkwork as lw
from linkwork.errors import InputError, ShapeError, UnsupportedFeatureError
from linkwork.planning.planner import Plan
from linkwork.planning.roadmap import Roadmap
from linkwork.planning.search import Effort
from seeds import rng

Floats = NDArray[np.float64]

START = np.array([-1.0, 0.3, 0.0, -1.8, 0.0, 2.1, 0.8])
GOAL = np.array([1.0, 0.3, 0.0, -1.8, 0.0, 2.1, 0.8])


@pytest.fixture(scope="module")
def panda() -> lw.Robot:
    return lw.load("panda")


def walled() -> lw.Scene:
    """A wall between the left and the right side of the arm."""
    scene = lw.Scene()
    scene.add_box("wall", (0.6, 0.02, 0.8), (0.6, 0.0, 0.4))
    return scene


def forest(label: str, n: int) -> lw.Scene:
    """Upright cylinders around the arm."""
    random, scene = rng(label), lw.Scene()
    for k in range(n):
        angle, radius = random.uniform(0, 2 * np.pi), random.uniform(0.45, 0.8)
        place = (radius * np.cos(angle), radius * np.sin(angle), random.uniform(0.2, 0.8))
        scene.add_cylinder(f"tree {k}", radius=0.04, length=0.6, pose=place)
    return scene


def shelf() -> lw.Scene:
    """A shelf with three boards in front of the arm."""
    scene = lw.Scene()
    for k, height in enumerate((0.2, 0.5, 0.8)):
        scene.add_box(f"board {k}", (0.3, 0.8, 0.02), (0.65, 0.0, height))
    for side in (-1, 1):
        scene.add_box(f"side {side}", (0.3, 0.02, 0.8), (0.65, 0.4 * side, 0.5))
    return scene


SCENES = {
    "none": lw.Scene,
    "wall": walled,
    "forest": lambda: forest("forest", 12),
    "shelf": shelf,
}


def free_states(robot: lw.Robot, scene: lw.Scene, n: int, label: str) -> Floats:
    """Random configurations (n, nq) that touch nothing."""
    drawn = robot.random(40 * n, seed=rng(label))
    return drawn[~robot.collision().collides(drawn, scene)][:n]


def must_hold(robot: lw.Robot, plan: Plan, start: Floats, goal: Floats) -> None:
    """What every path keeps: its ends, the limits, and that nothing touches along it."""
    assert plan.success, plan.reason
    assert plan.reason == ""
    assert plan.proven
    assert np.array_equal(plan.q[0], start)
    assert np.allclose(plan.q[-1], goal, rtol=0, atol=1e-12)
    samples = plan.sample(2e-3)
    assert (samples >= robot.limits.lower - 1e-9).all()
    assert (samples <= robot.limits.upper + 1e-9).all()
    assert not robot.collision().collides(samples, plan.scene).any()
    assert plan.length >= np.linalg.norm(goal - start) - 1e-9


@pytest.mark.parametrize("name", SCENES)
def test_paths_hold(panda: lw.Robot, name: str) -> None:
    scene = SCENES[name]()
    ends = free_states(panda, scene, 12, f"ends {name}")
    for start, goal in zip(ends[::2], ends[1::2], strict=True):
        must_hold(panda, panda.plan(start, goal, scene=scene), start, goal)


def test_a_way_that_is_free_is_straight(panda: lw.Robot) -> None:
    plan = panda.plan(START, GOAL)
    assert len(plan.q) == 2
    assert plan.steps == 0
    assert np.isclose(plan.length, 2.0)


def test_a_path_around_a_wall_is_longer(panda: lw.Robot) -> None:
    plan = panda.plan(START, GOAL, scene=walled())
    must_hold(panda, plan, START, GOAL)
    assert plan.length > 2.0
    assert plan.clearance().min() > 0.0


def test_a_seed_gives_the_same_path_on_any_number_of_threads(panda: lw.Robot) -> None:
    scene, planner = walled(), panda.planner()
    ends = free_states(panda, scene, 16, "threads")
    one = planner.plan_all(ends[::2], ends[1::2], scene, threads=1)
    for threads in (2, 5):
        many = planner.plan_all(ends[::2], ends[1::2], scene, threads=threads)
        assert all(np.array_equal(a.q, b.q) for a, b in zip(one, many, strict=True))
    for plan, start, goal in zip(one, ends[::2], ends[1::2], strict=True):
        must_hold(panda, plan, start, goal)
        assert np.array_equal(plan.q, panda.plan(start, goal, scene=scene).q)
    other = [
        panda.plan(a, b, scene=scene, seed=3) for a, b in zip(ends[::2], ends[1::2], strict=True)
    ]
    assert any(not np.array_equal(a.q, b.q) for a, b in zip(one, other, strict=True))


def test_every_problem_has_its_own_scene_and_progress_is_told(panda: lw.Robot) -> None:
    told: list[tuple[int, int]] = []
    scenes = [lw.Scene(), walled()]
    plans = panda.planner().plan_all(
        START, np.stack([GOAL, GOAL]), scenes, progress=lambda *at: told.append(at)
    )
    assert [len(plan.q) == 2 for plan in plans] == [True, False]
    assert sorted(told) == [(1, 2), (2, 2)]


def test_joints_that_are_not_named_stay(panda: lw.Robot) -> None:
    goal = GOAL.copy()
    joints = ["joint1", "joint2", "joint4"]
    plan = panda.plan(START, goal, joints=joints, scene=walled())
    if plan.success:
        must_hold(panda, plan, START, goal)
        assert (plan.q[:, [2, 4, 5, 6]] == START[[2, 4, 5, 6]]).all()
    free = panda.plan(START, {"joint1": 0.5}, joints="joint1")
    assert np.isclose(free.q[-1, 0], 0.5)
    with pytest.raises(InputError, match="joint1"):
        panda.plan(START, GOAL, joints=["joint2"])


def test_a_pose_is_a_goal(panda: lw.Robot) -> None:
    scene = walled()
    T_world_tool = panda.fk(GOAL, "tool0")
    plan = panda.plan(START, T_world_tool, frame="tool0", scene=scene)
    assert plan.success, plan.reason
    assert np.allclose(panda.fk(plan.q[-1], "tool0"), T_world_tool, atol=1e-6)
    must_hold(panda, plan, START, plan.q[-1])


def test_a_task_is_a_goal(panda: lw.Robot) -> None:
    place = panda.fk(GOAL, "tool0")[:3, 3]
    plan = panda.plan(START, tasks=lw.ik.Position("tool0", place), scene=walled())
    assert plan.success, plan.reason
    assert np.allclose(panda.fk(plan.q[-1], "tool0")[:3, 3], place, atol=1e-6)


def test_the_nearest_of_several_goals_that_are_free_is_taken(panda: lw.Robot) -> None:
    scene = walled()
    touching = START.copy()
    touching[0] = 0.0
    assert panda.collision().collides(touching, scene)
    near = START + 0.1 * np.eye(7)[0]
    plan = panda.plan(START, np.stack([touching, GOAL, near]), scene=scene)
    assert np.array_equal(plan.q[-1], near)


def test_joints_without_limits_turn_the_short_way_where_it_is_free() -> None:
    robot = lw.load(
        """<robot name="spinner"><link name="base"/>
        <link name="arm"><collision><geometry><box size="0.5 0.05 0.05"/></geometry>
          <origin xyz="0.3 0 0"/></collision></link>
        <joint name="spin" type="continuous"><parent link="base"/><child link="arm"/>
          <axis xyz="0 0 1"/></joint></robot>"""
    )
    plan = robot.plan([3.0], [-3.0])
    assert np.isclose(plan.length, 2 * np.pi - 6.0)
    assert np.isclose(plan.q[-1, 0], 2 * np.pi - 3.0)
    scene = lw.Scene()
    scene.add_box("post", (0.02, 0.02, 0.5), (-0.4, 0.0, 0.0))
    around = robot.plan([3.0], [-3.0], scene=scene)  # the short way is barred
    assert around.success and np.isclose(around.length, 6.0)
    assert np.isclose(around.q[-1, 0], -3.0)
    scene.add_box("other post", (0.02, 0.02, 0.5), (0.4, 0.0, 0.0))
    assert not robot.plan([3.0], [-3.0], scene=scene, seconds=0.1)


def test_a_search_goes_on_where_samples_are_never_near(panda: lw.Robot) -> None:
    scene, effort = shelf(), Effort(near=1e-3, least_near=1e-3)
    drawn = panda.random(400, seed=5)
    free = drawn[~panda.collision().collides(drawn, scene)]
    for start, goal in zip(free[:4:2], free[1:4:2], strict=True):
        plan = panda.plan(start, goal, scene=scene, effort=effort)
        must_hold(panda, plan, start, goal)
        assert 0 < plan.steps < 50_000


@pytest.mark.slow
def test_shortcuts_that_proofs_refuse_take_few_checks() -> None:
    robot = lw.load("humanoid")
    model = robot.collision()
    drawn = robot.random(3000, seed=1)
    start, goal = drawn[~model.collides(drawn)][28:30]
    plan = robot.plan(start, goal)
    must_hold(robot, plan, start, goal)
    assert 0 < plan.checks < 200_000


def test_why_there_is_no_path(panda: lw.Robot) -> None:
    scene = lw.Scene()
    scene.add_box("lid", (0.5, 0.5, 0.5), (0, 0, 0.5))
    found = panda.plan(START, GOAL, scene=scene)
    assert not found
    assert found.reason.startswith("the start touches: ")
    assert "lid" in found.reason
    assert found.q.shape == (0, 7)
    beyond = GOAL.copy()
    beyond[3] = 0.5
    assert "the goal is outside the limits: 'joint4' is at 0.5" in panda.plan(START, beyond).reason
    assert "start is outside" in panda.plan(beyond, GOAL).reason
    far = panda.plan(START, lw.pose([5.0, 0, 0]), frame="tool0")
    assert far.reason.startswith("the goal has no solution")


def test_what_cannot_be_reached_ends_in_time_and_says_how_near_it_came() -> None:
    robot = lw.load("planar_3r")
    scene = lw.Scene()
    q0, q1 = np.array([0.3, 0.0, 0.0]), np.array([2.6, 0.0, 0.0])
    for name, angle in (("first", 1.5), ("second", -1.2)):  # two walls part the plane
        T = lw.pose(rpy=[0, 0, angle]) @ lw.pose([1.6, 0, 0])
        scene.add_box(name, (3.0, 0.01, 1.0), T)
    for q in (q0, q1):
        assert not robot.collision().collides(q, scene)
    began = time.perf_counter()
    plan = robot.plan(q0, q1, scene=scene, seconds=0.5)
    took = time.perf_counter() - began
    assert not plan.success
    assert "0.5 seconds" in plan.reason
    assert "within" in plan.reason
    assert 0.5 <= plan.seconds < 1.0
    assert took < 2.0
    assert np.array_equal(plan.q[0], q0)
    assert not robot.collision().collides(plan.sample(0.01), scene).any()
    few = robot.planner(effort=Effort(nodes=4096)).plan(q0, q1[None], scene, seconds=60.0)
    assert "4096 nodes" in few.reason


NEEDLES = """<robot name="needles"><link name="base"/>
<link name="upper"><collision><origin xyz="0.5 0 0"/><geometry><box size="1 0.001 0.001"/>
  </geometry></collision></link>
<link name="lower"><collision><origin xyz="0.51 0 0"/><geometry><box size="0.98 0.001 0.001"/>
  </geometry></collision></link>
<joint name="shoulder" type="revolute"><parent link="base"/><child link="upper"/>
  <axis xyz="0 0 1"/><limit lower="-3" upper="3" effort="1" velocity="1"/></joint>
<joint name="elbow" type="revolute"><parent link="upper"/><child link="lower"/>
  <origin xyz="1 0 0.002"/><axis xyz="0 0 1"/>
  <limit lower="-3" upper="3" effort="1" velocity="1"/></joint></robot>"""


def test_what_is_passed_by_a_hair_is_gone_around() -> None:
    # straight on is free at all samples, 5 um from the block, and too near to be called free
    body = "<collision><geometry><box size='0.1 0.1 0.1'/></geometry></collision>"
    limit = "<limit lower='-1' upper='1' velocity='1' effort='1'/>"
    slides = "".join(
        f"<joint name='{name}' type='prismatic'><parent link='{above}'/><child link='{below}'/>"
        f"<axis xyz='{axis}'/>{limit}</joint>"
        for name, above, below, axis in (
            ("x", "floor", "rail", "1 0 0"),
            ("y", "rail", "cart", "0 1 0"),
        )
    )
    links = f"<link name='floor'/><link name='rail'/><link name='cart'>{body}</link>"
    robot = lw.load(f"<robot name='table'>{links}{slides}</robot>")
    scene = lw.Scene()
    scene.add_box("block", (0.4, 0.1, 0.1), (0.0, -0.1 - 5e-6, 0.0))
    start, goal = np.array([-0.8, 0.0]), np.array([0.8, 0.0])
    assert not robot.collision().collides(np.linspace(start, goal, 100), scene).any()
    plan = robot.plan(start, goal, scene=scene)
    assert plan.success and plan.proven, plan.reason
    assert plan.clearance(0.001).min() > 9e-6
    assert 1.6 < plan.length < 2.5


def test_a_thin_plate_is_not_jumped_over() -> None:
    """Arm and plate are thinner than what lies between configurations that are looked at."""
    robot, scene = lw.load(NEEDLES), lw.Scene()
    scene.add_box("plate", (0.6, 1e-5, 0.5), lw.pose(rpy=[0, 0, 1.0]) @ lw.pose([1.7, 0, 0]))
    for reach in (0.1, 0.03, 0.011, 0.004):
        first, last = np.array([1.0 - reach, 0.0]), np.array([1.0 + reach, 0.0])
        assert robot.collision().motion_collides(first, last, scene)
        plan = robot.plan(first, last, scene=scene)
        must_hold(robot, plan, first, last)
        assert plan.length > 1.0
        assert not robot.collision().motion_collides(plan.q[:-1], plan.q[1:], scene).touches.any()


def test_clouds_are_kept_clear_of_without_gaps(panda: lw.Robot) -> None:
    scene = lw.Scene()
    random = rng("cloud")
    scene.add_points(
        "wall", random.uniform([0.3, -0.01, 0], [0.9, 0.01, 0.8], (3000, 3)), radius=0.01
    )
    plan = panda.plan(START, GOAL, scene=scene)
    assert plan.success and plan.proven, plan.reason
    model = panda.collision()
    assert model.motion_collides(START, GOAL, scene)
    assert not model.collides(plan.sample(0.001), scene).any()
    assert not model.motion_collides(plan.q[:-1], plan.q[1:], scene).touches.any()
    far = panda.plan(START, GOAL, scene=scene, clearance=0.02)
    assert far.success, far.reason
    of_scene = model.with_pairs(ignore=model.links)
    assert of_scene.clearance(far.sample(0.01), scene).distance.min() >= 0.02


@pytest.mark.parametrize(
    ("start", "goal", "error"),
    [
        (START[:3], GOAL, ShapeError),
        (START, GOAL[:6], ShapeError),
        (START * np.nan, GOAL, InputError),
        (START, np.where(GOAL > 0, np.inf, GOAL), InputError),
        (np.stack([START, START]), GOAL, ShapeError),
    ],
)
def test_what_is_no_problem_is_refused(
    panda: lw.Robot, start: Floats, goal: Floats, error: type
) -> None:
    with pytest.raises(error):
        panda.plan(start, goal)


def test_start_and_goal_may_be_one(panda: lw.Robot) -> None:
    plan = panda.plan(START, START)
    assert plan.success
    assert plan.length == 0.0


BALL_JOINT = """<robot name="ball"><link name="base"/>
<link name="arm"><collision><origin xyz="0.25 0 0"/>
<geometry><box size="0.5 0.05 0.05"/></geometry></collision></link>
<link name="hand"><collision><origin xyz="0.15 0 0"/>
<geometry><box size="0.3 0.04 0.04"/></geometry></collision></link>
<joint name="shoulder" type="{kind}"><parent link="base"/><child link="arm"/>{limit}</joint>
<joint name="elbow" type="revolute"><parent link="arm"/><child link="hand"/>
<origin xyz="0.55 0 0"/><axis xyz="0 0 1"/><limit lower="-2.5" upper="2.5" effort="1" velocity="1"/>
</joint></robot>"""


def turned(angle: float, axis: tuple[float, float, float]) -> list[float]:
    """A quaternion."""
    return [np.cos(angle / 2), *(np.sin(angle / 2) * np.array(axis))]


def must_turn_freely(robot: lw.Robot, plan: Plan, start: Floats, goal: Floats) -> None:
    """The path leads from start to goal, touches nothing at any place, and leaps nowhere."""
    assert plan.success and plan.proven, plan.reason
    model, q = robot.collision(), plan.sample(2e-3)
    assert np.abs(robot.difference(q[[0, -1]], np.stack([start, goal]))).max() < 1e-9
    assert not model.collides(q, plan.scene).any()
    assert not model.motion_collides(plan.q[:-1], plan.q[1:], plan.scene).touches.any()
    assert np.linalg.norm(robot.difference(q[:-1], q[1:]), axis=1).max() < 1e-2
    np.testing.assert_allclose(np.linalg.norm(q[:, -5:-1], axis=1), 1.0, atol=1e-9)
    assert plan.errors() == {}


@pytest.mark.parametrize("seed", [0, 1])
def test_ball_joints_turn_around_a_wall(seed: int) -> None:
    robot = lw.load(BALL_JOINT.format(kind="spherical", limit=""))
    wall = lw.Scene()
    wall.add_box("wall", (0.05, 1.0, 1.0), (0.0, 0.7, 0.0))
    start = np.array([*turned(0.8, (0, 0, 1)), 0.0])
    goal = np.array([*turned(2.4, (0, 0, 1)), 0.0])
    assert robot.collision().motion_collides(start, goal, wall)
    must_turn_freely(robot, robot.plan(start, goal, scene=wall, seed=seed), start, goal)
    other_sign = goal * [-1, -1, -1, -1, 1]
    must_turn_freely(robot, robot.plan(start, other_sign, scene=wall, seed=seed), start, goal)


def test_paths_of_ball_joints_stay_within_the_limit_of_their_angle() -> None:
    limit = '<limit lower="0" upper="2.0" effort="1" velocity="1"/>'
    robot = lw.load(BALL_JOINT.format(kind="spherical", limit=limit))
    start = np.array([*turned(1.9, (0, 0, 1)), 0.0])
    goal = np.array([*turned(-1.9, (0, 0, 1)), 0.0])  # the short way leads past half a turn
    plan = robot.plan(start, goal)
    must_turn_freely(robot, plan, start, goal)
    q = plan.sample(2e-3)
    assert (2.0 * np.arccos(np.abs(q[:, 0])) <= 2.0 + 1e-6).all()
    beyond = robot.plan(start, np.array([*turned(2.1, (1, 0, 0)), 0.0]))
    assert not beyond and "'shoulder' turns by 2.1 rad, allowed is 2" in beyond.reason


def test_floating_joints_move_where_they_are_named() -> None:
    robot = lw.load(BALL_JOINT.format(kind="floating", limit=""))
    scene = lw.Scene()
    scene.add_box("wall", (0.05, 1.0, 1.0), (1.0, 0.0, 0.0))
    start = robot.neutral()
    goal = np.array([1.9, 0.0, 0.0, *turned(2.0, (1, 0, 0)), 0.0])
    assert robot.planner().joints == ("elbow",)
    plan = robot.plan(start, goal, scene=scene, joints=["shoulder", "elbow"])
    must_turn_freely(robot, plan, start, goal)
    resting = robot.plan(start, {"elbow": 1.0}, scene=scene)
    assert resting.success and (resting.q[:, :7] == start[:7]).all()
    away = robot.plan(start, {"elbow": 1.0}, scene=scene, clearance=0.01)
    assert away.success and (away.q[:, :7] == start[:7]).all(), away.reason
    opposite = start.copy()  # the same rotation by its other quaternion
    opposite[3:7] *= -1.0
    opposite[7] = 1.0
    same = robot.plan(start, opposite, scene=scene)
    assert same.success and (same.q[:, :7] == start[:7]).all(), same.reason
    opposite[3:7] = turned(0.1, (1, 0, 0))
    with pytest.raises(InputError, match="does not move, but is"):
        robot.plan(start, opposite, scene=scene)
    with pytest.raises(UnsupportedFeatureError, match="turns joints about any axis"):
        Roadmap(robot.planner(["shoulder"]), scene)


def test_shortcuts_make_paths_shorter(panda: lw.Robot) -> None:
    scene = forest("shorter", 10)
    ends = free_states(panda, scene, 16, "shorter")
    lengths = []
    for effort in (Effort(shortcuts=0), Effort(shortcuts=300)):
        plans = panda.planner(effort=effort).plan_all(ends[::2], ends[1::2], scene)
        lengths.append(sum(plan.length for plan in plans if plan))
    assert lengths[1] < lengths[0]


@pytest.mark.parametrize("name", list(SCENES))
def test_a_goal_that_is_none_does_not_change_the_path_to_another(
    panda: lw.Robot, name: str
) -> None:
    planner, scene, beyond = panda.planner(), SCENES[name](), GOAL.copy()
    beyond[3] = 3.0
    for seed in range(3):
        quick = planner.plan(START, GOAL[None], scene, seed=seed)
        # compiled code looks at the ends of the one, and is told that the other's are in order
        slow = planner.plan(START, np.stack([beyond, GOAL]), scene, seed=seed, seconds=10)
        assert quick.success == slow.success
        assert quick.proven == slow.proven
        np.testing.assert_array_equal(quick.q, slow.q)
        assert quick.steps == slow.steps


def test_several_goals_at_once_and_ends_that_are_none(panda: lw.Robot) -> None:
    planner, scene = panda.planner(), walled()
    far = GOAL * [1, 1, 1, 1.05, 1, 1, 1]
    plan = planner.plan(START, np.stack([far, START, GOAL]), scene)
    assert plan.success
    assert plan.length == 0.0  # the start is a goal
    beyond = GOAL.copy()
    beyond[3] = 3.0
    assert "the goal is outside the limits: 'joint4'" in planner.plan(START, beyond[None]).reason
    with pytest.raises(InputError, match="finite"):
        planner.plan(START * np.nan, GOAL[None], scene)
    # a goal that is no good does not hinder the others
    assert planner.plan(START, np.stack([beyond, GOAL]), scene).success


def test_scenes_that_change_between_plans_are_looked_at_anew(panda: lw.Robot) -> None:
    planner, scene = panda.planner(), lw.Scene()
    free = planner.plan(START, GOAL[None], scene)
    middle = panda.fk(free.sample(0.01), "tool0")[:, :3, 3]
    scene.add_sphere("ball", 0.05, middle[len(middle) // 2])
    assert panda.collision().collides(free.sample(0.01), scene).any()
    around = planner.plan(START, GOAL[None], scene)
    assert around.success
    assert not panda.collision().collides(around.sample(0.005), scene).any()
    scene.remove("ball")
    np.testing.assert_array_equal(planner.plan(START, GOAL[None], scene).q, free.q)


@pytest.mark.slow
def test_fingers_that_slide_are_proven_within_their_limits() -> None:
    robot, scene = lw.load("gripper"), lw.Scene()
    q = robot.random(400, seed=1)
    q = q[~robot.collision().collides(q)]
    plans = robot.planner().plan_all(q[:6], q[6:12], scene)
    assert all(plan.proven for plan in plans if plan)
    for plan in filter(None, plans):
        assert not robot.collision().collides(plan.sample(0.001)).any()


def test_problems_of_many_scenes_come_back_in_their_order(panda: lw.Robot) -> None:
    scenes = [walled(), lw.Scene(), walled()]
    listed = [scenes[k] for k in (0, 1, 2, 0, 1, 2)]
    starts, goals = np.tile(START, (6, 1)), np.tile(GOAL, (6, 1))
    planner = panda.planner()
    plans = planner.plan_all(starts, goals, listed, threads=2)
    for scene, plan in zip(listed, plans, strict=True):
        assert plan.scene is scene
        np.testing.assert_array_equal(plan.q, planner.plan(START, GOAL[None], scene).q)


@pytest.mark.slow
def test_turns_are_told_and_poses_take_the_nearer_one() -> None:
    ur5 = lw.load("ur5e")
    start = np.array([0.0, -1.2, 1.2, -1.5, -1.5, 0.0])
    there = start + 0.3 * np.eye(6)[0]
    turned = there - 2 * np.pi * np.eye(6)[5]
    plan = ur5.plan(start, turned)
    assert plan.success  # a wrist may turn: whoever asks for a turn gets it
    assert np.array_equal(plan.q[-1], turned)
    found = ur5.plan(start, ur5.fk(turned, "tool0"), frame="tool0")
    assert found.success
    assert np.abs(found.q[-1] - start).max() <= np.pi + 1e-9
    # a shoulder may not turn through the table
    scene = lw.Scene()
    scene.add_box("table", (2.0, 2.0, 0.1), (0.0, 0.0, -0.06))
    over = there + 2 * np.pi * np.eye(6)[1]
    none = ur5.plan(start, over, scene=scene, seconds=0.5)
    assert not none
    assert "another turn of 'shoulder_lift_joint'" in none.reason


@pytest.mark.parametrize("kind", ["planar", "floating"])
def test_what_slides_without_limits_goes_around_a_wall(kind: str) -> None:
    axis = '<axis xyz="0 0 1"/>' if kind == "planar" else ""
    robot = lw.load(
        f"""<robot name="drone"><link name="world"/><link name="body"><collision><geometry>
        <box size="0.3 0.3 0.3"/></geometry></collision></link><joint name="free" type="{kind}">
        <parent link="world"/><child link="body"/>{axis}</joint></robot>"""
    )
    start = robot.neutral()
    goal = start + 3.0 * np.eye(robot.n_q)[0]
    for width in (2.0, 6.0):
        scene = lw.Scene()
        scene.add_box("wall", (0.2, width, width), (1.5, 0.0, 0.0))
        plan = robot.plan(start, goal, joints="free", scene=scene, seconds=10.0)
        assert plan.success, plan.reason
        assert not robot.collision().collides(plan.sample(0.01), scene).any()
        assert np.abs(plan.q[:, 1:3]).max() > width / 2
    cloud = lw.Scene()
    points = rng("cloud").uniform(-2.0, 2.0, (4000, 3)) * [0.05, 1.0, 1.0] + [1.5, 0.0, 0.0]
    cloud.add_points("points", points, radius=0.05)
    assert robot.plan(start, goal, joints="free", scene=cloud)


def test_efforts_that_make_no_sense_are_refused() -> None:
    for name in ("range", "spacing", "near", "least_near"):
        for value in (0.0, -1.0, float("nan"), "a", None):
            with pytest.raises(InputError, match=f"{name} must be"):
                Effort(**{name: value})  # type: ignore[arg-type]
    for name in ("shortcuts", "nodes", "careful"):
        for value in (-1, 1.5, "a", 1 << 40):
            with pytest.raises(InputError, match=f"{name} must be"):
                Effort(**{name: value})  # type: ignore[arg-type]
    for name in ("tuning", "least_gain"):
        with pytest.raises(InputError, match=f"{name} must be"):
            Effort(**{name: -1.0})  # type: ignore[arg-type]


def test_problems_and_samples_that_do_not_fit(panda: lw.Robot) -> None:
    planner = panda.planner()
    with pytest.raises(ShapeError, match="do not go together"):
        planner.plan_all(np.stack([START] * 2), np.stack([GOAL] * 3))
    with pytest.raises(ShapeError, match="starts and goals have shape"):
        planner.plan_all(np.zeros((2, 2, 7)), GOAL)
    plan = panda.plan(START, GOAL)
    for call in (plan.sample, plan.clearance):
        with pytest.raises(InputError, match="would be"):
            call(1e-12)


@pytest.mark.slow
def test_limits_that_bound_nothing_are_no_place_to_look() -> None:
    wide = '<limit lower="-1e16" upper="1e16" effort="1" velocity="1"/>'
    joints = "".join(
        f"""<link name="rotor{k}"><collision><origin xyz="0 0 0.2"/><geometry>
        <box size="0.3 0.02 0.02"/></geometry></collision></link><joint name="turn{k}"
        type="revolute"><parent link="body"/><child link="rotor{k}"/><axis xyz="0 0 1"/>
        <origin xyz="{x} {y} 0"/>{wide}</joint>"""
        for k, (x, y) in enumerate([(0.3, 0.3), (0.3, -0.3), (-0.3, 0.3), (-0.3, -0.3)])
    )
    text = f"""<robot name="copter"><link name="body"><collision><geometry>
        <box size="0.3 0.3 0.1"/></geometry></collision></link>{joints}</robot>"""
    robot, scene = lw.load(text, base="floating"), lw.Scene()
    scene.add_box("wall", (0.2, 4.0, 4.0), (1.5, 0.0, 0.0))
    start = robot.neutral()
    goal = start + 3.0 * np.eye(robot.n_q)[0]
    plan = robot.plan(start, goal, joints=robot.joint_names, scene=scene, seconds=10.0)
    assert plan.success, plan.reason
    assert plan.length < 30.0
    with pytest.raises(InputError, match="limits"):
        Roadmap(lw.load(text).planner())


GEARED = """<robot name="geared"><link name="base"/><link name="turret"/><link name="crank"/>
<link name="rod"><collision><origin xyz="0.5 0 0"/>
  <geometry><box size="1 0.0002 0.0002"/></geometry></collision></link>
<joint name="turn" type="revolute"><parent link="base"/><child link="turret"/>
  <axis xyz="0 0 1"/><limit lower="-3" upper="3" velocity="1" effort="1"/></joint>
<joint name="crank" type="revolute"><parent link="base"/><child link="crank"/>
  <axis xyz="0 0 1"/><limit lower="-3" upper="3" velocity="1" effort="1"/></joint>
<joint name="gear" type="revolute"><parent link="turret"/><child link="rod"/>
  <axis xyz="0 1 0"/><limit lower="-300" upper="300" velocity="100" effort="1"/>
  <mimic joint="crank" multiplier="40"/></joint></robot>"""


def test_rounded_corners_of_geared_joints_touch_nothing() -> None:
    """Between two looks a rod that turns forty times as fast bends away forty times as far."""
    robot, scene = lw.load(GEARED), lw.Scene()
    corner = np.array([[0.0, 0.0], [0.0, 0.02], [0.5, 0.02]])
    plan = robot.plan(corner[0], corner[-1], scene=scene)
    bent = replace(plan, q=corner)
    limits: Any = {"acceleration": 5.0, "velocity": 2.0, "torque": np.inf}
    move = lw.trajectory.along(bent, robot=robot, **limits)
    # a tiny ball where the tip passes, next to the corner of the path
    scene.add_sphere("ball", 1e-4, (0.69686606, 0.00588094, -0.71717718))
    model = robot.collision()
    assert not model.motion_collides(corner[:-1], corner[1:], scene).touches.any()
    assert model.collides(move(np.linspace(0.0, move.duration, 20_001)), scene).any()
    again = lw.trajectory.along(bent, robot=robot, **limits)
    assert not model.collides(again(np.linspace(0.0, again.duration, 20_001)), scene).any()


GANTRY = """<robot name="gantry"><link name="base"/><link name="cart"/>
<link name="head"><collision><geometry><sphere radius="0.05"/></geometry></collision></link>
<joint name="x" type="prismatic"><parent link="base"/><child link="cart"/><axis xyz="1 0 0"/>
  <limit lower="-2" upper="2" velocity="1" effort="1"/></joint>
<joint name="y" type="prismatic"><parent link="cart"/><child link="head"/><axis xyz="0 1 0"/>
  <limit lower="-2" upper="2" velocity="1" effort="1"/></joint></robot>"""


def test_rounded_corners_keep_the_clearance_of_a_plan() -> None:
    robot, scene = lw.load(GANTRY), lw.Scene()
    scene.add_sphere("post", 0.05, (0.85, 0.15, 0.0))  # 50 mm from both ways to the corner
    corner = np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0]])
    plan = robot.plan(corner[0], [0.0, 1.0], scene=scene, clearance=0.05)
    assert plan.kept_clearance == 0.05
    bent = replace(plan, q=corner)
    limits: Any = {"acceleration": 5.0, "torque": np.inf}
    least = []
    for each in (replace(bent, kept_clearance=0.0), bent):
        move = lw.trajectory.along(each, robot=robot, **limits)
        q = move(np.linspace(0.0, move.duration, 5_001))
        least.append(float(plan.model.clearance(q, scene).distance.min()))
    assert least[0] < 0.04
    assert least[1] >= 0.05 - 1e-9
