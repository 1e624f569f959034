"""Forces and motions of the actuated joints of a mechanism with loops.

One system holds both: S τ + Jᵀ f = r with τ = Sᵀ x, and J x = s, where S has the columns of the
actuated joints and J is the closure's Jacobian. With s = 0 it gives the actuated forces τ that do
what the joint forces r of the tree would do; with r = 0 the motion x that closes what opens at the
rate s. No mass enters: it is virtual work.

With J = [J_p J_a] by passive and actuated joints and C = J_a - J_p J_p⁺ J_a, in which only actuated
joints that hold each other leave anything:

    f_0 = J_p⁺ᵀ r_p,   t = r_a - J_aᵀ f_0,   x_a = t + C⁺ (s - C t),   x_p = J_p⁺ (s - J_a x_a),
    f = f_0 + C⁺ᵀ (t - C⁺ s).

So τ = x_a has the least norm where loops let actuated joints work against each other, x_p where
passive joints move freely; of r what nothing holds does not count. Rank is decided on rows of
position in lengths of their loop (`row_scales`), and relative to each column: a mechanism is
treated alike at any size. The solution is repeated once on what it leaves over.

Where more motions of the passive joints are free than in general (``free_motions``), the mechanism
is at a singularity, where no actuated forces hold it: all is NaN there.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from linkwork.algorithms.closure import Row, closure_rows, row_scales, transposed_product
from linkwork.algorithms.jacobian import Reference, jacobian
from linkwork.algorithms.orthogonal_factors import (
    OrthogonalFactors,
    Sparse,
    across,
    dot,
    orthogonal_factors,
    plus_scaled,
    solved_least,
    solved_transposed,
    squared,
)
from linkwork.algorithms.vector3 import (
    Scalar,
    added,
    as_vector,
    less,
    minus,
    negated,
    plus,
    times,
    total,
)
from linkwork.mechanism.model import Mechanism
from linkwork.ops.protocol import Block, Ops

_HELD = 1.0e-6
"""The share of an actuated joint's column that has to be left beside those of the passive joints
where actuated joints hold each other: more than an assembled loop is open by."""


class Actuation(NamedTuple):
    """The system of a mechanism at one configuration."""

    rows: list[Row]
    """The rows of J, those of position in lengths of their loop."""
    scales: list[float]
    passive: list[int]
    """The numbers of v of J_p, in the order of its factors."""
    actuated: list[int]
    J_p: OrthogonalFactors
    C: OrthogonalFactors
    C_columns: list[Sparse]
    singular: Scalar
    """1 where more passive motions are free than in general, else 0."""
    valid: Scalar
    """1, or NaN where it is singular."""


class Balance(NamedTuple):
    """The solution of the system: x (nv,), and the multipliers f of the closure's rows."""

    x: list[Scalar]
    forces: list[Scalar]


def actuation(o: Ops, m: Mechanism, rows: list[Row], free_motions: int | None = None) -> Actuation:
    """The system of the closure's rows, as `closure_rows` gives them.

    ``free_motions``: how many motions the passive joints have at generic configurations while the
    actuated ones stand still. None: any number, and nothing counts as singular.
    """
    scales = row_scales(m)
    rows = [
        {k: times(scale, x) for k, x in row.items()}
        for scale, row in zip(scales, rows, strict=True)
    ]
    actuated = actuated_numbers(m)
    passive = _order(rows, set(actuated))
    free = len(passive) if free_motions is None else free_motions
    J_p = orthogonal_factors(o, [_column(rows, k) for k in passive], may_lack_rank=free > 0)
    J_a = [_column(rows, k) for k in actuated]
    # rows that passive joints leave over are needed for actuated ones to hold each other
    held = len(rows) > len(passive) - free
    C_columns = [across(J_p.Q, column) if held else Sparse() for column in J_a]
    lengths = [squared(column) for column in J_a]
    C = orthogonal_factors(o, C_columns, may_lack_rank=held, share=_HELD, lengths=lengths)
    short = o.less(o.const(0.0) + J_p.rank, o.const(len(passive) - free - 0.5))
    singular = o.select(short, o.const(1.0), o.const(0.0))
    valid = o.select(short, o.const(math.nan), o.const(1.0))
    return Actuation(rows, scales, passive, actuated, J_p, C, C_columns, singular, valid)


def actuated_numbers(m: Mechanism) -> list[int]:
    """The numbers of v of the actuated joints, in their order."""
    joints = (m.joint(name) for name in m.actuated)
    return [k for c in joints for k in range(int(m.v_start[c]), int(m.v_start[c + 1]))]


def _order(rows: list[Row], actuated: set[int]) -> list[int]:
    """The passive numbers of v that rows hold: those of one leg before those of all."""
    passive = set[int]().union(*rows) - actuated
    return sorted(passive, key=lambda k: (sum(k in row for row in rows), k))


def _column(rows: list[Row], k: int) -> Sparse:
    return {i: row[k] for i, row in enumerate(rows) if k in row}


def balanced(by: Actuation, forces: list[Scalar], rates: list[Scalar]) -> Balance:
    """The solution for r = ``forces`` (nv,) and s = ``rates`` (n_c,)."""
    rates = list(map(times, by.scales, rates))
    at = _solved(by, forces, rates)
    open_ = [less(s, product(row, at.x)) for s, row in zip(rates, by.rows, strict=True)]
    more = _solved(by, _left_of(by, forces, at), open_)
    x, f = plus(at.x, more.x), plus(at.forces, more.forces)
    return Balance(_valid(by, x), list(map(times, by.scales, _valid(by, f))))


def actuated_forces(by: Actuation, forces: list[Scalar]) -> list[Scalar]:
    """Forces (nv,) of the actuated joints alone that do what these of all joints would do."""
    still = [0.0] * len(by.rows)
    at = _solved(by, forces, still)
    more = _solved(by, _left_of(by, forces, at), still)
    return _valid(by, _at_actuated(by, plus(at.x, more.x)))


def _at_actuated(by: Actuation, x: list[Scalar]) -> list[Scalar]:
    return [value if k in by.actuated else 0.0 for k, value in enumerate(x)]


def _valid(by: Actuation, values: list[Scalar]) -> list[Scalar]:
    return [times(by.valid, value) for value in values]


def _left_of(by: Actuation, forces: list[Scalar], at: Balance) -> list[Scalar]:
    """r - S τ - Jᵀ f, at the joints that the system has."""
    held = {*by.passive, *by.actuated}
    found = minus(
        minus(forces, _at_actuated(by, at.x)), transposed_product(by.rows, at.forces, len(forces))
    )
    return [value if k in held else 0.0 for k, value in enumerate(found)]


def product(row: Row, x: list[Scalar]) -> Scalar:
    """A row times a vector."""
    return total([times(entry, x[k]) for k, entry in row.items()])


def _solved(by: Actuation, forces: list[Scalar], rates: list[Scalar]) -> Balance:
    s = dict(enumerate(rates))
    f = solved_transposed(by.J_p, {i: forces[k] for i, k in enumerate(by.passive)})
    t = {i: less(forces[k], dot(_column(by.rows, k), f)) for i, k in enumerate(by.actuated)}
    left = s
    for i, column in enumerate(by.C_columns):
        left = plus_scaled(left, column, negated(t[i]))
    x_a = {**t, **_sum(t, solved_least(by.C, left))}
    f = _sum(f, solved_transposed(by.C, _difference(t, solved_least(by.C, s))))
    left = s
    for i, k in enumerate(by.actuated):
        left = plus_scaled(left, _column(by.rows, k), negated(x_a[i]))
    x_p = solved_least(by.J_p, left)
    x: list[Scalar] = [0.0] * len(forces)
    for i, k in enumerate(by.actuated):
        x[k] = x_a[i]
    for i, k in enumerate(by.passive):
        x[k] = x_p.get(i, 0.0)
    return Balance(x, [f.get(i, 0.0) for i in range(len(rates))])


def passive_motion(by: Actuation, rates: list[Scalar]) -> tuple[list[Scalar], list[Scalar]]:
    """The least motion of the passive joints at these rates of the rows, and what it leaves.

    In the order of ``passive``; the rates are of the system's own rows.
    """
    s, x = dict(enumerate(rates)), Sparse()
    columns = [_column(by.rows, k) for k in by.passive]
    for _ in range(2):
        x = _sum(x, solved_least(by.J_p, s))
        s = dict(enumerate(rates))
        for i, column in enumerate(columns):
            s = plus_scaled(s, column, negated(x.get(i, 0.0)))
    return [x.get(i, 0.0) for i in range(len(columns))], list(s.values())


def _sum(a: Sparse, b: Sparse) -> Sparse:
    return plus_scaled(a, b, 1.0)


def _difference(a: Sparse, b: Sparse) -> Sparse:
    return plus_scaled(a, b, -1.0)


# -------------------------------------------------------------------- motions by actuated speeds
#
# J v = 0 with the actuated speeds given: J_p x = -J_a by the implicit function theorem, a column of
# x for each actuated number, and of all that hold the least x, which is -J_p⁺ J_a: redundant rows
# and joints that are free are no special cases.
# Source: C. Gosselin and J. Angeles, "Singularity analysis of closed-loop kinematic chains", IEEE
# Transactions on Robotics and Automation 6 (1990).


def passive_rates(o: Ops, m: Mechanism, q: Block, *, free_motions: int | None = None) -> Block:
    """The derivative of v by the speeds of the actuated joints, where the loops stay closed.

    Shapes: q (nq,) that is assembled to (nv, n_actuated), columns in the order of `actuated`. Of
    passive joints that are free the least motion; joints in no loop that are not actuated stand
    still. ``free_motions``: see `actuation`. At singularities of type 2, and where the actuated
    joints hold each other, it does not close the loops: `Robot.passive_rates` looks after both.

    Source: the implicit function theorem (see `actuation.py`).
    """
    return as_matrix(o, following(o, m, q, free_motions=free_motions).columns, m.n_v)


def as_matrix(o: Ops, columns: list[list[Scalar]], rows: int) -> Block:
    """Columns of so many rows as a matrix, which may be empty."""
    if not columns:
        return o.const(np.zeros((rows, 0)))
    return o.matrix([as_vector(o, column) for column in columns])


class Following(NamedTuple):
    """The motions that follow the actuated joints, and what tells whether they are relied on."""

    columns: list[list[Scalar]]
    """dv by each number of the actuated joints, (nv,) each."""
    left: list[Scalar]
    """Rates of the rows that the motions leave: loops that do not close."""
    singular: Scalar
    """1 where passive joints move freely that do not in general, else 0."""


def following(o: Ops, m: Mechanism, q: Block, *, free_motions: int | None = None) -> Following:
    """The rates at q (nq,), where it is assembled; ``free_motions`` as in `actuation`.

    Joints that are neither actuated nor in a loop stand still.
    """
    by = actuation(o, m, closure_rows(o, m, q), free_motions)
    found = Following([], [], by.singular)
    for k in by.actuated:
        x, left = passive_motion(by, [negated(row.get(k, 0.0)) for row in by.rows])
        column: list[Scalar] = [0.0] * m.n_v
        column[k] = 1.0
        for i, value in zip(by.passive, x, strict=True):
            column[i] = value
        found.columns.append(column)
        found.left.extend(left)
    return found


def actuation_jacobian(
    o: Ops,
    m: Mechanism,
    q: Block,
    *,
    frame: str,
    reference: Reference = "world-aligned",
    free_motions: int | None = None,
) -> Block:
    """Jacobian of one frame by the actuated joints: its twist is J times their speeds.

    Shapes: q (nq,) that is assembled to (6, n_actuated), linear rows first, columns in the order
    of `actuated`. Units and references as in `jacobian`; what holds of it as in `passive_rates`.

    Source: the implicit function theorem (see `actuation.py`).
    Raises: UnknownNameError, InputError as `jacobian`.
    """
    J = jacobian(o, m, q, frame=frame, reference=reference)
    return as_matrix(
        o, along(m, J, frame, following(o, m, q, free_motions=free_motions).columns), 6
    )


def along(m: Mechanism, J: Block, frame: str, columns: list[list[Scalar]]) -> list[list[Scalar]]:
    """J (6, nv) of a frame times columns (nv,), of what moves it alone."""
    bodies = m.ancestry(int(m.frame_body[m.frame(frame)]))
    moved = {c for body in bodies if (c := int(m.coordinate[body])) >= 0}
    numbers = [k for c in sorted(moved) for k in range(int(m.v_start[c]), int(m.v_start[c + 1]))]
    found: list[list[Scalar]] = []
    for column in columns:
        twist: list[Scalar] = [0.0] * 6
        for k in numbers:
            twist = [added(x, times(J[i, k], column[k])) for i, x in enumerate(twist)]
        found.append(twist)
    return found
