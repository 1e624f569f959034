"""The table of the format, laid out for going through records: to write them, to validate them.

What `plans` is for reading, this is for the other way: which fields of a record become which
attributes, and which hold the records and texts that stand inside.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from dataclasses import field as of
from typing import Any

from linkwork.formats.urdf.convert import JUDGE, READ, WRITE, BadText, Complaint
from linkwork.formats.urdf.records import ExtraAttribute
from linkwork.formats.urdf.schema import ROBOT, Attribute, Child, Element, Kind, Need

_TEXTS = frozenset({Kind.NAME, Kind.LABEL, Kind.CONTENT})


@dataclass(slots=True)
class Mark:
    """An attribute: the field it is taken from, and how its value becomes a text."""

    attribute: Attribute
    name: str
    target: str
    write: Callable[[Any], str]
    read: Callable[[str], Any]
    judge: Callable[[Any], Complaint | None] | None
    quoted: bool  # whether the text may have characters that XML escapes
    default: str | None  # the text that stands for what is not written
    always: bool  # written although it is the default, since the standard asks for it


@dataclass(slots=True)
class Part:
    """A place for elements in another one, where alternatives share one field.

    Exactly one of these: ``sheets`` by type of record, ``inline`` for an element that is no record,
    ``text`` for elements that hold a text.
    """

    field: str
    repeated: bool
    required: Need | None
    tags: tuple[str, ...]
    sheets: dict[type, Sheet] = of(default_factory=dict)
    inline: Sheet | None = None
    text: bool = False


@dataclass(slots=True)
class Sheet:
    """An element, in its place in the format."""

    tag: str
    record: type | None
    marks: tuple[Mark, ...] = ()
    parts: tuple[Part, ...] = ()
    packed: str = ""
    known: frozenset[str] = frozenset()  # names of attributes
    tags: tuple[str, ...] = ()  # elements that may stand here
    twice: dict[str, str] = of(default_factory=dict)  # fields with an attribute and an element
    inner: dict[str, Sheet | None] = of(default_factory=dict)
    """What `ExtraElement.within` may be, with its sheet (None for an element that holds a text)."""


def _mark(attribute: Attribute) -> Mark:
    kind, default = attribute.kind, attribute.default
    return Mark(
        attribute,
        attribute.name,
        attribute.target,
        WRITE[kind],
        READ[kind],
        JUDGE.get(kind),
        quoted=kind in _TEXTS,
        default=None if default is None else WRITE[kind](default),
        always=attribute.required is not None and kind is not Kind.LABEL,
    )


def _sheet(element: Element) -> Sheet:
    marks = tuple(_mark(attribute) for attribute in element.attributes)
    parts: dict[str, Part] = {}
    for child in element.children:
        key = child.field or child.element.tag
        parts[key] = _part(child, parts.get(key))
    sheet = Sheet(element.tag, element.record, marks, tuple(parts.values()), element.packed)
    sheet.known = frozenset(mark.name for mark in marks)
    sheet.tags = tuple(child.element.tag for child in element.children)
    targets = {mark.target for mark in marks}
    sheet.twice = {p.field: p.tags[0] for p in sheet.parts if p.text and p.field in targets}
    sheet.inner = {element.tag: sheet}
    for part in sheet.parts:
        if part.inline:
            sheet.inner.update(part.inline.inner)
        elif part.text:
            sheet.inner[part.tags[0]] = None
    return sheet


def _part(child: Child, part: Part | None) -> Part:
    """The place of a child; ``part`` where another one shares its field already."""
    element = child.element
    if part is None:
        part = Part(child.field, child.repeated, child.required, ())
    part.tags = (*part.tags, element.tag)
    if element.record:
        part.sheets[element.record] = _sheet(element)
    elif element.text:
        part.text = True
    else:
        part.inline = _sheet(element)
    return part


SHEET = _sheet(ROBOT)
"""The root: everything else hangs below it."""


def values(sheet: Sheet, record: Any) -> Iterator[tuple[Mark, Any]]:
    """The attributes of an element, and what the record has for each.

    Raises: BadText for a packed matrix that is not 3x3 and symmetric.
    """
    if sheet.packed:
        matrix = getattr(record, sheet.packed)
        numbers = [None] * len(sheet.marks) if matrix is None else _unpacked(matrix)
        yield from zip(sheet.marks, numbers, strict=True)
        return
    for mark in sheet.marks:
        if mark.target not in sheet.twice or as_attribute(sheet, record, mark.target):
            yield mark, getattr(record, mark.target)


def says(sheet: Sheet, record: Any) -> bool:
    """Whether an element that is no record may stand there: one of a matrix has it."""
    return not sheet.packed or getattr(record, sheet.packed) is not None


def unread(sheet: Sheet | None, record: Any, extra: ExtraAttribute) -> Mark | None:
    """The attribute whose text a record keeps since it has no value."""
    if sheet is None:
        return None
    for mark in sheet.marks:
        if mark.name == extra.name and (sheet.packed or mark.attribute.faulty == "warning"):
            return mark if getattr(record, sheet.packed or mark.target) is None else None
    return None


def as_attribute(sheet: Sheet, record: Any, target: str) -> bool:
    """Whether a field that an element or an attribute may fill is written as an attribute.

    The element is the form of today; a file that had the attribute keeps it, and one that had both
    has the element among what is kept as text.
    """
    tag = sheet.twice.get(target)
    if tag is None or any(getattr(extra, "tag", "") == tag for extra in record.extra):
        return tag is not None
    return bool(record.layout) and tag not in record.layout


def items(part: Part, record: Any) -> tuple[Any, ...]:
    """The records or texts that a record has in a place.

    Raises: BadText where there is something else.
    """
    value = getattr(record, part.field)
    if not part.repeated:
        return () if value is None else (value,)
    if isinstance(value, (tuple, list)):
        return tuple(value)
    raise BadText("type", f"field '{part.field}': a tuple, not {type(value).__name__}")


def sheet_of(part: Part, value: Any) -> Sheet:
    """How a record in this place is gone through.

    Raises: BadText where no such record may stand.
    """
    sheet = part.sheets.get(type(value))
    if sheet is None:
        names = " or ".join(record.__name__ for record in part.sheets)
        raise BadText("type", f"field '{part.field}': {names}, not {type(value).__name__}")
    return sheet


def _unpacked(matrix: Any) -> list[Any]:
    """The upper triangle of a symmetric matrix, row by row."""
    rows = matrix.tolist() if hasattr(matrix, "tolist") else matrix
    try:
        (xx, xy, xz), (yx, yy, yz), (zx, zy, zz) = rows
    except (TypeError, ValueError):
        raise BadText("count", "a 3x3 matrix is needed") from None
    if [xy, xz, yz] != [yx, zx, zy]:
        raise BadText("symmetric", "the matrix is not symmetric", "write (m + m.T) / 2")
    return [xx, xy, xz, yy, yz, zz]
