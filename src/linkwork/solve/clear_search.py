"""Answers that are clear: solutions that touch are searched for again, then pushed out.

First *others*: an arm has several solutions of a target, and a search costs little more than a
look at the collision model, so those that touch start again from other configurations, all rows of
a batch at once, more starts in each round; each row takes the nearest clear one of a round. Then,
and again after the last round, *pushes*: from the solutions that touch least, steps which do the
tasks and keep the nearest pairs apart (`clear_steps`), searched to exactness from where they end.

Where the target itself decides that something touches (`decided`), a row ends with the first round.

What a row comes to depends on its target, q0 and the options alone: its starts are the same in
every batch, and no choice looks at another row.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from linkwork.compile.compiler import Compiler
from linkwork.solve.clear_steps import ClearSteps
from linkwork.solve.clearance import FAR, Clear
from linkwork.solve.decided import Decided
from linkwork.solve.engine import Effort, Engine, Found, search
from linkwork.solve.inputs import Options, Rows, settings_of
from linkwork.solve.result import Spaces
from linkwork.solve.seeds import Starts, spread, starts_of

Floats = NDArray[np.float64]
Places = NDArray[np.int64]
Measure = Callable[[Floats], Floats]

_FIRST, _GROWTH = 8, 4
"""Starts of each row in the first round, and how many times more in each that follows."""
_BEFORE_PUSHES = 168
"""Starts that are tried before solutions are pushed."""
_PUSHED, _PUSHES, _PUSH_STEPS = 8, 4, 8
"""Solutions of each row that are pushed, how often at most, and by how many steps each time."""
_AT_ONCE = 1 << 15
"""Searches at once, about; the answers do not depend on it."""


class Tried(NamedTuple):
    """The results of several starts of each row."""

    x: Floats  # (P, K, n)
    clearance: Floats  # (P, K) as of `Clear.verdict`, -inf where it is no solution
    steps: Floats  # (P, K)
    number: Floats  # (K,) of the tries

    @staticmethod
    def none(x: Floats) -> Tried:
        """Nothing yet, at x (P, K, n)."""
        shape = x.shape[:2]
        return Tried(x.copy(), np.full(shape, -np.inf), np.zeros(shape), np.zeros(shape[1]))

    def put(self, places: Places, other: Tried) -> None:
        """Take those of other tries (M, 1, n) that are clearer, for some places of all (P K)."""
        many, clearance = self.x.shape[1], other.clearance[:, 0]
        better = np.flatnonzero(clearance > self.clearance.reshape(-1)[places])
        row, k = np.divmod(places[better], many)
        self.x[row, k], self.clearance[row, k] = other.x[better, 0], clearance[better]
        self.steps[row, k] = other.steps[better, 0]

    def best(self, clear: Clear, way: Floats) -> Places:
        """The place (P,) of the clear one of least ``way`` (P, K), else of the clearest."""
        is_clear = self.clearance >= clear.margin
        nearest = np.where(is_clear, way, np.inf).argmin(axis=1)
        return np.where(is_clear.any(axis=1), nearest, self.clearance.argmax(axis=1))


class ClearSearch:
    """The search for clear answers of one engine's problem."""

    def __init__(self, engine: Engine, clear: Clear, compiler: Compiler) -> None:
        self.clear, self._engine, self._compiler = clear, engine, compiler
        self._problem, self._moved = engine.problem, list(engine.problem.moved)
        self._points: dict[tuple[range, int], Floats] = {}

    @cached_property
    def _decided(self) -> Decided:
        return Decided(self._problem, self.clear)

    @cached_property
    def _push(self) -> ClearSteps:
        return ClearSteps(self._problem, self.clear, self._compiler)

    def settle(self, found: Found, rows: Rows, call: Effort, end: float) -> Places:
        """Put clear answers in the place of those that touch; the rows that still do.

        What still touches, or touches when the clock is past ``end``, is no success: it is the
        solution that touches least.
        """
        solved = np.flatnonzero(found.report[:, 0] > 0.5)
        verdict = self.clear.verdict(found.q[solved])
        touches = ~(verdict >= self.clear.margin)
        touching = solved[touches]
        if touching.size:
            own, some = Found(*(part[touching] for part in found)), rows.take(touching)
            self._settle(own, verdict[touches], some, call, end)
            found.put(touching, own)
            touching = touching[~self.is_clear(found.q[touching])]
            found.report[touching, 0] = 0.0
        return touching

    def is_clear(self, q: Floats) -> NDArray[np.bool_]:
        """Whether each of q (N, nq) is clear."""
        return self.clear.verdict(q) >= self.clear.margin

    def clearest(self, q: Floats) -> str:
        """The contacts of the one of q (N, nq) that touches least."""
        best = int(self.clear.short(q).argmax())
        return self.clear.message(self.clear.touches(q[best : best + 1])[0])

    def spaces(self, q: Floats, touching: Places, options: Options) -> Spaces:
        """The clearances of q (N, nq), of which some rows touch, for results."""
        texts = self._decided.messages(q[touching], options)
        reasons = dict(zip(touching.tolist(), texts, strict=True))
        return Spaces(self.clear.clearance, reasons)

    def _settle(
        self, found: Found, clearance: Floats, rows: Rows, call: Effort, end: float
    ) -> None:
        """Search on for rows that touch, with clearances (P,); the answers go to ``found``."""
        clearance, places = clearance.copy(), np.arange(rows.n)
        kept = found.q[:, None, self._moved], clearance[:, None]  # what may be pushed
        before = found.report[:, -1].copy()
        for tries in _schedule(call.tries):
            if not places.size or (call.clock is not None and call.clock() >= end):
                break
            some = rows.take(places)
            if tries is None:
                kept = self._measured(*kept, some)
                tried = self._pushed(kept[0], some, call)
            else:
                tried = self._others(some, call, tries)
                kept = tuple(
                    np.concatenate([a, b], axis=1)
                    for a, b in zip(kept, (tried.x, tried.clearance), strict=True)
                )
            pick = tried.best(self.clear, self._way(tried.x, some))
            better = np.flatnonzero(tried.clearance[np.arange(len(pick)), pick] > clearance[places])
            if better.size:
                own, chosen = places[better], (better, pick[better])
                known = np.zeros((better.size, 4))
                known[:, 2] = tried.steps[chosen]
                known[:, 3] = before[own] + tried.number[pick[better]]
                answer = self._judged(rows.take(own), tried.x[chosen], known, call)
                good = answer.report[:, 0] > 0.5
                found.put(own, answer, only=good)
                clearance[own[good]] = tried.clearance[chosen][good]
            still = ~(clearance[places] >= self.clear.margin)
            if tries is not None and tries.start == 0:  # can more of them help?
                told = self._decided.contacts(found.q[places], call.options)
                still &= [contact is None for contact in told]
            places, kept = places[still], (kept[0][still], kept[1][still])

    def _judged(self, rows: Rows, x: Floats, known: Floats, call: Effort) -> Found:
        near = rows.starts if call.options.best_of > 1 else None
        return self._engine.judged(rows, x, known, call, near)

    def _way(self, x: Floats, rows: Rows) -> Floats:
        """The way (P, K) from the start of each row to each of x (P, K, n); turns are none."""
        way = x - rows.starts[:, None, self._moved]
        whole = 2.0 * np.pi * np.round(way / (2.0 * np.pi))
        way -= np.where(self._problem.same_turns, whole, 0.0)
        return np.sqrt(np.square(way).sum(axis=2))

    @cached_property
    def _where(self) -> Starts:
        return starts_of(self._problem)

    def _spread(self, tries: range, seed: int) -> Floats:
        """Points (K, n) of the unit cube, those of each try."""
        found = self._points.get((tries, seed))
        if found is None:
            n = len(self._moved)
            shift = np.random.default_rng(seed).random(n)
            found = np.mod(spread(tries.stop, n)[tries.start :] + shift, 1.0)
            if tries.start < _BEFORE_PUSHES and seed == 0:
                self._points[tries, seed] = found
        return found

    def _others(self, rows: Rows, call: Effort, tries: range) -> Tried:
        """The ends of searches from other starts: the same starts for every row."""
        where, u = self._where, self._spread(tries, call.seed)
        x0 = where.base + u * where.span + where.kept * rows.starts[:, None, self._moved]
        number = 1.0 + np.arange(tries.start, tries.stop)
        return self._tried(x0, rows, call, self.clear.verdict)._replace(number=number)

    def _measured(self, x: Floats, clearance: Floats, rows: Rows) -> tuple[Floats, Floats]:
        """The solutions among x (P, K, n) that touch least, and how clear they are."""
        row, k = np.nonzero(clearance == -FAR)
        q = rows.starts[row]
        q[:, self._moved] = x[row, k]
        clearance[row, k] = self.clear.short(q)
        order = np.argsort(-clearance, axis=1, kind="stable")[:, :_PUSHED]
        places = np.arange(len(x))[:, None]
        return x[places, order], clearance[places, order]

    def _pushed(self, x: Floats, rows: Rows, call: Effort) -> Tried:
        """The ends of pushes of some solutions x (P, K, n)."""
        many, n = x.shape[1], len(self._moved)
        whole = rows.take(np.repeat(np.arange(rows.n), many))
        given = [each.reshape(whole.n, -1) for each in whole.arrays]
        settings = settings_of(self._problem, call.options)
        start = whole.starts
        q = start.copy()
        q[:, self._moved] = x.reshape(-1, n)
        best = Tried.none(x)
        going = np.arange(whole.n)
        for _ in range(_PUSHES):
            own = [each[going] for each in given]
            q[going] = self._push.pushed(q[going], start[going], own, settings, _PUSH_STEPS)
            x0 = q[going][:, None, self._moved]
            ends = self._tried(x0, whole.take(going), call, self.clear.short)
            best.put(going, ends)
            q[going[:, None], self._moved] = ends.x[:, 0]
            done: NDArray[np.bool_] = np.max(best.clearance, axis=1) >= self.clear.margin
            going = going[~done[going // many]]
            if not going.size:
                break
        return best

    def _tried(self, x0: Floats, rows: Rows, call: Effort, measure: Measure) -> Tried:
        """The ends of one try from each of x0 (P, K, n)."""
        count, many, n = x0.shape
        x, clearance, steps = np.empty(x0.shape), np.empty((count, many)), np.empty((count, many))
        most = max(1, _AT_ONCE // many)
        for first in range(0, count, most):
            part = slice(first, first + most)
            some = rows.take(np.arange(count)[part])
            own = x0[part].reshape(-1, n)
            x[part].reshape(-1, n)[:], report, each = self._tried_at_once(own, some, call, measure)
            clearance[part].reshape(-1)[:], steps[part].reshape(-1)[:] = each, report[:, 2]
        return Tried(x, clearance, steps, np.zeros(many))

    def _tried_at_once(
        self, x0: Floats, rows: Rows, call: Effort, measure: Measure
    ) -> tuple[Floats, Floats, Floats]:
        """The ends x (P K, n) of tries from x0 (P K, n), their reports and clearances."""
        once = call._replace(tries=1, seed_try=-1, seconds=None, progress=None)
        each_row = np.repeat(np.arange(rows.n), len(x0) // rows.n)
        parts = [each.take(each_row) for each in self._engine.begin(rows, once)]
        x, report = search(parts, x0, once)
        solved = report[:, 0] > 0.5
        if self._problem.has_secondary_goals:  # lower priorities need not be done
            solved = self._judged(rows.take(each_row), x, report, call).report[:, 0] > 0.5
        q = rows.starts[each_row[solved]]
        q[:, self._moved] = x[solved]
        clearance = np.full(len(x), -np.inf)
        clearance[solved] = measure(q)
        return x, report, clearance


def _schedule(tries: int) -> Iterator[range | None]:
    """The rounds of a search: tries of other starts, None for pushes."""
    first, count, pushed = 0, _FIRST, -1
    while first < tries:
        stop = min(first + count, tries)
        yield range(first, stop)
        first, count = stop, count * _GROWTH
        if pushed < 0 and first >= _BEFORE_PUSHES:
            yield None
            pushed = first
    if pushed < first:
        yield None
