"""Results of inverse kinematics: what was reached, messages why a target was not, and a table."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, reduce
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from linkwork.checks import plain
from linkwork.errors import InputError
from linkwork.json_values import as_json
from linkwork.mechanism.model import JointType, Mechanism
from linkwork.ops.numpy import NUMPY
from linkwork.solve.expressions import ROUNDING
from linkwork.solve.joint_update import JointUpdate
from linkwork.solve.limits import Interval
from linkwork.solve.problem import Problem, way
from linkwork.solve.tasks import Group, Unit
from linkwork.spatial.rotations import angle_of_quaternion
from linkwork.terminal_text import TextTable

Floats = NDArray[np.float64]
Explain = Callable[[Floats, Floats, Floats], str]
"""(q (nq,), measures (k,), numbers (p,)) of one row -> a message why it failed."""


class Column(NamedTuple):
    """One measure: of which group of which task, and of which priority that is."""

    task: str
    group: Group
    priority: int


@dataclass(frozen=True, eq=False)
class Terms:
    """The terms that answers are judged by; one for all of a solver with the same options."""

    columns: tuple[Column, ...]
    thresholds: Floats  # what each squared measure is compared with
    explain: Explain
    remark: Callable[[Floats], str] | None = None
    """The message on an answer q (nq,); None: "solved"."""

    @property
    def mechanism(self) -> Mechanism | None:
        """The mechanism that the answers are configurations of, where it is known."""
        return getattr(self.explain, "mechanism", None)

    @cached_property
    def tolerances(self) -> tuple[float, ...]:
        """The tolerance of each measure, in its unit."""
        pairs = zip(self.columns, self.thresholds, strict=True)
        return tuple(float(column.group.error(np.asarray(most))) for column, most in pairs)


class Spaces(NamedTuple):
    """The clearances of answers, where they were asked for."""

    measure: Callable[[Floats], Floats] | Floats
    """From q (N, nq) the least distances (N,), or these, where they are known."""
    reasons: Mapping[int, str]  # of rows that touch, what touches

    def of(self, q: Floats) -> Floats:
        """The least distances (...,) at q (..., nq)."""
        flat = q.reshape(-1, q.shape[-1])
        found = self.measure(flat) if callable(self.measure) else self.measure
        return found.reshape(q.shape[:-1])

    def row(self, k: int) -> Spaces:
        """The clearance of one row."""
        reasons = {0: self.reasons[k]} if k in self.reasons else {}
        measure = self.measure if callable(self.measure) else self.measure[k : k + 1]
        return Spaces(measure, reasons)


class IKResult:
    """Configurations and what they reach, for one target () or any leading shape.

    Shapes: ``q`` (..., nq); all else (...), and for one target Python's own bool, int and float.
    Errors are those of a second computation at ``q``, and ``success`` means that the tasks of
    priority 0 are within their tolerances and ``q`` within the limits. ``seconds`` is what the
    whole call took, NaN where the compiler has no clock. ``cost`` is that of what was chosen by,
    None where nothing was. The truth of a result of one target is its success. A result does not
    change.
    """

    q: Floats
    report: Floats
    """(..., k + 3): success, the k measures (squared, in the order of the tasks' groups, then how
    far q is outside of limits), steps of the try that is returned, tries before it."""
    seconds: float
    cost: Any
    """(...) or, of one target, a float; None where nothing was chosen by it."""

    def __init__(
        self,
        q: Floats,
        report: Floats,
        terms: Terms,
        numbers: Floats,
        seconds: float = float("nan"),
        cost: Floats | None = None,
        spaces: Spaces | None = None,
    ) -> None:
        """``numbers`` (N, p): the parameters of each row, for messages about failures."""
        mine = self.__dict__
        mine["q"], mine["report"], mine["_terms"], mine["_numbers"] = q, report, terms, numbers
        mine["seconds"] = seconds
        mine["cost"] = None if cost is None else plain(cost)
        mine["_spaces"] = spaces

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"a result does not change: {name} cannot be set")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"a result does not change: {name} cannot be deleted")

    def __bool__(self) -> bool:
        """The success of one target.

        Raises: InputError for many: ask for that of all, or of any.
        """
        if self.report.ndim == 1:
            return self.success
        raise InputError(
            f"the truth of {math.prod(self.shape)} answers is not one: ask for "
            "result.success.all() or result.success.any()"
        )

    @property
    def shape(self) -> tuple[int, ...]:
        """The leading shape of the targets: () for one."""
        return self.report.shape[:-1]

    @cached_property
    def success(self) -> Any:
        """Whether the tasks of priority 0 are done within the limits: a bool, or (...) of them."""
        return plain(self.report[..., 0] > 0.5)

    @cached_property
    def clearance(self) -> Any:
        """The least distance (m) that is left, below 0 where it touches: a float, or (...) of them.

        None where no `Clearance` was asked for. It is measured when it is first asked for, in the
        scene as it is then; that answers are clear was decided before.
        """
        spaces: Spaces | None = self.__dict__["_spaces"]
        return None if spaces is None else plain(spaces.of(self.q))

    def __getstate__(self) -> dict[str, Any]:
        """All of it, with clearances measured: a model stays in its process."""
        state, spaces = dict(self.__dict__), self.__dict__["_spaces"]
        if spaces is not None:
            measured = np.asarray(self.clearance, dtype=np.float64).reshape(-1)
            state["_spaces"] = Spaces(measured, spaces.reasons)
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)

    @cached_property
    def iterations(self) -> Any:
        """Steps of the try that is returned: an int, or (...) of them."""
        return plain(self.report[..., -2].astype(np.int64))

    @cached_property
    def restarts(self) -> Any:
        """Tries before the one that is returned, for a failure of the best: an int, or (...)."""
        return plain(self.report[..., -1].astype(np.int64))

    def row(self, *index: int) -> IKResult:
        """The result of one target of many; ``seconds`` are those of the whole call."""
        own = self.__dict__
        flat = int(np.ravel_multi_index(index, self.shape, mode="wrap")) if index else 0
        cost = None if self.cost is None else np.asarray(self.cost)[index]
        numbers = own["_numbers"][flat : flat + 1]
        spaces: Spaces | None = own["_spaces"]
        return IKResult(
            self.q[index],
            self.report[index],
            self.terms,
            numbers,
            self.seconds,
            cost,
            None if spaces is None else spaces.row(flat),
        )

    def rows(self) -> Iterator[tuple[tuple[int, ...], IKResult]]:
        """The index of each target, () of a single one, and its own result."""
        return ((index, self.row(*index)) for index in np.ndindex(self.shape))

    def to_dict(self) -> dict[str, Any]:
        """All of it by name as JSON takes it: lists, Python's numbers, None where not finite."""
        names = (
            "q", "success", "position_error", "rotation_error", "errors", "iterations",
            "restarts", "seconds", "cost", "clearance", "reason",
        )  # fmt: skip
        return as_json({name: getattr(self, name) for name in names})

    @property
    def measures(self) -> Floats:
        """The squared measure of each group of each task (..., groups)."""
        return self.report[..., 1:-3]

    @property
    def terms(self) -> Terms:
        """The terms that the answers are judged by."""
        return self.__dict__["_terms"]

    @cached_property
    def errors(self) -> Mapping[str, Mapping[str, Any]]:
        """The error of each task's groups, in metres, radians or plain numbers: floats or (...)."""
        found: dict[str, dict[str, Any]] = {}
        for k, (task, group, _) in enumerate(self.terms.columns):
            found.setdefault(task, {})[group.name] = plain(group.error(self.measures[..., k]))
        return found

    @cached_property
    def position_error(self) -> Any:
        """The largest position error of the tasks of priority 0, in metres; 0 without any."""
        return self._largest("m")

    @cached_property
    def rotation_error(self) -> Any:
        """The largest rotation error of the tasks of priority 0, in radians; 0 without any."""
        return self._largest("rad")

    def _largest(self, unit: str) -> Any:
        errors = [
            group.error(self.measures[..., k])
            for k, (_, group, priority) in enumerate(self.terms.columns)
            if priority == 0 and group.unit == unit
        ]
        return plain(reduce(np.maximum, errors) if errors else np.zeros(self.report.shape[:-1]))

    @property
    def reason(self) -> str:
        """A message on how it went: with the one target, or the first that failed."""
        success = np.asarray(self.success)
        if not success.size:
            return "solved"
        if success.all():
            return self.reason_for() if success.ndim == 0 else "solved"
        failed = np.argwhere(~success)[0].tolist()
        text = self.reason_for(*failed)
        if success.ndim == 0:
            return text
        count = int(np.count_nonzero(~success))
        where = ", ".join(str(k) for k in failed)
        return f"{count} of {success.size} not solved; the first, [{where}]: {text}"

    def reason_for(self, *row: int) -> str:
        """A message on how it went for one target of a batch."""
        if self.report[row][0] > 0.5:
            remark = self.terms.remark
            return "solved" if remark is None else remark(self.q[row])
        flat = int(np.ravel_multi_index(row, self.shape, mode="wrap")) if row else 0
        spaces: Spaces | None = self.__dict__["_spaces"]
        if spaces is not None and flat in spaces.reasons:
            return spaces.reasons[flat]
        return self.terms.explain(
            self.q[row], self.report[row][1:-2], self.__dict__["_numbers"][flat]
        )

    def show(self) -> None:
        """Print a table on standard output: each task's errors beside its tolerances.

        For a batch, the spread of the errors over the targets.
        """
        from linkwork.terminal import Screen  # noqa: PLC0415  only where something is shown

        Screen().print(*summary(self))

    def _repr_html_(self) -> str:
        from linkwork.view.reprs import result_html  # noqa: PLC0415  for notebooks

        return result_html(self)

    def __repr__(self) -> str:
        """A summary that does not print a million rows."""
        n = math.prod(self.shape)
        solved = int(np.count_nonzero(self.success))
        worst = [float(np.max(a, initial=0.0)) for a in (self.position_error, self.rotation_error)]
        head = f"q={self.q!r}, " if n == 1 else f"shape={self.shape}, "
        return (
            f"IKResult({head}solved {solved} of {n}, worst errors {worst[0]:.2e} m and "
            f"{worst[1]:.2e} rad, reason={self.reason!r})"
        )


class AllSolutions(IKResult):
    """All solutions of one target that were found, q (n, nq), the nearest to q0 first.

    All of them are verified. Its truth is that there is one; ``reason`` says why there is none.
    """

    free_directions: tuple[Floats, ...] | None
    """The velocities (d, nv) along which each solution goes on, none where it stands alone;
    orthonormal, where a slide's metre counts by the mechanism's length. None where lower priorities
    or objectives choose among solutions."""

    def __init__(
        self,
        q: Floats,
        report: Floats,
        terms: Terms,
        seconds: float = float("nan"),
        free_directions: tuple[Floats, ...] | None = None,
        why_none: str = "solved",
        spaces: Spaces | None = None,
    ) -> None:
        """``why_none`` is the reason where there is no solution."""
        super().__init__(q, report, terms, np.zeros((0, 0)), seconds, spaces=spaces)
        self.__dict__["free_directions"], self.__dict__["_why_none"] = free_directions, why_none

    def __len__(self) -> int:
        """The number of solutions."""
        return len(self.q)

    def __bool__(self) -> bool:
        """Whether a solution was found."""
        return len(self.q) > 0

    @property
    def reason(self) -> str:
        """A message: "solved", or why no solution was found."""
        return "solved" if len(self.q) else str(self.__dict__["_why_none"])


# --- messages: why a target was not reached ---

UNITS: dict[Unit, str] = {"m": " m", "rad": " rad", "1": ""}
_AT = 1.0e-9
"""So near to a bound, in shares of it or of 1, is at it."""


@dataclass(frozen=True, eq=False)
class FailureMessages:
    """Messages for the failures of a solver, found when asked for; it can be pickled."""

    problem: Problem
    settings: Floats
    tries: int

    @property
    def mechanism(self) -> Mechanism:
        """The mechanism of the problem."""
        return self.problem.mechanism

    def __call__(self, q: Floats, measures: Floats, parameters: Floats) -> str:
        """A message on the failure of one row: how near it came, reach, joints at limits.

        Shapes: q (nq,), measures (groups + 1,), parameters (p,).
        """
        tried = "the one try" if self.tries == 1 else f"the best of at most {self.tries} tries"
        rest: list[str] = []  # the errors of the tasks that decide, by name where there are several
        deciding, place = self.problem.priority0_tasks, 0
        for k, task in enumerate(self.problem.tasks):
            errors = [
                f"{float(group.error(measures[place + i])):.3g}{UNITS[group.unit]}"
                for i, group in enumerate(task.groups)
            ]
            place += len(errors)
            if k in deciding:
                of = f" ('{task.name}')" if len(deciding) > 1 else ""
                rest.append(f"{' and '.join(errors)} away{of}")
        parts = [*self._beyond_reach(parameters), f"{tried} ends {', '.join(rest)}"]
        if measures[-1] > ROUNDING:
            parts.append(f"a position there is outside of a limit by {float(measures[-1]):.3g}")
        at_limit = at_limits(self.problem.mechanism, self.problem.coordinates, q)
        if at_limit:
            parts.append(f"at a limit there: {', '.join(at_limit)}")
        held: dict[str, list[str]] = {}  # joints that stand where another limit ends, by limit
        update = JointUpdate(NUMPY, self.problem, parameters, self.settings)
        for limit in self.problem.limits:
            bounds = update.bounds(limit, q)
            at = [index for index, ends in bounds.items() if _at_end(q[index], ends)]
            moved = [index for index in at if index in self.problem.moved]
            names = dict.fromkeys(map(self.problem.mechanism.joint_of_q, moved))
            if names:
                held.setdefault(limit.name, []).extend(names)
        for name, joints in held.items():
            parts.append(f"held back by the limit '{name}': {', '.join(joints)}")
        return "; ".join(parts)

    def _beyond_reach(self, parameters: Floats) -> list[str]:
        """The targets that are farther than their frames can be from their first joints.

        Where an unlimited slide or a free base moves the frame nothing is. A point still counts as
        there within its tolerance, and all that slack of its rows comes to at once.
        """
        problem, m = self.problem, self.problem.mechanism
        found: list[str] = []
        for place in problem.priority0_tasks:
            task = problem.tasks[place]
            path = m.ancestry(int(m.frame_body[m.frame(task.frames[0])])) if task.has_point else []
            moving = [b for b in path if m.body_joint_types[b] is not JointType.FIXED]
            boundless = False  # by a slide without limits or a free base
            for b in moving:
                kind, at = m.body_joint_types[b], int(m.q_start[int(m.coordinate[b])])
                ends = kind is JointType.PRISMATIC and [m.lower[at], m.upper[at]]
                free = kind in (JointType.PLANAR, JointType.FLOATING)
                boundless |= free or (bool(ends) and not np.isfinite(ends).all())
            if not moving or boundless:
                continue
            centre, turn = np.zeros(3), np.eye(3)
            for b in path[: path.index(moving[0]) + 1]:
                centre = centre + turn @ m.p_parent_joint[b]
                turn = turn @ m.R_parent_joint[b]
            first = problem.layout.targets[place][0]
            target = parameters[first : first + 3]
            k, group = next((k, each) for k, each in enumerate(task.groups) if each.unit == "m")
            threshold = self.settings[problem.layout.thresholds[place][0] + k]
            allowed = np.linalg.norm(task.slack[group.start : group.stop]) + float(
                group.error(np.asarray(threshold))
            )
            reach = way(m, task.frames[0]) + float(allowed)
            beyond = float(np.linalg.norm(target - centre)) - reach
            if beyond > _AT * max(1.0, float(np.abs(target).max())):
                of = f" of '{task.name}'" if len(problem.priority0_tasks) > 1 else ""
                found.append(f"the target{of} is at least {beyond:.3g} m out of reach")
        return found


def _at_end(value: float, ends: Interval, within: float = _AT) -> bool:
    return any(
        end is not None and abs(value - float(end)) <= within * max(1.0, abs(float(end)))
        for end in ends
    )


def at_limits(
    m: Mechanism, coordinates: Iterable[int], q: Floats, *, within: float = _AT
) -> list[str]:
    """The joints among these coordinates that stand at a limit, and at which."""
    names: list[str] = []
    for c in coordinates:
        if np.isfinite(m.angle_limit[c]):
            wxyz = q[int(m.q_start[c]) : int(m.q_start[c]) + 4]
            angle = float(angle_of_quaternion(wxyz))
            if _at_end(angle, (float(m.angle_limit[c]), None), within):
                names.append(f"{m.joint_names[c]} (angle)")
        for k in range(int(m.q_start[c]), int(m.q_start[c + 1])):
            for side, limit in (("lower", m.lower[k]), ("upper", m.upper[k])):
                if np.isfinite(limit) and _at_end(float(q[k]), (limit, None), within):
                    names.append(f"{m.joint_names[c]} ({side})")
    return names


# --- a table for people ---

_PERCENTILES = (50, 99, 100)


def summary(result: IKResult) -> list[str | TextTable]:
    """The end of a search in lines, and a table of its errors and tolerances."""
    success, many = np.asarray(result.success), result.shape != ()

    def spread(counts: NDArray[np.int64]) -> str:
        return f"{np.median(counts):.3g} by median, {int(counts.max())} at most"

    head = "solved" if success.all() else "not solved; the nearest that was found"
    if many:
        head = f"{int(np.count_nonzero(success))} of {success.size} solved"
    if not many or success.size:
        counts = (result.iterations, result.restarts)
        steps, tries = map(spread, counts) if many else counts
        took = "" if np.isnan(result.seconds) else f", {1e3 * result.seconds:.3g} ms"
        head += f" (steps {steps}, restarts {tries}{took})"
    lines: list[str | TextTable] = [head]
    if result.reason != "solved":
        lines.append(result.reason)
    if 0 not in result.shape:
        lines.append(table(result))
    return lines


def table(result: IKResult) -> TextTable:
    """Each group of each task: its error, or how that is spread, its tolerance, whether it is done.

    Of a batch, the share that is done.
    """
    single = result.shape == ()
    lower = any(column.priority for column in result.terms.columns)
    spread = ["error"] if single else ["median", *[f"{p} %" for p in _PERCENTILES[1:-1]], "largest"]
    names = ["task", "group", *(["priority"] if lower else []), *spread, "tolerance", "unit", "ok"]
    made = TextTable(names, numbers=range(2, len(names) - 2))
    pairs = zip(result.terms.columns, result.terms.tolerances, strict=True)
    for k, ((task, group, priority), tolerance) in enumerate(pairs):
        error = result.errors[task][group.name]
        share = float(np.mean(result.measures[..., k] <= result.terms.thresholds[k]))
        shown = [float(error)] if single else np.percentile(error, _PERCENTILES).tolist()
        ok = ("yes" if share else "no") if single else f"{100.0 * share:.6g} %"
        numbers = [*(f"{value:.1e}" for value in shown), f"{tolerance:.3g}"]
        level = [str(priority)] if lower else []
        made.add_row(task, group.name, *level, *numbers, UNITS[group.unit].strip(), ok)
    return made
