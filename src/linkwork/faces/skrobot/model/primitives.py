"""Links with a simple shape: boxes, balls, axes, meshes, clouds of points.

Each is a `Link` at a pose, with a mesh to be seen and, of solids, one to collide. ``with_sdf``
gives solids a signed distance function that moves with them.
"""

# pyright: reportPrivateUsage=false
from __future__ import annotations

from collections.abc import Sequence
from operator import attrgetter
from typing import Any
from uuid import uuid4

import numpy as np
from numpy.typing import ArrayLike

from linkwork.errors import InputError, ShapeError
from linkwork.faces.skrobot.coordinates import CascadedCoords, Coordinates
from linkwork.faces.skrobot.model.link import Link
from linkwork.faces.skrobot.sdf import (
    BoxSDF,
    CylinderSDF,
    SignedDistanceFunction,
    SphereSDF,
    trimesh2sdf,
)
from linkwork.faces.skrobot.sdf.signed_distance_function import sizes

_EYE = np.eye(3)


def _named(name: str | None, kind: str) -> str:
    """The name that was given, or one that nothing else has."""
    return f"{kind}_{uuid4().hex}" if name is None else name


def _colored(made: Any, face_colors: Any = None, vertex_colors: Any = None) -> Any:
    """A mesh in one colour or one for each face or corner, of 3 or 4 numbers from 0 to 255."""
    mesh: Any = made
    if face_colors is not None:
        mesh.visual.face_colors = face_colors
    if vertex_colors is not None:
        mesh.visual.vertex_colors = vertex_colors
    return mesh


class _Shape(Link):
    """A link with a mesh, at a pose."""

    def __init__(
        self,
        kind: str,
        mesh: Any,
        pos: ArrayLike,
        rot: ArrayLike,
        name: str | None,
        *,
        collides: bool = True,
    ) -> None:
        super().__init__(pos=pos, rot=rot, name=_named(name, kind), visual_mesh=mesh)
        whole = self.concatenated_visual_mesh if collides else None
        if hasattr(whole, "faces"):
            self.collision_mesh = whole

    def _attach(self, sdf: SignedDistanceFunction) -> None:
        """Let a signed distance function move with this link."""
        self.assoc(sdf, relative_coords="local")
        self._sdf = sdf


def _read_only(name: str, doc: str) -> Any:
    """A size as it was given: the mesh was made of it."""
    return property(attrgetter(name), doc=doc)


class SDFImplemented:
    """Links that can be made with a signed distance function of their solid, which is ``sdf``."""


class Axis(_Shape):
    """Three arrows along x (red), y (green) and z (blue), ``axis_length`` long, m."""

    def __init__(
        self,
        axis_radius: float = 0.01,
        axis_length: float = 0.1,
        alpha: float = 1.0,
        pos: ArrayLike = (0, 0, 0),
        rot: ArrayLike = _EYE,
        name: str | None = None,
    ) -> None:
        from trimesh.creation import axis  # noqa: PLC0415  loaded on use

        radius, length = sizes([axis_radius, axis_length], "axis_radius and axis_length", 2)
        mesh: Any = axis(origin_size=radius, axis_radius=radius, axis_length=length)
        if alpha < 1.0:
            colors = np.array(mesh.visual.face_colors)
            colors[:, 3] = int(255 * alpha)
            mesh.visual.face_colors = colors
        super().__init__("axis", mesh, pos, rot, name, collides=False)
        self._axis_radius, self._axis_length = axis_radius, axis_length

    axis_radius = _read_only("_axis_radius", "Half the thickness of the arrows, m.")
    axis_length = _read_only("_axis_length", "The length of the arrows, m.")

    @classmethod
    def from_coords(cls, coords: Coordinates, **kwargs: Any) -> Axis:
        """An axis where ``coords`` is now."""
        return cls(pos=coords.worldpos(), rot=coords.worldrot(), **kwargs)

    @classmethod
    def from_cascoords(cls, cascoords: CascadedCoords, **kwargs: Any) -> Axis:
        """An axis that moves with ``cascoords``."""
        made = cls(**kwargs)
        cascoords.assoc(made, relative_coords="local")
        return made


class Box(_Shape, SDFImplemented):
    """A box of full side lengths ``extents`` (3,), m."""

    def __init__(
        self,
        extents: ArrayLike,
        vertex_colors: Any = None,
        face_colors: Any = None,
        pos: ArrayLike = (0, 0, 0),
        rot: ArrayLike = _EYE,
        name: str | None = None,
        with_sdf: bool = False,
    ) -> None:
        from trimesh.creation import box  # noqa: PLC0415  loaded on use

        lengths = sizes(extents, "extents", 3)
        mesh = _colored(box(extents=lengths), face_colors, vertex_colors)
        super().__init__("box", mesh, pos, rot, name)
        self._extents = extents
        if with_sdf:
            self._attach(BoxSDF(lengths))

    extents = _read_only("_extents", "The full lengths of the sides, m, as they were given.")


class CameraMarker(_Shape):
    """A camera's field of view ``fov`` (2,) in degrees, or of this focal length, as a pyramid.

    The camera stands in the tip and looks along z; the pyramid is ``marker_height`` high, m.
    """

    def __init__(  # noqa: PLR0913, PLR0917  as in the original
        self,
        focal: ArrayLike | None = None,
        fov: ArrayLike = (70, 40),
        z_near: float = 0.01,
        z_far: float = 1000.0,
        marker_height: float = 0.4,
        pos: ArrayLike = (0, 0, 0),
        rot: ArrayLike = _EYE,
        without_axis: bool = False,
        name: str | None = None,
    ) -> None:
        import trimesh  # noqa: PLC0415  loaded on use

        if focal is None:
            angles = np.radians(np.asarray(fov, np.float64))
            half = np.where(angles < np.pi, np.tan(angles / 2.0), np.inf)
        else:  # of an image that is two units wide and high
            half = 1.0 / np.asarray(focal, np.float64)
        if half.shape != (2,) or not np.all(np.isfinite(half)) or half.min() <= 0.0:
            raise InputError(f"a field of view has two angles below 180 degrees, not {fov}")
        across = np.array([(-1, -1), (1, -1), (1, 1), (-1, 1)]) * half * marker_height
        corners = np.vstack([np.zeros(3), np.column_stack([across, np.full(4, marker_height)])])
        edges = [(0, k) for k in range(1, 5)] + [(k, k % 4 + 1) for k in range(1, 5)]
        parts: list[Any] = [
            trimesh.creation.cylinder(0.01 * marker_height, segment=corners[[a, b]], sections=8)
            for a, b in edges
        ]
        for part in parts:
            part.visual.face_colors = (80, 80, 80, 255)
        if not without_axis:
            size = 0.02 * marker_height
            parts.append(
                trimesh.creation.axis(size, axis_radius=size, axis_length=0.5 * marker_height)
            )
        mesh = trimesh.util.concatenate(parts)
        super().__init__("cameramarker", mesh, pos, rot, name, collides=False)
        self.z_near, self.z_far = z_near, z_far


class Cone(_Shape):
    """A cone about z: its base at z = 0, its tip at z = ``height``, m."""

    def __init__(
        self,
        radius: float,
        height: float,
        sections: int = 32,
        vertex_colors: Any = None,
        face_colors: Any = None,
        pos: ArrayLike = (0, 0, 0),
        rot: ArrayLike = _EYE,
        name: str | None = None,
    ) -> None:
        from trimesh.creation import cone  # noqa: PLC0415  loaded on use

        r, h = sizes([radius, height], "radius and height", 2)
        mesh = _colored(cone(r, h, sections=sections), face_colors, vertex_colors)
        super().__init__("cone", mesh, pos, rot, name)
        self.radius, self.height = radius, height


class Cylinder(_Shape, SDFImplemented):
    """A cylinder about z, from -height/2 to height/2, m."""

    def __init__(  # noqa: PLR0913, PLR0917  as in the original
        self,
        radius: float,
        height: float,
        sections: int = 32,
        vertex_colors: Any = None,
        face_colors: Any = None,
        pos: ArrayLike = (0, 0, 0),
        rot: ArrayLike = _EYE,
        name: str | None = None,
        with_sdf: bool = False,
    ) -> None:
        from trimesh.creation import cylinder  # noqa: PLC0415  loaded on use

        r, h = sizes([radius, height], "radius and height", 2)
        mesh = _colored(cylinder(r, h, sections=sections), face_colors, vertex_colors)
        super().__init__("cylinder", mesh, pos, rot, name)
        self.radius, self.height = radius, height
        if with_sdf:
            self._attach(CylinderSDF(h, r))


class Capsule(_Shape):
    """A cylinder about z of this height between two half balls, m, centred."""

    def __init__(
        self,
        radius: float,
        height: float,
        sections: int = 32,
        vertex_colors: Any = None,
        face_colors: Any = None,
        pos: ArrayLike = (0, 0, 0),
        rot: ArrayLike = _EYE,
        name: str | None = None,
    ) -> None:
        from trimesh.creation import capsule  # noqa: PLC0415  loaded on use

        r, h = sizes([radius, height], "radius and height", 2)
        mesh = capsule(h, r, count=(sections, sections))
        mesh.apply_translation(-mesh.bounds.mean(axis=0))  # releases of trimesh place it apart
        mesh = _colored(mesh, face_colors, vertex_colors)
        super().__init__("capsule", mesh, pos, rot, name)
        self._radius, self._height = radius, height

    radius = _read_only("_radius", "The radius, m.")
    height = _read_only("_height", "The height of the part between the half balls, m.")


class Sphere(_Shape, SDFImplemented):
    """A ball; ``subdivisions`` of an icosahedron make its mesh."""

    def __init__(
        self,
        radius: float,
        subdivisions: int = 3,
        color: Any = None,
        pos: ArrayLike = (0, 0, 0),
        rot: ArrayLike = _EYE,
        name: str | None = None,
        with_sdf: bool = False,
    ) -> None:
        from trimesh.creation import icosphere  # noqa: PLC0415  loaded on use

        r = float(sizes(radius, "radius", 1)[0])
        mesh = _colored(icosphere(subdivisions=subdivisions, radius=r), color)
        super().__init__("sphere", mesh, pos, rot, name)
        self._radius = radius
        if with_sdf:
            self._attach(SphereSDF(r))

    radius = _read_only("_radius", "The radius, m.")


class Annulus(_Shape):
    """A ring about z between two radii, from -height/2 to height/2, m."""

    def __init__(
        self,
        r_min: float,
        r_max: float,
        height: float,
        vertex_colors: Any = None,
        face_colors: Any = None,
        pos: ArrayLike = (0, 0, 0),
        rot: ArrayLike = _EYE,
        name: str | None = None,
    ) -> None:
        from trimesh.creation import annulus  # noqa: PLC0415  loaded on use

        low, high, h = sizes([r_min, r_max, height], "r_min, r_max and height", 3)
        mesh = _colored(annulus(min(low, high), max(low, high), h), face_colors, vertex_colors)
        super().__init__("annulus", mesh, pos, rot, name)
        self.r_min, self.r_max, self.height = r_min, r_max, height


class LineString(_Shape):
    """A line through points (n, 3), m, in the link's frame.

    Raises: TypeError for what is no array; ShapeError, an AssertionError too, for fewer than two
    points or rows of other lengths.
    """

    def __init__(
        self,
        points: Any,
        color: Any = None,
        pos: ArrayLike = (0, 0, 0),
        rot: ArrayLike = _EYE,
        name: str | None = None,
    ) -> None:
        from trimesh.path import Path3D  # noqa: PLC0415  loaded on use
        from trimesh.path.entities import Line  # noqa: PLC0415

        if not isinstance(points, np.ndarray):
            raise TypeError(f"points must be np.ndarray, not {type(points).__name__}")
        rows = np.asarray(points, np.float64)
        if rows.ndim != 2 or rows.shape[1] != 3 or len(rows) < 2:
            raise _WrongRowsError(f"points are rows (n, 3), two or more, not {rows.shape}")
        path = Path3D([Line(np.arange(len(rows)))], vertices=rows, process=False)
        path.colors = [(255, 0, 0, 255) if color is None else color]
        super().__init__("linestring", path, pos, rot, name, collides=False)


class MeshLink(_Shape, SDFImplemented):
    """A link with meshes: of trimesh, one or several, or the name of a file.

    ``gridsdf_kwargs`` are those of `trimesh2sdf`.
    """

    def __init__(
        self,
        visual_mesh: Any = None,
        pos: ArrayLike = (0, 0, 0),
        rot: ArrayLike = _EYE,
        name: str | None = None,
        with_sdf: bool = False,
        **gridsdf_kwargs: Any,
    ) -> None:
        super().__init__("meshlink", visual_mesh, pos, rot, name)
        if with_sdf:
            if self.collision_mesh is None:
                raise InputError("a link without a mesh has no signed distance function")
            self._attach(trimesh2sdf(self.collision_mesh, **gridsdf_kwargs))


class PointCloudLink(_Shape):
    """Points (n, 3), m, or a point cloud of trimesh, in colours of 3 or 4 numbers to 255.

    Raises: ShapeError, an AssertionError too, for rows of other lengths.
    """

    def __init__(
        self,
        point_cloud_like: Any = None,
        colors: Any = None,
        pos: ArrayLike = (0, 0, 0),
        rot: ArrayLike = _EYE,
        name: str | None = None,
    ) -> None:
        from trimesh import PointCloud  # noqa: PLC0415  loaded on use

        cloud = point_cloud_like
        if cloud is not None and not isinstance(cloud, PointCloud):
            rows = np.asarray(cloud, np.float64)
            if rows.ndim != 2 or rows.shape[1] != 3:
                raise _WrongRowsError(f"a point cloud has rows (n, 3), not {rows.shape}")
            cloud = PointCloud(rows)
        if cloud is not None and colors is not None:
            given: Sequence[int] | Any = np.asarray(colors)
            cloud.colors = np.array(np.broadcast_to(given, (len(cloud.vertices), given.shape[-1])))
        super().__init__("pointcloudlink", cloud, pos, rot, name, collides=False)


class _WrongRowsError(ShapeError, AssertionError):
    """Rows of the wrong length, which the original asserts."""
