"""Objects that hold compiled code, and therefore belong to the process that made them."""

from __future__ import annotations

from typing import Any, NoReturn, TypeVar

Itself = TypeVar("Itself")


def no_pickle(what: str) -> TypeError:
    """The error of what cannot be pickled because it holds compiled code."""
    return TypeError(
        f"{what} cannot be pickled: it holds compiled code, which belongs to this process; pickle "
        "the robot and ask it again there, which finds the code in the cache"
    )


class ProcessBound:
    """The base of kernels and of what holds them: stateless, so that a copy is the object itself.

    Raises: TypeError where it is pickled.
    """

    def __copy__(self: Itself) -> Itself:
        return self

    def __deepcopy__(self: Itself, memo: dict[int, Any]) -> Itself:
        return self

    def __reduce_ex__(self, protocol: Any) -> NoReturn:
        raise no_pickle(type(self).__name__)
