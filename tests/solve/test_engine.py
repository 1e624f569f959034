"""The engine: schedules of searches, with a time, in parts, and for one target."""

from __future__ import annotations

import itertools
import signal
import subprocess
import sys
import time
from typing import Any

import numpy as np
import pytest

import linkwork as lw
from linkwork import settings
from linkwork.compile.compiler import Compiler
from linkwork.compile.target import host
from linkwork.errors import InputError, LinkworkError
from linkwork.ik import Direction, OnPlane, Pose, Position, Posture, RelativePose
from linkwork.models import MODELS
from linkwork.solve.ik import InverseKinematics
from seeds import rng

PANDA = lw.load("panda")


def solver(clock, robot=PANDA, tasks="tool0"):
    compiler = Compiler(host(), settings.kernel_cache(), clock)
    return InverseKinematics(robot.mechanism, tasks, compiler=compiler)


def ticking(seconds=1.0):
    """A clock that goes on by so much whenever it is read."""
    counter = itertools.count()
    return lambda: seconds * next(counter)


@pytest.fixture(scope="module")
def real():
    return solver(time.perf_counter)


def hard(n=400, reachable=True):
    """Targets of which some take many tries."""
    targets = PANDA.fk(PANDA.random(n, seed=1), "tool0")
    if not reachable:
        targets[:, :3, 3] += 5.0
    return targets


def test_with_time_enough_the_bits_are_those_without_a_time(real):
    targets = hard()
    plain = real.solve(targets)
    assert plain.restarts.max() > 8  # more than one round
    for threads in (1, 2):
        timed = real.solve(targets, seconds=10.0, threads=threads)
        assert timed.q.tobytes() == plain.q.tobytes()
        assert timed.restarts.tolist() == plain.restarts.tolist()
    slow = int(plain.restarts.argmax())
    one = real.solve(targets[slow], seconds=10.0)
    assert one.q.tobytes() == plain.q[slow].tobytes()


def test_with_time_enough_failures_are_the_same_too(real):
    far = hard(40, reachable=False)
    plain, timed = (real.solve(far, tries=50, **how) for how in ({}, {"seconds": 10.0}))
    assert timed.q.tobytes() == plain.q.tobytes()
    assert timed.restarts.tolist() == plain.restarts.tolist()
    few = real.solve(far[:3], tries=50, seconds=10.0)  # searched one by one
    assert few.q.tobytes() == plain.q[:3].tobytes()


def test_the_time_bounds_the_call(real):
    far = hard(20, reachable=False)
    begin = time.perf_counter()
    result = real.solve(far, seconds=5e-3, tries=10**9)
    took = time.perf_counter() - begin
    assert not result.success.any()
    assert took < 2.0  # it would be hours
    assert result.restarts.max() > 8  # and the time was used


def test_what_a_clock_says_decides():
    far = hard(4, reachable=False)
    never = solver(ticking(1e3)).solve(far, seconds=1.0, tries=500)
    assert never.restarts.max() < 8  # one round, though no time was left for it
    ever = solver(ticking(0.0)).solve(far, seconds=1.0, tries=500)
    plain = solver(None).solve(far, tries=500)
    assert ever.restarts.tolist() == plain.restarts.tolist()


def test_what_is_solved_in_the_first_round_is_solved_in_any_time():
    targets = hard()
    plain = solver(None).solve(targets)
    hurried = solver(ticking(1e3)).solve(targets, seconds=1e-6)
    first = plain.restarts < 1
    assert hurried.success[first].all()
    assert hurried.q[first].tobytes() == plain.q[first].tobytes()
    assert not hurried.success.all()


def test_a_time_needs_a_clock():
    with pytest.raises(InputError, match="seconds needs a clock"):
        solver(None).solve(np.eye(4), seconds=1.0)
    assert np.isnan(solver(None).solve(np.eye(4), tries=1).seconds)
    timed = solver(ticking(2.0))
    timed.solve(np.eye(4), tries=1)  # whatever else is made at first has read the clock
    assert timed.solve(np.eye(4), tries=1).seconds == 2.0


@pytest.mark.slow
def test_parts_are_searched_on_by_themselves():
    robot = lw.load("humanoid")
    tasks = [Pose("left_foot"), Pose("right_foot")]
    legs = solver(time.perf_counter, robot, tasks)
    q = robot.random(60, seed=2)
    goals = [robot.fk(q, task.frame) for task in tasks]
    goals[0][::2, :3, 3] += 3.0
    plain, timed = (legs.solve(goals, tries=40, **how) for how in ({}, {"seconds": 10.0}))
    assert timed.q.tobytes() == plain.q.tobytes()
    assert plain.success[1::2].all()
    assert not plain.success[::2].any()


def test_progress_counts_all_rows_whatever_the_time(real):
    seen = []
    targets = hard(3000)
    real.solve(targets, seconds=1e-3, threads=2, progress=lambda *a: seen.append(a))
    assert [done for done, _ in seen] == sorted(done for done, _ in seen)
    assert seen[-1] == (3000, 3000)


def test_the_report_of_parts_is_that_of_the_worst(real):
    robot = lw.load("humanoid")
    legs = robot.solver(tasks=[Pose("left_foot"), Pose("right_foot")])
    q = robot.random(50, seed=3)
    result = legs.solve([robot.fk(q, "left_foot"), robot.fk(q, "right_foot")])
    singles = [
        robot.solver(frame).solve(robot.fk(q, frame)) for frame in ("left_foot", "right_foot")
    ]
    worst = np.maximum(*(each.restarts for each in singles))
    np.testing.assert_array_equal(result.restarts, worst)


def unreachable(n, frame="tool0", robot=PANDA):
    targets = robot.fk(robot.random(n, seed=5), frame)
    targets[..., :3, 3] += 5.0
    return targets


@pytest.mark.slow
@pytest.mark.parametrize(("how", "threads"), [({}, 2), ({"best_of": 2}, 1)], ids=["one", "best of"])
def test_targets_that_take_long_are_told_of_on_the_way(how, threads):
    seen = []
    PANDA.ik(
        unreachable(600),
        "tool0",
        threads=threads,
        progress=lambda *a: seen.append(a),
        **how,
    )
    done = [0, *(each for each, _ in seen)]
    assert done == sorted(done)
    assert seen[-1] == (done[-1], done[-1])
    assert np.diff(done).max() < 200  # by time, not by rows


def test_tries_that_no_call_has_time_for_are_those_of_one():
    solver, far = PANDA.solver("tool0"), unreachable(3)
    many = 40_000
    batch, alone = solver.solve(far, tries=many), solver.solve(far[1], tries=many)
    timed = solver.solve(far, tries=many, seconds=1e3)
    assert batch.restarts.max() > 15_000  # the best of all is a late one
    assert batch.restarts.tolist() == timed.restarts.tolist()
    assert batch.q.tobytes() == timed.q.tobytes()
    assert (alone.q.tobytes(), alone.restarts) == (batch.q[1].tobytes(), batch.restarts[1])
    fewer = solver.solve(far, tries=int(batch.restarts[0]))  # without the best one
    assert fewer.restarts[0] < batch.restarts[0]


def test_all_solutions_are_told_of_too():
    seen = []
    count = PANDA.solver("tool0").all_solutions(
        unreachable(1)[0], starts=2000, progress=lambda *a: seen.append(a)
    )
    assert count.q.shape == (0, 7)
    assert seen[-1] == (2000, 2000)


def test_what_is_searched_again_for_its_first_priority_counts_again():
    tasks = [lw.ik.Pose("tool0"), lw.ik.Posture(PANDA.neutral(), priority=1)]
    seen = []
    result = PANDA.ik({"tool0": unreachable(50)}, tasks=tasks, progress=lambda *a: seen.append(a))
    assert not result.success.any()
    assert (50, 50) in seen
    assert seen[-1] == (100, 100)


def test_a_progress_that_raises_ends_the_call_at_once():
    seen = []

    def stop(done, total):
        seen.append(done)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        PANDA.ik(unreachable(20_000), "tool0", threads=2, progress=stop)
    assert len(seen) <= 2  # once on each thread


_LARGE = """
import signal
signal.signal(signal.SIGINT, signal.default_int_handler)  # it may be ignored around it
import linkwork as lw
robot = lw.load("panda")
targets = robot.fk(robot.random(200_000, seed=5), "tool0")
targets[:, :3, 3] += 5.0
robot.ik(targets[0], "tool0", tries=1)
print("ready", flush=True)
{call}
"""
CALLS = {
    "one of many tries": "robot.ik(targets[0], 'tool0', tries=10**9, threads={threads})",
    "one with a time": "robot.ik(targets[0], 'tool0', tries=10**9, seconds=60, threads={threads})",
    "ik": "robot.ik(targets, 'tool0', threads={threads})",
    "best of": "robot.ik(targets[:100_000], 'tool0', best_of=4, threads={threads})",
    "all": "robot.solver('tool0').all_solutions("
    "targets[0], starts=100_000, steps=10_000, threads={threads})",
}


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="signals of this kind are POSIX's")
@pytest.mark.parametrize(("kind", "threads"), [("ik", 1), *((kind, 2) for kind in CALLS)])
def test_an_interrupt_is_heard_in_the_midst_of_a_large_call(kind, threads):
    code = _LARGE.format(call=CALLS[kind].format(threads=threads))
    with subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as running:
        assert running.stdout.readline() == "ready\n"
        time.sleep(0.7)
        begin = time.perf_counter()
        running.send_signal(signal.SIGINT)
        err = running.communicate(timeout=60)[1]
        took = time.perf_counter() - begin
    assert err.endswith("KeyboardInterrupt\n")
    assert running.returncode in (-signal.SIGINT, 130, 1)
    assert took < 3.0  # the whole call would take minutes, a chunk of rows some seconds


def test_compiling_is_not_bounded_by_the_time_of_the_search():
    """A compiler that keeps nothing: its first search gets as far as any later one."""
    timed = Compiler(host(), clock=time.perf_counter)
    fresh = InverseKinematics(PANDA.mechanism, "tool0", compiler=timed)
    far = hard(1, reachable=False)[0]
    first, later = (fresh.solve(far, seconds=0.2).restarts for _ in range(2))
    assert first == later > 8  # the try that came nearest


def test_with_a_time_all_that_may_be_needed_is_compiled_before_the_search():
    known = {}
    robot = lw.load("planar_3r")
    tasks = [Position(robot.tip, axes="xy"), Posture(robot.neutral(), priority=1)]
    timed = Compiler(host(), clock=time.perf_counter)
    solver = InverseKinematics(robot.mechanism, tasks, compiler=timed, known=known)
    here = robot.fk(robot.random(seed=4), robot.tip)[:3, 3]
    assert solver.solve([here, None], seconds=1.0).success
    programs = len(known)
    assert not solver.solve([here + 9.0, None], seconds=0.01).success
    assert len(known) == programs == 2


LEFT, RIGHT = "left_tool0", "right_tool0"
ARMS = lw.load("two_arm_torso")


def poses(n: int) -> list[np.ndarray]:
    q = ARMS.random(n, seed=rng("single"))
    return [ARMS.fk(q, name) for name in (LEFT, RIGHT)]


def closed(name: str, n: int) -> tuple[Any, np.ndarray]:
    """A mechanism, and poses of its tip that it can take."""
    robot: Any = lw.load(name)
    m, g = robot.mechanism, rng(f"single {name}")
    at = [m.q_start[m.joint(joint)] for joint in robot.actuated]
    lower, upper = (np.clip(x, -np.pi, np.pi)[at] for x in robot.limits[:2])
    given = 0.5 * (lower + upper) + 0.15 * (upper - lower) * g.uniform(-1, 1, (n, len(at)))
    found = robot.assemble(given, q0=robot.neutral())
    assert found.success.all()
    return robot, robot.fk(found.q, MODELS[name].tip)


def same(one: Any, batch: Any, k: int) -> None:
    assert one.q.tobytes() == batch.q[k].tobytes()
    assert one.report.tobytes() == batch.report[k].tobytes()
    assert one.reason == batch.reason_for(k)


def _cases(n):
    """Tasks of two hands, and n targets of each."""
    left, right = poses(n)
    points, ways = np.ascontiguousarray(right[:, :3, 3]), np.ascontiguousarray(right[:, :3, 2])
    return {
        "poses": ([Pose(LEFT), Pose(RIGHT)], [left, right]),
        "direction": ([Direction(RIGHT, axis=(0, 0, 1)), Pose(LEFT)], [3.0 * ways, left]),
        "relative": ([Pose(LEFT), RelativePose(LEFT, RIGHT)], [left, np.linalg.inv(left) @ right]),
        "plane": ([Position(LEFT), OnPlane(RIGHT)], [left[:, :3, 3], np.hstack([points, ways])]),
    }


@pytest.mark.sweep(2, by="case")
@pytest.mark.parametrize("start", [None, "q0"])
@pytest.mark.parametrize("case", ["poses", "direction", "relative", "plane"])
def test_several_tasks(case, start):
    tasks, targets = _cases(6)[case]
    q0 = None if start is None else ARMS.random(seed=3)
    solver = ARMS.solver(tasks=tasks)
    batch, usual = solver.solve(targets, q0, tries=4), solver.solve(targets, q0)
    for k in range(6):
        row = [each[k] for each in targets]
        same(solver.solve(row, q0, tries=4), batch, k)
        by_name = dict(zip(solver.problem.order, row, strict=True))
        for given in (row, by_name, tuple(row), [each.tolist() for each in row]):
            same(solver.solve(given, q0), usual, k)


@pytest.mark.parametrize(
    "name",
    [
        "five_bar",
        *(pytest.param(name, marks=pytest.mark.slow) for name in ("excavator", "stewart", "delta")),
    ],
)
def test_with_loops(name: str):
    robot, T = closed(name, 12)
    tip = MODELS[name].tip
    whole = name == "stewart"
    axes = "xy" if name == "five_bar" else "xyz"
    task = Pose(tip) if whole else Position(tip, axes=axes)
    solver, near = robot.solver(tasks=[task]), robot.neutral()
    targets = T if whole else np.ascontiguousarray(T[:, :3, 3])
    batch, tight = solver.solve(targets, near), solver.solve(targets, near, position_tolerance=1e-9)
    assert batch.success.all()
    for k, target in enumerate(targets):
        same(solver.solve(target, near), batch, k)
        same(solver.solve({tip: target}, near), batch, k)
        for _ in range(3):
            same(solver.solve(target, near, position_tolerance=1e-9), tight, k)
    strided = T[0, :3, 3]
    if not whole:
        same(solver.solve(strided, near), batch, 0)
    far = T[0].copy()
    far[:3, 3] += 9.0
    result = solver.solve(far if whole else far[:3, 3].copy(), near)
    assert not result.success and "solved" not in result.reason
    assert np.abs(robot.closure(solver.solve(targets[0], near).q)).max() < 1e-11


def test_own_targets_and_joints_that_are_held():
    left, right = poses(5)
    solver = ARMS.solver(tasks=[Pose(LEFT, left[2]), Pose(RIGHT)])
    given = {RIGHT: right[2]}
    batch = solver.solve({RIGHT: right[2:3]})
    same(solver.solve(given), batch, 0)
    both = ARMS.solver(tasks=[Pose(LEFT), Pose(RIGHT)]).solve([left[2], right[2]])
    assert both.q.tobytes() == solver.solve([None, right[2]]).q.tobytes()
    held = ARMS.solver(tasks=[Position(LEFT)], joints=["left_elbow", "left_shoulder_pitch"])
    q0 = ARMS.random(3, seed=9)
    points = np.ascontiguousarray(left[:3, :3, 3])
    batch = held.solve(points, q0)
    for k in range(3):
        same(held.solve(points[k], q0[k]), batch, k)


BAD: list[Any] = [
    [np.eye(4)],
    [np.eye(4), np.ones((4, 4))],
    [np.eye(4), np.full((4, 4), np.nan)],
    [np.eye(4), np.eye(3)],
    {LEFT: np.eye(4), "other": np.eye(4)},
    {LEFT: np.eye(4)},
    None,
    7,
    [np.eye(4), "pose"],
]


@pytest.mark.parametrize("targets", BAD)
def test_what_is_wrong_is_said_as_for_a_batch(targets: Any):
    solver = ARMS.solver(tasks=[Pose(LEFT), Pose(RIGHT)])
    with pytest.raises(LinkworkError) as found:
        solver.solve(targets)
    with pytest.raises(LinkworkError) as general:
        solver.solve(targets, progress=lambda done, total: None)  # never the quick way
    assert str(found.value) == str(general.value) and type(found.value) is type(general.value)
