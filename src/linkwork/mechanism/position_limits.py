"""Positions that have to lie inside the limits of their joints."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from linkwork.errors import InputError
from linkwork.mechanism.model import Floats, Mechanism
from linkwork.spatial.rotations import angle_of_quaternion

ROUNDING_AT_LIMITS = 1.0e-6
"""Radians or metres outside of a limit that count as rounding, as measured positions have it."""


def bounded_places(m: Mechanism, places: Sequence[int]) -> list[int]:
    """Those of some indices of q that a limit bounds; reversed limits (a finding) bound nothing."""
    bounded = (np.isfinite(m.lower) | np.isfinite(m.upper)) & (m.lower <= m.upper)
    return [k for k in places if bounded[k]]


def limited_angles(m: Mechanism, places: Sequence[int]) -> list[int]:
    """The spherical joints, as indices of `joint_names`, among some indices of q with a limit."""
    chosen = set(places)
    limited = np.flatnonzero(np.isfinite(m.angle_limit)).tolist()
    return [c for c in limited if int(m.q_start[c]) in chosen]


def angle_beyond(m: Mechanism, q: Floats, c: int) -> Floats:
    """The angle (rad) by which a spherical joint is beyond its limit in q (..., nq); 0 inside."""
    wxyz = q[..., int(m.q_start[c]) : int(m.q_start[c]) + 4]
    return np.maximum(0.0, angle_of_quaternion(wxyz) - m.angle_limit[c])


def angle_brought_inside(m: Mechanism, q: Floats, c: int) -> Floats:
    """q (..., nq) with a spherical joint at the limit of its angle where it is beyond, a copy."""
    q, at, outside = q.copy(), int(m.q_start[c]), angle_beyond(m, q, c) > 0.0
    wxyz = q[outside, at : at + 4]
    half = 0.5 * m.angle_limit[c] * (1.0 - 1e-12)
    size = np.linalg.norm(wxyz, axis=-1, keepdims=True)
    axis = wxyz[:, 1:] / np.linalg.norm(wxyz[:, 1:], axis=-1, keepdims=True)
    real = np.copysign(np.cos(half), wxyz[:, :1])
    q[outside, at : at + 4] = size * np.hstack([real, np.sin(half) * axis])
    return q


def inside_limits(
    m: Mechanism, q: Floats, places: Sequence[int], name: str, *, whose: str, hint: str
) -> Floats:
    """q (..., nq), of which these places lie inside the limits: at them where rounding left them.

    ``whose`` says in the message what the joint is to do, ``hint`` what may be done about it.

    Raises: InputError for more than 1e-6 outside, naming the row, joint, position and limits.
    """
    q = _inside_angles(m, q, places, name, whose=whose, hint=hint)
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
            f"{name}{where}: joint '{m.joint_of_q(k)}' {whose} {q[(*row, k)]:.9g}, outside its "
            f"limits {m.lower[k]:.9g} to {m.upper[k]:.9g} (radians or metres); {hint}"
        )
    inside = q.copy()
    inside[..., bounded] = clipped
    return inside


def _inside_angles(
    m: Mechanism, q: Floats, places: Sequence[int], name: str, *, whose: str, hint: str
) -> Floats:
    """The same for the angles of spherical joints."""
    for c in limited_angles(m, places):
        beyond = angle_beyond(m, q, c)
        if not beyond.any():
            continue
        if beyond.max() > ROUNDING_AT_LIMITS:
            row = np.argwhere(beyond > ROUNDING_AT_LIMITS)[0].tolist()
            where = "".join(f"[{index}]" for index in row)
            raise InputError(
                f"{name}{where}: joint '{m.joint_names[c]}' {whose} "
                f"{m.angle_limit[c] + beyond[tuple(row)]:.9g} rad from 1 0 0 0, beyond the limit "
                f"of its angle, {m.angle_limit[c]:.9g}; {hint}"
            )
        q = angle_brought_inside(m, q, c)
    return q
