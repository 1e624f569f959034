"""Meshes made of fewer triangles, so that their shape changes least.

Edges are shrunk to points, those first that move the surface least: a vertex knows the planes of
the triangles around it as a sum of squares, an edge costs what that sum is where it shrinks to.
Flat faces become few triangles, and edges and corners of machine parts stay sharp. Many edges that
do not touch each other go in one round, so all of it is arithmetic on whole arrays; the same
numbers go in and come out on every machine. Where there are very many triangles, vertices of one
cell of a fine grid become one before.

Source: M. Garland and P. S. Heckbert, "Surface simplification using quadric error metrics",
SIGGRAPH 1997; cells: P. Lindstrom, "Out-of-core simplification of large polygonal models",
SIGGRAPH 2000.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from linkwork.errors import InputError

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Flags = NDArray[np.bool_]

BUDGET = 100_000
"""Triangles that a robot is shown with where it has more: a page of a few megabytes."""

_MANY = 6
"""Times the budget above which cells come first."""


class SimpleMesh(NamedTuple):
    """Vertices (n, 3) in m, faces (k, 3) of their numbers, and where given ``uv`` (n, 2)."""

    vertices: Floats
    faces: Ints
    uv: Floats | None = None


def simplified(meshes: Sequence[SimpleMesh], n_faces: int = BUDGET) -> list[SimpleMesh]:
    """The meshes with about ``n_faces`` triangles together, and not more where that is possible.

    What has fewer is given back as it is. Triangles go where that shows least: a change counts by
    its size in m, and in a small mesh more than in a large one. Vertices at the seams and ends of
    a mesh with ``uv`` stay where they are, so that its picture stays whole. No mesh vanishes.

    Raises: InputError for a budget below one triangle, arrays of other shapes, and faces whose
    vertices do not exist.
    """
    if n_faces < 1:
        raise InputError(f"a budget is one triangle or more, not {n_faces}")
    given = [_checked(mesh) for mesh in meshes]
    total = sum(len(mesh.faces) for mesh in given)
    if total <= n_faces:
        return list(meshes)
    welded = [_welded(mesh) for mesh in given]
    if total > _MANY * n_faces:
        welded = _in_cells(welded, _MANY * n_faces)
    return _shrunk(welded, n_faces)


def clustered(mesh: SimpleMesh, cell: float) -> SimpleMesh:
    """The mesh with at most one vertex in each cell of a grid of this width (m).

    No vertex moves farther than the diagonal of a cell. Triangles that become lines or points go,
    so a mesh smaller than a cell has none. A mesh with ``uv`` is given back as it is.

    Raises: InputError for arrays of other shapes, faces whose vertices do not exist, and a cell
    that is not above zero.
    """
    points, corners, uv = _checked(mesh)
    if not (np.isfinite(cell) and cell > 0):
        raise InputError(f"the width of a cell must be above 0 m, not {cell:g}")
    if uv is not None or not len(corners):
        return mesh
    number = _cells(points, cell)
    kept = _triangles(number[corners])
    used, renumbered = np.unique(kept, return_inverse=True)
    counts = np.bincount(number)
    places = np.stack([np.bincount(number, points[:, k]) / counts for k in range(3)], axis=1)
    quadric = np.zeros((len(counts), _WIDTH))
    for rows, at in _quadrics(points, corners):
        _add(quadric, number[at], rows)
    places = _least(quadric, places, points.min(axis=0), cell, counts == 1)
    return SimpleMesh(places[used], renumbered.reshape(-1, 3).astype(np.int64))


# --- edges that shrink ----------------------------------------------------------------------------

_CHEAP = 0.5
"""The part of the edges that may go in one round: what costs more waits for what costs less."""

_TURN = 0.2
"""The cosine of the angle that a triangle may turn by while an edge beside it shrinks."""

_SHORT = 1e-7
"""The share of an edge's squared length in its cost: of edges in a plane short ones go first."""


def _shrunk(meshes: Sequence[SimpleMesh], n_faces: int) -> list[SimpleMesh]:
    """The meshes with edges shrunk until ``n_faces`` are left of all, taken as one."""
    starts = np.cumsum([0, *(len(mesh.vertices) for mesh in meshes)])
    sizes = [float(np.linalg.norm(np.ptp(mesh.vertices, axis=0))) for mesh in meshes]
    rows = [
        np.hstack([mesh.vertices - mesh.vertices.mean(axis=0), _uv_or_zeros(mesh)])
        for mesh in meshes
    ]
    points = np.vstack(rows)
    faces = np.vstack([mesh.faces + start for mesh, start in zip(meshes, starts, strict=False)])
    owner = np.repeat(np.arange(len(meshes)), np.diff(starts))
    scale = np.maximum(np.array(sizes), 1e-12)[owner]
    textured = np.array([mesh.uv is not None for mesh in meshes])[owner]
    fixed = np.zeros(len(points), bool)
    fixed[_ends(points, faces).reshape(-1)] = True
    faces = _Shrinking(points, faces, scale, fixed & textured).down_to(n_faces)
    of_face = owner[faces[:, 0]] if len(faces) else np.zeros(0, np.int64)
    found: list[SimpleMesh] = []
    for k, mesh in enumerate(meshes):
        kept = _triangles(faces[of_face == k])
        if not len(kept):
            kept, own = mesh.faces[:1] + starts[k], mesh  # one triangle, rather than none
            points[starts[k] : starts[k + 1], :3] = own.vertices - own.vertices.mean(axis=0)
        used, numbers = np.unique(kept, return_inverse=True)
        placed = points[used, :3] + mesh.vertices.mean(axis=0)
        uv = None if mesh.uv is None else points[used, 3:]
        found.append(SimpleMesh(placed, numbers.reshape(-1, 3).astype(np.int64), uv))
    return found


def _uv_or_zeros(mesh: SimpleMesh) -> Floats:
    return np.zeros((len(mesh.vertices), 2)) if mesh.uv is None else mesh.uv


class _Shrinking:
    """A mesh whose edges shrink; ``points`` (n, 3 or more) are moved in place."""

    def __init__(self, points: Floats, faces: Ints, scale: Floats, fixed: Flags) -> None:
        self.points, self.faces, self.scale, self.fixed = points, faces, scale, fixed
        self.quadric = np.zeros((len(points), _WIDTH))
        for rows, at in _quadrics(points[:, :3], faces):
            _add(self.quadric, at, rows)
        self.refused = np.zeros(len(points))  # how often a vertex could not go

    def down_to(self, n_faces: int) -> Ints:
        """The faces (k, 3) when no more than ``n_faces`` are left, or nothing more can go."""
        cheap = _CHEAP
        while len(self.faces) > n_faces:
            more = len(self.faces) - n_faces
            gone = self._round(more // 2 + more // 8 + 4, cheap)  # some will not, some free one
            if not gone and cheap == 1.0:
                break
            cheap = _CHEAP if gone else 1.0
        return self.faces

    def _round(self, most: int, cheap: float) -> int:
        """Shrink up to ``most`` edges, the cheapest that do not touch; returns how many."""
        a, b = _edges(self.faces)
        movable = ~(self.fixed[a] & self.fixed[b])
        a, b = a[movable], b[movable]
        if not len(a):
            return 0
        cost, placed = self._costs(a, b)
        order = np.argsort(cost, kind="stable")[: max(int(cheap * len(cost)), 1)]
        first = np.full(len(self.points), -1)  # the cheapest edge of each vertex, by its place
        backwards = order[::-1]
        places = np.arange(len(order) - 1, -1, -1)
        first[np.stack([a[backwards], b[backwards]], axis=1).reshape(-1)] = np.repeat(places, 2)
        place = np.arange(len(order))
        chosen = order[(first[a[order]] == place) & (first[b[order]] == place)][:most]
        return self._shrink(a[chosen], b[chosen], placed[chosen])

    def _costs(self, a: Ints, b: Ints) -> tuple[Floats, Floats]:
        """Costs (n,) of shrinking edges, and the points (n, ...) that they become.

        Each becomes one of its ends, its middle, or the point that is nearest to all planes, where
        there is one not far away.
        """
        quadric = self.quadric[a] + self.quadric[b]
        p, q = self.points[a], self.points[b]
        middle = (p + q) / 2
        length = ((p - q)[:, :3] ** 2).sum(axis=1)
        places = np.stack([p, middle, q, middle], axis=1)
        places[:, 3, :3] = _nearest(quadric, middle[:, :3], length)
        costs = np.stack([_distances(quadric, places[:, k, :3]) for k in range(4)], axis=1)
        costs[self.fixed[a], 1:] = np.inf
        for k in (0, 1, 3):
            costs[self.fixed[b], k] = np.inf
        best = np.argmin(costs, axis=1)[:, None]
        least = np.maximum(np.take_along_axis(costs, best, axis=1)[:, 0], 0.0)
        weight = np.maximum(quadric[:, -1], 1e-300)
        cost = (least / weight + _SHORT * length) / self.scale[a]
        placed = np.take_along_axis(places, best[:, :, None], axis=1)[:, 0]
        return cost * 4.0 ** np.minimum(self.refused[a] + self.refused[b], 40.0), placed

    def _shrink(self, a: Ints, b: Ints, placed: Floats) -> int:
        """Shrink edges to these points, but for those whose triangles would turn over."""
        edge = np.full(len(self.points), -1)
        edge[a] = edge[b] = np.arange(len(a))
        touched = self.faces[(edge[self.faces] >= 0).any(axis=1)]
        before = _normals(self.points[touched, :3])
        going = np.ones(len(a), bool)
        size = np.linalg.norm(before, axis=1)
        while True:  # fewer go each time: without one, what is beside it may turn over
            points, number = self._moved(a[going], b[going], placed[going])
            moved = number[touched]
            after = _normals(points[moved, :3])
            left = (moved != np.roll(moved, 1, axis=1)).all(axis=1)
            bound = _TURN * size * np.linalg.norm(after, axis=1)
            turned = left & (size > 0) & (np.einsum("ij,ij->i", before, after) <= bound)
            of_turned = edge[touched[turned]]
            refused = np.unique(of_turned[of_turned >= 0])
            refused = refused[going[refused]]
            if not len(refused):
                break
            going[refused] = False
            self.refused[a[refused]] += 1
            self.refused[b[refused]] += 1
        a, b = a[going], b[going]
        self.points[:] = points
        self.quadric[a] += self.quadric[b]
        self.fixed[a] |= self.fixed[b]
        self.refused[a] = 0.0
        faces = number[self.faces]
        self.faces = faces[
            (faces[:, 0] != faces[:, 1])
            & (faces[:, 1] != faces[:, 2])
            & (faces[:, 2] != faces[:, 0])
        ]
        return int(going.sum())

    def _moved(self, a: Ints, b: Ints, placed: Floats) -> tuple[Floats, Ints]:
        """The points, and the number of each, when these edges have shrunk."""
        points, number = self.points.copy(), np.arange(len(self.points))
        points[a] = placed
        number[b] = a
        return points, number


def _normals(triangles: Floats) -> Floats:
    """Normals (n, 3) of triangles (n, 3, 3), as long as twice their areas."""
    return np.cross(triangles[:, 1] - triangles[:, 0], triangles[:, 2] - triangles[:, 0])


def _edges(faces: Ints) -> tuple[Ints, Ints]:
    """The two ends of each edge, once."""
    if not len(faces):
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    ends = faces[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2)
    pairs = np.stack([ends.min(axis=1), ends.max(axis=1)], axis=1)
    n = int(pairs.max()) + 1
    key = pairs[:, 0] * n + pairs[:, 1]
    key.sort()  # several times as quick as what NumPy's unique does
    key = key[np.append(True, key[1:] != key[:-1])]
    return key // n, key % n


def _ends(points: Floats, faces: Ints) -> Ints:
    """The edges (n, 2) that only one triangle has."""
    edges = np.sort(faces[:, [[0, 1], [1, 2], [2, 0]]].reshape(-1, 2), axis=1)
    _, first, times = np.unique(
        edges[:, 0] * len(points) + edges[:, 1], return_index=True, return_counts=True
    )
    return edges[first[times == 1]]


# --- quadrics: sums of squared distances from planes ----------------------------------------------

_WIDTH = 11
"""Numbers of one: of x'Ax - 2b'x + c six of A, three of b, and c; and the weight of all planes."""


def _quadrics(points: Floats, faces: Ints) -> list[tuple[Floats, Ints]]:
    """The quadrics of planes (n, 11) with the vertices (n,) that they belong to.

    Those of triangles weigh as their areas; where a surface ends there is one across it.
    """
    a, b, c = (points[faces[:, k]] for k in range(3))
    cross = np.cross(b - a, c - a)
    area = np.linalg.norm(cross, axis=1)
    normal = cross / np.maximum(area, 1e-300)[:, None]
    rows = _of_planes(a, normal, area)
    found = [(rows, faces[:, k]) for k in range(3)]
    edges = faces[:, [[0, 1], [1, 2], [2, 0]]].reshape(-1, 2)
    low, high = np.sort(edges, axis=1).T
    _, first, times = np.unique(low * len(points) + high, return_index=True, return_counts=True)
    ends = first[times == 1]
    if len(ends):
        p, q = points[edges[ends, 0]], points[edges[ends, 1]]
        across = np.cross(q - p, normal[ends // 3])
        length = np.linalg.norm(across, axis=1)
        rows = _of_planes(p, across / np.maximum(length, 1e-300)[:, None], length**2)
        found += [(rows, edges[ends, k]) for k in range(2)]
    return found


def _of_planes(through: Floats, normal: Floats, weight: Floats) -> Floats:
    """The quadrics (n, 11) of planes through points, with unit normals."""
    x, y, z = normal.T
    d = np.einsum("ij,ij->i", through, normal)
    columns = (
        x * x,
        x * y,
        x * z,
        y * y,
        y * z,
        z * z,
        d * x,
        d * y,
        d * z,
        d * d,
        np.ones(len(d)),
    )
    return weight[:, None] * np.stack(columns, axis=1)


def _add(quadric: Floats, at: Ints, rows: Floats) -> None:
    """Add rows to those of their vertices."""
    for k in range(_WIDTH):
        quadric[:, k] += np.bincount(at, rows[:, k], len(quadric))


def _distances(quadric: Floats, x: Floats) -> Floats:
    """Sums of squared distances (n,) of points (n, 3) from the planes of quadrics (n, 11)."""
    (a, b, c), Q = x.T, quadric.T
    square = Q[0] * a * a + Q[3] * b * b + Q[5] * c * c
    square += 2 * (Q[1] * a * b + Q[2] * a * c + Q[4] * b * c)
    return square - 2 * (Q[6] * a + Q[7] * b + Q[8] * c) + Q[9]


_SOLID = 1e-3
"""The determinant of a quadric's matrix, as a part of the cube of its mean, from which on there is
one point that is nearest to its planes."""


def _nearest(quadric: Floats, near: Floats, length: Floats) -> Floats:
    """The points (n, 3) nearest to the planes of quadrics; where they are far or none, ``near``."""
    xx, xy, xz, yy, yz, zz = quadric[:, :6].T
    b = quadric[:, 6:9]
    rows = (
        (yy * zz - yz * yz, xz * yz - xy * zz, xy * yz - xz * yy),
        (xz * yz - xy * zz, xx * zz - xz * xz, xy * xz - xx * yz),
        (xy * yz - xz * yy, xy * xz - xx * yz, xx * yy - xy * xy),
    )  # of the adjugate matrix
    determinant = xx * rows[0][0] + xy * rows[0][1] + xz * rows[0][2]
    solid = determinant > _SOLID * ((xx + yy + zz) / 3) ** 3
    x = np.stack([sum(r * b[:, k] for k, r in enumerate(row)) for row in rows], axis=1)
    x /= np.where(solid, determinant, 1.0)[:, None]
    solid &= ((x - near) ** 2).sum(axis=1) <= length
    return np.where(solid[:, None], x, near)


# --- cells ----------------------------------------------------------------------------------------

_RANK = 0.03
"""Directions count in which a quadric is at least this part of its strongest one: creases above
20 degrees. Lindstrom takes 0.001, which pulls vertices along surfaces that are bent a little."""


def _in_cells(meshes: Sequence[SimpleMesh], n_faces: int) -> list[SimpleMesh]:
    """The meshes with about ``n_faces`` triangles or less, in cells of one width."""
    sizes = [float(np.linalg.norm(np.ptp(mesh.vertices, axis=0))) for mesh in meshes]
    fine, coarse = 1e-5 * max(sizes), max(sizes)
    for _ in range(10):
        cell = (fine * coarse) ** 0.5
        left = sum(
            len(_triangles(_cells(mesh.vertices, cell)[mesh.faces]))
            if mesh.uv is None and size > 8 * cell
            else len(mesh.faces)
            for mesh, size in zip(meshes, sizes, strict=True)
        )
        fine, coarse = (fine, cell) if left <= n_faces else (cell, coarse)
    return [
        clustered(mesh, coarse) if size > 8 * coarse else mesh
        for mesh, size in zip(meshes, sizes, strict=True)
    ]


def _cells(points: Floats, cell: float) -> Ints:
    """The cell of each point (n,), numbered without gaps."""
    grid = np.floor((points - points.min(axis=0)) / cell).astype(np.int64)
    shape = grid.max(axis=0) + 1
    if float(shape[0]) * float(shape[1]) * float(shape[2]) < 2**62:
        key = (grid[:, 0] * shape[1] + grid[:, 1]) * shape[2] + grid[:, 2]
        return np.unique(key, return_inverse=True)[1].reshape(-1)
    return np.unique(grid, axis=0, return_inverse=True)[1].reshape(-1)


def _least(quadric: Floats, mean: Floats, origin: Floats, cell: float, alone: Flags) -> Floats:
    """Points where quadrics are least, inside the cells of the means; what is alone stays."""
    A = quadric[:, [[0, 1, 2], [1, 3, 4], [2, 4, 5]]]
    b = quadric[:, 6:9] - np.einsum("nij,nj->ni", A, mean)
    sizes, axes = np.linalg.eigh(A)
    strong = sizes > _RANK * np.maximum(sizes[:, 2:], 1e-300)
    along = np.einsum("nij,ni->nj", axes, b) * strong / np.where(strong, sizes, 1.0)
    low = origin + cell * np.floor((mean - origin) / cell)
    placed = np.clip(mean + np.einsum("nij,nj->ni", axes, along), low, low + cell)
    return np.where(alone[:, None], mean, placed)


# --- meshes ---------------------------------------------------------------------------------------


def _triangles(faces: Ints) -> Ints:
    """Faces that are triangles, each once for each side that it shows."""
    a, b, c = faces.T
    faces = faces[(a != b) & (b != c) & (c != a)]
    if not len(faces):
        return faces
    first = np.argmin(faces, axis=1)
    turned = np.take_along_axis(faces, (first[:, None] + np.arange(3)) % 3, axis=1)
    n = int(turned.max()) + 1
    if n >= 2**21:
        return faces[np.sort(np.unique(turned, axis=0, return_index=True)[1])]
    key = (turned[:, 0] * n + turned[:, 1]) * n + turned[:, 2]
    return faces[np.sort(np.unique(key, return_index=True)[1])]


def _welded(mesh: SimpleMesh) -> SimpleMesh:
    """A mesh whose vertices at one place are one, where no texture needs them apart."""
    rows = mesh.vertices if mesh.uv is None else np.hstack([mesh.vertices, mesh.uv])
    if not len(mesh.faces):
        return mesh
    single = np.ascontiguousarray(rows.astype(np.float32) + np.float32(0.0))
    key = single.view(np.dtype((np.void, single.itemsize * single.shape[1]))).reshape(-1)
    _, first, number = np.unique(key, return_index=True, return_inverse=True)
    faces = _triangles(number.reshape(-1)[mesh.faces])
    if not len(faces):
        return mesh
    return SimpleMesh(mesh.vertices[first], faces, None if mesh.uv is None else mesh.uv[first])


def _checked(mesh: SimpleMesh) -> SimpleMesh:
    points, corners = np.asarray(mesh[0], np.float64), np.asarray(mesh[1])
    if points.ndim != 2 or points.shape[1] != 3 or not np.isfinite(points).all():
        raise InputError(f"vertices must be finite, of shape (n, 3), not {points.shape}")
    if corners.ndim != 2 or corners.shape[1] != 3 or corners.dtype.kind not in "iu":
        raise InputError(f"faces must be whole numbers of shape (k, 3), not {corners.shape}")
    corners = corners.astype(np.int64)
    if len(corners) and not (0 <= corners.min() and corners.max() < len(points)):
        raise InputError(f"faces have vertices from 0 to {len(points) - 1}")
    uv: ArrayLike | None = mesh[2]
    if uv is None:
        return SimpleMesh(points, corners)
    coordinates = np.asarray(uv, np.float64)
    if coordinates.shape != (len(points), 2):
        raise InputError(f"uv must have shape ({len(points)}, 2), not {coordinates.shape}")
    return SimpleMesh(points, corners, coordinates)
