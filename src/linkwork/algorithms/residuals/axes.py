"""Which axes count: names such as "xy", or three truth values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

from linkwork.errors import InputError
from linkwork.ops.protocol import Block, Ops

AxesOf = Literal["world", "target", "tool"]
Axis = Literal["x", "y", "z"]
NAMES: tuple[Axis, ...] = ("x", "y", "z")
AXES_OF: tuple[AxesOf, ...] = ("world", "target", "tool")


def axes(given: str | Sequence[bool], what: str, *, none: bool = False) -> tuple[int, ...]:
    """The indices of the axes that count, ascending; none only where ``none`` allows it.

    Raises: InputError naming the argument.
    """
    found = _indices(given)
    if found is None or not (found or none):
        least = "" if none else " and not empty"
        raise InputError(
            f"{what} must name axes, such as 'xyz' or 'xy' (three truth values do too){least}; "
            f"not {given!r}"
        )
    return found


def _indices(given: Any) -> tuple[int, ...] | None:
    """The axes of a text such as "xy" or of three truth values; None for anything else."""
    if isinstance(given, str):
        if set(given) <= set(NAMES) and len(set(given)) == len(given):
            return tuple(k for k, name in enumerate(NAMES) if name in given)
        return None
    try:
        flags: list[Any] = [x.item() if isinstance(x, np.generic) else x for x in given]
    except TypeError:
        return None
    if len(flags) != 3 or not all(isinstance(f, (bool, int)) and f in (0, 1) for f in flags):
        return None
    return tuple(k for k, flag in enumerate(flags) if flag)


def axis_index(given: str | None, what: str) -> int | None:
    """The index of one axis, or None.

    Raises: InputError naming the argument.
    """
    if given is None:
        return None
    if not isinstance(given, str) or given not in NAMES:
        raise InputError(f"{what} must be 'x', 'y' or 'z', or None; not {given!r}")
    return NAMES.index(given)


def frame_of_axes(given: str, what: str, allowed: Sequence[str] = AXES_OF) -> str:
    """Whose axes are meant.

    Raises: InputError naming the argument.
    """
    if not isinstance(given, str) or given not in allowed:
        names = ", ".join(f"'{name}'" for name in allowed)
        raise InputError(f"{what} must be one of {names}, not {given!r}")
    return given


def picked(o: Ops, v: Block, indices: Sequence[int]) -> Block:
    """These elements of a vector (3,)."""
    if len(indices) == 3:
        return v
    return o.vector([v[k] for k in indices])
