"""A rotation with an angular velocity: RotationVel."""
# The value types of this face read each other's slots: that is what makes them fast.
# pyright: reportPrivateUsage=false

from __future__ import annotations

from operator import attrgetter
from typing import Any, ClassVar, overload

from linkwork.faces.pykdl import angles
from linkwork.faces.pykdl.rotation import Rotation, nine_of, one_shape, rotation_of
from linkwork.faces.pykdl.scalars import ABSENT, sine_and_cosine, wrong
from linkwork.faces.pykdl.swift import Swift
from linkwork.faces.pykdl.twist import Twist
from linkwork.faces.pykdl.twist_vel import TwistVel, twist_vel_of
from linkwork.faces.pykdl.values import batch_text, unfit
from linkwork.faces.pykdl.vector import Vector, three_of, vector_of
from linkwork.faces.pykdl.vector_vel import VectorVel, WithRate, doubleVel, vel_of

_new = object.__new__
_ZEROS = (0.0, 0.0, 0.0)


def rotation_vel_of(turn: Rotation, w: Vector) -> RotationVel:
    """A rotation with its angular velocity, of parts that are nobody else's."""
    made: RotationVel = _new(RotationVel)
    made._turn, made._w = turn, w
    return made


def _two(angle: Any, call: str) -> tuple[Any, Any]:
    if not isinstance(angle, doubleVel):
        raise wrong(call, "a doubleVel: doubleVel(angle, rate)", angle)
    return angle._t


class RotationVel(WithRate):
    """A rotation ``R`` and its angular velocity ``w``, in the outer frame.

    `RotationVel()`, `RotationVel(R)`, `RotationVel(R, w)`, `RotationVel(other)`. ``*`` rotates a
    VectorVel, TwistVel or RotationVel, or the same without rates. ``R`` and ``w`` are live; setting
    them copies.

    Raises: WrongTypeError (a TypeError) for other arguments.
    """

    __slots__ = ("_turn", "_w")
    _held = (("_turn", Rotation), ("_w", Vector))
    _turn: Rotation
    _w: Vector
    takes: ClassVar[dict[str, str]] = {
        "*": "a VectorVel, TwistVel or RotationVel, or a Vector, Twist or Rotation"
    }

    @overload
    def __init__(self) -> None: ...
    @overload
    def __init__(self, R: Rotation | RotationVel) -> None: ...
    @overload
    def __init__(self, R: Rotation, w: Vector) -> None: ...
    def __init__(self, R: Any = ABSENT, w: Any = ABSENT) -> None:
        self._turn, self._w = rotation_of(angles.IDENTITY), vector_of(_ZEROS)
        if isinstance(R, Rotation) and (w is ABSENT or isinstance(w, Vector)):
            self._turn._m = R._m
            self._w._v = _ZEROS if w is ABSENT else w._v
        elif isinstance(R, RotationVel) and w is ABSENT:
            self._turn._m, self._w._v = R._turn._m, R._w._v
        elif R is not ABSENT or w is not ABSENT:
            given = [x for x in (R, w) if x is not ABSENT]
            takes = "nothing, a Rotation, a Rotation and a Vector, or a RotationVel"
            raise wrong("RotationVel", takes, *given)

    def _set_R(self, value: Rotation) -> None:
        self._turn._m = nine_of(value, "RotationVel.R")

    def _set_w(self, value: Vector) -> None:
        self._w._v = three_of(value, "RotationVel.w")

    R = property(attrgetter("_turn"), _set_R, doc="The rotation, live; setting it copies.")
    w = property(attrgetter("_w"), _set_w, doc="The angular velocity, live; setting it copies.")

    def _numbers(self) -> tuple[Any, ...]:
        return (*self._turn._m, *self._w._v)

    def _assign(self, these: tuple[Any, ...]) -> None:
        self._turn, self._w = _new(Rotation), _new(Vector)
        self._turn._assign(these[:9])
        self._w._assign(these[9:])

    def _as_own(self, other: Any) -> Any:
        if isinstance(other, RotationVel):
            return other
        return RotationVel(other) if isinstance(other, Rotation) else None

    # making them

    @staticmethod
    def Identity() -> RotationVel:
        """No rotation, at rest."""
        return RotationVel()

    @staticmethod
    def RotX(angle: doubleVel) -> RotationVel:
        """A turn about x, and how fast."""
        t, grad = _two(angle, "RotationVel.RotX")
        return rotation_vel_of(Rotation.RotX(t), Vector(1.0, 0.0, 0.0) * grad)

    @staticmethod
    def RotY(angle: doubleVel) -> RotationVel:
        """A turn about y, and how fast."""
        t, grad = _two(angle, "RotationVel.RotY")
        return rotation_vel_of(Rotation.RotY(t), Vector(0.0, 1.0, 0.0) * grad)

    @staticmethod
    def RotZ(angle: doubleVel) -> RotationVel:
        """A turn about z, and how fast."""
        t, grad = _two(angle, "RotationVel.RotZ")
        return rotation_vel_of(Rotation.RotZ(t), Vector(0.0, 0.0, 1.0) * grad)

    @staticmethod
    def Rot(axis: Vector, angle: doubleVel) -> RotationVel:
        """A turn about an axis of any length that does not move, and how fast."""
        unit = vector_of(three_of(axis, "RotationVel.Rot", "a Vector and a doubleVel"))
        t, grad = _two(angle, "RotationVel.Rot")
        turn = Rotation.Rot(unit, t)
        unit.Normalize()
        return rotation_vel_of(turn, unit * grad)

    @staticmethod
    def Rot2(axis: Vector, angle: doubleVel) -> RotationVel:
        """As `Rot`, for an axis whose length is 1 already, which is not checked."""
        t, grad = _two(angle, "RotationVel.Rot2")
        return rotation_vel_of(Rotation.Rot2(axis, t), axis * grad)

    # parts

    def value(self) -> Rotation:
        """The rotation, a copy."""
        return rotation_of(self._turn._m)

    def deriv(self) -> Vector:
        """The angular velocity, a copy."""
        return vector_of(self._w._v)

    def UnitX(self) -> VectorVel:
        """The turned x axis, and its rate of change."""
        return self * Vector(1.0, 0.0, 0.0)

    def UnitY(self) -> VectorVel:
        """The turned y axis, and its rate of change."""
        return self * Vector(0.0, 1.0, 0.0)

    def UnitZ(self) -> VectorVel:
        """The turned z axis, and its rate of change."""
        return self * Vector(0.0, 0.0, 1.0)

    # operators and what works in place

    @overload
    def __mul__(self, other: VectorVel | Vector) -> VectorVel: ...
    @overload
    def __mul__(self, other: TwistVel | Twist) -> TwistVel: ...
    @overload
    def __mul__(self, other: RotationVel | Rotation) -> RotationVel: ...
    def __mul__(self, other: Any) -> Any:
        if isinstance(other, VectorVel):
            return _TURNED.call(self, other)
        if isinstance(other, Vector):
            there = other._turned(self._turn._m)
            return vel_of(there, self._w * there)
        if isinstance(other, TwistVel):
            return twist_vel_of(self._carried(other._a), self._carried(other._b))
        if isinstance(other, Twist):
            return twist_vel_of(self * other._a, self * other._b)
        own = self._as_own(other)
        if own is None:
            return unfit(self, "*", other)
        return rotation_vel_of(self._turn * own._turn, self._w + self._turn * own._w)

    def _carried(self, v: VectorVel) -> VectorVel:
        """A vector of the turning frame in the outer one: R p, and R v + w x R p."""
        a, b, c, d, e, f, g, h, i = self._turn._m
        (x, y, z), (r, s, t), (p, q, o) = v._at._v, v._rate._v, self._w._v
        x, y, z = a * x + b * y + c * z, d * x + e * y + f * z, g * x + h * y + i * z
        made: VectorVel = _new(VectorVel)
        made._at = there = _new(Vector)
        there._v = (x, y, z)
        made._rate = rate = _new(Vector)
        rate._v = (
            a * r + b * s + c * t + q * z - o * y,
            d * r + e * s + f * t + o * x - p * z,
            g * r + h * s + i * t + p * y - q * x,
        )
        return made

    def _turned(self, m: Any) -> RotationVel:
        """After a rotation that does not change."""
        return rotation_vel_of(self._turn._turned(m), self._w._turned(m))

    def Inverse(self, other: Any = ABSENT) -> Any:
        """The inverse; of a VectorVel, TwistVel, Vector or Twist: rotated by it."""
        if isinstance(other, VectorVel):
            return _BACK.call(self, other)
        inverse = _INVERSE.call(self)
        if other is ABSENT:
            return inverse
        if isinstance(other, (Vector, TwistVel, Twist)):
            return inverse * other
        raise wrong("RotationVel.Inverse", "nothing, a VectorVel, TwistVel, Vector or Twist", other)

    def DoRotX(self, angle: doubleVel) -> None:
        """Turn, in place, about its own x axis."""
        if angle.__class__ is doubleVel:
            t, grad = angle._t
        else:
            t, grad = _two(angle, "RotationVel.DoRotX")
        s, c = sine_and_cosine(t)
        after, self._w._v = _ABOUT_X.call(self, s, c, grad)
        self._turn._m = after if c.__class__ is float else one_shape(after, c)

    def DoRotY(self, angle: doubleVel) -> None:
        """Turn, in place, about its own y axis."""
        if angle.__class__ is doubleVel:
            t, grad = angle._t
        else:
            t, grad = _two(angle, "RotationVel.DoRotY")
        s, c = sine_and_cosine(t)
        after, self._w._v = _ABOUT_Y.call(self, s, c, grad)
        self._turn._m = after if c.__class__ is float else one_shape(after, c)

    def DoRotZ(self, angle: doubleVel) -> None:
        """Turn, in place, about its own z axis."""
        if angle.__class__ is doubleVel:
            t, grad = angle._t
        else:
            t, grad = _two(angle, "RotationVel.DoRotZ")
        s, c = sine_and_cosine(t)
        after, self._w._v = _ABOUT_Z.call(self, s, c, grad)
        self._turn._m = after if c.__class__ is float else one_shape(after, c)

    def _put(self, other: RotationVel) -> None:
        self._turn._m, self._w._v = other._turn._m, other._w._v

    # what the module's functions ask for

    def _added(self, delta: Any, dt: Any) -> RotationVel:
        if not isinstance(delta, VectorVel):
            takes = "a RotationVel, a VectorVel and a number"
            raise wrong("addDelta of a RotationVel", takes, self, delta)
        return rotation_vel_of(self._turn._added(delta._at, dt), self._w._added(delta._rate, dt))

    def _difference(self, other: Any, dt: Any) -> VectorVel:
        there = self._taken(other, "diff of a RotationVel", "two of them and a number")
        return vel_of(self._turn._difference(there._turn, dt), self._w._difference(there._w, dt))

    def __repr__(self) -> str:
        return batch_text(self) if self.shape else f"{{{self._turn!r},\n{self._w!r}}}"


def _back(turning: RotationVel, v: VectorVel) -> VectorVel:
    back = angles.transposed(turning._turn._m)
    rate = v._rate - turning._w * v._at
    return vel_of(v._at._turned(back), rate._turned(back))


def _inverse(turning: RotationVel) -> RotationVel:
    back = angles.transposed(turning._turn._m)
    return rotation_vel_of(rotation_of(back), -turning._w._turned(back))


def _about_x(turning: RotationVel, s: Any, k: Any, grad: Any) -> Any:
    return _about(angles.turned_about_x(turning._turn._m, s, k), turning, 0, grad)


def _about_y(turning: RotationVel, s: Any, k: Any, grad: Any) -> Any:
    return _about(angles.turned_about_y(turning._turn._m, s, k), turning, 1, grad)


def _about_z(turning: RotationVel, s: Any, k: Any, grad: Any) -> Any:
    return _about(angles.turned_about_z(turning._turn._m, s, k), turning, 2, grad)


def _about(after: Any, turning: RotationVel, axis: int, grad: Any) -> Any:
    """What it turns to, and the angular velocity with that about a column of what it was."""
    unit = turning._turn._m[axis::3]
    return after, tuple([x + y * grad for x, y in zip(turning._w._v, unit, strict=True)])


_TURNED = Swift(RotationVel._carried, (RotationVel, VectorVel), VectorVel)
_BACK = Swift(_back, (RotationVel, VectorVel), VectorVel)
_INVERSE = Swift(_inverse, (RotationVel,), RotationVel)
_ABOUT_X, _ABOUT_Y, _ABOUT_Z = [
    Swift(about, (RotationVel, float, float, float), (9, 3))
    for about in (_about_x, _about_y, _about_z)
]
