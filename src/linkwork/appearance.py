"""The methods of `Robot` for shapes: visuals and collisions of links, as meshes in their places.

Shapes come from the description that the robot was loaded from, poses from the robot itself. Mesh
files are found and opened when they are asked for, each once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from linkwork.errors import InputError, UnknownNameError, UnsupportedFeatureError
from linkwork.formats.urdf import records
from linkwork.locating import IMAGE_SUFFIXES, Folders, locate, package_finder
from linkwork.mechanism.from_urdf import rotation_from_rpy
from linkwork.mechanism.model import Mechanism

if TYPE_CHECKING:
    import trimesh

    from linkwork.geometry.properties import MassProperties

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


class RobotMeshes:
    """Shapes of the links of a robot, by the description that it was loaded from."""

    document: records.Document | None
    mechanism: Mechanism

    if TYPE_CHECKING:
        fk_all: Callable[..., Floats]
        neutral: Callable[[], Floats]

    def link_parts(
        self,
        link: str,
        kind: Kind = "visual",
        *,
        allow: Folders = (),
        missing: Missing = "raise",
    ) -> tuple[ShownPart, ...]:
        """The meshes of a link one by one, with their poses, colours and textures.

        In the order of the description, scales applied, poses not. ``kind`` is "visual" or
        "collision". ``allow`` are folders that meshes may lie in, beside the description's package;
        ``missing="skip"`` leaves out what cannot be had.

        Raises: UnknownNameError for a link; InputError for a mesh that is not found or is faulty;
        UnsupportedFeatureError for a robot without a description.
        """
        document = self._description()
        if missing not in ("raise", "skip"):
            raise InputError(f"missing is 'raise' or 'skip', not {missing!r}")
        materials = _materials(document)
        found: list[ShownPart] = []
        for shown in _shown(document, link, kind):
            try:
                found.extend(_parts(shown, materials, document.robot.file, allow))
            except InputError as error:
                if missing == "raise":
                    raise InputError(f"link '{link}': {error}") from None
        return tuple(found)

    def link_mesh(
        self,
        link: str,
        kind: Kind = "visual",
        *,
        allow: Folders = (),
        missing: Missing = "raise",
    ) -> trimesh.Trimesh:
        """One mesh of all that a link has, in the link's frame (m); empty where there is nothing.

        Raises: as `link_parts`.
        """
        parts = self.link_parts(link, kind, allow=allow, missing=missing)
        return _joined((part, part.T_link_part) for part in parts)

    def mesh(
        self,
        q: ArrayLike | None = None,
        kind: Kind = "visual",
        *,
        allow: Folders = (),
        missing: Missing = "raise",
    ) -> trimesh.Trimesh:
        """One mesh of the whole robot in the world (m) at q (nq,), by default neutral.

        Raises: as `link_parts`; InputError for more than one configuration.
        """
        poses = self.fk_all(self.neutral() if q is None else q)
        if poses.ndim != 3:
            raise InputError("one configuration (nq,) is needed, not a batch of them")
        T_world = dict(zip(self.mechanism.frame_names, poses, strict=True))
        placed: list[tuple[ShownPart, Floats]] = []
        for link in self._description().robot.links:
            if link.name in T_world:  # the robot may be a part of what was described
                for part in self.link_parts(link.name, kind, allow=allow, missing=missing):
                    placed.append((part, T_world[link.name] @ part.T_link_part))
        return _joined(placed)

    def bounding_box(
        self,
        q: ArrayLike | None = None,
        kind: Kind = "visual",
        *,
        allow: Folders = (),
        missing: Missing = "raise",
    ) -> Floats:
        """The box along the world's axes around the robot at q (m): (2, 3), lowest corner first.

        Raises: as `link_parts`; InputError for a robot without shapes of this kind.
        """
        from linkwork.geometry.volumes import axis_aligned_box  # noqa: PLC0415  few need it

        mesh = self.mesh(q, kind, allow=allow, missing=missing)
        if not len(mesh.vertices):
            raise InputError(
                f"'{self.mechanism.name}' has no {kind} shapes, so there is no box around them"
            )
        return axis_aligned_box(np.asarray(mesh.vertices, np.float64))

    def link_mass_properties(
        self,
        link: str,
        density: float,
        kind: Kind = "collision",
        *,
        hull: bool = False,
        allow: Folders = (),
    ) -> MassProperties:
        """Mass, centre of mass and inertia of a link's shapes, filled with one density (kg/m³).

        In the link's frame. Where shapes overlap, the common part counts for each. ``hull=True``
        takes the convex hull of each mesh, which one that is not closed needs.

        Raises: as `link_parts`; InputError for a mesh that encloses no volume or is inside out in
        places, or no shape at all.
        """
        from linkwork.geometry import properties  # noqa: PLC0415  few need it

        document = self._description()
        masses: list[MassProperties] = []
        for shown in _shown(document, link, kind):
            shape: Any = shown.geometry
            if not isinstance(shape, records.Mesh):
                mass = properties.mass_properties(shape, density)
                masses.append(properties.placed(mass, _pose(shown)))
                continue
            try:
                for part in _parts(shown, {}, document.robot.file, allow):
                    mass = properties.mass_properties(part.mesh, density, hull=hull)
                    masses.append(properties.placed(mass, part.T_link_part))
            except InputError as error:
                raise InputError(f"link '{link}': {error}") from None
        if not masses:
            raise InputError(f"link '{link}' has no {kind} shapes to take a mass from")
        return properties.lump(masses)

    def _description(self) -> records.Document:
        if self.document is None:
            raise UnsupportedFeatureError(
                f"'{self.mechanism.name}' has no URDF description, and only from one are shapes "
                "known"
            )
        return self.document


def _shown(
    document: records.Document, name: str, kind: str
) -> list[records.Visual | records.Collision]:
    """The visuals or collisions of a link that have a shape."""
    if kind not in ("visual", "collision"):
        raise InputError(f"the shapes of a link are 'visual' or 'collision', not {kind!r}")
    for link in document.robot.links:
        if link.name == name:
            shapes = link.visuals if kind == "visual" else link.collisions
            return [shown for shown in shapes if shown.geometry is not None]
    raise UnknownNameError("link", name, [link.name for link in document.robot.links])


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
    from linkwork.geometry import load, volumes  # noqa: PLC0415  few need them

    T_link_part, shape, material = _pose(shown), shown.geometry, shown.material
    if material is not None and material.rgba is None and not material.texture:
        material = materials.get(material.name)
    rgba = None if material is None else material.rgba
    texture = None
    if material is not None and material.texture:
        texture = locate(material.texture, file, allow, suffixes=IMAGE_SUFFIXES)
    if not isinstance(shape, records.Mesh):
        if isinstance(shape, records.Box):
            mesh = volumes.box(shape.size)
        elif isinstance(shape, records.Sphere):
            mesh = volumes.sphere(shape.radius)
        elif isinstance(shape, (records.Cylinder, records.Capsule)):
            make = volumes.capsule if isinstance(shape, records.Capsule) else volumes.cylinder
            mesh = make(shape.radius, shape.length)
        else:
            raise UnsupportedFeatureError(f"a {type(shape).__name__} has no mesh")
        yield ShownPart(mesh, T_link_part, shown.name, rgba, texture)
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


def _joined(placed: Iterable[tuple[ShownPart, Floats]]) -> Any:
    """One mesh of several parts, each moved to its place, colours kept on the faces."""
    from linkwork.geometry import load  # noqa: PLC0415  few need it

    moved: list[tuple[Any, Any]] = []
    for part, T in placed:
        part.mesh.apply_transform(T)
        moved.append((part.mesh, part.rgba))
    return load.joined(moved)
