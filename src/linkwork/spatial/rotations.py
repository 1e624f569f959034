"""Rotation matrices, quaternions ``wxyz`` and roll-pitch-yaw angles.

A rotation matrix ``R_a_b`` takes coordinates of b to coordinates of a; angles are in radians.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from linkwork.errors import InputError, ShapeError
from linkwork.ops.protocol import Block, Ops

TINY = 1e-30  # far below every number that matters, and a normal number in float32 too


def rotation_x(o: Ops, angle: Block) -> Block:
    """The rotation (3, 3) about x by an angle ()."""
    c, s = o.cos(angle), o.sin(angle)
    return o.matrix([o.const([1.0, 0.0, 0.0]), o.vector([0.0, c, s]), o.vector([0.0, -s, c])])


def rotation_y(o: Ops, angle: Block) -> Block:
    """The rotation (3, 3) about y by an angle ()."""
    c, s = o.cos(angle), o.sin(angle)
    return o.matrix([o.vector([c, 0.0, -s]), o.const([0.0, 1.0, 0.0]), o.vector([s, 0.0, c])])


def rotation_z(o: Ops, angle: Block) -> Block:
    """The rotation (3, 3) about z by an angle ()."""
    c, s = o.cos(angle), o.sin(angle)
    return o.matrix([o.vector([c, s, 0.0]), o.vector([-s, c, 0.0]), o.const([0.0, 0.0, 1.0])])


def skew(o: Ops, v: Block) -> Block:
    """The matrix (3, 3) whose product with u is the cross product v x u, from v (3,)."""
    x, y, z = v[0], v[1], v[2]
    return o.matrix([o.vector([0.0, z, -y]), o.vector([-z, 0.0, x]), o.vector([y, -x, 0.0])])


def vee(o: Ops, a: Block) -> Block:
    """The vector (3,) whose `skew` is the antisymmetric part (A - Aᵀ) / 2 of a matrix (3, 3)."""
    return o.vector(
        [0.5 * (a[2, 1] - a[1, 2]), 0.5 * (a[0, 2] - a[2, 0]), 0.5 * (a[1, 0] - a[0, 1])]
    )


def from_axis_angle(o: Ops, axis: Block, angle: Block) -> Block:
    """The rotation (3, 3) about a unit axis (3,) by an angle ().

    R = 1 + sin θ [a] + 2 sin² (θ/2) [a]², in which small angles lose no digits.
    Source: Rodrigues' rotation formula.
    """
    half = o.sin(0.5 * angle)
    return rodrigues(o, axis, o.sin(angle), 2.0 * half * half)


def rodrigues(o: Ops, v: Block, first: Block, second: Block) -> Block:
    """1 + first [v] + second [v]² (3, 3), written out so that nothing is computed twice."""
    x, y, z = v[0], v[1], v[2]
    xy, xz, yz = second * x * y, second * x * z, second * y * z
    xx, yy, zz = second * x * x, second * y * y, second * z * z
    sx, sy, sz = first * x, first * y, first * z
    return o.matrix(
        [
            o.vector([1.0 - (yy + zz), xy + sz, xz - sy]),
            o.vector([xy - sz, 1.0 - (xx + zz), yz + sx]),
            o.vector([xz + sy, yz - sx, 1.0 - (xx + yy)]),
        ]
    )


def from_rpy(o: Ops, rpy: Block) -> Block:
    """The rotation (3, 3) of URDF's roll, pitch, yaw (3,): R = Rz(yaw) Ry(pitch) Rx(roll).

    Source: URDF's ``origin`` element: rotations about the fixed axes x, y, z in this order.
    """
    cr, sr = o.cos(rpy[0]), o.sin(rpy[0])
    cp, sp = o.cos(rpy[1]), o.sin(rpy[1])
    cy, sy = o.cos(rpy[2]), o.sin(rpy[2])
    return o.matrix(
        [
            o.vector([cy * cp, sy * cp, -sp]),
            o.vector([cy * sp * sr - sy * cr, sy * sp * sr + cy * cr, cp * sr]),
            o.vector([cy * sp * cr + sy * sr, sy * sp * cr - cy * sr, cp * cr]),
        ]
    )


def to_rpy(o: Ops, R: Block) -> Block:
    """Roll, pitch, yaw (3,) of a rotation (3, 3); pitch in [-pi/2, pi/2].

    Where the pitch is a right angle (gimbal lock) only a sum or a difference of roll and yaw is
    defined, and roll is given as 0. Near the lock yaw is taken first and roll from what is left
    once yaw has been undone, so the three angles give R back to the last digits there too.
    """
    level2 = R[0, 0] * R[0, 0] + R[1, 0] * R[1, 0]  # cos² of the pitch
    locked = o.less(level2, TINY)
    # at the lock R[0, 0] and R[1, 0] say nothing, and the gradient of atan2 would divide by zero
    yaw = o.atan2(o.select(locked, -R[0, 1], R[1, 0]), o.select(locked, R[1, 1], R[0, 0]))
    level = o.select(locked, 0.0, o.sqrt(o.maximum(level2, 0.5 * TINY)))
    cy, sy = o.cos(yaw), o.sin(yaw)
    # the second row of Rz(yaw)ᵀ R is (0, cos roll, -sin roll)
    roll = o.atan2(sy * R[0, 2] - cy * R[1, 2], cy * R[1, 1] - sy * R[0, 1])
    return o.vector([o.select(locked, 0.0, roll), o.atan2(-R[2, 0], level), yaw])


def multiply_quaternions(o: Ops, a: Block, b: Block) -> Block:
    """The product a b (4,) ``wxyz``: the rotation b, then the rotation a.

    Source: Hamilton's product.
    """
    return o.vector(
        [
            a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3],
            a[0] * b[1] + a[1] * b[0] + a[2] * b[3] - a[3] * b[2],
            a[0] * b[2] - a[1] * b[3] + a[2] * b[0] + a[3] * b[1],
            a[0] * b[3] + a[1] * b[2] - a[2] * b[1] + a[3] * b[0],
        ]
    )


def conjugate(o: Ops, wxyz: Block) -> Block:
    """The conjugate (4,) ``wxyz``, for a unit quaternion the inverse rotation."""
    return o.vector([wxyz[0], -wxyz[1], -wxyz[2], -wxyz[3]])


def from_quaternion(o: Ops, wxyz: Block) -> Block:
    """The rotation (3, 3) of a quaternion (4,) ``wxyz`` of any norm but zero.

    R = 1 + s (w [v] + [v]²) with s = 2 / (w² + v·v), so the result is a rotation whatever the norm.
    Norms whose square float64 does not hold (over 1e154, below 1e-154) give what is not finite, as
    the norm zero does.
    """
    square = o.dot(wxyz, wxyz)
    # An infinite square, which alone is not below its double, would make every rotation none.
    scale = 2.0 / o.select(o.less(square, square + square), square, 0.0)
    return rodrigues(o, o.part(wxyz, 1, 4), scale * wxyz[0], scale)


def to_quaternion(o: Ops, R: Block) -> Block:
    """The unit quaternion (4,) ``wxyz`` with w >= 0 of a rotation (3, 3).

    The largest of the four numbers w, x, y, z is found from the diagonal and the others follow
    by division through it, so no rotation loses digits; a half turn included.

    Source: S. W. Shepperd, "Quaternion from rotation matrix", Journal of Guidance and Control 1
    (1978).
    """
    xx, yy, zz = R[0, 0], R[1, 1], R[2, 2]
    w_x, w_y, w_z = R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]
    x_y, x_z, y_z = R[1, 0] + R[0, 1], R[0, 2] + R[2, 0], R[2, 1] + R[1, 2]
    # each row is 4 (pivot) (w, x, y, z), for the pivot w, x, y, z; its own entry is 4 pivot²
    rows = [
        o.vector([1.0 + (xx + yy + zz), w_x, w_y, w_z]),
        o.vector([w_x, 1.0 + (xx - yy - zz), x_y, x_z]),
        o.vector([w_y, x_y, 1.0 + (yy - xx - zz), y_z]),
        o.vector([w_z, x_z, y_z, 1.0 + (zz - xx - yy)]),
    ]
    best, square = rows[0], rows[0][0]
    for i in (1, 2, 3):
        better = o.less(square, rows[i][i])
        best = o.select(better, rows[i], best)
        square = o.select(better, rows[i][i], square)
    # dividing by the row's own length makes it a unit quaternion also where R is not quite one
    sign = o.select(o.less(best[0], 0.0), -1.0, 1.0)
    scale = sign / o.sqrt(o.dot(best, best))
    return o.vector([scale * best[k] for k in range(4)])


def angle_of_quaternion(wxyz: Any) -> NDArray[np.float64]:
    """The angles (...) from 0 to pi of quaternions (..., 4) ``wxyz`` of any length; NumPy only."""
    length = np.linalg.norm(wxyz[..., 1:], axis=-1)
    return np.asarray(2.0 * np.arctan2(length, np.abs(wxyz[..., 0])))


def align_z(axis: Any) -> NDArray[np.float64]:
    """The smallest rotations (..., 3, 3) that take z to axes (..., 3) of any length; NumPy only.

    With a = (x, y, z) of length 1 it is [[1 - k x², -k x y, x], [-k x y, 1 - k y², y], [-x, -y, z]]
    with k = 1 / (1 + z). Near -z the sum cancels, so below the equator k = (1 - z) / (x² + y²),
    which is the same. For -z itself, where it is not unique, the x axis stays: diag(1, -1, -1).

    Source: Rodrigues' formula for the angle arccos z about (-y, x, 0).
    Raises: ShapeError for another shape, InputError for an axis that is zero or not finite.
    """
    a = np.asarray(axis, dtype=np.float64)
    if a.shape[-1:] != (3,):
        raise ShapeError(f"an axis has the shape (3,), this one {a.shape}")
    largest = np.abs(a).max(axis=-1)
    bad = ~np.isfinite(largest) | (largest == 0.0)
    if bad.any():
        found = a[bad].reshape(-1, 3)[0].tolist()
        raise InputError(f"an axis needs finite numbers that are not all zero, not {found}")
    a = a / largest[..., None]  # so that squares neither overflow nor vanish
    x, y, z = np.moveaxis(a / np.sqrt(np.square(a).sum(axis=-1))[..., None], -1, 0)
    across, down = x * x + y * y, z < 0
    with np.errstate(divide="ignore", invalid="ignore"):
        k = np.where(down, (1.0 - z) / across, 1.0 / (1.0 + z))
    at_pole = down & (across == 0.0)
    k = np.where(at_pole, 0.0, k)
    rows = [
        [1.0 - k * x * x, -k * x * y, x],
        [-k * x * y, np.where(at_pole, -1.0, 1.0 - k * y * y), y],
        [-x, -y, z],
    ]
    return np.moveaxis(np.array(rows), (0, 1), (-2, -1)) + 0.0  # no negative zeros
