"""A mechanism as JSON text and back, exactly.

Every float is written with as many digits as it takes to read the same float64 again; infinite
limits are the strings "inf" and "-inf", so the text is plain JSON. Reading believes nothing: every
type, shape and index is checked, and the result must be one that `assemble` could have made.
"""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import asdict, fields
from typing import Any, NoReturn, cast, get_args

import numpy as np
from numpy.typing import NDArray

from linkwork.checks import is_whole, rotation_deviation
from linkwork.conventions import GRAVITY, RIGID_TOLERANCE
from linkwork.errors import DescriptionError, Finding, Level, LinkworkError
from linkwork.mechanism.assemble import assemble
from linkwork.mechanism.edit import parts_of
from linkwork.mechanism.loops import Coupling, Loop, Node, checked
from linkwork.mechanism.model import Floats, JointType, Mechanism, duplicates

# Rows of docs/check.md: code | levels | what it means | how to mend it.
CODES = """
# Records and mechanisms made in code
json | error | A text that is no saved mechanism. | Write it with `lw.save`.
"""

FORMAT = "linkwork-mechanism"
VERSION = 7
_ADDED = {
    4: ("loops", "couplings", "actuated"),
    5: ("armature", "named_configurations", "unknown_inertials"),
    6: ("angle_limit",),
    7: ("stiffness", "spring_position", "default_gravity"),
}
"""The fields that each version brought; files from version 3 on are read."""
_SAYS_GRAVITY = 7


class _FieldError(Exception):
    """A field that is not what it must be; the public error is raised from it."""

    def __init__(self, field: str, message: str) -> None:
        super().__init__(f"{field} {message}")


def to_json(m: Mechanism) -> str:
    """The mechanism as JSON text, ASCII only, with every number exact."""
    values: dict[str, Any] = {"format": FORMAT, "version": VERSION}
    for field in fields(m):
        values[field.name] = _plain(getattr(m, field.name))
    return json.dumps(values, allow_nan=False)


def _plain(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        array: NDArray[Any] = np.asarray(cast("Any", value))
        if np.isinf(array).any():  # limits only, so one-dimensional
            return [str(x) if abs(x) == np.inf else x for x in array.tolist()]
        return array.tolist()
    if isinstance(value, tuple):
        return [_plain(item) for item in cast("tuple[Any, ...]", value)]
    if isinstance(value, JointType):
        return value.label
    return asdict(value) if isinstance(value, (Finding, Loop, Coupling)) else value


def from_json(text: str | bytes) -> Mechanism:
    """The mechanism that `to_json` wrote; equal to it in every bit.

    Raises: DescriptionError for text that is not JSON, another format or version, fields that are
    missing, unknown, or of a wrong type or shape, and arrays that contradict each other.
    """
    try:
        m = Mechanism(**_decoded(_parsed(text)))
        for wrong, field, message in _contradictions(m):
            if wrong:
                raise _FieldError(field, message)
        again = assemble(parts_of(m))
        if again != m:
            pairs = [(f.name, getattr(m, f.name), getattr(again, f.name)) for f in fields(m)]
            found = ", ".join(n for n, a, b in pairs if repr(_plain(a)) != repr(_plain(b)))
            message = f"as a mechanism is kept (z along the axes, exact zeros): {found}"
            raise _FieldError("not", message)
    except (_FieldError, LinkworkError) as error:
        found = Finding("error", "json", str(error), hint="lw.save writes it")
        raise DescriptionError([found]) from None
    return m


def _parsed(text: str | bytes) -> dict[str, Any]:
    """The fields, those that came with later versions filled in."""
    try:
        values = json.loads(text, object_pairs_hook=_unique, parse_constant=_no_constant)
    except RecursionError:
        raise _FieldError("the text", "is nested too deeply") from None
    except ValueError as error:
        raise _FieldError("the text", f"is not JSON: {error}") from None
    given = cast("dict[str, Any]", values) if isinstance(values, dict) else {}
    if given.pop("format", None) != FORMAT:
        raise _FieldError("format", f"must be '{FORMAT}'")
    version = given.pop("version", None)
    if not (is_whole(version) and min(_ADDED) - 1 <= version <= VERSION):
        raise _FieldError("version", f"must be {VERSION}, not {version!r:.40}")
    numbers = {
        "armature": ("friction", 0.0),
        "angle_limit": ("joint_names", "inf"),
        "stiffness": ("friction", 0.0),
        "spring_position": ("friction", 0.0),
    }
    for number in range(version + 1, VERSION + 1):
        for name in _ADDED[number]:
            if name in given:
                raise _FieldError(name, f"is not a known field of version {version}")
            like, value = numbers.get(name, ("", 0.0))
            there = given.get(like)
            given[name] = [value for _ in there] if isinstance(there, list) else []
    if version < _SAYS_GRAVITY:
        given["default_gravity"] = list(GRAVITY)
    return given


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    values = dict(pairs)
    if len(values) < len(pairs):
        raise ValueError("a name occurs twice in one object")
    return values


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON number")


# --- types and shapes of fields -------------------------------------------------------------------

_SHAPES = {
    "body_joint_names": "b",
    "body_joint_types": "b",
    "joint_types": "c",
    "parent": "b",
    "R_parent_joint": "b33",
    "p_parent_joint": "b3",
    "coordinate": "b",
    "multiplier": "b",
    "offset": "b",
    "mass": "b",
    "p_body_com": "b3",
    "I_com": "b33",
    "q_start": "k",
    "v_start": "k",
    "lower": "q",
    "upper": "q",
    "angle_limit": "c",
    "velocity_limit": "v",
    "effort_limit": "v",
    "damping": "v",
    "friction": "v",
    "armature": "v",
    "stiffness": "v",
    "spring_position": "v",
    "default_gravity": "3",
    "frame_body": "f",
    "R_body_frame": "f33",
    "p_body_frame": "f3",
    "frame_link": "f",
    "link_parent": "l",
    "link_mass": "l",
    "link_com": "l3",
    "link_I_com": "l33",
}
"""Shapes by their letters: b bodies, c coordinates, k one more than these, q positions, v
velocities, f frames, l frames of links."""

_LIMITS = ("lower", "upper", "angle_limit", "velocity_limit", "effort_limit")
_MAY_BE_INFINITE = (*_LIMITS, "damping", "friction", "armature")
_INFINITE = {"inf": math.inf, "-inf": -math.inf}
_LARGEST = 2**53
_JOINT_TYPES = {kind.label: kind for kind in JointType}


def _decoded(values: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments of `Mechanism`."""
    kinds = {field.name: str(field.type) for field in fields(Mechanism)}
    for name in sorted(set(kinds) ^ set(values)):
        raise _FieldError(name, "is missing" if name in kinds else "is not a known field")
    result: dict[str, Any] = {}
    for name, kind in kinds.items():
        if kind in _PLAIN:
            result[name] = _PLAIN[kind](name, values[name])
        elif kind in _ITEMS:
            read = _ITEMS[kind]
            result[name] = tuple(read(name, value) for value in _list(name, values[name]))
    types: tuple[JointType, ...] = result["joint_types"]
    length = {
        "b": len(result["body_names"]),
        "c": len(result["joint_names"]),
        "k": len(result["joint_names"]) + 1,
        "q": sum(kind.n_q for kind in types),
        "v": sum(kind.n_v for kind in types),
        "f": len(result["frame_names"]),
        "l": max(result["n_link_frames"], 0),
        "3": 3,
    }
    for name, letters in _SHAPES.items():
        shape = [length[letter] for letter in letters]
        if kinds[name] == "Floats":
            infinite = name in _MAY_BE_INFINITE
            result[name] = _numbers(name, values[name], shape, infinite=infinite)
            continue
        if kinds[name] == "Ints":
            items = [_integer(name, item) for item in _list(name, values[name])]
            result[name] = np.array(items, np.int64)
        if len(result[name]) != shape[0]:
            raise _FieldError(name, f"must have {shape[0]} entries, not {len(result[name])}")
    return result


def _list(name: str, value: Any) -> list[Any]:
    if not isinstance(value, list):
        raise _FieldError(name, f"must be a list, not {value!r:.40}")
    return cast("list[Any]", value)


def _string(name: str, value: Any) -> str:
    if not isinstance(value, str):
        raise _FieldError(name, f"must be text, not {value!r:.40}")
    return value


def _truth(name: str, value: Any) -> bool:
    if not isinstance(value, bool):
        raise _FieldError(name, f"must be true or false, not {value!r:.40}")
    return value


def _integer(name: str, value: Any) -> int:
    if not is_whole(value) or abs(value) > _LARGEST:
        raise _FieldError(name, f"must be a whole number, not {value!r:.40}")
    return value


def _number_from_json(name: str, value: Any, *, infinite: bool = False) -> float:
    if infinite and isinstance(value, str) and value in _INFINITE:
        return _INFINITE[value]
    number = value if isinstance(value, (int, float)) and not isinstance(value, bool) else math.nan
    if not abs(number) <= sys.float_info.max:
        raise _FieldError(name, f"must be finite numbers, not {value!r:.40}")
    return float(number)


def _numbers(name: str, value: Any, shape: list[int], *, infinite: bool) -> Floats:
    level = [value]
    for n in shape:
        rows = [_list(name, item) for item in level]
        if any(len(row) != n for row in rows):
            raise _FieldError(name, f"must have the shape {tuple(shape)}")
        level = [item for row in rows for item in row]
    return np.array([_number_from_json(name, item, infinite=infinite) for item in level]).reshape(
        shape
    )


def _pair(name: str, value: Any, what: str) -> list[Any]:
    pair = _list(name, value)
    if len(pair) != 2:
        raise _FieldError(name, f"must be pairs of {what}")
    return pair


def _object(name: str, value: Any, keys: Collection[str]) -> dict[str, Any]:
    """An object with exactly these names."""
    if not isinstance(value, dict):
        raise _FieldError(name, f"must be objects, not {value!r:.40}")
    given = cast("dict[str, Any]", value)
    if set(given) != set(keys):
        raise _FieldError(name, f"must have exactly {', '.join(keys)}")
    return given


def _joint_type(name: str, value: Any) -> JointType:
    kind = _JOINT_TYPES.get(value) if isinstance(value, str) else None
    if kind is None:
        raise _FieldError(name, f"{value!r:.40} is none of {', '.join(_JOINT_TYPES)}")
    return kind


def _unknown_inertial(name: str, value: Any) -> tuple[str, str]:
    link, quantity = _pair(name, value, "a link and 'mass' or 'inertia'")
    if quantity not in ("mass", "inertia"):
        raise _FieldError(name, f"must be of 'mass' or 'inertia', not {quantity!r:.40}")
    return _string(name, link), quantity


def _loop(name: str, value: Any) -> Loop:
    texts = ("name", "frame_a", "frame_b", "kind")
    given = _object(name, value, (*texts, "distance"))
    distance = _number_from_json(name, given["distance"])
    return Loop(*(_string(name, given[key]) for key in texts), distance=distance)


def _coupling(name: str, value: Any) -> Coupling:
    given = _object(name, value, ("joint", "leaders", "function"))
    leaders = tuple(_string(name, x) for x in _list(name, given["leaders"]))
    function = _object(name, given["function"], ("n_inputs", "nodes"))
    if _integer(name, function["n_inputs"]) != len(leaders):
        raise _FieldError(name, "must have a function with an input for each leader")
    nodes: list[Node] = []
    for node in _list(name, function["nodes"]):
        operation, arguments = _pair(name, node, "an operation and its arguments")
        numbers = tuple(_number_from_json(name, x) for x in _list(name, arguments))
        nodes.append((_string(name, operation), numbers))
    return Coupling(_string(name, given["joint"]), leaders, checked(len(leaders), nodes))


def _named_configuration(name: str, value: Any) -> tuple[str, tuple[float, ...]]:
    title, q = _pair(name, value, "a name and a configuration")
    return _string(name, title), tuple(_number_from_json(name, x) for x in _list(name, q))


def _finding(name: str, value: Any) -> Finding:
    given = _object(name, value, [field.name for field in fields(Finding)])
    for key, item in given.items():
        (_integer if key == "line" else _string)(name, item)
    if given["level"] not in get_args(Level):
        raise _FieldError(name, f"the level is one of {', '.join(get_args(Level))}")
    return Finding(**given)


_PLAIN: dict[str, Callable[[str, Any], Any]] = {"str": _string, "bool": _truth, "int": _integer}
_ITEMS: dict[str, Callable[[str, Any], Any]] = {
    "tuple[str, ...]": _string,
    "tuple[JointType, ...]": _joint_type,
    "tuple[Finding, ...]": _finding,
    "tuple[Loop, ...]": _loop,
    "tuple[Coupling, ...]": _coupling,
    "tuple[tuple[str, str], ...]": _unknown_inertial,
    "tuple[tuple[str, tuple[float, ...]], ...]": _named_configuration,
}
"""Readers of a field, and of the items of one, by its type in `Mechanism`."""


def _contradictions(m: Mechanism) -> Iterator[tuple[Any, str, str]]:
    """Order, indices, names and rotations: whether each is wrong, its field, and what it must be.

    What comes later relies on what comes before.
    """
    n, nl = m.n_bodies, m.n_link_frames
    yield n == 0, "body_names", "must have at least the root"
    yield m.parent[0] != -1, "parent", "must be -1 for body 0"
    before = (m.parent[1:] >= 0) & (m.parent[1:] < np.arange(1, n))
    yield not before.all(), "parent", "must name a body that comes before"
    base, others = m.body_joint_types[0], m.body_joint_types[1:]
    rooted = base in (JointType.FIXED, JointType.FLOATING)
    yield not rooted, "body_joint_types", "must begin with fixed or floating"
    fixed = JointType.FIXED in (*others, *m.joint_types)
    yield fixed, "body_joint_types", "and joint_types have fixed joints for body 0 only"
    for field in ("body_names", "body_joint_names", "frame_names", "joint_names"):
        for name in duplicates(getattr(m, field)):
            yield True, field, f"has '{name}' more than once"
    for name in duplicates([name for name, _ in m.named_configurations]):
        yield True, "named_configurations", f"has '{name}' more than once"
    short = any(len(q) != m.n_q for _, q in m.named_configurations)
    yield short, "named_configurations", f"must have {m.n_q} numbers each"
    first = 0 if base is JointType.FLOATING else -1
    wrong = m.coordinate[0] != first
    yield wrong, "coordinate", "of body 0 must be 0 for a floating base, else -1"
    outside = _outside(m.coordinate[1:], len(m.joint_names))
    yield outside, "coordinate", "must be indices of joint_names"
    for field, sizes in (
        ("q_start", [kind.n_q for kind in m.joint_types]),
        ("v_start", [kind.n_v for kind in m.joint_types]),
    ):
        wrong = getattr(m, field).tolist() != np.cumsum([0, *sizes]).tolist()
        yield wrong, field, "must be the running sum of the joints' sizes"
    for field in ("R_parent_joint", "R_body_frame"):
        deviation = rotation_deviation(getattr(m, field)).max(initial=0.0)
        yield deviation > RIGID_TOLERANCE, field, "must be rotations"
    yield _outside(m.frame_body, n), "frame_body", "must be indices of bodies"
    counts = nl, m.n_joint_frames
    wrong = min(counts) < 0 or sum(counts) > len(m.frame_names)
    yield wrong, "n_link_frames", "and n_joint_frames must be part of the frames"
    lacking = set(m.body_names) - set(m.frame_names[:nl])
    yield lacking, "frame_names", "must have the links that body_names lists"
    yield _outside(m.frame_link, nl), "frame_link", "must be indices of the frames of links"
    elsewhere = (m.frame_body[m.frame_link] != m.frame_body).any()
    yield elsewhere, "frame_link", "must be links on the bodies of the frames"
    above = m.link_parent
    yield _outside(above + 1, nl + 1), "link_parent", "must be -1 or indices of the frames of links"
    for _ in range(nl.bit_length() + 1):  # every round looks twice as far up
        above = np.where(above >= 0, above[above], -1)
    yield (above >= 0).any(), "link_parent", "must not form a cycle"


def _outside(indices: NDArray[np.int64], n: int) -> bool:
    return bool(((indices < 0) | (indices >= n)).any())
