"""How what closures give changes with q and v: derivatives of their texts, run on dual numbers.

Directions 0 to nv - 1 are those of q along its tangent, nv to 2 nv - 1 those of v. An entry exists
only where structure allows it: a loop knows the coordinates between its two ends alone.
"""

from __future__ import annotations

from typing import NamedTuple

from linkwork.algorithms.axes import Scalar, added
from linkwork.algorithms.closure import Row, closure_rows, transposed_product
from linkwork.algorithms.closure_motion import acceleration_bias, closure_rates
from linkwork.algorithms.joint_motion import quaternion_matrix
from linkwork.mechanism.model import JointType, Mechanism
from linkwork.ops.dual import Dual, Duals
from linkwork.ops.protocol import Block, Ops
from linkwork.spatial.rotations import multiply_quaternions


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
    """Of J dv + dJ/dt v, row by row, rows as in `closure_rows`."""
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
    """Of J v along q, row by row."""
    d = Duals(o)
    moved = closure_rates(d, m, moving_position(d, m, q), v)
    return [dict(moved[i].changes) for i in range(moved.shape[0])]


def force_changes(o: Ops, m: Mechanism, q: Block, forces: list[Scalar]) -> list[Row]:
    """Of Jᵀ f along q, joint by joint, the multipliers held."""
    d = Duals(o)
    rows = closure_rows(d, m, moving_position(d, m, q))
    found = transposed_product(rows, forces, m.n_v)
    return [dict(x.changes) if isinstance(x, Dual) else {} for x in found]
