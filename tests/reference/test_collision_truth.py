"""Verdicts of collision models against coal, on robots of example-robot-data: neither way a lie.

Twice: coal has the very pieces of the model, where 1e-6 m is all that the two may differ by; and
coal has the shapes of the file, meshes as they are. Pieces hold their meshes, so that a touch of
meshes is a hit; a hit may be apart by as much as the pieces reach out of the meshes. A mesh is a
surface to coal: what lies wholly inside it is found by winding numbers (van Oosterom & Strackee,
"The solid angle of a plane triangle", 1983).
LINKWORK_TRUTH_STATES sets another number of states, and LINKWORK_TRUTH_ROBOTS=all takes all
robots of the list.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from itertools import product
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import linkwork as lw
from dynamics_engines import Pinocchio
from robots import example_robot_urdfs, random_configuration
from seeds import rng

pin = pytest.importorskip("pinocchio", reason="Pinocchio (pip install pin) is not installed")
coal = pytest.importorskip("coal", reason="coal (pip install coal) is not installed")

ROBOTS = (
    "panda_collision", "laikago",
    "panda", "ur5_robot", "ur10_robot", "ur3_gripper", "xarm7", "z1", "kinova", "so100", "pr2",
    "baxter", "tiago_no_hand", "tiago_pro", "talos_reduced", "icub", "romeo_small",
    "g1_29dof_rev_1_0", "go2", "solo12", "bolt", "centauro",
)  # fmt: skip
ALL = os.environ.get("LINKWORK_TRUTH_ROBOTS") == "all"
OFTEN = ("ur5_robot", "panda", "go2", "so100", "talos_reduced", "pr2", "baxter", "kinova")
FEW = ("panda_collision", "laikago")
STATES = int(os.environ.get("LINKWORK_TRUTH_STATES", "200"))
TOUCH = 1e-6
"""What convex shapes may overlap by, or be apart by (m), whatever is said of them."""
KINDS = ("sphere", "capsule", "box", "cylinder", "ellipsoid", "hull", "half-space")


def path_of(name: str) -> Path:
    return next(path for path in example_robot_urdfs() if path.stem == name)


# the shapes as coal has them


def hull(vertices: np.ndarray) -> Any:
    """The convex hull of points, by coal, which crashes where they lie in a plane: a fan then."""
    made = coal.BVHModelOBBRSS()
    made.beginModel(0, len(vertices))
    middle = vertices - vertices.mean(axis=0)
    _, sizes, axes = np.linalg.svd(middle, full_matrices=False)
    if sizes[2] > 1e-9 * sizes[0]:
        made.addVertices(np.ascontiguousarray(vertices))
        made.endModel()
        made.buildConvexHull(True, "Qt")
        return made.convex
    x, y = (middle @ axes[:2].T).T
    around = vertices[np.argsort(np.arctan2(y, x))]
    for k in range(1, len(around) - 1):
        made.addTriangle(around[0], around[k], around[k + 1])
    made.endModel()
    return made


def shape_of(piece: Any) -> Any:
    """A piece of a model."""
    kind, (a, b, c) = piece.kind_name, piece.sizes.tolist()
    return {
        "sphere": lambda: coal.Sphere(piece.radius),
        "capsule": lambda: coal.Capsule(piece.radius, 2 * b),
        "box": lambda: coal.Box(2 * a, 2 * b, 2 * c),
        "cylinder": lambda: coal.Cylinder(a, 2 * b),
        "ellipsoid": lambda: coal.Ellipsoid(a, b, c),
        "hull": lambda: hull(piece.vertices),
        "half-space": lambda: coal.Halfspace(np.array([0.0, 0.0, 1.0]), 0.0),
    }[kind]()


def triangles_of(shape: Any) -> tuple[np.ndarray, np.ndarray]:
    """Vertices and faces of a mesh, as coal has it."""
    found = [shape.tri_indices(k) for k in range(shape.num_tris)]
    return np.array(shape.vertices()), np.array([[t[0], t[1], t[2]] for t in found])


def windings(points: np.ndarray, vertices: np.ndarray, faces: np.ndarray) -> np.ndarray:
    """How often a mesh winds around each point: 0 outside of a closed one, else 1 or -1."""
    found = np.zeros(len(points))
    for k, point in enumerate(points):
        a, b, c = np.moveaxis((vertices - point)[faces], 1, 0)
        la, lb, lc = (np.linalg.norm(each, axis=1) for each in (a, b, c))
        top = np.einsum("ij,ij->i", a, np.cross(b, c))
        below = la * lb * lc
        for u, v, length in ((a, b, lc), (b, c, la), (c, a, lb)):
            below = below + np.einsum("ij,ij->i", u, v) * length
        found[k] = 2 * np.arctan2(top, below).sum() / (4 * np.pi)
    return found


def points_of(shape: Any) -> np.ndarray:
    """Points of a shape, in its frame: its middle, or some vertices of a mesh."""
    if isinstance(shape, coal.BVHModelOBBRSS):
        vertices = np.array(shape.vertices())
        return vertices[:: max(1, len(vertices) // 100)]
    return np.zeros((1, 3))


class Judge:
    """A robot's shapes in a model of Pinocchio, with the pairs that a collision model checks."""

    def __init__(self, engine: Pinocchio, links: Sequence[str], parts: Sequence[Any]) -> None:
        """``parts``: (link, coal's shape, its pose in the link)."""
        self.engine, self.model, self.data = engine, engine.model, engine.model.createData()
        self.geometry = pin.GeometryModel()
        self.link_of: list[str] = []
        for link, shape, T in parts:
            frame = self.model.frames[self.model.getFrameId(link, pin.FrameType.BODY)]
            self._put(link, frame.parentJoint, frame.placement * pin.SE3(T), shape)
        self.n_own, self.links = len(self.link_of), links

    def _put(self, name: str, joint: int, placement: Any, shape: Any) -> None:
        label = f"{name} {len(self.link_of)}"
        self.geometry.addGeometryObject(pin.GeometryObject(label, joint, 0, placement, shape))
        self.link_of.append(name)

    def check(self, pairs: Sequence[tuple[str, str]], solids: Sequence[Any]) -> Any:
        """Look at these pairs of links, and at what moves against these solids of a scene."""
        wanted = {frozenset(pair) for pair in pairs}
        for k in range(self.n_own):
            for j in range(k):
                if frozenset((self.link_of[j], self.link_of[k])) in wanted:
                    self.geometry.addCollisionPair(pin.CollisionPair(j, k))
        for solid in solids:
            self._put(solid.name, 0, pin.SE3(solid.T), solid.shape)
            number = len(self.link_of) - 1
            for k in range(self.n_own):
                if self.geometry.geometryObjects[k].parentJoint:
                    self.geometry.addCollisionPair(pin.CollisionPair(k, number))
        self.found = self.geometry.createData()
        return self

    def touches(self, q: np.ndarray) -> bool:
        """Whether anything does, by coal's own verdict."""
        at = self.engine.configuration(q)
        pin.updateGeometryPlacements(self.model, self.data, self.geometry, self.found, at)
        return bool(pin.computeCollisions(self.geometry, self.found, True))

    def distances(self, q: np.ndarray) -> list[tuple[float, frozenset[str]]]:
        """Signed distances (m) of all pairs of shapes, the least first, and whose they are."""
        at = self.engine.configuration(q)
        pin.computeDistances(self.model, self.data, self.geometry, self.found, at)
        found = [
            (each.min_distance, frozenset((self.link_of[pair.first], self.link_of[pair.second])))
            for pair, each in zip(
                self.geometry.collisionPairs, self.found.distanceResults, strict=True
            )
        ]
        return sorted(found, key=lambda each: each[0])

    def inside(self, q: np.ndarray, a: str, b: str) -> bool:
        """Whether a shape of one has a point in a mesh of the other."""
        at = self.engine.configuration(q)
        pin.updateGeometryPlacements(self.model, self.data, self.geometry, self.found, at)
        own = [[k for k, name in enumerate(self.link_of) if name == which] for which in (a, b)]
        for mesh, other in [*product(*own), *product(*own[::-1])]:
            shape = self.geometry.geometryObjects[mesh].geometry
            if not isinstance(shape, coal.BVHModelOBBRSS):
                continue
            T = self.found.oMg[mesh].actInv(self.found.oMg[other]).homogeneous
            points = points_of(self.geometry.geometryObjects[other].geometry)
            held = points @ T[:3, :3].T + T[:3, 3]
            if (np.abs(windings(held, *triangles_of(shape))) > 0.5).any():
                return True
        return False


# what is asked


def solids_near(reach: float, g: np.random.Generator) -> list[Any]:
    """Solids of all kinds around a robot, as coal and a scene have them."""
    solids = []
    for k, kind in enumerate(("box", "cylinder", "sphere", "capsule", "ellipsoid", "box")):
        way, (a, b, c) = g.normal(size=3), reach * g.uniform(0.05, 0.15, 3)
        T = pin.SE3.Random().homogeneous
        quaternion = g.normal(size=4)
        T[:3, :3] = pin.Quaternion(quaternion / np.linalg.norm(quaternion)).toRotationMatrix()
        T[:3, 3] = g.uniform(0.4, 0.9) * reach * way / np.linalg.norm(way)
        shape = {
            "box": coal.Box(2 * a, 2 * b, 2 * c), "cylinder": coal.Cylinder(a, 2 * b),
            "sphere": coal.Sphere(a), "capsule": coal.Capsule(a, 2 * b),
            "ellipsoid": coal.Ellipsoid(a, b, c),
        }[kind]  # fmt: skip
        sizes = {
            "box": ([2 * a, 2 * b, 2 * c],), "cylinder": (a, 2 * b), "sphere": (a,),
            "capsule": (a, 2 * b), "ellipsoid": ([a, b, c],),
        }[kind]  # fmt: skip
        name = f"solid {k}"
        solids.append(SimpleNamespace(name=name, kind=kind, T=T, shape=shape, sizes=sizes))
    return solids


def states_of(robot: Any, n: int, g: np.random.Generator) -> np.ndarray:
    """Half of them anywhere, half near neutral, where fewer links touch."""
    m = robot.mechanism
    anywhere = [random_configuration(g, m) for _ in range(n // 2)]
    near = robot.integrate(
        np.tile(robot.neutral(), (n - n // 2, 1)), 0.3 * g.normal(size=(n - n // 2, m.n_v))
    )
    return np.array([*anywhere, *near])


class Outside:
    """How far the pieces of each link reach out of its meshes (m), as the library states it."""

    def __init__(self, engine: Pinocchio, shapes: Any) -> None:
        self.known: dict[str, float] = {}
        self.meshes: dict[str, list[Any]] = {}
        for part in shapes:
            link = engine.model.frames[part.parentFrame].name
            self.meshes.setdefault(link, []).append(part.geometry)

    def of(self, link: str) -> float:
        from linkwork.collision.mesh_pieces import convex_pieces  # noqa: PLC0415

        if link not in self.known:
            bounds = [0.0]
            for mesh in self.meshes.get(link, []):
                if isinstance(mesh, coal.BVHModelOBBRSS):
                    bounds.append(convex_pieces(*triangles_of(mesh)).outside)
            self.known[link] = max(bounds)
        return self.known[link]


@pytest.mark.parametrize(
    "name",
    [
        n if n in FEW else pytest.param(n, marks=pytest.mark.slow)
        for n in (ROBOTS if ALL else (*FEW, *OFTEN))
    ],
)
def test_free_is_free_and_hit_is_hit(name: str) -> None:
    path, g = path_of(name), rng(f"collision truth {name}")
    robot = lw.load(path)
    model = robot.collision(overhang=0.02)
    engine = Pinocchio(robot.mechanism, pin.buildModelFromUrdf(str(path)))
    pairs = [(pair.link_a, pair.link_b) for pair in model.pairs if pair.checked]
    q = states_of(robot, STATES if name not in FEW else min(STATES, 100), g)
    places = robot.fk_all(robot.neutral())[:, :3, 3]
    reach = 0.2 + np.linalg.norm(places - places.mean(axis=0), axis=1).max()
    solids = solids_near(float(reach), g)
    scene = lw.Scene()
    for each in solids:
        getattr(scene, f"add_{each.kind}")(each.name, *each.sizes, pose=each.T)
    pieces = [
        (link, shape_of(piece), piece.T_body_piece)
        for link, own in zip(model.parts.bodies, model.parts.pieces, strict=True)
        for piece in own
    ]
    folder = str(path)[: str(path).index("example-robot-data")]
    shapes = pin.buildGeomFromUrdf(
        engine.model, str(path), pin.GeometryType.COLLISION, None, [folder]
    ).geometryObjects
    outside, files = Outside(engine, shapes), []
    for part in shapes:
        frame = engine.model.frames[part.parentFrame]
        T_link_shape = (frame.placement.inverse() * part.placement).homogeneous
        solid = part.geometry
        # what lies whole inside a mesh is free for coal, whose meshes are surfaces
        if isinstance(solid, coal.BVHModelOBBRSS) and outside.of(frame.name) <= TOUCH:
            solid = hull(np.array(solid.vertices()))
        files.append((frame.name, solid, T_link_shape))
    for within in (None, scene):
        near = solids if within is not None else []
        verdicts = model.collides(q, within)
        on_pieces = Judge(engine, model.links, pieces).check(pairs, near)
        on_files = Judge(engine, model.links, files).check(pairs, near)
        print(f"{name}: {100 * verdicts.mean():.0f} % of {len(q)} states hit")
        for row, hit in zip(q, verdicts, strict=True):
            if on_pieces.touches(row) != hit:
                least, names = on_pieces.distances(row)[0]
                # coal's verdict and its distances are two answers: the worse one must be nearly 0
                assert least <= TOUCH if hit else least >= -TOUCH, (least, names, row.tolist())
            if on_files.touches(row) == hit:
                continue
            found = on_files.distances(row)
            if (
                hit
            ):  # some pair is as near as its pieces may be out of its meshes, or holds the other
                said = model.clearance(row, within)
                near_enough = any(d <= TOUCH + sum(map(outside.of, two)) for d, two in found)
                assert near_enough or on_files.inside(row, *said.names), (
                    *(found[0], said.distance, said.names),
                    row.tolist(),
                )
            else:
                assert found[0][0] >= -TOUCH, (found[0], row.tolist())
