"""The operations on CasADi's ``SX``, for whoever evaluates an algorithm on symbols of their own.

A vector is an n x 1 ``SX`` and a scalar 1 x 1. Exact zeros of constants are left out of the
sparsity, so products skip them; an element that is left out reads as an empty 1 x 1 ``SX``, which
behaves as the number 0. ``MX`` is never used: its nodes are whole matrices.

Tracing time is a matter of how often Python calls CasADi and by which door: ``SX.unary`` and
``SX.binary`` take 1 us where the functions of the same names take 9 us to tell overloads apart.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from linkwork import extras
from linkwork.ops.protocol import Block, Condition, Ops

ca = extras.casadi()
SX: Any = ca.SX
_FILL_LIMIT = 6  # up to this many parts, filling non-zeros one by one beats one `vertcat`


class CasadiOps:
    """CasADi's meaning of each operation, on ``SX`` alone."""

    name = "casadi"

    def const(self, value: Any) -> Block:
        """The value without its exact zeros; equal constants share one ``SX``."""
        if isinstance(value, SX):
            return value
        array = np.asarray(value, dtype=np.float64)
        if array.ndim == 0:
            return _constant_scalar(float(array))
        return _constant(array.shape, array.tobytes())

    def vector(self, scalars: Sequence[Block]) -> Block:
        """The scalars below each other; structural zeros stay structural."""
        parts = [self.const(s) if isinstance(s, (int, float)) else s for s in scalars]
        if len(parts) > _FILL_LIMIT or not all(isinstance(s, SX) for s in parts):
            return ca.vertcat(*(self.const(s) for s in parts))
        kept = tuple(i for i, s in enumerate(parts) if s.nnz())
        if not kept:
            return SX(len(parts), 1)
        result = SX(_column_pattern(len(parts), kept), parts[kept[0]])
        for k, i in enumerate(kept[1:], start=1):
            result.set_nz(parts[i], False, k)
        return result

    def matrix(self, columns: Sequence[Block]) -> Block:
        """The vectors beside each other."""
        return ca.horzcat(*(self.const(column) for column in columns))

    def concat(self, vectors: Sequence[Block]) -> Block:
        """The vectors below each other."""
        return ca.vertcat(*(self.const(v) for v in vectors))

    def part(self, v: Block, start: int, stop: int) -> Block:
        """The elements start to stop - 1."""
        return v[start:stop]

    def column(self, a: Block, j: int) -> Block:
        """Column j."""
        return a[:, j]

    def row(self, a: Block, i: int) -> Block:
        """Row i, as a column vector."""
        return a[i, :].T

    def transpose(self, a: Block) -> Block:
        """The transposed matrix."""
        return a.T

    def dot(self, a: Block, b: Block) -> Block:
        """The inner product."""
        return ca.dot(a, b)

    def cross(self, a: Block, b: Block) -> Block:
        """The cross product of 3-vectors; products with structural zeros are not built."""
        return ca.cross(a, b)

    def outer(self, a: Block, b: Block) -> Block:
        """The matrix a bᵀ."""
        return ca.mtimes(a, self.const(b).T)

    def sin(self, x: Block) -> Block:
        """Sine."""
        return SX.unary(ca.OP_SIN, x)

    def cos(self, x: Block) -> Block:
        """Cosine."""
        return SX.unary(ca.OP_COS, x)

    def atan2(self, y: Block, x: Block) -> Block:
        """The angle of (x, y)."""
        return SX.binary(ca.OP_ATAN2, y, x)

    def sqrt(self, x: Block) -> Block:
        """Square root."""
        return SX.unary(ca.OP_SQRT, x)

    def floor(self, x: Block) -> Block:
        """The largest whole number not above x."""
        return SX.unary(ca.OP_FLOOR, x)

    def absolute(self, x: Block) -> Block:
        """Absolute value."""
        return SX.unary(ca.OP_FABS, x)

    def minimum(self, a: Block, b: Block) -> Block:
        """The smaller one."""
        return SX.binary(ca.OP_FMIN, a, b)

    def maximum(self, a: Block, b: Block) -> Block:
        """The larger one."""
        return SX.binary(ca.OP_FMAX, a, b)

    def less(self, a: Block, b: Block) -> Condition:
        """Whether a < b, as 0 or 1."""
        return SX.binary(ca.OP_LT, a, b)

    def both(self, a: Condition, b: Condition) -> Condition:
        """Whether both hold."""
        return SX.binary(ca.OP_AND, a, b)

    def either(self, a: Condition, b: Condition) -> Condition:
        """Whether one of them holds."""
        return SX.binary(ca.OP_OR, a, b)

    def negate(self, a: Condition) -> Condition:
        """Whether it does not hold."""
        return SX.unary(ca.OP_NOT, a)

    def select(self, condition: Condition, a: Block, b: Block) -> Block:
        """``(c ? a : 0) + (!c ? b : 0)``: both sides stand in the graph."""
        first = SX.binary(ca.OP_IF_ELSE_ZERO, condition, self.const(a))
        second = SX.binary(ca.OP_IF_ELSE_ZERO, SX.unary(ca.OP_NOT, condition), self.const(b))
        return SX.binary(ca.OP_ADD, first, second)


@lru_cache(maxsize=4096)
def _constant_scalar(value: float) -> Any:
    return SX(value) if value else SX(1, 1)


@lru_cache(maxsize=4096)
def _constant(shape: tuple[int, ...], data: bytes) -> Any:
    """A vector or matrix without its zeros; the key is the bits, so -0.0 is a key of its own."""
    n_rows, n_columns = shape if len(shape) == 2 else (shape[0], 1)
    # CasADi counts column after column
    flat: Any = np.frombuffer(data, dtype=np.float64)
    values = flat.reshape(n_rows, n_columns).T.ravel()
    kept = values != 0
    pattern = _pattern(n_rows, n_columns, kept.tobytes())
    return SX(pattern, SX(values[kept].tolist())) if pattern.nnz() else SX(pattern)


@lru_cache(maxsize=4096)
def _pattern(n_rows: int, n_columns: int, kept: bytes) -> Any:
    """The sparsity in which ``kept``, one byte an element and column after column, is not zero."""
    mask: Any = np.frombuffer(kept, dtype=np.bool_)
    columns, rows = np.nonzero(mask.reshape(n_columns, n_rows))
    return ca.Sparsity.triplet(n_rows, n_columns, rows.tolist(), columns.tolist())


@lru_cache(maxsize=4096)
def _column_pattern(n: int, kept: tuple[int, ...]) -> Any:
    return ca.Sparsity.triplet(n, 1, list(kept), [0] * len(kept))


CASADI: Ops = CasadiOps()
"""The CasADi back end."""
