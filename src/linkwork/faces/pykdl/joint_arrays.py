"""Rows S3-115 to S3-119: numbers of joints in a row, and tables of twists and joints by joints."""
# These types read each other's numbers.
# pyright: reportPrivateUsage=false

from __future__ import annotations

import operator
from typing import Any, TypeVar

import numpy as np

from linkwork.checks import real_array
from linkwork.errors import InputError, ShapeError
from linkwork.faces.pykdl.frame import Frame
from linkwork.faces.pykdl.rotation import Rotation
from linkwork.faces.pykdl.values import (
    EPS,
    Copied,
    Floats,
    index,
    kind_of,
    live,
    number,
    pair_index,
    wrong,
)
from linkwork.faces.pykdl.vectors import Twist, Vector

T = TypeVar("T", bound="Table")


def size(value: Any, what: str) -> int:
    """A whole number from 0.

    Raises: WrongTypeError for no integer, InputError below 0.
    """
    try:
        count = operator.index(value)
    except TypeError:
        raise wrong(what, "a whole number, or another one to copy", value) from None
    if count < 0:
        raise InputError(f"{what} has no {count} joints: the number is 0 or more")
    return count


class Table(Copied):
    """Numbers in an array of their own: what the types below share."""

    __slots__ = ("_a",)
    _a: Floats
    __hash__ = None  # pyright: ignore[reportAssignmentType] -- as Python has it
    __array_ufunc__ = None

    def __init__(self, given: Any = 0) -> None:
        if isinstance(given, type(self)):
            self._a = given._a.copy()
        else:
            self._a = np.zeros(self._shape(size(given, type(self).__name__)))

    @staticmethod
    def _shape(count: int) -> tuple[int, ...]:
        """The shape for so many joints."""
        return (count,)

    @classmethod
    def FromArray(cls: type[T], array: Any) -> T:
        """Of an array of its shape, which is copied.

        Raises: ShapeError, InputError.
        """
        taken = real_array(array, cls.__name__)
        count = taken.shape[-1] if taken.ndim else 0
        if taken.shape != cls._shape(count):
            wanted = str(cls._shape(0)).replace("0", "n")
            raise ShapeError(f"a {cls.__name__} has the shape {wanted}, not {taken.shape}")
        made = cls(0)
        made._a = np.array(taken, np.float64, order="C")
        return made

    def ToArray(self) -> Floats:
        """A new array of the numbers."""
        return self._a.copy()

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        if copy is False:
            raise InputError("the numbers may change: a copy is needed")
        return self._a.astype(dtype or np.float64, copy=True)

    def rows(self) -> int:
        """The number of rows."""
        return self._a.shape[0]

    def columns(self) -> int:
        """The number of columns."""
        return 1 if self._a.ndim == 1 else self._a.shape[1]

    def resize(self, newSize: int) -> None:
        """Take so many joints: what stays keeps its values, the rest is 0.

        Raises: WrongTypeError, InputError.
        """
        shape = self._shape(size(newSize, f"{type(self).__name__}.resize"))
        larger = np.zeros(shape)
        kept = tuple(slice(min(a, b)) for a, b in zip(self._a.shape, shape, strict=True))
        larger[kept] = self._a[kept]
        self._a = larger

    def __eq__(self, other: object) -> Any:
        return self._near(other, EPS) if isinstance(other, type(self)) else NotImplemented

    def _near(self, other: Any, eps: float) -> bool:
        if self._a.shape != other._a.shape:
            return False
        return bool((np.abs(self._a - other._a) < eps).all())

    def _clear(self) -> None:
        self._a = np.zeros_like(self._a)

    def _put(self: T, other: T) -> None:
        self._a = other._a.copy()

    def __getstate__(self) -> Any:
        return self._a

    def __setstate__(self, state: Any) -> None:
        self._a = state

    def __repr__(self) -> str:
        """As KDL prints numbers of joints: no commas between, a line for each row."""
        rows = np.atleast_2d(self._a).tolist()
        text = "\n".join(["".join([f"{x:12.6g}" for x in row]) for row in rows])
        return f"[{text}]"


def _element(value: Any, owner: Table) -> float:
    """A number to be an element."""
    what = f"an element of a {type(owner).__name__}"
    taken = number(value, what)
    if np.ndim(taken):
        raise wrong(what, "a number", value)
    return taken


class JntArray(Table):
    """A number for each joint: `JntArray(7)` is seven zeros, `JntArray(other)` a copy.

    Raises: WrongTypeError (a TypeError), InputError.
    """

    __slots__ = ()

    def __getitem__(self, i: int) -> float:
        return self._a.item(index(i, len(self._a), "JntArray"))

    def __setitem__(self, i: int, value: float) -> None:
        taken = value if value.__class__ is float else _element(value, self)
        self._a[index(i, len(self._a), "JntArray")] = taken

    def __len__(self) -> int:
        return len(self._a)


class JntArrayVel(Copied):
    """Positions ``q`` and velocities ``qdot`` of joints, each a JntArray.

    `JntArrayVel(7)`, `JntArrayVel(q)` at rest, `JntArrayVel(q, qdot)`; the arrays are copied. ``q``
    and ``qdot`` are live, and to set one of them copies.

    Raises: WrongTypeError (a TypeError); ShapeError for arrays of different sizes.
    """

    __slots__ = ("_q", "_qdot")
    __hash__ = None  # pyright: ignore[reportAssignmentType] -- as Python has it

    def __init__(self, q: Any = 0, qdot: Any = None) -> None:
        if isinstance(q, JntArrayVel) and qdot is None:
            q, qdot = q._q, q._qdot
        self._q = JntArray(q)
        self._qdot = JntArray(self._q.rows()) if qdot is None else JntArray(qdot)
        if self._q.rows() != self._qdot.rows():
            raise ShapeError(
                f"JntArrayVel takes as many velocities as positions, not {self._qdot.rows()} and "
                f"{self._q.rows()}"
            )

    q = live("_q", JntArray, "JntArrayVel.q", "The positions")
    qdot = live("_qdot", JntArray, "JntArrayVel.qdot", "The velocities")

    def value(self) -> JntArray:
        """A copy of the positions."""
        return JntArray(self._q)

    def deriv(self) -> JntArray:
        """A copy of the velocities."""
        return JntArray(self._qdot)

    def resize(self, newSize: int) -> None:
        """Take so many joints, as `JntArray.resize`."""
        self._q.resize(newSize)
        self._qdot.resize(newSize)

    def _near(self, other: Any, eps: float) -> bool:
        return self._q._near(other._q, eps) and self._qdot._near(other._qdot, eps)

    def __eq__(self, other: object) -> Any:
        return self._near(other, EPS) if isinstance(other, JntArrayVel) else NotImplemented

    def _clear(self) -> None:
        self._q._clear()
        self._qdot._clear()

    def __getstate__(self) -> Any:
        return self._q, self._qdot

    def __setstate__(self, state: Any) -> None:
        self._q, self._qdot = state

    def __repr__(self) -> str:
        return f"{{{self._q!r},\n{self._qdot!r}}}"


def _parts(call: str, *given: Any) -> list[tuple[JntArray, ...]]:
    """The JntArrays of arguments of one type, side by side; their sizes are the same."""
    if all(isinstance(one, JntArrayVel) for one in given):
        rows = [tuple(one.q for one in given), tuple(one.qdot for one in given)]
    elif all(isinstance(one, JntArray) for one in given):
        rows = [given]
    else:
        raise wrong(call, "JntArrays, or JntArrayVels, the last of which takes the result", *given)
    for row in rows:
        if len({one.rows() for one in row}) > 1:
            sizes = ", ".join(str(one.rows()) for one in row)
            raise ShapeError(f"{call} takes {kind_of(given[0])}s of one size, not {sizes}")
    return rows


def Add(src1: Any, src2: Any, dest: Any) -> None:
    """Put the sum of two JntArrays, or of two JntArrayVels, into a third.

    Raises: WrongTypeError, ShapeError.
    """
    for a, b, out in _parts("Add", src1, src2, dest):
        out._a = a._a + b._a


def Subtract(src1: Any, src2: Any, dest: Any) -> None:
    """Put the difference of two JntArrays, or of two JntArrayVels, into a third; as `Add`."""
    for a, b, out in _parts("Subtract", src1, src2, dest):
        out._a = a._a - b._a


def Multiply(src: Any, factor: float, dest: Any) -> None:
    """Put a JntArray or a JntArrayVel times a number into another; as `Add`."""
    by = number(factor, "a factor")
    for a, out in _parts("Multiply", src, dest):
        out._a = a._a * by


def Divide(src: Any, factor: float, dest: Any) -> None:
    """Put a JntArray or a JntArrayVel divided by a number into another; as `Add`.

    By 0 it is infinite, or nan for zeros, as IEEE 754 has it.
    """
    by = number(factor, "a divisor")
    for a, out in _parts("Divide", src, dest):
        with np.errstate(divide="ignore", invalid="ignore"):
            out._a = a._a / by


class _Matrix(Table):
    """Numbers with two indices."""

    __slots__ = ()

    def _where(self, ij: Any) -> Any:
        rows, columns = self._a.shape
        return pair_index(ij, rows, columns, type(self).__name__, "matrix")

    def __getitem__(self, ij: tuple[int, int]) -> float:
        return self._a.item(self._where(ij))

    def __setitem__(self, ij: tuple[int, int], value: float) -> None:
        taken = _element(value, self)
        self._a[self._where(ij)] = taken

    def __repr__(self) -> str:
        return f"{super().__repr__()[:-1]}\n]" if len(self._a) else "[]"


class Jacobian(_Matrix):
    """A column for each joint: the twist that a velocity of 1 of it causes, linear rows first.

    Solvers give it with its reference point at the tip, in the axes of the base. `Jacobian(7)` is
    zeros (6, 7), `Jacobian(other)` a copy.

    Raises: WrongTypeError (a TypeError), InputError.
    """

    __slots__ = ()

    @staticmethod
    def _shape(count: int) -> tuple[int, ...]:
        return (6, count)

    def getColumn(self, i: int) -> Twist:
        """A column as a Twist.

        Raises: ElementError (an IndexError).
        """
        k = index(i, self._a.shape[1], "Jacobian (columns)")
        return Twist.FromArray(self._a[:, k])

    def setColumn(self, i: int, t: Twist) -> None:
        """Set a column to a Twist.

        Raises: ElementError (an IndexError), WrongTypeError.
        """
        if not isinstance(t, Twist):
            raise wrong("Jacobian.setColumn", "an index and a Twist", i, t)
        self._a[:, index(i, self._a.shape[1], "Jacobian (columns)")] = t.ToArray()

    def changeRefPoint(self, base: Vector) -> None:
        """In place, to the reference point that ``base`` leads to from the present one."""
        changeRefPoint(self, base, self)

    def changeBase(self, rot: Rotation) -> None:
        """In place, to the axes that ``rot`` gives the present ones in; the point stays."""
        changeBase(self, rot, self)

    def changeRefFrame(self, frame: Frame) -> None:
        """In place, to an outer frame in which the present one is ``frame``, and to its origin."""
        changeRefFrame(self, frame, self)


class JntSpaceInertiaMatrix(_Matrix):
    """The mass matrix of a chain, kg m²: `JntSpaceInertiaMatrix(7)` is zeros (7, 7).

    Raises: WrongTypeError (a TypeError), InputError.
    """

    __slots__ = ()

    @staticmethod
    def _shape(count: int) -> tuple[int, ...]:
        return (count, count)


def _checked(call: str, src: Any, by: Any, kind: type, dest: Any) -> Floats:
    """The numbers of ``src``."""
    if not (isinstance(src, Jacobian) and isinstance(by, kind) and isinstance(dest, Jacobian)):
        raise wrong(call, f"a Jacobian, a {kind.__name__} and a Jacobian for the result", src, by)
    if src.columns() != dest.columns():
        text = f"{call}: {src.columns()} columns do not fit into {dest.columns()}"
        raise ShapeError(text)
    return src._a


def changeBase(src: Jacobian, rot: Rotation, dest: Jacobian) -> None:
    """Put a Jacobian in other axes into another: ``rot`` times each column; the point stays.

    Raises: WrongTypeError, ShapeError.
    """
    a, R = _checked("changeBase", src, rot, Rotation, dest), rot.ToArray()
    dest._a = np.concatenate([R @ a[:3], R @ a[3:]])


def changeRefPoint(src: Jacobian, base: Vector, dest: Jacobian) -> None:
    """Put a Jacobian with another reference point into another: ``base`` leads from old to new.

    Raises: WrongTypeError, ShapeError.
    """
    a, p = _checked("changeRefPoint", src, base, Vector, dest), base.ToArray()
    dest._a = np.concatenate([a[:3] + np.cross(a[3:], p, axis=0), a[3:]])


def changeRefFrame(src: Jacobian, frame: Frame, dest: Jacobian) -> None:
    """Put a Jacobian in an outer frame into another: ``frame`` times each column.

    Raises: WrongTypeError, ShapeError.
    """
    _checked("changeRefFrame", src, frame, Frame, dest)
    changeBase(src, frame.M, dest)
    changeRefPoint(dest, -frame.p, dest)


def MultiplyJacobian(jac: Jacobian, src: JntArray, dest: Twist) -> None:
    """Set a Twist to what these velocities of the joints cause.

    Raises: WrongTypeError; ShapeError where the sizes do not fit.
    """
    if not (isinstance(jac, Jacobian) and isinstance(src, JntArray) and isinstance(dest, Twist)):
        raise wrong("MultiplyJacobian", "a Jacobian, a JntArray and a Twist", jac, src, dest)
    if jac.columns() != src.rows():
        text = f"MultiplyJacobian: {jac.columns()} columns and {src.rows()} velocities do not fit"
        raise ShapeError(text)
    x, y, z, u, v, w = (jac._a @ src._a).tolist()
    dest.vel, dest.rot = Vector(x, y, z), Vector(u, v, w)
