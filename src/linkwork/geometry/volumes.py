"""Simple bodies around meshes and points: convex hull, boxes, sphere; by trimesh and scipy."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from linkwork.errors import InputError
from linkwork.geometry.guards import missing_extra

if TYPE_CHECKING:
    import trimesh

Floats = NDArray[np.float64]


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
    try:
        import trimesh  # noqa: PLC0415  only who opens meshes needs it
        from scipy.spatial import QhullError  # noqa: PLC0415
    except ImportError as error:
        raise missing_extra("convex hulls", error.name or "scipy") from error
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
