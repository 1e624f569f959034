"""Optimise a four-bar's lengths for a path: gradients through assembled loops."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import optax

import linkwork as lw
import linkwork.jax as lj

jax.config.update("jax_enable_x64", True)

robot = lw.load("four_bar")
robot = robot.with_frame("pen", "coupler_link", lw.poses.pose([0.15, 0.05, 0.0]))
model = lj.robot(robot)
crank = jnp.linspace(0.2, 1.8, 12)[:, None]
near = robot.assemble([0.2]).q

# lengths of crank, coupler, rocker and ground, and where the pen is on the coupler
NAMES = ["xyz:coupler", "xyz:coupler_end_joint", "xyz:rocker_end_joint", "xyz:rocker", "xyz:pen"]


def with_lengths(lengths: jax.Array) -> lj.Model:
    """The model with these lengths (m), the pen's two numbers last."""
    along = [jnp.array([1.0, 0.0, 0.0]) * x for x in lengths[:4]]
    pen = jnp.array([lengths[4], lengths[5], 0.0])
    return model.replace(dict(zip(NAMES, [*along, pen], strict=True)))


def path(lengths: jax.Array) -> tuple[jax.Array, jax.Array]:
    """Where the pen goes (12, 2), in m, and how far the loop is open there."""
    changed = with_lengths(lengths)
    found = lj.assemble(changed, crank, near)
    return lj.fk(changed, found.q, "pen")[:, :2, 3], found.position_error


# a straight line, passed at an even speed
start = jnp.array([0.06, 0.3, 0.18, 0.3, 0.15, 0.05])
first, _ = path(start)
share = jnp.linspace(0.0, 1.0, len(crank))[:, None]
line = first[0] + share * (first[-1] - first[0])


def error(lengths: jax.Array) -> jax.Array:
    """The mean square of the distances (m²) to the line."""
    return jnp.mean(jnp.sum((path(lengths)[0] - line) ** 2, axis=-1))


optimiser = optax.adam(5e-4)
state, lengths = optimiser.init(start), start


@jax.jit
def update(lengths: jax.Array, state: optax.OptState) -> tuple:
    """One step of the optimiser."""
    changes, state = optimiser.update(jax.grad(error)(lengths), state)
    return optax.apply_updates(lengths, changes), state


for _ in range(300):
    lengths, state = update(lengths, state)

_, open_ = path(lengths)
print(f"off the line: {1e3 * error(start) ** 0.5:.2f} mm, now {1e3 * error(lengths) ** 0.5:.2f} mm")
print("crank, coupler, rocker, ground, pen:", *(f"{1e3 * x:.1f}" for x in lengths), "mm")
print(f"the loop is open by {jnp.max(open_):.0e} m at most")
