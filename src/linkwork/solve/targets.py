"""Targets that people give, checked.

``of`` is who they are for, such as "task 'tool0'": messages begin with it.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from linkwork.arrays import real_array
from linkwork.errors import InputError, ShapeError

Floats = NDArray[np.float64]

_WITHIN = 1e-6
"""How far a given rotation may be from orthogonal, entry by entry."""


def rigid_poses(targets: ArrayLike, of: str = "") -> Floats:
    """Targets as float64 poses (..., 4, 4), checked.

    Raises: ShapeError; InputError naming the first row that is not finite or not rigid (rotation
    orthogonal and right-handed, last row 0 0 0 1, each within 1e-6).
    """
    poses = real_array(targets, _named("targets", of))
    if poses.shape[-2:] != (4, 4):
        raise ShapeError(f"{_named('targets', of)} must have shape (..., 4, 4), not {poses.shape}")
    with np.errstate(invalid="ignore"):
        fine = (
            _are_rotations(poses[..., :3, :3])
            & (np.abs(poses[..., 3, :] - (0.0, 0.0, 0.0, 1.0)).max(axis=-1) <= _WITHIN)
            & np.isfinite(poses[..., :3, 3]).all(axis=-1)
        )
    _refuse_others(
        fine,
        of,
        "is not a rigid pose: the upper left 3x3 must be a rotation matrix, the right column "
        "finite, the last row 0 0 0 1",
    )
    return poses


def rotation_matrices(R: ArrayLike) -> Floats:
    """Rotation matrices (..., 3, 3), checked.

    Raises: ShapeError; InputError naming the first row that is no rotation.
    """
    array = real_array(R, "R")
    if array.shape[-2:] != (3, 3):
        raise ShapeError(f"R must have shape (..., 3, 3), not {array.shape}")
    return rotations(array, "R")


def rotations(targets: ArrayLike, of: str = "") -> Floats:
    """Rotation matrices (..., 3, 3), given as such or as poses (..., 4, 4), checked.

    Raises: ShapeError; InputError naming the first row that is no rotation.
    """
    array = real_array(targets, _named("targets", of))
    if array.shape[-2:] == (4, 4):
        return rigid_poses(array, of)[..., :3, :3]
    if array.shape[-2:] != (3, 3):
        raise ShapeError(
            f"{_named('targets', of)} must have shape (..., 3, 3) or (..., 4, 4), not {array.shape}"
        )
    with np.errstate(invalid="ignore"):
        fine = _are_rotations(array)
    _refuse_others(fine, of, "is not a rotation: columns of length 1, across each other, x y z")
    return array


def finite_rows(targets: ArrayLike, length: int, of: str = "") -> Floats:
    """Rows of finite numbers (..., length), a copy.

    Raises: ShapeError; InputError naming the first row that is not finite.
    """
    rows = np.array(real_array(targets, _named("targets", of)))
    if rows.ndim == 0 or rows.shape[-1] != length:
        raise ShapeError(
            f"{_named('targets', of)} must have shape (..., {length}), not {rows.shape}"
        )
    _refuse_others(np.isfinite(rows).all(axis=-1), of, "is not finite")
    return rows


def directions(targets: ArrayLike, of: str = "") -> Floats:
    """Directions (..., 3) of any length but zero, made unit vectors.

    Raises: ShapeError; InputError naming the first row that is not finite or zero.
    """
    rows = finite_rows(targets, 3, of)
    largest = np.max(np.abs(rows), axis=-1, keepdims=True)
    _refuse_others(largest[..., 0] > 0.0, of, "has the direction 0 0 0, which is none")
    rows /= largest  # so that squares neither overflow nor vanish
    return rows / np.linalg.norm(rows, axis=-1, keepdims=True)


def points_and_directions(targets: ArrayLike, of: str = "") -> Floats:
    """A point and a direction (..., 6), the direction made a unit vector.

    Raises: as `finite_rows` and `directions` do.
    """
    rows = finite_rows(targets, 6, of)
    rows[..., 3:] = directions(rows[..., 3:], of)
    return rows


def _are_rotations(R: Floats) -> NDArray[np.bool_]:
    gram = R @ np.swapaxes(R, -1, -2) - np.eye(3)
    return (np.abs(gram).max(axis=(-1, -2)) <= _WITHIN) & (np.linalg.det(R) > 0.0)


def _named(what: str, of: str) -> str:
    return f"{of}: {what}" if of else what


def _refuse_others(fine: NDArray[np.bool_] | np.bool_, of: str, why: str) -> None:
    """Name the first row that is not fine."""
    if np.all(fine):
        return
    row = np.argwhere(~fine)[0]
    where = f" [{', '.join(map(str, row))}]" if row.size else ""
    raise InputError(f"{_named('target', of)}{where} {why}")
