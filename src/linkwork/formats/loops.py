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

The other is ``robot.yaml``: ``closed_loop`` has pairs of frames that coincide, ``type`` says 6d
(whole pose) or 3d (position) for each, ``name_mot`` are the actuated joints.

Source: github.com/Gepetto/example-parallel-robots, as its files are.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn, cast

from linkwork.errors import DescriptionError, Problem
from linkwork.formats.yaml_text import parse

VERSION = 1
SUFFIX = ".loops.yaml"
OTHER_NAME = "robot.yaml"
_TYPES = {"6d": "pose", "3d": "position"}
_LARGEST = 4_000_000


@dataclass(frozen=True, slots=True)
class LoopRecord:
    """One loop as it is described; without a name it gets one."""

    frame_a: str
    frame_b: str
    kind: str = "pose"
    distance: float = 0.0
    name: str | None = None


@dataclass(frozen=True, slots=True)
class CouplingRecord:
    """One coupling: rates and an offset, or operations as `expressions` has them."""

    joint: str
    leaders: tuple[str, ...]
    rates: tuple[float, ...] = ()
    offset: float = 0.0
    operations: tuple[tuple[str, tuple[float, ...]], ...] = ()


@dataclass(frozen=True, slots=True)
class LoopsRecord:
    """What stands in one file beside a description."""

    loops: tuple[LoopRecord, ...] = ()
    couplings: tuple[CouplingRecord, ...] = ()
    actuated: tuple[str, ...] = ()
    file: str = ""


def beside(path: Path) -> Path | None:
    """The file with the loops of a description at ``path``, if there is one."""
    own = path.with_name(path.stem + SUFFIX)
    if own.is_file():
        return own
    other = path.with_name(OTHER_NAME)
    return other if other.is_file() and _is_other(other) else None


def _is_other(path: Path) -> bool:
    """Whether a file called robot.yaml is about loops at all; many are about other things."""
    if path.stat().st_size > _LARGEST:
        return False
    return "closed_loop" in path.read_text(encoding="utf-8", errors="replace")


def read(path: Path) -> LoopsRecord:
    """The loops of a file in either form.

    Raises: DescriptionError naming what is wrong in which entry.
    """
    file = str(path)
    try:
        if path.stat().st_size > _LARGEST:
            _fail(file, f"is larger than {_LARGEST} bytes")
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        _fail(file, f"cannot be read: {error}")
    return from_text(text, file)


def from_text(text: str, file: str = "") -> LoopsRecord:
    """The loops of a text in either form.

    Raises: DescriptionError.
    """
    value = parse(text, file)
    if not isinstance(value, dict):
        _fail(file, "must be a mapping with 'loops', or with 'closed_loop'")
    given = cast("dict[str, Any]", value)
    return _other(given, file) if "closed_loop" in given else _ours(given, file)


def _ours(given: dict[str, Any], file: str) -> LoopsRecord:
    _known(given, ("version", "loops", "couplings", "actuated"), "the file", file)
    if given.get("version") != VERSION or given.get("version") is True:
        _fail(file, f"version must be {VERSION}, not {given.get('version')!r:.40}")
    loops = [_loop(each, file) for each in _listed(given.get("loops"), "loops", file)]
    couplings = [_coupling(e, file) for e in _listed(given.get("couplings"), "couplings", file)]
    actuated = _texts(given.get("actuated"), "actuated", file)
    return LoopsRecord(tuple(loops), tuple(couplings), actuated, file)


def _loop(value: Any, file: str) -> LoopRecord:
    given = _mapping(value, "loops", file)
    _known(given, ("name", "frame_a", "frame_b", "kind", "distance"), "a loop", file)
    name = given.get("name")
    return LoopRecord(
        _text(given.get("frame_a"), "frame_a of a loop", file),
        _text(given.get("frame_b"), "frame_b of a loop", file),
        _text(given.get("kind", "pose"), "kind of a loop", file),
        _number(given.get("distance", 0.0), "distance of a loop", file),
        None if name is None else _text(name, "name of a loop", file),
    )


def _coupling(value: Any, file: str) -> CouplingRecord:
    given = _mapping(value, "couplings", file)
    _known(given, ("joint", "leaders", "rates", "offset", "operations"), "a coupling", file)
    joint = _text(given.get("joint"), "joint of a coupling", file)
    leaders = _texts(given.get("leaders"), f"leaders of '{joint}'", file)
    if ("rates" in given) == ("operations" in given):
        _fail(file, f"the coupling of '{joint}' needs either rates or operations")
    rates = tuple(
        _number(x, f"rates of '{joint}'", file)
        for x in _listed(given.get("rates"), f"rates of '{joint}'", file)
    )
    offset = _number(given.get("offset", 0.0), f"offset of '{joint}'", file)
    operations: list[tuple[str, tuple[float, ...]]] = []
    for each in _listed(given.get("operations"), f"operations of '{joint}'", file):
        name, *numbers = _listed(each, f"operations of '{joint}'", file) or [None]
        what = f"operations of '{joint}'"
        operations.append((_text(name, what, file), tuple(_number(x, what, file) for x in numbers)))
    return CouplingRecord(joint, leaders, rates, offset, tuple(operations))


def _other(given: dict[str, Any], file: str) -> LoopsRecord:
    """`closed_loop`, `type` and `name_mot`; whatever else stands there is not about loops."""
    pairs = [
        _texts(pair, "closed_loop", file)
        for pair in _listed(given["closed_loop"], "closed_loop", file)
    ]
    types = _texts(given.get("type", ["6d"] * len(pairs)), "type", file)
    if len(types) != len(pairs):
        _fail(file, f"closed_loop has {len(pairs)} pairs, type {len(types)} entries")
    loops: list[LoopRecord] = []
    for pair, kind in zip(pairs, types, strict=True):
        if len(pair) != 2:
            _fail(file, f"closed_loop must be pairs of frames, not {list(pair)!r:.60}")
        if kind.lower() not in _TYPES:
            _fail(file, f"type must be one of {', '.join(_TYPES)}, not {kind:.40}")
        loops.append(LoopRecord(*pair, _TYPES[kind.lower()]))
    return LoopsRecord(tuple(loops), (), _texts(given.get("name_mot"), "name_mot", file), file)


def to_text(record: LoopsRecord) -> str:
    """The text of ``NAME.loops.yaml``, in which every number is exact."""
    lines = [f"version: {VERSION}"]
    if record.loops:
        lines.append("loops:")
        for loop in record.loops:
            fields = {} if loop.name is None else {"name": _word(loop.name)}
            fields |= {"frame_a": _word(loop.frame_a), "frame_b": _word(loop.frame_b)}
            fields["kind"] = _word(loop.kind)
            if loop.distance:
                fields["distance"] = repr(float(loop.distance))
            lines.append(f"  - {_flow(fields)}")
    if record.couplings:
        lines.append("couplings:")
        for each in record.couplings:
            fields = {"joint": _word(each.joint), "leaders": _row(map(_word, each.leaders))}
            if each.operations:
                rows = [_row([name, *map(repr, x)]) for name, x in each.operations]
                fields["operations"] = _row(rows)
            else:
                fields |= {"rates": _row(map(repr, each.rates)), "offset": repr(each.offset)}
            lines.append(f"  - {_flow(fields)}")
    if record.actuated:
        lines.append(f"actuated: {_row(map(_word, record.actuated))}")
    return "\n".join(lines) + "\n"


def _flow(fields: dict[str, str]) -> str:
    return "{" + ", ".join(f"{key}: {value}" for key, value in fields.items()) + "}"


def _row(words: Any) -> str:
    return "[" + ", ".join(words) + "]"


def _word(text: str) -> str:
    """A text as it is read back as the same text."""
    plain = text.isascii() and text.replace("_", "").isalnum() and not text[0].isdigit()
    if plain and not isinstance(parse(text), (bool, type(None), int, float)):
        return text
    quote = "'" if '"' in text else '"'
    if quote in text or "\\" in text or "\n" in text or not text.isprintable():
        _fail("", f"the name {json.dumps(text)} cannot be written in a {SUFFIX} file")
    return f"{quote}{text}{quote}"


def _fail(file: str, why: str) -> NoReturn:
    raise DescriptionError([Problem("error", "loops", why, file)]) from None


def _known(given: dict[str, Any], names: Sequence[str], what: str, file: str) -> None:
    for name in given:
        if name not in names:
            _fail(file, f"{what} has {', '.join(names)}; '{name:.60}' is none of them")


def _listed(value: Any, what: str, file: str) -> list[Any]:
    if value is None:
        return []
    if not isinstance(value, list):
        _fail(file, f"{what} must be a list, not {value!r:.60}")
    return cast("list[Any]", value)


def _mapping(value: Any, what: str, file: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        _fail(file, f"{what} must be mappings, not {value!r:.60}")
    return cast("dict[str, Any]", value)


def _texts(value: Any, what: str, file: str) -> tuple[str, ...]:
    return tuple(_text(each, what, file) for each in _listed(value, what, file))


def _text(value: Any, what: str, file: str) -> str:
    if not isinstance(value, str) or not value:
        _fail(file, f"{what} must be a text, not {value!r:.60}")
    return value


def _number(value: Any, what: str, file: str) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        _fail(file, f"{what} must be a number, not {value!r:.60}")
    return float(value)
