"""Rows S3-070, S3-072, S3-074 to S3-077: a twist, the velocity of a rigid body."""
# The value types of this face read each other's slots: that is what makes them fast.
# pyright: reportPrivateUsage=false

from __future__ import annotations

from operator import attrgetter
from typing import Any, ClassVar, overload

from linkwork.faces.pykdl.angles import Nine, Three
from linkwork.faces.pykdl.pair import Pair, pair_of
from linkwork.faces.pykdl.scalars import ABSENT, columns_of, wrong
from linkwork.faces.pykdl.values import OnBoth
from linkwork.faces.pykdl.vector import Vector, three_of
from linkwork.faces.pykdl.wrench import Wrench

_new = object.__new__
_ZEROS = (0.0, 0.0, 0.0)


def _zero(here: Twist | type[Twist]) -> Twist:
    """A zero twist; called on a twist, it also sets that one to zero."""
    if isinstance(here, Twist):
        here._a._v = here._b._v = _ZEROS
    return pair_of(Twist, _ZEROS, _ZEROS)


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

    @overload
    def __init__(self) -> None: ...
    @overload
    def __init__(self, vel: Twist) -> None: ...
    @overload
    def __init__(self, vel: Vector, rot: Vector) -> None: ...
    def __init__(self, vel: Any = ABSENT, rot: Any = ABSENT) -> None:
        self._a = a = _new(Vector)
        self._b = b = _new(Vector)
        if isinstance(vel, Vector) and isinstance(rot, Vector):
            a._v, b._v = vel._v, rot._v
        elif vel is ABSENT and rot is ABSENT:
            a._v = b._v = _ZEROS
        elif isinstance(vel, Twist) and rot is ABSENT:
            a._v, b._v = vel._a._v, vel._b._v
        else:
            given = [x for x in (vel, rot) if x is not ABSENT]
            raise wrong("Twist", "nothing, two Vectors or a Twist", *given)

    vel = property(attrgetter("_a"), Pair._set_a, doc="The velocity, live; setting it copies.")
    rot = property(
        attrgetter("_b"), Pair._set_b, doc="The angular velocity, live; setting it copies."
    )
    Zero = OnBoth(_zero)

    @classmethod
    def FromArray(cls, array: Any) -> Twist:
        """A twist of an array (6,), vel first; a batch of (..., 6), which looks into the array.

        Raises: ShapeError, InputError.
        """
        six: Any = columns_of(array, "a twist", (6,))
        return pair_of(Twist, six[:3], six[3:])

    def RefPoint(self, base: Vector) -> Twist:
        """The same motion, seen at the point that ``base`` leads to: (vel + rot x base, rot)."""
        x, y, z = three_of(base, "Twist.RefPoint", "a Vector from the old point to the new one")
        (a, b, c), (d, e, f) = self._a._v, self._b._v
        return pair_of(Twist, (a + e * z - f * y, b + f * x - d * z, c + d * y - e * x), (d, e, f))

    def _moved(self, m: Nine, p: Three) -> Twist:
        """From one frame to another: rotated, and its reference point moved to the new origin."""
        a, b, c, d, e, f, g, h, i = m
        (u, v, w), (x, y, z) = self._a._v, self._b._v
        p0, p1, p2 = p
        r0, r1, r2 = a * x + b * y + c * z, d * x + e * y + f * z, g * x + h * y + i * z
        moved = (
            a * u + b * v + c * w + p1 * r2 - p2 * r1,
            d * u + e * v + f * w + p2 * r0 - p0 * r2,
            g * u + h * v + i * w + p0 * r1 - p1 * r0,
        )
        return pair_of(Twist, moved, (r0, r1, r2))

    def _dot(self, other: Any) -> Any:
        """The power of a wrench, a number."""
        if not isinstance(other, Wrench):
            return NotImplemented
        (a, b, c), (d, e, f) = self._a._v, self._b._v
        (u, v, w), (x, y, z) = other._a._v, other._b._v
        return a * u + b * v + c * w + d * x + e * y + f * z


Twist._kind = Twist
