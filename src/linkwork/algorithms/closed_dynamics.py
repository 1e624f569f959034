"""Dynamics of a mechanism with loops: its tree, and the forces that hold its loops together.

M dv + h = tau + Jᵀ f and J dv = -dJ/dt v: f from J M⁻¹ Jᵀ, whose products take only half of the
solution by M, as its factors have the sparsity of the tree.

Source: R. Featherstone, Rigid Body Dynamics Algorithms (2008), sections 8.4 and 8.5.
"""

from __future__ import annotations

from typing import NamedTuple

from linkwork.algorithms.axes import Scalar, added
from linkwork.algorithms.closure import Row, closure_rows
from linkwork.algorithms.closure_motion import acceleration_bias, closure_bias
from linkwork.algorithms.inverse_dynamics import inverse_forces, numbers
from linkwork.algorithms.joint_losses import losses
from linkwork.algorithms.joint_passage import passages
from linkwork.algorithms.mass_matrix import mass_entries
from linkwork.algorithms.proximal import Proximal, proximal, settled
from linkwork.algorithms.tree_factor import (
    Entries,
    TreeFactor,
    factor,
    half_product,
    half_solved,
    out_of_half,
)
from linkwork.algorithms.triples import minus, negated, times
from linkwork.mechanism.model import Mechanism
from linkwork.ops.protocol import Block, Ops


class Moved(NamedTuple):
    """Accelerations (nv,), and the multipliers of the closure's rows."""

    dv: list[Scalar]
    forces: list[Scalar]


class Held(NamedTuple):
    """Rows J of a mechanism with the mass matrix M: what solves for both."""

    masses: TreeFactor
    halves: list[dict[int, Scalar]]
    """The rows, half solved by the mass matrix."""
    system: Proximal


def held(masses: TreeFactor, rows: list[Row]) -> Held:
    """Rows of the closure's Jacobian, and the factors of M, made ready to be solved for."""
    halves = [half_solved(masses, row) for row in rows]
    entries: Entries = {
        (i, j): half_product(masses, halves[i], halves[j])
        for i in range(len(rows))
        for j in range(i + 1)
        if not halves[i].keys().isdisjoint(halves[j])
    }
    return Held(masses, halves, proximal(entries, len(rows)))


def moved(by: Held, push: list[Scalar], bias: list[Scalar]) -> Moved:
    """``dv`` and ``f`` with M dv = push + Jᵀ f and J dv = -bias."""
    half = half_solved(by.masses, dict(enumerate(push)))
    right = [
        negated(added(half_product(by.masses, row, half), x))
        for row, x in zip(by.halves, bias, strict=True)
    ]
    forces = settled(by.system, right)
    for row, force in zip(by.halves, forces, strict=True):
        for k, x in row.items():
            half[k] = added(half.get(k, 0.0), times(x, force))
    return Moved(out_of_half(by.masses, half), forces)


def accelerated(
    o: Ops, m: Mechanism, q: Block, v: Block, tau: Block, *, in_frame_a: bool = False
) -> Moved:
    """Accelerations under these joint forces, and what the loops do; rows as in `closure_parts`."""
    ways, rates = passages(o, m, q), numbers(m, v)
    push = minus(numbers(m, tau), losses(o, m, rates))
    push = minus(push, inverse_forces(m, ways, rates, [0.0] * m.n_v))
    masses = factor(mass_entries(m, ways), m.n_v)
    rows = closure_rows(o, m, q, in_frame_a=in_frame_a)
    bias = (closure_bias if in_frame_a else acceleration_bias)(o, m, q, v)
    return moved(held(masses, rows), push, [bias[k] for k in range(len(rows))])
