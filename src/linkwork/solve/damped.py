"""Damped least squares over the columns of a Jacobian, and moves that leave its rows alone."""

from __future__ import annotations

from collections.abc import Sequence

from linkwork.ops.protocol import Block, Ops
from linkwork.solve.elimination import Elimination
from linkwork.solve.linear import factors, pivots, solve_factored

_DAMPING = 0.1
"""Damping in proportion to the squared error: Sugihara, "Solvability-unconcerned inverse kinematics
by the Levenberg-Marquardt method", IEEE Transactions on Robotics 27 (2011)."""
_LEAST_DAMPING = 1.0e-11
MOST_DAMPING_ERROR = 20.0
"""From this squared error on the damping stays: far targets are walked to, not crept to."""


class Damped:
    """The step dx that makes |J dx - e|² + damping |dx|² least, for a given J and any e.

    J is given as n columns of k rows. Where rows are fewer, J Jᵀ is factored, else Jᵀ J.
    ``squared_error`` is what the damping is in proportion to, up to ``most``.
    """

    def __init__(
        self,
        o: Ops,
        columns: Sequence[Block],
        rows: int,
        squared_error: Block,
        most: Block | float = MOST_DAMPING_ERROR,
        *,
        by: Elimination | None = None,
    ) -> None:
        """``by``: the form and the order of the factors where J is sparse."""
        self._o, self._columns = o, list(columns)
        self.squared_error = squared_error
        self._dual = rows <= len(self._columns) if by is None else by.dual
        bounded = o.minimum(squared_error, most)
        self._damping = damping = _DAMPING * bounded + _LEAST_DAMPING
        size = rows if self._dual else len(self._columns)
        self._order = tuple(range(size)) if by is None else by.order
        lower: list[list[Block]] = []
        for i in range(size):
            row = [self._entry(self._order[i], self._order[j]) for j in range(i + 1)]
            row[i] = row[i] + damping
            lower.append(row)
        self._factors = factors(lower)

    def _entry(self, i: int, j: int) -> Block:
        if not self._dual:
            return self._o.dot(self._columns[i], self._columns[j])
        terms = [column[i] * column[j] for column in self._columns]
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

    def moved(self, dx: Sequence[Block]) -> Block:
        """J dx (k,)."""
        terms = [d * column for d, column in zip(dx, self._columns, strict=True)]
        return sum(terms[1:], terms[0])

    def kept(self, before: Sequence[Block]) -> Block:
        """How much of a Jacobian of other columns J_0 is left in J: the least over all pivots.

        Those of J_0ᵀ J + damping over those of Jᵀ J + damping (J_0 Jᵀ and J Jᵀ where rows are
        fewer): near 1 for a short way from J_0 to J, below 0 once a singularity lies between them,
        near 0 where either is singular in a direction in which the other is not. Directions that
        neither moves, and rows that follow from others in both, count 1.
        """
        size = len(self._order)
        rows = [
            [self._product(before, self._order[i], self._order[j]) for j in range(size)]
            for i in range(size)
        ]
        for i in range(size):
            rows[i][i] = rows[i][i] + self._damping
        shares = [
            pivot * inverse
            for pivot, inverse in zip(pivots(rows), self._factors.inverse_d, strict=True)
        ]
        least = shares[0]
        for share in shares[1:]:
            least = self._o.minimum(least, share)
        return least

    def rank(self, above: float) -> Block:
        """How many pivots are more than so many times the damping."""
        count: Block = self._o.const(0.0)
        most = 1.0 / (above * self._damping)
        for inverse in self._factors.inverse_d:
            count = count + self._o.select(self._o.less(inverse, most), 1.0, 0.0)
        return count

    def _product(self, before: Sequence[Block], i: int, j: int) -> Block:
        """An entry of J_0ᵀ J, or of J_0 Jᵀ."""
        if not self._dual:
            return self._o.dot(before[i], self._columns[j])
        terms = [a[i] * b[j] for a, b in zip(before, self._columns, strict=True)]
        return sum(terms[1:], terms[0])

    def left_alone(self, dx: Sequence[Block]) -> list[Block]:
        """What of dx does not move the rows: dx less the step that would undo J dx."""
        undone = self.step(self.moved(dx))
        return [d - u for d, u in zip(dx, undone, strict=True)]
