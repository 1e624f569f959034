"""SRDF: which pairs of links are not checked for collisions, and named states of joints.

``<disable_collisions link1 link2 reason>`` leaves a pair out. ``<disable_default_collisions link>``
leaves all pairs of a link out, except those that an ``<enable_collisions link1 link2>`` brings
back; a disabled pair stays disabled whatever is enabled. Here all of them concern pairs of links:
what stands around the robot is checked for every link. ``<group_state>`` gives positions of joints
a name. Everything else in the file (groups, end effectors, virtual joints, comments) is not looked
at. What is not of pairs is written again as it stood.

Source: https://wiki.ros.org/srdf/review, and the reader of srdfdom 2.0.
"""

from __future__ import annotations

import difflib
import math
import os
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any
from xml.parsers import expat
from xml.sax.saxutils import quoteattr

from linkwork.atomic import write_bytes
from linkwork.errors import DescriptionError, Finding
from linkwork.formats.urdf.convert import LONGEST, show
from linkwork.formats.urdf.findings import Findings
from linkwork.formats.urdf.source import encoded, gather

if TYPE_CHECKING:
    from linkwork.formats.xacro import Find

# Rows of docs/check.md: code | levels | what it means | how to mend it.
CODES = """
# Collisions
srdf-robot | warning | The SRDF is one of another robot. | See that it belongs to this one.
srdf-link | warning | The SRDF names a link that is not there, or a link twice: the entry says
    nothing. | See the nearest names.
srdf-state | warning | A group state has no name, or a joint of it no name or no numbers: the state
    is left out. | Give them.
srdf-spheres | note | Spheres of links are kept, not used: shapes are covered by others. | Nothing
    to do.
"""

SUFFIX = ".srdf"
DEEPEST = 256
"""The greatest depth of nested elements."""

_PAIRS = ("disable_collisions", "enable_collisions")
_DEFAULT = "disable_default_collisions"
_SPHERES = "link_sphere_approximation"
_STATE = "group_state"
_NEEDED = {**dict.fromkeys(_PAIRS, ("link1", "link2")), _DEFAULT: ("link",)}
_TAG = re.compile(rb"<(?:[^>\"']|\"[^\"]*\"|'[^']*')*>")  # whatever its attributes hold
_REST = re.compile(rb"[ \t]*\r?\n")
_FILE_NAME = re.compile(r"[^/\\\0]{1,200}")
_STEP = "  "


@dataclass(frozen=True, slots=True)
class LinkPair:
    """Two links, and why they are checked or not, as an SRDF has it."""

    link_a: str
    link_b: str
    reason: str = ""
    line: int = field(default=0, compare=False)

    @property
    def key(self) -> frozenset[str]:
        """The same for both orders of the links."""
        return frozenset((self.link_a, self.link_b))


@dataclass(frozen=True, slots=True)
class LinkDefault:
    """A link whose pairs are all left out where nothing else is said."""

    link: str
    line: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class GroupState:
    """Positions of joints that have a name: each joint and its numbers, one or several."""

    name: str
    group: str
    positions: tuple[tuple[str, tuple[float, ...]], ...]
    line: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class Srdf:
    """The pairs of links and the states of an SRDF; ``source`` is its text, which keeps all else.

    ``spans`` are the first and the last byte of each element in ``source`` that speaks of pairs,
    ``end`` is where the root element ends.
    """

    name: str
    disabled: tuple[LinkPair, ...] = ()
    enabled: tuple[LinkPair, ...] = ()
    defaults: tuple[LinkDefault, ...] = ()
    states: tuple[GroupState, ...] = ()
    file: str = ""
    findings: tuple[Finding, ...] = ()
    source: bytes = field(default=b"", repr=False)
    spans: tuple[tuple[int, int], ...] = field(default=(), repr=False)
    end: int = field(default=0, repr=False)

    def decisions(self) -> dict[frozenset[str], tuple[bool, str]]:
        """Whether each pair that the file names is checked, and its word for why.

        The pairs of `defaults` are not among them.
        """
        return {
            **{pair.key: (True, pair.reason) for pair in self.enabled},
            **{pair.key: (False, pair.reason) for pair in self.disabled},
        }

    def said(self) -> str:
        """All that is said of pairs, and nothing else, as one text."""
        pairs = (("enabled", self.enabled), ("disabled", self.disabled))
        lines = [
            f"{kind} {p.link_a!r} {p.link_b!r} {p.reason!r}" for kind, own in pairs for p in own
        ]
        return "\n".join([*lines, *(f"default {each.link!r}" for each in self.defaults)])


def _as_number(text: str) -> float | None:
    """The finite number that a text is, None where it is none."""
    try:
        number = float(text)
    except ValueError:
        return None
    return number if math.isfinite(number) else None


# ---- where it lies


def beside(path: Path, robot: str = "", packages: Sequence[Path] = ()) -> Path | None:
    """The SRDF that belongs to the description at ``path``, if there is one.

    Looked for are the name of the file and then that of the ``robot``, as NAME.srdf: beside it, in
    ``../srdf`` and ``../config``, and in ``srdf`` and ``config`` of its ``packages``; then the same
    as NAME.srdf.xacro.
    """
    near = (path.parent.parent, *packages)
    folders = (path.parent, *(home / kind for home in near for kind in ("srdf", "config")))
    stem = path.name.removesuffix(".xacro").removesuffix(".urdf")
    names = dict.fromkeys((path.stem, stem, robot))
    plain = [name + SUFFIX for name in names if _FILE_NAME.fullmatch(name)]
    named = [*plain, *(name + ".xacro" for name in plain)]
    places = [folder / name for name in named for folder in folders]
    # what is there and cannot be read, a pipe or a folder, is refused by who reads it
    return next((place for place in places if os.path.lexists(place)), None)


# ---- reading


def read(source: str | os.PathLike[str] | bytes, *, file: str | None = None) -> Srdf:
    """The SRDF that a path, an XML text (it begins with '<') or bytes hold.

    Whether its robot and links are those of a description is for `check`.

    Raises: DescriptionError with every error of the file, each with its line; MissingFileError.
    """
    data, name = gather(source, file)
    findings = Findings(name)
    srdf = _Reader(data, findings).read()
    if srdf is None or findings.failed:
        raise findings.error()
    return replace(srdf, file=name or "", findings=findings.sorted())


def read_xacro(path: str | os.PathLike[str], *, find: Find, roots: Sequence[Any] = ()) -> Srdf:
    """The SRDF that a xacro file stands for, with the defaults of its arguments.

    ``find`` and ``roots``: see `formats.xacro.expand`. What its text says is in expanded form.

    Raises: DescriptionError with the file and line in the xacro; MissingExtraError without xacro.
    """
    from linkwork.formats import xacro  # noqa: PLC0415  few SRDFs are xacro files

    given = xacro.expand(path, find=find, roots=roots)
    try:
        found = read(given.text, file=os.fspath(path))
    except DescriptionError as error:
        raise DescriptionError([given.located(each) for each in error.problems]) from None
    located = tuple(given.located(each) for each in found.findings)
    return replace(found, findings=(*given.problems, *located))


def check(srdf: Srdf, robot: str, links: Sequence[str]) -> tuple[Finding, ...]:
    """Findings on an SRDF beside a description: another robot's name, links that are not there."""
    findings = Findings(srdf.file)
    if srdf.name != robot:
        message = f"it is for the robot '{show(srdf.name)}', not for '{show(robot)}'"
        findings.add("warning", "srdf-robot", message, line=1, element="robot")
    known = frozenset(links)
    told: set[str] = set()

    def missing(name: str, element: str, line: int) -> None:
        message, hint = "there is no such link", findings.nearest(name, links)
        place: dict[str, Any] = {"line": line, "element": element, "name": name}
        findings.add("warning", "srdf-link", message, **place, hint=hint)

    def about(names: Iterable[str], element: str, line: int) -> None:
        for name in names:
            if name not in known and name not in told:
                told.add(name)  # a link that is missing is missing in all of its pairs
                missing(name, element, line)

    for element, pairs in zip(_PAIRS, (srdf.disabled, srdf.enabled), strict=True):
        for pair in pairs:
            about((pair.link_a, pair.link_b), element, pair.line)
            if pair.link_a == pair.link_b:
                place: dict[str, Any] = {"line": pair.line, "element": element, "name": pair.link_a}
                findings.add("warning", "srdf-link", "a link is no pair with itself", **place)
    for default in srdf.defaults:
        about((default.link,), _DEFAULT, default.line)
    return findings.sorted()


class _Stop(Exception):
    """Reading cannot go on; the problem is already noted."""


class _Reader:
    """One pass over one file, in UTF-8: what stands directly in the root, and joints of states."""

    def __init__(self, data: bytes, findings: Findings) -> None:
        self.data, self.findings = data, findings
        self.parser = expat.ParserCreate("utf-8")
        self.depth = 0
        self.name = ""
        self.pairs: dict[str, list[LinkPair]] = {tag: [] for tag in _PAIRS}
        self.defaults: list[LinkDefault] = []
        self.states: list[GroupState] = []
        self.state: GroupState | None = None  # that which is read
        self.spans: list[tuple[int, int]] = []
        self.open: list[tuple[str, int]] = []  # the root and what stands in it: tag, first byte
        self.end = 0

    def read(self) -> Srdf | None:
        """The content of the file; None when reading stopped before its end."""
        parser = self.parser
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        parser.StartDoctypeDeclHandler = self._document_type
        try:
            parser.Parse(self.data, True)
        except _Stop:
            return None
        except expat.ExpatError as error:
            reason = expat.ErrorString(error.code) or "it is not well formed"
            message = f"the XML is broken at column {error.offset + 1}: {reason}"
            self.findings.add("error", "xml", message, line=error.lineno)
            return None
        finally:  # the handlers and the parser hold each other
            parser.StartElementHandler = parser.EndElementHandler = None
            parser.StartDoctypeDeclHandler = None
        disabled, enabled = (tuple(self.pairs[tag]) for tag in _PAIRS)
        where: dict[str, Any] = {"source": self.data, "spans": tuple(self.spans), "end": self.end}
        states = tuple(self.states)
        return Srdf(self.name, disabled, enabled, tuple(self.defaults), states, **where)

    def _start(self, tag: str, attributes: dict[str, str]) -> None:
        self.depth += 1
        if self.depth > DEEPEST:
            self._error("too-deep", f"elements are nested more than {DEEPEST} deep", tag)
            raise _Stop
        if self.depth == 3 and tag == "joint":
            self._position(attributes)
        if self.depth > 2:
            return
        self.open.append((tag, self.parser.CurrentByteIndex))
        if self.depth == 1:
            self._root(tag, attributes)
        elif tag in _NEEDED:
            self._entry(tag, attributes)
        elif tag == _STATE:
            name, group = (attributes.get(k, "").strip()[:LONGEST] for k in ("name", "group"))
            self.state = GroupState(name, group, (), self.parser.CurrentLineNumber)
        else:
            self._other(tag, attributes)

    def _end(self, tag: str) -> None:
        self.depth -= 1
        if self.depth > 1:
            return
        _, start = self.open.pop()
        stop = self.parser.CurrentByteIndex
        whole = _TAG.match(self.data, start)
        alone = whole is not None and whole.end() == stop and self.data[stop - 2 : stop] == b"/>"
        if self.depth == 0 and alone:  # made as long as others, so that something fits in
            before, after = self.data[: stop - 2] + b">\n", self.data[stop:]
            self.data, self.end = before + b"</robot>" + after, len(before)
        elif self.depth == 0:
            self.end = stop
        elif tag == _STATE and self.state is not None:
            if self.state.name:
                self.states.append(self.state)
            else:
                self._leave_out(self.state, "a state has no name")
            self.state = None
        elif tag in _NEEDED:
            self.spans.append((start, stop if alone else self.data.index(b">", stop) + 1))

    def _root(self, tag: str, attributes: dict[str, str]) -> None:
        if tag != "robot":
            message = f"the root element is <{show(tag, 40)}>, not <robot>"
            self._error("root", message, tag, hint="this is no SRDF")
            raise _Stop
        self.name = attributes.get("name", "").strip()

    def _entry(self, tag: str, attributes: dict[str, str]) -> None:
        """A pair, or a link whose pairs are left out."""
        names = [attributes.get(needed, "").strip() for needed in _NEEDED[tag]]
        for needed, name in zip(_NEEDED[tag], names, strict=True):
            if not name:
                hint = "it is the name of a link"
                self._error("missing-attribute", f"attribute '{needed}' is missing", tag, hint=hint)
            elif len(name) > LONGEST:
                message = f"a name is longer than {LONGEST} characters"
                self._error("too-long", message, tag)
        line = self.parser.CurrentLineNumber
        if tag == _DEFAULT:
            self.defaults.append(LinkDefault(names[0], line))
        else:
            reason = attributes.get("reason", "").strip()
            self.pairs[tag].append(LinkPair(names[0], names[1], reason, line))

    def _position(self, attributes: dict[str, str]) -> None:
        """The position of a joint in a state; a state with one that cannot be read is left out."""
        state, name = self.state, attributes.get("name", "").strip()
        if state is None:
            return
        numbers = [_as_number(each) for each in attributes.get("value", "").split()]
        known = [each for each in numbers if each is not None]
        if name and known and len(known) == len(numbers):
            positions = (*state.positions, (name[:LONGEST], tuple(known)))
            self.state = replace(state, positions=positions)
            return
        why = f"joint '{show(name, 40)}' has no value in numbers" if name else "a joint has no name"
        self._leave_out(state, why)
        self.state = None

    def _leave_out(self, state: GroupState, why: str) -> None:
        """Note that a state is not read."""
        place: dict[str, Any] = {"line": self.parser.CurrentLineNumber, "element": _STATE}
        self.findings.add("warning", "srdf-state", why, **place, name=state.name)

    def _other(self, tag: str, attributes: dict[str, str]) -> None:
        """An element that is kept as it stands, unless it looks like a slip of one that is read."""
        place: dict[str, Any] = {"line": self.parser.CurrentLineNumber, "element": tag}
        if tag == _SPHERES:
            message, name = "spheres of links are kept, not used", attributes.get("link", "")
            self.findings.add("note", "srdf-spheres", message, **place, name=name)
        elif near := difflib.get_close_matches(tag[:40], _NEEDED, n=1, cutoff=0.85):
            message, hint = "SRDF has no such element; kept, not used", f"did you mean <{near[0]}>?"
            self.findings.add("warning", "unknown-element", message, **place, hint=hint)

    def _document_type(self, *_: object) -> None:
        """A document type begins: the one way to define entities, so it is not let in."""
        hint = "remove the <!DOCTYPE ...>; write what its entities stand for"
        self._error("doctype", "a document type is not read: it could define entities", hint=hint)
        raise _Stop

    def _error(self, code: str, message: str, element: str = "", *, hint: str = "") -> None:
        line = self.parser.CurrentLineNumber
        self.findings.add("error", code, message, line=line, element=element, hint=hint)


# ---- writing


def to_text(srdf: Srdf) -> str:
    """The SRDF as XML text: its pairs of now, and all else as it stood in its source.

    They take the place of the first element that spoke of pairs, or stand last.
    """
    lines = [f"<{_DEFAULT} link={quoteattr(default.link)}/>" for default in srdf.defaults]
    for tag, pairs in zip(reversed(_PAIRS), (srdf.enabled, srdf.disabled), strict=True):
        for pair in pairs:
            reason = f" reason={quoteattr(pair.reason)}" if pair.reason else ""
            ends = f"link1={quoteattr(pair.link_a)} link2={quoteattr(pair.link_b)}"
            lines.append(f"<{tag} {ends}{reason}/>")
    if not srdf.source:
        inside = "".join(f"{_STEP}{line}\n" for line in lines)
        head = '<?xml version="1.0" encoding="UTF-8"?>\n'
        return f"{head}<robot name={quoteattr(srdf.name)}>\n{inside}</robot>\n"
    return _replaced(srdf, lines)


def write(path: str | os.PathLike[str], srdf: Srdf) -> None:
    """Write an SRDF, whole or not at all, in UTF-8.

    Raises: InputError where the file cannot be written.
    """
    write_bytes(path, encoded(to_text(srdf), ""))


def _replaced(srdf: Srdf, lines: Sequence[str]) -> str:
    """The source of an SRDF with these lines for what it said of pairs."""
    data, pieces, at = srdf.source, list[bytes](), 0
    new_line = b"\r\n" if b"\r\n" in data else b"\n"
    spans = srdf.spans or ((srdf.end, srdf.end),)
    begin = data[_whole_lines(data, *spans[0])[0] : spans[0][0]] if srdf.spans else _STEP.encode()
    text = b"".join(begin + line.encode() + new_line for line in lines)
    for start, stop in spans:
        first, last = _whole_lines(data, start, stop)
        begun = not text or data[:first].endswith(b"\n")
        pieces += [data[at:first], b"" if begun else new_line, text]
        at, text = last, b""
    return b"".join([*pieces, data[at:]]).decode().removeprefix("\ufeff")


def _whole_lines(data: bytes, start: int, stop: int) -> tuple[int, int]:
    """A span of bytes with the rest of its lines, where that is white space."""
    first = len(data[:start].rstrip(b" \t"))
    rest = _REST.match(data, stop)
    if first and data[first - 1 : first] != b"\n":
        return start, stop
    if start == stop:
        return first, start
    return (first, rest.end()) if rest else (start, stop)
