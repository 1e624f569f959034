"""Loops beside a URDF file: ``NAME.loops.yaml``, and the form of example-parallel-robots.

Ours::

    version: 1
    loops:
      - {name: hinge, frame_a: rod_end, frame_b: slider, kind: revolute}
      - {frame_a: elbow, frame_b: platform, kind: distance, distance: 0.4}
    couplings:
      - {joint: wheel, leaders: [crank], rates: [-2.0], offset: 0.1}
      - {joint: cam, leaders: [crank], operations: [[input, 0], [sin, 0]]}
    actuated: [crank]

The other is that of `loops_collection`.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Iterable
from pathlib import Path

from linkwork.errors import DescriptionError, Finding, MissingFileError
from linkwork.formats.loops_collection import read_collection
from linkwork.formats.loops_records import (
    CouplingRecord,
    Fields,
    JointRecord,
    LoopRecord,
    LoopsRecord,
)
from linkwork.formats.urdf.source import LARGEST_FILE, bytes_of_file
from linkwork.formats.yaml import LONGEST_FILE, Node, parse

__all__ = ["CouplingRecord", "JointRecord", "LoopRecord", "LoopsRecord"]

VERSION = 1
SUFFIX = ".loops.yaml"
OTHER_NAME = "robot.yaml"
COMING = ".new"
_LARGEST = 4 * LONGEST_FILE
_SAVED = ("saved_with", "saved_over")
_OF_COLLECTION = ("closed_loop", "name_closedloop", "closed_loop_number")
_MARK = re.compile(r"^(\{\s*)?['\"]?closed_loop['\"]?\s*:", re.MULTILINE)
_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")


def sidecar(path: Path) -> Path:
    """The file with loops of our own form that belongs to a description at ``path``."""
    return path.with_name(path.stem + SUFFIX)


def beside(path: Path) -> Path | None:
    """The file with the loops of a description at ``path``, if there is one.

    While a description and its loops are replaced, the new loops stand in ``NAME.loops.yaml.new``
    and say which text of the description they belong to, so that a save that was cut short leaves
    the old pair or the new one.

    Raises: DescriptionError for such a file that belongs neither to the text that is there now nor
    to the one that was to be replaced.
    """
    own = sidecar(path)
    coming = own.with_name(own.name + COMING)
    # what is there and cannot be read, a pipe or a folder, is refused by who reads it
    if os.path.lexists(coming) and _has_come(coming, path):
        return coming
    if os.path.lexists(own):
        return own
    other = path.with_name(OTHER_NAME)
    belongs = path.stem == other.stem and os.path.lexists(other)
    return other if belongs and _is_other(other) else None


def _has_come(coming: Path, path: Path) -> bool:
    """Whether loops that were to be put in place belong to the description that is there now."""
    now = digest_of(path)
    if now is None:
        return False
    said = _Ours(str(coming)).said(_node(coming))
    if now == said.get("saved_with"):
        return True
    if now == said.get("saved_over"):
        return False
    raise _refused(
        str(coming),
        f"is left of a save that was cut short, and {path} has changed since; rename it to "
        f"{sidecar(path).name} if these are the loops of {path.name}, else delete it",
    )


def digest_of(path: Path) -> str | None:
    """The SHA-256 of a description's file; None where there is none that can be read."""
    try:
        return hashlib.sha256(bytes_of_file(str(path), LARGEST_FILE)).hexdigest()
    except DescriptionError:
        return None


def _is_other(path: Path) -> bool:
    """Whether a file called robot.yaml is about loops at all; many are about other things."""
    try:
        data = bytes_of_file(str(path), _LARGEST)
        return _MARK.search(data.decode(errors="replace")) is not None
    except MissingFileError:
        return False
    except DescriptionError as error:
        # whoever reads it says why it cannot be; one this large is about something else
        return all(problem.code != "file-size" for problem in error.problems)


def _text(path: Path) -> str:
    """The text of a file, which is opened only where it is a regular one.

    Raises: DescriptionError.
    """
    data = bytes_of_file(str(path), _LARGEST)
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise _refused(str(path), f"cannot be read: {error}") from None


def _node(path: Path) -> Node:
    node = parse(_text(path), str(path))
    if not isinstance(node.value, dict):
        Fields(str(path)).fail(node, "must be a mapping with 'loops', or with 'closed_loop'")
    return node


def read(path: Path) -> LoopsRecord:
    """The loops of a file in either form.

    Raises: DescriptionError naming what is wrong in which entry; MissingFileError.
    """
    return from_text(_text(path), str(path))


def from_text(text: str, file: str = "") -> LoopsRecord:
    """The loops of a text in either form.

    Raises: DescriptionError.
    """
    node = parse(text, file)
    if not isinstance(node.value, dict):
        Fields(file).fail(node, "must be a mapping with 'loops', or with 'closed_loop'")
    if any(key in node.value for key in _OF_COLLECTION):
        return read_collection(node, file)
    return _Ours(file).record(node)


class _Ours(Fields):
    """Our own form."""

    def record(self, node: Node) -> LoopsRecord:
        """All of a file."""
        known = ("version", "loops", "couplings", "actuated", *_SAVED)
        self.known(node, known, "the file")
        given = node.value
        version = given.get("version", Node(None, node.line))
        if version.value != VERSION or isinstance(version.value, bool):
            self.fail(version, f"version must be {VERSION}, not {version.plain()!r:.40}")
        actuated = given.get("actuated")
        return LoopsRecord(
            tuple(self.loop(each) for each in self.listed(given.get("loops"), "loops")),
            tuple(self.coupling(e) for e in self.listed(given.get("couplings"), "couplings")),
            self.texts(actuated, "actuated"),
            self.file,
            actuated_line=actuated.line if actuated else 0,
        )

    def said(self, node: Node) -> dict[str, str]:
        """The digests of the descriptions that a file belongs to, and was to replace."""
        given = node.value
        return {key: self.text(given[key], key) for key in _SAVED if key in given}

    def loop(self, node: Node) -> LoopRecord:
        """An entry of ``loops``."""
        given = self.mapping(node, "loops")
        self.known(node, ("name", "frame_a", "frame_b", "kind", "distance"), "a loop")
        name = given.get("name")
        return LoopRecord(
            self.text(given.get("frame_a"), "frame_a of a loop", at=node),
            self.text(given.get("frame_b"), "frame_b of a loop", at=node),
            self.text(given["kind"], "kind of a loop") if "kind" in given else "pose",
            self.number(given.get("distance"), "distance of a loop"),
            None if name is None else self.text(name, "name of a loop"),
            node.line,
        )

    def coupling(self, node: Node) -> CouplingRecord:
        """An entry of ``couplings``."""
        given = self.mapping(node, "couplings")
        self.known(node, ("joint", "leaders", "rates", "offset", "operations"), "a coupling")
        joint = self.text(given.get("joint"), "joint of a coupling", at=node)
        leaders = self.texts(given.get("leaders"), f"leaders of '{joint}'")
        if ("rates" in given) == ("operations" in given):
            self.fail(node, f"the coupling of '{joint}' needs either rates or operations")
        if "offset" in given and "operations" in given:
            self.fail(node, f"the coupling of '{joint}' has an offset, which belongs to rates")
        what = f"rates of '{joint}'"
        rates = tuple(self.number(x, what) for x in self.listed(given.get("rates"), what))
        offset = self.number(given.get("offset"), f"offset of '{joint}'")
        what = f"operations of '{joint}'"
        operations: list[tuple[str, tuple[float, ...]]] = []
        for each in self.listed(given.get("operations"), what):
            name, *numbers = self.listed(each, what) or [Node(None, each.line)]
            operations.append((self.text(name, what), tuple(self.number(x, what) for x in numbers)))
        return CouplingRecord(joint, leaders, rates, offset, tuple(operations), node.line)


def to_text(record: LoopsRecord, *, saved_with: str = "", saved_over: str = "") -> str:
    """The text of ``NAME.loops.yaml``, in which every number is exact.

    ``saved_with`` and ``saved_over`` are the SHA-256 of the description that it belongs to, and of
    the one that is replaced, where it is to be put in place (`beside`).
    """
    lines = [f"version: {VERSION}"]
    for key, digest in zip(_SAVED, (saved_with, saved_over), strict=True):
        if digest:
            lines.append(f'{key}: "{digest}"')
    if record.loops:
        lines.append("loops:")
        for loop in record.loops:
            fields = {} if loop.name is None else {"name": _word(loop.name)}
            fields |= {"frame_a": _word(loop.frame_a), "frame_b": _word(loop.frame_b)}
            fields["kind"] = _word(loop.kind)
            if loop.distance:
                fields["distance"] = _real(loop.distance)
            lines.append(f"  - {_flow(fields)}")
    if record.couplings:
        lines.append("couplings:")
        for each in record.couplings:
            fields = {"joint": _word(each.joint), "leaders": _row(map(_word, each.leaders))}
            if each.operations:
                rows = [_row([name, *map(_real, x)]) for name, x in each.operations]
                fields["operations"] = _row(rows)
            else:
                fields |= {"rates": _row(map(_real, each.rates)), "offset": _real(each.offset)}
            lines.append(f"  - {_flow(fields)}")
    if record.actuated:
        lines.append(f"actuated: {_row(map(_word, record.actuated))}")
    return "\n".join(lines) + "\n"


def _flow(fields: dict[str, str]) -> str:
    return "{" + ", ".join(f"{key}: {value}" for key, value in fields.items()) + "}"


def _row(words: Iterable[str]) -> str:
    return "[" + ", ".join(words) + "]"


def _real(number: float) -> str:
    """A number that YAML 1.1 reads as one too: with a point."""
    text = repr(float(number))
    return text if "." in text or "e" not in text else text.replace("e", ".0e")


def _word(text: str) -> str:
    """A text as it is read back as the same text."""
    if _PLAIN.match(text):
        try:
            if isinstance(parse(text).value, str):
                return text
        except DescriptionError:  # a word that needs quotes, such as yes
            pass
    if not text.isprintable():
        raise _refused("", f"the name {json.dumps(text)} cannot be written in a {SUFFIX} file")
    return json.dumps(text, ensure_ascii=False)


def _refused(file: str, why: str) -> DescriptionError:
    return DescriptionError([Finding("error", "loops", why, file)])
