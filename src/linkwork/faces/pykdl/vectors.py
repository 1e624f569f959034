"""Vectors (rows S3-001 to S3-017), and twists and wrenches (rows S3-070 to S3-077)."""
# The value types of this face read each other's slots: that is what makes them fast.
# pyright: reportPrivateUsage=false

from __future__ import annotations

from collections.abc import Iterator
from math import hypot
from typing import Any, ClassVar, TypeVar, overload

import numpy as np

from linkwork.faces.pykdl.formulas import Formula
from linkwork.faces.pykdl.values import (
    ABSENT,
    EPS,
    ZEROS,
    Linear,
    Nine,
    Pair,
    Three,
    Zero,
    index,
    live,
    numbers,
    replaced,
    wrong,
)

_new = object.__new__
P = TypeVar("P", bound="Six")


# three numbers, floats or arrays of one shape


def added(a: Three, b: Three) -> Three:
    """The sum of two vectors."""
    return a[0] + b[0], a[1] + b[1], a[2] + b[2]


def cross(a: Three, b: Three) -> Three:
    """The cross product of two vectors."""
    (x, y, z), (u, v, w) = a, b
    return y * w - z * v, z * u - x * w, x * v - y * u


def turned(m: Nine, v: Three) -> Three:
    """A vector rotated by nine numbers, row by row."""
    a, b, c, d, e, f, g, h, i = m
    x, y, z = v
    return a * x + b * y + c * z, d * x + e * y + f * z, g * x + h * y + i * z


def length_of(v: Three) -> Any:
    """The length of a vector, without squares that overflow."""
    x, y, z = v
    return hypot(x, y, z) if x.__class__ is float else np.hypot(np.hypot(x, y), z)


def unit_of(v: Three, eps: float) -> tuple[Three, Any]:
    """A vector of length 1, and the length it had; a short one becomes (1, 0, 0), with length 0."""
    x, y, z = v
    length = length_of(v)
    if x.__class__ is not float:
        short = length < eps
        safe = np.where(short, 1.0, length)
        units = [np.where(short, one, k / safe) for k, one in zip(v, (1.0, 0.0, 0.0), strict=True)]
        return (units[0], units[1], units[2]), np.where(short, 0.0, length)
    if length < eps:
        return (1.0, 0.0, 0.0), 0.0
    return (x / length, y / length, z / length), length


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


def _component(k: int) -> Any:
    """The method that gives one component of a vector, or sets it."""

    def component(self: Vector, value: Any = ABSENT) -> Any:
        """The component; with an argument, sets it."""
        if value is ABSENT:
            return self._v[k]
        self._v = replaced(self._v, k, value, "a component of a Vector")
        return None

    return component


class Vector(Linear):
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
            self._v = ZEROS
        elif isinstance(x, Vector) and y is ABSENT and z is ABSENT:
            self._v = x._v
        elif x is ABSENT or y is ABSENT or z is ABSENT:
            raise wrong("Vector", "nothing, three numbers or a Vector", x, y, z)
        else:
            self._v = numbers((x, y, z), "a component of a Vector")

    Zero = Zero()
    x, y, z = _component(0), _component(1), _component(2)

    def _numbers(self) -> Three:
        return self._v

    def _assign(self, these: Any) -> None:
        self._v = tuple(these)

    def _put(self, other: Any) -> None:
        self._v = other._v

    def __getitem__(self, i: int) -> float:
        if i.__class__ is int and -1 < i < 3:
            return self._v[i]
        return self._v[index(i, 3, "Vector")]

    def __setitem__(self, i: int, value: float) -> None:
        k = i if i.__class__ is int and -1 < i < 3 else index(i, 3, "Vector")
        self._v = replaced(self._v, k, value, "a component of a Vector")

    def __iter__(self) -> Iterator[float]:
        return iter(self._v)

    def Norm(self, eps: float = EPS) -> float:
        """The length; ``eps`` is taken and not needed, short vectors have a length too."""
        return length_of(self._v)

    def Normalize(self, eps: float = EPS) -> float:
        """Make the length 1, in place, and return the length that was.

        A vector shorter than ``eps`` becomes (1, 0, 0), and 0 is returned.
        """
        self._v, length = unit_of(self._v, eps)
        return length

    def _dot(self, other: Any) -> Any:
        """The dot product with another vector, a number."""
        if not isinstance(other, Vector):
            return NotImplemented
        (x, y, z), (p, q, r) = self._v, other._v
        return x * p + y * q + z * r


Vector._products[Vector] = Formula(
    "cross product", lambda a, b: vector_of(cross(a._v, b._v)), (Vector, Vector), Vector
)


def six_of(kind: type[P], first: Three, second: Three) -> P:
    """A Twist or a Wrench of its numbers."""
    made: P = _new(kind)
    made._a, made._b = vector_of(first), vector_of(second)
    return made


class Six(Pair, Linear):
    """Two vectors that are added, scaled, rotated and moved together: Twist and Wrench.

    They are the first three elements and the last three.
    """

    __slots__ = ()
    array_shape = (6,)

    def __getitem__(self, i: int) -> float:
        k = index(i, 6, self._kind.__name__)
        return self._a._v[k] if k < 3 else self._b._v[k - 3]

    def __setitem__(self, i: int, value: float) -> None:
        k = i if i.__class__ is int and -1 < i < 6 else index(i, 6, self._kind.__name__)
        part = self._a if k < 3 else self._b
        part._v = replaced(part._v, k % 3, value, "a component of a Vector")

    def __iter__(self) -> Iterator[float]:
        return iter(self._numbers())

    def _put(self, other: Any) -> None:
        self._a._v, self._b._v = other._a._v, other._b._v


_PAIR_TAKES = {"*": "a number", "/": "a number"}


class Twist(Six):
    """A velocity ``vel`` of the reference point and an angular velocity ``rot``.

    `Twist()`, `Twist(vel, rot)`, `Twist(other)`. ``+ -`` with twists, ``* /`` with numbers;
    ``twist[0:3]`` are vel, 3 to 5 are rot. ``vel`` and ``rot`` are live: what changes in them
    changes the twist, and setting them copies.

    Raises: WrongTypeError (a TypeError) for other arguments.
    """

    __slots__ = ()
    _held = (("_a", Vector), ("_b", Vector))
    _names, _said = (("vel",), ("rot",)), "nothing, two Vectors or a Twist"
    takes: ClassVar[dict[str, str]] = {"+": "a Twist", "-": "a Twist", **_PAIR_TAKES}
    vel = live("_a", Vector, "Twist.vel", "The velocity")
    rot = live("_b", Vector, "Twist.rot", "The angular velocity")
    Zero = Zero()

    def RefPoint(self, base: Vector) -> Twist:
        """The same motion, seen at the point that ``base`` leads to: (vel + rot x base, rot)."""
        three_of(base, "Twist.RefPoint", "a Vector from the old point to the new one")
        return _TWIST_AT.call(self, base)

    def _dot(self, other: Any) -> Any:
        """The power of a wrench, a number."""
        if not isinstance(other, Wrench):
            return NotImplemented
        return self._a._dot(other._a) + self._b._dot(other._b)


class Wrench(Six):
    """A ``force`` and a ``torque`` about the reference point.

    `Wrench()`, `Wrench(force, torque)`, `Wrench(other)`. ``+ -`` with wrenches, ``* /`` with
    numbers; ``wrench[0:3]`` are the force, 3 to 5 the torque. ``force`` and ``torque`` are live:
    what changes in them changes the wrench, and setting them copies.

    Raises: WrongTypeError (a TypeError) for other arguments.
    """

    __slots__ = ()
    _held = (("_a", Vector), ("_b", Vector))
    _names, _said = (("force",), ("torque",)), "nothing, two Vectors or a Wrench"
    takes: ClassVar[dict[str, str]] = {"+": "a Wrench", "-": "a Wrench", **_PAIR_TAKES}
    force = live("_a", Vector, "Wrench.force", "The force")
    torque = live("_b", Vector, "Wrench.torque", "The torque")
    Zero = Zero()

    def RefPoint(self, base: Vector) -> Wrench:
        """The same, about the point that ``base`` leads to: (force, torque + force x base)."""
        three_of(base, "Wrench.RefPoint", "a Vector from the old point to the new one")
        return _WRENCH_AT.call(self, base)


_TWIST_AT = Formula(
    "Twist at a point",
    lambda t, p: six_of(Twist, added(t._a._v, cross(t._b._v, p._v)), t._b._v),
    (Twist, Vector),
    Twist,
)
_WRENCH_AT = Formula(
    "Wrench about a point",
    lambda w, p: six_of(Wrench, w._a._v, added(w._b._v, cross(w._a._v, p._v))),
    (Wrench, Vector),
    Wrench,
)
