"""A number and a vector with their rates of change: doubleVel, VectorVel."""
# The value types of this face read each other's slots: that is what makes them fast.
# pyright: reportPrivateUsage=false

from __future__ import annotations

from operator import attrgetter
from typing import Any, ClassVar, TypeVar, overload

from linkwork.faces.pykdl import batches
from linkwork.faces.pykdl.scalars import ABSENT, EPS, number, numbers, quotients, wrong
from linkwork.faces.pykdl.swift import Swift
from linkwork.faces.pykdl.values import OnBoth, Value, batch_text, unfit
from linkwork.faces.pykdl.vector import Vector, factor_of, vector_of

_new = object.__new__
_ZEROS = (0.0, 0.0, 0.0)
R = TypeVar("R", bound="WithRate")


class WithRate(Value):
    """The base of the velocity types: each equals its plain type where nothing changes."""

    __slots__ = ()
    __hash__ = None  # pyright: ignore[reportAssignmentType] -- as Python has it
    array_shape = ()

    def _as_own(self, other: Any) -> Any:
        """Another value of this type, or the plain one with a rate of zero; None for others."""
        raise NotImplementedError

    def ToArray(self) -> Any:
        """Raises: WrongTypeError. Its parts become arrays, each on its own."""
        raise wrong("ToArray", "values and not values with rates: use value() and deriv()", self)

    def __eq__(self, other: object) -> Any:
        own = self._as_own(other)
        return NotImplemented if own is None else self._near(own, EPS)

    def _taken(self: R, other: Any, call: str, takes: str) -> R:
        """Another value as one of this type.

        Raises: WrongTypeError.
        """
        own = self._as_own(other)
        if own is None:
            raise wrong(call, takes, other)
        return own


class doubleVel(WithRate):
    """A number ``t`` and its rate of change ``grad``: `doubleVel()`, `(t)`, `(t, grad)`, `(other)`.

    Raises: WrongTypeError (a TypeError) for other arguments.
    """

    __slots__ = ("_t",)
    _held = (("_t", 2),)
    _t: tuple[float, float]

    @overload
    def __init__(self) -> None: ...
    @overload
    def __init__(self, t: float | doubleVel, grad: float = 0.0) -> None: ...
    def __init__(self, t: Any = 0.0, grad: Any = ABSENT) -> None:
        if isinstance(t, doubleVel) and grad is ABSENT:
            self._t = t._t
        else:
            rate = 0.0 if grad is ABSENT else grad
            self._t = numbers((t, rate), "a number of a doubleVel")  # pyright: ignore -- two

    def _set_t(self, value: float) -> None:
        self._t = (number(value, "doubleVel.t"), self._t[1])

    def _set_grad(self, value: float) -> None:
        self._t = (self._t[0], number(value, "doubleVel.grad"))

    def _get_t(self) -> float:
        return self._t[0]

    def _get_grad(self) -> float:
        return self._t[1]

    t = property(_get_t, _set_t, doc="The number.")
    grad = property(_get_grad, _set_grad, doc="Its rate of change.")

    def _numbers(self) -> tuple[Any, ...]:
        return self._t

    def _assign(self, these: tuple[Any, ...]) -> None:
        self._t = these  # pyright: ignore[reportAttributeAccessIssue] -- they are two

    def _as_own(self, other: Any) -> Any:
        return other if isinstance(other, doubleVel) else None

    def value(self) -> float:
        """The number."""
        return self._t[0]

    def deriv(self) -> float:
        """Its rate of change."""
        return self._t[1]

    def __neg__(self) -> doubleVel:
        t, grad = self._t
        return doubleVel(-t, -grad)

    def _added(self, delta: Any, dt: Any) -> doubleVel:
        t, grad = self._taken(delta, "addDelta of a doubleVel", "two of them and a number")._t
        return doubleVel(self._t[0] + t * dt, self._t[1] + grad * dt)

    def _difference(self, other: Any, dt: Any) -> doubleVel:
        t, grad = self._taken(other, "diff of a doubleVel", "two of them and a number")._t
        return doubleVel(*quotients((t - self._t[0], grad - self._t[1]), dt))

    def __repr__(self) -> str:
        return batch_text(self) if self.shape else f"doubleVel({self._t[0]:g},{self._t[1]:g})"


def vel_of(p: Vector, v: Vector) -> VectorVel:
    """A vector with a rate, of parts that are nobody else's."""
    made: VectorVel = _new(VectorVel)
    made._at, made._rate = p, v
    return made


def _zero(here: VectorVel | type[VectorVel]) -> VectorVel:
    """A zero vector that does not change; called on one, it also sets that one to zero."""
    if isinstance(here, VectorVel):
        here._clear()
    return vel_of(vector_of(_ZEROS), vector_of(_ZEROS))


class VectorVel(WithRate):
    """A vector ``p`` and its rate of change ``v``: `VectorVel()`, `(p)`, `(p, v)`, `(other)`.

    ``+ -`` with it and with Vectors, ``* /`` with numbers and doubleVels, and ``*`` of two is the
    cross product. ``p`` and ``v`` are live; setting them copies.

    Raises: WrongTypeError (a TypeError) for other arguments.
    """

    __slots__ = ("_at", "_rate")
    _held = (("_at", Vector), ("_rate", Vector))
    _at: Vector
    _rate: Vector
    takes: ClassVar[dict[str, str]] = {
        "+": "a VectorVel or a Vector",
        "-": "a VectorVel or a Vector",
        "*": "a number, a doubleVel, or for the cross product a VectorVel or a Vector",
        "/": "a number or a doubleVel",
    }

    @overload
    def __init__(self) -> None: ...
    @overload
    def __init__(self, p: Vector | VectorVel) -> None: ...
    @overload
    def __init__(self, p: Vector, v: Vector) -> None: ...
    def __init__(self, p: Any = ABSENT, v: Any = ABSENT) -> None:
        self._at, self._rate = vector_of(_ZEROS), vector_of(_ZEROS)
        if isinstance(p, Vector) and (v is ABSENT or isinstance(v, Vector)):
            self._at._v = p._v
            self._rate._v = _ZEROS if v is ABSENT else v._v
        elif isinstance(p, VectorVel) and v is ABSENT:
            self._at._v, self._rate._v = p._at._v, p._rate._v
        elif p is not ABSENT or v is not ABSENT:
            given = [x for x in (p, v) if x is not ABSENT]
            raise wrong("VectorVel", "nothing, one or two Vectors, or a VectorVel", *given)

    def _set_p(self, value: Vector) -> None:
        self._at._v = self._plain(value, "VectorVel.p")

    def _set_v(self, value: Vector) -> None:
        self._rate._v = self._plain(value, "VectorVel.v")

    def _plain(self, value: Any, call: str) -> tuple[float, float, float]:
        if not isinstance(value, Vector):
            raise wrong(call, "a Vector", value)
        return value._v

    p = property(attrgetter("_at"), _set_p, doc="The vector, live; setting it copies.")
    v = property(attrgetter("_rate"), _set_v, doc="Its rate of change, live; setting it copies.")
    Zero = OnBoth(_zero)

    def _numbers(self) -> tuple[Any, ...]:
        return (*self._at._v, *self._rate._v)

    def _assign(self, these: tuple[Any, ...]) -> None:
        self._at, self._rate = _new(Vector), _new(Vector)
        self._at._assign(these[:3])
        self._rate._assign(these[3:])

    def _as_own(self, other: Any) -> Any:
        if isinstance(other, VectorVel):
            return other
        return VectorVel(other) if isinstance(other, Vector) else None

    def value(self) -> Vector:
        """The vector, a copy."""
        return vector_of(self._at._v)

    def deriv(self) -> Vector:
        """Its rate of change, a copy."""
        return vector_of(self._rate._v)

    def Norm(self, eps: float = EPS) -> doubleVel:
        """The length and its rate of change; both are 0 where the vector is."""
        length = self._at.Norm()
        made: doubleVel = _new(doubleVel)
        if length.__class__ is float:
            if length == 0.0:
                made._t = (0.0, 0.0)
                return made
            (a, b, c), (x, y, z) = self._at._v, self._rate._v
            made._t = (length, (a * x + b * y + c * z) / length)
            return made
        made._t = (length, _product(self._at, self._rate) / batches.nonzero(length))
        return made

    def ReverseSign(self) -> None:
        """Turn the vector and its rate round, in place."""
        self._at.ReverseSign()
        self._rate.ReverseSign()

    # operators

    def __add__(self, other: VectorVel | Vector) -> VectorVel:
        own = other if isinstance(other, VectorVel) else self._as_own(other)
        if own is None:
            return unfit(self, "+", other)
        return vel_of(self._at + own._at, self._rate + own._rate)

    def __radd__(self, other: object) -> VectorVel:
        own = self._as_own(other)
        return super().__radd__(other) if own is None else own + self

    def __sub__(self, other: VectorVel | Vector) -> VectorVel:
        own = self._as_own(other)
        if own is None:
            return unfit(self, "-", other)
        return vel_of(self._at - own._at, self._rate - own._rate)

    def __rsub__(self, other: object) -> VectorVel:
        own = self._as_own(other)
        return super().__rsub__(other) if own is None else own - self

    def __iadd__(self, other: VectorVel) -> VectorVel:
        if not isinstance(other, VectorVel):
            return unfit(self, "+", other)
        self._at += other._at
        self._rate += other._rate
        return self

    def __isub__(self, other: VectorVel) -> VectorVel:
        if not isinstance(other, VectorVel):
            return unfit(self, "-", other)
        self._at -= other._at
        self._rate -= other._rate
        return self

    def __neg__(self) -> VectorVel:
        return vel_of(-self._at, -self._rate)

    def __mul__(self, other: VectorVel | Vector | doubleVel | float) -> VectorVel:
        if isinstance(other, VectorVel):
            return _CROSS.call(self, other)
        if isinstance(other, Vector):
            return vel_of(self._at * other, self._rate * other)
        if isinstance(other, doubleVel):
            t, grad = other._t
            return vel_of(self._at * t, self._rate * t + self._at * grad)
        factor = other if other.__class__ is float else factor_of(self, "*", other)
        if factor is NotImplemented:
            return NotImplemented
        return vel_of(self._at * factor, self._rate * factor)

    def __rmul__(self, other: object) -> VectorVel:
        if isinstance(other, Vector):
            return vel_of(other * self._at, other * self._rate)
        if isinstance(other, (doubleVel, float, int)):
            return self * other
        factor = factor_of(self, "*", other)
        return super().__rmul__(other) if factor is NotImplemented else self * factor

    def __truediv__(self, other: doubleVel | float) -> VectorVel:
        if isinstance(other, doubleVel):
            return _RATIO.call(self, other)
        divisor = factor_of(self, "/", other)
        if divisor is NotImplemented:
            return NotImplemented
        return vel_of(self._at / divisor, self._rate / divisor)

    def _turned(self, m: Any) -> VectorVel:
        """Rotated by nine numbers that do not change."""
        return vel_of(self._at._turned(m), self._rate._turned(m))

    # what the module's functions ask for

    def _dot(self, other: Any) -> Any:
        own = self._as_own(other)
        if own is None:
            return NotImplemented
        rate = _product(self._at, own._rate) + _product(self._rate, own._at)
        return doubleVel(_product(self._at, own._at), rate)

    def _added(self, delta: Any, dt: Any) -> VectorVel:
        move = self._taken(delta, "addDelta of a VectorVel", "two of them and a number")
        return vel_of(self._at + move._at * dt, self._rate + move._rate * dt)

    def _difference(self, other: Any, dt: Any) -> VectorVel:
        there = self._taken(other, "diff of a VectorVel", "two of them and a number")
        return vel_of((there._at - self._at) / dt, (there._rate - self._rate) / dt)

    def _clear(self) -> None:
        self._at._v = self._rate._v = _ZEROS

    def __repr__(self) -> str:
        return batch_text(self) if self.shape else f"{{{self._at!r},{self._rate!r}}}"


def _product(a: Vector, b: Vector) -> float:
    (p, q, r), (x, y, z) = a._v, b._v
    return p * x + q * y + r * z


def _cross(one: VectorVel, other: VectorVel) -> VectorVel:
    (a, b, c), (d, e, f) = one._at._v, one._rate._v
    (p, q, r), (s, t, u) = other._at._v, other._rate._v
    rate = (
        b * u - c * t + e * r - f * q,
        c * s - a * u + f * p - d * r,
        a * t - b * s + d * q - e * p,
    )
    return vel_of(vector_of((b * r - c * q, c * p - a * r, a * q - b * p)), vector_of(rate))


def _ratio(one: VectorVel, other: doubleVel) -> VectorVel:
    (a, b, c), (x, y, z), (t, grad) = one._at._v, one._rate._v, other._t
    square = t * t
    try:
        at = (a / t, b / t, c / t)
        down = (a * grad / square, b * grad / square, c * grad / square)
        rate = (x / t - down[0], y / t - down[1], z / t - down[2])
    except ZeroDivisionError:
        at, rate, down = [
            quotients(these, by)
            for these, by in (
                ((a, b, c), t),
                ((x, y, z), t),
                ((a * grad, b * grad, c * grad), square),
            )
        ]
        rate = tuple([p - q for p, q in zip(rate, down, strict=True)])
    return vel_of(vector_of(at), vector_of(rate))  # pyright: ignore[reportArgumentType] -- three


_CROSS = Swift(_cross, (VectorVel, VectorVel), VectorVel)
_RATIO = Swift(_ratio, (VectorVel, doubleVel), VectorVel)
