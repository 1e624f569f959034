"""Robots that wear made-up solids, and scenes of such solids, as tables for collision."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from linkwork.collision.distances import (
    BOUND,
    RECORD,
    Bodies,
    Tables,
    distances_rows,
    nearest_rows,
    tables,
)
from linkwork.collision.frames import Frames
from linkwork.collision.motion import motion_rows, turns_of
from linkwork.collision.narrow import BOX, CYLINDER, ELLIPSOID, HALF_SPACE, HULL, POINT, SEGMENT
from linkwork.collision.pieces import one_list
from linkwork.compile.compiler import Compiler
from linkwork.compile.machine_code import MachineCode
from linkwork.compile.typed import library
from linkwork.mechanism.model import Mechanism
from seeds import random_pose, rng

Floats = NDArray[np.float64]
ROUND = (POINT, SEGMENT)
SOLIDS = (POINT, SEGMENT, BOX, CYLINDER, ELLIPSOID, HULL)


class Solids:
    """A table of pieces that grows, with its vertices."""

    def __init__(self, vertices: list[float]) -> None:
        self.rows: list[Floats] = []
        self.vertices = vertices

    def add(self, kind: int, sizes: Sequence[float], T: Floats, **more: Any) -> None:
        """A piece in its body; ``corners`` (n, 3) of a hull, ``radius`` of a rounding."""
        row = np.zeros(24)
        row[0], row[1], row[7] = kind, more.get("radius", 0.0), more.get("body", -1)
        row[2:5], row[8:20] = sizes, T[:3].ravel()
        centre, far = T[:3, 3], float(np.linalg.norm(sizes))
        if kind == HULL:
            corners: Floats = more["corners"]
            n = -(-len(corners) // 8) * 8
            row[5:7] = len(self.vertices), n
            self.vertices.extend(np.resize(corners, (n, 3)).T.ravel().tolist())
            self.vertices.extend(one_list(n))
            middle = corners.mean(axis=0)
            far = float(np.linalg.norm(corners - middle, axis=1).max())
            centre = T[:3, :3] @ middle + centre
        elif kind == HALF_SPACE:
            far = np.inf
        row[20:23], row[23] = centre, far + row[1]
        self.rows.append(row)

    def random(self, rng: np.random.Generator, kind: int, size: float, **more: Any) -> None:
        """A piece of some size at a random pose; ``at``: where."""
        T = random_pose(rng, more.pop("at", rng.normal(size=3) * size / 2))
        a, b, c = rng.uniform(0.2, 1.0, 3) * size
        sizes = {
            POINT: (0, 0, 0),
            SEGMENT: (0, a, 0),
            CYLINDER: (a, b, 0),
            HALF_SPACE: (0, 0, 0),
            HULL: (0, 0, 0),
        }
        if kind == HULL:
            more["corners"] = rng.normal(size=(int(rng.integers(4, 40)), 3)) * size / 2
        self.add(kind, sizes.get(kind, (a, b, c)), T, radius=b if kind in ROUND else 0.0, **more)

    @property
    def table(self) -> Floats:
        """The rows (n, 24)."""
        return np.array(self.rows).reshape(-1, 24)


def ball_around(pieces: Floats) -> Floats:
    """A ball that holds the balls of pieces."""
    centre = pieces[:, 20:23].mean(axis=0)
    far = np.linalg.norm(pieces[:, 20:23] - centre, axis=1) + pieces[:, 23]
    return np.array([*centre, far.max()])


def rounded_boxes(rows: Floats, vertices: Floats) -> Floats:
    """Boxes with rounded edges (n, 16) that hold pieces in the world, along the axes of each.

    A half-space is a box without ends but one.
    """
    T = rows[:, 8:20].reshape(-1, 3, 4)
    low, high = _extents(rows, vertices)
    axes = T[:, :, :3].transpose(0, 2, 1).copy()
    axes[np.isinf(low) & np.isinf(high)] = 0.0
    middle = np.einsum("nij,nj->ni", axes, T[:, :, 3])
    boxes = np.zeros((len(rows), BOUND))
    boxes[:, :15] = np.concatenate(
        [axes, (middle + low)[..., None], (middle + high)[..., None]], axis=2
    ).reshape(-1, 15)
    boxes[:, 15] = rows[:, 1]
    return boxes


def _extents(rows: Floats, vertices: Floats) -> tuple[Floats, Floats]:
    """The least and the greatest places (n, 3) of cores along the axes of their pieces."""
    kind, high = rows[:, 0], rows[:, 2:5].copy()
    high[kind == POINT] = 0.0
    high[kind == SEGMENT] *= (0.0, 1.0, 1.0)
    along = (kind == SEGMENT) | (kind == CYLINDER)
    high[along] = high[along][:, [0, 0, 1]]
    low = -high
    for k in np.flatnonzero(kind == HULL).tolist():
        first, count = rows[k, 5:7].astype(np.int64).tolist()
        corners = vertices[first : first + 3 * count].reshape(3, count)
        low[k], high[k] = corners.min(axis=1), corners.max(axis=1)
    low[kind == HALF_SPACE] = -np.inf
    high[kind == HALF_SPACE] = np.inf, np.inf, 0.0
    return low, high


class World(NamedTuple):
    """A robot that wears solids, in a scene."""

    mechanism: Mechanism
    frames: Frames
    bodies: Bodies
    tables: Tables


def dressed(
    m: Mechanism, names: Sequence[str], worn: Solids, scene: Solids, allowed: Any = ()
) -> World:
    """A robot whose frames wear the pieces with their numbers, all pairs checked, in a scene."""
    frames = Frames(m, names, COMPILER)
    pieces = worn.table
    order = np.argsort(pieces[:, 7], kind="stable")
    pieces = pieces[order]
    firsts = np.searchsorted(pieces[:, 7], np.arange(len(names) + 1))
    of_body = np.stack([firsts[:-1], np.diff(firsts)], axis=1)
    balls = np.array([ball_around(pieces[a : a + n]) for a, n in of_body])
    pairs = np.array(
        [(a, b) for a in range(len(names)) for b in range(a + 1, len(names))], np.int64
    ).reshape(-1, 2)
    movers = np.arange(len(names))
    bodies = Bodies(of_body, pieces, balls, pairs, movers, frames.column_of, m.n_q, turns_of(m))
    vertices = np.array(worn.vertices or [0.0])
    boxes = rounded_boxes(scene.table, vertices)
    made = tables(bodies, scene.table, vertices, boxes, allowed=allowed)
    return World(m, frames, bodies, made)


def made_up_world(m: Mechanism, label: str, *, n_rows: int = 12, size: float = 0.12) -> World:
    """A robot whose links wear one or two random solids, among random obstacles and a floor."""
    random = rng(label)
    names = list(m.frame_names[: m.n_link_frames])
    worn = Solids([])
    for body in range(len(names)):
        for _ in range(int(random.integers(1, 3))):
            worn.random(random, SOLIDS[int(random.integers(len(SOLIDS)))], size, body=body)
    scene = Solids(worn.vertices)
    for k in range(n_rows):
        at = random.normal(size=3) * 0.8
        scene.random(random, SOLIDS[k % len(SOLIDS)], size, at=at)
    T = np.eye(4)
    T[2, 3] = -2.5
    scene.add(HALF_SPACE, (0, 0, 0), T)
    return dressed(m, names, worn, scene)


COMPILER = Compiler()
_CODE: dict[str, MachineCode] = {}


def native(name: str) -> int:
    """The address of a compiled kernel of rows."""
    if not _CODE:
        _CODE["rows"] = library(
            [nearest_rows, distances_rows, motion_rows], COMPILER, "distances for tests"
        )
    return _CODE["rows"].address(name)


def call(name: str, *args: Any) -> None:
    """Call a kernel with arrays, whole numbers and numbers."""
    kinds: list[Any] = []
    given: list[Any] = []
    for each in args:
        if isinstance(each, np.ndarray):
            kinds.append(ctypes.c_void_p)
            given.append(each.ctypes.data)
        else:
            kinds.append(ctypes.c_double if isinstance(each, float) else ctypes.c_int64)
            given.append(each)
    ctypes.CFUNCTYPE(None, *kinds)(native(name))(*given)


def record_of(world: World) -> tuple[NDArray[np.int64], Any]:
    """The record that kernels of rows read, and what it has the addresses of."""
    f = world.frames
    held = np.full(world.tables.room, np.nan), np.full(6 * f.n_twists + 1, np.nan)
    code = f.address("frames1"), f.address("twists1")
    return np.array([*world.tables.addresses, *code, *(each.ctypes.data for each in held)]), held


def nearest_of(
    world: World, q: Floats, n: int, within: float = np.inf, *, gradients: bool = True
) -> tuple[Floats, NDArray[np.int64], Floats]:
    """Records (rows, n, 10), things (rows, n, 2) and gradients (rows, n, n_v)."""
    f = world.frames
    records, which = np.full((len(q), n, RECORD), np.nan), np.full((len(q), n, 2), -9)
    slopes = np.full((len(q), n, f.n_v), np.nan)
    record, _held = record_of(world)
    call(
        "nearest_rows",
        np.ascontiguousarray(q),
        len(q),
        record,
        n,
        float(within),
        np.zeros(n, np.int64),
        records,
        which,
        slopes if gradients else 0,
        0,
    )
    return records, which, slopes


def distances_of(
    world: World, q: Floats, wanted: NDArray[np.int64], within: float = np.inf
) -> tuple[Floats, Floats]:
    """Records (rows, n, 10) and gradients (rows, n, n_v) of a list of pairs."""
    f, n = world.frames, len(wanted)
    records = np.full((len(q), n, RECORD), np.nan)
    slopes = np.full((len(q), n, f.n_v), np.nan)
    record, _held = record_of(world)
    call(
        "distances_rows",
        np.ascontiguousarray(q),
        len(q),
        record,
        np.ascontiguousarray(wanted),
        n,
        float(within),
        records,
        slopes,
    )
    return records, slopes
