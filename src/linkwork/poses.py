"""Poses, arrays (..., 4, 4): from and to the numbers that people write, and their arithmetic.

``T_a_b`` maps coordinates of b to a, in metres. Leading shapes are broadcast against each other.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from linkwork import settings
from linkwork.checks import (
    finite_number,
    real_array,
    rigid_pose,
    rigid_poses,
    rotation_matrices,
)
from linkwork.compile.kernel import Kernel, build
from linkwork.compile.recipe import expression_recipe
from linkwork.errors import InputError
from linkwork.ops.protocol import Block
from linkwork.spatial import se3

Floats = NDArray[np.float64]

__all__ = ["compose", "interpolate", "inverse", "steps"]


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
        return _kernel("R")(xyz, _turns(turns))
    if wxyz is not None:
        return _kernel("wxyz")(xyz, wxyz)
    return _kernel("rpy")(xyz, np.zeros(3) if rpy is None else rpy)


def xyz_rpy(T: ArrayLike) -> tuple[Floats, Floats]:
    """Positions (..., 3) and roll-pitch-yaw (..., 3, radians) of poses (..., 4, 4).

    At pitch of a quarter turn, roll and yaw are not unique: roll is then zero or near it.
    Raises: ShapeError; InputError for what is not a rigid pose.
    """
    poses = rigid_poses(T)
    return poses[..., :3, 3].copy(), _kernel("to_rpy")(_turns(poses))


def xyz_wxyz(T: ArrayLike) -> tuple[Floats, Floats]:
    """Positions (..., 3) and unit quaternions (..., 4), w not negative, of poses (..., 4, 4).

    Raises: ShapeError; InputError for what is not a rigid pose.
    """
    poses = rigid_poses(T)
    return poses[..., :3, 3].copy(), _kernel("to_wxyz")(_turns(poses))


def compose(*poses: ArrayLike) -> Floats:
    """Product of poses (..., 4, 4): T_a_c of T_a_b and T_b_c, and so on for more of them.

    Raises: ShapeError; InputError where none is given, or for what is not a rigid pose.
    """
    if not poses:
        raise InputError("compose takes one pose or more: compose(T_a_b, T_b_c)")
    first, *others = (_rows(T) for T in poses)
    result = first.reshape(*first.shape[:-1], 4, 4)
    for rows in others:
        result = _kernel("compose")(_flat(result), rows)
    return result.copy() if not others else result


def inverse(T: ArrayLike) -> Floats:
    """T_b_a of T_a_b (..., 4, 4).

    Raises: ShapeError; InputError for what is not a rigid pose.
    """
    return _kernel("inverse")(_rows(T))


def interpolate(
    T_0: ArrayLike,
    T_1: ArrayLike,
    s: ArrayLike,
    *,
    path: Literal["screw", "separate"] = "screw",
) -> Floats:
    """Poses (..., 4, 4) on the way from T_0 at s = 0 to T_1 at s = 1; s is of shape (...).

    ``path``: "screw" turns about and slides along one fixed axis, T_0 exp(s log(T_0⁻¹ T_1));
    "separate" moves the origin on a straight line while it turns at a constant rate. Both take
    the shorter way around; at half a turn, where two are equally short, either of them. Below 0
    and above 1 the motion goes on.

    Source: K. M. Lynch, F. C. Park, Modern Robotics (2017), section 9.2.1.
    Raises: ShapeError; InputError for what is not a rigid pose, s that is not finite, or a path
    that does not exist.
    """
    if path not in ("screw", "separate"):
        raise InputError(f"path is 'screw' or 'separate', not {path!r:.40}")
    return _kernel(path)(_rows(T_0), _rows(T_1), real_array(s, "s")[..., None])


def steps(
    T_0: ArrayLike,
    T_1: ArrayLike,
    *,
    length: float | None = None,
    angle: float | None = None,
    path: Literal["screw", "separate"] = "screw",
) -> Floats:
    """Poses (n, 4, 4) from T_0 to T_1, both included, in equal steps that are small enough.

    None of them moves the origin by more than ``length`` (m), on a line between its ends, nor turns
    by more than ``angle`` (rad). ``path`` as in `interpolate`.

    Raises: ShapeError; InputError for what is not a rigid pose, for a bound that is not above zero,
    or where neither is given.
    """
    first, last = rigid_pose(T_0, "T_0"), rigid_pose(T_1, "T_1")
    if length is None and angle is None:
        raise InputError("give length (m), angle (rad), or both: the largest step")
    gap = float(np.linalg.norm(last[:3, :3] - first[:3, :3]))  # sqrt(8) sin(angle / 2)
    turn = 2.0 * math.asin(min(gap / math.sqrt(8.0), 1.0))
    way = float(np.linalg.norm(last[:3, 3] - first[:3, 3]))
    most = 1.0
    for bound, name, whole in ((length, "length", way), (angle, "angle", turn)):
        if bound is not None:
            most = max(most, whole / finite_number(bound, name, above=0.0))
    count = math.ceil(most * (1.0 - 1e-12))
    while True:
        made = interpolate(first, last, np.linspace(0.0, 1.0, count + 1), path=path)
        # on a screw the origin goes around: its steps together are longer than the way
        step = float(np.linalg.norm(made[1, :3, 3] - first[:3, 3]))
        if length is None or step <= length * (1.0 + 1e-12):
            return made
        count = max(count + 1, math.ceil(count * step / length * (1.0 - 1e-12)))


def _rows(T: ArrayLike) -> Floats:
    """Poses, checked, as rows of sixteen numbers."""
    return _flat(rigid_poses(T))


def _flat(poses: Floats) -> Floats:
    return poses.reshape(*poses.shape[:-2], 16)


def _turns(matrices: Floats) -> Floats:
    """The rotations of matrices (..., 3, 3) or poses as rows of nine numbers."""
    return matrices[..., :3, :3].reshape(*matrices.shape[:-2], 9)


_TWO = {"T_0": 16, "T_1": 16}
# what each function takes, and its expression
_EXPRESSIONS: dict[str, tuple[dict[str, int], Callable[..., Block]]] = {
    "rpy": ({"xyz": 3, "rpy": 3}, se3.matrix_from_rpy),
    "wxyz": ({"xyz": 3, "wxyz": 4}, se3.matrix_from_quaternion),
    "R": ({"xyz": 3, "R": 9}, se3.matrix_from_rows),
    "to_rpy": ({"R": 9}, se3.rpy_from_rows),
    "to_wxyz": ({"R": 9}, se3.quaternion_from_rows),
    "compose": (_TWO, se3.composed),
    "inverse": ({"T": 16}, se3.inverted),
    "screw": ({**_TWO, "s": 1}, se3.on_screw),
    "separate": ({**_TWO, "s": 1}, se3.on_line),
}


@cache
def _kernel(which: str) -> Kernel:
    sizes, expression = _EXPRESSIONS[which]
    recipe = expression_recipe(
        ("pose", which), f"pose_{which}", sizes, lambda o, *a: {"pose": expression(o, *a)}
    )
    return build(recipe, compiler=settings.compiler())
