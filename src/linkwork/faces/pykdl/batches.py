"""The same as in `angles`, over arrays: where one value takes a branch, each row takes its own.

All arguments are arrays of one shape, or floats; so are the results.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from linkwork.faces.pykdl.scalars import warn_of_zero_quaternion

LOCKED, NOISE = 1e-12, 1e-15  # as in `angles`


def norm(v: tuple[Any, ...]) -> Any:
    """Lengths, without squares that overflow."""
    x, y, z = v
    return np.hypot(np.hypot(x, y), z)


def nonzero(lengths: Any) -> Any:
    """Lengths to divide by: 1 for those that are 0."""
    return np.where(lengths == 0.0, 1.0, lengths)


def normalized(v: tuple[Any, ...], eps: float) -> tuple[tuple[Any, ...], Any]:
    """Vectors of length 1 and the lengths they had; short ones become (1, 0, 0), with length 0."""
    x, y, z = v
    length = norm(v)
    short = length < eps
    safe = np.where(short, 1.0, length)
    units = (
        np.where(short, 1.0, x / safe),
        np.where(short, 0.0, y / safe),
        np.where(short, 0.0, z / safe),
    )
    return units, np.where(short, 0.0, length)


def turn_in_a_step(w: tuple[Any, ...], rate: Any, eps: float) -> Any:
    """Axes and angles of turns for 1 / rate; `Frame.Integrate` leaves those below eps out."""
    units, _ = normalized(w, eps)
    with np.errstate(divide="ignore", invalid="ignore"):
        angle = norm(w) / rate
    return units, np.where(angle < eps, 0.0, angle)


def from_quaternion(x: Any, y: Any, z: Any, w: Any) -> Any:
    """Nine numbers of quaternions of any length; of length zero no rotation, with a warning."""
    length = np.hypot(norm((x, y, z)), w)
    if not np.all(length):
        warn_of_zero_quaternion()
        w, length = np.where(length == 0.0, 1.0, w), nonzero(length)
    with np.errstate(invalid="ignore"):
        x, y, z, w = x / length, y / length, z / length, w / length
        xx, yy, zz, ww = x * x, y * y, z * z, w * w
        return (
            ww + xx - yy - zz, 2.0 * (x * y - z * w), 2.0 * (x * z + y * w),
            2.0 * (x * y + z * w), ww - xx + yy - zz, 2.0 * (y * z - x * w),
            2.0 * (x * z - y * w), 2.0 * (y * z + x * w), ww - xx - yy + zz,
        )  # fmt: skip


def to_rpy(m: Any) -> Any:
    """Roll, pitch, yaw."""
    m00, m01, _, m10, m11, _, m20, m21, m22 = m
    pitch = np.arctan2(-m20, np.sqrt(m00 * m00 + m10 * m10))
    locked = np.abs(pitch) > np.pi / 2 - LOCKED
    roll = np.where(locked, 0.0, np.arctan2(m21, m22))
    return roll, pitch, np.where(locked, np.arctan2(-m01, m11), np.arctan2(m10, m00))


def to_euler_zyz(m: Any) -> Any:
    """Angles about z, y, z."""
    m00, _, m02, m10, _, m12, m20, m21, m22 = m
    locked = np.abs(m22) > 1.0 - LOCKED
    sign = np.where(m22 > 0.0, 1.0, -1.0)
    first = np.where(locked, np.arctan2(sign * m10, sign * m00), np.arctan2(m12, m02))
    end = np.where(m22 > 0.0, 0.0, np.pi)
    middle = np.where(locked, end, np.arctan2(np.sqrt(m20 * m20 + m21 * m21), m22))
    return first, middle, np.where(locked, 0.0, np.arctan2(m21, -m20))


def _case(m: Any) -> Any:
    """The place of the largest element of the diagonal: 0, 1 or 2."""
    m00, _, _, _, m11, _, _, _, m22 = m
    return np.where((m00 > m11) & (m00 > m22), 0, np.where(m11 > m22, 1, 2))


def _pick(case: Any, *choices: Any) -> Any:
    return np.choose(case, choices)


def to_quaternion(m: Any) -> Any:
    """x, y, z, w."""
    m00, m01, m02, m10, m11, m12, m20, m21, m22 = m
    trace = m00 + m11 + m22
    case = np.where(trace > LOCKED, 3, _case(m))
    with np.errstate(invalid="ignore", divide="ignore"):
        squares = _pick(
            case, 1.0 + m00 - m11 - m22, 1.0 + m11 - m00 - m22, 1.0 + m22 - m00 - m11, 1.0 + trace
        )
        half = 0.5 * np.sqrt(squares)
        f = 0.25 / half
        xy, xz, yz = (m01 + m10) * f, (m02 + m20) * f, (m12 + m21) * f
        xw, yw, zw = (m21 - m12) * f, (m02 - m20) * f, (m10 - m01) * f
    return (
        _pick(case, half, xy, xz, xw),
        _pick(case, xy, half, yz, yw),
        _pick(case, xz, yz, half, zw),
        _pick(case, xw, yw, zw, half),
    )


def to_angle_and_axis(m: Any) -> Any:
    """Angles and axes."""
    m00, m01, m02, m10, m11, m12, m20, m21, m22 = m
    x, y, z = (m21 - m12) * 0.5, (m02 - m20) * 0.5, (m10 - m01) * 0.5
    sine, cosine = norm((x, y, z)), (m00 + m11 + m22 - 1.0) * 0.5
    large = ~(cosine > -0.5)
    none = ~large & (sine == 0.0)
    ax, ay, az = _axes_of_half_turns(m, cosine)
    back = (sine > NOISE) & (ax * x + ay * y + az * z < 0.0)
    sign = np.where(back, -1.0, 1.0)
    safe = nonzero(sine)
    axis = (
        np.where(large, ax * sign, np.where(none, 0.0, x / safe)),
        np.where(large, ay * sign, np.where(none, 0.0, y / safe)),
        np.where(large, az * sign, np.where(none, 1.0, z / safe)),
    )
    return np.where(none, 0.0, np.arctan2(sine, cosine)), axis


def _axes_of_half_turns(m: Any, cosine: Any) -> Any:
    m00, m01, m02, m10, m11, m12, m20, m21, m22 = m
    xy, xz, yz = (m01 + m10) * 0.5, (m02 + m20) * 0.5, (m12 + m21) * 0.5
    case = _case(m)
    x = _pick(case, m00 - cosine, xy, xz)
    y = _pick(case, xy, m11 - cosine, yz)
    z = _pick(case, xz, yz, m22 - cosine)
    length = norm((x, y, z))
    safe = nonzero(length)
    return x / safe, y / safe, np.where(length == 0.0, 1.0, z / safe)
