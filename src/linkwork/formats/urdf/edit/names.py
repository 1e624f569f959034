"""Giving things other names, with every reference followed; names that go away are dropped.

What becomes of a name is its *fate*: another name, the same, or None when it is gone.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any
from xml.parsers import expat
from xml.sax.saxutils import escape

from linkwork.errors import InputError
from linkwork.formats.urdf.convert import listed, show
from linkwork.formats.urdf.edit.records import (
    joint_names,
    link_names,
    outcome,
    rebuilt,
    renaming,
    robot_of,
)
from linkwork.formats.urdf.findings import Findings
from linkwork.formats.urdf.materials import material_names
from linkwork.formats.urdf.records import (
    Document,
    ExtraElement,
    Joint,
    Link,
    Material,
    Mimic,
    Robot,
    Transmission,
    TransmissionJoint,
)

# Rows of docs/check.md: code | levels | what it means | how to mend it.
CODES = """
# Edits
name-left | warning | An edit left an old name in kept XML. | Change it there.
"""


# ---- names in XML that URDF does not define

_TAG = re.compile(rb"<(?:[^>\"']|\"[^\"]*\"|'[^']*')*>")
_ATTRIBUTE = re.compile(rb"=\s*(?:\"([^\"]*)\"|'([^']*)')")
_BREAKS = re.compile(r"[\s,;:|/=()\[\]{}\"'<>]+")


@dataclass(frozen=True, slots=True)
class Mention:
    """A name in a known place: what it may name, and where its text stands, in bytes.

    ``span`` is the element that goes with what is named (start, stop); None where none does.
    """

    kinds: tuple[str, ...]
    name: str
    start: int
    stop: int
    span: tuple[int, int] | None = None


@dataclass(slots=True)
class _Open:
    """An element that has begun."""

    tag: str
    start: int
    inside: int  # where its content begins
    attributes: dict[str, tuple[str, int, int]]
    plain: bool = True  # nothing but text has come in it
    joints: list[tuple[str, int, int]] = field(default_factory=list)


class Mentions:
    """One pass over the text of an unknown element."""

    def __init__(self, extra: ExtraElement) -> None:
        self.data = extra.xml.encode("utf-8", "surrogatepass")
        self.found: list[Mention] = []
        self.words: list[str] = []
        self._top = extra.tag
        self._open: list[_Open] = []
        self._text: list[str] = []
        self._parser = parser = expat.ParserCreate("utf-8")
        parser.ordered_attributes = True
        parser.buffer_text = True
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        parser.CharacterDataHandler = self._text.append
        parser.StartDoctypeDeclHandler = self._refuse
        try:
            parser.Parse(self.data, True)
        except expat.ExpatError as error:
            raise InputError(f"the text of <{show(extra.tag)}> is no XML: {error}") from None
        finally:
            parser.StartElementHandler = parser.EndElementHandler = None
            parser.CharacterDataHandler = parser.StartDoctypeDeclHandler = None

    def tokens(self) -> set[str]:
        """The texts that stand in no known place, whole and cut at what names seldom hold."""
        found: set[str] = set()
        for word in self.words:
            found.add(word)
            found.add(word.strip())
            found.update(_BREAKS.split(word))
        return found

    def _refuse(self, *_: object) -> None:
        raise InputError(f"the text of <{show(self._top)}> has a document type")

    def _start(self, tag: str, attributes: list[str]) -> None:
        self._end_text()
        if self._open:
            self._open[-1].plain = False
        index = self._parser.CurrentByteIndex
        match = _TAG.match(self.data, index)
        stop = match.end() if match else index
        names, values = attributes[::2], attributes[1::2]
        places = [m.span(1) if m[1] is not None else m.span(2) for m in self._raw(index, stop)]
        own = {n: (v, *at) for n, v, at in zip(names, values, places, strict=False)}
        self._open.append(_Open(tag, index, stop, own))
        taken = self._known_attribute(tag, own)
        self.words += [value for name, value in zip(names, values, strict=True) if name != taken]

    def _raw(self, start: int, stop: int) -> list[re.Match[bytes]]:
        return list(_ATTRIBUTE.finditer(self.data, start, stop))

    def _known_attribute(self, tag: str, own: dict[str, tuple[str, int, int]]) -> str:
        """The attribute that names a link or joint, noted with the element that it stands in."""
        depth = len(self._open)
        if self._top == "gazebo" and depth == 1 and "reference" in own:
            self.found.append(Mention(("link", "joint"), *own["reference"], (0, len(self.data))))
            return "reference"
        if self._top == "sensor" and depth == 2 and tag == "parent" and "link" in own:
            self.found.append(Mention(("link",), *own["link"], (0, len(self.data))))
            return "link"
        if self._top == "ros2_control" and tag == "joint" and "name" in own:
            holder = self._open[-2] if depth > 1 else self._open[-1]
            within = holder.tag == "transmission"
            (holder if within else self._open[-1]).joints.append(own["name"])
            return "name"
        return ""

    def _end(self, tag: str) -> None:
        element = self._open.pop()
        index = self._parser.CurrentByteIndex
        if self._top == "ros2_control":
            stop = element.inside
            if self.data[stop - 2 : stop] != b"/>":
                stop = self.data.index(b">", index) + 1
            span = (element.start, stop)
            self.found += [Mention(("joint",), *joint, span) for joint in element.joints]
            if self._is_leader(element, index):
                return
        self._end_text()

    def _is_leader(self, element: _Open, stop: int) -> bool:
        """Note the joint that a joint of ros2_control follows."""
        if element.tag != "param" or element.attributes.get("name", ("",))[0] != "mimic":
            return False
        raw = self.data[element.inside : stop]
        name = "".join(self._text).strip()
        if not element.plain or not name or b"<" in raw:
            return False
        self._text.clear()
        start = element.inside + len(raw) - len(raw.lstrip())
        self.found.append(Mention(("joint",), name, start, start + len(raw.strip())))
        return True

    def _end_text(self) -> None:
        text = "".join(self._text)
        self._text.clear()
        if text and not text.isspace():
            self.words.append(text)


# ---- references that go with a name

Fates = Mapping[str, "str | None"]
_BLANK = b" \t"
_ENTITIES = {'"': "&quot;", "'": "&apos;", "\n": "&#10;", "\t": "&#9;", "\r": "&#13;"}


class References:
    """What becomes of the names in unknown elements; `follow` does it, one element at a time.

    ``links`` and ``joints`` have a fate for every name there is; ``words`` are further names that
    no text should hold any more. Names that are left in a text become findings of ``problems``.
    """

    def __init__(
        self, links: Fates, joints: Fates, problems: Findings, words: Fates | None = None
    ) -> None:
        self.fates = {"link": links, "joint": joints}
        self.problems = problems
        self.old: dict[str, str | None] = {}
        for fates in (links, joints, words or {}):
            self.old |= {name: fate for name, fate in fates.items() if fate != name}

    def follow(self, extra: ExtraElement) -> ExtraElement | None:
        """The element with its names followed; None when what it belongs to is gone.

        Raises: InputError when its text is no XML.
        """
        if not self.old:
            return extra
        mentions = Mentions(extra)
        gone = {m.span for m in mentions.found if m.span is not None and self._fates(m) == {None}}
        if gone and all(m.span in gone for m in mentions.found if m.span):
            return None
        changes = {_with_indentation(mentions.data, span): b"" for span in gone}
        left: set[str] = set()
        for mention in mentions.found:
            fates = self._fates(mention)
            name, *others = fates - {None} or {mention.name}
            if others or (fates == {None} and mention.span is None):
                if not _covered(mention, gone):
                    left.add(mention.name)
            elif name != mention.name:
                # what no file could hold is refused in the records that have the name
                new = escape(name or "", _ENTITIES).encode(errors="surrogatepass")
                changes[mention.start, mention.stop] = new
        if changes:
            xml = _changed(mentions.data, changes).decode("utf-8", "surrogatepass")
            extra = replace(extra, xml=xml)
        words = Mentions(extra) if gone else mentions
        left |= words.tokens() & self.old.keys()
        if left:
            self._note(extra, sorted(left))
        return extra

    def _fates(self, mention: Mention) -> set[str | None]:
        of = (self.fates[kind] for kind in mention.kinds)
        return {fates[mention.name] for fates in of if mention.name in fates}

    def _note(self, extra: ExtraElement, names: list[str]) -> None:
        gone = sum(self.old[name] is None for name in names)
        what = "renamed" if not gone else "gone" if gone == len(names) else "renamed or gone"
        message = f"the text still holds {listed(names)}: {what}"
        hint = "change it by hand where it means the link or joint"
        self.problems.add(
            "warning", "name-left", message, line=extra.line, element=extra.tag, hint=hint
        )


def _covered(mention: Mention, spans: set[tuple[int, int]]) -> bool:
    """Whether what mentions the name is left out itself."""
    return any(start <= mention.start < stop for start, stop in spans)


def _with_indentation(data: bytes, span: tuple[int, int]) -> tuple[int, int]:
    """The span and the white space before it, back to the end of the line above."""
    start, stop = span
    while start and data[start - 1] in _BLANK:
        start -= 1
    if start and data[start - 1] == ord("\n"):
        start -= 1
    return start, stop


def _changed(data: bytes, changes: Mapping[tuple[int, int], bytes]) -> bytes:
    """The text with spans put in other bytes; a span within one that is left out goes with it."""
    parts: list[bytes] = []
    done = 0
    for (start, stop), new in sorted(changes.items()):
        if start >= done:
            parts += [data[done:start], new]
            done = stop
    return b"".join([*parts, data[done:]])


# ---- edits

_NONE: Mapping[str, str] = MappingProxyType({})


def rename(
    document: Document,
    *,
    links: Mapping[str, str] = _NONE,
    joints: Mapping[str, str] = _NONE,
    materials: Mapping[str, str] = _NONE,
    transmissions: Mapping[str, str] = _NONE,
    robot: str | None = None,
) -> Document:
    """The description with other names, from old to new; names may be exchanged.

    References are followed: parents and children, mimic, transmissions, materials of shapes, and
    in unknown elements `<gazebo reference>`, the joints of `<ros2_control>` and the parent of a
    `<sensor>`. An unknown element whose text holds an old name of a link, joint or transmission
    anywhere else is left as it is, with a finding of code ``name-left``.

    Raises: UnknownNameError for an old name that does not exist, InputError for a new one that is
    taken or empty, DescriptionError for one that no file could hold.
    """
    old = robot_of(document)
    names = _Names(
        renaming("link", links, link_names(old)),
        renaming("joint", joints, joint_names(old)),
        renaming("material", materials, material_names(old)),
        renaming("transmission", transmissions, _transmissions(old)),
    )
    if robot is not None and (not isinstance(robot, str) or not robot.strip()):
        raise InputError(f"the robot cannot be called {robot!r}: give it a name")
    return _renamed(document, names, robot)


def prefix(document: Document, text: str) -> Document:
    """The description with ``text`` before the name of every link, joint, material, transmission.

    References are followed as in `rename`; the robot keeps its name.

    Raises: InputError for what is no text, DescriptionError for one that no file could hold.
    """
    if not isinstance(text, str):
        raise InputError(f"a prefix is a text, not {text!r}")
    old = robot_of(document)
    kinds = (link_names(old), joint_names(old), material_names(old), _transmissions(old))
    return _renamed(document, _Names(*({n: text + n for n in names} for names in kinds)), None)


@dataclass(frozen=True, slots=True)
class _Names:
    """Old names to new ones, of each kind."""

    links: dict[str, str]
    joints: dict[str, str]
    materials: dict[str, str]
    transmissions: dict[str, str]


def _transmissions(robot: Robot) -> dict[str, None]:
    return {t.name: None for t in robot.transmissions if t.name}


def _renamed(document: Document, names: _Names, robot: str | None) -> Document:
    old = document.robot
    findings = Findings(old.file)
    links = {name: names.links.get(name, name) for name in link_names(old)}
    joints = {name: names.joints.get(name, name) for name in joint_names(old)}
    references = References(links, joints, findings, names.transmissions)

    new_values: dict[type, Callable[[Any], dict[str, str]]] = {
        Link: lambda r: {"name": links[r.name]},
        Joint: lambda r: {
            "name": joints[r.name],
            "parent": links[r.parent],
            "child": links[r.child],
        },
        Mimic: lambda r: {"joint": _new(joints, r.joint)},
        TransmissionJoint: lambda r: {"name": _new(joints, r.name)},
        Transmission: lambda r: {"name": _new(names.transmissions, r.name)},
        Material: lambda r: {"name": _new(names.materials, r.name)},
    }

    def change(record: Any) -> Any:
        if isinstance(record, ExtraElement):
            return references.follow(record)
        values = new_values.get(type(record))
        return record if values is None else _with(record, **values(record))

    new: Robot = rebuilt(old, change)
    return outcome(_with(new, name=old.name if robot is None else robot), findings)


def _new(names: Mapping[str, str], name: str) -> str:
    return names.get(name, name)


def _with(record: Any, **values: str) -> Any:
    """The record with other values; itself where they are the same."""
    if all(getattr(record, name) == value for name, value in values.items()):
        return record
    return replace(record, **values)
