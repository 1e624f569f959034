"""Numbers, indices, errors, copies, arrays and batches: what the value types of this face share.

A value holds Python floats: that is what makes one operation as fast as one call into C++. A batch
is the same object with an array of one shape in the place of each float, so that the same formulas
compute both. Inside one `Vector` or `Rotation` all are floats, or all are arrays of one shape.

What a value holds is never written into: an operation in place puts new numbers there. So arrays
can be looked at without copying them.
"""
# The value types of this face read each other's slots: that is what makes them fast.
# pyright: reportPrivateUsage=false

from __future__ import annotations

import operator
import warnings
from collections.abc import Callable, Iterable, Iterator
from math import copysign, cos, dist, inf, nan, sin
from operator import attrgetter
from typing import Any, ClassVar, TypeVar

import numpy as np
from numpy.typing import NDArray

from linkwork.checks import real_array
from linkwork.errors import InputError, LinkworkError, ShapeError

Floats = NDArray[np.float64]
Three = tuple[float, float, float]
Nine = tuple[float, float, float, float, float, float, float, float, float]
V = TypeVar("V", bound="Value")
L = TypeVar("L", bound="Linear")

EPS = 1e-6
"""How near two numbers are that count as equal (row S3-014)."""
ZEROS: Three = (0.0, 0.0, 0.0)
ABSENT: Any = type("Absent", (), {"__repr__": lambda self: "<not given>"})()
"""An argument that was not given."""

_new = object.__new__
_LARGE = 2**62  # what is larger goes the slower way, which finds what is too large


# errors and warnings


class WrongTypeError(LinkworkError, TypeError):
    """An argument or an operand of a type that the call does not take."""


class ElementError(LinkworkError, IndexError):
    """An index of an element that the value does not have."""


class ZeroQuaternionWarning(LinkworkError, RuntimeWarning):
    """A quaternion (0, 0, 0, 0), in whose place no rotation was taken."""


class ZeroAxisWarning(LinkworkError, RuntimeWarning):
    """An axis without direction, in whose place the x axis was taken."""


def kind_of(thing: object) -> str:
    """The type of a thing, as messages say it."""
    return "None" if thing is None else type(thing).__name__


def wrong(call: str, takes: str, *got: object) -> WrongTypeError:
    """The error of a call with arguments that it does not take; those not given are left out."""
    kinds = ", ".join(kind_of(thing) for thing in got if thing is not ABSENT) or "nothing"
    return WrongTypeError(f"{call} takes {takes}, not {kinds}")


def warn_of_zero_quaternion() -> None:
    """Warn the line that has called `Rotation.Quaternion`."""
    text = (
        "a quaternion (0, 0, 0, 0) is no rotation, as in a message that nobody has filled: the "
        "identity (0, 0, 0, 1) is taken in its place"
    )
    warnings.warn(text, ZeroQuaternionWarning, stacklevel=5)


def warn_of_zero_axis() -> None:
    """Warn the line that has called `Rotation.Rot`."""
    text = "an axis shorter than 1e-6 has no direction: the x axis is taken in its place"
    warnings.warn(text, ZeroAxisWarning, stacklevel=3)


# numbers and indices


def number(value: Any, what: str) -> float:
    """A real number as a float; an array with an axis is a batch, and stays one.

    Raises: WrongTypeError for anything else, text included.
    """
    if value.__class__ is int:
        try:
            return float(value)
        except OverflowError:
            raise WrongTypeError(f"{what} is too large for a float") from None
    if isinstance(value, np.ndarray) and value.ndim:
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


def numbers(values: Iterable[Any], what: str) -> Any:
    """Real numbers as a tuple of floats, or where one is an array, all as arrays of one shape.

    Raises: WrongTypeError; ShapeError for shapes that do not fit together.
    """
    taken: list[Any] = []
    for value in values:
        kind = value.__class__
        if kind is float:
            taken.append(value)
        elif kind is int and -_LARGE < value < _LARGE:
            taken.append(float(value))
        else:
            taken.append(number(value, what))
    for value in taken:
        if value.__class__ is not float:
            return of_one_shape(taken, what)
    return tuple(taken)


def of_one_shape(these: Any, what: str = "these numbers") -> Any:
    """Floats as they are; where one is an array, all as arrays of one shape.

    Raises: ShapeError.
    """
    try:
        return tuple(np.broadcast_arrays(*these))
    except ValueError:
        shapes = ", ".join(str(np.shape(value)) for value in these)
        raise ShapeError(f"{what}: these shapes do not fit together: {shapes}") from None


def replaced(these: tuple[Any, ...], k: int, value: Any, what: str) -> Any:
    """Numbers of which one is another; where one is an array, all are.

    Raises: WrongTypeError; ShapeError.
    """
    changed = list(these)
    changed[k] = value
    if value.__class__ is these[0].__class__ is float:
        return tuple(changed)
    return numbers(changed, what)


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


def pair_index(ij: Any, rows: int, columns: int, owner: str, thing: str = "value") -> Any:
    """A row from 0 to rows - 1 and a column from 0 to columns - 1.

    Raises: WrongTypeError for anything but two integers, ElementError for one outside.
    """
    if not isinstance(ij, tuple) or len(ij) != 2:
        raise WrongTypeError(f"elements of a {owner} have two indices, as in {thing}[0, 2]")
    i, j = ij
    if i.__class__ is j.__class__ is int and -1 < i < rows and -1 < j < columns:
        return ij
    return index(i, rows, f"{owner} (rows)"), index(j, columns, f"{owner} (columns)")


def quotients(these: tuple[Any, ...], divisor: Any) -> Any:
    """Numbers divided, by zero as IEEE 754 has it: infinite, or nan for zeros (row S3-004)."""
    if divisor.__class__ is not float:
        divisor = number(divisor, "a divisor")
    try:
        return tuple([x / divisor for x in these])
    except ZeroDivisionError:
        many = copysign(inf, divisor)
        return tuple([x * many for x in these])


def sine_and_cosine(angle: Any) -> tuple[Any, Any]:
    """Sine and cosine of a number or a batch; nan for what is not finite (row S3-041).

    Raises: WrongTypeError.
    """
    if angle.__class__ is float:
        try:
            return sin(angle), cos(angle)
        except ValueError:
            return nan, nan
    taken = number(angle, "an angle")
    if taken.__class__ is float:
        return sine_and_cosine(taken)
    with np.errstate(invalid="ignore"):
        return np.sin(taken), np.cos(taken)


def near(a: tuple[Any, ...], b: tuple[Any, ...], eps: float) -> Any:
    """Whether all are nearer than eps to each other; an array of answers for batches.

    In each of the two all are floats, or all arrays of one shape. Nothing is near nan, and nothing
    at all with eps 0.
    """
    if a[0].__class__ is b[0].__class__ is float:
        away = dist(a, b)  # between the largest difference and 4.3 times that, for 18 of them
        if away < eps:
            return True
        if away > 5.0 * eps > 0.0:
            return False
        for x, y in zip(a, b, strict=True):  # all() of a generator: 3 times as long
            if not -eps < x - y < eps:
                return False
        return True
    answer: Any = True
    with np.errstate(invalid="ignore"):
        for x, y in zip(a, b, strict=True):
            answer = answer & (np.abs(x - y) < eps)
    return answer


def shown(these: Iterable[Any], width: int = 0) -> str:
    """Numbers as KDL prints them: six digits, twelve places, commas between; in rows of a width."""
    texts = [f"{x:12.6g}" for x in these]
    width = width or len(texts)
    rows = [",".join(texts[k : k + width]) for k in range(0, len(texts), width)]
    return f"[{(';' + chr(10) + ' ').join(rows)}]"


def columns_of(array: Any, what: str, shape: tuple[int, ...]) -> Any:
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


# values


def unfit(left: Value, sign: str, right: object) -> Any:
    """The answer of an operator for an operand that it does not take.

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


def filled(kind: Any, left: Iterator[Any]) -> Any:
    """A value, a float or a tuple of floats out of numbers in a row; see `Value._held`."""
    if kind is float:
        return next(left)
    if isinstance(kind, int):
        return tuple([next(left) for _ in range(kind)])
    made = _new(kind)
    for name, each in kind._held:
        setattr(made, name, filled(each, left))
    return made


def flat(thing: Any) -> list[Any]:
    """The numbers of a value, of a number or of a tuple of such, in a row."""
    if isinstance(thing, Value):
        return list(thing._numbers())
    if isinstance(thing, tuple):
        return [x for each in thing for x in flat(each)]
    return [thing]


class Value:
    """The base of all value types: equality, copies, pickles, arrays and batches.

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

    def _numbers(self) -> Any:
        """Its numbers in a row."""
        return tuple([x for name, _ in self._held for x in flat(getattr(self, name))])

    def _assign(self, these: Any) -> None:
        """Become a value of these numbers, in parts of its own."""
        left = iter(these)
        for name, kind in self._held:
            setattr(self, name, filled(kind, left))

    def _put(self, other: Any) -> None:
        """Take the numbers of another into the parts that there are."""
        for name, kind in self._held:
            if isinstance(kind, type) and issubclass(kind, Value):
                getattr(self, name)._put(getattr(other, name))
            else:
                setattr(self, name, getattr(other, name))

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
        other = _new(type(self))
        other._assign(tuple([x if np.ndim(x) else float(x) for x in these]))
        return other

    def ToArray(self) -> Floats:
        """A new array of the numbers: `array_shape`, after the shape of the batch."""
        these = self._numbers()
        if all([x.__class__ is float for x in these]):
            return np.array(these).reshape(self.array_shape)
        shape = self.shape
        table = np.stack([np.broadcast_to(x, shape) for x in these], axis=-1)
        return table.reshape(*shape, *self.array_shape)

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
        if same is NotImplemented:
            return same
        return ~same if isinstance(same, np.ndarray) else not same

    def _near(self, other: Any, eps: float) -> Any:
        """Whether all numbers are nearer than eps."""
        a, b = self._numbers(), other._numbers()
        if all([x.__class__ is float for x in (*a, *b)]):
            return near(a, b, eps)
        return near(of_one_shape(a), of_one_shape(b), eps)

    def __copy__(self: V) -> V:
        other = _new(type(self))
        other._assign(self._numbers())
        return other

    def __deepcopy__(self: V, memo: dict[int, Any]) -> V:
        return self.__copy__()

    def __getstate__(self) -> Any:
        return self._numbers()

    def __setstate__(self, state: Any) -> None:
        self._assign(state)

    def __radd__(self, other: object) -> Any:
        raise _undefined(other, "+", self)

    def __rsub__(self, other: object) -> Any:
        raise _undefined(other, "-", self)

    def __rmul__(self, other: object) -> Any:
        raise _undefined(other, "*", self)

    def __rtruediv__(self, other: object) -> Any:
        raise _undefined(other, "/", self)

    def __repr__(self) -> str:
        if any([x.__class__ is not float for x in self._numbers()]):
            return f"<{type(self).__name__}: a batch of shape {self.shape}>"
        return self._text()

    def _text(self) -> str:
        """One value, as KDL prints it."""
        width = self.array_shape[-1] if len(self.array_shape) > 1 else 0
        return shown(self._numbers(), width)


class Linear(Value):
    """The base of values that are added, and multiplied and divided by numbers."""

    __slots__ = ()

    def _scaled(self: L, factor: Any) -> L:
        """Times a float, or an array of them."""
        raise NotImplementedError

    def _divided(self: L, divisor: Any) -> L:
        """Divided by a float, or an array of them, as IEEE 754 has it."""
        raise NotImplementedError

    def __add__(self, other: Any) -> Any:
        raise NotImplementedError

    def __sub__(self, other: Any) -> Any:
        raise NotImplementedError

    def __neg__(self: L) -> L:
        raise NotImplementedError

    def __mul__(self, other: Any) -> Any:
        factor = other if other.__class__ is float else factor_of(self, "*", other)
        return factor if factor is NotImplemented else self._scaled(factor)

    def __rmul__(self, other: Any) -> Any:
        factor = other if other.__class__ is float else factor_of(self, "*", other)
        return super().__rmul__(other) if factor is NotImplemented else self._scaled(factor)

    def __truediv__(self, other: Any) -> Any:
        divisor = other if other.__class__ is float else factor_of(self, "/", other)
        return divisor if divisor is NotImplemented else self._divided(divisor)

    def __iadd__(self, other: Any) -> Any:
        return self._become(self.__add__(other))

    def __isub__(self, other: Any) -> Any:
        return self._become(self.__sub__(other))

    def _become(self, found: Any) -> Any:
        if found is NotImplemented:
            return found
        self._put(found)
        return self

    def ReverseSign(self) -> None:
        """Turn it round, in place."""
        self._put(-self)

    def _clear(self) -> None:
        """Become zero, in place."""
        self._put(type(self)())


def factor_of(left: Value, sign: str, other: Any) -> Any:
    """The number that a value is multiplied or divided by, a batch of them, or NotImplemented.

    Raises: WrongTypeError.
    """
    if isinstance(other, Value):
        return unfit(left, sign, other)
    try:
        return number(other, "a factor")
    except TypeError:
        return unfit(left, sign, other)


class Zero:
    """The method ``Zero()``: of a class a zero value; on an object the same, and it becomes zero.

    Row S3-010.
    """

    def __set_name__(self, owner: type[Value], name: str) -> None:
        self._owner = owner

    def __get__(self, instance: Any, owner: type) -> Callable[[], Any]:
        kind = self._owner

        def zero() -> Value:
            """A zero value; of an object, which becomes zero too."""
            if instance is not None:
                instance._put(kind())
            return kind()

        return zero


def live(slot: str, kind: type[Any], name: str, what: str) -> Any:
    """The property of a part: live where it is read, copied where it is set.

    Setting raises: WrongTypeError.
    """
    return live_property(attrgetter(slot), kind, name, what)


def live_property(read: Callable[[Any], Any], kind: type[Any], name: str, what: str) -> Any:
    """As `live`, of a part that is made when it is read."""

    def put(self: Any, value: Any) -> None:
        if not isinstance(value, kind):
            raise wrong(name, f"a {kind.__name__}", value)
        read(self)._put(value)

    return property(read, put, doc=f"{what}, live; setting it copies.")
