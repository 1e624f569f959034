"""Numbers for joints: for all of them, for those that are actuated, or by name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linkwork.checks import real_array, real_rows
from linkwork.errors import ShapeError
from linkwork.mechanism.model import Mechanism

Floats = NDArray[np.float64]


def places(m: Mechanism, names: Sequence[str], *, of_q: bool = False) -> list[int]:
    """The numbers of v, or of q, that belong to these joints.

    Raises: UnknownNameError.
    """
    starts = m.q_start if of_q else m.v_start
    joints = [m.joint(name) for name in names]
    return [k for c in joints for k in range(int(starts[c]), int(starts[c + 1]))]


def for_actuated(m: Mechanism, number: float) -> Floats:
    """One number (nv,) for each actuated joint, zero elsewhere; for all where none is named so."""
    names = m.actuated or m.joint_names
    return _filled(m.n_v, places(m, names), np.asarray(number), 0.0)


def for_joints(
    m: Mechanism, given: Any, label: str, *, of_q: bool = False, elsewhere: Floats | float = 0.0
) -> Floats:
    """Numbers (..., nv), or (..., nq), from those that are given for joints.

    ``given``: an array of that shape; an array of the actuated joints' numbers, in their order; or
    {joint: number, or array (..., n) of its n numbers}. ``elsewhere`` (..., nv or nq) is what the
    joints have that are not meant.

    Raises: UnknownNameError, ShapeError saying what is allowed, InputError for what is no number.
    """
    size = m.n_q if of_q else m.n_v
    if isinstance(given, Mapping):
        return _by_name(m, given, label, of_q=of_q, elsewhere=elsewhere)
    driven = places(m, m.actuated, of_q=of_q)
    array = real_array(given, label)
    if not driven or array.ndim == 0 or array.shape[-1] == size:
        return real_rows(array, label, size)
    if array.shape[-1] != len(driven):
        raise ShapeError(
            f"{label} must have shape (..., {size}), or (..., {len(driven)}) for the actuated "
            f"joints ({', '.join(m.actuated)}), not {array.shape}"
        )
    return _filled(size, driven, array, elsewhere)


def _by_name(
    m: Mechanism, given: Mapping[Any, Any], label: str, *, of_q: bool, elsewhere: Floats | float
) -> Floats:
    found = np.asarray(elsewhere, np.float64)
    if found.ndim == 0:
        found = np.full(m.n_q if of_q else m.n_v, float(found))
    for name, value in given.items():
        own = places(m, [name], of_q=of_q)
        values = real_array(value, f"{label}[{name!r}]")
        values = np.full(len(own), float(values)) if values.ndim == 0 else values
        values = real_rows(values, f"{label}[{name!r}]", len(own))
        found = _filled(found.shape[-1], own, values, found)
    return found


def _filled(size: int, places: Sequence[int], values: Floats, elsewhere: Floats | float) -> Floats:
    lead = np.broadcast_shapes(np.shape(values)[:-1], np.shape(elsewhere)[:-1])
    found = np.empty((*lead, size))
    found[...] = elsewhere
    found[..., list(places)] = values
    return found
