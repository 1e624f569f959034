"""Loops beside a URDF file: ``NAME.loops.yaml``, and two forms of others.

Ours::

    version: 1
    loops:
      - {name: hinge, frame_a: rod_end, frame_b: slider, kind: revolute}
      - {frame_a: elbow, frame_b: platform, kind: distance, distance: 0.4}
    couplings:
      - {joint: wheel, leaders: [crank], rates: [-2.0], offset: 0.1}
      - {joint: cam, leaders: [crank], operations: [[input, 0], [sin, 0]]}
    actuated: [crank]

One is that of the public collection example-parallel-robots, ``robot.yaml``: ``closed_loop``
has pairs of links or joints whose frames coincide, ``type`` says 6d (whole pose) or 3d (position)
for each, ``name_mot`` are the actuated joints. ``joint_type`` says what each joint in
``joint_name`` is instead of what the URDF says: SPHERICAL, CARDAN (about x, then y), UJOINT_ZY
(about z, then y) and the like, FIXED. A ball becomes a spherical joint; a universal joint becomes
two hinges one after the other, through one point, with a link without mass between. They are free
of limits, as the joint that they stand for moved about another axis.
Source: github.com/Gepetto/example-parallel-robots, as its files are.

The other is ``loop_closures.yaml``, which sw2robot writes beside what it exports, and
scikit-robot beside what it assembles. Each entry of ``closures`` is a hinge that was cut:
``link_a``, ``link_b``, and ``point`` and ``axis`` in the root link's frame where every joint is at
zero. ``independent`` joints are the actuated ones; a ``mimic`` of ``dependent`` ones, by which the
URDF comes near to the loop, gives way to it.
Source: github.com/jsk-ros-pkg/solidworks_urdf_exporter2, pull requests 92 and 94.
"""

from __future__ import annotations

import hashlib
import math
import os
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NoReturn, cast

import numpy as np
from numpy.typing import NDArray

from linkwork.errors import DescriptionError, Finding, MissingFileError, UnknownNameError
from linkwork.formats.structure import untaken
from linkwork.formats.urdf.edit.records import path_to
from linkwork.formats.urdf.edit.reroot import rotation
from linkwork.formats.urdf.records import ZERO, Document, Joint, Link, Robot
from linkwork.formats.urdf.source import LARGEST_FILE, bytes_of_file
from linkwork.formats.urdf.validate import checked
from linkwork.formats.yaml import LONGEST_FILE, Node, parse, quoted
from linkwork.ops.numpy import NUMPY
from linkwork.spatial.rotations import align_z, to_rpy

# Rows of docs/check.md: code | levels | what it means | how to mend it.
CODES = """
# Loops
loops | error | An entry that does not fit, or names what is not there. | See it.
other-joint | note | A joint is another one than the URDF says. | Nothing to do.
"""


# ---- records


@dataclass(frozen=True, slots=True)
class LoopRecord:
    """One loop as it is described; without a name it gets one."""

    frame_a: str
    frame_b: str
    kind: str = "pose"
    distance: float = 0.0
    name: str | None = None
    line: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class CouplingRecord:
    """One coupling: rates and an offset, or operations as `expressions` has them."""

    joint: str
    leaders: tuple[str, ...]
    rates: tuple[float, ...] = ()
    offset: float = 0.0
    operations: tuple[tuple[str, tuple[float, ...]], ...] = ()
    line: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class JointRecord:
    """A joint of the description that stands for others: one about each axis of its frame, in turn.

    Without axes it is fixed.
    """

    joint: str
    axes: str
    line: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class HingeRecord:
    """A hinge that closes a loop, by its place in the root link's frame with every joint at zero.

    Without an ``axis`` (3,) the links may turn in any way about the ``point`` (3,), m.
    """

    link_a: str
    link_b: str
    point: tuple[float, ...]
    axis: tuple[float, ...] | None = None
    line: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class LoopsRecord:
    """Contents of one file beside a description.

    ``hinges``, ``joints`` and the ``dependent`` joints, which follow from loops whatever the
    description says that they mimic, become part of the description (`with_joints`).
    """

    loops: tuple[LoopRecord, ...] = ()
    couplings: tuple[CouplingRecord, ...] = ()
    actuated: tuple[str, ...] = ()
    file: str = ""
    joints: tuple[JointRecord, ...] = ()
    hinges: tuple[HingeRecord, ...] = ()
    dependent: tuple[str, ...] = ()
    actuated_line: int = field(default=0, compare=False)


class Fields:
    """Takes values of a file apart; what is wrong is said with its line."""

    def __init__(self, file: str) -> None:
        self.file = file

    def fail(self, node: Node | None, why: str) -> NoReturn:
        """Refuse what stands at a node.

        Raises: DescriptionError.
        """
        line = node.line if node is not None else 0
        raise DescriptionError([Finding("error", "loops", why, self.file, line)]) from None

    def known(self, node: Node, names: Sequence[str], what: str) -> None:
        """Refuse keys that are none of ``names``."""
        for name, value in node.value.items():
            if name not in names:
                why = f"{what} has {', '.join(names)}; '{name:.60}' is none of them"
                self.fail(value, why)

    def mapping(self, node: Node, what: str) -> dict[str, Node]:
        """The entries of a mapping."""
        if not isinstance(node.value, dict):
            self.fail(node, f"{what} must be mappings, not {node.plain()!r:.60}")
        return cast("dict[str, Node]", node.value)

    def listed(self, node: Node | None, what: str) -> list[Node]:
        """The items of a list; none where there is nothing."""
        if node is None or node.value is None:
            return []
        if not isinstance(node.value, list):
            self.fail(node, f"{what} must be a list, not {node.plain()!r:.60}")
        return cast("list[Node]", node.value)

    def texts(self, node: Node | None, what: str) -> tuple[str, ...]:
        """The texts of a list."""
        return tuple(self.text(each, what) for each in self.listed(node, what))

    def text(self, node: Node | None, what: str, *, at: Node | None = None) -> str:
        """A text that is not empty; ``at`` is where it is missed."""
        value: Any = None if node is None else node.value
        if not isinstance(value, str) or not value:
            shown = None if node is None else node.plain()
            self.fail(node or at, f"{what} must be a text, not {shown!r:.60}")
        return value

    def number(self, node: Node | None, what: str) -> float:
        """A finite number; 0 where there is nothing."""
        if node is None:
            return 0.0
        value: Any = node.value
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            self.fail(node, f"{what} must be a number, not {node.plain()!r:.60}")
        if not math.isfinite(value):
            self.fail(node, f"{what} must be a finite number, not {value}")
        return float(value)


# ---- the form of the collection

_KINDS = {"6d": "pose", "3d": "position"}
_AXES = {"SPHERICAL": "xyz", "CARDAN": "xy", "FIXED": ""}
_TWO = re.compile(r"UJOINT_([XYZ])([XYZ])\Z")


def read_collection(node: Node, file: str) -> LoopsRecord:
    """The loops, actuated joints and other joint types; what else stands there is left alone.

    Raises: DescriptionError.
    """
    fields, given = Fields(file), node.value
    if "closed_loop" not in given:
        key = next((k for k in ("name_closedloop", "closed_loop_number") if k in given), "type")
        why = f"'{key}' finds frames by parts of their names, which is not read"
        fields.fail(given[key], f"{why}; write closed_loop: [[frame_a, frame_b], ...]")
    pairs = fields.listed(given["closed_loop"], "closed_loop")
    types = fields.listed(given.get("type"), "type")
    if "type" in given and len(types) != len(pairs):
        fields.fail(given["type"], f"closed_loop has {len(pairs)} pairs, type {len(types)} entries")
    loops: list[LoopRecord] = []
    for k, pair in enumerate(pairs):
        frames = fields.texts(pair, "closed_loop")
        if len(frames) != 2:
            fields.fail(pair, f"closed_loop must be pairs of frames, not {list(frames)!r:.60}")
        kind = fields.text(types[k], "type").lower() if types else "6d"
        if kind not in _KINDS:
            fields.fail(types[k], f"type must be one of {', '.join(_KINDS)}, not {kind:.40}")
        loops.append(LoopRecord(*frames, _KINDS[kind], line=pair.line))
    motors = given.get("name_mot")
    return LoopsRecord(
        tuple(loops),
        (),
        fields.texts(motors, "name_mot"),
        file,
        _joints(given, fields),
        actuated_line=motors.line if motors else 0,
    )


def _joints(given: dict[str, Node], fields: Fields) -> tuple[JointRecord, ...]:
    names = fields.listed(given.get("joint_name"), "joint_name")
    types = fields.listed(given.get("joint_type"), "joint_type")
    if len(names) != len(types):
        why = f"joint_name has {len(names)} entries, joint_type {len(types)}"
        fields.fail(given.get("joint_type") or given.get("joint_name"), why)
    found: dict[str, JointRecord] = {}
    for name, kind in zip(names, types, strict=True):
        text, label = fields.text(name, "joint_name"), fields.text(kind, "joint_type").upper()
        if text in found:
            fields.fail(name, f"joint_name has '{text:.60}' twice")
        two = _TWO.match(label)
        if label not in _AXES and (two is None or two[1] == two[2]):
            known = ", ".join((*_AXES, "UJOINT_XY and the like"))
            fields.fail(kind, f"joint_type must be one of {known}, not {label:.40}")
        axes = (two[1] + two[2]).lower() if two else _AXES[label]
        found[text] = JointRecord(text, axes, name.line)
    return tuple(found.values())


# ---- loop_closures.yaml


def read_closures(node: Node, file: str) -> LoopsRecord:
    """The hinges that close loops, and which joints are driven; what else stands there is left.

    Raises: DescriptionError.
    """
    fields, given = Fields(file), node.value
    hinges: list[HingeRecord] = []
    for each in fields.listed(given["closures"], "closures"):
        entry = fields.mapping(each, "closures")
        kind = entry.get("type", Node("revolute", each.line))
        if kind.value not in ("revolute", "continuous"):
            fields.fail(kind, f"a closure is revolute, not {kind.plain()!r:.40}")
        hinges.append(
            HingeRecord(
                fields.text(entry.get("link_a"), "link_a of a closure", at=each),
                fields.text(entry.get("link_b"), "link_b of a closure", at=each),
                _three(fields, entry.get("point", each), "point of a closure"),
                _three(fields, entry["axis"], "axis of a closure") if "axis" in entry else None,
                each.line,
            )
        )
        if hinges[-1].axis is not None and not any(hinges[-1].axis):
            fields.fail(entry["axis"], "axis of a closure must not be zero")
    driven = given.get("independent")
    return LoopsRecord(
        actuated=fields.texts(driven, "independent"),
        file=file,
        hinges=tuple(hinges),
        dependent=fields.texts(given.get("dependent"), "dependent"),
        actuated_line=driven.line if driven else 0,
    )


def _three(fields: Fields, node: Node, what: str) -> tuple[float, ...]:
    items = node.value if isinstance(node.value, list) else []
    if len(items) != 3:
        fields.fail(node, f"{what} must be three numbers, not {node.plain()!r:.60}")
    return tuple(fields.number(item, what) for item in items)


# ---- our form

VERSION = 1
SUFFIX = ".loops.yaml"
OTHER_NAME = "robot.yaml"
CLOSURES_NAME = "loop_closures.yaml"
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
    if path.stem == other.stem and os.path.lexists(other) and _is_other(other):
        return other
    # of a package, whose descriptions lie in a folder of their own
    folders = [path.parent, *([path.parent.parent] if path.parent.name == "urdf" else [])]
    closures = (folder / CLOSURES_NAME for folder in folders)
    return next((found for found in closures if os.path.lexists(found)), None)


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
        Fields(str(path)).fail(node, "must be a mapping with 'loops', 'closed_loop' or 'closures'")
    return node


def read(path: Path) -> LoopsRecord:
    """The loops of a file in any form.

    Raises: DescriptionError naming what is wrong in which entry; MissingFileError.
    """
    return from_text(_text(path), str(path))


def from_text(text: str, file: str = "") -> LoopsRecord:
    """The loops of a text in any form.

    Raises: DescriptionError.
    """
    node = parse(text, file)
    if not isinstance(node.value, dict):
        Fields(file).fail(node, "must be a mapping with 'loops', 'closed_loop' or 'closures'")
    if any(key in node.value for key in _OF_COLLECTION):
        return read_collection(node, file)
    if "closures" in node.value:
        return read_closures(node, file)
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
                fields["distance"] = as_real(loop.distance)
            lines.append(f"  - {_flow(fields)}")
    if record.couplings:
        lines.append("couplings:")
        for each in record.couplings:
            fields = {"joint": _word(each.joint), "leaders": _row(map(_word, each.leaders))}
            if each.operations:
                rows = [_row([name, *map(as_real, x)]) for name, x in each.operations]
                fields["operations"] = _row(rows)
            else:
                fields |= {"rates": _row(map(as_real, each.rates)), "offset": as_real(each.offset)}
            lines.append(f"  - {_flow(fields)}")
    if record.actuated:
        lines.append(f"actuated: {_row(map(_word, record.actuated))}")
    return "\n".join(lines) + "\n"


def _flow(fields: dict[str, str]) -> str:
    return "{" + ", ".join(f"{key}: {value}" for key, value in fields.items()) + "}"


def _row(words: Iterable[str]) -> str:
    return "[" + ", ".join(words) + "]"


def as_real(number: float) -> str:
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
        raise _refused("", f"the name {quoted(text)} cannot be written in a {SUFFIX} file")
    return quoted(text)


def _refused(file: str, why: str) -> DescriptionError:
    return DescriptionError([Finding("error", "loops", why, file)])


# ---- joints of a URDF that such a file says are others

_DIRECTIONS = {"x": (1.0, 0.0, 0.0), "y": (0.0, 1.0, 0.0), "z": (0.0, 0.0, 1.0)}
_WORDS = {0: "fixed", 2: "a universal joint: 2 hinges", 3: "a spherical joint"}


def with_joints(document: Document, record: LoopsRecord) -> tuple[Document, LoopsRecord]:
    """The description with the joints that a file beside it says, and what else that file says.

    A frame that was a replaced joint's is then that of its last hinge, which is the same. Hinges
    that close loops get a frame on each of their links.

    Raises: DescriptionError for joints that do not exist, and where the result is none.
    """
    if record.hinges or record.dependent:
        return _with_hinges(document, record)
    if not record.joints:
        return document, record
    robot = document.robot
    others = {each.joint: each for each in record.joints}
    known = [joint.name for joint in robot.joints]
    problems = [
        Finding("error", "loops", str(UnknownNameError("joint", name, known)), record.file,
                each.line, "joint_name")
        for name, each in others.items()
        if name not in known
    ]  # fmt: skip
    if problems:
        raise DescriptionError(problems)
    names = {link.name for link in robot.links} | {joint.name for joint in robot.joints}
    last: dict[str, str] = {}
    joints: list[Joint] = []
    links: list[Link] = list(robot.links)
    for joint in robot.joints:
        given = others.get(joint.name)
        if given is None:
            joints.append(joint)
            continue
        hinges, between = _hinges(joint, given.axes, names)
        last[joint.name] = hinges[-1].name
        joints += hinges
        links += between
    made = checked(replace(robot, links=tuple(links), joints=tuple(joints)), file=robot.file)
    notes = [
        Finding("note", "other-joint", f"it is {_WORDS[len(each.axes)]}", record.file, each.line,
                "joint_name", each.joint)
        for each in record.joints
    ]  # fmt: skip
    loops = [
        replace(
            loop,
            frame_a=last.get(loop.frame_a, loop.frame_a),
            frame_b=last.get(loop.frame_b, loop.frame_b),
        )
        for loop in record.loops
    ]
    found = Document(made.robot, (*made.problems, *notes))
    return found, replace(record, loops=tuple(loops), joints=())


def _with_hinges(document: Document, record: LoopsRecord) -> tuple[Document, LoopsRecord]:
    """The description with frames where hinges close loops, and without mimics that loops replace.

    Raises: DescriptionError for links and joints that do not exist.
    """
    robot = document.robot
    names = [link.name for link in robot.links]
    known = {joint.name for joint in robot.joints}
    problems = [
        Finding("error", "loops", str(UnknownNameError("link", name, names)), record.file,
                hinge.line, "closures")
        for hinge in record.hinges for name in (hinge.link_a, hinge.link_b) if name not in names
    ]  # fmt: skip
    problems += [
        Finding("error", "loops", str(UnknownNameError("joint", name, sorted(known))), record.file,
                0, "dependent")
        for name in record.dependent if name not in known
    ]  # fmt: skip
    if problems:
        raise DescriptionError(problems)
    taken = {*names, *known}
    dependent = set(record.dependent)
    joints = [replace(j, mimic=None) if j.name in dependent else j for j in robot.joints]
    freed = [j for j in robot.joints if j.name in dependent and j.mimic is not None]
    links, loops = list(robot.links), list(record.loops)
    for hinge in record.hinges:
        frames: list[str] = []
        for on, to in ((hinge.link_a, hinge.link_b), (hinge.link_b, hinge.link_a)):
            R, p = _place(robot, on)
            axis = hinge.axis or (0.0, 0.0, 1.0)
            xyz = tuple((R.T @ (np.array(hinge.point) - p)).tolist())
            rpy = tuple(to_rpy(NUMPY, align_z(R.T @ np.array(axis))).tolist())
            name = untaken(f"{on}_hinge_{to}", taken)
            frames.append(name)
            links.append(Link(name))
            fixed = Joint(untaken(f"{name}_joint", taken), "fixed", on, name, xyz=xyz, rpy=rpy)
            joints.append(fixed)
        kind = "position" if hinge.axis is None else "revolute"
        loops.append(LoopRecord(frames[0], frames[1], kind, line=hinge.line))
    made = checked(replace(robot, links=tuple(links), joints=tuple(joints)), file=robot.file)
    notes = [
        Finding("note", "other-joint", "a loop says where it is, not what it mimics", record.file,
                0, "dependent", joint.name)
        for joint in freed
    ]  # fmt: skip
    found = Document(made.robot, (*made.problems, *notes))
    return found, replace(record, loops=tuple(loops), hinges=(), dependent=())


def _place(robot: Robot, link: str) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The rotation (3, 3) and origin (3,) of a link in the root's frame, every joint at zero."""
    turn, p = np.eye(3), np.zeros(3)
    for joint in path_to(robot, link):
        p = p + turn @ joint.xyz
        turn = turn @ rotation(joint.rpy)
    return turn, p


def _hinges(joint: Joint, axes: str, taken: set[str]) -> tuple[Sequence[Joint], Sequence[Link]]:
    """The joints that stand for one, and the links between them."""
    bare = replace(
        joint, limit=None, dynamics=None, mimic=None, safety=None, calibration=None, layout=()
    )
    if len(axes) in (0, 3):
        return [replace(bare, type="spherical" if axes else "fixed")], []
    hinges: list[Joint] = []
    links: list[Link] = []
    for k, axis in enumerate(axes):
        first, final = k == 0, k == len(axes) - 1
        child = joint.child if final else untaken(f"{joint.name}_{axis}_link", taken)
        made = replace(
            bare,
            name=untaken(f"{joint.name}_{axis}", taken),
            type="continuous",
            axis=_DIRECTIONS[axis],
            parent=joint.parent if first else links[-1].name,
            child=child,
        )
        if not first:
            made = replace(made, xyz=ZERO, rpy=ZERO, extra=(), comments=())
        hinges.append(made)
        if not final:
            links.append(Link(child))
    return hinges, links
