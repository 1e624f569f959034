"""Checked attributes: each knows what it takes, and refuses anything else before it changes.

What link poses are computed from must be noticed when it changes. Every assignment to an object
whose class is ``kinematic`` moves `EPOCH` on. Arrays can also be changed in place, but only by
whoever got them: a joint's arrays that have been handed out are remembered on the joint, and
compared before poses are computed.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linkwork.errors import InputError, LinkworkError, ShapeError, UnknownNameError
from linkwork.faces.urdfpy.rotations import xyz_rpy_to_matrix

Floats = NDArray[np.float64]

IDENTITY = np.eye(4)
IDENTITY.setflags(write=False)

SHORTEST_AXIS = 1e-100
"""Shorter axes have no direction: their squares vanish."""


class WrongTypeError(LinkworkError, TypeError):
    """A value of a type that the attribute does not take."""


class ForeignError(UnknownNameError):
    """A link, joint, transmission or material that belongs to no robot, or to another one."""

    def __init__(self, kind: str, name: str, valid: Sequence[str]) -> None:
        super().__init__(kind, name, valid)
        there = f"take the one of its name: robot.{kind}_map['{name}']"
        hint = there if name in self.valid else "none has its name"
        self.text = f"the {kind} '{name:.80}' is no {kind} of this robot; {hint}"
        self.args = (self.text,)

    def __reduce__(self) -> tuple[type[ForeignError], tuple[str, str, tuple[str, ...]]]:
        return (ForeignError, (self.kind, self.name, self.valid))


class Epoch:
    """A number that grows whenever something is assigned that poses may depend on."""

    def __init__(self) -> None:
        self.now = 0

    def move(self) -> None:
        """Something has changed."""
        self.now += 1


EPOCH = Epoch()


class Value:
    """An attribute whose values pass through ``check(owner, name, value)``."""

    def __init__(self, doc: str) -> None:
        self.__doc__ = doc
        self.name = self.slot = ""

    def __set_name__(self, owner: type, name: str) -> None:
        self.name, self.slot = name, f"_{name}"

    def __get__(self, owner: Any, kind: Any = None) -> Any:
        return self if owner is None else owner.__dict__[self.slot]

    def __set__(self, owner: Any, value: Any) -> None:
        owner.__dict__[self.slot] = self.check(owner, value)
        if owner.kinematic:
            EPOCH.now += 1

    def check(self, owner: Any, value: Any) -> Any:
        """The value as it is kept."""
        return value

    def what(self, owner: Any) -> str:
        """The attribute as messages name it."""
        return f"{type(owner).__name__}.{self.name}"


class Text(Value):
    """Text; anything else is turned into it. What is ``filled`` is not empty."""

    def __init__(self, doc: str, *, optional: bool = False, filled: bool = False) -> None:
        super().__init__(doc)
        self.optional, self.filled = optional, filled

    def check(self, owner: Any, value: Any) -> str | None:
        """Raises: WrongTypeError for None where there must be text; InputError for an empty one."""
        if value is None:
            if self.optional:
                return None
            raise WrongTypeError(f"{self.what(owner)} is a text, not None")
        text = str(value)
        if self.filled and not text:
            raise InputError(f"{self.what(owner)} must not be empty: a file could not say it")
        return text


class Number(Value):
    """A number; None is ``default`` where it may be left out."""

    def __init__(
        self, doc: str, *, optional: bool = False, default: float | None = None, bound: bool = False
    ) -> None:
        super().__init__(doc)
        self.optional, self.default, self.bound = optional, default, bound

    def check(self, owner: Any, value: Any) -> float | None:
        """Raises: WrongTypeError or InputError for what is no number; InputError for nan and inf.

        A ``bound`` may be infinite.
        """
        if type(value) is float and math.isfinite(value):
            return value
        if value is None and (self.optional or self._left_out(owner)):
            return self.default
        given: Any = value
        try:
            number = float(given)
        except TypeError:
            kind = type(value).__name__
            raise WrongTypeError(f"{self.what(owner)} is a number, not {kind}") from None
        except ValueError:
            raise InputError(f"{self.what(owner)} is a number, not {value!r:.60}") from None
        if math.isnan(number) or (math.isinf(number) and not self.bound):
            raise InputError(f"{self.what(owner)} must be finite, not {number}")
        return number

    def _left_out(self, owner: Any) -> bool:
        """Whether a program's table says that a file may leave it out."""
        return not owner._ATTRIBS.get(self.name, (float, True))[1]


class Part(Value):
    """An object of one class, or None where that is allowed."""

    def __init__(self, doc: str, kind: type, *, optional: bool = True) -> None:
        super().__init__(doc)
        self.kind, self.optional = kind, optional

    def check(self, owner: Any, value: Any) -> Any:
        """Raises: WrongTypeError."""
        if isinstance(value, self.kind) or (value is None and self.optional):
            return value
        given = type(value).__name__
        raise WrongTypeError(f"{self.what(owner)} is a {self.kind.__name__}, not {given}")


class Parts(Value):
    """A list of objects of one class; None is an empty one."""

    def __init__(self, doc: str, kind: type, error: type[LinkworkError] = WrongTypeError) -> None:
        super().__init__(doc)
        self.kind, self.error = kind, error

    def check(self, owner: Any, value: Any) -> list[Any]:
        """Raises: the attribute's error for what is no list, or a member of another class."""
        return members(self.what(owner), value, self.kind, self.error)


def members(
    what: str, value: Any, kind: type, error: type[LinkworkError] = WrongTypeError
) -> list[Any]:
    """A list of objects of one class; None is an empty one.

    Raises: the error for what is no list, or a member of another class.
    """
    if value is None:
        return []
    if isinstance(value, (str, bytes, dict)) or not hasattr(value, "__iter__"):
        raise error(f"{what} is a list of {kind.__name__}, not {type(value).__name__}")
    listed = list(value)
    for k, member in enumerate(listed):
        if not isinstance(member, kind):
            given = type(member).__name__
            raise error(f"{what}[{k}] is a {kind.__name__}, not {given}")
    return listed


class Array(Value):
    """An array that is kept as a copy of what was given; see the module's text for ``watched``."""

    def __init__(
        self, doc: str, check: Callable[[Any, str, Any], Any], *, watched: bool = False
    ) -> None:
        super().__init__(doc)
        self._check, self.watched = check, watched

    def __get__(self, owner: Any, kind: Any = None) -> Any:
        if owner is None:
            return self
        state = owner.__dict__
        if self.watched and self.slot not in state["_lent"]:
            state["_lent"].add(self.slot)
            EPOCH.move()
        return state[self.slot]

    def __set__(self, owner: Any, value: Any) -> None:
        checked = self.check(owner, value)
        if self.watched:
            owner.__dict__.setdefault("_lent", set()).discard(self.slot)
        owner.__dict__[self.slot] = checked
        if owner.kinematic:
            EPOCH.move()

    def check(self, owner: Any, value: Any) -> Any:
        """The value as an array of its own."""
        return self._check(owner, self.what(owner), value)


def numbers(what: str, value: Any, *shapes: tuple[int, ...]) -> Floats:
    """Finite numbers of one of these shapes, as an array of their own.

    Raises: WrongTypeError for what is no array or list; ShapeError; InputError.
    """
    if not isinstance(value, (np.ndarray, list, tuple)):
        listed = " or ".join(map(str, shapes))
        kind = type(value).__name__
        raise WrongTypeError(f"{what} is an array of shape {listed}, not {kind}")
    try:
        array = np.array(value, np.float64)
    except (TypeError, ValueError):
        raise InputError(f"{what} must be numbers, not {value!r:.80}") from None
    if array.shape not in shapes:
        listed = " or ".join(map(str, shapes))
        raise ShapeError(f"{what} has the shape {listed}, not {array.shape}")
    if not _finite(array):
        raise InputError(f"{what} must be finite, not {array.tolist()}")
    return array


_FEW = 16  # up to here Python's own numbers are faster than a call of NumPy


def _finite(array: Floats) -> bool:
    if array.size <= _FEW:
        return all(map(math.isfinite, array.ravel().tolist()))
    return bool(np.isfinite(array).all())


def pose(_: Any, what: str, value: Any) -> Floats:
    """A pose (4, 4): as it is, from (6,) xyz and rpy, or the identity for None."""
    if value is None:
        return IDENTITY.copy()
    array = numbers(what, value, (4, 4), (6,))
    if array.shape == (6,):
        return xyz_rpy_to_matrix(array)
    if array[3].tolist() != [0.0, 0.0, 0.0, 1.0]:
        raise InputError(f"{what} has the last row 0 0 0 1, not {array[3].tolist()}")
    return array


def vector(_: Any, what: str, value: Any) -> Floats:
    """Three numbers."""
    return numbers(what, value, (3,))


def optional_vector(owner: Any, what: str, value: Any) -> Floats | None:
    """Three numbers, or None."""
    return None if value is None else vector(owner, what, value)


def colour(_: Any, what: str, value: Any) -> Floats | None:
    """Four numbers, moved into 0 to 1; None for no colour."""
    return None if value is None else np.clip(numbers(what, value, (4,)), 0.0, 1.0)


def symmetric(_: Any, what: str, value: Any) -> Floats:
    """A symmetric matrix (3, 3)."""
    array = numbers(what, value, (3, 3))
    rows = array.tolist()
    if rows != list(map(list, zip(*rows, strict=True))) and not np.allclose(array, array.T):
        raise InputError(f"{what} must be symmetric, not {array.tolist()}")
    return array


def scale_factors(scale: Any) -> Floats:
    """Three factors above zero: as given, or one for all.

    Raises: InputError.
    """
    try:
        factors = np.array(scale, np.float64)
    except (TypeError, ValueError):
        factors = np.zeros(0)
    fits = factors.shape in ((), (1,), (3,))
    if not fits or not ((0.0 < factors) & (factors < np.inf)).all():
        raise InputError(f"scale is a number above zero, or three of them, not {scale!r:.60}")
    return np.broadcast_to(factors, 3)


def direction(what: str, value: Any) -> Floats | None:
    """A unit vector (3,); None for a zero one."""
    x, y, z = numbers(what, value, (3,)).tolist()
    largest = max(abs(x), abs(y), abs(z))
    if largest < SHORTEST_AXIS:
        return None
    x, y, z = x / largest, y / largest, z / largest  # so that squares neither overflow nor vanish
    length = math.sqrt(x * x + y * y + z * z)
    return np.array([x / length, y / length, z / length])


def outside() -> int:
    """The ``stacklevel`` of a warning about what a program gives: its line, not one of a face.

    To be called where the warning is given.
    """
    frame, level = inspect.currentframe(), 0
    faces = f"{str(__package__).rpartition('.')[0]}."
    while frame is not None and frame.f_globals.get("__name__", "").startswith(faces):
        frame, level = frame.f_back, level + 1
    return level
