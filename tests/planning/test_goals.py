"""Goals of plans, what moves, hostile calls, and the planners of OMPL."""

from __future__ import annotations

import gc
import signal
import threading
import time
import weakref
from collections.abc import Generator
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import linkwork as lw
from linkwork.errors import InputError, ShapeError, UnsupportedFeatureError
from linkwork.scene import Box
from seeds import rng

Floats = NDArray[np.float64]

START = np.array([-1.0, 0.3, 0.0, -1.8, 0.0, 2.1, 0.8])
GOAL = START * [-1, 1, 1, 1, 1, 1, 1]


@pytest.fixture(scope="module")
def panda() -> lw.Robot:
    return lw.load("panda")


def wall() -> lw.Scene:
    scene = lw.Scene()
    scene.add_box("wall", (0.6, 0.02, 0.8), (0.6, 0.0, 0.4))
    return scene


def test_one_of_several_poses_is_a_goal(panda: lw.Robot) -> None:
    poses = np.stack([panda.fk(GOAL, "tool0"), lw.pose([3.0, 0.0, 0.0])])
    for order in (poses, poses[::-1]):
        plan = panda.plan(START, order, frame="tool0", scene=wall())
        assert plan.success, plan.reason
        assert np.allclose(panda.fk(plan.q[-1], "tool0"), poses[0], atol=1e-4)
    far = panda.plan(START, poses[1:], frame="tool0", scene=wall())
    assert far.reason.startswith("the goal has no solution that is clear: ")
    with pytest.raises(ShapeError, match=r"\(4, 4\)"):
        panda.plan(START, [0.4, 0.1, 0.5], frame="tool0")


def test_a_region_is_a_goal(panda: lw.Robot) -> None:
    middle = panda.fk(GOAL, "tool0")[:3, 3]
    half = np.array([0.05, 0.02, 0.1])
    region = lw.ik.Position("tool0", middle, slack=half.tolist())
    plan = panda.plan(START, tasks=region, scene=wall())
    assert plan.success, plan.reason
    end = panda.fk(plan.q[-1], "tool0")[:3, 3]
    assert (np.abs(end - middle) <= half + 1e-5).all()


def test_a_pose_is_a_goal_with_something_kept(panda: lw.Robot) -> None:
    T = panda.fk(GOAL, "tool0")
    plan = panda.plan(START, T, frame="tool0", keep=lw.ik.Direction("tool0"))
    assert plan.success, plan.reason
    assert np.allclose(panda.fk(plan.q[-1], "tool0"), T, atol=1e-4)


@pytest.mark.slow
def test_a_mobile_base_drives_around(panda: lw.Robot) -> None:
    robot, scene = lw.load("mobile_arm"), lw.Scene()
    scene.add_box("pillar", (0.5, 2.0, 2.0), (1.5, 0.7, 1.0))
    q = robot.neutral()
    goal = q.copy()
    goal[0] = 3.0
    plan = robot.plan(q, goal, scene=scene, joints="base")
    assert plan.success, plan.reason
    assert plan.proven
    assert np.abs(plan.q[:, 1]).max() > 0.3
    assert (plan.q[:, 3:] == q[3:]).all()
    assert not robot.collision().collides(plan.sample(0.01), scene).any()


def test_locked_joints_and_what_is_held(panda: lw.Robot) -> None:
    locked = panda.with_locked("joint7", at=0.8)
    plan = locked.plan(START[:6], GOAL[:6], scene=wall())
    assert plan.success, plan.reason
    rod = lw.Scene().add_box("rod", (0.02, 0.02, 0.3))
    holding = panda.collision().with_attached("rod", rod, "tool0", (0.0, 0.0, 0.16))
    plan = panda.plan(START, GOAL, scene=wall(), model=holding)
    assert plan.success, plan.reason
    assert not holding.collides(plan.sample(0.01), plan.scene).any()


def test_followers_move_along() -> None:
    text = """<robot name="pair"><link name="base"/>
    <link name="a"><collision><origin xyz="0.2 0 0"/><geometry><box size="0.4 0.02 0.02"/>
      </geometry></collision></link>
    <link name="b"><collision><origin xyz="0.2 0 0"/><geometry><box size="0.4 0.02 0.02"/>
      </geometry></collision></link>
    <joint name="first" type="revolute"><parent link="base"/><child link="a"/><axis xyz="0 0 1"/>
      <limit lower="-3" upper="3" effort="1" velocity="1"/></joint>
    <joint name="second" type="revolute"><parent link="a"/><child link="b"/><axis xyz="0 0 1"/>
      <origin xyz="0.42 0 0.03"/><mimic joint="first" multiplier="0.5"/>
      <limit lower="-3" upper="3" effort="1" velocity="1"/></joint></robot>"""
    robot, scene = lw.load(text), lw.Scene()
    plan = robot.plan([-1.0], [1.0])
    assert plan.success
    tip = robot.fk([0.0], "b") @ [0.3, 0.0, 0.0, 1.0]
    scene.add_sphere("ball", 0.02, tip[:3])
    assert not robot.plan([-1.0], [1.0], scene=scene, seconds=0.2)


def test_models_that_are_used_no_more_are_given_back(panda: lw.Robot) -> None:
    """A program that holds one thing after another keeps the planners of the last few alone."""
    known = list[weakref.ref[Any]]()
    for k in range(20):
        size = (0.02, 0.02, 0.02 + 1e-3 * k)
        model = panda.collision().with_attached("part", Box(size), "tool0")
        assert panda.planner(model=model) is panda.planner(model=model)
        known.append(weakref.ref(model))
        del model
    gc.collect()
    assert sum(each() is not None for each in known) <= 10


@pytest.mark.slow
def test_couplings_are_kept() -> None:
    robot = lw.load("planar_3r").with_coupling("joint2", "joint1", rate=-2.0)
    first, last = np.array([0.3, -0.6, 0.0]), np.array([0.9, -1.8, 0.5])
    plan = robot.plan(first, last)
    assert plan.success, plan.reason
    q = plan.sample(0.005)
    assert np.abs(q[:, 1] + 2.0 * q[:, 0]).max() < 1e-9


@pytest.mark.parametrize("keep", [False, True])
def test_a_clearance_is_kept_or_there_is_no_path(panda: lw.Robot, keep: bool) -> None:
    how: Any = {"keep": lw.ik.Direction("tool0")} if keep else {}
    # of links and the wall alone: two links of the arm are always nearer than that
    alone = panda.collision().with_pairs(ignore=panda.collision().links)
    ends = alone.clearance(np.stack([START, GOAL]), wall()).distance
    usual = panda.plan(START, GOAL, scene=wall(), **how)
    asked = 0.02
    assert asked < 0.9 * ends.min()
    assert alone.clearance(usual.sample(0.01), wall()).distance.min() < asked
    far = panda.plan(START, GOAL, scene=wall(), clearance=asked, **how)
    assert far.success, far.reason
    assert alone.clearance(far.sample(0.001), wall()).distance.min() >= asked
    none = panda.plan(START, GOAL, scene=wall(), clearance=1.01 * ends[0], **how)
    assert not none
    assert none.reason.startswith("the start does not keep the clearance of ")
    for bad in (-1.0, np.nan):
        with pytest.raises(InputError, match="clearance"):
            panda.plan(START, GOAL, clearance=bad)


def test_a_clearance_that_no_path_keeps_is_told() -> None:
    text = """<robot name="slider"><link name="a"/><link name="b"><collision><geometry>
      <box size="0.1 0.1 0.1"/></geometry></collision></link>
      <joint name="j" type="prismatic"><parent link="a"/><child link="b"/><axis xyz="1 0 0"/>
      <limit lower="-1" upper="1" effort="1" velocity="1"/></joint></robot>"""
    robot, scene = lw.load(text), lw.Scene()
    scene.add_box("post", (0.1, 0.1, 0.1), (0.0, 0.11, 0.0))  # 10 mm beside the way
    assert robot.plan([-1.0], [1.0], scene=scene, clearance=0.009).success
    plan = robot.plan([-1.0], [1.0], scene=scene, clearance=0.011)
    assert not plan
    assert "keeps a clearance of 11 mm" in plan.reason
    assert "'b' and 'post' within 10 mm" in plan.reason
    assert len(plan.q) == 2


@pytest.mark.slow
def test_start_and_goal_next_to_touching_are_told() -> None:
    robot = lw.load("gripper")
    start = robot.assemble([0.0]).q
    plan = robot.plan(start, {"left_crank": 0.1})
    assert not plan
    assert "next to touching: 'left_jaw' and 'right_jaw'" in plan.reason


def test_many_problems_over_threads(panda: lw.Robot) -> None:
    scene, planner, model = wall(), panda.planner(), panda.collision()
    drawn = panda.random(900, seed=rng("many"))
    free = drawn[~model.collides(drawn, scene)][:400]
    told: list[tuple[int, int]] = []
    found = [
        planner.plan_all(
            free[::2], free[1::2], scene, threads=n, seconds=5.0,
            progress=lambda *at: told.append(at) if n == 4 else None,  # noqa: B023
        )
        for n in (1, 2, 4)
    ]  # fmt: skip
    assert told == [(k + 1, 200) for k in range(200)]
    for one, two, four in zip(*found, strict=True):
        assert np.array_equal(one.q, two.q)
        assert np.array_equal(one.q, four.q)
    assert sum(map(bool, found[0])) > 190


def boxed() -> tuple[lw.Robot, lw.Scene, Floats, Floats]:
    """A problem that has no solution."""
    robot, scene = lw.load("planar_3r"), lw.Scene()
    for name, angle in (("first", 1.5), ("second", -1.2)):
        T = lw.pose(rpy=[0, 0, angle]) @ lw.pose([1.6, 0, 0])
        scene.add_box(name, (3.0, 0.01, 1.0), T)
    return robot, scene, np.array([0.3, 0.0, 0.0]), np.array([2.6, 0.0, 0.0])


@pytest.fixture
def interruptible() -> Generator[None]:
    """Ctrl-C, which a process that was started in the background does not hear by itself."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.sweep(2)
@pytest.mark.skipif(not hasattr(signal, "pthread_kill"), reason="no signals to threads here")
@pytest.mark.usefixtures("interruptible")
@pytest.mark.parametrize("kept", [False, True])
@pytest.mark.parametrize("many", [False, True])
def test_an_interrupt_is_heard(many: bool, kept: bool) -> None:
    robot, scene, first, last = boxed()
    own = robot.mechanism.q_slice(robot.mechanism.joint("joint3"))
    planner = robot.planner(keep=[lw.ik.Posture(first[own], joints="joint3")] if kept else ())
    planner.plan(first, last[None], scene, seconds=0.05)  # compiled
    main, sent = threading.get_ident(), list[float]()

    def interrupt() -> None:
        sent.append(time.perf_counter())
        signal.pthread_kill(main, signal.SIGINT)

    timer = threading.Timer(0.3, interrupt)
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        if many:
            planner.plan_all(np.tile(first, (4, 1)), last, scene, seconds=20.0, threads=2)
        else:
            planner.plan(first, last[None], scene, seconds=20.0)
    timer.join()
    assert time.perf_counter() - sent[0] < 2.0  # 0.2 s and less on a machine by itself
    assert planner.plan(first, first[None], scene).success  # it goes on


def test_time_outs_of_all_kinds(panda: lw.Robot) -> None:
    robot, scene, first, last = boxed()
    robot.plan(first, last, scene=scene, seconds=0.05)
    plan = robot.plan(first, last, scene=scene, seconds=1.0)
    assert 1.0 <= plan.seconds < 1.5  # a tenth above, and what a busy machine adds
    keep = lw.ik.Posture(joints="joint3")
    plan = robot.plan(first, last, scene=scene, keep=keep, seconds=1.0)
    assert not plan
    assert 1.0 <= plan.seconds < 1.5
    assert "within" in plan.reason
    assert np.array_equal(plan.q[0], first)


def test_hostile_numbers(panda: lw.Robot) -> None:
    for bad in (0.0, -1.0, np.nan, np.inf):
        with pytest.raises(InputError, match="seconds"):
            panda.plan(START, GOAL, seconds=bad)
    with pytest.raises(InputError):
        panda.plan(START, GOAL, seed=-1)
    with pytest.raises(InputError, match="finite"):
        panda.plan(START * np.nan, GOAL, keep=lw.ik.Posture(START[6:], joints="joint7"))
    plan = panda.plan(START, START, keep=lw.ik.Direction("tool0"))
    assert plan.success
    assert plan.length == 0.0
    assert lw.trajectory.along(plan, robot=panda, acceleration=1.0).duration == 0.0
    with pytest.raises(InputError, match="velocity"):
        lw.trajectory.along(panda.plan(START, GOAL), robot=panda, velocity=0.0, acceleration=1.0)


def test_ompl_over_compiled_checks(panda: lw.Robot) -> None:
    pytest.importorskip("ompl", reason="OMPL (pip install ompl) is not installed")
    from linkwork.planning.ompl import plan_with  # noqa: PLC0415

    scene, planner, model = wall(), panda.planner(), panda.collision()
    for name, shorten in (("RRTConnect", True), ("RRTConnect", False), ("InformedRRTstar", False)):
        plan = plan_with(name, planner, START, GOAL, scene, seconds=1.0, shorten=shorten)
        assert plan.success, plan.reason
        assert plan.proven
        assert np.array_equal(plan.q[0], START)
        assert np.allclose(plan.q[-1], GOAL)
        assert not model.motion_collides(plan.q[:-1], plan.q[1:], scene).touches.any()
    with pytest.raises(InputError, match="RRTConnect"):
        plan_with("RRTConect", planner, START, GOAL, scene)
    with pytest.raises(InputError, match="Range"):
        plan_with("RRTConnect", planner, START, GOAL, scene, parameters={"rage": 1.0})
    touching = START * [0, 1, 1, 1, 1, 1, 1]
    assert "the goal touches" in plan_with("RRT", planner, START, touching, scene).reason
    kept = panda.planner(keep=lw.ik.Posture(START[6:], joints="joint7"))
    with pytest.raises(UnsupportedFeatureError, match="kept"):
        plan_with("RRT", kept, START, GOAL, scene)
    with pytest.raises(UnsupportedFeatureError, match="thread"):
        plan_with("PRM", planner, START, GOAL, scene)


@pytest.mark.parametrize(
    ("how", "text"),
    [
        ({"goal": "home"}, "goal must be real numbers"),
        ({"goal": [{"joint1": 1.0}]}, "goal must be real numbers"),
        ({"goal": np.eye(4)}, r"shape \(4, 4\) of poses: say of which frame they are, as in frame"),
        ({"goal": lw.ik.Position("tool0", [0.4, 0.4, 0.4])}, "given by tasks="),
        ({"goal": GOAL * np.nan}, r"goal\[0, 0\] \(joint1\) is nan"),
        ({"goal": None, "frame": "tool0"}, "where is 'tool0' to go"),
        ({"start": "home"}, "start must be real numbers"),
        ({"start": START[:3]}, "start must have shape"),
        ({"start": np.stack([START, START])}, "plan_all takes"),
        ({"start": START * np.nan, "keep": lw.ik.Direction("tool0")}, r"start\[0\] \(joint1\)"),
        ({"goal": None, "tasks": "tool0"}, "tasks must be one or several"),
        ({"keep": 3}, "keep must be one or several"),
        ({"keep": None}, "keep must be one or several"),
        ({"joints": 3}, "joints must be names"),
        ({"goals": 0}, "goals must be a whole number"),
        ({"effort": 3}, "effort must be an Effort"),
        ({"model": "panda"}, "model must be a CollisionModel"),
    ],
)
def test_calls_that_make_no_sense_say_why(panda: lw.Robot, how: dict[str, Any], text: str) -> None:
    call: dict[str, Any] = {"start": START, "goal": GOAL, **how}
    with pytest.raises(InputError, match=text):
        panda.plan(**call)


def test_a_model_is_of_the_same_joints(panda: lw.Robot) -> None:
    other = panda.with_locked("joint7").collision()
    with pytest.raises(InputError, match=r"moves by joint1, joint2.*and panda moves by"):
        panda.plan(START, GOAL, model=other)


def test_joints_are_named_in_any_order_and_once_is_enough(panda: lw.Robot) -> None:
    names = ["joint1", "joint2", "joint4"]
    plain = panda.plan(START, GOAL, scene=wall(), joints=names)
    other = panda.plan(START, GOAL, scene=wall(), joints=["joint4", "joint2", "joint1", "joint2"])
    assert plain.success, plain.reason
    assert np.array_equal(plain.q, other.q)


def test_a_pose_may_have_more_tasks_beside_it(panda: lw.Robot) -> None:
    pose, elbow = panda.fk(GOAL, "tool0"), panda.fk(GOAL, "link4")[:3, 3]
    for more in (lw.ik.Position("link4", elbow), lw.ik.Position("tool0", pose[:3, 3])):
        plan = panda.plan(START, pose, frame="tool0", tasks=more, scene=wall())
        assert plan.success, plan.reason
        np.testing.assert_allclose(panda.fk(plan.q[-1], "tool0"), pose, atol=1e-5)
    place: Any = {"tool0": pose[:3, 3]}
    kept = panda.plan(START, place, tasks=lw.ik.Position("tool0"), keep=lw.ik.Direction("tool0"))
    assert kept.success, kept.reason
    np.testing.assert_allclose(panda.fk(kept.q[-1], "tool0")[:3, 3], place["tool0"], atol=1e-5)


@pytest.mark.slow
def test_poses_that_are_nowhere_clear_end_in_time(panda: lw.Robot) -> None:
    places = [lw.pose([0.5, 0.1, 0.3 + 0.001 * k], rpy=[3.0, 0.0, 0.0]) for k in range(200)]
    how: Any = {"frame": "tool0", "joints": ["joint1", "joint2", "joint3"]}
    panda.plan(START, np.stack(places[:2]), seconds=0.1, **how)  # compiled, which takes longer
    begin = time.perf_counter()
    plan = panda.plan(START, np.stack(places), seconds=1.0, **how)
    assert not plan.success
    assert time.perf_counter() - begin < 1.5


@pytest.mark.slow
def test_followers_of_loops_are_where_these_put_them() -> None:
    robot = lw.load("four_bar")
    start = robot.assemble([0.0]).q
    there = robot.assemble([0.4], q0=start).q
    whole = dict(zip(robot.joint_names, there.tolist(), strict=True))
    plan = robot.plan(start, whole)
    assert plan.success, plan.reason
    np.testing.assert_allclose(plan.q[-1], there, atol=1e-6)
    for goal in ({"coupler": 0.3}, {"crank": 0.4, "rocker": 1.0}):
        with pytest.raises(InputError, match=r"follows the loops of four_bar.*\(crank\)"):
            robot.plan(start, goal)
    asked = robot.plan(start, tasks=lw.ik.Posture([0.3], joints="coupler"))
    assert asked.success, asked.reason
    assert abs(asked.q[-1][1] - 0.3) < 1e-4
    stewart = lw.load("stewart")
    with pytest.raises(ShapeError, match="'platform' takes 7"):
        stewart.plan(stewart.assemble().q, {"platform": 0.3})
