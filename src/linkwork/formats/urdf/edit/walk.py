"""Going over every record of a description, and putting others in their place.

Records hold records only as deep as the table of the format goes, whatever the tree of the robot.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass, replace
from functools import cache
from typing import Any

from linkwork.formats.urdf.schema import ROBOT, Element


@cache
def _plain() -> dict[type, frozenset[str]]:
    """Record to the fields that hold values of attributes, so no records."""
    plain: dict[type, frozenset[str]] = {}

    def visit(element: Element, record: type) -> frozenset[str]:
        own = frozenset(attribute.target for attribute in element.attributes)
        own |= {element.packed} if element.packed else frozenset[str]()
        for child in element.children:
            below = child.element
            if below.record is not None:
                plain[below.record] = visit(below, below.record)
            else:
                own |= visit(below, record)
        return own

    plain[ROBOT.record or object] = visit(ROBOT, ROBOT.record or object)
    return plain


@cache
def holders(record: type) -> tuple[str, ...]:
    """The fields of a record that may hold records, or tuples of them."""
    plain = _plain().get(record)
    if plain is None:  # an unknown element or attribute
        return ()
    other = ("line", "position", "layout", "file", "source")
    return tuple(f.name for f in fields(record) if f.name not in plain and f.name not in other)


def rebuilt(record: Any, change: Callable[[Any], Any]) -> Any:
    """The record with ``change`` applied to every record in it and last to itself.

    What ``change`` gives back unchanged stays the same object, and so does what holds only that.
    A None from it leaves the record out of the tuple that it is in.
    """
    changes: dict[str, Any] = {}
    for name in holders(type(record)):
        value = getattr(record, name)
        if value:
            new = _items(value, change) if isinstance(value, tuple) else _one(value, change)
            if new is not value:
                changes[name] = new
    if changes:
        record = replace(record, **changes)
    return change(record)


def _one(value: Any, change: Callable[[Any], Any]) -> Any:
    return rebuilt(value, change) if is_dataclass(value) else value


def _items(values: tuple[Any, ...], change: Callable[[Any], Any]) -> tuple[Any, ...]:
    new = [_one(value, change) for value in values]
    if all(a is b for a, b in zip(new, values, strict=True)):
        return values
    return tuple(value for value in new if value is not None)


def every(record: Any) -> Iterator[Any]:
    """The record and every one in it, the outer ones first."""
    waiting = [record]
    while waiting:
        record = waiting.pop()
        yield record
        inside: list[Any] = []
        for name in holders(type(record)):
            value = getattr(record, name)
            if value:
                inside += value if isinstance(value, tuple) else (value,)
        waiting += [one for one in reversed(inside) if is_dataclass(one)]
