"""The inverse of the mass matrix."""

from __future__ import annotations

from linkwork.algorithms.forward_dynamics import (
    articulated_by_sweep,
    solve_articulated,
    unit_forces,
)
from linkwork.algorithms.joint_passage import passages
from linkwork.algorithms.mass_matrix import mass_entries, symmetric_matrix
from linkwork.algorithms.sweep import NO_MOTION, Output, Sweep
from linkwork.algorithms.tree_factor import factor, inverted
from linkwork.mechanism.model import Mechanism
from linkwork.ops.protocol import Block, Ops


def inverse_mass_matrix(o: Ops, m: Mechanism, q: Block) -> Block:
    """The inverse of the mass matrix: how accelerations change with joint forces.

    Shapes: q (nq,) to (nv, nv). Units: those of `mass_matrix`, inverted. Rotors (armature) are a
    parameter.

    Source: factors of the mass matrix with the tree's sparsity (`tree_factor.py`).
    """
    return symmetric_matrix(o, inverted(factor(mass_entries(m, passages(o, m, q)), m.n_v)), m.n_v)


def inverse_mass_matrix_by_sweep(sweep: Sweep) -> Output:
    """`inverse_mass_matrix` in passes, for long mechanisms: the answers to unit forces."""
    n, ways = sweep.m.n_v, articulated_by_sweep(sweep)
    found, units = sweep.output(n, n), unit_forces(sweep)
    nothing = sweep.each(lambda step: NO_MOTION)

    def column(j: int) -> None:
        solve_articulated(
            sweep,
            ways,
            nothing,
            lambda step, k: units[step.start + k, j],
            lambda step, k, value: found.add((step.start + k, j), value),
        )

    sweep.columns(column)
    return found
