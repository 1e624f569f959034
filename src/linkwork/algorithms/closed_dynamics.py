"""Dynamics of a mechanism with loops: its tree, and the forces that hold its loops together.

M dv + h = tau + Jᵀ f and J dv = -dJ/dt v: f from J M⁻¹ Jᵀ, whose products take only half of the
solution by M, as its factors have the sparsity of the tree. Where legs carry a platform only their
joints go this way, and the platform's stay with the rows (`closure_elimination.py`).

Source: R. Featherstone, Rigid Body Dynamics Algorithms (2008), sections 8.4 and 8.5.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from linkwork.algorithms.axes import Scalar, added, is_zero
from linkwork.algorithms.closure import Row, closure_rows, row_scales
from linkwork.algorithms.closure_elimination import Split, split
from linkwork.algorithms.closure_motion import acceleration_bias, closure_bias
from linkwork.algorithms.inverse_dynamics import inverse_forces, numbers
from linkwork.algorithms.joint_losses import losses
from linkwork.algorithms.joint_passage import passages
from linkwork.algorithms.mass_matrix import mass_entries
from linkwork.algorithms.proximal import STEPS, Proximal, proximal, settled
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
    """Rows J of a mechanism with the mass matrix M: what solves for both (`closure_elimination`).

    The border, rows and joints that are not eliminated first, by what it has of those that are:
    of a row J, of a joint -M, both half solved.
    """

    parts: Split
    n_v: int
    masses: TreeFactor
    """Of the joints that are eliminated first."""
    halves: list[dict[int, Scalar]]
    system: Proximal


def held(entries: Entries, n: int, rows: list[Row], scales: Sequence[float]) -> Held:
    """M (n, n) by its entries and rows of the closure's Jacobian, made ready to be solved for.

    ``scales`` of the rows as in `closure.row_scales`.
    """
    parts = split(n, entries.keys(), rows)
    place = {k: i for i, k in enumerate(parts.first)}
    at = {k: i for i, k in enumerate(parts.border)}
    own: Entries = {}
    border: list[dict[int, Scalar]] = [{} for _ in at]
    between: Entries = {}

    def put(i: int, j: int, value: Scalar) -> None:
        if i in at and j in at:
            between[max(at[i], at[j]), min(at[i], at[j])] = value
        else:
            k, far = (i, j) if i in place else (j, i)
            border[at[far]][place[k]] = value

    for (i, j), value in entries.items():
        if i in place and j in place:
            own[place[i], place[j]] = value
        else:
            put(i, j, negated(value))
    for r, row in enumerate(rows):
        for k, value in row.items():
            put(n + r, k, value)
    masses = factor(own, len(place))
    halves = [half_solved(masses, each) for each in border]
    for i in range(len(at)):
        for j in range(i + 1):
            value = added(between.get((i, j), 0.0), half_product(masses, halves[i], halves[j]))
            if not is_zero(value):
                between[i, j] = value
    ahead = n - len(place)
    return Held(parts, n, masses, halves, proximal(between, len(at), ahead, scales))


def moved(
    by: Held, push: Mapping[int, Scalar], bias: Sequence[Scalar], *, steps: int = STEPS
) -> Moved:
    """``dv`` and ``f`` with M dv = push + Jᵀ f and J dv = -bias; ``steps`` as in `settled`."""
    n, first, border = by.n_v, by.parts.first, by.parts.border
    half = half_solved(by.masses, {i: push[k] for i, k in enumerate(first) if k in push})
    given = [push.get(k, 0.0) if k < n else bias[k - n] for k in border]
    right = [
        negated(added(half_product(by.masses, row, half), x))
        for row, x in zip(by.halves, given, strict=True)
    ]
    found = settled(by.system, right, steps)
    for row, x in zip(by.halves, found, strict=True):
        for k, value in row.items():
            half[k] = added(half.get(k, 0.0), times(value, x))
    everything: list[Scalar] = [0.0] * (n + len(bias))
    for unknowns, values in ((first, out_of_half(by.masses, half)), (border, found)):
        for k, value in zip(unknowns, values, strict=True):
            everything[k] = value
    return Moved(everything[:n], everything[n:])


def accelerated(
    o: Ops, m: Mechanism, q: Block, v: Block, tau: Block, *, in_frame_a: bool = False
) -> Moved:
    """Accelerations under these joint forces, and what the loops do; rows as in `closure_parts`."""
    ways, rates = passages(o, m, q), numbers(m, v)
    push = minus(numbers(m, tau), losses(o, m, rates))
    push = minus(push, inverse_forces(m, ways, rates, [0.0] * m.n_v))
    rows = closure_rows(o, m, q, in_frame_a=in_frame_a)
    bias = (closure_bias if in_frame_a else acceleration_bias)(o, m, q, v)
    by = held(mass_entries(m, ways), m.n_v, rows, row_scales(m))
    return moved(by, dict(enumerate(push)), [bias[k] for k in range(len(rows))])
