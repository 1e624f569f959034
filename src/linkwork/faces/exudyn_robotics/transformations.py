"""Homogeneous transformations (4, 4) by the names of ``exudyn.utilities``, and DH parameters."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from linkwork.checks import real_array
from linkwork.errors import InputError, ShapeError
from linkwork.ops.numpy import PLAIN
from linkwork.spatial import rotations
from linkwork.spatial.poses import pose_matrix

Floats = NDArray[np.float64]

__all__ = [
    "HT",
    "HT0",
    "HT2rotationMatrix",
    "HT2translation",
    "HTrotateX",
    "HTrotateY",
    "HTrotateZ",
    "HTtranslate",
    "HTtranslateX",
    "HTtranslateY",
    "HTtranslateZ",
    "InverseHT",
    "Skew",
    "Skew2Vec",
]
"""The names of ``exudyn.utilities``."""


def HT0() -> Floats:
    """The transformation that changes nothing."""
    return np.eye(4)


def HT(A: ArrayLike, v: ArrayLike) -> Floats:
    """The transformation with a rotation (3, 3) and a translation (3,)."""
    return pose_matrix(A, v)


def _turned(matrix: Any) -> Floats:
    return HT(np.array(matrix), np.zeros(3))


def HTrotateX(angle: float) -> Floats:
    """The rotation about x by an angle (rad)."""
    return _turned(rotations.rotation_x(PLAIN, float(angle)))


def HTrotateY(angle: float) -> Floats:
    """The rotation about y by an angle (rad)."""
    return _turned(rotations.rotation_y(PLAIN, float(angle)))


def HTrotateZ(angle: float) -> Floats:
    """The rotation about z by an angle (rad)."""
    return _turned(rotations.rotation_z(PLAIN, float(angle)))


def HTtranslate(vector: ArrayLike) -> Floats:
    """The translation by a vector (3,)."""
    return HT(np.eye(3), vector)


def HTtranslateX(x: float) -> Floats:
    """The translation along x."""
    return HTtranslate([x, 0.0, 0.0])


def HTtranslateY(y: float) -> Floats:
    """The translation along y."""
    return HTtranslate([0.0, y, 0.0])


def HTtranslateZ(z: float) -> Floats:
    """The translation along z."""
    return HTtranslate([0.0, 0.0, z])


def HT2translation(T: ArrayLike) -> Floats:
    """The translation (3,) of a transformation."""
    return as_HT(T)[:3, 3].copy()


def HT2rotationMatrix(T: ArrayLike) -> Floats:
    """The rotation (3, 3) of a transformation."""
    return as_HT(T)[:3, :3].copy()


def InverseHT(T: ArrayLike) -> Floats:
    """The inverse of a transformation: Rᵀ, -Rᵀ p."""
    given = as_HT(T)
    R = given[:3, :3].T
    return HT(R, -R @ given[:3, 3])


def Skew(vector: ArrayLike) -> Floats:
    """The matrix (3, 3) whose product with u is the cross product of a vector with u."""
    return np.array(rotations.skew(PLAIN, [float(x) for x in np.asarray(vector)]))


def Skew2Vec(matrix: ArrayLike) -> Floats:
    """The vector (3,) of a skew-symmetric matrix (3, 3)."""
    m = np.asarray(matrix, np.float64)
    return np.array([m[2, 1], m[0, 2], m[1, 0]])


def StdDH2HT(DHparameters: Sequence[float]) -> Floats:
    """The transformation Rz(theta) Tz(d) Tx(a) Rx(alpha) of standard parameters.

    ``DHparameters``: [theta, d, a, alpha], rad and m.
    Source: J. Denavit, R. S. Hartenberg, J. Appl. Mech. 22 (1955).
    Raises: InputError (a ValueError) for another number of parameters, or none.
    """
    theta, d, a, alpha = _four(DHparameters, "theta, d, a, alpha")
    return HTrotateZ(theta) @ HTtranslate([a, 0.0, d]) @ HTrotateX(alpha)


def ModDHKK2HT(DHparameters: Sequence[float]) -> list[Floats]:
    """The transformations [pre, post] of modified parameters [alpha, d, theta, r].

    pre = Rx(alpha) Tx(d), before the axis turns, post = Rz(theta) Tz(r).
    Source: W. Khalil, J.-F. Kleinfinger, ICRA 1986.
    Raises: InputError (a ValueError) for another number of parameters, or none.
    """
    alpha, d, theta, r = _four(DHparameters, "alpha, d, theta, r")
    return [HTrotateX(alpha) @ HTtranslateX(d), HTrotateZ(theta) @ HTtranslateZ(r)]


def _four(given: Sequence[float], names: str) -> list[float]:
    values = real_array(given, "DHparameters")
    if values.shape != (4,):
        count = len(values) if values.ndim == 1 else values.shape
        raise InputError(f"DHparameters are four numbers [{names}], not {count}")
    return values.tolist()


def projectAngleToPMPi(q0: ArrayLike) -> Any:
    """An angle, or angles as an array, in (-pi, pi]: a whole number of turns is taken away.

    Whole turns of 2 pi are taken by the nearest float64, so that angles beyond some 1e15 lose what
    they mean.
    """
    angles = np.asarray(q0, np.float64)
    wrapped = np.mod(angles, 2.0 * math.pi)
    wrapped = np.where(wrapped > math.pi, wrapped - 2.0 * math.pi, wrapped)
    return wrapped.item() if isinstance(q0, float | int) else wrapped[()]


def as_HT(T: Any) -> Floats:
    """A transformation (4, 4), copied, of a list, an array, or one of exudyn's own objects.

    Raises: ShapeError (a ValueError) for another shape.
    """
    found = np.array(T, np.float64)
    if found.shape != (4, 4):
        raise ShapeError(f"a homogeneous transformation is a matrix (4, 4), not {found.shape}")
    return found


def as_HTs(HT: Any) -> Floats:
    """Transformations (n, 4, 4) of a list of what `as_HT` takes, or an array.

    Raises: ShapeError (a ValueError) for another shape.
    """
    found = np.array(HT, np.float64) if len(HT) else np.zeros((0, 4, 4))
    if found.ndim != 3 or found.shape[1:] != (4, 4):
        raise ShapeError(f"homogeneous transformations are matrices (4, 4), not {found.shape[1:]}")
    return found
