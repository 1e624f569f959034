"""How far a face goes: ``parity.toml`` in its folder, read strictly.

    [face]
    name = "urdfpy"                  # as in faces/table.py
    version = "0.0.5"                # of the original whose documentation was gone through
    documentation = "https://..."

    [[row]]
    id = "S2-047"                    # the tests of the row carry @pytest.mark.row("S2-047")
    name = "Sphere"                  # a name in the face, dotted; or a phrase in words
    state = "same"                   # or "better", "missing"
    difference = "..."               # needed for these two

Nothing at run time depends on these files: they are for the documentation and the tests.
"""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import reduce
from importlib import import_module
from importlib.resources import files
from inspect import isclass
from typing import Any, cast

from linkwork.errors import InputError, MissingExtraError, UnknownNameError
from linkwork.faces.table import FACES, FaceEntry

STATES = ("same", "better", "missing")
_FACE_KEYS = ("name", "version", "documentation")
_ROW_KEYS = ("id", "name", "state", "difference")
_DOTTED = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*")


@dataclass(frozen=True, slots=True)
class Row:
    """One promise of the original: "same" as there, "better" (how), or "missing" (why)."""

    id: str
    name: str
    state: str
    difference: str = ""

    @property
    def is_name(self) -> bool:
        """Whether ``name`` is one to be found in the face, and not a phrase in words."""
        return _DOTTED.fullmatch(self.name) is not None


@dataclass(frozen=True, slots=True)
class Parity:
    """What a face promises, row by row."""

    face: str
    version: str
    documentation: str
    rows: tuple[Row, ...]


def read(face: str) -> Parity:
    """The parity file of a face.

    Raises: UnknownNameError for no face; FileNotFoundError where it has no such file; InputError
    with every fault of the file, a line for each.
    """
    entry = next((entry for entry in FACES if entry.name == face), None)
    if entry is None:
        raise UnknownNameError("face", face, [entry.name for entry in FACES])
    folder = entry.modules[entry.module].rpartition(".")[2]
    text = (files("linkwork.faces") / folder / "parity.toml").read_text(encoding="utf-8")
    parity = parse(text, f"faces/{folder}/parity.toml")
    if parity.face != face:
        raise InputError(f"faces/{folder}/parity.toml: it is of '{parity.face}', not of '{face}'")
    return parity


def parse(text: str, file: str) -> Parity:
    """The records of a parity file's text; ``file`` is how errors name it.

    Raises: InputError with every fault, a line for each.
    """
    toml = _toml()
    try:
        table: dict[str, Any] = toml.loads(text)
    except toml.TOMLDecodeError as error:
        raise InputError(f"{file}: {error}") from error
    faults = [f"unknown key '{key}'" for key in table if key not in ("face", "row")]
    head, bodies = table.get("face"), table.get("row", [])
    if not isinstance(head, dict) or not isinstance(bodies, list):
        raise InputError(f"{file}: a table [face] and tables [[row]] are needed")
    face = cast("dict[str, Any]", head)
    faults += _faults_of(face, "[face]", _FACE_KEYS, _FACE_KEYS)
    rows = [cast("dict[str, Any]", body) for body in cast("list[object]", bodies)]
    for number, row in enumerate(rows, 1):
        faults += _row_faults(row, number)
    counted = Counter(str(row.get("id")) for row in rows if "id" in row)
    faults += [f"row '{id}' is there {n} times" for id, n in counted.items() if n > 1]
    if faults:
        raise InputError("\n".join(f"{file}: {fault}" for fault in faults))
    return Parity(
        face=face["name"],
        version=face["version"],
        documentation=face["documentation"],
        rows=tuple(Row(**row) for row in rows),
    )


def find(entry: FaceEntry, name: str) -> object:
    """What a dotted name stands for in a face: "URDF.load"; annotations count as attributes.

    Raises: UnknownNameError where the face has no such name.
    """
    module = import_module(entry.modules[entry.module])
    try:
        return reduce(_attribute, name.split("."), cast("object", module))
    except AttributeError:
        raise UnknownNameError(f"name in the face '{entry.name}'", name, dir(module)) from None


def _attribute(owner: object, name: str) -> object:
    if not hasattr(owner, name) and isclass(owner):
        for kind in owner.__mro__:
            if name in vars(kind).get("__annotations__", {}):
                return vars(kind)["__annotations__"][name]
    return getattr(owner, name)


def _row_faults(row: Mapping[str, Any], number: int) -> Iterator[str]:
    """What is wrong with one row, by its id where it has one."""
    where = f"row '{row['id']}'" if row.get("id") else f"row number {number}"
    yield from _faults_of(row, where, _ROW_KEYS, _ROW_KEYS[:3])
    state = row.get("state")
    if state is not None and state not in STATES:
        yield f"{where}: state '{state}' is none of {', '.join(STATES)}"
    elif state == "same" and row.get("difference"):
        yield f"{where}: a difference, and state 'same'; where there is one it is 'better'"
    elif state in STATES[1:] and not row.get("difference"):
        yield f"{where}: state '{state}' needs a difference that says how or why"


def _faults_of(
    table: Mapping[str, Any], where: str, known: tuple[str, ...], needed: tuple[str, ...]
) -> Iterator[str]:
    for key, value in table.items():
        if key not in known:
            yield f"{where}: unknown key '{key}'; there are: {', '.join(known)}"
        elif not isinstance(value, str):
            yield f"{where}: {key} must be text"
        elif key in needed and not value.strip():
            yield f"{where}: {key} is empty"
    yield from (f"{where}: {key} is missing" for key in needed if key not in table)


def _toml() -> Any:
    """The reader of TOML: Python's own, before 3.11 the package it came from."""
    name = "tomllib" if sys.version_info >= (3, 11) else "tomli"
    try:
        return import_module(name)
    except ModuleNotFoundError as error:
        text = "parity files need tomli where Python is older than 3.11: pip install tomli"
        raise MissingExtraError(text) from error
