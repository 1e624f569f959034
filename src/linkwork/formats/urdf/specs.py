"""The table of the format laid out for going through records: to write them, to validate them.

The builders of `read` go from elements to records, this goes the other way: which fields of a
record become which attributes, and which hold the records and texts that stand inside. Unknown
elements and attributes and comments are checked to read back as what they are.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from dataclasses import field as of
from typing import Any
from xml.parsers import expat

from linkwork.formats.urdf.convert import (
    JUDGE,
    READ,
    SPACE,
    WRITE,
    BadText,
    Complaint,
    label_text,
    show,
)
from linkwork.formats.urdf.findings import MISPLACED
from linkwork.formats.urdf.records import Comment, ExtraAttribute, ExtraElement
from linkwork.formats.urdf.schema import ROBOT, Attribute, Child, Element, Kind, Need

_TEXTS = frozenset({Kind.NAME, Kind.LABEL, Kind.CONTENT})


@dataclass(slots=True)
class AttributeSpec:
    """An attribute: the field it is taken from, and how its value becomes a text."""

    schema: Attribute
    name: str
    target: str
    write: Callable[[Any], str]
    read: Callable[[str], Any]
    judge: Callable[[Any], Complaint | None] | None
    quoted: bool  # whether the text may have characters that XML escapes
    default: str | None  # the text that stands for what is not written
    always: bool  # written although it is the default, since the standard asks for it


@dataclass(slots=True)
class ChildSpec:
    """A place for elements in another one, where alternatives share one field.

    Exactly one of these: ``specs`` by type of record, ``inline`` for an element that is no record,
    ``text`` for elements that hold a text.
    """

    field: str
    repeated: bool
    required: Need | None
    tags: tuple[str, ...]
    specs: dict[type, ElementSpec] = of(default_factory=dict)
    inline: ElementSpec | None = None
    text: bool = False


@dataclass(slots=True)
class ElementSpec:
    """An element, in its place in the format."""

    tag: str
    record: type | None
    attributes: tuple[AttributeSpec, ...] = ()
    children: tuple[ChildSpec, ...] = ()
    packed: str = ""
    known: frozenset[str] = frozenset()  # names of attributes
    tags: tuple[str, ...] = ()  # elements that may stand here
    twice: dict[str, str] = of(default_factory=dict)  # fields with an attribute and an element
    inner: dict[str, ElementSpec | None] = of(default_factory=dict)
    """What `ExtraElement.within` may be, with its spec (None for an element that holds a text)."""


def _attribute_spec(attribute: Attribute) -> AttributeSpec:
    kind, default = attribute.kind, attribute.default
    return AttributeSpec(
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


def _spec(element: Element) -> ElementSpec:
    attributes = tuple(_attribute_spec(attribute) for attribute in element.attributes)
    parts: dict[str, ChildSpec] = {}
    for child in element.children:
        key = child.field or child.element.tag
        parts[key] = _part(child, parts.get(key))
    spec = ElementSpec(
        element.tag, element.record, attributes, tuple(parts.values()), element.packed
    )
    spec.known = frozenset(attribute.name for attribute in attributes)
    spec.tags = tuple(child.element.tag for child in element.children)
    targets = {attribute.target for attribute in attributes}
    spec.twice = {p.field: p.tags[0] for p in spec.children if p.text and p.field in targets}
    spec.inner = {element.tag: spec}
    for part in spec.children:
        if part.inline:
            spec.inner.update(part.inline.inner)
        elif part.text:
            spec.inner[part.tags[0]] = None
    return spec


def _part(child: Child, part: ChildSpec | None) -> ChildSpec:
    """The place of a child; ``part`` where another one shares its field already."""
    element = child.element
    if part is None:
        part = ChildSpec(child.field, child.repeated, child.required, ())
    part.tags = (*part.tags, element.tag)
    if element.record:
        part.specs[element.record] = _spec(element)
    elif element.text:
        part.text = True
    else:
        part.inline = _spec(element)
    return part


ROBOT_SPEC = _spec(ROBOT)
"""The root: everything else hangs below it."""


def values(spec: ElementSpec, record: Any) -> Iterator[tuple[AttributeSpec, Any]]:
    """The attributes of an element, and what the record has for each.

    Raises: BadText for a packed matrix that is not 3x3 and symmetric.
    """
    if spec.packed:
        matrix = getattr(record, spec.packed)
        numbers = [None] * len(spec.attributes) if matrix is None else _unpacked(matrix)
        yield from zip(spec.attributes, numbers, strict=True)
        return
    for attribute in spec.attributes:
        if attribute.target not in spec.twice or as_attribute(spec, record, attribute.target):
            yield attribute, getattr(record, attribute.target)


def says(spec: ElementSpec, record: Any) -> bool:
    """Whether an element that is no record may stand there: one of a matrix has it."""
    return not spec.packed or getattr(record, spec.packed) is not None


def unread(spec: ElementSpec | None, record: Any, extra: ExtraAttribute) -> AttributeSpec | None:
    """The attribute whose text a record keeps since it has no value."""
    if spec is None:
        return None
    for attribute in spec.attributes:
        if attribute.name == extra.name and (spec.packed or attribute.schema.faulty == "warning"):
            return attribute if getattr(record, spec.packed or attribute.target) is None else None
    return None


def as_attribute(spec: ElementSpec, record: Any, target: str) -> bool:
    """Whether a field that an element or an attribute may fill is written as an attribute.

    The element is the form of today; a file that had the attribute keeps it, and one that had both
    has the element among what is kept as text.
    """
    tag = spec.twice.get(target)
    if tag is None or any(getattr(extra, "tag", "") == tag for extra in record.extra):
        return tag is not None
    return bool(record.layout) and tag not in record.layout


def items(part: ChildSpec, record: Any) -> tuple[Any, ...]:
    """The records or texts that a record has in a place.

    Raises: BadText where there is something else.
    """
    value = getattr(record, part.field)
    if not part.repeated:
        return () if value is None else (value,)
    if isinstance(value, (tuple, list)):
        return tuple(value)
    raise BadText("type", f"field '{part.field}': a tuple, not {type(value).__name__}")


def spec_of(part: ChildSpec, value: Any) -> ElementSpec:
    """How a record in this place is gone through.

    Raises: BadText where no such record may stand.
    """
    spec = part.specs.get(type(value))
    if spec is None:
        names = " or ".join(record.__name__ for record in part.specs)
        raise BadText("type", f"field '{part.field}': {names}, not {type(value).__name__}")
    return spec


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


# ---- what a record has besides its fields

_TAG = re.compile(r"<(?:[^>\"']|\"[^\"]*\"|'[^']*')*>")
"""The text of one tag, whatever its attributes hold."""

_NAME = re.compile(r"[^\s<>=\"'/&!?\x00-\x20]+")
_ESCAPED = {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;"} | {
    "\t": "&#9;",
    "\n": "&#10;",
    "\r": "&#13;",
}
_SPECIAL = re.compile('[&<>"\t\n\r]')
_IN_TEXT = re.compile("[&<>\r]")


def quoted(text: str) -> str:
    """The text of an attribute, between its quotes."""
    return _SPECIAL.sub(lambda match: _ESCAPED[match[0]], text)


def content(text: str) -> str:
    """The text of an element."""
    return _IN_TEXT.sub(lambda match: _ESCAPED[match[0]], text)


class Extras:
    """The extras and comments of one record, by the element they stand in."""

    __slots__ = ("attributes", "comments", "elements")

    def __init__(self) -> None:
        self.attributes: dict[str, list[ExtraAttribute]] = {}
        self.elements: dict[str, list[ExtraElement]] = {}
        self.comments: dict[str, list[Comment]] = {}

    def within(self, tag: str) -> bool:
        """Whether anything stands in this element."""
        return tag in self.attributes or tag in self.elements or tag in self.comments


NONE = Extras()
"""Of the many records that have none."""


def extras_of(spec: ElementSpec, record: Any) -> Extras:
    """What a record has besides its fields.

    Raises: BadText for what stands in no element of this record, or could not be read back.
    """
    if not record.extra and not record.comments:
        return NONE
    found = Extras()
    for extra in record.extra:
        if isinstance(extra, ExtraElement):
            _check_within(spec, extra.within)
            inner = spec.inner[extra.within]
            filled = (t for f, t in inner.twice.items() if getattr(record, f)) if inner else ()
            _check_element(inner, extra, besides=tuple(filled))
            found.elements.setdefault(extra.within, []).append(extra)
        elif isinstance(extra, ExtraAttribute):
            _check_within(spec, extra.within)
            inner = spec.inner[extra.within]
            if unread(inner, record, extra) is None:
                _check_attribute(inner, extra)
            else:
                label_text(extra.value)
            found.attributes.setdefault(extra.within, []).append(extra)
        else:
            raise BadText("type", f"extra holds {type(extra).__name__}, which is no extra")
    for comment in record.comments:
        if not isinstance(comment, Comment):
            raise BadText("type", f"comments holds {type(comment).__name__}")
        if comment.within or spec.tag != "robot":
            _check_within(spec, comment.within)
        comment_text(comment)
        found.comments.setdefault(comment.within, []).append(comment)
    return found


def _check_within(spec: ElementSpec, within: str) -> None:
    if within not in spec.inner:
        hint = "there are: " + ", ".join(spec.inner)
        raise BadText("within", f"'{show(str(within))}' is no element of <{spec.tag}>", hint)


def _check_attribute(spec: ElementSpec | None, extra: ExtraAttribute) -> None:
    name = label_text(extra.name)
    if not _NAME.fullmatch(name):
        raise BadText("name", f"'{show(name)}' is no name of an attribute")
    if spec and name in spec.known:
        raise BadText("known", f"'{show(name)}' is an attribute of URDF", "use its field")
    label_text(extra.value)


def _check_element(spec: ElementSpec | None, extra: ExtraElement, besides: tuple[str, ...]) -> None:
    """That the text is one element with this tag, and one that URDF does not define here.

    ``besides`` are the elements whose fields attributes have filled.
    """
    tag, xml = extra.tag, extra.xml
    if not isinstance(tag, str) or not isinstance(xml, str):
        raise BadText("type", "an ExtraElement has a tag and a text")
    known = spec is not None and tag in spec.tags and tag not in besides
    if known or tag in MISPLACED:
        raise BadText("known", f"<{show(tag)}> is an element of URDF", "make it a record")
    start = _TAG.match(xml)
    alone = start is not None and start[0].endswith("/>") and start.end() == len(xml)
    closed = re.search(r"</([^\s>]+)\s*>\Z", xml) if start and not alone else None
    if start is None or not re.match(rf"<{re.escape(tag)}[\s/>]", xml):
        raise BadText("extra", f"the text of <{show(tag)}> does not begin with its tag")
    if not alone and (closed is None or closed[1] != tag):
        raise BadText("extra", f"the text of <{show(tag)}> is not this one element")
    try:
        expat.ParserCreate("utf-8").Parse(xml.encode(), True)
    except (expat.ExpatError, UnicodeEncodeError) as error:
        raise BadText("extra", f"the text of <{show(tag)}> is broken XML: {error}") from None


def comment_text(comment: Comment) -> str:
    """A comment, or a processing instruction, as it is written.

    Raises: BadText for what would end it early.
    """
    text, target = label_or_long(comment.text), comment.target
    if "\r" in text:
        raise BadText("comment", "a carriage return cannot stand in a comment")
    if target:
        if not _NAME.fullmatch(label_text(target)) or target.lower() == "xml":
            raise BadText("comment", f"'{show(target)}' is no name of a processing instruction")
        if "?>" in text or text != text.lstrip(SPACE):
            raise BadText("comment", "'?>' or leading white space in a processing instruction")
        return f"<?{target} {text}?>" if text else f"<?{target}?>"
    if "--" in text or text.endswith("-"):
        raise BadText("comment", "'--' would end the comment", "write - - or another sign")
    return f"<!--{text}-->"


def label_or_long(text: Any) -> str:
    """A text that XML can hold, of any length."""
    if not isinstance(text, str):
        raise BadText("type", f"a comment is a text, not {type(text).__name__}")
    for start in range(0, len(text), 65536):
        label_text(text[start : start + 65536])
    return text
