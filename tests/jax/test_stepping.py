"""One step of time under JAX has the numbers of one step of `lw.simulate`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import linkwork as lw
from backends import jax_x64
from seeds import rng

jax = pytest.importorskip("jax", reason="JAX (pip install jax) is not installed")
import linkwork.jax as lj  # noqa: E402 -- after the check that it is there


@pytest.fixture(autouse=True)
def float64() -> Iterator[None]:
    """JAX in float64."""
    with jax_x64():
        yield


@pytest.mark.slow
@pytest.mark.parametrize("method", ["rk4", "euler"])
@pytest.mark.parametrize("name", ["planar_3r", "quadruped"])
def test_a_step_is_that_of_simulate(name: str, method: Any):
    robot = lw.load(name, base="floating") if name == "quadruped" else lw.load(name)
    m = lj.robot(robot)
    draw = rng(f"{name} {method}")
    q, v = robot.random(seed=1), draw.normal(size=robot.n_v)
    tau = draw.normal(size=robot.n_v)
    run = lw.simulate(robot, q, v, 1e-3, dt=1e-3, method=method, torque=tau)
    found = lj.step(m, q, v, 1e-3, tau, method=method)
    np.testing.assert_allclose(found[0], run.q[-1], rtol=0, atol=1e-12)
    np.testing.assert_allclose(found[1], run.v[-1], rtol=0, atol=1e-9)


@pytest.mark.slow
def test_a_roll_out_has_derivatives():
    robot = lw.load("planar_2r")
    m = lj.robot(robot)

    def end(q: Any) -> Any:
        state = (q, np.zeros(2))
        again = lambda state, _: (lj.step(m, *state, 1e-2, method="euler"), None)
        return jax.lax.scan(again, state, None, length=20)[0][0][0]

    q, h = np.array([0.3, -0.4]), 1e-6
    slope = jax.grad(end)(q)
    for k in range(2):
        step = h * np.eye(2)[k]
        assert slope[k] == pytest.approx(float(end(q + step) - end(q - step)) / (2 * h), rel=1e-6)


def test_loops_and_friction_are_refused_by_name():
    four_bar = lw.load("four_bar")
    m = lj.robot(four_bar)
    with pytest.raises(lw.UnsupportedFeatureError, match="loops"):
        lj.step(m, four_bar.neutral(), np.zeros(3), 1e-3)
