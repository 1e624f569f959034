"""Inverse kinematics of mechanisms with loops: all that can be reached is, assembled and inside.

Targets are what random assembled states reach. The numbers asked for are those of a test that takes
seconds; LINKWORK_MANY_TARGETS=1 asks for 10,000 of each.
"""

from __future__ import annotations

import os
from functools import cache

import numpy as np
import pytest

import linkwork as lw
from linkwork.ik import Closed, NearPosture, Orientation, Pose, Position, RelativePose
from seeds import rng

N = 10_000 if os.environ.get("LINKWORK_MANY_TARGETS") else 1000
FEET = ("leg_0_foot", "leg_1_foot", "leg_2_foot")
CASES = {
    "bucket": ("excavator", [Position("tool0")]),
    "width": ("gripper", [RelativePose("left_tip", "right_tip", position="y", rotation="")]),
    "foot": ("linkage_leg", [Position("foot")]),
    "wheel": ("double_wishbone", [Pose("wheel_link")]),
    "upright": ("double_wishbone", [Position("contact")]),
    "leg": ("triped_leg", [Position("foot")]),
    "whole leg": ("triped_leg", [Pose("foot")]),
    "one of three feet": ("triped", [Position(FEET[0])]),
    "all feet": ("triped", [Position(foot) for foot in FEET]),
    "stewart": ("stewart", [Pose("platform")]),
    "delta": ("delta", [Pose("platform")]),
    "delta's tool": ("delta", [Position("tool0")]),
}


@cache
def reached(name: str, base: str = "fixed"):
    """A robot, and assembled states (N, nq) inside its limits."""
    r = lw.load(name, base=base)
    at = [int(r.mechanism.q_start[r.mechanism.joint(joint)]) for joint in r.actuated]
    lower, upper = (np.clip(x[at], -np.pi, np.pi) for x in r.limits[:2])
    result = r.assemble(rng(f"reached {name}").uniform(lower, upper, (N + N // 20, len(at))))
    assert result.success.mean() > 0.95
    q = result.q[result.success][:N]
    assert len(q) > 0.9 * N
    return r, q


def targets_of(r, q, tasks):
    """What each task has at q."""
    found = []
    for task in tasks:
        T = r.fk(q, task.frame)
        if isinstance(task, RelativePose):
            T = np.linalg.inv(r.fk(q, task.other)) @ T
        point = isinstance(task, Position)
        found.append(T[:, :3, 3] if point else T[:, :3, :3] if isinstance(task, Orientation) else T)
    return found


def check(r, tasks, targets, result):
    """Solved, assembled and inside all limits, by fresh computations."""
    failed = np.flatnonzero(~result.success)
    assert not failed.size, f"{failed.size} of {len(result.q)}: {result.reason_for(int(failed[0]))}"
    q = result.q
    assert np.abs(r.closure(q)).max() < 1e-12
    assert (q >= r.limits.lower).all() and (q <= r.limits.upper).all()
    for task, target, found in zip(tasks, targets, targets_of(r, q, tasks), strict=True):
        if isinstance(task, RelativePose):
            assert np.abs(found[:, 1, 3] - target[:, 1, 3]).max() < 1.1e-5
        elif isinstance(task, Position):
            assert np.linalg.norm(found - target, axis=1).max() < 1.1e-5
        else:
            assert np.abs(found - target).max() < 2e-4


@pytest.mark.sweep(1)
@pytest.mark.parametrize("case", CASES)
def test_all_that_can_be_reached_is(case):
    name, tasks = CASES[case]
    r, q = reached(name)
    targets = targets_of(r, q, tasks)
    result = r.solver(tasks=tasks).solve(targets if len(tasks) > 1 else targets[0])
    check(r, tasks, targets, result)


@pytest.mark.slow
@pytest.mark.parametrize("body", [None, Pose("base_link")])
def test_three_feet_of_a_body_that_floats(body):
    r, q = reached("triped", "floating")
    g = rng("floating bodies")
    q = q.copy()
    turn = np.concatenate([np.ones((len(q), 1)), g.uniform(-0.3, 0.3, (len(q), 3))], axis=1)
    q[:, :3] = g.uniform(-1.0, 1.0, (len(q), 3))
    q[:, 3:7] = turn / np.linalg.norm(turn, axis=1, keepdims=True)
    tasks = [*(Position(foot) for foot in FEET), *([body] if body else [])]
    targets = targets_of(r, q, tasks)
    check(r, tasks, targets, r.solver(tasks=tasks).solve(targets))


def test_one_target_alone_has_the_bits_of_the_batch():
    r, q = reached("excavator")
    points = r.fk(q[:20], "tool0")[:, :3, 3]
    solver = r.solver(tasks=Position("tool0"))
    batch = solver.solve(points)
    for k, point in enumerate(points):
        np.testing.assert_array_equal(solver.solve(point).q, batch.q[k])


def test_a_bar_that_is_stretched():
    """The tool at the end of an arm's reach, where two branches meet and steps converge slowly."""
    r = lw.load("five_bar")
    turn = rng("stretched").uniform(-0.9, -0.3, 300)
    pin, far = np.array([0.15, 0.0]), 0.45 - 1e-13
    points = pin - far * np.stack([np.cos(turn), np.sin(turn)], axis=-1)
    targets = np.concatenate([points, np.zeros((300, 1))], axis=1)
    result = r.solver(tasks=Position("tool0", axes="xy")).solve(targets)
    left = np.linalg.norm(targets[:, :2] + pin, axis=1)
    reach = (left < 0.449) & (left > 0.051)
    assert reach.sum() > 100
    assert np.abs(r.closure(result.q[result.success])).max() < 1e-12
    assert result.success[reach].all()


def test_no_answer_that_an_actuated_joint_cannot_take():
    """A pose of the gimbal that no swings reach (a virtual state) is no answer."""
    r, _ = reached("triped_leg")
    free = lw.load("triped_leg", loops=False)
    beyond = r.configuration({"gimbal_ry": -0.75, "extend": -1.0})
    point = free.fk(beyond, "foot")[:3, 3]
    tree = free.ik(tasks=Position("foot"), targets=point, q0=beyond)
    assert tree.success
    result = r.ik(tasks=Pose("foot"), targets=free.fk(beyond, "foot"), tries=30)
    assert not result.success and "closed" in result.reason


@pytest.mark.parametrize("name", ["five_bar", "excavator"])
def test_an_objective_ends_at_its_optimum_with_the_loops_closed(name: str):
    """In one try: neither damping nor rounding of what keeps the loops closed moves it on."""
    r = lw.load(name)
    wanted = r.integrate(r.neutral(), 0.5 * rng(f"near {name}").uniform(-1, 1, (30, r.n_v)))
    solver = r.solver(tasks=Closed(), objectives=NearPosture())
    found = solver.solve({"posture": wanted}, r.neutral(), tries=1)
    assert found.success.all()
    assert np.abs(r.closure(found.q)).max() < 1e-12
    assert 10 < found.iterations.min() <= found.iterations.max() < 60  # steps are not used up
    J = r.closure_jacobian(found.q)
    slides = sorted(solver.problem.slides)
    J[..., slides] *= solver.problem.length  # what is least counts slides by this length
    way = r.difference(found.q, wanted)
    way[:, slides] /= solver.problem.length
    for rows, left in zip(J, way, strict=True):
        free = left - np.linalg.pinv(rows, rcond=1e-9) @ (rows @ left)
        if name == "five_bar":  # the excavator's joints may end at limits
            assert np.linalg.norm(free) < 1e-5
