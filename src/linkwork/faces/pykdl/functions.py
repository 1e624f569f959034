"""The functions of the module: dot, Equal, diff, addDelta, SetToZero (rows S3-012, S3-015, S3-062).

Each asks its first argument, by the methods that every value type has for it: a new type is known
here once it has them.
"""
# The value types of this face read each other's slots: that is what makes them fast.
# pyright: reportPrivateUsage=false

from __future__ import annotations

from typing import Any

from linkwork.faces.pykdl.joint_arrays import changeRefFrame
from linkwork.faces.pykdl.values import ABSENT, EPS, Value, kind_of, number, wrong


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
