"""What an inverse kinematics call gives back."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def _no_reason(_row: int) -> str:
    return ""


@dataclass(frozen=True, eq=False)
class IKResult:
    """Configurations and what they reach, for one target () or any leading shape.

    Shapes: q (..., nq); all else (...). Errors are those of a fresh forward kinematics of
    ``q``, and ``success`` means that they are within the tolerances and ``q`` within the limits.
    """

    q: Floats
    success: NDArray[np.bool_]
    position_error: Floats  # m
    rotation_error: Floats  # rad
    iterations: NDArray[np.int64]  # steps of the try that is returned
    restarts: NDArray[np.int64]  # tries before it; for a failure, of the best
    explain: Callable[[int], str] = field(default=_no_reason, repr=False)  # of a row, counted flat

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
        worst = (float(np.max(a, initial=0.0)) for a in (self.position_error, self.rotation_error))
        position, rotation = worst
        head = f"q={self.q!r}, " if n == 1 else f"shape={self.success.shape}, "
        return (
            f"IKResult({head}solved {solved} of {n}, worst errors {position:.2e} m and "
            f"{rotation:.2e} rad, reason={self.reason!r})"
        )
