"""Fit a robot's link lengths from measured poses: the model itself is what is differentiated."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import optax

import linkwork as lw
import linkwork.jax as lj

jax.config.update("jax_enable_x64", True)

robot = lw.load("planar_3r")
tip = robot.tip
model = lj.robot(robot)

# the robot that stands in the laboratory was not built quite as its description says
rng = np.random.default_rng(0)
joints = ["joint2", "joint3"]
built = {f"xyz:{name}": model[f"xyz:{name}"] + rng.normal(scale=0.01, size=3) for name in joints}
q = robot.random(200, seed=0)
measured = lj.fk(model.replace(built), q, tip)[..., :3, 3]
measured = measured + rng.normal(scale=1e-5, size=measured.shape)


def error(origins: dict[str, jax.Array]) -> jax.Array:
    """The mean square of the distances (m²) to what was measured."""
    found = lj.fk(model.replace(origins), q, tip)[..., :3, 3]
    return jnp.mean(jnp.sum((found - measured) ** 2, axis=-1))


origins = {name: model[name] for name in built}
start = error(origins)
optimiser = optax.adam(2e-3)
state = optimiser.init(origins)


@jax.jit
def update(origins: dict[str, jax.Array], state: optax.OptState) -> tuple:
    """One step of the optimiser."""
    changes, state = optimiser.update(jax.grad(error)(origins), state)
    return optax.apply_updates(origins, changes), state


for _ in range(600):
    origins, state = update(origins, state)

print(
    f"root mean square before {1e3 * start**0.5:.1f} mm, after {1e3 * error(origins) ** 0.5:.3f} mm"
)
for name in built:
    # what lies along the axes of the joints shows in no pose alone, so lengths are compared
    is_, was = (jnp.linalg.norm(x[name][:2]) for x in (origins, built))
    print(f"{name}: length {1e3 * is_:.2f} mm, built with {1e3 * was:.2f} mm")
