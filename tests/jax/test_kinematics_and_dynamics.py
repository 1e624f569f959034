"""The functions of linkwork.jax beside the compiled kernels: all joint types, many robots.

Agreement is a matter of the text, which JAX runs operation by operation here: XLA takes ten times
as long to make one program of it. That jitted programs say the same is seen on few.
LINKWORK_TRUTH_ROBOTS=all takes all robots of the list.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import linkwork as lw
from backends import jax_x64
from dynamics_cases import solid
from linkwork.algorithms.registry import ALGORITHMS
from robots import every_joint_urdf, example_robot_urdfs
from seeds import rng

jax = pytest.importorskip("jax", reason="JAX (pip install jax) is not installed")
import linkwork.jax as lj  # noqa: E402 -- after the check that it is there

EXACT = 1e-10
REAL = (
    "panda", "ur5_robot", "ur10_robot", "ur3_gripper", "xarm7", "z1", "kinova", "so100", "pr2",
    "baxter", "tiago_no_hand", "talos_reduced", "icub", "romeo_small", "g1_29dof_rev_1_0", "go2",
    "solo12", "bolt", "centauro", "allegro_right_hand",
)  # fmt: skip
OFTEN = ("ur5_robot", "allegro_right_hand", "tiago_no_hand")
ROBOTS = REAL if os.environ.get("LINKWORK_TRUTH_ROBOTS") == "all" else OFTEN
CLOSED = ("four_bar", "slider_crank", "excavator", "stewart", "delta", "five_bar", "linkage_leg")
CLOSED_OFTEN = CLOSED if os.environ.get("LINKWORK_TRUTH_ROBOTS") == "all" else CLOSED[:4]
ELSEWHERE = {
    "inverse_dynamics_derivatives": "jax.jacfwd has them",
    "forward_dynamics_derivatives": "jax.jacfwd has them",
    "loop_forces": "docs/jax.md",
    "loop_wrenches": "docs/jax.md",
}
"""Functions of the registry that linkwork.jax does not have."""


@pytest.fixture(autouse=True)
def float64() -> Iterator[None]:
    """JAX in float64, as the kernels are."""
    with jax_x64():
        yield


def agree(found: Any, expected: Any, what: str = "", exact: float = EXACT) -> None:
    """Within 1e-10 of the largest number."""
    size = max(1.0, float(np.abs(expected).max(initial=0.0)))
    found = np.asarray(found)
    np.testing.assert_allclose(found, expected, rtol=0, atol=exact * size, err_msg=what)


def motion(robot: lw.Robot, n: int, label: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    draw = rng(label)
    q = robot.random(n, seed=int(draw.integers(1000)))
    v, dv = draw.normal(size=(2, n, robot.n_v))
    return q, v, dv


def closed_motion(robot: lw.Robot, label: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A closed configuration, a velocity that keeps it so, and forces."""
    draw = rng(label)
    q = np.asarray(robot.assemble().q)
    rates = np.asarray(robot.passive_rates(q))
    return q, rates @ draw.normal(size=rates.shape[-1]), draw.normal(size=robot.n_v)


def test_every_function_of_the_registry_is_there_or_said_to_be_elsewhere():
    missing = {name for name in ALGORITHMS if not hasattr(lj, name)}
    assert missing == set(ELSEWHERE)


def assert_all_agree(robot: lw.Robot, x: tuple[Any, ...], exact: float = EXACT) -> dict[str, float]:
    """Every function of linkwork.jax gives what the kernel gives, or refuses what it refuses."""
    m, frame = lj.robot(robot), robot.frame_names[-1]
    worst: dict[str, float] = {}
    for name, entry in ALGORITHMS.items():
        if name in ELSEWHERE or (entry.needs_loops and not robot.mechanism.is_closed):
            continue
        if name == "difference":
            given: list[Any] = [x[0], x[0][::-1]] if x[0].ndim > 1 else [x[0], robot.neutral()]
        else:
            given = list(x[: len(entry.inputs)])
        static = {"base": robot.frame_names[0], "frame": frame, "reference": "local"}
        static = {key: static[key] for key in entry.static}
        mine, theirs = getattr(lj, name), getattr(robot, name)
        try:
            expected = theirs(*given, **static)
        except lw.InputError:
            with pytest.raises(lw.InputError):
                mine(m, *given, **static)
            continue
        found = np.asarray(mine(m, *given, **static))
        agree(found, expected, name, exact)
        size = max(1.0, float(np.abs(expected).max(initial=0.0)))
        worst[name] = float(np.abs(found - expected).max(initial=0.0)) / size
    return worst


@pytest.mark.slow
@pytest.mark.parametrize("base", ["fixed", "floating"])
def test_every_joint_type(base: Any):
    robot = lw.load(solid(every_joint_urdf()), base=base)
    with jax.disable_jit():
        assert_all_agree(robot, motion(robot, 2, f"every joint {base}"))


@pytest.mark.slow
def test_what_acts_on_every_joint_type():
    robot = lw.load(solid(every_joint_urdf()))
    m, (q, v, dv) = lj.robot(robot), motion(robot, 3, "what acts")
    by: Any = {
        "external": {"camera": np.arange(18.0).reshape(3, 6), "hand": np.ones(6)},
        "gravity": [1.0, 2.0, 3.0],
        "losses": True,
    }
    with jax.disable_jit():
        tau = robot.inverse_dynamics(q, v, dv, **by, armature=0.1)
        agree(lj.inverse_dynamics(m, q, v, dv, **by, armature=0.1), tau)
        expected = robot.forward_dynamics(q, v, tau, **by, armature=0.1)
        agree(lj.forward_dynamics(m, q, v, tau, **by, armature=0.1), expected)
        agree(lj.bias_forces(m, q, v, **by), robot.bias_forces(q, v, **by))
        for reference in ("world-aligned", "world"):
            expected = robot.jacobian(q, "camera", reference=reference)
            agree(lj.jacobian(m, q, "camera", reference=reference), expected)


@pytest.mark.slow
@pytest.mark.parametrize("name", ROBOTS)
def test_real_robots(name: str):
    path = next(path for path in example_robot_urdfs() if path.stem == name)
    robot = lw.load(path, base="fixed")
    with jax.disable_jit():
        worst = assert_all_agree(robot, motion(robot, 2, name))
    print(name, max(worst.values()), max(worst, key=lambda key: worst[key]))


@pytest.mark.slow
@pytest.mark.parametrize("name", CLOSED_OFTEN)
def test_closed_mechanisms(name: str):
    robot = lw.load(name)
    with jax.disable_jit():
        worst = assert_all_agree(robot, closed_motion(robot, name))
    print(name, max(worst.values()), max(worst, key=lambda key: worst[key]))


def test_programs_of_xla_say_the_same():
    robot = lw.load("ur5e")
    m, (q, v, dv) = lj.robot(robot), motion(robot, 3, "programs")
    agree(lj.fk_all(m, q), robot.fk_all(q))
    agree(lj.jacobian(m, q), robot.jacobian(q))
    agree(lj.inverse_dynamics(m, q, v, dv), robot.inverse_dynamics(q, v, dv))
    tree = lw.load(every_joint_urdf())
    m, (q, *_) = lj.robot(tree), motion(tree, 3, "programs of every joint")
    agree(lj.jacobian(m, q, "camera"), tree.jacobian(q, "camera"))


@pytest.mark.slow
def test_programs_of_xla_for_dynamics_and_branches_say_the_same():
    robot = lw.load("quadruped")
    m, (q, v, dv) = lj.robot(robot), motion(robot, 2, "branches")
    agree(lj.inverse_dynamics(m, q, v, dv), robot.inverse_dynamics(q, v, dv))
    agree(lj.mass_matrix(m, q), robot.mass_matrix(q))
    agree(lj.forward_dynamics(m, q, v, dv), robot.forward_dynamics(q, v, dv))


# --------------------------------------------------------------------------- what JAX does with it


@pytest.mark.slow
def test_leading_shapes_and_vmap_are_the_same():
    robot = lw.load("planar_2r")
    m = lj.robot(robot)
    q, v, dv = (x.reshape(2, 3, -1) for x in motion(robot, 6, "shapes"))
    expected = robot.inverse_dynamics(q, v, dv)
    once = lambda q, v, dv: lj.inverse_dynamics(m, q, v, dv)
    agree(jax.jit(jax.vmap(jax.vmap(once)))(q, v, dv), expected)
    agree(lj.inverse_dynamics(m, q[0, 0], v, dv), robot.inverse_dynamics(q[0, 0], v, dv))
    agree(lj.fk(m, np.zeros((0, 2))), np.zeros((0, 4, 4)))


@pytest.mark.slow
def test_derivatives_of_poses():
    robot = lw.load("scara")
    m, q = lj.robot(robot), robot.random(seed=1)
    pose = lambda q: lj.fk(m, q)
    with jax.disable_jit():
        forward = jax.jacfwd(pose)(q)
    backward = jax.jacrev(pose)(q)
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
    with jax.disable_jit():
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

    with jax.disable_jit():
        slope = jax.grad(total)(m)
    draw, total = rng("directions"), jax.jit(total)
    names = [
        "xyz:joint2",
        "rpy:joint2",
        "mass:outer_arm",
        "com:quill",
        "inertia:outer_arm",
        "gravity",
    ]
    for name in names:
        way = draw.normal(size=np.shape(m[name]))
        ends = [total(m.replace({name: m[name] + sign * 1e-6 * way})) for sign in (1, -1)]
        expected = float(ends[0] - ends[1]) / 2e-6
        found = float(np.sum(slope[name] * way))
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
