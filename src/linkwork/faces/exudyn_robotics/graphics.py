"""Dictionaries of points, triangles and colours that exudyn draws, by its names.

Each has the key ``type``, and flat arrays: ``points`` and ``normals`` x y z for each point,
``colors`` red green blue opacity for each point, ``triangles`` three numbers of points. Any version
of exudyn takes these; programs without exudyn find this module under the name exudyn.graphics.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from linkwork.errors import InputError
from linkwork.spatial.rotations import align_z

Floats = NDArray[np.float64]
GraphicsData = dict[str, Any]


color = SimpleNamespace(
    red=[1.0, 0.0, 0.0, 1.0],
    green=[0.0, 1.0, 0.0, 1.0],
    blue=[0.0, 0.0, 1.0, 1.0],
    cyan=[0.0, 1.0, 1.0, 1.0],
    magenta=[1.0, 0.0, 1.0, 1.0],
    yellow=[1.0, 1.0, 0.0, 1.0],
    orange=[1.0, 0.5, 0.0, 1.0],
    pink=[1.0, 0.0, 0.5, 1.0],
    lawngreen=[0.5, 1.0, 0.0, 1.0],
    springgreen=[0.0, 1.0, 0.5, 1.0],
    violet=[0.5, 0.0, 1.0, 1.0],
    dodgerblue=[0.0, 0.5, 1.0, 1.0],
    lightred=[0.9, 0.4, 0.4, 1.0],
    lightgreen=[0.4, 0.9, 0.4, 1.0],
    steelblue=[0.4, 0.4, 0.9, 1.0],
    brown=[0.65, 0.2, 0.2, 1.0],
    black=[0.0, 0.0, 0.0, 1.0],
    darkgrey=[0.2, 0.2, 0.2, 1.0],
    darkgrey2=[0.35, 0.35, 0.35, 1.0],
    grey=[0.5, 0.5, 0.5, 1.0],
    lightgrey=[0.7, 0.7, 0.7, 1.0],
    lightgrey2=[0.85, 0.85, 0.85, 1.0],
    white=[1.0, 1.0, 1.0, 1.0],
    default=[-1.0, -1.0, -1.0, -1.0],
)
"""Colours as red, green, blue and opacity from 0 to 1."""

colorList = [
    color.red, color.green, color.blue, color.cyan, color.magenta, color.yellow, color.orange,
    color.pink, color.lawngreen, color.violet, color.springgreen, color.dodgerblue, color.grey,
    color.darkgrey, color.lightgrey, color.brown,
]  # fmt: skip
"""Colours to go through, one for each part."""


def Brick(
    centerPoint: ArrayLike = (0.0, 0.0, 0.0),
    size: ArrayLike = (0.1, 0.1, 0.1),
    color: Sequence[float] = color.black,
) -> GraphicsData:
    """A block of a size (3,) along the axes, m."""
    signs = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], np.float64)
    corners = np.asarray(centerPoint, np.float64) + signs / 2.0 * np.asarray(size, np.float64)
    points, normals, triangles = list[Floats](), list[Floats](), list[list[int]]()
    for axis in range(3):
        for side in (-1.0, 1.0):
            n = 4 * len(points)
            points.append(corners[signs[:, axis] == side][[0, 1, 3, 2]])
            normals.append(np.tile(side * np.eye(3)[axis], (4, 1)))
            outward = (side > 0) == (axis == 1)
            a, b = (1, 2) if outward else (2, 1)
            triangles += [[n, n + a, n + b], [n, n + a + 1, n + b + 1]]
    return _triangles(np.concatenate(points), np.array(triangles), color, np.concatenate(normals))


def Cylinder(
    pAxis: ArrayLike = (0.0, 0.0, 0.0),
    vAxis: ArrayLike = (0.0, 0.0, 1.0),
    radius: float = 0.1,
    color: Sequence[float] = color.black,
    nTiles: int = 16,
) -> GraphicsData:
    """A cylinder from a point along an axis, which is as long as it, with flat ends.

    Raises: InputError (a ValueError) for fewer than 3 tiles.
    """
    if nTiles < 3:
        raise InputError(f"a cylinder has at least 3 tiles, not {nTiles}")
    start, along = np.asarray(pAxis, np.float64), np.asarray(vAxis, np.float64)
    R = align_z(along) if along.any() else np.eye(3)
    angles = 2.0 * math.pi * np.arange(nTiles) / nTiles
    out = np.stack([np.cos(angles), np.sin(angles), 0.0 * angles], axis=1) @ R.T
    low = start + float(radius) * out
    up = np.tile(R[:, 2], (nTiles, 1))
    points = np.concatenate([low, low + along, low, low + along])
    normals = np.concatenate([out, out, -up, up])
    k = np.arange(nTiles)
    after, fan = (k + 1) % nTiles, k[1:-1]
    sides = np.concatenate(
        [
            np.stack([k, after, nTiles + after], axis=1),
            np.stack([k, nTiles + after, nTiles + k], axis=1),
        ]
    )
    first = np.zeros_like(fan)
    ends = np.concatenate(
        [
            np.stack([first, fan + 1, fan], axis=1) + 2 * nTiles,
            np.stack([first, fan, fan + 1], axis=1) + 3 * nTiles,
        ]
    )
    return _triangles(points, np.concatenate([sides, ends]), color, normals)


def Sphere(
    point: ArrayLike = (0.0, 0.0, 0.0),
    radius: float = 0.1,
    color: Sequence[float] = color.black,
    nTiles: int = 8,
) -> GraphicsData:
    """A sphere about a point, of ``nTiles`` rings.

    Raises: InputError (a ValueError) for fewer than 3 tiles.
    """
    if nTiles < 3:
        raise InputError(f"a sphere has at least 3 tiles, not {nTiles}")
    around = 2 * nTiles
    height, angle = np.meshgrid(
        np.linspace(0.0, math.pi, nTiles + 1), 2.0 * math.pi * np.arange(around) / around,
        indexing="ij",
    )  # fmt: skip
    normals = np.stack(
        [np.sin(height) * np.cos(angle), np.sin(height) * np.sin(angle), np.cos(height)], axis=-1
    ).reshape(-1, 3)
    ring, k = (grid.ravel() for grid in np.meshgrid(np.arange(nTiles), np.arange(around)))
    a, b = ring * around + k, ring * around + (k + 1) % around
    triangles = np.concatenate(
        [np.stack([a, a + around, b], axis=1), np.stack([b, a + around, b + around], axis=1)]
    )
    points = np.asarray(point, np.float64) + radius * normals
    return _triangles(points, triangles, color, normals)


def CheckerBoard(
    point: ArrayLike = (0.0, 0.0, 0.0),
    normal: ArrayLike = (0.0, 0.0, 1.0),
    size: float = 1.0,
    color: Sequence[float] = color.lightgrey,
    alternatingColor: Sequence[float] = color.lightgrey2,
    nTiles: int = 10,
) -> GraphicsData:
    """A square of ``size`` about a point, of tiles in two colours."""
    R = align_z(np.asarray(normal, np.float64))
    width = size / nTiles
    square = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [1.0, 1.0, 0.0], [0.0, 1.0, 0.0]])
    points, colors = list[Floats](), list[Sequence[float]]()
    for i in range(nTiles):
        for j in range(nTiles):
            corner = np.array([i * width - size / 2.0, j * width - size / 2.0, 0.0])
            points.append(square * width + corner)
            colors += [alternatingColor if (i + j) % 2 else color] * 4
    corners = 4 * np.arange(nTiles**2)[:, None]
    triangles = np.concatenate([corners + np.array([0, 1, 2]), corners + np.array([0, 2, 3])])
    placed = np.asarray(point, np.float64) + np.concatenate(points) @ R.T
    made = _triangles(placed, triangles, color, np.tile(R[:, 2], (len(placed), 1)))
    return made | {"colors": np.ravel(colors).astype(np.float64)}


def Basis(
    origin: ArrayLike = (0.0, 0.0, 0.0),
    rotationMatrix: ArrayLike = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)),
    length: float = 1.0,
    colors: Sequence[Sequence[float]] = (color.red, color.green, color.blue),
    radius: float = 0.01,
) -> GraphicsData:
    """The axes of a frame: x red, y green, z blue."""
    place, R = np.asarray(origin, np.float64), np.asarray(rotationMatrix, np.float64)
    return _together([Cylinder(place, length * R[:, k], radius, colors[k]) for k in range(3)])


def Lines(pList: ArrayLike, color: Sequence[float] = color.black) -> GraphicsData:
    """A line through points (n, 3)."""
    return {"type": "Line", "color": list(color), "data": np.ravel(pList).tolist()}


def Move(g: GraphicsData, pOff: ArrayLike, Aoff: ArrayLike) -> GraphicsData:
    """Data, turned by a rotation (3, 3) and then moved by a vector (3,); the given ones stay."""
    offset, R = np.asarray(pOff, np.float64), np.asarray(Aoff, np.float64)
    moved = dict(g)
    for key in ("points", "data", "position", "normals", "normal"):
        if key in g:
            vectors = np.asarray(g[key], np.float64)
            turned = vectors.reshape(-1, 3) @ R.T
            if not key.startswith("normal"):
                turned += offset
            moved[key] = turned.reshape(vectors.shape)
    return moved


def _triangles(
    points: Floats, triangles: NDArray[np.int64], shade: Sequence[float], normals: Floats
) -> GraphicsData:
    return {
        "type": "TriangleList",
        "points": points.ravel(),
        "colors": np.tile(np.asarray(shade, np.float64), len(points)),
        "normals": normals.ravel(),
        "triangles": triangles.ravel(),
    }


def _together(parts: Sequence[GraphicsData]) -> GraphicsData:
    """One list of triangles out of several."""
    counts = np.cumsum([0, *[len(part["points"]) // 3 for part in parts]])
    found: GraphicsData = {
        key: np.concatenate([part[key] for part in parts])
        for key in ("points", "colors", "normals")
    }
    numbers = [part["triangles"] + n for part, n in zip(parts, counts, strict=False)]
    return {"type": "TriangleList", **found, "triangles": np.concatenate(numbers)}
