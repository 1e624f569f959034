"""Numbers, vectors and rotations as plain lists of numbers, each a constant or a block.

Algorithms are written in single numbers: so each product with a structural zero is left out, a
signed permutation costs nothing, and terms that only some bodies have cost only there. A constant
is a Python float; a block is a number of a back end (`linkwork.ops`), whatever its value.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, TypeAlias

import numpy as np

from linkwork.ops.protocol import Block, Ops

Scalar = Block
"""A float (a constant) or a scalar block."""

Vector3: TypeAlias = list[Scalar]
"""Three numbers: a vector's components along the axes of one frame."""

Rows: TypeAlias = list[list[Scalar]]
"""A matrix as its rows."""

Rotation: TypeAlias = Any
"""A rotation (3, 3): rows of floats in lists (a constant), or a block."""

# ---------------------------------------------------------------------------------------- numbers


def is_zero(value: Scalar) -> bool:
    """Whether a number is the constant 0; a block never is, nor is a float of NumPy's."""
    return type(value) is float and value == 0.0


def all_constant(values: Iterable[Scalar]) -> bool:
    """Whether all of these numbers are constants."""
    return all(type(value) is float for value in values)


def negated(a: Scalar) -> Scalar:
    """``-a``; the constant 0 stays itself."""
    return 0.0 if is_zero(a) else -a


def times(a: Scalar, b: Scalar) -> Scalar:
    """The product; the constants 0, 1 and -1 make none."""
    for one, other in ((a, b), (b, a)):
        if type(one) is float:
            if one == 0.0:
                return 0.0
            if one == 1.0:
                return other
            if one == -1.0:
                return negated(other)
    return a * b


def added(a: Scalar, b: Scalar) -> Scalar:
    """The sum; the constant 0 costs nothing."""
    if is_zero(a):
        return b
    return a if is_zero(b) else a + b


def less(a: Scalar, b: Scalar) -> Scalar:
    """``a - b``; the constant 0 costs nothing."""
    if is_zero(b):
        return a
    return -b if is_zero(a) else a - b


def total(values: Iterable[Scalar]) -> Scalar:
    """The sum, left to right."""
    at: Scalar = 0.0
    for value in values:
        at = added(at, value)
    return at


def as_vector(o: Ops, values: Iterable[Scalar]) -> Block:
    """Numbers as a vector, which may be empty."""
    found = list(values)
    return o.vector(found) if found else o.const(np.zeros(0))


# ---------------------------------------------------------------------------------------- vectors


def zeros() -> Vector3:
    """The vector that is zero by structure."""
    return [0.0, 0.0, 0.0]


def plus(a: Sequence[Scalar], b: Sequence[Scalar]) -> list[Scalar]:
    """The sum of two vectors."""
    return list(map(added, a, b))


def minus(a: Sequence[Scalar], b: Sequence[Scalar]) -> list[Scalar]:
    """The difference of two vectors."""
    return list(map(less, a, b))


def scaled(factor: Scalar, a: Sequence[Scalar]) -> list[Scalar]:
    """A vector times a number."""
    return [times(factor, x) for x in a]


def dot(a: Sequence[Scalar], b: Sequence[Scalar]) -> Scalar:
    """The inner product."""
    return total(map(times, a, b))


def cross(a: Sequence[Scalar], b: Sequence[Scalar]) -> Vector3:
    """The cross product."""
    return plus_cross(zeros(), a, b)


def plus_cross(start: Sequence[Scalar], a: Sequence[Scalar], b: Sequence[Scalar]) -> Vector3:
    """``start + a x b``, summed so that every product has a sum to be fused with."""
    (a0, a1, a2), (b0, b1, b2), (x, y, z) = a, b, start
    return [
        less(added(x, times(a1, b2)), times(a2, b1)),
        less(added(y, times(a2, b0)), times(a0, b2)),
        less(added(z, times(a0, b1)), times(a1, b0)),
    ]


# --------------------------------------------------------------------------------------- matrices


def applied(rows: Rows, v: Sequence[Scalar]) -> list[Scalar]:
    """A matrix times a vector."""
    return [dot(row, v) for row in rows]


def plus_applied(start: Sequence[Scalar], rows: Rows, v: Sequence[Scalar]) -> list[Scalar]:
    """``start + rows v``, summed so that every product has a sum to be fused with."""
    return [total([at, *map(times, row, v)]) for at, row in zip(start, rows, strict=True)]


def transposed(rows: Rows) -> Rows:
    """The transposed matrix."""
    return [list(column) for column in zip(*rows, strict=True)]


def product(a: Rows, b: Rows) -> Rows:
    """The product of two matrices."""
    return transposed([applied(a, column) for column in transposed(b)])


def symmetric(six: Sequence[Scalar]) -> Rows:
    """The symmetric matrix (3, 3) of its numbers xx xy xz yy yz zz."""
    xx, xy, xz, yy, yz, zz = six
    return [[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]


def is_constant_rotation(R: Rotation) -> bool:
    """Whether a rotation is a constant: lists; all else is a block, whatever its value."""
    return type(R) is list


def rows_of(R: Rotation) -> Rows:
    """A rotation (3, 3), constant or a block, as rows."""
    if is_constant_rotation(R):
        return [list(row) for row in R]
    return [[R[i, j] for j in range(3)] for i in range(3)]


def is_signed_permutation(rows: Rows) -> bool:
    """Whether a rotation is a constant that only swaps or reverses axes."""
    return all(all_constant(row) and sorted(map(abs, row)) == [0.0, 0.0, 1.0] for row in rows)
