"""Plan a trajectory by gradient: with little torque, past a ball, to a pose of the tool."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import optax

import linkwork as lw
import linkwork.jax as lj

jax.config.update("jax_enable_x64", True)

robot = lw.load("ur5e")
model = lj.robot(robot)
START = jnp.array([0.0, -1.2, 1.5, -1.8, -1.5, 0.0])
GOAL = lj.fk(model, START.at[0].set(1.2).at[2].set(1.9), "tool0")
found = lj.ik(model, GOAL, "tool0", q0=START)
SECONDS, N = 1.5, 24
dt = SECONDS / N

# a ball where the straight way in joint space passes with the tool
straight = START + jnp.linspace(0.0, 1.0, N + 1)[:, None] * (found.q - START)
BALL, RADIUS = lj.fk(model, straight[N // 2], "tool0")[:3, 3], 0.12


def with_ends(inner: jax.Array) -> jax.Array:
    """All configurations (N + 5, 6): at rest at both ends."""
    ends = [jnp.broadcast_to(q, (3, 6)) for q in (START, found.q)]
    return jnp.concatenate([ends[0], inner, ends[1]])


def cost(inner: jax.Array) -> jax.Array:
    """Torques, by inverse dynamics of differences, and how far the tool is inside the ball."""
    q = with_ends(inner)
    v = (q[2:] - q[:-2]) / (2.0 * dt)
    dv = (q[2:] - 2.0 * q[1:-1] + q[:-2]) / dt**2
    tau = lj.inverse_dynamics(model, q[1:-1], v, dv)
    away = jnp.linalg.norm(lj.fk(model, q, "tool0")[:, :3, 3] - BALL, axis=-1)
    inside = jnp.maximum(RADIUS - away, 0.0)
    return jnp.mean(tau**2) + 1e6 * jnp.mean(inside**2)


inner = straight[1:-1]
# the last configurations before the ends are those of rest
optimiser = optax.adam(optax.cosine_decay_schedule(2e-2, 600))
state = optimiser.init(inner)


@jax.jit
def update(inner: jax.Array, state: optax.OptState) -> tuple:
    """One step of the optimiser."""
    changes, state = optimiser.update(jax.grad(cost)(inner), state)
    return optax.apply_updates(inner, changes), state


first = cost(inner)
# a first push out of the ball's centre, where its gradient has no direction
inner = inner + 1e-3 * np.random.default_rng(0).normal(size=inner.shape)
for _ in range(600):
    inner, state = update(inner, state)

q = with_ends(inner)
away = jnp.linalg.norm(lj.fk(model, q, "tool0")[:, :3, 3] - BALL, axis=-1)
print(f"inverse kinematics: {'reached' if found.success else 'missed'}")
print(f"cost {first:.0f}, now {cost(inner):.0f}")
print(f"the tool passes the ball's centre at {100 * jnp.min(away):.1f} cm; its radius is 12 cm")
