"""Messages for people: why a mechanism could not be assembled."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from linkwork.algorithms.independent_rows import change_point, change_points
from linkwork.mechanism.model import Mechanism
from linkwork.solve.closed.following import End
from linkwork.solve.expressions import ROUNDING
from linkwork.solve.messages import UNITS, at_limits
from linkwork.solve.tasks import Group

Floats = NDArray[np.float64]

_OPEN = 1.0e-12
_MET = 1.0e-3
"""So little of the rows' rank is left where a way ends next to a change point."""
_AT_LIMIT = 1.0e-3
"""So near to a limit (rad, m) is at it where steps that got shorter ended a way."""


@dataclass(frozen=True, eq=False)
class AssemblyMessages:
    """Messages for failures, found when asked for; it can be pickled."""

    mechanism: Mechanism
    groups: tuple[Group, ...]

    def __call__(self, q: Floats, measures: Floats, given: Floats) -> str:
        """A message on how far each loop stays open, and which joints are at a limit.

        Shapes: q (nq,), measures (groups + 1,), given (n,).
        """
        parts: list[str] = []
        left = open_parts(self.groups, measures)
        if left:
            parts.append(f"it cannot be assembled from there: {', '.join(left)} open")
        if measures[-1] > ROUNDING:
            parts.append("a joint would be outside of its limits")
        at = at_limits(self.mechanism, range(len(self.mechanism.joint_names)), q)
        if at:
            parts.append(f"at a limit there: {', '.join(at)}")
        return "; ".join(parts)

    def solved(self, q: Floats) -> str:
        """The message on q (nq,) that is assembled."""
        return solved_at(self.mechanism, q)


@dataclass(frozen=True, eq=False)
class FollowingMessages:
    """Messages for ways that were not followed to their end, found when asked for."""

    mechanism: Mechanism
    groups: tuple[Group, ...]
    given: tuple[int, ...]

    def __call__(self, q: Floats, measures: Floats, given: Floats) -> str:
        """A message on where the branch of ``near`` ends, and why.

        Shapes: q (nq,), measures (groups + 3,), given (n,).
        """
        m, end = self.mechanism, End(round(float(measures[-3])))
        if end is End.OPEN_AT_START:
            left = ", ".join(open_parts(self.groups, measures))
            return (
                "q0 is not assembled, and cannot be assembled with its actuated joints where "
                f"they are: {left} open"
            )
        if end is End.ARRIVED:
            return "a joint would be outside of its limits"
        where = f"after {100.0 * float(measures[-2]):.4g} % of the way from q0, at {self._at(q)}"
        if end is End.ITERATIONS:
            return f"{where}, the iterations are used up: steps= allows more"
        passive = [c for c in range(len(m.joint_names)) if int(m.q_start[c]) not in set(self.given)]
        at = at_limits(m, passive, q, within=_AT_LIMIT)
        why = f"at a limit: {', '.join(at)}" if at else "the passive joints are singular there"
        met = change_points(m, q, _MET)
        if met and not at:
            why += f", next to a change point of {', '.join(map(repr, met))}"
        return (
            f"it cannot be assembled on the branch of q0, which ends {where}; {why}; "
            "follow=False searches for any branch"
        )

    def solved(self, q: Floats) -> str:
        """The message on q (nq,) that is assembled."""
        return solved_at(self.mechanism, q)

    def _at(self, q: Floats) -> str:
        m = self.mechanism
        found: list[str] = []
        for name, start, stop in zip(m.joint_names, m.q_start, m.q_start[1:], strict=False):
            if int(start) in self.given:
                values = ", ".join(f"{x:.6g}" for x in q[int(start) : int(stop)])
                found.append(f"{name} = {values}" if stop - start == 1 else f"{name} = ({values})")
        return ", ".join(found)


def solved_at(m: Mechanism, q: Floats) -> str:
    """The word for success, and whether q (nq,) is a change point."""
    known = change_point(m, q)
    return f"solved; {known}" if known else "solved"


def open_parts(groups: Sequence[Group], measures: Floats, within: float = _OPEN) -> list[str]:
    """Each group of rows that is not closed within so much, and by how much."""
    found: list[str] = []
    for group, squared in zip(groups, measures, strict=False):
        error = float(group.error(squared))
        if error > within:
            found.append(f"'{group.name}' {error:.3g}{UNITS[group.unit]}")
    return found
