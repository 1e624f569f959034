"""Checks of the numbers that people give, by one rule for every call.

``name`` is what the argument is called, after who takes it where that helps, as in "task 'tool0':
target"; every message begins with it. What stands in brackets is an index of the leading shape.
"""

from __future__ import annotations

import decimal
import math
import numbers
import sys
from collections.abc import Mapping, Sequence
from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from linkwork.conventions import RIGID_TOLERANCE
from linkwork.errors import InputError, ShapeError

Floats = NDArray[np.float64]

_BYTES = np.dtype(np.float64).itemsize
_LARGEST = 2**31 - 1

# --- single numbers -------------------------------------------------------------------------------


def shown(value: Any) -> str:
    """A value as messages show it: its literal, cut to 40 characters."""
    try:
        return f"{value!r:.40}"
    except (ValueError, TypeError, RecursionError):  # too many digits, or a repr of strangers
        return f"a value of type {type(value).__name__}"


def is_whole(value: Any) -> bool:
    """Whether a value is a whole number of Python or NumPy; truth values are none."""
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool)


def whole_number(value: Any, name: str, *, least: int = 1, most: int = _LARGEST) -> int:
    """A whole number from ``least`` to ``most``, by default one that fits into 31 bits.

    Raises: InputError.
    """
    if not (is_whole(value) and least <= value <= most):
        raise InputError(
            f"{name} must be a whole number from {least} to {most}, not {shown(value)}"
        )
    return int(value)


def finite_number(
    value: Any,
    name: str,
    *,
    least: float | None = None,
    above: float | None = None,
    most: float | None = None,
) -> float:
    """A finite real number, where asked for from ``least``, above ``above`` and up to ``most``.

    Raises: InputError for anything else, arrays with an axis, text and truth values included.
    """
    try:
        array = real_array(value, name)
        number = float(array) if array.ndim == 0 else math.nan
    except InputError:
        number = math.nan
    within = (
        math.isfinite(number)
        and (least is None or number >= least)
        and (above is None or number > above)
        and (most is None or number <= most)
    )
    if not within:
        bounds = [] if least is None else [f"from {least:g}"]
        bounds += [] if above is None else [f"above {above:g}"]
        bounds += [] if most is None else [f"up to {most:g}"]
        what = " ".join(["a finite number", *bounds])
        raise InputError(f"{name} must be {what}, not {shown(value)}")
    return number


# --- arrays ---------------------------------------------------------------------------------------


def real_array(a: ArrayLike, name: str) -> NDArray[np.float64]:
    """Real numbers as float64, copied only where they must be converted.

    Integers and floats of any size, fractions and decimals are taken, as arrays, lists or anything
    NumPy reads; each becomes the nearest float64.

    Raises: InputError for text, truth values, complex numbers, other objects, ragged lists, masked
    values and finite numbers that are too large for float64, which would lose something in silence;
    for arrays of other libraries that are traced, record gradients or lie on another device.
    """
    try:
        array = np.asarray(a)
    except (TypeError, ValueError, RuntimeError):
        raise InputError(
            _foreign(a, name) or f"{name} must be real numbers, not {_kind(a, name)}"
        ) from None
    if array.dtype.kind == "O":
        array = _of_objects(array, name, a)
    if array.dtype.kind not in "fiu" and array.size > 0:
        raise InputError(f"{name} must be real numbers, not {_kind(a, name)}")
    # without numpy.ma, which takes 20 ms to import, nobody has masked anything
    if "numpy.ma" in sys.modules and isinstance(a, np.ma.MaskedArray) and np.ma.is_masked(a):
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
        raise InputError(f"{name} must be real numbers, not {_kind(given, name)}")
    try:
        converted = np.array([float(x) for x in values], np.float64)
    except ValueError:  # a signalling NaN
        raise InputError(f"{name} must be real numbers, not {_kind(given, name)}") from None
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


def _foreign(a: Any, name: str) -> str:
    """The sentence on an array of another library that NumPy cannot read; "" where it is none."""
    first: Any = a
    while isinstance(first, (list, tuple)) and first:
        first = cast("Sequence[Any]", first)[0]
    a = first
    library = type(a).__module__.partition(".")[0]
    if library in ("jax", "jaxlib"):
        return (
            f"{name} is traced by JAX (jit, grad, vmap), and this takes numbers: in JAX use "
            "linkwork.jax.compiled(robot), which has the methods of Robot that compute, and ik"
        )
    if library == "torch":
        use = "linkwork.torch.compiled(robot) has the methods of Robot that compute, and ik"
        device = str(getattr(a, "device", "cpu"))
        if device != "cpu":
            return f"{name} is a tensor on {device}: {use}, or copy it by .cpu()"
        if getattr(a, "requires_grad", False):
            return (
                f"{name} is a tensor that records gradients, which would be lost: {use}, or take "
                "its numbers by .detach()"
            )
        return f"{name} is a tensor ({a.dtype}) whose numbers NumPy cannot read: {use}"
    if hasattr(a, "__cuda_array_interface__"):
        return f"{name} is an array on a GPU ({library}): copy it to the host first, as by .get()"
    return ""


def _kind(a: Any, name: str) -> str:
    dtype = getattr(a, "dtype", None)
    if dtype is not None:
        return f"an array of {dtype}"
    kind = type(a).__name__
    if isinstance(a, Mapping):
        of_joints = name.startswith(("q", "start", "goal"))
        hint = "; robot.configuration makes an array of positions by joint name"
        return f"a {kind}{hint if of_joints else ''}"
    return f"a {kind} of other things" if isinstance(a, (list, tuple)) else f"of type {kind}"


def finite_rows(
    a: ArrayLike, name: str, length: int, labels: Sequence[str] | None = None
) -> NDArray[np.float64]:
    """Finite real numbers of shape (..., length) as float64; ``labels`` names the columns.

    Raises: InputError naming the first number that is not finite; as `real_rows`.
    """
    rows = real_rows(a, name, length)
    if not np.isfinite(rows).all():
        index = tuple(np.argwhere(~np.isfinite(rows))[0].tolist())
        raise InputError(not_finite(name, float(rows[index]), index, labels))
    return rows


def not_finite(
    name: str, value: float, index: Sequence[int], labels: Sequence[str] | None = None
) -> str:
    """The sentence on a number that is not finite, at an index of its array (row and column)."""
    label = f" ({labels[index[-1]]})" if labels else ""
    where = f"[{', '.join(map(str, index))}]" if index else ""
    return f"{name}{where}{label} is {value}; it must be a finite number"


def leading_shape(arrays: Mapping[str, NDArray[Any]], axes: int = 1) -> tuple[int, ...]:
    """The shape that the leading axes of arrays broadcast to, the last ``axes`` being left out.

    Raises: ShapeError with the shape of each, by name.
    """
    try:
        return np.broadcast_shapes(*[a.shape[: a.ndim - axes] for a in arrays.values()])
    except ValueError:
        text = ", ".join(f"{name} {a.shape}" for name, a in arrays.items())
        raise ShapeError(f"the leading shapes do not go together: {text}") from None


def broadcast_rows(a: Floats, lead: tuple[int, ...]) -> Floats:
    """Rows (..., n) broadcast to a leading shape, as one contiguous table (N, n)."""
    length = a.shape[-1]
    whole = a if a.shape[:-1] == lead else np.broadcast_to(a, (*lead, length))
    return np.ascontiguousarray(whole).reshape(math.prod(lead), length)


# --- poses ----------------------------------------------------------------------------------------


def rigid_poses(T: ArrayLike, name: str = "T") -> Floats:
    """Poses (..., 4, 4) as float64.

    Raises: ShapeError; InputError naming the first row that is not finite or not rigid: rotation
    orthogonal and right-handed, last row 0 0 0 1, each number within `RIGID_TOLERANCE`.
    """
    poses = real_array(T, name)
    if poses.shape[-2:] != (4, 4):
        raise ShapeError(f"{name} must have shape (..., 4, 4), not {poses.shape}")
    with np.errstate(invalid="ignore", over="ignore"):
        last = np.abs(poses[..., 3, :] - (0.0, 0.0, 0.0, 1.0)).max(axis=-1)
    fine = (
        (rotation_deviation(poses[..., :3, :3]) <= RIGID_TOLERANCE)
        & (last <= RIGID_TOLERANCE)
        & np.isfinite(poses[..., :3, 3]).all(axis=-1)
    )
    refuse_others(
        fine,
        name,
        "is not a rigid pose: the upper left 3x3 must be a rotation matrix, the right column "
        "finite, the last row 0 0 0 1",
    )
    return poses


def rigid_pose(T: ArrayLike, name: str = "T") -> Floats:
    """One pose (4, 4) as a new float64 array.

    Raises: as `rigid_poses`; ShapeError for several.
    """
    pose = real_array(T, name)
    if pose.shape != (4, 4):
        raise ShapeError(f"{name} must have shape (4, 4), not {pose.shape}")
    return rigid_poses(pose, name).copy()


def rotation_matrices(R: ArrayLike, name: str = "R") -> Floats:
    """Rotation matrices (..., 3, 3) as float64.

    Raises: ShapeError; InputError naming the first row that is no rotation within
    `RIGID_TOLERANCE`.
    """
    matrices = real_array(R, name)
    if matrices.shape[-2:] != (3, 3):
        raise ShapeError(f"{name} must have shape (..., 3, 3), not {matrices.shape}")
    refuse_others(
        rotation_deviation(matrices) <= RIGID_TOLERANCE,
        name,
        "is not a rotation: columns of length 1, across each other, x y z",
    )
    return matrices


def rotation_deviation(R: Floats) -> Floats:
    """The largest number of |R Rᵀ - 1| of matrices (..., 3, 3): how far each is from a rotation.

    It is infinite for a matrix that is left-handed, or not finite.
    """
    with np.errstate(invalid="ignore", over="ignore"):
        gram = np.abs(R @ np.swapaxes(R, -1, -2) - np.eye(3)).max(axis=(-1, -2))
        right_handed = np.linalg.det(R) > 0.0
    return np.where(right_handed & np.isfinite(gram), gram, np.inf)


def refuse_others(fine: NDArray[np.bool_] | np.bool_, name: str, why: str) -> None:
    """Refuse rows that are not fine, naming the first of them.

    Raises: InputError.
    """
    if np.all(fine):
        return
    row = np.argwhere(~fine)[0].tolist()
    where = f" [{', '.join(map(str, row))}]" if row else ""
    raise InputError(f"{name}{where} {why}")


# --- results --------------------------------------------------------------------------------------


def plain(a: Any) -> Any:
    """A number or truth value of Python where an array has no axis; else the array as it is."""
    return a.item() if np.ndim(a) == 0 else a
