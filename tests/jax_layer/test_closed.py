"""Mechanisms with loops under JAX: closure, dynamics, assembling and its derivatives."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import linkwork as lw
from backends import jax_x64
from closed_mechanisms import closed_motion

jax = pytest.importorskip("jax", reason="JAX (pip install jax) is not installed")
import linkwork.jax as lj  # noqa: E402 -- after the check that it is there


@pytest.fixture(autouse=True)
def float64() -> Iterator[None]:
    """JAX in float64."""
    with jax_x64():
        yield


def agree(found: Any, expected: Any, exact: float = 1e-10) -> None:
    size = max(1.0, float(np.abs(expected).max()))
    np.testing.assert_allclose(np.asarray(found), expected, rtol=0, atol=exact * size)


def test_closure_and_its_derivative():
    """Of the others, and dynamics: test_kinematics_and_dynamics.py."""
    robot = lw.load("four_bar")
    m, q = lj.robot(robot), robot.random(2, seed=1)
    agree(lj.closure(m, q), robot.closure(q))
    agree(lj.closure_jacobian(m, q), robot.closure_jacobian(q))


@pytest.mark.slow
def test_assembling_follows_the_branch_of_the_compiled_solver():
    robot = lw.load("four_bar")
    m = lj.robot(robot)
    q, *_ = closed_motion(robot, "branch")
    crank = np.linspace(0.0, 1.0, 5)[:, None] + q[[int(robot.mechanism.q_start[0])]]
    found, expected = lj.assemble(m, crank, q), robot.assemble(crank, q)
    assert found.success.all()
    agree(found.q, expected.q, 1e-9)
    again = lj.assemble(m, {"crank": crank[:, 0]}, q)
    agree(again.q, expected.q, 1e-9)


@pytest.mark.slow
def test_derivatives_of_assembling_are_those_of_assembling_again():
    robot = lw.load("four_bar")
    m = lj.robot(robot)
    q, *_ = closed_motion(robot, "derivative")
    crank, h = q[:1] + 0.4, 1e-5
    name = "xyz:rocker_end_joint"

    def answer(s: Any, length: Any) -> Any:
        return lj.assemble(m.replace({name: m[name] * (1.0 + length)}), crank + s, q).q

    solution = jax.jit(answer)
    slopes = jax.jit(jax.jacrev(answer, argnums=(0, 1)))(0.0, 0.0)
    for slope, step in zip(slopes, np.eye(2) * h, strict=True):
        expected = (solution(*step) - solution(*-step)) / (2 * h)
        np.testing.assert_allclose(slope, expected, atol=1e-8)


def test_what_has_no_loops_has_no_closure():
    m = lj.robot(lw.load("planar_3r"))
    with pytest.raises(lw.InputError, match="loops"):
        lj.closure(m, np.zeros(3))
