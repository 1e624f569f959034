"""What users give as numbers, as float64 arrays, by one rule for every call."""

from __future__ import annotations

import decimal
import math
import numbers
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from linkwork.errors import InputError, ShapeError

_BYTES = np.dtype(np.float64).itemsize


def real_array(a: ArrayLike, name: str) -> NDArray[np.float64]:
    """Real numbers as float64, copied only where they must be converted.

    Integers and floats of any size, fractions and decimals are taken, as arrays, lists or anything
    NumPy reads; each becomes the nearest float64.

    Raises: InputError for text, truth values, complex numbers, other objects, ragged lists, masked
    values and finite numbers that are too large for float64, which would lose something in silence.
    """
    try:
        array = np.asarray(a)
    except (TypeError, ValueError):
        raise InputError(f"{name} must be real numbers, not {_kind(a)}") from None
    if array.dtype.kind == "O":
        array = _of_objects(array, name, a)
    if array.dtype.kind not in "fiu" and array.size > 0:
        raise InputError(f"{name} must be real numbers, not {_kind(a)}")
    if isinstance(a, np.ma.MaskedArray) and np.ma.is_masked(a):
        raise InputError(f"{name} has masked values: fill or drop them first")
    if array.dtype.kind != "f" or array.dtype.itemsize <= _BYTES:
        return array.astype(np.float64, copy=False)
    with np.errstate(over="ignore"):
        converted = array.astype(np.float64)
    if (np.isinf(converted) & np.isfinite(array)).any():
        raise _too_large(name)
    return converted


def _of_objects(array: NDArray[Any], name: str, given: ArrayLike) -> NDArray[Any]:
    """Python's numbers that NumPy keeps as objects, as float64.

    Raises: InputError as `real_array` does.
    """
    values: list[Any] = array.reshape(-1).tolist()
    real = (numbers.Real, decimal.Decimal)
    if not all(isinstance(x, real) and not isinstance(x, bool) for x in values):
        raise InputError(f"{name} must be real numbers, not {_kind(given)}")
    try:
        converted = np.array([float(x) for x in values], np.float64)
    except ValueError:  # a signalling NaN
        raise InputError(f"{name} must be real numbers, not {_kind(given)}") from None
    except OverflowError:
        raise _too_large(name) from None
    if any(math.isinf(x) and x != value for x, value in zip(converted, values, strict=True)):
        raise _too_large(name)
    return converted.reshape(array.shape)


def real_rows(a: ArrayLike, name: str, length: int) -> NDArray[np.float64]:
    """Real numbers of shape (..., length) as float64.

    Raises: InputError as `real_array` does, ShapeError for another last axis or none.
    """
    rows = real_array(a, name)
    if rows.ndim == 0 or rows.shape[-1] != length:
        raise ShapeError(f"{name} must have shape (..., {length}), not {rows.shape}")
    return rows


def _too_large(name: str) -> InputError:
    return InputError(f"{name} must be real numbers that float64 reaches, up to 1.8e308 in size")


def _kind(a: Any) -> str:
    dtype = getattr(a, "dtype", None)
    if dtype is not None:
        return f"an array of {dtype}"
    name = type(a).__name__
    return f"a {name} of other things" if isinstance(a, (list, tuple)) else f"of type {name}"


def plain(a: Any) -> Any:
    """A number or truth value of Python where an array has no axis; else the array as it is."""
    return a.item() if np.ndim(a) == 0 else a
