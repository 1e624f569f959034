"""How the passive joints of an assembled mechanism follow the actuated ones.

J v = 0 with the actuated speeds given: J_p x = -J_a by the implicit function theorem, one column of
x for each actuated number, and of all that hold the least x, which is -J_p⁺ J_a. Where rows are
redundant and where joints are free J_p has no full rank, so it is solved with a small number δ on
the diagonal and repeated on what is left over: (J_pᵀ R J_p + δ) step = J_pᵀ R (-J_a - J_p x), with
rows of the same length by R. What J_p determines comes a factor of about δ nearer each time. What
it does not determine gets nothing but rounding, over δ; this is taken away once by x - δ step(x).
A fixed number of operations, no pivots, as sparse as the legs of a mechanism are apart.

Sources: J. D. Riley, "Solving systems of linear equations with a positive definite, symmetric, but
possibly ill-conditioned matrix", Mathematical Tables and Other Aids to Computation 9 (1955);
C. Gosselin and J. Angeles, "Singularity analysis of closed-loop kinematic chains", IEEE
Transactions on Robotics and Automation 6 (1990).
"""

from __future__ import annotations

from typing import NamedTuple

from linkwork.algorithms.axes import Scalar, added, is_zero
from linkwork.algorithms.closure import Row, closure_rows, transposed_product
from linkwork.algorithms.driven_forces import product
from linkwork.algorithms.elimination_order import minimum_degree
from linkwork.algorithms.tree_factor import Entries, TreeFactor, factor, solved
from linkwork.algorithms.triples import less, minus, negated, plus, scaled, times, total
from linkwork.mechanism.model import Mechanism
from linkwork.ops.protocol import Block, Ops

_SMALL = 1.0e-9
"""Beside rows of length 1: less would leave more rounding than is taken away."""
_FLOOR = 1.0e-8
"""Of the mean squared length of rows, beside that of each: shorter ones count less, and rounding
counts as nothing."""
_LEAST = 1.0e-30
"""For rows that are all zero."""
_STEPS = 2
"""After the first: what is determined by squares above 1e-5 is exact then."""


class Following(NamedTuple):
    """What moves with the actuated joints, and what tells whether it is to be relied on."""

    columns: list[list[Scalar]]
    """dv by each number of the actuated joints, (nv,) each."""
    left: list[Scalar]
    """What stays of the rows' rates before the last step: loops that do not close."""
    change: list[Scalar]
    """What the last step added: much where the passive joints are next to a singularity."""


class _System(NamedTuple):
    """The passive joints' system, its unknowns by their places in ``factors``."""

    rows: list[Row]
    weights: list[Scalar]
    factors: TreeFactor


def actuated_numbers(m: Mechanism) -> list[int]:
    """The numbers of v of the actuated joints, in their order."""
    joints = (m.joint(name) for name in m.actuated)
    return [k for c in joints for k in range(int(m.v_start[c]), int(m.v_start[c + 1]))]


def following(o: Ops, m: Mechanism, q: Block) -> Following:
    """The rates at q (nq,), where it is assembled.

    Joints that are neither actuated nor in a loop stand still.
    """
    rows, driven = closure_rows(o, m, q), actuated_numbers(m)
    apart = set(driven)
    order = _order([row.keys() - apart for row in rows])
    place = {k: i for i, k in enumerate(order)}
    passive = [{place[k]: x for k, x in row.items() if k in place} for row in rows]
    system = _system(passive, len(order))
    found = Following([], [], [])
    for k in driven:
        rates = [negated(row.get(k, 0.0)) for row in rows]
        x, left, change = _least(system, rates)
        column: list[Scalar] = [0.0] * m.n_v
        column[k] = 1.0
        for i, value in zip(order, x, strict=True):
            column[i] = value
        found.columns.append(column)
        found.left.extend(value for value in left if not is_zero(value))
        found.change.extend(value for value in change if not is_zero(value))
    return found


def _order(patterns: list[set[int]]) -> list[int]:
    """The passive numbers of v, the last of which is eliminated first."""
    passive = sorted(set[int]().union(*patterns))
    place = {k: i for i, k in enumerate(passive)}
    near: list[set[int]] = [set() for _ in passive]
    for pattern in patterns:
        for k in pattern:
            near[place[k]] |= {place[j] for j in pattern if j != k}
    return [passive[i] for i in minimum_degree(near)[0][::-1]]


def _system(rows: list[Row], n: int) -> _System:
    squares = [total([times(x, x) for x in row.values()]) for row in rows]
    floor = added(times(_FLOOR / max(len(rows), 1), total(squares)), _LEAST)
    weights = [1.0 / added(square, floor) for square in squares]
    entries: Entries = {(k, k): _SMALL for k in range(n)}
    for row, weight in zip(rows, weights, strict=True):
        pulled = {k: times(weight, x) for k, x in row.items()}
        for k, x in row.items():
            for j, y in pulled.items():
                if j <= k:
                    entries[k, j] = added(entries.get((k, j), 0.0), times(x, y))
    return _System(rows, weights, factor(entries, n))


def _least(system: _System, rates: list[Scalar]) -> tuple[list[Scalar], list[Scalar], list[Scalar]]:
    """The least x with J_p x = rates, what was left of them, and what x changed by last."""
    x = _step(system, rates)
    x = minus(x, scaled(_SMALL, solved(system.factors, x)))
    left, change = rates, x
    for _ in range(_STEPS):
        left = [less(s, product(row, x)) for s, row in zip(rates, system.rows, strict=True)]
        change = _step(system, left)
        x = plus(x, change)
    return x, left, change


def _step(system: _System, rates: list[Scalar]) -> list[Scalar]:
    pulled = list(map(times, system.weights, rates))
    right = transposed_product(system.rows, pulled, len(system.factors.rows))
    return solved(system.factors, right)
