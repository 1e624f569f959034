"""The arrays that the compiled checks read: of a robot, and of what stands around it.

Both are plain numbers, so that obstacles move and pairs change without compiling anything.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linkwork.collision import spheres
from linkwork.compile.typed import WIDTH32

Floats = NDArray[np.float64]
Singles = NDArray[np.float32]
Integers = NDArray[np.int64]

POINT, SEGMENT, BOX, CYLINDER, ELLIPSOID, HULL, HALF_SPACE = range(7)

EPSILON = 2.0**-24
"""The largest relative error of rounding to float32."""

SMALLEST_INNER = 1e-4
"""Inner balls of a smaller radius (m) are left out: rounding would be much of it."""

NOWHERE = 1e9
"""Where boxes are put that nothing touches (m)."""


@dataclass(frozen=True, eq=False, slots=True)
class RobotTables:
    """The robot's side (see `spheres` for the layout of ``ints``)."""

    ints: Integers
    balls: Floats  # (n, 4): of bodies, of parts, the finest, the inner ones
    n_outer: int
    ranges: Integers  # (n_bodies, 2): first piece and count
    pieces: Floats  # (n, 24)
    vertices: Floats
    room: int  # numbers of a room for balls

    def rounded_balls(self, error: float) -> Singles:
        """The balls in float32, outer ones larger and inner ones smaller by an ``error`` (m)."""
        made = self.balls.copy()
        size = np.abs(made).max(initial=0.0) * 4 * EPSILON
        made[: self.n_outer, 3] += error + size
        made[self.n_outer :, 3] -= error + size
        return np.ascontiguousarray(made, np.float32)


def robot_tables(
    cover: Any, rows: Floats, vertices: Floats, pairs: Integers, moves: Sequence[bool], n_q: int
) -> RobotTables:
    """The tables of a cover, of the rows of pieces (sorted by body) and of the pairs to check."""
    n_bodies, n_parts = len(cover.body_spheres), len(cover.part_spheres)
    inner = cover.inner
    kept = inner[:, 3] >= SMALLEST_INNER
    before = np.concatenate([[0], np.cumsum(kept)])
    first = n_bodies + n_parts
    parts = np.zeros((n_parts, spheres.PART), np.int64)
    parts[:, 0], parts[:, 1] = first + cover.part_ranges[:, 0], cover.part_ranges[:, 1]
    start, stop = cover.inner_ranges[:, 0], cover.inner_ranges.sum(axis=1)
    parts[:, 2] = first + len(cover.spheres) + before[start]
    parts[:, 3] = before[stop] - before[start]
    parts[:, 4:6] = cover.piece_ranges
    bodies = rows[:, 7].astype(np.int64)
    ranges = np.array([[np.sum(bodies < b), np.sum(bodies == b)] for b in range(n_bodies)])
    head = [n_bodies, len(pairs), n_q, 0, 0, 0, 0, n_parts]
    chunks = [cover.body_ranges, parts, pairs, np.array(moves, np.int64)]
    places = (spheres.BODY_RANGES, spheres.PART_RANGES, spheres.PAIRS, spheres.MOVES)
    for place, chunk in zip(places, chunks, strict=True):
        head[place] = 8 + sum(c.size for c in chunks[: places.index(place)])
    ints = np.concatenate([head, *[np.ravel(c) for c in chunks]]).astype(np.int64)
    balls = np.vstack([cover.body_spheres, cover.part_spheres, cover.spheres, inner[kept]])
    most = max((int(n) for n in cover.body_ranges[:, 1]), default=0)
    finest = int(max(parts[:, 1].max(initial=0), parts[:, 3].max(initial=0)))
    return RobotTables(
        ints,
        balls,
        first + len(cover.spheres),
        np.ascontiguousarray(ranges.reshape(-1, 2), np.int64),
        np.ascontiguousarray(rows),
        vertices,
        3 * WIDTH32 * (3 + most + finest),
    )


@dataclass(frozen=True, eq=False, slots=True)
class SceneTables:
    """The scene's side, with the vertices of robot and scene in one table."""

    ints: Integers
    shapes: Singles
    rows: Floats  # (n, 24)
    vertices: Floats
    names: tuple[str, ...]  # of objects
    object_of_row: Integers


def scene_tables(
    rows: Floats,
    vertices: Floats,
    names: Sequence[str],
    object_of_row: Integers,
    robot: RobotTables,
    *,
    reach: float,
    allowed: Integers,
) -> SceneTables:
    """The tables of obstacles, whose ``rows`` (n, 24) stand in the world.

    ``reach`` (m): how far any point of the robot comes from the world's origin, for what rounding
    adds to the boxes. ``allowed`` (n, 2): bodies, and rows that they may touch.
    """
    rows = np.array(rows, np.float64).reshape(-1, spheres.PIECE)
    kinds = rows[:, 0].astype(np.int64)
    hulls = kinds == HULL
    rows[hulls, 5] += len(robot.vertices)
    vertices = np.concatenate([robot.vertices, vertices])
    flat = np.flatnonzero(kinds == HALF_SPACE)
    solid = np.flatnonzero(kinds != HALF_SPACE)
    boxes = np.zeros((len(solid), spheres.BOX))
    inner = np.zeros((len(solid), spheres.BOX))
    for n, k in enumerate(solid):
        outer_box, inner_box = _boxes(rows[k], vertices)
        boxes[n] = _row(rows[k], *outer_box)
        inner[n] = _row(rows[k], *inner_box)
    scale = reach + np.abs(boxes[:, [3, 4, 8, 9, 13, 14]]).max(axis=1, initial=0.0)
    boxes[:, 15] += 16 * EPSILON * scale
    inner[:, 15] -= 16 * EPSILON * scale
    planes = np.zeros((len(flat), spheres.PLANE))
    planes[:, :3] = rows[flat][:, [10, 14, 18]]
    planes[:, 3] = np.einsum("ij,ij->i", planes[:, :3], rows[flat][:, [11, 15, 19]])
    error = 16 * EPSILON * (reach + np.abs(planes[:, 3]))
    inner_planes = planes.copy()
    planes[:, 3] += error
    inner_planes[:, 3] -= error
    head = [len(solid), len(flat), 6, 6 + len(solid), len(allowed), 6 + len(rows)]
    return SceneTables(
        np.concatenate([head, solid, flat, np.ravel(allowed)]).astype(np.int64),
        np.concatenate(
            [_in_lanes(boxes), *map(np.ravel, (boxes, inner, planes, inner_planes)), np.zeros(16)]
        ).astype(np.float32),
        np.ascontiguousarray(rows),
        vertices,
        tuple(names),
        np.asarray(object_of_row, np.int64),
    )


def _in_lanes(boxes: Floats) -> Floats:
    """Boxes sixteen by sixteen, number by number; boxes far away fill the last sixteen."""
    n = -(-len(boxes) // WIDTH32) * WIDTH32
    filled = np.zeros((n, spheres.BOX))
    filled[:, 3] = NOWHERE
    filled[: len(boxes)] = boxes
    return filled.reshape(-1, WIDTH32, spheres.BOX).transpose(0, 2, 1).ravel()


Placed = tuple[Any, Any, float]
"""The centre of a rounded box in the frame of its piece, its half lengths, its radius."""


def _boxes(row: Floats, vertices: Floats) -> tuple[Placed, Placed]:
    """A rounded box that holds a piece, and one that lies in it."""
    kind, radius = int(row[0]), float(row[1])
    sizes, centre = row[2:5], np.zeros(3)
    if kind in (POINT, SEGMENT, BOX):
        halves = sizes if kind == BOX else np.array([0.0, 0.0, sizes[1] if kind == SEGMENT else 0])
        return (centre, halves, radius), (centre, halves, radius)
    if kind == CYLINDER:
        r, h = sizes[0], sizes[1]
        within = np.array([r * np.sqrt(0.5), r * np.sqrt(0.5), h])
        return (centre, np.array([r, r, h]), radius), (centre, within, radius)
    if kind == ELLIPSOID:
        return (centre, sizes, radius), (centre, sizes * np.sqrt(1 / 3), radius)
    first, n = int(row[5]), int(row[6])
    points = vertices[first : first + 3 * n].reshape(3, n)
    low, high = points.min(axis=1), points.max(axis=1)
    outer = ((low + high) / 2, (high - low) / 2, radius)
    return outer, (np.array([NOWHERE, 0.0, 0.0]), np.zeros(3), 0.0)


def _row(row: Floats, centre: Floats, halves: Floats, radius: float) -> Floats:
    """A rounded box of a piece as the numbers that are compared, in the world."""
    T = row[8:20].reshape(3, 4)
    middle = T[:, :3] @ centre + T[:, 3]
    made = np.zeros(spheres.BOX)
    for k in range(3):
        axis = T[:, k]
        made[5 * k : 5 * k + 5] = [*axis, axis @ middle, halves[k]]
    made[15] = radius
    return made
