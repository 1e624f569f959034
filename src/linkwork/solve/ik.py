"""Inverse kinematics: targets in, configurations that were verified out."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from linkwork.checks import real_array
from linkwork.compile.compiler import Compiler
from linkwork.compile.lanes import tries_in_a_slice
from linkwork.compile.process_bound import ProcessBound
from linkwork.compile.threads import thread_count
from linkwork.errors import InputError, ShapeError
from linkwork.mechanism.model import Mechanism
from linkwork.mechanism.named_positions import Configuration
from linkwork.mechanism.neutral import neutral
from linkwork.solve import best as several
from linkwork.solve.code import Search
from linkwork.solve.compiled import Known, compiled
from linkwork.solve.cost import cost_of, distance
from linkwork.solve.explain import ROUNDING, FailureWords
from linkwork.solve.families import Ways, bend_of, free_directions, joined, nullity
from linkwork.solve.inputs import Targets, rows_of, searched, settings_of, start_of
from linkwork.solve.limits.base import Limit
from linkwork.solve.nearest import can_be_nearer, nearer
from linkwork.solve.objectives import Objective
from linkwork.solve.options import Options, whole_number, with_changes
from linkwork.solve.parts import deciding_part, numbers_of, parts_of
from linkwork.solve.pipeline import Refused
from linkwork.solve.problem import Problem, listed, make_problem
from linkwork.solve.result import Column, IKResult, Terms
from linkwork.solve.searching import Effort, Part, Progress, search
from linkwork.solve.single import Numbers, SingleCalls
from linkwork.solve.tangent import Tangent
from linkwork.solve.tasks.base import Task
from linkwork.solve.tasks.closed import Closed
from linkwork.solve.tasks.pose import Pose
from linkwork.solve.texts import takes_pose, taking, targets_of, thresholds

Floats = NDArray[np.float64]
_NONE = np.zeros((0, 0))
_EXACT, _LEAST_EXACT = 1.0e-8, 1.0e-18
"""Of the squared tolerances, and at least: what is left of a solution that is taken further."""
_STEPS_TO_EXACT = 16
_STEPS_TO_CLOSE, _TRIES_TO_CLOSE = 100, 20
"""Of the loops of a miss: the first try, from the miss, is nearly always the last."""


class _Found(NamedTuple):
    """What a search came to, row by row."""

    q: Floats  # (N, nq)
    report: Floats  # (N, groups + 4), see `IKResult.report`
    misses: Floats  # (N,), what the best of failures has least


class _Call(NamedTuple):
    """What holds for all rows."""

    options: Options
    settings: Floats
    searched: Floats  # the settings of the search, which goes on a little further
    effort: Effort


class _Made(NamedTuple):
    """What a result is made of."""

    q: Floats
    report: Floats
    terms: Terms
    numbers: Floats


class InverseKinematics(ProcessBound):
    """A compiled solver of some tasks of a mechanism, to be called again with new targets.

    ``tasks`` may be the name of a frame, which stands for its pose. It moves the joints that any of
    the tasks depends on, or those named in ``joints``, but for ``fixed``; all others stay at q0.
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
        joint_weights: Mapping[str, float] | None = None,
        compiler: Compiler | None = None,
        known: Known | None = None,
    ) -> None:
        """``known``: code by the key of its problem, to be used and added to."""
        self.mechanism = mechanism
        self.problem: Problem = make_problem(
            mechanism,
            Pose(tasks) if isinstance(tasks, str) else tasks,
            joints=joints,
            fixed=fixed,
            limits=limits,
            objectives=objectives,
            joint_weights=joint_weights,
        )
        self._neutral = neutral(mechanism)
        self._terms: tuple[Options, Terms, Floats] | None = None
        self._compiler = compiler or Compiler()
        self._known: Known = {} if known is None else known
        self._code = compiled(self.problem, self._compiler, self._known)
        self._parts = self._parts_of(self.problem)
        self._pipeline = self._code.pipeline
        self._takes_pose = self._pipeline is not None and takes_pose(self.problem)
        self._single: SingleCalls | None = None
        if self._pipeline is not None and taking(self.problem):
            one = self._pipeline.one
            self._single = SingleCalls(self.problem, one, self._neutral, self._numbers_for)

    @property
    def parts(self) -> tuple[Problem, ...]:
        """The problems that are searched for by themselves: they share no moved joint."""
        return tuple(part.problem for part in self._parts)

    @property
    def searches(self) -> tuple[Search, ...]:
        """The compiled searches of the parts."""
        return tuple(part.search for part in self._parts)

    @property
    def search(self) -> Search:
        """The compiled search of the first part."""
        return self._parts[0].search

    def _parts_of(self, problem: Problem) -> list[Part]:
        """The parts of a problem of some of the tasks, and the searches for them."""
        searches = compiled(problem, self._compiler, self._known).searches
        pairs = zip(parts_of(problem), searches, strict=True)
        return [_part(self.problem, part, search) for part, search in pairs]

    def solve(
        self,
        targets: Targets = None,
        q0: Configuration | None = None,
        *,
        options: Options | None = None,
        threads: int = 1,
        progress: Progress | None = None,
        **changes: Any,
    ) -> IKResult:
        """Configurations that do the tasks, for targets of any leading shape.

        ``targets``: of the one task, one for each task in order, or a mapping of task names; what
        is not given is the task's own. ``q0`` (..., nq), or positions by joint name, is where the
        search starts and where joints that are not moved stay; default: neutral, and a search for
        one whole pose starts near it. Joints that move and start outside their limits begin at the
        nearest; those that stay must be inside, where 1e-6 outside counts as rounding.
        ``changes`` are fields of ``options``. ``progress(done, total)`` is called some ten times a
        second; of several priorities, those that fail count again, being searched for again. The
        result has the leading shape of targets and q0 together.

        Raises: ShapeError, InputError for targets that are not finite or of the wrong shape, or q0
        that is not finite or leaves a joint that stays outside its limits; UnknownNameError for a
        name that is none of the tasks'.
        """
        clock = self._compiler.clock
        begin = clock() if clock else math.nan
        single = self._single
        if single is not None and progress is None:
            numbers = single.numbers(options, changes)
            row = None if numbers is None else single(numbers, targets, q0)
            if numbers is not None and row is not None:
                chosen = with_changes(options, changes, self.solve)
                return self._of_row(row, (targets, q0), (numbers.terms, chosen), begin)
        options, threads = with_changes(options, changes, self.solve), thread_count(threads)
        if self._takes_pose and options.best_of == 1 and options.seconds is None:
            made = self._poses(targets, q0, options, (threads, progress))
            if made is not None:
                took = clock() - begin if clock else math.nan
                return IKResult(made.q, made.report, made.terms, made.numbers, took)
        parameters, start, lead = rows_of(self.problem, targets, self._start(q0))
        terms, call = self._call(options, len(start), threads, progress, given=q0 is not None)
        if options.best_of > 1:
            found, cost = self._best(parameters, start, call)
        elif self._pipeline is not None and options.seconds is None:
            found, cost = self._at_once(parameters, start, call), None
        else:
            found, cost = self._from(parameters, start, call), None
        limit = call.effort.seconds
        late = clock is not None and limit is not None and clock() - begin >= limit
        self._mend_misses(found.q, found.report, (parameters, start), call, late=late)
        return IKResult(
            found.q.reshape(*lead, found.q.shape[1]),
            found.report.reshape(*lead, found.report.shape[1]),
            terms,
            parameters,
            clock() - begin if clock else math.nan,
            None if cost is None else cost.reshape(lead),
        )

    def _start(self, q0: Configuration | None) -> Floats:
        """Where the search starts (..., nq)."""
        return self._neutral if q0 is None else start_of(self.problem, q0)

    def _of_row(
        self,
        row: Floats,
        given: tuple[Targets, Configuration | None],
        how: tuple[Terms, Options],
        begin: float,
    ) -> IKResult:
        """The result of one target in one call of compiled code."""
        terms, options = how
        n_q = self.mechanism.n_q
        numbers = _NONE  # for words about a failure
        if row[n_q] == 0.0:
            numbers, start, _ = rows_of(self.problem, given[0], self._start(given[1]))
            call = self._call(options, 1, 1, None, given=given[1] is not None)[1]
            self._mend_misses(row[None, :n_q], row[None, n_q:], (numbers, start), call)
        clock = self._compiler.clock
        took = clock() - begin if clock else math.nan
        return IKResult(row[:n_q], row[n_q:], terms, numbers, took)

    def _mend_misses(
        self,
        q: Floats,
        report: Floats,
        given: tuple[Floats, Floats],
        call: _Call,
        *,
        late: bool = False,
    ) -> None:
        """Make the best of what was missed, q (N, nq) and report (N, k), in place.

        ``given``: parameters (N, p) and starts (N, nq). The tries that a native call has no time
        for come first; then loops are closed from where the search has left them, or, without
        loops and where it is not late, the nearest configurations are found.
        """
        missed = np.flatnonzero(report[:, 0] < 0.5)
        if not missed.size:
            return
        parameters, start = (each[missed] for each in given)
        at_once = self._pipeline is not None and call.options.best_of == 1
        if (
            at_once
            and call.options.seconds is None
            and self._tries_at_once(call) < call.effort.tries
        ):
            quiet = call._replace(effort=call.effort._replace(progress=None))
            found = self._from(parameters, start, quiet)
            q[missed], report[missed] = found.q, found.report
            failed = found.report[:, 0] < 0.5
            missed, parameters, start = missed[failed], parameters[failed], start[failed]
        if self._closer is not None:
            self._close_misses(q, report, (missed, parameters), call)
        elif missed.size and not late:
            better = self._nearer(q[missed], report[missed], (parameters, start), call)
            q[missed], report[missed] = better.q, better.report

    def _close_misses(
        self, q: Floats, report: Floats, given: tuple[NDArray[np.int64], Floats], call: _Call
    ) -> None:
        """Close the loops of these rows, with these parameters, in place.

        What cannot be closed from there stays open, and its reason says by how much.
        """
        (missed, parameters), closer = given, self._closer
        if closer is None or not missed.size:
            return
        found = closer.solve(None, q[missed], steps=_STEPS_TO_CLOSE, tries=_TRIES_TO_CLOSE)
        rows, at = missed[found.success], found.q[found.success]
        q[rows] = at
        measures = self._code.check(at, parameters[found.success], call.settings)
        report[rows, 1:-2], report[rows, 0] = measures, self._success(at, measures, call.settings)

    def _nearer(
        self, q: Floats, report: Floats, given: tuple[Floats, Floats], call: _Call
    ) -> _Found:
        """Misses, made nearer to what decides: lower priorities and objectives have no say here."""
        parameters, start = given
        problem, moved = self.problem, list(self.problem.moved)
        x = q[:, moved]
        for part in self._deciding_parts if problem.improves else self._parts:
            if can_be_nearer(part.problem):
                columns = slice(None) if part.columns is None else part.columns
                numbers = part.numbers((parameters, call.searched))
                x[:, columns] = nearer(
                    part, numbers, np.ascontiguousarray(x[:, columns]), call.effort
                )
        known = np.zeros((len(q), 4))
        known[:, 2:] = report[:, -2:]
        near = start if call.options.best_of > 1 else None
        found = self._judged(parameters, x, known, call, (start, near))
        same = (x == q[:, moved]).all(axis=1)
        found.q[same], found.report[same] = q[same], report[same]
        return found

    @cached_property
    def _closer(self) -> InverseKinematics | None:
        """A solver that closes the loops and asks for nothing else; None where none are kept."""
        asked = listed(self.problem.asked["tasks"], Task, "tasks", "Pose('tool0')")
        closing = [task for task in asked if isinstance(task, Closed)]
        if not closing or len(closing) == len(asked):
            return None
        m, moved = self.mechanism, set(self.problem.coordinates)
        names = [m.joint_names[c] for c in closing[0].bind(m).coordinates if c in moved]
        if not names:
            return None
        return InverseKinematics(m, closing[0], names, compiler=self._compiler, known=self._known)

    def all_solutions(
        self,
        targets: Targets = None,
        q0: Configuration | None = None,
        *,
        starts: int = 500,
        apart: float = 1.0e-2,
        options: Options | None = None,
        threads: int = 1,
        progress: Progress | None = None,
        **changes: Any,
    ) -> IKResult:
        """All solutions of one target that are found from ``starts`` starts, (n, nq), verified.

        Solutions that differ by less than ``apart`` (radians of the joint that differs most; whole
        turns do not count) are one. They come in order of their distance from q0. Of a mechanism
        with freedom left the solutions are a continuum: these are samples of it.

        Raises: as `solve`; ShapeError for more than one target, InputError for starts and apart.
        """
        clock = self._compiler.clock
        begin = clock() if clock else math.nan
        options, threads = with_changes(options, changes, self.all_solutions), thread_count(threads)
        n = whole_number(starts, "starts")
        if not (isinstance(apart, (int, float)) and 0.0 <= apart < math.inf):
            raise InputError(f"apart must be a finite number from 0, not {apart!r}")
        parameters, start, lead = rows_of(self.problem, targets, self._start(q0))
        if lead != ():
            raise ShapeError(f"all_solutions takes one target, not targets of shape {lead}")
        once = replace(options, tries=1, seconds=None)
        terms, call = self._call(once, n, threads, progress, given=True)
        points = several.starting_points(self.problem, start, n, options.seed)[0]
        whole = np.broadcast_to(start, points.shape)
        found = self._from(np.repeat(parameters, n, axis=0), points, call, near=whole)
        solved = np.flatnonzero(found.report[:, 0] > 0.5)
        ways = self._ways(parameters[0], call)
        if solved.size and not self.problem.improves:
            exact = self._exactly(found, solved, ways, (parameters, start, call))
            found.q[solved], found.report[solved] = exact.q, exact.report
        near = distance(self.problem, found.q[solved], start)
        solved = solved[np.argsort(near, kind="stable")]
        solved = solved[several.distinct(self.problem, found.q[solved], apart)]
        free = None
        if not self.problem.improves:
            places, free = self._families(found.q[solved], ways, (parameters[0], call.settings))
            solved = solved[places]
        took = clock() - begin if clock else math.nan
        why = "solved"
        if not solved.size:
            best = int(found.misses.argmin())
            words = FailureWords(self.problem, call.settings, n)
            why = words(found.q[best], found.report[best][1:-2], parameters[0])
        return IKResult(
            found.q[solved], found.report[solved], terms, _NONE, took,
            of_none=why, free_directions=free,
        )  # fmt: skip

    def _exactly(
        self,
        found: _Found,
        solved: NDArray[np.int64],
        ways: Ways,
        given: tuple[Floats, Floats, _Call],
    ) -> _Found:
        """The solutions among what is found, taken further, to where rounding alone is left."""
        parameters, start, call = given
        x = found.q[solved][:, self.problem.moved]
        closer, good = ways.exact(x)
        known = np.zeros((len(x), 4))
        known[:, 2:] = found.report[solved, -2:]
        rows, near = (np.repeat(each, len(x), axis=0) for each in (parameters, start))
        better = self._judged(rows, np.where(good[:, None], closer, x), known, call, (near, near))
        kept = better.report[:, 0] < 0.5
        better.q[kept], better.report[kept] = found.q[solved[kept]], found.report[solved[kept]]
        return better

    def _ways(self, parameters: Floats, call: _Call) -> Ways:
        """The solutions next to any positions, to rounding, and how the squared error is bent."""
        problem, settings = self.problem, call.searched.copy()
        n = sum(len(task.groups) for task in problem.tasks)
        least = np.maximum(_EXACT * settings[:n], _LEAST_EXACT)
        settings[:n] = np.minimum(settings[:n], least)
        once = Effort(_STEPS_TO_EXACT, 1, 0)

        def exact(x: Floats) -> tuple[Floats, NDArray[np.bool_]]:
            rows = np.broadcast_to(parameters, (len(x), len(parameters)))
            after, report = search(self._parts, (rows, settings), x, once)
            return after, report[:, 0] > 0.5

        def bend(x: Floats) -> Floats:
            bends = np.zeros((len(x), len(problem.moved_v), len(problem.moved_v)))
            for part in self._parts:
                columns = slice(None) if part.columns is None else part.columns
                numbers = part.numbers((parameters[None], call.searched))
                found = bend_of(part, numbers, x[:, columns])
                v = [problem.moved_v.index(k) for k in part.problem.moved_v]
                bends[np.ix_(range(len(x)), v, v)] = found
            return bends

        return Ways(exact, bend)

    def _families(
        self, q: Floats, ways: Ways, numbers: tuple[Floats, Floats]
    ) -> tuple[NDArray[np.int64], tuple[Floats, ...]]:
        """Which of the solutions q (K, nq) to tell, and the free directions (d, nv) of each.

        Of those that go on in more directions than any configuration does the first of each family.
        """
        problem, places = self.problem, np.arange(len(q))
        if not len(q):
            return places, ()
        x = q[:, problem.moved]
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

    def _call(
        self,
        options: Options,
        rows: int,
        threads: int,
        progress: Progress | None,
        *,
        given: bool,
    ) -> tuple[Terms, _Call]:
        """What answers are judged by, and how they are searched for; ``given``: q0 is.

        Then the second try starts at a seed, else the first.
        """
        last = self._terms
        if last is None or last[0] is not options:
            problem, settings = self.problem, settings_of(self.problem, options)
            columns = [Column(t.name, g, t.priority) for t in problem.tasks for g in t.groups]
            words = FailureWords(problem, settings, options.tries_for(problem))
            last = options, Terms(tuple(columns), settings[: len(columns)], words), settings
            self._terms = last
        seconds = options.seconds
        if seconds is not None and self._compiler.clock is None:
            raise InputError("seconds needs a clock: Compiler(clock=...), as a Robot's solver has")
        effort = Effort(
            options.steps_for(self.problem),
            options.tries_for(self.problem),
            options.seed,
            int(given),
            threads,
            progress,
            None if seconds is None else seconds * rows,
            self._compiler.clock,
        )
        return last[1], _Call(options, last[2], searched(self.problem, last[2]), effort)

    def _numbers_for(self, options: Options) -> Numbers:
        """What one target is solved with by these options."""
        terms, call = self._call(options, 1, 1, None, given=False)
        return Numbers(self._numbers(call, seed_try=0), self._numbers(call, seed_try=1), terms)

    def _poses(
        self,
        targets: Targets,
        q0: Configuration | None,
        options: Options,
        how: tuple[int, Progress | None],
    ) -> _Made | None:
        """Poses (..., 4, 4) as they are, which compiled code checks; None for all else."""
        pipeline = self._pipeline
        if pipeline is None or not isinstance(targets, np.ndarray):
            return None
        poses = real_array(targets, "targets")
        if poses.shape[-2:] != (4, 4):
            return None
        start = self._start(q0)
        try:
            lead = np.broadcast_shapes(poses.shape[:-2], start.shape[:-1])
        except ValueError:
            return None
        n_q = self.mechanism.n_q
        flat = np.ascontiguousarray(np.broadcast_to(poses, (*lead, 4, 4)).reshape(-1, 4, 4))
        if start.ndim == 1:
            start = np.ascontiguousarray(start[None])
        else:
            whole = np.broadcast_to(start, (*lead, n_q)).reshape(-1, n_q)
            start = np.ascontiguousarray(whole)
        terms, call = self._call(options, len(flat), *how, given=q0 is not None)
        numbers = self._numbers(call, call.effort.seed_try)
        try:
            q, report = pipeline.run([flat], start, numbers, threads=how[0], progress=how[1])
        except Refused:
            return None  # what is wrong is said on the general way
        known = _NONE
        if not (report[:, 0] > 0.5).all():
            known, starts, _ = rows_of(self.problem, targets, self._start(q0))
            self._mend_misses(q, report, (known, starts), call)
        return _Made(q.reshape(*lead, n_q), report.reshape(*lead, report.shape[1]), terms, known)

    def _numbers(self, call: _Call, seed_try: int, *, checked: bool = False) -> Floats:
        """The options of the pipeline; ``checked``: targets are fit."""
        pipeline, effort = self._pipeline, call.effort
        if pipeline is None:
            return np.zeros(0)
        named = {
            "steps": effort.steps,
            "tries": self._tries_at_once(call),
            "seed": effort.seed,
            "seed_try": seed_try if pipeline.sizes.features else -1,
            "checked": int(checked),
        }
        most = thresholds(self.problem, call.settings)
        return pipeline.options(named, call.searched.tolist(), most.tolist())

    def _tries_at_once(self, call: _Call) -> int:
        """As many of the tries as one native call of the pipeline has time for."""
        budget = self._code.searches[0].made.facts["slice"]
        return min(call.effort.tries, tries_in_a_slice(budget, call.effort.steps))

    def _at_once(self, parameters: Floats, start: Floats, call: _Call) -> _Found:
        """All rows in compiled code, from targets to what was verified."""
        pipeline = self._pipeline
        if pipeline is None:
            return self._from(parameters, start, call)
        targets = targets_of(self.problem, parameters)
        effort = call.effort
        numbers = self._numbers(call, effort.seed_try, checked=True)
        try:
            q, report = pipeline.run(
                targets, start, numbers, threads=effort.threads, progress=effort.progress
            )
        except Refused as refused:
            raise InputError(
                f"row {refused.row} has numbers so large that no answer could be verified"
            ) from None
        return _Found(q, report, np.zeros(len(q)))

    def _best(self, parameters: Floats, start: Floats, call: _Call) -> tuple[_Found, Floats]:
        """The cheapest of the plain search's answer and of what other starts of each row lead to.

        What they lead to is put on the turns that are nearest to the start; the plain answer counts
        so and as it is.
        """
        n, many = len(start), call.options.best_of
        cost = cost_of(self.problem, call.options.choose, self._compiler)
        effort, told = call.effort, call.effort.progress
        first = then = call._replace(effort=effort._replace(progress=None))
        if told is not None:
            first = call._replace(effort=effort._replace(progress=_share(told, 0, n * many)))
            then = call._replace(effort=effort._replace(progress=_share(told, n, n * many)))
        then = then._replace(effort=then.effort._replace(seed_try=1))
        plain = self._from(parameters, start, first)
        known = np.column_stack([plain.misses, plain.misses, plain.report[:, -2:]])
        x = plain.q[:, self.problem.moved]
        turned = self._judged(parameters, x, known, call, (start, start))
        points = several.starting_points(self.problem, start, many, call.options.seed)[:, 1:]
        near = np.repeat(start, many - 1, axis=0)
        rows = np.repeat(parameters, many - 1, axis=0)
        others = self._from(rows, points.reshape(near.shape), then, near=near)
        found = _Found(
            *(
                np.concatenate(
                    [a[:, None], b[:, None], c.reshape(n, many - 1, *c.shape[1:])], axis=1
                )
                for a, b, c in zip(plain, turned, others, strict=True)
            )
        )
        flat = found.q.reshape(-1, found.q.shape[-1])
        costs = cost(flat, np.repeat(start, many + 1, axis=0)).reshape(n, many + 1)
        place = several.chosen(costs, found.report[:, :, 0] > 0.5, found.misses)
        pick = np.arange(n), place
        return _Found(*(part[pick] for part in found)), costs[pick]

    def _from(
        self, parameters: Floats, start: Floats, call: _Call, near: Floats | None = None
    ) -> _Found:
        """Search from ``start`` (N, nq), then judge by a fresh computation of every measure.

        With ``near`` (N, nq), all angles that may are on the turn that is nearest to it.
        """
        problem = self.problem
        seconds, clock = call.effort.seconds, call.effort.clock
        end = clock() + seconds if clock and seconds is not None else math.inf
        found = self._once(parameters, start, call, near)
        failed = np.flatnonzero(found.report[:, 0] < 0.5)
        if problem.improves and failed.size:
            effort = call.effort
            if clock and seconds is not None:
                effort = effort._replace(seconds=max(1e-9, end - clock()))
            if effort.progress is not None:
                effort = effort._replace(progress=_further(effort.progress, len(start)))
            call = call._replace(effort=effort)
            some = None if near is None else near[failed]
            better = self._plainly(parameters[failed], start[failed], call, some)
            taken = better.report[:, 0] > 0.5
            for part, other in zip(found, better, strict=True):
                part[failed[taken]] = other[taken]
        return found

    @cached_property
    def _deciding_parts(self) -> list[Part]:
        """The search for the tasks of priority 0 alone."""
        return self._parts_of(deciding_part(self.problem))

    def _plainly(
        self, parameters: Floats, start: Floats, call: _Call, near: Floats | None
    ) -> _Found:
        """Search for the tasks of priority 0 alone, then from there, in one try, for all.

        What can be reached is reached, then, though lower priorities stood in the way.
        """
        options = call.options
        parts = self._deciding_parts
        plain = parts[0].problem
        steps, tries = options.steps_for(plain), options.tries_for(plain)
        effort = call.effort._replace(steps=steps, tries=tries)
        x, report = search(parts, (parameters, call.searched), self._inside(start), effort)
        first = self._judged(parameters, x, report, call, (start, near))
        once = effort._replace(steps=call.effort.steps, tries=1, seed_try=-1)
        once = once._replace(seconds=None, progress=None)
        then = self._judged(
            parameters,
            *search(self._parts, (parameters, call.searched), x, once),
            call,
            (start, near),
        )
        then.report[:, -1] = first.report[:, -1]  # the tries that it took to get there
        better = then.report[:, 0] > 0.5
        for part, other in zip(first, then, strict=True):
            part[better] = other[better]
        return first

    def _once(self, parameters: Floats, start: Floats, call: _Call, near: Floats | None) -> _Found:
        given, within = (parameters, call.searched), self._inside(start)
        x, report = search(self._parts, given, within, call.effort)
        return self._judged(parameters, x, report, call, (start, near))

    def _inside(self, start: Floats) -> Floats:
        """Where the search begins (N, n): inside the description's limits; it enters the others."""
        problem = self.problem
        return np.clip(start[:, list(problem.moved)], problem.lower, problem.upper)

    def _judged(
        self,
        parameters: Floats,
        x: Floats,
        report: Floats,
        call: _Call,
        turns: tuple[Floats, Floats | None],
    ) -> _Found:
        """What x (N, n) comes to; ``turns`` are the start, and what to be near to, if anything."""
        problem, (start, near) = self.problem, turns
        at, turn = (start, several.unwrapped) if near is None else (near, several.nearest_turns)
        q = at.copy()
        q[:, problem.moved] = x
        q = turn(problem, q, at)
        measures = self._code.check(q, parameters, call.settings)
        found = np.empty((len(q), measures.shape[1] + 3))
        found[:, 0] = self._success(q, measures, call.settings)
        found[:, 1:-2], found[:, -2:] = measures, report[:, 2:]
        return _Found(q, found, report[:, 1])

    def _success(self, q: Floats, measures: Floats, settings: Floats) -> NDArray[np.bool_]:
        """Judge every answer by a fresh computation of its measures, and by the limits."""
        problem = self.problem
        moved = q[:, problem.moved]
        inside = ((moved >= problem.lower) & (moved <= problem.upper)).all(axis=1)
        n = sum(len(problem.tasks[k].groups) for k in problem.deciding)  # they come first
        within = (measures[:, :n] <= settings[:n]).all(axis=1)
        return inside & within & (measures[:, -1] <= ROUNDING)


def _further(progress: Progress, n: int) -> Progress:
    """The same progress after n are done, of so many more."""
    return lambda done, total: progress(n + done, n + total)


def _share(progress: Progress, n: int, total: int) -> Progress:
    """The same progress after n are done, of so many in all."""
    return lambda done, _: progress(n + done, total)


def _part(whole: Problem, part: Problem, code: Search) -> Part:
    starts = np.ascontiguousarray(np.stack(several.starts_of(part)))
    if part is whole:
        return Part(part, code, starts, None, None, None)
    columns = np.array([whole.moved.index(k) for k in part.moved], dtype=np.int64)
    return Part(part, code, starts, *numbers_of(whole, part), columns)
