"""Findings on the meshes and textures of a description: is each there, readable, in metres?

This opens every file, so it is asked for (by ``linkwork check``), never done by `load`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from linkwork.errors import Finding, InputError, Level, MissingExtraError
from linkwork.formats.urdf.convert import show
from linkwork.formats.urdf.findings import Findings
from linkwork.formats.urdf.records import Document, Material, Mesh, Robot
from linkwork.geometry.meshes import IMAGE_SUFFIXES, MESH_SUFFIXES
from linkwork.mechanism.check_sizes import check_sizes
from linkwork.mechanism.model import Floats

Find: TypeAlias = "Callable[[str, frozenset[str]], Path]"
"""From the name of a mesh or image and the suffixes allowed to its file; raises InputError."""

LONGEST = 20.0
"""Metres; a longer mesh without a scale is taken for one in millimetres."""

SHORTEST = 1e-4
"""Metres; a smaller mesh is taken for one that was scaled twice."""

_SCALED_SHORTEST = 1e-3  # for meshes that are scaled down in the description
# How `geometry.meshes.resolve` says why it gives no file, and the code of each reason.
_REASONS = {
    "mesh": (
        ("is not found", "mesh-missing"),
        ("lies outside", "mesh-outside"),
        ("is no such file by its name", "mesh-suffix"),
        ("", "mesh-name"),
    ),
    "texture": (
        ("is not found", "texture-missing"),
        ("lies outside", "texture-outside"),
        ("is no such file by its name", "texture-suffix"),
        ("", "texture-name"),
    ),
}


@dataclass(frozen=True, slots=True)
class _Use:
    """Where a name stands first."""

    name: str  # of the file
    line: int
    link: str
    scale: tuple[float, float, float] = (1.0, 1.0, 1.0)


def check_meshes(
    document: Document,
    find: Find,
    *,
    load: Callable[[Path], Any] | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> tuple[Finding, ...]:
    """What is wrong with the files that a description names, and what their sizes say of masses.

    Each name is looked for once and each file opened once. ``load`` is `geometry.load.load`, or
    something like it; ``progress`` is called with how many are done, and of how many.
    """
    robot = document.robot
    problems = Findings(robot.file)
    meshes, textures = list(_meshes(robot)), list(_textures(robot))
    total = len(meshes) + len(textures)
    files = _Files(find, load, problems)
    boxes: dict[str, Floats] = {}
    for k, use in enumerate(meshes):
        if progress is not None:
            progress(k, total)
        box = files.box(use)
        if box is not None:
            boxes[use.name] = box
    for use in textures:
        files.check_image(use)
    _check_units(robot, boxes, problems)
    if progress is not None:
        progress(total, total)
    sizes = check_sizes(robot, boxes)
    return tuple(sorted((*problems.sorted(), *sizes), key=lambda problem: problem.line))


class _Files:
    """The files of a description: found and opened once each, with findings where they are not."""

    def __init__(self, find: Find, load: Callable[[Path], Any] | None, problems: Findings) -> None:
        self._find, self._load, self._problems = find, load, problems
        self._boxes: dict[Path, Floats | None] = {}
        self._missed: set[str] = set()  # what was said of packages that are not installed

    def box(self, use: _Use) -> Floats | None:
        """The box (2, 3) around a mesh; None with a finding where it cannot be read."""
        path = self._path(use, "mesh")
        if path is None:
            return None
        if path not in self._boxes:
            self._boxes[path] = self._measured(path, use)
        return self._boxes[path]

    def check_image(self, use: _Use) -> None:
        """See whether a texture is an image that may be opened; it is not decoded."""
        path = self._path(use, "texture")
        if path is None:
            return
        # images need packages that a check of the text alone does without
        from linkwork.geometry.guards import check  # noqa: PLC0415 -- see above

        try:
            check(path)
        except MissingExtraError as error:
            self._unchecked(use, "texture", error)
        except InputError as error:
            self._add("warning", "texture-broken", show(str(error), 500), use, element="texture")

    def _path(self, use: _Use, kind: str) -> Path | None:
        """The file of a name; None with a finding that says why there is none."""
        try:
            return self._find(use.name, MESH_SUFFIXES if kind == "mesh" else IMAGE_SUFFIXES)
        except InputError as error:
            text = str(error).removeprefix("mesh ")
        code = next(code for said, code in _REASONS[kind] if said in text)
        message, _, hint = text.partition("; ")
        self._add("warning", code, message, use, hint=show(hint, 600), element=kind)
        return None

    def _measured(self, path: Path, use: _Use) -> Floats | None:
        if self._load is None:
            from linkwork.geometry.load import load  # noqa: PLC0415 -- as check above

            self._load = load
        try:
            loaded = self._load(path)
        except MissingExtraError as error:
            self._unchecked(use, "mesh", error)
            return None
        except InputError as error:
            self._add("warning", "mesh-broken", show(str(error), 500), use)
            return None
        for reason in loaded.left_out:
            self._add("note", "mesh-looks", f"'{show(use.name)}': {show(reason, 400)}", use)
        corners = [part.mesh.bounds for part in loaded.parts if part.mesh.bounds is not None]
        if not corners:
            self._add("warning", "mesh-broken", f"'{show(use.name)}' has no faces", use)
            return None
        points = np.array(corners, np.float64)
        return np.array([points[:, 0].min(axis=0), points[:, 1].max(axis=0)])

    def _unchecked(self, use: _Use, element: str, error: MissingExtraError) -> None:
        """Say once for each package that is missing."""
        if str(error) not in self._missed:
            self._missed.add(str(error))
            message = f"'{show(use.name)}' and its like are not checked: {show(str(error), 300)}"
            self._add("note", "mesh-unchecked", message, use, element=element)

    def _add(
        self,
        level: Level,
        code: str,
        message: str,
        use: _Use,
        *,
        hint: str = "",
        element: str = "mesh",
    ) -> None:
        self._problems.add(
            level, code, message, line=use.line, element=element, name=use.link, hint=hint
        )


def _meshes(robot: Robot) -> Iterator[_Use]:
    """Each mesh name once, where it stands first."""
    seen: set[str] = set()
    for link in robot.links:
        for shape in (*link.visuals, *link.collisions):
            mesh = shape.geometry
            if isinstance(mesh, Mesh) and mesh.filename and mesh.filename not in seen:
                seen.add(mesh.filename)
                yield _Use(mesh.filename, mesh.line, link.name)


def _textures(robot: Robot) -> Iterator[_Use]:
    """Each texture name once, where it stands first."""
    materials: list[tuple[Material, str]] = [(material, "") for material in robot.materials]
    for link in robot.links:
        for shape in (*link.visuals, *link.collisions):
            if shape.material is not None:
                materials.append((shape.material, link.name))
    seen: set[str] = set()
    for material, link_name in materials:
        if material.texture and material.texture not in seen:
            seen.add(material.texture)
            yield _Use(material.texture, material.line, link_name or material.name)


def _check_units(robot: Robot, boxes: dict[str, Floats], problems: Findings) -> None:
    """Sizes that no part of a robot has; each pair of name and scale once."""
    seen: set[tuple[str, tuple[float, float, float]]] = set()
    for link in robot.links:
        for shape in (*link.visuals, *link.collisions):
            mesh = shape.geometry
            if not isinstance(mesh, Mesh) or mesh.filename not in boxes or mesh.scale is None:
                continue
            if (mesh.filename, mesh.scale) not in seen:
                seen.add((mesh.filename, mesh.scale))
                _check_size(_Use(mesh.filename, mesh.line, link.name, mesh.scale), boxes, problems)


def _check_size(use: _Use, boxes: dict[str, Floats], problems: Findings) -> None:
    box, scale = boxes[use.name], np.abs(use.scale)
    extent = (box[1] - box[0]) * scale
    longest, flat = float(extent.max()), float(extent.min()) <= 1e-6 * float(extent.max())
    if bool((scale == 1.0).all()) and longest > LONGEST and not flat:  # a floor is flat
        message = f"'{show(use.name)}' is {longest:.3g} m long: millimetres?"
        hint = 'scale="0.001 0.001 0.001" if it is in millimetres'
    elif longest < (_SCALED_SHORTEST if float(scale.max()) < 0.1 else SHORTEST):
        x, y, z = use.scale
        message = f"'{show(use.name)}' is {longest:.3g} m long with the scale {x:g} {y:g} {z:g}"
        hint = "is it in metres already?"
    else:
        return
    problems.add(
        "warning", "mesh-units", message, line=use.line, element="mesh", name=use.link, hint=hint
    )
