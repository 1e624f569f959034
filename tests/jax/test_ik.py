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


@pytest.fixture(autouse=True)
def float64() -> Iterator[None]:
    """JAX in float64."""
    with jax_x64():
        yield


@pytest.mark.slow
@pytest.mark.parametrize("name", ["ur5e", "panda"])
def test_every_reachable_target_is_reached(name: str):
    robot = lw.load(name)
    m = lj.robot(robot)
    seed = int(rng(f"ik {name}").integers(1000))
    targets = robot.fk(robot.random(300, seed=seed), "tool0")
    found = lj.ik(m, targets.reshape(3, 100, 4, 4), "tool0")
    assert found.success.shape == (3, 100)
    assert found.success.all()
    q = np.asarray(found.q).reshape(300, -1)
    np.testing.assert_allclose(robot.fk(q, "tool0"), targets, atol=3e-6)
    assert (q >= robot.limits.lower).all()
    assert (q <= robot.limits.upper).all()
    assert found.iterations.mean() < 200


def test_a_target_out_of_reach_is_no_success_and_says_by_how_much():
    robot = lw.load("planar_3r")
    m = lj.robot(robot)
    T = np.array(robot.fk(robot.neutral(), "tool0"))
    T[2, 3] += 0.25
    found = lj.ik(m, T, "tool0", tries=2)
    assert not found.success
    assert found.position_error == pytest.approx(0.25, abs=0.02)


@pytest.mark.slow
def test_implicit_derivatives_are_those_of_problems_solved_again():
    robot = lw.load("ur5e")
    m = lj.robot(robot)
    q = np.array([0.3, -1.2, 1.4, -1.0, -1.3, 0.2])
    T = jnp.asarray(robot.fk(q, "tool0"))
    way = jnp.array([0.3, -0.2, 0.4])

    def solution(s: Any, m: lj.Model = m) -> Any:
        moved = T.at[:3, 3].add(s * way)
        exact: Any = {"position_tolerance": 1e-12, "rotation_tolerance": 1e-12}
        return lj.ik(m, moved, "tool0", q0=q, tries=1, **exact).q

    h = 1e-4  # answers are exact to 1e-11 or so
    expected = (solution(h) - solution(-h)) / (2 * h)
    np.testing.assert_allclose(jax.jacfwd(solution)(0.0), expected, atol=1e-6)
    slope = jax.grad(lambda s: solution(s) @ jnp.arange(1.0, 7.0))(0.0)
    assert slope == pytest.approx(float(expected @ jnp.arange(1.0, 7.0)), abs=1e-5)
    # by the model: a longer forearm
    name = f"xyz:{robot.joint_names[2]}"
    long = lambda s: m.replace({name: m[name] * (1.0 + s)})
    expected = (solution(0.0, long(h)) - solution(0.0, long(-h))) / (2 * h)
    found = jax.jacfwd(lambda s: solution(0.0, long(s)))(0.0)
    np.testing.assert_allclose(found, expected, atol=1e-6)


@pytest.mark.slow
def test_joints_at_limits_stay_there():
    robot = lw.load("planar_3r")
    m = lj.robot(robot)
    # joint1 ends at 0.5: it would go on, so two joints do the rest; position alone is asked for
    m = m.replace(upper=m.upper.at[0].set(0.5))
    q = np.array([0.5, 0.4, 0.7])
    T = jnp.asarray(robot.fk(q, "tool0"))

    def moved(s: Any) -> Any:
        turn = jnp.array([[jnp.cos(s), -jnp.sin(s)], [jnp.sin(s), jnp.cos(s)]])
        # a turn about joint2, which the third joint and the second can follow with joint1 held
        pivot = jnp.asarray(robot.fk(q, "link2"))[:2, 3]
        there = T.at[:2, 3].set(pivot + turn @ (T[:2, 3] - pivot))
        return there.at[:2, :2].set(turn @ T[:2, :2])

    exact: Any = {"position_tolerance": 1e-11, "rotation_tolerance": 1e-11}
    solution = lambda s: lj.ik(m, moved(s), "tool0", q0=q, tries=1, **exact).q
    found = jax.jacfwd(solution)(0.0)
    np.testing.assert_allclose(found, [0.0, 1.0, 0.0], atol=1e-8)
    again = (solution(1e-4) - solution(-1e-4)) / 2e-4
    np.testing.assert_allclose(again, found, atol=1e-5)


@pytest.mark.slow
def test_vmap_and_leading_shapes_find_the_same():
    robot = lw.load("planar_3r")
    m = lj.robot(robot)
    targets = robot.fk(robot.random(4, seed=3), "tool0")
    one = lambda T: lj.ik(m, T, "tool0")
    mapped = jax.vmap(one)(targets)
    assert mapped.success.all()
    assert lj.ik(m, targets, "tool0").success.all()


@pytest.mark.slow
def test_float32_reaches_a_tenth_of_a_millimetre():
    robot = lw.load("planar_3r")
    m = lj.robot(robot, dtype=np.float32)
    targets = np.float32(robot.fk(robot.random(50, seed=4), "tool0"))
    found = lj.ik(m, targets, "tool0")
    assert found.q.dtype == np.float32
    assert found.success.all()
