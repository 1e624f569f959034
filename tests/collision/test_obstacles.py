"""Obstacles as arrays: rows, spheres, boxes and tree hold what the shapes are."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
import trimesh

import linkwork as lw
from linkwork.collision import obstacles
from linkwork.collision.narrow import closest
from linkwork.collision.obstacles import Obstacles, obstacles_of
from linkwork.collision.pieces import HALF_SPACE, solid_piece, table
from linkwork.collision.tree import visit_near
from linkwork.formats.urdf.records import Box, Capsule, Cylinder, Sphere
from linkwork.mechanism.shapes import Ellipsoid, HalfSpace, HeightField, Points
from seeds import rng
from typed_calls import compiled


def placed(random: np.random.Generator) -> np.ndarray:
    return lw.pose(random.uniform(-2, 2, 3), rpy=random.uniform(-3, 3, 3))


def full(label: str) -> lw.Scene:
    random = rng(label)
    scene = lw.Scene()
    scene.add_box("box", random.uniform(0.1, 1, 3), placed(random))
    scene.add_sphere("ball", 0.3, placed(random))
    scene.add_height_field("ground", random.uniform(0, 1, (4, 5)), (2, 3), placed(random))
    scene.add_cylinder("post", 0.1, 1.5, placed(random))
    scene.add_points("cloud", random.uniform(-1, 1, (50, 3)), placed(random), radius=0.01)
    scene.add_capsule("bar", 0.1, 0.7, placed(random))
    scene.add_capsule("dot", 0.1, 0.0, placed(random))
    scene.add_half_space("floor", placed(random))
    scene.add_mesh("mesh", trimesh.creation.icosphere(1, 0.5), placed(random))
    scene.add_ellipsoid("egg", random.uniform(0.1, 1, 3), placed(random))
    return scene


def of(found: Obstacles, name: str) -> np.ndarray:
    return np.flatnonzero(found.object_of_row == found.names.index(name))


def hull_points(found: Obstacles, row: int) -> np.ndarray:
    """The vertices (n, 3) of a hull, in the world."""
    numbers = found.rows[row]
    first, n = int(numbers[5]), int(numbers[6])
    points = found.vertices[first : first + 3 * n].reshape(3, n)
    T = numbers[8:20].reshape(3, 4)
    return (T[:, :3] @ points).T + T[:, 3]


def points_of(scene: lw.Scene) -> Iterator[tuple[str, np.ndarray]]:
    """Points of each object in the world, half-spaces left out."""
    for each in scene:
        if not isinstance(each.shape, HalfSpace):
            T = each.T_world_object
            yield each.name, scene.geometry(each.name).vertices @ T[:3, :3].T + T[:3, 3]


def test_rows_of_solids_are_those_of_their_pieces() -> None:
    scene = full("test_rows_of_solids_are_those_of_their_pieces")
    found = obstacles_of(scene)
    for name in ("box", "ball", "post", "bar", "dot", "floor", "egg"):
        each = scene.get(name)
        expected, _ = table([solid_piece(each.shape, each.T_world_object)])
        (row,) = of(found, name)
        np.testing.assert_allclose(found.rows[row, :23], expected[0, :23], rtol=1e-14, atol=1e-14)
        assert found.rows[row, 23] == pytest.approx(expected[0, 23], rel=1e-12)
        assert found.first_row[found.names.index(name)] == row
    assert len(of(found, "mesh")) == 1
    assert len(of(found, "cloud")) == len(of(found, "ground")) == 0
    assert found.names == scene.names and len(found.rows) == found.first_row[-1]


def test_spheres_and_boxes_hold_the_shapes() -> None:
    scene = full("test_spheres_and_boxes_hold_the_shapes")
    found = obstacles_of(scene)
    for name, points in points_of(scene):
        rows = of(found, name)
        if not len(rows):
            continue
        centres, radii = found.rows[rows, 20:23], found.rows[rows, 23]
        away = np.linalg.norm(points[:, None] - centres, axis=2) - radii
        assert away.min(axis=1).max() < 1e-13, name
        axes = found.boxes[rows, :9].reshape(-1, 3, 3)
        local = np.abs(np.einsum("rij,prj->pri", axes, points[:, None] - found.boxes[rows, 9:12]))
        beyond = (local - found.boxes[rows, 12:]).max(axis=2).min(axis=1)
        assert beyond.max() < 1e-13, name


def test_half_spaces_stand_apart() -> None:
    found = obstacles_of(full("test_half_spaces_stand_apart"))
    np.testing.assert_array_equal(found.half_spaces, of(found, "floor"))
    assert found.rows[found.half_spaces, 0] == HALF_SPACE
    assert np.isinf(found.rows[found.half_spaces, 23])
    assert not np.isin(found.half_spaces, found.tree.index[16:]).any()


def test_a_convex_mesh_is_its_hull() -> None:
    scene = full("test_a_convex_mesh_is_its_hull")
    found = obstacles_of(scene)
    (row,) = of(found, "mesh")
    corners = dict(points_of(scene))["mesh"]
    away = np.linalg.norm(hull_points(found, row)[:, None] - corners, axis=2)
    assert away.min(axis=1).max() < 1e-12 and away.min(axis=0).max() < 1e-12
    assert (found.outside < 1e-12).all()


@pytest.mark.slow
def test_a_mesh_that_is_not_convex_says_what_its_pieces_fill() -> None:
    scene = lw.Scene()
    scene.add_mesh("ring", trimesh.creation.annulus(0.5, 1.0, 1.0, sections=8))
    scene.add_box("box", (1, 1, 1))
    found = obstacles_of(scene)
    assert 0.4 < found.outside[0] < 0.6  # the middle of the hole, which its hull fills
    assert found.outside[1] == 0


def same(a: Obstacles, b: Obstacles) -> None:
    assert a.names == b.names
    names = ("rows", "vertices", "boxes", "object_of_row", "first_row", "half_spaces", "outside")
    for name in names:
        np.testing.assert_array_equal(getattr(a, name), getattr(b, name), name)
    for one, other in ((a.tree, b.tree), (a.aggregates, b.aggregates)):
        np.testing.assert_array_equal(one.numbers, other.numbers)
    np.testing.assert_array_equal(a.tree.index, b.tree.index)
    assert a.aggregates.objects == b.aggregates.objects


def test_what_changes_leaves_the_rest_and_gives_what_all_anew_would() -> None:
    label = "test_what_changes_leaves_the_rest_and_gives_what_all_anew_would"
    scene, random = full(label), rng(label + " moves")
    found = obstacles_of(scene)
    same(found, obstacles_of(full(label)))
    assert obstacles_of(scene, found) is found
    for _ in range(60):
        names = scene.names
        name = names[random.integers(len(names))] if names else ""
        what = random.integers(4)
        if what == 0 and names:
            scene.remove(name)
        elif what == 1 and names:
            scene.move(name, placed(random))
        elif what == 2:
            scene.add_box(f"new {random.integers(1 << 40)}", [1, 1, 1], placed(random))
        elif what == 3 and names and len(names) < 20:
            again = f"again {random.integers(1 << 40)}"
            scene.add_shape(again, scene.get(name).shape, placed(random))
        found = obstacles_of(scene, found)
        same(found, obstacles_of(scene))


def test_pieces_of_a_mesh_are_made_once(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[Any] = []
    original = obstacles.convex_pieces

    def counted(*args: Any) -> Any:
        made.append(args)
        return original(*args)

    monkeypatch.setattr(obstacles, "convex_pieces", counted)
    scene = lw.Scene()
    mesh = scene.add_mesh("a", trimesh.creation.icosphere(2))
    scene.add_shape("b", mesh.shape, [1, 0, 0])
    found = obstacles_of(scene)
    scene.move("a", [0, 0, 5])
    found = obstacles_of(scene, found)
    obstacles_of(scene.copy())
    assert len(made) == 1
    assert len(set(found.rows[:, 5])) == 1  # and stand in the table once


@pytest.fixture(scope="module")
def near() -> Callable[..., Any]:
    return compiled([visit_near])["visit_near"]


def test_the_tree_finds_rows_by_their_spheres(near: Callable[..., Any]) -> None:
    label = "test_the_tree_finds_rows_by_their_spheres"
    found, random = obstacles_of(full(label)), rng(label + " balls")
    spheres = np.delete(found.rows[:, 20:], found.half_spaces, axis=0)
    rows = np.delete(np.arange(len(found.rows)), found.half_spaces)
    out = np.zeros(len(rows), np.int64)
    for _ in range(200):
        x, r = random.uniform(-4, 4, 3), float(random.uniform(0, 1))
        expected = rows[np.linalg.norm(spheres[:, :3] - x, axis=1) <= spheres[:, 3] + r]
        n = near(found.tree.index, found.tree.numbers, *x.tolist(), r, out, len(out))
        assert sorted(out[:n]) == expected.tolist()


def test_scenes_of_nothing(near: Callable[..., Any]) -> None:
    for scene in (lw.Scene(), _only_points()):
        found = obstacles_of(scene)
        assert found.rows.shape == (0, 24) and found.boxes.shape == (0, 15)
        assert found.first_row.tolist() == [0] * (len(scene) + 1)
        out = np.zeros(1, np.int64)
        assert near(found.tree.index, found.tree.numbers, 0.0, 0.0, 0.0, 1e9, out, 1) == 0
        assert found.aggregates.count == len(scene)


def _only_points() -> lw.Scene:
    scene = lw.Scene()
    scene.add_points("p", [[0, 0, 0]] * 3)
    return scene


def test_enormous_and_tiny_obstacles(near: Callable[..., Any]) -> None:
    scene = lw.Scene()
    scene.add_box("plate", [1e6, 1e6, 1e-3])
    scene.add_sphere("mote", 1e-9, [0, 0, 1])
    needle = np.array([[0, 0, 0], [1, 0, 0], [0, 1e-9, 0]])
    scene.add_mesh("needle", (needle, np.array([[0, 1, 2]])))
    found = obstacles_of(scene)
    out = np.zeros(3, np.int64)
    n = near(found.tree.index, found.tree.numbers, 0.0, 0.0, 1.0, 1e-9, out, 3)
    assert {0, 1} <= set(out[:n].tolist())
    assert np.isfinite(found.rows).all()


@pytest.mark.slow
def test_a_hundred_thousand_objects(near: Callable[..., Any]) -> None:
    random = rng("test_a_hundred_thousand_objects")
    scene = lw.Scene()
    for k, x in enumerate(random.uniform(-10, 10, (100_000, 3))):
        scene.add_box(str(k), (0.1, 0.1, 0.1), x) if k % 2 else scene.add_sphere(str(k), 0.05, x)
    found = obstacles_of(scene)
    scene.move("7", [0, 0, 50])
    scene.remove("0")
    found = obstacles_of(scene, found)
    out = np.zeros(1000, np.int64)
    for x in random.uniform(-10, 10, (100, 3)).tolist():
        met = np.linalg.norm(found.rows[:, 20:23] - x, axis=1) <= found.rows[:, 23] + 0.5
        n = near(found.tree.index, found.tree.numbers, *x, 0.5, out, 1000)
        assert sorted(out[:n]) == np.flatnonzero(met).tolist()
    assert near(found.tree.index, found.tree.numbers, 0.0, 0.0, 50.0, 0.1, out, 1000) == 1
    assert found.names[found.object_of_row[out[0]]] == "7"


@pytest.mark.slow
def test_distances_to_the_rows_are_those_of_another_engine() -> None:
    coal: Any = pytest.importorskip("coal")
    label = "test_distances_to_the_rows_are_those_of_another_engine"
    scene, random = full(label), rng(label + " balls")
    distance = compiled([closest])["closest"]
    found = obstacles_of(scene)
    piece, out = np.zeros(24), np.zeros(9)
    piece[[8, 13, 18]], rest = 1.0, np.eye(4)[:3].reshape(-1).copy()
    for each in scene:
        shape = each.shape
        if isinstance(shape, (Points, HeightField)):
            continue
        R, p = each.T_world_object[:3, :3], each.T_world_object[:3, 3]
        for _ in range(50):
            x, r = random.uniform(-3, 3, 3), float(random.uniform(0.01, 0.2))
            piece[1] = piece[23] = r
            pose = np.column_stack([np.eye(3), x]).reshape(-1)
            got = min(
                distance(piece, pose, row, rest, found.vertices, 1e9, out)
                for row in found.rows[of(found, each.name)]
            )
            other = _of_coal(coal, shape)
            place = coal.Transform3s(R, p), coal.Transform3s(np.eye(3), x)
            asked = coal.DistanceRequest(), coal.DistanceResult()
            expected = coal.distance(other, place[0], coal.Sphere(r), place[1], *asked)
            assert got == pytest.approx(expected, abs=1e-5), each.name


def _of_coal(coal: Any, shape: Any) -> Any:
    """The shape as another engine has it."""
    if isinstance(shape, Box):
        return coal.Box(*shape.size)
    if isinstance(shape, Sphere):
        return coal.Sphere(shape.radius)
    if isinstance(shape, Cylinder):
        return coal.Cylinder(shape.radius, shape.length)
    if isinstance(shape, Capsule):
        return coal.Capsule(shape.radius, shape.length)
    if isinstance(shape, Ellipsoid):
        return coal.Ellipsoid(*shape.radii)
    if isinstance(shape, HalfSpace):
        return coal.Halfspace(np.array([0.0, 0.0, 1.0]), 0.0)
    points = coal.StdVec_Vec3s()
    points.extend(list(shape.vertices))
    return coal.Convex.convexHull(points, False, "Qt")
