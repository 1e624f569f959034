"""Meshes made of fewer triangles: vertices of one cell of a grid become one, where it fits best.

The place of a vertex is that of the least sum of squared distances from the planes of the
triangles around, so flat faces stay flat and edges and corners of machine parts stay sharp, as far
as the cell reaches: no point of the surface moves out of the cells that it runs through. The same
numbers go in and come out on every machine.

Source: P. Lindstrom, "Out-of-core simplification of large polygonal models", SIGGRAPH 2000;
quadrics of M. Garland and P. S. Heckbert, "Surface simplification using quadric error metrics",
SIGGRAPH 1997.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from linkwork.errors import InputError

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

BUDGET = 100_000
"""Triangles that a robot is shown with where it has more: a page of a few megabytes."""


class SimpleMesh(NamedTuple):
    """Vertices (n, 3) in m, faces (k, 3) of their numbers, and where given ``uv`` (n, 2)."""

    vertices: Floats
    faces: Ints
    uv: Floats | None = None


def simplified(
    vertices: ArrayLike, faces: ArrayLike, cell: float, uv: ArrayLike | None = None
) -> SimpleMesh:
    """The mesh with at most one vertex in each cell of a grid of this width (m).

    No vertex moves farther than the diagonal of a cell. ``uv`` (n, 2) are coordinates of a texture:
    vertices at one place with other coordinates, at its seams, stay apart. Triangles that become
    lines or points go, so a mesh smaller than a cell has none.

    Raises: InputError for arrays of other shapes, faces whose vertices do not exist, and a cell
    that is not above zero.
    """
    points, corners, coordinates = _checked(vertices, faces, uv)
    if not (np.isfinite(cell) and cell > 0):
        raise InputError(f"the width of a cell must be above 0 m, not {cell:g}")
    if not len(corners):
        return SimpleMesh(points[:0], corners, None if coordinates is None else coordinates[:0])
    number, cell_of = _numbers(points, corners, coordinates, cell)
    kept = _kept_faces(number[corners])
    used, renumbered = np.unique(kept, return_inverse=True)
    first = np.unique(number, return_index=True)[1][used]  # a vertex of each new one
    places = _best_places(points, corners, cell_of, cell)[cell_of[first]]
    if coordinates is not None:
        counts = np.bincount(number)
        sums = [np.bincount(number, coordinates[:, k]) / counts for k in range(2)]
        coordinates = np.stack(sums, axis=1)[used]
    return SimpleMesh(places, renumbered.reshape(-1, 3).astype(np.int64), coordinates)


def to_budget(meshes: Sequence[SimpleMesh], n_faces: int = BUDGET) -> list[SimpleMesh]:
    """The meshes with at most ``n_faces`` triangles together; each as it is where they have fewer.

    A mesh gets triangles about in proportion to its diameter: its cells are as wide as the root of
    it. Small ones keep some detail, unless the budget is too small even for that. One that
    clustering would not make smaller stays as it is.

    Raises: as `simplified`; InputError for a budget below one triangle.
    """
    if n_faces < 1:
        raise InputError(f"a budget is one triangle or more, not {n_faces}")
    if sum(len(mesh.faces) for mesh in meshes) <= n_faces:
        return list(meshes)
    given = [_checked(*mesh) for mesh in meshes]
    sizes = [float(np.linalg.norm(np.ptp(p, axis=0))) if len(p) else 0.0 for p, _, _ in given]
    widest = [_widest(*mesh, size / _LEAST_CELLS) for mesh, size in zip(given, sizes, strict=True)]
    cells = _cells_for(given, sizes, n_faces, widest)
    if cells is None:  # too little for all to keep some detail
        cells = _cells_for(given, sizes, n_faces, [4 * size for size in sizes])
    cells = cells or [4 * size for size in sizes]
    found: list[SimpleMesh] = []
    for mesh, cell in zip(meshes, cells, strict=True):
        small = simplified(mesh.vertices, mesh.faces, cell, mesh.uv)
        found.append(small if len(small.faces) < len(mesh.faces) else mesh)
    return found


_LEAST_CELLS = 5.0
"""Cells along the diameter of a small mesh, so that it keeps a shape."""

_TRIES = 9
"""Halvings of the range of widths, on a scale of ratios: the last changes them by 2 %."""


def _widest(points: Floats, corners: Ints, uv: Floats | None, cell: float) -> float:
    """The first of this width, half of it and so on that leaves something of a mesh."""
    for _ in range(10):
        if not len(corners) or cell == 0 or _count(points, corners, uv, cell):
            break
        cell /= 2
    return cell


def _count(points: Floats, corners: Ints, uv: Floats | None, cell: float) -> int:
    """The number of triangles that cells of this width leave."""
    return len(_kept_faces(_numbers(points, corners, uv, cell).vertex[corners]))


def _cells_for(
    given: Sequence[_Arrays], sizes: Sequence[float], n_faces: int, widest: Sequence[float]
) -> list[float] | None:
    """The widths of cells that leave at most ``n_faces``; None where the widest leave more."""
    largest = max(sizes)

    def cells(factor: float) -> list[float]:
        widths = [factor * (size * largest) ** 0.5 for size in sizes]
        return [min(pair) or 1.0 for pair in zip(widths, widest, strict=True)]

    def total(factor: float) -> int:
        pairs = zip(given, cells(factor), strict=True)
        return sum(min(_count(*mesh, cell), len(mesh[1])) for mesh, cell in pairs)

    fine, coarse = 1e-3, 4.0
    if total(coarse) > n_faces:
        return None
    for _ in range(_TRIES):
        middle = (fine * coarse) ** 0.5
        fine, coarse = (fine, middle) if total(middle) <= n_faces else (middle, coarse)
    return cells(coarse)


# --- clusters -------------------------------------------------------------------------------------

_Arrays = tuple[Floats, Ints, "Floats | None"]


class _Numbers(NamedTuple):
    """The new vertex of each vertex (n,), and the cell of each (n,), numbered without gaps."""

    vertex: Ints
    cell: Ints


def _numbers(points: Floats, corners: Ints, uv: Floats | None, cell: float) -> _Numbers:
    """Which vertices become one: those of a cell, apart where a seam of the texture is between."""
    grid = np.floor((points - points.min(axis=0)) / cell).astype(np.int64)
    shape = grid.max(axis=0) + 1
    if float(shape[0]) * float(shape[1]) * float(shape[2]) < 2**62:
        key = (grid[:, 0] * shape[1] + grid[:, 1]) * shape[2] + grid[:, 2]
        of = np.unique(key, return_inverse=True)[1].reshape(-1)
    else:
        of = np.unique(grid, axis=0, return_inverse=True)[1].reshape(-1)
    if uv is None:
        return _Numbers(of, of)
    chart = _charts(len(points), corners)
    pair = of * (int(chart.max()) + 1) + chart
    return _Numbers(np.unique(pair, return_inverse=True)[1].reshape(-1), of)


def _kept_faces(faces: Ints) -> Ints:
    """Faces that are still triangles, each once for each side that it shows."""
    a, b, c = faces.T
    faces = faces[(a != b) & (b != c) & (c != a)]
    if not len(faces):
        return faces
    first = np.argmin(faces, axis=1)
    turned = np.take_along_axis(faces, (first[:, None] + np.arange(3)) % 3, axis=1)
    n = int(turned.max()) + 1
    if n < 2**21:
        key = (turned[:, 0] * n + turned[:, 1]) * n + turned[:, 2]
        kept = np.unique(key, return_index=True)[1]
    else:
        kept = np.unique(turned, axis=0, return_index=True)[1]
    return faces[np.sort(kept)]


def _charts(n: int, corners: Ints) -> Ints:
    """The connected piece of each vertex (n,), by its smallest number; seams are between pieces."""
    label = np.arange(n)
    while True:
        least = label[corners].min(axis=1)
        before = label.copy()
        for k in range(3):
            np.minimum.at(label, corners[:, k], least)
        label = label[label]
        if np.array_equal(label, before):
            return np.unique(label, return_inverse=True)[1].reshape(-1)


# --- where the vertices go ------------------------------------------------------------------------

_RANK = 0.03
"""Directions count in which a quadric is at least this part of its strongest one: creases above
20 degrees. Lindstrom takes 0.001, which pulls vertices along surfaces that are bent a little."""


def _best_places(points: Floats, corners: Ints, cell_of: Ints, cell: float) -> Floats:
    """The best place for the vertex of each cell (n_cells, 3).

    The least sum of squared distances from the planes of the triangles that have a corner in the
    cell, each as its area, nearest to the mean of the cell's vertices where that leaves it free.
    """
    n = int(cell_of.max()) + 1
    counts = np.bincount(cell_of, minlength=n)
    mean = np.stack([np.bincount(cell_of, points[:, k], n) / counts for k in range(3)], axis=1)
    A, b = np.zeros((n, 3, 3)), np.zeros((n, 3))
    for origin, normal, weight, at in _planes(points, corners):
        where = cell_of[at]
        distance = np.einsum("ij,ij->i", normal, origin - mean[where])
        for i in range(3):
            b[:, i] += np.bincount(where, weight * distance * normal[:, i], n)
            for j in range(i, 3):
                A[:, i, j] += np.bincount(where, weight * normal[:, i] * normal[:, j], n)
    A[:, [1, 2, 2], [0, 0, 1]] = A[:, [0, 0, 1], [1, 2, 2]]
    sizes, axes = np.linalg.eigh(A)
    strong = sizes > _RANK * np.maximum(sizes[:, 2:], 1e-300)
    along = np.einsum("nij,ni->nj", axes, b) * strong / np.where(strong, sizes, 1.0)
    move = np.einsum("nij,nj->ni", axes, along)
    low = points.min(axis=0) + cell * np.floor((mean - points.min(axis=0)) / cell)
    placed = np.clip(mean + move, low, low + cell)
    return np.where(counts[:, None] == 1, mean, placed)  # one vertex stays where it is


def _planes(points: Floats, corners: Ints) -> list[tuple[Floats, Floats, Floats, Ints]]:
    """Planes that vertices should keep to: a point, the normal, a weight, and the vertex.

    Those of the triangles, for each corner; and across the triangles through edges that are the
    end of a surface, for both ends.
    """
    a, b, c = (points[corners[:, k]] for k in range(3))
    cross = np.cross(b - a, c - a)
    area = np.linalg.norm(cross, axis=1)
    normal = cross / np.maximum(area, 1e-300)[:, None]
    found = [(a, normal, area, corners[:, k]) for k in range(3)]
    edges = np.sort(corners[:, [[0, 1], [1, 2], [2, 0]]].reshape(-1, 2), axis=1)
    _, first, times = np.unique(
        edges[:, 0] * len(points) + edges[:, 1], return_index=True, return_counts=True
    )
    open_ = first[times == 1]
    if len(open_):
        p, q = points[edges[open_, 0]], points[edges[open_, 1]]
        across = np.cross(q - p, normal[open_ // 3])
        length = np.linalg.norm(across, axis=1)
        unit = across / np.maximum(length, 1e-300)[:, None]
        found += [(p, unit, length**2, edges[open_, k]) for k in range(2)]
    return found


def _checked(vertices: ArrayLike, faces: ArrayLike, uv: ArrayLike | None = None) -> _Arrays:
    points, corners = np.asarray(vertices, np.float64), np.asarray(faces)
    if points.ndim != 2 or points.shape[1] != 3 or not np.isfinite(points).all():
        raise InputError(f"vertices must be finite, of shape (n, 3), not {points.shape}")
    if corners.ndim != 2 or corners.shape[1] != 3 or corners.dtype.kind not in "iu":
        raise InputError(f"faces must be whole numbers of shape (k, 3), not {corners.shape}")
    corners = corners.astype(np.int64)
    if len(corners) and not (0 <= corners.min() and corners.max() < len(points)):
        raise InputError(f"faces have vertices from 0 to {len(points) - 1}")
    if uv is None:
        return points, corners, None
    coordinates = np.asarray(uv, np.float64)
    if coordinates.shape != (len(points), 2):
        raise InputError(f"uv must have shape ({len(points)}, 2), not {coordinates.shape}")
    return points, corners, coordinates
