"""What an inverse kinematics call gives back."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linkwork.solve.tasks.base import Group

Floats = NDArray[np.float64]


def _no_reason(_row: int) -> str:
    return ""


@dataclass(frozen=True)
class Measured:
    """The columns of an array of squared measures: (task, group, deciding) for each."""

    columns: tuple[tuple[str, Group, bool], ...]

    def errors(self, measures: Floats) -> dict[str, dict[str, Floats]]:
        """The error of each group of each task, in its unit."""
        found: dict[str, dict[str, Floats]] = {}
        for k, (task, group, _) in enumerate(self.columns):
            found.setdefault(task, {})[group.name] = group.error(measures[..., k])
        return found

    def largest(self, measures: Floats, unit: str) -> Floats:
        """The largest error of the deciding groups of a unit; 0 where there is none."""
        worst = np.zeros(measures.shape[:-1])
        for k, (_, group, deciding) in enumerate(self.columns):
            if deciding and group.unit == unit:
                worst = np.maximum(worst, group.error(measures[..., k]))
        return worst


@dataclass(frozen=True, eq=False)
class IKResult:
    """Configurations and what they reach, for one target () or any leading shape.

    Shapes: q (..., nq); all else (...). Errors are those of a second computation at ``q``, and
    ``success`` means that the tasks of priority 0 are within their tolerances and ``q`` within
    the limits. ``seconds`` is what the whole call took.
    """

    q: Floats
    success: NDArray[np.bool_]
    iterations: NDArray[np.int64]  # steps of the try that is returned
    restarts: NDArray[np.int64]  # tries before it; for a failure, of the best
    seconds: float
    measures: Floats = field(repr=False)  # (..., groups) squared, see `Measured`
    measured: Measured = field(repr=False)
    explain: Callable[[int], str] = field(default=_no_reason, repr=False)  # of a row, counted flat
    cost: Floats | None = None  # of what was chosen by; None where nothing was

    @property
    def errors(self) -> Mapping[str, Mapping[str, Floats]]:
        """The error of each task's groups, in metres, radians or plain numbers."""
        return self.measured.errors(self.measures)

    @property
    def position_error(self) -> Floats:
        """The largest position error of the tasks of priority 0, in metres."""
        return self.measured.largest(self.measures, "m")

    @property
    def rotation_error(self) -> Floats:
        """The largest rotation error of the tasks of priority 0, in radians."""
        return self.measured.largest(self.measures, "rad")

    @property
    def reason(self) -> str:
        """In words, how it went: of the one target, or of the first that failed."""
        if bool(np.all(self.success)):
            return "solved"
        text = self.explain(int(np.flatnonzero(~self.success)[0]))
        if self.success.ndim == 0:
            return text
        failed = np.argwhere(~self.success)[0].tolist()
        count = int(np.count_nonzero(~self.success))
        where = ", ".join(str(k) for k in failed)
        return f"{count} of {self.success.size} not solved; the first, [{where}]: {text}"

    def reason_for(self, *row: int) -> str:
        """In words, how it went for one target of a batch."""
        if bool(self.success[row]):
            return "solved"
        return self.explain(int(np.ravel_multi_index(row, self.success.shape)) if row else 0)

    def __repr__(self) -> str:
        """A summary that does not print a million rows."""
        n = self.success.size
        solved = int(np.count_nonzero(self.success))
        worst: list[Any] = [
            float(np.max(a, initial=0.0)) for a in (self.position_error, self.rotation_error)
        ]
        position, rotation = worst
        head = f"q={self.q!r}, " if n == 1 else f"shape={self.success.shape}, "
        return (
            f"IKResult({head}solved {solved} of {n}, worst errors {position:.2e} m and "
            f"{rotation:.2e} rad, reason={self.reason!r})"
        )
