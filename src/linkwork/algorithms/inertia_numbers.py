"""Inertias as the six numbers ixx ixy ixz iyy iyz izz, each a constant or a block."""

from __future__ import annotations

from collections.abc import Sequence

from linkwork.algorithms.axes import Rotation, Scalar, applied, times, total

PLACES = ((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2))
"""Row and column of each of the six numbers."""


def of_point(mass: Scalar, at: Sequence[Scalar]) -> list[Scalar]:
    """The inertia of a point mass at a point, about the origin: m (p·p 1 - p pᵀ)."""
    x, y, z = at
    moments = [times(mass, x), times(mass, y), times(mass, z)]
    xx, yy, zz = (times(a, b) for a, b in zip(moments, at, strict=True))
    xy, xz, yz = times(moments[0], y), times(moments[0], z), times(moments[1], z)
    return [total([yy, zz]), -xy, -xz, total([xx, zz]), -yz, total([xx, yy])]


def turned(R: Rotation, six: Sequence[Scalar]) -> list[Scalar]:
    """The same inertia along other axes, R I Rᵀ."""
    rows = matrix(six)
    half = [applied(R, row) for row in rows]  # row k: R times column k, since I is symmetric
    whole = [applied(R, [half[k][i] for k in range(3)]) for i in range(3)]
    return [whole[i][j] for i, j in PLACES]


def matrix(six: Sequence[Scalar]) -> list[list[Scalar]]:
    """The symmetric matrix (3, 3) of the six numbers, as rows."""
    xx, xy, xz, yy, yz, zz = six
    return [[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]
