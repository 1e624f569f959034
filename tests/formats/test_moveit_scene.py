"""Scenes of MoveIt: the text and the message, both forms of each, and what is refused."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import trimesh

import linkwork as lw
from linkwork.formats.urdf.records import Box, Cylinder, Sphere
from linkwork.mechanism.shapes import HalfSpace, Triangles

TURN = "0 0 0.7071067811865476 0.7071067811865476"  # x y z w: a quarter turn about z

NEW = f"""(noname)
* shelf
1 0 0
{TURN}
2
box
1 2 3
0.5 0 0
0 0 0 1
0.25 0.5 0 1
cylinder
0.1 2
0 0 1
0 0 0 1
0 0 0 0
1
handle
0 0 0
0 0 0 1
* floor with spaces
0 0 0
0 0 0 1
1
plane
0 0 2 1
0 0 0
0 0 0 1
0 0 0 0
0
.
"""

OLD = f"""scene
* ball
1
sphere
0.5
1 2 3
0 0 0 1
0 0 0 0
* wedge
1
mesh
4 4
0 0 0
1 0 0
0 1 0
0 0 1
0 2 1
0 1 3
0 3 2
1 2 3
0 0 1
{TURN}
0 0 1 1
.
"""


def at(T: np.ndarray, *point: float) -> np.ndarray:
    return (T @ [*point, 1.0])[:3]


def test_the_text_with_poses_of_objects():
    scene = lw.Scene.from_moveit(NEW)
    assert scene.names == ("shelf.1", "shelf.2", "floor with spaces")
    box, post, floor = scene
    assert box.shape == Box((1, 2, 3)) and box.rgba == (0.25, 0.5, 0, 1)
    np.testing.assert_allclose(at(box.T_world_object, 0.5, 0, 0), [1, 1, 0], atol=1e-15)
    assert post.shape == Cylinder(0.1, 2) and post.rgba is None
    np.testing.assert_allclose(at(post.T_world_object, 0, 0, 0), [1, 0, 1], atol=1e-15)
    assert floor.shape == HalfSpace()
    np.testing.assert_allclose(at(floor.T_world_object, 0, 0, 0), [0, 0, -0.5], atol=1e-15)
    np.testing.assert_allclose(floor.T_world_object[:3, 2], [0, 0, 1], atol=1e-15)


@pytest.mark.parametrize(
    "name", ["two  blanks", "tab\tbed", "next\x85line", "line\u2028end", "a\x0cb"]
)
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_a_name_is_the_whole_rest_of_its_line(name: str, end: str):
    text = NEW.replace("floor with spaces", f" {name} ").replace("\n", end)
    assert lw.Scene.from_moveit(text).names[2] == name


def test_the_older_text_and_a_mesh(tmp_path: Path):
    (tmp_path / "a.scene").write_text(OLD)
    ball, wedge = lw.Scene.from_moveit(tmp_path / "a.scene")
    assert ball.shape == Sphere(0.5)
    np.testing.assert_array_equal(ball.T_world_object[:3, 3], [1, 2, 3])
    assert isinstance(wedge.shape, Triangles)
    assert trimesh.Trimesh(wedge.shape.vertices, wedge.shape.faces).volume == pytest.approx(1 / 6)
    np.testing.assert_allclose(at(wedge.T_world_object, 1, 0, 0), [0, 1, 1], atol=1e-15)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("* wedge", "* ball", ":9: there are two objects 'ball'"),
        ("sphere\n", "torus\n", ":4: a shape is box, sphere.*not 'torus'"),
        ("0.5\n", "half\n", ":5: the sphere of 'ball' must be 1 numbers.*'half'"),
        ("0.5\n", "1_0\n", ":5: the sphere of 'ball' must be 1 numbers.*'1_0'"),
        ("0.5\n", "nan\n", ":5: the sphere of 'ball' must be finite"),
        ("0.5\n", "-0.5\n", ":4: radius must be a finite number above 0"),
        ("1 2 3\n0 0 0 1", "1 2 3\n0 0 0 0", ":7: the rotation of a shape of 'ball' is 0 0 0 0"),
        ("4 4\n", "999999999 4\n", ":12: .* more than the text"),
        ("0 0 1 1\n.\n", "0 0 1 1\n", ":23: the text ends"),
        ("0 0 1 1\n.\n", "0 0 1 1\n!\n.\n", ":24: an object begins with '[*] name', not with '!'"),
        ("0 0 1 1\n.\n", "0 0 9 1\n.\n", ":11: rgba must be"),
        ("1 2 3\n0 0 1\n0", "1 2 9\n0 0 1\n0", ":11: faces must be numbers"),
        ("1\nsphere", "many\nsphere", ":3: the number of shapes of 'ball' must be a whole number"),
    ],
)
def test_what_is_wrong_in_a_text_is_told_with_its_line(old: str, new: str, message: str):
    changed = OLD.replace(old, new, 1)
    assert changed != OLD
    with pytest.raises(lw.InputError, match=message):
        lw.Scene.from_moveit(changed)


MESSAGE = """
name: ""
fixed_frame_transforms:
  - header: {frame_id: world}
    child_frame_id: desk
    transform: {translation: {x: 0, y: 0, z: 1}, rotation: {x: 0, y: 0, z: 0, w: 1}}
allowed_collision_matrix:
  entry_names: [arm, cup, hand]
  entry_values:
    - [false, false, true]
    - {enabled: [false, false, true]}
    - [true, true, false]
object_colors:
  - {id: cup, color: {r: 1, g: 0, b: 0.5, a: 1}}
world:
  collision_objects:
    - id: cup
      header: {frame_id: desk}
      operation: 0
      primitives:
        - {type: 3, dimensions: [0.3, 0.05]}
      primitive_poses:
        - {position: [1, 0, 0], orientation: [0, 0, 0, 2]}
    - id: rest
      pose: {position: {x: 5, y: 0, z: 0}, orientation: {x: 0, y: 0, z: 0, w: 1}}
      primitives:
        - {type: box, dimensions: [1, 2, 3]}
        - {type: cone, dimensions: [0.4, 0.1]}
      primitive_poses:
        - {}
        - {position: [0, 1, 0]}
      meshes:
        - vertices: [{x: 0, y: 0, z: 0}, [1, 0, 0], [0, 1, 0], [0, 0, 1]]
          triangles: [{vertex_indices: [0, 2, 1]}, [0, 1, 3], [0, 3, 2], [1, 2, 3]]
      planes:
        - {coef: [0, 0, 1, 0]}
      plane_poses:
        - {position: [0, 0, -1]}
"""


def test_the_message():
    scene = lw.Scene.from_moveit(MESSAGE)
    assert scene.names == ("cup", "rest.1", "rest.2", "rest.3", "rest.4")
    assert scene.allowed == {("cup", "hand")}
    cup, box, cone, mesh, plane = scene
    assert cup.shape == Cylinder(0.05, 0.3) and cup.rgba == (1, 0, 0.5, 1)
    np.testing.assert_allclose(cup.T_world_object[:3, 3], [1, 0, 1])
    assert box.shape == Box((1, 2, 3))
    np.testing.assert_allclose(box.T_world_object[:3, 3], [5, 0, 0])
    assert isinstance(cone.shape, Triangles) and isinstance(mesh.shape, Triangles)
    np.testing.assert_allclose(cone.T_world_object[:3, 3], [5, 1, 0])
    np.testing.assert_allclose(plane.T_world_object[:3, 3], [5, 0, -1])


@pytest.mark.parametrize(
    ("old", "new"), [("", ""), ("operation: 0", 'operation: "\\0"')], ids=["ROS 1", "ROS 2"]
)
def test_the_message_as_tools_of_ros_print_it(old: str, new: str):
    printed = MESSAGE.replace(old, new) + "---\n"
    assert lw.Scene.from_moveit(printed).names == lw.Scene.from_moveit(MESSAGE).names


def test_a_cone_lies_in_its_hull_which_is_hardly_larger():
    cone = lw.Scene.from_moveit(MESSAGE).get("rest.2").shape
    assert isinstance(cone, Triangles)
    hull = trimesh.Trimesh(cone.vertices, cone.faces)
    assert hull.is_watertight and hull.is_convex
    rng = np.random.default_rng(0)
    t, angle = rng.random(1000), 2 * np.pi * rng.random(1000)
    on = np.stack([0.1 * t * np.cos(angle), 0.1 * t * np.sin(angle), 0.2 - 0.4 * t], -1)
    inside = np.einsum("fk,pfk->pf", hull.face_normals, on[:, None] - hull.triangles[:, 0])
    assert inside.max() < 1e-12
    assert np.hypot(*hull.vertices[:, :2].T).max() < 0.1 * 1.0013


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("frame_id: desk}", "frame_id: moon}", ":17: 'cup' stands in frame 'moon'.*'desk'"),
        ("operation: 0", "operation: 1", ":19: 'cup' is not added but operation 1"),
        ("type: 3", "type: 5", ":21: a primitive of 'cup' is box"),
        ("type: box", "type: torus", "not 'torus'"),
        ("[0.3, 0.05]", "[0.3]", ":21: a cylinder has 2 dimensions; this of 'cup' has 1"),
        ("[0.3, 0.05]", "[0.3, -1]", ":21: radius must be a finite number above 0"),
        ("[0.4, 0.1]", "[0, 0.1]", "the cone of 'rest' must have lengths above 0"),
        ("[0, 0, 0, 2]", "[0, 0, 0, 0]", "the orientation of a shape of 'cup' is 0 0 0 0"),
        ("[0, 0, 0, 2]", "[0, 0, 1]", "orientation of .* must be 4 numbers, not 3"),
        ("        - {}\n", "", "'rest' has 2 primitives and 1 primitive_poses"),
        ("coef: [0, 0, 1, 0]", "coef: [0, 0, 0, 0]", "the normal of a plane of 'rest' is 0"),
        ("[0, 2, 1]}", "[0, 2, 9]}", "faces must be numbers of vertices"),
        ("id: rest", "id: cup", ":24: there are two objects 'cup'"),
        ("- {enabled: [false, false, true]}", "- [true]", "'cup' has 1 values for 3 entry_names"),
        ("\nworld:", "\nother:", "a planning scene has 'world'"),
    ],
)
def test_what_is_wrong_in_a_message_is_told_with_its_line(old: str, new: str, message: str):
    changed = MESSAGE.replace(old, new, 1)
    assert changed != MESSAGE
    with pytest.raises((lw.InputError, lw.UnsupportedFeatureError), match=message):
        lw.Scene.from_moveit(changed)


@pytest.mark.parametrize(
    "more",
    [
        "  octomap: {octomap: {id: OcTree, data: [1, 2]}}\n",
        "link_padding: [{link_name: arm, padding: 0.01}]\n",
        "robot_state: {attached_collision_objects: [{link_name: hand}]}\n",
    ],
)
def test_what_a_scene_cannot_hold_is_refused(more: str):
    with pytest.raises(lw.UnsupportedFeatureError, match=r":\d+: "):
        lw.Scene.from_moveit(MESSAGE + more)


def test_the_frame_of_the_robot_may_be_named():
    text = MESSAGE.replace("frame_id: desk}", "frame_id: base_link}")
    scene = lw.Scene.from_moveit(text, world="base_link")
    np.testing.assert_allclose(scene.get("cup").T_world_object[:3, 3], [1, 0, 0])


def test_meshes_of_files_are_found_beside_the_text(tmp_path: Path):
    trimesh.creation.box((1, 1, 1)).export(tmp_path / "block.stl")
    (tmp_path / "scene.yaml").write_text(
        "world:\n  collision_objects:\n    - id: a\n"
        "      meshes: [{resource: block.stl, dimensions: [1, 2, 3]}]\n"
    )
    shape = lw.Scene.from_moveit(tmp_path / "scene.yaml").get("a").shape
    assert isinstance(shape, Triangles)
    np.testing.assert_allclose(np.ptp(shape.vertices, axis=0), [1, 2, 3])


def test_a_scene_without_objects():
    assert len(lw.Scene.from_moveit("world:\n  collision_objects: []\n")) == 0
    assert len(lw.Scene.from_moveit("nothing\n.\n")) == 0
    with pytest.raises(lw.MissingFileError):
        lw.Scene.from_moveit("lost.scene")
