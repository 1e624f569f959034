"""Positions that have to lie inside the limits of their joints."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from linkwork.errors import InputError
from linkwork.mechanism.model import Floats, Mechanism

ROUNDING_AT_LIMITS = 1.0e-6
"""Radians or metres outside of a limit that count as rounding, as measured positions have it."""


def bounded_places(m: Mechanism, places: Sequence[int]) -> list[int]:
    """Those of some indices of q that a limit bounds; reversed limits (a finding) bound nothing."""
    bounded = (np.isfinite(m.lower) | np.isfinite(m.upper)) & (m.lower <= m.upper)
    return [k for k in places if bounded[k]]


def inside_limits(
    m: Mechanism, q: Floats, places: Sequence[int], name: str, *, whose: str, hint: str
) -> Floats:
    """q (..., nq), of which these places lie inside the limits: at them where rounding left them.

    ``whose`` says in the message what the joint is to do, ``hint`` what may be done about it.

    Raises: InputError for more than 1e-6 outside, naming the row, joint, position and limits.
    """
    bounded = bounded_places(m, places)
    lower, upper = m.lower[bounded], m.upper[bounded]
    part = q[..., bounded]
    clipped = np.clip(part, lower, upper)
    if np.array_equal(part, clipped):
        return q
    away = np.abs(part - clipped)
    if away.max() > ROUNDING_AT_LIMITS:
        *row, column = np.argwhere(away > ROUNDING_AT_LIMITS)[0].tolist()
        k = bounded[column]
        where = "".join(f"[{index}]" for index in row)
        raise InputError(
            f"{name}{where}: joint '{joint_at(m, k)}' {whose} {q[(*row, k)]:.9g}, outside its "
            f"limits {m.lower[k]:.9g} to {m.upper[k]:.9g} (radians or metres); {hint}"
        )
    inside = q.copy()
    inside[..., bounded] = clipped
    return inside


def joint_at(m: Mechanism, k: int) -> str:
    """The joint that a number of q belongs to."""
    return m.joint_names[int(np.searchsorted(m.q_start, k, side="right")) - 1]
