"""Values of states, finite numbers or CasADi symbols; arrays and blocks of them; and the errors.

Each error is also of the built-in kind that the original's documentation names. No other module of
the face touches CasADi; where it is missing, whoever needs it is told so.
"""

from __future__ import annotations

import copy
import math
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from linkwork import extras
from linkwork.errors import InputError, LinkworkError, UnknownNameError
from linkwork.ops import Ops
from linkwork.ops.numpy import NUMPY

# mistakes


_SHOWN = 40
"""Names that a message lists."""


class WrongTypeError(LinkworkError, TypeError):
    """A value of a type that the call does not take."""


class UnknownKeyError(UnknownNameError, InputError):
    """A key of a state, or the name of a joint or group, that does not exist.

    The documentation names KeyError in some calls and ValueError in others; this is both.
    """

    def __init__(self, kind: str, name: object, valid: Sequence[str]) -> None:
        super().__init__(kind, str(name), valid)
        more = ", ..." if len(self.valid) > _SHOWN else ""
        self.text = f"no {kind} named '{name!s:.80}'; there are: {listed(self.valid[:_SHOWN])}"
        self.text += more
        self.args = (self.text,)

    def __reduce__(self) -> tuple[type[UnknownKeyError], tuple[str, str, tuple[str, ...]]]:
        return (UnknownKeyError, (self.kind, self.name, self.valid))


class NameClashError(LinkworkError, KeyError):
    """Two parts of a robot with one name."""

    def __str__(self) -> str:
        return str(self.args[0])


class MappingError(InputError, RuntimeError):
    """A mapping of a group gave something else than a state, or a state that is not finite."""


class NotFiniteError(InputError):
    """A value that is NaN or infinite."""


class StaticGroupError(LinkworkError, RuntimeError):
    """A state was given to a group in which nothing moves."""


class TipError(InputError, RuntimeError, KeyError):
    """An initial tip of a solver with another number of values than the chain has.

    The documentation names RuntimeError; the original raises KeyError where joints are left out.
    """

    def __str__(self) -> str:
        return str(self.args[0])


class NoSolution(LinkworkError, RuntimeError):
    """No state of the robot brings the end effector to the target."""


class NotAssembledError(NoSolution, InputError):
    """A state at which the loops of a mechanism cannot be closed."""


class SequenceError(InputError, AssertionError):
    """An order of Euler angles that is not there."""


class StateWarning(UserWarning):
    """The virtual and the actuated state that a group was made with do not agree."""


def listed(names: Iterable[object]) -> str:
    """Names as they stand in a message."""
    return ", ".join(f"'{name}'" for name in names) or "none"


# values


Values = dict[str, Any]
"""Keys to numbers (m, rad, or parts of a quaternion), or to CasADi SX scalars."""


QUATERNION = ("qw", "qx", "qy", "qz")


def is_symbol(value: Any) -> bool:
    """Whether a value is an expression of CasADi."""
    casadi: Any = sys.modules.get("casadi")
    return casadi is not None and isinstance(value, (casadi.SX, casadi.MX))


def _symbol(value: Any, what: str) -> Any:
    """An SX scalar, or the number that it is."""
    if type(value).__name__ != "SX" or value.numel() != 1:
        raise InputError(f"{what} takes a scalar SX of CasADi, not {type(value).__name__}")
    return number(float(value), what) if value.is_constant() else value


def number(value: Any, what: str) -> Any:
    """A finite float, from a number or from what holds one (arrays of length 1, DM); SX as it is.

    Raises: InputError for what is not finite or not one number; WrongTypeError for what is none.
    """
    if isinstance(value, float) and math.isfinite(value):
        return float(value)
    if is_symbol(value):
        return _symbol(value, what)
    if isinstance(value, np.ndarray) and value.dtype == object and value.size == 1:
        return number(value.reshape(-1)[0], what)
    try:
        if value is None:  # which NumPy makes NaN
            raise TypeError
        array = np.asarray(value, np.float64)
    except (TypeError, ValueError):
        raise WrongTypeError(f"{what} takes a number, not {value!r:.60}") from None
    if array.size != 1:
        raise InputError(f"{what} takes one number, not an array of shape {array.shape}")
    found = float(array.reshape(()))
    if not math.isfinite(found):
        raise NotFiniteError(f"{what} must be finite, not {found}")
    return found


def mapping_of(value: Any, what: str) -> dict[Any, Any]:
    """A copy of a dict.

    Raises: WrongTypeError for anything else.
    """
    if not isinstance(value, Mapping):
        raise WrongTypeError(f"{what} is a dict, not {type(value).__name__}")
    return dict(cast("Mapping[Any, Any]", value))


def quaternion_of(values: Mapping[str, Any]) -> list[Any]:
    """The quaternion of some values; none at all, or one of zeros, is no rotation."""
    parts = [values.get(key, 0.0) for key in QUATERNION]
    zero = all(isinstance(part, float) and part == 0.0 for part in parts)
    return [1.0, 0.0, 0.0, 0.0] if zero else parts


# symbols: arrays of floats and SX for programs, blocks for the core


def symbol(name: str) -> Any:
    """A scalar SX of this name."""
    return extras.casadi().SX.sym(name)


def computed(function: Callable[..., Any], *given: Any) -> Any:
    """``function(o, *given)``, written over the operations ``o``, of numbers, arrays and SX.

    Its block as `as_array` gives it, a scalar as a float or an SX.
    """
    if any(map(is_symbol, given)):
        from linkwork.compile.symbolic import on_symbols  # noqa: PLC0415 -- imports CasADi

        def of_scalars(o: Ops, *blocks: Any) -> Any:
            pairs = zip(given, blocks, strict=True)
            scalars = [block[0] if is_symbol(x) and x.numel() == 1 else block for x, block in pairs]
            return function(o, *scalars)

        found = on_symbols(of_scalars, *given)
        return found if found.numel() == 1 else as_array(found)
    found = function(NUMPY, *given)
    return as_array(found) if np.ndim(found) else float(found)


def unpacking(pose: Any, symbols: list[Any], keys: list[list[str]]) -> Any:
    """An SX that also unpacks into itself, its symbols and their keys."""
    found = _unpacking_sx()(pose)
    found.parts = (pose, symbols, keys)
    return found


@cache
def _unpacking_sx() -> Any:
    """The class of `unpacking`: CasADi is there only once symbols are."""
    ca = extras.casadi()

    class SymbolicPose(ca.SX):
        parts: tuple[Any, ...] = ()

        def __iter__(self) -> Iterator[Any]:
            return iter(self.parts)

    return SymbolicPose


def as_array(block: Any) -> NDArray[Any]:
    """A matrix or vector of floats, or of objects (floats and SX) where the block is symbolic."""
    if not is_symbol(block):
        return np.array(block, np.float64)
    rows, columns = block.shape
    found = np.zeros((rows, columns), object)
    for i in range(rows):
        for j in range(columns):
            entry = block[i, j]
            found[i, j] = float(entry) if entry.is_constant() else entry
    return found if columns > 1 else found[:, 0]


def as_block(array: Any) -> Any:
    """The result of `as_array` as a block: floats, or one SX."""
    if is_symbol(array):
        return array
    given = np.asarray(array)
    if given.dtype != object:
        return given.astype(np.float64)
    return as_sx(given.reshape(len(given), -1).tolist())


def as_sx(rows: list[list[Any]]) -> Any:
    """Rows of numbers and SX as one SX."""
    ca = extras.casadi()
    return ca.vertcat(*(ca.horzcat(*(ca.SX(entry) for entry in row)) for row in rows))


# both


def deep_copy(original: Any, own: Collection[str], memo: dict[int, Any]) -> Any:
    """A copy by `copy.copy`, in which attributes are copied deeply that are not of its ``own``."""
    made = copy.copy(original)
    memo[id(original)] = made
    for name, value in vars(original).items():
        if name not in own:
            vars(made)[name] = copy.deepcopy(value, memo)
    return made


class NamesOfModule(type):
    """The class of classes that stand for their module; instances see nothing of it."""

    def __getattr__(cls, name: str) -> Any:
        module = sys.modules[cls.__module__]
        if name in getattr(module, "__all__", ()):
            return getattr(module, name)
        raise AttributeError(f"type object '{cls.__name__}' has no attribute '{name}'")
