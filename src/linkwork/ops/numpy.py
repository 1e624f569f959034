"""The operations on NumPy arrays: one configuration, float64, slow and exact.

This is the reference that the other back ends and the compiled kernels are tested against.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linkwork.ops.protocol import Block, Condition, Ops


class NumpyOps:
    """NumPy's meaning of each operation; scalars are ``numpy.float64``."""

    name = "numpy"

    def const(self, value: Any) -> Block:
        """The value in float64: a scalar as ``numpy.float64``, else an array of its own."""
        array = np.array(value, dtype=np.float64)
        return array if array.ndim else array[()]

    def vector(self, scalars: Sequence[Block]) -> Block:
        """The scalars as an array (n,)."""
        return np.array(scalars, dtype=np.float64)

    def matrix(self, columns: Sequence[Block]) -> Block:
        """The vectors as columns, in a C-ordered array."""
        return np.stack([np.asarray(column, dtype=np.float64) for column in columns], axis=1)

    def concat(self, vectors: Sequence[Block]) -> Block:
        """The vectors end to end."""
        return np.concatenate([np.asarray(v, dtype=np.float64) for v in vectors])

    def part(self, v: Block, start: int, stop: int) -> Block:
        """A view of the elements start to stop - 1."""
        return v[start:stop]

    def column(self, a: Block, j: int) -> Block:
        """A view of column j."""
        return a[:, j]

    def row(self, a: Block, i: int) -> Block:
        """A view of row i."""
        return a[i, :]

    def transpose(self, a: Block) -> Block:
        """A transposed view."""
        return a.T

    def dot(self, a: Block, b: Block) -> Block:
        """The inner product."""
        return np.dot(a, b)

    def cross(self, a: Block, b: Block) -> Block:
        """The cross product of 3-vectors."""
        a0, a1, a2 = a
        b0, b1, b2 = b
        return self.vector([a1 * b2 - a2 * b1, a2 * b0 - a0 * b2, a0 * b1 - a1 * b0])

    def outer(self, a: Block, b: Block) -> Block:
        """The matrix a bᵀ."""
        return np.outer(a, b)

    def sin(self, x: Block) -> Block:
        """Sine."""
        return np.sin(_scalar(x))

    def cos(self, x: Block) -> Block:
        """Cosine."""
        return np.cos(_scalar(x))

    def atan2(self, y: Block, x: Block) -> Block:
        """The angle of (x, y)."""
        return np.arctan2(_scalar(y), _scalar(x))

    def sqrt(self, x: Block) -> Block:
        """Square root."""
        return np.sqrt(_scalar(x))

    def floor(self, x: Block) -> Block:
        """The largest whole number not above x."""
        return np.floor(_scalar(x))

    def absolute(self, x: Block) -> Block:
        """Absolute value."""
        return np.abs(_scalar(x))

    def minimum(self, a: Block, b: Block) -> Block:
        """The smaller one."""
        return np.minimum(_scalar(a), _scalar(b))

    def maximum(self, a: Block, b: Block) -> Block:
        """The larger one."""
        return np.maximum(_scalar(a), _scalar(b))

    def less(self, a: Block, b: Block) -> Condition:
        """Whether a < b, as ``numpy.bool``."""
        return np.less(a, b)

    def both(self, a: Condition, b: Condition) -> Condition:
        """Whether both hold."""
        return np.logical_and(a, b)

    def either(self, a: Condition, b: Condition) -> Condition:
        """Whether one of them holds."""
        return np.logical_or(a, b)

    def negate(self, a: Condition) -> Condition:
        """Whether it does not hold."""
        return np.logical_not(a)

    def select(self, condition: Condition, a: Block, b: Block) -> Block:
        """One of the two; the other has been computed all the same."""
        chosen: NDArray[np.float64] = np.asarray(a if condition else b, dtype=np.float64)
        return chosen if chosen.ndim else chosen[()]


def _scalar(x: Block) -> Block:
    """Integers become float64, so that no operation depends on how a number was typed."""
    return np.float64(x)


NUMPY: Ops = NumpyOps()
"""The NumPy back end."""


class PlainOps(NumpyOps):
    """The same on Python's floats, for formulas of a few scalars, several times quicker.

    Vectors and matrices that are made are lists, without arithmetic; those that are given may be
    arrays. Sines and cosines are the C library's, whose bits do not depend on the processor as
    those of NumPy's vectorised ones do. A division by zero raises ZeroDivisionError.
    """

    name = "plain"

    def const(self, value: Any) -> Block:
        """Floats, in lists where there are several."""
        return np.asarray(value, dtype=np.float64).tolist()

    def vector(self, scalars: Sequence[Block]) -> Block:
        """The scalars as a list."""
        return list(scalars)

    def matrix(self, columns: Sequence[Block]) -> Block:
        """The rows in a list."""
        return [list(row) for row in zip(*columns, strict=True)]

    def dot(self, a: Block, b: Block) -> Block:
        """The inner product."""
        return sum(x * y for x, y in zip(a, b, strict=True))

    def sin(self, x: Block) -> Block:
        """Sine."""
        return math.sin(x)

    def cos(self, x: Block) -> Block:
        """Cosine."""
        return math.cos(x)

    def atan2(self, y: Block, x: Block) -> Block:
        """The angle of (x, y)."""
        return math.atan2(y, x)

    def sqrt(self, x: Block) -> Block:
        """Square root."""
        return math.sqrt(x)

    def less(self, a: Block, b: Block) -> Condition:
        """Whether a < b."""
        return a < b

    def select(self, condition: Condition, a: Block, b: Block) -> Block:
        """One of the two."""
        return a if condition else b


PLAIN: Ops = PlainOps()
"""The back end of Python's floats."""
