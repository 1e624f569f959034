"""Rows S3-020 to S3-045: a rotation, as the nine numbers of its matrix, and its angles.

The nine stand row by row; the columns are the turned axes. Nothing here checks that they are a
rotation (row S3-021). Of a batch each number is an array of one shape: where one value takes a
branch, each row of a batch takes its own.
"""
# The value types of this face read each other's slots: that is what makes them fast.
# pyright: reportPrivateUsage=false

from __future__ import annotations

import warnings
from collections.abc import Callable
from math import atan2, cos, inf, nan, pi, sin, sqrt
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar, overload

import numpy as np

from linkwork import extras
from linkwork.checks import rotation_deviation
from linkwork.errors import InputError
from linkwork.faces.pykdl.formulas import Formula
from linkwork.faces.pykdl.values import (
    ABSENT,
    EPS,
    Moving,
    Nine,
    Three,
    Value,
    ZeroAxisWarning,
    ZeroQuaternionWarning,
    number,
    numbers,
    of_one_kind,
    pair_index,
    replaced,
    sine_and_cosine,
    wrong,
)
from linkwork.faces.pykdl.vectors import (
    Twist,
    Vector,
    Wrench,
    length_of,
    six_of,
    three_of,
    turned,
    unit_of,
    vector_of,
)

_new = object.__new__
_T = TypeVar("_T", bound=Value)
Four = tuple[float, float, float, float]

IDENTITY: Nine = (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0)
_LOCKED = 1e-12
"""Nearer than this to a singular angle, two angles turn about one axis, and one of them is 0."""
_NOISE = 1e-15
"""Sines of an angle smaller than this are rounding: whether the turn is pi or -pi is not known."""


# nine numbers


def transposed(m: Nine) -> Nine:
    """The inverse of a rotation."""
    a, b, c, d, e, f, g, h, i = m
    return a, d, g, b, e, h, c, f, i


def product(m: Nine, n: Nine) -> Nine:
    """The rotation n, then m."""
    (a, b, c), (d, e, f), (g, h, i) = [turned(m, n[k::3]) for k in range(3)]
    return a, d, g, b, e, h, c, f, i


def turn_about(axis: int) -> Callable[[Nine, Any, Any], Nine]:
    """A rotation times a turn about x, y or z with a sine and a cosine."""
    i, j = (axis + 1) % 3, (axis + 2) % 3

    def turn(m: Nine, s: Any, c: Any) -> Nine:
        made: Any = list(m)
        for row in (0, 3, 6):
            x, y = m[row + i], m[row + j]
            made[row + i], made[row + j] = x * c + y * s, y * c - x * s
        return tuple(made)

    return turn


def rodrigues(axis: Three, s: Any, c: Any) -> Nine:
    """A turn about an axis of length 1, which is not checked, with this sine and cosine."""
    x, y, z = axis
    t = 1.0 - c
    tx, ty, tz, sx, sy, sz = t * x, t * y, t * z, s * x, s * y, s * z
    return (
        c + tx * x, tx * y - sz, tx * z + sy,
        ty * x + sz, c + ty * y, ty * z - sx,
        tz * x - sy, tz * y + sx, c + tz * z,
    )  # fmt: skip


def _from_rpy(sr: Any, cr: Any, sp: Any, cp: Any, sy: Any, cy: Any) -> Any:
    """Rz(yaw) Ry(pitch) Rx(roll), of sines and cosines."""
    sysp, cysp = sy * sp, cy * sp
    return (
        cy * cp, cysp * sr - sy * cr, cysp * cr + sy * sr,
        sy * cp, sysp * sr + cy * cr, sysp * cr - cy * sr,
        -sp, cp * sr, cp * cr,
    )  # fmt: skip


def _from_zyz(sa: Any, ca: Any, sb: Any, cb: Any, sg: Any, cg: Any) -> Any:
    """Rz(first) Ry(middle) Rz(last), of sines and cosines."""
    cacb, sacb = ca * cb, sa * cb
    return (
        cacb * cg - sa * sg, -(cacb * sg + sa * cg), ca * sb,
        sacb * cg + ca * sg, ca * cg - sacb * sg, sa * sb,
        -sb * cg, sb * sg, cb,
    )  # fmt: skip


def _from_quaternion(x: Any, y: Any, z: Any, w: Any) -> Any:
    """The rotation of a quaternion whose square is neither zero nor too large."""
    f = 2.0 / (x * x + y * y + z * z + w * w)
    xf, yf, zf = x * f, y * f, z * f
    xx, yy, zz, xy, xz, yz = x * xf, y * yf, z * zf, x * yf, x * zf, y * zf
    xw, yw, zw = w * xf, w * yf, w * zf
    return (
        1.0 - yy - zz, xy - zw, xz + yw,
        xy + zw, 1.0 - xx - zz, yz - xw,
        xz - yw, yz + xw, 1.0 - xx - yy,
    )  # fmt: skip


def _scaled_quaternion(x: Any, y: Any, z: Any, w: Any) -> Any:
    """A quaternion whose largest number is 1 or -1; of zeros the identity, with a warning."""
    largest = np.maximum.reduce([np.abs(part) for part in (x, y, z, w)])
    zero = largest == 0.0
    if np.any(zero):
        text = (
            "a quaternion (0, 0, 0, 0) is no rotation, as in a message that nobody has filled: the "
            "identity (0, 0, 0, 1) is taken in its place"
        )
        warnings.warn(text, ZeroQuaternionWarning, stacklevel=3)
    with np.errstate(invalid="ignore"):
        x, y, z, w = [part / np.where(zero, 1.0, largest) for part in (x, y, z, w)]
    return x, y, z, np.where(zero, 1.0, w)


def _to_rpy(m: Nine) -> Three:
    """Roll, pitch, yaw about the fixed axes x, y, z; where both turn about one axis, roll is 0."""
    m00, m01, _, m10, m11, _, m20, m21, m22 = m
    if m00.__class__ is float:
        pitch = atan2(-m20, sqrt(m00 * m00 + m10 * m10))
        if abs(pitch) > pi / 2 - _LOCKED:
            return 0.0, pitch, atan2(-m01, m11)
        return atan2(m21, m22), pitch, atan2(m10, m00)
    pitch: Any = np.arctan2(-m20, np.sqrt(m00 * m00 + m10 * m10))
    locked: Any = np.abs(pitch) > pi / 2 - _LOCKED
    yaw: Any = np.where(locked, np.arctan2(-m01, m11), np.arctan2(m10, m00))
    return np.where(locked, 0.0, np.arctan2(m21, m22)), pitch, yaw


def _to_zyz(m: Nine) -> Three:
    """Angles about z, the new y and the new z; where two turn about one axis, the last is 0."""
    m00, _, m02, m10, _, m12, m20, m21, m22 = m
    if m00.__class__ is float:
        if abs(m22) > 1.0 - _LOCKED:
            return (atan2(m10, m00), 0.0, 0.0) if m22 > 0.0 else (atan2(-m10, -m00), pi, 0.0)
        return atan2(m12, m02), atan2(sqrt(m20 * m20 + m21 * m21), m22), atan2(m21, -m20)
    locked: Any = np.abs(m22) > 1.0 - _LOCKED
    sign = np.where(m22 > 0.0, 1.0, -1.0)
    first: Any = np.where(locked, np.arctan2(sign * m10, sign * m00), np.arctan2(m12, m02))
    middle = np.arctan2(np.where(locked, 0.0, np.sqrt(m20 * m20 + m21 * m21)), m22)
    return first, middle, np.where(locked, 0.0, np.arctan2(m21, -m20))


def _to_quaternion(m: Nine) -> Four:
    """x, y, z, w: w is positive where the trace is, else the largest of x, y, z is.

    Source: S. W. Shepperd, Quaternion from rotation matrix, J. Guidance and Control 1 (1978).
    """
    m00, m01, m02, m10, m11, m12, m20, m21, m22 = m
    trace = m00 + m11 + m22
    if m00.__class__ is not float:
        xy, xz, yz, xw, yw, zw = m01 + m10, m02 + m20, m12 + m21, m21 - m12, m02 - m20, m10 - m01
        squares = [1.0 + 2.0 * x - trace for x in (m00, m11, m22)]
        rows = np.array(
            [[squares[0], xy, xz, xw], [xy, squares[1], yz, yw], [xz, yz, squares[2], zw],
             [xw, yw, zw, 1.0 + trace]]
        )  # fmt: skip
        largest = np.where((m00 > m11) & (m00 > m22), 0, np.where(m11 > m22, 1, 2))
        case = np.where(trace > _LOCKED, 3, largest)[None]
        row = np.take_along_axis(rows, case[None], 0)[0]
        return tuple(row * (0.5 / np.sqrt(np.take_along_axis(row, case, 0))))
    if trace > _LOCKED:
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


def _to_angle_and_axis(m: Nine) -> tuple[float, Three]:
    """The angle, in [0, pi], and the axis of a rotation, exact at both ends.

    No rotation has the axis z. At pi, where both directions of the axis serve, the component of the
    largest element of the diagonal is positive.
    """
    x, y, z, w = _to_quaternion(m)
    sine: Any = length_of((x, y, z))
    if x.__class__ is float:
        if sine == 0.0:
            return 0.0, (0.0, 0.0, 1.0)
        f = -1.0 / sine if w < -_NOISE else 1.0 / sine
        return 2.0 * atan2(sine, abs(w)), (x * f, y * f, z * f)
    none = sine == 0.0
    f = np.where(w < -_NOISE, -1.0, 1.0) / np.where(none, 1.0, sine)
    return 2.0 * np.arctan2(sine, np.abs(w)), (x * f, y * f, np.where(none, 1.0, z * f))


def _to_rough_angle_and_axis(m: Nine, eps: Any) -> tuple[float, Three]:
    """As KDL has it: turns within about eps / 2 of 0 or pi count as 0 or pi.

    Raises: InputError for a batch.
    """
    rough = number(eps, "eps")
    m00, m01, m02, m10, m11, m12, m20, m21, m22 = m
    if m00.__class__ is not float or rough.__class__ is not float:
        raise InputError("GetRotAngle of a batch takes no eps: its angles are exact")
    angle, axis = _to_angle_and_axis(m)
    if abs(m01 - m10) < rough and abs(m02 - m20) < rough and abs(m12 - m21) < rough:
        if m00 + m11 + m22 > 1.0:
            return 0.0, (0.0, 0.0, 1.0)
        x, y, z, _ = _to_quaternion(m)
        return pi, unit_of((x, y, z), 0.0)[0]
    return angle, axis


# rotations


def rotation_of(m: Any) -> Rotation:
    """A rotation of nine numbers, row by row: floats, or of a batch some arrays."""
    made: Rotation = _new(Rotation)
    made._m = of_one_kind(m)
    return made


def _unit(k: int) -> Any:
    """The method that gives one column of a rotation, or sets it."""

    def unit(self: Rotation, column: Any = ABSENT) -> Any:
        """The turned axis, a column; with an argument, sets it."""
        m: Any = self._m
        if column is ABSENT:
            return vector_of((m[k], m[k + 3], m[k + 6]))
        changed: Any = list(m)
        changed[k::3] = three_of(column, f"Rotation.Unit{'XYZ'[k]}", "nothing or a Vector")
        self._m = tuple(of_one_kind(changed))
        return None

    return unit


ABOUT = [Formula(f"about {'xyz'[k]}", turn_about(k), (9, float, float), 9) for k in range(3)]
"""Turns of nine numbers about x, y and z, given sine and cosine."""


def _turning(axis: int) -> Callable[[Rotation, float], None]:
    """The method that turns, in place, about one axis."""

    def turn(self: Rotation, angle: float) -> None:
        """Turn, in place, about its own axis: this = this * RotX(angle), and so on."""
        s, c = sine_and_cosine(angle)
        m, of_float = ABOUT[axis].call(self._m, s, c), s.__class__ is self._m[0].__class__ is float
        self._m = m if of_float else of_one_kind(m)

    return turn


class Rotation(Moving):
    """A 3x3 matrix whose columns are the turned axes: ``rotation * v`` is v in the outer frame.

    `Rotation()` is none, `Rotation(Xx, Yx, Zx, Xy, Yy, Zy, Xz, Yz, Zz)` is row by row,
    `Rotation(x, y, z)` are three Vectors, the columns (`FromRows` takes the rows), and
    `Rotation(other)` a copy. ``*`` rotates a Vector, a Twist, a Wrench or another Rotation.

    Numbers are kept as they are, a rotation or not; with ``Rotation.check = True`` what is none is
    refused from then on, with an InputError (a ValueError). Angles are in radians.

    Raises: WrongTypeError (a TypeError) for other arguments.
    """

    __slots__ = ("_m",)
    _m: Nine
    array_shape = (3, 3)
    _held = (("_m", 9),)
    _moves = Vector
    check: ClassVar[bool] = False
    """Whether matrices that are given are tested: orthonormal within 1e-9, determinant 1."""
    takes: ClassVar[dict[str, str]] = {"*": "a Vector, a Twist, a Wrench or a Rotation"}

    @overload
    def __init__(self) -> None: ...
    @overload
    def __init__(self, xx: Rotation) -> None: ...
    @overload
    def __init__(self, xx: Vector, yx: Vector, zx: Vector) -> None: ...
    @overload
    def __init__(
        self, xx: float, yx: float, zx: float, xy: float, yy: float, zy: float,
        xz: float, yz: float, zz: float,
    ) -> None: ...  # fmt: skip
    def __init__(self, *given: Any, **named: Any) -> None:
        if named:
            names = _NAMES.get(len(given) + len(named), ())[len(given) :]
            if set(names) != set(named):
                takes = f"xx, yx, zx, xy, ... zz, or x, y, z by name, not {', '.join(named)}"
                raise wrong("Rotation", takes, *given, *named.values())
            given = (*given, *[named[name] for name in names])
        if not given:
            self._m = IDENTITY
        elif len(given) == 9:
            self._m = _checked(numbers(given, "an element of a Rotation"))
        elif len(given) == 3 and all([isinstance(x, Vector) for x in given]):
            (a, d, g), (b, e, h), (c, f, i) = [x._v for x in given]
            self._m = _checked(of_one_kind((a, b, c, d, e, f, g, h, i)))
        elif len(given) == 1 and isinstance(given[0], Rotation):
            self._m = given[0]._m
        else:
            takes = "nothing, nine numbers (row by row), three Vectors (the columns) or a Rotation"
            raise wrong("Rotation", takes, *given)

    def _numbers(self) -> Nine:
        return self._m

    def _assign(self, these: Any) -> None:
        self._m = tuple(these)

    def _put(self, other: Any) -> None:
        self._m = other._m

    if TYPE_CHECKING:

        def __mul__(self, other: _T) -> _T: ...

    # making rotations

    @staticmethod
    def Identity() -> Rotation:
        """No rotation."""
        return rotation_of(IDENTITY)

    @staticmethod
    def RotX(angle: float) -> Rotation:
        """A turn about the x axis."""
        s, c = sine_and_cosine(angle)
        return rotation_of((1.0, 0.0, 0.0, 0.0, c, -s, 0.0, s, c))

    @staticmethod
    def RotY(angle: float) -> Rotation:
        """A turn about the y axis."""
        s, c = sine_and_cosine(angle)
        return rotation_of((c, 0.0, s, 0.0, 1.0, 0.0, -s, 0.0, c))

    @staticmethod
    def RotZ(angle: float) -> Rotation:
        """A turn about the z axis."""
        s, c = sine_and_cosine(angle)
        return rotation_of((c, -s, 0.0, s, c, 0.0, 0.0, 0.0, 1.0))

    @staticmethod
    def Rot(axis: Vector, angle: float) -> Rotation:
        """A turn about an axis of any length.

        An axis shorter than 1e-6 has no direction: x is taken, with a ZeroAxisWarning.
        """
        v = three_of(axis, "Rotation.Rot", "a Vector (the axis) and a number")
        unit, length = unit_of(v, EPS)
        if not (length if length.__class__ is float else np.all(length)):
            text = "an axis shorter than 1e-6 has no direction: the x axis is taken in its place"
            warnings.warn(text, ZeroAxisWarning, stacklevel=2)
        return _ABOUT_UNIT.call(unit, *sine_and_cosine(angle))

    @staticmethod
    def Rot2(axis: Vector, angle: float) -> Rotation:
        """As `Rot`, for an axis whose length is 1 already, which is not checked."""
        v = three_of(axis, "Rotation.Rot2", "a Vector of length 1 (the axis) and a number")
        return _ABOUT_UNIT.call(v, *sine_and_cosine(angle))

    @staticmethod
    def EulerZYX(z: float, y: float, x: float) -> Rotation:
        """A turn about z, then about the new y, then about the newest x: Rz Ry Rx."""
        return _RPY.call(*_sines(x, y, z))

    @staticmethod
    def EulerZYZ(z1: float, y: float, z2: float) -> Rotation:
        """A turn about z, then about the new y, then about the newest z: Rz Ry Rz."""
        return _ZYZ.call(*_sines(z1, y, z2))

    @staticmethod
    def RPY(r: float, p: float, y: float) -> Rotation:
        """Turns about the fixed axes x, then y, then z (roll, pitch, yaw): Rz(y) Ry(p) Rx(r)."""
        return _RPY.call(*_sines(r, p, y))

    @staticmethod
    def Quaternion(x: float, y: float, z: float, w: float) -> Rotation:
        """The rotation of a quaternion, of any length; w, the real part, is last.

        (0, 0, 0, 0), as a ROS message holds that nobody has filled, is no rotation: the identity,
        with a ZeroQuaternionWarning.
        """
        q = (x, y, z, w)
        if not x.__class__ is y.__class__ is z.__class__ is w.__class__ is float:
            q = numbers(q, "a number of a quaternion")
        x, y, z, w = q
        if x.__class__ is not float or not 1e-200 < x * x + y * y + z * z + w * w < 1e200:
            if x.__class__ is float and inf in map(abs, q):
                return rotation_of((nan,) * 9)
            x, y, z, w = _scaled_quaternion(*q)
            if np.ndim(x) == 0:
                x, y, z, w = float(x), float(y), float(z), float(w)
        return _QUATERNION.call(x, y, z, w)

    @staticmethod
    def FromRows(x: Vector, y: Vector, z: Vector) -> Rotation:
        """A rotation of the three rows of its matrix."""
        given = [three_of(row, "Rotation.FromRows", "three Vectors") for row in (x, y, z)]
        return rotation_of(_checked(of_one_kind([k for row in given for k in row])))

    @classmethod
    def _of(cls, these: Any) -> Rotation:
        return rotation_of(_checked(these) if Rotation.check else these)

    @staticmethod
    def FromScipy(rotation: Any) -> Rotation:
        """A rotation, or a batch, of `scipy.spatial.transform.Rotation`.

        Raises: WrongTypeError.
        """
        if not hasattr(rotation, "as_matrix"):
            raise wrong("Rotation.FromScipy", "a scipy.spatial.transform.Rotation", rotation)
        return Rotation.FromArray(rotation.as_matrix())

    def ToScipy(self) -> Any:
        """As `scipy.spatial.transform.Rotation`, which holds rotations only.

        Raises: ValueError of SciPy's for a matrix that is none; MissingExtraError without SciPy.
        """
        with extras.needed("ToScipy needs", "scipy"):
            from scipy.spatial.transform import Rotation as Theirs  # noqa: PLC0415 -- optional
        return Theirs.from_matrix(self.ToArray())

    # elements

    def __getitem__(self, ij: tuple[int, int]) -> float:
        i, j = pair_index(ij, 3, 3, "Rotation")
        return self._m[3 * i + j]

    def __setitem__(self, ij: tuple[int, int], value: float) -> None:
        i, j = pair_index(ij, 3, 3, "Rotation")
        self._m = replaced(self._m, 3 * i + j, value, "an element of a Rotation")

    __iter__ = None  # elements have two indices

    UnitX, UnitY, UnitZ = _unit(0), _unit(1), _unit(2)

    # angles

    def GetRPY(self) -> tuple[float, float, float]:
        """Roll, pitch, yaw, about the fixed axes x, y, z; the pitch is in [-pi/2, pi/2].

        Within 1e-12 of both ends the roll is 0.
        """
        return _to_rpy(self._m)

    def GetEulerZYX(self) -> tuple[float, float, float]:
        """Angles about z, the new y, the newest x; the middle one is in [-pi/2, pi/2].

        Within 1e-12 of both ends the last is 0.
        """
        x, y, z = _to_rpy(self._m)
        return z, y, x

    def GetEulerZYZ(self) -> tuple[float, float, float]:
        """Angles about z, the new y, the newest z; the middle one is in [0, pi].

        Where its cosine is within 1e-12 of 1 or -1, it is 0 or pi and the last one 0.
        """
        return _to_zyz(self._m)

    def GetQuaternion(self) -> tuple[float, float, float, float]:
        """x, y, z, w; w is positive where the trace is, else the largest of x, y, z."""
        return _to_quaternion(self._m)

    def GetRot(self) -> Vector:
        """The axis times the angle, which is in [0, pi]: exact near both ends."""
        angle, (x, y, z) = _to_angle_and_axis(self._m)
        return vector_of((x * angle, y * angle, z * angle))

    def GetRotAngle(self, eps: float | None = None) -> tuple[float, Vector]:
        """The angle in [0, pi] and the axis, exact near both ends; no rotation has the axis z.

        At pi the component of the largest diagonal element is positive. With ``eps``, angles within
        about eps / 2 of 0 or pi count as 0 or pi.

        Raises: InputError for eps and a batch.
        """
        if eps is None:
            angle, axis = _to_angle_and_axis(self._m)
        else:
            angle, axis = _to_rough_angle_and_axis(self._m, eps)
        return angle, vector_of(axis)

    # in place

    def SetInverse(self) -> None:
        """Invert in place."""
        self._m = transposed(self._m)

    DoRotX, DoRotY, DoRotZ = _turning(0), _turning(1), _turning(2)

    # what the module's functions ask for

    def _added(self, delta: Any, dt: Any) -> Rotation:
        """Turned by an angular velocity, in the outer frame, for a time."""
        axis, angle = unit_of((delta * dt)._v, 5e-324)
        return _ABOUT_UNIT.call(axis, *sine_and_cosine(angle)) * self

    def _difference(self, other: Any, dt: Any) -> Vector:
        """The angular velocity, in the outer frame, that turns this rotation to another."""
        return self * (self.Inverse() * other).GetRot() / dt


_NAMES = {9: ("xx", "yx", "zx", "xy", "yy", "zy", "xz", "yz", "zz"), 3: ("x", "y", "z")}
Rotation._give(
    lambda r: rotation_of(transposed(r._m)),
    {
        Vector: lambda r, v: vector_of(turned(r._m, v._v)),
        Twist: lambda r, t: six_of(Twist, turned(r._m, t._a._v), turned(r._m, t._b._v)),
        Wrench: lambda r, w: six_of(Wrench, turned(r._m, w._a._v), turned(r._m, w._b._v)),
        Rotation: lambda r, s: rotation_of(product(r._m, s._m)),
    },
)
_RPY = Formula("RPY", lambda *a: rotation_of(_from_rpy(*a)), (float,) * 6, Rotation)
_ZYZ = Formula("ZYZ", lambda *a: rotation_of(_from_zyz(*a)), (float,) * 6, Rotation)
_QUATERNION = Formula(
    "quaternion", lambda *q: rotation_of(_from_quaternion(*q)), (float,) * 4, Rotation
)
_ABOUT_UNIT = Formula(
    "about an axis", lambda v, s, c: rotation_of(rodrigues(v, s, c)), (3, float, float), Rotation
)


def _sines(a: Any, b: Any, c: Any) -> tuple[Any, ...]:
    """Sine and cosine of three angles, or of batches: sin a, cos a, sin b, ..."""
    if a.__class__ is b.__class__ is c.__class__ is float:
        try:
            return sin(a), cos(a), sin(b), cos(b), sin(c), cos(c)
        except ValueError:  # an infinite angle
            pass
    return tuple([x for angle in (a, b, c) for x in sine_and_cosine(angle)])


def _checked(m: Any) -> Any:
    """The same numbers.

    Raises: InputError for what is no rotation, where `Rotation.check` is set.
    """
    if Rotation.check:
        R = np.stack(np.broadcast_arrays(*m), axis=-1)
        if not np.all(rotation_deviation(R.reshape(*R.shape[:-1], 3, 3)) < 1e-9):
            raise InputError(
                "these numbers are no rotation: rows of length 1 at right angles, right-handed; "
                "Rotation.check = False takes any numbers"
            )
    return m
