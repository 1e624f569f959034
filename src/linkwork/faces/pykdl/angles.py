"""Rows S3-025 to S3-044: rotations from angles, axes and quaternions, and back, on plain numbers.

A rotation is nine numbers, row by row; its columns are the turned axes. Nothing here checks that
they are a rotation (row S3-021).
"""

from __future__ import annotations

from math import atan2, cos, hypot, inf, nan, pi, sin, sqrt
from typing import Any

from linkwork.errors import InputError
from linkwork.faces.pykdl import batches
from linkwork.faces.pykdl.scalars import (
    number,
    numbers,
    sine_and_cosine,
    warn_of_zero_quaternion,
)

Three = tuple[float, float, float]
Four = tuple[float, float, float, float]
Nine = tuple[float, float, float, float, float, float, float, float, float]

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
        length = batches.norm(v)
        safe = batches.nonzero(length)
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
            return batches.from_quaternion(x, y, z, w)
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
        return batches.to_rpy(m)
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
        return batches.to_euler_zyz(m)
    if abs(m22) > 1.0 - LOCKED:
        if m22 > 0.0:
            return atan2(m10, m00), 0.0, 0.0
        return atan2(-m10, -m00), pi, 0.0
    return atan2(m12, m02), atan2(sqrt(m20 * m20 + m21 * m21), m22), atan2(m21, -m20)


def to_quaternion(m: Nine) -> Four:
    """x, y, z, w: w is positive where the trace is, else the largest of x, y, z is."""
    m00, m01, m02, m10, m11, m12, m20, m21, m22 = m
    if m00.__class__ is not float:
        return batches.to_quaternion(m)
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
        return batches.to_angle_and_axis(m)
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
