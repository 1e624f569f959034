"""One target of any tasks: as in a batch, bit for bit, and refused in the same words."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import linkwork as lw
from linkwork.errors import InputError, LinkworkError
from linkwork.ik import Closed, Direction, OnPlane, Options, Pose, Position, Posture, RelativePose
from linkwork.models import MODELS
from linkwork.solve.ik import InverseKinematics
from seeds import rng

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


def quick(solver: InverseKinematics, *given: Any) -> bool:
    """Whether a call goes the quick way."""
    single = solver._single
    assert single is not None
    numbers = single.numbers(None, {})
    return numbers is not None and single(numbers, *given) is not None


@pytest.mark.sweep(1)
@pytest.mark.parametrize("start", [None, "q0"])
def test_several_tasks(start):
    n = 20
    left, right = poses(n)
    points, ways = np.ascontiguousarray(right[:, :3, 3]), np.ascontiguousarray(right[:, :3, 2])
    between = np.linalg.inv(left) @ right
    cases = [
        ([Pose(LEFT), Pose(RIGHT)], [left, right]),
        ([Pose(LEFT), Position(RIGHT)], [left, points]),
        ([Direction(RIGHT, axis=(0, 0, 1)), Pose(LEFT)], [3.0 * ways, left]),
        ([Pose(LEFT), RelativePose(LEFT, RIGHT)], [left, between]),
        ([Pose(LEFT), OnPlane(RIGHT)], [left, np.hstack([points, ways])]),
    ]
    q0 = None if start is None else ARMS.random(seed=3)
    for tasks, targets in cases:
        solver = ARMS.solver(tasks=tasks)
        batch = solver.solve(targets, q0, tries=4)
        usual = solver.solve(targets, q0)
        for k in range(n):
            row = [each[k] for each in targets]
            assert quick(solver, row, q0)
            same(solver.solve(row, q0), usual, k)
            same(solver.solve(row, q0, tries=4), batch, k)
            names = solver.problem.order
            by_name = dict(zip(names, row, strict=True))
            assert quick(solver, by_name, q0)
            same(solver.solve(by_name, q0), usual, k)
            same(solver.solve(tuple(row), q0), usual, k)
            same(solver.solve([each.tolist() for each in row], q0), usual, k)


@pytest.mark.sweep(1)
@pytest.mark.parametrize("name", ["excavator", "stewart", "delta", "five_bar"])
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
        assert quick(solver, target, near) and quick(solver, {tip: target}, near)
        same(solver.solve(target, near), batch, k)
        same(solver.solve({tip: target}, near), batch, k)
        for _ in range(3):
            same(solver.solve(target, near, position_tolerance=1e-9), tight, k)
    strided = T[0, :3, 3]
    if not whole:
        assert quick(solver, strided, near)
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
    assert quick(solver, given, None) and quick(solver, [None, right[2]], None)
    batch = solver.solve({RIGHT: right[2:3]})
    same(solver.solve(given), batch, 0)
    both = ARMS.solver(tasks=[Pose(LEFT), Pose(RIGHT)]).solve([left[2], right[2]])
    assert both.q.tobytes() == solver.solve([None, right[2]]).q.tobytes()
    held = ARMS.solver(tasks=[Position(LEFT)], joints=["left_elbow", "left_shoulder_pitch"])
    q0 = ARMS.random(3, seed=9)
    points = np.ascontiguousarray(left[:3, :3, 3])
    batch = held.solve(points, q0)
    for k in range(3):
        assert quick(held, points[k], q0[k])
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


def test_wrong_starts_and_options():
    solver = ARMS.solver(tasks=[Pose(LEFT), Pose(RIGHT)])
    both = [each[0] for each in poses(1)]
    with pytest.raises(InputError, match=r"q0\[0\] is not a finite number"):
        solver.solve(both, np.full(ARMS.n_q, np.nan))
    for _ in range(3):
        with pytest.raises(LinkworkError):
            solver.solve(both, tries=0)
        with pytest.raises(LinkworkError):
            solver.solve(both, trys=1)
        assert solver.solve(both, tries=1).success in (True, False)
        with pytest.raises(LinkworkError):
            solver.solve(both, tries=True)
        best = solver.solve(both, best_of=3)
        assert best.cost is not None
    options = Options(tries=2)
    results = [solver.solve(both, options=options, steps=9) for _ in range(3)]
    assert len({result.q.tobytes() for result in results}) == 1


def test_which_problems_have_a_quick_way():
    robot, _ = closed("five_bar", 1)
    assert robot.solver(tasks=[Closed()])._single is None
    posture = ARMS.solver(tasks=[Pose(LEFT), Posture(priority=1)])
    assert posture._single is None
