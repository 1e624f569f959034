"""Rows S3-050 to S3-064: a frame, a rotation and the position of an origin."""
# The value types of this face read each other's slots: that is what makes them fast.
# pyright: reportPrivateUsage=false

from __future__ import annotations

from math import cos, inf, sin, sqrt
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar, overload

import numpy as np

from linkwork.checks import real_array
from linkwork.errors import InputError
from linkwork.faces.pykdl.formulas import Formula
from linkwork.faces.pykdl.rotation import (
    Rotation,
    product,
    rodrigues,
    rotation_of,
    transposed,
)
from linkwork.faces.pykdl.values import (
    EPS,
    Floats,
    Moving,
    Nine,
    Pair,
    Three,
    Value,
    columns_of,
    live,
    number,
    numbers,
    of_one_kind,
    pair_index,
    quotients,
    replaced,
    shown,
    sine_and_cosine,
    wrong,
)
from linkwork.faces.pykdl.vectors import (
    Twist,
    Vector,
    Wrench,
    added,
    cross,
    length_of,
    six_of,
    turned,
    unit_of,
    vector_of,
)

_new = object.__new__
_T = TypeVar("_T", bound=Value)


def frame_of(m: Any, p: Any) -> Frame:
    """A frame of the numbers of its rotation, row by row, and of its origin."""
    made: Frame = _new(Frame)
    made._a, made._b = rotation_of(m), vector_of(p)
    return made


class Frame(Pair, Moving):
    """The pose of a frame in another: its rotation ``M`` and its origin ``p``.

    `Frame()` is the outer one, and there are `Frame(rotation, vector)`, `Frame(vector)`,
    `Frame(rotation)` and `Frame(other)`. ``frame * x`` is x, given in the frame, as the outer frame
    has it: of a Vector, which is a point, of a Twist or Wrench, whose reference point moves too, or
    of another Frame. Given batches, or by `FromArray` with more axes, it is a batch.

    ``M`` and ``p`` are live: what changes in them changes the frame, and setting them copies.

    Raises: WrongTypeError (a TypeError) for other arguments.
    """

    __slots__ = ()
    array_shape = (4, 4)
    _held = (("_a", Rotation), ("_b", Vector))
    _names, _said = (("R",), ("V",)), "nothing, a Rotation and a Vector, one of them, or a Frame"
    _alone, _moves = (0, 1), Twist
    takes: ClassVar[dict[str, str]] = {"*": "a Vector (a point), a Twist, a Wrench or a Frame"}
    M = live("_a", Rotation, "Frame.M", "The rotation")
    p = live("_b", Vector, "Frame.p", "The origin")

    if TYPE_CHECKING:

        @overload
        def __init__(self) -> None: ...
        @overload
        def __init__(self, R: Rotation | Vector | Frame) -> None: ...
        @overload
        def __init__(self, R: Rotation, V: Vector) -> None: ...
        def __init__(self, R: Any = ..., V: Any = ...) -> None: ...
        def __mul__(self, other: _T) -> _T: ...

    # making frames

    @staticmethod
    def Identity() -> Frame:
        """The outer frame itself."""
        return _OUTER.__copy__()

    @staticmethod
    def DH(a: float, alpha: float, d: float, theta: float) -> Frame:
        """Denavit and Hartenberg's own parameters: Rz(theta) Tz(d) Tx(a) Rx(alpha).

        Source: Denavit and Hartenberg, A kinematic notation for lower-pair mechanisms based on
        matrices, ASME Journal of Applied Mechanics 22, 1955.
        """
        return _of_dh(_DH, a, alpha, d, theta)

    HD = DH

    @staticmethod
    def DH_Craig1989(a: float, alpha: float, d: float, theta: float) -> Frame:
        """Craig's parameters, from link i - 1 to link i: Rx(alpha) Tx(a) Rz(theta) Tz(d).

        Source: Craig, Introduction to Robotics: Mechanics and Control, chapter 3.
        """
        return _of_dh(_CRAIG, a, alpha, d, theta)

    @classmethod
    def FromArray(cls, array: Any) -> Frame:
        """A frame of a pose (4, 4); a batch of poses (..., 4, 4), which looks into the array.

        Raises: ShapeError; InputError where the last row is not 0 0 0 1.
        """
        given = columns_of(array, "a pose", (4, 4))
        poses = real_array(array, "a pose")
        if not np.allclose(poses[..., 3, :], (0.0, 0.0, 0.0, 1.0), rtol=0.0, atol=1e-9):
            raise InputError("the last row of a pose is 0 0 0 1")
        turn = Rotation._of((*given[0:3], *given[4:7], *given[8:11]))
        return Frame._with(turn, vector_of((given[3], given[7], given[11])))

    def ToArray(self) -> Floats:
        """A new pose (4, 4), or poses (..., 4, 4) of a batch."""
        m, p = self._a._m, self._b._v
        if m[0].__class__ is p[0].__class__ is float:
            rows = (*m[:3], p[0], *m[3:6], p[1], *m[6:], p[2], 0.0, 0.0, 0.0, 1.0)
            return np.array(rows).reshape(4, 4)
        pose = np.zeros((*self.shape, 4, 4))
        pose[..., :3, :3], pose[..., :3, 3] = self._a.ToArray(), self._b.ToArray()
        pose[..., 3, 3] = 1.0
        return pose

    # elements

    def __getitem__(self, ij: tuple[int, int]) -> float:
        i, j = pair_index(ij, 3, 4, "Frame")
        return self._b._v[i] if j == 3 else self._a._m[3 * i + j]

    def __setitem__(self, ij: tuple[int, int], value: float) -> None:
        i, j = pair_index(ij, 3, 4, "Frame")
        if j == 3:
            self._b._v = replaced(self._b._v, i, value, "an element of a Frame")
        else:
            self._a._m = replaced(self._a._m, 3 * i + j, value, "an element of a Frame")

    __iter__ = None  # elements have two indices

    # methods

    def Integrate(self, twist: Twist, frequency: float) -> None:
        """Move on, in place, for 1 / frequency by a twist in this frame's own axes.

        First order: the position moves along the old axes. Turns of less than 1e-6, and all with a
        negative frequency, are left out.
        """
        if not isinstance(twist, Twist):
            raise wrong("Frame.Integrate", "a Twist and a number", twist)
        rate = frequency if frequency.__class__ is float else number(frequency, "a frequency")
        w = twist._b._v
        x, y, z = w
        if x.__class__ is rate.__class__ is float:
            length = sqrt(x * x + y * y + z * z)
            if rate > 0.0 and EPS < length < inf and length > EPS * rate:
                angle = length / rate
                step = _STEP.call(self, twist, rate, length, sin(angle), cos(angle))
                self._a._m, self._b._v = step
                return
        m, (axis, _) = self._a._m, unit_of(w, EPS)
        with np.errstate(divide="ignore", invalid="ignore"):
            (angle,) = quotients((length_of(w),), rate)
            angle = np.where(angle < EPS, 0.0, angle)[()]
            self._b._v = added(self._b._v, turned(m, quotients(twist._a._v, rate)))
        self._a._m = of_one_kind(product(m, rodrigues(axis, *sine_and_cosine(angle))))

    @staticmethod
    def AddDelta(f: Frame, t: Twist, d: float = 1.0) -> Frame:
        """The frame after moving for the time d by a twist in f's outer frame, at f's origin.

        The rotation is exact for small turns too: `AddDelta(f1, diff(f1, f2, d), d)` is f2.
        """
        if not isinstance(f, Frame) or not isinstance(t, Twist):
            raise wrong("Frame.AddDelta", "a Frame, a Twist and a number", f, t)
        return f._added(t, d)

    def _added(self, delta: Any, dt: Any) -> Frame:
        return Frame._with(self._a._added(delta._b, dt), self._b._added(delta._a, dt))

    @staticmethod
    def diff(f1: Frame, f2: Frame, d: float = 1.0) -> Twist:
        """The twist that moves f1 to f2 in the time d, in their outer frame, at f1's origin."""
        if not isinstance(f1, Frame) or not isinstance(f2, Frame):
            raise wrong("Frame.diff", "two Frames and a number", f1, f2)
        return f1._difference(f2, d)

    def _difference(self, other: Any, dt: Any) -> Twist:
        return Twist._with(self._b._difference(other._b, dt), self._a._difference(other._a, dt))

    def _text(self) -> str:
        return f"[{shown(self._a._m, 3)}\n{shown(self._b._v)}]"


def _of_dh(formula: Formula, a: Any, alpha: Any, d: Any, theta: Any) -> Frame:
    if a.__class__ is alpha.__class__ is d.__class__ is theta.__class__ is float:
        if -inf < alpha < inf and -inf < theta < inf:
            return formula.call(a, d, sin(alpha), cos(alpha), sin(theta), cos(theta))
    a, alpha, d, theta = numbers((a, alpha, d, theta), "a parameter of Denavit and Hartenberg")
    return formula.call(a, d, *sine_and_cosine(alpha), *sine_and_cosine(theta))


def _step(frame: Frame, twist: Twist, rate: Any, length: Any, s: Any, c: Any) -> tuple[Nine, Three]:
    """The frame after a step whose angle has this sine and cosine; see `Integrate`."""
    m, (u, v, w), (x, y, z) = frame._a._m, twist._a._v, twist._b._v
    turn = rodrigues((x / length, y / length, z / length), s, c)
    return product(m, turn), added(frame._b._v, turned(m, (u / rate, v / rate, w / rate)))


def _inverse(f: Frame) -> Frame:
    back = transposed(f._a._m)
    x, y, z = turned(back, f._b._v)
    return frame_of(back, (-x, -y, -z))


def _twist(f: Frame, t: Twist) -> Twist:
    m, w = f._a._m, turned(f._a._m, t._b._v)
    return six_of(Twist, added(turned(m, t._a._v), cross(f._b._v, w)), w)


def _wrench(f: Frame, w: Wrench) -> Wrench:
    m, force = f._a._m, turned(f._a._m, w._a._v)
    return six_of(Wrench, force, added(turned(m, w._b._v), cross(f._b._v, force)))


Frame._give(
    _inverse,
    {
        Vector: lambda f, v: vector_of(added(turned(f._a._m, v._v), f._b._v)),
        Twist: _twist,
        Wrench: _wrench,
        Frame: lambda f, g: frame_of(
            product(f._a._m, g._a._m), added(turned(f._a._m, g._b._v), f._b._v)
        ),
    },
)


def _standard(a: Any, d: Any, sa: Any, ca: Any, st: Any, ct: Any) -> Frame:
    """See `Frame.DH`."""
    m = (ct, -st * ca, st * sa, st, ct * ca, -ct * sa, 0.0, sa, ca)
    return frame_of(m, (a * ct, a * st, d))


def _craig(a: Any, d: Any, sa: Any, ca: Any, st: Any, ct: Any) -> Frame:
    """See `Frame.DH_Craig1989`."""
    m = (ct, -st, 0.0, st * ca, ct * ca, -sa, st * sa, ct * sa, ca)
    return frame_of(m, (a, -sa * d, ca * d))


_OUTER = Frame()
_DH = Formula("DH", _standard, (float,) * 6, Frame)
_CRAIG = Formula("Craig", _craig, (float,) * 6, Frame)
_STEP = Formula("step", _step, (Frame, Twist, float, float, float, float), (9, 3))
