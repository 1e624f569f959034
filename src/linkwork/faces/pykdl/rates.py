"""Values with their rates of change: doubleVel, VectorVel, TwistVel, RotationVel, FrameVel.

All are one pair: a value and its rate, dual numbers of which sums and differences are taken part by
part, and products by the product rule. The rate of a Rotation is its angular velocity, and that of
a Frame a Twist, both in the outer frame; the others have rates of their own type.
"""
# The value types of this face read each other's slots: that is what makes them fast.
# pyright: reportPrivateUsage=false

from __future__ import annotations

from collections.abc import Callable
from operator import attrgetter
from typing import Any, ClassVar, TypeVar

from linkwork.faces.pykdl.angles import nonzero
from linkwork.faces.pykdl.formulas import Formula
from linkwork.faces.pykdl.frame import Frame
from linkwork.faces.pykdl.rotation import ABOUT, Rotation
from linkwork.faces.pykdl.values import (
    ABSENT,
    EPS,
    Linear,
    Value,
    Zero,
    factor_of,
    live,
    live_property,
    number,
    numbers,
    of_one_shape,
    quotients,
    sine_and_cosine,
    unfit,
    wrong,
)
from linkwork.faces.pykdl.vectors import Twist, Vector, three_of, vector_of

_new = object.__new__
R = TypeVar("R", bound="Rated")


def rated(kind: type[R], value: Any, rate: Any) -> R:
    """A value with its rate, of parts that are nobody else's."""
    made: R = _new(kind)
    made._at, made._rate = value, rate
    return made


class Rated(Value):
    """A value and its rate of change; each equals its plain type where nothing changes."""

    __slots__ = ("_at", "_rate")
    _at: Any
    _rate: Any
    __hash__ = None  # pyright: ignore[reportAssignmentType] -- as Python has it
    _kind: ClassVar[Any]
    """The velocity type, of subclasses too: what results are made of."""
    _plain: ClassVar[Any]
    """The type of its value."""
    _moves: ClassVar[Any]
    """The velocity type that leads from one to another: of `diff` and `addDelta`."""
    _names: ClassVar[tuple[tuple[str, ...], ...]]
    """The names of its two arguments, and other ones that they have."""
    _parts: ClassVar[tuple[str, ...]] = ()
    """The two parts that it may be made of as well, by their properties, and shows."""
    _said: ClassVar[str]
    """The arguments that it is made of, in words."""
    _copied: ClassVar[Formula]
    """A plain value and a rate to copies of both."""
    _products: ClassVar[dict[Any, Formula]] = {}
    """The formulas of ``self * other`` by the type of the other."""
    _back: ClassVar[dict[Any, Formula]] = {}
    """The formulas of ``self.Inverse(other)`` by the type of the other."""

    def __init__(self, *given: Any, **named: Any) -> None:
        if not named and len(given) == 2 and given[0].__class__ is self._plain:
            if given[1].__class__ is self._rest.__class__:
                self._at, self._rate = self._copied.call(*given)
                return
        at, rate = self._two(given, named)
        if at is ABSENT and rate is ABSENT:
            at, rate = self._plain(), self._rest
        elif rate is ABSENT and isinstance(at, self._kind):
            at, rate = at._at, at._rate
        elif rate is ABSENT and isinstance(at, self._plain):
            rate = self._rest
        elif not (isinstance(at, self._plain) and isinstance(rate, type(self._rest))):
            joined = self._joined(at, rate)
            if joined is None:
                raise wrong(self._kind.__name__, self._said, at, rate)
            at, rate = joined._at, joined._rate
        self._at, self._rate = at.__copy__(), rate.__copy__()

    def _two(self, given: tuple[Any, ...], named: dict[str, Any]) -> list[Any]:
        """Two arguments by their places, or by one of the names that each has.

        Raises: WrongTypeError for more of them, and for other names.
        """
        two = [*given, ABSENT, ABSENT][: max(2, len(given))]
        for k, names in enumerate(self._names):
            for name in names:
                if name in named and two[k] is ABSENT:
                    two[k] = named.pop(name)
        if named or len(two) > 2:
            name, got = self._kind.__name__, (*given, *named.values())
            raise wrong(name, "at most two arguments: see its documentation", *got)
        return two

    _rest: ClassVar[Any]
    """The rate of what does not change."""

    @classmethod
    def _joined(cls, first: Any, second: Any) -> Any:
        """The value of two parts that have rates themselves; None for others."""
        return None

    @classmethod
    def _as_own(cls, other: Any) -> Any:
        """Another value of this type, or the plain one with a rate of zero; None for others."""
        if isinstance(other, cls._kind):
            return other
        return rated(cls._kind, other, cls._rest) if isinstance(other, cls._plain) else None

    def ToArray(self) -> Any:
        """Raises: WrongTypeError. Its parts become arrays, each on its own."""
        raise wrong("ToArray", "values and not values with rates: use value() and deriv()", self)

    def value(self) -> Any:
        """The value, a copy."""
        return self._at.__copy__()

    def deriv(self) -> Any:
        """Its rate of change, a copy."""
        return self._rate.__copy__()

    def __eq__(self, other: object) -> Any:
        own = self._as_own(other)
        return NotImplemented if own is None else self._near(own, EPS)

    def __mul__(self, other: Any) -> Any:
        formula = self._products.get(other.__class__)
        if formula is not None:
            return formula.call(self, other)
        for kind, formula in self._products.items():
            own = kind._as_own(other) if kind is not float else None
            if own is not None:
                return formula.call(self, own)
        return unfit(self, "*", other)

    def Inverse(self, other: Any = ABSENT) -> Any:
        """The inverse; of a value with a rate, or of a plain one: the inverse times that."""
        formula = self._back.get(other.__class__)
        if formula is not None:
            return formula.call(self, other) if other is not ABSENT else formula.call(self)
        for kind, formula in self._back.items():
            own = kind._as_own(other) if kind is not type(ABSENT) else None
            if own is not None:
                return formula.call(self, own)
        takes = "nothing, a VectorVel, TwistVel, Vector or Twist"
        raise wrong(f"{self._kind.__name__}.Inverse", takes, other)

    # what the module's functions ask for

    def _added(self, delta: Any, dt: Any) -> Any:
        name, moves = self._kind.__name__, self._moves
        own = moves._as_own(delta)
        if own is None:
            raise wrong(
                f"addDelta of a {name}", f"a {name}, a {moves.__name__} and a number", delta
            )
        return rated(self._kind, self._at._added(own._at, dt), self._rate._added(own._rate, dt))

    def _difference(self, other: Any, dt: Any) -> Any:
        there = self._as_own(other)
        if there is None:
            raise wrong(f"diff of a {self._kind.__name__}", "two of them and a number", other)
        at, rate = self._at._difference(there._at, dt), self._rate._difference(there._rate, dt)
        return rated(self._moves, at, rate)

    def _text(self) -> str:
        first, second = [repr(getattr(self, name)) for name in self._parts]
        return f"{{{first},\n{second}}}"


class doubleVel(Rated):
    """A number ``t`` and its rate of change ``grad``: `doubleVel()`, `(t)`, `(t, grad)`, `(other)`.

    Raises: WrongTypeError (a TypeError) for other arguments.
    """

    __slots__ = ()
    _held = (("_at", float), ("_rate", float))

    def __init__(self, t: Any = 0.0, grad: Any = ABSENT) -> None:
        if isinstance(t, doubleVel) and grad is ABSENT:
            self._at, self._rate = t._at, t._rate
        else:
            rate = 0.0 if grad is ABSENT else grad
            self._at, self._rate = numbers((t, rate), "a number of a doubleVel")

    def _set_t(self, value: float) -> None:
        self._at = number(value, "doubleVel.t")

    def _set_grad(self, value: float) -> None:
        self._rate = number(value, "doubleVel.grad")

    t = property(attrgetter("_at"), _set_t, doc="The number.")
    grad = property(attrgetter("_rate"), _set_grad, doc="Its rate of change.")

    @classmethod
    def _as_own(cls, other: Any) -> Any:
        return other if isinstance(other, doubleVel) else None

    def value(self) -> float:
        """The number."""
        return self._at

    def deriv(self) -> float:
        """Its rate of change."""
        return self._rate

    def __neg__(self) -> doubleVel:
        return rated(doubleVel, -self._at, -self._rate)

    def _added(self, delta: Any, dt: Any) -> doubleVel:
        if not isinstance(delta, doubleVel):
            raise wrong("addDelta of a doubleVel", "two of them and a number", delta)
        return doubleVel(self._at + delta._at * dt, self._rate + delta._rate * dt)

    def _difference(self, other: Any, dt: Any) -> doubleVel:
        if not isinstance(other, doubleVel):
            raise wrong("diff of a doubleVel", "two of them and a number", other)
        return doubleVel(*quotients((other._at - self._at, other._rate - self._rate), dt))

    def _text(self) -> str:
        return f"doubleVel({self._at:g},{self._rate:g})"


class _LinearRated(Rated, Linear):
    """The base of those whose rates are of their own type: sums, and products with numbers."""

    __slots__ = ()
    _sum: ClassVar[Formula]
    _less: ClassVar[Formula]
    _ratio: ClassVar[Formula]
    _mixes: ClassVar[bool] = True
    """Whether sums are taken with the plain type too."""

    def _term(self, other: Any) -> Any:
        """The other operand of a sum, as a value of this type; None for what is none."""
        if isinstance(other, self._kind):
            return other
        return self._as_own(other) if self._mixes else None

    def __add__(self, other: Any) -> Any:
        own = other if other.__class__ is self._kind else self._term(other)
        return unfit(self, "+", other) if own is None else self._sum.call(self, own)

    def __sub__(self, other: Any) -> Any:
        own = other if other.__class__ is self._kind else self._term(other)
        return unfit(self, "-", other) if own is None else self._less.call(self, own)

    def __radd__(self, other: Any) -> Any:
        own = self._term(other)
        return super().__radd__(other) if own is None else self._sum.call(own, self)

    def __rsub__(self, other: Any) -> Any:
        own = self._term(other)
        return super().__rsub__(other) if own is None else self._less.call(own, self)

    def __neg__(self) -> Any:
        return rated(self._kind, -self._at, -self._rate)

    def __mul__(self, other: Any) -> Any:
        if isinstance(other, (Rated, Vector)):
            return Rated.__mul__(self, other)
        factor = other if other.__class__ is float else factor_of(self, "*", other)
        return factor if factor is NotImplemented else self._products[float].call(self, factor)

    def __rmul__(self, other: Any) -> Any:
        if isinstance(other, doubleVel):
            return Rated.__mul__(self, other)
        factor = other if other.__class__ is float else factor_of(self, "*", other)
        if factor is NotImplemented:
            return Value.__rmul__(self, other)
        return self._products[float].call(self, factor)

    def __truediv__(self, other: Any) -> Any:
        if isinstance(other, doubleVel):
            try:
                return self._ratio.call(self, other)
            except ZeroDivisionError:  # infinite, as IEEE 754 has it
                t, grad = other._at, other._rate
                rate = self._rate._divided(t) - self._at._scaled(grad)._divided(t * t)
                return rated(self._kind, self._at._divided(t), rate)
        divisor = factor_of(self, "/", other)
        if divisor is NotImplemented:
            return NotImplemented
        return rated(self._kind, self._at._divided(divisor), self._rate._divided(divisor))


class VectorVel(_LinearRated):
    """A vector ``p`` and its rate of change ``v``: `VectorVel()`, `(p)`, `(p, v)`, `(other)`.

    ``+ -`` with it and with Vectors, ``* /`` with numbers and doubleVels, and ``*`` of two is the
    cross product. ``p`` and ``v`` are live; setting them copies.

    Raises: WrongTypeError (a TypeError) for other arguments.
    """

    __slots__ = ()
    _held = (("_at", Vector), ("_rate", Vector))
    _plain, _rest = Vector, Vector()
    _names, _parts = (("p",), ("v",)), ("p", "v")
    _said = "nothing, one or two Vectors, or a VectorVel"
    takes: ClassVar[dict[str, str]] = {
        "+": "a VectorVel or a Vector",
        "-": "a VectorVel or a Vector",
        "*": "a number, a doubleVel, or for the cross product a VectorVel or a Vector",
        "/": "a number or a doubleVel",
    }
    p = live("_at", Vector, "VectorVel.p", "The vector")
    v = live("_rate", Vector, "VectorVel.v", "Its rate of change")
    Zero = Zero()

    def Norm(self, eps: float = EPS) -> doubleVel:
        """The length and its rate of change; both are 0 where the vector is."""
        length = self._at.Norm()
        if length.__class__ is float:
            rate = self._at._dot(self._rate) / length if length else 0.0
        else:
            rate = self._at._dot(self._rate) / nonzero(length)
        return rated(doubleVel, length, rate)

    def __rmul__(self, other: Any) -> Any:
        if isinstance(other, Vector):
            return self._products[VectorVel].call(self._as_own(other), self)
        return super().__rmul__(other)

    def _turned(self, m: Any) -> VectorVel:
        """Rotated by nine numbers that do not change."""
        return rated(VectorVel, self._at._turned(m), self._rate._turned(m))

    def _dot(self, other: Any) -> Any:
        """The dot product and its rate, a doubleVel."""
        own = self._as_own(other)
        if own is None:
            return NotImplemented
        rate = self._at._dot(own._rate) + self._rate._dot(own._at)
        return rated(doubleVel, self._at._dot(own._at), rate)

    def _text(self) -> str:
        return f"{{{self._at!r},{self._rate!r}}}"


class TwistVel(_LinearRated):
    """A twist and its rate of change, as two VectorVels ``vel`` and ``rot``.

    `TwistVel()`, `TwistVel(vel, rot)` of VectorVels, `TwistVel(twist)`, `TwistVel(twist, rate)` of
    Twists, `TwistVel(other)`. ``vel`` and ``rot`` are live; setting them copies.

    Raises: WrongTypeError (a TypeError) for other arguments.
    """

    __slots__ = ()
    _held = (("_at", Twist), ("_rate", Twist))
    _plain, _rest, _mixes = Twist, Twist(), False
    _names, _parts = (("vel", "p"), ("rot", "v")), ("vel", "rot")
    _said = "nothing, two VectorVels (vel, rot), one or two Twists (p, v), or a TwistVel"
    takes: ClassVar[dict[str, str]] = {
        "+": "a TwistVel",
        "-": "a TwistVel",
        "*": "a number or a doubleVel",
        "/": "a number or a doubleVel",
    }
    Zero = Zero()

    def _vel(self) -> VectorVel:
        return rated(VectorVel, self._at._a, self._rate._a)

    def _rot(self) -> VectorVel:
        return rated(VectorVel, self._at._b, self._rate._b)

    vel = live_property(_vel, VectorVel, "TwistVel.vel", "The velocity")
    rot = live_property(_rot, VectorVel, "TwistVel.rot", "The angular velocity")

    @classmethod
    def _joined(cls, first: Any, second: Any) -> Any:
        both = isinstance(first, VectorVel) and isinstance(second, VectorVel)
        return _twist_vel(first, second) if both else None

    def GetTwist(self) -> Twist:
        """The twist, a copy."""
        return self.value()

    def GetTwistDot(self) -> Twist:
        """Its rate of change, a copy."""
        return self.deriv()

    def RefPoint(self, base: VectorVel) -> TwistVel:
        """The same motion at the point that ``base`` leads to: (vel + rot x base, rot)."""
        if VectorVel._as_own(base) is None:
            raise wrong("TwistVel.RefPoint", "a VectorVel", base)
        return _twist_vel(self.vel + self.rot * base, self.rot)


def _turning(axis: int) -> Callable[[RotationVel, doubleVel], None]:
    """The method that turns, in place, about one axis."""

    def turn(self: RotationVel, angle: doubleVel) -> None:
        """Turn, in place, about its own axis, and how fast."""
        s, c = sine_and_cosine(_angle(angle)._at)
        m, self._rate._v = self._about[axis].call(self, s, c, angle._rate)
        self._at._m = m if c.__class__ is float else of_one_shape(m)

    return turn


class RotationVel(Rated):
    """A rotation ``R`` and its angular velocity ``w``, in the outer frame.

    `RotationVel()`, `RotationVel(R)`, `RotationVel(R, w)`, `RotationVel(other)`. ``*`` rotates a
    VectorVel, TwistVel or RotationVel, or the same without rates. ``R`` and ``w`` are live; setting
    them copies.

    Raises: WrongTypeError (a TypeError) for other arguments.
    """

    __slots__ = ()
    _held = (("_at", Rotation), ("_rate", Vector))
    _plain, _rest = Rotation, Vector()
    _names, _parts = (("R",), ("w",)), ("R", "w")
    _said = "nothing, a Rotation, a Rotation and a Vector, or a RotationVel"
    takes: ClassVar[dict[str, str]] = {
        "*": "a VectorVel, TwistVel or RotationVel, or a Vector, Twist or Rotation"
    }
    R = live("_at", Rotation, "RotationVel.R", "The rotation")
    w = live("_rate", Vector, "RotationVel.w", "The angular velocity")
    _about: ClassVar[list[Formula]]

    @staticmethod
    def Identity() -> RotationVel:
        """No rotation, at rest."""
        return RotationVel()

    @staticmethod
    def RotX(angle: doubleVel) -> RotationVel:
        """A turn about x, and how fast."""
        return RotationVel.Rot2(Vector(1.0, 0.0, 0.0), angle)

    @staticmethod
    def RotY(angle: doubleVel) -> RotationVel:
        """A turn about y, and how fast."""
        return RotationVel.Rot2(Vector(0.0, 1.0, 0.0), angle)

    @staticmethod
    def RotZ(angle: doubleVel) -> RotationVel:
        """A turn about z, and how fast."""
        return RotationVel.Rot2(Vector(0.0, 0.0, 1.0), angle)

    @staticmethod
    def Rot(axis: Vector, angle: doubleVel) -> RotationVel:
        """A turn about an axis of any length that does not move, and how fast."""
        unit = vector_of(three_of(axis, "RotationVel.Rot", "a Vector and a doubleVel"))
        turn = Rotation.Rot(unit, _angle(angle)._at)
        unit.Normalize()
        return rated(RotationVel, turn, unit * angle._rate)

    @staticmethod
    def Rot2(axis: Vector, angle: doubleVel) -> RotationVel:
        """As `Rot`, for an axis whose length is 1 already, which is not checked."""
        turn = Rotation.Rot2(axis, _angle(angle)._at)
        return rated(RotationVel, turn, axis * angle._rate)

    def UnitX(self) -> VectorVel:
        """The turned x axis, and its rate of change."""
        return self * Vector(1.0, 0.0, 0.0)

    def UnitY(self) -> VectorVel:
        """The turned y axis, and its rate of change."""
        return self * Vector(0.0, 1.0, 0.0)

    def UnitZ(self) -> VectorVel:
        """The turned z axis, and its rate of change."""
        return self * Vector(0.0, 0.0, 1.0)

    def _turned(self, m: Any) -> RotationVel:
        """After a rotation that does not change."""
        return rated(RotationVel, self._at._turned(m), self._rate._turned(m))

    DoRotX, DoRotY, DoRotZ = _turning(0), _turning(1), _turning(2)


class FrameVel(Rated):
    """A frame with the velocity of its origin and its angular velocity, in the outer frame.

    ``M`` is a RotationVel, ``p`` a VectorVel: `FrameVel()`, `FrameVel(frame)`,
    `FrameVel(frame, twist)`, `FrameVel(M, p)`, `FrameVel(other)`. ``*`` moves a VectorVel, TwistVel
    or FrameVel, or the same without rates. ``M`` and ``p`` are live; setting them copies.

    Raises: WrongTypeError (a TypeError) for other arguments.
    """

    __slots__ = ()
    _held = (("_at", Frame), ("_rate", Twist))
    _plain, _rest = Frame, Twist()
    _names, _parts = (("M", "T"), ("p", "t")), ("M", "p")
    _said = (
        "nothing, a Frame (T), a Frame and a Twist (T, t), a RotationVel and a VectorVel (M, p), "
        "or a FrameVel"
    )
    takes: ClassVar[dict[str, str]] = {
        "*": "a VectorVel, TwistVel or FrameVel, or a Vector, Twist or Frame"
    }

    def _turn(self) -> RotationVel:
        return rated(RotationVel, self._at._turn, self._rate._b)

    def _place(self) -> VectorVel:
        return rated(VectorVel, self._at._place, self._rate._a)

    M = live_property(_turn, RotationVel, "FrameVel.M", "The rotation")
    p = live_property(_place, VectorVel, "FrameVel.p", "The origin")

    @classmethod
    def _joined(cls, first: Any, second: Any) -> Any:
        both = isinstance(first, RotationVel) and isinstance(second, VectorVel)
        return _frame_vel(first, second) if both else None

    @staticmethod
    def Identity() -> FrameVel:
        """The outer frame, at rest."""
        return FrameVel()

    def GetFrame(self) -> Frame:
        """The frame, a copy."""
        return Frame(self._at)

    def GetTwist(self) -> Twist:
        """The velocity of its origin and its angular velocity, in the outer frame."""
        return Twist(self._rate)

    def _moved(self, m: Any, p: Any) -> FrameVel:
        """In a frame that stands still in another."""
        return rated(FrameVel, self._at._moved(m, p), self._rate._turned(m))


def _angle(angle: Any) -> doubleVel:
    """A turning angle.

    Raises: WrongTypeError.
    """
    if not isinstance(angle, doubleVel):
        raise wrong("a turn of a RotationVel", "a doubleVel: doubleVel(angle, rate)", angle)
    return angle


# formulas: of plain values, compiled once they have been called often


def _twist_vel(vel: VectorVel, rot: VectorVel) -> TwistVel:
    return rated(TwistVel, Twist(vel._at, rot._at), Twist(vel._rate, rot._rate))


def _frame_vel(turn: RotationVel, place: VectorVel) -> FrameVel:
    return rated(FrameVel, Frame(turn._at, place._at), Twist(place._rate, turn._rate))


def _copies(at: Any, rate: Any) -> Any:
    return at.__copy__(), rate.__copy__()


def _sum(a: Any, b: Any) -> Any:
    return rated(a._kind, a._at + b._at, a._rate + b._rate)


def _less(a: Any, b: Any) -> Any:
    return rated(a._kind, a._at - b._at, a._rate - b._rate)


def _times(a: Any, factor: Any) -> Any:
    return rated(a._kind, a._at._scaled(factor), a._rate._scaled(factor))


def _by(a: Any, s: doubleVel) -> Any:
    """(a s)' = a' s + a s'."""
    return rated(a._kind, a._at._scaled(s._at), a._rate._scaled(s._at) + a._at._scaled(s._rate))


def _ratio(a: Any, s: doubleVel) -> Any:
    """(a / s)' = a' / s - a s' / s²."""
    t, square = 1.0 * s._at, s._at * s._at
    down = _over(a._at._scaled(s._rate), square)
    return rated(a._kind, _over(a._at, t), _over(a._rate, t) - down)


def _over(a: Any, s: Any) -> Any:
    made = _new(type(a))
    made._assign(tuple([x / s for x in a._numbers()]))
    return made


def _cross(a: VectorVel, b: VectorVel) -> VectorVel:
    """(a x b)' = a' x b + a x b'."""
    return rated(VectorVel, a._at * b._at, a._rate * b._at + a._at * b._rate)


def _rotated(turning: RotationVel, v: VectorVel) -> VectorVel:
    """(R v)' = R v' + w x R v."""
    there = turning._at * v._at
    return rated(VectorVel, there, turning._at * v._rate + turning._rate * there)


def _rotated_twist(turning: RotationVel, t: TwistVel) -> TwistVel:
    return _twist_vel(_rotated(turning, t._vel()), _rotated(turning, t._rot()))


def _turned_on(a: RotationVel, b: RotationVel) -> RotationVel:
    return rated(RotationVel, a._at * b._at, a._rate + a._at * b._rate)


def _turned_back(turning: RotationVel) -> RotationVel:
    back = turning._at.Inverse()
    return rated(RotationVel, back, -(back * turning._rate))


def _point(frame: FrameVel, v: VectorVel) -> VectorVel:
    return _sum(_rotated(frame._turn(), v), frame._place())


def _moved_twist(frame: FrameVel, t: TwistVel) -> TwistVel:
    turned = _rotated_twist(frame._turn(), t)
    return _twist_vel(_sum(turned._vel(), _cross(frame._place(), turned._rot())), turned._rot())


def _moved_frame(a: FrameVel, b: FrameVel) -> FrameVel:
    return _frame_vel(_turned_on(a._turn(), b._turn()), _point(a, b._place()))


def _moved_back(frame: FrameVel) -> FrameVel:
    back = _turned_back(frame._turn())
    place = _rotated(back, frame._place())
    return _frame_vel(back, rated(VectorVel, -place._at, -place._rate))


def _about(axis: int) -> Callable[..., Any]:
    def turned(turning: RotationVel, s: Any, c: Any, rate: Any) -> Any:
        """Its numbers after a turn about its own axis, and its angular velocity with that."""
        m = turning._at._m
        w = tuple([x + y * rate for x, y in zip(turning._rate._v, m[axis::3], strict=True)])
        return ABOUT[axis].plain(m, s, c), w

    return turned


def _prepare() -> None:
    """Give the types each other, and the formulas of their operators."""
    for kind in (doubleVel, VectorVel, TwistVel, RotationVel, FrameVel):
        kind._kind = kind._moves = kind
    RotationVel._moves, FrameVel._moves = VectorVel, TwistVel
    for kind in (VectorVel, TwistVel, RotationVel, FrameVel):
        parts = tuple([part for _, part in kind._held])
        kind._copied = Formula(f"{kind.__name__} copied", _copies, parts, parts)
    for kind in (VectorVel, TwistVel):
        two, name = (kind, kind), kind.__name__
        kind._sum = Formula(f"{name} +", _sum, two, kind)
        kind._less = Formula(f"{name} -", _less, two, kind)
        kind._ratio = Formula(f"{name} /", _ratio, (kind, doubleVel), kind)
        kind._products = {
            float: Formula(f"{name} scaled", _times, (kind, float), kind),
            doubleVel: Formula(f"{name} * doubleVel", _by, (kind, doubleVel), kind),
        }
    VectorVel._products[VectorVel] = Formula("cross", _cross, (VectorVel, VectorVel), VectorVel)
    _give(RotationVel, _turned_back, (_rotated, _rotated_twist, _turned_on))
    _give(FrameVel, _moved_back, (_point, _moved_twist, _moved_frame))
    RotationVel._about = [
        Formula(f"RotationVel about {k}", _about(k), (RotationVel, float, float, float), (9, 3))
        for k in range(3)
    ]


def _give(kind: Any, inverse: Callable[..., Any], products: tuple[Callable[..., Any], ...]) -> None:
    """Give a type the formulas of its products with vectors, twists and its like, and back."""

    def back(product: Callable[..., Any]) -> Callable[..., Any]:
        return lambda a, b: product(inverse(a), b)

    name = kind.__name__
    kind._products = {
        other: Formula(f"{name} * {other.__name__}", product, (kind, other), other)
        for other, product in zip((VectorVel, TwistVel, kind), products, strict=True)
    }
    kind._back = {
        other: Formula(f"{name} back * {other.__name__}", back(product), (kind, other), other)
        for other, product in zip((VectorVel, TwistVel), products, strict=False)
    }
    kind._back[type(ABSENT)] = Formula(f"{name} inverse", inverse, (kind,), kind)


_prepare()
