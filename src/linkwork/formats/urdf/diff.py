"""The differences of two descriptions, in the words of the format.

Two descriptions without differences are equal records, and the other way round. Links, joints,
transmissions and materials are matched by their names; shapes, and whatever else may be repeated,
first with their equals, then by name where they have one, then in order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, is_dataclass
from functools import cache
from math import isfinite
from typing import Any, Literal, NamedTuple

from linkwork.errors import InputError
from linkwork.formats.urdf.convert import show
from linkwork.formats.urdf.records import Document, ExtraElement, Robot
from linkwork.formats.urdf.schema import ELEMENTS, ROBOT, Element

_SIGNS = {"added": "+", "removed": "-", "changed": "~"}
_LONGEST = 200  # of a value that is printed


@dataclass(frozen=True, slots=True)
class Change:
    """One difference: where, such as ``joint 'elbow' / limit / upper``, and both values.

    ``before`` is None for what was added, ``after`` for what was removed; an attribute without a
    value is None too. They are records, texts, numbers or tuples of numbers.
    """

    kind: Literal["added", "removed", "changed"]
    path: str
    before: Any = None
    after: Any = None

    def __str__(self) -> str:
        text = f"{_SIGNS[self.kind]} {self.path}"
        if self.kind == "changed":
            return f"{text}: {_shown(self.before)} -> {_shown(self.after)}"
        value = self.after if self.kind == "added" else self.before
        return text if is_dataclass(value) else f"{text}: {_shown(value)}"


@dataclass(frozen=True, slots=True)
class Difference:
    """All changes from one description to another; false where there are none."""

    changes: tuple[Change, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.changes)

    def __len__(self) -> int:
        return len(self.changes)

    def __iter__(self) -> Iterator[Change]:
        return iter(self.changes)

    def __str__(self) -> str:
        return "\n".join(map(str, self.changes)) or "no differences"


def diff(a: Document | Robot, b: Document | Robot, tolerance: float = 0.0) -> Difference:
    """The changes that lead from one description to the other.

    Numbers that differ by ``tolerance`` or less, each in its own unit, are taken for equal.
    Comments, lines and files do not count, the order of elements does.

    Raises: InputError for a tolerance that is negative or not finite, and for what is no
    description.
    """
    if not (isfinite(tolerance) and tolerance >= 0):
        raise InputError(f"a tolerance is a number not below 0, not {tolerance!r}")
    compared = _Comparison(tolerance)
    compared.records("", _robot(a), _robot(b))
    return Difference(tuple(compared.changes))


def _robot(description: Document | Robot) -> Robot:
    robot = description.robot if isinstance(description, Document) else description
    if not isinstance(robot, Robot):
        kind = type(robot).__name__
        raise InputError(f"documents are compared, or their robots, not {kind}; read it first")
    return robot


class _Field(NamedTuple):
    """A field of a record as the file has it: what it is called there, and what it holds."""

    name: str
    label: str
    holds: Literal["value", "matrix", "record", "records"]
    alternatives: bool = False  # several kinds of record may stand there


@cache
def _layout(record: type) -> tuple[_Field, ...]:
    """The fields of a record in the order of the table, each once."""
    laid_out = {field.name: field for field in _laid_out(ELEMENTS[record], "")}
    return tuple(laid_out.values())


def _laid_out(element: Element, within: str) -> Iterator[_Field]:
    if element.packed:
        yield _Field(element.packed, within, "matrix")
        return
    for attribute in element.attributes:
        own = within and attribute.target == element.tag  # <mass value="1"/> is called mass
        yield _Field(attribute.target, within if own else _joined(within, attribute.name), "value")
    for child in element.children:
        tag = child.tags[0]
        if child.records:
            holds = "records" if child.repeated else "record"
            yield _Field(child.field, within or tag, holds, bool(within))
        elif child.inline:
            yield from _laid_out(child.inline, _joined(within, tag))
        else:
            yield _Field(child.field, _joined(within, tag), "value")


_BY_NAME = frozenset(record for child in ROBOT.children for record in child.records)
_ENTRIES = [(f"i{'xyz'[i]}{'xyz'[j]}", i, j) for i in range(3) for j in range(i, 3)]


class _Comparison:
    """Changes gathered while two records are gone through."""

    def __init__(self, tolerance: float) -> None:
        self.tolerance = tolerance
        self.changes: list[Change] = []

    def records(self, path: str, before: Any, after: Any) -> None:
        """Two records of one type."""
        if before == after:
            return
        for name, label, holds, alternatives in _layout(type(before)):
            a, b, at = getattr(before, name), getattr(after, name), _joined(path, label)
            if a == b:
                continue
            if holds == "records":
                self._several(path, label, a, b)
            elif holds == "matrix" and a is not None and b is not None:
                for entry, i, j in _ENTRIES:
                    self._value(f"{at} / {entry}", a[i][j], b[i][j])
            elif holds in ("value", "matrix"):
                self._value(at, a, b)
            else:
                self._one(at, a, b, alternatives)
        self._extra(path, _tag(before), before.extra, after.extra)

    def _value(self, path: str, before: Any, after: Any) -> None:
        if not _close(before, after, self.tolerance):
            self._note(path or "robot", before, after)

    def _one(self, path: str, before: Any, after: Any, alternatives: bool) -> None:
        """A record that may be missing, or be of another kind."""
        if type(before) is not type(after):
            self._note(path, before, after)
        else:
            self.records(_joined(path, _tag(before) if alternatives else ""), before, after)

    def _note(self, path: str, before: Any, after: Any) -> None:
        missing = is_dataclass(after) and before is None
        gone = is_dataclass(before) and after is None
        kind = "added" if missing else "removed" if gone else "changed"
        self.changes.append(Change(kind, path, before, after))

    def _several(self, path: str, label: str, before: Any, after: Any) -> None:
        """Records that may be repeated."""
        by_name = type((before or after)[0]) in _BY_NAME

        def called(record: Any, place: int) -> str:
            """By its name, or by its place where it has none."""
            name = _name(record)
            return f"{label} '{show(name)}'" if name else f"{label}[{place}]"

        self._matched(
            path, f"<{label}>", before, after, _name if by_name else None, called, self.records
        )

    def _extra(self, path: str, own: str, before: Any, after: Any) -> None:
        """The parts that the format does not define; within a part of the record, it says so."""

        def key(extra: Any) -> tuple[str, str, bool]:
            if isinstance(extra, ExtraElement):
                return extra.within, extra.tag, True
            return extra.within, extra.name, False

        def called(extra: Any, _: int) -> str:
            within, name, is_element = key(extra)
            label = f"<{show(name)}>" if is_element else f"@{show(name)}"
            return label if within == own else f"{show(within)} / {label}"

        def compare(at: str, old: Any, new: Any) -> None:
            if old != new:
                value = "xml" if isinstance(old, ExtraElement) else "value"
                self._note(at, getattr(old, value), getattr(new, value))

        if before != after:
            self._matched(path, "unknown elements", before, after, key, called, compare)

    def _matched(
        self,
        path: str,
        what: str,
        before: Any,
        after: Any,
        key: Callable[[Any], Any] | None,
        called: Callable[[Any, int], str],
        compare: Callable[[str, Any, Any], None],
    ) -> None:
        """Several things, paired by ``key``."""
        pairs = _paired(before, after, key)
        labels = [called(each, k) for k, each in enumerate(before)]
        for k, each in enumerate(before):
            at = _joined(path, labels[k])
            if k in pairs:
                compare(at, each, after[pairs[k]])
            else:
                self.changes.append(Change("removed", at, before=each))
        kept = set(pairs.values())
        for k, each in enumerate(after):
            if k not in kept:
                self.changes.append(Change("added", _joined(path, called(each, k)), after=each))
        old, new = sorted(pairs), sorted(pairs, key=pairs.__getitem__)
        if old != new:
            orders = (tuple(labels[k] for k in order) for order in (old, new))
            self.changes.append(Change("changed", _joined(path, f"order of {what}"), *orders))


def _paired(before: Any, after: Any, key: Callable[[Any], Any] | None) -> dict[int, int]:
    """Places before to places after.

    Those with one ``key`` belong together, equal ones first, then in order. Without a key equal
    ones do first, then those of one name, then whatever is left in order.
    """
    pairs: dict[int, int] = {}
    if key is None:
        _pair(pairs, before, after, lambda record: record)
        _pair(pairs, before, after, lambda record: _name(record) or object())
        _pair(pairs, before, after, lambda _: None)
    elif key is _name and all(len(set(map(key, r))) == len(r) for r in (before, after)):
        _pair(pairs, before, after, key)  # every name once, so equals need not be looked for
    else:
        _pair(pairs, before, after, lambda record: record)
        _pair(pairs, before, after, key)
    return pairs


def _pair(pairs: dict[int, int], before: Any, after: Any, key: Callable[[Any], Any]) -> None:
    """Pair what has no partner yet and one key, in order."""
    taken = set(pairs.values())
    waiting: dict[Any, list[int]] = {}
    for k in range(len(after) - 1, -1, -1):
        if k not in taken:
            waiting.setdefault(key(after[k]), []).append(k)
    for k, record in enumerate(before):
        if k not in pairs and (places := waiting.get(key(record))):
            pairs[k] = places.pop()


def _name(record: Any) -> Any:
    return getattr(record, "name", None)


def _tag(record: Any) -> str:
    return ELEMENTS[type(record)].tag


def _close(a: Any, b: Any, tolerance: float) -> bool:
    if a == b:
        return True
    if isinstance(a, (int, float)) and isinstance(b, (int, float)):
        return abs(a - b) <= tolerance
    if isinstance(a, tuple) and isinstance(b, tuple) and len(a) == len(b):
        return all(_close(x, y, tolerance) for x, y in zip(a, b, strict=True))
    return False


def _joined(path: str, label: str) -> str:
    return f"{path} / {label}" if path and label else path or label


def _shown(value: Any) -> str:
    """A value for one line: numbers as a file has them, records by their tags."""
    if value is None:
        return "none"
    if is_dataclass(value):
        return f"<{_tag(value)}>" if type(value) in ELEMENTS else show(repr(value), _LONGEST)
    values = value if isinstance(value, tuple) else (value,)
    return show(" ".join(map(_plain, values)), _LONGEST)


def _plain(value: Any) -> str:
    if isinstance(value, str):
        return f"'{value}'"
    return repr(value).removesuffix(".0")
