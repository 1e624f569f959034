"""Old names of public things, which work for one release and say which is the new one."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any


def warn_renamed(old: str, new: str, *, stacklevel: int = 3) -> None:
    """Warn that something has another name now; by default where the caller's caller stands."""
    warnings.warn(f"{old} is now called {new}", DeprecationWarning, stacklevel=stacklevel)


def renamed_method(old: str, new: str) -> Callable[..., Any]:
    """A method that warns and does what the one called ``new`` does."""

    def method(self: Any, *args: Any, **keywords: Any) -> Any:
        warn_renamed(f"{type(self).__name__}.{old}", new)
        return getattr(self, new)(*args, **keywords)

    method.__name__ = old
    method.__qualname__ = old
    method.__doc__ = f"The old name of `{new}`, for one release."
    return method


def renamed_property(old: str, new: str) -> Any:
    """A property that warns and gives what the one called ``new`` gives."""

    def value(self: Any) -> Any:
        warn_renamed(f"{type(self).__name__}.{old}", new)
        return getattr(self, new)

    value.__doc__ = f"The old name of `{new}`, for one release."
    return property(value)


def renamed_keyword(owner: str, old: str, new: str, before: Any, now: Any) -> Any:
    """The value of a keyword that may have been given by its old name, None where by neither.

    Raises: TypeError where both are given.
    """
    if before is None:
        return now
    if now is not None:
        raise TypeError(f"{owner} takes {new}=, which was called {old}=, not both of them")
    warn_renamed(f"{owner}({old}=)", f"{new}=", stacklevel=4)
    return before
