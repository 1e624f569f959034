"""The shapes of descriptions as meshes, and simple shapes around meshes and points.

The meshes are closed and centred, normals outward, and made by trimesh.

A cylinder's and a capsule's axis is z. Corners of round shapes lie on the surface, so meshes are a
little smaller than the shapes: see `SIDES` and `SUBDIVISIONS`. trimesh merges corners nearer than
1e-8, whatever the size of the shape, so each is made with a radius of 1 and scaled.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from linkwork import extras
from linkwork.errors import InputError

if TYPE_CHECKING:
    import trimesh

Floats = NDArray[np.float64]

SIDES = 32
"""Sides of cylinders and capsules: 0.6 % less volume than the cylinder, 0.5 % of the radius off."""

SUBDIVISIONS = 3
"""Times that the icosahedron of a sphere is divided: 642 corners, 0.9 % less volume."""


def box(size: Sequence[float]) -> trimesh.Trimesh:
    """A box with edges of these lengths (3,) along x, y and z: 12 triangles.

    Raises: InputError for lengths that are not positive and finite.
    """
    if len(size) != 3:
        raise InputError(f"a box has three edges, not {len(size)}")
    edges = [_length(edge, "edge of a box") for edge in size]
    return _scaled(_trimesh().creation.box(extents=[1.0, 1.0, 1.0]), edges)


def cylinder(radius: float, length: float) -> trimesh.Trimesh:
    """A cylinder about z, from -length/2 to length/2.

    Raises: InputError for sizes that are not positive and finite.
    """
    r, h = _length(radius, "radius of a cylinder"), _length(length, "length of a cylinder")
    made = _trimesh().creation.cylinder(radius=1.0, height=1.0, sections=SIDES)
    return _scaled(made, [r, r, h])


def sphere(radius: float) -> trimesh.Trimesh:
    """A sphere.

    Raises: InputError for a radius that is not positive and finite.
    """
    made = _trimesh().creation.icosphere(subdivisions=SUBDIVISIONS, radius=1.0)
    return _scaled(made, [_length(radius, "radius of a sphere")] * 3)


def ellipsoid(radii: Sequence[float]) -> trimesh.Trimesh:
    """An ellipsoid with these half axes (3,) along x, y and z.

    Raises: InputError for half axes that are not positive and finite.
    """
    if len(radii) != 3:
        raise InputError(f"an ellipsoid has three half axes, not {len(radii)}")
    made = _trimesh().creation.icosphere(subdivisions=SUBDIVISIONS, radius=1.0)
    return _scaled(made, [_length(radius, "half axis of an ellipsoid") for radius in radii])


def triangles(vertices: ArrayLike, faces: ArrayLike = ()) -> trimesh.Trimesh:
    """A mesh of vertices (n, 3) and faces (k, 3) of their numbers; without faces, their hull.

    Raises: InputError for numbers that are not finite, and faces whose vertices do not exist.
    """
    points, corners = _points(vertices), np.asarray(faces)
    if not corners.size:
        return convex_hull(points)
    if corners.ndim != 2 or corners.shape[1] != 3 or corners.dtype.kind not in "iu":
        raise InputError(f"faces of shape (k, 3), whole numbers, are needed, not {corners.shape}")
    if corners.min() < 0 or corners.max() >= len(points):
        worst = corners.min() if corners.min() < 0 else corners.max()
        raise InputError(f"a face has vertex {worst}, and there are {len(points)}")
    return _trimesh().Trimesh(points, corners.astype(np.int64), process=False)


def capsule(radius: float, length: float) -> trimesh.Trimesh:
    """A capsule about z: a cylinder from -length/2 to length/2, and half a sphere at each end.

    Raises: InputError for a radius that is not positive and a length below 0.
    """
    r = _length(radius, "radius of a capsule")
    h = _length(length, "length of a capsule") if float(length) != 0 else 0.0
    made = _trimesh().creation.capsule(height=h / r, radius=1.0, count=[SIDES, SIDES])
    made.apply_translation(-made.bounds.mean(axis=0))  # older versions start it at the origin
    return _scaled(made, [r, r, r])


def _scaled(mesh: Any, scale: Sequence[float]) -> Any:
    mesh.apply_transform(np.diag([*scale, 1.0]))
    return mesh


def _length(value: Any, what: str) -> float:
    number = float(value)
    if not np.isfinite(number) or number <= 0:
        raise InputError(f"the {what} is {number:g} m; a positive number is needed")
    return number


def _trimesh() -> Any:
    with extras.needed("meshes need", "trimesh", "meshes"):
        import trimesh  # noqa: PLC0415  only who opens meshes needs it
    return trimesh


# ---- around meshes and points


def axis_aligned_box(points: ArrayLike) -> Floats:
    """The smallest box along the axes around points (n, 3): (2, 3), the lowest corner first.

    Raises: InputError for no points, points of another shape, and numbers that are not finite.
    """
    array = _points(points)
    return np.array([array.min(axis=0), array.max(axis=0)])


def convex_hull(mesh: Any) -> trimesh.Trimesh:
    """The convex hull of a mesh, or of points (n, 3): closed, normals outward.

    Raises: InputError for points that lie in a plane; MissingExtraError without scipy.
    """
    points = _points(getattr(mesh, "vertices", mesh))
    trimesh = _trimesh()
    with extras.needed("convex hulls need", "scipy", "meshes"):
        from scipy.spatial import QhullError  # noqa: PLC0415  only who makes hulls needs it
    reason = "there is no convex hull: the points lie in a plane or a line, or are fewer than four"
    spread = np.linalg.svd(points - points.mean(axis=0), compute_uv=False)
    if len(points) < 4 or spread[2] <= 1e-10 * spread[0]:
        raise InputError(reason)
    try:
        return trimesh.convex.convex_hull(points)
    except (QhullError, ValueError, IndexError) as error:
        raise InputError(reason) from error


def oriented_box(mesh: Any) -> tuple[Floats, Floats]:
    """A small box around a mesh, or points (n, 3), in any direction: T (4, 4) and extents (3,).

    T is the pose of the box's centre; the box reaches extents / 2 from it along its axes. One face
    of it lies on a face of the convex hull.

    Raises: as `convex_hull`.
    """
    hull = convex_hull(mesh)
    import trimesh  # noqa: PLC0415  there, as the hull is

    T_box_mesh, _ = trimesh.bounds.oriented_bounds(hull, ordered=False)
    T = np.asarray(np.linalg.inv(T_box_mesh), np.float64)
    # The corners of the hull decide, not the rounding on the way: all lie inside.
    local = (np.asarray(hull.vertices) - T[:3, 3]) @ T[:3, :3]
    low, high = local.min(axis=0), local.max(axis=0)
    T[:3, 3] += T[:3, :3] @ ((low + high) / 2)
    if np.linalg.det(T[:3, :3]) < 0:
        T[:3, 2] = -T[:3, 2]
    return T, np.asarray(high - low, np.float64)


def bounding_sphere(mesh: Any) -> tuple[Floats, float]:
    """The smallest sphere around a mesh, or points (n, 3): its centre (3,) and radius.

    The points that the sphere rests on are at most four; the farthest one outside joins them, and
    the smallest sphere around these is taken, until none is outside: its radius grows each time.

    Source: B. Gärtner, "Fast and robust smallest enclosing balls", ESA 1999 (its pivoting).

    Raises: InputError as `axis_aligned_box`.
    """
    points = np.unique(_points(getattr(mesh, "vertices", mesh)), axis=0)
    centre = (points.min(axis=0) + points.max(axis=0)) / 2
    held: list[int] = []
    for _ in range(1000):
        distances = np.linalg.norm(points - centre, axis=1)
        far = int(distances.argmax())
        radius = max((float(distances[k]) for k in held), default=0.0)
        if distances[far] <= radius * (1 + 1e-9) or far in held:
            break
        held, centre = _smallest(points, [*held, far])
    return centre, float(np.linalg.norm(points - centre, axis=1).max())


def _smallest(points: Floats, held: list[int]) -> tuple[list[int], Floats]:
    """The smallest sphere around up to five points: those that it rests on, and its centre."""
    best: tuple[float, list[int], Floats] | None = None
    for count in range(1, min(len(held), 4) + 1):
        for chosen in combinations(held, count):
            centre = _through(points[list(chosen)])
            if centre is None:
                continue
            radius = np.linalg.norm(points[chosen[0]] - centre)
            reach = np.linalg.norm(points[held] - centre, axis=1).max()
            if reach <= radius * (1 + 1e-9) + 1e-300 and (best is None or radius < best[0]):
                best = (float(radius), list(chosen), centre)
    if best is None:
        raise InputError("the points are too close together or too far apart for a sphere")
    return best[1], best[2]


def _through(points: Floats) -> Floats | None:
    """The centre, among them, of the smallest sphere through one to four points."""
    edges = points[1:] - points[0]
    if not len(edges):
        return points[0]
    gram = edges @ edges.T
    try:
        weights = np.linalg.solve(2 * gram, np.diag(gram))
    except np.linalg.LinAlgError:
        return None
    return points[0] + weights @ edges


def _points(points: ArrayLike) -> Floats:
    array = np.asarray(points, np.float64)
    if array.ndim != 2 or array.shape[1] != 3 or not len(array):
        raise InputError(f"points of shape (n, 3) are needed, not {array.shape}")
    if not np.isfinite(array).all():
        raise InputError("points must be finite")
    return array
