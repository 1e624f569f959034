"""How far a face goes: ``parity.toml`` in its folder, read strictly.

    [face]
    name = "urdfpy"                  # as in faces/table.py
    version = "0.0.5"                # of the original whose documentation was gone through
    documentation = "https://..."

    [rows]                           # id = [name, state] or [name, state, difference]
    "S2-047" = ["Sphere", "same"]    # the tests of the row carry @pytest.mark.row("S2-047")
    "S2-048" = ["Sphere.radius", "better", "how"]    # or "missing", and why

    [names]                          # all public names of the original, whatever is documented:
    "urdfpy" = ["URDF(name, links, joints=)", "rpy_to_matrix(coords)"]    # a module
    "urdfpy.URDF" = ["show(cfg=, use_collision=)", "links"]               # a class
    "urchin.link.Box" = "urdfpy.urdf.Box"        # those that another face has under this owner

    [missing]                        # those of them that the face does not have, and why
    "urdfpy.URDF.show" = "There is no viewer yet."
    "Files in archives." = ["skrobot.utils.archive", "skrobot.utils.make_tarfile"]    # several

The name of a row is one in the face, dotted, or a phrase in words; it needs a difference unless it
is "same". A name in ``[names]`` may carry its parameters, with "=" after those that may be left
out. ``[missing]`` may name a whole module or class. ``tools/original_names.py`` writes ``[names]``
where the original is installed.

Nothing at run time depends on these files: they are for the documentation (`parity_page`) and the
tests. What a face refuses with what to use in its place stands in its module ``refused``, and
counts as missing here.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import reduce
from importlib import import_module
from importlib.resources import files
from inspect import Parameter, isclass, signature
from types import MappingProxyType
from typing import Any, cast

from linkwork.errors import InputError, MissingExtraError, UnknownNameError
from linkwork.faces.refusals import RefusedNameError, refused_names
from linkwork.faces.table import FACES, FaceEntry, parents_of

STATES = ("same", "better", "missing")
_FACE_KEYS = ("name", "version", "documentation")
_TABLES = ("face", "rows", "names", "missing")
_DOTTED = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*")
_NAME = re.compile(r"([A-Za-z_]\w*)(?:\(((?:[A-Za-z_]\w*=?)?(?:, [A-Za-z_]\w*=?)*)\))?")


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
class OriginalName:
    """A public name of the original: its module or class, and its parameters where they are known.

    ``parameters`` has one pair for each: the name, and whether it may be left out.
    """

    owner: str
    name: str
    parameters: tuple[tuple[str, bool], ...] | None = None

    @property
    def dotted(self) -> str:
        """The name with its owner: "urdfpy.URDF.show"."""
        return f"{self.owner}.{self.name}"


@dataclass(frozen=True, slots=True)
class Parity:
    """The promises of a face, row by row, and the original's public names, there or missing."""

    face: str
    version: str
    documentation: str
    rows: tuple[Row, ...]
    names: tuple[OriginalName, ...] = ()
    missing: Mapping[str, str] = field(default_factory=dict[str, str])

    def reason_missing(self, name: OriginalName) -> str | None:
        """Why the face lacks a name, by its own entry or its owner's; None where it does not."""
        for dotted in (name.dotted, *reversed(parents_of(name.dotted))):
            if dotted in self.missing:
                return self.missing[dotted]
        return None


def read(face: str) -> Parity:
    """The parity file of a face.

    Raises: UnknownNameError for no face; FileNotFoundError where it has no such file; InputError
    with every fault of the file, a line for each.
    """
    entry = next((entry for entry in FACES if entry.name == face), None)
    if entry is None:
        raise UnknownNameError("face", face, [entry.name for entry in FACES])
    folder, text = _file_of(entry)
    parity = parse(text, f"faces/{folder}/parity.toml", refused_names(folder))
    if parity.face != face:
        raise InputError(f"faces/{folder}/parity.toml: it is of '{parity.face}', not of '{face}'")
    return parity


def parse(text: str, file: str, refused: Mapping[str, str] = MappingProxyType({})) -> Parity:
    """The records of a parity file's text; ``file`` is how errors name it.

    ``refused``: reasons by names that the face itself refuses, which are missing too.

    Raises: InputError with every fault, a line for each.
    """
    toml = _toml()
    try:
        table: dict[str, Any] = toml.loads(text)
    except toml.TOMLDecodeError as error:
        raise InputError(f"{file}: {error}") from error
    faults = [f"unknown key '{key}'" for key in table if key not in _TABLES]
    head, rows = table.get("face"), table.get("rows", {})
    if not isinstance(head, dict) or not isinstance(rows, dict):
        raise InputError(f"{file}: tables [face] and [rows] are needed")
    face, listed = cast("dict[str, Any]", head), cast("dict[str, Any]", rows)
    faults += _face_faults(face)
    for id, row in listed.items():
        faults += _row_faults(id, row)
    names, missing = _with_shared(table.get("names", {})), _by_name(table.get("missing", {}))
    missing = {**missing, **refused} if isinstance(missing, dict) else missing
    faults += _name_faults(names, missing)
    if faults:
        raise InputError("\n".join(f"{file}: {fault}" for fault in faults))
    return Parity(
        face=face["name"],
        version=face["version"],
        documentation=face["documentation"],
        rows=tuple(Row(id, *row) for id, row in listed.items()),
        names=tuple(_original(owner, name) for owner, found in names.items() for name in found),
        missing=missing,
    )


def find(entry: FaceEntry, name: str) -> object:
    """What a dotted name stands for in a face; annotations count as attributes.

    "URDF.load" is looked for in the first module, "urdfpy.utils.parse_origin" in the one it names.

    Raises: UnknownNameError where the face has no such name.
    """
    inside = [old for old in (name, *parents_of(name)) if old in entry.modules]
    old = max(inside, key=len, default=entry.module)
    words = name[len(old) + 1 :].split(".") if inside else name.split(".")
    module = import_module(entry.modules[old])
    try:
        return reduce(_attribute, filter(None, words), cast("object", module))
    except AttributeError:
        raise UnknownNameError(f"name in the face '{entry.name}'", name, dir(module)) from None


def _attribute(owner: object, name: str) -> object:
    if not hasattr(owner, name) and isclass(owner):
        for kind in owner.__mro__:
            if name in vars(kind).get("__annotations__", {}):
                return vars(kind)["__annotations__"][name]
    return getattr(owner, name)


def find_original(entry: FaceEntry, name: OriginalName) -> object:
    """What a public name of the original stands for in a face; a submodule need not be loaded yet.

    Raises: UnknownNameError where the face has no such name, or not its owner.
    """
    owner = find(entry, name.owner)
    try:
        return _attribute(owner, name.name)
    except (AttributeError, RefusedNameError):
        if name.dotted in entry.modules:
            return import_module(entry.modules[name.dotted])
        raise UnknownNameError(f"name in '{name.owner}'", name.name, dir(owner)) from None


def refused_parameters(thing: object, name: OriginalName) -> str:
    """Which call of the original a face's function would refuse, in words; empty for none.

    All parameters must be taken by place and by name, and those left out that may be. What has no
    signature takes what it likes.
    """
    try:
        taken = signature(cast("Any", thing)).parameters.values()
    except (TypeError, ValueError):
        return ""
    rest = {p.kind for p in taken} & {Parameter.VAR_POSITIONAL, Parameter.VAR_KEYWORD}
    placed = [p for p in taken if p.kind is Parameter.POSITIONAL_OR_KEYWORD and p.name != "self"]
    given = name.parameters or ()
    for k, (word, optional) in enumerate(given):
        there = placed[k] if k < len(placed) else None
        if there is None and len(rest) == 2:  # *args and **kwargs
            continue
        if there is None or there.name != word:
            return f"parameter {k + 1} is '{word}' there, and here {there or 'none'}"
        if optional and there.default is Parameter.empty:
            return f"'{word}' may be left out there, and not here"
    more = [p.name for p in placed[len(given) :] if p.default is Parameter.empty]
    more += [p.name for p in taken if p.kind is Parameter.KEYWORD_ONLY and p.default is p.empty]
    return f"needs {', '.join(more)}, which is not there" if more else ""


def _original(owner: str, text: str) -> OriginalName:
    """A name of ``[names]``, as "load(file_obj, lazy=)"."""
    found = _NAME.fullmatch(text)
    if found is None:
        raise InputError(f"{owner}: {text!r} is no name")
    name, inside = found.groups()
    if inside is None:
        return OriginalName(owner, name)
    words = [word for word in inside.split(", ") if word]
    return OriginalName(owner, name, tuple((w.rstrip("="), w.endswith("=")) for w in words))


def _with_shared(names: Any) -> Any:
    """The table of names, with those of an owner in another face where it says so."""
    if not isinstance(names, dict):
        return names
    table, found = cast("dict[str, Any]", names), dict[str, Any]()
    for owner, listed in table.items():
        face = next((e for e in FACES if isinstance(listed, str) and e.covers(listed)), None)
        shared = {} if face is None else _toml().loads(_file_of(face)[1])["names"]
        found[owner] = shared.get(listed, listed) if face else listed
    return found


def _by_name(missing: Any) -> Any:
    """The reasons by the names that are missing, of which a reason may list several."""
    if not isinstance(missing, dict):
        return missing
    found = dict[str, Any]()
    for key, value in cast("dict[str, Any]", missing).items():
        found |= (
            dict.fromkeys(cast("list[str]", value), key)
            if isinstance(value, list)
            else {key: value}
        )
    return found


def _file_of(entry: FaceEntry) -> tuple[str, str]:
    """The folder of a face, and the text of its parity file."""
    folder = entry.modules[entry.module].rpartition(".")[2]
    text = (files("linkwork.faces") / folder / "parity.toml").read_text(encoding="utf-8")
    return folder, text


def _name_faults(names: object, missing: object) -> Iterator[str]:
    """The faults of the tables of names, which go together."""
    if not isinstance(names, dict) or not isinstance(missing, dict):
        yield "[names] and [missing] must be tables"
        return
    owners, known = cast("dict[str, object]", names), set[str]()
    for owner, listed in owners.items():
        known |= {owner, *parents_of(owner)}
        if not isinstance(listed, list):
            yield f"[names] '{owner}' must be a list, or an owner in another face"
            continue
        for text in cast("list[object]", listed):
            found = _NAME.fullmatch(text) if isinstance(text, str) else None
            if found is None:
                yield f"[names] '{owner}': {text!r} is no name with or without (parameters, last=)"
            elif (dotted := f"{owner}.{found[1]}") in known and dotted not in owners:
                yield f"[names] '{dotted}' is there twice"
            else:
                known.add(dotted)
    for name, reason in cast("dict[str, object]", missing).items():
        if name not in known:
            yield f"[missing] '{name}' stands nowhere in [names]"
        elif not isinstance(reason, str) or not reason.strip():
            yield f"[missing] '{name}' needs a reason, as text"


def _face_faults(face: Mapping[str, Any]) -> Iterator[str]:
    yield from (f"[face]: unknown key '{key}'" for key in face if key not in _FACE_KEYS)
    for key in _FACE_KEYS:
        if not isinstance(face.get(key), str) or not face[key].strip():
            yield f"[face]: {key} is missing, or no text"


def _row_faults(id: str, row: Any) -> Iterator[str]:
    """The faults of one row."""
    where = f"row '{id}'"
    parts = cast("list[object]", row) if isinstance(row, list) else []
    if not 2 <= len(parts) <= 3 or not all(isinstance(x, str) and x.strip() for x in parts):
        yield f"{where}: a name, a state and a difference are needed, each as text"
    elif parts[1] not in STATES:
        yield f"{where}: state '{parts[1]}' is none of {', '.join(STATES)}"
    elif (parts[1] == "same") is not (len(parts) == 2):
        yield f"{where}: what is the 'same' has no difference; any other state needs one"


def _toml() -> Any:
    """The reader of TOML: Python's own, before 3.11 the package it came from."""
    name = "tomllib" if sys.version_info >= (3, 11) else "tomli"
    try:
        return import_module(name)
    except ModuleNotFoundError as error:
        text = "parity files need tomli where Python is older than 3.11: pip install tomli"
        raise MissingExtraError(text) from error
