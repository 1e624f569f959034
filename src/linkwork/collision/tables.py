"""The arrays that the compiled checks read: of a robot, and of what stands around it.

Both are plain numbers, so that obstacles move and pairs change without compiling anything.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linkwork.collision import distances, spheres
from linkwork.collision.cover import Cover
from linkwork.collision.obstacles import Obstacles
from linkwork.collision.pieces import CYLINDER, ELLIPSOID, HALF_SPACE, HULL, POINT, SEGMENT
from linkwork.compile.typed import WIDTH32
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
        clouds = [
            len(e.shape.points) for e in self.obstacles.objects if isinstance(e.shape, Points)
        ]
        return max(1, 2 * len(self.rows), *clouds)


def scene_tables(
    obstacles: Obstacles,
    robot: RobotTables,
    bodies: distances.Bodies,
    *,
    reach: float,
    allowed: Integers,
) -> SceneTables:
    """The tables of obstacles.

    ``reach`` (m): how far any point of the robot comes from the world's origin, for what rounding
    adds to the boxes. ``allowed`` (n, 2): bodies, and rows that they may touch.
    """
    rows = obstacles.rows.copy()
    kinds = rows[:, 0].astype(np.int64)
    rows[kinds == HULL, 5] += len(robot.vertices)
    boxes, inner = _boxes(obstacles)
    flat = obstacles.half_spaces
    exact = _with_ends(boxes, rows, flat)
    size = np.abs(boxes[:, [3, 4, 8, 9, 13, 14, 15]]).max(axis=1, initial=0.0)
    error = ROUNDING * (reach + size)
    boxes[:, 15] += error
    inner[:, [4, 9, 14]] -= error[:, None]  # below 0 it only is farther away
    inner[:, 15] = np.maximum(inner[:, 15] - error, 0.0)  # a square knows no sign
    vast = ~(size < LARGEST)
    boxes[vast], inner[vast] = _everywhere(), _nowhere()
    planes = inner_planes = np.zeros((0, spheres.PLANE))
    if len(flat):
        boxes[flat], inner[flat] = _nowhere(), _nowhere()
        planes, inner_planes = _planes(rows[flat], reach)
    first = spheres.SCENE_HEAD
    head = [len(rows), len(flat), first, len(allowed), first + len(flat), obstacles.clouds.count]
    vertices = robot.vertices  # hundreds of kB: copied for those of meshes alone
    if len(obstacles.vertices):
        vertices = np.concatenate([vertices, obstacles.vertices])
    return SceneTables(
        np.concatenate([head, flat, np.ravel(allowed), [0]]).astype(np.int64),
        np.concatenate(
            [
                distances.in_lanes(boxes, WIDTH32, _nowhere()),
                *map(np.ravel, (boxes, inner, _around(boxes), planes, inner_planes)),
                np.zeros(16),
            ]
        ).astype(np.float32),
        rows,
        vertices,
        obstacles,
        allowed,
        distances.tables(bodies, rows, vertices, exact, allowed=allowed, clouds=obstacles.clouds),
    )


def _planes(rows: Floats, reach: float) -> tuple[Floats, Floats]:
    """Half-spaces (n, 4) that hold those of the rows, and such that lie in them."""
    planes = np.zeros((len(rows), spheres.PLANE))
    planes[:, :3] = rows[:, [10, 14, 18]]
    planes[:, 3] = np.einsum("ij,ij->i", planes[:, :3], rows[:, [11, 15, 19]])
    vast = ~(np.abs(planes[:, 3]) < LARGEST)
    planes[vast] = 0.0
    error = np.where(vast, LARGEST, ROUNDING * (reach + np.abs(planes[:, 3])))
    inner = planes.copy()
    planes[:, 3] += error
    inner[:, 3] -= error
    return planes, inner


def _with_ends(boxes: Floats, rows: Floats, half_spaces: Integers) -> Floats:
    """Boxes with their least and greatest places along each axis, as `distances.tables` asks.

    Half-spaces have one end, along their normal.
    """
    ends = boxes.copy()
    middle, half = boxes[:, [3, 8, 13]], boxes[:, [4, 9, 14]]
    ends[:, [3, 8, 13]], ends[:, [4, 9, 14]] = middle - half, middle + half
    if not len(half_spaces):
        return ends
    flat = rows[half_spaces]
    ends[half_spaces] = 0.0
    ends[half_spaces[:, None], [3, 8, 13]] = -np.inf
    ends[half_spaces[:, None], [4, 9]] = np.inf
    ends[half_spaces[:, None], [10, 11, 12]] = flat[:, [10, 14, 18]]
    ends[half_spaces, 14] = np.einsum("ij,ij->i", flat[:, [10, 14, 18]], flat[:, [11, 15, 19]])
    return ends


def _around(boxes: Floats) -> Floats:
    """Balls (n, 4) around rounded boxes (n, 16)."""
    parts = boxes[:, :15].reshape(-1, 3, 5)
    balls = np.zeros((len(boxes), spheres.BALL))
    balls[:, :3] = np.einsum("nki,nk->ni", parts[:, :, :3], parts[:, :, 3])
    balls[:, 3] = np.linalg.norm(parts[:, :, 4], axis=1) + boxes[:, 15]
    balls[:, 3] += ROUNDING * np.abs(balls).max(axis=1)
    return balls


def _everywhere() -> Floats:
    """A box that everything touches."""
    made = np.zeros(spheres.BOX)
    made[[4, 9, 14]] = LARGEST
    return made


def _nowhere() -> Floats:
    """A box that nothing touches."""
    made = np.zeros(spheres.BOX)
    made[3] = NOWHERE
    return made


_SHARP = np.isin(np.arange(HALF_SPACE + 1), (POINT, SEGMENT))
"""Flags of the kinds of pieces whose boxes have edges rounded by the radius."""

_INSIDE = np.ones((HALF_SPACE + 1, 3))
_INSIDE[CYLINDER, :2], _INSIDE[ELLIPSOID] = np.sqrt(0.5), np.sqrt(1 / 3)
"""The half edges of a box in a piece of each kind, as parts of those of the one around it."""


def _boxes(obstacles: Obstacles) -> tuple[Floats, Floats]:
    """Rounded boxes (n, 16) that hold the pieces, and such that lie in them."""
    kinds, n = obstacles.rows[:, 0].astype(np.int64), len(obstacles.rows)
    rounding = obstacles.rows[:, 1] * _SHARP[kinds]
    parts = np.empty((n, 3, 5))
    parts[:, :, :3] = axes = obstacles.boxes[:, :9].reshape(-1, 3, 3)
    parts[:, :, 3] = np.einsum("nij,nj->ni", axes, obstacles.boxes[:, 9:12])
    parts[:, :, 4] = obstacles.boxes[:, 12:] - rounding[:, None]
    thin = kinds == SEGMENT
    if thin.any():
        parts[thin, :, 4] = obstacles.rows[thin][:, [2, 2, 3]]
    outer = np.concatenate([parts.reshape(n, 15), rounding[:, None]], axis=1)
    parts[:, :, 4] *= _INSIDE[kinds]
    inner = np.concatenate([parts.reshape(n, 15), rounding[:, None]], axis=1)
    inner[kinds == HULL] = _nowhere()
    return outer, inner
