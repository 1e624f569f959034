"""Mechanisms with loops against MuJoCo's equality constraints, which are springs: they give way.

The harder they are, the nearer its motion comes to ours; with the square of their time constant.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import linkwork as lw
import linkwork.models
from pendulums import orders

mujoco = pytest.importorskip("mujoco", reason="MuJoCo (pip install mujoco) is not installed")
MODELS = Path(linkwork.models.__file__).parent
GRAVITY = [0.0, -9.80665, 0.0]


def engine(robot: lw.Robot, name: str, time_constant: float, dt: float) -> Any:
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
        data = mujoco.MjData(model := engine(robot, name, time_constant, dt))
        assert model.nq == robot.n_q
        data.qpos[:] = q0
        for _ in range(round(duration / dt)):
            mujoco.mj_step(model, data)
        gaps.append(np.abs(data.qpos - found.q[-1]).max())
    assert np.abs(found.q[-1] - q0).max() > 1.0
    assert (orders(gaps) > 1.8).all(), gaps
    assert gaps[-1] < 1e-6
