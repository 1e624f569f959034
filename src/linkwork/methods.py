"""Built-in functions that stand before the methods of one robot, so that a call needs no Python."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from linkwork import settings
from linkwork.algorithms.registry import find
from linkwork.compile.dispatch import dispatcher

Find = Callable[..., Callable[..., Any]]


def install(
    kind: type[Any], robot: Any, algorithm: str, twin: Callable[[], tuple[Any, Find]]
) -> bool:
    """Let a built-in function stand before the method of this name, on this object only.

    It refers to the ``twin``, which shares what was compiled and comes with what finds it by
    algorithm and static arguments; never to the object itself, so no cycle keeps that alive. A
    method that a subclass of ``kind`` has overridden is left alone. Returns whether this Python can
    have such functions at all.
    """
    plain = getattr(kind, algorithm)
    if algorithm in vars(robot) or getattr(type(robot), algorithm) is not plain:
        return True
    code = settings.dispatch_code()
    if code is None:
        return False
    other, find_bound = twin()
    entry = find(algorithm)
    usual = "world-aligned" if "reference" in entry.static else None

    def bound(first: str | None = None, second: str | None = None) -> Callable[..., Any]:
        return find_bound(algorithm, first, second or usual)

    made = dispatcher(code, plain, other, bound, arrays=len(entry.inputs), choices=entry.static)
    setattr(robot, algorithm, made)
    return True
