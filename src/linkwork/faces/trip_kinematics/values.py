"""Values of states: finite numbers, or CasADi symbols where a program computes with these."""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping
from typing import Any, cast

import numpy as np

from linkwork.errors import InputError
from linkwork.faces.trip_kinematics.mistakes import NotFiniteError, WrongTypeError

Values = dict[str, Any]
"""Keys to numbers (m, rad, or parts of a quaternion), or to CasADi SX scalars."""


QUATERNION = ("qw", "qx", "qy", "qz")


def is_symbol(value: Any) -> bool:
    """Whether a value is an expression of CasADi."""
    casadi: Any = sys.modules.get("casadi")
    return casadi is not None and isinstance(value, (casadi.SX, casadi.MX))


def _symbol(value: Any, what: str) -> Any:
    """An SX scalar, or the number that it is.

    Raises: InputError.
    """
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


def copied(state: Mapping[str, Mapping[str, Any]]) -> dict[str, Values]:
    """A virtual state that can be changed without changing this one."""
    return {name: dict(values) for name, values in state.items()}


def quaternion_of(values: Mapping[str, Any]) -> list[Any]:
    """The quaternion of some values; none at all, or one of zeros, is no rotation."""
    parts = [values.get(key, 0.0) for key in QUATERNION]
    zero = all(isinstance(part, float) and part == 0.0 for part in parts)
    return [1.0, 0.0, 0.0, 0.0] if zero else parts
