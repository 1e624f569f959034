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
from closed_mechanisms import closed_motion
from dynamics_cases import solid
from linkwork.algorithms.registry import ALGORITHMS
from robots import every_joint_urdf, example_robot_urdf
from seeds import rng

jax = pytest.importorskip("jax", reason="JAX (pip install jax) is not installed")
import linkwork.jax as lj  # noqa: E402 -- after the check that it is there

EXACT = 1e-10
REAL = (
    "panda", "ur5_robot", "ur10_robot", "ur3_gripper", "xarm7", "z1", "kinova", "so100", "pr2",
    "baxter", "tiago_no_hand", "talos_reduced", "icub", "romeo_small", "g1_29dof_rev_1_0", "go2",
    "solo12", "bolt", "centauro", "allegro_right_hand", "finger_edu",
)  # fmt: skip
ALL = os.environ.get("LINKWORK_TRUTH_ROBOTS") == "all"
ROBOTS = REAL if ALL else ("finger_edu",)
CLOSED = ("four_bar", "slider_crank", "excavator", "stewart", "delta", "five_bar", "linkage_leg")
CLOSED_ROBOTS = CLOSED if ALL else ("slider_crank",)
ELSEWHERE = {
    "inverse_dynamics_derivatives": "jax.jacfwd has them",
    "forward_dynamics_derivatives": "jax.jacfwd has them",
    "path_forces": "three calls of inverse_dynamics",
    "loop_forces": "docs/jax.md",
    "loop_wrenches": "docs/jax.md",
}
"""Functions of the registry that linkwork.jax does not have."""
HEAVY = (
    "mass_matrix", "inverse_mass_matrix", "coriolis_matrix", "regressor", "centroidal_matrix",
    "com_acceleration", "inverse_dynamics", "forward_dynamics",
)  # fmt: skip
"""Functions that take longest where there are many kinds of joints: on a chain of a few joints, and
the two that are used most with what acts on every kind."""
DRIVEN = ("inverse_dynamics", "bias_forces", "gravity_forces", "forward_dynamics")
"""Functions that loops change."""


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


def test_every_function_of_the_registry_is_there_or_said_to_be_elsewhere():
    missing = {name for name in ALGORITHMS if not hasattr(lj, name)}
    assert missing == set(ELSEWHERE)


def assert_all_agree(
    robot: lw.Robot, x: tuple[Any, ...], exact: float = EXACT, without: tuple[str, ...] = ()
) -> dict[str, float]:
    """Every function of linkwork.jax gives what the kernel gives, or refuses what it refuses."""
    m, frame, closed = lj.robot(robot), robot.frame_names[-1], robot.mechanism.is_closed
    worst: dict[str, float] = {}
    for name, entry in ALGORITHMS.items():
        ours = entry.needs_loops or name in ("passive_rates", "actuation_jacobian")
        if (
            name in (*ELSEWHERE, *without)
            or ours > closed
            or (closed and not (ours or name in DRIVEN))
        ):
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
        within = exact
        if name in ("forward_dynamics", "inverse_mass_matrix") and not closed:
            # no closer than rounding leaves it: fingers weigh a millionth of what carries them
            within = max(exact, 1e-15 * float(np.linalg.cond(robot.mass_matrix(x[0])).max()))
        agree(found, expected, name, within)
        size = max(1.0, float(np.abs(expected).max(initial=0.0)))
        worst[name] = float(np.abs(found - expected).max(initial=0.0)) / size
    return worst


@pytest.mark.slow
@pytest.mark.parametrize("base", ["floating", *(["fixed"] if ALL else [])])
def test_every_joint_type(base: Any):
    robot = lw.load(solid(every_joint_urdf()), base=base)
    with jax.disable_jit():
        without = () if ALL else HEAVY
        assert_all_agree(robot, motion(robot, 2, f"every joint {base}"), without=without)


@pytest.mark.slow
def test_what_acts_on_every_joint_type():
    robot = lw.load(solid(every_joint_urdf()), base="floating")
    # as many rows as above: what JAX has made of arrays of these shapes serves again
    m, (q, v, dv) = lj.robot(robot), motion(robot, 2, "what acts")
    by: Any = {
        "external": {"camera": np.arange(12.0).reshape(2, 6), "hand": np.ones(6)},
        "gravity": [1.0, 2.0, 3.0],
        "losses": True,
    }
    with jax.disable_jit():
        tau = robot.inverse_dynamics(q, v, dv, **by, armature=0.1)
        agree(lj.inverse_dynamics(m, q, v, dv, **by, armature=0.1), tau)
        expected = robot.forward_dynamics(q, v, tau, **by, armature=0.1)
        agree(lj.forward_dynamics(m, q, v, tau, **by, armature=0.1), expected)


@pytest.mark.slow
def test_springs_of_hinges_and_slides():
    body = (
        '<body name="{0}" pos="0 .1 .3"><joint name="{0}" type="{1}" axis="1 .2 .5" damping=".3" '
        '{2}/><geom size=".1" pos=".1 0 .2" mass="1"/>'
    )
    spring = 'stiffness="2" springref=".4" ref=".1"'
    joints = (("a", "hinge", spring), ("b", "ball", ""), ("c", "slide", spring))
    text = "".join(body.format(*joint) for joint in joints)
    robot = lw.load(
        '<mujoco><compiler angle="radian"/><option gravity="1 2 -3"/>'
        f"<worldbody>{text}</body></body></body></worldbody></mujoco>"
    )
    m, (q, v, dv) = lj.robot(robot), motion(robot, 2, "springs")
    with jax.disable_jit():
        tau = robot.inverse_dynamics(q, v, dv, losses=True)
        agree(lj.inverse_dynamics(m, q, v, dv, losses=True), tau)
        agree(lj.forward_dynamics(m, q, v, tau, losses=True), dv)
        agree(lj.inverse_dynamics(m, q, v, dv), robot.inverse_dynamics(q, v, dv))
        soft = m.replace(stiffness=np.zeros(robot.n_v))
        assert np.abs(lj.inverse_dynamics(soft, q, v, dv, losses=True) - tau).max() > 0.1


@pytest.mark.slow
@pytest.mark.parametrize("name", ROBOTS)
def test_real_robots(name: str):
    robot = lw.load(example_robot_urdf(name), base="fixed")
    with jax.disable_jit():
        without = () if ALL else tuple({*ALGORITHMS} - {*HEAVY})
        worst = assert_all_agree(robot, motion(robot, 2, name), without=without)
    print(name, max(worst.values()), max(worst, key=lambda key: worst[key]))


@pytest.mark.slow
@pytest.mark.parametrize("name", CLOSED_ROBOTS)
def test_closed_mechanisms(name: str):
    robot = lw.load(name)
    with jax.disable_jit():
        worst = assert_all_agree(robot, closed_motion(robot, name))
    print(name, max(worst.values()), max(worst, key=lambda key: worst[key]))


@pytest.mark.slow
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
def test_programs_of_xla_for_branches_say_the_same():
    robot = lw.load("quadruped")
    m, (q, v, dv) = lj.robot(robot), motion(robot, 2, "branches")
    for reference in ("world-aligned", "world"):
        expected = robot.jacobian(q, robot.frame_names[-1], reference=reference)
        agree(lj.jacobian(m, q, robot.frame_names[-1], reference=reference), expected)
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
    robot = lw.load("planar_3r")
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
    robot = lw.load("planar_2r")
    m = lj.robot(robot)
    q, v, tau = (x[0] for x in motion(robot, 1, "forward derivatives"))
    slopes = robot.forward_dynamics_derivatives(q, v, tau)
    found = jax.jacfwd(lj.forward_dynamics, argnums=(2, 3))(m, q, v, tau)
    for mine, expected in zip(found, slopes[1:], strict=True):
        agree(mine, expected)


@pytest.mark.slow
def test_gradients_by_the_model_are_those_of_differences():
    robot = lw.load("planar_2r")
    m = lj.robot(robot)
    q, v, dv = motion(robot, 2, "model")

    def total(m: lj.Model) -> Any:
        return (lj.inverse_dynamics(m, q, v, dv) ** 2).sum() + (lj.fk(m, q)[..., :3, 3] ** 3).sum()

    both, draw = jax.jit(jax.value_and_grad(total)), rng("directions")
    _, slope = both(m)
    for name in ("xyz:joint2", "rpy:joint2", "mass:link2", "com:link2", "inertia:link2", "gravity"):
        way = draw.normal(size=np.shape(m[name]))
        ends = [both(m.replace({name: m[name] + sign * 1e-6 * way}))[0] for sign in (1, -1)]
        expected = float(ends[0] - ends[1]) / 2e-6
        found = float(np.sum(slope[name] * way))
        assert found == pytest.approx(expected, rel=1e-5, abs=1e-5), name


@pytest.mark.slow
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
