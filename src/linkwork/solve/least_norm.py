"""The least velocities that come nearest to a twist, as straight-line text without pivots."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from operator import add
from typing import Any

from linkwork.ops.protocol import Block, Ops

Row = list[Any]


def least_norm(
    o: Ops, rows: Sequence[Sequence[Block]], wanted: Sequence[Block]
) -> tuple[list[Block], Block, Block]:
    """Solve A x = b where A has full rank, and say how safe that is.

    Of more equations than unknowns the x of least squares, of fewer the least x. Shapes: ``rows``
    are those of A (m, n), ``wanted`` is b (m,). Gives x (n,), a number below A's least singular
    value (1 / |R^-1|, Frobenius), and that over A's norm: digits are lost as that is small, and
    where A has no full rank nothing is finite, or the number is near 0.

    Source: Å. Björck, "Solving linear least squares problems by Gram-Schmidt orthogonalization",
    BIT 7 (1967): modified Gram-Schmidt, with b as one more column.
    """
    columns = [list(column) for column in zip(*rows, strict=True)]
    norm = o.sqrt(_sum([x * x for row in rows for x in row]))
    tall = len(rows) >= len(columns)
    vectors = columns if tall else [list(row) for row in rows]
    rest = list(wanted)
    q, r, projected = _orthogonal(o, vectors, rest)
    inverse = _inverse(r)
    n = len(vectors)
    if tall:
        x = [_sum([inverse[i][j] * projected[j] for j in range(i, n)]) for i in range(n)]
    else:
        y = [_sum([inverse[i][j] * wanted[i] for i in range(j + 1)]) for j in range(n)]
        x = [_sum([q[j][k] * y[j] for j in range(n)]) for k in range(len(columns))]
    upper = [inverse[i][j] for i in range(n) for j in range(i, n)]
    bound = 1.0 / o.sqrt(_sum([x * x for x in upper]))
    return x, bound, bound / norm


def _orthogonal(o: Ops, vectors: list[Row], rest: Row) -> tuple[list[Row], list[Row], Row]:
    """Orthonormal vectors, R (upper, rows), and the products of ``rest`` with them in turn.

    The vectors are used up; each product is taken of what the ones before have left.
    """
    n = len(vectors)
    q: list[Row] = []
    r: list[Row] = [[0.0] * n for _ in range(n)]
    projected: Row = []
    along_rest = len(rest) == len(vectors[0])
    for j in range(n):
        r[j][j] = o.sqrt(_sum([x * x for x in vectors[j]]))
        q.append([x / r[j][j] for x in vectors[j]])
        for k in range(j + 1, n):
            r[j][k] = _sum([x * y for x, y in zip(q[j], vectors[k], strict=True)])
            vectors[k] = [y - r[j][k] * x for x, y in zip(q[j], vectors[k], strict=True)]
        if along_rest:
            projected.append(_sum([x * y for x, y in zip(q[j], rest, strict=True)]))
            rest = [y - projected[j] * x for x, y in zip(q[j], rest, strict=True)]
    return q, r, projected


def _inverse(r: list[Row]) -> list[Row]:
    """Of an upper triangular matrix, by back substitution."""
    n = len(r)
    found: list[Row] = [[0.0] * n for _ in range(n)]
    for j in range(n):
        found[j][j] = 1.0 / r[j][j]
        for i in range(j - 1, -1, -1):
            across = _sum([r[i][k] * found[k][j] for k in range(i + 1, j + 1)])
            found[i][j] = -across * found[i][i]
    return found


def _sum(terms: Sequence[Any]) -> Any:
    return reduce(add, terms)
