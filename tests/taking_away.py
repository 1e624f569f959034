"""A pytest plugin: the tests of a row must fail when the row's behaviour is taken away.

LINKWORK_TAKE_AWAY names a JSON list of [module, dotted name, row]; LINKWORK_TAKEN_AWAY the file for
the answers, "red" where a test of the row passes with the name and fails without it.

What is taken away is replaced by something that does nothing and gives nothing: a test that only
calls it stays green, and is found.
"""

from __future__ import annotations

import importlib
import inspect
import json
import os
import sys
from collections.abc import Callable
from functools import partial, reduce
from pathlib import Path
from types import FunctionType
from typing import Any

import pytest
from _pytest.runner import runtestprotocol


def nothing(*_: Any, **__: Any) -> None:
    """Take anything and give nothing."""


def pytest_runtestloop(session: pytest.Session) -> bool:
    """In the place of pytest's own loop."""
    rows: list[list[str]] = json.loads(Path(os.environ["LINKWORK_TAKE_AWAY"]).read_text())
    rows.sort(key=lambda row: depth(row[0], row[1]), reverse=True)
    answers = {row: verdict(session, module, name, row) for module, name, row in rows}
    Path(os.environ["LINKWORK_TAKEN_AWAY"]).write_text(json.dumps(answers))
    return True


def depth(module: str, name: str) -> float:
    """How far a class is from `object`; anything else is deeper than all classes.

    The deepest go first: what a class leaves behind (see `_empty`) then meets no class below it.
    """
    thing = reduce(lambda owner, word: getattr(owner, word, None), name.split("."), _module(module))
    return len(thing.__mro__) if isinstance(thing, type) else float("inf")


def _module(name: str) -> Any:
    return importlib.import_module(name)


def verdict(session: pytest.Session, module: str, name: str, row: str) -> str:
    """Whether some test of the row fails without the name, and passes with it."""
    items = [i for i in session.items if any(row in m.args for m in i.iter_markers("row"))]
    if not items:
        return "no test has its mark"
    passing = [item for item in items if outcome(item) == "passed"]
    if not passing:
        return "no test of it passes with it there"
    for item in passing:
        put_back = take_away(_module(module), name)
        try:
            seen = outcome(item)
        finally:
            put_back()
        if seen == "failed":
            return "red"
    return f"stays green without {name}: " + ", ".join(item.name for item in passing)


def outcome(item: pytest.Item) -> str:
    """ "passed", "failed" or "skipped", with its fixtures made anew."""
    reports = runtestprotocol(item, nextitem=None, log=False)
    words = {report.outcome for report in reports}
    return next(word for word in ("failed", "skipped", "passed") if word in words)


def take_away(module: Any, name: str) -> Callable[[], None]:
    """Replace what a name stands for; gives what puts it back.

    Tests may hold the thing itself and not its name, so functions and classes are emptied in place.
    """
    *path, last = name.split(".")
    owner = reduce(getattr, path, module)
    raw = next((vars(k)[last] for k in getattr(owner, "__mro__", ()) if last in vars(k)), None)
    thing = getattr(owner, last) if raw is None and hasattr(owner, last) else raw
    inner = getattr(thing, "__func__", thing)
    if isinstance(inner, FunctionType) and not inner.__code__.co_freevars:
        code, inner.__code__ = inner.__code__, nothing.__code__
        return partial(setattr, inner, "__code__", code)
    if isinstance(thing, type):
        return _empty(thing)
    if isinstance(owner, type):  # a property, a slot, an attribute of instances
        return _replace(owner, last, property(nothing, nothing))
    return _replace(owner, last, None)


def _empty(kind: type) -> Callable[[], None]:
    """Let calls of a class give None."""
    before, shown = kind.__new__, inspect.signature(kind)

    def new(cls: type, *args: Any, **named: Any) -> Any:
        return object.__new__(cls) if before is object.__new__ else before(cls, *args, **named)

    # Deleting __new__ again would leave Python refusing all arguments: it is set to one that fits,
    # and shows the arguments that the class had.
    first = inspect.Parameter("cls", inspect.Parameter.POSITIONAL_ONLY)
    vars(new)["__signature__"] = shown.replace(parameters=[first, *shown.parameters.values()])
    type.__setattr__(kind, "__new__", nothing)
    return partial(type.__setattr__, kind, "__new__", staticmethod(new))


def _replace(owner: Any, name: str, value: Any) -> Callable[[], None]:
    """Set an attribute, whatever the class says to that."""
    own, before = name in vars(owner), vars(owner).get(name)
    setter = type.__setattr__ if isinstance(owner, type) else setattr
    setter(owner, name, value)
    if own:
        return partial(setter, owner, name, before)
    return partial(delattr, owner, name)


if "LINKWORK_TAKE_AWAY" not in os.environ:
    sys.exit("a plugin of tests/faces/test_parity.py, for processes that it starts")
