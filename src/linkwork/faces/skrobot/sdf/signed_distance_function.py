"""Signed distances of solids: negative inside, zero on the surface, in metres.

A signed distance function is a frame: it moves with the link that it is associated with, and takes
points (n, 3) of the world. Boxes, balls and cylinders are exact; meshes are sampled on a grid,
between whose nodes the distance is interpolated linearly.
"""

# pyright: reportPrivateUsage=false
from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from linkwork.errors import InputError, ShapeError
from linkwork.faces.skrobot.coordinates import CascadedCoords
from linkwork.geometry.signed_distance import DistanceGrid, to_ball, to_box, to_cylinder

Floats = NDArray[np.float64]

_SHARE = 0.01
"""The share of a solid's least size that a point may be off to count as on the surface."""


class SignedDistanceFunction(CascadedCoords):
    """The distance of points to the surface of a solid, negative inside (with ``use_abs``: never).

    Points are rows (n, 3) in the world, or one point (3,), which gives one number.
    """

    def __init__(self, use_abs: bool = False) -> None:
        super().__init__()
        self.use_abs = bool(use_abs)
        self._surface_threshold = 0.0

    def __call__(self, points_world: ArrayLike) -> Any:
        """Signed distances (n,) of points (n, 3) of the world, m.

        Raises: ShapeError for other shapes; InputError for numbers that are not finite.
        """
        points = _points(points_world)
        found = self._signed_distance(self._transform_pts_world_to_sdf(points))
        found = np.abs(found) if self.use_abs else found
        return found if np.ndim(points_world) == 2 else float(found[0])

    def on_surface(self, points_world: ArrayLike) -> tuple[Any, Any]:
        """Whether points lie on the surface (n,), within 1 % of the solid's size; and distances."""
        found = self(points_world)
        return np.abs(found) < self._surface_threshold, found

    def surface_points(self, n_sample: int = 1000) -> tuple[Floats, Floats]:
        """Points (n, 3) of the surface in the world, evenly at random, and their distances (n,)."""
        points = self._transform_pts_sdf_to_world(self._surface_points(n_sample))
        return points, np.asarray(self(points))

    def _transform_pts_world_to_sdf(self, points_world: ArrayLike) -> Floats:
        return np.asarray(self.worldcoords().inverse_transform_vector(_points(points_world)))

    def _transform_pts_sdf_to_world(self, points_sdf: ArrayLike) -> Floats:
        return np.asarray(self.worldcoords().transform_vector(_points(points_sdf)))

    def _signed_distance(self, points_sdf: Floats) -> Floats:
        raise NotImplementedError("a signed distance function defines _signed_distance")

    def _surface_points(self, n_sample: int = 1000) -> Floats:
        raise NotImplementedError("a signed distance function defines _surface_points")


class BoxSDF(SignedDistanceFunction):
    """A box of full side lengths ``width`` (3,), m, centred at its frame."""

    def __init__(self, width: ArrayLike, use_abs: bool = False) -> None:
        super().__init__(use_abs)
        self._width = sizes(width, "width", 3)
        self._surface_threshold = float(self._width.min()) * _SHARE

    def _signed_distance(self, points_sdf: Floats) -> Floats:
        return to_box(points_sdf, self._width)

    def _surface_points(self, n_sample: int = 1000) -> Floats:
        g = np.random.default_rng()
        half = 0.5 * self._width
        area = np.prod(self._width) / np.maximum(self._width, 1e-300)
        side = g.choice(3, n_sample, p=area / area.sum() if area.sum() > 0.0 else None)
        points = g.uniform(-half, half, (n_sample, 3))
        points[np.arange(n_sample), side] = half[side] * g.choice((-1.0, 1.0), n_sample)
        return points


class SphereSDF(SignedDistanceFunction):
    """A ball of this radius, m."""

    def __init__(self, radius: float, use_abs: bool = False) -> None:
        super().__init__(use_abs)
        self._radius = float(sizes(radius, "radius", 1)[0])
        self._surface_threshold = self._radius * _SHARE

    def _signed_distance(self, points_sdf: Floats) -> Floats:
        return to_ball(points_sdf, self._radius)

    def _surface_points(self, n_sample: int = 1000) -> Floats:
        points = np.random.default_rng().standard_normal((n_sample, 3))
        return self._radius * points / np.linalg.norm(points, axis=1, keepdims=True)


class CylinderSDF(SignedDistanceFunction):
    """A cylinder about z from -height/2 to height/2, m."""

    def __init__(self, height: float, radius: float, use_abs: bool = False) -> None:
        super().__init__(use_abs)
        self._height, self._radius = sizes([height, radius], "height and radius", 2).tolist()
        self._surface_threshold = min(self._height, self._radius) * _SHARE

    def _signed_distance(self, points_sdf: Floats) -> Floats:
        return to_cylinder(points_sdf, self._radius, self._height)

    def _surface_points(self, n_sample: int = 1000) -> Floats:
        g = np.random.default_rng()
        r, h = self._radius, self._height
        turn = g.uniform(0.0, 2.0 * np.pi, n_sample)
        mantle = g.uniform(0.0, h + r, n_sample) < h  # areas 2 pi r h and 2 pi r^2
        out = np.where(mantle, r, r * np.sqrt(g.uniform(0.0, 1.0, n_sample)))
        z = np.where(mantle, g.uniform(-h, h, n_sample), h * g.choice((-1.0, 1.0), n_sample)) / 2
        return np.stack([out * np.cos(turn), out * np.sin(turn), z], axis=1)


class UnionSDF(SignedDistanceFunction):
    """The union of several solids: the least of their distances.

    Raises: AssertionError where some take absolute values, as the original does.
    """

    def __init__(self, sdf_list: Sequence[SignedDistanceFunction]) -> None:
        if any(sdf.use_abs for sdf in sdf_list):
            raise AssertionError("use_abs for each sdf must be consistent: False")
        if not sdf_list:
            raise InputError("a union needs at least one signed distance function")
        super().__init__(use_abs=False)
        self.sdf_list = list(sdf_list)
        self._surface_threshold = min(sdf._surface_threshold for sdf in self.sdf_list)

    @classmethod
    def from_robot_model(cls, robot_model: Any, dim_grid: int = 50) -> UnionSDF:
        """The union over the links of a robot that have a collision mesh; it moves with them.

        Raises: InputError for a robot without collision meshes.
        """
        made = []
        for link in robot_model.link_list:
            if link.collision_mesh is None:
                continue
            sdf = link2sdf(link, dim_grid=dim_grid)
            link.assoc(sdf, relative_coords="local")
            made.append(sdf)
        return cls(made)

    def __call__(self, points_world: ArrayLike) -> Any:
        """Signed distances (n,) of points (n, 3) of the world, m."""
        return np.min([sdf(points_world) for sdf in self.sdf_list], axis=0)

    def surface_points(self, n_sample: int = 1000) -> tuple[Floats, Floats]:
        """Points (n, 3) of the surfaces in the world, and their distances (n,) to the union."""
        counts = np.full(len(self.sdf_list), n_sample // len(self.sdf_list))
        counts[: n_sample % len(self.sdf_list)] += 1
        several = zip(self.sdf_list, counts.tolist(), strict=True)
        points = np.concatenate([sdf.surface_points(count)[0] for sdf, count in several])
        return points, np.asarray(self(points))

    def _signed_distance(self, points_sdf: Floats) -> Floats:
        return np.asarray(self(self._transform_pts_sdf_to_world(points_sdf)))

    def _surface_points(self, n_sample: int = 1000) -> Floats:
        return self._transform_pts_world_to_sdf(self.surface_points(n_sample)[0])


class GridSDF(SignedDistanceFunction):
    """Distances at the nodes of a grid, interpolated linearly between them.

    ``sdf_data`` (nx, ny, nz) are the distances at ``origin + resolution * (i, j, k)`` in its own
    frame; points outside the grid have the distance ``fill_value``.

    Raises: ShapeError, InputError for data of another shape or a resolution that is not positive.
    """

    def __init__(
        self,
        sdf_data: ArrayLike,
        origin: ArrayLike,
        resolution: float,
        fill_value: float = np.inf,
        use_abs: bool = False,
    ) -> None:
        super().__init__(use_abs)
        self._grid = DistanceGrid(
            np.array(sdf_data, np.float64), _points(origin)[0], float(resolution)
        )
        self.origin, self.fill_value = self._grid.origin, float(fill_value)
        self._surface_threshold = self.resolution * np.sqrt(2.0) / 2.0

    @classmethod
    def of(cls, grid: DistanceGrid, **kwargs: Any) -> GridSDF:
        """The signed distance function of a grid of the core."""
        return cls(grid.data, grid.origin, grid.spacing, **kwargs)

    @property
    def resolution(self) -> float:
        """The edge of a cell of the grid, m."""
        return self._grid.spacing

    def is_out_of_bounds(self, points_world: ArrayLike) -> NDArray[np.bool_]:
        """Whether points (n, 3) of the world lie outside the grid (n,)."""
        return ~self._grid.holds(self._transform_pts_world_to_sdf(points_world))

    @staticmethod
    def from_file(filepath: str | Path, **kwargs: Any) -> GridSDF:
        """The grid of a text file ``.sdf``: dimensions, origin, spacing, then distances, x first.

        Raises: InputError for a file of another form; FileNotFoundError.
        """
        return GridSDF.of(DistanceGrid.read(filepath), **kwargs)

    @staticmethod
    def from_objfile(
        obj_filepath: str | Path, dim_grid: int = 100, padding_grid: int = 5, **kwargs: Any
    ) -> GridSDF:
        """The grid of a mesh file, ``dim_grid`` nodes along its longest side, some of them around.

        Raises: as `linkwork.geometry.load.load`; MissingExtraError without scipy.
        """
        return _grid_of(_loaded(obj_filepath), dim_grid, padding_grid, **kwargs)

    @staticmethod
    def from_meshes(
        meshes: Sequence[Any],
        lower: ArrayLike,
        upper: ArrayLike,
        resolution: float = 0.02,
        **kwargs: Any,
    ) -> GridSDF:
        """The grid of several meshes over the box from ``lower`` to ``upper``, both (3,), m.

        The distances at the nodes are those to the triangles.

        Raises: MissingExtraError without scipy; InputError for a box that is none.
        """
        ends = _points(lower)[0], _points(upper)[0]
        grid = DistanceGrid.over_box(_joined(meshes), *ends, float(resolution))
        return GridSDF.of(grid, **kwargs)

    def _signed_distance(self, points_sdf: Floats) -> Floats:
        return self._grid.at(points_sdf, self.fill_value)

    def _surface_points(self, n_sample: int | None = None) -> Floats:
        """Points where edges of the grid pass through the surface, all or so many of them."""
        points = self._grid.surface()
        if n_sample is None or len(points) == 0:
            return points
        g = np.random.default_rng()
        return points[g.choice(len(points), n_sample, replace=len(points) < n_sample)]


def trimesh2sdf(mesh: Any, **gridsdf_kwargs: Any) -> SignedDistanceFunction:
    """The signed distance function of a mesh of trimesh: of the solid it was made as, or a grid.

    ``gridsdf_kwargs`` are those of `GridSDF.from_objfile`: dim_grid, padding_grid, ...
    """
    told: dict[str, Any] = getattr(mesh, "metadata", None) or {}
    shape = told.get("shape")
    sdf: SignedDistanceFunction | None = None
    try:
        if shape == "box":
            sdf = BoxSDF(told["extents"])
        elif shape == "sphere":
            sdf = SphereSDF(told["radius"])
        elif shape == "cylinder":
            sdf = CylinderSDF(height=told["height"], radius=told["radius"])
    except KeyError:
        sdf = None
    if sdf is None or not _is_still(mesh, sdf):
        return _grid_of(mesh, **gridsdf_kwargs)
    return sdf


def link2sdf(link: Any, dim_grid: int = 30) -> SignedDistanceFunction:
    """The signed distance function of a link's collision mesh, in the link's frame.

    Raises: InputError for a link without one.
    """
    if link.collision_mesh is None:
        raise InputError(f"link '{link.name}' has no collision mesh")
    return trimesh2sdf(link.collision_mesh, dim_grid=dim_grid)


def ray_marching(
    pts_starts: ArrayLike, direction_arr: ArrayLike, f_sdf: Callable[..., Any], threshold: float
) -> tuple[Floats, Floats]:
    """Points (n, 3) where rays first come within ``threshold`` of a surface; their distances (n,).

    A ray that meets nothing stays where it was after a hundred steps.
    """
    points, way = _points(pts_starts).copy(), _points(direction_arr)
    distances = np.asarray(f_sdf(points))
    for _ in range(100):
        far = (np.abs(distances) > threshold) & np.isfinite(distances)
        if not far.any():
            break
        points[far] += distances[far, None] * way[far]
        distances = np.asarray(f_sdf(points))
    return points, distances


def sizes(given: ArrayLike, name: str, n: int) -> Floats:
    """Lengths (n,) that are finite and not negative.

    Raises: InputError, ShapeError.
    """
    found = np.atleast_1d(np.asarray(given, np.float64))
    if found.shape != (n,):
        raise ShapeError(f"{name}: {n} length{'' if n == 1 else 's'} expected, not {found.shape}")
    if not np.all(np.isfinite(found)) or found.min() < 0.0:
        raise InputError(f"{name}: lengths are finite and not negative, not {found.tolist()}")
    return found


def _points(given: ArrayLike) -> Floats:
    rows = np.asarray(given, np.float64)
    if rows.ndim not in (1, 2) or rows.shape[-1] != 3:
        raise ShapeError(f"points are rows (n, 3), not {rows.shape}")
    return np.atleast_2d(rows)


# --- meshes ---------------------------------------------------------------------------------------


def _loaded(file: str | Path) -> Any:
    from linkwork.geometry.load import load  # noqa: PLC0415  imports trimesh

    return load(file).mesh()


def _joined(meshes: Any) -> Any:
    import trimesh  # noqa: PLC0415  loaded on use

    several = list(meshes) if isinstance(meshes, (list, tuple)) else [meshes]
    return several[0] if len(several) == 1 else trimesh.util.concatenate(several)


def _is_still(mesh: Any, sdf: SignedDistanceFunction) -> bool:
    """Whether a mesh's corners are on the solid it says it was made as: it may have been moved."""
    off = sdf._signed_distance(np.asarray(mesh.vertices, np.float64))
    return bool(np.all(np.abs(off) <= 1e-6 * max(float(mesh.scale), 1e-9)))


def _grid_of(mesh: Any, dim_grid: int = 100, padding_grid: int = 5, **kwargs: Any) -> GridSDF:
    return GridSDF.of(DistanceGrid.of_mesh(mesh, dim_grid, padding_grid), **kwargs)
