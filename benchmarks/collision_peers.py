"""The other sides of `benchmarks.collision`: coal by Pinocchio, coal by itself, python-fcl.

Each has the same convex shapes: the robot's boxes, the hulls of its meshes, the obstacles. Tested
are the same pairs of links, and each link but the fixed one against each obstacle. Positions are of
the joints that `Robot` names; the others stand at zero.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.collision_work import Obstacle

Floats = NDArray[np.float64]
Pairs = Sequence[tuple[str, str]]


class Robot:
    """The robot and its scene as Pinocchio and coal have them: meshes are their convex hulls."""

    def __init__(self, urdf: Path, folder: Path, joints: Sequence[str], base: str) -> None:
        self.pin: Any = importlib.import_module("pinocchio")
        self.coal: Any = importlib.import_module("coal")
        pin = self.pin
        self.model = pin.buildModelFromUrdf(str(urdf))
        self.data = self.model.createData()
        self.geometry = pin.buildGeomFromUrdf(
            self.model, str(urdf), pin.GeometryType.COLLISION, None, [str(folder)]
        )
        self.places = [self.model.joints[self.model.getJointId(name)].idx_q for name in joints]
        self.base, self.hulls = base, dict[str, Any]()
        for part in self.geometry.geometryObjects:
            if hasattr(part.geometry, "buildConvexRepresentation"):
                part.geometry.buildConvexHull(True, "Qt")
                self.hulls[part.name] = part.geometry.convex
                part.geometry = self.hulls[part.name]
        self.links = [
            self.model.frames[part.parentFrame].name for part in self.geometry.geometryObjects
        ]
        self.shapes = len(self.links)

    def to(self, q: Floats) -> Floats:
        """The configuration of Pinocchio's model."""
        out = self.pin.neutral(self.model)
        out[self.places] = q
        return out

    def every_pair(self, srdf: Path) -> list[tuple[str, str]]:
        """Pairs of links that the SRDF does not leave out, for runs without our own table."""
        pin, geometry = self.pin, self.geometry.copy()
        geometry.addAllCollisionPairs()
        pin.removeCollisionPairs(self.model, geometry, str(srdf))
        found = {
            (self.links[pair.first], self.links[pair.second]) for pair in geometry.collisionPairs
        }
        return sorted(found)

    def geometry_of(self, pairs: Pairs, obstacles: Sequence[Obstacle]) -> Any:
        """A model of the shapes with these pairs active, obstacles among them."""
        pin, made = self.pin, self.geometry.copy()
        wanted = {frozenset(pair) for pair in pairs}
        for k in range(self.shapes):
            for j in range(k):
                if frozenset((self.links[j], self.links[k])) in wanted:
                    made.addCollisionPair(pin.CollisionPair(j, k))
        for each in obstacles:
            place = pin.SE3(each.T_world_obstacle)
            number = made.addGeometryObject(
                pin.GeometryObject(each.name, 0, 0, place, self.shape_of(each))
            )
            for k in range(self.shapes):
                if self.links[k] != self.base:
                    made.addCollisionPair(pin.CollisionPair(k, number))
        return made

    def shape_of(self, each: Obstacle) -> Any:
        """An obstacle as coal has it."""
        if each.sides is not None:
            return self.coal.Box(*each.sides)
        return self.coal.Cylinder(each.radius, each.length)


class ByPinocchio:
    """`computeCollisions` and `computeDistances`, all pairs or by a tree of boxes."""

    def __init__(self, robot: Robot, pairs: Pairs, obstacles: Sequence[Obstacle]) -> None:
        pin, self.robot = robot.pin, robot
        self.model, self.data = robot.model, robot.model.createData()
        self.geometry = robot.geometry_of(pairs, obstacles)
        self.found = self.geometry.createData()
        self.tree: Any = pin.BroadPhaseManager_DynamicAABBTreeCollisionManager(
            self.model, self.geometry, self.found
        )
        self.collisions, self.distances = pin.computeCollisions, pin.computeDistances
        self.links = [
            (self.geometry.geometryObjects[pair.first], self.geometry.geometryObjects[pair.second])
            for pair in self.geometry.collisionPairs
        ]

    def names(self) -> dict[str, Any]:
        """What statements use."""
        return {
            "collisions": self.collisions, "distances": self.distances, "model": self.model,
            "data": self.data, "geometry": self.geometry, "found": self.found, "tree": self.tree,
        }  # fmt: skip

    def depths(self, rows: Sequence[Floats]) -> Floats:
        """The least signed distance (m) of any pair at each row: what all sides are judged by."""
        least = np.zeros(len(rows))
        for k, q in enumerate(rows):
            self.distances(self.model, self.data, self.geometry, self.found, q)
            least[k] = min(each.min_distance for each in self.found.distanceResults)
        return least

    def by_links(self, q: Floats) -> dict[frozenset[str], float]:
        """The signed distance (m) of each pair of links at one row."""
        self.distances(self.model, self.data, self.geometry, self.found, q)
        least: dict[frozenset[str], float] = {}
        for (a, b), each in zip(self.links, self.found.distanceResults, strict=True):
            names = frozenset(self.model.frames[part.parentFrame].name for part in (a, b))
            least[names] = min(least.get(names, np.inf), each.min_distance)
        return least


def by_managers(robot: Robot, pairs: Pairs, obstacles: Sequence[Obstacle]) -> Callable[..., bool]:
    """Two `DynamicAABBTreeCollisionManager` of coal for the scene; self pairs by Pinocchio."""
    pin, coal = robot.pin, robot.coal
    own = robot.geometry_of(pairs, ())
    data, found = robot.model.createData(), own.createData()
    at = coal.Transform3s
    objects = [coal.CollisionObject(part.geometry, at()) for part in own.geometryObjects]
    moving, still = (coal.DynamicAABBTreeCollisionManager() for _ in range(2))
    for name, each in zip(robot.links, objects, strict=True):
        if name != robot.base:
            moving.registerObject(each)
    fixed = [
        coal.CollisionObject(
            robot.shape_of(o), at(o.T_world_obstacle[:3, :3].copy(), o.T_world_obstacle[:3, 3])
        )
        for o in obstacles
    ]
    for each in fixed:
        still.registerObject(each)
    moving.setup()
    still.setup()
    callback = coal.CollisionCallBackDefault()

    def collides(q: Floats, kept: Any = fixed) -> bool:
        pin.updateGeometryPlacements(robot.model, data, own, found, q)
        for each, place in zip(objects, found.oMg, strict=True):
            each.setTransform(at(place.rotation, place.translation))
            each.computeAABB()
        moving.update()
        callback.init()
        moving.collide(still, callback)
        if callback.data.result.isCollision():
            return True
        return bool(pin.computeCollisions(own, found, True))

    return collides


class ByFcl:
    """python-fcl: managers for the scene, pair after pair for the robot; poses by Pinocchio."""

    def __init__(self, robot: Robot, pairs: Pairs, obstacles: Sequence[Obstacle]) -> None:
        self.fcl: Any = importlib.import_module("fcl")
        fcl, self.robot, self.pin = self.fcl, robot, robot.pin
        self.data, self.found = robot.model.createData(), robot.geometry.createData()
        self.objects = [
            fcl.CollisionObject(self._shape(part)) for part in robot.geometry.geometryObjects
        ]
        wanted = {frozenset(pair) for pair in pairs}
        self.pairs = [
            (self.objects[j], self.objects[k])
            for k in range(robot.shapes)
            for j in range(k)
            if frozenset((robot.links[j], robot.links[k])) in wanted
        ]
        self.moving, self.still = (fcl.DynamicAABBTreeCollisionManager() for _ in range(2))
        moving = zip(robot.links, self.objects, strict=True)
        self.moving.registerObjects([each for name, each in moving if name != robot.base])
        self.still.registerObjects([self._obstacle(each) for each in obstacles])
        self.moving.setup()
        self.still.setup()

    def _shape(self, part: Any) -> Any:
        if part.name not in self.robot.hulls:
            return self.fcl.Box(*(2.0 * part.geometry.halfSide))
        shape = self.robot.hulls[part.name]
        points = np.array([shape.point(k) for k in range(shape.num_points)])
        triangles = [shape.polygons(k) for k in range(shape.num_polygons)]
        corners = np.array([[t[0], t[1], t[2]] for t in triangles], dtype=np.int64)
        faces = np.column_stack([np.full(len(corners), 3), corners]).ravel()
        return self.fcl.Convex(points, len(corners), faces)

    def _obstacle(self, each: Obstacle) -> Any:
        fcl, T = self.fcl, each.T_world_obstacle
        shape = fcl.Cylinder(each.radius, each.length)
        if each.sides is not None:
            shape = fcl.Box(*each.sides)
        return fcl.CollisionObject(shape, fcl.Transform(T[:3, :3].copy(), T[:3, 3].copy()))

    def place(self, q: Floats) -> None:
        """Put the objects where they are at q."""
        robot, set_to = self.robot, self.fcl.Transform
        self.pin.updateGeometryPlacements(robot.model, self.data, robot.geometry, self.found, q)
        for each, at in zip(self.objects, self.found.oMg, strict=True):
            each.setTransform(set_to(at.rotation, at.translation))

    def collides(self, q: Floats) -> bool:
        """Whether anything touches."""
        fcl = self.fcl
        self.place(q)
        self.moving.update()
        data = fcl.CollisionData()
        self.moving.collide(self.still, data, fcl.defaultCollisionCallback)
        if data.result.is_collision:
            return True
        return any(
            fcl.collide(a, b, fcl.CollisionRequest(), fcl.CollisionResult()) for a, b in self.pairs
        )

    def self_distances(self, q: Floats) -> Floats:
        """Distances (m) of all pairs, with the nearest points; overlaps are negative."""
        fcl = self.fcl
        self.place(q)
        request = fcl.DistanceRequest(True, True)
        return np.array([fcl.distance(a, b, request, fcl.DistanceResult()) for a, b in self.pairs])
