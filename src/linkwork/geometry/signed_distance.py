"""Signed distances of solids, negative inside, in metres: exact ones, and grids of those of meshes.

Points (n, 3) are in the solid's own frame.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linkwork import extras
from linkwork.errors import InputError, ShapeError

Floats = NDArray[np.float64]

_CHUNK = 200_000
"""Points whose distances to a mesh are computed at once."""
_BAND = 3.0
"""Cells from the surface within which distances to triangles are measured."""
_FAR = 0.01
"""The share by which other distances may be too long."""
_NEAR = 6
"""Samples of a mesh's surface near a point whose triangles are measured exactly."""


def to_box(points: Floats, size: Floats) -> Floats:
    """Signed distances (n,) to a box of full side lengths ``size`` (3,) about the origin."""
    return _outside_and_in(np.abs(points) - 0.5 * size)


def to_ball(points: Floats, radius: float) -> Floats:
    """Signed distances (n,) to a ball about the origin."""
    return np.linalg.norm(points, axis=1) - radius


def to_cylinder(points: Floats, radius: float, length: float) -> Floats:
    """Signed distances (n,) to a cylinder about z, from -length/2 to length/2."""
    across = np.linalg.norm(points[:, :2], axis=1) - radius
    return _outside_and_in(np.stack([across, np.abs(points[:, 2]) - 0.5 * length], axis=1))


def _outside_and_in(off: Floats) -> Floats:
    """Distances of points that are ``off`` (n, k) beyond faces which stand across each other."""
    return np.linalg.norm(np.maximum(off, 0.0), axis=1) + np.minimum(off.max(axis=1), 0.0)


@dataclass(frozen=True, eq=False, slots=True)
class DistanceGrid:
    """Signed distances ``data`` (nx, ny, nz) at the nodes ``origin`` + ``spacing`` (i, j, k), m.

    Raises: ShapeError for data of another shape; InputError for a spacing that is not above zero.
    """

    data: Floats
    origin: Floats
    spacing: float

    def __post_init__(self) -> None:
        if self.data.ndim != 3 or min(self.data.shape) < 2:
            raise ShapeError(f"a grid has three axes of two nodes or more, not {self.data.shape}")
        if not 0.0 < self.spacing < np.inf:
            raise InputError(f"the spacing of a grid is a length above zero, not {self.spacing}")

    def holds(self, points: Floats) -> NDArray[np.bool_]:
        """Whether points lie inside the grid (n,)."""
        at = (points - self.origin) / self.spacing
        return np.all((at >= 0.0) & (at <= np.array(self.data.shape) - 1), axis=1)

    def at(self, points: Floats, outside: float = np.inf) -> Floats:
        """Distances (n,), linear between nodes; ``outside`` where the grid ends."""
        at, held = (points - self.origin) / self.spacing, self.holds(points)
        cell = np.clip(np.floor(at), 0, np.array(self.data.shape) - 2).astype(int)
        part = np.where(held[:, None], at - cell, 0.0)
        found = np.zeros(len(at))
        for corner in np.ndindex(2, 2, 2):
            weight = np.prod(np.where(corner, part, 1.0 - part), axis=1)
            found += weight * self.data[tuple((cell + corner).T)]
        return np.where(held, found, outside)

    def surface(self) -> Floats:
        """Points (n, 3) where edges of the grid pass through the surface."""
        found = []
        for axis in range(3):
            a = np.moveaxis(self.data, axis, 0)
            before, after = a[:-1], a[1:]
            cells = np.argwhere((before <= 0.0) != (after <= 0.0))
            low, high = before[tuple(cells.T)], after[tuple(cells.T)]
            nodes = cells.astype(np.float64)
            nodes[:, 0] += low / (low - high)
            back = [axis, *(k for k in range(3) if k != axis)]
            found.append(nodes[:, np.argsort(back)])
        return self.origin + self.spacing * np.concatenate(found)

    @classmethod
    def of_mesh(cls, mesh: Any, nodes: int = 100, padding: int = 5) -> DistanceGrid:
        """The grid around a mesh: ``nodes`` along its longest side, ``padding`` of them around it.

        Raises: InputError for less than four nodes; MissingExtraError without scipy.
        """
        if nodes < 4:
            raise InputError(f"a grid has four nodes or more along its longest side, not {nodes}")
        padding = min(padding, (nodes - 2) // 4)  # at least half of them in the mesh
        low, high = np.asarray(mesh.bounds, np.float64)
        spacing = float((high - low).max()) / (nodes - 1 - 2 * padding)
        origin = low - padding * spacing
        counts = np.ceil((high - low) / spacing - 1e-9).astype(int) + 1 + 2 * padding
        return cls(_at_nodes(mesh, origin, counts, spacing), origin, spacing)

    @classmethod
    def over_box(cls, mesh: Any, lower: Floats, upper: Floats, spacing: float) -> DistanceGrid:
        """The grid of a mesh over the box from ``lower`` to ``upper``, both (3,).

        Raises: InputError for a box that is none; MissingExtraError without scipy.
        """
        if not np.all(upper > lower):
            raise InputError(f"upper {upper.tolist()} must be above lower {lower.tolist()}")
        counts = np.floor((upper - lower) / spacing + 1e-9).astype(int) + 1
        return cls(_at_nodes(mesh, lower, counts, spacing), lower, spacing)

    @classmethod
    def read(cls, path: str | Path) -> DistanceGrid:
        """The grid of a text file ``.sdf``: dimensions, origin, spacing, then distances, x first.

        Raises: InputError for a file of another form; FileNotFoundError.
        """
        numbers = Path(path).read_text(encoding="ascii").split()
        try:
            dims = [int(number) for number in numbers[:3]]
            rest = np.array(numbers[3:], np.float64)
        except ValueError:
            raise InputError(f"{path}: a grid of distances is written in numbers") from None
        if len(dims) != 3 or len(rest) != 4 + np.prod(dims):
            raise InputError(f"{path}: {len(rest)} numbers follow the dimensions {dims}")
        return cls(rest[4:].reshape(dims[::-1]).transpose(), rest[:3], float(rest[3]))


def _at_nodes(mesh: Any, origin: Floats, counts: NDArray[Any], spacing: float) -> Floats:
    """Signed distances (nx, ny, nz) of a grid's nodes to the triangles of a mesh.

    Of nodes near the surface the triangles of the nearest samples of the surface are measured; of
    the others the distance is that to a sample, at most 1 % too long. Samples
    lie at most half a cell apart, or as close as a hundred thousand of them allow.
    """
    with extras.needed("distances to meshes need", "scipy", "meshes"):
        from scipy.spatial import KDTree  # noqa: PLC0415  an extra
    triangles = np.asarray(mesh.triangles, np.float64)
    samples, owner = _samples(triangles, spacing)
    tree: Any = KDTree(samples)
    axes = [origin[k] + spacing * np.arange(counts[k]) for k in range(3)]
    nodes = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 3)
    near = min(_NEAR, len(samples))
    found = np.empty(len(nodes))
    for start in range(0, len(nodes), _CHUNK):
        rows = nodes[start : start + _CHUNK]
        least = np.asarray(tree.query(rows, eps=_FAR)[0], np.float64)
        close = np.flatnonzero(least < _BAND * spacing)
        which = owner[tree.query(rows[close], k=near)[1].reshape(len(close), near)]
        for column in range(near):
            new = np.ones(len(close), bool)
            for before in range(column):
                new &= which[:, column] != which[:, before]
            off = _to_triangles(rows[close[new]], triangles[which[new, column]])
            least[close[new]] = np.minimum(least[close[new]], off)
        found[start : start + _CHUNK] = least
    inside = _inside(triangles, axes)
    return np.where(inside, -found.reshape(inside.shape), found.reshape(inside.shape))


def _samples(triangles: Floats, spacing: float) -> tuple[Floats, NDArray[np.int64]]:
    """Points (n, 3) all over triangles, and which triangle each is of."""
    a, b, c = triangles[:, 0], triangles[:, 1], triangles[:, 2]
    longest = np.max([np.linalg.norm(p - q, axis=1) for p, q in ((a, b), (b, c), (c, a))], axis=0)
    step = 0.5 * spacing
    while True:
        parts = np.maximum(1, np.ceil(longest / step)).astype(int)
        if np.sum(parts * (parts + 1) // 2) < 100_000 or parts.max() == 1:
            break
        step *= 1.5
    points, owner = [], []
    for n in np.unique(parts):
        # inside the triangle: samples that several share would make searches slow
        i, j = (np.array([(i, j) for i in range(n) for j in range(n - i)]).T + 1.0 / 3.0) / n
        which = np.flatnonzero(parts == n)
        weights = np.stack([1.0 - i - j, i, j])
        points.append(np.einsum("kw,tkx->twx", weights, triangles[which]).reshape(-1, 3))
        owner.append(np.repeat(which, len(i)))
    return np.concatenate(points), np.concatenate(owner)


def _to_triangles(p: Floats, triangles: Floats) -> Floats:
    """Distances (n,) of points (n, 3) to triangles (n, 3, 3), row by row."""
    a, b, c = triangles[:, 0], triangles[:, 1], triangles[:, 2]
    normal = np.cross(b - a, c - a)
    area = np.einsum("ni,ni->n", normal, normal)
    flat = np.maximum(area, 1e-300)
    over = area > 0.0
    least = np.full(len(p), np.inf)
    for u, v in ((a, b), (b, c), (c, a)):
        edge = v - u
        over &= np.einsum("ni,ni->n", np.cross(edge, p - u), normal) >= 0.0
        length = np.maximum(np.einsum("ni,ni->n", edge, edge), 1e-300)
        at = np.clip(np.einsum("ni,ni->n", p - u, edge) / length, 0.0, 1.0)
        least = np.minimum(least, np.linalg.norm(u + at[:, None] * edge - p, axis=1))
    height = np.abs(np.einsum("ni,ni->n", p - a, normal)) / np.sqrt(flat)
    return np.where(over, height, least)


def _inside(triangles: Floats, axes: Sequence[Floats]) -> NDArray[np.bool_]:
    """The nodes of a grid that lie inside a mesh: by the crossings of rays along x, y and z, two of
    the three, so that a small hole in the mesh is not a tunnel through the grid."""
    votes = np.zeros([len(axis) for axis in axes], int)
    for axis in range(3):
        others = [k for k in range(3) if k != axis]
        order = [*others, axis]
        votes += np.transpose(
            _crossed(triangles[:, :, order], [axes[k] for k in order]), np.argsort(order)
        )
    return votes >= 2


def _crossed(triangles: Floats, axes: Sequence[Floats]) -> NDArray[np.int64]:
    """Whether an odd number of triangles lies below each node along the third axis, 0 or 1."""
    u, v, w = axes
    nudge = np.array([1.1e-7, 0.7e-7]) * (u[-1] - u[0] + v[-1] - v[0])  # off edges that lie on u, v
    step = u[1] - u[0]
    count = np.zeros((len(u), len(v), len(w) + 1), np.int64)
    for triangle in triangles:
        low, high = triangle[:, :2].min(axis=0) - nudge, triangle[:, :2].max(axis=0) - nudge
        i0, i1 = np.searchsorted(u, (low[0], high[0]))
        j0, j1 = np.searchsorted(v, (low[1], high[1]))
        if i0 == i1 or j0 == j1:
            continue
        x, y = np.meshgrid(u[i0:i1] + nudge[0], v[j0:j1] + nudge[1], indexing="ij")
        (ax, ay, az), (bx, by, bz), (cx, cy, cz) = triangle
        area = (bx - ax) * (cy - ay) - (cx - ax) * (by - ay)
        if area == 0.0:
            continue
        s = ((x - ax) * (cy - ay) - (cx - ax) * (y - ay)) / area
        t = ((bx - ax) * (y - ay) - (x - ax) * (by - ay)) / area
        hit = (s >= 0.0) & (t >= 0.0) & (s + t <= 1.0)
        height = (az + s * (bz - az) + t * (cz - az))[hit]
        above = np.clip(np.ceil((height - w[0]) / step), 0, len(w)).astype(int)
        i, j = np.nonzero(hit)
        np.add.at(count, (i + i0, j + j0, above), 1)
    return np.cumsum(count, axis=2)[:, :, :-1] % 2
