"""An MJCF and all that it includes as one plain text, within limits, for MuJoCo to understand.

MuJoCo's parser opens whatever a file names, copies included elements without their lines, prints,
and takes counts as they come. So the XML is read here first, by expat, event by event: files are
found by the rules of `includes`, elements that say nothing about kinematics or masses are left out
(see `sections`), and the rest is written again with one element on each line. Which file and line
each of these came from is remembered, so that every message of MuJoCo leads to the right place.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import suppress
from math import isfinite
from xml.parsers import expat

from linkwork.errors import DescriptionError
from linkwork.formats.mjcf import includes, sections
from linkwork.formats.mjcf.flat import (
    DEEPEST,
    LONGEST,
    LONGEST_LIST,
    MOST_ATTRIBUTES,
    Flat,
    Stop,
)
from linkwork.formats.mjcf.records import Place
from linkwork.formats.mjcf.unit import Element, Unit, stem
from linkwork.formats.urdf.convert import LARGEST, show
from linkwork.formats.urdf.source import LATE, declaration_first

_CHUNK = 1 << 20


def flatten(data: bytes, file: str | None, *, allow: Sequence[str | os.PathLike[str]] = ()) -> Flat:
    """One text for MuJoCo of the bytes of an MJCF, with everything that it includes.

    Raises: DescriptionError with every error found on the way.
    """
    flat = Flat(show(file, 4096) if file else "")
    unit = Unit(flat, file, includes.roots_of(file, allow), _read_file)
    try:
        unit.read(data, file)
        flat.name = unit.name
        flat.text = unit.text()
    except Stop:
        pass
    if flat.errors:
        raise DescriptionError(flat.errors)
    return flat


def _read_file(unit: Unit, file: str | None, data: bytes) -> None:
    _File(unit, file).read(data)


class _File:
    """The events of one file."""

    def __init__(self, unit: Unit, file: str | None) -> None:
        self.unit, self.flat = unit, unit.flat
        self.file = show(file, 4096) if file else ""
        self.skipping = 0
        self.begun = False
        self.parser = expat.ParserCreate()

    def read(self, data: bytes) -> None:
        """Go through the whole file.

        Raises: Stop.
        """
        data, late = declaration_first(data)
        if late:
            place = Place(self.file, late)
            self.flat.found("warning", "declaration", LATE, place=place, element="")
        parser, view = self.parser, memoryview(data)
        parser.buffer_text = True
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        parser.CharacterDataHandler = self._characters
        parser.StartDoctypeDeclHandler = self._document_type
        try:
            for start in range(0, len(data), _CHUNK):
                stop = min(start + _CHUNK, len(data))
                parser.Parse(view[start:stop], False)
                if stop - parser.CurrentByteIndex > LONGEST_LIST:
                    message = f"a tag or comment is longer than {LONGEST_LIST:,} bytes"
                    self.flat.refuse("too-long", message, self._place())
                    raise Stop
            parser.Parse(b"", True)
        except expat.ExpatError as error:
            message = f"this is not well-formed XML: {expat.ErrorString(error.code)}"
            place = Place(self.file, error.lineno)
            text = f"{message}, at column {error.offset + 1}"
            self.flat.refuse("xml", text, place)
            raise Stop from None
        finally:
            parser.StartElementHandler = parser.EndElementHandler = None
            parser.CharacterDataHandler = parser.StartDoctypeDeclHandler = None

    def _place(self) -> Place:
        return Place(self.file, self.parser.CurrentLineNumber)

    def _document_type(self, *_: object) -> None:
        message = "a document type is not read: it could define entities"
        hint = "remove the <!DOCTYPE ...>; write what its entities stand for"
        self.flat.refuse("doctype", message, self._place(), hint=hint)
        raise Stop

    def _characters(self, text: str) -> None:
        if not self.skipping and not text.isspace():
            message = f"the text '{show(text.strip(), 40)}' belongs to no element"
            self.flat.found("warning", "stray-text", message, place=self._place(), element="")

    def _start(self, tag: str, attributes: dict[str, str]) -> None:
        """An element begins."""
        unit, place = self.unit, self._place()
        if self.skipping or self._left_out(tag, attributes, place):
            self.skipping += 1
            if self.skipping + len(unit.open) > DEEPEST:
                self._too_deep(place)
            return
        if len(unit.open) >= DEEPEST:
            self._too_deep(place)
        self._check(tag, attributes, place)
        if not self.begun:
            self._root(tag, attributes, place)
            return
        attributes = self._edited(tag, attributes, place)
        times = unit.open[-1].times
        points = _points(attributes) if tag == "mesh" else 1
        unit.count(times if tag == "body" else 0, times * points, place)
        if tag == "replicate":
            times *= _whole(attributes.get("count", ""))
        elif tag == "attach":
            unit.attached.append((attributes.get("model", ""), times))
        handed = "general" if self._section() == "actuator" else tag
        unit.begin(handed, attributes, place)
        self.flat.tags[-1] = tag
        unit.open.append(Element(handed, times, attributes.get("name", "")))

    def _end(self, _: str) -> None:
        if self.skipping:
            self.skipping -= 1
            return
        unit = self.unit
        tag = unit.open.pop().tag
        if tag:
            unit.end(tag)

    def _root(self, tag: str, attributes: dict[str, str], place: Place) -> None:
        """The first element of a file: that of an included one is only its wrapping."""
        self.begun = True
        unit = self.unit
        if unit.open:
            unit.open.append(Element("", unit.open[-1].times, ""))
            return
        if tag != "mujoco":
            message = f"the root element of an MJCF is <mujoco>, not <{show(tag)}>"
            self.flat.refuse("root", message, place, element=tag)
            raise Stop
        unit.name = attributes.get("model", "")
        unit.begin(tag, attributes, place)
        unit.open.append(Element(tag, 1, ""))

    def _left_out(self, tag: str, attributes: dict[str, str], place: Place) -> bool:
        """Whether an element is not handed on; what there is to say of it is kept."""
        unit = self.unit
        if not self.begun:
            return False
        tags = [element.tag for element in unit.open]
        if tag == "include":
            unit.include(attributes.get("file", ""), place)
            return True
        if tag in sections.REFUSED:
            self.flat.refuse("unsupported", sections.REFUSED[tag], place, element=tag)
            return True
        section = self._section()
        if "default" in tags:
            return tag in sections.OF_DEFAULTS or tag in sections.SILENT
        if section in sections.LEFT_OUT_OF or section == "general":
            return self._left_out_of(section, tag, attributes, place)
        return self._left_out_elsewhere(tag, attributes, place)

    def _left_out_elsewhere(self, tag: str, attributes: dict[str, str], place: Place) -> bool:
        """The same outside of defaults, equalities, tendons and actuators."""
        above = self.unit.open[-1]
        if tag == "option":
            self._gravity(attributes.get("gravity", "0 0 -9.81"), place)
        if tag == "plugin" and above.tag == "mesh":
            self.flat.plugin_meshes.add(above.name)
        if tag in sections.LEFT_OUT:
            level, message = sections.LEFT_OUT[tag]
            self.flat.found(level, f"no-{tag}", message, place=place, element=tag)
            return True
        return tag in sections.SILENT

    def _section(self) -> str:
        """The element that is open, whatever file it is of."""
        return next((element.tag for element in reversed(self.unit.open) if element.tag), "")

    def _left_out_of(
        self, section: str, tag: str, attributes: dict[str, str], place: Place
    ) -> bool:
        """The same for the parts of equalities, tendons and actuators."""
        if section == "general":
            return True
        if section == "actuator":
            taken = any(attributes.get(target) for target in sections.TARGETS)
        else:
            taken = tag in sections.TAKEN[section]
        if not taken:
            level, message = sections.LEFT_OUT_OF[section]
            self.flat.found(level, f"no-{section}", message, place=place, element=tag)
        return not taken

    def _gravity(self, given: str, place: Place) -> None:
        """Say that another gravity than MuJoCo's own is not read."""
        if given.split() != ["0", "0", "-9.81"]:
            message = f"gravity '{show(given)}' is not read: pass it where it is needed"
            self.flat.found("note", "no-gravity", message, place=place, element="option")

    def _check(self, tag: str, attributes: dict[str, str], place: Place) -> None:
        """Numbers that are none, and attributes beyond every measure."""
        refuse = self.flat.refuse
        if len(attributes) > MOST_ATTRIBUTES:
            message = f"it has {len(attributes):,} attributes; at most {MOST_ATTRIBUTES} are read"
            refuse("too-many", message, place, element=tag)
            raise Stop
        for name, text in attributes.items():
            most = LONGEST_LIST if name in sections.LONG else LONGEST
            if len(text) > most:
                message = f"'{show(name)}' has {len(text):,} characters; at most {most:,} are read"
                refuse("too-long", message, place, element=tag)
            elif name in sections.TEXTS:
                if any(ord(character) < 32 for character in text):
                    message = f"{name}='{show(text)}' has control characters"
                    refuse("name", message, place, element=tag)
            elif bad := _not_finite(text):
                message = f"{show(name)}: '{show(bad)}' is not finite, or beyond {LARGEST:g}"
                refuse("not-finite", message, place, element=tag)

    def _edited(self, tag: str, attributes: dict[str, str], place: Place) -> dict[str, str]:
        """The attributes that are handed on, with the files that they name replaced."""
        unit = self.unit
        if tag == "compiler":
            unit.mesh_folder[0] = attributes.get("assetdir", unit.mesh_folder[0])
            unit.mesh_folder[1] = attributes.get("meshdir", unit.mesh_folder[1])
            unit.strip = attributes.get("strippath", str(unit.strip).lower()) == "true"
        elif tag == "mesh" and "file" in attributes:
            unit.mesh(attributes, place)
        elif tag == "model":
            unit.model(attributes, place)
        elif tag == "hfield":  # MuJoCo takes its mass from its size alone
            attributes.setdefault("name", stem(attributes.get("file", "")))
            attributes.update(nrow="2", ncol="2")
        kept = self._kept(tag)
        dropped = sections.DROPPED_ATTRIBUTES.get(tag, frozenset())
        return {
            name: text
            for name, text in attributes.items()
            if name != "user" and name not in dropped and (kept is None or name in kept)
        }

    def _kept(self, tag: str) -> frozenset[str] | None:
        """The attributes of an element that are handed on; None for all."""
        section = self._section()
        if section == "actuator":
            return frozenset(sections.TARGETS)
        if section in sections.TAKEN:
            own = sections.TAKEN[section].get(tag, frozenset[str]())
            return own | sections.OF_EQUALITIES if section == "equality" else own
        return sections.KEPT_ATTRIBUTES.get(tag)

    def _too_deep(self, place: Place) -> None:
        message = f"elements are nested deeper than {DEEPEST}"
        self.flat.refuse("too-deep", message, place)
        raise Stop


def _whole(text: str) -> int:
    """A count; MuJoCo says what is wrong with one that is none."""
    text = text.strip()
    return int(text[:19]) if text.isascii() and text.isdecimal() else 1


def _points(attributes: dict[str, str]) -> int:
    """About how many points MuJoCo makes of a built-in mesh: it takes any resolution.

    The first of the parameters is one, and of plates and wedges the second too.
    Source: MuJoCo, XML reference, asset/mesh: builtin and params.
    """
    numbers = [1.0, 1.0]
    for k, word in enumerate(attributes.get("params", "").split()[:2]):
        with suppress(ValueError):
            numbers[k] = max(1.0, abs(float(word)))
    if attributes.get("builtin", "").startswith("super"):
        numbers[1] = numbers[0]
    return int(min(numbers[0] * numbers[1], LARGEST))


def _not_finite(text: str) -> str:
    """The first of the words of a text that is a number, but not a usable one."""
    for word in text.split():
        try:
            value = float(word)
        except ValueError:
            continue
        if not isfinite(value) or abs(value) > LARGEST:
            return word
    return ""
