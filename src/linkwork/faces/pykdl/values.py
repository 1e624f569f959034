"""What the value types of this face share: numbers, indices, errors, copies, arrays, batches.

A value holds Python floats: that is what makes one operation as fast as one call into C++. A batch
is the same object with an array of one shape in the place of each float, so that the same formulas
compute both. Inside one `Vector` or `Rotation` all are floats, or all are arrays of one shape.

What a value holds is never written into: an operation in place puts new numbers there. So arrays
can be looked at without copying them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from types import MethodType
from typing import Any, ClassVar, Generic, TypeVar

import numpy as np

from linkwork.errors import InputError, ShapeError
from linkwork.faces.pykdl.scalars import EPS, Floats, WrongTypeError, close, kind_of, rows, wrong

V = TypeVar("V", bound="Value")
T = TypeVar("T")


def unfit(left: Value, sign: str, right: object) -> Any:
    """What an operator gives for an operand that it does not take.

    NotImplemented where the other operand may know what to do.

    Raises: WrongTypeError where it cannot.
    """
    if type(right) is type(left) or type(right).__module__ in ("builtins", "numpy"):
        raise _undefined(left, sign, right)
    return NotImplemented


def _undefined(left: object, sign: str, right: object) -> WrongTypeError:
    owner = left if isinstance(left, Value) else right
    kind, known = kind_of(owner), getattr(owner, "takes", {})
    there = f"{kind} {sign} takes {known[sign]}" if sign in known else f"{kind} has no {sign}"
    return WrongTypeError(f"{kind_of(left)} {sign} {kind_of(right)} is not defined: {there}")


def batch_text(value: Value) -> str:
    """What a batch says of itself."""
    return f"<{type(value).__name__}: a batch of shape {value.shape}>"


class Value:
    """The base of all value types: equality, copies, pickles, arrays and batches.

    A subclass gives its numbers in a row, and takes them (`_numbers`, `_assign`).

    What messages of ROS carry beside their numbers may be set on a value, as tf2_kdl does:
    ``header``, ``frame_id``, ``child_frame_id`` and ``stamp``. It belongs to this one object:
    results of operations, copies and pickles are without.
    """

    # a dictionary in their place makes every operation slower
    __slots__ = ("child_frame_id", "frame_id", "header", "stamp")
    child_frame_id: Any
    frame_id: Any
    header: Any
    stamp: Any
    # equality within 1e-6 is not transitive: no hash can follow it
    __hash__ = None  # pyright: ignore[reportAssignmentType] -- as Python has it
    __array_ufunc__ = None  # so that array * value asks the value
    takes: ClassVar[dict[str, str]] = {}
    """For each operator what its right side may be, in words."""
    array_shape: ClassVar[tuple[int, ...]] = ()
    """The shape of one value as an array."""
    _held: ClassVar[tuple[tuple[str, Any], ...]] = ()
    """Its slots in the order of its numbers, each with the type that stands there, with float, or
    with a number n for a tuple of n floats."""

    def _numbers(self) -> tuple[Any, ...]:
        raise NotImplementedError

    def _assign(self, these: tuple[Any, ...]) -> None:
        raise NotImplementedError

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of a batch; () for one value."""
        return np.broadcast_shapes(*[np.shape(x) for x in self._numbers()])

    def At(self: V, where: Any) -> V:
        """Of a batch the values that an index selects, as of an array: one, or a smaller batch.

        Raises: IndexError.
        """
        shape = self.shape
        if not shape:
            raise WrongTypeError(f"this {type(self).__name__} is one value and no batch")
        return self._like([np.broadcast_to(x, shape)[where] for x in self._numbers()])

    @classmethod
    def Stack(cls: type[V], values: Iterable[V]) -> V:
        """A batch of shape (n,) of n values, or (n, ...) of batches of one shape.

        Raises: WrongTypeError; ShapeError for shapes that do not fit together.
        """
        given = list(values)
        for value in given:
            if not isinstance(value, cls):
                raise wrong(f"{cls.__name__}.Stack", f"values of type {cls.__name__}", value)
        if not given:
            raise ShapeError("a batch has one value at least")
        try:
            shape = np.broadcast_shapes(*[value.shape for value in given])
        except ValueError:
            shapes = ", ".join(str(value.shape) for value in given)
            raise ShapeError(f"these shapes do not fit together: {shapes}") from None
        columns = zip(*[value._numbers() for value in given], strict=True)
        stacked = [np.stack([np.broadcast_to(x, shape) for x in column]) for column in columns]
        return given[0]._like(stacked)

    def _like(self: V, these: Iterable[Any]) -> V:
        """Another value of this type; numbers of NumPy become floats."""
        other = object.__new__(type(self))
        other._assign(tuple([x if np.ndim(x) else float(x) for x in these]))
        return other

    def ToArray(self) -> Floats:
        """A new array of the numbers: `array_shape`, after the shape of the batch."""
        these = self._numbers()
        if all([x.__class__ is float for x in these]):
            return np.array(these).reshape(self.array_shape)
        return rows(these, self.shape).reshape(*self.shape, *self.array_shape)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        if copy is False:
            raise InputError("the numbers are no array: a copy is needed")
        return self.ToArray().astype(dtype or np.float64, copy=False)

    def __eq__(self, other: object) -> Any:
        if other.__class__ is not self.__class__ and not isinstance(other, type(self)):
            return NotImplemented
        return self._near(other, EPS)

    def __ne__(self, other: object) -> Any:
        same = self.__eq__(other)
        return same if same is NotImplemented else opposite(same)

    def _near(self, other: Any, eps: float) -> Any:
        """Whether all numbers are nearer than eps."""
        return close(self._numbers(), other._numbers(), eps)

    def __copy__(self: V) -> V:
        other = object.__new__(type(self))
        other._assign(self._numbers())
        return other

    def __deepcopy__(self: V, memo: dict[int, Any]) -> V:
        return self.__copy__()

    def __getstate__(self) -> tuple[Any, ...]:
        return self._numbers()

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        self._assign(state)

    def __radd__(self, other: object) -> Any:
        raise _undefined(other, "+", self)

    def __rsub__(self, other: object) -> Any:
        raise _undefined(other, "-", self)

    def __rmul__(self, other: object) -> Any:
        raise _undefined(other, "*", self)

    def __rtruediv__(self, other: object) -> Any:
        raise _undefined(other, "/", self)


def opposite(answer: Any) -> Any:
    """Not, of one answer or of an array of them."""
    return ~answer if isinstance(answer, np.ndarray) else not answer


class OnBoth(Generic[T]):
    """A method that may be called on the class and on an object; it is given the one or the other.

    Row S3-010: `Zero()` of the class gives a zero value; on an object it also sets it to zero.
    """

    def __init__(self, function: Callable[[Any], T]) -> None:
        self.__func__, self.__doc__ = function, function.__doc__

    def __get__(self, instance: object, owner: type) -> Callable[[], T]:
        return MethodType(self.__func__, owner if instance is None else instance)
