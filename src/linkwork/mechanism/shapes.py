"""Shapes on the links of a robot, whatever it was described in.

What a URDF and an MJCF say of looks and collisions becomes the same records: a shape, its pose in
the link's frame, its colour. Nothing is opened here; a mesh is a name, to be found when it is
asked for (`linkwork.appearance`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from linkwork.formats.mjcf.records import Geom, MjcfModel
from linkwork.formats.urdf import records
from linkwork.formats.urdf.records import Box, Capsule, Cylinder, Document, Rgba, Sphere, Vector3
from linkwork.mechanism.from_urdf import rotation_from_rpy
from linkwork.mechanism.model import Floats
from linkwork.ops.numpy import PLAIN
from linkwork.spatial.poses import pose_matrix
from linkwork.spatial.rotations import from_quaternion

Kind: TypeAlias = Literal["visual", "collision"]
KINDS: tuple[Kind, ...] = ("visual", "collision")


@dataclass(frozen=True, slots=True)
class Ellipsoid:
    """An ellipsoid centred at its origin; ``radii`` are its half axes along x, y and z, metre."""

    radii: Vector3


@dataclass(frozen=True, slots=True)
class HalfSpace:
    """All that lies at z <= 0: a ground without end, z pointing out of it."""


@dataclass(frozen=True, slots=True)
class MeshFile:
    """A mesh file: the places where it may be, best first, and how it lies in its own frame.

    A vertex p of the file is ``scale * R.T (p - xyz)`` of the shape, R being the rotation of
    ``wxyz``.
    """

    names: tuple[str, ...]
    scale: Vector3 = (1.0, 1.0, 1.0)
    xyz: Vector3 = (0.0, 0.0, 0.0)
    wxyz: Rgba = (1.0, 0.0, 0.0, 0.0)

    @property
    def T_shape_file(self) -> Floats:
        """The matrix (4, 4) that takes points (x, y, z, 1) of the file to those of the shape."""
        T = np.eye(4)
        T[:3, :3] = np.array(from_quaternion(PLAIN, self.wxyz)).T
        T[:3, 3] = -T[:3, :3] @ self.xyz + 0.0
        return np.diag([*self.scale, 1.0]) @ T


class _Known:
    """A key of a weak dictionary, so that what is derived of it is kept as long."""

    __slots__ = ("__weakref__",)


@dataclass(frozen=True, eq=False, slots=True)
class Triangles(_Known):
    """Vertices (n, 3), metre, and faces (k, 3) of their numbers; without faces it is their hull."""

    vertices: Floats
    faces: NDArray[np.int64]


@dataclass(frozen=True, eq=False, slots=True)
class HeightField(_Known):
    """A ground over a rectangle of ``size`` (x, y), metre, in the middle of which its origin is.

    ``heights`` (m, n) are those of its corners, x along the first axis. Each cell has two
    triangles, which meet between its lowest x and y and its highest. It is solid down to ``depth``
    below the lowest corner.
    """

    heights: Floats
    size: tuple[float, float]
    depth: float

    def corners(self) -> Floats:
        """The points (m, n, 3) of the surface."""
        m, n = self.heights.shape
        x, y = (np.linspace(-0.5, 0.5, k) * side for k, side in zip((m, n), self.size, strict=True))
        return np.stack([*np.meshgrid(x, y, indexing="ij"), self.heights], axis=-1)

    @property
    def bottom(self) -> float:
        """The lower end of the solid."""
        return float(self.heights.min()) - self.depth


@dataclass(frozen=True, eq=False, slots=True)
class Points(_Known):
    """A cloud of points (n, 3), m, each of which is a ball of this ``radius``."""

    points: Floats
    radius: float = 0.0


def mesh_of(shape: Box | Sphere | Cylinder | Capsule | Ellipsoid | Triangles) -> Any:
    """The mesh of a solid (trimesh), a new one, in its own frame (m)."""
    from linkwork.geometry import volumes  # noqa: PLC0415  imports trimesh

    if isinstance(shape, Box):
        return volumes.box(shape.size)
    if isinstance(shape, Sphere):
        return volumes.sphere(shape.radius)
    if isinstance(shape, Ellipsoid):
        return volumes.ellipsoid(shape.radii)
    if isinstance(shape, Triangles):
        return volumes.triangles(shape.vertices, shape.faces)
    make = volumes.capsule if isinstance(shape, Capsule) else volumes.cylinder
    return make(shape.radius, shape.length)


@dataclass(frozen=True, slots=True)
class Unread:
    """A shape that is not read; ``why`` says which. One at ``fault`` could be mended."""

    why: str
    fault: bool = False


Shape: TypeAlias = (
    "Box | Cylinder | Sphere | Capsule | Ellipsoid | HalfSpace | MeshFile | Triangles | Unread"
)


@dataclass(frozen=True, eq=False, slots=True)
class LinkShape:
    """A shape on a link: ``T_link_shape`` (4, 4), what it is for, and its colour where it has one.

    ``texture`` is the name of an image file, as written.
    """

    shape: Shape
    kind: Kind
    T_link_shape: Floats
    name: str | None = None
    rgba: Rgba | None = None
    texture: str | None = None


@dataclass(frozen=True, eq=False, slots=True)
class Shapes:
    """The shapes of each link, in the order of the description, whose ``file`` meshes lie near."""

    file: str | None
    of_link: Mapping[str, tuple[LinkShape, ...]]


# --- URDF -----------------------------------------------------------------------------------------


def shapes_from_urdf(document: Document) -> Shapes:
    """The visuals and collisions of a URDF, with the materials that their names mean."""
    robot = document.robot
    materials: dict[str, records.Material] = {}
    worn = [v.material for link in robot.links for v in link.visuals if v.material]
    for material in (*robot.materials, *worn):  # the first definition counts, wherever it stands
        if material.name and (material.rgba is not None or material.texture):
            materials.setdefault(material.name, material)
    return Shapes(
        robot.file,
        {
            link.name: tuple(
                _of_shown(shown, materials, robot.file)
                for shown in (*link.visuals, *link.collisions)
                if shown.geometry is not None
            )
            for link in robot.links
        },
    )


def _of_shown(
    shown: records.Visual | records.Collision,
    materials: Mapping[str, records.Material],
    file: str | None,
) -> LinkShape:
    material = shown.material
    if material is not None and material.rgba is None and not material.texture:
        material = materials.get(material.name)
    shape = shown.geometry
    if isinstance(shape, records.Mesh):
        if shape.scale is None:
            line = f"{file}:{shape.line}: " if file else ""
            shape = Unread(
                f"{line}the scale of the mesh '{shape.filename}' is not three numbers, so its size "
                'is unknown: mend scale, such as scale="0.001 0.001 0.001"',
                fault=True,
            )
        else:
            shape = MeshFile((shape.filename,), shape.scale)
    elif shape is None:
        shape = Unread("a shape without a geometry")
    return LinkShape(
        shape,
        "visual" if isinstance(shown, records.Visual) else "collision",
        _pose(rotation_from_rpy(shown.rpy), shown.xyz),
        shown.name,
        None if material is None else material.rgba,
        None if material is None else material.texture or None,
    )


# --- MJCF -----------------------------------------------------------------------------------------


def shapes_from_mjcf(model: MjcfModel) -> Shapes:
    """The geoms of an MJCF, as what is seen and what collides.

    Seen is what MuJoCo's own viewer shows at first, groups 0 to 2; where a body has geoms for
    looks alone (they collide with nothing) in a group of their own, only these. The others, and
    whatever collides, are collisions.
    """
    of_body: dict[int, list[Geom]] = {}
    for geom in model.geoms:
        of_body.setdefault(geom.body, []).append(geom)
    found: dict[str, tuple[LinkShape, ...]] = {}
    for number, body in enumerate(model.bodies):
        geoms = of_body.get(number, [])
        seen = [geom for geom in geoms if geom.group <= _LAST_SEEN]
        looks = {geom.group for geom in seen if not geom.collides}
        if looks and any(geom.collides and geom.group not in looks for geom in seen):
            seen = [geom for geom in seen if geom.group in looks]
        bumped = [geom for geom in geoms if geom.collides or geom.group > _LAST_SEEN]
        found[body.name] = (
            *(_of_geom(geom, "visual") for geom in seen),
            *(_of_geom(geom, "collision") for geom in bumped),
        )
    return Shapes(model.file, found)


_LAST_SEEN = 2
"""The last group of geoms that MuJoCo's viewer shows at first."""


def _of_geom(geom: Geom, kind: Kind) -> LinkShape:
    T = _pose(np.array(from_quaternion(PLAIN, geom.quat)), geom.pos)
    return LinkShape(_shape(geom), kind, T, geom.name or None, geom.rgba)


def _shape(geom: Geom) -> Shape:
    """The shape of a geom."""
    mesh = geom.mesh
    if mesh is None:
        make = _SHAPES.get(geom.type)
        name = f" '{geom.name}'" if geom.name else ""
        return make(*geom.size) if make else Unread(f"the {_OTHERS[geom.type]}{name} is not read")
    if mesh.files:
        return MeshFile(mesh.files, mesh.scale, mesh.ref_pos, mesh.ref_quat)
    if mesh.vertices:
        faces = np.array(mesh.faces, np.int64).reshape(-1, 3)
        return Triangles(np.array(mesh.vertices), faces)
    return Unread(f"the mesh '{mesh.name}' is made by MuJoCo itself, and is not read")


_SHAPES: dict[str, Callable[[float, float, float], Shape]] = {  # MuJoCo's sizes are halves
    "box": lambda x, y, z: Box((2 * x, 2 * y, 2 * z)),
    "sphere": lambda r, _y, _z: Sphere(r),
    "capsule": lambda r, half, _z: Capsule(r, 2 * half),
    "cylinder": lambda r, half, _z: Cylinder(r, 2 * half),
    "ellipsoid": lambda x, y, z: Ellipsoid((x, y, z)),
    "plane": lambda _x, _y, _z: HalfSpace(),
}
_OTHERS = {"hfield": "height field", "sdf": "plugin's shape"}


def _pose(R: Floats, p: Vector3) -> Floats:
    """A pose (4, 4), read-only."""
    T = pose_matrix(R, p)
    T.setflags(write=False)
    return T
