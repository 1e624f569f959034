"""First derivatives of dynamics with loops: of the tree's, and of what holds the loops closed.

What holds at every state, M dv + h = tau + Jᵀ f with J dv + dJ/dt v = 0, or S τ + Jᵀ f = r with
J x = 0, holds for its changes too. So the systems that forward and inverse dynamics are solved by
solve for the derivatives as well, the multipliers f being held in what changes on the right side.

Source: the implicit function theorem; the tree's part as in `inverse_dynamics_derivatives`.

What closures give changes with q and v by their own expressions, run on dual numbers. Directions 0
to nv - 1 are those of q along its tangent, nv to 2 nv - 1 those of v. An entry exists only where
structure allows it: a loop knows the coordinates between its two ends alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from linkwork.algorithms.actuation import actuation, balanced
from linkwork.algorithms.closed_dynamics import Held, held, moved
from linkwork.algorithms.closure import (
    Row,
    acceleration_bias,
    closure_rates,
    closure_rows,
    transposed_product,
)
from linkwork.algorithms.independent_rows import independent, stiffness
from linkwork.algorithms.inverse_dynamics import numbers, still, tree_forces
from linkwork.algorithms.joint_transforms import quaternion_matrix
from linkwork.algorithms.mass_matrix import mass_matrix
from linkwork.algorithms.sweep import Output, Sweep
from linkwork.algorithms.tree_derivatives import ACCELERATION, POSITION, VELOCITY, derivatives
from linkwork.algorithms.vector3 import Scalar, added, is_zero, less, minus, negated, times
from linkwork.mechanism.model import JointType, Mechanism
from linkwork.ops.dual import Dual, Duals
from linkwork.ops.protocol import Block, Ops
from linkwork.spatial.rotations import multiply_quaternions

Column = dict[int, Scalar]


def closed_forward_derivatives(o: Ops, m: Mechanism, q: Block, v: Block, tau: Block) -> list[Block]:
    """As `forward_dynamics_derivatives`, of a mechanism with loops or couplings."""
    n, sweep, rates = m.n_v, Sweep(o, m, q), numbers(m, v)
    rows = closure_rows(o, m, q)
    by = held(o, mass_matrix.passes(sweep).lower(), n, independent(o, m, rows), stiffness(m))
    push = minus(numbers(m, tau), numbers(m, tree_forces(sweep, rates)))
    bias = acceleration_bias(o, m, q, v)
    now = moved(by, dict(enumerate(push)), [bias[k] for k in range(len(rows))])
    tree = derivatives(sweep, rates, now.dv)
    opening = acceleration_changes(o, m, q, rates, now.dv)
    pulled = force_changes(o, m, q, now.forces)
    by_force, by_opening = _answers(by, n, len(rows))
    by_q = [less_column(_column(tree, POSITION, k), pulled, k) for k in range(n)]
    by_v = [_column(tree, VELOCITY, k) for k in range(n)]
    found = [
        [
            minus(still(m), added_up([(by_force, column), (by_opening, _at(rows, k))], n))
            for k, column in enumerate(changed)
        ]
        for changed, rows in ((by_q, opening.q), (by_v, opening.v))
    ]
    return [_matrix(o, part) for part in (*found, by_force)]


def _answers(by: Held, n: int, count: int) -> tuple[list[list[Scalar]], list[list[Scalar]]]:
    """Accelerations by each joint force, and by the bias of each row with the sign turned.

    The system is symmetric, so the second are the multipliers that each joint force gives: no row
    is asked to open by itself, which redundant rows could not.
    """
    answers = [moved(by, {k: 1.0}, [0.0] * count) for k in range(n)]
    by_opening = [[negated(each.forces[i]) for each in answers] for i in range(count)]
    return [each.dv for each in answers], by_opening


def closed_inverse_derivatives(
    o: Ops, m: Mechanism, q: Block, v: Block, dv: Block, *, free_motions: int | None = None
) -> list[Block]:
    """As `inverse_dynamics_derivatives`, of a mechanism with loops or couplings."""
    n, rates, changes = m.n_v, numbers(m, v), numbers(m, dv)
    by = actuation(o, m, closure_rows(o, m, q), free_motions)
    sweep = Sweep(o, m, q)
    now = balanced(by, numbers(m, tree_forces(sweep, rates, changes)), [0.0] * len(by.rows))
    tree = derivatives(sweep, rates, changes)
    pulled, opening = force_changes(o, m, q, now.forces), rate_changes(o, m, q, now.x)
    by_q = [less_column(_column(tree, POSITION, k), pulled, k) for k in range(n)]
    # the system is symmetric: what an actuated force has of each right side, by one solution
    seen = {a: balanced(by, unit(a, n), [0.0] * len(by.rows)) for a in sorted(by.actuated)}
    result: list[Block] = []
    for part in (by_q, [_column(tree, VELOCITY, k) for k in range(n)], None):
        matrix = [still(m) for _ in range(n)]
        for k in range(n):
            column = _column(tree, ACCELERATION, k) if part is None else part[k]
            for a, share in seen.items():
                value = along(share.x, column)
                if part is by_q:
                    value = less(value, along(share.forces, _at(opening, k)))
                matrix[k][a] = value
        result.append(_matrix(o, matrix))
    return result


def _column(found: Output, part: int, k: int) -> Column:
    every = {i: found.get(part, i, k) for i in range(found.shape[1])}
    return {i: x for i, x in every.items() if not is_zero(x)}


def _at(rows: Sequence[Row], k: int) -> Column:
    """One column of rows."""
    return {i: row[k] for i, row in enumerate(rows) if k in row}


def less_column(column: Column, rows: Sequence[Row], k: int) -> Column:
    """A column less that of some rows."""
    found = dict(column)
    for i, x in _at(rows, k).items():
        found[i] = less(found.get(i, 0.0), x)
    return found


def added_up(parts: Sequence[tuple[list[list[Scalar]], Column]], n: int) -> list[Scalar]:
    """The sum of matrices, given by their columns, times sparse vectors."""
    total: list[Scalar] = [0.0] * n
    for columns_, vector in parts:
        for i, x in vector.items():
            total = [added(at, times(c, x)) for at, c in zip(total, columns_[i], strict=True)]
    return total


def along(a: list[Scalar], b: Column) -> Scalar:
    """The inner product with a sparse vector."""
    value: Scalar = 0.0
    for k, x in b.items():
        value = added(value, times(a[k], x))
    return value


def unit(k: int, n: int) -> list[Scalar]:
    """The unit vector k of n numbers."""
    return [1.0 if i == k else 0.0 for i in range(n)]


def _matrix(o: Ops, found: list[list[Scalar]]) -> Block:
    return o.matrix([o.vector(column) for column in found])


class Changing(NamedTuple):
    """Derivatives by number of v: lists of the rows' changes, entries that structure leaves."""

    q: list[Row]
    v: list[Row]


def moving_position(d: Duals, m: Mechanism, q: Block) -> list[Dual]:
    """The numbers of q with their derivatives along its tangent."""
    found: list[Dual] = []
    for c, type in enumerate(m.joint_types):
        at, k = int(m.q_start[c]), int(m.v_start[c])
        if type.has_quaternion:
            found += _turning_freely(d, type, [q[at + i] for i in range(type.n_q)], k)
        else:
            one = d.ops.const(1.0)
            found += [d.block(q[at + i], {k + i: one}) for i in range(type.n_q)]
    return found


def _turning_freely(d: Duals, type: JointType, position: list[Scalar], k: int) -> list[Dual]:
    """Velocities are those of the body, along its axes."""
    o, n = d.ops, type.n_lengths
    R = quaternion_matrix(o, type, position)
    wxyz = o.vector(position[n:])
    axes = [o.const([0.0, *(0.5 * float(i == j) for i in range(3))]) for j in range(3)]
    turns = [multiply_quaternions(o, wxyz, axis) for axis in axes]
    places = [d.block(position[i], {k + j: R[i, j] for j in range(n)}) for i in range(n)]
    turned = [
        d.block(position[n + i], {k + n + j: turns[j][i] for j in range(3)}) for i in range(4)
    ]
    return places + turned


def acceleration_changes(
    o: Ops, m: Mechanism, q: Block, v: list[Scalar], dv: list[Scalar]
) -> Changing:
    """The change of J dv + dJ/dt v along q, row by row, rows as in `closure_rows`."""
    d = Duals(o)
    at = moving_position(d, m, q)
    one = o.const(1.0)
    rates = [d.block(x, {m.n_v + k: one}) for k, x in enumerate(v)]
    bias, moved = acceleration_bias(d, m, at, rates), closure_rates(d, m, at, dv)
    rows: list[Row] = [dict(bias[i].changes) for i in range(bias.shape[0])]
    for i, row in enumerate(rows):
        for k, x in moved[i].changes.items():
            row[k] = added(row.get(k, 0.0), x)
    by_q = [{k: x for k, x in row.items() if k < m.n_v} for row in rows]
    by_v = [{k - m.n_v: x for k, x in row.items() if k >= m.n_v} for row in rows]
    return Changing(by_q, by_v)


def rate_changes(o: Ops, m: Mechanism, q: Block, v: list[Scalar]) -> list[Row]:
    """The change of J v along q, row by row."""
    d = Duals(o)
    moved = closure_rates(d, m, moving_position(d, m, q), v)
    return [dict(moved[i].changes) for i in range(moved.shape[0])]


def force_changes(o: Ops, m: Mechanism, q: Block, forces: list[Scalar]) -> list[Row]:
    """The change of Jᵀ f along q, joint by joint, the multipliers held."""
    d = Duals(o)
    rows = closure_rows(d, m, moving_position(d, m, q))
    found = transposed_product(rows, forces, m.n_v)
    return [dict(x.changes) if isinstance(x, Dual) else {} for x in found]
