"""The search of one call: rows in chunks and on threads, part by part, up to a time if one is set.

Native calls are slices of about 0.1 s: of rows, and of the tries of a row where these take longer.
With a time, unsolved rows are searched further until it is used. A try is numbered from the first,
so whatever is found in time is what would be found without.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from linkwork.compile.lanes import REPORT, tries_in_a_slice
from linkwork.compile.threads import in_parallel
from linkwork.solve.code import Search
from linkwork.solve.pipeline import Counter
from linkwork.solve.problem import Problem

Floats = NDArray[np.float64]
Places = NDArray[np.int64]
Progress = Callable[[int, int], None]

CHUNK = 1024
"""Targets that one thread takes at once, at most; the answers do not depend on it."""
_LEAST_CHUNK = 64
_CHUNK_SECONDS = 0.1
"""Where each target has a time: how much of it a chunk has together."""
_FIRST_TRIES = 8
"""Tries of the first round where there is a time; then four times as many, and so on."""
_GROWTH = 4


class Part(NamedTuple):
    """A problem that is searched for by itself, and where its numbers are among all."""

    problem: Problem
    search: Search
    starts: Floats  # (3, n), see `lanes`
    parameters: Places | None  # None: all of them, in their order
    settings: Places | None
    columns: Places | None  # of what moves

    def numbers(self, given: tuple[Floats, Floats]) -> tuple[Floats, Floats]:
        """Its own of all parameters (N, p) and settings (s,)."""
        return _columns(given[0], self.parameters), _columns(given[1], self.settings)


class Effort(NamedTuple):
    """How much to try; ``seconds`` for all rows together, by ``clock``.

    ``seed_try`` is the try that starts at a target's seed where there is one; -1 for none.
    """

    steps: int
    tries: int
    seed: int
    seed_try: int = -1
    threads: int = 1
    progress: Progress | None = None
    seconds: float | None = None
    clock: Callable[[], float] | None = None


def search(
    parts: Sequence[Part], numbers: tuple[Floats, Floats], x0: Floats, effort: Effort
) -> tuple[Floats, Floats]:
    """What is found, x (N, n), and the report (N, 4) as in `lanes.REPORT`, from x0 (N, n).

    Of several parts the report has the sum of the scores, and the most steps and tries.
    """
    rows = x0.shape[0]
    jobs = [_Job.of(part, numbers, x0, effort.seed_try) for part in parts]
    most = CHUNK if effort.seconds is None else int(min(CHUNK, _CHUNK_SECONDS / effort.seconds))
    length = max(_LEAST_CHUNK, min(most, -(-rows // (4 * max(1, effort.threads)))))
    chunks = range(0, rows, length)
    done, halt = Counter(rows, effort.progress), threading.Event()
    tries = range(effort.tries)
    purse = _Purse(rows, (effort.seconds or 0.0) * max(1, min(effort.threads, len(chunks))))

    def chunk(first: int) -> None:
        last = min(first + length, rows)
        if effort.seconds is not None and effort.clock is not None:
            rounds = _Rounds(jobs, effort, purse, effort.clock, halt)
            rounds.run(range(first, last))
            done.add(last - first)
            return
        while first < last and not halt.is_set():  # slice by slice, for Ctrl-C and progress
            reached = jobs[0].next_rows(first, last, effort, tries, halt)
            for job in jobs[1:]:
                job.run(first, reached, effort, tries, halt)
            done.add(reached - first)
            first = reached

    in_parallel(chunk, chunks, effort.threads, halt=halt)
    return _merged(jobs, x0)


def scores(
    part: Part, parameters: Floats, settings: Floats, x: Floats
) -> tuple[Floats, NDArray[np.bool_]]:
    """The score (N,) of a part at x (N, n), and whether that is a solution."""
    report = np.tile([0.0, np.inf, 0.0, np.inf], (len(x), 1))
    arrays = np.ascontiguousarray(x), np.ascontiguousarray(parameters), settings
    job = _Job(part, *arrays, None, arrays[0].copy(), report)
    job.run(0, len(x), Effort(1, 1, 0), range(1), threading.Event())
    return report[:, 1], report[:, 0] > 0.5


class _Job(NamedTuple):
    """The arrays of one part, in the order in which native code takes them."""

    part: Part
    x0: Floats
    parameters: Floats
    settings: Floats
    rows: Floats | None  # of the table of seeds
    x: Floats
    report: Floats

    @staticmethod
    def of(part: Part, numbers: tuple[Floats, Floats], x0: Floats, seed_try: int) -> _Job:
        parameters, settings = part.numbers(numbers)
        x0 = _columns(x0, part.columns)
        report = np.zeros((x0.shape[0], len(REPORT)))
        report[:, 1] = report[:, 3] = np.inf
        find, rows = part.search.rows, None
        if find is not None and seed_try >= 0:
            rows = np.ascontiguousarray(find(parameters))
        return _Job(part, x0, parameters, settings, rows, x0.copy(), report)

    def run(
        self, first: int, last: int, effort: Effort, tries: range, halt: threading.Event
    ) -> None:
        """Search for some rows, slice by slice until all are done or a halt is called."""
        while first < last and not halt.is_set():
            first = self.next_rows(first, last, effort, tries, halt)

    def next_rows(
        self, first: int, last: int, effort: Effort, tries: range, halt: threading.Event
    ) -> int:
        """Search for as many of these rows as a slice has time for; the first that is left.

        More tries than a slice has time for are further slices of the rows that need them.
        """
        most = tries_in_a_slice(self.part.search.made.facts["slice"], effort.steps)
        reached = self._call(first, last, effort, tries[:most])
        places = self.unsolved(first, reached) if len(tries) > most else None
        for at in range(most, len(tries), most):
            if places is None or not places.size or halt.is_set():
                break
            self.again(places, effort, tries[at : at + most], halt)
            places = self.unsolved(first, reached)
        return reached

    def _call(self, first: int, last: int, effort: Effort, tries: range) -> int:
        """One native call, of tries that go on from those before."""
        search, starts = self.part.search, self.part.starts
        seed_try, seeds = (-1, None) if self.rows is None else (effort.seed_try, search.seeds)
        budget = search.made.facts["slice"]
        asked = (effort.steps, tries.start, tries.stop)
        numbers = (first, last, *asked, effort.seed, seed_try, budget)
        arrays = (self.x0, self.parameters, self.settings, starts, self.rows, seeds)
        arrays = (*arrays, self.x, self.report)
        made = search.run(*numbers, *[None if a is None else a.ctypes.data for a in arrays])
        return last + min(made, 0)  # below zero: minus the rows that are left

    def unsolved(self, first: int, last: int) -> Places:
        """The rows without a solution, of some."""
        return first + np.flatnonzero(self.report[first:last, 0] == 0.0)

    def again(self, rows: Places, effort: Effort, tries: range, halt: threading.Event) -> None:
        """Search on for these rows, by tries that come after those they have had."""
        seeds = None if self.rows is None else self.rows[rows]
        some = _Job(
            self.part, self.x0[rows], self.parameters[rows], self.settings, seeds,
            self.x[rows], self.report[rows],
        )  # fmt: skip
        some.run(0, rows.size, effort, tries, halt)
        self.x[rows], self.report[rows] = some.x, some.report


def _columns(a: Floats, places: Places | None) -> Floats:
    """Some columns of an array, in rows as native code needs them."""
    return np.ascontiguousarray(a if places is None else a[..., places])


def _merged(jobs: Sequence[_Job], x0: Floats) -> tuple[Floats, Floats]:
    if len(jobs) == 1 and jobs[0].part.columns is None:
        x, report = jobs[0].x, jobs[0].report
    else:
        x = x0.copy()
        for job in jobs:
            x[:, job.part.columns] = job.x
        reports = np.stack([job.report for job in jobs])
        report = reports.max(axis=0)
        report[:, 0] = reports[..., 0].min(axis=0)
        report[:, 1] = reports[..., 1].sum(axis=0)
    report[:, 3] = np.where(np.isfinite(report[:, 3]), report[:, 3], 0.0)
    return x, report


class _Rounds(NamedTuple):
    """The search with a time: more tries of unsolved rows, until it is used."""

    jobs: Sequence[_Job]
    effort: Effort
    purse: _Purse
    now: Callable[[], float]
    halt: threading.Event

    def run(self, rows: range) -> None:
        """Search for some rows until their share of the time is used."""
        jobs, effort, now = self.jobs, self.effort, self.now
        first, last = rows.start, rows.stop
        allowed, begin = self.purse.take(last - first), now()
        tries = min(_FIRST_TRIES if allowed > 0.0 else 1, effort.tries)
        for job in jobs:
            job.run(first, last, effort, range(tries), self.halt)
        took, made = now() - begin, tries
        while tries < effort.tries and not self.halt.is_set():
            unsolved = [(job, job.unsolved(first, last)) for job in jobs]
            left = allowed - (now() - begin)
            # what failed has used all tries, so more of them take longer in proportion, at most
            fits = min(left * made / max(took, 1e-9), float(effort.tries))
            more = min(_GROWTH * tries, effort.tries, tries + int(max(fits, 0.0)))
            if not any(places.size for _, places in unsolved):
                break
            if more < effort.tries and more <= tries + tries // 4:
                break
            again = now()
            for job, places in unsolved:
                job.again(places, effort, range(tries, more), self.halt)
            took, made, tries = now() - again, more - tries, more
        self.purse.give_back(allowed - (now() - begin))


class _Purse:
    """The time that is left, of which each chunk takes its share and gives back what it saves."""

    def __init__(self, rows: int, seconds: float) -> None:
        self._rows, self._seconds = rows, seconds
        self._lock = threading.Lock()

    def take(self, rows: int) -> float:
        """The share of so many rows."""
        with self._lock:
            share = self._seconds * rows / max(self._rows, 1)
            self._rows -= rows
            self._seconds -= share
            return share

    def give_back(self, seconds: float) -> None:
        """What was not used; below zero, what was used too much."""
        with self._lock:
            self._seconds += seconds
