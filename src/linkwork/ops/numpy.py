"""The operations on NumPy arrays: one configuration, float64, slow and exact.

This is the reference that the other back ends and the compiled kernels are tested against.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linkwork.ops.protocol import Block, Condition, Ops


def _of_scalars(name: str) -> Callable[..., Block]:
    """A method that is the library's function of this name."""

    def method(self: ArrayOps, *scalars: Block) -> Block:
        return getattr(self.xp, name)(*map(self.scalar, scalars))

    return method


class ArrayOps:
    """The operations that a library of arrays has by NumPy's names: those of NumPy and of JAX."""

    xp: Any = np  # the library

    def scalar(self, x: Block) -> Block:
        """A number in float64, also an integer: nothing depends on how it was typed."""
        return np.float64(x)

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

    sin = _of_scalars("sin")
    cos = _of_scalars("cos")
    atan2 = _of_scalars("arctan2")
    sqrt = _of_scalars("sqrt")
    floor = _of_scalars("floor")
    absolute = _of_scalars("abs")
    minimum = _of_scalars("minimum")
    maximum = _of_scalars("maximum")

    def less(self, a: Block, b: Block) -> Condition:
        """Whether a < b, as the library's bool."""
        return self.xp.less(a, b)

    def both(self, a: Condition, b: Condition) -> Condition:
        return self.xp.logical_and(a, b)

    def either(self, a: Condition, b: Condition) -> Condition:
        return self.xp.logical_or(a, b)

    def negate(self, a: Condition) -> Condition:
        return self.xp.logical_not(a)


class NumpyOps(ArrayOps):
    """NumPy's meaning of each operation; scalars are ``numpy.float64``."""

    name = "numpy"

    def const(self, value: Any) -> Block:
        """The value in float64: a scalar as ``numpy.float64``, else an array of its own."""
        array = np.array(value, dtype=np.float64)
        return array if array.ndim else array[()]

    def vector(self, scalars: Sequence[Block]) -> Block:
        return np.array(scalars, dtype=np.float64)

    def matrix(self, columns: Sequence[Block]) -> Block:
        """The vectors as columns, in a C-ordered array."""
        return np.stack([np.asarray(column, dtype=np.float64) for column in columns], axis=1)

    def concat(self, vectors: Sequence[Block]) -> Block:
        return np.concatenate([np.asarray(v, dtype=np.float64) for v in vectors])

    def dot(self, a: Block, b: Block) -> Block:
        return np.dot(a, b)

    def cross(self, a: Block, b: Block) -> Block:
        a0, a1, a2 = a
        b0, b1, b2 = b
        return self.vector([a1 * b2 - a2 * b1, a2 * b0 - a0 * b2, a0 * b1 - a1 * b0])

    def outer(self, a: Block, b: Block) -> Block:
        return np.outer(a, b)

    def select(self, condition: Condition, a: Block, b: Block) -> Block:
        """One of the two; the other has been computed all the same."""
        chosen: NDArray[np.float64] = np.asarray(a if condition else b, dtype=np.float64)
        return chosen if chosen.ndim else chosen[()]


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
        return sum(x * y for x, y in zip(a, b, strict=True))

    sin: Any = staticmethod(math.sin)
    cos: Any = staticmethod(math.cos)
    atan2: Any = staticmethod(math.atan2)
    sqrt: Any = staticmethod(math.sqrt)

    def less(self, a: Block, b: Block) -> Condition:
        return a < b

    def select(self, condition: Condition, a: Block, b: Block) -> Block:
        return a if condition else b


PLAIN: Ops = PlainOps()
"""The back end of Python's floats."""
