"""A twist with its rate of change: TwistVel."""
# The value types of this face read each other's slots: that is what makes them fast.
# pyright: reportPrivateUsage=false

from __future__ import annotations

from operator import attrgetter
from typing import Any, ClassVar, overload

from linkwork.faces.pykdl.scalars import ABSENT, two_arguments, wrong
from linkwork.faces.pykdl.swift import Swift
from linkwork.faces.pykdl.twist import Twist
from linkwork.faces.pykdl.values import OnBoth, batch_text, unfit
from linkwork.faces.pykdl.vector import Vector, factor_of
from linkwork.faces.pykdl.vector_vel import VectorVel, WithRate, doubleVel

_new = object.__new__


def twist_vel_of(vel: VectorVel, rot: VectorVel) -> TwistVel:
    """A twist with its rate, of parts that are nobody else's."""
    made: TwistVel = _new(TwistVel)
    made._a, made._b = vel, rot
    return made


def _zero(here: TwistVel | type[TwistVel]) -> TwistVel:
    """A zero twist that does not change; called on one, it also sets that one to zero."""
    if isinstance(here, TwistVel):
        here._clear()
    return TwistVel()


class TwistVel(WithRate):
    """A twist and its rate of change, as two VectorVels ``vel`` and ``rot``.

    `TwistVel()`, `TwistVel(vel, rot)` of VectorVels, `TwistVel(twist)`, `TwistVel(twist, rate)` of
    Twists, `TwistVel(other)`. ``vel`` and ``rot`` are live; setting them copies.

    Raises: WrongTypeError (a TypeError) for other arguments.
    """

    __slots__ = ("_a", "_b")
    _held = (("_a", VectorVel), ("_b", VectorVel))
    _a: VectorVel
    _b: VectorVel
    takes: ClassVar[dict[str, str]] = {
        "+": "a TwistVel",
        "-": "a TwistVel",
        "*": "a number or a doubleVel",
        "/": "a number or a doubleVel",
    }

    @overload
    def __init__(self) -> None: ...
    @overload
    def __init__(self, p: Twist | TwistVel) -> None: ...
    @overload
    def __init__(self, vel: VectorVel, rot: VectorVel) -> None: ...
    @overload
    def __init__(self, p: Twist, v: Twist) -> None: ...
    def __init__(self, *given: Any, **named: Any) -> None:
        vel, rot = two_arguments("TwistVel", given, named, (("vel", "p"), ("rot", "v")))
        if vel is ABSENT and rot is ABSENT:
            self._a, self._b = VectorVel(), VectorVel()
        elif isinstance(vel, VectorVel) and isinstance(rot, VectorVel):
            self._a, self._b = VectorVel(vel), VectorVel(rot)
        elif isinstance(vel, Twist) and (rot is ABSENT or isinstance(rot, Twist)):
            rate = Twist() if rot is ABSENT else rot
            self._a, self._b = VectorVel(vel._a, rate._a), VectorVel(vel._b, rate._b)
        elif isinstance(vel, TwistVel) and rot is ABSENT:
            self._a, self._b = VectorVel(vel._a), VectorVel(vel._b)
        else:
            got = [x for x in (vel, rot) if x is not ABSENT]
            takes = "nothing, two VectorVels (vel, rot), one or two Twists (p, v), or a TwistVel"
            raise wrong("TwistVel", takes, *got)

    def _set_vel(self, value: VectorVel) -> None:
        _copy(value, self._a, "TwistVel.vel")

    def _set_rot(self, value: VectorVel) -> None:
        _copy(value, self._b, "TwistVel.rot")

    vel = property(attrgetter("_a"), _set_vel, doc="The velocity, live; setting it copies.")
    rot = property(attrgetter("_b"), _set_rot, doc="The angular velocity, live; setting it copies.")
    Zero = OnBoth(_zero)

    def _numbers(self) -> tuple[Any, ...]:
        return (*self._a._numbers(), *self._b._numbers())

    def _assign(self, these: tuple[Any, ...]) -> None:
        self._a, self._b = _new(VectorVel), _new(VectorVel)
        self._a._assign(these[:6])
        self._b._assign(these[6:])

    def _as_own(self, other: Any) -> Any:
        if isinstance(other, TwistVel):
            return other
        return TwistVel(other) if isinstance(other, Twist) else None

    def GetTwist(self) -> Twist:
        """The twist, a copy."""
        return Twist(self._a._at, self._b._at)

    def GetTwistDot(self) -> Twist:
        """Its rate of change, a copy."""
        return Twist(self._a._rate, self._b._rate)

    def value(self) -> Twist:
        """The twist, a copy."""
        return self.GetTwist()

    def deriv(self) -> Twist:
        """Its rate of change, a copy."""
        return self.GetTwistDot()

    def RefPoint(self, base: VectorVel) -> TwistVel:
        """The same motion at the point that ``base`` leads to: (vel + rot x base, rot)."""
        if not isinstance(base, (VectorVel, Vector)):
            raise wrong("TwistVel.RefPoint", "a VectorVel", base)
        return twist_vel_of(self._a + self._b * base, VectorVel(self._b))

    def ReverseSign(self) -> None:
        """Turn it and its rate round, in place."""
        self._a.ReverseSign()
        self._b.ReverseSign()

    # operators

    def __add__(self, other: TwistVel) -> TwistVel:
        if not isinstance(other, TwistVel):
            return unfit(self, "+", other)
        return _SUM.call(self, other)

    def __sub__(self, other: TwistVel) -> TwistVel:
        if not isinstance(other, TwistVel):
            return unfit(self, "-", other)
        return _DIFFERENCE.call(self, other)

    def __iadd__(self, other: TwistVel) -> TwistVel:
        if not isinstance(other, TwistVel):
            return unfit(self, "+", other)
        self._a += other._a
        self._b += other._b
        return self

    def __isub__(self, other: TwistVel) -> TwistVel:
        if not isinstance(other, TwistVel):
            return unfit(self, "-", other)
        self._a -= other._a
        self._b -= other._b
        return self

    def __neg__(self) -> TwistVel:
        return twist_vel_of(-self._a, -self._b)

    def __mul__(self, other: doubleVel | float) -> TwistVel:
        if other.__class__ is float:
            return _TIMES.call(self, other)
        factor = other if isinstance(other, doubleVel) else factor_of(self, "*", other)
        if factor is NotImplemented:
            return NotImplemented
        return twist_vel_of(self._a * factor, self._b * factor)

    def __rmul__(self, other: object) -> TwistVel:
        if other.__class__ is float:
            return _TIMES.call(self, other)
        factor = other if isinstance(other, doubleVel) else factor_of(self, "*", other)
        if factor is NotImplemented:
            return super().__rmul__(other)
        return twist_vel_of(self._a * factor, self._b * factor)

    def __truediv__(self, other: doubleVel | float) -> TwistVel:
        divisor = other if isinstance(other, doubleVel) else factor_of(self, "/", other)
        if divisor is NotImplemented:
            return NotImplemented
        return twist_vel_of(self._a / divisor, self._b / divisor)

    def _clear(self) -> None:
        self._a._clear()
        self._b._clear()

    def __repr__(self) -> str:
        return batch_text(self) if self.shape else f"{{{self._a!r},\n{self._b!r}}}"


def _copy(value: Any, into: VectorVel, call: str) -> None:
    if not isinstance(value, VectorVel):
        raise wrong(call, "a VectorVel", value)
    into._at._v, into._rate._v = value._at._v, value._rate._v


def _sum(one: TwistVel, other: TwistVel) -> TwistVel:
    return twist_vel_of(one._a + other._a, one._b + other._b)


def _difference(one: TwistVel, other: TwistVel) -> TwistVel:
    return twist_vel_of(one._a - other._a, one._b - other._b)


def _times(one: TwistVel, factor: Any) -> TwistVel:
    made: TwistVel = _new(TwistVel)
    made._assign(tuple([x * factor for x in one._numbers()]))
    return made


_SUM = Swift(_sum, (TwistVel, TwistVel), TwistVel)
_DIFFERENCE = Swift(_difference, (TwistVel, TwistVel), TwistVel)
_TIMES = Swift(_times, (TwistVel, float), TwistVel)
