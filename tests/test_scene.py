"""Scenes: obstacles as data, moved and removed by name, drawn, written and read again."""

from __future__ import annotations

import copy
import pickle
from pathlib import Path

import numpy as np
import pytest
import trimesh

import linkwork as lw
from linkwork.formats.urdf.records import Box, Capsule, Cylinder, Sphere
from linkwork.mechanism.shapes import Ellipsoid, HalfSpace, HeightField, Points, Triangles

TURNED = lw.pose([1.0, 2.0, 3.0], rpy=[0.1, 0.2, 0.3])


def full() -> lw.Scene:
    scene = lw.Scene()
    scene.add_box("table", [1.2, 0.8, 0.05], [0.5, 0, -0.025], rgba=(0.5, 0.25, 0, 1))
    scene.add_sphere("ball", 0.1, TURNED)
    scene.add_cylinder("pillar", radius=0.1, length=2.0, pose=[1, 1, 1])
    scene.add_capsule("bar", 0.05, 0.0)
    scene.add_ellipsoid("egg", (0.1, 0.2, 0.3), rgba=(1, 0, 0))
    scene.add_half_space("floor", [0, 0, -0.1])
    scene.add_mesh("block", trimesh.creation.box((1, 2, 3)))
    scene.add_points("cloud", [[0, 0, 1], [0, 1e-9, -1e2]], radius=0.01)
    scene.add_height_field("ground", [[0, 1, 0], [0, 2, 1]], size=(2, 4), depth=0.5)
    scene.allow("ball", "hand", "finger")
    return scene


def test_obstacles_are_what_was_given():
    scene = full()
    assert scene.names == (
        "table",
        "ball",
        "pillar",
        "bar",
        "egg",
        "floor",
        "block",
        "cloud",
        "ground",
    )
    assert scene.get("table").shape == Box((1.2, 0.8, 0.05))
    assert scene.get("ball").shape == Sphere(0.1)
    assert scene.get("pillar").shape == Cylinder(0.1, 2.0)
    assert scene.get("bar").shape == Capsule(0.05, 0.0)
    assert scene.get("egg").shape == Ellipsoid((0.1, 0.2, 0.3))
    assert scene.get("floor").shape == HalfSpace()
    np.testing.assert_array_equal(scene.get("ball").T_world_object, TURNED)
    np.testing.assert_array_equal(scene.get("pillar").T_world_object[:3, 3], 1)
    assert scene.get("egg").rgba == (1, 0, 0, 1)
    assert len(scene) == 9 and "ball" in scene and "nothing" not in scene
    assert repr(scene) == "Scene(9 objects: table, ball, pillar, bar, egg, floor, ...)"


def test_what_is_kept_changes_with_nothing_outside():
    scene, T, points = lw.Scene(), np.eye(4), np.zeros((2, 3))
    scene.add_points("p", points, T)
    T[0, 3] = points[0, 0] = 7.0
    shape = scene.get("p").shape
    assert isinstance(shape, Points)
    assert not shape.points.any()
    np.testing.assert_array_equal(scene.get("p").T_world_object, np.eye(4))
    with pytest.raises(ValueError, match="read-only"):
        scene.get("p").T_world_object[0, 0] = 2.0
    other = scene.copy()
    other.remove("p")
    assert scene.names == ("p",)


def test_moving_and_removing():
    scene = full()
    scene.move("ball", [5, 6, 7])
    moved = scene.get("ball").T_world_object
    np.testing.assert_array_equal(moved[:3, 3], [5, 6, 7])
    np.testing.assert_array_equal(moved[:3, :3], TURNED[:3, :3])  # a position keeps the rotation
    scene.move("ball", np.eye(4))
    np.testing.assert_array_equal(scene.get("ball").T_world_object, np.eye(4))
    scene.recolor("ball", (0, 1, 0))
    assert scene.get("ball").rgba == (0, 1, 0, 1)
    assert scene.names.index("ball") == 1
    scene.remove("ball")
    assert "ball" not in scene
    scene.clear()
    assert len(scene) == 0


@pytest.mark.parametrize("call", ["get", "remove", "geometry"])
def test_a_name_that_is_not_there_is_told_with_the_nearest(call: str):
    with pytest.raises(lw.UnknownNameError, match=r"no object of the scene named 'tabel'.*table"):
        getattr(full(), call)("tabel")


@pytest.mark.parametrize(
    ("add", "message"),
    [
        (lambda s: s.add_box("table", [1, 1, 1]), r"named 'table': give.*remove\('table'\)"),
        (lambda s: s.add_box("", [1, 1, 1]), "the name of an obstacle must be a text"),
        (lambda s: s.add_box("b", [1, 0, 1]), "size must be three lengths above 0 m"),
        (lambda s: s.add_box("b", [1, 1]), r"size must have shape \(..., 3\)"),
        (lambda s: s.add_box("b", [[1, 1, 1]]), r"size must have shape \(3,\), not \(1, 3\)"),
        (lambda s: s.add_box("b", [1, 1, 1e300]), "size is 1e.300 m, and at most 1e.150 m can be"),
        (lambda s: s.add_sphere("b", 1, [0, 1e200, 0]), "position of a pose is 1e.200 m, and"),
        (lambda s: s.move("ball", lw.pose([0, 1e200, 0])), "position of a pose is 1e.200 m, and"),
        (lambda s: s.add_capsule("b", 1, 1e200), "length is 1e.200 m, and at most"),
        (lambda s: s.add_points("b", [[0, 0, 1e200]]), "points is 1e.200 m, and at most"),
        (lambda s: s.add_sphere("b", -1), "radius must be a finite number above 0, not -1"),
        (lambda s: s.add_cylinder("b", 1, 0), "length must be a finite number above 0"),
        (lambda s: s.add_capsule("b", 1, -1), "length must be a finite number from 0"),
        (lambda s: s.add_box("b", [1, 1, 1], [1, 2]), r"\(4, 4\), as lw.pose makes it, or \(3,\)"),
        (lambda s: s.add_box("b", [1, 1, 1], 2 * np.eye(4)), "not a rigid pose"),
        (lambda s: s.add_box("b", [1, 1, 1], [np.nan, 0, 0]), "pose.* is nan"),
        (lambda s: s.add_box("b", [1, 1, 1], rgba=(2, 0, 0)), "three or four numbers from 0 to 1"),
        (lambda s: s.add_points("b", np.zeros((0, 3))), "'b' has no points"),
        (lambda s: s.add_height_field("b", [[1, 2]], (1, 1)), r"heights have shape \(m, n\)"),
        (lambda s: s.add_height_field("b", np.eye(2), (1, 0)), "size must be two lengths above 0"),
        (
            lambda s: s.add_height_field("b", [[0, np.inf], [0, 0]], (1, 1)),
            "heights.* it must be a finite",
        ),
        (lambda s: s.add_height_field("b", np.eye(2), (1, 1), depth=0), "depth must be"),
        (lambda s: s.add_shape("b", "box"), "shape must be one of Box, Sphere.*, not str"),
        (lambda s: s.allow("ball", ""), "what may touch 'ball' is another name, not ''"),
        (lambda s: s.allow("ball", "ball"), "what may touch 'ball' is another name, not 'ball'"),
        (lambda s: s.add_mesh("b", "lost.stl"), "lost.stl"),
        (lambda s: s.add_mesh("b", 3), "a file, a mesh of trimesh or a pair of vertices"),
        (lambda s: s.add_mesh("b", (np.eye(3), [[0, 1, 3]])), "from 0 to 2"),
        (lambda s: s.add_mesh("b", (np.eye(3), [[0.0, 1, 2]])), "whole ones .* not of float64"),
        (lambda s: s.add_mesh("b", (np.eye(3), [[0, 1, 2]]), scale=0), "scale must not be 0"),
        (lambda s: s.add_mesh("b", (np.eye(3), [[0, 1, 2]]), scale=(1, 1)), "one number or three"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_told_and_changes_nothing(add, message: str):
    scene = full()
    with pytest.raises(lw.InputError, match=message):
        add(scene)
    assert len(scene) == 9


def test_allowed_contacts_go_with_their_obstacle():
    scene = full()
    assert scene.allowed == {("ball", "hand"), ("ball", "finger")}
    other = scene.copy()
    other.allow("table", "ball")
    other.forbid("ball", "hand")
    assert other.allowed == {("ball", "finger"), ("table", "ball")}
    assert scene.allowed == {("ball", "hand"), ("ball", "finger")}
    other.remove("ball")
    assert not other.allowed
    scene.forbid("ball")
    assert not scene.allowed
    with pytest.raises(lw.UnknownNameError, match="bal"):
        scene.allow("bal", "hand")


def test_a_height_field_is_solid_below_its_surface():
    scene = full()
    shape = scene.get("ground").shape
    assert isinstance(shape, HeightField)
    assert shape.bottom == -0.5
    np.testing.assert_array_equal(shape.corners()[1, 1], [1, 0, 2])
    drawn = scene.geometry("ground")
    mesh = trimesh.Trimesh(drawn.vertices, drawn.faces)
    assert mesh.is_watertight
    # two triangles a cell: a third of the sum of their corners is their mean height
    thirds = (0 + 0 + 2) + (0 + 2 + 1) + (1 + 2 + 1) + (1 + 1 + 0)
    assert mesh.volume == pytest.approx(2 * 4 * 0.5 + 4 / 2 * thirds / 3)
    with pytest.raises(ValueError, match="read-only"):
        shape.heights[0, 0] = 1


def test_a_map_of_a_million_cells_is_drawn_with_some_of_its_corners():
    x, y = np.linspace(0, 1, 1001), np.linspace(0, 2, 777)
    scene = lw.Scene()
    scene.add_height_field("map", x[:, None] + y, size=(30, 20), depth=0.5)
    drawn = scene.geometry("map")
    assert len(drawn.faces) < 4.1 * 250**2
    mesh = trimesh.Trimesh(drawn.vertices, drawn.faces)
    assert mesh.is_watertight
    np.testing.assert_allclose(mesh.bounds, [[-15, -10, -0.5], [15, 10, 3]])
    assert mesh.volume == pytest.approx(30 * 20 * (0.5 + 1.5))  # a plane loses nothing by it


def test_shapes_go_from_one_scene_to_another():
    scene = lw.Scene()
    for each in full():
        scene.add_shape(each.name, each.shape, each.T_world_object)
    assert scene.get("block").shape is not full().get("block").shape
    np.testing.assert_array_equal(scene.get("ball").T_world_object, TURNED)


# --- meshes ---------------------------------------------------------------------------------------


def test_a_mesh_of_a_file_is_scaled_and_coloured(tmp_path: Path):
    (tmp_path / "a.mtl").write_text("newmtl m\nKd 1 0.4 0\n")
    (tmp_path / "a.obj").write_text(
        "mtllib a.mtl\nv 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nusemtl m\n"
        "f 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n"
    )
    scene = lw.Scene()
    added = scene.add_mesh("m", tmp_path / "a.obj", scale=(1, -2, 3))
    assert isinstance(added.shape, Triangles)
    np.testing.assert_allclose(np.ptp(added.shape.vertices, axis=0), (1, 2, 3))
    assert trimesh.Trimesh(added.shape.vertices, added.shape.faces).volume == pytest.approx(1)
    assert added.rgba == pytest.approx((1, 0.4, 0, 1))


# --- seen -----------------------------------------------------------------------------------------


def test_every_obstacle_can_be_drawn():
    scene = full()
    extents = {}
    for each in scene.shown():
        assert each.geometry.faces.max() < len(each.geometry.vertices)
        extents[each.name] = np.ptp(each.geometry.vertices, axis=0)
        mesh = trimesh.Trimesh(each.geometry.vertices, each.geometry.faces)
        assert mesh.volume > 0 or each.name == "cloud"
    np.testing.assert_allclose(extents["table"], (1.2, 0.8, 0.05))
    np.testing.assert_allclose(extents["egg"], (0.2, 0.4, 0.6), rtol=0.01)
    np.testing.assert_allclose(extents["pillar"], (0.2, 0.2, 2.0), rtol=0.01)
    assert scene.geometry("floor").vertices[:, 2].max() == pytest.approx(0)
    np.testing.assert_allclose(extents["block"], (1, 2, 3))


def test_a_large_cloud_is_drawn_in_part():
    scene = lw.Scene()
    scene.add_points("p", np.random.default_rng(0).random((50_001, 3)))
    assert 8 * 15_000 < len(scene.geometry("p").faces) <= 8 * 20_000


def test_a_shape_is_drawn_anew_where_its_name_is_another_one():
    scene = lw.Scene()
    scene.add_box("a", [1, 1, 1])
    assert scene.geometry("a") is scene.geometry("a")
    scene.remove("a")
    scene.add_box("a", [2, 2, 2])
    assert np.ptp(scene.geometry("a").vertices) == pytest.approx(2)


# --- text -----------------------------------------------------------------------------------------


def same(a: lw.Scene, b: lw.Scene) -> None:
    assert a.names == b.names
    assert a.allowed == b.allowed
    for one, other in zip(a, b, strict=True):
        np.testing.assert_allclose(one.T_world_object, other.T_world_object, atol=1e-15)
        assert one.rgba == other.rgba
        if isinstance(one.shape, Triangles):
            assert isinstance(other.shape, Triangles)
            np.testing.assert_array_equal(one.shape.vertices, other.shape.vertices)
            np.testing.assert_array_equal(one.shape.faces, other.shape.faces)
        elif isinstance(one.shape, Points):
            assert isinstance(other.shape, Points)
            np.testing.assert_array_equal(one.shape.points, other.shape.points)
            assert one.shape.radius == other.shape.radius
        elif isinstance(one.shape, HeightField):
            assert isinstance(other.shape, HeightField)
            np.testing.assert_array_equal(one.shape.heights, other.shape.heights)
            assert (one.shape.size, one.shape.depth) == (other.shape.size, other.shape.depth)
        else:
            assert one.shape == other.shape


def test_what_is_written_is_read_again(tmp_path: Path):
    scene = full()
    same(scene, lw.Scene.from_yaml(scene.to_yaml()))
    text = scene.to_yaml(tmp_path / "scene.yaml")
    assert (tmp_path / "scene.yaml").read_text() == text
    same(scene, lw.Scene.from_yaml(tmp_path / "scene.yaml"))
    same(scene, pickle.loads(pickle.dumps(scene)))
    assert len(lw.Scene.from_yaml(lw.Scene().to_yaml())) == 0


@pytest.mark.parametrize(
    "name",
    [
        *("yes", "a: b", "- x", "Tür 5", 'quote "', "#", "a\x7f"),
        *("a\x85b", "a\u2028b", "\ud800", "🤖"),
    ],
)
def test_names_come_back(name: str):
    scene = lw.Scene()
    scene.add_sphere(name, 1)
    scene.allow(name, "link " + name)
    back = lw.Scene.from_yaml(scene.to_yaml())
    assert (back.names, back.allowed) == ((name,), scene.allowed)


def test_mesh_files_lie_beside_the_text(tmp_path: Path):
    (tmp_path / "meshes").mkdir()
    trimesh.creation.box((1, 2, 3)).export(tmp_path / "meshes" / "a.stl")
    scene = lw.Scene()
    scene.add_mesh("m", tmp_path / "meshes" / "a.stl", scale=2, rgba=(0, 0, 1))
    text = scene.to_yaml(tmp_path / "scene.yaml")
    assert 'file: "meshes/a.stl"' in text
    same(scene, lw.Scene.from_yaml(tmp_path / "scene.yaml"))
    elsewhere = tmp_path / "a" / "b" / "c"
    elsewhere.mkdir(parents=True)
    scene.to_yaml(elsewhere / "scene.yaml")
    with pytest.raises(lw.InputError, match=r"scene.yaml:2: .*lies outside"):
        lw.Scene.from_yaml(elsewhere / "scene.yaml")
    same(scene, lw.Scene.from_yaml(elsewhere / "scene.yaml", allow=[tmp_path]))


def test_a_text_by_hand():
    scene = lw.Scene.from_yaml(
        "objects:\n"
        "  - name: table\n    box: [1, 0.5, 0.1]\n    xyz: [0, 0, 1]\n    rpy: [0, 0, 0.5]\n"
        "  - {name: wall, half_space: true}\n"
        "  - name: post\n    cylinder:\n      radius: 0.1\n      length: 1\n"
    )
    expected = lw.pose([0, 0, 1], rpy=[0, 0, 0.5])
    np.testing.assert_allclose(scene.get("table").T_world_object, expected, atol=1e-15)
    assert scene.get("post").shape == Cylinder(0.1, 1.0)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("objects:\n  - name: a\n", ":2: 'a' needs one shape of box, sphere.*it has none"),
        ("objects:\n  - name: a\n    box: [1, 1, 1]\n    sphere: 1\n", "it has box and sphere"),
        ("objects:\n  - box: [1, 1, 1]\n", ":2: the name of an object must be a text"),
        ("objects:\n  - {name: a, cube: 1}\n", ":2: an object has name, box.*'cube' is none"),
        ("objects:\n  - {name: a, box: [1, 1, -1]}\n", ":2: size must be three lengths above 0"),
        ("objects:\n  - {name: a, box: big}\n", ":2: size must be real numbers"),
        ("objects:\n  - {name: a, sphere: 1, rpy: [0, 0, 0], wxyz: [1, 0, 0, 0]}\n", "give one of"),
        ("objects:\n  - {name: a, sphere: 1}\n  - {name: a, sphere: 1}\n", ":3: .*named 'a'"),
        ("objects:\n  - {name: a, cylinder: {radius: 1}}\n", ":2: length must be a finite number"),
        ("objects:\n  - {name: a, points: {radius: 1}}\n", "has no points|shape"),
        ("objects:\n  - {name: a, half_space: no way}\n", "^scene:2: half_space is true"),
        ("objects:\n  - {name: a, mesh: {file: lost.stl}}\n", ":2: .*lost.stl"),
        ("objects:\n  - {name: a, mesh: {vertices: [[0, 0, 0]]}}\n", ":2: "),
        ("obstacles:\n  - {name: a}\n", ":2?.*'obstacles' is none of its keys"),
        ("- name: a\n  sphere: 1\n", "list of a scene's obstacles stands below 'objects:'"),
        (
            "objects:\n- name: a\n  box: {size: [1, 1, 1]}\n",
            "size must be real numbers, not a dict$",
        ),
        ("objects: {a: b}\n\n", "'objects' must be a list"),
    ],
)
def test_a_text_that_is_wrong_is_told_with_its_line(text: str, message: str):
    with pytest.raises(
        lw.InputError if "cannot" not in message else lw.DescriptionError, match=message
    ):
        lw.Scene.from_yaml(text)


def test_a_file_that_is_not_there():
    with pytest.raises(lw.MissingFileError):
        lw.Scene.from_yaml("lost.yaml")


@pytest.mark.parametrize("read", [lw.Scene.from_yaml, lw.Scene.from_moveit])
@pytest.mark.parametrize("source", [None, b"objects: []\n", 3])
def test_what_is_neither_a_file_nor_a_text(read, source):
    with pytest.raises(lw.InputError, match="read from a file's path or a text of several lines"):
        read(source)


def test_copies_change_by_themselves():
    for copied in (copy.copy, copy.deepcopy, lw.Scene.copy):
        scene = full()
        other = copied(scene)
        assert other.names == scene.names and other.allowed == scene.allowed
        other.remove("table")
        other.add_sphere("more", 0.1)
        assert "table" in scene and "more" not in scene and scene.edits != other.edits


def test_a_scene_that_is_too_long_to_be_read_is_not_written(tmp_path: Path):
    scene = lw.Scene()
    scene.add_points("p", np.random.default_rng(0).random((20_000, 3)))
    with pytest.raises(lw.InputError, match="'p' is the longest: save its meshes as files"):
        scene.to_yaml(tmp_path / "scene.yaml")
    assert not list(tmp_path.iterdir())
