"""Least-squares steps inside a box: what a bound stops is made up for by the other joints.

A step that would leave the box has its worst joint put at its bound, and the others do what is
left of the task in the directions that remain. What cannot be done whole is done in part: the step
is made shorter, not bent.

Source: F. Flacco, A. De Luca, O. Khatib, "Control of redundant robots under hard joint
constraints: saturation in the null space", IEEE Transactions on Robotics 31 (2015).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from linkwork.ops.protocol import Block, Ops
from linkwork.solve.expressions import Level
from linkwork.solve.least_squares import LeastSquares, product

LEAST_DAMPING = 1.0e-9
_NEAR, _NEAR_BY_DAMPING = 0.01, 0.1
"""Squared singular values below the first, and this share of the full damping, call for it."""
_SHORT = 0.05
"""A joint stands at a limit where its way on is this much shorter than its way back."""
_AT_BOUND = 1.0e-12
"""What is nearer to a bound stands at it; so that rounding of what rests there stops nothing."""
_NOTHING = 1.0e-30
_FAR = 1.0e300

Mask = Sequence[Block] | None
"""1 for the columns that take part, 0 for those at a bound; None where all take part."""


class Box(NamedTuple):
    """How far each column may go, down and up; None where nothing stops it. 0 is inside."""

    lower: list[Block | None]
    upper: list[Block | None]

    def less(self, o: Ops, done: Sequence[Block]) -> Box:
        """What is left of the box once ``done`` has been gone."""
        lower = [
            None if b is None else o.minimum(b - d, 0.0)
            for b, d in zip(self.lower, done, strict=True)
        ]
        upper = [
            None if b is None else o.maximum(b - d, 0.0)
            for b, d in zip(self.upper, done, strict=True)
        ]
        return Box(lower, upper)

    @property
    def bounded(self) -> list[int]:
        """The columns that something stops."""
        pairs = enumerate(zip(self.lower, self.upper, strict=True))
        return [k for k, (lower, upper) in pairs if lower is not None or upper is not None]


class _Above:
    """The levels above, restricted to the columns of a mask: what leaves them alone."""

    def __init__(self, o: Ops, levels: Sequence[Level], mask: Mask) -> None:
        self._o, self._mask = o, mask
        self._done: list[tuple[Level, LeastSquares]] = []
        for level in levels:
            columns = self.projected(level)
            self._done.append((level, LeastSquares(o, columns, level.rows, LEAST_DAMPING)))

    def left_alone(self, dx: Sequence[Block]) -> list[Block]:
        """dx, made up for by the columns of the mask so that no level above is moved."""
        dx = list(dx)
        for level, solved in self._done:
            undone = solved.step(product(level.columns, dx))
            dx = [d - u for d, u in zip(dx, undone, strict=True)]
        return dx

    def masked(self, dx: Sequence[Block]) -> list[Block]:
        """The part of dx that the mask lets through."""
        if self._mask is None:
            return list(dx)
        return [w * d for w, d in zip(self._mask, dx, strict=True)]

    def projected(self, level: Level) -> list[Block]:
        """The columns of a level for steps that leave all levels above alone."""
        if not self._done:
            return self.masked(level.columns)
        rows = [
            self.left_alone(self.masked([column[i] for column in level.columns]))
            for i in range(level.rows)
        ]
        n = len(level.columns)
        return [self._o.vector([row[k] for row in rows]) for k in range(n)]


class _Best(NamedTuple):
    """The best step so far: its share of the whole, the squared error that it leaves, and whether
    a joint at a limit, rather than its speed, is what makes it short.
    """

    dx: list[Block]
    share: Block
    missed: Block
    stopped: Block


def done_within(
    o: Ops, above: Sequence[Level], level: Level, box: Box, damping: Block, passes: int
) -> list[Block]:
    """The step (n,) inside the box that does the level, in the null space of those above.

    ``damping`` times the error's length damps what is near a singularity, or short of joints.
    """
    n = len(level.columns)
    mask: Mask = None
    fixed: list[Block] = [o.const(0.0)] * n
    squared = o.dot(level.error, level.error)
    most = damping * o.sqrt(squared + _NOTHING) + LEAST_DAMPING
    spare = n - level.rows - sum(each.rows for each in above)
    best: _Best | None = None
    tolerated: Block = o.const(0.0)
    for k in range(max(passes, 1) if box.bounded else 1):
        rest = _Above(o, above, mask)
        columns = rest.projected(level)
        damped = _near_singular(o, columns, level.rows, most) if k <= spare else most
        solved = LeastSquares(o, columns, level.rows, damped)
        whole = solved.step(level.error)
        start = fixed
        if k > 0:
            start = rest.left_alone(fixed)
            undone = solved.step(product(level.columns, start))
            start = [f - u for f, u in zip(start, undone, strict=True)]
        shares = _shares(o, (whole, start), box, mask)
        share = shares.share
        missed_whole = level.error - product(level.columns, _sum(whole, start))
        if best is None:
            tolerated = 2.0 * o.dot(missed_whole, missed_whole) + 1e-4 * squared
        dx = [share * w + f for w, f in zip(whole, start, strict=True)]
        missed = level.error - product(level.columns, dx)
        found = _Best(dx, share, o.dot(missed, missed), shares.stopped)
        if best is None:
            best = found
        else:
            straight = o.negate(o.less(tolerated, o.dot(missed_whole, missed_whole)))
            better = o.both(straight, o.less(best.share, share))
            bent = o.both(best.stopped, o.less(found.missed, 0.999 * best.missed))
            best = _chosen(o, o.both(shares.possible, o.either(better, bent)), found, best)
        mask, fixed = _saturated(o, shares, (whole, mask, fixed), box)
    if best is None:
        return [o.const(0.0)] * n
    if not box.bounded:
        return best.dx
    downhill = _downhill(o, above, level, box)
    taken = o.both(best.stopped, o.less(downhill.missed, best.missed))
    return _chosen(o, taken, downhill, best).dx


def _downhill(o: Ops, above: Sequence[Level], level: Level, box: Box) -> _Best:
    """Down the gradient, without joints that stand at a bound and are pushed against it.

    As far as the error is least along it, in the box. It gets on wherever that is possible at all.
    """
    way: list[Block] = []
    for column, lower, upper in zip(level.columns, box.lower, box.upper, strict=True):
        push = o.dot(column, level.error)
        if upper is not None:
            push = o.select(o.less(_AT_BOUND, upper), push, o.minimum(push, 0.0))
        if lower is not None:
            push = o.select(o.less(lower, -_AT_BOUND), push, o.maximum(push, 0.0))
        way.append(push)
    way = _Above(o, above, None).left_alone(way)
    steepest = product(level.columns, way)
    far = o.dot(steepest, level.error) / (o.dot(steepest, steepest) + _NOTHING)
    whole = [far * w for w in way]
    nothing = [o.const(0.0)] * len(way)
    shares = _shares(o, (whole, nothing), box, None)
    dx = [shares.share * w for w in whole]
    missed = level.error - product(level.columns, dx)
    return _Best(dx, shares.share, o.dot(missed, missed), shares.stopped)


def gone_within(
    o: Ops, above: Sequence[Level], way: Sequence[Block], box: Box, passes: int
) -> list[Block]:
    """As much of a way (n,) as leaves the levels above alone and stays inside the box."""
    mask: Mask = None
    fixed: list[Block] = [o.const(0.0)] * len(way)
    best: list[Block] | None = None
    most: Block = o.const(0.0)
    for _ in range(max(passes, 1) if box.bounded else 1):
        rest = _Above(o, above, mask)
        whole = rest.left_alone(rest.masked(way))
        shares = _shares(o, (whole, fixed), box, mask)
        dx = [shares.share * w for w in whole]
        gone = sum((a * b for a, b in zip(way[1:], dx[1:], strict=True)), way[0] * dx[0])
        if best is None:
            best, most = dx, gone
        else:
            farther = o.less(most, gone)
            best = [o.select(farther, a, b) for a, b in zip(dx, best, strict=True)]
            most = o.maximum(most, gone)
        mask, _ = _saturated(o, shares, (whole, mask, fixed), box)
    return best or []


def _near_singular(o: Ops, columns: Sequence[Block], rows: int, most: Block) -> Block:
    """The damping of a level that has joints enough: none but next to a singularity."""
    pivot = LeastSquares(o, columns, rows, LEAST_DAMPING).least_pivot()
    near = o.maximum(0.0, 1.0 - pivot / (_NEAR + _NEAR_BY_DAMPING * most))
    return LEAST_DAMPING + most * (near * near)


class _Shares(NamedTuple):
    """How much of a step fits: the largest share up to 1, of each column and of all.

    Conditions: whether any share fits, and whether the column that fits least stands at a limit.
    """

    each: list[Block | None]
    share: Block
    possible: Block
    stopped: Block


def _shares(o: Ops, line: tuple[Sequence[Block], Sequence[Block]], box: Box, mask: Mask) -> _Shares:
    """The largest s up to 1 with s a + b in the box, for columns of the mask; line is (a, b)."""
    each: list[Block | None] = []
    at_limit: list[Block] = []
    most: Block = o.const(1.0)
    least: Block = o.const(0.0)
    for k, (a, b, lower, upper) in enumerate(zip(*line, box.lower, box.upper, strict=True)):
        if lower is None and upper is None:
            each.append(None)
            continue
        down, up = _FAR if lower is None else -lower, _FAR if upper is None else upper
        rises = o.less(0.0, a)
        size = o.absolute(a) + _NOTHING
        on, back = o.select(rises, up, down), o.select(rises, down, up)
        gone = o.select(rises, b, -b)
        highest, lowest = (on - gone + _AT_BOUND) / size, -(back + gone + _AT_BOUND) / size
        if mask is not None:
            moves = o.less(0.5, mask[k])
            highest, lowest = o.select(moves, highest, _FAR), o.select(moves, lowest, -_FAR)
        each.append(highest)
        at_limit.append(o.negate(o.less(_SHORT * back + _AT_BOUND, on)))
        most, least = o.minimum(most, highest), o.maximum(least, lowest)
    stopped: Block = o.less(1.0, 0.0)
    for highest, short in zip([x for x in each if x is not None], at_limit, strict=True):
        stopped = o.either(stopped, o.both(short, o.negate(o.less(most, highest))))
    possible = o.negate(o.less(most, least))
    return _Shares(each, o.maximum(most, 0.0), possible, o.both(stopped, o.less(most, 1.0)))


def _saturated(
    o: Ops,
    shares: _Shares,
    state: tuple[Sequence[Block], Mask, Sequence[Block]],
    box: Box,
) -> tuple[list[Block], list[Block]]:
    """The mask and the fixed numbers once the column that fits least stands at its bound."""
    whole, before, last = state
    mask: list[Block] = []
    fixed: list[Block] = []
    full = o.negate(o.less(shares.share, 1.0))
    for k, (a, f) in enumerate(zip(whole, last, strict=True)):
        own, lower, upper = shares.each[k], box.lower[k], box.upper[k]
        w: Block = 1.0 if before is None else before[k]
        if own is None:
            mask.append(o.const(w))
            fixed.append(f)
            continue
        worst = o.negate(o.either(full, o.less(shares.share, own)))
        bound = o.select(
            o.less(0.0, a), 0.0 if upper is None else upper, 0.0 if lower is None else lower
        )
        mask.append(o.select(worst, 0.0, w))
        fixed.append(o.select(worst, bound, f))
    return mask, fixed


def _sum(a: Sequence[Block], b: Sequence[Block]) -> list[Block]:
    return [x + y for x, y in zip(a, b, strict=True)]


def _chosen(o: Ops, condition: Block, a: _Best, b: _Best) -> _Best:
    return _Best(
        [o.select(condition, x, y) for x, y in zip(a.dx, b.dx, strict=True)],
        o.select(condition, a.share, b.share),
        o.select(condition, a.missed, b.missed),
        o.either(o.both(condition, a.stopped), o.both(o.negate(condition), b.stopped)),
    )
