"""Numbers of the value types: taken, divided, compared, shown; indices, errors, arrays.

A number is a Python float, or an array where the value is a batch.
"""

from __future__ import annotations

import operator
import warnings
from collections.abc import Iterable
from math import copysign, cos, dist, inf, nan, sin
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linkwork.checks import real_array
from linkwork.errors import InputError, LinkworkError, ShapeError

Floats = NDArray[np.float64]
Numbers = tuple[float, ...]

EPS = 1e-6
"""How near two numbers are that count as equal (row S3-014)."""

ABSENT: Any = type("Absent", (), {"__repr__": lambda self: "<not given>"})()
"""An argument that was not given."""

_LARGE = 2**62  # what is larger goes the slower way, which finds what is too large


class WrongTypeError(LinkworkError, TypeError):
    """An argument or an operand of a type that the call does not take."""


class ZeroQuaternionWarning(LinkworkError, RuntimeWarning):
    """A quaternion (0, 0, 0, 0), in whose place no rotation was taken."""


class ElementError(LinkworkError, IndexError):
    """An index of an element that the value does not have."""


def kind_of(thing: object) -> str:
    """The type of a thing, as messages say it."""
    return "None" if thing is None else type(thing).__name__


def wrong(call: str, takes: str, *got: object) -> WrongTypeError:
    """The error of a call with arguments that it does not take."""
    kinds = ", ".join(kind_of(thing) for thing in got) or "nothing"
    return WrongTypeError(f"{call} takes {takes}, not {kinds}")


def warn_of_zero_quaternion() -> None:
    """Say it of the line that has called `Rotation.Quaternion`."""
    text = (
        "a quaternion (0, 0, 0, 0) is no rotation, as in a message that nobody has filled: the "
        "identity (0, 0, 0, 1) is taken in its place"
    )
    warnings.warn(text, ZeroQuaternionWarning, stacklevel=5)


def two_arguments(
    call: str, given: tuple[Any, ...], named: dict[str, Any], names: tuple[tuple[str, str], ...]
) -> list[Any]:
    """Two arguments by their places, or by either of the two names that each has.

    Raises: WrongTypeError for more of them, and for other names.
    """
    two = [*given, ABSENT, ABSENT][: max(2, len(given))]
    for k, both in enumerate(names):
        for name in both:
            if name in named and two[k] is ABSENT:
                two[k] = named.pop(name)
    if named or len(two) > 2:
        raise wrong(call, "at most two arguments: see its documentation", *given, *named.values())
    return two


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


def numbers(values: Iterable[Any], what: str) -> tuple[Any, ...]:
    """Real numbers as floats, or where one is an array, all as arrays of one shape.

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
            return _of_one_shape(taken, what)
    return tuple(taken)


def _of_one_shape(taken: list[Any], what: str) -> tuple[Any, ...]:
    try:
        return tuple(np.broadcast_arrays(*taken))
    except ValueError:
        shapes = ", ".join(str(np.shape(value)) for value in taken)
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


def pair_index(ij: Any, columns: int, owner: str) -> tuple[int, int]:
    """Row 0 to 2 and column 0 to columns - 1.

    Raises: WrongTypeError for anything but two integers, ElementError for one outside.
    """
    if not isinstance(ij, tuple) or len(ij) != 2:
        raise WrongTypeError(f"elements of a {owner} have two indices, as in value[0, 2]")
    i, j = ij
    if i.__class__ is j.__class__ is int and -1 < i < 3 and -1 < j < columns:
        return i, j
    return index(i, 3, f"{owner} (rows)"), index(j, columns, f"{owner} (columns)")


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
    if angle.__class__ is float:
        try:
            return sin(angle), cos(angle)
        except ValueError:
            return nan, nan
    taken = number(angle, what)
    if taken.__class__ is float:
        return sine_and_cosine(taken)
    with np.errstate(invalid="ignore"):
        return np.sin(taken), np.cos(taken)


def close(a: tuple[Any, ...], b: tuple[Any, ...], eps: float) -> Any:
    """Whether all numbers are nearer than eps to each other; an array of answers for batches."""
    if all([x.__class__ is float for x in (*a, *b)]):
        return close_floats(a, b, eps)
    near: Any = True
    with np.errstate(invalid="ignore"):
        for x, y in zip(a, b, strict=True):
            near = near & (np.abs(x - y) < eps)
    return near


def near(a: tuple[Any, ...], b: tuple[Any, ...], eps: float) -> Any:
    """As `close`, of two tuples in each of which all are floats, or all are arrays."""
    if a[0].__class__ is b[0].__class__ is float:
        return close_floats(a, b, eps)
    return close(a, b, eps)


def close_floats(a: Numbers, b: Numbers, eps: float) -> bool:
    """Whether all are nearer than eps: nan is near nothing, and with eps 0 nothing is near."""
    away = dist(
        a, b
    )  # at least as much as the largest difference, at most 4.3 times for 18 of them
    if away < eps:
        return True
    if away > 5.0 * eps > 0.0:
        return False
    for x, y in zip(a, b, strict=True):  # all() of a generator: 3 times as long
        if not -eps < x - y < eps:
            return False
    return True


def shown(these: Iterable[Any]) -> str:
    """Numbers as KDL prints them: six digits, twelve places, commas between."""
    return ",".join([f"{x:12.6g}" for x in these])


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
