"""Manipulability of a frame: Yoshikawa's measure, and its slope."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from linkwork.algorithms.jacobian import UnitTwist, frame_twists
from linkwork.mechanism.model import Mechanism
from linkwork.ops.protocol import Block, Ops
from linkwork.solve.least_squares import factors, solve_factored

_ROUNDING = 1.0e-12
"""Added to the diagonal, in m² and rad²: keeps the slope finite where the measure is zero."""


class Manipulability(NamedTuple):
    """The squared measure, and the derivative of its logarithm, halved, by each number of v."""

    squared: Block
    slope: list[Block]  # of log w; zero for what does not count


class _Column(NamedTuple):
    """The twist of the frame by one motion, in axes of the world."""

    linear: Block
    angular: Block


def manipulability(
    o: Ops,
    m: Mechanism,
    q: Block,
    frame: int,
    *,
    coordinates: Sequence[int],
    rows: Sequence[int] = range(6),
) -> Manipulability:
    """w² = det(J Jᵀ) of the frame's Jacobian J, and the slope of log w.

    J has the columns of the given coordinates, and of its six rows (linear, then angular, world
    axes) the given ones. Where columns are fewer, det(Jᵀ J) takes its place. Units: metre, radian
    (where rows are not more than columns they do not change the slope).

    Source: T. Yoshikawa, "Manipulability of robotic mechanisms", International Journal of Robotics
    Research 4 (1985); d log w / dq = trace(J⁺ dJ/dq), with the derivatives of a column being cross
    products with columns.
    """
    counted = set(m.v_indices(coordinates))
    _, motions = frame_twists(o, m, q, frame)
    columns = [_Column(*map(o.vector, each.twist)) for each in motions]
    jacobian: dict[int, Block] = {}
    for each, column in zip(motions, columns, strict=True):
        if each.v_index in counted:
            term = each.factor * o.concat([column.linear, column.angular])
            before = jacobian.get(each.v_index)
            jacobian[each.v_index] = term if before is None else before + term
    if not jacobian:
        return Manipulability(o.const(0.0), [o.const(0.0)] * m.n_v)
    picked = [o.vector([column[i] for i in rows]) for column in jacobian.values()]
    squared, duals = _inverted(o, picked, len(rows))
    zero = o.const([0.0] * 6)
    weight_of: dict[int, Block] = {}
    for k, dual in zip(jacobian, duals, strict=True):
        six: list[Block] = [o.const(0.0)] * 6
        for place, i in enumerate(rows):
            six[i] = dual[place]
        weight_of[k] = o.vector(six)
    slope: list[Block] = [o.const(0.0)] * m.n_v
    weights = [each.factor * weight_of.get(each.v_index, zero) for each in motions]
    for each, change in zip(motions, _changes(o, m, motions, columns, weights), strict=True):
        if each.v_index in counted:
            slope[each.v_index] = slope[each.v_index] + each.factor * change
    return Manipulability(squared, slope)


def _inverted(o: Ops, columns: list[Block], rows: int) -> tuple[Block, list[Block]]:
    """The determinant of the smaller of J Jᵀ and Jᵀ J, and the columns of (J⁺)ᵀ."""
    n = len(columns)
    if n >= rows:
        products = [
            [[c[i] * c[j] for c in columns] for j in range(i + 1)] for i in range(rows)
        ]  # fmt: skip
        lower: list[list[Block]] = [[sum(each[1:], each[0]) for each in row] for row in products]
    else:
        lower = [[o.dot(columns[i], columns[j]) for j in range(i + 1)] for i in range(n)]
    for i, row in enumerate(lower):
        row[i] = row[i] + _ROUNDING
    found = factors(lower)
    determinant: Block = o.const(1.0)
    for inverse in found.inverse_d:
        determinant = determinant / inverse
    if n >= rows:
        return determinant, [solve_factored(o, found, column) for column in columns]
    duals: list[Block] = []
    for i in range(n):
        unit = o.vector([1.0 if k == i else 0.0 for k in range(n)])
        share = solve_factored(o, found, unit)
        terms = [share[k] * columns[k] for k in range(n)]
        duals.append(sum(terms[1:], terms[0]))
    return determinant, duals


def _changes(
    o: Ops,
    m: Mechanism,
    motions: Sequence[UnitTwist],
    columns: Sequence[_Column],
    weights: Sequence[Block],
) -> list[Block]:
    """For each motion k, the sum over i of weight i times the derivative of column i by k.

    Motions after k are turned with it: (w_k x v_i, w_k x w_i). Those before it only see the frame
    move: (w_i x v_k, 0). All motions of a floating joint are in the axes of its body, so they turn
    with it as those after it do. Sums over all that come after, and all before, serve every k.
    """
    nothing = o.const([0.0, 0.0, 0.0])
    groups = _groups(m, motions)
    before: list[Block] = []
    total = nothing
    for group in groups:
        before.append(total)
        for i in group:
            total = total + o.cross(o.part(weights[i], 0, 3), columns[i].angular)
    after: list[Block] = []
    total = nothing
    for group in reversed(groups):
        for i in group:
            linear, angular = o.part(weights[i], 0, 3), o.part(weights[i], 3, 6)
            turned = o.cross(columns[i].linear, linear) + o.cross(columns[i].angular, angular)
            total = total + turned
        after.append(total)
    return [
        o.dot(columns[k].angular, later) + o.dot(columns[k].linear, earlier)
        for group, later, earlier in zip(groups, reversed(after), before, strict=True)
        for k in group
    ]


def _groups(m: Mechanism, motions: Sequence[UnitTwist]) -> list[list[int]]:
    """The places of the motions from root to tip; those of one with a quaternion together."""
    groups: list[list[int]] = []
    last = -1
    for k, motion in enumerate(motions):
        c = m.coordinate_of_v(motion.v_index)
        if m.joint_types[c].has_quaternion and c == last:
            groups[-1].append(k)
        else:
            groups.append([k])
        last = c
    return groups
