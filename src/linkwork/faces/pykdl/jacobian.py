"""Rows S3-117 to S3-119: tables of joints by joints, and of twists by joints."""
# These types read each other's numbers.
# pyright: reportPrivateUsage=false

from __future__ import annotations

from typing import Any

import numpy as np

from linkwork.errors import ShapeError
from linkwork.faces.pykdl.frame import Frame
from linkwork.faces.pykdl.joint_arrays import JntArray, Table, table_text
from linkwork.faces.pykdl.rotation import Rotation
from linkwork.faces.pykdl.scalars import Floats, WrongTypeError, index, number, wrong
from linkwork.faces.pykdl.twist import Twist
from linkwork.faces.pykdl.vector import Vector


class _Matrix(Table):
    """Numbers with two indices."""

    __slots__ = ()

    def _where(self, ij: Any) -> tuple[int, int]:
        name = type(self).__name__
        if not isinstance(ij, tuple) or len(ij) != 2:
            raise WrongTypeError(f"elements of a {name} have two indices, as in matrix[0, 2]")
        rows, columns = self._a.shape
        return index(ij[0], rows, f"{name} (rows)"), index(ij[1], columns, f"{name} (columns)")

    def __getitem__(self, ij: tuple[int, int]) -> float:
        try:
            i, j = ij
            if i.__class__ is j.__class__ is int and i > -1 < j:
                return self._a.item(i, j)
        except (TypeError, ValueError, IndexError):
            pass
        return self._a.item(*self._where(ij))

    def __setitem__(self, ij: tuple[int, int], value: float) -> None:
        taken = number(value, f"an element of a {type(self).__name__}")
        if np.ndim(taken):
            raise wrong(f"an element of a {type(self).__name__}", "a number", value)
        self._a[self._where(ij)] = taken


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

    def __repr__(self) -> str:
        return f"[{table_text(self._a)}\n]"


class JntSpaceInertiaMatrix(_Matrix):
    """The mass matrix of a chain, kg m²: `JntSpaceInertiaMatrix(7)` is zeros (7, 7).

    Raises: WrongTypeError (a TypeError), InputError.
    """

    __slots__ = ()

    @staticmethod
    def _shape(count: int) -> tuple[int, ...]:
        return (count, count)

    def __repr__(self) -> str:
        return f"[{table_text(self._a)}\n]" if len(self._a) else "[]"


def _checked(call: str, src: Any, by: Any, kind: type, dest: Any) -> Floats:
    """The numbers of ``src``.

    Raises: WrongTypeError; ShapeError where the result does not fit.
    """
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
