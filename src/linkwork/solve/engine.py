"""The engine of inverse kinematics: rows, and a schedule of searches for them.

A problem is searched for part by part (parts share no moved joint), each by its program. Where all
is one part and no time is set, one native call goes from targets to verified answers. Else searches
are slices of about 0.1 s, of rows and of the tries of a row where these take longer; with a time,
unsolved rows are searched further until it is used. A try is numbered from the first, so whatever
is found in time is what would be found without. Every answer is verified by the program's `judge`.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from linkwork.compile.compiler import Compiler
from linkwork.compile.lanes import REPORT, tries_in_a_slice
from linkwork.compile.threads import in_parallel
from linkwork.solve.expressions import POSE_AXES, ROUNDING, expressions_of
from linkwork.solve.inputs import Options, Rows, searched, settings_of
from linkwork.solve.problem import Problem, parts_of, priority0_part
from linkwork.solve.program import Counter, Program, Progress, Refused, program_of
from linkwork.solve.seeds import starts_of
from linkwork.solve.selection import nearest_turns

Floats = NDArray[np.float64]
Places = NDArray[np.int64]
Known: TypeAlias = dict[tuple[str, ...], Program]
"""Programs that are made already, by the key of their problem."""

_CHUNK = 1024
"""Targets that one thread takes at once, at most; the answers do not depend on it."""
_LEAST_CHUNK = 64
_CHUNK_SECONDS = 0.1
"""The time of a chunk together, where each target has a time."""
_FIRST_TRIES = 8
"""Tries of the first round where there is a time; then four times as many, and so on."""
_GROWTH = 4


class Effort(NamedTuple):
    """The effort of a search; ``seconds`` for all rows together, by ``clock``.

    ``seed_try`` is the try that starts at a target's seed where there is one; -1 for none.
    ``options`` are those of the call. ``checked``: targets are known to be fit.
    """

    steps: int
    tries: int
    seed: int
    seed_try: int = -1
    threads: int = 1
    progress: Progress | None = None
    seconds: float | None = None
    clock: Callable[[], float] | None = None
    options: Options = Options()
    checked: bool = False


class Found(NamedTuple):
    """The answers of a search, row by row."""

    q: Floats  # (N, nq)
    report: Floats  # (N, groups + 4), see `IKResult.report`
    misses: Floats  # (N,), what the best of failures has least

    def put(self, places: Places, other: Found, *, only: NDArray[np.bool_] | None = None) -> None:
        """Replace rows by those of another search, or by ``only`` some of these."""
        chosen = slice(None) if only is None else only
        for mine, theirs in zip(self, other, strict=True):
            mine[places[chosen]] = theirs[chosen]

    @property
    def failed(self) -> Places:
        """The rows without success."""
        return np.flatnonzero(self.report[:, 0] < 0.5)


class Part(NamedTuple):
    """A problem that is searched for by itself."""

    problem: Problem
    program: Program
    inputs: list[int]  # the places of its inputs among those of the whole
    columns: Places | None  # of what moves; None: all


class PartRows(NamedTuple):
    """Rows of one part, as its search takes them."""

    part: Part
    parameters: Floats  # (N, p)
    settings: Floats  # (s,)
    seeds: Floats | None  # (N,) rows of the table of seeds

    def take(self, places: Places | slice) -> PartRows:
        """Some of the rows."""
        seeds = None if self.seeds is None else self.seeds[places]
        return self._replace(parameters=self.parameters[places], seeds=seeds)

    @property
    def columns(self) -> Places | slice:
        """The places of what moves among all that does."""
        return slice(None) if self.part.columns is None else self.part.columns


class Engine:
    """The parts of a problem with their programs, and the schedules that these are searched by."""

    def __init__(self, problem: Problem, compiler: Compiler, known: Known) -> None:
        """``known``: programs to be used and added to."""
        self.problem, self._compiler, self._known = problem, compiler, known
        self._moved = list(problem.moved)
        self._last_numbers: tuple[Any, Floats] = (None, np.zeros(0))
        names = [each.name for each in problem.inputs]
        parts = parts_of(problem)
        self.parts = [
            Part(
                each,
                self._program_of(each),
                [names.index(given.name) for given in each.inputs],
                None if each is problem else np.array([self._moved.index(k) for k in each.moved]),
            )
            for each in parts
        ]

    def _program_of(self, problem: Problem, *, iterated: bool = True) -> Program:
        key = (str(iterated), *problem.key)
        found = self._known.get(key)
        if found is None:
            with self._compiler.work(f"inverse kinematics for {problem.mechanism.name}"):
                starts = np.ascontiguousarray(np.stack(starts_of(problem)))
                expressions = expressions_of(problem, iterated=iterated)
                made = program_of(expressions, starts, POSE_AXES, compiler=self._compiler)
                found = self._known.setdefault(key, made)
        return found

    @cached_property
    def program(self) -> Program:
        """The program of the whole, which verifies; of several parts it has no search."""
        whole = len(self.parts) == 1
        return self.parts[0].program if whole else self._program_of(self.problem, iterated=False)

    @cached_property
    def priority0(self) -> Engine:
        """The engine of the tasks of priority 0 alone."""
        return Engine(priority0_part(self.problem), self._compiler, self._known)

    def is_native(self, call: Effort) -> bool:
        """Whether one native call does all that is to be tried."""
        if len(self.parts) > 1 or call.seconds is not None:
            return False
        return not self.problem.has_secondary_goals or self._tries_at_once(call) == call.tries

    def _tries_at_once(self, call: Effort) -> int:
        """The tries that one native call has time for, of those of the call."""
        budget = self.parts[0].program.made.facts["slice"]
        return min(call.tries, tries_in_a_slice(budget, call.steps))

    def numbers(self, call: Effort) -> Floats:
        """The options of the program; those of the last call where it was alike."""
        asked = (call.steps, call.tries, call.seed, call.seed_try, call.checked)
        known, numbers = self._last_numbers
        if known is None or known[0] is not call.options or known[1:] != asked:
            numbers = self._numbers(call)
            self._last_numbers = (call.options, *asked), numbers
        return numbers

    def _numbers(self, call: Effort) -> Floats:
        program, problem = self.program, self.problem
        settings = settings_of(problem, call.options)
        named = {
            "steps": call.steps,
            "tries": self._tries_at_once(call),
            "seed": call.seed,
            "seed_try": call.seed_try if program.sizes.features else -1,
            "checked": int(call.checked),
        }
        most: list[float] = []
        for k, (first, stop) in enumerate(problem.layout.thresholds):
            own = settings[first:stop].tolist()  # lower priorities decide nothing
            most += own if k in problem.priority0_tasks else [math.inf] * len(own)
        return program.options(named, searched(problem, settings).tolist(), [*most, ROUNDING])

    def solve(
        self, rows: Rows, call: Effort, near: Floats | None = None, first: Found | None = None
    ) -> Found:
        """Search for all rows, then judge what was found by a fresh computation of every measure.

        With ``near`` (N, nq), all angles that may are on the turn that is nearest to it. ``first``
        is what the native call has found, if it was made.

        Raises: Refused for a row that is unfit, or has numbers too large to verify.
        """
        if call.seconds is not None and self.problem.has_secondary_goals:
            _ = self.priority0  # compiling takes nothing of the time
        end = call.clock() + call.seconds if call.clock and call.seconds else math.inf
        found = first
        if found is None and near is None and self.is_native(call):
            q, report = self.program.run(
                rows.arrays,
                rows.start,
                self.numbers(call),
                threads=call.threads,
                progress=call.progress,
            )
            found = Found(q, report, np.zeros(len(q)))
        if found is None:
            found = self._searched(rows, call, near)
        elif found.failed.size and self._tries_at_once(call) < call.tries:
            failed = found.failed  # the tries that a native call has no time for, from the first
            found.put(failed, self._searched(rows.take(failed), call._replace(progress=None)))
        failed = found.failed
        if self.problem.has_secondary_goals and failed.size:
            if call.clock and call.seconds is not None:
                call = call._replace(seconds=max(1e-9, end - call.clock()))
            if call.progress is not None:
                told, n = call.progress, rows.n  # after n are done, of so many more
                call = call._replace(progress=lambda done, total: told(n + done, n + total))
            some = None if near is None else near[failed]
            better = self._by_priority(rows.take(failed), call, some)
            found.put(failed, better, only=better.report[:, 0] > 0.5)
        return found

    def _searched(self, rows: Rows, call: Effort, near: Floats | None = None) -> Found:
        x, report = search(self.begin(rows, call), self.inside(rows), call)
        return self.judged(rows, x, report, call, near)

    def _by_priority(self, rows: Rows, call: Effort, near: Floats | None) -> Found:
        """Search for the tasks of priority 0 alone, then from there, in one try, for all.

        What can be reached is reached, then, though lower priorities stood in the way.
        """
        plain, options = self.priority0, call.options
        steps, tries = options.steps_for(plain.problem), options.tries_for(plain.problem)
        own = self.rows_of(plain, rows)
        columns = [self._moved.index(k) for k in plain.problem.moved]
        x = self.inside(rows)
        first_call = call._replace(steps=steps, tries=tries)
        x[:, columns], report = search(plain.begin(own, call), x[:, columns], first_call)
        first = self.judged(rows, x, report, call, near)
        once = call._replace(tries=1, seed_try=-1, seconds=None, progress=None)
        x, report = search(self.begin(rows, call), x, once)
        then = self.judged(rows, x, report, call, near)
        then.report[:, -1] = first.report[:, -1]  # the tries that it took to get there
        first.put(np.arange(rows.n), then, only=then.report[:, 0] > 0.5)
        return first

    def rows_of(self, other: Engine, rows: Rows) -> Rows:
        """The rows as another engine takes them that asks for less."""
        place = {each.name: k for k, each in enumerate(self.problem.inputs)}
        arrays = [rows.arrays[place[each.name]] for each in other.problem.inputs]
        return rows._replace(arrays=arrays)

    def begin(self, rows: Rows, call: Effort) -> list[PartRows]:
        """The rows of each part.

        Raises: Refused for a row that is unfit.
        """
        found: list[PartRows] = []
        for part in self.parts:
            begun = part.program.begin([rows.arrays[k] for k in part.inputs], rows.starts)
            if not call.checked and begun.unfit.any():
                raise Refused(int(begun.unfit.argmax()), unfit=True)
            settings = searched(part.problem, settings_of(part.problem, call.options))
            found.append(PartRows(part, begun.parameters, settings, begun.rows))
        return found

    def parameters(self, rows: Rows) -> Floats:
        """The parameters (N, p) of rows of the whole problem."""
        return self.program.begin(rows.arrays, rows.starts).parameters

    def inside(self, rows: Rows) -> Floats:
        """Starts of a search (N, n), inside the description's limits; it enters the others."""
        return np.clip(rows.starts[:, self._moved], self.problem.lower, self.problem.upper)

    def judged(
        self, rows: Rows, x: Floats, report: Floats, call: Effort, near: Floats | None = None
    ) -> Found:
        """Verified answers for x (N, n), with steps and tries of its search's report (N, 4)."""
        start = rows.starts
        if near is not None:
            q = near.copy()
            q[:, self._moved] = x
            x, start = nearest_turns(self.problem, q, near)[:, self._moved], near
        numbers = self.numbers(call)
        q, judged = self.program.judge(x, start, self.parameters(rows), report, numbers)
        return Found(q, judged, report[:, REPORT.index("score")].copy())


def search(parts: Sequence[PartRows], x0: Floats, effort: Effort) -> tuple[Floats, Floats]:
    """The configurations found, x (N, n), and the report (N, 4) of `lanes.REPORT`, from x0 (N, n).

    Of several parts the report has the sum of the scores, and the most steps and tries.
    """
    rows = x0.shape[0]
    jobs = [_Job.of(each, x0, effort.seed_try) for each in parts]
    most = _CHUNK if effort.seconds is None else int(min(_CHUNK, _CHUNK_SECONDS / effort.seconds))
    length = max(_LEAST_CHUNK, min(most, -(-rows // (4 * max(1, effort.threads)))))
    chunks = range(0, rows, length)
    done, halt = Counter(rows, effort.progress), threading.Event()
    tries = range(effort.tries)
    purse = _Purse(rows, (effort.seconds or 0.0) * max(1, min(effort.threads, len(chunks))))

    def chunk(first: int) -> None:
        last = min(first + length, rows)
        if effort.seconds is not None and effort.clock is not None:
            _search_in_time(jobs, range(first, last), effort, purse, effort.clock, halt)
            done.add(last - first)
            return
        while first < last and not halt.is_set():  # slice by slice, for Ctrl-C and progress
            reached = jobs[0].next_rows(first, last, effort, tries, halt)
            for job in jobs[1:]:
                job.run(first, reached, effort, tries, halt)
            done.add(reached - first)
            first = reached

    in_parallel(chunk, chunks, effort.threads, halt=halt)
    x = x0.copy()
    for job in jobs:
        x[:, job.rows.columns] = job.x
    reports = np.stack([job.report for job in jobs])
    report = reports.max(axis=0)
    report[:, 0] = reports[..., 0].min(axis=0)
    report[:, 1] = reports[..., 1].sum(axis=0)
    report[:, 3] = np.where(np.isfinite(report[:, 3]), report[:, 3], 0.0)
    return x, report


def scores(rows: PartRows, x: Floats) -> tuple[Floats, NDArray[np.bool_]]:
    """The score (N,) of a part at x (N, n), and whether that is a solution."""
    report = np.tile([0.0, np.inf, 0.0, np.inf], (len(x), 1))
    x = np.ascontiguousarray(x)
    job = _Job(rows._replace(seeds=None), x, x.copy(), report)
    job.run(0, len(x), Effort(1, 1, 0), range(1), threading.Event())
    return report[:, 1], report[:, 0] > 0.5


class _Job(NamedTuple):
    """The search of one part: where it begins, and what it has found so far."""

    rows: PartRows
    x0: Floats
    x: Floats
    report: Floats

    @staticmethod
    def of(rows: PartRows, x0: Floats, seed_try: int) -> _Job:
        x0 = np.ascontiguousarray(x0[:, rows.columns])
        report = np.tile([0.0, np.inf, 0.0, np.inf], (len(x0), 1))
        return _Job(rows if seed_try >= 0 else rows._replace(seeds=None), x0, x0.copy(), report)

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
        most = tries_in_a_slice(self.rows.part.program.made.facts["slice"], effort.steps)
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
        program, rows = self.rows.part.program, self.rows
        tables, seeds = program.tables, rows.seeds
        seed_try, table = (-1, None) if seeds is None else (effort.seed_try, tables["seeds"])
        asked = (effort.steps, tries.start, tries.stop)
        numbers = (first, last, *asked, effort.seed, seed_try, program.made.facts["slice"])
        arrays = (self.x0, rows.parameters, rows.settings, tables["starts"], seeds, table)
        made = program.search(numbers, (*arrays, self.x, self.report))
        return last + min(made, 0)  # below zero: minus the rows that are left

    def unsolved(self, first: int, last: int) -> Places:
        """The rows without a solution, of some."""
        return first + np.flatnonzero(self.report[first:last, 0] == 0.0)

    def again(self, rows: Places, effort: Effort, tries: range, halt: threading.Event) -> None:
        """Search on for these rows, by tries that come after those they have had."""
        some = _Job(self.rows.take(rows), self.x0[rows], self.x[rows], self.report[rows])
        some.run(0, rows.size, effort, tries, halt)
        self.x[rows], self.report[rows] = some.x, some.report


def _search_in_time(
    jobs: Sequence[_Job],
    rows: range,
    effort: Effort,
    purse: _Purse,
    now: Callable[[], float],
    halt: threading.Event,
) -> None:
    """Search for some rows, by more tries of those that are unsolved, until their time is used."""
    first, last = rows.start, rows.stop
    allowed, begin = purse.take(last - first), now()
    tries = min(_FIRST_TRIES if allowed > 0.0 else 1, effort.tries)
    for job in jobs:
        job.run(first, last, effort, range(tries), halt)
    took, made = now() - begin, tries
    while tries < effort.tries and not halt.is_set():
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
            job.again(places, effort, range(tries, more), halt)
        took, made, tries = now() - again, more - tries, more
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
        """Return what was not used; below zero, what was used too much."""
        with self._lock:
            self._seconds += seconds
