"""Rows S3-025 to S3-044: rotations from angles, axes and quaternions, and back, on plain numbers.

A rotation is nine numbers, row by row; its columns are the turned axes. Nothing here checks that
they are a rotation (row S3-021). Of a batch each number is an array of one shape: where one value
takes a branch, each row of a batch takes its own, by the functions at the end.
"""

from __future__ import annotations

from math import atan2, cos, hypot, inf, nan, pi, sin, sqrt
from typing import Any

import numpy as np

from linkwork.errors import InputError
from linkwork.faces.pykdl.values import (
    Nine,
    Three,
    number,
    numbers,
    sine_and_cosine,
    warn_of_zero_quaternion,
)

Four = tuple[float, float, float, float]

IDENTITY: Nine = (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0)
LOCKED = 1e-12
"""Nearer than this to a singular angle, two angles turn about one axis, and one of them is 0."""
NOISE = 1e-15
"""Sines of an angle smaller than this are rounding: whether the turn is pi or -pi is not known."""


def sines(a: Any, b: Any, c: Any) -> tuple[float, float, float, float, float, float]:
    """Sine and cosine of three angles: sin a, cos a, sin b, ...; of batches of one shape too."""
    if a.__class__ is b.__class__ is c.__class__ is float:
        try:
            return sin(a), cos(a), sin(b), cos(b), sin(c), cos(c)
        except ValueError:  # an infinite angle
            pass
    a, b, c = numbers((a, b, c), "an angle")
    return (*sine_and_cosine(a), *sine_and_cosine(b), *sine_and_cosine(c))


def from_rpy(roll: Any, pitch: Any, yaw: Any) -> Nine:
    """Rz(yaw) Ry(pitch) Rx(roll)."""
    sr, cr, sp, cp, sy, cy = sines(roll, pitch, yaw)
    sysp, cysp = sy * sp, cy * sp
    return (
        cy * cp, cysp * sr - sy * cr, cysp * cr + sy * sr,
        sy * cp, sysp * sr + cy * cr, sysp * cr - cy * sr,
        -sp, cp * sr, cp * cr,
    )  # fmt: skip


def from_euler_zyz(first: Any, middle: Any, last: Any) -> Nine:
    """Rz(first) Ry(middle) Rz(last)."""
    sa, ca, sb, cb, sg, cg = sines(first, middle, last)
    cacb, sacb = ca * cb, sa * cb
    return (
        cacb * cg - sa * sg, -cacb * sg - sa * cg, ca * sb,
        sacb * cg + ca * sg, ca * cg - sacb * sg, sa * sb,
        -sb * cg, sb * sg, cb,
    )  # fmt: skip


def turned_about_x(m: Nine, s: Any, k: Any) -> Nine:
    """m times a turn about x with this sine and cosine."""
    a, b, c, d, e, f, g, h, i = m
    return (
        a, b * k + c * s, c * k - b * s,
        d, e * k + f * s, f * k - e * s,
        g, h * k + i * s, i * k - h * s,
    )  # fmt: skip


def turned_about_y(m: Nine, s: Any, k: Any) -> Nine:
    """m times a turn about y with this sine and cosine."""
    a, b, c, d, e, f, g, h, i = m
    return (
        a * k - c * s, b, c * k + a * s,
        d * k - f * s, e, f * k + d * s,
        g * k - i * s, h, i * k + g * s,
    )  # fmt: skip


def turned_about_z(m: Nine, s: Any, k: Any) -> Nine:
    """m times a turn about z with this sine and cosine."""
    a, b, c, d, e, f, g, h, i = m
    return (
        a * k + b * s, b * k - a * s, c,
        d * k + e * s, e * k - d * s, f,
        g * k + h * s, h * k - g * s, i,
    )  # fmt: skip


def about_unit(axis: Three, angle: Any) -> Nine:
    """A turn about an axis of length 1, which is not checked (Rodrigues)."""
    if angle.__class__ is float:
        try:
            s, c = sin(angle), cos(angle)
        except ValueError:
            s, c = sine_and_cosine(angle)
    else:
        s, c = sine_and_cosine(angle)
    return rodrigues(axis, s, c)


def rodrigues(axis: Three, s: Any, c: Any) -> Nine:
    """A turn about an axis of length 1 by an angle with this sine and cosine."""
    x, y, z = axis
    t = 1.0 - c
    tx, ty, tz, sx, sy, sz = t * x, t * y, t * z, s * x, s * y, s * z
    return (
        c + tx * x, tx * y - sz, tx * z + sy,
        ty * x + sz, c + ty * y, ty * z - sx,
        tz * x - sy, tz * y + sx, c + tz * z,
    )  # fmt: skip


def from_vector(v: Three) -> Nine:
    """A turn about a vector by its length in radians; exact for the shortest vectors too."""
    x, y, z = v
    if x.__class__ is not float:
        length = lengths(v)
        safe = nonzero(length)
        return about_unit((x / safe, y / safe, z / safe), length)
    length = hypot(x, y, z)
    if length == 0.0:
        return IDENTITY
    return about_unit((x / length, y / length, z / length), length)


def from_quaternion(x: Any, y: Any, z: Any, w: Any) -> Nine:
    """The rotation of a quaternion of any length; of length zero none, with a warning."""
    if not x.__class__ is y.__class__ is z.__class__ is w.__class__ is float:
        x, y, z, w = _as_floats(x, y, z, w)
        if x.__class__ is not float:
            return _each_from_quaternion(x, y, z, w)
    square = x * x + y * y + z * z + w * w
    if not 1e-200 < square < 1e200:
        return _from_odd_quaternion((x, y, z, w))
    f = 2.0 / square
    xf, yf, zf = x * f, y * f, z * f
    xx, yy, zz, xy, xz, yz = x * xf, y * yf, z * zf, x * yf, x * zf, y * zf
    xw, yw, zw = w * xf, w * yf, w * zf
    return (
        1.0 - yy - zz, xy - zw, xz + yw,
        xy + zw, 1.0 - xx - zz, yz - xw,
        xz - yw, yz + xw, 1.0 - xx - yy,
    )  # fmt: skip


def _as_floats(x: Any, y: Any, z: Any, w: Any) -> tuple[Any, ...]:
    if x.__class__ is y.__class__ is z.__class__ is w.__class__ is int:
        try:
            return 0.0 + x, 0.0 + y, 0.0 + z, 0.0 + w
        except OverflowError:
            pass  # what is too large is said below
    return numbers((x, y, z, w), "a number of a quaternion")


def _from_odd_quaternion(q: Four) -> Nine:
    """Of numbers whose squares are too small, too large or none."""
    largest = max(map(abs, q))
    if largest == 0.0:
        warn_of_zero_quaternion()
        return IDENTITY
    if not largest < inf:
        return (nan, nan, nan, nan, nan, nan, nan, nan, nan)
    x, y, z, w = [value / largest for value in q]
    return from_quaternion(x, y, z, w)


def to_rpy(m: Nine) -> Three:
    """Roll, pitch, yaw about the fixed axes x, y, z; the pitch is in [-pi/2, pi/2].

    At both ends roll and yaw turn about one axis: the roll is then 0.
    """
    m00, m01, _, m10, m11, _, m20, m21, m22 = m
    if m00.__class__ is not float:
        return _each_to_rpy(m)
    pitch = atan2(-m20, sqrt(m00 * m00 + m10 * m10))
    if abs(pitch) > pi / 2 - LOCKED:
        return 0.0, pitch, atan2(-m01, m11)
    return atan2(m21, m22), pitch, atan2(m10, m00)


def to_euler_zyz(m: Nine) -> Three:
    """Angles about z, the new y and the new z; the middle one is in [0, pi].

    At both ends the other two turn about one axis: the last is then 0.
    """
    m00, _, m02, m10, _, m12, m20, m21, m22 = m
    if m00.__class__ is not float:
        return _each_to_euler_zyz(m)
    if abs(m22) > 1.0 - LOCKED:
        if m22 > 0.0:
            return atan2(m10, m00), 0.0, 0.0
        return atan2(-m10, -m00), pi, 0.0
    return atan2(m12, m02), atan2(sqrt(m20 * m20 + m21 * m21), m22), atan2(m21, -m20)


def to_quaternion(m: Nine) -> Four:
    """x, y, z, w: w is positive where the trace is, else the largest of x, y, z is."""
    m00, m01, m02, m10, m11, m12, m20, m21, m22 = m
    if m00.__class__ is not float:
        return _each_to_quaternion(m)
    trace = m00 + m11 + m22
    if trace > LOCKED:
        s = 0.5 / sqrt(trace + 1.0)
        return (m21 - m12) * s, (m02 - m20) * s, (m10 - m01) * s, 0.25 / s
    if m00 > m11 and m00 > m22:
        s = 2.0 * sqrt(1.0 + m00 - m11 - m22)
        return 0.25 * s, (m01 + m10) / s, (m02 + m20) / s, (m21 - m12) / s
    if m11 > m22:
        s = 2.0 * sqrt(1.0 + m11 - m00 - m22)
        return (m01 + m10) / s, 0.25 * s, (m12 + m21) / s, (m02 - m20) / s
    s = 2.0 * sqrt(1.0 + m22 - m00 - m11)
    return (m02 + m20) / s, (m12 + m21) / s, 0.25 * s, (m10 - m01) / s


def to_angle_and_axis(m: Nine) -> tuple[float, Three]:
    """The angle, in [0, pi], and the axis of a rotation, exact at both ends.

    No rotation has the axis z. At pi, where both directions of the axis serve, the component of the
    largest element of the diagonal is positive.
    """
    m00, m01, m02, m10, m11, m12, m20, m21, m22 = m
    if m00.__class__ is not float:
        return _each_to_angle_and_axis(m)
    x, y, z = (m21 - m12) * 0.5, (m02 - m20) * 0.5, (m10 - m01) * 0.5
    sine, cosine = hypot(x, y, z), (m00 + m11 + m22 - 1.0) * 0.5
    if cosine > -0.5:
        if sine == 0.0:
            return 0.0, (0.0, 0.0, 1.0)
        return atan2(sine, cosine), (x / sine, y / sine, z / sine)
    ax, ay, az = axis_of_half_turn(m, cosine)
    if sine > NOISE and ax * x + ay * y + az * z < 0.0:
        return atan2(sine, cosine), (-ax, -ay, -az)
    return atan2(sine, cosine), (ax, ay, az)


def axis_of_half_turn(m: Nine, cosine: float) -> Three:
    """The axis of a large turn, from the symmetric part of its matrix, which is
    cos 1 + (1 - cos) a aᵀ; the component of the largest element of the diagonal is positive.
    """
    m00, m01, m02, m10, m11, m12, m20, m21, m22 = m
    xy, xz, yz = (m01 + m10) * 0.5, (m02 + m20) * 0.5, (m12 + m21) * 0.5
    if m00 > m11 and m00 > m22:
        x, y, z = m00 - cosine, xy, xz
    elif m11 > m22:
        x, y, z = xy, m11 - cosine, yz
    else:
        x, y, z = xz, yz, m22 - cosine
    length = hypot(x, y, z)
    if length == 0.0:
        return 0.0, 0.0, 1.0
    return x / length, y / length, z / length


def to_rough_angle_and_axis(m: Nine, eps: Any) -> tuple[float, Three]:
    """As KDL has it: turns within about eps / 2 of 0 or pi count as 0 or pi.

    Raises: InputError for a batch.
    """
    near = number(eps, "eps")
    m00, m01, m02, m10, m11, m12, m20, m21, m22 = m
    if m00.__class__ is not float or near.__class__ is not float:
        raise InputError("GetRotAngle of a batch takes no eps: its angles are exact")
    if abs(m01 - m10) < near and abs(m02 - m20) < near and abs(m12 - m21) < near:
        if m00 + m11 + m22 > 1.0:
            return 0.0, (0.0, 0.0, 1.0)
        return pi, axis_of_half_turn(m, -1.0)
    return to_angle_and_axis(m)


def to_vector(m: Nine) -> Three:
    """The axis of a rotation times its angle, exact at 0 and at pi."""
    angle, (x, y, z) = to_angle_and_axis(m)
    return x * angle, y * angle, z * angle


def transposed(m: Nine) -> Nine:
    """The inverse of a rotation."""
    a, b, c, d, e, f, g, h, i = m
    return a, d, g, b, e, h, c, f, i


def product(m: Nine, n: Nine) -> Nine:
    """The rotation n, then m."""
    a, b, c, d, e, f, g, h, i = m
    j, k, l, o, p, q, r, s, t = n  # noqa: E741 -- the letters go on
    return (
        a * j + b * o + c * r, a * k + b * p + c * s, a * l + b * q + c * t,
        d * j + e * o + f * r, d * k + e * p + f * s, d * l + e * q + f * t,
        g * j + h * o + i * r, g * k + h * p + i * s, g * l + h * q + i * t,
    )  # fmt: skip


def turned(m: Nine, v: Three) -> Three:
    """A vector rotated."""
    a, b, c, d, e, f, g, h, i = m
    x, y, z = v
    return a * x + b * y + c * z, d * x + e * y + f * z, g * x + h * y + i * z


# batches: all arguments are arrays of one shape, or floats; so are the results


def lengths(v: tuple[Any, ...]) -> Any:
    """Lengths, without squares that overflow."""
    x, y, z = v
    return np.hypot(np.hypot(x, y), z)


def nonzero(lengths: Any) -> Any:
    """Lengths to divide by: 1 for those that are 0."""
    return np.where(lengths == 0.0, 1.0, lengths)


def unit_vectors(v: tuple[Any, ...], eps: float) -> tuple[tuple[Any, ...], Any]:
    """Vectors of length 1 and the lengths they had; short ones become (1, 0, 0), with length 0."""
    x, y, z = v
    length = lengths(v)
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
    units, _ = unit_vectors(w, eps)
    with np.errstate(divide="ignore", invalid="ignore"):
        angle = lengths(w) / rate
    return units, np.where(angle < eps, 0.0, angle)


def _each_from_quaternion(x: Any, y: Any, z: Any, w: Any) -> Any:
    """Nine numbers of quaternions of any length; of length zero no rotation, with a warning."""
    length = np.hypot(lengths((x, y, z)), w)
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


def _each_to_rpy(m: Any) -> Any:
    """Roll, pitch, yaw."""
    m00, m01, _, m10, m11, _, m20, m21, m22 = m
    pitch = np.arctan2(-m20, np.sqrt(m00 * m00 + m10 * m10))
    locked = np.abs(pitch) > np.pi / 2 - LOCKED
    roll = np.where(locked, 0.0, np.arctan2(m21, m22))
    return roll, pitch, np.where(locked, np.arctan2(-m01, m11), np.arctan2(m10, m00))


def _each_to_euler_zyz(m: Any) -> Any:
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


def _each_to_quaternion(m: Any) -> Any:
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


def _each_to_angle_and_axis(m: Any) -> Any:
    """Angles and axes."""
    m00, m01, m02, m10, m11, m12, m20, m21, m22 = m
    x, y, z = (m21 - m12) * 0.5, (m02 - m20) * 0.5, (m10 - m01) * 0.5
    sine, cosine = lengths((x, y, z)), (m00 + m11 + m22 - 1.0) * 0.5
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
    length = lengths((x, y, z))
    safe = nonzero(length)
    return x / safe, y / safe, np.where(length == 0.0, 1.0, z / safe)
