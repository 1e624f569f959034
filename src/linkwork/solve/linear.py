"""Small symmetric systems, solved without loops or square roots."""

from __future__ import annotations

from typing import NamedTuple

from linkwork.ops.protocol import Block, Ops


class Factors(NamedTuple):
    """A = L D Lᵀ: the rows of the unit lower triangle L below its diagonal, and 1 / D."""

    unit: list[list[Block]]
    inverse_d: list[Block]


def factors(a: list[list[Block]]) -> Factors:
    """The factors of a symmetric positive definite matrix, given by the rows of its lower triangle.

    One division a row and no square root.
    Source: Golub and Van Loan, Matrix Computations, 4th ed., algorithm 4.1.2.
    """
    unit: list[list[Block]] = []
    inverse_d: list[Block] = []
    for i, given in enumerate(a):
        row: list[Block] = []  # of L times D
        for j in range(i + 1):
            s = given[j]
            for k in range(j):
                s = s - row[k] * unit[j][k] if j < i else s - row[k] * (row[k] * inverse_d[k])
            row.append(s)
        inverse_d.append(1.0 / row[i])
        unit.append([row[k] * inverse_d[k] for k in range(i)])
    return Factors(unit, inverse_d)


def pivots(a: list[list[Block]]) -> list[Block]:
    """The pivots of a square matrix given by rows, eliminated in its own order.

    They are the ratios of its leading minors, so their signs are those of the symmetric case where
    it is near to a symmetric positive definite matrix.
    """
    a = [list(row) for row in a]
    for k in range(len(a)):
        inverse = 1.0 / a[k][k]
        for i in range(k + 1, len(a)):
            factor = a[i][k] * inverse
            for j in range(k + 1, len(a)):
                a[i][j] = a[i][j] - factor * a[k][j]
    return [row[k] for k, row in enumerate(a)]


def solve_factored(o: Ops, f: Factors, b: Block) -> Block:
    """The solution x (n,) of A x = b (n,)."""
    n = len(f.unit)
    y: list[Block] = []
    for i in range(n):
        s = b[i]
        for k in range(i):
            s = s - f.unit[i][k] * y[k]
        y.append(s)
    x: list[Block] = [y[i] * f.inverse_d[i] for i in range(n)]
    for i in reversed(range(n)):
        for k in range(i + 1, n):
            x[i] = x[i] - f.unit[k][i] * x[k]
    return o.vector(x)
