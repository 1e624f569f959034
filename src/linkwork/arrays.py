"""What users give as numbers, as float64 arrays, by one rule for every call."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from linkwork.errors import InputError, ShapeError


def real_array(a: ArrayLike, name: str) -> NDArray[np.float64]:
    """Real numbers as float64, copied only where they must be converted.

    Integers and floats of up to 64 bits are taken, as arrays, lists or anything NumPy reads.

    Raises: InputError for text, truth values, complex numbers, objects, ragged lists and masked
    values, which would lose something in silence.
    """
    try:
        array = np.asarray(a)
    except (TypeError, ValueError):
        raise InputError(f"{name} must be real numbers, not {_kind(a)}") from None
    fits = array.dtype.kind in "fiu" and array.dtype.itemsize <= 8
    if not fits and array.size > 0:
        raise InputError(f"{name} must be real numbers, not {_kind(a)}")
    if isinstance(a, np.ma.MaskedArray) and np.ma.is_masked(a):
        raise InputError(f"{name} has masked values: fill or drop them first")
    return array.astype(np.float64, copy=False)


def real_rows(a: ArrayLike, name: str, length: int) -> NDArray[np.float64]:
    """Real numbers of shape (..., length) as float64.

    Raises: InputError as `real_array` does, ShapeError for another last axis or none.
    """
    rows = real_array(a, name)
    if rows.ndim == 0 or rows.shape[-1] != length:
        raise ShapeError(f"{name} must have shape (..., {length}), not {rows.shape}")
    return rows


def _kind(a: Any) -> str:
    dtype = getattr(a, "dtype", None)
    if dtype is not None:
        return f"an array of {dtype}"
    name = type(a).__name__
    return f"a {name} of other things" if isinstance(a, (list, tuple)) else f"of type {name}"


def plain(a: Any) -> Any:
    """A number or truth value of Python where an array has no axis; else the array as it is."""
    return a.item() if np.ndim(a) == 0 else a
