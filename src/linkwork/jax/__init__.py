"""Linkwork's mathematics under JAX: pure functions of a model that is a pytree.

``m = robot(lw.load("panda"))``, then ``fk(m, q, "tool0")`` and the other functions, under ``jit``,
``vmap``, ``grad``, ``jacfwd``, ``jacrev`` and on any device; with respect to q as to the model
itself, whose leaves are origins of joints, masses, inertias and gravity. docs/jax.md has the rest.
`compiled` has the compiled kernels as functions of JAX arrays (docs/jax_compiled.md).
"""

from __future__ import annotations

from importlib.util import find_spec

from linkwork.errors import MissingExtraError

if find_spec("jax") is None:
    raise MissingExtraError(
        "linkwork.jax needs JAX, which is not installed: pip install 'linkwork[jax]'"
    )

from linkwork.jax.closed import assemble, closure, closure_jacobian
from linkwork.jax.compiled import Compiled, compiled
from linkwork.jax.functions import (
    com,
    com_jacobian,
    difference,
    fk,
    fk_all,
    forward_dynamics,
    gravity_forces,
    integrate,
    inverse_dynamics,
    jacobian,
    kinetic_energy,
    mass_matrix,
    potential_energy,
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
    "assemble",
    "closure",
    "closure_jacobian",
    "com",
    "com_jacobian",
    "compiled",
    "difference",
    "fk",
    "fk_all",
    "forward_dynamics",
    "gravity_forces",
    "ik",
    "integrate",
    "inverse_dynamics",
    "jacobian",
    "kinetic_energy",
    "mass_matrix",
    "potential_energy",
    "relative",
    "robot",
    "step",
]
