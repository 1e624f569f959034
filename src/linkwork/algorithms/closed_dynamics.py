"""Dynamics of a mechanism with loops: its tree, and the forces that hold its loops together.

M dv + h = tau + Jᵀ f and J dv = -dJ/dt v: f from J M⁻¹ Jᵀ, whose products take only half of the
solution by M, as its factors have the sparsity of the tree. Where legs carry a platform only their
joints go this way, and the platform's stay with the rows (`elimination_order.py`). The rows are
independent ones that say the same (`independent_rows.py`).

Source: R. Featherstone, Rigid Body Dynamics Algorithms (2008), sections 8.4 and 8.5.

The symmetric systems A x = b of the rows: with A positive definite they are solved by its factors.
With unknowns ahead, in which the matrix is negative definite and which are eliminated after the
others, the part of the others may lack rank by itself (a leg at a singularity under a platform). It
takes E, a small diagonal: the solution of (A + E) x' = b + E x comes a factor of about E / A nearer
each time, and the last step takes what is left of the equations, as iterative refinement does. A
fixed number of operations, no pivots.

Sources: the proximal point algorithm, R. T. Rockafellar, "Monotone operators and the proximal point
algorithm", SIAM J. Control and Optimization 14 (1976); N. Higham, Accuracy and Stability of
Numerical Algorithms, 2nd ed. (2002), chapter 12.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from linkwork.algorithms.closure import (
    Ends,
    Row,
    acceleration_bias,
    closure_bias,
    closure_rows,
    loop_rows,
    meeting_body,
    transposed_product,
)
from linkwork.algorithms.elimination_order import Split, split
from linkwork.algorithms.independent_rows import CHANGE, IndependentRows, independent, stiffness
from linkwork.algorithms.inverse_dynamics import numbers, tree_forces
from linkwork.algorithms.mass_matrix import mass_matrix
from linkwork.algorithms.residuals import Moving, joined, moving_frame
from linkwork.algorithms.sweep import Sweep
from linkwork.algorithms.tree_factor import (
    Entries,
    TreeFactor,
    factor,
    half_product,
    half_solved,
    out_of_half,
    solved,
)
from linkwork.algorithms.vector3 import (
    Scalar,
    added,
    as_vector,
    is_zero,
    minus,
    negated,
    plus,
    times,
    total,
)
from linkwork.mechanism.loops import Loop
from linkwork.mechanism.model import Mechanism
from linkwork.ops.protocol import Block, Ops


class Moved(NamedTuple):
    """Accelerations (nv,), and the multipliers of the closure's rows."""

    dv: list[Scalar]
    forces: list[Scalar]


class Held(NamedTuple):
    """Independent rows J and the mass matrix M: what solves for both (`elimination_order.split`).

    The border, rows and joints that are not eliminated first, by what it has of those that are:
    of a row J, of a joint -M, both half solved.
    """

    rows: IndependentRows
    stiff: list[float]
    """The factor with which each row's square is added to M."""
    parts: Split
    n_v: int
    masses: TreeFactor
    """Of the joints that are eliminated first."""
    halves: list[dict[int, Scalar]]
    system: Proximal
    valid: Scalar
    """1, or NaN at a change point."""


def held(o: Ops, entries: Entries, n: int, by: IndependentRows, stiffness: float = 0.0) -> Held:
    """M (n, n) by its entries and the closure's rows, made ready to be solved for.

    ``stiffness``: see `independent_rows.stiffness`.
    """
    rows = by.rows
    stiff = [stiffness * scale**2 for scale in by.scales]
    entries = _stiffened(entries, rows, stiff)
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
    system = proximal(between, len(at), n - len(place), by.scales)
    valid = times(by.valid, regular(o, system, _sizes(system, by), CHANGE**2))
    return Held(by, stiff, parts, n, masses, halves, system, valid)


def _stiffened(entries: Entries, rows: Sequence[Row], stiff: Sequence[float]) -> Entries:
    """The entries with the square of each row times a number added."""
    found = dict(entries)
    for share, row in zip(stiff, rows, strict=True):
        for i, x in row.items() if share else ():
            for j in (j for j in row if j <= i):
                found[i, j] = added(found.get((i, j), 0.0), times(share, times(x, row[j])))
    return found


def _sizes(system: Proximal, by: IndependentRows) -> list[Scalar]:
    """The measure of each row's pivot: the mean entry of its group's diagonal."""
    found: list[Scalar] = []
    if system.ahead:
        return found
    for basis in by.bases:
        own = range(len(found), len(found) + len(basis))
        mean = total([times(by.scales[k] ** 2, system.entries[k, k]) for k in own])
        found += [times(1.0 / (len(basis) * by.scales[k] ** 2), mean) for k in own]
    return found


def moved(by: Held, push: Mapping[int, Scalar], bias: Sequence[Scalar]) -> Moved:
    """``dv`` and ``f`` with M dv = push + Jᵀ f and J dv = -bias (n_c,) of the closure's rows."""
    n, first, border = by.n_v, by.parts.first, by.parts.border
    bias = by.rows.of(bias)
    pulled = [negated(times(share, x)) for share, x in zip(by.stiff, bias, strict=True)]
    more = transposed_product(by.rows.rows, pulled, n)
    push = {k: added(push.get(k, 0.0), x) for k, x in enumerate(more)}
    half = half_solved(by.masses, {i: push[k] for i, k in enumerate(first) if k in push})
    given = [push.get(k, 0.0) if k < n else bias[k - n] for k in border]
    right = [
        negated(added(half_product(by.masses, row, half), x))
        for row, x in zip(by.halves, given, strict=True)
    ]
    found = [times(by.valid, x) for x in settled(by.system, right)]
    for row, x in zip(by.halves, found, strict=True):
        for k, value in row.items():
            half[k] = added(half.get(k, 0.0), times(value, x))
    everything: list[Scalar] = [0.0] * (n + len(bias))
    for unknowns, values in ((first, out_of_half(by.masses, half)), (border, found)):
        for k, value in zip(unknowns, values, strict=True):
            everything[k] = value
    return Moved(everything[:n], by.rows.forces(everything[n:]))


def accelerated(
    o: Ops, m: Mechanism, q: Block, v: Block, tau: Block, *, in_frame_a: bool = False
) -> Moved:
    """Accelerations under these joint forces, and what the loops do; rows as in `closure_parts`."""
    sweep = Sweep(o, m, q)
    push = minus(numbers(m, tau), numbers(m, tree_forces(sweep, v)))
    rows = closure_rows(o, m, q, in_frame_a=in_frame_a)
    bias = (closure_bias if in_frame_a else acceleration_bias)(o, m, q, v)
    independent_ = independent(o, m, rows, in_frame_a=in_frame_a)
    by = held(o, mass_matrix.passes(sweep).lower(), m.n_v, independent_, stiffness(m))
    return moved(by, dict(enumerate(push)), [bias[k] for k in range(len(rows))])


SHARE = 1.0e-8
"""The regularisation as a share of a diagonal entry, and of their mean: half of the digits."""


class Proximal(NamedTuple):
    """A matrix, the factors of what it is with E, and E."""

    entries: Entries
    factors: TreeFactor
    small: list[Scalar]
    ahead: int
    """The number of unknowns that take no E."""


def proximal(
    entries: Entries, n: int, ahead: int = 0, scales: Sequence[float] | None = None
) -> Proximal:
    """A system in factors: ``entries`` (i, j) with i >= j of the matrix (n, n).

    ``scales``: what each equation after the ``ahead`` is multiplied by to be compared with others.
    """
    small: list[Scalar] = [0.0] * n
    shifted = dict(entries)
    if ahead:
        held = range(ahead, n)
        diagonal = {k: entries.get((k, k), 0.0) for k in held}
        squares = {k: (scales[k - ahead] if scales else 1.0) ** 2 for k in held}
        compared = [times(squares[k], value) for k, value in diagonal.items()]
        floor = times(SHARE / max(n - ahead, 1), total(compared))
        for k in held:
            small[k] = added(times(SHARE, diagonal[k]), times(1.0 / squares[k], floor))
            shifted[k, k] = added(diagonal[k], small[k])
    return Proximal(entries, factor(shifted, n), small, ahead)


def regular(o: Ops, system: Proximal, sizes: Sequence[Scalar], least: float) -> Scalar:
    """1, or NaN where less than a share of its ``sizes`` is left of an unknown beside the others.

    With unknowns ahead nothing tells: 1.
    """
    valid: Scalar = 1.0
    if system.ahead:
        return valid
    for inverse, size in zip(system.factors.inverse, sizes, strict=True):
        share = times(negated(inverse), size)  # one over it, infinite or below 0 where none is left
        kept = o.both(o.less(0.0, share), o.less(share, o.const(1.0 / least)))
        valid = times(valid, o.select(kept, o.const(1.0), o.const(math.nan)))
    return valid


def settled(system: Proximal, right: list[Scalar]) -> list[Scalar]:
    """The x with A x = right."""
    x = solved(system.factors, right)
    if system.ahead:
        x = solved(system.factors, plus(right, list(map(times, system.small, x))))
        left = minus(right, _times_symmetric(system.entries, x))
        x = plus(x, solved(system.factors, left))
    return x


def _times_symmetric(entries: Entries, x: list[Scalar]) -> list[Scalar]:
    found: list[Scalar] = [0.0] * len(x)
    for (i, j), value in entries.items():
        found[i] = added(found[i], times(value, x[j]))
        if i != j:
            found[j] = added(found[j], times(value, x[i]))
    return found


# ------------------------------------------------------------------------------------ loop forces


def loop_forces(o: Ops, m: Mechanism, q: Block, v: Block, tau: Block) -> Block:
    """Multipliers of the closure's rows under these joint forces: what keeps the loops closed.

    Shapes: q (nq,), v (nv,), tau (nv,) to (n_c,), rows as in `closure`: N along axes that are held,
    N m about them. They act on frame b, along the axes of frame a, and as the reaction on frame a;
    a coupling's acts on its leaders and against its own joint. Where rows are redundant the least
    are given, each measured by the root of what it moves. Parameters as in `forward_dynamics`.

    Source: R. Featherstone, Rigid Body Dynamics Algorithms (2008), sections 8.4 and 8.5.
    """
    return as_vector(o, accelerated(o, m, q, v, tau, in_frame_a=True).forces)


def loop_wrenches(o: Ops, m: Mechanism, q: Block, v: Block, tau: Block) -> list[Block]:
    """The wrench of each loop on its frame b: force, then moment about b's origin, in axes of a.

    Shapes: q (nq,), v (nv,), tau (nv,) to one (6,) for each loop, in their order; N and N m. Frame
    a's body has the opposite force along the same line, and the opposite moment.
    """
    forces = accelerated(o, m, q, v, tau, in_frame_a=True).forces
    found: list[Block] = []
    for loop in m.loops:
        own, forces = forces[: len(loop.row_names)], forces[len(loop.row_names) :]
        columns = _of_moving_b(o, m, loop, q)
        found.append(o.vector([o.dot(column, o.vector(own)) for column in columns]))
    return found


def _of_moving_b(o: Ops, m: Mechanism, loop: Loop, q: Block) -> list[Block]:
    """The rows of a loop times frame b's velocity, linear then angular, along axes of a."""
    common = meeting_body(m, loop)
    a, b = (moving_frame(o, m, q, name, common).pose for name in (loop.frame_a, loop.frame_b))
    zeros = [o.const([0.0, 0.0, 0.0])] * 6
    along = [o.column(a.R, k) for k in range(3)]
    ends = Ends(Moving(a, zeros, zeros), Moving(b, along + zeros[:3], zeros[:3] + along))
    return joined(o, loop_rows(o, loop, ends, in_frame_a=True)).columns
