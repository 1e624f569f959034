"""A mechanism as JSON text and back, exactly.

Every float is written with as many digits as it takes to read the same float64 again; infinite
limits are the strings "inf" and "-inf", so the text is plain JSON. Reading believes nothing: every
field is checked, and the result must be one that `assemble` could have made.
"""

from __future__ import annotations

import json
from dataclasses import asdict, fields
from typing import Any, NoReturn, cast

import numpy as np
from numpy.typing import NDArray

from linkwork.errors import DescriptionError, Finding, LinkworkError
from linkwork.mechanism.assemble import assemble
from linkwork.mechanism.consistency import FieldError, check_consistent
from linkwork.mechanism.edit import parts_of
from linkwork.mechanism.json_fields import decode
from linkwork.mechanism.loops import Closures, Coupling, Loop
from linkwork.mechanism.model import JointType, Mechanism

# Rows of docs/check.md: code | levels | what it means | how to mend it.
CODES = """
# Records and mechanisms made in code
json | error | A text that is no saved mechanism. | Write it with `to_json`.
"""


FORMAT = "linkwork-mechanism"
VERSION = 6
BEFORE_SPHERICAL, BEFORE_ARMATURE, BEFORE_LOOPS = 5, 4, 3
"""Older versions, still read: without spherical joints' angles; the second without rotors' inertia,
named configurations and unknown inertials too, and the third without loops, couplings and actuated
joints."""


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
        values = _parse(text)
        m = Mechanism(**decode(values))
        check_consistent(m)
        again = assemble(parts_of(m))
    except (FieldError, LinkworkError) as error:
        _fail(str(error))
    if again != m:
        wrong = [f.name for f in fields(m) if _differs(getattr(m, f.name), getattr(again, f.name))]
        _fail(f"not as a mechanism is kept (z along the axes, exact zeros): {', '.join(wrong)}")
    return m


def _differs(a: Any, b: Any) -> bool:
    if hasattr(a, "tobytes"):
        return bool(a.shape != b.shape or a.tobytes() != b.tobytes())
    return bool(a != b)


def _fail(message: str) -> NoReturn:
    problem = Finding("error", "json", message, hint="write the text with to_json")
    raise DescriptionError([problem]) from None


def _parse(text: str | bytes) -> dict[str, Any]:
    try:
        values = json.loads(text, object_pairs_hook=_unique, parse_constant=_no_constant)
    except RecursionError:
        raise FieldError("the text", "is nested too deeply") from None
    except ValueError as error:
        raise FieldError("the text", f"is not JSON: {error}") from None
    given = cast("dict[str, Any]", values) if isinstance(values, dict) else {}
    if given.pop("format", None) != FORMAT:
        raise FieldError("format", f"must be '{FORMAT}'")
    version = given.pop("version", None)
    if version is True or version not in (
        BEFORE_LOOPS,
        BEFORE_ARMATURE,
        BEFORE_SPHERICAL,
        VERSION,
    ):
        raise FieldError("version", f"must be {VERSION}, not {version!r:.40}")
    later: dict[str, Any] = {}
    if version != VERSION:
        later["angle_limit"] = ["inf"] * _length(given.get("joint_names"))
    if version in (BEFORE_LOOPS, BEFORE_ARMATURE):
        later |= {
            "armature": [0.0] * _length(given.get("friction")),
            "named_configurations": [],
            "unknown_inertials": [],
        }
    if version == BEFORE_LOOPS:
        later |= {name: [] for name in Closures._fields}
    for name in later:
        if name in given:
            raise FieldError(name, f"is not a known field of version {version}")
    return given | later


def _length(given: Any) -> int:
    return len(cast("list[Any]", given)) if isinstance(given, list) else 0


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    values = dict(pairs)
    if len(values) < len(pairs):
        raise ValueError("a name occurs twice in one object")
    return values


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON number")
