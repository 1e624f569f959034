"""The step of a controller, as expressions: inside all limits, bent as little as may be.

What a bound stops is made up for by the other joints: a step that would leave the box of the limits
has its worst joint put at its bound, and the others do what is left of the task in the directions
that remain. What cannot be done whole is done in part: the step is made shorter, not bent.

Source: F. Flacco, A. De Luca, O. Khatib, "Control of redundant robots under hard joint
constraints: saturation in the null space", IEEE Transactions on Robotics 31 (2015).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal, NamedTuple

from linkwork.algorithms.configuration import difference
from linkwork.compile.recipe import Recipe, expression_recipe
from linkwork.ops.protocol import Block, Ops
from linkwork.solve.expressions import (
    Level,
    descent,
    free_columns,
    level_of,
    parameters_of,
    pressed,
    seen_at,
)
from linkwork.solve.joint_update import JointUpdate, clamped, times
from linkwork.solve.least_squares import LeastSquares, damped, product
from linkwork.solve.limits import Interval
from linkwork.solve.problem import Problem

LEAST_DAMPING = 1.0e-9
_NEAR, _NEAR_BY_DAMPING = 0.01, 0.1
"""Squared singular values below the first, and this share of the full damping, call for it."""
_SHORT = 0.05
"""A joint stands at a limit where its way on is this much shorter than its way back."""
_AT_BOUND = 1.0e-12
"""A column nearer to its bound stands at it, so that rounding of what rests stops nothing."""
_NOTHING = 1.0e-30
_FAR = 1.0e300

Mask = Sequence[Block] | None
"""1 for the columns that take part, 0 for those at a bound; None where all take part."""


class Box(NamedTuple):
    """The ends of each column, down and up; None where nothing stops it. 0 is inside."""

    lower: list[Block | None]
    upper: list[Block | None]

    def less(self, o: Ops, done: Sequence[Block]) -> Box:
        """The rest of the box once ``done`` has been gone."""
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
    count = max(passes, 1) if box.bounded else 1
    for k in range(count):
        rest = _Above(o, above, mask)
        columns = rest.projected(level)
        level_damping = most
        if k <= spare:  # joints enough: damped next to a singularity only
            pivot = LeastSquares(o, columns, level.rows, LEAST_DAMPING).least_pivot()
            level_damping = _damping_near(o, pivot, most)
        solved = LeastSquares(o, columns, level.rows, level_damping)
        whole = solved.step(level.error)
        start = fixed
        if k > 0:
            start = rest.left_alone(fixed)
            undone = solved.step(product(level.columns, start))
            start = [f - u for f, u in zip(start, undone, strict=True)]
        shares = _shares(o, (whole, start), box, mask)
        share = shares.share
        dx = [w + f for w, f in zip(whole, start, strict=True)]
        missed_whole = level.error - product(level.columns, dx)
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
        mask, fixed = _saturated(o, shares, (whole, mask, fixed), box, last=k == count - 2)
    if best is None:
        return [o.const(0.0)] * n
    if not box.bounded:
        return best.dx
    downhill = _downhill(o, above, level, box, most)
    taken = o.both(best.stopped, o.less(downhill.missed, best.missed))
    return _chosen(o, taken, downhill, best).dx


def _damping_near(o: Ops, squared: Block, most: Block) -> Block:
    """The damping where this is the least squared singular value: ``most`` at a singularity."""
    near = o.maximum(0.0, 1.0 - squared / (_NEAR + _NEAR_BY_DAMPING * most))
    return LEAST_DAMPING + most * (near * near)


def _downhill(o: Ops, above: Sequence[Level], level: Level, box: Box, most: Block) -> _Best:
    """Down the gradient, without joints that stand at a bound and are pushed against it.

    As far as the error is least along it, in the box. It gets on wherever that is possible at all.
    Where the way next to a singularity hardly moves the level, ``most`` damps it.
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
    length = sum((w * w for w in way[1:]), way[0] * way[0]) + _NOTHING
    squared = o.dot(steepest, steepest)
    damped = squared + _damping_near(o, squared / length, most) * length
    far = o.dot(steepest, level.error) / (damped + _NOTHING)
    whole = [far * w for w in way]
    nothing = [o.const(0.0)] * len(way)
    shares = _shares(o, (whole, nothing), box, None)
    dx = [shares.share * w for w in whole]
    missed = level.error - product(level.columns, dx)
    return _Best(dx, shares.share, o.dot(missed, missed), shares.stopped)


def gone_within(
    o: Ops, above: Sequence[Level], way: Sequence[Block], box: Box, passes: int
) -> list[Block]:
    """The part of a way (n,) that leaves the levels above alone and stays inside the box."""
    mask: Mask = None
    fixed: list[Block] = [o.const(0.0)] * len(way)
    best: list[Block] | None = None
    most: Block = o.const(0.0)
    count = max(passes, 1) if box.bounded else 1
    for k in range(count):
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
        mask, _ = _saturated(o, shares, (whole, mask, fixed), box, last=k == count - 2)
    return best or []


class _Shares(NamedTuple):
    """The share of a step that fits: the largest up to 1, of each column and of all.

    Conditions: whether each column stands at the bound that it is driven to, whether any share
    fits, and whether the column that fits least stands at a limit.
    """

    each: list[Block | None]
    stands: list[Block | None]
    share: Block
    possible: Block
    stopped: Block


def _shares(o: Ops, line: tuple[Sequence[Block], Sequence[Block]], box: Box, mask: Mask) -> _Shares:
    """The largest s up to 1 with s a + b in the box, for columns of the mask; line is (a, b)."""
    each: list[Block | None] = []
    stands: list[Block | None] = []
    at_limit: list[Block] = []
    most: Block = o.const(1.0)
    least: Block = o.const(0.0)
    for k, (a, b, lower, upper) in enumerate(zip(*line, box.lower, box.upper, strict=True)):
        if lower is None and upper is None:
            each.append(None)
            stands.append(None)
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
        stands.append(o.both(o.less(on - gone, _AT_BOUND), o.less(highest, 1.0)))
        at_limit.append(o.negate(o.less(_SHORT * back + _AT_BOUND, on)))
        most, least = o.minimum(most, highest), o.maximum(least, lowest)
    stopped: Block = o.less(1.0, 0.0)
    for highest, short in zip([x for x in each if x is not None], at_limit, strict=True):
        stopped = o.either(stopped, o.both(short, o.negate(o.less(most, highest))))
    possible = o.negate(o.less(most, least))
    return _Shares(each, stands, o.maximum(most, 0.0), possible, o.both(stopped, o.less(most, 1.0)))


def _saturated(
    o: Ops,
    shares: _Shares,
    state: tuple[Sequence[Block], Mask, Sequence[Block]],
    box: Box,
    *,
    last: bool,
) -> tuple[list[Block], list[Block]]:
    """The mask and the fixed numbers once the column that fits least stands at its bound.

    Before the ``last`` pass those that stand at theirs are stopped together: one of them that goes
    on would leave nothing of the step.
    """
    whole, before, gone = state
    mask: list[Block] = []
    fixed: list[Block] = []
    full = o.negate(o.less(shares.share, 1.0))
    for k, (a, f) in enumerate(zip(whole, gone, strict=True)):
        own, stands, lower, upper = shares.each[k], shares.stands[k], box.lower[k], box.upper[k]
        w: Block = 1.0 if before is None else before[k]
        if own is None or stands is None:
            mask.append(o.const(w))
            fixed.append(f)
            continue
        worst = o.negate(o.either(full, o.less(shares.share, own)))
        if last:
            worst = o.either(worst, o.both(stands, o.negate(full)))
        bound = o.select(
            o.less(0.0, a), 0.0 if upper is None else upper, 0.0 if lower is None else lower
        )
        mask.append(o.select(worst, 0.0, w))
        fixed.append(o.select(worst, bound, f))
    return mask, fixed


def _chosen(o: Ops, condition: Block, a: _Best, b: _Best) -> _Best:
    return _Best(
        [o.select(condition, x, y) for x, y in zip(a.dx, b.dx, strict=True)],
        o.select(condition, a.share, b.share),
        o.select(condition, a.missed, b.missed),
        o.either(o.both(condition, a.stopped), o.both(o.negate(condition), b.stopped)),
    )


Output = Literal["q", "v"]

_CORRECTIONS = 3
"""Corrections of what a step opens: steps of up to a tenth of a radian are closed by two."""
_EXTRA_SETTINGS = 3
"""dt, gain and damping, after the settings of the problem's layout."""
_PASSES = 4
"""Joints that may be put at their bounds, one after the other, while a step is made."""
_LATER_PASSES = 2  # of lower priorities and objectives
_LEVEL_WEIGHT = 0.1
"""The weight of a priority beside the one above where a change has to be bent."""
UNBOUNDED = 1.0e30
_MOST_LOST = 0.1
"""The share of what a priority gains by a step that those below it may cost it."""
_NO_LOSS = 1.0e-14
_LONGEST_ERROR = 1.5
"""Radians: errors that are longer are gone towards, not all at once."""
_MOST_ROWS_SOLVED = 8
"""Levels below the first with more rows and more joints than this go down their gradient."""


def step_recipe(problem: Problem, output: Output) -> Recipe:
    """One step: (q, what is given, settings) -> the next q (nq,), or the velocity (nv,).

    The last three settings are dt, gain and damping. What is no rigid pose gives NaN. Where loops
    are to be closed, two numbers follow: how far they are open after the step, and before it.
    """

    def step(o: Ops, q: Block, *blocks: Block) -> dict[str, Block]:
        update, faults = _begun(o, problem, q, blocks[:-1], blocks[-1])
        x = o.vector([q[k] for k in problem.moved])
        after, moves = controlled(update, x)
        return {output: _answer(update, output, q, after, moves, faults)}

    key = ("differential inverse kinematics", output, *problem.key)
    return expression_recipe(key, f"step_{output}", _sizes(problem), step)


def rows_recipe(problem: Problem) -> Recipe:
    """The tasks' rows: (q, start, what is given, settings) -> what a step is to do, in one vector.

    First the least and the most that the change of each column may be (n,) and (n,), where nothing
    stops it -`UNBOUNDED` and `UNBOUNDED`, the way down the objectives (n,), then the errors that a
    step is to remove (k,) and the columns (n k,), where each priority is weighted by what it counts
    beside those below.
    """

    def rows(o: Ops, q: Block, start: Block, *blocks: Block) -> dict[str, Block]:
        update, _ = _begun(o, problem, start, blocks[:-1], blocks[-1])
        x = o.vector([q[k] for k in problem.moved])
        here = update.configuration(x)
        levels = _weighted(*_levels(update, here, 1.0))
        box = _box(update, x, update.reach(here))
        values = _ends(box)
        down = descent(update, here) if problem.objectives else [0.0] * len(update.unit)
        values += down
        values += [level.error[i] for level in levels for i in range(level.rows)]
        values += [
            level.columns[k][i]
            for k in range(len(problem.moved_v))
            for level in levels
            for i in range(level.rows)
        ]
        return {"rows": o.vector([o.const(0.0) + value for value in values])}

    sizes = _sizes(problem)
    sizes = {"q": sizes.pop("q"), "start": problem.mechanism.n_q, **sizes}
    sizes["settings"] = problem.layout.n_settings
    key = ("differential inverse kinematics", "rows", *problem.key)
    return expression_recipe(key, "step_rows", sizes, rows)


def taken_recipe(problem: Problem, output: Output) -> Recipe:
    """A step by a given change (n,): (q, what is given, change, settings) -> as `step_recipe`."""

    def take(o: Ops, q: Block, *blocks: Block) -> dict[str, Block]:
        *given, change, settings = blocks
        update, faults = _begun(o, problem, q, given, settings)
        x = o.vector([q[k] for k in problem.moved])
        moves = [times(u, change[k]) for k, u in enumerate(update.unit)]
        after = taken(update, x, moves, update.reach(update.configuration(x)))
        return {output: _answer(update, output, q, after, moves, faults)}

    sizes = _sizes(problem)
    settings = sizes.pop("settings")
    sizes = {**sizes, "change": len(problem.moved_v), "settings": settings}
    key = ("differential inverse kinematics", f"taken {output}", *problem.key)
    return expression_recipe(key, f"taken_{output}", sizes, take)


def _ends(box: Box) -> list[Block]:
    """The lower and then the upper bounds."""
    lower: list[Block] = [-UNBOUNDED if b is None else b for b in box.lower]
    return lower + [UNBOUNDED if b is None else b for b in box.upper]


def _sizes(problem: Problem) -> dict[str, int]:
    return {
        "q": problem.mechanism.n_q,
        **{f"given_{k}": math.prod(each.shape) for k, each in enumerate(problem.inputs)},
        "settings": problem.layout.n_settings + _EXTRA_SETTINGS,
    }


def _begun(
    o: Ops, problem: Problem, q: Block, given: Sequence[Block], settings: Block
) -> tuple[JointUpdate, Sequence[Block]]:
    """The joints where a step begins, and numbers above 0 where what is given is unfit."""
    whole, faults = parameters_of(o, problem, given, q)
    return JointUpdate(o, problem, whole, settings), faults


def _mark(o: Ops, moves: Sequence[Block], faults: Sequence[Block]) -> Block:
    """0, or NaN where what is given is unfit or a move is no number."""
    wrong: Block = o.less(1.0, 0.0)
    for fault in faults:
        wrong = o.either(wrong, o.less(0.0, fault))
    total: Block = o.const(0.0)
    for move in moves:
        total = total + o.absolute(move)
    wrong = o.either(wrong, o.negate(o.less(total, 1e12)))
    return o.sqrt(o.select(wrong, -1.0, 1.0)) - 1.0


def _answer(
    update: JointUpdate,
    output: Output,
    q: Block,
    after: Block,
    moves: Sequence[Block],
    faults: Sequence[Block],
) -> Block:
    """The next q, or the velocity, and how far loops are open after the step, and before it."""
    o, problem = update.o, update.problem
    m = problem.mechanism
    x = o.vector([q[k] for k in problem.moved])
    mark = _mark(o, moves, faults)
    end = [q[k] for k in range(m.n_q)]
    for place, k in enumerate(problem.moved):
        end[k] = after[place]
    values = end
    if output == "v":
        if problem.balls or (closing_tasks(problem) and problem.floats):  # corrected
            gone = difference(o, m, q, o.vector(end))
            moves = [gone[v] for v in problem.moved_v]
        values = [o.const(0.0)] * m.n_v
        for v, place, move in zip(problem.moved_v, problem.places, moves, strict=True):
            change = move if place is None else after[place] - x[place]
            values[v] = change / update.settings[problem.layout.n_settings]
    values[0] = values[0] + mark
    if closing_tasks(problem):
        values = [*values, gap(update, after), gap(update, x)]
    return o.vector(values)


def controlled(update: JointUpdate, x: Block) -> tuple[Block, list[Block]]:
    """x after one step inside all limits, and the moves (in v) that it is made of."""
    o, problem, settings = update.o, update.problem, update.settings
    first = problem.layout.n_settings
    gain, damping = settings[first + 1], settings[first + 2]
    q, unit = update.configuration(x), update.unit
    (levels, main), members = _levels(update, q, gain), _members(problem)
    stopped = pressed(update, x, levels[main])
    levels = [level.along(stopped) for level in levels]
    reach = update.reach(q)
    box = _box(update, x, reach)
    # where 0 is outside, as near to it as may be: the rest of the step starts from there
    forced = [clamped(o, o.const(0.0), ends) for ends in zip(*box, strict=True)]
    dx, room = [o.const(0.0)] * len(unit), box.less(o, forced)
    done: list[_Done] = []

    def moves_of(dx: Sequence[Block]) -> list[Block]:
        turned, _ = update.limited(dx)
        return [d + times(u, f) for d, u, f in zip(turned, unit, forced, strict=True)]

    def with_more(more: Sequence[Block]) -> list[Block]:
        """dx and the share of ``more`` that levels above can spare."""
        further = [d + a for d, a in zip(dx, more, strict=True)]
        if not done:
            return further
        ends = [update.moved(x, moves_of(each), reach, wrap=False) for each in (dx, further)]
        share = _spared(update, done, [x, *ends])
        return [d + share * a for d, a in zip(dx, more, strict=True)]

    for k, level in enumerate(levels):
        if k < main:
            continue  # the loops are closed: what the step opens of them is corrected in the end
        rest = level.error - product(
            level.columns, [f + d for f, d in zip(forced, dx, strict=True)]
        )
        left, above = level._replace(error=rest), levels[:k]
        free = room.less(o, dx)
        if k > main and min(level.rows, len(unit)) > _MOST_ROWS_SOLVED:
            # down the gradient, as far as the level is least along it
            way = [left.push(o, i) for i in range(len(unit))]
            steepest = product(left.columns, way)
            far = o.dot(steepest, left.error) / (o.dot(steepest, steepest) + 1e-24)
            more = gone_within(o, above, [far * w for w in way], free, _LATER_PASSES)
        else:
            more = done_within(
                o, above, left, free, damping, _LATER_PASSES if k > main else _PASSES
            )
        before, dx = dx, with_more(more)
        moved = product(left.columns, [b - a for a, b in zip(before, dx, strict=True)])
        done.append(_Done(members[k], rest, rest - moved))
    if problem.objectives:
        dx = with_more(gone_within(o, levels, descent(update, q), room.less(o, dx), _LATER_PASSES))
    moves = moves_of(dx)
    return taken(update, x, moves, reach), moves


class _Done(NamedTuple):
    """The tasks of a level, the error that its step begins with, and what is left of it."""

    tasks: tuple[int, ...]
    error: Block
    missed: Block


def _spared(update: JointUpdate, done: Sequence[_Done], way: Sequence[Block]) -> Block:
    """The share of a lower step that makes no level above lose most of what it has gained.

    ``way`` are x, x after the steps of those levels, and x after the lower step as well. It leaves
    those levels alone to first order. Where a level is kept from its target by a singularity, such
    as a stretched arm's, what is left of its error grows with the square: the arm would be bent by
    one step and stretched again by the next. What the level itself takes away does not count.
    """
    o = update.o
    seen = [seen_at(update, update.configuration(x)) for x in way]
    share: Block = o.const(1.0)
    for each in done:
        start, before, after = (level_of(update, each.tasks, there).error for there in seen)
        gained = o.dot(each.error, start - before)
        lost = o.dot(each.missed, after - before)
        allowed = _MOST_LOST * o.maximum(gained, 0.0) + _NO_LOSS
        share = o.minimum(share, o.sqrt(allowed / o.maximum(lost, allowed)))
    return share


def taken(
    update: JointUpdate, x: Block, moves: Sequence[Block], reach: Sequence[Interval]
) -> Block:
    """x after some moves, inside its bounds, with the loops closed."""
    after = update.moved(x, moves, reach, wrap=False)
    for _ in range(_CORRECTIONS if closing_tasks(update.problem) else 0):
        after = _closed(update, after, reach)
    return after


def _levels(update: JointUpdate, q: Block, gain: Block) -> tuple[list[Level], int]:
    """The levels with the errors that a step is to remove, and the place of the main one."""
    o, closing = update.o, closing_tasks(update.problem)
    seen, members = seen_at(update, q), _members(update.problem)
    levels: list[Level] = []
    for each in members:
        level = level_of(update, each, seen)
        length = o.sqrt(o.dot(level.error, level.error) + 1e-60)
        share = (1.0 if each is closing else gain) * o.minimum(1.0, _LONGEST_ERROR / length)
        levels.append(level._replace(error=share * level.error).in_units(update.unit))
    return levels, int(bool(closing) and members[0] != update.problem.levels[0])


def _members(problem: Problem) -> list[tuple[int, ...]]:
    """The places of the tasks of each level: first those that keep loops closed."""
    closing = closing_tasks(problem)
    rest = tuple(k for k in problem.levels[0] if k not in closing)
    return [each for each in (closing, rest, *problem.levels[1:]) if each]


def _weighted(levels: Sequence[Level], main: int) -> list[Level]:
    """The levels with rows weighted by what each counts beside the main one."""
    weights = [_LEVEL_WEIGHT ** (depth - main) for depth in range(len(levels))]
    return [
        level._replace(error=w * level.error, columns=[w * column for column in level.columns])
        for w, level in zip(weights, levels, strict=True)
    ]


def _box(update: JointUpdate, x: Block, reach: Sequence[Interval]) -> Box:
    """The bounds of the columns."""
    box = Box([], [])
    for place, u in zip(update.problem.places, update.unit, strict=True):
        ends = (None, None) if place is None else reach[place]
        inverse = 1.0 / u
        low, high = (None if end is None else times(inverse, end - x[place]) for end in ends)
        box.lower.append(low)
        box.upper.append(high)
    return box


def closing_tasks(problem: Problem) -> tuple[int, ...]:
    """The places of the tasks that keep loops closed: they come before all else."""
    return tuple(k for k in problem.levels[0] if problem.tasks[k].keeps_tolerance)


def gap(update: JointUpdate, x: Block) -> Block:
    """Distance or angle (m, rad) by which the farthest loop is open at x."""
    o = update.o
    seen = seen_at(update, update.configuration(x))
    worst: Block = o.const(0.0)
    for k in closing_tasks(update.problem):
        for i in range(update.problem.tasks[k].n_rows):
            worst = o.maximum(worst, o.absolute(seen[k].residual.error[i]))
    return worst


def _closed(update: JointUpdate, x: Block, reach: Sequence[Interval]) -> Block:
    """x with the loops nearer to closed, by the least change that its bounds leave."""
    o, closing = update.o, closing_tasks(update.problem)
    seen = seen_at(update, update.configuration(x))
    level = level_of(update, closing, seen).in_units(update.unit)
    free = free_columns(update, x, reach, lambda k: level.push(o, k))
    freed = level.only(free)
    level = freed.along(pressed(update, x, freed))
    by = update.problem.elimination(closing)
    squared = o.dot(level.error, level.error)
    dx = damped(o, level.columns, level.rows, squared, by=by).step(level.error)
    return update.moved(x, update.limited(dx)[0], reach, wrap=False)
