"""How mass is spread: RotationalInertia, RigidBodyInertia."""
# The value types of this face read each other's slots: that is what makes them fast.
# pyright: reportPrivateUsage=false

from __future__ import annotations

from typing import Any, ClassVar

from linkwork.faces.pykdl.angles import product, transposed, turned
from linkwork.faces.pykdl.formulas import Formula
from linkwork.faces.pykdl.values import (
    ABSENT,
    ZEROS,
    Nine,
    Three,
    Value,
    Zero,
    columns_of,
    factor_of,
    index,
    numbers,
    replaced,
    shown,
    unfit,
    wrong,
)
from linkwork.faces.pykdl.vectors import Twist, Vector, Wrench, pair_of, three_of, vector_of

_new = object.__new__


def moments_of(nine: Any) -> RotationalInertia:
    """A rotational inertia of its nine numbers, row by row."""
    made: RotationalInertia = _new(RotationalInertia)
    made._i = nine
    return made


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
        nine = (Ixx, Ixy, Ixz, Ixy, Iyy, Iyz, Ixz, Iyz, Izz)
        self._i = numbers(nine, "a moment of inertia")

    Zero = Zero()

    @classmethod
    def FromArray(cls, array: Any) -> RotationalInertia:
        """Of a matrix (3, 3); a batch of (..., 3, 3), which looks into the array.

        Raises: ShapeError, InputError.
        """
        return moments_of(columns_of(array, "a rotational inertia", (3, 3)))

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
        factor = factor_of(self, "*", other)
        return super().__rmul__(other) if factor is NotImplemented else _SCALED.call(self, factor)


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
        c = ZEROS if oc is ABSENT else three_of(oc, "RigidBodyInertia", takes)
        about_centre = RotationalInertia()._i if Ic is ABSENT else Ic._i
        mass, *centre = (
            (m, *c) if m.__class__ is c[0].__class__ is float else numbers((m, *c), "a mass")
        )
        self._mass = mass
        self._h, self._i = _ABOUT.call(mass, tuple(centre), about_centre)

    Zero = Zero()

    def getMass(self) -> float:
        """The mass, kg."""
        return self._mass

    def getCOG(self) -> Vector:
        """From the reference point to the centre of gravity; zero where there is no mass."""
        if self._mass.__class__ is float and self._mass == 0.0:
            return vector_of(ZEROS)
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
        return _SHIFTED.call(self._turned(m), (-x, -y, -z))

    def _text(self) -> str:
        return f"{{{self._mass:g},\n{self.getCOG()!r},\n{shown(self._i, 3)}}}"


def _body_of(mass: float, h: Any, moments: Any) -> RigidBodyInertia:
    made: RigidBodyInertia = _new(RigidBodyInertia)
    made._mass, made._h, made._i = mass, h, moments
    return made


def _sum(a: Any, b: Any) -> Any:
    return tuple([x + y for x, y in zip(a, b, strict=True)])


def _scaled(a: Any, factor: Any) -> Any:
    return tuple([x * factor for x in a])


_DIAGONAL = (0, 4, 8)


def _dyad(a: Three, b: Three) -> Nine:
    """(a · b) 1 - a bᵀ, off the diagonal with the other sign: compiled zeros keep their signs."""
    p, q, r = a
    x, y, z = b
    return (
        q * y + r * z, q * x, r * x,
        p * y, p * x + r * z, r * y,
        p * z, q * z, p * x + q * y,
    )  # fmt: skip


def _shifted(body: RigidBodyInertia, p: Three) -> RigidBodyInertia:
    """About the point p: with h = m c, I' = I + [h x][p x] + [p x][h x] - m [p x][p x]."""
    x, y, z = p
    m, h = body._mass, body._h
    # [a x][b x] = b aᵀ - (a · b) 1
    change, own = _sum(_dyad(p, h), _dyad(h, p)), _dyad(p, (m * x, m * y, m * z))
    moments = tuple([
        i - c + o if k in _DIAGONAL else i + c - o
        for k, (i, c, o) in enumerate(zip(body._i, change, own, strict=True))
    ])  # fmt: skip
    return _body_of(m, (h[0] - m * x, h[1] - m * y, h[2] - m * z), moments)


def _momentum(body: RigidBodyInertia, twist: Twist) -> Wrench:
    """The force m v + w x h and the torque I w + h x v."""
    (x, y, z), (p, q, r), (u, v, w) = twist._a._v, twist._b._v, body._h
    (i, j, k), m = turned(body._i, (p, q, r)), body._mass
    return pair_of(
        Wrench,
        (m * x + q * w - r * v, m * y + r * u - p * w, m * z + p * v - q * u),
        (i + v * z - w * y, j + w * x - u * z, k + u * y - v * x),
    )


def _bodies(a: RigidBodyInertia, b: RigidBodyInertia) -> RigidBodyInertia:
    return _body_of(a._mass + b._mass, _sum(a._h, b._h), _sum(a._i, b._i))


def _about(mass: Any, centre: Any, about_centre: Any) -> tuple[Three, Nine]:
    """Mass times centre of gravity, and the inertia about the point from which that is seen."""
    x, y, z = centre
    h = (mass * x, mass * y, mass * z)
    moved = enumerate(zip(about_centre, _dyad(centre, h), strict=True))
    return h, tuple([i + d if k in _DIAGONAL else i - d for k, (i, d) in moved])  # pyright: ignore


_MOMENTS = Formula(
    "moments",
    lambda a, b: moments_of(_sum(a._i, b._i)),
    (RotationalInertia, RotationalInertia),
    RotationalInertia,
)
_SCALED = Formula(
    "scaled moments",
    lambda one, factor: moments_of(_scaled(one._i, factor)),
    (RotationalInertia, float),
    RotationalInertia,
)
_BODIES = Formula("bodies", _bodies, (RigidBodyInertia, RigidBodyInertia), RigidBodyInertia)
_ABOUT = Formula("about", _about, (float, 3, 9), (3, 9))
_SHIFTED = Formula("shifted", _shifted, (RigidBodyInertia, 3), RigidBodyInertia)
_MOMENTUM = Formula("momentum", _momentum, (RigidBodyInertia, Twist), Wrench)
