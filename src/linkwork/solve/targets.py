"""Targets that people give, checked."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from linkwork.arrays import real_array
from linkwork.errors import InputError, ShapeError

Floats = NDArray[np.float64]


def rigid_poses(targets: ArrayLike) -> Floats:
    """Targets as float64 poses (..., 4, 4), checked.

    Raises: ShapeError; InputError naming the first row that is not finite or not rigid (rotation
    orthogonal and right-handed, last row 0 0 0 1, each within 1e-6).
    """
    poses = real_array(targets, "targets")
    if poses.shape[-2:] != (4, 4):
        raise ShapeError(f"targets must have shape (..., 4, 4), not {poses.shape}")
    R = poses[..., :3, :3]
    gram = R @ np.swapaxes(R, -1, -2) - np.eye(3)
    with np.errstate(invalid="ignore"):
        fine = (
            (np.abs(gram).max(axis=(-1, -2)) <= 1e-6)
            & (np.linalg.det(R) > 0.0)
            & (np.abs(poses[..., 3, :] - (0.0, 0.0, 0.0, 1.0)).max(axis=-1) <= 1e-6)
            & np.isfinite(poses[..., :3, 3]).all(axis=-1)
        )
    if not np.all(fine):
        row = np.argwhere(~fine)[0]
        where = f" [{', '.join(map(str, row))}]" if row.size else ""
        raise InputError(
            f"target{where} is not a rigid pose: the upper left 3x3 must be a rotation matrix, the "
            "right column finite, the last row 0 0 0 1"
        )
    return poses
