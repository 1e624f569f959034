"""Findings on the meshes, textures and sizes of a description: files, units, masses.

`check_meshes` opens every file, so it is asked for (by ``linkwork check``), never done by `load`;
`check_sizes` tells slips of units that no other check can see, from the shapes that are known.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from linkwork.errors import Finding, InputError, Level, MissingExtraError
from linkwork.formats.urdf.convert import listed, show
from linkwork.formats.urdf.findings import Findings
from linkwork.formats.urdf.records import (
    Box,
    Capsule,
    Collision,
    Document,
    Inertial,
    Link,
    Mesh,
    Robot,
    Shape,
    Sphere,
    Visual,
)
from linkwork.geometry.meshes import IMAGE_SUFFIXES, MESH_SUFFIXES
from linkwork.mechanism.from_urdf import rotation_from_rpy
from linkwork.mechanism.model import Floats

# Rows of docs/check.md: code | levels | what it means | how to mend it.
CODES = """
# Meshes
mesh-missing | warning | There is no such mesh. | See where it was looked for.
mesh-outside | warning | The mesh lies outside the description's package, where it is not read
    unasked. | `--allow FOLDER`, or move it.
mesh-name | warning | A name that is refused: `~`, `$`, `http:`. | Write a path.
mesh-suffix | warning | No mesh by the end of its name. | Convert it.
mesh-broken | warning | The mesh cannot be read, or is empty. | Export it anew.
mesh-looks | note | A material or texture of the mesh is not read. | See why.
mesh-unchecked | note | A package for such meshes is missing. | Install it.
mesh-units | warning | Longer than 20 m unscaled, or smaller than a millimetre when scaled:
    millimetres? | Mend the scale.
texture-missing | warning | There is no such image. | See where it was looked for.
texture-outside | warning | As mesh-outside. | `--allow FOLDER`, or move it.
texture-name | warning | As mesh-name. | Write a path.
texture-suffix | warning | No image by the end of its name. | Convert it.
texture-broken | warning | The image is not what it says. | Export it anew.
# Masses
com-outside | warning | The centre of mass is farther outside the link's shapes than they are wide.
    | Metres, in the link's frame.
large-inertia | warning | For this inertia the mass would have to lie outside the link's shapes. |
    kg m², about the centre of mass; place holders such as 1 or 0.001 show up here.
small-inertia | warning | For this inertia all mass would lie within a hundredth of the link's size.
    | kg m².
dense | warning | The link would be denser than osmium. | Kilograms; metres.
# Collisions
no-collision | note | Links that are seen and have no collision shape, as others do. | Give them
    shapes, if something may touch them.
collision-large | warning | The collision shapes of a link are far larger than what is seen of it. |
    Mend the scale or the sizes.
"""

Find: TypeAlias = "Callable[[str, frozenset[str]], Path]"
"""From the name of a mesh or image and the suffixes allowed to its file; raises InputError."""

LONGEST = 20.0
"""Metres; a longer mesh without a scale is taken for one in millimetres."""

SHORTEST = 1e-4
"""Metres; a smaller mesh is taken for one that was scaled twice."""

DENSEST = 22_600.0
"""kg/m³, osmium: nothing on earth is denser."""

_SCALED_SHORTEST = 1e-3  # for meshes that are scaled down in the description
_SPARE = 3.0  # inertias are often identified and shapes drawn coarsely: slips of units are larger
_THINNEST = 2e-3  # metres; flat shapes are taken for sheets of this thickness
_SMALL = 0.01  # of the link's size: a radius of gyration below this is a slip
_LARGE = 8.0  # times the volume of the box around what is seen: twice as large each way
_PLACE_HOLDER = 1e-2  # metres; what is seen and smaller stands for nothing
_LIGHT = 1e-2  # kg; lighter links are often mere place holders
REASONS = (
    ("is not found", "missing"),
    ("lies outside", "outside"),
    ("is no such file by its name", "suffix"),
    ("", "name"),
)
"""The words of `geometry.meshes.resolve` where it gives no file, and the code of each reason."""


class FileUse(NamedTuple):
    """The first place where the name of a mesh or texture stands in a description."""

    name: str  # of the file
    line: int
    link: str
    element: str  # "mesh" or "texture"


def files_used(robot: Robot) -> list[FileUse]:
    """Each name of a mesh once, then each name of a texture."""
    found: dict[tuple[str, str], FileUse] = {}
    materials = [(material, material.name) for material in robot.materials]
    for link in robot.links:
        for shape in (*link.visuals, *link.collisions):
            mesh = shape.geometry
            if isinstance(mesh, Mesh) and mesh.filename:
                use = FileUse(mesh.filename, mesh.line, link.name, "mesh")
                found.setdefault(("mesh", mesh.filename), use)
            if shape.material is not None:
                materials.append((shape.material, link.name))
    for material, whose in materials:
        if material.texture:
            use = FileUse(material.texture, material.line, whose, "texture")
            found.setdefault(("texture", material.texture), use)
    return list(found.values())


def check_meshes(
    document: Document,
    find: Find,
    *,
    load: Callable[[Path], Any] | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> tuple[Finding, ...]:
    """Findings on the files that a description names, and on masses by the sizes of its meshes.

    Each name is looked for once and each file opened once. ``load`` is `geometry.load.load`, or
    something like it; ``progress`` is called with how many are done, and of how many.
    """
    robot = document.robot
    findings = Findings(robot.file)
    files = _Files(find, load, findings)
    uses = files_used(robot)
    boxes: dict[str, Floats] = {}
    for k, use in enumerate(uses):
        if progress is not None:
            progress(k, len(uses))
        if use.element == "texture":
            files.check_image(use)
        elif (box := files.box(use)) is not None:
            boxes[use.name] = box
    _check_units(robot, boxes, findings)
    if progress is not None:
        progress(len(uses), len(uses))
    sizes = (*check_sizes(robot, boxes), *check_shapes(robot, boxes))
    return tuple(sorted((*findings.sorted(), *sizes), key=lambda finding: finding.line))


class _Files:
    """The files of a description: found and opened once each, with findings where they are not."""

    def __init__(self, find: Find, load: Callable[[Path], Any] | None, findings: Findings) -> None:
        self._find, self._load, self._findings = find, load, findings
        self._boxes: dict[Path, Floats | None] = {}
        self._missed: set[str] = set()  # what was said of packages that are not installed

    def box(self, use: FileUse) -> Floats | None:
        """The box (2, 3) around a mesh; None with a finding where it cannot be read."""
        path = self._path(use)
        if path is None:
            return None
        if path not in self._boxes:
            self._boxes[path] = self._measured(path, use)
        return self._boxes[path]

    def check_image(self, use: FileUse) -> None:
        """Check that a texture is an image that may be opened; it is not decoded."""
        path = self._path(use)
        if path is None:
            return
        # images need packages that a check of the text alone does without
        from linkwork.geometry.guards import check  # noqa: PLC0415 -- see above

        try:
            check(path)
        except MissingExtraError as error:
            self._unchecked(use, error)
        except InputError as error:
            self._add("warning", "texture-broken", show(str(error), 500), use)

    def _path(self, use: FileUse) -> Path | None:
        """The file of a name; None with a finding that says why there is none."""
        try:
            return self._find(use.name, MESH_SUFFIXES if use.element == "mesh" else IMAGE_SUFFIXES)
        except InputError as error:
            text = str(error).removeprefix("mesh ")
        why = next(why for said, why in REASONS if said in text)
        message, _, hint = text.partition("; ")
        self._add("warning", f"{use.element}-{why}", message, use, hint=show(hint, 600))
        return None

    def _measured(self, path: Path, use: FileUse) -> Floats | None:
        if self._load is None:
            from linkwork.geometry.load import load  # noqa: PLC0415 -- as check above

            self._load = load
        try:
            loaded = self._load(path)
        except MissingExtraError as error:
            self._unchecked(use, error)
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

    def _unchecked(self, use: FileUse, error: MissingExtraError) -> None:
        """Say once for each package that is missing."""
        if str(error) not in self._missed:
            self._missed.add(str(error))
            message = f"'{show(use.name)}' and its like are not checked: {show(str(error), 300)}"
            self._add("note", "mesh-unchecked", message, use)

    def _add(self, level: Level, code: str, text: str, use: FileUse, *, hint: str = "") -> None:
        place: dict[str, Any] = {"line": use.line, "element": use.element, "name": use.link}
        self._findings.add(level, code, text, **place, hint=hint)


def _check_units(robot: Robot, boxes: dict[str, Floats], findings: Findings) -> None:
    """Sizes that no part of a robot has; each pair of name and scale once."""
    seen: set[tuple[str, tuple[float, float, float]]] = set()
    for link in robot.links:
        for shape in (*link.visuals, *link.collisions):
            mesh = shape.geometry
            if not isinstance(mesh, Mesh) or mesh.filename not in boxes or mesh.scale is None:
                continue
            if (mesh.filename, mesh.scale) in seen:
                continue
            seen.add((mesh.filename, mesh.scale))
            box, scale = boxes[mesh.filename], np.abs(mesh.scale)
            extent = (box[1] - box[0]) * scale
            longest, least = float(extent.max()), float(extent.min())
            text = f"'{show(mesh.filename)}' is {longest:.3g} m long"
            if bool((scale == 1.0).all()) and longest > LONGEST and least > 1e-6 * longest:
                text += ": millimetres?"  # not of a floor, which is flat
                hint = 'scale="0.001 0.001 0.001" if it is in millimetres'
            elif longest < (_SCALED_SHORTEST if float(scale.max()) < 0.1 else SHORTEST):
                x, y, z = mesh.scale
                text += f" with the scale {x:g} {y:g} {z:g}"
                hint = "is it in metres already?"
            else:
                continue
            place: dict[str, Any] = {"line": mesh.line, "element": "mesh", "name": link.name}
            findings.add("warning", "mesh-units", text, **place, hint=hint)


# --- masses by sizes ------------------------------------------------------------------------------


def check_sizes(robot: Robot, meshes: Mapping[str, Floats] | None = None) -> tuple[Finding, ...]:
    """Findings on centres of mass, inertias and masses that the links' shapes do not allow.

    ``meshes`` has the box (2, 3) around each mesh by its name, unscaled. Links with a shape of
    unknown size are passed over.

    Source: half the trace of an inertia about the centre of mass is the sum of m_i d_i², with d_i
    the distance of the mass m_i from the centre; so it is at most m d² for the farthest point.
    """
    findings = Findings(robot.file)
    with np.errstate(over="ignore", invalid="ignore"):  # numbers near the largest become infinite
        for link in robot.links:
            own = link.inertial
            if own is None or own.mass is None or own.mass <= 0 or own.inertia is None:
                continue
            box = _box_of(link, meshes or {})
            if box is not None:
                _check_size(link, own, box, findings)
    return findings.sorted()


def _check_size(link: Link, own: Inertial, box: Floats, findings: Findings) -> None:
    """Find what the box (2, 3) around a link does not allow of its mass."""

    def suspect(code: str, message: str, hint: str) -> None:
        place: dict[str, Any] = {"line": own.line, "element": "inertial", "name": link.name}
        findings.add("warning", code, message, **place, hint=hint)

    mass, com, extent = float(own.mass or 0.0), np.array(own.xyz), box[1] - box[0]
    size = float(np.linalg.norm(extent))
    outside = float(np.linalg.norm(np.maximum(0, np.maximum(box[0] - com, com - box[1]))))
    reach = float(np.linalg.norm(np.abs(box - com).max(axis=0)))  # to the farthest corner
    # half the trace is the sum of m d² about the centre, whatever the axes are
    gyration = float(np.sqrt(max(np.trace(np.array(own.inertia)) / 2 / mass, 0.0)))
    density = mass / float(np.maximum(extent, _THINNEST).prod())
    if outside > max(size, 0.02):
        suspect(
            "com-outside",
            f"the centre of mass is {outside:.3g} m outside the link, which is {size:.3g} m across",
            "metres, in the link's frame?",
        )
    elif gyration > _SPARE * reach:
        suspect(
            "large-inertia",
            f"its {mass:.3g} kg would lie {gyration:.3g} m from their centre on average, but the "
            f"link reaches {reach:.3g} m",
            "is it in kg m², about the centre of mass?",
        )
    elif mass > _LIGHT and density > DENSEST:
        suspect(
            "dense",
            f"{mass:.3g} kg in the box around the link are {density:,.0f} kg/m³, more than any "
            "metal",
            "kilograms? are its shapes in metres?",
        )
    elif mass > _LIGHT and 0 < gyration < _SMALL * size:
        suspect(
            "small-inertia",
            f"its {mass:.3g} kg would lie {gyration:.2g} m from their centre on average, and the "
            f"link is {size:.3g} m across",
            "is it in kg m²?",
        )


# --- collision shapes by what is seen ------------------------------------------------------------


def check_shapes(robot: Robot, meshes: Mapping[str, Floats] | None = None) -> tuple[Finding, ...]:
    """Findings on collision shapes beside visual ones: missing on some links, or far larger.

    ``meshes``: see `check_sizes`. Links with a shape of unknown size are not measured.
    """
    findings = Findings(robot.file)
    seen = [link for link in robot.links if link.visuals]
    bare = [link for link in seen if not link.collisions]
    if bare and any(link.collisions for link in robot.links):  # else it is a drawing, on purpose
        message = f"{listed([link.name for link in bare])}: seen, without a collision shape"
        hint = "give them shapes, if something may touch them"
        findings.about("note", "link", bare[0], "no-collision", message, hint)
    with np.errstate(over="ignore", invalid="ignore"):
        for link in seen:
            boxes = [
                _box_around(shapes, meshes or {}) for shapes in (link.visuals, link.collisions)
            ]
            if boxes[0] is not None and boxes[1] is not None:
                _check_larger(link, boxes[0][1] - boxes[0][0], boxes[1][1] - boxes[1][0], findings)
    return findings.sorted()


def _check_larger(link: Link, seen: Floats, met: Floats, findings: Findings) -> None:
    """Compare the sizes (3,) of the boxes around what is seen of a link and what is met of it."""
    ratio = float(np.prod(np.maximum(met, _THINNEST)) / np.prod(np.maximum(seen, _THINNEST)))
    if ratio > _LARGE and seen.max() > _PLACE_HOLDER:
        sizes = [" x ".join(f"{side:.3g}" for side in box) for box in (met, seen)]
        message = f"the collision shapes fill {sizes[0]} m, what is seen of it {sizes[1]} m"
        hint, line = "what comes near the link seems to touch it", link.collisions[0].line
        findings.about("warning", "link", link, "collision-large", message, hint, line=line)


def _box_of(link: Link, meshes: Mapping[str, Floats]) -> Floats | None:
    """The box (2, 3) around all shapes of a link; None where one of them has no known size."""
    return _box_around((*link.visuals, *link.collisions), meshes)


def _box_around(
    shapes: Sequence[Visual | Collision], meshes: Mapping[str, Floats]
) -> Floats | None:
    """The box (2, 3) around shapes of one link; None where one of them has no known size."""
    boxes: list[Floats] = []
    for shape in shapes:
        local = None if shape.geometry is None else _local_box(shape.geometry, meshes)
        if local is None or not np.isfinite(local).all():
            return None
        centre, half = local.mean(axis=0), (local[1] - local[0]) / 2
        if any(shape.rpy):
            R = rotation_from_rpy(shape.rpy)
            centre, half = R @ centre, np.abs(R) @ half
        centre = centre + np.array(shape.xyz)
        boxes.append(np.array([centre - half, centre + half]))
    if not boxes or not np.isfinite(boxes).all():
        return None
    return np.array([np.min([b[0] for b in boxes], axis=0), np.max([b[1] for b in boxes], axis=0)])


def _local_box(shape: Shape, meshes: Mapping[str, Floats]) -> Floats | None:
    """The box (2, 3) around a shape in its own frame."""
    if isinstance(shape, Mesh):
        box = meshes.get(shape.filename)
        if box is None or shape.scale is None:
            return None
        return np.sort(box * np.array(shape.scale), axis=0)
    if isinstance(shape, Box):
        half = np.array(shape.size) / 2
    elif isinstance(shape, Sphere):
        half = np.full(3, shape.radius)
    else:
        ends = shape.radius if isinstance(shape, Capsule) else 0.0
        half = np.array([shape.radius, shape.radius, shape.length / 2 + ends])
    half = np.abs(half)
    return np.array([-half, half])
