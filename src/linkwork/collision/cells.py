"""Solids as half-spaces and as small tetrahedra: depths of points, and cells that fill a piece.

A convex solid lies in the half-spaces of its faces, so the depth of a point is its distance to the
nearest face; and it is the union of the tetrahedra between one point inside and its faces. A ball
holds a tetrahedron when it holds its four corners, which is what covers are made of. Cells with
repeated corners are triangles, segments and points.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from linkwork.collision.pieces import (
    BOX,
    CYLINDER,
    ELLIPSOID,
    HULL,
    Piece,
    hull_planes,
    rooms,
    simplified,
)

Floats = NDArray[np.float64]

_BOX_FACES = np.array(
    [[int(k) for k in face] for face in "013 032 467 475 045 051 237 276 026 064 157 173".split()]
)

_MANY = 256
"""Vertices of a hull for whose cover fewer are taken, where these are as good."""

_TOGETHER = 60_000
"""Products that are made at once, which stay near the processor."""

_PAIRS = np.array([(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)])


@dataclass(frozen=True, eq=False, slots=True)
class Solid:
    """A piece for its cover, in the body's frame.

    ``planes`` (n, 4) are outward normals and offsets of a polytope in the piece; a point x has the
    depth min(offset - normal x) or more. ``sides`` are those of them that differ in direction,
    ``ends`` (6, 4) those that look most along each axis and against it. ``cells`` (k, 4, 3) are
    tetrahedra that hold the piece and reach out of it by at most ``excess`` (m); their first three
    corners are a triangle of its surface.
    """

    planes: Floats
    sides: Floats
    ends: Floats
    cells: Floats
    excess: float


def solid_of(piece: Piece, roughness: float) -> Solid:
    """The solid of a box, cylinder, ellipsoid or hull.

    Round shapes, and hulls of many vertices, lie between two polytopes: cells fill the outer one,
    depths are of the inner one. ``roughness`` (m) is how far the cells of a cylinder may reach out
    of it, at best, and half of what those of a hull may.
    """
    if piece.kind == HULL:
        vertices, faces = piece.vertices, piece.faces
        if vertices is None or faces is None:
            raise ValueError("a hull has vertices and faces")
        inner, outer, excess = vertices, vertices, 0.0
        if len(vertices) > _MANY:
            fewer = simplified(vertices, _MANY)
            growth = float(np.linalg.norm(fewer[2] - fewer[0], axis=1).max())
            if len(fewer[1]) and growth <= 2 * roughness:
                (inner, faces, outer), excess = fewer, growth
        planes = hull_planes(inner, faces)
        flat = not len(planes)
        if flat:
            planes = _flat_planes(vertices)
    else:
        flat = False
        planes, outer, faces, excess = _ROUND_OR_BOX[piece.kind](piece, roughness)
    R, p = piece.T_body_piece[:3, :3], piece.T_body_piece[:3, 3]
    normals = planes[:, :3] @ R.T
    placed = outer @ R.T + p
    moved = np.column_stack([normals, planes[:, 3] + normals @ p])
    sides = moved[thinned(normals, np.full(len(normals), 0.3))]
    ends = moved[np.concatenate([normals.argmax(axis=0), normals.argmin(axis=0)])]
    return Solid(moved, sides, ends, _fan(placed, np.asarray(faces), flat), excess)


def _flat_planes(ring: Floats) -> Floats:
    """Planes (n, 4) that a flat piece lies between: on both sides of it and along its rim."""
    centre = ring.mean(axis=0)
    axes = np.linalg.svd(np.concatenate([ring - centre, np.zeros((3, 3))]))[2]
    across = axes[2]
    if len(ring) > 2:
        rim = np.cross(np.roll(ring, -1, axis=0) - ring, across)
        rim *= np.sign(np.einsum("nj,nj->n", rim, ring - centre))[:, None]
        length = np.linalg.norm(rim, axis=1)
        sides = rim[length > 0] / length[length > 0, None]
        normals = np.concatenate([sides, [across, -across]])
    else:
        normals = np.concatenate([axes, -axes])
    return np.column_stack([normals, (normals @ ring.T).max(axis=1)])


def _box(piece: Piece, _roughness: float) -> tuple[Floats, Floats, NDArray[np.int64], float]:
    normals = np.concatenate([np.eye(3), -np.eye(3)])
    planes = np.column_stack([normals, np.tile(piece.sizes, 2)])
    corners = np.array([(x, y, z) for x in (-1.0, 1.0) for y in (-1.0, 1.0) for z in (-1.0, 1.0)])
    return planes, corners * piece.sizes, _BOX_FACES, 0.0


def _cylinder(piece: Piece, roughness: float) -> tuple[Floats, Floats, NDArray[np.int64], float]:
    r, half, _ = piece.sizes
    sides = int(np.clip(np.ceil(np.pi / np.sqrt(2 * max(roughness, 1e-12) / max(r, 1e-12))), 8, 64))
    angle = 2 * np.pi * np.arange(sides) / sides
    turn = np.pi / sides
    ring = np.column_stack([np.cos(angle), np.sin(angle)])
    out = ring * (r / np.cos(turn))
    corners = np.concatenate([np.column_stack([out, np.full(sides, z)]) for z in (-half, half)])
    k = np.arange(sides)
    after = (k + 1) % sides
    faces = [
        np.column_stack([k, after, after + sides]),
        np.column_stack([k, after + sides, k + sides]),
    ]
    fan = np.arange(1, sides - 1)
    faces += [np.column_stack([0 * fan + s, fan + s, fan + 1 + s]) for s in (0, sides)]
    fine = 2 * np.pi * np.arange(128) / 128
    wall = np.column_stack(
        [np.cos(fine), np.sin(fine), 0 * fine, 0 * fine + r * np.cos(np.pi / 128)]
    )
    caps = np.array([[0.0, 0, 1, half], [0, 0, -1, half]])
    return np.concatenate([wall, caps]), corners, np.concatenate(faces), r / np.cos(turn) - r


def _ellipsoid(piece: Piece, _roughness: float) -> tuple[Floats, Floats, NDArray[np.int64], float]:
    vertices, faces = _ball()
    reach = hull_planes(vertices, faces)[:, 3].min()  # the ball in the polytope
    inner = vertices * piece.sizes
    return hull_planes(inner, faces), inner / reach, faces, (1 / reach - 1) * max(piece.sizes)


def _ball() -> tuple[Floats, NDArray[np.int64]]:
    """The vertices and faces of a polytope in the unit ball: an octahedron cut four times."""
    corners = np.concatenate([np.eye(3), -np.eye(3)])
    eight = [(a, b, c) for a in (0, 3) for b in (1, 4) for c in (2, 5)]
    triangles = corners[[row if (np.array(row) > 2).sum() % 2 == 0 else row[::-1] for row in eight]]
    for _ in range(4):
        a, b, c = triangles.transpose(1, 0, 2)
        ab, bc, ca = a + b, b + c, c + a
        parts = [(a, ab, ca), (ab, b, bc), (ca, bc, c), (ab, bc, ca)]
        triangles = np.concatenate([np.stack(part, axis=1) for part in parts])
        triangles /= np.linalg.norm(triangles, axis=2, keepdims=True)
    points = triangles.reshape(-1, 3)
    _, first, number = np.unique(points.round(9), axis=0, return_index=True, return_inverse=True)
    return points[first], number.reshape(-1, 3)


_ROUND_OR_BOX = {BOX: _box, CYLINDER: _cylinder, ELLIPSOID: _ellipsoid}


def _fan(vertices: Floats, faces: NDArray[np.int64], flat: bool) -> Floats:
    """The tetrahedra between the centre of the vertices and each face; the faces of a flat one."""
    if not len(faces):  # a point or a segment
        return vertices[[0, -1, -1, -1]][None]
    if flat:
        return vertices[faces[:, [0, 1, 2, 2]]]
    centre = np.broadcast_to(vertices.mean(axis=0), (len(faces), 1, 3))
    return np.concatenate([vertices[faces], centre], axis=1)


def depths(solids: list[Solid], points: Floats) -> Floats:
    """A lower bound (n,) on the depth of points (n, 3) in the union: below 0 is not in any.

    Of many solids few are near a point: those whose ``ends`` leave it less room than another one
    gives are not looked at.
    """
    if len(solids) == 1:
        return rooms(solids[0].planes, points)
    found = np.full(len(points), -np.inf)
    ends = np.concatenate([solid.ends for solid in solids])
    step = max(1, _TOGETHER // max(1, len(ends)))
    for start in range(0, len(points), step):
        part, best = points[start : start + step], found[start : start + step]
        most = (ends[:, 3:] - ends[:, :3] @ part.T).reshape(len(solids), 6, -1).min(axis=1)
        first = most.argmax(axis=0)
        for k in np.unique(first):
            own = np.flatnonzero(first == k)
            best[own] = rooms(solids[k].planes, part[own])
        most[first, np.arange(len(part))] = -np.inf
        for k in np.flatnonzero((most > best).any(axis=1)):
            own = np.flatnonzero(most[k] > best)
            best[own] = np.maximum(best[own], rooms(solids[k].planes, part[own]))
    return found


def near(solid: Solid, points: Floats, distance: float) -> NDArray[np.int64]:
    """Numbers of the points that no plane of the solid is farther from than a distance (m)."""
    most = (solid.ends[:, 3:] - solid.ends[:, :3] @ points.T).min(axis=0)
    able = np.flatnonzero(most > -distance)
    return able[rooms(solid.planes, points[able]) > -distance]


def edge_lengths(cells: Floats) -> Floats:
    """The lengths (n, 6) of the edges of cells (n, 4, 3)."""
    return lengths(cells[:, _PAIRS[:, 0]] - cells[:, _PAIRS[:, 1]])


def lengths(vectors: Floats) -> Floats:
    """The lengths of vectors (..., 3); sums of NumPy over so short an axis take several times."""
    x, y, z = vectors[..., 0], vectors[..., 1], vectors[..., 2]
    return np.sqrt(x * x + y * y + z * z)


def middles(cells: Floats) -> Floats:
    """The middles (n, 3) of the corners of cells (n, 4, 3)."""
    return (cells[:, 0] + cells[:, 1] + cells[:, 2] + cells[:, 3]) / 4


def bisected(cells: Floats) -> Floats:
    """Each of the cells (n, 4, 3) cut at the middle of its longest edge: (2 n, 4, 3).

    The two halves of cell k are k and n + k.
    """
    rows = np.arange(len(cells))
    first, second = _PAIRS[edge_lengths(cells).argmax(axis=1)].T
    middle = (cells[rows, first] + cells[rows, second]) / 2
    ends = np.concatenate([cells[rows, first], cells[rows, second]])
    halves = np.concatenate([cells, cells])
    same = halves == ends[:, None]
    which, corner = np.nonzero(same[..., 0] & same[..., 1] & same[..., 2])  # repeated ones together
    halves[which, corner] = middle[which % len(cells)]
    return halves


def thinned(points: Floats, spacing: Floats) -> NDArray[np.int64]:
    """Numbers of points of which few are nearer to each other than their spacing."""
    if not len(points):
        return np.zeros(0, np.int64)
    level = np.floor(np.log2(np.maximum(spacing, 1e-300)))
    place = np.floor((points - points.min(axis=0)) / np.exp2(level)[:, None])
    x, y, z, k = np.column_stack([place, level - level.min()]).astype(np.uint64).T
    odd = np.array([0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9], np.uint64)
    keys = x * odd[0] + y * odd[1] + z * odd[2] + k
    return np.sort(np.unique(keys, return_index=True)[1])
