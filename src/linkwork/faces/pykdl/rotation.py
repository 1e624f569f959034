"""Rows S3-020 to S3-045: a rotation, as the nine numbers of its matrix."""
# The value types of this face read each other's slots: that is what makes them fast.
# pyright: reportPrivateUsage=false

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, TypeVar, overload

import numpy as np

from linkwork.checks import rotation_deviation
from linkwork.errors import InputError, MissingExtraError
from linkwork.faces.pykdl import angles
from linkwork.faces.pykdl.formulas import Formula
from linkwork.faces.pykdl.values import (
    ABSENT,
    EPS,
    Nine,
    Value,
    columns_of,
    near,
    numbers,
    of_one_shape,
    pair_index,
    replaced,
    sine_and_cosine,
    unfit,
    warn_of_zero_axis,
    wrong,
)
from linkwork.faces.pykdl.vectors import Vector, three_of, vector_of

_new = object.__new__
_T = TypeVar("_T", bound=Value)


def rotation_of(m: Nine) -> Rotation:
    """A rotation of nine numbers, row by row, that are floats, or arrays of one shape."""
    made: Rotation = _new(Rotation)
    made._m = m
    return made


def nine_of(thing: Any, call: str, what: str = "a Rotation") -> Nine:
    """The numbers of what must be a rotation.

    Raises: WrongTypeError, which says what the call takes.
    """
    if isinstance(thing, Rotation):
        return thing._m
    raise wrong(call, what, thing)


def _unit(k: int) -> Any:
    """The method that gives one column of a rotation, or sets it."""

    def unit(self: Rotation, column: Any = ABSENT) -> Any:
        """The turned axis, a column; with an argument, sets it."""
        m: Any = self._m
        if column is ABSENT:
            return vector_of((m[k], m[k + 3], m[k + 6]))
        changed: Any = list(m)
        changed[k::3] = three_of(column, f"Rotation.Unit{'XYZ'[k]}", "nothing or a Vector")
        alike = m[0].__class__ is changed[k].__class__ is float
        self._m = tuple(changed) if alike else numbers(changed, "an element of a Rotation")
        return None

    return unit


def _turning(about: Formula) -> Callable[[Rotation, float], None]:
    """The method that turns, in place, about one axis."""

    def turn(self: Rotation, angle: float) -> None:
        """Turn, in place, about its own axis: this = this * RotX(angle), and so on."""
        s, c = sine_and_cosine(angle)
        self._m = _alike(about.call(self._m, s, c))

    return turn


def _alike(m: Any) -> Any:
    """Nine numbers of which some may be batches: all floats, or all arrays of one shape."""
    if m[0].__class__ is m[4].__class__ is m[8].__class__ is float:
        return m
    return of_one_shape(m)


def _made(m: Any) -> Rotation:
    made: Rotation = _new(Rotation)
    made._m = _alike(m)
    return made


ABOUT = [
    Formula(f"about {axis}", about, (9, float, float), 9)
    for axis, about in zip(
        "xyz", (angles.turned_about_x, angles.turned_about_y, angles.turned_about_z), strict=True
    )
]
"""Turns of nine numbers about x, y and z, given sine and cosine."""


class Rotation(Value):
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
        if not given and not named:
            self._m = angles.IDENTITY
        else:
            self._m = _nine_of_arguments(given, named)

    def _numbers(self) -> Nine:
        return self._m

    def _assign(self, these: Any) -> None:
        self._m = tuple(these)

    # making rotations

    @staticmethod
    def Identity() -> Rotation:
        """No rotation."""
        return rotation_of(angles.IDENTITY)

    @staticmethod
    def RotX(angle: float) -> Rotation:
        """A turn about the x axis."""
        s, c = sine_and_cosine(angle)
        return _made((1.0, 0.0, 0.0, 0.0, c, -s, 0.0, s, c))

    @staticmethod
    def RotY(angle: float) -> Rotation:
        """A turn about the y axis."""
        s, c = sine_and_cosine(angle)
        return _made((c, 0.0, s, 0.0, 1.0, 0.0, -s, 0.0, c))

    @staticmethod
    def RotZ(angle: float) -> Rotation:
        """A turn about the z axis."""
        s, c = sine_and_cosine(angle)
        return _made((c, -s, 0.0, s, c, 0.0, 0.0, 0.0, 1.0))

    @staticmethod
    def Rot(axis: Vector, angle: float) -> Rotation:
        """A turn about an axis of any length.

        An axis shorter than 1e-6 has no direction: x is taken, with a ZeroAxisWarning.
        """
        v = three_of(axis, "Rotation.Rot", "a Vector (the axis) and a number")
        if v[0].__class__ is not float:
            units, lengths = angles.unit_vectors(v, EPS)
            if not np.all(lengths):
                warn_of_zero_axis()
            return _made(angles.about_unit(units, angle))
        x, y, z = v
        length = angles.hypot(x, y, z)
        if length < EPS:
            warn_of_zero_axis()
            return _made(angles.about_unit((1.0, 0.0, 0.0), angle))
        unit = (x / length, y / length, z / length)
        return _made(angles.about_unit(unit, angle))

    @staticmethod
    def Rot2(axis: Vector, angle: float) -> Rotation:
        """As `Rot`, for an axis whose length is 1 already, which is not checked."""
        v = three_of(axis, "Rotation.Rot2", "a Vector of length 1 (the axis) and a number")
        return _made(angles.about_unit(v, angle))

    @staticmethod
    def EulerZYX(z: float, y: float, x: float) -> Rotation:
        """A turn about z, then about the new y, then about the newest x: Rz Ry Rx."""
        return _made(angles.from_rpy(x, y, z))

    @staticmethod
    def EulerZYZ(z1: float, y: float, z2: float) -> Rotation:
        """A turn about z, then about the new y, then about the newest z: Rz Ry Rz."""
        return _made(angles.from_euler_zyz(z1, y, z2))

    @staticmethod
    def RPY(r: float, p: float, y: float) -> Rotation:
        """Turns about the fixed axes x, then y, then z (roll, pitch, yaw): Rz(y) Ry(p) Rx(r)."""
        return _made(angles.from_rpy(r, p, y))

    @staticmethod
    def Quaternion(x: float, y: float, z: float, w: float) -> Rotation:
        """The rotation of a quaternion, of any length; w, the real part, is last.

        (0, 0, 0, 0), as a ROS message holds that nobody has filled, is no rotation: the identity,
        with a ZeroQuaternionWarning.
        """
        made: Rotation = _new(Rotation)
        made._m = angles.from_quaternion(x, y, z, w)
        return made

    @staticmethod
    def FromRows(x: Vector, y: Vector, z: Vector) -> Rotation:
        """A rotation of the three rows of its matrix."""
        given = [three_of(row, "Rotation.FromRows", "three Vectors") for row in (x, y, z)]
        (a, b, c), (d, e, f), (g, h, i) = given
        return rotation_of(_checked(_alike((a, b, c, d, e, f, g, h, i))))

    @staticmethod
    def FromArray(array: Any) -> Rotation:
        """A rotation of an array (3, 3); a batch of (..., 3, 3), which looks into the array.

        Raises: ShapeError, InputError.
        """
        nine: Any = columns_of(array, "a rotation", (3, 3))
        return rotation_of(_checked(nine))

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
        try:
            from scipy.spatial.transform import Rotation as Theirs  # noqa: PLC0415 -- optional
        except ModuleNotFoundError as error:
            raise MissingExtraError("ToScipy needs SciPy: pip install scipy") from error
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
        return angles.to_rpy(self._m)

    def GetEulerZYX(self) -> tuple[float, float, float]:
        """Angles about z, the new y, the newest x; the middle one is in [-pi/2, pi/2].

        Within 1e-12 of both ends the last is 0.
        """
        x, y, z = angles.to_rpy(self._m)
        return z, y, x

    def GetEulerZYZ(self) -> tuple[float, float, float]:
        """Angles about z, the new y, the newest z; the middle one is in [0, pi].

        Where its cosine is within 1e-12 of 1 or -1, it is 0 or pi and the last one 0.
        """
        return angles.to_euler_zyz(self._m)

    def GetQuaternion(self) -> tuple[float, float, float, float]:
        """x, y, z, w; w is positive where the trace is, else the largest of x, y, z."""
        return angles.to_quaternion(self._m)

    def GetRot(self) -> Vector:
        """The axis times the angle, which is in [0, pi]: exact near both ends."""
        return vector_of(angles.to_vector(self._m))

    def GetRotAngle(self, eps: float | None = None) -> tuple[float, Vector]:
        """The angle in [0, pi] and the axis, exact near both ends; no rotation has the axis z.

        At pi the component of the largest diagonal element is positive. With ``eps``, angles within
        about eps / 2 of 0 or pi count as 0 or pi.

        Raises: InputError for eps and a batch.
        """
        if eps is None:
            angle, axis = angles.to_angle_and_axis(self._m)
        else:
            angle, axis = angles.to_rough_angle_and_axis(self._m, eps)
        return angle, vector_of(axis)

    # operators and what works in place

    @overload
    def __mul__(self, other: Rotation) -> Rotation: ...
    @overload
    def __mul__(self, other: Vector) -> Vector: ...
    @overload
    def __mul__(self, other: _T) -> _T: ...
    def __mul__(self, other: Any) -> Any:
        try:
            turn = other._turned
        except AttributeError:
            return unfit(self, "*", other)
        return turn(self._m)

    def _turned(self, m: Nine) -> Rotation:
        """This rotation after another one."""
        return rotation_of(angles.product(m, self._m))

    @overload
    def Inverse(self) -> Rotation: ...
    @overload
    def Inverse(self, other: _T) -> _T: ...
    def Inverse(self, other: Any = ABSENT) -> Any:
        """The inverse rotation; of a Vector, Twist or Wrench: rotated by the inverse.

        It is the transpose, also where the numbers are no rotation.
        """
        back = angles.transposed(self._m)
        if other is ABSENT:
            return rotation_of(back)
        if not hasattr(other, "_turned"):
            raise wrong("Rotation.Inverse", "nothing, a Vector, a Twist or a Wrench", other)
        return other._turned(back)

    def SetInverse(self) -> None:
        """Invert in place."""
        self._m = angles.transposed(self._m)

    DoRotX, DoRotY, DoRotZ = _turning(ABOUT[0]), _turning(ABOUT[1]), _turning(ABOUT[2])

    # what the module's functions ask for

    def __eq__(self, other: object) -> Any:
        try:
            n = other._m  # pyright: ignore[reportAttributeAccessIssue] -- tried
        except AttributeError:
            return NotImplemented
        return near(self._m, n, EPS)

    __hash__ = None  # pyright: ignore[reportAssignmentType] -- as Python has it

    def _near(self, other: Any, eps: float) -> Any:
        return near(self._m, other._m, eps)

    def _added(self, delta: Any, dt: Any) -> Rotation:
        """Turned by an angular velocity, in the outer frame, for a time."""
        three_of(delta, "addDelta of a Rotation", "a Rotation, a Vector and a number")
        return rotation_of(angles.product(angles.from_vector((delta * dt)._v), self._m))

    def _difference(self, other: Any, dt: Any) -> Vector:
        """The angular velocity, in the outer frame, that turns this rotation to another."""
        there = nine_of(other, "diff of a Rotation", "two Rotations and a number")
        turn = angles.to_vector(angles.product(angles.transposed(self._m), there))
        return vector_of(angles.turned(self._m, turn)) / dt


def _nine_of_arguments(given: tuple[Any, ...], named: dict[str, Any]) -> Nine:
    """The numbers that a Rotation was asked for with.

    Raises: WrongTypeError; InputError for what is no rotation, where `Rotation.check` is set.
    """
    if named:
        given = _in_order(given, named)
    if len(given) == 9:
        return _checked(numbers(given, "an element of a Rotation"))
    if len(given) == 3 and all(isinstance(x, Vector) for x in given):
        (a, d, g), (b, e, h), (c, f, i) = [x._v for x in given]
        return _checked(_alike((a, b, c, d, e, f, g, h, i)))
    if len(given) == 1 and isinstance(given[0], Rotation):
        return given[0]._m
    takes = "nothing, nine numbers (row by row), three Vectors (the columns) or a Rotation"
    raise wrong("Rotation", takes, *given)


_NAMES = {9: ("xx", "yx", "zx", "xy", "yy", "zy", "xz", "yz", "zz"), 3: ("x", "y", "z")}


def _in_order(given: tuple[Any, ...], named: dict[str, Any]) -> tuple[Any, ...]:
    """Arguments by their place.

    Raises: WrongTypeError for names that a Rotation does not know.
    """
    rest = _NAMES.get(len(given) + len(named), ())[len(given) :]
    if set(rest) != set(named):
        text = f"Rotation takes xx, yx, zx, xy, ... zz, or x, y, z by name, not {', '.join(named)}"
        raise wrong("Rotation", text.removeprefix("Rotation takes "), *given, *named.values())
    return (*given, *[named[name] for name in rest])


def _checked(m: Nine) -> Nine:
    """The same numbers.

    Raises: InputError for what is no rotation, where `Rotation.check` is set.
    """
    if Rotation.check:
        R = rotation_of(m).ToArray()
        if not np.all(rotation_deviation(R) < 1e-9):
            raise InputError(
                "these numbers are no rotation: rows of length 1 at right angles, right-handed; "
                "Rotation.check = False takes any numbers"
            )
    return m
