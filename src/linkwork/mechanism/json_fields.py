"""The fields of a mechanism from parsed JSON: every type and every shape checked."""

from __future__ import annotations

import math
import sys
from collections.abc import Collection, Mapping
from dataclasses import fields
from typing import Any, cast, get_args

import numpy as np

from linkwork.errors import Finding, Level
from linkwork.mechanism.consistency import FieldError
from linkwork.mechanism.loops import Coupling, Loop, Node, checked
from linkwork.mechanism.model import Floats, Ints, JointType, Mechanism

_LABELS = {kind.label: kind for kind in JointType}
_NAMES = ("body_names", "body_joint_names", "joint_names", "frame_names", "actuated")
_TYPES = ("body_joint_types", "joint_types")
_COUNTS = ("n_link_frames", "n_joint_frames")
# the lengths: b bodies, c coordinates, k one more than these, q positions, v velocities, f frames,
# l frames of links
_INTEGERS = {
    "parent": "b",
    "coordinate": "b",
    "q_start": "k",
    "v_start": "k",
    "frame_body": "f",
    "frame_link": "f",
    "link_parent": "l",
}
_NUMBERS = {
    "R_parent_joint": "b33",
    "p_parent_joint": "b3",
    "multiplier": "b",
    "offset": "b",
    "mass": "b",
    "p_body_com": "b3",
    "I_com": "b33",
    "R_body_frame": "f33",
    "p_body_frame": "f3",
    "link_mass": "l",
    "link_com": "l3",
    "link_I_com": "l33",
}
_LIMITS = {
    "lower": "q",
    "upper": "q",
    "angle_limit": "c",
    "velocity_limit": "v",
    "effort_limit": "v",
    "damping": "v",
    "friction": "v",
    "armature": "v",
}
_INFINITE = {"inf": math.inf, "-inf": -math.inf}
_LEVELS: tuple[str, ...] = get_args(Level)
_LARGEST = 2**53


def decode(values: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments of `Mechanism`.

    Raises: FieldError naming the first field that is not what it must be.
    """
    expected = {field.name for field in fields(Mechanism)}
    for name in sorted(expected ^ set(values)):
        raise FieldError(name, "is missing" if name in expected else "is not a known field")
    result: dict[str, Any] = {"name": _string("name", values["name"])}
    for name in _NAMES:
        result[name] = tuple(_string(name, value) for value in _list(name, values[name]))
    for name in _TYPES:
        result[name] = tuple(_joint_type(name, value) for value in _list(name, values[name]))
    for name in _COUNTS:
        result[name] = _integer(name, values[name])
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
    for name, many in (
        ("body_joint_names", "b"),
        ("body_joint_types", "b"),
        ("joint_types", "c"),
    ):
        if len(result[name]) != length[many]:
            raise FieldError(name, f"must have {length[many]} entries, not {len(result[name])}")
    for name, shape in _INTEGERS.items():
        result[name] = _integers(name, values[name], length[shape])
    for name, shape in _NUMBERS.items():
        result[name] = _numbers(name, values[name], [length[n] for n in shape], infinite=False)
    for name, shape in _LIMITS.items():
        result[name] = _numbers(name, values[name], [length[n] for n in shape], infinite=True)
    result["inertias_accepted"] = _truth("inertias_accepted", values["inertias_accepted"])
    result["unknown_inertials"] = tuple(
        _unknown(value) for value in _list("unknown_inertials", values["unknown_inertials"])
    )
    result["loops"] = tuple(_loop(value) for value in _list("loops", values["loops"]))
    result["couplings"] = tuple(
        _coupling(value) for value in _list("couplings", values["couplings"])
    )
    result["named_configurations"] = tuple(
        _named(value, length["q"])
        for value in _list("named_configurations", values["named_configurations"])
    )
    result["findings"] = tuple(_problem(value) for value in _list("findings", values["findings"]))
    return result


def _unknown(value: Any) -> tuple[str, str]:
    """A link, and what of its inertial is unknown."""
    name = "unknown_inertials"
    entry = _list(name, value)
    if len(entry) != 2 or entry[1] not in ("mass", "inertia"):
        raise FieldError(name, f"holds pairs of a link with 'mass' or 'inertia', not {value!r:.40}")
    return _string(name, entry[0]), str(entry[1])


def _list(name: str, value: Any) -> list[Any]:
    if not isinstance(value, list):
        raise FieldError(name, f"must be a list, not {value!r:.40}")
    return cast("list[Any]", value)


def _string(name: str, value: Any) -> str:
    if not isinstance(value, str):
        raise FieldError(name, f"must be text, not {value!r:.40}")
    return value


def _truth(name: str, value: Any) -> bool:
    if not isinstance(value, bool):
        raise FieldError(name, f"must be true or false, not {value!r:.40}")
    return value


def _joint_type(name: str, value: Any) -> JointType:
    kind = _LABELS.get(value) if isinstance(value, str) else None
    if kind is None:
        raise FieldError(name, f"{value!r:.40} is none of {', '.join(_LABELS)}")
    return kind


def _integer(name: str, value: Any) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or abs(value) > _LARGEST:
        raise FieldError(name, f"must be a whole number, not {value!r:.40}")
    return value


def _integers(name: str, value: Any, length: int) -> Ints:
    items = _list(name, value)
    if len(items) != length:
        raise FieldError(name, f"must have {length} entries, not {len(items)}")
    return np.array([_integer(name, item) for item in items], np.int64)


def _numbers(name: str, value: Any, shape: list[int], *, infinite: bool) -> Floats:
    level = [value]
    for n in shape:
        rows = [_list(name, item) for item in level]
        for row in rows:
            if len(row) != n:
                raise FieldError(name, f"must have the shape {tuple(shape)}")
        level = [item for row in rows for item in row]
    return np.array([_number(name, item, infinite) for item in level]).reshape(shape)


def _number(name: str, value: Any, infinite: bool) -> float:
    if infinite and isinstance(value, str) and value in _INFINITE:
        return _INFINITE[value]
    number = value if isinstance(value, (int, float)) and not isinstance(value, bool) else math.nan
    if not abs(number) <= sys.float_info.max:
        raise FieldError(name, f"must be finite numbers, not {value!r:.40}")
    return float(number)


def _object(field: str, value: Any, names: Collection[str]) -> dict[str, Any]:
    """An object with exactly these names."""
    if not isinstance(value, dict):
        raise FieldError(field, f"must be objects, not {value!r:.40}")
    given = cast("dict[str, Any]", value)
    if set(given) != set(names):
        raise FieldError(field, f"must have exactly {', '.join(names)}")
    return given


def _loop(value: Any) -> Loop:
    names = ("name", "frame_a", "frame_b", "kind")
    given = _object("loops", value, (*names, "distance"))
    texts = [_string("loops", given[name]) for name in names]
    return Loop(*texts, distance=_number("loops", given["distance"], infinite=False))


def _coupling(value: Any) -> Coupling:
    given = _object("couplings", value, ("joint", "leaders", "function"))
    leaders = tuple(_string("couplings", x) for x in _list("couplings", given["leaders"]))
    function = _object("couplings", given["function"], ("n_inputs", "nodes"))
    if _integer("couplings", function["n_inputs"]) != len(leaders):
        raise FieldError("couplings", "must have a function with an input for each leader")
    nodes: list[Node] = []
    for node in _list("couplings", function["nodes"]):
        pair = _list("couplings", node)
        if len(pair) != 2:
            raise FieldError("couplings", "must have nodes of an operation and its arguments")
        numbers = [_number("couplings", x, infinite=False) for x in _list("couplings", pair[1])]
        nodes.append((_string("couplings", pair[0]), tuple(numbers)))
    joint = _string("couplings", given["joint"])
    return Coupling(joint, leaders, checked(len(leaders), nodes))


def _named(value: Any, n_q: int) -> tuple[str, tuple[float, ...]]:
    """A name and a configuration (nq,)."""
    field = "named_configurations"
    pair = _list(field, value)
    if len(pair) != 2:
        raise FieldError(field, "must be pairs of a name and a configuration")
    q = _numbers(field, pair[1], [n_q], infinite=False)
    return _string(field, pair[0]), tuple(q.tolist())


def _problem(value: Any) -> Finding:
    given = _object("findings", value, [field.name for field in fields(Finding)])
    for name, item in given.items():
        if name == "line":
            _integer("findings", item)
        else:
            _string("findings", item)
    if given["level"] not in _LEVELS:
        raise FieldError("findings", f"the level is one of {', '.join(_LEVELS)}")
    return Finding(**given)
