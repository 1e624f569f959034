"""How mass is spread: RotationalInertia, RigidBodyInertia."""
# The value types of this face read each other's slots: that is what makes them fast.
# pyright: reportPrivateUsage=false

from __future__ import annotations

from typing import Any, ClassVar

from linkwork.faces.pykdl.angles import Nine, Three, product, transposed, turned
from linkwork.faces.pykdl.pair import pair_of
from linkwork.faces.pykdl.scalars import ABSENT, columns_of, index, numbers, replaced, shown, wrong
from linkwork.faces.pykdl.swift import Swift
from linkwork.faces.pykdl.twist import Twist
from linkwork.faces.pykdl.values import OnBoth, Value, batch_text, unfit
from linkwork.faces.pykdl.vector import Vector, factor_of, three_of, vector_of
from linkwork.faces.pykdl.wrench import Wrench

_new = object.__new__
_ZEROS = (0.0, 0.0, 0.0)


def moments_of(nine: Any) -> RotationalInertia:
    """A rotational inertia of its nine numbers, row by row."""
    made: RotationalInertia = _new(RotationalInertia)
    made._i = nine
    return made


def _sum(a: Any, b: Any) -> Any:
    return tuple([x + y for x, y in zip(a, b, strict=True)])


def _scaled(a: Any, factor: Any) -> Any:
    return tuple([x * factor for x in a])


def _no_moments(here: RotationalInertia | type[RotationalInertia]) -> RotationalInertia:
    """No inertia; called on one, it also sets that one to zero."""
    if isinstance(here, RotationalInertia):
        here._i = RotationalInertia()._i
    return RotationalInertia()


class RotationalInertia(Value):
    """Moments of inertia about a point, kg m²: `RotationalInertia(Ixx, Iyy, Izz, Ixy, Ixz, Iyz)`.

    All are 0 where they are not given. Elements are 0 to 8, row by row; ``* Vector`` is the angular
    momentum of an angular velocity.

    Raises: WrongTypeError (a TypeError) for other arguments.
    """

    __slots__ = ("_i",)
    _held = (("_i", 9),)
    _i: Nine
    array_shape = (3, 3)
    takes: ClassVar[dict[str, str]] = {"+": "a RotationalInertia", "*": "a Vector"}

    def __init__(
        self,
        Ixx: float = 0.0,
        Iyy: float = 0.0,
        Izz: float = 0.0,
        Ixy: float = 0.0,
        Ixz: float = 0.0,
        Iyz: float = 0.0,
    ) -> None:
        nine: Any = numbers((Ixx, Ixy, Ixz, Ixy, Iyy, Iyz, Ixz, Iyz, Izz), "a moment of inertia")
        self._i = nine

    Zero = OnBoth(_no_moments)

    @classmethod
    def FromArray(cls, array: Any) -> RotationalInertia:
        """Of a matrix (3, 3); a batch of (..., 3, 3), which looks into the array.

        Raises: ShapeError, InputError.
        """
        return moments_of(columns_of(array, "a rotational inertia", (3, 3)))

    def _numbers(self) -> tuple[Any, ...]:
        return self._i

    def _assign(self, these: tuple[Any, ...]) -> None:
        self._i = these  # pyright: ignore[reportAttributeAccessIssue] -- they are nine

    def __getitem__(self, i: int) -> float:
        return self._i[index(i, 9, "RotationalInertia")]

    def __setitem__(self, i: int, value: float) -> None:
        k = index(i, 9, "RotationalInertia")
        self._i = replaced(self._i, k, value, "a moment of inertia")

    def __add__(self, other: RotationalInertia) -> RotationalInertia:
        if not isinstance(other, RotationalInertia):
            return unfit(self, "+", other)
        return _MOMENTS.call(self, other)

    def __mul__(self, other: Vector) -> Vector:
        if not isinstance(other, Vector):
            return unfit(self, "*", other)
        return other._turned(self._i)

    def __rmul__(self, other: Any) -> RotationalInertia:
        if other.__class__ is float:
            return _SCALED.call(self, other)
        factor = factor_of(self, "*", other)
        return super().__rmul__(other) if factor is NotImplemented else _times(self, factor)

    def __repr__(self) -> str:
        if self.shape:
            return batch_text(self)
        return "[" + ";\n ".join([shown(self._i[k : k + 3]) for k in (0, 3, 6)]) + "]"


def _no_body(here: RigidBodyInertia | type[RigidBodyInertia]) -> RigidBodyInertia:
    """No mass; called on an inertia, it also sets that one to zero."""
    if isinstance(here, RigidBodyInertia):
        here._assign(RigidBodyInertia()._numbers())
    return RigidBodyInertia()


class RigidBodyInertia(Value):
    """Mass (kg), centre of gravity (m) and moments of inertia (kg m²) of a body, about a point.

    `RigidBodyInertia(m, oc, Ic)`: ``oc`` leads from the point to the centre of gravity, and ``Ic``
    is the rotational inertia about the centre of gravity. ``* Twist`` is the momentum, a Wrench;
    ``Frame * inertia`` and ``Rotation * inertia`` give it in the outer frame.

    Raises: WrongTypeError (a TypeError) for other arguments.
    """

    __slots__ = ("_h", "_i", "_mass")
    _held = (("_mass", float), ("_h", 3), ("_i", 9))
    _mass: float
    _h: Three  # mass times centre of gravity
    _i: Nine  # about the reference point
    array_shape = (13,)
    takes: ClassVar[dict[str, str]] = {"+": "a RigidBodyInertia", "*": "a Twist"}

    def __init__(self, m: float = 0.0, oc: Any = ABSENT, Ic: Any = ABSENT) -> None:
        takes = "a mass, a Vector and a RotationalInertia"
        if Ic is not ABSENT and not isinstance(Ic, RotationalInertia):
            raise wrong("RigidBodyInertia", takes, m, oc, Ic)
        c = _ZEROS if oc is ABSENT else three_of(oc, "RigidBodyInertia", takes)
        about_centre = RotationalInertia()._i if Ic is ABSENT else Ic._i
        if m.__class__ is c[0].__class__ is float:
            self._mass = m
            self._h, self._i = _ABOUT.call(m, c, about_centre)
            return
        mass, *centre = numbers((m, *c), "a mass")
        self._mass = mass
        self._h, self._i = _about(mass, tuple(centre), about_centre)

    Zero = OnBoth(_no_body)

    def _numbers(self) -> tuple[Any, ...]:
        return (self._mass, *self._h, *self._i)

    def _assign(self, these: tuple[Any, ...]) -> None:
        self._mass, self._h, self._i = these[0], these[1:4], these[4:]  # pyright: ignore -- 1, 3, 9

    def getMass(self) -> float:
        """The mass, kg."""
        return self._mass

    def getCOG(self) -> Vector:
        """From the reference point to the centre of gravity; zero where there is no mass."""
        if self._mass.__class__ is float and self._mass == 0.0:
            return vector_of(_ZEROS)
        return vector_of(self._h) / self._mass

    def getRotationalInertia(self) -> RotationalInertia:
        """The rotational inertia about the reference point, not about the centre of gravity."""
        return moments_of(self._i)

    def RefPoint(self, p: Vector) -> RigidBodyInertia:
        """The same about the point that ``p`` leads to from the reference point."""
        there = three_of(p, "RigidBodyInertia.RefPoint", "a Vector")
        return _SHIFTED.call(self, there)

    def __add__(self, other: RigidBodyInertia) -> RigidBodyInertia:
        if not isinstance(other, RigidBodyInertia):
            return unfit(self, "+", other)
        return _BODIES.call(self, other)

    def __mul__(self, other: Twist) -> Wrench:
        return _MOMENTUM.call(self, other) if isinstance(other, Twist) else unfit(self, "*", other)

    def _momentum(self, other: Twist) -> Wrench:
        (x, y, z), (p, q, r), (u, v, w) = other._a._v, other._b._v, self._h
        a, b, c, d, e, f, g, h, i = self._i
        m = self._mass
        return pair_of(
            Wrench,
            (m * x + q * w - r * v, m * y + r * u - p * w, m * z + p * v - q * u),
            (
                a * p + b * q + c * r + v * z - w * y,
                d * p + e * q + f * r + w * x - u * z,
                g * p + h * q + i * r + u * y - v * x,
            ),
        )

    def __rmul__(self, other: Any) -> RigidBodyInertia:
        factor = factor_of(self, "*", other)
        if factor is NotImplemented:
            return super().__rmul__(other)
        return _body_of(self._mass * factor, _scaled(self._h, factor), _scaled(self._i, factor))

    def _turned(self, m: Nine) -> RigidBodyInertia:
        """Rotated by nine numbers, about the reference point."""
        moments = product(product(m, self._i), transposed(m))
        return _body_of(self._mass, turned(m, self._h), moments)

    def _moved(self, m: Nine, p: Three) -> RigidBodyInertia:
        """In an outer frame, about its origin."""
        x, y, z = p
        return _shifted(self._turned(m), (-x, -y, -z))

    def __repr__(self) -> str:
        if self.shape:
            return batch_text(self)
        return f"{{{self._mass:g},\n{self.getCOG()!r},\n{self.getRotationalInertia()!r}}}"


def _body_of(mass: float, h: Any, moments: Any) -> RigidBodyInertia:
    made: RigidBodyInertia = _new(RigidBodyInertia)
    made._mass, made._h, made._i = mass, h, moments
    return made


def _spread(a: Three, b: Three) -> Nine:
    """(a · b) 1 - a bᵀ, which is - [a x] [b x] with the factors of the second term exchanged."""
    p, q, r = a
    x, y, z = b
    return (
        q * y + r * z, -q * x, -r * x,
        -p * y, p * x + r * z, -r * y,
        -p * z, -q * z, p * x + q * y,
    )  # fmt: skip


def _shifted(body: RigidBodyInertia, p: Three) -> RigidBodyInertia:
    """About the point p: with h = m c, I' = I + [h x][p x] + [p x][h x] - m [p x][p x]."""
    x, y, z = p
    m, h = body._mass, body._h
    # [a x][b x] = b aᵀ - (a · b) 1 = - spread(b, a)
    change = _sum(_spread(p, h), _spread(h, p))
    own = _spread(p, (m * x, m * y, m * z))
    moments = tuple([i - c + o for i, c, o in zip(body._i, change, own, strict=True)])
    return _body_of(m, (h[0] - m * x, h[1] - m * y, h[2] - m * z), moments)


def _moments(one: RotationalInertia, other: RotationalInertia) -> RotationalInertia:
    return moments_of(_sum(one._i, other._i))


def _times(one: RotationalInertia, factor: Any) -> RotationalInertia:
    return moments_of(_scaled(one._i, factor))


def _bodies(a: RigidBodyInertia, b: RigidBodyInertia) -> RigidBodyInertia:
    return _body_of(a._mass + b._mass, _sum(a._h, b._h), _sum(a._i, b._i))


def _about(mass: Any, centre: Any, about_centre: Any) -> tuple[Three, Nine]:
    """Mass times centre of gravity, and the inertia about the point from which that is seen."""
    x, y, z = centre
    h = (mass * x, mass * y, mass * z)
    return h, _sum(about_centre, _spread(centre, h))


_MOMENTS = Swift(_moments, (RotationalInertia, RotationalInertia), RotationalInertia)
_SCALED = Swift(_times, (RotationalInertia, float), RotationalInertia)
_BODIES = Swift(_bodies, (RigidBodyInertia, RigidBodyInertia), RigidBodyInertia)
_ABOUT = Swift(_about, (float, 3, 9), (3, 9))
_SHIFTED = Swift(_shifted, (RigidBodyInertia, 3), RigidBodyInertia)
_MOMENTUM = Swift(RigidBodyInertia._momentum, (RigidBodyInertia, Twist), Wrench)
