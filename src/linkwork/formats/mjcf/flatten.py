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
from dataclasses import dataclass, field
from math import isfinite
from pathlib import Path, PurePosixPath
from xml.parsers import expat
from xml.sax.saxutils import quoteattr

from linkwork.errors import DescriptionError, Finding, Level
from linkwork.formats.mjcf.records import Place
from linkwork.formats.urdf.convert import LARGEST, BadText, show
from linkwork.formats.urdf.source import LATE, declaration_first, gather

# Rows of docs/check.md: code | levels | what it means | how to mend it.
CODES = """
# MJCF
include | error | A file name that is refused. | Name an .xml file by a path.
outside | error | A file outside the description's folders. | `--allow FOLDER`.
included-twice | error | A file that is included already. | Include it once.
no-deformable | warning | Soft bodies are not read. | Nothing to do.
no-contact | note | Contact pairs are not read. | Nothing to do.
no-sensor | note | Sensors are not read. | Nothing to do.
no-keyframe | note | Something in a keyframe is not read. | Nothing to do.
no-camera | note | Cameras are not read. | Nothing to do.
no-dynamics | warning | Stiffness, damping, friction, armature or the range of a tendon or an
    actuator is not read. | Give them to the joint.
no-control | note | What an actuator does by a law of its own is not read. | Give
    `simulate` the control, as `PD`.
no-plugin | note | Plugins are not run. | Nothing to do.
no-custom | note | Custom data is not read. | Nothing to do.
# Files
too-many | error | More elements or attributes than are read. | Remove some.
unsupported | error | A format that is not read. | Convert it to URDF.
"""


# ---- what is read, its limits, and what leads back to the files

DEEPEST = 498
"""The greatest depth of nested elements: that of MuJoCo's own parser."""

MOST_BODIES, MOST_ELEMENTS, MOST_FILES = 10_000, 50_000, 256
"""The most bodies, elements and files of one MJCF, repetitions counted.

MuJoCo's compiler takes a time that grows with the square of both: about ten seconds here.
"""

MOST_ATTRIBUTES, LONGEST, LONGEST_LIST = 256, 65_536, 4 << 20
"""The most attributes of an element, and the most characters of one."""

MOST_NESTED = 32


class Stop(Exception):
    """Reading ends here: the problem is in the list."""


@dataclass(frozen=True, slots=True)
class MeshFile:
    """A mesh file: the name that was written, where MuJoCo would look for it, and who names it."""

    name: str
    files: tuple[str, ...]
    place: Place


@dataclass(slots=True)
class Flat:
    """A description as one text for MuJoCo, with all that leads back to the files.

    `texts` are those of ``<model>`` files, by the names that the text has for them; `meshes` the
    mesh files likewise. `origin[k]` is where line k + 1 came from, in all the texts.
    """

    file: str = ""
    text: str = ""
    texts: dict[str, bytes] = field(default_factory=dict[str, bytes])
    origin: list[Place] = field(default_factory=list[Place])
    tags: list[str] = field(default_factory=list[str])
    meshes: dict[str, MeshFile] = field(default_factory=dict[str, MeshFile])
    plugin_meshes: set[str] = field(default_factory=set[str])
    name: str = ""
    findings: dict[str, Finding] = field(default_factory=dict[str, Finding])
    counts: dict[str, int] = field(default_factory=dict[str, int])
    errors: list[Finding] = field(default_factory=list[Finding])
    files: list[str] = field(default_factory=list[str])

    def place(self, line: int) -> Place:
        """The place that a line of the text came from."""
        return self.origin[line - 1] if 0 < line <= len(self.origin) else Place()

    def refuse(
        self, code: str, message: str, place: Place, *, element: str = "", hint: str = ""
    ) -> None:
        """Keep an error; after a hundred nothing more is read.

        Raises: Stop.
        """
        problem = Finding("error", code, message, place.file, place.line, show(element), hint=hint)
        self.errors.append(problem)
        if len(self.errors) >= 100:
            raise Stop

    def found(self, level: Level, code: str, message: str, *, place: Place, element: str) -> None:
        """Keep a finding at its first place, and count the others."""
        self.counts[code] = self.counts.get(code, 0) + 1
        if code not in self.findings:
            problem = Finding(level, code, message, place.file, place.line, element)
            self.findings[code] = problem


# ---- where an included file may be

SUFFIXES = frozenset((".xml", ".mjcf"))
"""Files that are taken for MJCF, by the end of their name in lower case."""


def find(name: str, folders: Sequence[str], roots: Sequence[str]) -> str:
    """The path of an included file, with every link resolved; the file is not opened.

    A name is relative to the first of the folders that has it. It must lie in one of the roots.

    Raises: BadText for a file that is not there, or not allowed.
    """
    odd = _odd(name)
    if odd:
        raise BadText("include", f"the file name '{show(name)}' {odd}", "name an .xml file")
    if not folders:
        hint = "say where the text would lie with file=..., or load the file by its path"
        message = f"'{show(name)}' is relative, but the text has no file"
        raise BadText("include", message, hint)
    outside = False
    for folder in dict.fromkeys((*folders, *map(os.path.realpath, folders))):
        place = os.path.normpath(os.path.join(folder, name.replace("\\", "/")))
        if not _inside(place, roots):
            outside = True
        elif os.path.lexists(place):
            real = os.path.realpath(place)
            if _inside(real, roots) and not _odd(real):
                return real
            outside = True
            break
    if outside:
        message = f"'{show(name)}' lies outside the folder of the description and the one above"
        hint = "pass allow=[folder] with the folder that holds it"
        raise BadText("outside", message, hint)
    looked = f"looked in '{show(folders[0])}'"
    raise BadText("no-file", f"there is no file '{show(name)}'", looked)


def folder_of(file: str | None) -> str | None:
    """The folder of a file, as a whole path."""
    return os.path.dirname(os.path.abspath(file)) if file else None


def roots_of(file: str | None, allow: Sequence[str | os.PathLike[str]]) -> list[str]:
    """The folders that included files may lie in; the root of a disk is one only if allowed."""
    # a file that is reached by a link is looked at from there and from where it really lies
    folders = [folder_of(file), folder_of(os.path.realpath(file))] if file else []
    near = [near for folder in folders if folder for near in (folder, os.path.dirname(folder))]
    own = [path for path in near if os.path.dirname(path) != path]
    given = [os.path.abspath(os.fspath(path)) for path in allow if os.fspath(path)]
    both = [*own, *given]
    return list(dict.fromkeys([*both, *(os.path.realpath(root) for root in both)]))


def _odd(name: str) -> str:
    """The reason why a text is no name of an MJCF file."""
    if not name.strip():
        return "is empty"
    if len(name) > 4096 or any(ord(character) < 32 for character in name):
        return "is no file name"
    if Path(name).suffix.lower() not in SUFFIXES:
        return f"does not end with one of {', '.join(sorted(SUFFIXES))}"
    return ""


def _inside(path: str, roots: Sequence[str]) -> bool:
    return any(Path(root) in (Path(path), *Path(path).parents) for root in roots)


# ---- which elements are handed to MuJoCo

LEFT_OUT: dict[str, tuple[Level, str]] = {
    "deformable": ("warning", "soft bodies are not read"),
    "contact": ("note", "contact pairs are not read"),
    "sensor": ("note", "sensors are not read"),
    "camera": ("note", "cameras are not read"),
    "plugin": ("note", "plugins are not run"),
    "custom": ("note", "custom data is not read"),
}
"""Elements that are left out, with what the finding says of them."""


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


_SITES = "body1 body2 anchor site1 site2"
TAKEN: dict[str, dict[str, frozenset[str]]] = {
    "equality": {
        "connect": _names(_SITES),
        "weld": _names(f"{_SITES} relpose torquescale"),
        "joint": _names("joint1 joint2 polycoef"),
        "tendon": _names("tendon1 tendon2 polycoef"),
    },
    "keyframe": {"key": _names("name qpos")},
    "tendon": {"fixed": _names("name"), "spatial": _names("name")},
    "fixed": {"joint": _names("joint coef")},
    "spatial": {
        "site": _names("site"),
        "geom": _names("geom sidesite"),
        "pulley": _names("divisor"),
    },
}
"""The elements of these sections that are handed on, with the attributes that are."""

OF_EQUALITIES = _names("name class active")
"""Attributes that every equality is handed on with."""

TARGETS = ("joint", "jointinparent", "tendon")
"""Attributes of an actuator that say which joints it drives."""

OF_FORCES = _names("gear forcerange forcelimited ctrlrange ctrllimited gainprm biastype class")
"""Attributes of actuators, and of their defaults, that say how hard they push."""

OF_LAWS = _names("gaintype biastype dyntype actdim")
"""Attributes by which an actuator's force is more than its control times a number."""

OF_MOTORS = _names(
    "name class group user armature damping joint jointinparent tendon gear ctrlrange ctrllimited "
    "forcerange forcelimited"
)
"""Attributes of actuators whose force is their control, whatever that is measured in."""

OF_DYNAMICS = ("stiffness", "damping", "frictionloss", "armature", "range")
"""Attributes of tendons and actuators that count in the dynamics, and are not handed on."""

LEFT_OUT_OF: dict[str, tuple[Level, str]] = {
    "equality": ("warning", "an equality of this kind is not read"),
    "tendon": ("note", "a tendon of this kind is not read"),
    "keyframe": ("note", "a keyframe of this kind is not read"),
    "actuator": ("note", "an actuator that is on no joint is not read"),
}
"""The remarks on the other elements of a section."""

SILENT = _names("size visual statistic light texture skin layer extension pair")
"""Elements that are left out and say nothing about kinematics or masses."""

OF_DEFAULTS = _names("intvelocity damper cylinder muscle adhesion tendon camera plugin dcmotor")
"""Elements of ``<default>`` that only concern what is left out."""

ACTUATORS = _names("general motor position velocity")
"""Elements of ``<default>`` of which `OF_FORCES` are handed on."""

REFUSED = {
    "flexcomp": "soft bodies (flexcomp) are not read",
    "composite": "composite bodies are not read; write the bodies out, or use <replicate>",
}
"""Elements that make bodies of a kind that is not read."""

OF_COMPILER = _names("meshdir assetdir texturedir strippath fusestatic discardvisual usethread")
"""Attributes that are dealt with here: no file is opened by MuJoCo, and no body disappears."""

KEPT_ATTRIBUTES: dict[str, frozenset[str]] = {
    "hfield": _names("name size nrow ncol"),
    "material": _names("name class rgba"),
    "equality": _names("active"),
    "option": _names("gravity density viscosity"),
    "flag": _names("constraint equality frictionloss limit spring damper gravity"),
    "tendon": frozenset(),
    "actuator": frozenset(),
}
"""Elements of which only these attributes are handed on."""

TEXTS = _names(
    "name class childclass mesh material file hfield model prefix body content_type user builtin "
    "active joint jointinparent tendon body1 body2 site1 site2 joint1 joint2 tendon1 tendon2 site "
    "geom sidesite"
)
"""Attributes that are not numbers, whatever they look like."""

LONG = _names("vertex normal texcoord face elevation")
"""Attributes that hold whole meshes and height fields."""


# ---- one text of a file and what it includes


@dataclass(slots=True)
class Element:
    """An element that was begun and handed on; the root of an included file has no tag."""

    tag: str
    times: int
    name: str


class Unit:
    """One text: a main file, or a ``<model>`` file, with what it includes."""

    def __init__(
        self,
        flat: Flat,
        main: str | None,
        roots: Sequence[str],
        *,
        above: tuple[str, ...] = (),
    ) -> None:
        self.flat, self.main, self.roots = flat, main, roots
        self.above = above  # the files of the models that this one is a model of
        self.out: list[str] = []
        self.lines = 0
        self.name = ""
        self.included = {os.path.realpath(main)} if main else set[str]()
        self.open: list[Element] = []
        self.nested: list[str | None] = []
        self.mesh_folder: list[str] = ["", ""]  # of assetdir, of meshdir
        self.strip = False
        self.meshes: dict[str, str | None] = {}  # with the folder of the included file
        self.bodies = self.elements = 0
        self.models: dict[str, tuple[int, int]] = {}
        self.attached: list[tuple[str, int]] = []

    def read(self, data: bytes, file: str | None) -> None:
        """Add one file: the first is the root, the others take the place of ``<include>``."""
        self.nested.append(file)
        _File(self, file).read(data)
        self.nested.pop()
        if self.nested:
            return
        for model, times in self.attached:
            bodies, elements = self.models.get(model, (0, 0))
            self.count(bodies * times, elements * times, Place(show(self.main or "")))
        self._place_meshes()

    def text(self) -> str:
        """The text as written."""
        return "".join(self.out)

    def begin(self, tag: str, attributes: dict[str, str], place: Place) -> None:
        """Write the start of an element on a line of its own."""
        flat = self.flat
        flat.origin.append(place)
        flat.tags.append(tag)
        line = len(flat.origin)
        self.out.append("\n" * (line - 1 - self.lines))
        self.lines = line - 1
        escapes = {"\n": "&#10;", "\r": "&#13;", "\t": "&#9;"}
        written = (f" {name}={quoteattr(text, escapes)}" for name, text in attributes.items())
        self.out.append(f"<{tag}{''.join(written)}>")

    def end(self, tag: str) -> None:
        """Write the end of an element."""
        self.out.append(f"</{tag}>")

    def count(self, bodies: int, elements: int, place: Place) -> None:
        """Count what MuJoCo will make.

        Raises: Stop where it is too much.
        """
        self.bodies += bodies
        self.elements += elements
        for number, most, what in (
            (self.bodies, MOST_BODIES, "bodies"),
            (self.elements, MOST_ELEMENTS, "elements"),
        ):
            if number > most:
                message = f"there are more than {most:,} {what}, repetitions counted"
                self.flat.refuse("too-many", message, place)
                raise Stop

    def open_file(
        self, name: str, folders: Sequence[str | None], place: Place, *, element: str
    ) -> tuple[bytes, str] | None:
        """The bytes and the path of an included file or model; None where it is refused."""
        flat = self.flat
        if len(flat.files) >= MOST_FILES or len(self.nested) + len(self.above) >= MOST_NESTED:
            message = f"more than {MOST_FILES} files, or {MOST_NESTED} within each other"
            flat.refuse("too-many", message, place, element=element)
            raise Stop
        try:
            path = find(name, [folder for folder in folders if folder], self.roots)
            data, _ = gather(Path(path), None)
        except BadText as bad:
            code, message, hint = bad.complaint
            flat.refuse(code, message, place, element=element, hint=hint)
            return None
        except DescriptionError as error:
            flat.errors += error.problems
            return None
        flat.files.append(path)
        return data, path

    def include(self, name: str, place: Place) -> None:
        """Read an included file in the place of the element that names it."""
        folders = [folder_of(file) for file in (self.main, self.nested[-1])]
        opened = self.open_file(name, folders, place, element="include")
        if opened is None:
            return
        data, path = opened
        if path in self.included:
            message = f"'{show(name)}' is included already, and can be only once"
            self.flat.refuse("included-twice", message, place, element="include")
            return
        self.included.add(path)
        self.read(data, path)

    def model(self, attributes: dict[str, str], place: Place) -> None:
        """Read the file of a ``<model>`` as a text of its own, and name that in its place."""
        if not attributes.get("file"):  # MuJoCo ends on it without a word
            self.flat.refuse("no-file", "it names no file", place, element="model")
            return
        folder = folder_of(self.nested[-1])
        opened = self.open_file(attributes["file"], [folder], place, element="model")
        if opened is None:
            return
        data, path = opened
        if path in self.above or path in self.included:
            message = f"'{show(attributes['file'])}' would be a part of itself"
            self.flat.refuse("cycle", message, place, element="model")
            raise Stop
        unit = Unit(self.flat, path, self.roots, above=(*self.above, *self.included))
        unit.read(data, path)
        name = f"model{len(self.flat.texts)}.xml"
        self.flat.texts[name] = unit.text().encode()
        self.models[attributes.get("name") or unit.name] = unit.bodies, unit.elements
        attributes["file"] = name

    def mesh(self, attributes: dict[str, str], place: Place) -> None:
        """Give a mesh a file name of ours, so that MuJoCo finds what it is given, and only that."""
        file = attributes["file"]
        suffix = PurePosixPath(file.replace("\\", "/")).suffix
        attributes.setdefault("name", stem(file))
        suffix = suffix if suffix[1:].isalnum() and suffix.isascii() else ""
        name = f"mesh{len(self.flat.meshes)}{suffix}"
        self.flat.meshes[name] = MeshFile(file, (), place)
        included = self.nested[-1] if len(self.nested) > 1 else None
        self.meshes[name] = folder_of(included)
        attributes["file"] = name

    def _place_meshes(self) -> None:
        """Say where the mesh files of this text are, now that all of it has been read.

        As in MuJoCo: beside the included file that names it, or in the mesh folder of the main one.
        """
        inside = self.mesh_folder[1] or self.mesh_folder[0]
        main = folder_of(self.main) or ""
        for name, beside in self.meshes.items():
            mesh = self.flat.meshes[name]
            file = mesh.name.replace("\\", "/")
            if self.strip:
                file = PurePosixPath(file).name
            places = [os.path.join(beside, file)] if beside else []
            places.append(os.path.join(main, inside.replace("\\", "/"), file))
            self.flat.meshes[name] = MeshFile(mesh.name, tuple(places), mesh.place)


def stem(file: str) -> str:
    """The name of what a file holds and no name is given for."""
    return PurePosixPath(file.replace("\\", "/")).stem


# ---- all of it

_CHUNK = 1 << 20


def flatten(data: bytes, file: str | None, *, allow: Sequence[str | os.PathLike[str]] = ()) -> Flat:
    """One text for MuJoCo of the bytes of an MJCF, with everything that it includes.

    Raises: DescriptionError with every error found on the way.
    """
    flat = Flat(show(file, 4096) if file else "")
    unit = Unit(flat, file, roots_of(file, allow))
    try:
        unit.read(data, file)
        flat.name = unit.name
        flat.text = unit.text()
    except Stop:
        pass
    if flat.errors:
        raise DescriptionError(flat.errors)
    return flat


class _File:
    """The events of one file."""

    def __init__(self, unit: Unit, file: str | None) -> None:
        self.unit, self.flat = unit, unit.flat
        self.file = show(file, 4096) if file else ""
        self.skipping = 0
        self.including = False  # whether what is skipped is an <include>
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
        if not self.skipping:
            self.including = tag == "include"
        elif self.including and self.skipping == 1:
            message = f"<include> stands for what its file holds; <{show(tag)}> is inside of it"
            hint = "close it before, as in <include file='...'/>"
            self.flat.refuse("include", message, place, element=tag, hint=hint)
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
            times *= _count_of(attributes.get("count", ""))
        elif tag == "attach":
            unit.attached.append((attributes.get("model", ""), times))
        handed = "general" if self._section() == "actuator" and tag != "motor" else tag
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

    def _left_out(  # noqa: C901, PLR0911 -- one section after the other
        self, tag: str, attributes: dict[str, str], place: Place
    ) -> bool:
        """Whether an element is not handed on; what there is to say of it is kept."""
        unit, flat, section = self.unit, self.flat, self._section()
        if not self.begun:
            return False
        if tag == "include":
            unit.include(attributes.get("file", ""), place)
            return True
        if tag in REFUSED:
            flat.refuse("unsupported", REFUSED[tag], place, element=tag)
            return True
        in_defaults = any(element.tag == "default" for element in unit.open)
        if section in ("tendon", "actuator") or (in_defaults and tag in OF_DEFAULTS | ACTUATORS):
            self._find_dynamics(tag, attributes, place)
        if in_defaults:
            return tag in OF_DEFAULTS or tag in SILENT
        if section == "general":
            return True
        if section in LEFT_OUT_OF:
            if section == "actuator":
                taken = any(attributes.get(target) for target in TARGETS)
            else:
                taken = tag in TAKEN[section]
            if not taken:
                level, message = LEFT_OUT_OF[section]
                flat.found(level, f"no-{section}", message, place=place, element=tag)
            return not taken
        if tag == "plugin" and unit.open[-1].tag == "mesh":
            flat.plugin_meshes.add(unit.open[-1].name)
        if tag in LEFT_OUT:
            level, message = LEFT_OUT[tag]
            flat.found(level, f"no-{tag}", message, place=place, element=tag)
        return tag in LEFT_OUT or tag in SILENT

    def _find_dynamics(self, tag: str, attributes: dict[str, str], place: Place) -> None:
        """Say what of a tendon or an actuator counts in the dynamics."""
        lost = [name for name in OF_DYNAMICS if not _is_zero(attributes.get(name, "0"))]
        if lost:
            message = f"{' and '.join(lost)} of a tendon or an actuator is not read"
            self.flat.found("warning", "no-dynamics", message, place=place, element=tag)

    def _find_control(self, tag: str, attributes: dict[str, str], place: Place) -> None:
        """Say that an actuator has a law of its own."""
        if tag not in ("motor", "general") or attributes.keys() - OF_MOTORS:
            message = "of an actuator the joints that it drives and its greatest force are read"
            self.flat.found("note", "no-control", message, place=place, element=tag)

    def _section(self) -> str:
        """The element that is open, whatever file it is of."""
        return next((element.tag for element in reversed(self.unit.open) if element.tag), "")

    def _check(self, tag: str, attributes: dict[str, str], place: Place) -> None:
        """Numbers that are none, and attributes beyond every measure."""
        refuse = self.flat.refuse
        if len(attributes) > MOST_ATTRIBUTES:
            message = f"it has {len(attributes):,} attributes; at most {MOST_ATTRIBUTES} are read"
            refuse("too-many", message, place, element=tag)
            raise Stop
        for name, text in attributes.items():
            most = LONGEST_LIST if name in LONG else LONGEST
            if len(text) > most:
                message = f"'{show(name)}' has {len(text):,} characters; at most {most:,} are read"
                refuse("too-long", message, place, element=tag)
            elif name in TEXTS:
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
        section, kept = self._section(), KEPT_ATTRIBUTES.get(tag)
        if section == "actuator":
            kept = OF_FORCES.union(TARGETS)
            self._find_control(tag, attributes, place)
            attributes = _with_law(tag, attributes)
        elif section == "default" and tag in ACTUATORS:
            kept = OF_FORCES
            attributes = _with_law(tag, attributes) if tag == "general" else attributes
        elif section in TAKEN:
            kept = TAKEN[section].get(tag, frozenset[str]())
            kept = kept | OF_EQUALITIES if section == "equality" else kept
        dropped = OF_COMPILER if tag == "compiler" else frozenset[str]()
        return {
            name: text
            for name, text in attributes.items()
            if name != "user" and name not in dropped and (kept is None or name in kept)
        }

    def _too_deep(self, place: Place) -> None:
        message = f"elements are nested deeper than {DEEPEST}"
        self.flat.refuse("too-deep", message, place)
        raise Stop


def _with_law(tag: str, attributes: dict[str, str]) -> dict[str, str]:
    """The attributes of an actuator; a bias says that its force is not its control's alone."""
    lawful = tag in ("motor", "general") and all(
        attributes.get(name, "none") in ("none", "fixed") for name in OF_LAWS
    )
    return attributes if lawful else {**attributes, "biastype": "affine"}


def _count_of(text: str) -> int:
    """A count; MuJoCo says what is wrong with one that is none."""
    text = text.strip()
    return int(text[:19]) if text.isascii() and text.isdecimal() else 1


def _is_zero(text: str) -> bool:
    return not text.strip("0. \t\n")


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
