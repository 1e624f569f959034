"""Rotations of joints and links, exact where they are meant to be; many at once."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from linkwork.errors import InputError
from linkwork.mechanism.model import Floats
from linkwork.spatial import rotations

EXACT_WITHIN = 2.5e-16
"""A rotation entry nearer than this to 0, 1 or -1 is meant to be it: cos(pi/2) gives 6e-17."""


def exact(R: Floats) -> Floats:
    """Rotations (n, 3, 3), or unit vectors (n, 3), whose entries next to 0, 1 and -1 are exact."""
    near = np.rint(R)
    return np.where(np.abs(R - near) < EXACT_WITHIN, near, R) + 0.0  # + 0.0: no negative zeros


def align_z(axis: Floats) -> Floats:
    """The smallest rotations (n, 3, 3) that take z to unit vectors (n, 3); for -z x stays."""
    return exact(rotations.align_z(axis))


def straight(axis: Floats) -> Floats | None:
    """What `align_z` gives for axes (n, 3) that are x, y, z or their opposites; None for others."""
    if not (np.rint(axis) == axis).all() or not (np.abs(axis).sum(axis=1) == 1).all():
        return None
    return _STRAIGHT[(axis @ _NUMBERS).astype(np.int64)]


_NUMBERS = np.array([1.0, 2.0, 3.0])
_STRAIGHT = align_z(np.array([*np.eye(3)[[2, 0, 1, 2]], *-np.eye(3)[[2, 1, 0]]]))
"""By 1, 2, 3 for x, y, z, and from behind for their opposites; nothing has the number 0."""


def gather(rows: Sequence[Floats], *shape: int) -> Floats:
    """Arrays of one shape as a new array (n, *shape)."""
    if not rows:
        return np.zeros((0, *shape))
    return np.array(rows, dtype=np.float64).reshape(len(rows), *shape)


def check_finite(kind: str, names: Sequence[str], what: str, *values: Floats) -> None:
    """Refuse numbers that are not finite, naming the first part that has them.

    Raises: InputError.
    """
    for array in values:
        if np.isfinite(array).all():
            continue
        good = np.isfinite(array).reshape(len(names), array.size // max(len(names), 1)).all(axis=1)
        name = names[int(np.argmin(good))]
        raise InputError(f"{kind} '{name}': {what} must be finite numbers")
