"""Origins as records have them: a position (3,) and roll, pitch, yaw (3,), turned into others.

What needs no rounding gets none: an offset without rotation is only subtracted, a rotation about
one axis is undone by the other sign, and an origin undone by itself is exactly zero. Everything
else goes through matrices in float64, and angles are taken from them by `spatial.rotations`.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from linkwork.formats.urdf.records import ZERO, Vector3
from linkwork.ops.numpy import NUMPY
from linkwork.spatial import rotations
from linkwork.spatial.inertias import Floats


class Origin(NamedTuple):
    """A pose: where a frame is in another one, and how it is turned."""

    xyz: Vector3 = ZERO
    rpy: Vector3 = ZERO


HERE = Origin()
"""The origin that changes nothing."""


@lru_cache(maxsize=4096)
def rotation(rpy: Vector3) -> Floats:
    """The rotation (3, 3) of roll, pitch, yaw; not to be written to."""
    R = rotations.from_rpy(NUMPY, NUMPY.const(rpy))
    R.setflags(write=False)
    return R


def inverse(origin: Origin) -> Origin:
    """The pose of the outer frame in the inner one."""
    return relative(origin, HERE)


def relative(frame: Origin, other: Origin) -> Origin:
    """The pose of ``other`` in ``frame``, both given in the same third frame."""
    xyz = _vector(np.subtract(other.xyz, frame.xyz))
    if not any(frame.rpy):
        return Origin(xyz, other.rpy)
    turn = rotation(frame.rpy)
    if any(xyz):
        xyz = _vector(turn.T @ xyz)
    if frame.rpy == other.rpy:
        return Origin(xyz)
    if not any(other.rpy) and sum(map(bool, frame.rpy)) == 1:
        return Origin(xyz, _vector(np.negative(frame.rpy)))
    return Origin(xyz, _vector(rotations.to_rpy(NUMPY, turn.T @ rotation(other.rpy))))


def turned(axis: Vector3, rpy: Vector3) -> Vector3:
    """A direction (3,) of the inner frame in the outer one."""
    return _vector(rotation(rpy) @ axis) if any(rpy) else axis


def negated(axis: Vector3) -> Vector3:
    """The opposite direction (3,), without negative zeros."""
    return _vector(np.negative(axis))


def _vector(v: Floats) -> Vector3:
    x, y, z = (v + 0.0).tolist()  # -0.0 becomes 0.0
    return (x, y, z)
