"""Trajectories against MuJoCo: the same ones with the same method, and to the method's order."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import linkwork.models
from pendulums import simulated
from robots import mechanism_from
from seeds import rng

mujoco = pytest.importorskip("mujoco", reason="MuJoCo (pip install mujoco) is not installed")
MODELS = Path(linkwork.models.__file__).parent


def engine(text: str, dt: float, *, method: str = "RK4", floating: bool = False) -> Any:
    """Its model of a URDF, without contacts and limits, in our gravity."""
    spec = mujoco.MjSpec.from_string(text)
    spec.option.gravity = [0.0, 0.0, -9.80665]
    spec.option.timestep = dt
    spec.option.integrator = getattr(mujoco.mjtIntegrator, f"mjINT_{method}")
    bits = mujoco.mjtDisableBit
    spec.option.disableflags |= bits.mjDSBL_CONTACT | bits.mjDSBL_LIMIT
    spec.compiler.balanceinertia = False
    spec.compiler.boundinertia = 0.0
    spec.compiler.boundmass = 0.0
    for joint in spec.joints:
        joint.frictionloss = 0.0
        joint.damping = np.zeros_like(joint.damping)
    if floating:
        spec.bodies[1].add_freejoint()
    return spec.compile()


def rolled(model: Any, q0: np.ndarray, v0: np.ndarray, steps: int) -> tuple[Any, Any]:
    data = mujoco.MjData(model)
    data.qpos[:], data.qvel[:] = q0, v0
    for _ in range(steps):
        mujoco.mj_step(model, data)
    return data.qpos.copy(), data.qvel.copy()


@pytest.mark.sweep(1)
@pytest.mark.parametrize("name", ["panda", "ur5e", "puma560"])
def test_arms_by_rk4(name: str):
    text = (MODELS / f"{name}.urdf").read_text(encoding="utf-8")
    m = mechanism_from(text)
    random = rng(f"against MuJoCo: {name}")
    q0, v0 = random.uniform(-1, 1, m.n_q), random.uniform(-1, 1, m.n_v)
    model = engine(text, 1e-3)
    assert model.nq == m.n_q
    q, v = rolled(model, q0, v0, 500)
    found = simulated(m, q0, v0, 0.5, record=0)
    np.testing.assert_allclose(found.q[-1], q, rtol=1e-8, atol=1e-8)
    np.testing.assert_allclose(found.v[-1], v, rtol=1e-7, atol=1e-7)


def test_a_floating_robot():
    """Its free joint has linear velocity along the world's axes and angular along the body's."""
    text = (MODELS / "quadruped.urdf").read_text(encoding="utf-8")
    m = mechanism_from(text, "floating")
    random = rng("floating against MuJoCo")
    spec = mujoco.MjSpec.from_string(text)
    if not spec.bodies[1].joints:
        pytest.importorskip("mujoco")
    q0 = np.r_[0.1, 0.2, 0.5, 1.0, 0, 0, 0, random.uniform(-0.3, 0.3, m.n_q - 7)]
    v0 = random.uniform(-1, 1, m.n_v)
    try:
        model = engine(text, 1e-3, floating=True)
    except ValueError as problem:
        pytest.skip(f"MuJoCo gives this file no free base: {problem}")
    if (model.nq, model.nv) != (m.n_q, m.n_v):
        pytest.skip("MuJoCo fuses the base of this file with the world")
    q, _ = rolled(model, q0, v0, 200)
    found = simulated(m, q0, v0, 0.2, record=0)
    np.testing.assert_allclose(found.q[-1], q, atol=1e-6)
