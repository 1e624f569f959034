"""Rows S3-071, S3-073 to S3-077: a wrench, a force and a torque."""
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

_new = object.__new__
_ZEROS = (0.0, 0.0, 0.0)


def _zero(here: Wrench | type[Wrench]) -> Wrench:
    """A zero wrench; called on a wrench, it also sets that one to zero."""
    if isinstance(here, Wrench):
        here._a._v = here._b._v = _ZEROS
    return pair_of(Wrench, _ZEROS, _ZEROS)


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

    @overload
    def __init__(self) -> None: ...
    @overload
    def __init__(self, force: Wrench) -> None: ...
    @overload
    def __init__(self, force: Vector, torque: Vector) -> None: ...
    def __init__(self, force: Any = ABSENT, torque: Any = ABSENT) -> None:
        self._a = a = _new(Vector)
        self._b = b = _new(Vector)
        if isinstance(force, Vector) and isinstance(torque, Vector):
            a._v, b._v = force._v, torque._v
        elif force is ABSENT and torque is ABSENT:
            a._v = b._v = _ZEROS
        elif isinstance(force, Wrench) and torque is ABSENT:
            a._v, b._v = force._a._v, force._b._v
        else:
            given = [x for x in (force, torque) if x is not ABSENT]
            raise wrong("Wrench", "nothing, two Vectors or a Wrench", *given)

    force = property(attrgetter("_a"), Pair._set_a, doc="The force, live; setting it copies.")
    torque = property(attrgetter("_b"), Pair._set_b, doc="The torque, live; setting it copies.")
    Zero = OnBoth(_zero)

    @classmethod
    def FromArray(cls, array: Any) -> Wrench:
        """A wrench of an array (6,), force first; a batch of (..., 6), which looks into the array.

        Raises: ShapeError, InputError.
        """
        six: Any = columns_of(array, "a wrench", (6,))
        return pair_of(Wrench, six[:3], six[3:])

    def RefPoint(self, base: Vector) -> Wrench:
        """The same, about the point that ``base`` leads to: (force, torque + force x base)."""
        x, y, z = three_of(base, "Wrench.RefPoint", "a Vector from the old point to the new one")
        (a, b, c), (d, e, f) = self._a._v, self._b._v
        return pair_of(Wrench, (a, b, c), (d + b * z - c * y, e + c * x - a * z, f + a * y - b * x))

    def _moved(self, m: Nine, p: Three) -> Wrench:
        """From one frame to another: rotated, and its reference point moved to the new origin."""
        a, b, c, d, e, f, g, h, i = m
        (u, v, w), (x, y, z) = self._a._v, self._b._v
        p0, p1, p2 = p
        f0, f1, f2 = a * u + b * v + c * w, d * u + e * v + f * w, g * u + h * v + i * w
        torque = (
            a * x + b * y + c * z + p1 * f2 - p2 * f1,
            d * x + e * y + f * z + p2 * f0 - p0 * f2,
            g * x + h * y + i * z + p0 * f1 - p1 * f0,
        )
        return pair_of(Wrench, (f0, f1, f2), torque)


Wrench._kind = Wrench
