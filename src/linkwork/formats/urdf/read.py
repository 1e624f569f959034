"""Reading a URDF: one pass over the XML, every problem collected, nothing repaired or guessed.

The XML is read by expat, event by event: no tree of the file is built, every element knows its
exact line (libxml2 counts wrongly from line 65536 on), and a document type is refused at the
moment it begins, so that entities are never defined, expanded or fetched.

The table of the format is laid out once as a tree of builders. A record is read into a list: its
fields in order, then hidden places (what has been seen, the tags that have come, the numbers that
are packed into a matrix). The builder of an element says which attribute and child goes where, so
that an event is a few look-ups.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field, fields, make_dataclass, replace
from functools import cache
from operator import itemgetter
from typing import Any
from xml.parsers import expat

from linkwork.errors import Level
from linkwork.formats.urdf.check import check
from linkwork.formats.urdf.convert import (
    JUDGE,
    LONGEST,
    RANGE,
    READ,
    SHORT,
    SPACE,
    BadText,
    Complaint,
    show,
)
from linkwork.formats.urdf.findings import MISPLACED, Findings, UnknownParts
from linkwork.formats.urdf.records import (
    Comment,
    Document,
    ExtraAttribute,
    ExtraElement,
    Robot,
    Source,
)
from linkwork.formats.urdf.schema import ROBOT, Attribute, Child, Element, Kind, Need
from linkwork.formats.urdf.source import MENDABLE, as_utf8, collector_paused, given, well_formed

DEEPEST = 256
"""How deep elements may be nested."""

LONGEST_TAG = 4 * 1024 * 1024
"""The longest single tag or comment, in bytes."""

_CHUNK = 1 << 20  # bytes
_BIG = 1 << 14
_TAG = re.compile(rb"<(?:[^>\"']|\"[^\"]*\"|'[^']*')*>")  # whatever its attributes hold
_XINCLUDE = "http://www.w3.org/2001/XInclude"


def read(
    source: str | os.PathLike[str] | bytes,
    *,
    file: str | None = None,
    keep_source: bool = False,
    accepted: Collection[str] = (),
) -> Document:
    """The description that a path, an XML text (it begins with '<') or bytes hold.

    ``file`` is the name that messages use and meshes are found by, where it is not the path.
    Mesh names are kept as written; no mesh is looked for. With ``keep_source`` the robot keeps the
    text, and is written as it stood where nothing was changed. Errors with codes in ``accepted``
    are warnings: for readers that have no use for what they are about.

    Raises: DescriptionError with every error of the file, each with its line.
    """
    kept, name = given(source, file)
    data = as_utf8(kept, name)
    findings = Findings(name, accepted)
    with collector_paused(len(data) > _BIG):
        robot = Reader(data, findings).read()
        if robot is not None:
            check(robot, findings)
    if robot is None or findings.failed:
        raise findings.error()
    robot = replace(robot, file=name)
    if keep_source:
        robot = replace(robot, source=Source(kept, robot))
    return Document(robot, findings.sorted())


# ---- the values of texts

_MOST = 10_000  # texts of one kind that are remembered, for all files of a process


class Values(dict[str, Any]):
    """The values of texts of one kind that have come before; others are read when asked for.

    Raises: BadText for a text without a value or with an odd one, which is not remembered.
    """

    __slots__ = ("judge", "read")

    def __init__(self, kind: Kind) -> None:
        self.read, self.judge = READ[kind], JUDGE.get(kind)

    def __missing__(self, text: str) -> Any:
        value = self.read(text)
        if self.judge is not None and (complaint := self.judge(value)) is not None:
            raise BadText(*complaint)
        return self.keep(text, value)

    def keep(self, text: str, value: Any) -> Any:
        """The value, remembered where its text is short."""
        if len(text) < SHORT:
            if len(self) >= _MOST:
                self.clear()
            self[text] = value
        return value


class _Numbers(Values):
    """The same for one number, read here where there is nothing to say about it."""

    __slots__ = ("high", "low")

    def __init__(self, kind: Kind) -> None:
        super().__init__(kind)
        _, self.low, self.high = RANGE[kind]

    def __missing__(self, text: str) -> Any:
        # Python's `float` takes no such text for a finite number that `READ` would refuse.
        if len(text) < SHORT and "_" not in text and text.isascii():
            try:
                value = float(text)
            except ValueError:
                pass  # the long way says why
            else:
                if self.low <= value <= self.high:  # false for nan
                    return self.keep(text, value)
        return super().__missing__(text)


class _Vectors(_Numbers):
    """Likewise for three numbers."""

    __slots__ = ()

    def __missing__(self, text: str) -> Any:
        if len(text) < SHORT and "_" not in text and text.isascii():
            try:
                x, y, z = map(float, text.split())
            except ValueError:
                pass
            else:
                low, high = self.low, self.high
                if low <= x <= high and low <= y <= high and low <= z <= high:
                    return self.keep(text, (x, y, z))
        return Values.__missing__(self, text)


_BY_COUNT = {0: Values, 1: _Numbers, 3: _Vectors}
VALUES = {kind: _BY_COUNT[RANGE.get(kind, (0,))[0]](kind) for kind in Kind}
"""Kind to the values of its texts."""

# Where these are used an error is already noted, so they never reach anybody.
_FILLERS: dict[Kind, Any] = {
    Kind.NAME: "",
    Kind.JOINT_TYPE: "fixed",
    Kind.NUMBER: 0.0,
    Kind.FACTOR: 1.0,
    Kind.POSITIVE: 1.0,
    Kind.SIZES: (1.0, 1.0, 1.0),
}


def filler(attribute: Attribute) -> Any:
    """What stands for a value that is missing or wrong, so that checking can go on."""
    needed = attribute.required == "error"
    return _FILLERS[attribute.kind] if needed else attribute.default


# ---- the table laid out for reading


@dataclass(slots=True)
class Builder:
    """How one element is read.

    ``template`` starts the list of a record; an element without a record works on its owner's.
    ``draft`` is a class like the record's that can be written to; its objects become records when
    they are given that class, a quarter of the time of making a frozen one. Numbers are places in
    the list.
    """

    tag: str
    record: Any
    text: bool
    draft: Any = None
    template: list[Any] = field(default_factory=list[Any])
    n_fields: int = 0
    line: int = 0
    extra: int = 0
    comments: int = 0
    position: int = 0
    layout: int = 0  # 0 where every element is a record, which knows its place itself
    owner: Builder | None = None  # of an element whose attributes fill the record around it
    attributes: dict[str, tuple[int, Attribute]] = field(default_factory=dict[str, Any])
    values: dict[str, tuple[int, Values]] = field(default_factory=dict[str, Any])
    needed: frozenset[str] = frozenset()
    children: dict[str, Branch] = field(default_factory=dict[str, Any])
    needed_children: tuple[tuple[int, str, Need], ...] = ()
    lists: tuple[int, ...] = ()  # fields that are lists until the end
    packed: int = 0  # the field of a symmetric matrix
    upper: Callable[[Any], Any] = tuple  # its upper triangle, from the list


@dataclass(slots=True)
class Branch:
    """A child in its place: its builder, and what its owner does with it."""

    owner: Builder
    builder: Builder
    index: int  # the field of the owner; -1 where the child fills fields by itself
    repeated: bool
    seen: int  # hidden: whether the child has come
    doubled: Need
    rival: bool  # whether an attribute may have filled the same field


class _Places:
    """The list of a record while it is laid out."""

    def __init__(self, names: list[str]) -> None:
        self.index = {name: k for k, name in enumerate(names)}
        self.template: list[Any] = [None] * len(names)

    def hidden(self, start: Any) -> int:
        """A new place behind the fields."""
        self.template.append(start)
        return len(self.template) - 1

    def of(self, name: str) -> int:
        """The place of a field, or of a number that is packed."""
        if name not in self.index:
            self.index[name] = self.hidden(None)
        return self.index[name]


@cache
def draft(record: type) -> Any:
    """A class like a frozen record's that can be written to, see `Builder`."""
    names = [f.name for f in fields(record)]
    return make_dataclass(record.__name__, names, slots=True, eq=False, repr=False)


def made(record: type, *values: Any) -> Any:
    """A record by way of its draft."""
    new = draft(record)(*values)
    new.__class__ = record
    return new


def _record_builder(element: Element, record: type) -> Builder:
    """The builder of an element that becomes a record."""
    names = [f.name for f in fields(record)]
    places = _Places(names)
    at = places.index
    builder = Builder(element.tag, record, text=False, draft=draft(record), n_fields=len(names))
    builder.line, builder.position = at["line"], at["position"]
    builder.extra, builder.comments = at["extra"], at["comments"]
    builder.layout = at.get("layout", 0)
    _lay_out(builder, element, places)
    builder.lists = (builder.extra, builder.comments, *builder.lists)
    for index in (*builder.lists, builder.layout):
        if index:
            places.template[index] = ()
    builder.template = places.template
    return builder


def _inline_builder(element: Element, places: _Places, of: Builder, *, needed: bool) -> Builder:
    """The builder of an element that fills fields of the record around it, which may need it."""
    builder = Builder(element.tag, None, element.text, line=of.line, extra=of.extra)
    builder.comments = of.comments
    builder.owner = None if element.text else of
    _lay_out(builder, element, places, needed=needed)
    return builder


def _lay_out(builder: Builder, element: Element, places: _Places, *, needed: bool = True) -> None:
    for attribute in element.attributes:
        index = places.of(attribute.target)
        builder.attributes[attribute.name] = index, attribute
        builder.values[attribute.name] = index, VALUES[attribute.kind]
        places.template[index] = filler(attribute) if needed else attribute.default
    builder.needed = frozenset(a.name for a in element.attributes if a.required)
    if element.packed:
        builder.packed = places.of(element.packed)
        builder.upper = itemgetter(*[index for index, _ in builder.attributes.values()])
    seen_of: dict[str, int] = {}
    asked: dict[int, tuple[list[str], Need]] = {}
    for child in element.children:
        branch = _branch(child, builder, places, seen_of)
        builder.children[child.element.tag] = branch
        if child.required:
            asked.setdefault(branch.seen, ([], child.required))[0].append(f"<{child.element.tag}>")
    asked_for = asked.items()
    builder.needed_children = tuple((k, " or ".join(t), need) for k, (t, need) in asked_for)
    builder.lists = tuple(b.index for b in builder.children.values() if b.repeated)


def _branch(child: Child, owner: Builder, places: _Places, seen_of: dict[str, int]) -> Branch:
    element = child.element
    if element.record:
        builder = _record_builder(element, element.record)
    else:
        builder = _inline_builder(element, places, owner, needed=child.required == "error")
    key = child.field or element.tag
    if key not in seen_of:
        seen_of[key] = places.hidden(False)
    index = places.of(child.field) if child.field else -1
    rival = any(index == place for place, _ in owner.attributes.values())
    seen = seen_of[key]
    return Branch(owner, builder, index, child.repeated, seen, child.doubled, rival)


def _document_builder() -> Builder:
    """What stands around the root element."""
    template = [None, False, (), ()]
    builder = Builder("", None, text=False, template=template, extra=2, comments=3)
    root = _record_builder(ROBOT, Robot)
    builder.children["robot"] = Branch(builder, root, 0, False, 1, "error", False)
    return builder


DOCUMENT = _document_builder()
"""The builder that reading starts with."""


def _tags(builder: Builder) -> set[str]:
    below = (_tags(branch.builder) for branch in builder.children.values())
    return set(builder.children).union(*below)


TAGS = frozenset(_tags(DOCUMENT))
"""Every element that URDF has."""


# ---- the events


class _Stop(Exception):
    """Reading cannot go on; the problem is already noted."""


class _WhiteSpace(dict[str, None]):
    """The white space between tags that has come before; ``other`` is called with any other text.

    Looking up what has come before takes no call of Python, and that is most of what comes.
    """

    __slots__ = ("other",)
    other: Callable[[str], None]

    def __missing__(self, text: str) -> None:
        if text.strip(SPACE):
            self.other(text)
        elif len(text) < SHORT:
            self[text] = None


class Reader:
    """One pass over one file, in UTF-8."""

    def __init__(self, data: bytes, findings: Findings) -> None:
        self.data, self.findings = data, findings
        self.parser = expat.ParserCreate("utf-8", "\n")
        self.builder: Builder = DOCUMENT
        self.values: list[Any] = DOCUMENT.template.copy()
        self.order: list[str] = []  # the tags in the record so far, "" for what has none in URDF
        self.stack: list[tuple[Branch, list[Any], list[str]]] = []
        self.first: list[tuple[Builder, list[Any], list[str]]] = []  # of doubled elements
        self.white_space = _WhiteSpace()
        self.texts: list[str] = []  # of the element that holds one
        self.layouts: dict[tuple[str, ...], tuple[str, ...]] = {}
        self.skipping = 0  # depth inside an element that is not read
        self.skipped = ("", 0, 0, 0)  # its tag, line, first byte and place
        self.spaces: list[tuple[str, str]] = []  # name spaces declared on the next element
        self.unknown = UnknownParts(findings)
        self.stray_line = 0  # of the record that stray text was last reported in

    def read(self, *, mend: bool = True) -> Robot | None:
        """The robot; None when reading stopped before its end.

        With ``mend`` a file that is no XML by a slip which leaves no doubt is read once more.
        """
        parser, before = self.parser, self.findings.mark()
        parser.buffer_text = True
        parser.namespace_prefixes = True
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        self.white_space.other = self._stray_text
        parser.CharacterDataHandler = self.white_space.__getitem__
        parser.StartNamespaceDeclHandler = self._name_space
        parser.StartDoctypeDeclHandler = self._document_type
        parser.CommentHandler = self._comment
        parser.ProcessingInstructionHandler = self._instruction
        try:
            self._feed()
        except _Stop:
            return None
        except expat.ExpatError as error:
            if mend and error.code in MENDABLE:
                self.findings.rewind(before)
                data = well_formed(self.data, self.findings)
                return Reader(data, self.findings).read(mend=False)
            self._broken(error)
            return None
        finally:
            # The handlers and the parser hold each other.
            parser.StartElementHandler = parser.EndElementHandler = None
            parser.CharacterDataHandler = parser.StartNamespaceDeclHandler = None
            parser.StartDoctypeDeclHandler = None
            parser.CommentHandler = parser.ProcessingInstructionHandler = None
            del self.white_space
        robot: Robot | None = self.values[0]
        around: Sequence[Comment] = self.values[DOCUMENT.comments]
        if robot is None or not around:
            return robot
        above = [c for c in around if (c.position or 0) < (robot.position or 0)]
        return replace(robot, comments=(*above, *robot.comments, *around[len(above) :]))

    def _feed(self) -> None:
        """Hand over the data piece by piece, so that a tag without end is noticed."""
        parser, view, size = self.parser, memoryview(self.data), len(self.data)
        for start in range(0, size, _CHUNK):
            stop = min(start + _CHUNK, size)
            parser.Parse(view[start:stop], False)
            if stop - parser.CurrentByteIndex > LONGEST_TAG:
                text = f"a tag or comment is longer than {LONGEST_TAG:,} bytes"
                self._error("too-long", text)
                raise _Stop
        parser.Parse(b"", True)

    def _start(self, tag: str, attributes: dict[str, str]) -> None:  # noqa: C901 -- most time
        """An element begins."""
        branch, values = self.builder.children.get(tag), self.values
        if branch is None or (
            branch.rival and values[branch.index] is not None and not values[branch.seen]
        ):
            self._start_other(tag, attributes)
            return
        self.order.append(tag)
        self.builder = builder = branch.builder
        owner = values
        if branch.index >= 0:
            values = self._open(branch, owner)
        if not branch.repeated:
            if owner[branch.seen]:
                values = self._doubled(branch)
            owner[branch.seen] = True
        places = builder.values
        try:
            for name, text in attributes.items():
                index, known = places[name]
                values[index] = known[text]
        except (KeyError, BadText):
            self._odd_attributes(builder, attributes)
            self._missing_attributes(builder, attributes)
        else:
            if builder.needed and len(attributes) != len(places):
                self._missing_attributes(builder, attributes)
        if builder.packed:
            xx, xy, xz, yy, yz, zz = upper = builder.upper(values)
            whole = None not in upper
            values[builder.packed] = ((xx, xy, xz), (xy, yy, yz), (xz, yz, zz)) if whole else None
        if self.spaces:
            self._keep_spaces()

    def _open(self, branch: Branch, owner: list[Any]) -> list[Any]:
        """The list that a record begins with; an element that holds a text has its owner's."""
        builder = branch.builder
        self.stack.append((branch, owner, self.order))
        if builder.text:
            self.parser.CharacterDataHandler = self.texts.append
            return owner
        values = self.values = builder.template.copy()
        values[builder.line] = self.parser.CurrentLineNumber
        values[builder.position] = len(self.order) - 1
        self.order = []
        return values

    def _start_other(self, tag: str, attributes: dict[str, str]) -> None:
        """An element in a default name space, one that URDF does not define here, or one whose
        field an attribute has filled.
        """
        local = _without_default_space(tag)
        if tag in self.builder.children:
            self._outdone(tag, attributes)
        elif local in self.builder.children:
            self._start(local, attributes)
        else:
            self._unknown(tag, attributes)

    def _end(self, _: str) -> None:
        """An element ends: what it made is given to its owner."""
        builder, values = self.builder, self.values
        for seen, tags, need in builder.needed_children:
            if not values[seen]:
                self._note(need, "missing-element", f"{tags} is missing", line=values[builder.line])
        if builder.owner is not None:
            self.builder = builder.owner
            if self.first and self.first[-1][0] is builder:
                self.values, self.order = self.first.pop()[1:]
            return
        inside = self.order
        branch, owner, order = self.stack.pop()
        self.builder, self.values, self.order = branch.owner, owner, order
        new = self._text() if builder.text else self._record(builder, values, inside)
        index = branch.index
        # of several where one belongs the first stays
        if branch.repeated:
            if owner[index]:
                owner[index].append(new)
            else:
                owner[index] = [new]
        elif owner[index] is None:
            owner[index] = new

    def _record(self, builder: Builder, values: list[Any], order: list[str]) -> Any:
        for k in builder.lists:
            if values[k]:
                values[k] = tuple(values[k])
        if builder.layout:
            layout = tuple(order)  # few are different: each is held once
            values[builder.layout] = self.layouts.setdefault(layout, layout)
        record = builder.draft(*values[: builder.n_fields])
        record.__class__ = builder.record
        return record

    def _text(self) -> str:
        """What an element holds that is a text."""
        self.parser.CharacterDataHandler = self.white_space.__getitem__
        text = "".join(self.texts).strip(SPACE)
        self.texts.clear()
        if len(text) > LONGEST:
            message = f"the text is longer than {LONGEST} characters"
            self._note("error", "too-long", message)
        return text

    def _stray_text(self, text: str) -> None:
        """Text between two tags that belongs to no element."""
        line = self.values[self.builder.line]
        if self.stray_line != line:
            self.stray_line = line
            message = f"the text '{show(text.strip(SPACE), 40)}' belongs to no element"
            self._note("warning", "stray-text", message)

    def _comment(self, text: str, target: str = "") -> None:
        """Keep a comment, or a processing instruction, that stands between known elements."""
        if self.skipping:
            return
        builder, line = self.builder, self.parser.CurrentLineNumber
        comment = made(Comment, builder.tag, text, self._placed(), line, target)
        self._append(builder.comments, comment)

    def _instruction(self, target: str, text: str) -> None:
        """A processing instruction, such as a schema that an editor follows: as a comment."""
        self._comment(text, target)

    def _name_space(self, prefix: str | None, uri: str) -> None:
        """A name space is declared on the element that begins next."""
        if not self.skipping:
            self.spaces.append((f"xmlns:{prefix}" if prefix else "xmlns", uri or ""))

    def _document_type(self, *_: object) -> None:
        """A document type begins: the one way to define entities, so it is not let in."""
        hint = "remove the <!DOCTYPE ...>; write what its entities stand for"
        message = "a document type is not read: it could define entities"
        self._error("doctype", message, hint=hint)
        raise _Stop

    # what a good file has little of: unknown things, odd values, complaints

    def _odd_attributes(self, builder: Builder, attributes: dict[str, str]) -> None:
        """Some are not known, or odd: read those that are known, keep the others as they are."""
        names: list[str] = []
        for name, text in attributes.items():
            if name in builder.attributes:
                index, attribute = builder.attributes[name]
                value = self.values[index] = self._converted(attribute, text, attributes)
                if value is None:
                    self._limit(text)
                    self._keep_attribute(name, text)
                continue
            self._limit(name)
            self._limit(text)
            label = _label(name)
            names.append(label)
            self._keep_attribute(label, text)
        if names:
            line, name = self.parser.CurrentLineNumber, self._name(attributes)
            self.unknown.attributes(builder.tag, builder.attributes, names, line=line, name=name)

    def _converted(self, attribute: Attribute, text: str, attributes: dict[str, str]) -> Any:
        """The value of a text that may be odd; when it has none a filler, or None for a finding."""
        level: Level = "warning"
        try:
            value = READ[attribute.kind](text)
            judge = JUDGE.get(attribute.kind)
            complaint: Complaint | None = judge(value) if judge else None
        except BadText as bad:
            level = attribute.faulty
            value, complaint = (filler(attribute) if level == "error" else None), bad.complaint
        if complaint is not None:
            code, message, hint = complaint
            message = f"attribute '{attribute.name}': {message}"
            self._note(level, code, message, name=self._name(attributes), hint=hint)
        return value

    def _missing_attributes(self, builder: Builder, attributes: dict[str, str]) -> None:
        if builder.needed <= attributes.keys():
            return
        name = self._name(attributes)
        for index, attribute in builder.attributes.values():
            if attribute.required and attribute.name not in attributes:
                message = f"attribute '{attribute.name}' is missing"
                hint = f"it is {attribute.kind.value}"
                self.values[index] = filler(attribute)
                self._note(attribute.required, "missing-attribute", message, name=name, hint=hint)
            elif builder.packed and attribute.name in attributes:  # what is left of a matrix
                self._keep_attribute(attribute.name, attributes[attribute.name])

    def _doubled(self, branch: Branch) -> list[Any]:
        """The values that the second of two elements fills: the first one counts.

        An error where the tree depends on it.
        """
        below = branch.builder
        if not below.template:
            if below.owner is not None:
                self.first.append((below, self.values, self.order))
            self.values = copy = self.values.copy()
            copy[below.extra], copy[below.comments], self.order = (), (), []
        hint = "the first one counts" if branch.doubled == "warning" else "leave one"
        self._note(branch.doubled, "doubled", "there is more than one here", hint=hint)
        return self.values

    def _append(self, index: int, kept: Any) -> None:
        """Keep something that the record does not define."""
        if self.values[index]:
            self.values[index].append(kept)
        else:
            self.values[index] = [kept]

    def _keep_attribute(self, name: str, text: str) -> None:
        builder = self.builder
        position = None if builder.template else len(self.order) - 1
        line = self.parser.CurrentLineNumber
        self._append(builder.extra, ExtraAttribute(builder.tag, name, text, position, line))

    def _keep_spaces(self) -> None:
        for name, uri in self.spaces:
            self._limit(uri)
            self._keep_attribute(name, uri)
        self.spaces.clear()

    def _unknown(self, tag: str, attributes: dict[str, str]) -> None:
        """An element that does not stand here in URDF: its text is kept, or it is refused."""
        builder = self.builder
        uri, _, local = tag.partition("\n")
        label = _label(tag)
        if builder is DOCUMENT:
            message = f"the root element is <{show(label, 40)}>, not <robot>"
            self._error("root", message, hint="this is no URDF")
            raise _Stop
        self._limit(label)
        if uri == _XINCLUDE:
            hint = "put the included text into the file"
            self._error("xinclude", "XInclude is not read", element=label, hint=hint)
        elif local and "xacro" in uri:
            hint = "expand the file with xacro first, if there is to be more in it"
            message = "a xacro element is left: kept, not used"
            self._note("warning", "xacro", message, element=label, hint=hint)
        elif label in MISPLACED:
            message = f"a <{label}> cannot stand in a <{builder.tag}>"
            hint = "links and joints stand directly in <robot>"
            self._error("misplaced", message, element=label, hint=hint)
        else:
            known, line = tuple(builder.children), self.parser.CurrentLineNumber
            name = self._name({})
            self.unknown.element(builder.tag, known, label, tags=TAGS, line=line, name=name)
        self.spaces.clear()
        self._skip(label, attributes)

    def _outdone(self, tag: str, attributes: dict[str, str]) -> None:
        """An element begins whose field an attribute has filled: its text is kept as it stands."""
        message = f"<{tag}> says what the attribute '{tag}' says"
        self._note("warning", "doubled", message, hint="the attribute counts")
        self._skip(tag, attributes)

    def _skip(self, label: str, attributes: dict[str, str]) -> None:
        """Keep an element, which begins here, as text."""
        parser = self.parser
        self.skipped = label, parser.CurrentLineNumber, parser.CurrentByteIndex, self._placed()
        parser.StartElementHandler = self._start_skipped
        parser.EndElementHandler = self._end_skipped
        parser.CharacterDataHandler = None
        self._start_skipped("", attributes)

    def _start_skipped(self, _: str, attributes: dict[str, str]) -> None:
        self.skipping += 1
        if self.skipping + len(self.stack) > DEEPEST:
            self._error("too-deep", f"elements are nested more than {DEEPEST} deep")
            raise _Stop
        for text in attributes.values():
            if len(text) > LONGEST:
                self._limit(text)

    def _end_skipped(self, _: str) -> None:
        self.skipping -= 1
        if not self.skipping:
            self._keep_element()
            self.parser.StartElementHandler = self._start
            self.parser.EndElementHandler = self._end
            self.parser.CharacterDataHandler = (
                self.texts.append if self.builder.text else self.white_space.__getitem__
            )

    def _keep_element(self) -> None:
        """Keep the text of an unknown element that has just ended."""
        label, line, start, place = self.skipped
        data = self.data
        tag = _TAG.match(data, start)
        stop = tag.end() if tag else start
        if data[stop - 2 : stop] != b"/>":
            stop = data.index(b">", self.parser.CurrentByteIndex) + 1
        xml, builder = data[start:stop].decode(), self.builder
        extra = made(ExtraElement, builder.tag, label, xml, place, line)
        self._append(builder.extra, extra)

    def _placed(self) -> int:
        """The next position in the present record, for what is no element of the format."""
        self.order.append("")
        return len(self.order) - 1

    def _limit(self, text: str) -> None:
        if len(text) > LONGEST:
            message = f"a name or attribute is longer than {LONGEST} characters"
            self._error("too-long", message)
            raise _Stop

    def _name(self, attributes: dict[str, str]) -> str:
        """The name of the link, joint, material or transmission that is being read."""
        if len(self.stack) > 2:
            return str(self.stack[2][1][0] or "")
        return str(self.values[0] or attributes.get("name") or "")

    def _broken(self, error: expat.ExpatError) -> None:
        """XML that is not well formed: where, and which element was open."""
        reason = expat.ErrorString(error.code) or "it is not well formed"
        hint = _HINTS.get(reason, "")
        if error.code == expat.errors.codes[expat.errors.XML_ERROR_TAG_MISMATCH]:
            tag = self.skipped[0] if self.skipping else self.builder.tag
            hint = f"<{show(tag, 40)}> was still open"
        message = f"the XML is broken at column {error.offset + 1}: {reason}"
        self._error("xml", message, line=error.lineno, hint=hint)

    def _note(
        self,
        level: Level,
        code: str,
        message: str,
        *,
        line: int = 0,
        element: str = "",
        name: str | None = None,
        hint: str = "",
    ) -> None:
        """A finding about the present element, unless another one is named."""
        self.findings.add(
            level,
            code,
            message,
            line=line or self.parser.CurrentLineNumber,
            element=element or self.builder.tag,
            name=self._name({}) if name is None else name,
            hint=hint,
        )

    def _error(
        self, code: str, message: str, *, line: int = 0, element: str = "", hint: str = ""
    ) -> None:
        """An error about the file, or about an element without a name."""
        line = line or self.parser.CurrentLineNumber
        self.findings.add("error", code, message, line=line, element=element, hint=hint)


_HINTS = {
    "no element found": "the file is empty, or ends before its last element does",
    "not well-formed (invalid token)": "a character that XML does not allow, or not UTF-8",
    "undefined entity": "XML itself has only &lt; &gt; &amp; &quot; &apos;",
    "unbound prefix": "declare it on <robot> with xmlns:...",
}


def _without_default_space(tag: str) -> str:
    """The name of an element in a default name space, which URDF does not care about."""
    _, _, rest = tag.partition("\n")
    return "" if "\n" in rest else rest


def _label(tag: str) -> str:
    """A name as written in the file: expat gives 'uri, name, prefix' on three lines."""
    uri, _, rest = tag.partition("\n")
    local, _, prefix = rest.partition("\n")
    if not local:
        return uri
    return f"{prefix}:{local}" if prefix else local
