"""The pieces of obstacles in float32, sixteen side by side, for tests of spheres against them.

With c the centre of a sphere and r its radius, n·c a dot product, [x] the greater of x and 0:

- box, 15 numbers, of each axis its normal n, the offset o and the half edge h: the sum of
  [|n·c - o| - h]² is at most r². "hull" is a box too, around what has no test of its own:
  hulls, ellipsoids, and what is too far away or too large for float32, which everything touches.
- capsule, 8: start p, vector v, radius R, and k = 1 / v·v or 0: with t = k v·(c - p) held within 0
  and 1, the square of c - p - t v is at most (r + R)².
- sphere, 4: p and R: the square of c - p is at most (r + R)².
- cylinder, 8: axis n, centre p, radius R and half length h: with t = n·(c - p), and s the length of
  c - p - t n, [|t| - h]² + [s - R]² is at most r².
- plane, 4: n and o: n·c - o is at most r.

Sizes are larger than those of the pieces by `SLACK` of the reach, of where the piece is and, for a
capsule, of how long it is, and rounded up: these tests in float32, in this order, find every sphere
that touches a piece. A test that may find none that does not takes off twice as much.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from linkwork.checks import finite_number
from linkwork.collision.obstacles import Obstacles
from linkwork.collision.pieces import (
    BOX,
    CYLINDER,
    ELLIPSOID,
    HALF_SPACE,
    HULL,
    POINT,
    SEGMENT,
)

Floats = NDArray[np.float64]
Singles = NDArray[np.float32]
Integers = NDArray[np.int64]
LaneKind = Literal["box", "hull", "capsule", "sphere", "cylinder", "plane"]
_Make: TypeAlias = Callable[[Obstacles, Integers, float], Singles]

LANES = 16
"""Pieces side by side."""

SLACK = 2.0**-18
"""What sizes are larger by, of the reach: 64 roundings to float32, or 4 micrometre a metre."""

FAR = 1e18
"""Where the entries lie that fill up a table: far away, and its square is a float32."""

LARGEST = 1e15
"""Pieces that are farther away or larger (m) are not told apart in float32."""


@dataclass(frozen=True, eq=False, slots=True)
class LaneTable:
    """Pieces of one kind: ``aos`` (m, numbers), and ``soa`` (m / 16, numbers, 16), the same.

    There are ``count``, of the rows ``rows`` (m,) of `Obstacles`; m is a multiple of 16, and what
    follows them touches nothing, of row -1. Both arrays begin at multiples of 64 bytes.
    """

    count: int
    soa: Singles
    aos: Singles
    rows: Integers


def lane_tables(obstacles: Obstacles, reach: float) -> dict[LaneKind, LaneTable]:
    """The tables of obstacles, for spheres whose centres lie within ``reach`` (m) of the origin.

    Raises: InputError for a reach that is negative or larger than `LARGEST`.
    """
    reach = finite_number(reach, "reach", least=0.0, most=LARGEST)
    kind, boxes = obstacles.rows[:, 0], obstacles.boxes
    near = np.abs(boxes[:, 9:]).max(axis=1, initial=0.0) < LARGEST
    tables: dict[LaneKind, LaneTable] = {}
    for name, (kinds, make, filler) in _KINDS.items():
        chosen = np.isin(kind, kinds)
        rows = np.flatnonzero(chosen & near | (~near if name == "hull" else False))
        found = np.zeros((len(rows), len(filler)), np.float32)
        fits = near[rows]  # others stay 0: boxes that everything touches
        found[fits] = make(obstacles, rows[fits], reach)
        tables[name] = _table(found, rows, filler)
    return tables


def _table(found: Singles, rows: Integers, filler: tuple[float, ...]) -> LaneTable:
    room = -(-len(rows) // LANES) * LANES
    aos = _aligned((room, len(filler)))
    aos[: len(rows)], aos[len(rows) :] = found, filler
    soa = _aligned((room // LANES, len(filler), LANES))
    soa[:] = aos.reshape(-1, LANES, len(filler)).transpose(0, 2, 1)
    of_row = np.full(room, -1)
    of_row[: len(rows)] = rows
    return LaneTable(len(rows), soa, aos, of_row)


def _aligned(shape: tuple[int, ...]) -> Singles:
    """Room that begins at a multiple of 64 bytes."""
    size = 4 * int(np.prod(shape))
    raw = np.zeros(size + 64, np.uint8)
    first = -raw.ctypes.data % 64
    return raw[first : first + size].view(np.float32).reshape(shape)


def _up(sizes: Floats) -> Singles:
    """Sizes as float32, rounded up."""
    found = sizes.astype(np.float32)
    return np.where(found < sizes, np.nextafter(found, np.float32(np.inf)), found)


def _slack(points: Floats, reach: float) -> Floats:
    """What sizes (n,) of pieces at points (n, 3) are larger by."""
    return SLACK * (reach + np.linalg.norm(points, axis=1))


# --- of each kind, the numbers of rows, and an entry that nothing touches -------------------------


def _boxes(obstacles: Obstacles, rows: Integers, reach: float) -> Singles:
    boxes = obstacles.boxes[rows]
    axes, centres = boxes[:, :9].reshape(-1, 3, 3), boxes[:, 9:12]
    found = np.zeros((len(rows), 3, 5), np.float32)
    found[:, :, :3] = axes
    found[:, :, 3] = (axes @ centres[:, :, None])[:, :, 0]
    found[:, :, 4] = _up(boxes[:, 12:] + _slack(centres, reach)[:, None])
    return found.reshape(-1, 15)


def _capsules(obstacles: Obstacles, rows: Integers, reach: float) -> Singles:
    numbers = obstacles.rows[rows]
    T = numbers[:, 8:20].reshape(-1, 3, 4)
    vectors = 2 * numbers[:, 3, None] * T[:, :, 2]
    length = 2 * numbers[:, 3]
    starts = T[:, :, 3] - vectors / 2
    slack = _slack(starts, reach) + SLACK * length
    short = length <= slack  # as a sphere: 1 / v·v may be none of float32
    vectors[short] = 0.0
    found = np.zeros((len(rows), 8), np.float32)
    found[:, :3], found[:, 3:6] = starts, vectors
    found[:, 6] = _up(numbers[:, 1] + slack + np.where(short, length, 0.0))
    squares = np.sum(found[:, 3:6].astype(np.float64) ** 2, axis=1)
    found[:, 7] = np.where(short, 0.0, 1 / np.where(short, 1.0, squares))
    return found


def _spheres(obstacles: Obstacles, rows: Integers, reach: float) -> Singles:
    numbers = obstacles.rows[rows]
    centres = numbers[:, [11, 15, 19]]
    sizes = _up(numbers[:, 1] + _slack(centres, reach))
    return np.column_stack([centres.astype(np.float32), sizes])


def _cylinders(obstacles: Obstacles, rows: Integers, reach: float) -> Singles:
    numbers = obstacles.rows[rows]
    T = numbers[:, 8:20].reshape(-1, 3, 4)
    sizes = numbers[:, 2:4] + numbers[:, 1, None] + _slack(T[:, :, 3], reach)[:, None]
    return np.column_stack(
        [T[:, :, 2:].transpose(0, 2, 1).reshape(-1, 6).astype(np.float32), _up(sizes)]
    )


def _planes(obstacles: Obstacles, rows: Integers, reach: float) -> Singles:
    numbers = obstacles.rows[rows]
    T = numbers[:, 8:20].reshape(-1, 3, 4)
    offsets = np.sum(T[:, :, 2] * T[:, :, 3], axis=1)
    # the normal's own rounding turns the plane about its point nearest to the origin
    slack = SLACK * (reach + np.abs(offsets))
    return np.column_stack([T[:, :, 2].astype(np.float32), _up(offsets + slack)])


_NO_AXIS = (0.0, 0.0, 0.0)
_NO_BOX = (*_NO_AXIS, 0.0, -FAR) * 3
_KINDS: dict[LaneKind, tuple[tuple[int, ...], _Make, tuple[float, ...]]] = {
    "box": ((BOX,), _boxes, _NO_BOX),
    "hull": ((HULL, ELLIPSOID), _boxes, _NO_BOX),
    "capsule": ((SEGMENT,), _capsules, (FAR, FAR, FAR, *_NO_AXIS, 0.0, 0.0)),
    "sphere": ((POINT,), _spheres, (FAR, FAR, FAR, 0.0)),
    "cylinder": ((CYLINDER,), _cylinders, (*_NO_AXIS, FAR, FAR, FAR, 0.0, 0.0)),
    "plane": ((HALF_SPACE,), _planes, (*_NO_AXIS, -FAR)),
}
