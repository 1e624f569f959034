"""Configurations around what a search has found: the nearest to a missed target, and families.

The nearest that can be had of targets that were missed: Newton's method between the limits.

The search takes errors for small: near what is out of reach its iterations are too long or too
short, and end a good way off. Here the score itself is made small, as it is. Its slope and its bend
are differences of what the compiled search says at points around, so there is no code to compile.

Solutions may be part of a continuum. Where the task's Jacobian loses rank a solution may go on for
a while, as the joints of a wrist with two axes in line do. Rank alone is no proof: an arm that is
stretched is singular, and its solution alone. So a step is made along each direction in which the
task is flat, and brought back onto the task: a solution goes on where that ends a step away.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from linkwork.compile.threads import in_parallel
from linkwork.ops.numpy import NUMPY
from linkwork.solve.engine import Effort, PartRows, scores
from linkwork.solve.expressions import level_of, seen_at
from linkwork.solve.joint_update import JointUpdate
from linkwork.solve.problem import Problem
from linkwork.solve.seeds import spread, starts_of

Floats = NDArray[np.float64]

_AROUND = 1.0e-3
"""The distance of the points that differences are taken of."""


class Tangent:
    """Moves (K, n_v) of positions x (K, n) of what moves in a problem.

    A slide goes the mechanism's length where an angle goes one radian.
    """

    def __init__(self, problem: Problem) -> None:
        self._lower, self._upper, self._turns = problem.lower, problem.upper, problem.same_turns
        lengths = problem.lengths
        self.unit = np.array([lengths[k] for k in problem.moved_v])
        self._position = np.zeros(len(problem.moved_v), dtype=np.int64)  # in x, of each move
        self._plain = np.ones(len(problem.moved_v), dtype=bool)
        self.quaternions = [(at, v) for _, at, v in problem.quaternions]  # places in x, in a move
        for _, v in self.quaternions:
            self._plain[v : v + 3] = False
        at = at_v = 0
        for c in problem.coordinates:
            kind = problem.mechanism.joint_types[c]
            self._position[at_v : at_v + kind.n_v] = at + np.arange(kind.n_v)
            at, at_v = at + kind.n_q, at_v + kind.n_v

    def room(self, x: Floats) -> tuple[Floats, Floats]:
        """The room (K, n_v) of each move, down and up, inside the description's limits."""
        at = x[:, self._position]
        lower = np.where(self._plain, (self._lower[self._position] - at) / self.unit, -np.inf)
        upper = np.where(self._plain, (self._upper[self._position] - at) / self.unit, np.inf)
        return np.minimum(lower, 0.0), np.maximum(upper, 0.0)

    def moved(self, x: Floats, moves: Floats) -> Floats:
        """x (K, n) after moves (K, n_v)."""
        way = moves * self.unit
        if not self.quaternions:
            return x + way
        after = x.copy()
        plain = self._position[self._plain]
        after[:, plain] = x[:, plain] + way[:, self._plain]
        for at, v in self.quaternions:
            w, axis, turn = x[:, at], x[:, at + 1 : at + 4], 0.5 * way[:, v : v + 3]
            after[:, at] = w - (axis * turn).sum(axis=1)
            after[:, at + 1 : at + 4] = axis + w[:, None] * turn + np.cross(axis, turn)
            part = after[:, at : at + 4]
            after[:, at : at + 4] = part / np.sqrt((part * part).sum(axis=1, keepdims=True))
        return after

    def apart(self, a: Floats, b: Floats) -> Floats:
        """The length of the move from b (K, n) to a (K, n); whole turns are none."""
        way = a - b
        way = np.where(self._turns, way - 2.0 * np.pi * np.round(way / (2.0 * np.pi)), way)
        plain = self._position[self._plain]
        squares = np.square(way[:, plain] / self.unit[self._plain]).sum(axis=1)
        for at, _ in self.quaternions:
            part = slice(at, at + 4)
            chords = [np.square(a[:, part] - s * b[:, part]).sum(axis=1) for s in (1.0, -1.0)]
            squares += 4.0 * np.minimum(*chords)
        return np.sqrt(squares)

    def slope_and_bend(
        self, score: Callable[[Floats, int], Floats], x: Floats
    ) -> tuple[Floats, Floats]:
        """The slope (K, n_v) and the bend (K, n_v, n_v) of a score at x (K, n), by differences.

        ``score(points, m)`` (K m,) is that of m points (K m, n) for each row of x.
        """
        n = len(self.unit)
        pairs = np.array([(i, j) for i in range(n) for j in range(i)], dtype=np.int64)
        i, j = pairs.reshape(-1, 2).T
        one = np.eye(n)
        ways = np.concatenate([one, one[i] + one[j]])
        ways = _AROUND * np.concatenate([np.zeros((1, n)), ways, -ways])
        near = self.moved(np.repeat(x, len(ways), axis=0), np.tile(ways, (len(x), 1)))
        found = score(near, len(ways)).reshape(len(x), -1)
        ahead, behind = np.split(found[:, 1:], 2, axis=1)
        slope = (ahead[:, :n] - behind[:, :n]) / (2.0 * _AROUND)
        twice = ahead + behind - 2.0 * found[:, :1]  # h² times the bend along each way
        bend = np.zeros((len(x), n, n))
        bend[:, range(n), range(n)] = twice[:, :n]
        bend[:, i, j] = bend[:, j, i] = 0.5 * (twice[:, n:] - twice[:, i] - twice[:, j])
        return slope, bend / (_AROUND * _AROUND)


_ROWS, _NUMBERS = 64, 2_000_000
"""Targets at once, and numbers that they take, at most; the answers do not depend on it."""
_SPREAD = 1024
"""Configurations all over the limits, of which the best are begun at."""
_EVERY = 4
"""The stride among these: next to the best one is often another of the same descent."""
_STARTS, _BENDS = 12, 1000
"""Starts, and numbers of their second derivatives at a point, at most; but for x itself."""
_STEPS = 40
_NEAR_LIMIT = 1.0e-3
"""Radians, or lengths of the mechanism: what is pushed at a limit from nearer goes up to it."""
_LONGEST = 0.7
"""Radians, over all joints, of one step."""
_SHARES = 2.0 ** -np.arange(8.0)
_DONE = 1.0e-10
"""A step that makes the score less by a smaller share than this is the last."""
_FLATTEST = 1.0e-7
"""A share of the largest bend: what is bent less counts as bent so much."""


def can_be_nearer(problem: Problem) -> bool:
    """Whether the limits are the description's alone, none of an angle, and no loop is to close."""
    if problem.limits or any(math.isfinite(ball.limit) for ball in problem.balls):
        return False
    return not any(task.keeps_tolerance for task in problem.tasks)


def nearer(rows: PartRows, x: Floats, effort: Effort) -> Floats:
    """Configurations x (N, n) of a part, where it has missed with a score that is as low or lower.

    There are as many starts as tries, 12 at most and fewer where much moves, x itself the first.
    Rows that are solved stay.
    """
    found = x.copy()
    score, solved = scores(rows, x)
    missed = np.flatnonzero(~solved & np.isfinite(score))
    n = len(rows.part.problem.moved_v)
    starts = max(1, min(effort.tries, _STARTS, _BENDS // (n * n)))
    wide = starts * (n * n + n + 1) * (x.shape[1] + rows.parameters.shape[1])
    at_once = max(1, min(_ROWS, _NUMBERS // wide))

    def some(first: int) -> None:
        places = missed[first : first + at_once]
        own = rows.take(places)
        better = _Descent(own).run(x[places], starts)
        least = scores(own, better)[0]
        taken = least < score[places]
        found[places[taken]] = better[taken]

    in_parallel(some, range(0, missed.size, at_once), effort.threads)
    return found


class _Descent:
    """The descent of several starts of some rows of one part."""

    def __init__(self, rows: PartRows) -> None:
        self.rows, self.problem = rows, rows.part.problem
        self.tangent = Tangent(self.problem)

    def run(self, x: Floats, starts: int) -> Floats:
        """The best (N, n) that is found from x and so many starts less one."""
        at, score = self._descended(self._begun(x, starts), np.repeat(np.arange(len(x)), starts))
        best = score.reshape(-1, starts).argmin(axis=1)
        return at.reshape(len(x), starts, -1)[np.arange(len(x)), best]

    def _begun(self, x: Floats, starts: int) -> Floats:
        """x and the best of configurations from all over (N starts, n)."""
        if starts == 1:
            return x
        where, n = starts_of(self.problem), x.shape[1]
        points = where.base + spread(_SPREAD, n) * where.span + where.kept * x[:, None]
        score = self._scores(points.reshape(-1, n), np.repeat(np.arange(len(x)), _SPREAD))
        order = np.argsort(score.reshape(len(x), -1), axis=1, kind="stable")[:, ::_EVERY][
            :, : starts - 1
        ]
        chosen = np.take_along_axis(points, order[..., None], axis=1)
        return np.concatenate([x[:, None], chosen], axis=1).reshape(-1, n)

    def _scores(self, x: Floats, rows: NDArray[np.int64]) -> Floats:
        return scores(self.rows.take(rows), x)[0]

    def _descended(self, x: Floats, rows: NDArray[np.int64]) -> tuple[Floats, Floats]:
        """The ends of the steps from x (K, n), and the scores there (K,)."""
        x, going = x.copy(), np.arange(len(x))
        score = self._scores(x, rows)
        for _ in range(_STEPS):
            if not going.size:
                break
            at, least = self._stepped(x[going], rows[going])
            fell = least < (1.0 - _DONE) * score[going]
            going, at, least = going[fell], at[fell], least[fell]
            x[going], score[going] = at, least
        return x, score

    def _stepped(self, x: Floats, rows: NDArray[np.int64]) -> tuple[Floats, Floats]:
        """One step from each of x (K, n), the best of some lengths of it, and its score.

        Joints that stand at a limit and are pushed against it stay there; the others go by
        Newton's method, where the score is bent the wrong way by the size of the bend alone.
        """
        tangent = self.tangent
        slope, bend = tangent.slope_and_bend(
            lambda points, m: self._scores(points, np.repeat(rows, m)), x
        )
        n = slope.shape[1]
        lower, upper = tangent.room(x)
        stopped = ((lower > -_NEAR_LIMIT) & (slope > 0.0)) | ((upper < _NEAR_LIMIT) & (slope < 0.0))
        slope = np.where(stopped, 0.0, slope)
        bend = np.where(stopped[:, :, None] | stopped[:, None, :], 0.0, bend)
        bend += stopped[:, :, None] * np.eye(n)
        w, V = np.linalg.eigh(bend)
        most = np.abs(w).max(axis=1, keepdims=True)
        w = np.maximum(np.abs(w), _FLATTEST * most + 1e-300)
        along = (V * slope[:, :, None]).sum(axis=1) / w
        newton = -(V * along[:, None, :]).sum(axis=2)
        with np.errstate(invalid="ignore"):  # of numbers too large, no step is taken
            down = -slope / most
        ways: list[Floats] = []
        for way in (newton, down):
            length = np.sqrt((way * way).sum(axis=1, keepdims=True))
            short = way * np.minimum(1.0, _LONGEST / np.maximum(length, 1e-300))
            shares = _SHARES[:, None] * short[:, None, :]
            ways.append(np.where(stopped[:, None], np.clip(0.0, lower, upper)[:, None], shares))
        moves = np.concatenate(ways, axis=1)
        moves = np.clip(moves, lower[:, None], upper[:, None])
        count = moves.shape[1]
        tried = tangent.moved(np.repeat(x, count, axis=0), moves.reshape(-1, n))
        found = self._scores(tried, np.repeat(rows, count)).reshape(-1, count)
        best = found.argmin(axis=1)
        place = np.arange(len(x))
        return tried.reshape(len(x), count, -1)[place, best], found[place, best]


# --- solutions that are part of a continuum ---

Places = NDArray[np.int64]

_FLAT = 1.0e-4
"""A share of the largest bend of the squared error: a smaller bend may be none at all."""
_STEP = 0.05
"""Radians, over all joints, of a step along a direction."""
_NEIGHBOURS, _ROUNDS = 4, 12
_POINTS = 12
"""Points on the way between two solutions, each of which has to come back to one near it."""
_RANK = 1.0e-6


class Ways(NamedTuple):
    """Functions of a problem's code on positions of what moves (M, n)."""

    exact: Callable[[Floats], tuple[Floats, NDArray[np.bool_]]]
    """The solutions (M, n) next to them, and which of these are some."""
    bend: Callable[[Floats], Floats]
    """The second derivative (M, n_v, n_v) of the squared error there."""


def bend_of(row: PartRows, x: Floats) -> Floats:
    """The bend (M, n_v, n_v) of a part's squared error at x (M, n), for one target."""

    def score(points: Floats, _: int) -> Floats:
        return scores(row.take(np.zeros(len(points), dtype=np.int64)), points)[0]

    return Tangent(row.part.problem).slope_and_bend(score, x)[1]


def free_directions(problem: Problem, x: Floats, ways: Ways) -> list[Floats]:
    """Orthonormal directions (d, n_v) along which each solution x (K, n) goes on.

    n_v counts what moves; a slide's metre counts by the mechanism's length.
    """
    tangent = Tangent(problem)
    w, V = np.linalg.eigh(ways.bend(x))
    row, column = np.nonzero(w < _FLAT * np.maximum(w[:, -1:], 1e-300))
    along = V[row, :, column]
    before, both = np.tile(x[row], (2, 1)), np.concatenate([along, -along])
    there, good = ways.exact(tangent.moved(before, np.clip(_STEP * both, *tangent.room(before))))
    gone = tangent.apart(there, before)
    good &= (gone > 0.3 * _STEP) & (gone < 3.0 * _STEP)
    goes = good[: len(row)] | good[len(row) :]
    return [along[(row == k) & goes] for k in range(len(x))]


def nullity(problem: Problem, parameters: Floats, settings: Floats) -> int:
    """The number of directions that the tasks of priority 0 leave free in general."""
    where = starts_of(problem)
    u = np.modf(np.sqrt(2.0) * np.arange(1.0, len(where.base) + 1.0))[0]
    q = np.zeros(problem.mechanism.n_q)
    q[list(problem.held)] = parameters[slice(*problem.layout.held)]
    x = where.base + (0.1 + 0.8 * u) * where.span
    for first in Tangent(problem).quaternions:
        x[first[0]] = 1.0
    q[list(problem.moved)] = x
    update = JointUpdate(NUMPY, problem, parameters, settings)
    level = level_of(update, problem.levels[0], seen_at(update, q))
    sizes = np.linalg.svd(np.array(level.columns), compute_uv=False)
    return len(problem.moved_v) - int(np.count_nonzero(sizes > _RANK * sizes[0]))


def joined(problem: Problem, x: Floats, ways: Ways) -> Places:
    """The number (K,) of the family of each of some solutions x (K, n) that go on: its first row.

    Two are of one family where the straight way between them comes back to solutions all along.
    """
    tangent, family = Tangent(problem), np.arange(len(x))
    apart = np.stack([tangent.apart(x, np.broadcast_to(row, x.shape)) for row in x])
    np.fill_diagonal(apart, np.inf)
    groups = [np.array([k]) for k in family]  # each tries the ways to those next to it
    for _ in range(_ROUNDS):
        pairs: list[tuple[int, int]] = []
        for rows in groups:
            ways_out = np.where(family[rows][:, None] == family, np.inf, apart[rows])
            nearest = np.argsort(ways_out, axis=None, kind="stable")[:_NEIGHBOURS]
            at, to = np.unravel_index(nearest, ways_out.shape)
            some = ways_out[at, to] < np.inf
            pairs += zip(rows[at[some]].tolist(), to[some].tolist(), strict=True)
        if not pairs:
            break
        a, b = np.array(pairs).T
        apart[a, b] = apart[b, a] = np.inf  # tried
        over = _go_over(problem, x[a], x[b], ways)
        for i, k in zip(a[over], b[over], strict=True):
            low, high = sorted((family[i], family[k]))
            family[family == high] = low
        groups = [np.flatnonzero(family == first) for first in np.unique(family)]
    return family


def _go_over(problem: Problem, a: Floats, b: Floats, ways: Ways) -> NDArray[np.bool_]:
    """Whether each of a (P, n) is joined to that of b by solutions."""
    tangent, n, whole = Tangent(problem), a.shape[1], b - a
    turns = problem.same_turns
    whole = np.where(turns, whole - 2.0 * np.pi * np.round(whole / (2.0 * np.pi)), whole)
    shares = np.arange(1.0, _POINTS + 1.0) / (_POINTS + 1.0)
    points = a[:, None] + shares[:, None] * whole[:, None]
    found, good = ways.exact(points.reshape(-1, n))
    found = np.concatenate([a[:, None], found.reshape(points.shape), (a + whole)[:, None]], axis=1)
    after, before = found[:, 1:].reshape(-1, n), found[:, :-1].reshape(-1, n)
    steps = tangent.apart(after, before).reshape(len(a), -1)
    most = 4.0 * tangent.apart(b, a) / (_POINTS + 1.0)
    return good.reshape(len(a), -1).all(axis=1) & (steps.max(axis=1) <= most)
