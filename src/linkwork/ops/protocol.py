"""The operations that every algorithm is written in, and nothing else.

A *block* is a scalar, an n-vector or an m x n matrix of one back end: a NumPy array, expressions of
a graph, dual numbers over another back end, or a JAX array. The operators ``+ - * /`` (equal
shapes, or a scalar with a block), unary ``-``, ``@`` (matrix-matrix, matrix-vector), ``v[i]`` and
``A[i, j]`` (integers only) mean the same on all of them; everything else goes through the methods
below. A plain number may stand for a scalar anywhere, and an integer means the float. There is no
broadcasting, no ellipsis and no batch dimension: a batch is the business of whoever runs the
algorithm.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol, TypeAlias

Block: TypeAlias = Any
"""A scalar, vector or matrix of one back end."""

Condition: TypeAlias = Any
"""The truth value that `less` returns; only `both`, `either`, `negate` and `select` take it."""


class Ops(Protocol):
    """One back end. The conformance suite in tests/ops pins what each method means."""

    name: str

    def const(self, value: Any) -> Block:
        """A float64 scalar (), vector (n,) or matrix (m, n) as a block; exact zeros vanish."""
        ...

    def vector(self, scalars: Sequence[Block]) -> Block:
        """N scalars (or floats) as a vector (n,)."""
        ...

    def matrix(self, columns: Sequence[Block]) -> Block:
        """N vectors (m,) as the columns of a matrix (m, n)."""
        ...

    def concat(self, vectors: Sequence[Block]) -> Block:
        """Vectors end to end."""
        ...

    def part(self, v: Block, start: int, stop: int) -> Block:
        """Elements start to stop - 1 of a vector, as a vector."""
        ...

    def column(self, a: Block, j: int) -> Block:
        """Column j of a matrix (m, n) as a vector (m,)."""
        ...

    def row(self, a: Block, i: int) -> Block:
        """Row i of a matrix (m, n) as a vector (n,)."""
        ...

    def transpose(self, a: Block) -> Block:
        """The transposed matrix."""
        ...

    def dot(self, a: Block, b: Block) -> Block:
        """The inner product of two vectors, a scalar."""
        ...

    def cross(self, a: Block, b: Block) -> Block:
        """The cross product of two 3-vectors."""
        ...

    def outer(self, a: Block, b: Block) -> Block:
        """The matrix a bᵀ of two vectors (m,), (n,)."""
        ...

    def sin(self, x: Block) -> Block:
        """Sine of a scalar, radians."""
        ...

    def cos(self, x: Block) -> Block:
        """Cosine of a scalar, radians."""
        ...

    def atan2(self, y: Block, x: Block) -> Block:
        """The angle of the point (x, y) in (-pi, pi]."""
        ...

    def sqrt(self, x: Block) -> Block:
        """The square root of a scalar."""
        ...

    def floor(self, x: Block) -> Block:
        """The largest whole number not above a scalar."""
        ...

    def absolute(self, x: Block) -> Block:
        """The absolute value of a scalar."""
        ...

    def minimum(self, a: Block, b: Block) -> Block:
        """The smaller of two scalars."""
        ...

    def maximum(self, a: Block, b: Block) -> Block:
        """The larger of two scalars."""
        ...

    def less(self, a: Block, b: Block) -> Condition:
        """Whether a < b, for scalars."""
        ...

    def both(self, a: Condition, b: Condition) -> Condition:
        """Whether a and b hold."""
        ...

    def either(self, a: Condition, b: Condition) -> Condition:
        """Whether a or b holds."""
        ...

    def negate(self, a: Condition) -> Condition:
        """Whether a does not hold."""
        ...

    def select(self, condition: Condition, a: Block, b: Block) -> Block:
        """A where the condition holds, b elsewhere. Both are computed: make both finite first."""
        ...
