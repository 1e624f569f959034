"""The objects of a scene as arrays: convex pieces at rest in the world, their tree, and aggregates.

An object is anything with a ``name``, a ``shape`` and ``T_world_object``, as `linkwork.Scene` has
them. Its record stands for it: where a record is the one of before, its rows are those of before,
so that what moves, comes or goes costs its own rows and the tree. The pieces of a mesh are made
once for its shape.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from linkwork.collision.aggregates import Aggregates, aggregates_of, points_of
from linkwork.collision.mesh_pieces import convex_pieces
from linkwork.collision.pieces import (
    BOX,
    CYLINDER,
    ELLIPSOID,
    HALF_SPACE,
    HULL,
    PIECE,
    POINT,
    SEGMENT,
    rounded_up,
    table,
)
from linkwork.collision.tree import LAYOUT, Tree, tree_of
from linkwork.formats.urdf.records import Box, Capsule, Cylinder, Sphere
from linkwork.mechanism.shapes import Ellipsoid, HalfSpace, HeightField, Points, Triangles

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


class Object(Protocol):
    """The attributes of an obstacle."""

    @property
    def name(self) -> str:
        """The name that messages and results call it by."""
        ...

    @property
    def shape(self) -> Any:
        """One of `mechanism.shapes`, read-only."""
        ...

    @property
    def T_world_object(self) -> Floats:
        """Its pose (4, 4)."""
        ...


@dataclass(frozen=True, eq=False)
class Obstacles:
    """The pieces of a scene's objects, in the order of the objects.

    ``rows`` (n, 24) and ``vertices`` are as `pieces.table` has them, in the world (body -1); row k
    is of object ``object_of_row[k]``, whose rows begin at ``first_row``. ``tree`` finds rows by
    their spheres (`tree.visit_near`); half-spaces, whose spheres have no end, are not in it but in
    ``half_spaces``. ``boxes`` (n, 15) hold each piece: three axes, the centre and three halves;
    those of half-spaces mean nothing. Points and height fields are in ``aggregates`` alone.
    ``outside`` is how far the pieces of each object may reach beyond its shape (m): 0 but for
    meshes that are not convex.
    """

    objects: tuple[Object, ...]
    outside: Floats
    rows: Floats
    vertices: Floats
    boxes: Floats
    object_of_row: Integers
    first_row: Integers
    half_spaces: Integers
    aggregates: Aggregates

    @cached_property
    def tree(self) -> Tree:
        """The tree of the rows that have an end, by their numbers; scenes of few rows need none."""
        bounded = np.flatnonzero(np.isfinite(self.rows[:, 23]))
        tree = tree_of(self.rows[bounded, 20:23], self.rows[bounded, 23])
        items = tree.index[LAYOUT:]
        items[items >= 0] = bounded[items[items >= 0]]
        return tree

    @cached_property
    def places(self) -> dict[int, int]:
        """The numbers of the objects, by their identities."""
        return {id(each): k for k, each in enumerate(self.objects)}

    @cached_property
    def extent(self) -> float:
        """The greatest distance of their points along an axis of the world (m).

        Half-spaces, which have no end, do not count.
        """
        own = self.boxes[np.isfinite(self.rows[:, 23])]
        axes, centres, halves = own[:, :9].reshape(-1, 3, 3), own[:, 9:12], own[:, 12:, None]
        sides = np.abs(axes * halves).sum(axis=1)
        ends = [centres - sides, centres + sides]
        for k in self.aggregates.objects:
            T = self.objects[k].T_world_object
            ends.append(points_of(self.objects[k].shape) @ T[:3, :3].T + T[:3, 3])
        points = np.concatenate(ends)
        return float(np.ptp(points, axis=0).max()) if len(points) else 0.0

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the objects."""
        return tuple(each.name for each in self.objects)


def obstacles_of(objects: Iterable[Object], before: Obstacles | None = None) -> Obstacles:
    """The arrays of objects; what has not changed is taken from those of ``before``.

    Raises: InputError for a mesh that has no pieces; MissingExtraError without SciPy for meshes.
    """
    given = tuple(objects)
    if before is not None and len(given) == len(before.objects):
        if all(a is b for a, b in zip(given, before.objects, strict=True)):
            return before
    if before is None or not before.objects:
        made = _made(given)
        rows, boxes, first_row = made.rows, made.boxes, made.first
    else:
        rows, boxes, first_row = _changed(given, before)
    counts = np.diff(first_row)
    object_of_row = np.repeat(np.arange(len(given)), counts)
    vertices, outside = _vertices(given, rows, first_row)
    half_spaces = np.flatnonzero(np.isinf(rows[:, 23]))
    aggregates: list[int] = np.flatnonzero(counts == 0).tolist()  # which have no rows
    return Obstacles(
        given,
        outside,
        rows,
        vertices,
        boxes,
        object_of_row,
        first_row,
        half_spaces,
        aggregates_of([(k, given[k].shape, given[k].T_world_object) for k in aggregates]),
    )


def _changed(given: tuple[Object, ...], before: Obstacles) -> tuple[Floats, Floats, Integers]:
    """Rows, boxes and where those of each object begin, where some are those of before."""
    known = before.places
    source = np.array([known.get(id(each), -1) for each in given], np.int64)
    new = np.flatnonzero(source < 0)
    made = _made([given[k] for k in new.tolist()])
    rows = np.concatenate([before.rows, made.rows])
    boxes = np.concatenate([before.boxes, made.boxes])
    first = np.concatenate([before.first_row[:-1], made.first + len(before.rows)])
    source[new] = len(known) + np.arange(len(new))
    counts = (first[1:] - first[:-1])[source]
    first_row = np.concatenate([[0], np.cumsum(counts)])
    taken = np.repeat(first[source] - first_row[:-1], counts) + np.arange(first_row[-1])
    return rows[taken], boxes[taken], first_row


# --- rows -----------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False, slots=True)
class _Made:
    """Rows and boxes of objects, which begin at ``first`` (one more than there are objects)."""

    rows: Floats
    boxes: Floats
    first: Integers


def _made(objects: Sequence[Object]) -> _Made:
    """The rows of objects in the world; the vertices of each begin at 0."""
    counts = np.ones(len(objects), np.int64)
    solids: list[int] = []
    cores: list[tuple[float, ...]] = []
    parts: list[tuple[int, _Parts]] = []
    for k, each in enumerate(objects):
        core = _CORES.get(type(each.shape))
        if core is not None:
            solids.append(k)
            cores.append(core(each.shape))
        elif isinstance(each.shape, (Points, HeightField)):
            counts[k] = 0
        else:
            parts.append((k, _parts_of(each.shape)))
            counts[k] = len(parts[-1][1].rows)
    if objects and len(solids) == len(objects):
        poses = np.array([each.T_world_object for each in objects])
        return _Made(*_solid_rows(np.array(cores), poses), np.arange(len(objects) + 1))
    first = np.concatenate([[0], np.cumsum(counts)])
    rows, boxes = np.zeros((first[-1], PIECE)), np.zeros((first[-1], 15))
    if solids:
        at = first[solids]
        T = np.array([objects[k].T_world_object for k in solids])
        rows[at], boxes[at] = _solid_rows(np.array(cores), T)
    for k, part in parts:
        here = slice(first[k], first[k + 1])
        rows[here], boxes[here] = part.moved(objects[k].T_world_object)
    return _Made(rows, boxes, first)


# Kind, radius and sizes of shapes that are one piece in their own frame. A scene of very many
# objects is why this is not left to `pieces.solid_piece`.
_CORES: dict[type, Callable[[Any], tuple[float, ...]]] = {
    Box: lambda s: (BOX, 0.0, s.size[0] / 2, s.size[1] / 2, s.size[2] / 2),
    Sphere: lambda s: (POINT, s.radius, 0.0, 0.0, 0.0),
    Cylinder: lambda s: (CYLINDER, 0.0, s.radius, s.length / 2, 0.0),
    Capsule: lambda s: (SEGMENT if s.length > 0 else POINT, s.radius, 0.0, s.length / 2, 0.0),
    Ellipsoid: lambda s: (ELLIPSOID, 0.0, *s.radii),
    HalfSpace: lambda _: (HALF_SPACE, 0.0, 0.0, 0.0, 0.0),
}


def _solid_rows(cores: Floats, T: Floats) -> tuple[Floats, Floats]:
    """Rows and boxes of solids (n, 5) at poses (n, 4, 4)."""
    rows = np.zeros((len(cores), PIECE))
    kind, radius, sizes = cores[:, 0], cores[:, 1], cores[:, 2:]
    rows[:, :5], rows[:, 7] = cores, -1
    rows[:, 8:20] = T[:, :3].reshape(-1, 12)
    rows[:, 20:23] = T[:, :3, 3]
    largest = sizes.max(axis=1)
    unit = sizes / np.where(largest > 0, largest, 1.0)[:, None]  # no square of these overflows
    reach = np.where(kind == ELLIPSOID, 1.0, np.linalg.norm(unit, axis=1)) * largest + radius
    reach = rounded_up(reach, np.abs(T[:, :3, 3]).max(axis=1))  # rounding of the centre
    rows[:, 23] = np.where(kind == HALF_SPACE, np.inf, reach)
    halves = sizes.copy()
    halves[kind == CYLINDER] = sizes[kind == CYLINDER][:, [0, 0, 1]]
    halves[kind == SEGMENT] = sizes[kind == SEGMENT][:, [0, 0, 1]]
    return rows, _boxes(T[:, :3, :3], T[:, :3, 3], halves + radius[:, None])


def _boxes(R: Floats, centres: Floats, halves: Floats) -> Floats:
    """Rows (n, 15) of boxes whose axes are the columns of R (n, 3, 3)."""
    axes = np.swapaxes(R, 1, 2).reshape(-1, 9)
    return np.concatenate([axes, centres, halves], axis=1)


@dataclass(frozen=True, eq=False, slots=True)
class _Parts:
    """The pieces of a shape in its own frame: rows, boxes and vertices.

    ``outside`` is how far they may reach beyond the shape, m.
    """

    rows: Floats
    boxes: Floats
    vertices: Floats
    outside: float = 0.0

    def moved(self, T: Floats) -> tuple[Floats, Floats]:
        """Rows and boxes of the shape at a pose."""
        R, p = T[:3, :3], T[:3, 3]
        rows, boxes = self.rows.copy(), self.boxes.copy()
        poses = rows[:, 8:20].reshape(-1, 3, 4)
        placed = R @ poses
        placed[:, :, 3] += p
        rows[:, 8:20] = placed.reshape(-1, 12)
        rows[:, 20:23] = rows[:, 20:23] @ R.T + p
        rows[:, 23] = rounded_up(rows[:, 23], np.abs(rows[:, 20:23]).max(axis=1))
        boxes[:, :9] = (boxes[:, :9].reshape(-1, 3, 3) @ R.T).reshape(-1, 9)
        boxes[:, 9:12] = boxes[:, 9:12] @ R.T + p
        return rows, boxes


_PARTS: WeakKeyDictionary[Any, _Parts] = WeakKeyDictionary()


def _parts_of(shape: Triangles) -> _Parts:
    found = _PARTS.get(shape)
    if found is None:
        made = convex_pieces(shape.vertices, shape.faces)
        rows, vertices = table(made.pieces)
        found = _Parts(rows, _hull_boxes(rows, vertices), vertices, made.outside)
        _PARTS[shape] = found
    return found


def _vertices(
    objects: Sequence[Object], rows: Floats, first_row: Integers
) -> tuple[Floats, Floats]:
    """The vertices of all shapes, each once, of which rows are told where theirs begin.

    And how far the pieces of each object may reach beyond it (m).
    """
    outside = np.zeros(len(objects))
    if not (rows[:, 0] == HULL).any():
        return np.zeros(0), outside
    places: dict[int, int] = {}
    found = [np.zeros(0)]
    end = 0
    for k in np.unique(np.searchsorted(first_row, np.flatnonzero(rows[:, 0] == HULL), "right") - 1):
        shape = objects[k].shape
        parts = _parts_of(shape)
        outside[k] = parts.outside
        place = places.get(id(shape))
        if place is None:
            place = places[id(shape)] = end
            found.append(parts.vertices)
            end += parts.vertices.size
        rows[first_row[k] : first_row[k + 1], 5] = parts.rows[:, 5] + place
    return np.concatenate(found), outside


def _hull_boxes(rows: Floats, vertices: Floats) -> Floats:
    """Boxes (n, 15) that hold hulls: along their frame or their principal axes, the smaller one."""
    boxes = np.zeros((len(rows), 15))
    for box, row in zip(boxes, rows, strict=True):
        first, count = int(row[5]), int(row[6])
        points = vertices[first : first + 3 * count].reshape(3, count)
        spread = points - points.mean(axis=1, keepdims=True)
        turned = np.linalg.eigh(spread @ spread.T)[1]
        found = [_box_along(axes, points) for axes in (np.eye(3), turned)]
        axes, centre, halves = min(found, key=lambda f: float(np.prod(f[2])))
        T = row[8:20].reshape(3, 4)
        box[:9] = (T[:, :3] @ axes).T.reshape(-1)
        box[9:12], box[12:] = T[:, :3] @ centre + T[:, 3], halves
    return boxes


def _box_along(axes: Floats, points: Floats) -> tuple[Floats, Floats, Floats]:
    """The box along axes (columns) around points (3, n): axes, centre and halves."""
    along = axes.T @ points
    low, high = along.min(axis=1), along.max(axis=1)
    return axes, axes @ ((low + high) / 2), rounded_up((high - low) / 2, np.abs(points).max())
