"""The arrays that the compiled checks read: of a robot, and of what stands around it.

Both are plain numbers, so that obstacles move and pairs change without compiling anything.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linkwork.collision import distances, spheres
from linkwork.collision.cover import Cover
from linkwork.collision.distances import INF
from linkwork.collision.obstacles import Obstacles
from linkwork.collision.pieces import CYLINDER, ELLIPSOID, HALF_SPACE, HULL, POINT, SEGMENT
from linkwork.compile.numpy_abi import address
from linkwork.compile.typed import (
    F64,
    I64,
    WIDTH32,
    PtrF32,
    PtrF64,
    f32,
    i64,
    local_f64,
    offset,
    sqrt,
    typed,
)
from linkwork.mechanism.shapes import Points

Floats = NDArray[np.float64]
Singles = NDArray[np.float32]
Integers = NDArray[np.int64]

EPSILON = 2.0**-24
"""The largest relative error of rounding to float32."""

SMALLEST_INNER = 1e-4
"""Inner balls of a smaller radius (m) are left out, and those of which rounding would be half."""

NOWHERE = 1e9
"""The place of boxes that nothing touches (m)."""

LARGEST = 1e15
"""Lengths (m) from which on float32 tells nothing apart: all touches what is as large or as far."""

ROUNDING = 24 * EPSILON
"""The share of its distance by which rounding to float32 moves a box's or half-space's surface."""


@dataclass(frozen=True, eq=False, slots=True)
class RobotTables:
    """The robot's side (see `spheres` for the layout of ``ints``)."""

    ints: Integers
    balls: Floats  # (n, 4): of bodies, of parts, the finest, the inner ones
    n_outer: int
    ranges: Integers  # (n_bodies, 2): first piece and count
    pieces: Floats  # (n, 24)
    vertices: Floats
    sixteens: Integers  # the balls that lie side by side behind the others, -1 for none
    room: int  # numbers of a room for balls
    error: float  # how far a ball in float32 may be off (m)
    owners: Integers  # (n_outer,): whose each ball is

    def rounded_balls(self) -> Singles:
        """The balls in float32, outer ones larger and inner ones smaller by their error."""
        made = self.balls.copy()
        made[: self.n_outer, 3] += self.error
        made[self.n_outer :, 3] -= self.error
        nothing = [[1e30, 1e30, 1e30, -np.inf]]  # squares of distances from it are infinite
        vast = ~(np.abs(made).max(axis=1, initial=0.0) < LARGEST)
        made[vast] = [0.0, 0.0, 0.0, np.inf]
        made[self.n_outer :][vast[self.n_outer :]] = nothing
        side = np.vstack([made, nothing])[self.sixteens].reshape(-1, WIDTH32, spheres.BALL)
        return np.concatenate([made.ravel(), side.transpose(0, 2, 1).ravel()]).astype(np.float32)

    @property
    def radii(self) -> Integers:
        """Places (2, n) of the radii of outer balls among `rounded_balls`, and whose they are."""
        first = spheres.BALL * len(self.balls)
        side = self.sixteens.reshape(-1, WIDTH32)
        across = spheres.BALL * WIDTH32
        at = first + np.arange(len(side))[:, None] * across + 3 * WIDTH32 + np.arange(WIDTH32)
        outer = (side >= 0) & (side < self.n_outer)
        single = spheres.BALL * np.arange(self.n_outer) + 3
        whose = np.concatenate([self.owners, self.owners[side[outer]]])
        return np.stack([np.concatenate([single, at[outer]]), whose]).astype(np.int64)


def robot_tables(
    cover: Cover,
    rows: Floats,
    vertices: Floats,
    pairs: Integers,
    moves: Sequence[bool],
    *,
    n_q: int,
    error: float,
) -> RobotTables:
    """The tables of a cover, of the rows of pieces (sorted by body) and of the pairs to check.

    ``error``: how far a point of the robot may be off that float32 has moved (m).
    """
    n_bodies, n_parts = len(cover.body_spheres), len(cover.part_spheres)
    levels = (cover.body_spheres, cover.part_spheres, cover.spheres, cover.inner)
    error += 4 * EPSILON * max(float(np.abs(level).max(initial=0.0)) for level in levels)
    kept = cover.inner[:, 3] >= max(SMALLEST_INNER, 2 * error)
    before = np.concatenate([[0], np.cumsum(kept)])
    first = n_bodies + n_parts
    pool, lists = _pool(cover, len(rows))
    parts = np.column_stack([first + cover.part_ranges[:, 0], cover.part_ranges[:, 1], lists])
    start, stop = cover.body_inner[:, 0], cover.body_inner.sum(axis=1)
    inside = np.column_stack(
        [first + len(cover.spheres) + before[start], before[stop] - before[start]]
    )
    inside[:, 1] = np.minimum(inside[:, 1], spheres.MOST_BALLS)  # the largest come first
    bodies = rows[:, 7].astype(np.int64)
    ranges = np.array([[np.sum(bodies < b), np.sum(bodies == b)] for b in range(n_bodies)])
    head = np.zeros(spheres.HEAD, np.int64)
    head[: spheres.BODY_RANGES] = n_bodies, len(pairs), n_q
    n_balls = first + len(cover.spheres) + int(kept.sum())
    side, sixteens = _side_by_side(cover, parts, inside, n_balls)
    chunks = [cover.body_parts, parts, pairs, np.array(moves, np.int64), inside, pool, ranges, side]
    head[spheres.BODY_RANGES :] = spheres.HEAD + np.cumsum([0, *(c.size for c in chunks[:-1])])
    ints = np.concatenate([head, *[np.ravel(c) for c in chunks]]).astype(np.int64)
    balls = np.vstack([cover.body_spheres, cover.part_spheres, cover.spheres, cover.inner[kept]])
    most = int(cover.body_parts[:, 1].max(initial=0))
    finest = int(max(parts[:, 1].max(initial=0), inside[:, 1].max(initial=0)))
    return RobotTables(
        ints,
        balls,
        first + len(cover.spheres),
        np.ascontiguousarray(ranges.reshape(-1, 2), np.int64),
        np.ascontiguousarray(rows),
        vertices,
        sixteens,
        3 * WIDTH32 * (3 + 2 * most + finest + 2 * int(side[:, [1, 3]].max(initial=0))),
        error,
        _owners(cover, n_bodies),
    )


def _owners(cover: Cover, n_bodies: int) -> Integers:
    """Whose the balls of bodies, of parts and the finest are."""
    parts = np.repeat(np.arange(n_bodies), cover.body_parts[:, 1])
    finest = np.repeat(parts, cover.part_ranges[:, 1])
    return np.concatenate([np.arange(n_bodies), parts, finest])


def _side_by_side(
    cover: Cover, parts: Integers, inside: Integers, n_balls: int
) -> tuple[Integers, Integers]:
    """The order of the balls of a body side by side, sixteen by sixteen, after all balls.

    For each body where its finest balls begin, in numbers, and how many sixteens they are, and the
    same of its inner ones; and the numbers of the balls in this order, -1 where there is none.
    """
    side = np.zeros((len(cover.body_spheres), 4), np.int64)
    order: list[int] = []
    for body, (start, count) in enumerate(cover.body_parts.tolist()):
        own = parts[start : start + count]
        outer = range(int(own[0, 0]), int(own[-1, 0] + own[-1, 1]))
        inner = range(int(inside[body, 0]), int(inside[body].sum()))
        for place, numbers in ((0, outer), (2, inner)):
            n = -(-len(numbers) // WIDTH32)
            side[body, place] = spheres.BALL * (n_balls + len(order))
            side[body, place + 1] = n
            order += [*numbers, *[-1] * (n * WIDTH32 - len(numbers))]
    return side, np.array(order, np.int64)


def _pool(cover: Cover, n_pieces: int) -> tuple[Integers, Integers]:
    """Lists of pieces, and where in them those of each part stand (n_parts, 2).

    It begins with all pieces, in which lists of neighbours are found; equal lists stand once.
    """
    pool = list(range(n_pieces))
    places: dict[tuple[int, ...], int] = {}
    found = np.zeros((len(cover.part_piece_ranges), 2), np.int64)
    for k, (first, count) in enumerate(cover.part_piece_ranges.tolist()):
        own = tuple(sorted(cover.part_pieces[first : first + count].tolist()))
        if own not in places:
            straight = own == tuple(range(own[0], own[0] + count))
            places[own] = own[0] if straight else len(pool)
            if not straight:
                pool.extend(own)
        found[k] = places[own], count
    return np.array(pool, np.int64), found


@dataclass(frozen=True, eq=False, slots=True)
class SceneTables:
    """The scene's side, with the vertices of robot and scene in one table."""

    ints: Integers
    shapes: Singles
    rows: Floats  # (n, 24)
    vertices: Floats
    obstacles: Obstacles
    allowed: Integers
    exact: distances.Tables
    rooms: list[Any] = field(default_factory=list[Any])  # for distances, in which nobody works
    made: dict[str, Any] = field(default_factory=dict[str, Any])  # of them, when first asked for

    @property
    def most_found(self) -> int:
        """The size of the list of rows, or of points of a cloud, that are found at once."""
        around = self.obstacles
        shapes = [around.objects[k].shape for k in around.aggregates.objects]
        points = [len(shape.points) for shape in shapes if isinstance(shape, Points)]
        return max(1, 2 * len(self.rows), *points)


def scene_tables(
    obstacles: Obstacles,
    robot: RobotTables,
    bodies: distances.Bodies,
    write: Callable[..., None],
    *,
    reach: float,
    allowed: Integers,
) -> SceneTables:
    """The tables of obstacles.

    ``write``: `write_boxes`, compiled. ``reach`` (m): how far any point of the robot comes from the
    world's origin, for what rounding adds to the boxes. ``allowed`` (n, 2): bodies, and rows that
    they may touch.
    """
    rows, flat = obstacles.rows.copy(), obstacles.half_spaces
    n = len(rows)
    boxes, ends = np.ascontiguousarray(obstacles.boxes), np.empty((n, spheres.BOX))
    lanes = -(-n // WIDTH32) * WIDTH32
    size = (lanes + 2 * n) * spheres.BOX + n * spheres.BALL + 2 * len(flat) * spheres.PLANE
    shapes = np.zeros(size + WIDTH32, np.float32)
    write(address(rows), address(boxes), n, len(flat), reach, address(shapes), address(ends))
    first = spheres.SCENE_HEAD
    head = [n, len(flat), first, len(allowed), first + len(flat), obstacles.aggregates.count]
    vertices = robot.vertices  # hundreds of kB: copied for those of meshes alone
    if len(obstacles.vertices):
        rows[rows[:, 0] == HULL, 5] += len(vertices)
        vertices = np.concatenate([vertices, obstacles.vertices])
    return SceneTables(
        np.array([*head, *flat.tolist(), *allowed.ravel().tolist(), 0], np.int64),
        shapes,
        rows,
        vertices,
        obstacles,
        allowed,
        distances.tables(
            bodies, rows, vertices, ends, allowed=allowed, aggregates=obstacles.aggregates
        ),
    )


@typed
def part_inside(kind: I64, axis: I64) -> F64:
    """The half edge of a box in a piece of a kind, as a part of that of the one around it."""
    if kind == CYLINDER and axis < 2:
        return sqrt(0.5)
    return sqrt(1.0 / 3.0) if kind == ELLIPSOID else 1.0


@typed
def write_outer(row: PtrF64, given: PtrF64, outer: PtrF64) -> F64:
    """Write the rounded box (16) that holds a piece; the greatest of its lengths, or `LARGEST`.

    ``given`` (15): a box around the piece, as `Obstacles.boxes` has it. Edges are rounded by the
    radius of points and segments.
    """
    kind = i64(row[0])
    rounding = row[1] if row[0] == POINT or row[0] == SEGMENT else 0.0
    size = min(rounding, LARGEST)
    for i in range(3):
        own, axis, half = offset(outer, 5 * i), offset(given, 3 * i), given[12 + i] - rounding
        if kind == SEGMENT:
            half = row[3] if i == 2 else row[2]
        own[0], own[1], own[2] = axis[0], axis[1], axis[2]
        own[3] = axis[0] * given[9] + (axis[1] * given[10] + axis[2] * given[11])
        own[4] = half
        # what is not finite is as large as the largest
        size = max(size, abs(own[3]) if abs(own[3]) < LARGEST else LARGEST)
        size = max(size, abs(half) if abs(half) < LARGEST else LARGEST)
    outer[15] = rounding
    return size


@typed
def write_ends(outer: PtrF64, ends: PtrF64) -> None:
    """Write a box with its least and greatest places along each axis."""
    for i in range(16):
        ends[i] = outer[i]
    for i in range(3):
        middle, half = outer[5 * i + 3], outer[5 * i + 4]
        ends[5 * i + 3], ends[5 * i + 4] = middle - half, middle + half


@typed
def write_half_space(row: PtrF64, reach: F64, ends: PtrF64, plane: PtrF32, inner: PtrF32) -> None:
    """Write the half-space that holds that of a row, one that lies in it, and its one end."""
    x, y, z = row[10], row[14], row[18]
    far = x * row[11] + (y * row[15] + z * row[19])
    for i in range(16):
        ends[i] = 0.0
    for i in range(3):
        ends[5 * i + 3], ends[5 * i + 4] = -INF, INF
    ends[10], ends[11], ends[12], ends[14] = x, y, z, far
    error = ROUNDING * (reach + abs(far))
    if not abs(far) < LARGEST:
        x, y, z, far, error = 0.0, 0.0, 0.0, 0.0, LARGEST
    plane[0], plane[1], plane[2], plane[3] = f32(x), f32(y), f32(z), f32(far + error)
    inner[0], inner[1], inner[2], inner[3] = f32(x), f32(y), f32(z), f32(far - error)


@typed
def write_all(box: PtrF64, far: F64, half: F64) -> None:
    """Write the box that everything touches (half `LARGEST`) or nothing (far `NOWHERE`)."""
    for i in range(16):
        box[i] = 0.0
    box[3] = far
    box[4], box[9], box[14] = half, half, half


@typed
def write_around(box: PtrF64, out: PtrF32) -> None:
    """Write the ball (4) around a rounded box."""
    square, most = 0.0, 0.0
    centre = local_f64(3)
    for j in range(3):
        centre[j] = box[j] * box[3] + (box[5 + j] * box[8] + box[10 + j] * box[13])
        square = box[5 * j + 4] * box[5 * j + 4] + square
        most = max(most, abs(centre[j]))
    radius = sqrt(square) + box[15]
    for j in range(3):
        out[j] = f32(centre[j])
    out[3] = f32(radius + ROUNDING * max(most, radius))


@typed
def write_sixteens(boxes: PtrF32, n: I64, out: PtrF32) -> None:
    """Write n boxes sixteen by sixteen, number by number; nothing touches those that fill up."""
    for k in range((n + WIDTH32 - 1) // WIDTH32 * WIDTH32):
        own = offset(out, k // WIDTH32 * WIDTH32 * 16 + k % WIDTH32)
        for i in range(16):
            own[i * WIDTH32] = boxes[16 * k + i] if k < n else f32(0.0)
        if k >= n:
            own[3 * WIDTH32] = f32(NOWHERE)


@typed
def write_boxes(
    rows: PtrF64, given: PtrF64, n: I64, n_planes: I64, reach: F64, shapes: PtrF32, ends: PtrF64
) -> None:
    """Write the boxes, balls and half-spaces of n rows; see `spheres.against_scene` for ``shapes``.

    ``given`` (n, 15): boxes around the pieces. ``ends`` (n, 16): boxes in float64, as
    `distances.tables` asks for them; half-spaces have one end, along their normal.
    """
    singles = offset(shapes, (n + WIDTH32 - 1) // WIDTH32 * WIDTH32 * 16)
    inners, around = offset(singles, n * 16), offset(singles, 2 * n * 16)
    planes, plane = offset(around, 4 * n), 0
    outer, inner = local_f64(16), local_f64(16)
    for k in range(n):
        row, end = offset(rows, 24 * k), offset(ends, 16 * k)
        kind = i64(row[0])
        if kind == HALF_SPACE:
            own = offset(planes, 4 * plane)
            write_half_space(row, reach, end, own, offset(own, 4 * n_planes))
            plane += 1
            write_all(outer, NOWHERE, 0.0)
            write_all(inner, NOWHERE, 0.0)
        else:
            size = write_outer(row, offset(given, 15 * k), outer)
            write_ends(outer, end)
            error = ROUNDING * (reach + size)
            for i in range(16):
                inner[i] = outer[i]
            for i in range(3):  # below 0 it only is farther away
                inner[5 * i + 4] = outer[5 * i + 4] * part_inside(kind, i) - error
            inner[15] = max(outer[15] - error, 0.0)  # a square knows no sign
            outer[15] = outer[15] + error
            vast = not size < LARGEST
            if vast:
                write_all(outer, 0.0, LARGEST)
            if vast or kind == HULL:
                write_all(inner, NOWHERE, 0.0)
        for i in range(16):
            singles[16 * k + i], inners[16 * k + i] = f32(outer[i]), f32(inner[i])
        write_around(outer, offset(around, 4 * k))
    write_sixteens(singles, n, shapes)
