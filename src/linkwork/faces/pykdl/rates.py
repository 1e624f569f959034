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
from typing import Any, ClassVar

import numpy as np

from linkwork.faces.pykdl.formulas import Formula
from linkwork.faces.pykdl.frame import Frame
from linkwork.faces.pykdl.joint_arrays import changeRefFrame
from linkwork.faces.pykdl.rotation import ABOUT, Rotation
from linkwork.faces.pykdl.values import (
    ABSENT,
    EPS,
    Linear,
    Moving,
    Pair,
    Value,
    Zero,
    divided,
    kind_of,
    live,
    number,
    numbers,
    of_one_kind,
    scaled,
    sine_and_cosine,
    wrong,
)
from linkwork.faces.pykdl.vectors import Twist, Vector, three_of, unit_of, vector_of


class doubleVel(Linear):
    """A number ``t`` and its rate of change ``grad``: `doubleVel()`, `(t)`, `(t, grad)`, `(other)`.

    ``+ -`` with doubleVels, ``* /`` with numbers.

    Raises: WrongTypeError (a TypeError) for other arguments.
    """

    __slots__ = ("_a", "_b")
    _a: float
    _b: float
    _held = (("_a", float), ("_b", float))
    array_shape = (2,)
    takes: ClassVar[dict[str, str]] = {
        "+": "a doubleVel",
        "-": "a doubleVel",
        "*": "a number, a VectorVel or a TwistVel",
        "/": "a number",
    }

    def __init__(self, t: Any = 0.0, grad: Any = ABSENT) -> None:
        if isinstance(t, doubleVel) and grad is ABSENT:
            self._a, self._b = t._a, t._b
        else:
            rate = 0.0 if grad is ABSENT else grad
            self._a, self._b = numbers((t, rate), "a number of a doubleVel")

    def _set_t(self, value: float) -> None:
        self._a = number(value, "doubleVel.t")

    def _set_grad(self, value: float) -> None:
        self._b = number(value, "doubleVel.grad")

    t = property(attrgetter("_a"), _set_t, doc="The number.")
    grad = property(attrgetter("_b"), _set_grad, doc="Its rate of change.")

    def value(self) -> float:
        """The number."""
        return self._a

    def deriv(self) -> float:
        """Its rate of change."""
        return self._b

    def _text(self) -> str:
        return f"doubleVel({self._a:g},{self._b:g})"


def _double(t: Any, grad: Any) -> doubleVel:
    made = object.__new__(doubleVel)
    made._a, made._b = t, grad
    return made


class Rated(Pair):
    """A value and its rate of change; each equals its plain type where nothing changes."""

    __slots__ = ()
    _alone = (0,)
    _parts: ClassVar[tuple[str, str]]
    """The two parts that it may be made of as well, by their properties, and shows."""

    @classmethod
    def _as_own(cls, other: Any) -> Any:
        if isinstance(other, cls._kind):
            return other
        plain = isinstance(other, cls._held[0][1])
        return cls._with(other, cls._rest[1]) if plain else None

    @classmethod
    def FromArray(cls, array: Any) -> Any:
        """Nothing: its parts come of arrays, each on its own. Raises: WrongTypeError."""
        raise wrong("FromArray", "the parts of a value with a rate, each on its own", array)

    def ToArray(self) -> Any:
        """Nothing: its parts become arrays, each on its own. Raises: WrongTypeError."""
        raise wrong("ToArray", "values and not values with rates: use value() and deriv()", self)

    def value(self) -> Any:
        """The value, a copy."""
        return self._a.__copy__()

    def deriv(self) -> Any:
        """Its rate of change, a copy."""
        return self._b.__copy__()

    def __rmul__(self, other: Any) -> Any:
        own = self._as_own(other)
        return super().__rmul__(other) if own is None else own * self

    def _added(self, delta: Any, dt: Any) -> Any:
        return self._with(self._a._added(delta._a, dt), self._b._added(delta._b, dt))

    def _difference(self, other: Any, dt: Any) -> Any:
        first, second = self._a._difference(other._a, dt), self._b._difference(other._b, dt)
        return self._moves._with(first, second)

    def _text(self) -> str:
        first, second = [repr(getattr(self, name)) for name in self._parts]
        return f"{{{first},\n{second}}}"


class _LinearRated(Rated, Linear):
    """The base of those whose rates are of their own type: sums, and products with numbers."""

    __slots__ = ()
    _ratio: ClassVar[Formula]

    def __radd__(self, other: Any) -> Any:
        own = self._term(other)
        return super().__radd__(other) if own is None else self._plus.call(own, self)

    def __rsub__(self, other: Any) -> Any:
        own = self._term(other)
        return super().__rsub__(other) if own is None else self._minus.call(own, self)

    def __rmul__(self, other: Any) -> Any:
        return self * other if isinstance(other, doubleVel) else super().__rmul__(other)

    def __truediv__(self, other: Any) -> Any:
        if isinstance(other, doubleVel):
            return self._ratio.call(self, other)
        return super().__truediv__(other)


class VectorVel(_LinearRated):
    """A vector ``p`` and its rate of change ``v``: `VectorVel()`, `(p)`, `(p, v)`, `(other)`.

    ``+ -`` with it and with Vectors, ``* /`` with numbers and doubleVels, and ``*`` of two is the
    cross product. ``p`` and ``v`` are live; setting them copies.

    Raises: WrongTypeError (a TypeError) for other arguments.
    """

    __slots__ = ()
    _held = (("_a", Vector), ("_b", Vector))
    _names, _parts = (("p",), ("v",)), ("p", "v")
    _said = "nothing, one or two Vectors, or a VectorVel"
    takes: ClassVar[dict[str, str]] = {
        "+": "a VectorVel or a Vector",
        "-": "a VectorVel or a Vector",
        "*": "a number, a doubleVel, or for the cross product a VectorVel or a Vector",
        "/": "a number or a doubleVel",
    }
    p = live("_a", Vector, "VectorVel.p", "The vector")
    v = live("_b", Vector, "VectorVel.v", "Its rate of change")
    Zero = Zero()

    @classmethod
    def _term(cls, other: Any) -> Any:
        return cls._as_own(other)

    def Norm(self, eps: float = EPS) -> doubleVel:
        """The length and its rate of change; both are 0 where the vector is."""
        length = self._a.Norm()
        safe = length or 1.0 if length.__class__ is float else np.where(length == 0.0, 1.0, length)
        return _double(length, self._a._dot(self._b) / safe)

    def _dot(self, other: Any) -> Any:
        """The dot product and its rate, a doubleVel."""
        own = self._as_own(other)
        if own is None:
            return NotImplemented
        return _double(self._a._dot(own._a), self._a._dot(own._b) + self._b._dot(own._a))

    def _text(self) -> str:
        return f"{{{self._a!r},{self._b!r}}}"


class TwistVel(_LinearRated):
    """A twist and its rate of change, as two VectorVels ``vel`` and ``rot``.

    `TwistVel()`, `TwistVel(vel, rot)` of VectorVels, `TwistVel(twist)`, `TwistVel(twist, rate)` of
    Twists, `TwistVel(other)`. ``vel`` and ``rot`` are live; setting them copies.

    Raises: WrongTypeError (a TypeError) for other arguments.
    """

    __slots__ = ()
    _held = (("_a", Twist), ("_b", Twist))
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
        return VectorVel._with(self._a._a, self._b._a)

    def _rot(self) -> VectorVel:
        return VectorVel._with(self._a._b, self._b._b)

    vel = live(_vel, VectorVel, "TwistVel.vel", "The velocity")
    rot = live(_rot, VectorVel, "TwistVel.rot", "The angular velocity")

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


def _unit(k: int) -> Any:
    """The method that gives one column of a rotation with its rate."""
    axis = Vector(*[float(i == k) for i in range(3)])

    def unit(self: RotationVel) -> VectorVel:
        """The turned axis, and its rate of change."""
        return self * axis

    return unit


def _about(k: int) -> Any:
    """The function that makes a turn about x, y or z."""
    axis = Vector(*[float(i == k) for i in range(3)])

    def rotation(angle: doubleVel) -> RotationVel:
        """A turn about one axis, and how fast."""
        return RotationVel.Rot2(axis, angle)

    return staticmethod(rotation)


def _turning(axis: int) -> Callable[[RotationVel, doubleVel], None]:
    """The method that turns, in place, about one axis."""

    def turn(self: RotationVel, angle: doubleVel) -> None:
        """Turn, in place, about its own axis, and how fast."""
        s, c = sine_and_cosine(_angle(angle)._a)
        m, self._b._v = self._about[axis].call(self, s, c, angle._b)
        self._a._m = of_one_kind(m)

    return turn


class RotationVel(Rated, Moving):
    """A rotation ``R`` and its angular velocity ``w``, in the outer frame.

    `RotationVel()`, `RotationVel(R)`, `RotationVel(R, w)`, `RotationVel(other)`. ``*`` rotates a
    VectorVel, TwistVel or RotationVel, or the same without rates. ``R`` and ``w`` are live; setting
    them copies.

    Raises: WrongTypeError (a TypeError) for other arguments.
    """

    __slots__ = ()
    _held, _moves = (("_a", Rotation), ("_b", Vector)), VectorVel
    _names, _parts = (("R",), ("w",)), ("R", "w")
    _said = "nothing, a Rotation, a Rotation and a Vector, or a RotationVel"
    takes: ClassVar[dict[str, str]] = {
        "*": "a VectorVel, TwistVel or RotationVel, or a Vector, Twist or Rotation"
    }
    R = live("_a", Rotation, "RotationVel.R", "The rotation")
    w = live("_b", Vector, "RotationVel.w", "The angular velocity")

    @staticmethod
    def Identity() -> RotationVel:
        """No rotation, at rest."""
        return RotationVel()

    RotX, RotY, RotZ = _about(0), _about(1), _about(2)

    @staticmethod
    def Rot(axis: Vector, angle: doubleVel) -> RotationVel:
        """A turn about an axis of any length that does not move, and how fast."""
        v = three_of(axis, "RotationVel.Rot", "a Vector and a doubleVel")
        turn = Rotation.Rot(axis, _angle(angle)._a)
        return RotationVel._with(turn, vector_of(unit_of(v, EPS)[0]) * angle._b)

    @staticmethod
    def Rot2(axis: Vector, angle: doubleVel) -> RotationVel:
        """As `Rot`, for an axis whose length is 1 already, which is not checked."""
        return RotationVel._with(Rotation.Rot2(axis, _angle(angle)._a), axis * angle._b)

    UnitX, UnitY, UnitZ = _unit(0), _unit(1), _unit(2)
    DoRotX, DoRotY, DoRotZ = _turning(0), _turning(1), _turning(2)
    _about: ClassVar[list[Formula]]
    """Turns about x, y and z, given sine, cosine and rate: numbers of the rotation and of w."""


class FrameVel(Rated, Moving):
    """A frame with the velocity of its origin and its angular velocity, in the outer frame.

    ``M`` is a RotationVel, ``p`` a VectorVel: `FrameVel()`, `FrameVel(frame)`,
    `FrameVel(frame, twist)`, `FrameVel(M, p)`, `FrameVel(other)`. ``*`` moves a VectorVel, TwistVel
    or FrameVel, or the same without rates. ``M`` and ``p`` are live; setting them copies.

    Raises: WrongTypeError (a TypeError) for other arguments.
    """

    __slots__ = ()
    _held, _moves = (("_a", Frame), ("_b", Twist)), TwistVel
    _names, _parts = (("M", "T"), ("p", "t")), ("M", "p")
    _said = (
        "nothing, a Frame (T), a Frame and a Twist (T, t), a RotationVel and a VectorVel (M, p), "
        "or a FrameVel"
    )
    takes: ClassVar[dict[str, str]] = {
        "*": "a VectorVel, TwistVel or FrameVel, or a Vector, Twist or Frame"
    }

    def _turn(self) -> RotationVel:
        return RotationVel._with(self._a._a, self._b._b)

    def _place(self) -> VectorVel:
        return VectorVel._with(self._a._b, self._b._a)

    M = live(_turn, RotationVel, "FrameVel.M", "The rotation")
    p = live(_place, VectorVel, "FrameVel.p", "The origin")

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
        return self.value()

    def GetTwist(self) -> Twist:
        """The velocity of its origin and its angular velocity, in the outer frame."""
        return self.deriv()


def _angle(angle: Any) -> doubleVel:
    """A turning angle.

    Raises: WrongTypeError.
    """
    if not isinstance(angle, doubleVel):
        raise wrong("a turn of a RotationVel", "a doubleVel: doubleVel(angle, rate)", angle)
    return angle


# products


def _twist_vel(vel: VectorVel, rot: VectorVel) -> TwistVel:
    return TwistVel._with(Twist._with(vel._a, rot._a), Twist._with(vel._b, rot._b))


def _frame_vel(turn: RotationVel, place: VectorVel) -> FrameVel:
    return FrameVel._with(Frame._with(turn._a, place._a), Twist._with(place._b, turn._b))


def _by(a: Any, s: doubleVel) -> Any:
    """(a s)' = a' s + a s'."""
    return a._with(scaled(a._a, s._a), scaled(a._b, s._a) + scaled(a._a, s._b))


def _ratio(a: Any, s: doubleVel) -> Any:
    """(a / s)' = a' / s - a s' / s²."""
    down = divided(scaled(a._a, s._b), s._a * s._a)
    return a._with(divided(a._a, s._a), divided(a._b, s._a) - down)


def _cross(a: VectorVel, b: VectorVel) -> VectorVel:
    """(a x b)' = a' x b + a x b'."""
    return VectorVel._with(a._a * b._a, a._b * b._a + a._a * b._b)


def _rotated(turning: RotationVel, v: VectorVel) -> VectorVel:
    """(R v)' = R v' + w x R v."""
    there = turning._a * v._a
    return VectorVel._with(there, turning._a * v._b + turning._b * there)


def _rotated_twist(turning: RotationVel, t: TwistVel) -> TwistVel:
    return _twist_vel(_rotated(turning, t._vel()), _rotated(turning, t._rot()))


def _turned_on(a: RotationVel, b: RotationVel) -> RotationVel:
    return RotationVel._with(a._a * b._a, a._b + a._a * b._b)


def _turned_back(turning: RotationVel) -> RotationVel:
    back = turning._a.Inverse()
    return RotationVel._with(back, -(back * turning._b))


def _point(frame: FrameVel, v: VectorVel) -> VectorVel:
    return _rotated(frame._turn(), v) + frame._place()


def _moved_twist(frame: FrameVel, t: TwistVel) -> TwistVel:
    turned = _rotated_twist(frame._turn(), t)
    return _twist_vel(turned._vel() + _cross(frame._place(), turned._rot()), turned._rot())


def _moved_frame(a: FrameVel, b: FrameVel) -> FrameVel:
    return _frame_vel(_turned_on(a._turn(), b._turn()), _point(a, b._place()))


def _moved_back(frame: FrameVel) -> FrameVel:
    back = _turned_back(frame._turn())
    return _frame_vel(back, -_rotated(back, frame._place()))


def _turned_about(axis: int) -> Callable[..., Any]:
    def turned(turning: RotationVel, s: Any, c: Any, rate: Any) -> Any:
        m = turning._a._m
        w = tuple([x + y * rate for x, y in zip(turning._b._v, m[axis::3], strict=True)])
        return ABOUT[axis].plain(m, s, c), w

    return turned


RotationVel._about = [
    Formula(f"RotationVel about {k}", _turned_about(k), (RotationVel, float, float, float), (9, 3))
    for k in range(3)
]
for _kind in (VectorVel, TwistVel):
    _kind._ratio = Formula(f"{_kind.__name__} /", _ratio, (_kind, doubleVel), _kind)
    _kind._products[doubleVel] = Formula(
        f"{_kind.__name__} * doubleVel", _by, (_kind, doubleVel), _kind
    )
VectorVel._products[VectorVel] = Formula("cross", _cross, (VectorVel, VectorVel), VectorVel)
Rotation._products[VectorVel] = Formula(
    "Rotation * VectorVel",
    lambda r, v: VectorVel._with(r * v._a, r * v._b),
    (Rotation, VectorVel),
    VectorVel,
)
RotationVel._give(
    _turned_back, {VectorVel: _rotated, TwistVel: _rotated_twist, RotationVel: _turned_on}
)
FrameVel._give(_moved_back, {VectorVel: _point, TwistVel: _moved_twist, FrameVel: _moved_frame})


# functions of all values: each asks its first argument, by methods that every value type has


def dot(a: Any, b: Any) -> Any:
    """The dot product of two Vectors; of a Twist and a Wrench, in either order, the power.

    Of a VectorVel and a VectorVel or Vector it is a doubleVel.

    Raises: WrongTypeError.
    """
    for one, other in ((a, b), (b, a)):
        product = one._dot(other) if hasattr(one, "_dot") else NotImplemented
        if product is not NotImplemented:
            return product
    raise wrong("dot", "two Vectors, a Twist and a Wrench, or a VectorVel and a Vector", a, b)


def Equal(
    a: Any = ABSENT,
    b: Any = ABSENT,
    eps: float = EPS,
    *,
    r1: Any = ABSENT,
    r2: Any = ABSENT,
    src1: Any = ABSENT,
    src2: Any = ABSENT,
) -> Any:
    """Whether all numbers of two values of one type differ by less than eps.

    A Vector equals a VectorVel without velocity, and so on. Batches give an array of answers.
    ``r1`` and ``r2`` are names of the two as well, and ``src1`` and ``src2``.

    Raises: WrongTypeError for values of different types.
    """
    if a is ABSENT and b is ABSENT:
        a, b = (r1, r2) if r1 is not ABSENT else (src1, src2)
    if a.__class__ is b.__class__ and hasattr(a, "_near"):
        return a._near(b, eps)
    for one, other in ((a, b), (b, a)):
        alike = one._as_own(other) if isinstance(one, Value) else None
        if alike is not None:
            return one._near(alike, eps)
    raise wrong("Equal", "two values of one type, as two Frames, and a number", a, b)


def diff(a: Any, b: Any, dt: float = 1.0) -> Any:
    """The motion from a to b in the time dt: of Vectors a Vector, of Rotations the turning Vector.

    Of Frames it is a Twist in their outer frame, with its reference point at a's origin; of Twists,
    Wrenches and the velocity types one of the same kind. A time of 0 gives what is infinite.

    Raises: WrongTypeError for values of different types.
    """
    if not isinstance(a, Value) or a._moves is None:
        raise wrong("diff", "two values of one type, as two Frames, and a number", a, b)
    other = a._as_own(b)
    if other is None:
        raise wrong(f"diff of a {kind_of(a)}", "two of them and a number", a, b)
    return a._difference(other, dt if dt.__class__ is float else number(dt, "a time"))


def addDelta(a: Any, da: Any, dt: float = 1.0) -> Any:
    """The value a after it has moved by da for the time dt, the inverse of `diff`.

    Of a Frame, da is a Twist in its outer frame, with its reference point at the frame's origin;
    of a Rotation it is a Vector in the outer frame.

    Raises: WrongTypeError for what does not go together.
    """
    if not isinstance(a, Value) or a._moves is None:
        raise wrong("addDelta", "a value, what it moves by, and a number", a, da)
    delta = a._moves._as_own(da)
    if delta is None:
        kind, moves = kind_of(a), a._moves.__name__
        raise wrong(f"addDelta of a {kind}", f"a {kind}, a {moves} and a number", a, da)
    return a._added(delta, dt if dt.__class__ is float else number(dt, "a time"))


def SetToZero(value: Any, *given: Any) -> None:
    """Set a Vector, Twist, Wrench, one with rates, or numbers of joints to zero, in place.

    With three arguments, a Jacobian, a Frame and a Jacobian, it is `changeRefFrame`, as the
    original has it.

    Raises: WrongTypeError.
    """
    if len(given) == 2:
        changeRefFrame(value, *given)
        return
    if given or not hasattr(value, "_clear"):
        takes = "a Vector, Twist, Wrench, VectorVel, TwistVel, JntArray, JntArrayVel or a matrix"
        raise wrong("SetToZero", takes, value, *given)
    value._clear()
