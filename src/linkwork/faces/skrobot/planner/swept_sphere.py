"""Links of a robot against a signed distance function: ``skrobot.planner.swept_sphere``.

What touches is decided by the core on the links' collision meshes. The balls that the original
decides by are those of the core's model, which cover the links; they are for people to look at, and
for distances of single configurations.
"""

# pyright: reportPrivateUsage=false
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from linkwork.errors import InputError, UnsupportedFeatureError
from linkwork.faces.skrobot.coordinates.base import inverse_matrix
from linkwork.faces.skrobot.coordinates.math import finite
from linkwork.faces.skrobot.model.collision import shape_of
from linkwork.faces.skrobot.model.primitives import Sphere
from linkwork.faces.skrobot.planner.utils import get_robot_config, set_robot_config
from linkwork.faces.skrobot.sdf import BoxSDF, CylinderSDF, SphereSDF, UnionSDF
from linkwork.mechanism.shapes import Shapes
from linkwork.robot import Robot
from linkwork.scene import Scene

if TYPE_CHECKING:
    from linkwork.collision.model import CollisionModel
    from linkwork.faces.skrobot.model.core import CoreModel

Floats = NDArray[np.float64]

_SPACING = 0.03
"""The distance (m) of the points at which a function that is no known solid is asked."""
_FREE, _HIT = [0, 200, 0, 120], [200, 0, 0, 120]


def box_to_spheres(
    center: ArrayLike, extents: ArrayLike, n_per_axis: Any = 2, rotation: ArrayLike | None = None
) -> list[dict[str, Any]]:
    """Balls around the cells of a box: dictionaries of "type", "center" and "radius", m.

    The box is cut into ``n_per_axis`` cells along each of its axes, one number or three.

    Raises: InputError, ShapeError.
    """
    middle, size = finite(center, "center", (3,)), finite(extents, "extents", (3,))
    counts = np.broadcast_to(np.asarray(n_per_axis, int), (3,))
    if not (counts > 0).all():
        raise InputError(f"n_per_axis is one number or three, from 1, not {n_per_axis!r:.40}")
    R = np.eye(3) if rotation is None else finite(rotation, "rotation", (3, 3))
    cell = size / counts
    rows = [
        [(k + 0.5) * a - 0.5 * s for k in range(n)]
        for n, a, s in zip(counts, cell, size, strict=True)
    ]
    radius = 0.5 * float(np.linalg.norm(cell))
    grid = np.stack(np.meshgrid(*rows, indexing="ij"), axis=-1).reshape(-1, 3)
    return [
        {"type": "sphere", "center": point.tolist(), "radius": radius}
        for point in grid @ R.T + middle
    ]


class SweptSphereSdfCollisionChecker:
    """Links of a robot that are to keep clear of what a signed distance function says is there.

    ``sdf`` gives signed distances (n,) at points (n, 3) of the world. Boxes, balls, cylinders and
    unions of them (``Box(with_sdf=True).sdf``) are checked as they are; any other function is asked
    on a grid of 3 cm in the robot's reach, and stands for balls where it is within that grid's
    spacing of a surface.
    """

    def __init__(self, sdf: Callable[[Any], Any], robot_model: Any) -> None:
        if not callable(sdf):
            raise InputError(f"sdf is a function of points, not {type(sdf).__name__}")
        self.sdf = sdf
        self.robot_model = robot_model
        self.coll_link_list: list[Any] = []
        self._balls: list[Sphere] | None = None

    def add_collision_link(self, coll_link: Any) -> None:
        """Check this link too.

        Raises: InputError for a link without a collision mesh.
        """
        if coll_link.collision_mesh is None:
            raise InputError(f"link '{coll_link.name}' has no collision mesh to be checked")
        if all(link is not coll_link for link in self.coll_link_list):
            self.coll_link_list.append(coll_link)
            self._balls = None

    def add_collision_links(self, coll_links: Sequence[Any]) -> None:
        """Check these links too."""
        for link in coll_links:
            self.add_collision_link(link)

    # what it is made of, for the core

    def model(self, base: Any = None) -> tuple[CoreModel, CollisionModel]:
        """The core of the robot, and its model of the links that are checked.

        Raises: InputError where no link is.
        """
        if not self.coll_link_list:
            raise InputError("no link is checked: add_collision_link(link) first")
        core = self.robot_model._core(base)
        shapes = {core.link_name(k): (shape_of(k.collision_mesh),) for k in self.coll_link_list}
        made = Robot(core.robot.mechanism, shapes=Shapes(None, shapes)).collision(srdf=None)
        return core, made.with_pairs(ignore=list(shapes))

    def scene(self, core: CoreModel, margin: float = 0.0) -> Scene:
        """The obstacles where the core's robot stands now, ``margin`` (m) thicker than they are.

        Raises: UnsupportedFeatureError where a function that is no known solid has no surface near.
        """
        scene, T_root_world = Scene(), inverse_matrix(core.T_world_root())
        solids: list[Any] = self.sdf.sdf_list if isinstance(self.sdf, UnionSDF) else [self.sdf]
        if all(type(each) in _SOLIDS for each in solids):
            for k, each in enumerate(solids):
                _SOLIDS[type(each)](
                    scene, f"obstacle {k}", each, T_root_world @ each._world(), margin
                )
            return scene
        found = self._shell(margin)
        points = found @ T_root_world[:3, :3].T + T_root_world[:3, 3]
        scene.add_points("obstacles", points, radius=_SPACING * np.sqrt(3.0) / 2.0)
        return scene

    def _shell(self, margin: float) -> Floats:
        """Points (n, 3) of the world near the surface that lies ``margin`` outside."""
        middle = self.robot_model.worldpos()
        away = (link.worldpos() - middle for link in self.robot_model.link_list)
        reach = 1.5 * max(float(np.linalg.norm(each)) for each in away) + 0.5
        steps = np.arange(-reach, reach, _SPACING)
        found: list[Floats] = []
        for z in steps:
            x, y = np.meshgrid(steps, steps, indexing="ij")
            points = np.stack([x, y, np.full_like(x, z)], axis=-1).reshape(-1, 3) + middle
            away = np.asarray(self.sdf(points), np.float64) - margin
            found.append(points[np.abs(away) <= 0.5 * _SPACING])
        rows = np.concatenate(found)
        if not len(rows):
            raise UnsupportedFeatureError(
                f"the sdf has no surface within {reach:.1f} m of the robot"
            )
        return rows

    # single configurations

    def collision_check(self) -> bool:
        """Whether a link touches an obstacle where the robot is now."""
        core, model = self.model()
        return bool(model.collides(core.q(), self.scene(core)))

    @property
    def coll_sphere_list(self) -> list[Sphere]:
        """Balls that cover the links that are checked, as links that hang on them."""
        if self._balls is None:
            core, model = self.model()
            of_body = {core.link_name(link): link for link in self.coll_link_list}
            self._balls = []
            for name, frame, cover in zip(
                model.parts.bodies, model.parts.frames, model.parts.covers, strict=True
            ):
                link = of_body[name]
                T = inverse_matrix(core.robot.fk(core.q(), name)) @ core.robot.fk(core.q(), frame)
                for *centre, radius in cover.spheres.tolist():
                    ball = Sphere(radius, color=_FREE, pos=T[:3, :3] @ centre + T[:3, 3])
                    link.assoc(ball, relative_coords="local")
                    self._balls.append(ball)
        return self._balls

    @property
    def coll_radius_list(self) -> list[float]:
        """The radii of `coll_sphere_list`, m."""
        return [ball.radius for ball in self.coll_sphere_list]

    @property
    def n_feature(self) -> int:
        """The number of balls."""
        return len(self.coll_sphere_list)

    def _distances(self) -> Floats:
        points = np.array([ball.worldpos() for ball in self.coll_sphere_list])
        return np.asarray(self.sdf(points), np.float64) - self.coll_radius_list

    def update_color(self) -> Floats:
        """The signed distances (n,) of the balls now, m; those that touch are coloured red."""
        found = self._distances()
        for ball, away in zip(self.coll_sphere_list, found.tolist(), strict=True):
            ball.set_color(_FREE if away > 0.0 else _HIT)
        return found

    def add_coll_spheres_to_viewer(self, viewer: Any) -> None:
        """Show the balls."""
        for ball in self.coll_sphere_list:
            viewer.add(ball)

    def delete_coll_spheres_from_viewer(self, viewer: Any) -> None:
        """Show them no more."""
        for ball in self.coll_sphere_list:
            viewer.delete(ball)

    def compute_batch_sd_vals(
        self,
        joint_list: Sequence[Any],
        av_seq: ArrayLike,
        with_base: bool = False,
        with_jacobian: bool = False,
    ) -> tuple[Floats, Floats]:
        """The signed distances of all balls for rows of angles, one after the other, and ().

        Raises: UnsupportedFeatureError ``with_jacobian``.
        """
        if with_jacobian:
            raise UnsupportedFeatureError(
                "compute_batch_sd_vals(with_jacobian=True) is not part of Linkwork's face: "
                "CollisionModel.distances has distances with their gradients (docs/collision.md)"
            )
        robot = self.robot_model
        before = get_robot_config(robot, joint_list, with_base)
        stood = robot.copy_worldcoords()
        found: list[Floats] = []
        try:
            for row in np.atleast_2d(np.asarray(av_seq, np.float64)):
                set_robot_config(robot, joint_list, row, with_base)
                found.append(self._distances())
        finally:
            set_robot_config(robot, joint_list, before[: len(joint_list)])
            robot.newcoords(stood, relative_coords="world")
        return np.concatenate(found), np.zeros(())


def _box(scene: Scene, name: str, sdf: BoxSDF, T: Floats, margin: float) -> None:
    scene.add_box(name, sdf._width + 2.0 * margin, T)


def _ball(scene: Scene, name: str, sdf: SphereSDF, T: Floats, margin: float) -> None:
    scene.add_sphere(name, sdf._radius + margin, T)


def _cylinder(scene: Scene, name: str, sdf: CylinderSDF, T: Floats, margin: float) -> None:
    scene.add_cylinder(name, sdf._radius + margin, sdf._height + 2.0 * margin, T)


_SOLIDS: dict[type, Callable[..., None]] = {BoxSDF: _box, SphereSDF: _ball, CylinderSDF: _cylinder}
