"""Normals that make curved faces look smooth and edges sharp."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

CREASE = math.radians(30.0)
"""Faces that meet at a larger angle meet at an edge."""

_MOST_AROUND = 128
"""Faces around one vertex, above which each keeps its own normal: pairs of them are looked at."""


class Shaded(NamedTuple):
    """Vertices with a normal each: ``source`` (n,) are the vertices that they were made of."""

    source: Ints
    normals: Floats
    faces: Ints


def creased(vertices: ArrayLike, faces: ArrayLike, angle: float = CREASE) -> Shaded:
    """Vertices (n, 3) split where faces (k, 3) meet at more than ``angle`` (rad), with normals.

    The normal at a corner is the mean, by area, of the faces around the vertex that are within the
    angle of the corner's own face.
    """
    points, corners = np.asarray(vertices, np.float64), np.asarray(faces, np.int64)
    a, b, c = (points[corners[:, k]] for k in range(3))
    weighted = np.cross(b - a, c - a)
    length = np.linalg.norm(weighted, axis=1)
    unit = weighted / np.where(length > 0, length, 1.0)[:, None]
    flat = corners.reshape(-1)
    face_of = np.repeat(np.arange(len(corners)), 3)
    order = np.argsort(flat, kind="stable")
    vertex, face = flat[order], face_of[order]
    start, count = np.unique(vertex, return_index=True, return_counts=True)[1:]
    sums = weighted[face].copy()
    near = count <= _MOST_AROUND
    for size in np.unique(count[near & (count > 1)]):  # all vertices with as many faces at once
        rows = start[count == size][:, None] + np.arange(size)
        own = unit[face[rows]]
        alike = np.einsum("nik,njk->nij", own, own) >= math.cos(angle) - 1e-9
        alike |= np.eye(size, dtype=bool)
        sums[rows] = np.einsum("nij,njk->nik", alike.astype(np.float64), weighted[face[rows]])
    size = np.linalg.norm(sums, axis=1)
    normals = np.where(size[:, None] > 0, sums / np.where(size > 0, size, 1.0)[:, None], (0, 0, 1))
    key = np.concatenate([vertex[:, None], np.round(normals * 1024).astype(np.int64)], axis=1)
    _, first, number = np.unique(key, axis=0, return_index=True, return_inverse=True)
    made = np.zeros(len(flat), np.int64)
    made[order] = number.reshape(-1)
    return Shaded(vertex[first], normals[first], made.reshape(-1, 3))
