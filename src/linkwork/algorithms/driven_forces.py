"""What actuated joints have to do, or to move, for all joints of a mechanism with loops.

One system holds both: forces S τ + Jᵀ f = r with τ = Sᵀ x and J x = s, S the columns of the
actuated joints, J the closure's Jacobian. With s = 0 it gives the actuated forces τ that do what
the joint forces r of the tree would do (least norm, where loops let them work against each other);
with r = 0 it gives the motion x that closes what opens at the rate s, the actuated joints standing
still where that is possible. No mass enters: it is virtual work.

J need not have full rank: x and f come by an augmented Lagrangian with a small diagonal, repeated a
fixed number of times on what is left over. Its matrix S Sᵀ + Jᵀ R J has a row for each number of v
that an actuated joint or a row of J has, and is as sparse as the legs of a mechanism are apart.

What moves freely answers r with x along its motion n, as far as the small diagonal e lets it: r·n
over e, which would drown the rest. Two steps one after the other have the same of it, so their
difference has none; and e times the second is what of r nothing holds. So steps go in pairs, of
which the difference counts, and what nothing holds is taken off r before the next: the answer is
that to the part of r that can be answered, the nearest one.

Sources: J. Nocedal and S. J. Wright, Numerical Optimization, 2nd ed. (2006), section 17.3; the
small diagonal as in `proximal.py`.
"""

from __future__ import annotations

from typing import NamedTuple

from linkwork.algorithms.axes import Scalar, added, is_zero
from linkwork.algorithms.closure import Row, closure_rows, transposed_product
from linkwork.algorithms.elimination_order import minimum_degree
from linkwork.algorithms.tree_factor import Entries, TreeFactor, factor, solved
from linkwork.algorithms.triples import less, minus, plus, times, total
from linkwork.mechanism.model import Mechanism
from linkwork.ops.protocol import Block, Ops

_STIFF = 1.0e6
"""Of a row of J of length 1, beside 1 for an actuated joint."""
_SMALL = 3.0e-8
_FLOOR = 1.0e-16
"""Of the mean squared length of rows, beside that of each: for rows that are zero."""
_PAIRS = 2
"""Each makes what moves freely count 1e-2 to 1e-4 as much; with a last step, five solutions."""


class Driven(NamedTuple):
    """The system of a mechanism at one configuration."""

    rows: list[Row]
    stiffness: list[Scalar]
    actuated: frozenset[int]
    order: tuple[int, ...]
    """The numbers of v by their place in ``factors``, of which the last is eliminated first.

    Without those that nothing drives or holds: x is zero there.
    """
    factors: TreeFactor


class Balance(NamedTuple):
    """What the system is solved by: x, and the multipliers of the closure's rows."""

    x: list[Scalar]
    forces: list[Scalar]


def driven(o: Ops, m: Mechanism, q: Block) -> Driven:
    """The system of the closure's rows at q."""
    return driven_by(m, closure_rows(o, m, q))


def driven_by(m: Mechanism, rows: list[Row]) -> Driven:
    """The system of these rows."""
    squares = [total([times(x, x) for x in row.values()]) for row in rows]
    floor = times(_FLOOR / max(len(rows), 1), total(squares))
    stiffness = [_STIFF / added(square, floor) for square in squares]
    actuated = actuated_columns(m)
    near: list[set[int]] = [set() for _ in range(m.n_v)]
    for row in rows:
        for k in row:
            near[k] |= row.keys() - {k}
    known = [k for k in range(m.n_v) if k in actuated or near[k]]
    order = minimum_degree(near, among=known)[0][::-1]
    place = {k: i for i, k in enumerate(order)}
    entries: Entries = {(i, i): 1.0 + _SMALL if k in actuated else _SMALL for k, i in place.items()}
    for row, stiff in zip(rows, stiffness, strict=True):
        pulled = {k: times(stiff, x) for k, x in row.items()}
        for k, x in row.items():
            for j, y in pulled.items():
                if place[j] <= place[k]:
                    at = place[k], place[j]
                    entries[at] = added(entries.get(at, 0.0), times(x, y))
    return Driven(rows, stiffness, actuated, order, factor(entries, len(order)))


def actuated_columns(m: Mechanism) -> frozenset[int]:
    """The numbers of v of the actuated joints."""
    joints = (m.joint(name) for name in m.actuated)
    return frozenset(k for c in joints for k in range(int(m.v_start[c]), int(m.v_start[c + 1])))


def balanced(by: Driven, forces: list[Scalar], rates: list[Scalar]) -> Balance:
    """The solution for r = ``forces`` (nv,) and s = ``rates`` (n_c,)."""
    at = Balance([0.0] * len(forces), [0.0] * len(rates))
    for _ in range(_PAIRS):
        first = _step(by, at, forces, rates)
        second = _step(by, _sum(at, first), forces, rates)
        at = _sum(at, Balance(minus(first.x, second.x), minus(first.forces, second.forces)))
        forces = minus(forces, [times(_SMALL, x) for x in second.x])
    return _sum(at, _step(by, at, forces, rates))


def _sum(a: Balance, b: Balance) -> Balance:
    return Balance(plus(a.x, b.x), plus(a.forces, b.forces))


def _step(by: Driven, at: Balance, forces: list[Scalar], rates: list[Scalar]) -> Balance:
    """What is to be added: the system solved for what is left over."""
    open_ = [less(s, product(row, at.x)) for s, row in zip(rates, by.rows, strict=True)]
    pull = [times(k, value) for k, value in zip(by.stiffness, open_, strict=True)]
    held = transposed_product(by.rows, minus(pull, at.forces), len(at.x))
    right = [
        added(less(r, at.x[k]) if k in by.actuated else r, held[k]) for k, r in enumerate(forces)
    ]
    step = _solved(by, right)
    moved = [product(row, step) for row in by.rows]
    more = [times(k, value) for k, value in zip(by.stiffness, moved, strict=True)]
    return Balance(step, minus(more, pull))


def _solved(by: Driven, right: list[Scalar]) -> list[Scalar]:
    found = solved(by.factors, [right[k] for k in by.order])
    result: list[Scalar] = [0.0] * len(right)
    for k, value in zip(by.order, found, strict=True):
        result[k] = value
    return result


def actuated_forces(by: Driven, forces: list[Scalar]) -> list[Scalar]:
    """Forces (nv,) of the actuated joints alone that do what these of all joints would do."""
    return at_actuated(by, balanced(by, forces, [0.0] * len(by.rows)).x)


def at_actuated(by: Driven, x: list[Scalar]) -> list[Scalar]:
    """These numbers at the actuated joints, zero elsewhere."""
    return [value if k in by.actuated else 0.0 for k, value in enumerate(x)]


def product(row: Row, x: list[Scalar]) -> Scalar:
    """A row times a vector."""
    value: Scalar = 0.0
    for k, entry in row.items():
        if not is_zero(x[k]):
            value = added(value, times(entry, x[k]))
    return value
