"""A frame that moves: FrameVel."""
# The value types of this face read each other's slots: that is what makes them fast.
# pyright: reportPrivateUsage=false

from __future__ import annotations

from operator import attrgetter
from typing import Any, ClassVar, overload

from linkwork.faces.pykdl import angles
from linkwork.faces.pykdl.frame import Frame, frame_of
from linkwork.faces.pykdl.pair import pair_of
from linkwork.faces.pykdl.rotation import rotation_of
from linkwork.faces.pykdl.rotation_vel import RotationVel, rotation_vel_of
from linkwork.faces.pykdl.scalars import ABSENT, two_arguments, wrong
from linkwork.faces.pykdl.swift import Swift
from linkwork.faces.pykdl.twist import Twist
from linkwork.faces.pykdl.twist_vel import TwistVel, twist_vel_of
from linkwork.faces.pykdl.values import batch_text, unfit
from linkwork.faces.pykdl.vector import Vector, vector_of
from linkwork.faces.pykdl.vector_vel import VectorVel, WithRate, vel_of

_new = object.__new__


def frame_vel_of(turn: RotationVel, place: VectorVel) -> FrameVel:
    """A moving frame, of parts that are nobody else's."""
    made: FrameVel = _new(FrameVel)
    made._turn, made._place = turn, place
    return made


class FrameVel(WithRate):
    """A frame with the velocity of its origin and its angular velocity, in the outer frame.

    ``M`` is a RotationVel, ``p`` a VectorVel: `FrameVel()`, `FrameVel(frame)`,
    `FrameVel(frame, twist)`, `FrameVel(M, p)`, `FrameVel(other)`. ``*`` moves a VectorVel, TwistVel
    or FrameVel, or the same without rates. ``M`` and ``p`` are live; setting them copies.

    Raises: WrongTypeError (a TypeError) for other arguments.
    """

    __slots__ = ("_place", "_turn")
    _held = (("_turn", RotationVel), ("_place", VectorVel))
    _turn: RotationVel
    _place: VectorVel
    takes: ClassVar[dict[str, str]] = {
        "*": "a VectorVel, TwistVel or FrameVel, or a Vector, Twist or Frame"
    }

    @overload
    def __init__(self) -> None: ...
    @overload
    def __init__(self, T: Frame | FrameVel) -> None: ...
    @overload
    def __init__(self, T: Frame, t: Twist) -> None: ...
    @overload
    def __init__(self, M: RotationVel, p: VectorVel) -> None: ...
    def __init__(self, *given: Any, **named: Any) -> None:
        if len(given) == 2 and given[0].__class__ is Frame and given[1].__class__ is Twist:
            if not named:
                self._turn, self._place = _MOVING.call(*given)
                return
        M, p = two_arguments("FrameVel", given, named, (("M", "T"), ("p", "t")))
        if M is ABSENT and p is ABSENT:
            self._turn, self._place = RotationVel(), VectorVel()
        elif isinstance(M, RotationVel) and isinstance(p, VectorVel):
            self._turn, self._place = RotationVel(M), VectorVel(p)
        elif isinstance(M, Frame) and (p is ABSENT or isinstance(p, Twist)):
            self._turn, self._place = _moving(M, Twist() if p is ABSENT else p)
        elif isinstance(M, FrameVel) and p is ABSENT:
            self._turn, self._place = RotationVel(M._turn), VectorVel(M._place)
        else:
            got = [x for x in (M, p) if x is not ABSENT]
            takes = "nothing, a Frame (T), a Frame and a Twist (T, t), a RotationVel and a "
            raise wrong("FrameVel", takes + "VectorVel (M, p), or a FrameVel", *got)

    def _set_M(self, value: RotationVel) -> None:
        if not isinstance(value, RotationVel):
            raise wrong("FrameVel.M", "a RotationVel", value)
        self._turn._put(value)

    def _set_p(self, value: VectorVel) -> None:
        if not isinstance(value, VectorVel):
            raise wrong("FrameVel.p", "a VectorVel", value)
        self._place._at._v, self._place._rate._v = value._at._v, value._rate._v

    M = property(attrgetter("_turn"), _set_M, doc="The rotation, live; setting it copies.")
    p = property(attrgetter("_place"), _set_p, doc="The origin, live; setting it copies.")

    def _numbers(self) -> tuple[Any, ...]:
        return (*self._turn._numbers(), *self._place._numbers())

    def _assign(self, these: tuple[Any, ...]) -> None:
        self._turn, self._place = _new(RotationVel), _new(VectorVel)
        self._turn._assign(these[:12])
        self._place._assign(these[12:])

    def _as_own(self, other: Any) -> Any:
        if isinstance(other, FrameVel):
            return other
        return FrameVel(other) if isinstance(other, Frame) else None

    @staticmethod
    def Identity() -> FrameVel:
        """The outer frame, at rest."""
        return FrameVel()

    def GetFrame(self) -> Frame:
        """The frame, a copy."""
        return frame_of(self._turn._turn._m, self._place._at._v)

    def GetTwist(self) -> Twist:
        """The velocity of its origin and its angular velocity, in the outer frame."""
        return pair_of(Twist, self._place._rate._v, self._turn._w._v)

    def value(self) -> Frame:
        """The frame, a copy."""
        return self.GetFrame()

    def deriv(self) -> Twist:
        """As `GetTwist`."""
        return self.GetTwist()

    @overload
    def __mul__(self, other: VectorVel | Vector) -> VectorVel: ...
    @overload
    def __mul__(self, other: TwistVel | Twist) -> TwistVel: ...
    @overload
    def __mul__(self, other: FrameVel | Frame) -> FrameVel: ...
    def __mul__(self, other: Any) -> Any:
        if isinstance(other, VectorVel):
            return _POINT.call(self, other)
        if isinstance(other, Vector):
            return self._turn * other + self._place
        if isinstance(other, (TwistVel, Twist)):
            turned = self._turn * other
            return twist_vel_of(turned._a + self._place * turned._b, turned._b)
        own = self._as_own(other)
        if own is None:
            return unfit(self, "*", other)
        return frame_vel_of(self._turn * own._turn, self._turn * own._place + self._place)

    def _moved(self, m: Any, p: Any) -> FrameVel:
        """In a frame that stands still in another."""
        place = vel_of(self._place._at._moved(m, p), self._place._rate._turned(m))
        return frame_vel_of(self._turn._turned(m), place)

    def Inverse(self, other: Any = ABSENT) -> Any:
        """The outer frame in this one; of a VectorVel, TwistVel, Vector or Twist: moved by it."""
        inverse = _INVERSE.call(self)
        if other is ABSENT:
            return inverse
        if isinstance(other, (VectorVel, Vector, TwistVel, Twist)):
            return inverse * other
        raise wrong("FrameVel.Inverse", "nothing, a VectorVel, TwistVel, Vector or Twist", other)

    # what the module's functions ask for

    def _added(self, delta: Any, dt: Any) -> FrameVel:
        if not isinstance(delta, TwistVel):
            takes = "a FrameVel, a TwistVel and a number"
            raise wrong("addDelta of a FrameVel", takes, self, delta)
        return frame_vel_of(self._turn._added(delta._b, dt), self._place._added(delta._a, dt))

    def _difference(self, other: Any, dt: Any) -> TwistVel:
        there = self._taken(other, "diff of a FrameVel", "two of them and a number")
        return twist_vel_of(
            self._place._difference(there._place, dt), self._turn._difference(there._turn, dt)
        )

    def __repr__(self) -> str:
        return batch_text(self) if self.shape else f"{{{self._turn!r},\n{self._place!r}}}"


def _moving(frame: Frame, twist: Twist) -> tuple[RotationVel, VectorVel]:
    turn = rotation_vel_of(rotation_of(frame._turn._m), vector_of(twist._b._v))
    return turn, vel_of(vector_of(frame._place._v), vector_of(twist._a._v))


def _point(frame: FrameVel, v: VectorVel) -> VectorVel:
    return frame._turn._carried(v) + frame._place


def _inverse(frame: FrameVel) -> FrameVel:
    moving, place = frame._turn, frame._place
    back = angles.transposed(moving._turn._m)
    slip = moving._w * place._at - place._rate  # back then: back (w x p - v)
    return frame_vel_of(
        rotation_vel_of(rotation_of(back), -moving._w._turned(back)),
        vel_of(-place._at._turned(back), slip._turned(back)),
    )


_MOVING = Swift(_moving, (Frame, Twist), (RotationVel, VectorVel))
_POINT = Swift(_point, (FrameVel, VectorVel), VectorVel)
_INVERSE = Swift(_inverse, (FrameVel,), FrameVel)
