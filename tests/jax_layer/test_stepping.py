"""One step of time under JAX has the numbers of one step of `lw.simulate`, and derivatives."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
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


def rubbing(name: str, folder: Path | None = None) -> lw.Robot:
    """A bundled robot whose turning joints have damping and Coulomb friction."""
    models = Path(lw.__file__).parent / "models"
    text = (models / f"{name}.urdf").read_text()
    turning = r'(<joint name="[^"]*" type="(?:revolute|continuous)">)'
    text = re.sub(turning, r'\1<dynamics damping="0.1" friction="0.4"/>', text)
    if folder is None:
        return lw.load(text)
    loops = f"{name}.loops.yaml"
    (folder / loops).write_text((models / loops).read_text())
    (folder / f"{name}.urdf").write_text(text)
    return lw.load(folder / f"{name}.urdf")


def assert_steps_are_those_of_simulate(
    robot: lw.Robot, state: tuple[Any, Any, Any], method: Any, exact: float, **how: Any
) -> None:
    """Three steps."""
    m, dt, (q, v, tau) = lj.robot(robot), 1e-3, state
    run = lw.simulate(robot, q, v, 3 * dt, dt=dt, method=method, torque=tau, **how)
    found = (q, v)
    for _ in range(3):
        found = lj.step(m, *found, dt, tau, method=method, **how)
    np.testing.assert_allclose(found[0], run.q[..., -1, :], rtol=0, atol=exact)
    np.testing.assert_allclose(found[1], run.v[..., -1, :], rtol=0, atol=1e3 * exact)


@pytest.mark.slow
def test_steps_are_those_of_simulate():
    robot = lw.load("quadruped", base="floating")
    draw = rng("quadruped")
    state = robot.random(seed=1), draw.normal(size=robot.n_v), draw.normal(size=robot.n_v)
    assert_steps_are_those_of_simulate(robot, state, "rk4", 1e-12)


@pytest.mark.slow
def test_a_roll_out_has_derivatives_with_friction_too():
    robot = rubbing("planar_2r")
    m = lj.robot(robot)

    def end(friction: Any, q: Any) -> Any:
        state = (q, np.array([0.01, 1.0]))  # one joint comes to rest on the way
        changed = m.replace(friction=friction)
        again = lambda x, _: (lj.step(changed, *x, 1e-2, method="euler", losses=True), None)
        (q, v), _ = jax.lax.scan(again, state, None, length=5)
        return q[0] + v[1] ** 2, (q, v)

    both = jax.jit(jax.value_and_grad(end, argnums=(0, 1), has_aux=True))
    given, h = [m.friction, np.array([0.3, -0.4])], 1e-6
    (_, state), found = both(*given)
    run = lw.simulate(robot, given[1], [0.01, 1.0], 5e-2, dt=1e-2, method="euler", losses=True)
    np.testing.assert_allclose(state[0], run.q[-1], rtol=0, atol=1e-13)
    np.testing.assert_allclose(state[1], run.v[-1], rtol=0, atol=1e-12)
    for which, k in ((0, 0), (0, 1), (1, 1)):
        ends: list[float] = []
        for sign in (1, -1):
            moved = list(given)
            moved[which] = given[which] + sign * h * np.eye(2)[k]
            ends.append(float(both(*moved)[0][0]))
        expected = (ends[0] - ends[1]) / (2 * h)
        assert found[which][k] == pytest.approx(expected, rel=1e-5, abs=1e-9)


@pytest.mark.slow
def test_steps_with_loops_and_friction_and_their_derivatives(tmp_path: Path):
    robot, dt = rubbing("four_bar", tmp_path), 1e-3
    m, q = lj.robot(robot), np.asarray(robot.assemble().q)
    v = np.asarray(robot.passive_rates(q))[:, 0]
    tau, way = np.array([3.0, 0.0, 0.0]), np.array([1.0, 0.0, 0.0])
    step = lambda tau: lj.step(m, q, v, dt, tau, losses=True)
    both = jax.jit(lambda tau: jax.jvp(step, (tau,), (way,)))
    run = lw.simulate(robot, q, v, dt, dt=dt, torque=tau, losses=True)
    end, change = both(tau)
    np.testing.assert_allclose(end[0], run.q[-1], rtol=0, atol=1e-11)
    np.testing.assert_allclose(end[1], run.v[-1], rtol=0, atol=1e-8)
    assert np.abs(robot.closure(np.asarray(end[0]))).max() < 1e-12
    for k in range(2):
        expected = (both(tau + 1e-3 * way)[0][k] - both(tau - 1e-3 * way)[0][k]) / 2e-3
        np.testing.assert_allclose(change[k], expected, atol=1e-7)


def test_what_is_no_step_is_refused_by_name():
    robot = lw.load("planar_2r")
    with pytest.raises(lw.InputError, match="method='leap'"):
        lj.step(lj.robot(robot), robot.neutral(), np.zeros(2), 1e-3, method="leap")  # pyright: ignore[reportArgumentType]
    m, q = lj.robot(robot), np.zeros(2)
    with pytest.raises(
        lw.ShapeError, match=r"dt is one time for all rows, not of the shape \(2,\)"
    ):
        lj.step(m, q, q, np.array([1e-3, 2e-3]))
    with pytest.raises(lw.InputError, match="losses is True"):
        lj.step(m, q, q, 1e-3, losses="no")  # pyright: ignore[reportArgumentType]
    with pytest.raises(lw.InputError, match="external gives wrenches by frame"):
        lj.step(m, q, q, 1e-3, external=[1])  # pyright: ignore[reportArgumentType]
