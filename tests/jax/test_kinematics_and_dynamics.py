"""The functions of linkwork.jax beside the compiled kernels: all joint types, many robots."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import linkwork as lw
from backends import jax_x64
from robots import every_joint_urdf, example_robot_urdfs
from seeds import rng

jax = pytest.importorskip("jax", reason="JAX (pip install jax) is not installed")
import linkwork.jax as lj  # noqa: E402 -- after the check that it is there

EXACT = 1e-10


@pytest.fixture(autouse=True)
def float64() -> Iterator[None]:
    """JAX in float64, as the kernels are."""
    with jax_x64():
        yield


def agree(found: Any, expected: Any) -> None:
    """Within 1e-10 of the largest number."""
    size = max(1.0, float(np.abs(expected).max(initial=0.0)))
    np.testing.assert_allclose(np.asarray(found), expected, rtol=0, atol=EXACT * size)


def motion(robot: lw.Robot, n: int, label: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    draw = rng(label)
    q = robot.random(n, seed=int(draw.integers(1000)))
    v, dv = draw.normal(size=(2, n, robot.n_v))
    return q, v, dv


@pytest.fixture(scope="module")
def every_joint() -> lw.Robot:
    """All joint types, a mimic chain, branches and lumped links."""
    return lw.load(every_joint_urdf())


def test_kinematics_of_every_joint_type(every_joint: lw.Robot):
    robot, m = every_joint, lj.robot(every_joint)
    q, *_ = motion(robot, 3, "kinematics of every joint")
    agree(lj.fk_all(m, q), robot.fk_all(q))
    agree(lj.jacobian(m, q, "camera"), robot.jacobian(q, "camera"))


@pytest.mark.slow
@pytest.mark.parametrize("reference", ["world-aligned", "local", "world"])
@pytest.mark.parametrize("frame", ["camera", "eye", "finger_c"])
def test_jacobians_of_every_joint_type(every_joint: lw.Robot, frame: str, reference: Any):
    robot, m = every_joint, lj.robot(every_joint)
    q, *_ = motion(robot, 2, f"jacobian {frame}")
    expected = robot.jacobian(q, frame, reference=reference)
    agree(lj.jacobian(m, q, frame, reference=reference), expected)
    agree(lj.relative(m, q, "camera", frame), robot.relative(q, "camera", frame))


@pytest.mark.slow
def test_dynamics_of_every_joint_type(every_joint: lw.Robot):
    robot, m = every_joint, lj.robot(every_joint)
    q, v, dv = motion(robot, 3, "dynamics of every joint")
    by: Any = {
        "external": {"camera": np.arange(18.0).reshape(3, 6), "hand": np.ones(6)},
        "gravity": [1.0, 2.0, 3.0],
        "losses": True,
        "armature": 0.1,
    }
    tau = robot.inverse_dynamics(q, v, dv, **by)
    agree(lj.inverse_dynamics(m, q, v, dv), robot.inverse_dynamics(q, v, dv))
    agree(lj.inverse_dynamics(m, q, v, dv, **by), tau)
    agree(lj.mass_matrix(m, q), robot.mass_matrix(q))
    agree(lj.forward_dynamics(m, q, v, tau, **by), robot.forward_dynamics(q, v, tau, **by))
    agree(lj.gravity_forces(m, q), robot.gravity_forces(q))
    agree(lj.com(m, q), robot.com(q))
    agree(lj.com_jacobian(m, q), robot.com_jacobian(q))
    agree(lj.kinetic_energy(m, q, v), robot.kinetic_energy(q, v))
    agree(lj.potential_energy(m, q), robot.potential_energy(q))


def test_configurations_of_every_joint_type(every_joint: lw.Robot):
    robot, m = every_joint, lj.robot(every_joint)
    q, v, _ = motion(robot, 3, "configurations")
    agree(lj.integrate(m, q, v), robot.integrate(q, v))
    agree(lj.difference(m, q, q[::-1]), robot.difference(q, q[::-1]))


@pytest.mark.slow
def test_forward_dynamics_undoes_inverse_dynamics():
    robot = lw.load("scara")
    m = lj.robot(robot)
    q, v, dv = motion(robot, 3, "there and back")
    tau = lj.inverse_dynamics(m, q, v, dv)
    agree(tau, robot.inverse_dynamics(q, v, dv))
    agree(lj.forward_dynamics(m, q, v, tau), dv)


def whole(robot: lw.Robot, label: str) -> None:
    """Poses of all frames, a Jacobian, and inverse dynamics where inertias are real."""
    m = lj.robot(robot)
    q, v, dv = motion(robot, 2, label)
    agree(lj.fk_all(m, q), robot.fk_all(q))
    frame = robot.frame_names[-1]
    agree(lj.jacobian(m, q, frame), robot.jacobian(q, frame))
    if robot.mechanism.is_closed:
        return
    try:
        expected = robot.inverse_dynamics(q, v, dv)
    except lw.InputError:
        with pytest.raises(lw.InputError):
            lj.inverse_dynamics(m, q, v, dv)
        return
    agree(lj.inverse_dynamics(m, q, v, dv), expected)


BUNDLED = ["panda", "quadruped", "humanoid", "mobile_arm", "two_arm_torso", "triped", "delta"]


@pytest.mark.slow
@pytest.mark.parametrize("name", BUNDLED)
def test_bundled_robots(name: str):
    whole(lw.load(name), name)


def _examples() -> list[Path]:
    try:
        return example_robot_urdfs()
    except pytest.skip.Exception:
        return []


@pytest.mark.slow
@pytest.mark.parametrize("path", _examples()[::5], ids=lambda path: path.stem)
def test_example_robots(path: Path):
    whole(lw.load(path, base="fixed"), path.stem)


# --------------------------------------------------------------------------- what JAX does with it


@pytest.mark.slow
def test_leading_shapes_and_vmap_are_the_same():
    robot = lw.load("planar_3r")
    m = lj.robot(robot)
    q, v, dv = (x.reshape(2, 3, -1) for x in motion(robot, 6, "shapes"))
    expected = robot.inverse_dynamics(q, v, dv)
    agree(lj.inverse_dynamics(m, q, v, dv), expected)
    once = lambda q, v, dv: lj.inverse_dynamics(m, q, v, dv)
    agree(jax.jit(jax.vmap(jax.vmap(once)))(q, v, dv), expected)
    agree(lj.inverse_dynamics(m, q[0, 0], v, dv), robot.inverse_dynamics(q[0, 0], v, dv))
    agree(lj.fk(m, np.zeros((0, 3))), np.zeros((0, 4, 4)))


@pytest.mark.slow
def test_derivatives_of_poses():
    robot = lw.load("scara")
    m, q = lj.robot(robot), robot.random(seed=1)
    pose = lambda q: lj.fk(m, q)
    forward, backward = jax.jacfwd(pose)(q), jax.jacrev(pose)(q)
    agree(forward, backward)
    agree(forward[:3, 3], robot.jacobian(q)[:3])


@pytest.mark.slow
def test_derivatives_of_inverse_dynamics():
    robot = lw.load("planar_3r")
    m = lj.robot(robot)
    q, v, dv = (x[0] for x in motion(robot, 1, "derivatives"))
    slopes = robot.inverse_dynamics_derivatives(q, v, dv)
    found = jax.jacrev(lj.inverse_dynamics, argnums=(1, 2, 3))(m, q, v, dv)
    for mine, expected in zip(found, slopes, strict=True):
        agree(mine, expected)


@pytest.mark.slow
def test_derivatives_of_forward_dynamics():
    robot = lw.load("mobile_arm")
    m = lj.robot(robot)
    q, v, tau = (x[0] for x in motion(robot, 1, "forward derivatives"))
    slopes = robot.forward_dynamics_derivatives(q, v, tau)
    found = jax.jacfwd(lj.forward_dynamics, argnums=(2, 3))(m, q, v, tau)
    for mine, expected in zip(found, slopes[1:], strict=True):
        agree(mine, expected)


@pytest.mark.slow
def test_gradients_by_the_model_are_those_of_differences():
    robot = lw.load("scara")
    m = lj.robot(robot)
    q, v, dv = motion(robot, 2, "model")

    def total(m: lj.Model) -> Any:
        return (lj.inverse_dynamics(m, q, v, dv) ** 2).sum() + (lj.fk(m, q)[..., :3, 3] ** 3).sum()

    slope = jax.grad(total)(m)
    names = [
        "xyz:joint2",
        "rpy:joint2",
        "mass:outer_arm",
        "com:quill",
        "inertia:outer_arm",
        "gravity",
    ]
    for name in names:
        h = 1e-6
        for k in range(np.size(m[name])):
            step = np.zeros(np.shape(m[name]))
            step.reshape(-1)[k] = h
            ends = [total(m.replace({name: m[name] + sign * step})) for sign in (1, -1)]
            expected = float(ends[0] - ends[1]) / (2 * h)
            found = float(np.reshape(slope[name], -1)[k])
            assert found == pytest.approx(expected, rel=1e-5, abs=1e-5), name


def test_replaced_numbers_are_those_of_the_kernels_parameters():
    robot = lw.load("scara")
    m = lj.robot(robot)
    q, *_ = motion(robot, 2, "parameters")
    joint, link = robot.joint_names[1], robot.mechanism.body_names[2]
    given = {
        f"xyz:{joint}": [0.1, 0.2, 0.3],
        f"rpy:{joint}": [0.3, -0.2, 0.1],
        f"mass:{link}": [2.5],
    }
    kernel = robot.function("gravity_forces", parameters=list(given))
    agree(lj.gravity_forces(m.replace(given), q), kernel(q, *map(np.array, given.values())))


@pytest.mark.slow
def test_float32_is_within_rounding():
    robot = lw.load("planar_3r")
    q, v, dv = motion(robot, 20, "float32")
    m = lj.robot(robot, dtype=np.float32)
    single = [np.float32(x) for x in (q, v, dv)]
    found = lj.inverse_dynamics(m, *single)
    assert found.dtype == np.float32
    expected = robot.inverse_dynamics(*(x.astype(float) for x in single))
    np.testing.assert_allclose(found, expected, rtol=0, atol=2e-5 * np.abs(expected).max())
