"""Where the text of an unknown element names a link or a joint.

Known are the places that Gazebo, ros2_control and the sensors of ROS define: `<gazebo reference>`,
the joints of a `<ros2_control>` (and the leader in their `<param name="mimic">`), the parent of a
`<sensor>`. All else that stands in such a text is kept as words, to look for names among them.

Source: https://classic.gazebosim.org/tutorials?tut=ros_urdf, https://control.ros.org (hardware
description), https://wiki.ros.org/urdf/XML/sensor.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from xml.parsers import expat

from linkwork.errors import InputError
from linkwork.formats.urdf.convert import show
from linkwork.formats.urdf.records import ExtraElement

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
