"""Vectors and rotations as plain lists of numbers, each a constant or a block.

The recursions of dynamics are written in single numbers: so each product with a structural zero is
left out, a signed permutation costs nothing, and terms that only some bodies have cost only
there. A constant is a Python float, as in `axes.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from linkwork.algorithms.axes import (
    Rotation,
    Scalar,
    added,
    is_constant,
    is_constant_rotation,
    is_zero,
)

Triple: TypeAlias = list[Scalar]
"""Three numbers: a vector's components along the axes of one frame."""

Rows: TypeAlias = list[list[Scalar]]
"""A matrix as its rows."""


def zeros() -> Triple:
    """The vector that is zero by structure."""
    return [0.0, 0.0, 0.0]


def negated(a: Scalar) -> Scalar:
    """``-a``; the constant 0 stays itself."""
    return 0.0 if is_zero(a) else -a


def times(a: Scalar, b: Scalar) -> Scalar:
    """The product; the constants 0, 1 and -1 make none."""
    if is_zero(a) or is_zero(b):
        return 0.0
    for one, other in ((a, b), (b, a)):
        if is_constant(one, 1.0):
            return other
        if is_constant(one, -1.0):
            return -other
    return a * b


def less(a: Scalar, b: Scalar) -> Scalar:
    """``a - b``; the constant 0 costs nothing."""
    if is_zero(b):
        return a
    return -b if is_zero(a) else a - b


def plus(a: Sequence[Scalar], b: Sequence[Scalar]) -> list[Scalar]:
    """The sum of two vectors."""
    return list(map(added, a, b))


def minus(a: Sequence[Scalar], b: Sequence[Scalar]) -> list[Scalar]:
    """The difference of two vectors."""
    return list(map(less, a, b))


def scaled(factor: Scalar, a: Sequence[Scalar]) -> list[Scalar]:
    """A vector times a number."""
    return [times(factor, x) for x in a]


def total(values: Sequence[Scalar]) -> Scalar:
    """The sum, left to right."""
    at: Scalar = 0.0
    for value in values:
        at = added(at, value)
    return at


def dot(a: Sequence[Scalar], b: Sequence[Scalar]) -> Scalar:
    """The inner product."""
    return total(list(map(times, a, b)))


def cross(a: Sequence[Scalar], b: Sequence[Scalar]) -> Triple:
    """The cross product."""
    (a0, a1, a2), (b0, b1, b2) = a, b
    return [
        less(times(a1, b2), times(a2, b1)),
        less(times(a2, b0), times(a0, b2)),
        less(times(a0, b1), times(a1, b0)),
    ]


def plus_applied(start: Sequence[Scalar], rows: Rows, v: Sequence[Scalar]) -> list[Scalar]:
    """``start + rows v``, summed so that every product has a sum to be fused with."""
    return [total([at, *map(times, row, v)]) for at, row in zip(start, rows, strict=True)]


def plus_cross(start: Sequence[Scalar], a: Sequence[Scalar], b: Sequence[Scalar]) -> Triple:
    """``start + a x b``, summed so that every product has a sum to be fused with."""
    (a0, a1, a2), (b0, b1, b2), (x, y, z) = a, b, start
    return [
        less(added(x, times(a1, b2)), times(a2, b1)),
        less(added(y, times(a2, b0)), times(a0, b2)),
        less(added(z, times(a0, b1)), times(a1, b0)),
    ]


def applied(rows: Rows, v: Sequence[Scalar]) -> list[Scalar]:
    """A matrix times a vector."""
    return [dot(row, v) for row in rows]


def flipped(rows: Rows) -> Rows:
    """The transposed matrix."""
    return [list(column) for column in zip(*rows, strict=True)]


def rows_of(R: Rotation) -> Rows:
    """A rotation (3, 3), constant or a block, as rows."""
    if is_constant_rotation(R):
        return [list(row) for row in R]
    return [[R[i, j] for j in range(3)] for i in range(3)]
