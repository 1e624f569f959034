"""Matrices by hand: homogeneous ones (4, 4), rotations, and parts of them.

Numbers give arrays of floats; where a number is a CasADi SX, arrays of objects, which ``@`` takes.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from linkwork.errors import InputError, ShapeError
from linkwork.faces.trip_kinematics.values import (
    SequenceError,
    as_block,
    computed,
    is_symbol,
    number,
    quaternion_of,
)
from linkwork.ops.numpy import NUMPY
from linkwork.spatial import poses, rotations

__all__ = [
    "Rotation",
    "get_rotation",
    "get_translation",
    "hom_rotation",
    "hom_translation_matrix",
    "identity_transformation",
    "quat_rotation_matrix",
    "x_axis_rotation_matrix",
    "y_axis_rotation_matrix",
    "z_axis_rotation_matrix",
]


def identity_transformation() -> NDArray[np.float64]:
    """The matrix (4, 4) that changes nothing."""
    return np.eye(4)


def hom_translation_matrix(t_x: Any = 0, t_y: Any = 0, t_z: Any = 0) -> NDArray[Any]:
    """The homogeneous matrix (4, 4) of a translation (m)."""
    given = [
        number(t, name) for t, name in zip((t_x, t_y, t_z), ("t_x", "t_y", "t_z"), strict=True)
    ]
    return computed(
        lambda o, *p: poses.to_matrix(o, poses.Pose(poses.identity(o).R, o.vector(p))), *given
    )


def hom_rotation(rotation_matrix: Any) -> NDArray[Any]:
    """The homogeneous matrix (4, 4) of a rotation (3, 3).

    Raises: ShapeError.
    """
    R = _matrix(rotation_matrix, (3, 3), "a rotation")
    return computed(lambda o, R: poses.to_matrix(o, poses.Pose(R, poses.identity(o).p)), R)


def x_axis_rotation_matrix(theta: Any) -> NDArray[Any]:
    """The rotation (3, 3) about x by an angle (rad)."""
    return _turn(rotations.rotation_x, theta)


def y_axis_rotation_matrix(theta: Any) -> NDArray[Any]:
    """The rotation (3, 3) about y by an angle (rad)."""
    return _turn(rotations.rotation_y, theta)


def z_axis_rotation_matrix(theta: Any) -> NDArray[Any]:
    """The rotation (3, 3) about z by an angle (rad)."""
    return _turn(rotations.rotation_z, theta)


def quat_rotation_matrix(q_w: Any, q_x: Any, q_y: Any, q_z: Any) -> NDArray[Any]:
    """The rotation (3, 3) of a quaternion; of any length, and of zeros none."""
    names = ("qw", "qx", "qy", "qz")
    given = {key: number(q, key) for key, q in zip(names, (q_w, q_x, q_y, q_z), strict=True)}
    return computed(
        lambda o, *parts: rotations.from_quaternion(o, o.vector(parts)), *quaternion_of(given)
    )


def get_rotation(matrix: Any) -> Any:
    """The rotation (3, 3) of a homogeneous matrix; of an SX, an SX.

    Raises: ShapeError.
    """
    return _homogeneous(matrix)[:3, :3]


def get_translation(matrix: Any) -> Any:
    """The translation (3,) of a homogeneous matrix; of an SX, an SX (3, 1).

    Raises: ShapeError.
    """
    return _homogeneous(matrix)[:3, 3]


class Rotation:
    """A rotation, from and to quaternions, Euler angles and matrices.

    It keeps the sign that its quaternion was made with, as SciPy's rotations do: that of the
    numbers given to `from_quat`, the product of the half angles' quaternions after `from_euler`,
    and a positive largest part after `from_matrix`. ``quat`` is x y z w, of any length.

    Raises: as `from_quat`.
    """

    def __init__(self, quat: ArrayLike) -> None:
        given = np.asarray(quat, np.float64)
        if given.shape != (4,):
            raise ShapeError(f"a quaternion has four numbers, not the shape {given.shape}")
        if not np.isfinite(given).all() or not given.any():
            raise InputError(f"a quaternion has finite numbers that are not all 0, not {given}")
        scaled = np.roll(given, 1) / np.abs(given).max()
        self._wxyz: NDArray[np.float64] = scaled / np.linalg.norm(scaled)

    @classmethod
    def from_quat(cls, xyzw: ArrayLike, scalar_first: bool = True) -> Rotation:
        """The rotation of a quaternion (4,): w x y z, or x y z w without ``scalar_first``.

        Raises: ShapeError, InputError.
        """
        given = np.asarray(xyzw, np.float64)
        return cls(np.roll(given, -1) if scalar_first and given.shape == (4,) else given)

    @classmethod
    def from_euler(cls, seq: str, rpy: ArrayLike, degrees: bool = False) -> Rotation:
        """The rotation Rz Ry Rx of angles (3,) about the fixed axes x, y, z ("xyz").

        Raises: SequenceError (an AssertionError) for another ``seq``; ShapeError, InputError.
        """
        if seq != "xyz":
            raise SequenceError(f"Euler angles are given as 'xyz', not as {seq!r:.40}")
        given = np.asarray(rpy, np.float64)
        if given.shape != (3,):
            raise ShapeError(f"Euler angles are three numbers, not the shape {given.shape}")
        if not np.isfinite(given).all():
            raise InputError(f"Euler angles must be finite, not {given}")
        half = 0.5 * (np.radians(given) if degrees else given)
        x, y, z = (
            np.array([np.cos(angle), *np.sin(angle) * axis])
            for angle, axis in zip(half, np.eye(3), strict=True)
        )
        product = rotations.multiply_quaternions
        return cls(np.roll(np.asarray(product(NUMPY, product(NUMPY, z, y), x)), -1))

    @classmethod
    def from_matrix(cls, matrix: ArrayLike) -> Rotation:
        """The rotation that a matrix (3, 3) is.

        Raises: ShapeError; InputError for a matrix that is none within 1e-6.
        """
        given = np.array(_matrix(matrix, (3, 3), "a rotation"), np.float64)
        far = np.abs(given.T @ given - np.eye(3)).max() if np.isfinite(given).all() else np.inf
        if far > 1.0e-6 or np.linalg.det(given) < 0.0:
            raise InputError("the matrix is no rotation: its columns must be a right-handed frame")
        xyzw = np.roll(np.asarray(rotations.to_quaternion(NUMPY, given)), -1)
        largest = int(np.argmax([*np.diag(given), np.trace(given)]))
        return cls(xyzw if xyzw[largest] > 0.0 else -xyzw)

    def as_quat(self, scalar_first: bool = True) -> NDArray[np.float64]:
        """The unit quaternion (4,) with the sign it was made with: w x y z, or x y z w."""
        return self._wxyz.copy() if scalar_first else np.roll(self._wxyz, -1)

    def as_matrix(self) -> NDArray[np.float64]:
        """The matrix (3, 3)."""
        return np.array(rotations.from_quaternion(NUMPY, self._wxyz))

    def __repr__(self) -> str:
        return f"Rotation.from_quat({self.as_quat().tolist()})"


def _turn(about: Any, theta: Any) -> NDArray[Any]:
    return computed(about, number(theta, "theta"))


def _matrix(matrix: Any, shape: tuple[int, int], what: str) -> Any:
    """A matrix as a block."""
    block = as_block(matrix)
    if tuple(block.shape) != shape:
        raise ShapeError(f"{what} has the shape {shape}, not {tuple(block.shape)}")
    return block


def _homogeneous(matrix: Any) -> Any:
    given = matrix if is_symbol(matrix) else np.asarray(matrix)
    if tuple(given.shape) != (4, 4):
        raise ShapeError(f"a homogeneous matrix has the shape (4, 4), not {tuple(given.shape)}")
    return given
