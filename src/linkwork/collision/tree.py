"""A tree of balls: which of very many meet a ball, and which is nearest to a point.

Balls lie in leaves of eight, side by side in lanes; eight leaves, then eight of these nodes, and
so on, lie in a node that has the box around each. The balls are halved at medians, along the
longest side each time, so that the eight of a node are 2 x 2 x 2 of space: a balanced k-d tree with
three of its levels in one. The order is the same for the same balls.

A tree is two flat arrays for the small language (`linkwork.compile.typed`): ``index`` has the
number of levels, where each begins in ``numbers``, and from `LAYOUT` on which ball is where. A leaf
is x, y, z and radius of eight balls, a node the lower and the upper x, y, z of eight boxes. Where
there is nothing, balls and boxes are infinitely far away.

Source: J. L. Bentley, "Multidimensional binary search trees", CACM 18 (1975).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from linkwork.compile.typed import (
    F64,
    I64,
    WIDTH,
    Bool,
    Lanes,
    PtrF64,
    PtrI64,
    bits_of,
    lane,
    lane_min,
    lanes,
    local_f64,
    local_i64,
    lowest_bit,
    select,
    splat,
    sqrt,
    typed,
)

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

LEAF, NODE = 4 * WIDTH, 6 * WIDTH
"""Numbers of a leaf and of a node."""

MOST_LEVELS = 15
LAYOUT = MOST_LEVELS + 1
"""The place in an index at which the numbers of the balls begin."""

ROOM = 8 * MOST_LEVELS
"""Nodes that wait at most: seven of each level but the last, and one of it eight."""

SLACK = 1e-14
WIDER = 1 + 1e-12
"""Boxes and balls are this much larger where nodes are judged: rounding loses no ball."""


@dataclass(frozen=True, eq=False, slots=True)
class Tree:
    """The arrays of a tree of balls (see the module)."""

    index: Integers
    numbers: Floats


def tree_of(centres: Floats, radii: Floats) -> Tree:
    """The tree of balls with ``centres`` (n, 3) and ``radii`` (n,), which are finite."""
    n = len(centres)
    leaves = 1
    while leaves * WIDTH < n:
        leaves *= 2
    room = leaves * WIDTH
    x = np.full((3, room), np.inf)
    x[:, :n] = centres.T
    order = np.arange(room)
    for size in (room >> k for k in range(leaves.bit_length() - 1)):
        x, order = _halved(x, order, size)
    r = np.zeros(room)
    r[:n] = radii
    r = r[order]
    blocks = [np.concatenate([x, r[None]]).reshape(4, leaves, WIDTH).transpose(1, 0, 2)]
    # what a leaf holds is where it is told to be, within the rounding of a sum
    with np.errstate(invalid="ignore"):
        reach = np.where(np.isinf(x), 0.0, r + SLACK * (np.abs(x) + r))
    boxes = np.concatenate([x - reach, np.where(np.isinf(x), -np.inf, x + reach)])
    while len(blocks) == 1 or len(blocks[-1]) > 1:
        low = boxes[:3].reshape(3, -1, WIDTH).min(axis=-1)
        high = boxes[3:].reshape(3, -1, WIDTH).max(axis=-1)
        held = -(-low.shape[1] // WIDTH) * WIDTH
        boxes = np.full((6, held), np.inf)
        boxes[3:] = -np.inf
        boxes[:3, : low.shape[1]], boxes[3:, : low.shape[1]] = low, high
        blocks.append(boxes.reshape(6, -1, WIDTH).transpose(1, 0, 2))
    layout = np.zeros(LAYOUT, np.int64)
    layout[0] = len(blocks) - 1
    layout[2 : len(blocks) + 1] = np.cumsum([block.size for block in blocks[:-1]])
    numbers = np.concatenate([block.reshape(-1) for block in blocks])
    return Tree(np.concatenate([layout, np.where(order < n, order, -1)]), numbers)


def _halved(x: Floats, order: Integers, size: int) -> tuple[Floats, Integers]:
    """Each run of ``size`` with its lower half first, along the longest side of the box around it.

    What is infinitely far away goes up.
    """
    runs = x.reshape(3, -1, size)
    spread = np.where(np.isinf(runs), -np.inf, runs).max(axis=-1) - runs.min(axis=-1)
    along = np.argmax(np.nan_to_num(spread, nan=-np.inf), axis=0)
    keys = runs[along, np.arange(runs.shape[1])]
    taken = np.argpartition(keys, size // 2, axis=-1)
    return (
        np.take_along_axis(runs, taken[None], axis=-1).reshape(3, -1),
        np.take_along_axis(order.reshape(-1, size), taken, axis=-1).reshape(-1),
    )


# --- the small language ---------------------------------------------------------------------------


@typed
def gap(low: Lanes, high: Lanes, x: F64) -> Lanes:
    """The distances of a number from eight intervals; 0 inside."""
    below = low - x
    above = x - high
    outside = select(below > above, below, above)
    return select(outside > 0.0, outside, splat(0.0))


@typed
def boxes_away(numbers: PtrF64, at: I64, x: F64, y: F64, z: F64) -> Lanes:
    """The squares of the distances to the eight boxes of a node."""
    dx = gap(lanes(numbers, at), lanes(numbers, at + 24), x)
    dy = gap(lanes(numbers, at + 8), lanes(numbers, at + 32), y)
    dz = gap(lanes(numbers, at + 16), lanes(numbers, at + 40), z)
    return dx * dx + dy * dy + dz * dz


@typed
def balls_met(numbers: PtrF64, at: I64, x: F64, y: F64, z: F64, r: F64) -> I64:
    """The balls among the eight of a leaf that meet a ball, as bits."""
    dx = lanes(numbers, at) - x
    dy = lanes(numbers, at + 8) - y
    dz = lanes(numbers, at + 16) - z
    reach = lanes(numbers, at + 24) + r
    return bits_of((dx * dx + dy * dy + dz * dz <= reach * reach) & (reach >= 0.0))


@typed
def wait_for(waiting: PtrI64, n: I64, chunk: I64, level: I64, met: I64) -> I64:
    """Put children of a node, given as bits, behind the n that wait; how many wait then."""
    left = met
    while left != 0:
        waiting[n] = (8 * chunk + lowest_bit(left)) << 4 | level - 1
        n += 1
        left = left & (left - 1)
    return n


@typed
def visit_near(
    index: PtrI64,
    numbers: PtrF64,
    x: F64,
    y: F64,
    z: F64,
    r: F64,
    out: PtrI64,
    limit: I64,
) -> I64:
    """The number of balls that meet the one at x, y, z; the first ``limit`` go to ``out``.

    ``r`` is finite, below 1e150.
    """
    waiting = local_i64(ROOM)
    waiting[0] = index[0]
    n = 1
    found = 0
    near = r * r * WIDER
    while n > 0:
        n -= 1
        chunk = waiting[n] >> 4
        level = waiting[n] & 15
        if level == 0:
            met = balls_met(numbers, index[1] + 32 * chunk, x, y, z, r)
            while met != 0:
                if found < limit:
                    out[found] = index[LAYOUT + 8 * chunk + lowest_bit(met)]
                found += 1
                met = met & (met - 1)
        else:
            away = boxes_away(numbers, index[level + 1] + 48 * chunk, x, y, z)
            n = wait_for(waiting, n, chunk, level, bits_of(away <= near))
    return found


@typed
def touches(index: PtrI64, numbers: PtrF64, x: F64, y: F64, z: F64, r: F64) -> Bool:
    """Whether the ball at x, y, z meets any; ``r`` is finite, below 1e150."""
    waiting = local_i64(ROOM)
    waiting[0] = index[0]
    n = 1
    near = r * r * WIDER
    while n > 0:
        n -= 1
        chunk = waiting[n] >> 4
        level = waiting[n] & 15
        if level == 0:
            if balls_met(numbers, index[1] + 32 * chunk, x, y, z, r) != 0:
                return True
        else:
            away = boxes_away(numbers, index[level + 1] + 48 * chunk, x, y, z)
            n = wait_for(waiting, n, chunk, level, bits_of(away <= near))
    return False


@typed
def nearest(
    index: PtrI64,
    numbers: PtrF64,
    x: F64,
    y: F64,
    z: F64,
    most: F64,
    out: PtrI64,
) -> F64:
    """The distance of x, y, z from the nearest ball: below 0 inside; its number goes to ``out``.

    It is ``most``, and the number -1, where none is nearer than that.
    """
    waiting = local_i64(ROOM)
    bound = local_f64(ROOM)
    waiting[0] = index[0]
    bound[0] = 0.0
    n = 1
    best = most
    out[0] = -1
    while n > 0:
        n -= 1
        # inside of a box is nothing to be known; outside of it, that much at least
        if bound[n] > 0.0 and bound[n] >= best:
            continue
        chunk = waiting[n] >> 4
        level = waiting[n] & 15
        if level == 0:
            at = index[1] + 32 * chunk
            dx = lanes(numbers, at) - x
            dy = lanes(numbers, at + 8) - y
            dz = lanes(numbers, at + 16) - z
            away = sqrt(dx * dx + dy * dy + dz * dz) - lanes(numbers, at + 24)
            least = lane_min(away)
            if least < best:
                best = least
                out[0] = index[LAYOUT + 8 * chunk + lowest_bit(bits_of(away <= least))]
        else:
            # the box is drawn in a little, as rounding may not put it past its balls
            away = sqrt(boxes_away(numbers, index[level + 1] + 48 * chunk, x, y, z)) * (2.0 - WIDER)
            left = bits_of((away < best) | (away <= 0.0))
            least = lane_min(away)
            first = lowest_bit(bits_of(away <= least) | 256)
            while left != 0:
                k = lowest_bit(left)
                left = left & (left - 1)
                if k != first:
                    waiting[n] = (8 * chunk + k) << 4 | level - 1
                    bound[n] = lane(away, k)
                    n += 1
            if least < best or least <= 0.0:
                waiting[n] = (8 * chunk + first) << 4 | level - 1
                bound[n] = least
                n += 1
    return best
