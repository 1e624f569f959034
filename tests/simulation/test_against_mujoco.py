"""Trajectories against MuJoCo: the same ones with the same method, and to the method's order."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import linkwork as lw
import linkwork.models
from pendulums import orders, pendulum_urdf, simulated
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


@pytest.mark.parametrize(("method", "order"), [("rk4", 4), ("euler", 1), ("implicit", 2)])
def test_the_difference_falls_with_the_order(method: str, order: int):
    """Each method of ours against its RK4 at a tiny step."""
    text = pendulum_urdf(2, more='<limit lower="-9" upper="9" effort="1" velocity="1"/>').replace(
        'ixx="0" iyy="0" izz="0"', 'ixx="0.01" iyy="0.01" izz="0.01"'
    )
    m = mechanism_from(text)
    q0, v0 = np.array([0.7, -0.2]), np.array([1.0, 2.0])
    q, _ = rolled(engine(text, 1e-4), q0, v0, 5000)
    errors = [
        np.abs(simulated(m, q0, v0, 0.5, method=method, dt=dt, record=0).q[-1] - q).max()
        for dt in (0.01, 0.005, 0.0025)
    ]
    assert orders(errors)[-1] == pytest.approx(order, abs=0.2)


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


# Loops are equality constraints there, which are springs: they give way. The harder they are, the
# nearer its motion comes to ours, with the square of their time constant.

GRAVITY = [0.0, -9.80665, 0.0]


def closed_engine(robot: lw.Robot, name: str, time_constant: float, dt: float) -> Any:
    """Its model of the tree, with a point held for each loop."""
    spec = mujoco.MjSpec.from_file(str(MODELS / f"{name}.urdf"))
    spec.compiler.balanceinertia = spec.compiler.fusestatic = False
    spec.option.gravity, spec.option.timestep = GRAVITY, dt
    spec.option.integrator = mujoco.mjtIntegrator.mjINT_RK4
    spec.option.solver, spec.option.iterations = mujoco.mjtSolver.mjSOL_NEWTON, 100
    spec.option.tolerance = 0.0
    off = mujoco.mjtDisableBit
    spec.option.disableflags |= off.mjDSBL_CONTACT | off.mjDSBL_LIMIT
    for joint in spec.joints:
        joint.frictionloss, joint.damping = 0.0, np.zeros_like(joint.damping)
    m = robot.mechanism
    for loop in m.loops:
        held = spec.add_equality()
        held.type, held.objtype = mujoco.mjtEq.mjEQ_CONNECT, mujoco.mjtObj.mjOBJ_BODY
        bodies = [m.body_names[int(m.frame_body[m.frame(f)])] for f in (loop.frame_a, loop.frame_b)]
        held.name1, held.name2 = bodies
        q0 = robot.neutral()
        T = np.linalg.inv(robot.fk(q0, bodies[0])) @ robot.fk(q0, loop.frame_a)
        held.data[:3] = T[:3, 3]
        held.solref = [time_constant, 1.0]
        held.solimp = [0.9999, 0.9999, 0.001, 0.5, 2.0]
    return spec.compile()


@pytest.mark.sweep(1)
@pytest.mark.parametrize(
    ("name", "duration"), [("four_bar", 0.5), ("slider_crank", 0.5), ("five_bar", 0.3)]
)
def test_its_motion_comes_to_ours(name: str, duration: float):
    robot = lw.load(name)
    q0 = robot.neutral()
    found = lw.simulate(robot, q0, duration=duration, dt=1e-4, gravity=GRAVITY, record=0)
    gaps = []
    for time_constant in (8e-3, 4e-3, 2e-3):
        dt = time_constant / 20.0
        data = mujoco.MjData(model := closed_engine(robot, name, time_constant, dt))
        assert model.nq == robot.n_q
        data.qpos[:] = q0
        for _ in range(round(duration / dt)):
            mujoco.mj_step(model, data)
        gaps.append(np.abs(data.qpos - found.q[-1]).max())
    assert np.abs(found.q[-1] - q0).max() > 1.0
    assert (orders(gaps) > 1.8).all(), gaps
    assert gaps[-1] < 1e-6
