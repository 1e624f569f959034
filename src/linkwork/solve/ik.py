"""Inverse kinematics: targets in, configurations that were verified out."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from linkwork.compile.compiler import Compiler
from linkwork.compile.kernel import Kernel
from linkwork.compile.lanes import REPORT
from linkwork.compile.machine_code import COMPILING
from linkwork.compile.threads import in_parallel
from linkwork.mechanism.model import Mechanism
from linkwork.mechanism.neutral import neutral
from linkwork.solve.code import Search, check_kernel, search_code
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
    ) -> None:
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
        self._starts = _starts(self.problem)
        self._measured = Measured(
            tuple((t.name, g, t.priority == 0) for t in self.problem.tasks for g in t.groups)
        )
        self._deciding = np.array([deciding for _, _, deciding in self._measured.columns])
        compiler = compiler or Compiler()
        with COMPILING:
            self.search: Search = search_code(self.problem, compiler)
            self._check: Kernel = check_kernel(self.problem, compiler)

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
        x, report = self._search((parameters, settings), start, options, (threads, progress))
        q = start.copy()
        q[:, self.problem.moved] = self._unwrapped(x, start)
        measures = self._check(q, parameters, settings)
        success = self._success(q, measures, settings)
        before = np.where(np.isfinite(report[:, 3]), report[:, 3], 0.0)
        tries = options.tries_for(self.problem)
        shaped = measures[:, :-1].reshape(*lead, measures.shape[1] - 1)
        words = FailureWords(self.problem, parameters, q, measures, self._measured, tries)
        return IKResult(
            q=q.reshape(*lead, q.shape[1]),
            success=success.reshape(lead),
            iterations=report[:, 2].astype(np.int64).reshape(lead),
            restarts=before.astype(np.int64).reshape(lead),
            seconds=time.perf_counter() - begin,
            measures=shaped,
            measured=self._measured,
            explain=words,
        )

    def _search(
        self,
        numbers: tuple[Floats, Floats],
        start: Floats,
        options: Options,
        how: tuple[int, Progress | None],
    ) -> tuple[Floats, Floats]:
        threads, progress = how
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

    def _unwrapped(self, x: Floats, start: Floats) -> Floats:
        """Angles without limits on the turn that is nearest to where the search began."""
        wraps = self.problem.wraps
        if not wraps.any():
            return x
        away = start[:, self.problem.moved] - x
        turns = np.where(wraps, np.round(away / (2.0 * np.pi)), 0.0)
        return x + 2.0 * np.pi * turns

    def _success(self, q: Floats, measures: Floats, settings: Floats) -> NDArray[np.bool_]:
        """Judge every answer by a fresh computation of its measures, and by the limits."""
        moved = q[:, self.problem.moved]
        inside = ((moved >= self.problem.lower) & (moved <= self.problem.upper)).all(axis=1)
        n = measures.shape[1] - 1
        within = (measures[:, :n] <= settings[:n])[:, self._deciding].all(axis=1)
        return inside & within & (measures[:, n] <= _ROUNDING)


_ROUNDING = 1.0e-12
"""Bounds that are computed may differ in their last bits between search and check."""


def _starts(problem: Problem) -> Floats:
    """Where tries begin: base, span and whether q0 is added (3, n).

    Inside the limits; anywhere on the circle for angles without them; at q0 for lengths without
    them and for floating joints.
    """
    lower, upper, wraps = problem.lower, problem.upper, problem.wraps
    bounded = np.isfinite(lower) & np.isfinite(upper)
    base = np.where(bounded, lower, 0.0)
    span = np.where(bounded, upper, 0.0) - base
    base, span = np.where(wraps, -np.pi, base), np.where(wraps, 2.0 * np.pi, span)
    kept = np.where(bounded | wraps, 0.0, 1.0)
    return np.ascontiguousarray(np.stack([base, span, kept]))
