"""Rows S2-020 to S2-023: roll-pitch-yaw angles to matrices, and back."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linkwork.checks import real_array
from linkwork.errors import InputError, ShapeError
from linkwork.mechanism.from_urdf import rotation_from_rpy

Floats = NDArray[np.float64]

_LOCKED = 1e-12
"""Below this cosine of the pitch, yaw and roll turn about one axis, and yaw is given as 0."""


def rpy_to_matrix(coords: Any) -> Floats:
    """The rotation (3, 3) of roll, pitch, yaw (3,): Rz(yaw) Ry(pitch) Rx(roll).

    Raises: ShapeError, InputError.
    """
    roll, pitch, yaw = _shaped(coords, "coords", (3,)).tolist()
    return rotation_from_rpy((roll, pitch, yaw))


def matrix_to_rpy(R: Any, solution: int = 1) -> Floats:
    """Roll, pitch, yaw (3,) of a rotation (3, 3).

    ``solution=1`` has the pitch within a quarter turn of zero; any other gives the second set of
    angles, whose pitch is not. Where the pitch is a quarter turn the yaw is 0. The angles give the
    matrix back to the last digits, near a quarter turn too.

    Raises: ShapeError, InputError.
    """
    matrix = _shaped(R, "R", (3, 3))
    (r00, r01, r02), (r10, r11, r12), (r20, _, _) = matrix.tolist()
    level = math.hypot(r00, r10)
    if level < _LOCKED:
        if r20 < 0:
            return np.array([math.atan2(r01, r02), math.pi / 2, 0.0])
        return np.array([math.atan2(-r01, -r02), -math.pi / 2, 0.0])
    yaw = math.atan2(r10, r00)
    cos, sin = r00 / level, r10 / level
    # roll from what is left once yaw has been undone, so that an uncertain yaw does no harm
    a, b = sin * r02 - cos * r12, cos * r11 - sin * r01
    if solution == 1:
        return np.array([math.atan2(a, b), math.atan2(-r20, level), yaw])
    return np.array([math.atan2(-a, -b), math.pi - math.atan2(-r20, level), math.atan2(-r10, -r00)])


def xyz_rpy_to_matrix(xyz_rpy: Any) -> Floats:
    """The pose (4, 4) of x, y, z, roll, pitch, yaw (6,).

    Raises: ShapeError, InputError.
    """
    numbers = _shaped(xyz_rpy, "xyz_rpy", (6,))
    pose = np.eye(4)
    pose[:3, 3] = numbers[:3]
    pose[:3, :3] = rpy_to_matrix(numbers[3:])
    return pose


def matrix_to_xyz_rpy(matrix: Any) -> Floats:
    """x, y, z, roll, pitch, yaw (6,) of a pose (4, 4), by the first solution of `matrix_to_rpy`.

    Raises: ShapeError, InputError.
    """
    pose = _shaped(matrix, "matrix", (4, 4))
    return np.concatenate([pose[:3, 3], matrix_to_rpy(pose[:3, :3])])


_RIGID = 1e-6  # how far from a rotation a matrix may be that passes for one


def nearest_rotation(R: Floats) -> tuple[Floats, str]:
    """The rotation (3, 3) that a matrix is, or else its own with scale and shear left out.

    Returns it, and a sentence on what was left out; an empty one for a rotation.

    Raises: InputError for a singular matrix, and one that turns left hands to right.
    """
    if np.abs(R @ R.T - np.eye(3)).max() <= _RIGID and np.linalg.det(R) > 0:
        return R, ""
    left, scales, right = np.linalg.svd(R)
    if not scales[2] > _RIGID * scales[0] or np.linalg.det(R) < 0:
        raise InputError("the upper left (3, 3) of an origin is mirrored or flat, so not turned")
    listed = " ".join(f"{scale:.6g}" for scale in scales)
    said = f"an origin scales by {listed}, which roll, pitch and yaw cannot say: it is left out"
    return left @ right, said


def _shaped(value: Any, name: str, shape: tuple[int, ...]) -> Floats:
    array = real_array(value, name)
    if array.shape != shape:
        raise ShapeError(f"{name} has the shape {shape}, not {array.shape}")
    if not all(map(math.isfinite, array.ravel().tolist())):
        raise InputError(f"{name} must be finite, not {array.tolist()}")
    return array
