"""Least squares over the columns of a Jacobian, as expressions: factors, damping, least norm."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from operator import add
from typing import Any, NamedTuple

from linkwork.algorithms.elimination_order import minimum_degree
from linkwork.ops.protocol import Block, Ops

_DAMPING = 0.1
"""Damping in proportion to the squared error: Sugihara, "Solvability-unconcerned inverse kinematics
by the Levenberg-Marquardt method", IEEE Transactions on Robotics 27 (2011)."""
_LEAST_DAMPING = 1.0e-11
MOST_DAMPING_ERROR = 20.0
"""From this squared error on the damping stays: far targets are walked to, not crept to."""


class Factors(NamedTuple):
    """A = L D Lᵀ: the rows of the unit lower triangle L below its diagonal, and 1 / D."""

    unit: list[list[Block]]
    inverse_d: list[Block]


def factors(a: list[list[Block]]) -> Factors:
    """Factors of a symmetric positive definite matrix, given by the rows of its lower triangle.

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


def pivots(a: list[list[Block]]) -> list[Block]:
    """Pivots of a square matrix given by rows, eliminated in its own order.

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


class Elimination(NamedTuple):
    """``dual``: J Jᵀ is factored, its rows in this order; else Jᵀ J, its columns."""

    dual: bool
    order: tuple[int, ...]


class RowBlock(NamedTuple):
    """Rows from ``start`` to ``stop`` - 1, and the columns that they depend on."""

    start: int
    stop: int
    columns: frozenset[int]


def sparse_elimination(blocks: Sequence[RowBlock], columns: int) -> Elimination:
    """The form and the order in which a sparse problem has the fewest products.

    Structural zeros cost nothing in traced code, so it pays to keep them.
    Source: minimum degree (George and Liu, "The evolution of the minimum degree ordering
    algorithm", SIAM Review 31, 1989).
    """
    rows = blocks[-1].stop
    by_column = [
        {i for block in blocks if j in block.columns for i in range(block.start, block.stop)}
        for j in range(columns)
    ]
    by_row = [set(block.columns) for block in blocks for _ in range(block.start, block.stop)]
    primal, cost = minimum_degree(_neighbours(by_row, columns))
    if rows <= columns:
        dual, dual_cost = minimum_degree(_neighbours(by_column, rows))
        if dual_cost < cost:
            return Elimination(dual=True, order=dual)
    return Elimination(dual=False, order=primal)


def _neighbours(groups: Sequence[set[int]], n: int) -> list[set[int]]:
    """For each unknown those that it meets in a group."""
    near: list[set[int]] = [set() for _ in range(n)]
    for group in groups:
        for k in group:
            near[k] |= group - {k}
    return near


def product(columns: Sequence[Block], dx: Sequence[Block]) -> Block:
    """J dx (k,) for J in columns (k,)."""
    terms = [d * column for d, column in zip(dx, columns, strict=True)]
    return sum(terms[1:], terms[0])


class LeastSquares:
    """The dx that makes |J dx - e|² + damping |dx|² least, for a given J and any e.

    J is given as n columns of k rows. Where rows are fewer, J Jᵀ is factored, else Jᵀ J; ``by``
    says the form and the order of the factors where J is sparse. ``squared_error`` is what the
    damping is in proportion to, see `damped`.
    """

    def __init__(
        self,
        o: Ops,
        columns: Sequence[Block],
        rows: int,
        damping: Block | float,
        *,
        by: Elimination | None = None,
        squared_error: Block | float = 0.0,
    ) -> None:
        self._o, self._columns = o, list(columns)
        self.squared_error = squared_error
        self._dual = rows <= len(self._columns) if by is None else by.dual
        self._damping = damping
        size = rows if self._dual else len(self._columns)
        self._order = tuple(range(size)) if by is None else by.order
        lower: list[list[Block]] = []
        for i in range(size):
            row = [self._entry(self._columns, self._order[i], self._order[j]) for j in range(i + 1)]
            row[i] = row[i] + damping
            lower.append(row)
        self._factors = factors(lower)

    def _entry(self, left: Sequence[Block], i: int, j: int) -> Block:
        """An entry of LᵀJ, or of L Jᵀ, for the columns of L."""
        if not self._dual:
            return self._o.dot(left[i], self._columns[j])
        terms = [a[i] * b[j] for a, b in zip(left, self._columns, strict=True)]
        return sum(terms[1:], terms[0])

    def step(self, error: Block) -> list[Block]:
        """The n numbers of dx for the error (k,)."""
        o = self._o
        if self._dual:
            y = self._solved([error[k] for k in range(len(self._order))])
            return [o.dot(column, y) for column in self._columns]
        dx = self._solved([o.dot(column, error) for column in self._columns])
        return [dx[k] for k in range(len(self._columns))]

    def _solved(self, b: Sequence[Block]) -> Block:
        """The unknowns for a right-hand side, both in their own order."""
        o = self._o
        found = solve_factored(o, self._factors, o.vector([b[k] for k in self._order]))
        place = {k: i for i, k in enumerate(self._order)}
        return o.vector([found[place[k]] for k in range(len(self._order))])

    def left_alone(self, dx: Sequence[Block]) -> list[Block]:
        """The part of dx that does not move the rows: dx less the step that would undo J dx."""
        undone = self.step(product(self._columns, dx))
        return [d - u for d, u in zip(dx, undone, strict=True)]

    def least_pivot(self) -> Block:
        """The least pivot: not below the least squared singular value, nor far above it."""
        return 1.0 / reduce(self._o.maximum, self._factors.inverse_d)

    def kept(self, before: Sequence[Block]) -> Block:
        """The share of a Jacobian J_0 of other columns that is left in J: the least over pivots.

        Those of J_0ᵀ J + damping over those of Jᵀ J + damping (J_0 Jᵀ and J Jᵀ where rows are
        fewer): near 1 for a short way from J_0 to J, below 0 once a singularity lies between them,
        near 0 where either is singular in a direction in which the other is not. Directions that
        neither moves, and rows that follow from others in both, count 1.
        """
        rows = [[self._entry(before, i, j) for j in self._order] for i in self._order]
        for i, row in enumerate(rows):
            row[i] = row[i] + self._damping
        pairs = zip(pivots(rows), self._factors.inverse_d, strict=True)
        return reduce(self._o.minimum, [pivot * inverse for pivot, inverse in pairs])

    def rank(self, above: float) -> Block:
        """The number of pivots that are more than so many times the damping."""
        count: Block = self._o.const(0.0)
        most = 1.0 / (above * self._damping)
        for inverse in self._factors.inverse_d:
            count = count + self._o.select(self._o.less(inverse, most), 1.0, 0.0)
        return count


def damped(
    o: Ops,
    columns: Sequence[Block],
    rows: int,
    squared_error: Block,
    most: Block | float = MOST_DAMPING_ERROR,
    *,
    by: Elimination | None = None,
) -> LeastSquares:
    """Least squares with damping in proportion to the squared error, up to ``most`` of that."""
    damping = _DAMPING * o.minimum(squared_error, most) + _LEAST_DAMPING
    return LeastSquares(o, columns, rows, damping, by=by, squared_error=squared_error)


Row = list[Any]


def least_norm(
    o: Ops, rows: Sequence[Sequence[Block]], wanted: Sequence[Block]
) -> tuple[list[Block], Block, Block]:
    """The solution of A x = b where A has full rank, without pivots, and how safe it is.

    Of more equations than unknowns the x of least squares, of fewer the least x. Shapes: ``rows``
    are those of A (m, n), ``wanted`` is b (m,). Gives x (n,), a number below A's least singular
    value (1 / |R⁻¹|, Frobenius), and that over A's norm: digits are lost as that is small, and
    where A has no full rank nothing is finite, or the number is near 0.

    Source: Å. Björck, "Solving linear least squares problems by Gram-Schmidt orthogonalization",
    BIT 7 (1967): modified Gram-Schmidt, with b as one more column.
    """
    columns = [list(column) for column in zip(*rows, strict=True)]
    norm = o.sqrt(_sum([x * x for row in rows for x in row]))
    tall = len(rows) >= len(columns)
    vectors: list[Row] = [list(each) for each in (columns if tall else rows)]
    n, rest = len(vectors), list(wanted)
    q: list[Row] = []  # orthonormal
    r: list[Row] = [[0.0] * n for _ in range(n)]  # upper triangular
    projected: Row = []  # of a tall A what b has along each, of what those before have left
    for j in range(n):
        r[j][j] = o.sqrt(_sum([x * x for x in vectors[j]]))
        q.append([x / r[j][j] for x in vectors[j]])
        for k in range(j + 1, n):
            r[j][k] = _sum([x * y for x, y in zip(q[j], vectors[k], strict=True)])
            vectors[k] = [y - r[j][k] * x for x, y in zip(q[j], vectors[k], strict=True)]
        if tall:
            projected.append(_sum([x * y for x, y in zip(q[j], rest, strict=True)]))
            rest = [y - projected[j] * x for x, y in zip(q[j], rest, strict=True)]
    inverse: list[Row] = [[0.0] * n for _ in range(n)]  # of r, by back substitution
    for j in range(n):
        inverse[j][j] = 1.0 / r[j][j]
        for i in range(j - 1, -1, -1):
            between = _sum([r[i][k] * inverse[k][j] for k in range(i + 1, j + 1)])
            inverse[i][j] = -between * inverse[i][i]
    if tall:
        x = [_sum([inverse[i][j] * projected[j] for j in range(i, n)]) for i in range(n)]
    else:
        y = [_sum([inverse[i][j] * wanted[i] for i in range(j + 1)]) for j in range(n)]
        x = [_sum([q[j][k] * y[j] for j in range(n)]) for k in range(len(columns))]
    upper = [inverse[i][j] for i in range(n) for j in range(i, n)]
    bound = 1.0 / o.sqrt(_sum([x * x for x in upper]))
    return x, bound, bound / norm


def _sum(terms: Sequence[Any]) -> Any:
    return reduce(add, terms)
