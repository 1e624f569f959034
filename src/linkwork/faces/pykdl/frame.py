"""Rows S3-050 to S3-064: a frame, a rotation and the position of an origin."""
# The value types of this face read each other's slots: that is what makes them fast.
# pyright: reportPrivateUsage=false

from __future__ import annotations

from math import cos, hypot, inf, sin, sqrt
from typing import Any, ClassVar, TypeVar, overload

import numpy as np

from linkwork.checks import real_array
from linkwork.errors import InputError
from linkwork.faces.pykdl import angles
from linkwork.faces.pykdl.formulas import Formula
from linkwork.faces.pykdl.rotation import Rotation
from linkwork.faces.pykdl.values import (
    ABSENT,
    EPS,
    ZEROS,
    Floats,
    Nine,
    Three,
    Value,
    columns_of,
    live,
    near,
    number,
    numbers,
    pair_index,
    quotients,
    replaced,
    shown,
    sine_and_cosine,
    unfit,
    wrong,
)
from linkwork.faces.pykdl.vectors import Twist, Vector, pair_of

_new = object.__new__
_T = TypeVar("_T", bound=Value)


def frame_of(m: Nine, p: Three) -> Frame:
    """A frame of the numbers of its rotation, row by row, and of its origin."""
    made: Frame = _new(Frame)
    made._turn = turn = _new(Rotation)
    turn._m = m
    made._place = place = _new(Vector)
    place._v = p
    return made


class Frame(Value):
    """Where a frame stands in another: its rotation ``M`` and its origin ``p``.

    `Frame()` is the outer one, and there are `Frame(rotation, vector)`, `Frame(vector)`,
    `Frame(rotation)` and `Frame(other)`. ``frame * x`` is x, given in the frame, as the outer frame
    has it: of a Vector, which is a point, of a Twist or Wrench, whose reference point moves too, or
    of another Frame. Given batches, or by `FromArray` with more axes, it is a batch.

    ``M`` and ``p`` are live: what changes in them changes the frame, and setting them copies.

    Raises: WrongTypeError (a TypeError) for other arguments.
    """

    __slots__ = ("_place", "_turn")
    _turn: Rotation
    _place: Vector
    array_shape = (4, 4)
    _held = (("_turn", Rotation), ("_place", Vector))
    takes: ClassVar[dict[str, str]] = {"*": "a Vector (a point), a Twist, a Wrench or a Frame"}

    @overload
    def __init__(self) -> None: ...
    @overload
    def __init__(self, R: Rotation | Vector | Frame) -> None: ...
    @overload
    def __init__(self, R: Rotation, V: Vector) -> None: ...
    def __init__(self, R: Any = ABSENT, V: Any = ABSENT) -> None:
        self._turn = turn = _new(Rotation)
        self._place = place = _new(Vector)
        turn._m, place._v = angles.IDENTITY, ZEROS
        if V is not ABSENT:
            try:
                turn._m, place._v = R._m, V._v
            except AttributeError:
                raise wrong("Frame", _TAKES, R, V) from None
        elif isinstance(R, Rotation):
            turn._m = R._m
        elif isinstance(R, Vector):
            place._v = R._v
        elif isinstance(R, Frame):
            turn._m, place._v = R._turn._m, R._place._v
        elif R is not ABSENT:
            raise wrong("Frame", _TAKES, R)

    M = live("_turn", Rotation, "Frame.M", "The rotation")
    p = live("_place", Vector, "Frame.p", "The origin")

    def _numbers(self) -> tuple[Any, ...]:
        return (*self._turn._m, *self._place._v)

    def _assign(self, these: Any) -> None:
        self._turn, self._place = _new(Rotation), _new(Vector)
        self._turn._m, self._place._v = these[:9], these[9:]

    # making frames

    @staticmethod
    def Identity() -> Frame:
        """The outer frame itself."""
        return frame_of(angles.IDENTITY, ZEROS)

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

    @staticmethod
    def FromArray(array: Any) -> Frame:
        """A frame of a pose (4, 4); a batch of poses (..., 4, 4), which looks into the array.

        Raises: ShapeError; InputError where the last row is not 0 0 0 1.
        """
        given = columns_of(array, "a pose", (4, 4))
        poses = real_array(array, "a pose")
        if not np.allclose(poses[..., 3, :], (0.0, 0.0, 0.0, 1.0), rtol=0.0, atol=1e-9):
            raise InputError("the last row of a pose is 0 0 0 1")
        nine: Any = (*given[0:3], *given[4:7], *given[8:11])
        turn = Rotation.FromArray(poses[..., :3, :3])._m if Rotation.check else nine
        return frame_of(turn, (given[3], given[7], given[11]))

    def ToArray(self) -> Floats:
        """A new pose (4, 4), or poses (..., 4, 4) of a batch."""
        m, p = self._turn._m, self._place._v
        if m[0].__class__ is p[0].__class__ is float:
            (a, b, c, d, e, f, g, h, i), (x, y, z) = m, p
            rows = (a, b, c, x, d, e, f, y, g, h, i, z, 0.0, 0.0, 0.0, 1.0)
            return np.array(rows).reshape(4, 4)
        pose = np.zeros((*self.shape, 4, 4))
        pose[..., :3, :3], pose[..., :3, 3] = self._turn.ToArray(), self._place.ToArray()
        pose[..., 3, 3] = 1.0
        return pose

    # elements

    def __getitem__(self, ij: tuple[int, int]) -> float:
        i, j = pair_index(ij, 3, 4, "Frame")
        return self._place._v[i] if j == 3 else self._turn._m[3 * i + j]

    def __setitem__(self, ij: tuple[int, int], value: float) -> None:
        i, j = pair_index(ij, 3, 4, "Frame")
        if j == 3:
            self._place._v = replaced(self._place._v, i, value, "an element of a Frame")
        else:
            self._turn._m = replaced(self._turn._m, 3 * i + j, value, "an element of a Frame")

    __iter__ = None  # elements have two indices

    # operators and methods

    @overload
    def __mul__(self, other: Frame) -> Frame: ...
    @overload
    def __mul__(self, other: Vector) -> Vector: ...
    @overload
    def __mul__(self, other: _T) -> _T: ...
    def __mul__(self, other: Any) -> Any:
        try:
            move = other._moved
        except AttributeError:
            return unfit(self, "*", other)
        return move(self._turn._m, self._place._v)

    def _moved(self, m: Nine, p: Three) -> Frame:
        """This frame, which stands in another."""
        return frame_of(angles.product(m, self._turn._m), self._place._moved(m, p)._v)

    @overload
    def Inverse(self) -> Frame: ...
    @overload
    def Inverse(self, other: _T) -> _T: ...
    def Inverse(self, other: Any = ABSENT) -> Any:
        """The outer frame in this one; of a Vector, Twist or Wrench: as this frame has it."""
        a, b, c, d, e, f, g, h, i = self._turn._m
        x, y, z = self._place._v
        m = (a, d, g, b, e, h, c, f, i)
        p = (-a * x - d * y - g * z, -b * x - e * y - h * z, -c * x - f * y - i * z)
        if other is ABSENT:
            return frame_of(m, p)
        if not hasattr(other, "_moved"):
            raise wrong("Frame.Inverse", "nothing, a Vector, a Twist or a Wrench", other)
        return other._moved(m, p)

    def Integrate(self, twist: Twist, frequency: float) -> None:
        """Move on, in place, for 1 / frequency by a twist in this frame's own axes.

        First order: the position moves along the old axes. Turns of less than 1e-6, and all with a
        negative frequency, are left out.
        """
        if not isinstance(twist, Twist):
            raise wrong("Frame.Integrate", "a Twist and a number", twist)
        rate = frequency if frequency.__class__ is float else number(frequency, "a frequency")
        m = self._turn._m
        x, y, z = w = twist._b._v
        if x.__class__ is rate.__class__ is float:
            length = sqrt(x * x + y * y + z * z)
            if rate > 0.0 and EPS < length < inf and length > EPS * rate:
                angle = length / rate
                self._turn._m, self._place._v = _STEP.call(
                    self, twist, rate, length, sin(angle), cos(angle)
                )
                return
        step: Any = quotients(twist._a._v, rate)
        (a, b, c), (d, e, f) = self._place._v, angles.turned(m, step)
        self._place._v = (a + d, b + e, c + f)
        if x.__class__ is rate.__class__ is float:
            length = hypot(x, y, z)
            angle = quotients((length,), rate)[0]
            if angle < EPS:
                return
            w = (1.0, 0.0, 0.0) if length < EPS else (x / length, y / length, z / length)
        else:
            w, angle = angles.turn_in_a_step(w, rate, EPS)
        self._turn._m = angles.product(m, angles.about_unit(w, angle))

    @staticmethod
    def AddDelta(f: Frame, t: Twist, d: float = 1.0) -> Frame:
        """The frame after moving for the time d by a twist in f's outer frame, at f's origin.

        The rotation is exact for small turns too: `AddDelta(f1, diff(f1, f2, d), d)` is f2.
        """
        if not isinstance(f, Frame) or not isinstance(t, Twist):
            raise wrong("Frame.AddDelta", "a Frame, a Twist and a number", f, t)
        return f._added(t, d)

    def _added(self, t: Any, dt: Any) -> Frame:
        if not isinstance(t, Twist):
            raise wrong("addDelta of a Frame", "a Frame, a Twist and a number", self, t)
        return frame_of(self._turn._added(t._b, dt)._m, self._place._added(t._a, dt)._v)

    @staticmethod
    def diff(f1: Frame, f2: Frame, d: float = 1.0) -> Twist:
        """The twist that moves f1 to f2 in the time d, in their outer frame, at f1's origin."""
        if not isinstance(f1, Frame):
            raise wrong("Frame.diff", "two Frames and a number", f1, f2)
        return f1._difference(f2, d)

    def _difference(self, other: Any, dt: Any) -> Twist:
        if not isinstance(other, Frame):
            raise wrong("diff of a Frame", "two Frames and a number", self, other)
        u, w = self._place._difference(other._place, dt), self._turn._difference(other._turn, dt)
        return pair_of(Twist, u._v, w._v)

    def __eq__(self, other: object) -> Any:
        return self._near(other, EPS) if isinstance(other, Frame) else NotImplemented

    __hash__ = None  # pyright: ignore[reportAssignmentType] -- as Python has it

    def _near(self, other: Any, eps: float) -> Any:
        placed = near(self._place._v, other._place._v, eps)
        return placed is not False and placed & near(self._turn._m, other._turn._m, eps)

    def _text(self) -> str:
        return f"[{shown(self._turn._m, 3)}\n{shown(self._place._v)}]"


def _of_dh(formula: Formula, a: Any, alpha: Any, d: Any, theta: Any) -> Frame:
    if a.__class__ is alpha.__class__ is d.__class__ is theta.__class__ is float:
        try:
            return formula.call(a, d, sin(alpha), cos(alpha), sin(theta), cos(theta))
        except ValueError:  # an infinite angle
            pass
    what = "a parameter of Denavit and Hartenberg"
    a, alpha, d, theta, zero = numbers((a, alpha, d, theta, 0.0), what)
    return formula.plain(a, d, *sine_and_cosine(alpha), *sine_and_cosine(theta), zero)


_TAKES = "nothing, a Rotation and a Vector, one of them, or a Frame"


def _step(frame: Frame, twist: Twist, rate: Any, length: Any, s: Any, c: Any) -> tuple[Nine, Three]:
    """Where a frame is after a step whose angle has this sine and cosine; see `Integrate`."""
    m, (u, v, w), (x, y, z) = frame._turn._m, twist._a._v, twist._b._v
    (a, b, c0), (d, e, f) = frame._place._v, angles.turned(m, (u / rate, v / rate, w / rate))
    turn = angles.rodrigues((x / length, y / length, z / length), s, c)
    return angles.product(m, turn), (a + d, b + e, c0 + f)


def _standard(a: Any, d: Any, sa: Any, ca: Any, st: Any, ct: Any, zero: Any = 0.0) -> Frame:
    """See `Frame.DH`; of batches ``zero`` is one too."""
    m = (ct, -st * ca, st * sa, st, ct * ca, -ct * sa, zero, sa, ca)
    return frame_of(m, (a * ct, a * st, d))


def _craig(a: Any, d: Any, sa: Any, ca: Any, st: Any, ct: Any, zero: Any = 0.0) -> Frame:
    """See `Frame.DH_Craig1989`."""
    m = (ct, -st, zero, st * ca, ct * ca, -sa, st * sa, ct * sa, ca)
    return frame_of(m, (a, -sa * d, ca * d))


_DH = Formula("DH", _standard, (float,) * 6, Frame)
_CRAIG = Formula("Craig", _craig, (float,) * 6, Frame)
_STEP = Formula("step", _step, (Frame, Twist, float, float, float, float), (9, 3))
