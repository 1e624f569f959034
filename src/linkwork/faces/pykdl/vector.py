"""Rows S3-001 to S3-017: a vector or a point in space."""
# The value types of this face read each other's slots: that is what makes them fast.
# pyright: reportPrivateUsage=false

from __future__ import annotations

from collections.abc import Iterator
from math import hypot
from typing import Any, ClassVar, overload

from linkwork.faces.pykdl import batches
from linkwork.faces.pykdl.scalars import (
    ABSENT,
    EPS,
    columns_of,
    index,
    near,
    number,
    numbers,
    quotients,
    replaced,
    shown,
    wrong,
)
from linkwork.faces.pykdl.values import OnBoth, Value, batch_text, unfit

Three = tuple[float, float, float]

_new = object.__new__
_ZEROS = (0.0, 0.0, 0.0)


def vector_of(v: Three) -> Vector:
    """A vector of three numbers that are floats, or arrays of one shape."""
    made: Vector = _new(Vector)
    made._v = v
    return made


def three_of(thing: Any, call: str, what: str = "a Vector") -> Three:
    """The numbers of what must be a vector.

    Raises: WrongTypeError, which says what the call takes.
    """
    if isinstance(thing, Vector):
        return thing._v
    raise wrong(call, what, thing)


def _zero(here: Vector | type[Vector]) -> Vector:
    """A zero vector; called on a vector, it also sets that one to zero."""
    if isinstance(here, Vector):
        here._v = _ZEROS
    return vector_of(_ZEROS)


class Vector(Value):
    """Three numbers: a point, a direction, a force. `Vector()`, `Vector(x, y, z)`, `Vector(other)`.

    ``+ -`` with vectors, ``* /`` with numbers, and ``*`` of two vectors is the cross product; `dot`
    is the other one. Equal are vectors whose components differ by less than 1e-6, so there is no
    hash. Given arrays instead of numbers, it is a batch.

    Raises: WrongTypeError (a TypeError) for other arguments.
    """

    __slots__ = ("_v",)
    _v: Three
    array_shape = (3,)
    _held = (("_v", 3),)
    takes: ClassVar[dict[str, str]] = {
        "+": "a Vector",
        "-": "a Vector",
        "*": "a number, or a Vector for the cross product",
        "/": "a number",
    }

    @overload
    def __init__(self) -> None: ...
    @overload
    def __init__(self, x: float, y: float, z: float) -> None: ...
    @overload
    def __init__(self, x: Vector) -> None: ...
    def __init__(self, x: Any = ABSENT, y: Any = ABSENT, z: Any = ABSENT) -> None:
        if x.__class__ is y.__class__ is z.__class__ is float:
            self._v = (x, y, z)
        elif x is ABSENT and y is ABSENT and z is ABSENT:
            self._v = _ZEROS
        elif isinstance(x, Vector) and y is ABSENT and z is ABSENT:
            self._v = x._v
        elif x is ABSENT or y is ABSENT or z is ABSENT:
            given = [a for a in (x, y, z) if a is not ABSENT]
            raise wrong("Vector", "nothing, three numbers or a Vector", *given)
        else:
            self._v = numbers((x, y, z), "a component of a Vector")

    def _numbers(self) -> Three:
        return self._v

    def _assign(self, these: tuple[Any, ...]) -> None:
        self._v = these

    @classmethod
    def FromArray(cls, array: Any) -> Vector:
        """A vector of an array or list (3,); a batch of (..., 3), which looks into the array.

        Raises: ShapeError, InputError.
        """
        return vector_of(columns_of(array, "a vector", (3,)))

    # elements

    def __getitem__(self, i: int) -> float:
        if i.__class__ is int and -1 < i < 3:
            return self._v[i]
        return self._v[index(i, 3, "Vector")]

    def __setitem__(self, i: int, value: float) -> None:
        k = i if i.__class__ is int and -1 < i < 3 else index(i, 3, "Vector")
        self._v = replaced(self._v, k, value, "a component of a Vector")

    def __iter__(self) -> Iterator[float]:
        return iter(self._v)

    @overload
    def x(self) -> float: ...
    @overload
    def x(self, value: float) -> None: ...
    def x(self, value: Any = ABSENT) -> Any:
        """The first component; with an argument, sets it."""
        if value is ABSENT:
            return self._v[0]
        self._v = replaced(self._v, 0, value, "a component of a Vector")
        return None

    @overload
    def y(self) -> float: ...
    @overload
    def y(self, value: float) -> None: ...
    def y(self, value: Any = ABSENT) -> Any:
        """The second component; with an argument, sets it."""
        if value is ABSENT:
            return self._v[1]
        self._v = replaced(self._v, 1, value, "a component of a Vector")
        return None

    @overload
    def z(self) -> float: ...
    @overload
    def z(self, value: float) -> None: ...
    def z(self, value: Any = ABSENT) -> Any:
        """The third component; with an argument, sets it."""
        if value is ABSENT:
            return self._v[2]
        self._v = replaced(self._v, 2, value, "a component of a Vector")
        return None

    # operators

    def __add__(self, other: Vector) -> Vector:
        try:
            a, b, c = other._v
        except AttributeError:
            return unfit(self, "+", other)
        x, y, z = self._v
        made: Vector = _new(Vector)
        made._v = (x + a, y + b, z + c)
        return made

    def __sub__(self, other: Vector) -> Vector:
        try:
            a, b, c = other._v
        except AttributeError:
            return unfit(self, "-", other)
        x, y, z = self._v
        made: Vector = _new(Vector)
        made._v = (x - a, y - b, z - c)
        return made

    def __iadd__(self, other: Vector) -> Vector:
        try:
            a, b, c = other._v
        except AttributeError:
            return unfit(self, "+", other)
        x, y, z = self._v
        self._v = (x + a, y + b, z + c)
        return self

    def __isub__(self, other: Vector) -> Vector:
        try:
            a, b, c = other._v
        except AttributeError:
            return unfit(self, "-", other)
        x, y, z = self._v
        self._v = (x - a, y - b, z - c)
        return self

    def __neg__(self) -> Vector:
        x, y, z = self._v
        return vector_of((-x, -y, -z))

    def __mul__(self, other: Vector | float) -> Vector:
        x, y, z = self._v
        made: Vector = _new(Vector)
        if other.__class__ is float:
            made._v = (x * other, y * other, z * other)  # pyright: ignore -- a number by its class
            return made
        if isinstance(other, Vector):
            a, b, c = other._v
            made._v = (y * c - z * b, z * a - x * c, x * b - y * a)
            return made
        factor = factor_of(self, "*", other)
        return factor if factor is NotImplemented else self.__rmul__(factor)

    def __rmul__(self, other: Any) -> Vector:
        x, y, z = self._v
        factor = other if other.__class__ is float else factor_of(self, "*", other)
        if factor is NotImplemented:
            return super().__rmul__(other)
        return vector_of((x * factor, y * factor, z * factor))

    def __truediv__(self, other: float) -> Vector:
        x, y, z = self._v
        if other.__class__ is float and other:
            return vector_of((x / other, y / other, z / other))
        divisor = factor_of(self, "/", other)
        return divisor if divisor is NotImplemented else vector_of(quotients(self._v, divisor))

    def _turned(self, m: Any) -> Vector:
        """Rotated by nine numbers, row by row."""
        x, y, z = self._v
        a, b, c, d, e, f, g, h, i = m
        made: Vector = _new(Vector)
        made._v = (a * x + b * y + c * z, d * x + e * y + f * z, g * x + h * y + i * z)
        return made

    def _moved(self, m: Any, p: Three) -> Vector:
        """As a point, from one frame to another."""
        x, y, z = self._v
        a, b, c, d, e, f, g, h, i = m
        u, v, w = p
        made: Vector = _new(Vector)
        made._v = (
            a * x + b * y + c * z + u,
            d * x + e * y + f * z + v,
            g * x + h * y + i * z + w,
        )
        return made

    # methods

    def Norm(self, eps: float = EPS) -> float:
        """The length; ``eps`` is taken and not needed, short vectors have a length too."""
        x, y, z = self._v
        if x.__class__ is float:
            return hypot(x, y, z)
        return batches.norm(self._v)

    def Normalize(self, eps: float = EPS) -> float:
        """Make the length 1, in place, and return the length that was.

        A vector shorter than ``eps`` becomes (1, 0, 0), and 0 is returned.
        """
        x, y, z = self._v
        if x.__class__ is not float:
            self._v, length = batches.normalized(self._v, eps)
            return length
        length = hypot(x, y, z)
        if length < eps:
            self._v = (1.0, 0.0, 0.0)
            return 0.0
        self._v = (x / length, y / length, z / length)
        return length

    def ReverseSign(self) -> None:
        """Turn the vector round, in place."""
        x, y, z = self._v
        self._v = (-x, -y, -z)

    Zero = OnBoth(_zero)

    # what the module's functions ask for

    def __eq__(self, other: object) -> Any:
        try:
            b = other._v  # pyright: ignore[reportAttributeAccessIssue] -- tried
        except AttributeError:
            return NotImplemented
        return near(self._v, b, EPS)

    __hash__ = None  # pyright: ignore[reportAssignmentType] -- as Python has it

    def _near(self, other: Any, eps: float) -> Any:
        return near(self._v, other._v, eps)

    def _added(self, delta: Any, dt: Any) -> Vector:
        """Moved by a velocity for a time."""
        return self + vector_of(three_of(delta, "addDelta of a Vector", "two and a number")) * dt

    def _difference(self, other: Any, dt: Any) -> Vector:
        """The velocity from here to there."""
        there = three_of(other, "diff of a Vector", "two Vectors and a number")
        return (vector_of(there) - self) / dt

    def _clear(self) -> None:
        self._v = _ZEROS

    def __repr__(self) -> str:
        if self._v[0].__class__ is not float:
            return batch_text(self)
        return f"[{shown(self._v)}]"


def factor_of(left: Value, sign: str, other: Any) -> Any:
    """The number that a value is multiplied or divided by, a batch of them, or NotImplemented.

    Raises: WrongTypeError.
    """
    if isinstance(other, Value):
        return unfit(left, sign, other)
    try:
        return number(other, "a factor")
    except TypeError:
        return unfit(left, sign, other)
