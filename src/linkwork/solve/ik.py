"""Inverse kinematics: targets in, configurations that were verified out."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from linkwork.checks import finite_number, whole_number
from linkwork.compile.compiler import Compiler, ProcessBound
from linkwork.compile.threads import thread_count
from linkwork.errors import InputError, LinkworkError, ShapeError
from linkwork.mechanism.model import Mechanism
from linkwork.mechanism.named_positions import Configuration
from linkwork.mechanism.neutral import neutral
from linkwork.solve.clear_search import ClearSearch
from linkwork.solve.clearance import split
from linkwork.solve.engine import Effort, Engine, Found, Known, search
from linkwork.solve.inputs import (
    Choose,
    Inputs,
    Options,
    Rows,
    Targets,
    changed,
    settings_of,
    start_of,
)
from linkwork.solve.limits import Limit
from linkwork.solve.nearest import (
    Tangent,
    Ways,
    bend_of,
    can_be_nearer,
    free_directions,
    joined,
    nearer,
    nullity,
)
from linkwork.solve.objectives import Objective
from linkwork.solve.problem import Problem, listed, make_problem
from linkwork.solve.program import Listed, Program, Progress, Refused
from linkwork.solve.result import AllSolutions, Column, FailureMessages, IKResult, Terms
from linkwork.solve.seeds import starting_points
from linkwork.solve.selection import cheapest, cost_of, nearest_first
from linkwork.solve.tasks import Closed, Pose, Task

Floats = NDArray[np.float64]
_NONE = np.zeros((0, 0))
_PLAIN = frozenset({float, int, str, type(None)})
"""Kinds of options that are the same where they are equal."""
_EXACT, _LEAST_EXACT = 1.0e-8, 1.0e-18
"""The rest of a solution that is taken further, of its squared tolerances and at least."""
_STEPS_TO_EXACT = 16
_STEPS_TO_CLOSE, _TRIES_TO_CLOSE = 100, 20
"""Effort to close the loops of a miss: the first try, from the miss, is nearly always the last."""


class _Usual(NamedTuple):
    """The numbers that one target is solved with in a native call, and what it is judged by."""

    from_seed: Floats
    from_q0: Floats
    terms: Terms


class InverseKinematics(ProcessBound):
    """A compiled solver of some tasks of a mechanism, to be called again with new targets.

    ``tasks`` may be the name of a frame, which stands for its pose. It moves the joints that any of
    the tasks depends on, or those named in ``joints``, but for ``fixed``; all others stay at q0.
    With a `Clearance`, ``joints`` may name others too that move what could touch.
    Every answer lies inside the limits. It holds no state between calls.

    Source: damped least squares with damping in proportion to the error (Sugihara, 2011), random
    restarts (Beeson and Ames, "TRAC-IK", Humanoids 2015), iterated in vector lanes.
    Raises: UnknownNameError, InputError (see `make_problem`).
    """

    def __init__(  # noqa: PLR0913  a problem's parts, all but two of them named
        self,
        mechanism: Mechanism,
        tasks: str | Task | Sequence[Task],
        joints: str | Sequence[str] | None = None,
        *,
        fixed: str | Sequence[str] = (),
        limits: Limit | Iterable[Limit] = (),
        objectives: Objective | Iterable[Objective] = (),
        joint_weights: Mapping[str, float | Sequence[float]] | None = None,
        compiler: Compiler | None = None,
        known: Known | None = None,
    ) -> None:
        """``known``: programs by the key of their problem, to be used and added to."""
        self.mechanism = mechanism
        bounds, clear = split(listed(limits, Limit, "limits", "PositionLimit(0.05)"))
        self.problem: Problem = make_problem(
            mechanism,
            Pose(tasks) if isinstance(tasks, str) else tasks,
            joints=joints,
            fixed=fixed,
            limits=bounds,
            objectives=objectives,
            joint_weights=joint_weights,
            others=() if clear is None or joints is None else clear.coordinates(mechanism),
        )
        self._neutral = neutral(mechanism)
        self._compiler = compiler or Compiler()
        self._known: Known = {} if known is None else known
        self._engine = Engine(self.problem, self._compiler, self._known)
        self._clear = None if clear is None else ClearSearch(self._engine, clear, self._compiler)
        self._inputs = Inputs(self.problem)
        self._terms: tuple[Options, Terms] | None = None
        self._one = self._engine.parts[0].program.one
        self._default = self._usual(Options())
        self._last_call: tuple[Any, _Usual | None] = (None, None)
        self._last_options: tuple[Any, Options] = (None, Options())

    def __repr__(self) -> str:
        """A line on what is solved for."""
        return f"InverseKinematics({self.problem.summary(clear=self._clear is not None)})"

    @property
    def parts(self) -> tuple[Problem, ...]:
        """The problems that are searched for by themselves: they share no moved joint."""
        return tuple(part.problem for part in self._engine.parts)

    @property
    def programs(self) -> tuple[Program, ...]:
        """The compiled programs of the parts."""
        return tuple(part.program for part in self._engine.parts)

    def solve(  # noqa: PLR0913  all but two are named options
        self,
        targets: Targets = None,
        q0: Configuration | None = None,
        *,
        position_tolerance: float | None = None,
        rotation_tolerance: float | None = None,
        steps: int | None = None,
        tries: int | None = None,
        seed: int | None = None,
        seconds: float | None = None,
        best_of: int | None = None,
        choose: Choose | None = None,
        options: Options | None = None,
        threads: int = 1,
        progress: Progress | None = None,
    ) -> IKResult:
        """Configurations that do the tasks, for targets of any leading shape.

        ``targets``: of the one task, one for each task in order, or a mapping of task names; what
        is not given is the task's own. ``q0`` (..., nq), or positions by joint name, is where the
        search starts and where joints that are not moved stay; default: neutral, and a search for
        one whole pose starts near it. Joints that move and start outside their limits begin at the
        nearest; those that stay must be inside, where 1e-6 outside counts as rounding.
        The keywords up to ``choose`` are fields of `Options`, and go before those of ``options``.
        ``progress(done, total)`` is called some ten times a second; of several priorities, those
        that fail count again, being searched for again. The result has the leading shape of targets
        and q0 together.

        Raises: ShapeError, InputError for targets that are not finite or of the wrong shape, or q0
        that is not finite or leaves a joint that stays outside its limits; UnknownNameError for a
        name that is none of the tasks'.
        """
        clock = self._compiler.clock
        begin = clock() if clock else math.nan
        changes = (
            position_tolerance, rotation_tolerance, steps, tries, seed, seconds, best_of, choose
        )  # fmt: skip
        first: Floats | None = None
        if progress is None:
            # nothing but targets is what most calls give
            plain = options is None and position_tolerance is None and rotation_tolerance is None
            plain = plain and steps is None and tries is None and seed is None
            plain = plain and seconds is None and best_of is None and choose is None
            usual = self._default if plain else self._repeated(options, changes)
            given = None if usual is None else self._inputs.native(targets)
            if usual is not None and given is not None:
                if q0 is None:
                    first = self._one(*given, self._neutral, usual.from_seed)
                else:
                    first = self._one(*given, q0, usual.from_q0)
                solved = first is not None and first[self.mechanism.n_q] != 0.0
                if first is not None and solved and self._clear is None:
                    n_q = self.mechanism.n_q
                    took = clock() - begin if clock else math.nan
                    return IKResult(first[:n_q], first[n_q:], usual.terms, _NONE, took)
        chosen = self._chosen(options, changes)
        effort = self._effort(chosen, thread_count(threads), progress, given=q0 is not None)
        start = self._neutral if q0 is None else start_of(self.problem, q0)
        found, cost, rows = self._found(targets, start, effort, first)
        numbers, checked = _NONE, effort._replace(checked=True)
        end = math.inf if chosen.seconds is None else begin + chosen.seconds * rows.n
        missed, spaces = found.failed, None
        touching = None if self._clear is None else self._clear.settle(found, rows, checked, end)
        if missed.size:
            late = not chosen.nearest_miss or (clock is not None and clock() >= end)
            self._make_nearer(found, missed, rows, checked, late=late)
        if self._clear is not None and touching is not None:
            spaces = self._clear.spaces(found.q, touching, chosen)
            if cost is not None:
                cost = cost_of(self.problem, chosen.choose, self._compiler)(found.q, rows.starts)
        if found.failed.size:
            numbers = self._engine.parameters(rows)
        lead = rows.lead
        return IKResult(
            found.q.reshape(*lead, found.q.shape[1]),
            found.report.reshape(*lead, found.report.shape[1]),
            self._terms_of(chosen),
            numbers,
            clock() - begin if clock else math.nan,
            None if cost is None else cost.reshape(lead),
            spaces,
        )

    def listed(self, options: Options, rows: int) -> list[Listed]:
        """The parts for compiled code that solves so many rows at a time; see `Listed`.

        They are solved one after the other, each from what the one before has found, and all are
        to succeed. Targets are those of the tasks.

        Raises: InputError for a task without a target.
        """
        call = self._effort(options, 1, None, given=True)._replace(checked=True)
        every = self._inputs.rows(None, np.tile(self._neutral, (rows, 1))).arrays
        found: list[Listed] = []
        for part in self._engine.parts:
            engine = Engine(part.problem, self._compiler, self._known)
            targets = [every[k] for k in part.inputs]
            found.append(Listed(engine.program, engine.numbers(call), targets, rows))
        return found

    def _found(
        self, targets: Targets, start: Floats, call: Effort, first: Floats | None
    ) -> tuple[Found, Floats | None, Rows]:
        """The answers to all rows, their costs where they are chosen by these, and the rows.

        Targets are left to compiled code to check; where it refuses one, they are read with care,
        and errors say what is wrong. ``first`` is the failure of a native call of one row.
        """
        rows = self._inputs.rows(targets, start, checked=call.checked)
        known, seconds = None, call.options.seconds
        if seconds is not None:
            call = call._replace(seconds=seconds * rows.n)
        if first is not None:
            n_q = self.mechanism.n_q
            known = Found(first[None, :n_q], first[None, n_q:], np.zeros(1))
        try:
            if call.options.best_of > 1:
                return *self._best(rows, call), rows
            return self._engine.solve(rows, call, first=known), None, rows
        except Refused as refused:
            if call.checked or not refused.unfit:
                raise _too_large(refused) from None
        return self._found(targets, start, call._replace(checked=True), first)

    def _repeated(self, options: Options | None, changes: tuple[Any, ...]) -> _Usual | None:
        """The numbers for these options where they came in the last call too; else None."""
        if not _PLAIN.issuperset(map(type, changes)):
            return None
        asked = (options, changes, tuple(map(type, changes)))
        known, made = self._last_call
        if not _is_same(known, asked):
            self._last_call = asked, None
            return None
        if made is None:
            try:
                made = self._usual(self._chosen(options, changes))
            except LinkworkError:
                return None  # said on the general way
            self._last_call = asked, made
        return made

    def _chosen(self, options: Options | None, changes: tuple[Any, ...]) -> Options:
        """The options of a call; the same object as in the last call where they are the same."""
        asked = (options, changes, tuple(map(type, changes)))
        known, made = self._last_options
        if not (_PLAIN.issuperset(asked[2]) and _is_same(known, asked)):
            made = changed(options, changes)
            self._last_options = asked, made
        return made

    def _usual(self, options: Options) -> _Usual | None:
        """The numbers of one target in one native call; None where that does not do all."""
        if options.best_of > 1 or options.seconds is not None:
            return None
        calls = [self._effort(options, 1, None, given=given) for given in (False, True)]
        if not self._engine.is_native(calls[0]):
            return None
        from_seed, from_q0 = (self._engine.numbers(call) for call in calls)
        return _Usual(from_seed, from_q0, self._terms_of(options))

    def _terms_of(self, options: Options) -> Terms:
        """The terms that answers are judged by."""
        last = self._terms
        if last is None or last[0] is not options:
            problem, settings = self.problem, settings_of(self.problem, options)
            columns = [Column(t.name, g, t.priority) for t in problem.tasks for g in t.groups]
            messages = FailureMessages(problem, settings, options.tries_for(problem))
            last = options, Terms(tuple(columns), settings[: len(columns)], messages)
            self._terms = last
        return last[1]

    def _effort(
        self, options: Options, threads: int, progress: Progress | None, *, given: bool
    ) -> Effort:
        """The effort of a call: with q0 ``given`` the second try is at a seed, else the first."""
        if options.seconds is not None and self._compiler.clock is None:
            raise InputError("seconds needs a clock: Compiler(clock=...), as a Robot's solver has")
        steps, tries = options.steps_for(self.problem), options.tries_for(self.problem)
        seconds, clock = options.seconds, self._compiler.clock
        return Effort(
            steps, tries, options.seed, int(given), threads, progress, seconds, clock, options
        )

    def _best(self, rows: Rows, call: Effort) -> tuple[Found, Floats]:
        """The cheapest of the plain search's answer and of what other starts of each row lead to.

        What they lead to is put on the turns that are nearest to the start; the plain answer counts
        so and as it is.
        """
        n, many, start = rows.n, call.options.best_of, rows.starts
        cost = cost_of(self.problem, call.options.choose, self._compiler)
        told = call.progress
        first = then = call._replace(progress=None)
        if told is not None:
            first = call._replace(progress=_share(told, 0, n * many))
            then = call._replace(progress=_share(told, n, n * many))
        plain = self._engine.solve(rows, first)
        known = np.column_stack([plain.misses, plain.misses, plain.report[:, -2:]])
        turned = self._engine.judged(rows, plain.q[:, self._moved], known, call, start)
        points = starting_points(self.problem, start, many, call.options.seed)[:, 1:]
        near = np.repeat(start, many - 1, axis=0)
        others = rows.repeated(many - 1, points.reshape(near.shape))
        others = self._engine.solve(others, then._replace(seed_try=1), near)
        found = Found(
            *(
                np.concatenate(
                    [a[:, None], b[:, None], c.reshape(n, many - 1, *c.shape[1:])], axis=1
                )
                for a, b, c in zip(plain, turned, others, strict=True)
            )
        )
        flat = found.q.reshape(-1, found.q.shape[-1])
        costs = cost(flat, np.repeat(start, many + 1, axis=0)).reshape(n, many + 1)
        solved = found.report[:, :, 0] > 0.5
        if self._clear is not None:  # where none is clear, one that touches is searched on from
            clear = solved & self._clear.is_clear(flat).reshape(n, many + 1)
            solved = np.where(clear.any(axis=1, keepdims=True), clear, solved)
        pick = np.arange(n), cheapest(costs, solved, found.misses)
        return Found(*(part[pick] for part in found)), costs[pick]

    @property
    def _moved(self) -> list[int]:
        return list(self.problem.moved)

    def _make_nearer(
        self, found: Found, missed: NDArray[np.int64], rows: Rows, call: Effort, *, late: bool
    ) -> None:
        """Make the best of what was missed, in place.

        Loops are closed from where the search has left them; without loops, and where it is not
        late, the nearest configurations are found. Lower priorities and objectives have no say.
        """
        engine, some, q = self._engine, rows.take(missed), found.q[missed]
        x = q[:, self._moved]
        if self._closer is not None:
            closed = self._closer.solve(None, q, steps=_STEPS_TO_CLOSE, tries=_TRIES_TO_CLOSE)
            x = np.where(closed.success[:, None], closed.q[:, self._moved], x)
        elif not late:
            of = engine.priority0 if self.problem.has_secondary_goals else engine
            for part in of.begin(engine.rows_of(of, some), call):
                if can_be_nearer(part.part.problem):
                    columns = [self.problem.moved.index(k) for k in part.part.problem.moved]
                    x[:, columns] = nearer(part, np.ascontiguousarray(x[:, columns]), call)
        known = np.zeros((len(x), 4))
        known[:, 2:] = found.report[missed, -2:]
        near = some.starts if call.options.best_of > 1 else None
        better = engine.judged(some, x, known, call, near)
        found.put(missed, better, only=(x != q[:, self._moved]).any(axis=1))

    @cached_property
    def _closer(self) -> InverseKinematics | None:
        """A solver that closes the loops and asks for nothing else; None where none are kept."""
        asked = [each.task for each in self.problem.tasks]
        closing = [task for task in asked if isinstance(task, Closed)]
        if not closing or len(closing) == len(asked):
            return None
        m, moved = self.mechanism, set(self.problem.coordinates)
        names = [m.joint_names[c] for c in closing[0].bind(m).coordinates if c in moved]
        if not names:
            return None
        return InverseKinematics(m, closing[0], names, compiler=self._compiler, known=self._known)

    def all_solutions(  # noqa: PLR0913  all but two are named options
        self,
        targets: Targets = None,
        q0: Configuration | None = None,
        *,
        starts: int = 500,
        apart: float = 1.0e-2,
        position_tolerance: float | None = None,
        rotation_tolerance: float | None = None,
        steps: int | None = None,
        seed: int | None = None,
        options: Options | None = None,
        threads: int = 1,
        progress: Progress | None = None,
    ) -> AllSolutions:
        """All solutions of one target that are found from ``starts`` starts, (n, nq), verified.

        Solutions that differ by less than ``apart`` (radians of the joint that differs most; whole
        turns do not count) are one. They come in order of their distance from q0. Of a mechanism
        with freedom left the solutions are a continuum: these are samples of it.

        Raises: as `solve`; ShapeError for more than one target, InputError for starts and apart.
        """
        clock = self._compiler.clock
        begin = clock() if clock else math.nan
        changes = (position_tolerance, rotation_tolerance, steps, 1, seed, None, None, None)
        once = replace(changed(options, changes), tries=1, seconds=None)
        n = whole_number(starts, "starts")
        apart = finite_number(apart, "apart", least=0.0)
        start = self._neutral if q0 is None else start_of(self.problem, q0)
        row = self._inputs.rows(targets, start, checked=True)
        if row.lead != ():
            raise ShapeError(f"all solutions are those of one target, not of shape {row.lead}")
        effort = self._effort(once, thread_count(threads), progress, given=True)
        call = effort._replace(checked=True)
        points = starting_points(self.problem, row.start, n, once.seed)[0]
        whole = np.broadcast_to(row.start, points.shape)
        problem = self.problem
        try:
            found = self._engine.solve(row.repeated(n, points), call, near=whole)
        except Refused as refused:
            raise _too_large(refused) from None
        solved = np.flatnonzero(found.report[:, 0] > 0.5)
        touching = ""
        if self._clear is not None and solved.size:
            touching = self._clear.clearest(found.q[solved])
            solved = solved[self._clear.is_clear(found.q[solved])]
        ways = self._ways(row, call)
        if solved.size and not problem.has_secondary_goals:
            self._take_further(found, solved, ways, row, call)
        solved = solved[nearest_first(problem, found.q[solved], row.start, apart)]
        free: tuple[Floats, ...] | None = None
        if not problem.has_secondary_goals:
            numbers = self._engine.parameters(row)[0], settings_of(problem, once)
            places, free = self._families(found.q[solved], ways, numbers)
            solved = solved[places]
        terms, took = self._terms_of(once), clock() - begin if clock else math.nan
        why = "solved"
        if not solved.size:
            best = int(found.misses.argmin())
            messages = FailureMessages(problem, settings_of(problem, once), n)
            numbers = self._engine.parameters(row)[0]
            why = touching or messages(found.q[best], found.report[best][1:-2], numbers)
        spaces = (
            None if self._clear is None else self._clear.spaces(found.q[solved], solved[:0], once)
        )
        return AllSolutions(found.q[solved], found.report[solved], terms, took, free, why, spaces)

    def _take_further(
        self, found: Found, solved: NDArray[np.int64], ways: Ways, row: Rows, call: Effort
    ) -> None:
        """Take solutions among what is found further, to where rounding alone is left."""
        x = found.q[solved][:, self._moved]
        closer, good = ways.exact(x)
        known = np.zeros((len(x), 4))
        known[:, 2:] = found.report[solved, -2:]
        near = np.repeat(row.start, len(x), axis=0)
        x = np.where(good[:, None], closer, x)
        better = self._engine.judged(row.repeated(len(x), near), x, known, call, near)
        found.put(solved, better, only=better.report[:, 0] > 0.5)

    def _ways(self, row: Rows, call: Effort) -> Ways:
        """The solutions next to any positions, to rounding, and how the squared error is bent."""
        problem, parts = self.problem, self._engine.begin(row, call)
        once = Effort(_STEPS_TO_EXACT, 1, 0)

        def exact(x: Floats) -> tuple[Floats, NDArray[np.bool_]]:
            exactly = [
                each._replace(settings=_much_narrower(each.part.problem, each.settings))
                for each in parts
            ]
            all_same = np.zeros(len(x), dtype=np.int64)
            after, report = search([each.take(all_same) for each in exactly], x, once)
            return after, report[:, 0] > 0.5

        def bend(x: Floats) -> Floats:
            bends = np.zeros((len(x), len(problem.moved_v), len(problem.moved_v)))
            for each in parts:
                v = [problem.moved_v.index(k) for k in each.part.problem.moved_v]
                bends[np.ix_(range(len(x)), v, v)] = bend_of(each, x[:, each.columns])
            return bends

        return Ways(exact, bend)

    def _families(
        self, q: Floats, ways: Ways, numbers: tuple[Floats, Floats]
    ) -> tuple[NDArray[np.int64], tuple[Floats, ...]]:
        """Places of the solutions of q (K, nq) to tell, and the free directions (d, nv) of each.

        Of those that go on in more directions than any configuration does the first of each family.
        """
        problem, places = self.problem, np.arange(len(q))
        if not len(q):
            return places, ()
        x = q[:, self._moved]
        free = free_directions(problem, x, ways)
        usual = nullity(problem, *numbers)
        families = np.flatnonzero([len(each) > usual for each in free])
        if families.size:
            first = families[joined(problem, x[families], ways)]
            places = places[~np.isin(places, families[first != families])]
        unit = Tangent(problem).unit
        directions = [np.zeros((len(free[k]), self.mechanism.n_v)) for k in places]
        for each, k in zip(directions, places, strict=True):
            each[:, list(problem.moved_v)] = free[k] * unit
        return places, tuple(directions)


def _is_same(known: tuple[Any, ...] | None, asked: tuple[Any, ...]) -> bool:
    """Whether options and changes of two calls are the same."""
    return known is not None and known[0] is asked[0] and known[1:] == asked[1:]


def _too_large(refused: Refused) -> InputError:
    return InputError(
        f"row {refused.row} has numbers so large, or a quaternion so short, that no "
        "answer could be verified"
    )


def _much_narrower(problem: Problem, settings: Floats) -> Floats:
    """Settings of a search that goes on until rounding alone is left."""
    narrow = settings.copy()
    n = sum(len(task.groups) for task in problem.tasks)
    narrow[:n] = np.minimum(narrow[:n], np.maximum(_EXACT * narrow[:n], _LEAST_EXACT))
    return narrow


def _share(progress: Progress, n: int, total: int) -> Progress:
    """The same progress after n are done, of so many in all."""
    return lambda done, _: progress(n + done, total)
