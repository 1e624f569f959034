"""Giving things other names, with every reference followed; names that go away are dropped.

What becomes of a name is its *fate*: another name, the same, or None when it is gone.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from html import unescape
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
from linkwork.formats.urdf.rewrite import SourceElement, scanned

# Rows of docs/check.md: code | levels | what it means | how to mend it.
CODES = """
# Edits
name-left | warning | An edit left an old name in kept XML. | Change it there.
"""


# ---- names in XML that URDF does not define

_BREAKS = re.compile(r"[\s,;:|/=()\[\]{}\"'<>]+")
_CDATA = re.compile(r"<!\[CDATA\[(.*?)\]\]>", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Mention:
    """A name in a known place: what it may name, and where it stands in the text.

    ``span`` is the element that goes with what is named (start, stop); None where none does.
    """

    kinds: tuple[str, ...]
    name: str
    start: int
    stop: int
    span: tuple[int, int] | None = None


class Mentions:
    """The names in the text of an unknown element: ``found`` in known places, ``words`` elsewhere.

    Raises: InputError for what is no XML, or has a document type.
    """

    def __init__(self, extra: ExtraElement) -> None:
        self.xml, self.top = extra.xml, extra.tag
        self.found: list[Mention] = []
        self.words: list[str] = []
        parser = expat.ParserCreate("utf-8")
        parser.StartDoctypeDeclHandler = self._refuse
        try:
            parser.Parse(self.xml.encode("utf-8", "surrogatepass"), True)
        except expat.ExpatError as error:
            raise InputError(f"the text of <{show(self.top)}> is no XML: {error}") from None
        finally:
            parser.StartDoctypeDeclHandler = None
        around = scanned(self.xml)
        waiting = [(child, around, 1) for child in around.children if child.tag]
        while waiting:
            element, above, depth = waiting.pop()
            self._element(element, above, depth)
            inside = (child for child in reversed(element.children) if child.tag)
            waiting += [(child, element, depth + 1) for child in inside]

    def tokens(self) -> set[str]:
        """The texts that stand in no known place, whole and cut at what names seldom hold."""
        pieces = (piece for word in self.words for piece in _BREAKS.split(word))
        return {*self.words, *(word.strip() for word in self.words), *pieces}

    def _refuse(self, *_: object) -> None:
        raise InputError(f"the text of <{show(self.top)}> has a document type")

    def _element(self, element: SourceElement, above: SourceElement, depth: int) -> None:
        """Note the mention in an element, and the other texts in it."""
        attributes = {
            name: (unescape(self.xml[start:stop]), start, stop)
            for name, (_, _, start, stop) in element.attributes(self.xml).items()
        }
        known = ""
        span = (element.start, element.end)
        if self.top == "gazebo" and depth == 1 and "reference" in attributes:
            known = "reference"
            self.found.append(Mention(("link", "joint"), *attributes[known], span))
        elif self.top == "sensor" and depth == 2 and element.tag == "parent":
            known = "link" if "link" in attributes else ""
            if known:
                self.found.append(Mention(("link",), *attributes[known], (0, len(self.xml))))
        elif self.top == "ros2_control" and element.tag == "joint" and "name" in attributes:
            known = "name"
            if above.tag == "transmission":
                span = (above.start, above.end)
            self.found.append(Mention(("joint",), *attributes[known], span))
        self.words += [value for name, (value, _, _) in attributes.items() if name != known]
        is_mimic = element.tag == "param" and attributes.get("name", ("",))[0] == "mimic"
        raw = self.xml[element.inside : element.close]
        if self.top == "ros2_control" and is_mimic and raw.strip() and "<" not in raw:
            start = element.inside + len(raw) - len(raw.lstrip())
            stop = start + len(raw.strip())
            self.found.append(Mention(("joint",), unescape(raw.strip()), start, stop))
            return
        begins = [element.inside, *(child.end for child in element.children)]
        ends = [*(child.start for child in element.children), element.close]
        for begin, end in zip(begins, ends, strict=True):
            for k, text in enumerate(_CDATA.split(self.xml[begin:end])):
                if text and not text.isspace():
                    self.words.append(text if k % 2 else unescape(text))


# ---- references that go with a name

Fates = Mapping[str, "str | None"]
_ENTITIES = {'"': "&quot;", "'": "&apos;", "\n": "&#10;", "\t": "&#9;", "\r": "&#13;"}


class References:
    """The fates of names in unknown elements; `follow` carries them out, one element at a time.

    ``links`` and ``joints`` have a fate for every name there is; ``words`` are further names that
    no text should hold any more. Names that are left in a text become ``findings``.
    """

    def __init__(
        self, links: Fates, joints: Fates, findings: Findings, words: Fates | None = None
    ) -> None:
        self.fates = {"link": links, "joint": joints}
        self.findings = findings
        self.old: dict[str, str | None] = {}
        for fates in (links, joints, words or {}):
            self.old |= {name: fate for name, fate in fates.items() if fate != name}

    def follow(self, extra: ExtraElement) -> ExtraElement | None:  # noqa: C901 -- one story
        """The element with its names followed; None when what it belongs to is gone.

        Raises: InputError when its text is no XML.
        """
        if not self.old:
            return extra
        mentions, xml = Mentions(extra), extra.xml
        fates = [
            {self.fates[kind][m.name] for kind in m.kinds if m.name in self.fates[kind]}
            for m in mentions.found
        ]
        gone = {  # what stands inside of a part that stays is that part's, whatever it names
            m.span
            for m, fate in zip(mentions.found, fates, strict=True)
            if m.span is not None and fate == {None} and extra.within == "robot"
        }
        if gone and all(m.span in gone for m in mentions.found if m.span):
            return None
        changes: dict[tuple[int, int], str] = {}
        for start, stop in gone:  # with the white space before, back to the end of the line above
            before = xml[:start].rstrip(" \t")
            changes[len(before) - before.endswith("\n"), stop] = ""
        left: set[str] = set()
        for mention, fate in zip(mentions.found, fates, strict=True):
            name, *others = fate - {None} or {mention.name}
            if others or (fate == {None} and mention.span not in gone):
                if not any(start <= mention.start < stop for start, stop in gone):
                    left.add(mention.name)
            elif name != mention.name:
                # what no file could hold is refused in the records that have the name
                changes[mention.start, mention.stop] = escape(name or "", _ENTITIES)
        if changes:
            parts, done = list[str](), 0
            for (start, stop), new in sorted(changes.items()):
                if start >= done:  # else it stands within what is left out
                    parts += [xml[done:start], new]
                    done = stop
            extra = replace(extra, xml="".join([*parts, xml[done:]]))
        words = Mentions(extra) if gone else mentions
        left |= words.tokens() & self.old.keys()
        if left:
            names = sorted(left)
            n_gone = sum(self.old[name] is None for name in names)
            what = (
                "renamed" if not n_gone else "gone" if n_gone == len(names) else "renamed or gone"
            )
            message = f"the text still holds {listed(names)}: {what}"
            hint = "change it by hand where it means the link or joint"
            self.findings.add(
                "warning", "name-left", message, line=extra.line, element=extra.tag, hint=hint
            )
        return extra


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
    changes = {"link": links, "joint": joints, "material": materials, "transmission": transmissions}
    names = {kind: renaming(kind, changes[kind], known) for kind, known in _names_of(old).items()}
    if robot is not None and (not isinstance(robot, str) or not robot.strip()):
        raise InputError(f"the robot cannot be called {robot!r}: give it a name")
    return _renamed(old, names, robot)


def prefix(document: Document, text: str) -> Document:
    """The description with ``text`` before the name of every link, joint, material, transmission.

    References are followed as in `rename`; the robot keeps its name.

    Raises: InputError for what is no text, DescriptionError for one that no file could hold.
    """
    if not isinstance(text, str):
        raise InputError(f"a prefix is a text, not {text!r}")
    old = robot_of(document)
    kinds = _names_of(old).items()
    return _renamed(old, {kind: {name: text + name for name in known} for kind, known in kinds})


def _names_of(robot: Robot) -> dict[str, list[str]]:
    """The names of each kind."""
    return {
        "link": link_names(robot),
        "joint": joint_names(robot),
        "material": list(material_names(robot)),
        "transmission": [t.name for t in robot.transmissions if t.name],
    }


def _renamed(
    old: Robot, new_names: Mapping[str, Mapping[str, str]], robot: str | None = None
) -> Document:
    """The robot with new names, from old to new for each kind."""
    findings = Findings(old.file)
    links, joints = (
        {name: new_names[kind].get(name, name) for name in _names_of(old)[kind]}
        for kind in ("link", "joint")
    )
    references = References(links, joints, findings, new_names["transmission"])
    kinds: dict[type, dict[str, str]] = {
        Link: {"name": "link"},
        Joint: {"name": "joint", "parent": "link", "child": "link"},
        Mimic: {"joint": "joint"},
        TransmissionJoint: {"name": "joint"},
        Transmission: {"name": "transmission"},
        Material: {"name": "material"},
    }

    def change(record: Any) -> Any:
        if isinstance(record, ExtraElement):
            return references.follow(record)
        changes = {
            field: new
            for field, kind in kinds.get(type(record), {}).items()
            if (new := new_names[kind].get(name := getattr(record, field), name)) != name
        }
        return replace(record, **changes) if changes else record

    new: Robot = rebuilt(old, change)
    if robot is not None and robot != new.name:
        new = replace(new, name=robot)
    return outcome(new, findings)
