"""What Twist and Wrench share: two vectors that are added, scaled, rotated and moved together.

With its reference point moved by v, one part stays, ``s``, and the other gains ``s x v``: s is the
rotation of a twist, and the force of a wrench.
"""
# The value types of this face read each other's slots: that is what makes them fast.
# pyright: reportPrivateUsage=false

from __future__ import annotations

from collections.abc import Iterator
from math import dist
from typing import Any, ClassVar, TypeVar

from linkwork.faces.pykdl.angles import Nine, Three
from linkwork.faces.pykdl.scalars import (
    EPS,
    close,
    close_floats,
    index,
    quotients,
    shown,
    wrong,
)
from linkwork.faces.pykdl.values import Value, batch_text, unfit
from linkwork.faces.pykdl.vector import Vector, factor_of, three_of

_new = object.__new__
P = TypeVar("P", bound="Pair")


def pair_of(kind: type[P], first: Three, second: Three) -> P:
    """A Twist or a Wrench of its numbers."""
    made: P = _new(kind)
    made._a = a = _new(Vector)
    a._v = first
    made._b = b = _new(Vector)
    b._v = second
    return made


class Pair(Value):
    """Two vectors, the first three elements and the last three; see `Twist` and `Wrench`."""

    __slots__ = ("_a", "_b")
    _a: Vector
    _b: Vector
    array_shape = (6,)
    _held = (("_a", Vector), ("_b", Vector))
    _kind: ClassVar[type[Any]]
    """Twist or Wrench, of subclasses too: what results are made of."""

    def _numbers(self) -> tuple[Any, ...]:
        return (*self._a._v, *self._b._v)

    def _assign(self, these: tuple[Any, ...]) -> None:
        self._a, self._b = _new(Vector), _new(Vector)
        self._a._assign(these[:3])
        self._b._assign(these[3:])

    def _set_a(self, value: Vector) -> None:
        self._a._v = three_of(value, f"the first part of a {self._kind.__name__}")

    def _set_b(self, value: Vector) -> None:
        self._b._v = three_of(value, f"the second part of a {self._kind.__name__}")

    # elements

    def __getitem__(self, i: int) -> float:
        k = i if i.__class__ is int and -1 < i < 6 else index(i, 6, self._kind.__name__)
        return self._a._v[k] if k < 3 else self._b._v[k - 3]

    def __setitem__(self, i: int, value: float) -> None:
        k = i if i.__class__ is int and -1 < i < 6 else index(i, 6, self._kind.__name__)
        if k < 3:
            self._a[k] = value
        else:
            self._b[k - 3] = value

    def __iter__(self) -> Iterator[float]:
        return iter(self._numbers())

    # operators

    def __add__(self: P, other: P) -> P:
        kind = self._kind
        if not isinstance(other, kind):
            return unfit(self, "+", other)
        (a, b, c), (d, e, f) = self._a._v, self._b._v
        (u, v, w), (x, y, z) = other._a._v, other._b._v
        return pair_of(kind, (a + u, b + v, c + w), (d + x, e + y, f + z))

    def __sub__(self: P, other: P) -> P:
        kind = self._kind
        if not isinstance(other, kind):
            return unfit(self, "-", other)
        (a, b, c), (d, e, f) = self._a._v, self._b._v
        (u, v, w), (x, y, z) = other._a._v, other._b._v
        return pair_of(kind, (a - u, b - v, c - w), (d - x, e - y, f - z))

    def __iadd__(self: P, other: P) -> P:
        if not isinstance(other, self._kind):
            return unfit(self, "+", other)
        self._a += other._a
        self._b += other._b
        return self

    def __isub__(self: P, other: P) -> P:
        if not isinstance(other, self._kind):
            return unfit(self, "-", other)
        self._a -= other._a
        self._b -= other._b
        return self

    def __neg__(self: P) -> P:
        (a, b, c), (d, e, f) = self._a._v, self._b._v
        return pair_of(self._kind, (-a, -b, -c), (-d, -e, -f))

    def __mul__(self: P, other: float) -> P:
        if other.__class__ is not float:
            other = factor_of(self, "*", other)
            if other is NotImplemented:
                return NotImplemented
        return self._scaled(other)

    def __rmul__(self: P, other: Any) -> P:
        if other.__class__ is not float:
            factor = factor_of(self, "*", other)
            return super().__rmul__(other) if factor is NotImplemented else self._scaled(factor)
        return self._scaled(other)

    def _scaled(self: P, s: float) -> P:
        (a, b, c), (d, e, f) = self._a._v, self._b._v
        return pair_of(self._kind, (a * s, b * s, c * s), (d * s, e * s, f * s))

    def __truediv__(self: P, other: float) -> P:
        if other.__class__ is float and other:
            (a, b, c), (d, e, f) = self._a._v, self._b._v
            s = other
            return pair_of(self._kind, (a / s, b / s, c / s), (d / s, e / s, f / s))
        divisor = factor_of(self, "/", other)
        if divisor is NotImplemented:
            return NotImplemented
        first: Any = quotients(self._a._v, divisor)
        second: Any = quotients(self._b._v, divisor)
        return pair_of(self._kind, first, second)

    def ReverseSign(self) -> None:
        """Turn both parts round, in place."""
        self._a.ReverseSign()
        self._b.ReverseSign()

    def _turned(self: P, m: Nine) -> P:
        """Rotated by nine numbers; the reference point stays."""
        a, b, c, d, e, f, g, h, i = m
        (u, v, w), (x, y, z) = self._a._v, self._b._v
        return pair_of(
            self._kind,
            (a * u + b * v + c * w, d * u + e * v + f * w, g * u + h * v + i * w),
            (a * x + b * y + c * z, d * x + e * y + f * z, g * x + h * y + i * z),
        )

    # what the module's functions ask for

    def __eq__(self, other: object) -> Any:
        return self._near(other, EPS) if isinstance(other, self._kind) else NotImplemented

    __hash__ = None  # pyright: ignore[reportAssignmentType] -- as Python has it

    def _near(self, other: Any, eps: float) -> Any:
        a, b = self._a._v, other._a._v
        c, d = self._b._v, other._b._v
        if a[0].__class__ is b[0].__class__ is c[0].__class__ is d[0].__class__ is float:
            if dist(a, b) < eps and dist(c, d) < eps:
                return True
            return close_floats(a, b, eps) and close_floats(c, d, eps)
        return close((*a, *c), (*b, *d), eps)

    def _added(self: P, delta: Any, dt: Any) -> P:
        kind = self._kind
        if not isinstance(delta, kind):
            name = kind.__name__
            raise wrong(f"addDelta of a {name}", "two of them and a number", self, delta)
        return self + delta * dt

    def _difference(self: P, other: Any, dt: Any) -> P:
        kind = self._kind
        if not isinstance(other, kind):
            raise wrong(f"diff of a {kind.__name__}", "two of them and a number", self, other)
        return (other - self) / dt

    def _clear(self) -> None:
        self._a._clear()
        self._b._clear()

    def __repr__(self) -> str:
        these = self._numbers()
        if any([x.__class__ is not float for x in these]):
            return batch_text(self)
        return f"[{shown(these)}]"
