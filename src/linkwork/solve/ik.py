"""Inverse kinematics: targets in, configurations that were verified out."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from linkwork.compile.compiler import Compiler
from linkwork.compile.kernel import Kernel
from linkwork.compile.lanes import REPORT
from linkwork.compile.machine_code import COMPILING
from linkwork.compile.threads import in_parallel
from linkwork.errors import ShapeError
from linkwork.mechanism.model import Mechanism
from linkwork.mechanism.neutral import neutral
from linkwork.solve.best import chosen, distinct, nearest_turns, starting_points, starts_of
from linkwork.solve.code import Search, check_kernel, search_code
from linkwork.solve.cost import cost_of
from linkwork.solve.explain import FailureWords
from linkwork.solve.inputs import Targets, rows_of, settings_of
from linkwork.solve.limits.base import Limit
from linkwork.solve.objectives import Objective
from linkwork.solve.options import Options, with_changes
from linkwork.solve.problem import Problem, make_problem
from linkwork.solve.result import IKResult, Measured
from linkwork.solve.tasks.base import Task
from linkwork.solve.tasks.pose import Pose

Floats = NDArray[np.float64]
Progress = Callable[[int, int], None]

CHUNK = 1024
"""Targets between two returns to Python; the answers do not depend on it."""


class Compiled(NamedTuple):
    """The code of a problem, which all problems of its structure share."""

    search: Search
    check: Kernel


class _Found(NamedTuple):
    """What a search came to, row by row."""

    q: Floats  # (N, nq)
    success: NDArray[np.bool_]
    measures: Floats  # (N, groups + 1)
    report: Floats  # (N, 4), see `REPORT`


_How = tuple[Options, int, Progress | None]
"""Options, threads and progress of one call."""


class InverseKinematics:
    """A compiled solver of some tasks of a mechanism, to be called again with new targets.

    ``tasks`` may be the name of a frame, which stands for its pose. It moves the joints that any of
    the tasks depends on, or those named in ``joints``; all others stay at q0. Every answer lies
    inside the limits. It holds no state between calls.

    Source: damped least squares with damping in proportion to the error (Sugihara, 2011), random
    restarts (Beeson and Ames, "TRAC-IK", Humanoids 2015), iterated in vector lanes.
    Raises: UnknownNameError, InputError (see `make_problem`).
    """

    def __init__(
        self,
        mechanism: Mechanism,
        tasks: str | Task | Sequence[Task],
        joints: str | Sequence[str] | None = None,
        *,
        limits: Iterable[Limit] = (),
        objectives: Iterable[Objective] = (),
        joint_weights: Mapping[str, float] | None = None,
        compiler: Compiler | None = None,
        known: dict[Any, Compiled] | None = None,
    ) -> None:
        """``known``: code by the key of its problem, to be used and added to."""
        self.mechanism = mechanism
        self.problem: Problem = make_problem(
            mechanism,
            Pose(tasks) if isinstance(tasks, str) else tasks,
            joints=joints,
            limits=limits,
            objectives=objectives,
            joint_weights=joint_weights,
        )
        self._lock = threading.Lock()
        self._neutral = neutral(mechanism)
        self._starts = np.ascontiguousarray(np.stack(starts_of(self.problem)))
        self._measured = Measured(
            tuple((t.name, g, t.priority == 0) for t in self.problem.tasks for g in t.groups)
        )
        self._deciding = np.array([deciding for _, _, deciding in self._measured.columns])
        self._compiler = compiler or Compiler()
        known = {} if known is None else known
        code = known.get(self.problem.key)
        if code is None:
            with COMPILING:
                search = search_code(self.problem, self._compiler)
                check = check_kernel(self.problem, self._compiler)
            code = known.setdefault(self.problem.key, Compiled(search, check))
        self.search, self._check = code

    def solve(
        self,
        targets: Targets = None,
        q0: ArrayLike | None = None,
        *,
        options: Options | None = None,
        threads: int = 1,
        progress: Progress | None = None,
        **changes: float,
    ) -> IKResult:
        """Configurations that do the tasks, for targets of any leading shape.

        ``targets``: of the one task, one for each task in order, or a mapping of task names; what
        is not given is the task's own. ``q0`` (..., nq) is where the search starts and where joints
        that are not moved stay; default: neutral. ``changes`` are fields of ``options``.
        ``progress(done, total)`` is called between chunks. The result has the leading shape of
        targets and q0 together.

        Raises: ShapeError, InputError for targets that are not finite or of the wrong shape, or q0
        that is not finite; UnknownNameError for a name that is none of the tasks'.
        """
        begin = time.perf_counter()
        options = with_changes(options, **changes)
        parameters, start, lead = rows_of(self.problem, targets, q0, self._neutral)
        settings = settings_of(self.problem, options)
        how = (options, threads, progress)
        if options.best_of > 1:
            found, cost = self._best((parameters, settings), start, how)
        else:
            found, cost = self._from((parameters, settings), start, how), None
        words = FailureWords(
            self.problem,
            parameters,
            found.q,
            found.measures,
            self._measured,
            options.tries_for(self.problem),
        )
        return IKResult(
            q=found.q.reshape(*lead, found.q.shape[1]),
            success=found.success.reshape(lead),
            iterations=found.report[:, 2].astype(np.int64).reshape(lead),
            restarts=found.report[:, 3].astype(np.int64).reshape(lead),
            seconds=time.perf_counter() - begin,
            measures=found.measures[:, :-1].reshape(*lead, len(self._deciding)),
            measured=self._measured,
            explain=words,
            cost=None if cost is None else cost.reshape(lead),
        )

    def all_solutions(
        self,
        targets: Targets = None,
        q0: ArrayLike | None = None,
        *,
        starts: int = 500,
        apart: float = 1.0e-2,
        options: Options | None = None,
        threads: int = 1,
        **changes: float,
    ) -> Floats:
        """All solutions of one target that are found from ``starts`` starts, (n, nq), verified.

        Solutions that differ by less than ``apart`` (radians of the joint that differs most; whole
        turns do not count) are one. They come in order of their distance from q0. Of a mechanism
        with freedom left the solutions are a continuum: these are samples of it.

        Raises: as `solve`; ShapeError for more than one target.
        """
        options = with_changes(options, **changes)
        parameters, start, lead = rows_of(self.problem, targets, q0, self._neutral)
        if lead != ():
            raise ShapeError(f"all_solutions takes one target, not targets of shape {lead}")
        settings = settings_of(self.problem, options)
        points = starting_points(self.problem, start, starts, options.seed)[0]
        rows = np.repeat(parameters, starts, axis=0)
        found = self._from((rows, settings), points, (replace(options, tries=1), threads, None))
        q = nearest_turns(self.problem, found.q, np.broadcast_to(start, found.q.shape))
        q = q[found.success]
        near = cost_of(self.problem, "nearest", self._compiler)(q, np.broadcast_to(start, q.shape))
        q = q[np.argsort(near, kind="stable")]
        return q[distinct(self.problem, q, apart)]

    def _best(
        self, numbers: tuple[Floats, Floats], start: Floats, how: _How
    ) -> tuple[_Found, Floats]:
        """The search from several starts of each row, and the cheapest of what it finds."""
        options = how[0]
        n, many = len(start), options.best_of
        points = starting_points(self.problem, start, many, options.seed)
        rows = np.repeat(numbers[0], many, axis=0)
        found = self._from((rows, numbers[1]), points.reshape(n * many, -1), how)
        q = nearest_turns(self.problem, found.q, np.repeat(start, many, axis=0))
        costs = cost_of(self.problem, options.choose, self._compiler)(
            q, np.repeat(start, many, axis=0)
        )
        costs = costs.reshape(n, many)
        place = chosen(costs, found.success.reshape(n, many), found.report[:, 1].reshape(n, many))
        pick = np.arange(n) * many + place
        taken = _Found(q[pick], found.success[pick], found.measures[pick], found.report[pick])
        return taken, costs[np.arange(n), place]

    def _from(self, numbers: tuple[Floats, Floats], start: Floats, how: _How) -> _Found:
        """Search from ``start`` (N, nq), then judge by a fresh computation of every measure."""
        parameters, settings = numbers
        x, report = self._search(numbers, start, how)
        q = start.copy()
        q[:, self.problem.moved] = x
        q = self._unwrapped_to(q, start)
        measures = self._check(q, parameters, settings)
        report[:, 3] = np.where(np.isfinite(report[:, 3]), report[:, 3], 0.0)
        return _Found(q, self._success(q, measures, settings), measures, report)

    def _search(
        self, numbers: tuple[Floats, Floats], start: Floats, how: _How
    ) -> tuple[Floats, Floats]:
        options, threads, progress = how
        parameters, settings = numbers
        total = parameters.shape[0]
        # advanced indexing may give columns in memory order: native code needs rows
        x0 = np.ascontiguousarray(
            np.clip(start[:, list(self.problem.moved)], self.problem.lower, self.problem.upper)
        )
        x = x0.copy()
        report = np.zeros((total, len(REPORT)))
        report[:, 1] = np.inf
        report[:, 3] = np.inf
        arrays = (x0, parameters, settings, self._starts, x, report)
        pointers = [a.ctypes.data for a in arrays]
        steps, tries = options.steps_for(self.problem), options.tries_for(self.problem)
        done = 0

        def chunk(first: int) -> None:
            nonlocal done
            last = min(first + CHUNK, total)
            self.search.run(first, last, steps, tries, options.seed, total == 1, *pointers)
            if progress is not None:
                with self._lock:
                    done += last - first
                    progress(done, total)

        in_parallel(chunk, range(0, total, CHUNK), threads)
        return x, report

    def _unwrapped_to(self, q: Floats, start: Floats) -> Floats:
        """Angles without limits on the turn that is nearest to ``start``."""
        wraps = self.problem.wraps
        if wraps.any():
            moved = list(self.problem.moved)
            turns = np.round((start[:, moved] - q[:, moved]) / (2.0 * np.pi))
            q[:, moved] += np.where(wraps, 2.0 * np.pi * turns, 0.0)
        return q

    def _success(self, q: Floats, measures: Floats, settings: Floats) -> NDArray[np.bool_]:
        """Judge every answer by a fresh computation of its measures, and by the limits."""
        moved = q[:, self.problem.moved]
        inside = ((moved >= self.problem.lower) & (moved <= self.problem.upper)).all(axis=1)
        n = measures.shape[1] - 1
        within = (measures[:, :n] <= settings[:n])[:, self._deciding].all(axis=1)
        return inside & within & (measures[:, n] <= _ROUNDING)


_ROUNDING = 1.0e-12
"""Bounds that are computed may differ in their last bits between search and check."""
