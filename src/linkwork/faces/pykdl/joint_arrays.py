"""Rows S3-115 and S3-116: positions, velocities and forces of joints in a row."""
# These types read each other's numbers.
# pyright: reportPrivateUsage=false

from __future__ import annotations

import operator
from typing import Any, TypeVar

import numpy as np

from linkwork.checks import real_array
from linkwork.errors import InputError, ShapeError
from linkwork.faces.pykdl.scalars import EPS, Floats, index, kind_of, number, quotients, wrong

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


class Table:
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

    def __copy__(self: T) -> T:
        return type(self)(self)

    def __deepcopy__(self: T, memo: dict[int, Any]) -> T:
        return type(self)(self)

    def __getstate__(self) -> Any:
        return self._a

    def __setstate__(self, state: Any) -> None:
        self._a = state


def table_text(rows: Floats) -> str:
    """Numbers as KDL prints those of joints: no commas between, a line for each row."""
    return "\n".join(["".join([f"{x:12.6g}" for x in row]) for row in rows.tolist()])


class JntArray(Table):
    """A number for each joint: `JntArray(7)` is seven zeros, `JntArray(other)` a copy.

    Raises: WrongTypeError (a TypeError), InputError.
    """

    __slots__ = ()

    def __getitem__(self, i: int) -> float:
        a = self._a
        return a.item(i if i.__class__ is int and -1 < i < len(a) else index(i, len(a), "JntArray"))

    def __setitem__(self, i: int, value: float) -> None:
        a = self._a
        if value.__class__ is float and i.__class__ is int and -1 < i < len(a):
            a[i] = value
            return
        taken = number(value, "an element of a JntArray")
        if np.ndim(taken):
            raise wrong("an element of a JntArray", "a number", value)
        self._a[index(i, len(self._a), "JntArray")] = taken

    def __len__(self) -> int:
        return len(self._a)

    def __repr__(self) -> str:
        return "[" + "".join([f"{x:12.6g}" for x in self._a.tolist()]) + "]"


class JntArrayVel:
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

    @property
    def q(self) -> JntArray:
        """The positions, live."""
        return self._q

    @q.setter
    def q(self, value: JntArray) -> None:
        self._q._a = _array_of(value, "JntArrayVel.q").copy()

    @property
    def qdot(self) -> JntArray:
        """The velocities, live."""
        return self._qdot

    @qdot.setter
    def qdot(self, value: JntArray) -> None:
        self._qdot._a = _array_of(value, "JntArrayVel.qdot").copy()

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

    def __copy__(self) -> JntArrayVel:
        return JntArrayVel(self)

    def __deepcopy__(self, memo: dict[int, Any]) -> JntArrayVel:
        return JntArrayVel(self)

    def __getstate__(self) -> Any:
        return self._q, self._qdot

    def __setstate__(self, state: Any) -> None:
        self._q, self._qdot = state

    def __repr__(self) -> str:
        return f"{{{self._q!r},\n{self._qdot!r}}}"


def _array_of(value: Any, what: str) -> Floats:
    if not isinstance(value, JntArray):
        raise wrong(what, "a JntArray", value)
    return value._a


def _parts(call: str, *given: Any) -> list[tuple[JntArray, ...]]:
    """The JntArrays of arguments of one type, side by side; their sizes are the same.

    Raises: WrongTypeError, ShapeError.
    """
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
    """Put the difference of two JntArrays, or of two JntArrayVels, into a third.

    Raises: WrongTypeError, ShapeError.
    """
    for a, b, out in _parts("Subtract", src1, src2, dest):
        out._a = a._a - b._a


def Multiply(src: Any, factor: float, dest: Any) -> None:
    """Put a JntArray or a JntArrayVel times a number into another.

    Raises: WrongTypeError, ShapeError.
    """
    by = number(factor, "a factor")
    for a, out in _parts("Multiply", src, dest):
        out._a = a._a * by


def Divide(src: Any, factor: float, dest: Any) -> None:
    """Put a JntArray or a JntArrayVel divided by a number into another; by 0 as IEEE 754 has it.

    Raises: WrongTypeError, ShapeError.
    """
    by = number(factor, "a divisor")
    for a, out in _parts("Divide", src, dest):
        out._a = np.array(quotients(tuple(a._a.tolist()), by), np.float64).reshape(a._a.shape)
