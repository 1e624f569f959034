"""Visual and collision shapes of links, as meshes in their places.

Shapes come from the description that the robot was loaded from, poses from the robot itself. Mesh
files are found and opened when they are asked for, each once.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from linkwork.errors import InputError, UnknownNameError, UnsupportedFeatureError
from linkwork.formats.urdf import records
from linkwork.geometry import load, properties, volumes
from linkwork.geometry.properties import MassProperties
from linkwork.locating import IMAGE_SUFFIXES, Folders, locate, package_finder
from linkwork.mechanism.from_urdf import rotation_from_rpy

if TYPE_CHECKING:
    import trimesh

    from linkwork.robot import Robot

Floats = NDArray[np.float64]
Kind = Literal["visual", "collision"]
Missing = Literal["raise", "skip"]


@dataclass(frozen=True, slots=True)
class ShownPart:
    """One mesh of a link: metre, in its own frame; ``T_link_part`` (4, 4) places it in the link's.

    ``rgba`` and ``texture`` are those of the description's material, or else of the mesh file.
    ``file`` is the mesh's file, None for a primitive shape.
    """

    mesh: trimesh.Trimesh
    T_link_part: Floats
    name: str | None = None
    rgba: tuple[float, float, float, float] | None = None
    texture: Path | None = None
    file: Path | None = None


def link_parts(
    robot: Robot,
    link: str,
    kind: Kind = "visual",
    *,
    allow: Folders = (),
    missing: Missing = "raise",
) -> tuple[ShownPart, ...]:
    """As `Robot.link_parts`; in the order of the description, scales applied, poses not.

    Raises: UnknownNameError for a link; InputError for a mesh that is not found or is faulty;
    UnsupportedFeatureError for a robot without a description.
    """
    document = _document(robot)
    if missing not in ("raise", "skip"):
        raise InputError(f"missing is 'raise' or 'skip', not {missing!r}")
    record = _link(document, link)
    materials = _materials(document)
    found: list[ShownPart] = []
    for shown in _shown(record, kind):
        if shown.geometry is None:
            continue
        try:
            found.extend(_parts(shown, materials, document.robot.file, allow))
        except InputError as error:
            if missing == "raise":
                raise _of_link(link, error) from None
    return tuple(found)


def link_mesh(
    robot: Robot,
    link: str,
    kind: Kind = "visual",
    *,
    allow: Folders = (),
    missing: Missing = "raise",
) -> trimesh.Trimesh:
    """As `Robot.link_mesh`."""
    parts = link_parts(robot, link, kind, allow=allow, missing=missing)
    return _joined((part, part.T_link_part) for part in parts)


def robot_mesh(
    robot: Robot,
    q: ArrayLike | None = None,
    kind: Kind = "visual",
    *,
    allow: Folders = (),
    missing: Missing = "raise",
) -> trimesh.Trimesh:
    """As `Robot.mesh`."""
    placed: list[tuple[ShownPart, Floats]] = []
    for link, T_world_link in _link_poses(robot, q):
        for part in link_parts(robot, link, kind, allow=allow, missing=missing):
            placed.append((part, T_world_link @ part.T_link_part))
    return _joined(placed)


def bounding_box(
    robot: Robot,
    q: ArrayLike | None = None,
    kind: Kind = "visual",
    *,
    allow: Folders = (),
    missing: Missing = "raise",
) -> Floats:
    """As `Robot.bounding_box`."""
    mesh = robot_mesh(robot, q, kind, allow=allow, missing=missing)
    if not len(mesh.vertices):
        raise InputError(f"'{robot.name}' has no {kind} shapes, so there is no box around them")
    return volumes.axis_aligned_box(np.asarray(mesh.vertices, np.float64))


def link_mass_properties(
    robot: Robot,
    link: str,
    density: float,
    kind: Kind = "collision",
    *,
    hull: bool = False,
    allow: Folders = (),
) -> MassProperties:
    """As `Robot.link_mass_properties`."""
    document = _document(robot)
    masses: list[MassProperties] = []
    for shown in _shown(_link(document, link), kind):
        if isinstance(shown.geometry, records.Mesh):
            try:
                for part in _parts(shown, {}, document.robot.file, allow):
                    mass = properties.mass_properties(part.mesh, density, hull=hull)
                    masses.append(properties.placed(mass, part.T_link_part))
            except InputError as error:
                raise _of_link(link, error) from None
        elif shown.geometry is not None:
            mass = properties.mass_properties(shown.geometry, density)
            masses.append(properties.placed(mass, _pose(shown)))
    if not masses:
        raise InputError(f"link '{link}' has no {kind} shapes to take a mass from")
    return properties.lump(masses)


def _document(robot: Robot) -> records.Document:
    if robot.document is None:
        raise UnsupportedFeatureError(
            f"'{robot.name}' has no URDF description, and only from one are shapes known"
        )
    return robot.document


def _link(document: records.Document, name: str) -> records.Link:
    for link in document.robot.links:
        if link.name == name:
            return link
    raise UnknownNameError("link", name, [link.name for link in document.robot.links])


def _shown(link: records.Link, kind: str) -> tuple[records.Visual | records.Collision, ...]:
    if kind not in ("visual", "collision"):
        raise InputError(f"the shapes of a link are 'visual' or 'collision', not {kind!r}")
    return link.visuals if kind == "visual" else link.collisions


def _materials(document: records.Document) -> dict[str, records.Material]:
    """The meaning of each name of a material: its first definition, wherever it stands."""
    found: dict[str, records.Material] = {}
    worn = [v.material for link in document.robot.links for v in link.visuals if v.material]
    for material in (*document.robot.materials, *worn):
        if material.name and (material.rgba is not None or material.texture):
            found.setdefault(material.name, material)
    return found


def _parts(
    shown: records.Visual | records.Collision,
    materials: dict[str, records.Material],
    file: str | None,
    allow: Folders,
) -> Iterator[ShownPart]:
    """The meshes of one shape, with the look that the description gives them."""
    T_link_part = _pose(shown)
    material = shown.material
    if material is not None and material.rgba is None and not material.texture:
        material = materials.get(material.name)
    rgba = None if material is None else material.rgba
    texture = None
    if material is not None and material.texture:
        texture = locate(material.texture, file, allow, suffixes=IMAGE_SUFFIXES)
    shape = shown.geometry
    if not isinstance(shape, records.Mesh):
        if shape is not None:
            yield ShownPart(_primitive(shape), T_link_part, shown.name, rgba, texture)
        return
    if shape.scale is None:
        line = f"{file}:{shape.line}: " if file else ""
        raise InputError(
            f"{line}the scale of the mesh '{shape.filename}' is not three numbers, so its size is "
            'unknown: mend scale, such as scale="0.001 0.001 0.001"'
        )
    path = locate(shape.filename, file, allow)
    roots = () if file is None else package_finder(file, allow).roots
    for part in load.load(path, roots=roots).parts:
        mesh = part.mesh  # our own: each call of load gives its own
        if shape.scale != (1.0, 1.0, 1.0):
            mesh.apply_transform(np.diag([*shape.scale, 1.0]))
        yield ShownPart(
            mesh,
            T_link_part,
            shown.name or part.name,
            rgba if rgba is not None or texture else part.rgba,
            texture or (None if rgba is not None else part.texture),
            path,
        )


def _pose(shown: records.Visual | records.Collision) -> Floats:
    """The pose of a shape in its link (4, 4), read-only."""
    T_link_part = np.eye(4)
    T_link_part[:3, :3], T_link_part[:3, 3] = rotation_from_rpy(shown.rpy), shown.xyz
    T_link_part.setflags(write=False)
    return T_link_part


def _of_link(link: str, error: InputError) -> InputError:
    return InputError(f"link '{link}': {error}")


def _primitive(shape: records.Shape) -> Any:
    """A primitive shape as a mesh."""
    if isinstance(shape, records.Box):
        return volumes.box(shape.size)
    if isinstance(shape, records.Cylinder):
        return volumes.cylinder(shape.radius, shape.length)
    if isinstance(shape, records.Sphere):
        return volumes.sphere(shape.radius)
    if isinstance(shape, records.Capsule):
        return volumes.capsule(shape.radius, shape.length)
    raise UnsupportedFeatureError(f"a {type(shape).__name__} has no mesh")


def _link_poses(robot: Robot, q: ArrayLike | None) -> Iterator[tuple[str, Floats]]:
    """The links that the robot still has, with their poses T_world_link (4, 4)."""
    poses = robot.fk_all(robot.neutral() if q is None else q)
    if poses.ndim != 3:
        raise InputError(f"one configuration ({robot.n_q},) is needed, not a batch of them")
    index = {name: k for k, name in enumerate(robot.frame_names)}
    for link in _document(robot).robot.links:
        if link.name in index:
            yield link.name, poses[index[link.name]]


def _joined(placed: Iterable[tuple[ShownPart, Floats]]) -> Any:
    """One mesh of several parts, each moved to its place, colours kept on the faces."""
    moved: list[tuple[Any, Any]] = []
    for part, T in placed:
        part.mesh.apply_transform(T)
        moved.append((part.mesh, part.rgba))
    return load.joined(moved)
