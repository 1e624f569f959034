"""What MuJoCo makes of the text of an MJCF: its compiled model, and its parts by their numbers.

Meshes are opened only where a mass follows from them; every other mesh or plugin's shape is stood
for by a point without mass at the same place, so that a missing one is no obstacle. A height field
has the mass that MuJoCo takes from its size, and no heights.
"""

from __future__ import annotations

import re
import threading
import warnings
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from html import unescape
from math import isnan, nan
from typing import Any

from linkwork.errors import (
    DescriptionError,
    Finding,
    InputError,
    LinkworkError,
    MissingExtraError,
)
from linkwork.formats.mjcf.equalities import prune_tendons
from linkwork.formats.mjcf.flat import Flat, MeshFile
from linkwork.formats.mjcf.records import Place
from linkwork.formats.urdf.convert import show

OpenMesh = Callable[[str, "str | None"], bytes]
"""From a place where a mesh file may be, and the MJCF's file, to its bytes. Raises InputError."""

OLDEST = (3, 4)
"""The oldest MuJoCo that is used: before it, what MuJoCo refuses does not always have a line."""

_DIGITS = re.compile(r"\d+")

_ALONE = threading.Lock()  # MuJoCo has one receiver of warnings for the whole process

_LINE = re.compile(r"\bline (?:number=)?(\d+)", re.IGNORECASE)
_NAME = re.compile(r"Element name '(.*)', id -?\d+")
_NAMED = re.compile(r' name="([^"]*)"')
_INFO = re.compile(r"line (\d+)")
_REPEATED = re.compile(r"repeated name '(.*)' in (\w+)")
_PREFIX = re.compile(r"^(XML )?(parse )?Error( \d+)?:\s*(Error:\s*|Schema violation:\s*)?", re.I)


@dataclass(frozen=True, slots=True)
class Shape:
    """What a shape was before a point took its place."""

    type: str
    mesh: str


@dataclass(frozen=True, slots=True)
class Compiled:
    """MuJoCo's model and specification, with what was changed in it."""

    model: Any
    spec: Any
    shapes: dict[int, Shape]  # by the geom's number
    files: dict[str, tuple[str, tuple[float, float, float]]]  # of meshes, with their scale
    warnings: tuple[str, ...]
    problems: tuple[Finding, ...] = ()


def mujoco_module() -> Any:
    """The package ``mujoco``, imported when it is first needed.

    Raises: MissingExtraError.
    """
    try:
        import mujoco  # noqa: PLC0415 - an extra, and slow to import
    except ImportError as error:
        raise MissingExtraError(
            "reading MJCF needs the package mujoco; install it with: pip install 'linkwork[mjcf]'"
        ) from error
    version: str = mujoco.__version__
    if tuple(map(int, _DIGITS.findall(version)[:2])) < OLDEST:
        raise MissingExtraError(
            f"reading MJCF needs mujoco {'.'.join(map(str, OLDEST))} or newer, and {version} is "
            "installed; update it with: pip install -U 'linkwork[mjcf]'"
        )
    return mujoco


def compiled(flat: Flat, file: str | None, open_mesh: OpenMesh | None) -> Compiled:
    """The model that MuJoCo compiles from a flat text.

    Raises: DescriptionError with what MuJoCo says, at its place in the files, or with every mesh
    that a mass follows from and that cannot be opened; MissingExtraError without MuJoCo.
    """
    mujoco = mujoco_module()
    failures = (ValueError, RuntimeError, mujoco.FatalError, mujoco.UnexpectedError, MemoryError)
    with _ALONE, _heard(mujoco) as words:
        try:
            spec = mujoco.MjSpec.from_string(flat.text, include=flat.texts or None)
            files = {mesh.name: (mesh.file, _three(mesh.scale)) for mesh in spec.meshes}
            pruned = prune_tendons(mujoco, spec, flat, place_of)
            points, needed = _replaced(mujoco, spec, flat)
            assets = _opened(spec, flat, needed, file, open_mesh)
            if assets:
                spec.assets = assets
            model = spec.compile()
        except failures as error:
            if isinstance(error, LinkworkError):
                raise
            raise _described(error, flat) from None
    shapes = {int(geom.id): shape for geom, shape in points}
    return Compiled(model, spec, shapes, files, tuple(dict.fromkeys(words)), tuple(pruned))


@contextmanager
def _heard(mujoco: Any) -> Generator[list[str], None, None]:
    """What MuJoCo warns of meanwhile, instead of its lines on the screen and in a file."""
    words: list[str] = []
    before = mujoco.get_mju_user_warning()
    mujoco.set_mju_user_warning(words.append)
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            yield words
        words += [str(warning.message) for warning in caught]
    finally:
        mujoco.set_mju_user_warning(before)


def place_of(item: Any, flat: Flat) -> Place:
    """Where a part of the specification was described."""
    found = _INFO.search(item.info)
    return flat.place(int(found[1])) if found else Place()


def _replaced(mujoco: Any, spec: Any, flat: Flat) -> tuple[list[tuple[Any, Shape]], dict[str, Any]]:
    """Put points in the place of shapes that need files and give no mass.

    Returns the points with what they were, and for each mesh that a mass follows from one of the
    shapes that do. Plugins' shapes that have a mass are refused.
    """
    meshes = {mesh.name for mesh in spec.meshes}
    points: list[tuple[Any, Shape]] = []
    needed: dict[str, Any] = {}
    errors: list[Finding] = []
    for geom in spec.geoms:
        plugged = geom.type == mujoco.mjtGeom.mjGEOM_SDF
        kind = "sdf" if plugged else "mesh" if geom.meshname else ""
        if not kind or (geom.meshname and geom.meshname not in meshes):
            continue  # MuJoCo says that there is no such mesh
        heavy = _gives_mass(mujoco, geom, _rules(spec, geom, flat))
        if heavy and kind == "mesh" and geom.meshname not in flat.plugin_meshes:
            needed.setdefault(geom.meshname, geom)
            continue
        if heavy:
            whose = f"body '{geom.parent.name}'" if geom.parent.name else "a body without a name"
            message = f"the mass of {whose} follows from a plugin's shape, which is not read"
            errors.append(_problem("mesh-mass", message, place_of(geom, flat), "geom", geom.name))
        points.append((geom, Shape(kind, geom.meshname)))
        _make_point(mujoco, geom)
    if errors:
        raise DescriptionError(errors)
    for mesh in list(spec.meshes):
        if mesh.name not in needed:
            spec.delete(mesh)
    return points, needed


def _rules(spec: Any, geom: Any, flat: Flat) -> Any:
    """The compiler settings of a shape: those of the ``<model>`` that it was attached from.

    Raises: MissingExtraError with a MuJoCo older than 3.6, whose shapes do not know their own.
    """
    own = getattr(geom, "compiler", None)
    if own is None and flat.texts:
        raise MissingExtraError(
            "a <model> and shapes of files in one MJCF need mujoco 3.6 or newer; update it with: "
            "pip install -U 'linkwork[mjcf]'"
        )
    return spec.compiler if own is None else own


def _gives_mass(mujoco: Any, geom: Any, rules: Any) -> bool:
    """Whether the mass or inertia of a body follows from a shape.

    Source: MuJoCo, XML reference, compiler: inertiafromgeom and inertiagrouprange.
    """
    body = geom.parent
    if body.name == "world" and body.id in (0, -1) and body.parent is None:
        return False
    low, high = rules.inertiagrouprange
    if not low <= geom.group <= high:
        return False
    from_shapes = rules.inertiafromgeom
    if from_shapes == mujoco.mjtInertiaFromGeom.mjINERTIAFROMGEOM_FALSE:
        return False
    if from_shapes != mujoco.mjtInertiaFromGeom.mjINERTIAFROMGEOM_TRUE and body.explicitinertial:
        return False
    if isnan(geom.mass):  # not given: by density
        return geom.density != 0
    return bool(geom.mass != 0)


def _make_point(mujoco: Any, geom: Any) -> None:
    geom.type = mujoco.mjtGeom.mjGEOM_SPHERE
    geom.meshname = ""
    geom.mass = 0.0
    geom.size = [1e-3, 0.0, 0.0]
    geom.fromto = [nan] * 6


def _opened(
    spec: Any, flat: Flat, needed: dict[str, Any], file: str | None, open_mesh: OpenMesh | None
) -> dict[str, bytes]:
    """The bytes of the files of these meshes, by the names that the text has for them.

    Raises: DescriptionError with every one that cannot be opened.
    """
    assets: dict[str, bytes] = {}
    errors: list[Finding] = []
    for name, geom in needed.items():
        key = spec.mesh(name).file
        source = flat.meshes.get(key)
        if source is None:
            continue  # its vertices stand in the MJCF
        try:
            assets[key] = _first(source, file, open_mesh)
        except InputError as error:
            message = f"the mass of body '{show(geom.parent.name)}' follows from it, but {error}"
            errors.append(_problem("mesh-mass", message, source.place, "mesh", name))
    if errors:
        raise DescriptionError(errors)
    return assets


def _first(source: MeshFile, file: str | None, open_mesh: OpenMesh | None) -> bytes:
    """What the first of the places of a mesh file holds that can be opened.

    Raises: InputError with the last reason.
    """
    if open_mesh is None:
        raise InputError(f"mesh '{show(source.name)}' is not opened: no folder for meshes is given")
    for place in source.files[:-1]:
        with suppress(InputError):
            return open_mesh(place, file)
    return open_mesh(source.files[-1], file)


def _problem(code: str, message: str, place: Place, element: str, name: str) -> Finding:
    hint = "give the body an <inertial>, or bring the mesh" if code == "mesh-mass" else ""
    return Finding("error", code, message, place.file, place.line, element, show(name), hint)


def _described(error: BaseException, flat: Flat) -> DescriptionError:
    """What MuJoCo says, at the place in the files that it means."""
    text = str(error).strip() or type(error).__name__
    lines = [int(found) for found in _LINE.findall(text)]
    line = next((line for line in reversed(lines) if line), 0) or _line_of_repeated(text, flat)
    place = flat.place(line)
    tag = flat.tags[line - 1] if 0 < line <= len(flat.tags) else ""
    named = _NAME.search(text)
    what = _PREFIX.sub("", text).split("\nElement ")[0].replace("\n", " ").strip()
    what = _with_file_names(what, flat.meshes)
    file = place.file or flat.file
    name = named[1] if named else ""
    message = f"MuJoCo: {show(what, 400)}"
    return DescriptionError(
        [Finding("error", "mjcf", message, file, place.line, show(tag), show(name))]
    )


def _line_of_repeated(text: str, flat: Flat) -> int:
    """The line of a name that is there twice: <replicate> makes names that MuJoCo has no line of.

    What it makes of a name begins with that name; the last of the longest is taken.
    """
    repeated = _REPEATED.search(text)
    if not repeated:
        return 0
    name, tag = repeated.groups()
    best = longest = 0
    for line, written in enumerate(flat.text.split("\n"), 1):
        named = _NAMED.search(written) if written.startswith(f"<{tag} ") else None
        own = unescape(named[1]) if named else ""
        if own and name.startswith(own) and len(own) >= longest:
            best, longest = line, len(own)
    return best


def _with_file_names(text: str, meshes: dict[str, MeshFile]) -> str:
    """A message with the names of mesh files as they were written."""
    return re.sub(
        r"\bmesh\d+\.\w+", lambda m: show(meshes[m[0]].name) if m[0] in meshes else m[0], text
    )


def _three(values: Any) -> tuple[float, float, float]:
    x, y, z = (float(value) for value in values)
    return x, y, z
