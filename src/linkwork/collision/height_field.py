"""Height fields of a scene: what touches the ground of one, and how far it is.

The solid below a cell of the field is a prism, or two where its surface is not convex; so a field
is very many convex pieces. None is kept: a prism is written, as a row that needs no vertices, when
a piece of the robot is near its cell. Cells are found by a pyramid of the highest places: blocks of
2 x 2 cells, of 2 x 2 of these, and so on. The solid of a block lies in the box from the bottom of
the field up to its highest place. A larger solid is nearer, so blocks whose box is farther from a
piece than the nearest prism so far are left out, in overlap too.

All is exact but for rounding, as for clouds (`cloud`): questions are moved into the field's frame,
where boxes lie along the axes.
"""

from __future__ import annotations

from dataclasses import dataclass
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from linkwork.collision.cloud import (
    Aggregate,
    moved,
)
from linkwork.collision.narrow import (
    BOX,
    PRISM,
    WEDGE,
    Solid,
    closest,
    height,
    highest_of_prism,
    touches,
)
from linkwork.collision.tree import WIDER
from linkwork.compile.typed import (
    F64,
    I64,
    Bool,
    PtrF64,
    PtrI64,
    f64,
    i64,
    local_f64,
    local_i64,
    offset,
    pointer_f64,
    pointer_i64,
    sqrt,
    typed,
)
from linkwork.mechanism.shapes import HeightField

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

FAR = 1e300
"""Farther than any prism (m)."""

X0, Y0, DX, DY, BOTTOM = range(24, 29)
"""Places in the frame of a field: its first corner, the sides of a cell, and its lower end (m)."""

LEVELS, LEVEL = 1, 3
"""The place of the first level in the index of a field, after their number less one, and how many
numbers each has: rows and columns of its blocks, and where it begins in the pyramid. The cells are
the first one, and are not in the pyramid."""

WAITING = 96
"""Blocks that wait at most: four at first, and three more on each of 30 levels."""

SLACK = 1e-13
"""The share of lengths by which rounding may part what touches, where boxes are compared."""

SAME = 1e-14
"""The share of lengths by which a prism has to be nearer than the nearest so far to be looked at:
less is rounding, and the prisms of a flat ground are all as near."""

PIECE = 24


@dataclass(frozen=True, eq=False, slots=True)
class Pyramid:
    """The highest places of a field's blocks: ``index`` as `LEVELS` says, and their heights."""

    index: Integers
    highest: Floats


_PYRAMIDS: WeakKeyDictionary[HeightField, Pyramid] = WeakKeyDictionary()


def field_arrays(field: HeightField) -> tuple[Integers, Floats, Floats]:
    """The arrays that a field is asked by: index of its pyramid, heights (m, n), and pyramid."""
    found = _PYRAMIDS.get(field)
    if found is None:
        found = _PYRAMIDS[field] = pyramid_of(field.heights)
    return found.index, np.ascontiguousarray(field.heights, np.float64), found.highest


def field_frame(field: HeightField) -> Floats:
    """The numbers of a field that stand behind its poses: see `X0`."""
    (m, n), (x, y) = field.heights.shape, field.size
    return np.array([-0.5 * x, -0.5 * y, x / (m - 1), y / (n - 1), field.bottom])


def pyramid_of(heights: Floats) -> Pyramid:
    """The pyramid over heights (m, n)."""
    level = _highest_of_two(_highest_of_two(heights, 1, 1), 0, 1)
    index, levels, start = [*level.shape, 0], [np.zeros(0)], 0
    while level.size > 1:
        level = _highest_of_two(_highest_of_two(level, 1, 2), 0, 2)
        index += [*level.shape, start]
        start += level.size
        levels.append(level.reshape(-1))
    return Pyramid(np.array([len(levels) - 1, *index], np.int64), np.concatenate(levels))


def _highest_of_two(heights: Floats, axis: int, step: int) -> Floats:
    """The higher of each number and its next one along an axis, in steps; an odd last one alone."""
    along = np.moveaxis(heights, axis, 0)
    n = len(along)
    found = np.maximum(along[: n - 1 : step], along[1::step])
    if step == 2 and n % 2:
        found = np.concatenate([found, along[-1:]])
    return np.ascontiguousarray(np.moveaxis(found, 0, axis))


# --- the small language: aggregate k, which is a field, and its blocks ----------------------------


@typed
def block_box(field: Aggregate, block: I64, box: PtrF64) -> None:
    """Write the box that holds the solid of a block: lower x, y, z, then upper, in its frame."""
    own, frame = field.own, field.frame
    grid, level = pointer_i64(own[2]), block & 63
    i, j = block_place(block)
    high = block_height(own, level, i, j)
    box[0] = frame[X0] + f64(i << level) * frame[DX]
    box[1] = frame[Y0] + f64(j << level) * frame[DY]
    box[2] = frame[BOTTOM]
    box[3] = frame[X0] + f64(min((i + 1) << level, grid[LEVELS])) * frame[DX]
    box[4] = frame[Y0] + f64(min((j + 1) << level, grid[LEVELS + 1])) * frame[DY]
    box[5] = high


@typed
def block_of(level: I64, i: I64, j: I64) -> I64:
    """The number of a block of a level."""
    return (i << 28 | j) << 6 | level


@typed
def block_place(block: I64) -> tuple[I64, I64]:
    """The row and the column of a block in its level."""
    return block >> 34, (block >> 6) & 268435455


@typed
def block_height(own: PtrI64, level: I64, i: I64, j: I64) -> F64:
    """The highest place of a block."""
    grid = pointer_i64(own[2])
    if level == 0:
        n = grid[LEVELS + 1] + 1
        h = offset(pointer_f64(own[3]), i * n + j)
        near, far = max(h[0], h[1]), max(h[n], h[n + 1])
        return max(near, far)
    at, highest = offset(grid, LEVELS + LEVEL * level), pointer_f64(own[4])
    return highest[at[2] + i * at[1] + j]


@typed
def cell_at(x: F64, last: I64) -> I64:
    """The cell at a place that is given in cells, of those from 0 to a last one."""
    most = f64(last)
    t = x if x > 0.0 else 0.0
    return i64(t if t < most else most)


@typed
def first_blocks(field: Aggregate, box: PtrF64, waiting: PtrI64) -> I64:
    """Write up to four blocks that hold all cells below and above a box; how many they are."""
    frame = field.frame
    grid = pointer_i64(field.own[2])
    rows, columns = grid[LEVELS], grid[LEVELS + 1]
    x, y = box[0] - frame[X0], box[1] - frame[Y0]
    u, v = box[3] - frame[X0], box[4] - frame[Y0]
    if u < 0.0 or v < 0.0 or x > f64(rows) * frame[DX] or y > f64(columns) * frame[DY]:
        return 0
    i, j = cell_at(x / frame[DX], rows - 1), cell_at(y / frame[DY], columns - 1)
    p, q = cell_at(u / frame[DX], rows - 1), cell_at(v / frame[DY], columns - 1)
    level = 0
    while (p >> level) - (i >> level) > 1 or (q >> level) - (j >> level) > 1:
        level += 1
    n = 0
    for a in range(i >> level, (p >> level) + 1):
        for b in range(j >> level, (q >> level) + 1):
            waiting[n] = block_of(level, a, b)
            n += 1
    return n


@typed
def parts_of_block(field: Aggregate, block: I64, parts: PtrI64) -> I64:
    """Write the blocks that a block is of; how many."""
    level = (block & 63) - 1
    i, j = block_place(block)
    of_level = offset(pointer_i64(field.own[2]), LEVELS + LEVEL * level)
    n = 0
    for a in range(2 * i, min(2 * i + 2, of_level[0])):
        for b in range(2 * j, min(2 * j + 2, of_level[1])):
            parts[n] = block_of(level, a, b)
            n += 1
    return n


@typed
def boxes_apart(a: PtrF64, b: PtrF64) -> F64:
    """Signed distance of two boxes along the axes, each its lower and its upper corner."""
    far, most = 0.0, -FAR
    for i in range(3):
        gap = max(a[i] - b[3 + i], b[i] - a[3 + i])
        most = max(most, gap)
        if gap > 0.0:
            far += gap * gap
    return sqrt(far) if most > 0.0 else most


@typed
def box_around_ball(frame: PtrF64, ball: PtrF64, box: PtrF64) -> None:
    """Write the box around a ball of the world in a field's frame."""
    box[0], box[1], box[2] = moved(frame, ball[0], ball[1], ball[2])
    for i in range(3):
        box[3 + i] = box[i] + ball[3]
        box[i] -= ball[3]


@typed
def box_around(frame: PtrF64, solid: Solid, more: F64, box: PtrF64) -> None:
    """Write the box around a piece of a body at a pose, in a field's frame.

    It is larger by a share of the lengths that it comes from.
    """
    for i in range(3):
        R = offset(frame, 4 * i)
        low = height(solid.piece, solid.pose, solid.vertices, -R[0], -R[1], -R[2])
        high = height(solid.piece, solid.pose, solid.vertices, R[0], R[1], R[2])
        slack = more * (abs(R[3]) + max(abs(low), abs(high)))
        box[i] = R[3] - low - slack
        box[3 + i] = R[3] + high + slack


@typed
def widened(box: PtrF64, by: F64, out: PtrF64) -> None:
    """Write a box that is larger by so much on all sides."""
    for i in range(3):
        out[i] = box[i] - by
        out[3 + i] = box[3 + i] + by


@typed
def n_prisms(field: Aggregate, cell: I64) -> I64:
    """The number of prisms below a cell: one where its surface is convex."""
    own = field.own
    n = pointer_i64(own[2])[LEVELS + 1] + 1
    i, j = block_place(cell)
    h = offset(pointer_f64(own[3]), i * n + j)
    return 1 if h[0] + h[n + 1] >= h[n] + h[1] else 2  # the triangles meet from the first corner


@typed
def reach_of_use(around: PtrF64, sides: F64, more: F64) -> F64:
    """The reach (m) that the solid of a block needs below and above a piece that a box is around.

    ``sides`` are the sum of the block's two. What is farther changes no distance, as long as the
    piece moves by ``more`` at most: the nearest point of the solid is not lower than the piece and
    the solid's top, nor higher than the piece and the solid's bottom, and where both overlap, the
    piece gets out sideways before it gets out there. So holes of a map that are kilometres deep
    cost no digits.
    """
    reach = sides + more
    for i in range(3):
        reach += around[3 + i] - around[i]
    return reach


@typed
def prism_piece(
    field: Aggregate, cell: I64, which: I64, around: PtrF64, more: F64, row: PtrF64
) -> None:
    """Write the prism below a cell, or one of its two, as a piece fixed in the world.

    Its origin is at a corner, as high as that one that is least above or below the piece, so that
    it is not far away from the piece; its sides go along x and y, or against them. It reaches down
    as far as `reach_of_use` says.
    """
    own, frame = field.own, field.frame
    across = pointer_i64(own[2])[LEVELS + 1] + 1
    i, j = block_place(cell)
    h = offset(pointer_f64(own[3]), i * across + j)
    near, far = min(h[0], h[1]), min(h[across], h[across + 1])
    least = min(near, far)
    low = min(around[2], least) - reach_of_use(around, frame[DX] + frame[DY], more)
    whole = n_prisms(field, cell) == 1
    p, q = 1 - which, which  # of two each has a corner of its own
    if whole:
        least = 2.0 * FAR
        for c in range(4):
            away = abs(h[c // 2 * across + c % 2] - around[2])
            if away < least:
                least, p, q = away, c // 2, c % 2
    corner, beyond = h[p * across + q], h[(1 - p) * across + 1 - q]
    along_x, along_y = h[(1 - p) * across + q], h[p * across + 1 - q]
    u, v = frame[DX] if p == 0 else -frame[DX], frame[DY] if q == 0 else -frame[DY]
    base = corner
    if not whole:
        base = along_x if abs(along_x - around[2]) < abs(base - around[2]) else base
        base = along_y if abs(along_y - around[2]) < abs(base - around[2]) else base
    T = offset(frame, 12)
    x, y = frame[X0] + f64(i + p) * frame[DX], frame[Y0] + f64(j + q) * frame[DY]
    piece_at(T, x, y, base, row)
    row[0], row[2], row[3] = f64(PRISM if whole else WEDGE), u, v
    row[4], row[5] = along_x - base, along_y - base
    row[6] = (beyond if whole else corner) - base
    row[7] = base - max(frame[BOTTOM], low)
    half = 0.5 * (highest_of_prism(row) + row[7])
    row[20], row[21], row[22] = moved(T, x + 0.5 * u, y + 0.5 * v, base + (half - row[7]))
    row[23] = 0.5 * sqrt(u * u + v * v + 4.0 * half * half) * WIDER


@typed
def block_piece(T: PtrF64, box: PtrF64, around: PtrF64, more: F64, row: PtrF64) -> None:
    """Write the box of a block, as far as is of use, as a piece that is fixed in the world."""
    reach = reach_of_use(around, box[3] - box[0] + (box[4] - box[1]), more)
    low = max(box[2], min(around[2], box[5]) - reach)
    high = min(box[5], max(around[5], box[2]) + reach)
    x, y, z = 0.5 * (box[0] + box[3]), 0.5 * (box[1] + box[4]), 0.5 * (low + high)
    piece_at(T, x, y, z, row)
    row[0] = f64(BOX)
    far = 0.0
    for i in range(3):
        row[2 + i] = 0.5 * (box[3 + i] - box[i] if i < 2 else high - low)
        far += row[2 + i] * row[2 + i]
        row[20 + i] = row[11 + 4 * i]
    row[23] = sqrt(far) * WIDER


@typed
def piece_at(T: PtrF64, x: F64, y: F64, z: F64, row: PtrF64) -> None:
    """Write a piece of no size at a place of the frame that T takes to the world."""
    for i in range(8):
        row[i] = 0.0
    for i in range(12):
        row[8 + i] = T[i]
    row[11], row[15], row[19] = moved(T, x, y, z)


@typed
def field_touches(field: Aggregate, ball: PtrF64) -> Bool:
    """Whether a ball may meet the field: it does meet the box around the solid of a cell."""
    waiting = local_i64(WAITING)
    around, box = local_f64(6), local_f64(6)
    box_around_ball(field.frame, ball, around)
    n = first_blocks(field, around, waiting)
    while n > 0:
        n -= 1
        block = waiting[n]
        block_box(field, block, box)
        if not boxes_apart(around, box) <= 0.0:
            continue
        far = 0.0
        for i in range(3):
            x = 0.5 * (around[i] + around[3 + i])
            gap = max(box[i] - x, x - box[3 + i])
            far += gap * gap if gap > 0.0 else 0.0
        if not far <= ball[3] * ball[3] * WIDER:
            continue
        if block & 63 == 0:
            return True
        n += parts_of_block(field, block, offset(waiting, n))
    return False


@typed
def field_holds(field: Aggregate, ball: PtrF64) -> Bool:
    """Whether a ball surely touches the field: its lowest point is below the surface."""
    own, frame = field.own, field.frame
    grid, heights = pointer_i64(own[2]), pointer_f64(own[3])
    rows, columns = grid[LEVELS], grid[LEVELS + 1]
    x, y, z = moved(frame, ball[0], ball[1], ball[2])
    u, v = (x - frame[X0]) / frame[DX], (y - frame[Y0]) / frame[DY]
    if not (u >= 0.0 and v >= 0.0 and u <= f64(rows) and v <= f64(columns)):
        return False
    i, j = cell_at(u, rows - 1), cell_at(v, columns - 1)
    h = offset(heights, i * (columns + 1) + j)
    u, v = u - f64(i), v - f64(j)
    a, b, c, d = h[0], h[columns + 1], h[columns + 2], h[1]
    surface = a + u * (b - a) + v * (c - b) if u >= v else a + v * (d - a) + u * (c - d)
    slack = SLACK * (abs(a) + abs(b) + abs(c) + abs(d) + abs(frame[BOTTOM]) + abs(z))
    return z - ball[3] < surface - slack and z + ball[3] > frame[BOTTOM] + slack


@typed
def wait_in_order(block: I64, low: F64, first: I64, n: I64, waiting: PtrI64, lows: PtrF64) -> None:
    """Put a block among the n - ``first`` last ones that wait, the nearest behind the others."""
    i = n
    while i > first and lows[i - 1] < low:
        lows[i] = lows[i - 1]
        waiting[i] = waiting[i - 1]
        i -= 1
    lows[i] = low
    waiting[i] = block


@typed
def field_away(field: Aggregate, ball: PtrF64, most: F64, out: PtrI64) -> F64:
    """A lower bound of the distance of a ball from the field, not above ``most``.

    Blocks that are small beside the ball are taken for what they hold. ``out`` gets 0, and -1 where
    nothing is nearer than ``most``.
    """
    waiting, lows, parts = local_i64(WAITING), local_f64(WAITING), local_i64(4)
    centre, around, box = local_f64(6), local_f64(6), local_f64(6)
    frame = field.frame
    box_around_ball(frame, ball, around)
    for i in range(3):
        centre[i] = 0.5 * (around[i] + around[3 + i])
        centre[3 + i] = centre[i]
    best = most + ball[3]
    widened(centre, max(best, 0.0), around)
    n = first_blocks(field, around, waiting)
    for i in range(n):
        lows[i] = -FAR
    out[0] = -1
    while n > 0:
        n -= 1
        if not lows[n] < best:
            continue
        block = waiting[n]
        block_box(field, block, box)
        away = boxes_apart(centre, box)
        if not away < best:
            continue
        side = max(box[3] - box[0], box[4] - box[1])
        if block & 63 == 0 or side < 0.25 * max(ball[3], away):
            best = away
            out[0] = 0
            continue
        m, first = parts_of_block(field, block, parts), n
        for i in range(m):
            block_box(field, parts[i], box)
            away = boxes_apart(centre, box)
            if away < best:
                wait_in_order(parts[i], away, first, n, waiting, lows)
                n += 1
    return best - ball[3] if out[0] == 0 else most


@typed
def piece_in_field(field: Aggregate, solid: Solid, world: PtrF64) -> Bool:
    """Whether a piece, of a body at ``pose``, touches a prism of the field."""
    waiting = local_i64(WAITING)
    around, box, row = local_f64(6), local_f64(6), local_f64(PIECE)
    frame = field.frame
    box_around(frame, solid, SLACK, around)
    n = first_blocks(field, around, waiting)
    while n > 0:
        n -= 1
        block = waiting[n]
        block_box(field, block, box)
        if not boxes_apart(around, box) <= 0.0:
            continue
        if block & 63 == 0:
            for which in range(n_prisms(field, block)):
                prism_piece(field, block, which, around, 0.0, row)
                if touches(solid.piece, solid.pose, row, world, solid.vertices, 0.0):
                    return True
            continue
        block_piece(offset(frame, 12), box, around, 0.0, row)
        if not touches(solid.piece, solid.pose, row, world, solid.vertices, SLACK * row[23]):
            continue
        n += parts_of_block(field, block, offset(waiting, n))
    return False


@typed
def field_distance(
    field: Aggregate, solid: Solid, world: PtrF64, bound: F64, record: PtrF64
) -> F64:
    """Signed distance of a piece, of a body at ``pose``, and the prisms of a field, the least.

    It and what `closest` says of the nearest prism go to the record, 10 numbers. Where no prism is
    within ``bound`` it is `FAR`, and nothing is written. ``world`` is the pose of the world.
    """
    waiting, lows, parts = local_i64(WAITING), local_f64(WAITING), local_i64(4)
    around, wide, box = local_f64(6), local_f64(6), local_f64(6)
    row, found = local_f64(PIECE), local_f64(9)
    frame = field.frame
    box_around(frame, solid, 0.0, around)
    best, near, slack = min(bound, FAR), False, 0.0
    more = SAME * (abs(best) + solid.piece[23])  # over a bound by rounding is told all the same
    widened(around, max(best, 0.0), wide)
    n = first_blocks(field, wide, waiting)
    for i in range(n):
        lows[i] = -FAR
    while n > 0:
        n -= 1
        if lows[n] > best - slack:
            continue
        block = waiting[n]
        if block & 63 == 0:
            for which in range(n_prisms(field, block)):
                prism_piece(field, block, which, around, 0.0, row)
                d = closest(solid.piece, solid.pose, row, world, solid.vertices, best + more, found)
                if d > best or (near and d == best):
                    continue
                near = True
                best = d
                slack = SAME * (abs(d) + solid.piece[23])
                more = slack
                record[0] = d
                for i in range(9):
                    record[1 + i] = found[i]
            continue
        m, first = parts_of_block(field, block, parts), n
        for i in range(m):
            block_box(field, parts[i], box)
            d = boxes_apart(around, box)
            if d > best - slack:
                continue
            if parts[i] & 63 != 0:
                block_piece(offset(frame, 12), box, around, 0.0, row)
                d = max(
                    d, closest(solid.piece, solid.pose, row, world, solid.vertices, best, found)
                )
                if d > best - slack:
                    continue
            wait_in_order(parts[i], d, first, n, waiting, lows)
            n += 1
    return best if near else FAR
