"""Where locked joints stand: the positions that a caller gives, and the poses they mean."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from linkwork.errors import InputError, ShapeError
from linkwork.mechanism import rigid
from linkwork.mechanism.model import Floats, JointType, Mechanism
from linkwork.mechanism.neutral import neutral
from linkwork.mechanism.position_limits import inside_limits
from linkwork.ops.numpy import NUMPY
from linkwork.spatial import rotations

_HINT = "lock it inside them, or change the limits in the description"


def joint_pose(kind: JointType, q: Floats) -> tuple[Floats, Floats]:
    """The rotation (3, 3) and shift (3,) that a joint's own positions (n_q,) make.

    A quaternion may have any length but zero.

    Raises: InputError for a quaternion of length zero.
    """
    p = np.zeros(3)
    if kind is JointType.PRISMATIC:
        p[2] = q[0]
        return np.eye(3), p
    if kind is JointType.PLANAR:
        p[:2] = q[:2]
        return _about_z(float(q[2])), p
    if kind.has_quaternion:
        p[: kind.n_lengths] = q[: kind.n_lengths]
        return _turned_by(q[kind.n_lengths :]), p
    return (_about_z(float(q[0])) if kind.turns else np.eye(3)), p


def _turned_by(wxyz: Floats) -> Floats:
    largest = np.abs(wxyz).max()
    if largest == 0:
        raise InputError("a quaternion of zeros is no rotation; unturned is 1 0 0 0 (wxyz)")
    return rigid.exact(rotations.from_quaternion(NUMPY, wxyz / largest))


def _about_z(angle: float) -> Floats:
    return rigid.exact(rotations.rotation_z(NUMPY, angle))


def floats(what: str, value: Any) -> Floats:
    """A new float64 array of whatever shape came.

    Raises: InputError for what is no array of numbers.
    """
    try:
        return np.array(value, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(f"{what} must be numbers, not {value!r:.60}") from None


def positions_for(
    m: Mechanism,
    names: Sequence[str],
    at: Mapping[str, Any] | Sequence[Any] | Floats | float | None,
) -> dict[str, Floats]:
    """The positions (n_q,) at which to lock each of these coordinates; see `edit.lock`."""
    _check_names(m, names)
    if at is None:
        given: dict[str, Any] = {}
    elif isinstance(at, Mapping):
        given = dict(at)
        wanted = set(names)
        for name in given:
            if name not in wanted:
                m.joint(name)
                raise InputError(f"a position is given for '{name}', which is not to be locked")
    else:
        given = _by_order(m, names, at)
    default = neutral(m)
    positions = {name: _position(m, name, given.get(name), default) for name in names}
    q, places = default.copy(), []
    for name, position in positions.items():
        c = m.joint(name)
        part = range(int(m.q_start[c]), int(m.q_start[c + 1]))
        q[list(part)], places = position, [*places, *part]
    q = inside_limits(m, q, places, "lock", whose="cannot be locked at", hint=_HINT)
    starts = {name: int(m.q_start[m.joint(name)]) for name in names}
    return {name: q[start : start + len(positions[name])] for name, start in starts.items()}


def _check_names(m: Mechanism, names: Sequence[str]) -> None:
    follower = {m.body_joint_names[b]: m.joint_names[int(m.coordinate[b])] for b in m.followers()}
    seen: set[str] = set()
    for name in names:
        leader = follower.get(str(name))
        if leader is not None:
            raise InputError(
                f"'{name}' follows '{leader}' and has no position of its own; lock '{leader}'"
            )
        m.joint(name)
        if name in seen:
            raise InputError(f"'{name}' is to be locked twice; name each joint once")
        seen.add(name)


def _by_order(m: Mechanism, names: Sequence[str], at: Any) -> dict[str, Any]:
    """One entry for each name, or a whole configuration."""
    values: list[Any] = list(at) if hasattr(at, "__len__") and not isinstance(at, str) else [at]
    if len(names) == 1 and 1 < len(values) == m.joint_types[m.joint(names[0])].n_q:
        return {names[0]: values}
    by_entry = len(values) == len(names)
    by_configuration = len(values) == m.n_q and all(map(_is_number, values))
    if by_configuration:
        starts = [int(m.q_start[m.joint(name)]) for name in names]
        if by_entry and starts != list(range(m.n_q)):
            raise InputError(
                "it is not clear whether these positions are in the order of the names or of q; "
                "give a mapping from names to positions"
            )
        return {
            name: values[start : start + m.joint_types[m.joint(name)].n_q]
            for name, start in zip(names, starts, strict=True)
        }
    if by_entry:
        return dict(zip(names, values, strict=True))
    raise ShapeError(
        f"lock takes one position for each of the {len(names)} names, or a configuration of "
        f"{m.n_q} numbers, not {len(values)} values"
    )


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float, np.number)) or getattr(value, "shape", None) == ()


def _position(m: Mechanism, name: str, value: Any, default: Floats) -> Floats:
    c = m.joint(name)
    if value is None:
        return default[m.q_start[c] : m.q_start[c + 1]]
    n_q = m.joint_types[c].n_q
    position = np.atleast_1d(floats(f"joint '{name}': its position", value))
    if position.shape != (n_q,):
        kind = m.joint_types[c].label
        raise ShapeError(f"joint '{name}' ({kind}) has {n_q} positions, not {position.shape}")
    if not np.isfinite(position).all():
        raise InputError(f"joint '{name}': its position must be finite, not {value}")
    return position
