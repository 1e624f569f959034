"""Inverse kinematics of linkwork.jax: what it reaches, and the derivatives of its answers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import linkwork as lw
from backends import jax_x64
from seeds import rng

jax = pytest.importorskip("jax", reason="JAX (pip install jax) is not installed")
import jax.numpy as jnp  # noqa: E402 -- after the check that it is there

import linkwork.jax as lj  # noqa: E402
from linkwork.ik import (  # noqa: E402
    CenterOfMass,
    Direction,
    OnLine,
    Pose,
    Position,
    Posture,
    RelativePose,
)


@pytest.fixture(autouse=True)
def float64() -> Iterator[None]:
    """JAX in float64."""
    with jax_x64():
        yield


@pytest.mark.slow
def test_every_reachable_target_is_reached():
    robot = lw.load("panda")
    m = lj.robot(robot)
    seed = int(rng("ik panda").integers(1000))
    targets = robot.fk(robot.random(600, seed=seed), "tool0")
    found = lj.ik(m, targets.reshape(3, 200, 4, 4), "tool0")
    assert found.success.shape == (3, 200)
    assert found.success.all()
    q = np.asarray(found.q).reshape(600, -1)
    np.testing.assert_allclose(robot.fk(q, "tool0"), targets, atol=3e-6)
    assert (q >= robot.limits.lower).all()
    assert (q <= robot.limits.upper).all()
    assert found.iterations.mean() < 40
    assert found.iterations.max() < 2000


def where(robot: lw.Robot, label: str) -> np.ndarray:
    """A configuration inside the limits, from which targets are made."""
    return robot.random(seed=int(rng(label).integers(1000)))


ARM = (0.1, 0.0, 0.2)
TASKS: dict[str, Any] = {  # a task, and its target at a pose
    "point": (
        Position("tool0", axes="xz", axes_of="tool", point=ARM),
        lambda T: T[:3, :3] @ ARM + T[:3, 3],
    ),
    "mirrored pose": (Pose("tool0", mirror="z"), lambda T: T),
    "cone": (Direction("tool0", slack=0.3), lambda T: T[:3, 2]),
    "line": (OnLine("tool0"), lambda T: np.array([*T[:3, 3] + [0.0, 0.0, 0.3], 0.0, 0.0, 2.0])),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", TASKS)
def test_tasks_are_those_of_the_compiled_solver(name: str):
    """Which finds each answer done: it does not move from there."""
    task, target_of = TASKS[name]
    robot = lw.load("ur5e")
    target = target_of(robot.fk(where(robot, name), "tool0"))
    found = lj.ik(lj.robot(robot), target, tasks=task)
    assert found.success, found
    again = robot.ik(tasks=task, targets=target, q0=np.asarray(found.q))
    assert again.success
    np.testing.assert_allclose(again.q, found.q, atol=1e-9)


@pytest.mark.slow
def test_several_tasks_of_hands_joints_and_the_centre_of_mass():
    robot = lw.load("two_arm_torso")
    m, q = lj.robot(robot), where(robot, "hands")
    left, right = (name for name in robot.frame_names if name in ("left_tool0", "right_tool0"))
    first = robot.joint_names[0]
    tasks = [
        RelativePose(left, right, name="hands"),
        CenterOfMass(axes="xy", name="balance", tolerance=1e-7),
        Posture({first: 0.2}, joints=first, name="torso", weight=0.5),
    ]
    targets = {"hands": robot.relative(q, right, left), "balance": robot.com(q)}
    found = lj.ik(m, targets, tasks=tasks, q0=q)
    assert found.success
    at = np.asarray(found.q)
    np.testing.assert_allclose(robot.relative(at, right, left), targets["hands"], atol=3e-6)
    np.testing.assert_allclose(robot.com(at)[:2], targets["balance"][:2], atol=2e-7)
    assert at[0] == pytest.approx(0.2, abs=1e-5)
    heavier = m.replace(mass=2.0 * m.mass + 0.5)  # the numbers are those of the model
    moved = lj.ik(heavier, targets, tasks=tasks, q0=q)
    com = np.asarray(lj.com(heavier, moved.q))
    np.testing.assert_allclose(com[:2], targets["balance"][:2], atol=2e-7)


@pytest.mark.slow
def test_derivatives_with_tasks_and_limits_are_those_of_solving_again():
    robot = lw.load("ur5e")
    m, q = lj.robot(robot), np.array([0.3, -1.2, 1.4, -1.0, -1.3, 0.2])
    m = m.replace(upper=m.upper.at[1].set(-1.2))  # the second joint stands at its limit
    task, p = Position("tool0", tolerance=1e-12), robot.fk(q, "tool0")[:3, 3]
    draw = rng("tasks and limits")
    J = robot.jacobian(q, "tool0")[:3]
    # towards where the joint would go on, so that it stays
    way = J @ (np.array([1.0, 3.0, 1.0, 0.0, 0.0, 0.0]) * draw.uniform(0.5, 1.0, 6))
    at = lj.ik(m, p + 2e-2 * way, tasks=task, q0=q)
    assert at.success
    assert at.q[1] == -1.2
    name = "xyz:wrist_1_joint"

    def answer(s: Any, length: Any) -> Any:
        """Behind a motion of the target, and with a longer forearm."""
        longer = m.replace({name: m[name] * (1.0 + length)})
        return lj.ik(longer, p + (2e-2 + s) * way, tasks=task, q0=at.q, tries=1).q

    solution, h = jax.jit(answer), 1e-4
    for slope, step in zip(jax.jacfwd(answer, argnums=(0, 1))(0.0, 0.0), np.eye(2), strict=True):
        # to one side: to the other the joint leaves its limit
        sign = 1.0 if solution(*(h * step))[1] == at.q[1] else -1.0
        here, near, far = (solution(*(k * sign * h * step)) for k in (0.0, 1.0, 2.0))
        assert near[1] == far[1] == at.q[1]
        expected = sign * (4.0 * near - 3.0 * here - far) / (2.0 * h)
        np.testing.assert_allclose(slope, expected, atol=1e-5)
        assert slope[1] == 0.0


def test_what_is_no_task_here_is_refused_by_name():
    robot = lw.load("planar_3r")
    m, T = lj.robot(robot), robot.fk(robot.neutral())
    with pytest.raises(lw.UnsupportedFeatureError, match="priority"):
        lj.ik(m, {}, tasks=[Position("tool0", T[:3, 3]), Posture(np.zeros(3), priority=1)])
    with pytest.raises(lw.UnsupportedFeatureError, match="manipulability"):
        lj.ik(m, tasks=lw.ik.Manipulability("tool0", 0.1, position="xy", rotation=""))
    with pytest.raises(lw.InputError, match="has no target"):
        lj.ik(m, tasks=Position("tool0"))
    with pytest.raises(lw.ShapeError, match=r"\(\.\.\., 3\)"):
        lj.ik(m, T, tasks=Position("tool0"))
    with pytest.raises(lw.UnknownNameError, match="hand"):
        lj.ik(m, {"hand": T[:3, 3]}, tasks=Position("tool0"))


@pytest.mark.slow
def test_a_target_out_of_reach_is_no_success_and_says_by_how_much():
    robot = lw.load("planar_3r")
    m = lj.robot(robot)
    T = np.array(robot.fk(robot.neutral(), "tool0"))
    T[2, 3] += 0.25
    found = lj.ik(m, T, "tool0", tries=2)
    assert not found.success
    assert found.position_error == pytest.approx(0.25, abs=0.02)


@pytest.mark.slow
@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_a_target_that_is_not_finite_is_no_success(bad: float):
    robot = lw.load("planar_2r")
    T = np.stack([robot.fk(np.array([0.3, 0.4])), np.full((4, 4), bad)])
    found = lj.ik(lj.robot(robot), T, q0=np.array([0.3, 0.4]), tries=2)
    assert found.success.tolist() == [True, False]
    assert not found.position_error[1] <= 1.0


@pytest.mark.slow
def test_implicit_derivatives_are_those_of_problems_solved_again():
    robot = lw.load("ur5e")
    m = lj.robot(robot)
    q = np.array([0.3, -1.2, 1.4, -1.0, -1.3, 0.2])
    T = jnp.asarray(robot.fk(q, "tool0"))
    way = jnp.array([0.3, -0.2, 0.4])

    name = f"xyz:{robot.joint_names[2]}"

    def answer(s: Any, length: Any) -> Any:
        """Behind a motion of the target, and with a longer forearm."""
        longer = m.replace({name: m[name] * (1.0 + length)})
        exact: Any = {"position_tolerance": 1e-12, "rotation_tolerance": 1e-12}
        target = T.at[:3, 3].add(s * way)
        return lj.ik(longer, target, "tool0", q0=q, tries=1, **exact).q

    solution, h = jax.jit(answer), 1e-4  # answers are exact to 1e-11 or so
    slopes = jax.jit(jax.jacrev(answer, argnums=(0, 1)))(0.0, 0.0)
    for slope, step in zip(slopes, np.eye(2) * h, strict=True):
        expected = (solution(*step) - solution(*-step)) / (2 * h)
        np.testing.assert_allclose(slope, expected, atol=1e-6)


@pytest.mark.slow
def test_vmap_finds_what_is_asked_for():
    robot = lw.load("planar_3r")
    m = lj.robot(robot)
    targets = robot.fk(robot.random(4, seed=3), "tool0")
    one = lambda T: lj.ik(m, T, "tool0")
    mapped = jax.vmap(one)(targets)
    assert mapped.success.all()
    np.testing.assert_allclose(robot.fk(np.asarray(mapped.q), "tool0"), targets, atol=3e-6)


@pytest.mark.slow
def test_float32_reaches_a_tenth_of_a_millimetre():
    robot = lw.load("planar_3r")
    m = lj.robot(robot, dtype=np.float32)
    targets = np.float32(robot.fk(robot.random(50, seed=4), "tool0"))
    found = lj.ik(m, targets, "tool0")
    assert found.q.dtype == np.float32
    assert found.success.all()
