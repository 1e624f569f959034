"""Point clouds of a scene: what touches a point of them, and which is nearest.

Each cloud has a tree (`tree`) in its own frame, made once for its record of points, so that a
cloud that moves costs nothing. Clouds are among the `aggregates` of a scene; each function below
asks one of them, by its number. All is exact but for rounding: a point is a ball of its cloud's
radius, and moving a question into a cloud's frame rounds by 1e-15 of its distance from the world's
origin and the cloud's.

How far a convex piece is from a cloud is found from the tree's top down: a node lies in the ball
around its box, and a larger solid is nearer, so that nodes whose ball is farther from the piece
than the nearest point so far are left out, in overlap too.
"""

from __future__ import annotations

from typing import NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from linkwork.collision.narrow import (
    Solid,
    closest,
)
from linkwork.collision.tree import (
    LAYOUT,
    ROOM,
    Tree,
    boxes_away,
    nearest,
    touches,
    tree_of,
    visit_near,
)
from linkwork.compile.typed import (
    F64,
    I64,
    Bool,
    PtrF64,
    PtrI64,
    bits_of,
    lane,
    lanes,
    local_f64,
    local_i64,
    lowest_bit,
    offset,
    pointer_f64,
    pointer_i64,
    sqrt,
    typed,
)
from linkwork.mechanism.shapes import Points

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

PLACES, FRAME = 5, 29
"""Whole and other numbers of an aggregate (see `aggregates.Aggregates`)."""

RADIUS = 24
"""The place of the radius of a cloud's points in its frame."""

PIECE = 24
"""Numbers of a convex piece (`collision.pieces`); a point has the kind 0 there."""

FAR = 1e300
"""Farther than any point (m)."""


def cloud_arrays(shape: Points) -> tuple[Integers, Floats, Floats]:
    """The arrays that a cloud is asked by: index and numbers of its tree, and its points (n, 3)."""
    tree = _tree(shape)
    return tree.index, tree.numbers, np.ascontiguousarray(shape.points, np.float64)


_TREES: WeakKeyDictionary[Points, Tree] = WeakKeyDictionary()


def _tree(shape: Points) -> Tree:
    found = _TREES.get(shape)
    if found is None:
        radii = np.full(len(shape.points), shape.radius)
        found = _TREES[shape] = tree_of(shape.points, radii)
    return found


# --- the small language: aggregate k, which is a cloud, and a ball x, y, z, r of the world --------


@typed
def moved(T: PtrF64, x: F64, y: F64, z: F64) -> tuple[F64, F64, F64]:
    """A point moved by the rows of a matrix (3, 4)."""
    u = T[0] * x + T[1] * y + T[2] * z + T[3]
    v = T[4] * x + T[5] * y + T[6] * z + T[7]
    w = T[8] * x + T[9] * y + T[10] * z + T[11]
    return u, v, w


class Aggregate(NamedTuple):
    """A cloud or a height field: its places of `Aggregates.index` and its frame and numbers."""

    own: PtrI64
    frame: PtrF64


@typed
def aggregate_at(k: I64, index: PtrI64, numbers: PtrF64) -> Aggregate:
    """The aggregate with a number."""
    return Aggregate(offset(index, PLACES * k), offset(numbers, FRAME * k))


@typed
def tree_of_cloud(cloud: Aggregate) -> tuple[PtrI64, PtrF64]:
    """The index and the numbers of the tree of a cloud."""
    own = cloud.own
    return pointer_i64(own[2]), pointer_f64(own[3])


@typed
def cloud_touches(cloud: Aggregate, ball: PtrF64) -> Bool:
    """Whether a ball meets a point of the cloud."""
    x, y, z = moved(cloud.frame, ball[0], ball[1], ball[2])
    own, tree = tree_of_cloud(cloud)
    return touches(own, tree, x, y, z, ball[3])


@typed
def cloud_nearest(cloud: Aggregate, ball: PtrF64, most: F64, out: PtrI64) -> F64:
    """The distance of a ball from the cloud; the nearest point's number goes to ``out``.

    It is ``most``, and the number -1, where none is nearer than that.
    """
    x, y, z = moved(cloud.frame, ball[0], ball[1], ball[2])
    own, tree = tree_of_cloud(cloud)
    return nearest(own, tree, x, y, z, most + ball[3], out) - ball[3]


@typed
def points_near(cloud: Aggregate, ball: PtrF64, out: PtrI64, limit: I64) -> I64:
    """The number of points that meet a ball; the first ``limit`` of them go to ``out``."""
    x, y, z = moved(cloud.frame, ball[0], ball[1], ball[2])
    own, tree = tree_of_cloud(cloud)
    return visit_near(own, tree, x, y, z, ball[3], out, limit)


@typed
def point_piece(cloud: Aggregate, point: I64, row: PtrF64) -> None:
    """Write a point of the cloud as a convex piece that is fixed in the world, 24 numbers."""
    p = offset(pointer_f64(cloud.own[4]), 3 * point)
    frame = cloud.frame
    ball_piece(offset(frame, 12), p[0], p[1], p[2], frame[RADIUS], row)


@typed
def ball_piece(T: PtrF64, x: F64, y: F64, z: F64, radius: F64, row: PtrF64) -> None:
    """Write a ball of a cloud's frame as a convex piece that is fixed in the world, 24 numbers."""
    u, v, w = moved(T, x, y, z)
    for i in range(PIECE):
        row[i] = 0.0
    row[1] = radius
    row[7] = -1.0
    row[8] = 1.0
    row[13] = 1.0
    row[18] = 1.0
    row[11] = u
    row[15] = v
    row[19] = w
    row[20] = u
    row[21] = v
    row[22] = w
    row[23] = radius


@typed
def cloud_distance(
    cloud: Aggregate, solid: Solid, world: PtrF64, bound: F64, record: PtrF64
) -> F64:
    """Signed distance of a piece, of a body at ``pose``, and the points of a cloud, the least.

    It and what `closest` says of the nearest point go to the record, 10 numbers. Where no point is
    within ``bound`` it is `FAR`, and nothing is written. ``world`` is the pose of the world.
    """
    x, y, z = moved(solid.pose, solid.piece[20], solid.piece[21], solid.piece[22])
    x, y, z = moved(cloud.frame, x, y, z)
    around = solid.piece[23]
    T = offset(cloud.frame, 12)
    own, tree = tree_of_cloud(cloud)
    waiting = local_i64(ROOM)
    low = local_f64(ROOM)
    row = local_f64(PIECE)
    found = local_f64(9)
    waiting[0] = own[0]
    low[0] = -FAR
    n = 1
    best = min(bound, FAR)
    near = False
    while n > 0:
        n -= 1
        if low[n] > best:
            continue
        chunk = waiting[n] >> 4
        level = waiting[n] & 15
        if level == 0:
            at = own[1] + 32 * chunk
            dx = lanes(tree, at) - x
            dy = lanes(tree, at + 8) - y
            dz = lanes(tree, at + 16) - z
            reach = lanes(tree, at + 24) + around
            away = sqrt(dx * dx + dy * dy + dz * dz) - reach
            for j in range(8):
                if lane(away, j) > best:
                    continue
                point_piece(cloud, own[LAYOUT + 8 * chunk + j], row)
                more = 1e-14 * (abs(best) + around)  # over a bound by rounding is told all the same
                d = closest(solid.piece, solid.pose, row, world, solid.vertices, best + more, found)
                if d > best:
                    continue
                near = True
                best = d
                record[0] = d
                for i in range(9):
                    record[1 + i] = found[i]
            continue
        at = own[level + 1] + 48 * chunk
        away = sqrt(boxes_away(tree, at, x, y, z)) - around
        left = bits_of(away <= best)
        first = n
        while left != 0:
            j = lowest_bit(left)
            left = left & (left - 1)
            d = lane(away, j)
            a = tree[at + 24 + j] - tree[at + j]
            b = tree[at + 32 + j] - tree[at + 8 + j]
            c = tree[at + 40 + j] - tree[at + 16 + j]
            half = 0.5 * sqrt(a * a + b * b + c * c)
            if half < around:  # what is larger than the piece is judged by the piece's ball
                u = tree[at + j] + 0.5 * a
                v = tree[at + 8 + j] + 0.5 * b
                w = tree[at + 16 + j] + 0.5 * c
                ball_piece(T, u, v, w, half, row)
                d = max(
                    d, closest(solid.piece, solid.pose, row, world, solid.vertices, best, found)
                )
                if d > best:
                    continue
            i = n  # the nearest of a node's children is on top
            n += 1
            while i > first and low[i - 1] < d:
                low[i] = low[i - 1]
                waiting[i] = waiting[i - 1]
                i -= 1
            low[i] = d
            waiting[i] = (8 * chunk + j) << 4 | level - 1
    return best if near else FAR
