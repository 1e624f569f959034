"""Targets that people give, checked.

``of`` is who they are for, such as "task 'tool0'": messages begin with it.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from linkwork import checks
from linkwork.errors import ShapeError

Floats = NDArray[np.float64]


def rigid_poses(targets: ArrayLike, of: str = "") -> Floats:
    """Targets as float64 poses (..., 4, 4), checked.

    Raises: as `checks.rigid_poses`.
    """
    return checks.rigid_poses(targets, _named("target", of))


def rotations(targets: ArrayLike, of: str = "") -> Floats:
    """Rotation matrices (..., 3, 3), given as such or as poses (..., 4, 4), checked.

    Raises: ShapeError; InputError naming the first row that is no rotation.
    """
    array = checks.real_array(targets, _named("targets", of))
    if array.shape[-2:] == (4, 4):
        return rigid_poses(array, of)[..., :3, :3]
    if array.shape[-2:] != (3, 3):
        raise ShapeError(
            f"{_named('targets', of)} must have shape (..., 3, 3) or (..., 4, 4), not {array.shape}"
        )
    return checks.rotation_matrices(array, _named("target", of))


def finite_rows(targets: ArrayLike, length: int, of: str = "") -> Floats:
    """Rows of finite numbers (..., length), a copy.

    Raises: ShapeError; InputError naming the first row that is not finite.
    """
    rows = np.array(checks.real_array(targets, _named("targets", of)))
    if rows.ndim == 0 or rows.shape[-1] != length:
        raise ShapeError(
            f"{_named('targets', of)} must have shape (..., {length}), not {rows.shape}"
        )
    checks.refuse_others(np.isfinite(rows).all(axis=-1), _named("target", of), "is not finite")
    return rows


def directions(targets: ArrayLike, of: str = "") -> Floats:
    """Directions (..., 3) of any length but zero, made unit vectors.

    Raises: ShapeError; InputError naming the first row that is not finite or zero.
    """
    rows = finite_rows(targets, 3, of)
    largest = np.max(np.abs(rows), axis=-1, keepdims=True)
    checks.refuse_others(
        largest[..., 0] > 0.0, _named("target", of), "has the direction 0 0 0, which is none"
    )
    rows /= largest  # so that squares neither overflow nor vanish
    return rows / np.linalg.norm(rows, axis=-1, keepdims=True)


def points_and_directions(targets: ArrayLike, of: str = "") -> Floats:
    """A point and a direction (..., 6), the direction made a unit vector.

    Raises: as `finite_rows` and `directions` do.
    """
    rows = finite_rows(targets, 6, of)
    rows[..., 3:] = directions(rows[..., 3:], of)
    return rows


def _named(what: str, of: str) -> str:
    return f"{of}: {what}" if of else what
