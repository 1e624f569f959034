"""Results of inverse kinematics."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from linkwork.checks import plain
from linkwork.errors import InputError
from linkwork.json_values import as_json
from linkwork.solve.tasks import Group

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

    @cached_property
    def tolerances(self) -> tuple[float, ...]:
        """The tolerance of each measure, in its unit."""
        pairs = zip(self.columns, self.thresholds, strict=True)
        return tuple(float(column.group.error(np.asarray(most))) for column, most in pairs)


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
    ) -> None:
        """``numbers`` (N, p): the parameters of each row, for messages about failures."""
        mine = self.__dict__
        mine["q"], mine["report"], mine["_terms"], mine["_numbers"] = q, report, terms, numbers
        mine["seconds"] = seconds
        mine["cost"] = None if cost is None else plain(cost)

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
        return IKResult(self.q[index], self.report[index], self.terms, numbers, self.seconds, cost)

    def rows(self) -> Iterator[tuple[tuple[int, ...], IKResult]]:
        """The index of each target, () of a single one, and its own result."""
        return ((index, self.row(*index)) for index in np.ndindex(self.shape))

    def to_dict(self) -> dict[str, Any]:
        """All of it by name as JSON takes it: lists, Python's numbers, None where not finite."""
        names = (
            "q", "success", "position_error", "rotation_error", "errors", "iterations",
            "restarts", "seconds", "cost", "reason",
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
        worst = np.zeros(self.report.shape[:-1])
        for k, (_, group, priority) in enumerate(self.terms.columns):
            if priority == 0 and group.unit == unit:
                worst = np.maximum(worst, group.error(self.measures[..., k]))
        return plain(worst)

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
        return self.terms.explain(
            self.q[row], self.report[row][1:-2], self.__dict__["_numbers"][flat]
        )

    def show(self) -> None:
        """Print a table on standard output: each task's errors beside its tolerances.

        For a batch, the spread of the errors over the targets.
        """
        from linkwork.solve.show import show  # noqa: PLC0415  imports rich

        show(self)

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
    ) -> None:
        """``why_none`` is the reason where there is no solution."""
        super().__init__(q, report, terms, np.zeros((0, 0)), seconds)
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
