"""Height fields against their prisms one by one, as people ask: verdicts, distances, motions."""

from __future__ import annotations

import tracemalloc
from itertools import combinations
from typing import Any

import numpy as np
import pytest

import linkwork as lw
from linkwork.errors import InputError
from linkwork.mechanism.shapes import HeightField
from robots import random_configuration
from seeds import rng

Floats = Any
FIELDS = ("noise", "steep", "flat", "stairs", "strip", "one cell")


SOLIDS = (
    '<box size="0.2 0.1 0.3"/>',
    '<sphere radius="0.08"/>',
    '<cylinder radius="0.06" length="0.2"/>',
    '<capsule radius="0.05" length="0.3"/>',
    '<box size="0.02 0.5 0.05"/>',
)
JOINTS = ("revolute", "prismatic", "spherical", "continuous")


def of_all_solids() -> str:
    """A URDF of a chain of links, each of another solid."""
    text = '<robot name="chain">'
    for k, solid in enumerate(SOLIDS):
        geometry = f'<origin xyz="0 0 0.1"/><geometry>{solid}</geometry>'
        text += f'<link name="l{k}"><collision>{geometry}</collision></link>'
    for k, kind in enumerate(JOINTS):
        text += (
            f'<joint name="j{k}" type="{kind}"><parent link="l{k}"/><child link="l{k + 1}"/>'
            '<origin xyz="0.05 0 0.25" rpy="0.2 0.1 0"/><axis xyz="0 1 0.3"/>'
            '<limit lower="-0.4" upper="0.4" effort="1" velocity="1"/></joint>'
        )
    return text + "</robot>"


@pytest.fixture(scope="module")
def model() -> Any:
    """A robot that floats, of joints and solids of all kinds."""
    return lw.load(of_all_solids(), base="floating").collision()


def agree(model: Any, q: Floats, scene: Any) -> np.ndarray:
    """The verdicts, where all questions tell the same."""
    hit, clear = model.collides(q, scene), model.clearance(q, scene).distance
    np.testing.assert_array_equal(hit, clear <= 0)
    np.testing.assert_array_equal(hit, [model.collides(row, scene) for row in q])
    least = model.distances(q, scene).distance.min(axis=-1)
    np.testing.assert_allclose(clear, least, atol=1e-10)
    near = model.nearest(q, 3, scene, gradients=False).distance
    np.testing.assert_allclose(near[..., 0], clear, atol=1e-10)
    return hit


@pytest.fixture(scope="module")
def robot() -> lw.Robot:
    return lw.load("quadruped", base="floating")


def standing(robot: lw.Robot, g: np.random.Generator, n: int, height: float = 0.35) -> Floats:
    """Configurations (n, nq) of a robot that floats about a height."""
    q = robot.random(n, seed=1)
    q[:, :3] = g.uniform([-0.6, -0.6, height - 0.2], [0.6, 0.6, height + 0.3], (n, 3))
    q[:, 3:7] = g.normal(size=(n, 4)) * 0.2 + [1.0, 0.0, 0.0, 0.0]
    q[:, 3:7] /= np.linalg.norm(q[:, 3:7], axis=1, keepdims=True)
    return q


def heights_of(name: str, g: np.random.Generator) -> tuple[Floats, tuple[float, float], float]:
    """Heights, size and depth of a field."""
    if name == "noise":
        return g.uniform(-0.1, 0.1, (8, 7)), (3.0, 2.0), 0.5
    if name == "steep":
        return g.uniform(-1.0, 0.5, (7, 8)), (2.0, 3.0), 0.2
    if name == "flat":
        return np.full((6, 9), 0.1), (2.5, 3.0), 0.3
    if name == "stairs":
        return 0.2 * np.floor(np.arange(40).reshape(8, 5) / 10), (3.0, 3.0), 0.01
    if name == "strip":
        return g.uniform(-0.2, 0.2, (2, 20)), (0.4, 4.0), 1.0
    return np.array([[0.0, 0.4], [0.3, 0.1]]), (2.0, 2.0), 1e-3


def with_field(name: str, g: np.random.Generator) -> lw.Scene:
    heights, size, depth = heights_of(name, g)
    scene, T = lw.Scene(), lw.pose(g.uniform(-0.3, 0.3, 3) - [0, 0, 0.3], rpy=g.normal(size=3) / 5)
    scene.add_height_field("ground", heights, size, T, depth=depth)
    scene.add_sphere("ball", 0.1, (0.5, 0.5, 0.3))
    return scene


def of_prisms(scene: lw.Scene) -> lw.Scene:
    """A scene whose field is convex meshes, one or two a cell."""
    made, ground = lw.Scene(), scene.get("ground")
    for each in scene:
        if each is not ground:
            made.add_shape(each.name, each.shape, each.T_world_object)
    assert isinstance(ground.shape, HeightField)
    top = ground.shape.corners()
    for i, j in np.ndindex(top.shape[0] - 1, top.shape[1] - 1):
        a, b, c, d = top[i, j], top[i + 1, j], top[i + 1, j + 1], top[i, j + 1]
        convex = a[2] + c[2] >= b[2] + d[2]
        for k, corners in enumerate([[a, b, c, d]] if convex else [[a, b, c], [a, c, d]]):
            upper = np.array(corners)
            lower = upper * [1, 1, 0] + [0, 0, ground.shape.bottom]
            faces = list(combinations(range(2 * len(upper)), 3))
            name = f"prism {i} {j} {k}"
            made.add_mesh(name, (np.concatenate([upper, lower]), faces), ground.T_world_object)
    return made


@pytest.mark.sweep(2)
@pytest.mark.parametrize("name", FIELDS)
def test_answers_are_those_of_all_prisms(model: Any, name: str) -> None:
    g = rng(f"prisms of {name}")
    q, scene = configurations_of(model, g, 60), with_field(name, g)
    prisms = of_prisms(scene)
    hit = agree(model, q, scene)
    np.testing.assert_array_equal(hit, model.collides(q, prisms))
    assert 0.05 < hit.mean() < 0.98
    found, every = model.distances(q, scene), model.distances(q, prisms)
    of_ground = {}
    for k, (link, other) in enumerate(every.pairs):
        of_ground.setdefault((link, "ground" if "prism" in other else other), []).append(k)
    for k, pair in enumerate(found.pairs):
        least = every.distance[:, of_ground[pair]].min(axis=1)
        np.testing.assert_allclose(found.distance[:, k], least, atol=1e-9)
    points, normal = found.points, found.normal
    across = np.einsum("...i,...i", points[..., 1, :] - points[..., 0, :], normal)
    np.testing.assert_allclose(across, found.distance, atol=1e-7)
    within = model.distances(q, scene, within=0.05).distance
    near = found.distance <= 0.05
    np.testing.assert_allclose(within[near], found.distance[near], atol=1e-9)
    assert np.isinf(within[~near]).all()


def configurations_of(model: Any, g: np.random.Generator, n: int) -> Floats:
    """Configurations (n, nq) about the origin."""
    q = np.array([random_configuration(g, model.mechanism) for _ in range(n)])
    q[:, :3] *= 0.35
    return q


@pytest.mark.sweep(1)
@pytest.mark.parametrize("name", ["noise", "steep", "stairs"])
def test_motions_are_those_past_all_prisms(model: Any, name: str) -> None:
    g = rng(f"motions over {name}")
    scene = with_field(name, g)
    prisms = of_prisms(scene)
    q = configurations_of(model, g, 400)
    q = q[~model.collides(q, scene)][:60]
    q1 = q + 0.3 * (np.roll(q, 1, axis=0) - q)
    found, every = model.motion_collides(q, q1, scene), model.motion_collides(q, q1, prisms)
    np.testing.assert_array_equal(found.touches, every.touches)
    assert 0.02 < found.touches.mean() < 0.98
    for one, other in zip(found.names, every.names, strict=True):
        assert one == (other if other is None or "prism" not in other[1] else (other[0], "ground"))
    free = ~found.touches
    for t in np.linspace(0.0, 1.0, 40):
        at = np.array(
            [along(model, *ends, float(t)) for ends in zip(q[free], q1[free], strict=True)]
        )
        assert not model.collides(at, prisms).any()


def along(model: Any, q0: Floats, q1: Floats, t: float) -> Floats:
    """Where a motion is at t: quaternions are of length 1 and turn the short way."""
    m, first, second = model.mechanism, q0.copy(), q1.copy()
    for c, kind in enumerate(m.joint_types):
        if kind.has_quaternion:
            own = slice(m.q_start[c] + kind.n_lengths, m.q_start[c] + kind.n_lengths + 4)
            for each in (first, second):
                each[own] /= np.linalg.norm(each[own])
            if first[own] @ second[own] < 0:
                second[own] *= -1
    return first + t * (second - first)


def test_gradients_are_differences(robot: lw.Robot) -> None:
    g, model, h = rng("gradients over a field"), robot.collision(), 1e-6
    scene = lw.Scene()
    scene.add_height_field("ground", g.uniform(-0.1, 0.0, (30, 30)), (3.0, 3.0))
    q = standing(robot, g, 20)
    found = model.distances(q, scene, gradients=True)
    for _ in range(6):
        v = g.normal(size=robot.n_v)
        up, down = (model.distances(robot.integrate(q, s * h * v), scene).distance for s in (1, -1))
        rate = (up - down) / (2 * h)
        close = np.isclose(found.gradient @ v, rate, atol=1e-4)
        assert close.mean() > 0.95


def test_a_link_and_a_field_are_one_pair(robot: lw.Robot) -> None:
    model, scene = robot.collision(), lw.Scene()
    scene.add_height_field("ground", np.zeros((50, 50)), (2.0, 2.0))
    q = robot.configuration({})
    found = model.nearest(q, 60, scene)
    pairs = [tuple(pair) for pair in found.bodies.tolist() if pair[0] >= 0]
    assert len(set(pairs)) == len(pairs)
    scene.allow("ground", *model.links)
    assert not any("ground" in pair for pair in model.distances(q, scene).pairs)
    scene.forbid("ground")
    assert any("ground" in pair for pair in model.distances(q, scene).pairs)


def test_a_map_of_a_million_cells_is_as_its_part_below_the_robot(robot: lw.Robot) -> None:
    g, model = rng("a million cells"), robot.collision()
    x = np.arange(1000) * 0.03
    heights = 0.1 * np.sin(5 * x)[:, None] * np.cos(4 * x) + g.uniform(-0.02, 0.02, (1000, 1000))
    part, whole, q = lw.Scene(), lw.Scene(), standing(robot, g, 300)
    part.add_height_field("ground", heights[440:561, 440:561], (120 * 0.03,) * 2)
    # the middle of the part, in the whole map
    middle = (500 - 499.5) * 0.03
    agree(model, q, part)
    tracemalloc.start()
    whole.add_height_field("ground", heights, (999 * 0.03,) * 2, (-middle, -middle, 0))
    hit = model.collides(q, whole)
    assert tracemalloc.get_traced_memory()[1] < 3 * heights.nbytes  # the copy is one of them
    whole.add_box("box", (0.1, 0.1, 0.1), (9, 9, 9))
    whole.move("box", (9, 9, 8))
    tracemalloc.reset_peak()
    before = tracemalloc.get_traced_memory()[0]
    whole.move("ground", (-middle, -middle, 0))
    model.collides(q, whole)
    assert tracemalloc.get_traced_memory()[1] - before < 0.1 * heights.nbytes
    tracemalloc.stop()
    whole.remove("box")
    np.testing.assert_array_equal(hit, model.collides(q, part))
    assert 0.1 < hit.mean() < 0.9
    one, other = model.clearance(q, whole), model.clearance(q, part)
    np.testing.assert_allclose(one.distance, other.distance, atol=1e-9)
    assert one.names == other.names
    first = q[~hit]
    last = robot.integrate(first, 0.1 * g.normal(size=(len(first), robot.n_v)))
    moved = [model.motion_collides(first, last, scene) for scene in (whole, part)]
    np.testing.assert_array_equal(moved[0].touches, moved[1].touches)
    np.testing.assert_allclose(moved[0].t, moved[1].t, atol=1e-2)


def test_holes_however_deep_cost_no_digits(robot: lw.Robot) -> None:
    """Where a robot is above the walls of a hole, these are as long, and cost 1e-10 of that."""
    g, model = rng("deep holes"), robot.collision()
    heights, q = g.uniform(-0.1, 0.1, (20, 20)), standing(robot, g, 200)

    def clear(hole: float, where: Any) -> Floats:
        heights[where] = hole
        scene = lw.Scene()
        scene.add_height_field("ground", heights, (4, 4))
        return model.distances(q, scene, within=0.1).distance

    aside, below = (slice(0, 2), slice(0, 2)), (slice(10, 11), slice(8, 9))
    expected = clear(-1.0, aside)
    assert 0.1 < (expected.min(axis=1) < 0).mean() < 0.9
    for hole in (-1e3, -1e6, -1e9):
        np.testing.assert_allclose(clear(hole, aside), expected, atol=1e-9)
    clear(-1.0, aside)
    walls = clear(-1e5, below)  # which lean so little that deeper ones are in the same place
    assert np.abs(np.minimum(walls, 0.2) - np.minimum(expected, 0.2)).max() > 0.01
    np.testing.assert_allclose(clear(-1e6, below), walls, atol=1e-3)


def test_a_field_far_from_the_origin(robot: lw.Robot) -> None:
    """Configurations that float32 does not decide on, and numbers of which it knows few digits."""
    g, model = rng("far away"), robot.collision()
    heights, q = g.uniform(-0.1, 0.1, (20, 20)), standing(robot, g, 100)
    for far in (0.0, 19.0, 1e4):
        scene, there = lw.Scene(), q + np.eye(1, q.shape[1]) * far
        scene.add_height_field("ground", heights, (2, 2), (far, 0, 0))
        hit = agree(model, there, scene)
        if far == 0.0:
            expected = hit
        np.testing.assert_array_equal(hit, expected)
    assert 0.1 < expected.mean() < 0.9


def test_heights_that_are_no_heights_are_refused() -> None:
    for fill in (3.4e38, -3.4e38, 1e10):
        heights = np.zeros((4, 4))
        heights[1, 2] = fill
        with pytest.raises(InputError, match=r"heights\[1, 2\] is .* m.*no data"):
            lw.Scene().add_height_field("ground", heights, (1, 1))


@pytest.mark.slow
@pytest.mark.parametrize("name", FIELDS)
def test_another_engine_says_the_same(name: str) -> None:
    """A ball, a box and a capsule that float, against coal's mesh of the field."""
    coal: Any = pytest.importorskip("coal")
    g = rng(f"coal over {name}")
    scene = with_field(name, g)
    scene.remove("ball")
    drawn, ground = scene.geometry("ground"), scene.get("ground")
    mesh = coal.BVHModelOBBRSS()
    mesh.beginModel(len(drawn.faces), len(drawn.vertices))
    mesh.addVertices(drawn.vertices)
    for face in drawn.faces.tolist():
        mesh.addTriangle(*drawn.vertices[face])
    mesh.endModel()
    T = ground.T_world_object
    at = coal.Transform3s(T[:3, :3], T[:3, 3])
    for text, other in (
        ('<sphere radius="0.1"/>', coal.Sphere(0.1)),
        ('<box size="0.1 0.2 0.3"/>', coal.Box(0.1, 0.2, 0.3)),
        ('<capsule radius="0.05" length="0.4"/>', coal.Capsule(0.05, 0.4)),
    ):
        solid = f"<collision><geometry>{text}</geometry></collision>"
        robot = lw.load(f'<robot name="one"><link name="a">{solid}</link></robot>', base="floating")
        model = robot.collision()
        q = np.concatenate([g.uniform(-1.5, 1.5, (300, 3)), g.normal(size=(300, 4))], axis=1)
        q[:, 3:] /= np.linalg.norm(q[:, 3:], axis=1, keepdims=True)
        hit, clear, poses = model.collides(q, scene), model.clearance(q, scene), robot.fk(q, "a")
        seen = 0
        for k, pose in enumerate(poses):
            asked = coal.DistanceRequest(), coal.DistanceResult()
            place = coal.Transform3s(pose[:3, :3], pose[:3, 3])
            expected = coal.distance(mesh, at, other, place, *asked)
            if expected > 1e-6 and not _is_below(ground, pose[:3, 3]):
                assert not hit[k]
                assert clear.distance[k] == pytest.approx(expected, abs=1e-5)
                seen += 1
            else:
                assert hit[k] or clear.distance[k] < 1e-5
        assert seen > 50 and hit.any()


def _is_below(ground: Any, p: Floats) -> bool:
    """Whether a point of the world is in the solid of a field, found from its triangles."""
    T, shape = ground.T_world_object, ground.shape
    x, y, z = T[:3, :3].T @ (p - T[:3, 3])
    top = shape.corners()
    for i, j in np.ndindex(top.shape[0] - 1, top.shape[1] - 1):
        a, b, c, d = top[i, j], top[i + 1, j], top[i + 1, j + 1], top[i, j + 1]
        for three in ((a, b, c), (a, c, d)):
            weights = np.linalg.solve(np.vstack([np.array(three)[:, :2].T, np.ones(3)]), [x, y, 1])
            if weights.min() >= 0:
                return bool(shape.bottom <= z <= weights @ np.array(three)[:, 2])
    return False
