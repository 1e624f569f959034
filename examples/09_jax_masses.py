"""Calibrate masses from measured torques: gradients of inverse dynamics by the model."""

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

# torques of a robot whose upper links are heavier than the description says, with noise
rng = np.random.default_rng(0)
q = robot.random(300, seed=0)
v, dv = rng.normal(size=(2, *q.shape))
# (what turns about the vertical alone, as the shoulder, shows in no torque)
heavy = ["upper_arm_link", "forearm_link", "wrist_1_link", "wrist_2_link"]
real = {f"mass:{name}": model[f"mass:{name}"] * rng.uniform(0.8, 1.2) for name in heavy}
measured = lj.inverse_dynamics(model.replace(real), q, v, dv)
measured = measured + rng.normal(scale=0.05, size=measured.shape)


def error(logs: dict[str, jax.Array]) -> jax.Array:
    """The mean square (N² m²) of what the torques miss; masses by their logarithms stay above 0."""
    masses = {name: jnp.exp(x) for name, x in logs.items()}
    found = lj.inverse_dynamics(model.replace(masses), q, v, dv)
    return jnp.mean((found - measured) ** 2)


logs = {name: jnp.log(model[name]) for name in real}
optimiser = optax.adam(1e-2)
state = optimiser.init(logs)


@jax.jit
def update(logs: dict[str, jax.Array], state: optax.OptState) -> tuple:
    """One step of the optimiser."""
    changes, state = optimiser.update(jax.grad(error)(logs), state)
    return optax.apply_updates(logs, changes), state


print(f"before: {error(logs) ** 0.5:.3f} N m")
for _ in range(400):
    logs, state = update(logs, state)
print(f"after:  {error(logs) ** 0.5:.3f} N m, of which 0.05 is noise")
for name, mass in real.items():
    print(f"{name}: {jnp.exp(logs[name]):.3f} kg, really {mass:.3f} kg")
