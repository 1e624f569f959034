"""What the value types of this face share: numbers, indices, errors, copies, arrays, batches.

A value holds Python floats: that is what makes one operation as fast as one call into C++. A batch
is the same object with an array of one shape in the place of each float, so that the same formulas
compute both. Inside one `Vector` or `Rotation` all are floats, or all are arrays of one shape.

What a value holds is never written into: an operation in place puts new numbers there. So arrays
can be looked at without copying them.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable
from math import copysign, cos, dist, inf, nan, sin
from types import MethodType
from typing import Any, ClassVar, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from linkwork.arrays import real_array
from linkwork.errors import InputError, LinkworkError, ShapeError

Floats = NDArray[np.float64]
Numbers = tuple[float, ...]
V = TypeVar("V", bound="Value")
T = TypeVar("T")

EPS = 1e-6
"""How near two numbers are that count as equal (row S3-014)."""

ABSENT: Any = type("Absent", (), {"__repr__": lambda self: "<not given>"})()
"""An argument that was not given."""


class WrongTypeError(LinkworkError, TypeError):
    """An argument or an operand of a type that the call does not take."""


class ElementError(LinkworkError, IndexError):
    """An index of an element that the value does not have."""


def kind_of(thing: object) -> str:
    """The type of a thing, as messages say it."""
    return "None" if thing is None else type(thing).__name__


def wrong(call: str, takes: str, *got: object) -> WrongTypeError:
    """The error of a call with arguments that it does not take."""
    kinds = ", ".join(kind_of(thing) for thing in got) or "nothing"
    return WrongTypeError(f"{call} takes {takes}, not {kinds}")


def unfit(left: Value, sign: str, right: object) -> Any:
    """What an operator gives for an operand that it does not take.

    NotImplemented where the other operand may know what to do.

    Raises: WrongTypeError where it cannot.
    """
    if type(right) is type(left) or type(right).__module__ in ("builtins", "numpy"):
        raise _undefined(left, sign, right)
    return NotImplemented


def _undefined(left: object, sign: str, right: object) -> WrongTypeError:
    kind = kind_of(left)
    known: dict[str, str] = getattr(left, "takes", {})
    there = f"{kind} {sign} takes {known[sign]}" if sign in known else f"{kind} has no {sign}"
    return WrongTypeError(f"{kind} {sign} {kind_of(right)} is not defined: {there}")


def number(value: Any, what: str) -> float:
    """A real number as a float; an array with an axis is a batch, and stays one.

    Raises: WrongTypeError for anything else, text included.
    """
    if value.__class__ is not int and isinstance(value, np.ndarray) and value.ndim:
        try:
            return real_array(value, what)  # pyright: ignore[reportReturnType] -- a batch
        except InputError as error:
            raise WrongTypeError(str(error)) from None
    if not isinstance(value, (str, bytes, bytearray, complex)):
        try:
            return float(value)
        except (TypeError, ValueError, OverflowError):
            pass
    text = f"{what} is a number, or an array of numbers for a batch, not {kind_of(value)}"
    raise WrongTypeError(text)


def numbers(values: Iterable[Any], what: str) -> tuple[Any, ...]:
    """Real numbers as floats, or where one is an array, all as arrays of one shape.

    Raises: WrongTypeError; ShapeError for shapes that do not fit together.
    """
    taken = [value if value.__class__ is float else number(value, what) for value in values]
    if all([value.__class__ is float for value in taken]):
        return tuple(taken)
    try:
        return tuple(np.broadcast_arrays(*taken))
    except ValueError:
        shapes = ", ".join(str(np.shape(value)) for value in taken)
        raise ShapeError(f"{what}: these shapes do not fit together: {shapes}") from None


def single(value: Any, what: str) -> float:
    """One real number as a float.

    Raises: WrongTypeError for anything else, a batch included.
    """
    taken = number(value, what)
    if taken.__class__ is not float:
        raise WrongTypeError(f"{what} is one number, not an array of shape {np.shape(taken)}")
    return taken


def index(i: Any, length: int, owner: str) -> int:
    """An index from 0 to length - 1.

    Raises: WrongTypeError for no integer, ElementError for one outside; there are no negative ones.
    """
    try:
        k = operator.index(i)
    except TypeError:
        text = f"elements of a {owner} have an integer 0 to {length - 1}, not {kind_of(i)}"
        raise WrongTypeError(text) from None
    if not 0 <= k < length:
        raise ElementError(f"elements of a {owner} have the indices 0 to {length - 1}, not {k}")
    return k


def pair_index(ij: Any, columns: int, owner: str) -> tuple[int, int]:
    """Row 0 to 2 and column 0 to columns - 1.

    Raises: WrongTypeError for anything but two integers, ElementError for one outside.
    """
    if not isinstance(ij, tuple) or len(ij) != 2:
        raise WrongTypeError(f"elements of a {owner} have two indices, as in value[0, 2]")
    return index(ij[0], 3, f"{owner} (rows)"), index(ij[1], columns, f"{owner} (columns)")


def quotients(these: Numbers, divisor: Any) -> tuple[Any, ...]:
    """Numbers divided, by zero as IEEE 754 has it: infinite, or nan for zeros (row S3-004)."""
    if divisor.__class__ is not float:
        divisor = number(divisor, "a divisor")
    try:
        return tuple([x / divisor for x in these])
    except ZeroDivisionError:
        many = copysign(inf, divisor)
        return tuple([x * many for x in these])


def sine_and_cosine(angle: Any, what: str = "an angle") -> tuple[Any, Any]:
    """Of a number or a batch; nan for what is not finite (row S3-041).

    Raises: WrongTypeError.
    """
    taken = number(angle, what)
    if taken.__class__ is not float:
        with np.errstate(invalid="ignore"):
            return np.sin(taken), np.cos(taken)
    try:
        return sin(taken), cos(taken)
    except ValueError:
        return nan, nan


def close(a: tuple[Any, ...], b: tuple[Any, ...], eps: float) -> Any:
    """Whether all numbers are nearer than eps to each other; an array of answers for batches."""
    if a[0].__class__ is b[0].__class__ is float:
        return close_floats(a, b, eps)
    near: Any = True
    with np.errstate(invalid="ignore"):
        for x, y in zip(a, b, strict=True):
            near = near & (np.abs(x - y) < eps)
    return near


def close_floats(a: Numbers, b: Numbers, eps: float) -> bool:
    """Whether all are nearer than eps: nan is near nothing, and with eps 0 nothing is near."""
    if dist(a, b) < eps:
        return True
    for x, y in zip(a, b, strict=True):  # all() of a generator: 3 times as long
        if not -eps < x - y < eps:
            return False
    return True


def shown(these: Iterable[Any]) -> str:
    """Numbers as KDL prints them: six digits, twelve places, commas between."""
    return ",".join([f"{x:12.6g}" for x in these])


def batch_text(value: Value) -> str:
    """What a batch says of itself."""
    return f"<{type(value).__name__}: a batch of shape {value.shape}>"


class Value:
    """The base of all value types: equality, copies, pickles, arrays and batches.

    A subclass gives its numbers in a row, and takes them (`_numbers`, `_assign`).
    """

    __slots__ = ()
    __hash__ = None  # equal within 1e-6 is not transitive: no hash can follow it
    __array_ufunc__ = None  # so that array * value asks the value
    takes: ClassVar[dict[str, str]] = {}
    """For each operator what its right side may be, in words."""
    array_shape: ClassVar[tuple[int, ...]] = ()
    """The shape of one value as an array."""

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
        return rows(self._numbers(), self.shape).reshape(*self.shape, *self.array_shape)

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


def rows(these: tuple[Any, ...], shape: tuple[int, ...]) -> Floats:
    """Numbers, or arrays of one shape, along a new last axis."""
    table = np.empty((*shape, len(these)))
    for k, value in enumerate(these):
        table[..., k] = value
    return table


def columns_of(array: Any, what: str, shape: tuple[int, ...]) -> tuple[Any, ...]:
    """The numbers of an array of this shape; views into it where it has more axes in front.

    Raises: ShapeError for another shape; InputError for what are no real numbers.
    """
    taken = real_array(array, what)
    if taken.shape[-len(shape) :] != shape or taken.ndim < len(shape):
        raise ShapeError(
            f"{what} has the shape (..., {str(shape)[1:-1].strip(',')}), not {taken.shape}"
        )
    if taken.ndim == len(shape):
        return tuple(taken.ravel().tolist())
    return tuple([taken[(..., *where)] for where in np.ndindex(*shape)])


class OnBoth(Generic[T]):
    """A method that may be called on the class and on an object; it is given the one or the other.

    Row S3-010: `Zero()` of the class gives a zero value; on an object it also sets it to zero.
    """

    def __init__(self, function: Callable[[Any], T]) -> None:
        self.__func__, self.__doc__ = function, function.__doc__

    def __get__(self, instance: object, owner: type) -> Callable[[], T]:
        return MethodType(self.__func__, owner if instance is None else instance)
