"""Linkwork's mathematics under JAX: pure functions of a model that is a pytree.

``m = robot(lw.load("panda"))``, then ``fk(m, q, "tool0")`` and the other functions, under ``jit``,
``vmap``, ``grad``, ``jacfwd``, ``jacrev`` and on any device; with respect to q as to the model
itself, whose leaves are origins of joints, masses, inertias and gravity. docs/jax.md has the rest.
`compiled` has the compiled kernels as functions of JAX arrays (docs/jax_compiled.md).
"""

from __future__ import annotations

from importlib.util import find_spec

from linkwork import extras

if find_spec("jax") is None:
    raise extras.missing("linkwork.jax needs", "JAX", "jax")

from linkwork.jax.closed import (
    actuation_jacobian,
    assemble,
    closure,
    closure_bias,
    closure_jacobian,
    passive_rates,
)
from linkwork.jax.compiled import Compiled, compiled
from linkwork.jax.functions import (
    all_positions,
    bias_forces,
    centroidal_matrix,
    centroidal_momentum,
    com,
    com_acceleration,
    com_jacobian,
    com_velocity,
    coriolis_matrix,
    difference,
    fk,
    fk_all,
    forward_dynamics,
    frame_acceleration,
    frame_velocity,
    gravity_forces,
    integrate,
    inverse_dynamics,
    inverse_mass_matrix,
    jacobian,
    jacobian_dot,
    jacobian_dot_v,
    kinetic_energy,
    mass_matrix,
    potential_energy,
    regressor,
    relative,
    robot,
)
from linkwork.jax.ik import Found, ik
from linkwork.jax.model import LEAVES, Model
from linkwork.jax.stepping import step

__all__ = [
    "LEAVES",
    "Compiled",
    "Found",
    "Model",
    "actuation_jacobian",
    "all_positions",
    "assemble",
    "bias_forces",
    "centroidal_matrix",
    "centroidal_momentum",
    "closure",
    "closure_bias",
    "closure_jacobian",
    "com",
    "com_acceleration",
    "com_jacobian",
    "com_velocity",
    "compiled",
    "coriolis_matrix",
    "difference",
    "fk",
    "fk_all",
    "forward_dynamics",
    "frame_acceleration",
    "frame_velocity",
    "gravity_forces",
    "ik",
    "integrate",
    "inverse_dynamics",
    "inverse_mass_matrix",
    "jacobian",
    "jacobian_dot",
    "jacobian_dot_v",
    "kinetic_energy",
    "mass_matrix",
    "passive_rates",
    "potential_energy",
    "regressor",
    "relative",
    "robot",
    "step",
]
