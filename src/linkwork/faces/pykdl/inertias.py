"""The distribution of mass: RotationalInertia, RigidBodyInertia."""
# The value types of this face read each other's slots: that is what makes them fast.
# pyright: reportPrivateUsage=false

from __future__ import annotations

from typing import Any, ClassVar

from linkwork.faces.pykdl.formulas import Formula
from linkwork.faces.pykdl.frame import Frame
from linkwork.faces.pykdl.rotation import Rotation, product, transposed
from linkwork.faces.pykdl.values import (
    ABSENT,
    ZEROS,
    Nine,
    Summed,
    Three,
    Zero,
    index,
    numbers,
    replaced,
    shown,
    wrong,
)
from linkwork.faces.pykdl.vectors import (
    Twist,
    Vector,
    Wrench,
    added,
    cross,
    six_of,
    three_of,
    turned,
    vector_of,
)

_new = object.__new__


class RotationalInertia(Summed):
    """Moments of inertia about a point, kg m²: `RotationalInertia(Ixx, Iyy, Izz, Ixy, Ixz, Iyz)`.

    All are 0 where they are not given. Elements are 0 to 8, row by row; ``* Vector`` is the angular
    momentum of an angular velocity.

    Raises: WrongTypeError (a TypeError) for other arguments.
    """

    __slots__ = ("_i",)
    _held, _moves = (("_i", 9),), None
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

    def __getitem__(self, i: int) -> float:
        return self._i[index(i, 9, "RotationalInertia")]

    def __setitem__(self, i: int, value: float) -> None:
        k = index(i, 9, "RotationalInertia")
        self._i = replaced(self._i, k, value, "a moment of inertia")


class RigidBodyInertia(Summed):
    """Mass (kg), centre of gravity (m) and moments of inertia (kg m²) of a body, about a point.

    `RigidBodyInertia(m, oc, Ic)`: ``oc`` leads from the point to the centre of gravity, and ``Ic``
    is the rotational inertia about the centre of gravity. ``* Twist`` is the momentum, a Wrench;
    ``Frame * inertia`` and ``Rotation * inertia`` give it in the outer frame.

    Raises: WrongTypeError (a TypeError) for other arguments.
    """

    __slots__ = ("_h", "_i", "_mass")
    _held, _moves = (("_mass", float), ("_h", 3), ("_i", 9)), None
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
        if not m.__class__ is c[0].__class__ is float:
            m, *c = numbers((m, *c), "a mass")
        self._mass = m
        self._h, self._i = _ABOUT.call(m, tuple(c), about_centre)

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
        return RotationalInertia._of(self._i)

    def RefPoint(self, p: Vector) -> RigidBodyInertia:
        """The same about the point that ``p`` leads to from the reference point."""
        there = three_of(p, "RigidBodyInertia.RefPoint", "a Vector")
        return _SHIFTED.call(self, there)

    def _text(self) -> str:
        return f"{{{self._mass:g},\n{self.getCOG()!r},\n{shown(self._i, 3)}}}"


def _body_of(mass: Any, h: Any, moments: Any) -> RigidBodyInertia:
    made: RigidBodyInertia = _new(RigidBodyInertia)
    made._mass, made._h, made._i = mass, h, moments
    return made


def _less_dyad(i: Nine, a: Three, b: Three, sign: float) -> Any:
    """The moments i + sign ((a · b) 1 - a bᵀ)."""
    p, q, r = a
    x, y, z = b
    dyad = (q * y + r * z, q * x, r * x, p * y, p * x + r * z, r * y, p * z, q * z, p * x + q * y)
    # off the diagonal with the other sign: compiled zeros keep their signs
    return tuple([
        value + d if (k in (0, 4, 8)) == (sign > 0.0) else value - d
        for k, (value, d) in enumerate(zip(i, dyad, strict=True))
    ])  # fmt: skip


def _about(mass: Any, centre: Any, about_centre: Any) -> tuple[Three, Nine]:
    """Mass times centre of gravity, and the inertia about the point from which that is seen."""
    x, y, z = centre
    h = (mass * x, mass * y, mass * z)
    return h, _less_dyad(about_centre, centre, h, 1.0)


def _shifted(body: RigidBodyInertia, p: Three) -> RigidBodyInertia:
    """About the point p: with h = m c, I' = I + [h x][p x] + [p x][h x] - m [p x][p x]."""
    m, (u, v, w), (x, y, z) = body._mass, body._h, p
    mp = (m * x, m * y, m * z)
    # [a x][b x] = b aᵀ - (a · b) 1
    moments = _less_dyad(_less_dyad(body._i, p, body._h, -1.0), body._h, p, -1.0)
    h = (u - mp[0], v - mp[1], w - mp[2])
    return _body_of(m, h, _less_dyad(moments, p, mp, 1.0))


def _turned(m: Nine, body: RigidBodyInertia) -> RigidBodyInertia:
    moments = product(product(m, body._i), transposed(m))
    return _body_of(body._mass, turned(m, body._h), moments)


def _moved(frame: Frame, body: RigidBodyInertia) -> RigidBodyInertia:
    x, y, z = frame._b._v
    return _shifted(_turned(frame._a._m, body), (-x, -y, -z))


def _momentum(body: RigidBodyInertia, twist: Twist) -> Wrench:
    """The force m v + w x h and the torque I w + h x v."""
    (x, y, z), w, h, m = twist._a._v, twist._b._v, body._h, body._mass
    force = added((m * x, m * y, m * z), cross(w, h))
    return six_of(Wrench, force, added(turned(body._i, w), cross(h, (x, y, z))))


_ABOUT = Formula("about", _about, (float, 3, 9), (3, 9))
_SHIFTED = Formula("shifted", _shifted, (RigidBodyInertia, 3), RigidBodyInertia)
RotationalInertia._products[Vector] = Formula(
    "RotationalInertia * Vector",
    lambda i, w: vector_of(turned(i._i, w._v)),
    (RotationalInertia, Vector),
    Vector,
)
RigidBodyInertia._products[Twist] = Formula(
    "momentum", _momentum, (RigidBodyInertia, Twist), Wrench
)
Rotation._products[RigidBodyInertia] = Formula(
    "Rotation * RigidBodyInertia",
    lambda r, body: _turned(r._m, body),
    (Rotation, RigidBodyInertia),
    RigidBodyInertia,
)
Frame._products[RigidBodyInertia] = Formula(
    "Frame * RigidBodyInertia", _moved, (Frame, RigidBodyInertia), RigidBodyInertia
)
