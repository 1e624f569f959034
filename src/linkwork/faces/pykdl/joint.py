"""Row S3-111: a joint, which moves what follows it about or along one axis."""

from __future__ import annotations

from enum import IntEnum
from math import isfinite
from struct import pack
from typing import Any

from linkwork.errors import InputError
from linkwork.faces.pykdl.frame import Frame
from linkwork.faces.pykdl.rotation import Rotation
from linkwork.faces.pykdl.scalars import ABSENT, WrongTypeError, number, wrong
from linkwork.faces.pykdl.twist import Twist
from linkwork.faces.pykdl.vector import Vector

_TAKES = (
    "a name (or none), then a type about the frame's own axes, as Joint.RotZ, or an origin, an "
    "axis and Joint.RotAxis or Joint.TransAxis; then scale, offset, inertia, damping, stiffness"
)
_NUMBERS = ("scale", "offset", "inertia", "damping", "stiffness")
_DEFAULTS = (1.0, 0.0, 0.0, 0.0, 0.0)


class JointType(IntEnum):
    """What a joint does; also attributes of `Joint`."""

    RotAxis = 0
    RotX = 1
    RotY = 2
    RotZ = 3
    TransAxis = 4
    TransX = 5
    TransY = 6
    TransZ = 7
    Fixed = 8

    def __str__(self) -> str:
        return f"JointType.{self.name}"


class JointTypeError(WrongTypeError, RuntimeError):
    """An axis where the type has its own, or none where it needs one."""


_AXIS = {
    JointType.RotX: (1.0, 0.0, 0.0),
    JointType.RotY: (0.0, 1.0, 0.0),
    JointType.RotZ: (0.0, 0.0, 1.0),
    JointType.TransX: (1.0, 0.0, 0.0),
    JointType.TransY: (0.0, 1.0, 0.0),
    JointType.TransZ: (0.0, 0.0, 1.0),
    JointType.Fixed: (0.0, 0.0, 0.0),
}
_WITH_AXIS = (JointType.RotAxis, JointType.TransAxis)
_TURNS = (JointType.RotAxis, JointType.RotX, JointType.RotY, JointType.RotZ)


class Joint:
    """A joint: `Joint()` is fixed, and there are these, each with a name in front or without.

    `Joint(Joint.RotZ)` turns about the z axis of the frame that it stands in, `Joint(Joint.TransX)`
    slides along x. `Joint(origin, axis, Joint.RotAxis)` turns about an axis of any length through
    ``origin``, `Joint.TransAxis` slides along it. `Joint(other)` is a copy. A joint never changes.

    ``scale`` is radians or metres for each unit of the position, ``offset`` (rad, m) is added in
    `pose` (a `Segment` takes it out again), ``inertia`` (kg m², kg) is a rotor's, which counts in
    dynamics; ``damping`` and ``stiffness`` are kept and count nowhere, as in the original.

    Raises: JointTypeError (a TypeError and a RuntimeError) for a type that does not fit;
    InputError for an axis without a direction; WrongTypeError (a TypeError).
    """

    __slots__ = ("_axis", "_name", "_numbers", "_origin", "_type")

    JointType = JointType
    RotAxis = JointType.RotAxis
    RotX = JointType.RotX
    RotY = JointType.RotY
    RotZ = JointType.RotZ
    TransAxis = JointType.TransAxis
    TransX = JointType.TransX
    TransY = JointType.TransY
    TransZ = JointType.TransZ
    Fixed = JointType.Fixed

    def __init__(self, *given: Any, **named: Any) -> None:
        if len(given) == 1 and isinstance(given[0], Joint) and not named:
            self.__setstate__(given[0].__getstate__())
            return
        rest = list(given)
        self._name = _name(rest, named)
        origin, axis = _line(rest, named)
        kind = rest.pop(0) if rest else named.pop("type", JointType.Fixed)
        if not isinstance(kind, JointType) or len(rest) > len(_NUMBERS):
            raise wrong("Joint", _TAKES, *given, *named.values())
        self._type = kind
        numbers = list(_DEFAULTS)
        for k, key in enumerate(_NUMBERS):
            if k < len(rest):
                numbers[k] = number(rest[k], key)
            elif key in named:
                numbers[k] = number(named.pop(key), key)
        if named:
            raise wrong("Joint", _TAKES, *given, *named.values())
        if any(value.__class__ is not float for value in numbers):
            raise wrong("Joint", _TAKES, *given, *named.values())
        self._numbers = tuple(numbers)
        self._origin, self._axis = _placed(kind, origin, axis)

    def getName(self) -> str:
        """The name; "NoName" where none was given."""
        return self._name

    def getType(self) -> JointType:
        """The type."""
        return self._type

    def getTypeName(self) -> str:
        """The name of the type, as "RotAxis"."""
        return self._type.name

    def JointAxis(self) -> Vector:
        """The axis, of length 1; zero for a fixed joint."""
        return Vector(*self._axis)

    def JointOrigin(self) -> Vector:
        """A point on the axis."""
        return Vector(*self._origin)

    def pose(self, q: float) -> Frame:
        """The frame behind the joint, in the frame before it, at a position."""
        angle = self._numbers[0] * number(q, "a position") + self._numbers[1]
        axis, origin = Vector(*self._axis), Vector(*self._origin)
        if self.turns:
            return Frame(Rotation.Rot(axis, angle), origin)
        return Frame(origin + axis * angle)

    def twist(self, qdot: float) -> Twist:
        """The twist of the frame behind the joint, at its origin, at a velocity."""
        velocity = Vector(*self._axis) * (self._numbers[0] * number(qdot, "a velocity"))
        return Twist(Vector(), velocity) if self.turns else Twist(velocity, Vector())

    @property
    def turns(self) -> bool:
        """Whether it is a rotation."""
        return self._type in _TURNS

    @property
    def scale(self) -> float:
        """Radians or metres for each unit of the position."""
        return self._numbers[0]

    @property
    def inertia(self) -> float:
        """The inertia of its rotor, kg m² or kg for a unit of acceleration."""
        return self._numbers[2]

    def _bytes(self) -> bytes:
        """Its type and all its numbers, without the name."""
        return pack("b11d", self._type, *self._origin, *self._axis, *self._numbers)

    def reversed(self, tip: Frame) -> Joint:
        """The same joint seen from the other side, in the frame of the tip behind it."""
        if self._type is JointType.Fixed:
            return Joint(self._name)
        back = tip.Inverse()
        kind = JointType.RotAxis if self.turns else JointType.TransAxis
        axis = -(back.M * Vector(*self._axis))
        scale, _, *others = self._numbers
        return Joint(self._name, back * Vector(*self._origin), axis, kind, scale, 0.0, *others)

    def __getstate__(self) -> Any:
        return self._name, self._type, self._origin, self._axis, self._numbers

    def __setstate__(self, state: Any) -> None:
        self._name, self._type, self._origin, self._axis, self._numbers = state

    def __repr__(self) -> str:
        axis, origin = Vector(*self._axis), Vector(*self._origin)
        return f"{self._name}:[{self._type.name}, axis: {axis!r}, origin{origin!r}]"


def _name(rest: list[Any], named: dict[str, Any]) -> str:
    """Take the name, which may stand in front."""
    name = rest.pop(0) if rest and isinstance(rest[0], str) else named.pop("name", "NoName")
    if not isinstance(name, str):
        raise wrong("Joint", _TAKES, name)
    return name


def _line(rest: list[Any], named: dict[str, Any]) -> tuple[Any, Any]:
    """Take origin and axis, where they are there."""
    if rest and isinstance(rest[0], Vector):
        origin = rest.pop(0)
    else:
        origin = named.pop("origin", ABSENT)
    if origin is ABSENT and "axis" not in named:
        return ABSENT, ABSENT
    axis = rest.pop(0) if rest and isinstance(rest[0], Vector) else named.pop("axis", ABSENT)
    if not isinstance(origin, Vector) or not isinstance(axis, Vector):
        raise wrong("Joint", _TAKES, origin, axis)
    return origin, axis


def _placed(kind: JointType, origin: Any, axis: Any) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """The point on the axis, and its direction.

    Raises: JointTypeError; InputError.
    """
    if kind not in _WITH_AXIS:
        if axis is not ABSENT:
            text = f"Joint.{kind.name} has its own axis: give none, or Joint.RotAxis or TransAxis"
            raise JointTypeError(text)
        return (0.0, 0.0, 0.0), _AXIS[kind]
    if axis is ABSENT:
        text = f"Joint.{kind.name} takes an origin and an axis: Joint(Vector(...), Vector(...), "
        raise JointTypeError(f"{text}Joint.{kind.name})")
    point: tuple[Any, ...] = tuple(origin.ToArray().tolist())
    direction = Vector(axis)
    length = float(direction.Norm())
    if not (isfinite(length) and length > 0.0 and all(isfinite(x) for x in point)):
        raise InputError(f"a joint's axis is a finite Vector that is not zero, not {axis!r}")
    return point, tuple((direction / length).ToArray().tolist())
