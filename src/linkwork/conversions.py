"""Poses from and to the numbers that people write: positions, roll-pitch-yaw, quaternions."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np
from numpy.typing import ArrayLike, NDArray

from linkwork import settings
from linkwork.checks import rigid_poses, rotation_matrices
from linkwork.compile.kernel import Kernel, build
from linkwork.compile.recipe import text_recipe
from linkwork.errors import InputError
from linkwork.ops.protocol import Block
from linkwork.spatial.flat import (
    matrix_from_quaternion,
    matrix_from_rows,
    matrix_from_rpy,
    quaternion_from_rows,
    rpy_from_rows,
)

Floats = NDArray[np.float64]


def pose(
    xyz: ArrayLike = (0.0, 0.0, 0.0),
    *,
    rpy: ArrayLike | None = None,
    wxyz: ArrayLike | None = None,
    R: ArrayLike | None = None,
) -> Floats:
    """Poses (..., 4, 4) from positions (..., 3) and rotations, broadcast over leading shapes.

    ``rpy`` (..., 3): roll, pitch, yaw in radians about the fixed axes x, y, z (URDF). ``wxyz``
    (..., 4): quaternions of any length but zero. ``R`` (..., 3, 3): rotation matrices. Without any
    of them the rotation is none.

    Raises: ShapeError, InputError.
    """
    if sum(given is not None for given in (rpy, wxyz, R)) > 1:
        raise InputError("give one of rpy, wxyz and R, not several: each is the whole rotation")
    if R is not None:
        turns = rotation_matrices(R)
        return _kernel("R")(xyz, turns.reshape(*turns.shape[:-2], 9))
    if wxyz is not None:
        return _kernel("wxyz")(xyz, wxyz)
    return _kernel("rpy")(xyz, np.zeros(3) if rpy is None else rpy)


def xyz_rpy(T: ArrayLike) -> tuple[Floats, Floats]:
    """Positions (..., 3) and roll-pitch-yaw (..., 3, radians) of poses (..., 4, 4).

    At pitch of a quarter turn, roll and yaw are not unique: roll is then zero or near it.
    Raises: ShapeError; InputError for what is not a rigid pose.
    """
    poses = rigid_poses(T)
    return poses[..., :3, 3].copy(), _kernel("to_rpy")(_flat(poses))


def xyz_wxyz(T: ArrayLike) -> tuple[Floats, Floats]:
    """Positions (..., 3) and unit quaternions (..., 4), w not negative, of poses (..., 4, 4).

    Raises: ShapeError; InputError for what is not a rigid pose.
    """
    poses = rigid_poses(T)
    return poses[..., :3, 3].copy(), _kernel("to_wxyz")(_flat(poses))


def _flat(poses: Floats) -> Floats:
    return poses[..., :3, :3].reshape(*poses.shape[:-2], 9)


# what each conversion takes, and its text
_TEXTS: dict[str, tuple[dict[str, int], Callable[..., Block]]] = {
    "rpy": ({"xyz": 3, "rpy": 3}, matrix_from_rpy),
    "wxyz": ({"xyz": 3, "wxyz": 4}, matrix_from_quaternion),
    "R": ({"xyz": 3, "R": 9}, matrix_from_rows),
    "to_rpy": ({"R": 9}, rpy_from_rows),
    "to_wxyz": ({"R": 9}, quaternion_from_rows),
}


@cache
def _kernel(which: str) -> Kernel:
    sizes, text = _TEXTS[which]
    recipe = text_recipe(
        ("conversion", which), f"pose_{which}", sizes, lambda o, *a: {"pose": text(o, *a)}
    )
    return build(recipe, compiler=settings.compiler())
