"""Whether the surfaces of two meshes cut each other: exact for triangles, whatever their shape."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_BLOCK = 16
"""Triangles that share a box."""
_AT_ONCE = 100_000
"""Pairs that are looked at together: they bound the memory."""


def meshes_intersect(
    mesh_a: Any, mesh_b: Any, T_a_b: ArrayLike | None = None, *, tolerance: float = 1e-12
) -> bool:
    """Whether a triangle of one mesh meets one of the other; to touch within ``tolerance`` (m) is.

    The meshes have ``vertices`` (n, 3), m, and ``faces`` (k, 3); ``T_a_b`` (4, 4) is the pose of
    the second in the frame of the first. A mesh that lies within the other, free of its surface,
    does not meet it.
    """
    T = np.eye(4) if T_a_b is None else np.asarray(T_a_b, np.float64)
    a = _triangles(mesh_a)
    b = _triangles(mesh_b) @ T[:3, :3].T + T[:3, 3]
    for _ in range(2):  # what is far from all of the other mesh is not looked at
        if not (len(a) and len(b)):
            return False
        a = a[_meet(_boxes(a), _box(b), tolerance)]
        if len(a):
            b = b[_meet(_boxes(b), _box(a), tolerance)]
    if not (len(a) and len(b)):
        return False
    a, b = _sorted(a), _sorted(b)
    return any(
        _edges_meet(a[k], b[m], tolerance) or _edges_meet(b[m], a[k], tolerance)
        for k, m in _near_pairs(a, b, tolerance)
    )


def _triangles(mesh: Any) -> Floats:
    """The corners (k, 3, 3) of the faces."""
    return np.asarray(mesh.vertices, np.float64)[np.asarray(mesh.faces, np.int64)]


def _boxes(triangles: Floats) -> Floats:
    """Lower and upper corners (k, 2, 3) of boxes around triangles."""
    a, b, c = (triangles[:, k] for k in range(3))  # a reduction of three is slow
    low = np.minimum(np.minimum(a, b), c)
    return np.stack([low, np.maximum(np.maximum(a, b), c)], axis=1)


def _box(triangles: Floats) -> Floats:
    """The box (2, 3) around all triangles."""
    points = triangles.reshape(-1, 3)
    return np.stack([points.min(axis=0), points.max(axis=0)])


def _meet(one: Floats, other: Floats, tolerance: float) -> NDArray[np.bool_]:
    """Whether boxes (..., 2, 3) overlap."""
    found: Any = True
    for axis in range(3):
        found = found & (one[..., 0, axis] <= other[..., 1, axis] + tolerance)
        found = found & (other[..., 0, axis] <= one[..., 1, axis] + tolerance)
    return np.asarray(found)


def _sorted(triangles: Floats) -> Floats:
    """Triangles in an order in which neighbours in space are mostly neighbours in the list."""
    centres = triangles.mean(axis=1)
    low, size = centres.min(axis=0), np.ptp(centres, axis=0).max()
    cells = ((centres - low) / (size or 1.0) * 1023).astype(np.int64)
    code = np.zeros(len(cells), np.int64)  # Morton's order: the bits of x, y and z in turn
    for bit in range(10):
        for axis in range(3):
            code |= ((cells[:, axis] >> bit) & 1) << (3 * bit + axis)
    return triangles[np.argsort(code, kind="stable")]


def _near_pairs(a: Floats, b: Floats, tolerance: float) -> Iterator[tuple[Ints, Ints]]:
    """Numbers of triangles of both whose boxes overlap, by blocks of triangles whose boxes do."""
    boxes_a, boxes_b = _boxes(a), _boxes(b)
    blocks_a, blocks_b = _blocks(boxes_a), _blocks(boxes_b)
    rows = max(1, _AT_ONCE // len(blocks_b))
    for first in range(0, len(blocks_a), rows):
        some = blocks_a[first : first + rows]
        k, m = np.nonzero(_meet(some[:, None], blocks_b[None], tolerance))
        step = max(1, _AT_ONCE // _BLOCK**2)
        for start in range(0, len(k), step):
            own = (k[start : start + step] + first)[:, None] * _BLOCK + np.arange(_BLOCK)
            others = m[start : start + step][:, None] * _BLOCK + np.arange(_BLOCK)
            i = np.repeat(own, _BLOCK, axis=1).ravel()
            j = np.tile(others, _BLOCK).ravel()
            inside = (i < len(a)) & (j < len(b))
            i, j = i[inside], j[inside]
            near = _meet(boxes_a[i], boxes_b[j], tolerance)
            if near.any():
                yield i[near], j[near]


def _blocks(boxes: Floats) -> Floats:
    """The boxes (n, 2, 3) of blocks of triangles."""
    starts = np.arange(0, len(boxes), _BLOCK)
    low = np.minimum.reduceat(boxes[:, 0], starts)
    return np.stack([low, np.maximum.reduceat(boxes[:, 1], starts)], axis=1)


def _edges_meet(edges_of: Floats, triangles: Floats, tolerance: float) -> bool:
    """Whether an edge of a triangle (n, 3, 3) meets the triangle that goes with it (n, 3, 3).

    Edges that lie in the plane of the triangle are left out: where two surfaces share a plane,
    edges across it meet them.
    """
    sides = np.roll(triangles, -1, axis=1) - triangles
    normal = np.cross(sides[:, 0], sides[:, 1])
    length = np.linalg.norm(normal, axis=1)
    solid = length > 0.0
    if not solid.all():  # triangles without an area have no inside; their neighbours share the edge
        edges_of, triangles, sides = edges_of[solid], triangles[solid], sides[solid]
        normal, length = normal[solid], length[solid]
    normal = normal / length[:, None]
    height = np.einsum("nkj,nj->nk", edges_of - triangles[:, :1], normal)
    for k in range(3):
        h0, h1 = height[:, k], height[:, (k + 1) % 3]
        crosses = (np.minimum(h0, h1) <= tolerance) & (np.maximum(h0, h1) >= -tolerance)
        crosses &= np.abs(h0 - h1) > tolerance
        at = np.flatnonzero(crosses)
        if not at.size:
            continue
        start, stop = edges_of[at, k], edges_of[at, (k + 1) % 3]
        share = np.clip(h0[at] / (h0[at] - h1[at]), 0.0, 1.0)[:, None]
        point = (start + share * (stop - start))[:, None] - triangles[at]
        inward = np.einsum("nkj,nj->nk", np.cross(sides[at], point), normal[at])
        allowed = -tolerance * np.linalg.norm(sides[at], axis=2)
        if (inward >= allowed).all(axis=1).any():
            return True
    return False
