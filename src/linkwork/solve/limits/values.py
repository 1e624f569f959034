"""Numbers that people give for joints: one for all, some by name, or one for each."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from linkwork.checks import real_array
from linkwork.errors import InputError, ShapeError, UnsupportedFeatureError
from linkwork.mechanism.model import Mechanism

Floats = NDArray[np.float64]
PerJoint = float | Mapping[str, float | Sequence[float]] | ArrayLike
"""One number for all joints, numbers by the names of joints, or an array of one for each."""


def time_step(dt: float, what: str) -> float:
    """The length of a step in seconds, checked."""
    good = isinstance(dt, (int, float, np.integer, np.floating)) and math.isfinite(dt) and dt > 0.0
    if not good:
        raise InputError(f"{what} must be a positive finite number of seconds, not {dt!r}")
    return float(dt)


def per_joint(
    m: Mechanism, given: PerJoint, what: str, *, starts: NDArray[np.int64], otherwise: float
) -> Floats:
    """A number from 0 (or infinity) for each place, counted by ``starts`` (q_start or v_start).

    ``otherwise`` is for joints that a mapping does not name.

    Raises: UnknownNameError, ShapeError, InputError for numbers below 0 and NaN.
    """
    n = int(starts[-1])
    if isinstance(given, Mapping):
        values = np.full(n, otherwise)
        for name, value in cast("Mapping[Any, Any]", given).items():
            c = m.joint(name)
            part = values[int(starts[c]) : int(starts[c + 1])]
            numbers = real_array(value, f"{what}['{name}']")
            if numbers.shape not in ((), (1,), part.shape):
                raise ShapeError(
                    f"{what}['{name}'] must be one number or {part.size}, not {numbers.shape}"
                )
            part[:] = numbers
    else:
        numbers = real_array(given, what)
        if numbers.shape not in ((), (n,)):
            raise ShapeError(
                f"{what} must be one number, a mapping of joint names or an array ({n},), "
                f"not {numbers.shape}"
            )
        values = np.array(np.broadcast_to(numbers, (n,)))
    bad = np.flatnonzero(~(values >= 0.0))
    if bad.size:
        c = int(np.searchsorted(starts, bad[0], side="right")) - 1
        raise InputError(
            f"{what} of joint '{m.joint_names[c]}' must be from 0, not {values[bad[0]]}"
        )
    return values


def position_of_velocity(m: Mechanism, index: int, what: str) -> int:
    """The index in q of the position whose rate has this index in v.

    Raises: UnsupportedFeatureError for a floating or spherical joint, naming it.
    """
    c = int(np.searchsorted(m.v_start, index, side="right")) - 1
    if m.joint_types[c].has_quaternion:
        kind = m.joint_types[c].label
        raise UnsupportedFeatureError(
            f"{what}: joint '{m.joint_names[c]}' is {kind}, and only joints whose velocities are "
            "the rates of their positions can be limited; leave it out: give the others by name"
        )
    return int(m.q_start[c]) + index - int(m.v_start[c])


def single_position(m: Mechanism, name: str, what: str) -> tuple[int, int]:
    """The coordinate of a joint that has one position, and its index in q.

    Raises: UnknownNameError; InputError for a coupled joint; UnsupportedFeatureError for a joint
    with several positions.
    """
    for body in m.followers():
        if m.body_joint_names[body] == name and name not in m.joint_names:
            leader = m.joint_names[int(m.coordinate[body])]
            raise InputError(f"{what}: joint '{name}' follows '{leader}': name that one")
    c = m.joint(name)
    if m.joint_types[c].n_q != 1:
        raise UnsupportedFeatureError(
            f"{what}: joint '{name}' is {m.joint_types[c].label} and has {m.joint_types[c].n_q} "
            "positions; only joints with one can be coupled"
        )
    return c, int(m.q_start[c])
