"""The methods of `Robot` for shapes: visuals and collisions of links, as meshes in their places.

Shapes come from the description that the robot was loaded from, poses from the robot itself. Mesh
files are found and opened when they are asked for, each once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from linkwork.errors import InputError, LinkworkError, UnknownNameError, UnsupportedFeatureError
from linkwork.formats.urdf.records import Box, Capsule, Cylinder, Document, Rgba, Sphere
from linkwork.geometry.meshes import Places
from linkwork.locating import IMAGE_SUFFIXES, Folders, locate, package_finder, places
from linkwork.mechanism.model import Mechanism
from linkwork.mechanism.shapes import (
    KINDS,
    Ellipsoid,
    HalfSpace,
    Kind,
    LinkShape,
    MeshFile,
    Shape,
    Shapes,
    Unread,
    mesh_of,
    shapes_from_urdf,
)

if TYPE_CHECKING:
    import trimesh

    from linkwork.geometry.properties import MassProperties

Floats = NDArray[np.float64]
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
    rgba: Rgba | None = None
    texture: Path | None = None
    file: Path | None = None


class RobotMeshes:
    """Shapes of the links of a robot, by the description that it was loaded from."""

    document: Document | None
    mechanism: Mechanism
    _shapes: Shapes | None

    if TYPE_CHECKING:
        fk_all: Callable[..., Floats]
        neutral: Callable[[], Floats]

    @property
    def shapes(self) -> Shapes | None:
        """The shapes of links as they were described, no mesh opened; None without a description.

        See `link_parts` for the meshes.
        """
        if self._shapes is None and self.document is not None:
            self._shapes = shapes_from_urdf(self.document)
        return self._shapes

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
        ``missing="skip"`` leaves out what cannot be had. A plane has no end, so it has no mesh.

        Raises: UnknownNameError for a link; InputError for a mesh that is not found or is faulty;
        MissingExtraError where a format needs a package that is not installed;
        UnsupportedFeatureError for a shape that is not read, and a robot without a description.
        """
        shapes = self._described_shapes()
        if missing not in ("raise", "skip"):
            raise InputError(f"missing is 'raise' or 'skip', not {missing!r}")
        found: list[ShownPart] = []
        for shape in _of_link(shapes, link, kind):
            shown = shown_parts(shape, shapes.file, allow)
            if shown.errors and missing == "raise":
                raise type(shown.errors[0])(f"link '{link}': {shown.errors[0]}") from None
            found.extend(shown.parts)
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
        for link in self._described_shapes().of_link:
            if link in T_world:  # the robot may be a part of what was described
                for part in self.link_parts(link, kind, allow=allow, missing=missing):
                    placed.append((part, T_world[link] @ part.T_link_part))
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

        shapes = self._described_shapes()
        masses: list[MassProperties] = []
        for shape in _of_link(shapes, link, kind):
            if isinstance(shape.shape, (Box, Sphere, Cylinder, Capsule, Ellipsoid)):
                mass = properties.mass_properties(shape.shape, density)
                masses.append(properties.placed(mass, shape.T_link_shape))
                continue
            try:
                for part in pieces(shape.shape, shapes.file, allow)[0]:
                    mass = properties.mass_properties(part.mesh, density, hull=hull)
                    masses.append(properties.placed(mass, shape.T_link_shape))
            except InputError as error:
                raise InputError(f"link '{link}': {error}") from None
        if not masses:
            raise InputError(f"link '{link}' has no {kind} shapes to take a mass from")
        return properties.lump(masses)

    def _described_shapes(self) -> Shapes:
        if self.shapes is None:
            raise UnsupportedFeatureError(
                f"'{self.mechanism.name}' has no description, and only from a URDF or an MJCF are "
                "shapes known"
            )
        return self.shapes


def _of_link(shapes: Shapes, name: str, kind: str) -> list[LinkShape]:
    """The shapes of one kind that a link has."""
    if kind not in KINDS:
        raise InputError(f"the shapes of a link are 'visual' or 'collision', not {kind!r}")
    if name not in shapes.of_link:
        raise UnknownNameError("link", name, list(shapes.of_link))
    return [shape for shape in shapes.of_link[name] if shape.kind == kind]


class ShownParts(NamedTuple):
    """The parts of a shape, why some are not there, and what was left out of their materials.

    ``pieces`` are the same as their file has them: at its origin, with its own look.
    """

    parts: list[ShownPart]
    pieces: list[ShownPart]
    errors: list[LinkworkError]
    left_out: tuple[str, ...]


Pieces: TypeAlias = "tuple[list[ShownPart], tuple[str, ...]]"


def shown_parts(
    shape: LinkShape,
    file: str | None,
    allow: Folders = (),
    known: dict[Shape, Pieces] | None = None,
) -> ShownParts:
    """The meshes of a shape on its link, with the look that the description gives them.

    ``file`` is the description that names of files are relative to. What cannot be had is an error
    in the result. ``known`` keeps the meshes of each shape, which are then shared.
    """
    try:
        of_shape, left_out = known[shape.shape] if known and shape.shape in known else pieces(
            shape.shape, file, allow
        )  # fmt: skip
    except LinkworkError as error:
        return ShownParts([], [], [error], ())
    if known is not None:
        known[shape.shape] = of_shape, left_out
    texture, errors = None, list[LinkworkError]()
    if shape.texture:
        try:
            texture = locate(shape.texture, file, allow, suffixes=IMAGE_SUFFIXES)
        except InputError as error:
            errors.append(error)
    own = shape.rgba is not None or texture is not None
    parts = [
        ShownPart(
            part.mesh,
            shape.T_link_shape,
            shape.name or part.name,
            shape.rgba if own else part.rgba,
            texture if own else part.texture,
            part.file,
        )
        for part in of_shape
    ]
    return ShownParts(parts, of_shape, errors, left_out)


def pieces(shape: Shape, file: str | None, allow: Folders = ()) -> Pieces:
    """The meshes of a shape in its own frame, and what of their materials was left out and why.

    ``file`` is the description that names of mesh files are relative to.

    Raises: as `RobotMeshes.link_parts`.
    """
    from linkwork.geometry import load  # noqa: PLC0415  few need it

    at_origin = np.eye(4)
    if isinstance(shape, MeshFile):
        path = first_found(shape.names, places(file, allow))
        roots = () if file is None else package_finder(file, allow).roots
        loaded, T = load.load(path, roots=roots), shape.T_shape_file
        found: list[ShownPart] = []
        for part in loaded.parts:
            mesh = part.mesh  # our own: each call of load gives its own
            if not np.array_equal(T, at_origin):
                mesh.apply_transform(T)
            found.append(ShownPart(mesh, at_origin, part.name, part.rgba, part.texture, path))
        return found, loaded.left_out
    if isinstance(shape, Unread):
        raise InputError(shape.why) if shape.fault else UnsupportedFeatureError(shape.why)
    if isinstance(shape, HalfSpace):
        return [], ()
    return [ShownPart(mesh_of(shape), at_origin)], ()


def first_found(names: Sequence[str], places: Places) -> Path:
    """The first of the names of a mesh file that there is a file of.

    Raises: InputError with what is said of the last.
    """
    for name in names[:-1]:
        try:
            return places.file(name)
        except InputError:
            continue
    return places.file(names[-1])


def _joined(placed: Iterable[tuple[ShownPart, Floats]]) -> Any:
    """One mesh of several parts, each moved to its place, colours kept on the faces."""
    from linkwork.geometry import load  # noqa: PLC0415  few need it

    moved: list[tuple[Any, Any]] = []
    for part, T in placed:
        part.mesh.apply_transform(T)
        moved.append((part.mesh, part.rgba))
    return load.joined(moved)
