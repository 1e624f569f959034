"""Which axes count: names such as "xy", or three truth values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

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
    if isinstance(given, str):
        if set(given) <= set(NAMES) and len(set(given)) == len(given) and (given or none):
            return tuple(k for k, name in enumerate(NAMES) if name in given)
    else:
        flags = list(given)
        if len(flags) == 3 and all(isinstance(f, (bool, int)) and f in (0, 1) for f in flags):
            found = tuple(k for k, flag in enumerate(flags) if flag)
            if found or none:
                return found
    least = "" if none else " and not empty"
    raise InputError(
        f"{what} must name axes, such as 'xyz' or 'xy' (three truth values do too){least}; "
        f"not {given!r}"
    )


def axis_index(given: str | None, what: str) -> int | None:
    """The index of one axis, or None.

    Raises: InputError naming the argument.
    """
    if given is None:
        return None
    if given not in NAMES:
        raise InputError(f"{what} must be 'x', 'y' or 'z', or None; not {given!r}")
    return NAMES.index(given)


def frame_of_axes(given: str, what: str, allowed: Sequence[str] = AXES_OF) -> str:
    """Whose axes are meant.

    Raises: InputError naming the argument.
    """
    if given not in allowed:
        names = ", ".join(f"'{name}'" for name in allowed)
        raise InputError(f"{what} must be one of {names}, not {given!r}")
    return given


def picked(o: Ops, v: Block, indices: Sequence[int]) -> Block:
    """These elements of a vector (3,)."""
    if len(indices) == 3:
        return v
    return o.vector([v[k] for k in indices])
