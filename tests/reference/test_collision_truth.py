"""Verdicts of collision models, on robots of example-robot-data: neither way a lie.

On the pieces each verdict is proven (`convex_judge`), with poses of Pinocchio: what is free has a
plane between each two pieces that are looked at, what is a hit has two with a point in common, but
for 1e-6 m. Each triangle of each mesh file lies in one piece of its link, so that what is free on
the pieces is free on the meshes. On the shapes of the file, meshes as they are, coal decides, in
few states: a touch of meshes is a hit; a hit may be apart by as much as the pieces reach out of
the meshes. A mesh is a surface to coal: what lies wholly inside it is found by winding numbers (van
Oosterom & Strackee, "The solid angle of a plane triangle", 1983).
LINKWORK_TRUTH_STATES sets another number of states (and a tenth of it in a scene), and
LINKWORK_TRUTH_ROBOTS=all, or names with commas between them, takes these robots of the list.
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
import trimesh

import linkwork as lw
from convex_judge import FREE, HIT, Convex, convex_of, judged
from dynamics_engines import Pinocchio
from robots import example_robot_urdf, random_configuration
from seeds import rng

pin = pytest.importorskip("pinocchio", reason="Pinocchio (pip install pin) is not installed")
coal = pytest.importorskip("coal", reason="coal (pip install coal) is not installed")

ROBOTS = (
    "panda_collision", "laikago",
    "panda", "ur5_robot", "ur10_robot", "ur3_gripper", "xarm7", "z1", "kinova", "so100", "pr2",
    "baxter", "tiago_no_hand", "tiago_pro", "talos_reduced", "icub", "romeo_small",
    "g1_29dof_rev_1_0", "go2", "solo12", "bolt", "centauro",
)  # fmt: skip
ASKED = os.environ.get("LINKWORK_TRUTH_ROBOTS", "")
ALL = ASKED != ""
OFTEN = ("laikago", "ur5_robot", "panda", "so100", "talos_reduced", "pr2")
"""Of boxes and cylinders, of meshes of few and of many pieces, of many triangles, of many links."""
FEW = ("panda_collision",)
STATES = int(os.environ.get("LINKWORK_TRUTH_STATES", "200"))
FEWEST = 200
"""States in a scene, where there are as many without."""
AT_ONCE = 5_000
TOUCH = 1e-6
"""What convex shapes may overlap by, or be apart by (m), whatever is said of them."""


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

    def distance(self, q: np.ndarray, a: str, b: str) -> float:
        """The signed distance (m) of the shapes of two links, or of a link and a solid."""
        at = self.engine.configuration(q)
        pin.updateGeometryPlacements(self.model, self.data, self.geometry, self.found, at)
        return min(
            float(pin.computeDistance(self.geometry, self.found, k).min_distance)
            for k, pair in enumerate(self.geometry.collisionPairs)
            if {self.link_of[pair.first], self.link_of[pair.second]} == {a, b}
        )

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
        half, radius = {
            "box": ([a, b, c], 0.0), "cylinder": ([a, b, 0.0], 0.0), "sphere": ([0.0] * 3, a),
            "capsule": ([0.0, b, 0.0], a), "ellipsoid": ([a, b, c], 0.0),
        }[kind]  # fmt: skip
        solids.append(
            SimpleNamespace(
                name=f"solid {k}", kind=kind, T=T, shape=shape, sizes=sizes,
                piece=SimpleNamespace(
                    kind_name=kind, sizes=np.array(half), radius=radius, T_body_piece=T
                ),
            )
        )  # fmt: skip
    return solids


def states_of(robot: Any, n: int, g: np.random.Generator) -> np.ndarray:
    """A third of them anywhere, one within the limits, and one near neutral, where less touches."""
    m, third = robot.mechanism, n // 3
    anywhere = [random_configuration(g, m) for _ in range(third)]
    within = robot.random(third, seed=int(g.integers(2**31)))
    near = np.tile(robot.neutral(), (n - 2 * third, 1))
    near = robot.integrate(near, 0.3 * g.normal(size=(len(near), m.n_v)))
    return np.concatenate([np.reshape(anywhere, (-1, m.n_q)), within, near])


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


# --- by proofs, on the pieces ---------------------------------------------------------------------


class Proofs:
    """Proofs of verdicts on the pieces of a model, with poses of Pinocchio."""

    def __init__(self, engine: Pinocchio, model: Any, solids: Sequence[Any]) -> None:
        self.engine, self.asked = engine, 0
        self.solids = {
            link: [convex_of(piece) for piece in own]
            for link, own in zip(model.parts.bodies, model.parts.pieces, strict=True)
        }
        self.own = [(pair.link_a, pair.link_b) for pair in model.pairs if pair.checked]
        self.around = [
            (link, each.name)
            for link in self.solids
            for each in solids
            if self._frame(link).parentJoint  # what cannot move is not looked at
        ]
        self.solids.update({each.name: [convex_of(each.piece)] for each in solids})

    def _frame(self, link: str) -> Any:
        return self.engine.model.frames[self.engine.model.getFrameId(link, pin.FrameType.BODY)]

    def poses(self, q: np.ndarray) -> dict[str, np.ndarray]:
        """The poses (n, 4, 4) of all links and solids."""
        model, data = self.engine.model, self.engine.data
        links = [name for name in self.solids if model.existBodyName(name)]
        frames = [self._frame(name) for name in links]
        joints = sorted({frame.parentJoint for frame in frames})
        found = np.empty((len(q), len(joints), 4, 4))
        for k, row in enumerate(q):
            pin.forwardKinematics(model, data, self.engine.configuration(row))
            for n, joint in enumerate(joints):
                found[k, n] = data.oMi[joint].homogeneous
        still = np.tile(np.eye(4), (len(q), 1, 1))
        moving = {
            name: found[:, joints.index(frame.parentJoint)] @ frame.placement.homogeneous
            for name, frame in zip(links, frames, strict=True)
        }
        return {name: moving.get(name, still) for name in self.solids}

    def verdicts(self, T: dict[str, np.ndarray], pairs: Sequence[Any], claim: int) -> np.ndarray:
        """`FREE` where all pairs are proven to be apart, `HIT` where one touches, else `OPEN`."""
        n = len(next(iter(T.values())))
        found = np.full(n, FREE)
        for one, other in pairs:
            for a, b in product(self.solids[one], self.solids[other]):
                rows = np.flatnonzero(found != HIT)
                A, B = T[one][rows], T[other][rows]
                away = A[:, :3, :3] @ a.centre + A[:, :3, 3] - B[:, :3, :3] @ b.centre - B[:, :3, 3]
                near = np.linalg.norm(away, axis=1) <= a.reach + b.reach + TOUCH
                rows, A, B = rows[near], A[near], B[near]
                if len(rows):
                    R = np.einsum("nji,njk->nik", A[:, :3, :3], B[:, :3, :3])
                    p = np.einsum("nji,nj->ni", A[:, :3, :3], B[:, :3, 3] - A[:, :3, 3])
                    told = judged(a, b, R, p, claim=claim)
                    self.asked += len(rows)
                    found[rows] = np.where(told == FREE, found[rows], told)
        return found


def lies(proofs: Proofs, model: Any, q: np.ndarray, scene: Any) -> list[int]:
    """The rows of q whose verdicts are not what is proven."""
    T, hit = proofs.poses(q), model.collides(q, scene)
    pairs = proofs.own + (proofs.around if scene is not None else [])
    wrong: list[int] = []
    free = np.flatnonzero(~hit)
    told = proofs.verdicts({name: each[free] for name, each in T.items()}, pairs, FREE)
    wrong += free[told != FREE].tolist()
    rows = np.flatnonzero(hit)
    nearest = model.clearance(q[rows], scene).names if len(rows) else []
    left: list[int] = []
    for pair in sorted(set(nearest)):  # one pair that touches is enough: this one, or any
        own = rows[[names == pair for names in nearest]]
        told = proofs.verdicts({name: each[own] for name, each in T.items()}, [pair], HIT)
        left += own[told != HIT].tolist()
    told = proofs.verdicts({name: each[left] for name, each in T.items()}, pairs, HIT)
    return wrong + [row for row, answer in zip(left, told, strict=True) if answer != HIT]


def held(vertices: np.ndarray, faces: np.ndarray, pieces: Sequence[Any]) -> bool:
    """Whether each triangle of a mesh lies in one of the pieces."""
    inside = np.zeros(len(faces), bool)
    for piece in pieces:
        if piece.kind_name == "hull":
            T, own = piece.T_body_piece, piece.vertices
            local = (vertices - T[:3, 3]) @ T[:3, :3]
            inside |= within(local, own)[faces].all(axis=1)
    return bool(inside.all())


def within(points: np.ndarray, corners: np.ndarray) -> np.ndarray:
    """Whether points lie in the hull of others, but for rounding."""
    from scipy.spatial import ConvexHull, QhullError  # noqa: PLC0415

    try:
        planes = ConvexHull(corners).equations
    except QhullError:  # flat: each point is asked for by itself
        one = Convex(np.eye(4), vertices=corners)
        T = np.tile(np.eye(3), (len(points), 1, 1))
        return (
            judged(one, Convex(np.eye(4), vertices=np.zeros((1, 3))), T, points, claim=HIT) == HIT
        )
    found = np.zeros(len(points), bool)
    for k in range(0, len(points), 4096):
        part = points[k : k + 4096]
        found[k : k + 4096] = (part @ planes[:, :3].T + planes[:, 3]).max(axis=1) <= TOUCH
    return found


def files_of(engine: Pinocchio, path: Path) -> Any:
    """The shapes of a description, read by Pinocchio.

    Where a .dae file has several meshes coal mixes up their faces: trimesh reads those.
    """
    folder = str(path)[: str(path).index("example-robot-data")]
    kind = pin.GeometryType.COLLISION
    found = pin.buildGeomFromUrdf(engine.model, str(path), kind, None, [folder]).geometryObjects
    for part in found:
        if isinstance(part.geometry, coal.BVHModelOBBRSS) and part.meshPath.endswith(".dae"):
            mesh = trimesh.load_mesh(part.meshPath, process=False)
            part.geometry = surface(mesh.vertices * part.meshScale, mesh.faces)
    return found


def surface(vertices: np.ndarray, faces: np.ndarray) -> Any:
    """A mesh as coal has it."""
    made = coal.BVHModelOBBRSS()
    made.beginModel(len(faces), len(vertices))
    made.addVertices(np.ascontiguousarray(vertices))
    made.addTriangles(np.ascontiguousarray(faces, np.int64))
    made.endModel()
    return made


CHOSEN = pytest.mark.parametrize(
    "name",
    [
        n if n in FEW else pytest.param(n, marks=pytest.mark.slow)
        for n in ROBOTS
        if (n in ASKED.split(",") or ASKED == "all" if ALL else n in (*FEW, *OFTEN))
    ],
)


def the_case(name: str) -> Any:
    """A robot, its model, Pinocchio's, and a scene around it."""
    path, g = example_robot_urdf(name), rng(f"collision truth {name}")
    robot = lw.load(path)
    engine = Pinocchio(robot.mechanism, pin.buildModelFromUrdf(str(path)))
    places = robot.fk_all(robot.neutral())[:, :3, 3]
    reach = 0.2 + np.linalg.norm(places - places.mean(axis=0), axis=1).max()
    solids, scene = solids_near(float(reach), g), lw.Scene()
    for each in solids:
        getattr(scene, f"add_{each.kind}")(each.name, *each.sizes, pose=each.T)
    model = robot.collision()
    each = model.distances(states_of(robot, 300, g))
    meet = each.distance <= 0
    often = []  # pairs that meet so often that less than a quarter of the states would be free
    while meet.any(axis=1).mean() > 0.75:
        often.append(int(meet.mean(axis=0).argmax()))
        meet[:, often[-1]] = False
    model = model.with_pairs(ignore=[each.pairs[k] for k in often])
    return SimpleNamespace(
        path=path, robot=robot, engine=engine, model=model, solids=solids, scene=scene,
        states=lambda n: states_of(robot, n, g),
    )  # fmt: skip


@CHOSEN
def test_every_verdict_is_proven_on_the_pieces(name: str) -> None:
    case = the_case(name)
    for scene, n in ((None, STATES), (case.scene, max(STATES // 10, min(STATES, FEWEST)))):
        proofs = Proofs(case.engine, case.model, case.solids if scene is not None else [])
        q, wrong, hits, close = case.states(n), list[int](), 0, 0
        for first in range(0, n, AT_ONCE):
            part = q[first : first + AT_ONCE]
            wrong += [first + row for row in lies(proofs, case.model, part, scene)]
            near = case.model.clearance(part, scene).distance
            hits += int((near <= 0).sum())
            close += int(((near > 0) & (near < 0.005)).sum())
        print(
            f"{name}{', in a scene' if scene is not None else ''}: {len(wrong)} of {n:,} states "
            f"wrong, {hits:,} hit, {close:,} free by less than 5 mm, {proofs.asked:,} proofs"
        )
        for row in wrong[:3]:
            print(row, case.model.clearance(q[row], scene), q[row].tolist())
        assert not wrong


@CHOSEN
def test_pieces_hold_the_meshes_of_the_file(name: str) -> None:
    case = the_case(name)
    pieces = dict(zip(case.model.parts.bodies, case.model.parts.pieces, strict=True))
    for part in files_of(case.engine, case.path):
        if isinstance(part.geometry, coal.BVHModelOBBRSS):
            frame = case.engine.model.frames[part.parentFrame]
            T = (frame.placement.inverse() * part.placement).homogeneous
            vertices, faces = triangles_of(part.geometry)
            placed = vertices @ T[:3, :3].T + T[:3, 3]
            assert held(placed, faces, pieces[frame.name]), (frame.name, part.name)


# --- by coal, on the files ------------------------------------------------------------------------


@CHOSEN
def test_free_is_free_and_hit_is_hit_on_the_meshes(name: str) -> None:
    case = the_case(name)
    model, engine = case.model, case.engine
    pairs = [(pair.link_a, pair.link_b) for pair in model.pairs if pair.checked]
    shapes = files_of(engine, case.path)
    outside, files = Outside(engine, shapes), []
    for part in shapes:
        frame = engine.model.frames[part.parentFrame]
        T_link_shape = (frame.placement.inverse() * part.placement).homogeneous
        solid = part.geometry
        # what lies whole inside a mesh is free for coal, whose meshes are surfaces
        if isinstance(solid, coal.BVHModelOBBRSS) and outside.of(frame.name) <= TOUCH:
            solid = hull(np.array(solid.vertices()))
        files.append((frame.name, solid, T_link_shape))
    n = STATES if name not in FEW or ALL else 100
    for within, count in ((None, n), (case.scene, max(n // 10, min(n, FEWEST)))):
        judge = Judge(engine, model.links, files)
        judge.check(pairs, case.solids if within is not None else [])
        q = case.states(count)
        hits = model.collides(q, within)
        other = [row for row in range(count) if judge.touches(q[row]) != hits[row]]
        print(
            f"{name}{', in a scene' if within is not None else ''}: coal says otherwise in "
            f"{len(other)} of {count:,} states, {int(hits.sum()):,} hits"
        )
        for row in other:
            if not hits[row]:
                least, two = judge.distances(q[row])[0]
                assert least >= -TOUCH, (least, two, q[row].tolist())
                continue
            # it is as near as its pieces may be out of its meshes, or holds the other
            said = model.clearance(q[row], within)
            apart = judge.distance(q[row], *said.names)
            near_enough = apart <= TOUCH + sum(map(outside.of, said.names))
            assert near_enough or judge.inside(q[row], *said.names), (
                *(apart, said.distance, said.names),
                q[row].tolist(),
            )
