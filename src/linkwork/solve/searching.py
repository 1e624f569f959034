"""The search of one call: rows in chunks and on threads, part by part, up to a time if one is set.

With a time, unsolved rows are searched again with more tries until it is used. A try is numbered
from the first, so whatever is found in time is what would be found without.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from linkwork.compile.lanes import REPORT
from linkwork.compile.threads import in_parallel
from linkwork.solve.code import Search
from linkwork.solve.problem import Problem

Floats = NDArray[np.float64]
Places = NDArray[np.int64]
Progress = Callable[[int, int], None]

CHUNK = 1024
"""Targets between two returns to Python, at most; the answers do not depend on it."""
_LEAST_CHUNK = 64
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
    length = max(_LEAST_CHUNK, min(CHUNK, -(-rows // (4 * max(1, effort.threads)))))
    chunks = range(0, rows, length)
    done = _Counter(rows, effort.progress)
    purse = _Purse(rows, (effort.seconds or 0.0) * max(1, min(effort.threads, len(chunks))))

    def chunk(first: int) -> None:
        last = min(first + length, rows)
        if effort.seconds is None or effort.clock is None:
            for job in jobs:
                job.run(first, last, effort, effort.tries)
        else:
            _in_rounds(jobs, range(first, last), effort, purse, effort.clock)
        done.add(last - first)

    in_parallel(chunk, chunks, effort.threads)
    return _merged(jobs, x0)


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
        parameters = _columns(numbers[0], part.parameters)
        settings = _columns(numbers[1], part.settings)
        x0 = _columns(x0, part.columns)
        report = np.zeros((x0.shape[0], len(REPORT)))
        report[:, 1] = report[:, 3] = np.inf
        find, rows = part.search.rows, None
        if find is not None and seed_try >= 0:
            rows = np.ascontiguousarray(find(parameters))
        return _Job(part, x0, parameters, settings, rows, x0.copy(), report)

    def run(self, first: int, last: int, effort: Effort, tries: int) -> None:
        """Search for some rows."""
        search, starts = self.part.search, self.part.starts
        seed_try, seeds = (-1, None) if self.rows is None else (effort.seed_try, search.seeds)
        numbers = (first, last, effort.steps, tries, effort.seed, seed_try)
        arrays = (self.x0, self.parameters, self.settings, starts, self.rows, seeds)
        arrays = (*arrays, self.x, self.report)
        search.run(*numbers, *[None if a is None else a.ctypes.data for a in arrays])

    def unsolved(self, first: int, last: int) -> Places:
        """The rows without a solution, of some."""
        return first + np.flatnonzero(self.report[first:last, 0] == 0.0)

    def again(self, rows: Places, effort: Effort, tries: int) -> None:
        """Search for these rows with more tries."""
        seeds = None if self.rows is None else self.rows[rows]
        some = _Job(
            self.part, self.x0[rows], self.parameters[rows], self.settings, seeds,
            self.x[rows], self.report[rows],
        )  # fmt: skip
        some.run(0, rows.size, effort, tries)
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


def _in_rounds(
    jobs: Sequence[_Job], rows: range, effort: Effort, purse: _Purse, now: Callable[[], float]
) -> None:
    """Search for some rows until their time is used."""
    first, last = rows.start, rows.stop
    allowed, begin = purse.take(last - first), now()
    tries = min(_FIRST_TRIES if allowed > 0.0 else 1, effort.tries)
    for job in jobs:
        job.run(first, last, effort, tries)
    took = now() - begin
    while tries < effort.tries:
        unsolved = [(job, job.unsolved(first, last)) for job in jobs]
        left = allowed - (now() - begin)
        # what failed has used all tries, so more of them take longer in proportion, at most
        fits = min(left * tries / max(took, 1e-9), float(effort.tries))
        more = min(_GROWTH * tries, effort.tries, int(max(fits, 0.0)))
        if not any(places.size for _, places in unsolved):
            break
        if more < effort.tries and more <= tries + tries // 4:
            break
        again = now()
        for job, places in unsolved:
            job.again(places, effort, more)
        took, tries = now() - again, more
    purse.give_back(allowed - (now() - begin))


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


class _Counter:
    """Tells the progress of several threads, one at a time."""

    def __init__(self, total: int, progress: Progress | None) -> None:
        self._total, self._progress, self._done = total, progress, 0
        self._lock = threading.Lock()

    def add(self, rows: int) -> None:
        """So many rows more are done."""
        if self._progress is not None:
            with self._lock:
                self._done += rows
                self._progress(self._done, self._total)
