"""Vectors (rows S3-001 to S3-017), and twists and wrenches (rows S3-070 to S3-077)."""
# The value types of this face read each other's slots: that is what makes them fast.
# pyright: reportPrivateUsage=false

from __future__ import annotations

from collections.abc import Iterator
from math import hypot
from typing import Any, ClassVar, TypeVar, overload

from linkwork.faces.pykdl.angles import lengths, unit_vectors
from linkwork.faces.pykdl.values import (
    ABSENT,
    EPS,
    ZEROS,
    Linear,
    Nine,
    Three,
    Zero,
    columns_of,
    index,
    live,
    near,
    numbers,
    quotients,
    replaced,
    unfit,
    wrong,
)

_new = object.__new__
P = TypeVar("P", bound="Pair")


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
        if other.__class__ is float:
            return self._scaled(other)
        if isinstance(other, Vector):
            (x, y, z), (a, b, c) = self._v, other._v
            return vector_of((y * c - z * b, z * a - x * c, x * b - y * a))
        return super().__mul__(other)

    def _scaled(self, factor: Any) -> Vector:
        x, y, z = self._v
        made: Vector = _new(Vector)
        made._v = (x * factor, y * factor, z * factor)
        return made

    def _divided(self, divisor: Any) -> Vector:
        try:
            x, y, z = self._v
            return vector_of((x / divisor, y / divisor, z / divisor))
        except ZeroDivisionError:
            return vector_of(quotients(self._v, divisor))

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
        return hypot(x, y, z) if x.__class__ is float else lengths(self._v)

    def Normalize(self, eps: float = EPS) -> float:
        """Make the length 1, in place, and return the length that was.

        A vector shorter than ``eps`` becomes (1, 0, 0), and 0 is returned.
        """
        x, y, z = self._v
        if x.__class__ is not float:
            self._v, length = unit_vectors(self._v, eps)
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

    def _dot(self, other: Any) -> Any:
        """The dot product with another vector, a number."""
        if not isinstance(other, Vector):
            return NotImplemented
        (x, y, z), (p, q, r) = self._v, other._v
        return x * p + y * q + z * r

    def _put(self, other: Any) -> None:
        self._v = other._v

    def _clear(self) -> None:
        self._v = ZEROS


def pair_of(kind: type[P], first: Three, second: Three) -> P:
    """A Twist or a Wrench of its numbers."""
    made: P = _new(kind)
    made._a = a = _new(Vector)
    a._v = first
    made._b = b = _new(Vector)
    b._v = second
    return made


class Pair(Linear):
    """Two vectors that are added, scaled, rotated and moved together: Twist and Wrench.

    They are the first three elements and the last three.
    """

    __slots__ = ("_a", "_b")
    _a: Vector
    _b: Vector
    array_shape = (6,)
    _held = (("_a", Vector), ("_b", Vector))
    _kind: ClassVar[type[Any]]
    """Twist or Wrench, of subclasses too: what results are made of."""

    def _init(self, first: Any, second: Any) -> None:
        self._a = a = _new(Vector)
        self._b = b = _new(Vector)
        if isinstance(first, Vector) and isinstance(second, Vector):
            a._v, b._v = first._v, second._v
        elif first is ABSENT and second is ABSENT:
            a._v = b._v = ZEROS
        elif second is ABSENT and isinstance(first, self._kind):
            other: Any = first
            a._v, b._v = other._a._v, other._b._v
        else:
            name = self._kind.__name__
            raise wrong(name, f"nothing, two Vectors or a {name}", first, second)

    def _numbers(self) -> tuple[Any, ...]:
        return (*self._a._v, *self._b._v)

    @classmethod
    def FromArray(cls: type[P], array: Any) -> P:
        """Of an array (6,), linear numbers of a twist and forces of a wrench first.

        Of (..., 6) a batch, which looks into the array. Raises: ShapeError, InputError.
        """
        six = columns_of(array, f"a {cls._kind.__name__.lower()}", (6,))
        return pair_of(cls._kind, six[:3], six[3:])

    # elements

    def __getitem__(self, i: int) -> float:
        k = i if i.__class__ is int and -1 < i < 6 else index(i, 6, self._kind.__name__)
        return self._a._v[k] if k < 3 else self._b._v[k - 3]

    def __setitem__(self, i: int, value: float) -> None:
        k = i if i.__class__ is int and -1 < i < 6 else index(i, 6, self._kind.__name__)
        if k < 3:
            self._a[k] = value
        else:
            self._b[k - 3] = value

    def __iter__(self) -> Iterator[float]:
        return iter(self._numbers())

    # operators

    def __add__(self: P, other: P) -> P:
        if not isinstance(other, self._kind):
            return unfit(self, "+", other)
        (a, b, c), (d, e, f) = self._a._v, self._b._v
        (u, v, w), (x, y, z) = other._a._v, other._b._v
        return pair_of(self._kind, (a + u, b + v, c + w), (d + x, e + y, f + z))

    def __sub__(self: P, other: P) -> P:
        if not isinstance(other, self._kind):
            return unfit(self, "-", other)
        (a, b, c), (d, e, f) = self._a._v, self._b._v
        (u, v, w), (x, y, z) = other._a._v, other._b._v
        return pair_of(self._kind, (a - u, b - v, c - w), (d - x, e - y, f - z))

    def __iadd__(self: P, other: P) -> P:
        if not isinstance(other, self._kind):
            return unfit(self, "+", other)
        self._a += other._a
        self._b += other._b
        return self

    def __isub__(self: P, other: P) -> P:
        if not isinstance(other, self._kind):
            return unfit(self, "-", other)
        self._a -= other._a
        self._b -= other._b
        return self

    def ReverseSign(self) -> None:
        """Turn both parts round, in place."""
        self._a.ReverseSign()
        self._b.ReverseSign()

    def __neg__(self: P) -> P:
        (a, b, c), (d, e, f) = self._a._v, self._b._v
        return pair_of(self._kind, (-a, -b, -c), (-d, -e, -f))

    def _scaled(self: P, factor: Any) -> P:
        s, (a, b, c), (d, e, f) = factor, self._a._v, self._b._v
        return pair_of(self._kind, (a * s, b * s, c * s), (d * s, e * s, f * s))

    def _divided(self: P, divisor: Any) -> P:
        s, (a, b, c), (d, e, f) = divisor, self._a._v, self._b._v
        try:
            return pair_of(self._kind, (a / s, b / s, c / s), (d / s, e / s, f / s))
        except ZeroDivisionError:
            return pair_of(self._kind, quotients((a, b, c), s), quotients((d, e, f), s))

    def _turned(self: P, m: Nine) -> P:
        """Rotated by nine numbers; the reference point stays."""
        a, b, c, d, e, f, g, h, i = m
        (u, v, w), (x, y, z) = self._a._v, self._b._v
        return pair_of(
            self._kind,
            (a * u + b * v + c * w, d * u + e * v + f * w, g * u + h * v + i * w),
            (a * x + b * y + c * z, d * x + e * y + f * z, g * x + h * y + i * z),
        )

    # what the module's functions ask for

    def __eq__(self, other: object) -> Any:
        return self._near(other, EPS) if isinstance(other, self._kind) else NotImplemented

    __hash__ = None  # pyright: ignore[reportAssignmentType] -- as Python has it

    def _near(self, other: Any, eps: float) -> Any:
        return near(self._a._v, other._a._v, eps) & near(self._b._v, other._b._v, eps)

    def _added(self: P, delta: Any, dt: Any) -> P:
        kind = self._kind
        if not isinstance(delta, kind):
            raise wrong(f"addDelta of a {kind.__name__}", "two of them and a number", self, delta)
        return self + delta * dt

    def _difference(self: P, other: Any, dt: Any) -> P:
        kind = self._kind
        if not isinstance(other, kind):
            raise wrong(f"diff of a {kind.__name__}", "two of them and a number", self, other)
        return (other - self) / dt

    def _clear(self) -> None:
        self._a._v = self._b._v = ZEROS


class Twist(Pair):
    """A velocity ``vel`` of the reference point and an angular velocity ``rot``.

    `Twist()`, `Twist(vel, rot)`, `Twist(other)`. ``+ -`` with twists, ``* /`` with numbers;
    ``twist[0:3]`` are vel, 3 to 5 are rot. ``vel`` and ``rot`` are live: what changes in them
    changes the twist, and setting them copies.

    Raises: WrongTypeError (a TypeError) for other arguments.
    """

    __slots__ = ()
    takes: ClassVar[dict[str, str]] = {
        "+": "a Twist",
        "-": "a Twist",
        "*": "a number",
        "/": "a number",
    }

    def __init__(self, vel: Any = ABSENT, rot: Any = ABSENT) -> None:
        self._init(vel, rot)

    vel = live("_a", Vector, "Twist.vel", "The velocity")
    rot = live("_b", Vector, "Twist.rot", "The angular velocity")
    Zero = Zero()

    def RefPoint(self, base: Vector) -> Twist:
        """The same motion, seen at the point that ``base`` leads to: (vel + rot x base, rot)."""
        x, y, z = three_of(base, "Twist.RefPoint", "a Vector from the old point to the new one")
        (a, b, c), (d, e, f) = self._a._v, self._b._v
        return pair_of(Twist, (a + e * z - f * y, b + f * x - d * z, c + d * y - e * x), (d, e, f))

    def _moved(self, m: Nine, p: Three) -> Twist:
        """From one frame to another: rotated, and its reference point moved to the new origin."""
        turned, (x, y, z) = self._turned(m), p
        (a, b, c), (d, e, f) = turned._a._v, turned._b._v
        turned._a._v = (a + y * f - z * e, b + z * d - x * f, c + x * e - y * d)
        return turned

    def _dot(self, other: Any) -> Any:
        """The power of a wrench, a number."""
        if not isinstance(other, Wrench):
            return NotImplemented
        return self._a._dot(other._a) + self._b._dot(other._b)


class Wrench(Pair):
    """A ``force`` and a ``torque`` about the reference point.

    `Wrench()`, `Wrench(force, torque)`, `Wrench(other)`. ``+ -`` with wrenches, ``* /`` with
    numbers; ``wrench[0:3]`` are the force, 3 to 5 the torque. ``force`` and ``torque`` are live:
    what changes in them changes the wrench, and setting them copies.

    Raises: WrongTypeError (a TypeError) for other arguments.
    """

    __slots__ = ()
    takes: ClassVar[dict[str, str]] = {
        "+": "a Wrench",
        "-": "a Wrench",
        "*": "a number",
        "/": "a number",
    }

    def __init__(self, force: Any = ABSENT, torque: Any = ABSENT) -> None:
        self._init(force, torque)

    force = live("_a", Vector, "Wrench.force", "The force")
    torque = live("_b", Vector, "Wrench.torque", "The torque")
    Zero = Zero()

    def RefPoint(self, base: Vector) -> Wrench:
        """The same, about the point that ``base`` leads to: (force, torque + force x base)."""
        x, y, z = three_of(base, "Wrench.RefPoint", "a Vector from the old point to the new one")
        (a, b, c), (d, e, f) = self._a._v, self._b._v
        return pair_of(Wrench, (a, b, c), (d + b * z - c * y, e + c * x - a * z, f + a * y - b * x))

    def _moved(self, m: Nine, p: Three) -> Wrench:
        """From one frame to another: rotated, and its reference point moved to the new origin."""
        turned, (x, y, z) = self._turned(m), p
        (a, b, c), (d, e, f) = turned._a._v, turned._b._v
        turned._b._v = (d + y * c - z * b, e + z * a - x * c, f + x * b - y * a)
        return turned


Twist._kind, Wrench._kind = Twist, Wrench
