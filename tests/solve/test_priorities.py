"""Priorities, weights and objectives: what must be done is done, and the rest is at its best."""

from __future__ import annotations

import numpy as np
import pytest

import linkwork as lw
from linkwork import ik
from seeds import rng

PANDA, UR5E = lw.load("panda"), lw.load("ur5e")
N = 12


def blocked(robot, q, way):
    """Which joints stand at a limit that ``way`` pushes them against."""
    lower, upper = robot.limits.lower, robot.limits.upper
    return ((q <= lower + 1e-6) & (way < 0.0)) | ((q >= upper - 1e-6) & (way > 0.0))


def left_to_gain(robot, q, rows, way):
    """How much of ``way`` (the lower cost's descent) the rows (k, nv) and the limits leave, as a
    share: 0 at an optimum.

    Joints that are pushed against their limits are taken out until none is left that is.
    """
    free = np.ones(robot.n_v, dtype=bool)
    for _ in range(robot.n_v):
        J = rows[:, free]
        rest = np.zeros(robot.n_v)
        rest[free] = way[free] - np.linalg.pinv(J, rcond=1e-6) @ (J @ way[free])
        stuck = blocked(robot, q, rest)
        if not stuck.any():
            break
        free &= ~stuck
    return float(np.linalg.norm(rest) / np.linalg.norm(way))


def goals(robot, label, n=N):
    """Reachable poses of the tool, and configurations to be near to."""
    g = rng(label)
    return robot.fk(robot.random(n, seed=g), "tool0"), robot.random(n, seed=g)


@pytest.mark.sweep(1)
@pytest.mark.parametrize("robot", [PANDA, UR5E], ids=["panda", "ur5e"])
@pytest.mark.parametrize("task", [ik.Pose, ik.Position])
def test_what_cannot_be_done_beside_it_never_costs_the_first_level(robot, task):
    T, posture = goals(robot, f"never costs {robot.name} {task.__name__}", 60)
    first = T if task is ik.Pose else T[:, :3, 3]
    lower = [
        ik.Posture(posture[0], priority=1),
        ik.Position("forearm_link" if robot is UR5E else "link4", [9.0, 0, 0], priority=2),
    ]
    result = robot.solver(tasks=[task("tool0"), *lower]).solve({"tool0": first})
    plain = robot.solver(tasks=task("tool0")).solve(first)
    assert result.success[plain.success].all()
    reached = robot.fk(result.q, "tool0")
    assert np.linalg.norm((reached - T)[:, :3, 3], axis=1)[result.success].max() <= 1e-5 + 1e-12
    assert result.success.mean() > 0.95


def test_a_second_level_is_at_its_optimum_beside_the_first():
    """No way is left that keeps the tool, respects the limits and brings the elbow nearer."""
    T, _ = goals(PANDA, "optimum elbow", 300)
    elbow = PANDA.fk(PANDA.random(300, seed=1), "link4")[:, :3, 3]
    for task, n, first in ((ik.Position, 3, T[:, :3, 3]), (ik.Pose, 6, T)):
        tasks = [task("tool0"), ik.Position("link4", priority=1)]
        result = PANDA.solver(tasks=tasks).solve([first, elbow])
        assert result.success.all()
        shares = []
        for q, goal in zip(result.q, elbow, strict=True):
            left = goal - PANDA.fk(q, "link4")[:3, 3]
            if np.linalg.norm(left) > 1e-4:  # else it is done
                way = PANDA.jacobian(q, "link4")[:3].T @ left
                shares.append(left_to_gain(PANDA, q, PANDA.jacobian(q, "tool0")[:n], way))
        assert len(shares) > 90
        assert np.median(shares) < 1e-4
        assert np.mean(np.array(shares) < 0.05) > 0.85


@pytest.mark.sweep(1)
@pytest.mark.parametrize("task", [ik.Pose, ik.Position])
def test_a_posture_below_is_at_its_optimum(task):
    """Many rows go down their gradient."""
    T, posture = goals(PANDA, f"optimum posture {task.__name__}")
    first = T if task is ik.Pose else T[:, :3, 3]
    result = PANDA.solver(tasks=[task("tool0"), ik.Posture(priority=1)]).solve([first, posture])
    assert result.success.all()
    n = 6 if task is ik.Pose else 3
    shares = [
        left_to_gain(PANDA, q, PANDA.jacobian(q, "tool0")[:n], goal - q)
        for q, goal in zip(result.q, posture, strict=True)
    ]
    assert np.median(shares) < 1e-3
    assert max(shares) < 0.1


def test_each_level_has_what_those_above_leave():
    T, posture = goals(PANDA, "three levels")
    elbow = PANDA.fk(PANDA.random(N, seed=2), "link4")[:, :3, 3]
    tasks = [
        ik.Posture(priority=2), ik.Position("tool0"), ik.Position("link4", axes="z", priority=1),
    ]  # fmt: skip
    solver = PANDA.solver(tasks=tasks)
    result = solver.solve([posture, T[:, :3, 3], elbow])
    two = PANDA.solver(tasks=tasks[1:]).solve([T[:, :3, 3], elbow])
    assert result.success.all()
    # the second level does not suffer from the third, where it can be done
    done = two.errors["link4"]["position"] < 1e-5
    assert done.sum() > N // 3
    assert result.errors["link4"]["position"][done].max() < 1e-4
    shares = []
    for k in np.flatnonzero(done):
        q = result.q[k]
        rows = np.vstack([PANDA.jacobian(q, "tool0")[:3], PANDA.jacobian(q, "link4")[2:3]])
        shares.append(left_to_gain(PANDA, q, rows, posture[k] - q))
    assert np.median(shares) < 0.01


def test_the_optimum_is_that_of_another_solver():
    optimize = pytest.importorskip("scipy.optimize", reason="SciPy is not installed")
    T, posture = goals(PANDA, "slsqp", 5)
    result = PANDA.solver(tasks=[ik.Position("tool0"), ik.Posture(priority=1)]).solve(
        [T[:, :3, 3], posture]
    )
    bounds = list(zip(PANDA.limits.lower, PANDA.limits.upper, strict=True))
    for q, target, goal in zip(result.q, T[:, :3, 3], posture, strict=True):
        found = optimize.minimize(
            lambda x, goal=goal: np.sum((x - goal) ** 2),
            q,
            bounds=bounds,
            constraints={
                "type": "eq",
                "fun": lambda x, target=target: PANDA.fk(x, "tool0")[:3, 3] - target,
            },
            method="SLSQP",
            options={"maxiter": 200, "ftol": 1e-12},
        )
        assert np.sum((q - goal) ** 2) <= found.fun + 1e-3


@pytest.mark.sweep(4)
@pytest.mark.parametrize("priority", [0, 1])
@pytest.mark.parametrize("weights", [(1.0, 1.0), (3.0, 1.0), (1.0, 10.0)])
def test_weights_balance_what_excludes_each_other(priority, weights):
    """The least of w_a |p - a|² + w_b |p - b|² is at the weighted mean of a and b."""
    q = PANDA.neutral()
    middle = PANDA.fk(q, "tool0")[:3, 3]
    a, b = middle + 0.03 * np.eye(3)[1], middle - np.array([0.0, 0.03, 0.02])
    tasks = [
        ik.Position("tool0", a, weight=weights[0], priority=priority, name="a"),
        ik.Position("tool0", b, weight=weights[1], priority=priority, name="b"),
    ]
    if priority:
        tasks.append(ik.Direction("tool0", PANDA.fk(q, "tool0")[:3, 2]))
    result = PANDA.ik(tasks=tasks, q0=q, tries=20, steps=60)
    expected = (weights[0] * a + weights[1] * b) / sum(weights)
    np.testing.assert_allclose(PANDA.fk(result.q, "tool0")[:3, 3], expected, atol=1e-3)
    assert bool(result.success) == bool(priority)


@pytest.mark.sweep(1)
@pytest.mark.parametrize("task", [ik.Pose, ik.Position])
def test_an_objective_ends_where_nothing_is_left_to_gain(task):
    T, posture = goals(PANDA, f"objective {task.__name__}")
    first = T if task is ik.Pose else T[:, :3, 3]
    solver = PANDA.solver(tasks=task("tool0"), objectives=[ik.NearPosture()])
    result = solver.solve({"tool0": first, "posture": posture}, steps=300)
    assert result.success.all()
    n = 6 if task is ik.Pose else 3
    shares = [
        left_to_gain(PANDA, q, PANDA.jacobian(q, "tool0")[:n], goal - q)
        for q, goal in zip(result.q, posture, strict=True)
    ]
    assert np.median(shares) < 1e-3
    plain = PANDA.solver(tasks=task("tool0")).solve(first)
    nearer = np.linalg.norm(result.q - posture, axis=1) < np.linalg.norm(plain.q - posture, axis=1)
    assert nearer.mean() > 0.7


@pytest.mark.slow
def test_an_objective_costs_no_success():
    T, posture = goals(UR5E, "no success", 60)
    for objectives in ([ik.NearPosture()], [ik.Centred()], [ik.Manipulable("tool0")]):
        solver = UR5E.solver(tasks=ik.Position("tool0"), objectives=objectives)
        targets = {"tool0": T[:, :3, 3]}
        if isinstance(objectives[0], ik.NearPosture):
            targets["posture"] = posture
        assert solver.solve(targets).success.all()


def test_what_stands_in_the_way_is_left_out_first():
    """Where no try for all tasks ends well, the first level is searched for alone, then all."""
    T, posture = goals(PANDA, "alone", 200)
    solver = PANDA.solver(tasks=[ik.Pose("tool0"), ik.Posture(priority=1)])
    few = solver.solve([T, posture], tries=1)
    plain = PANDA.solver("tool0").solve(T, tries=1)
    assert few.success[plain.success].all()
    assert not few.success.all()
    rows = np.flatnonzero(few.success)[:5]
    for k in rows:  # alone as in a batch
        assert solver.solve([T[k], posture[k]], tries=1).q.tobytes() == few.q[k].tobytes()
