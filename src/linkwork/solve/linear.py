"""Small symmetric systems, solved without loops or square roots."""

from __future__ import annotations

from linkwork.ops.protocol import Block, Ops


def solve_positive_definite(o: Ops, a: Block, b: Block, n: int) -> Block:
    """The solution x (n,) of A x = b for a symmetric positive definite A (n, n).

    A = L D Lᵀ with unit lower triangular L: one division a row and no square root. Only the lower
    triangle of A is read.

    Source: Golub and Van Loan, Matrix Computations, 4th ed., algorithm 4.1.2.
    """
    scaled: list[list[Block]] = []  # row i of L times D
    unit: list[list[Block]] = []  # row i of L
    inverse_d: list[Block] = []
    for i in range(n):
        row: list[Block] = []
        for j in range(i + 1):
            s = a[i, j]
            for k in range(j):
                s = s - row[k] * unit[j][k] if j < i else s - row[k] * (row[k] * inverse_d[k])
            row.append(s)
        inverse_d.append(1.0 / row[i])
        scaled.append(row)
        unit.append([row[k] * inverse_d[k] for k in range(i)])
    y: list[Block] = []
    for i in range(n):
        s = b[i]
        for k in range(i):
            s = s - unit[i][k] * y[k]
        y.append(s)
    x: list[Block] = [y[i] * inverse_d[i] for i in range(n)]
    for i in reversed(range(n)):
        for k in range(i + 1, n):
            x[i] = x[i] - unit[k][i] * x[k]
    return o.vector(x)
