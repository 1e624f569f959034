"""Dynamics: forces of motions, what a gripper holds, and control by inverse dynamics."""

from __future__ import annotations

import numpy as np

import linkwork as lw

robot = lw.load("panda")
rng = np.random.default_rng(0)
q, (v, dv) = robot.random(1000, seed=1), rng.normal(size=(2, 1000, robot.n_v))

# forces of a thousand motions, and back
tau = robot.inverse_dynamics(q, v, dv)
back = robot.forward_dynamics(q, v, tau)
print(f"there and back: {np.abs(back - dv).max():.1e} rad/s²")

# what the world pulls at the tool shows in the joints through the Jacobian
pull = {"tool0": [0.0, 0.0, -20.0, 0.0, 0.0, 0.0]}
pulled = robot.inverse_dynamics(q, v, dv, external=pull)
print(f"20 N at the tool: up to {np.abs(pulled - tau).max():.1f} N m in a joint")

# how the forces change with positions, velocities and accelerations
slopes = robot.inverse_dynamics_derivatives(q, v, dv)
print(f"d tau / dq, d tau / dv, the mass matrix: {slopes.q.shape} each")

# what the gripper holds, from noisy forces: dynamics is linear in masses
loaded = robot.function("inverse_dynamics", parameters=["payload:tool0"])
measured = loaded(q, v, dv, [1.5, 0.0, 0.0, 0.05]) + rng.normal(scale=0.05, size=tau.shape)
columns = robot.regressor(q, v, dv)[..., -10:].reshape(-1, 10)  # those of the last body
found, *_ = np.linalg.lstsq(columns, (measured - tau).ravel(), rcond=None)
print(f"the gripper holds {found[0]:.2f} kg")

# computed torque: the controller knows the robot, so every joint follows like a free mass
target = robot.neutral() + 0.3
forces = robot.function("inverse_dynamics")


def computed_torque(t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
    """Forces that make each joint return to its target as a damped spring does."""
    return forces(q, v, 100.0 * (target - q) - 20.0 * v)


run = lw.simulate(robot, robot.neutral(), duration=1.0, torque=computed_torque)
print(f"held to {np.abs(run.q[-1] - target).max():.1e} rad")
