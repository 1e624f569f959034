"""What of a robot is seen: shapes as they are described, skeletons that read as mechanisms."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import trimesh
from PIL import Image

import linkwork as lw
from linkwork.view.model import MOST_COLORS, ViewModel, view_model

BOX = "<geometry><box size='0.1 0.2 0.3'/></geometry>"


def mesh_of(file: str, look: str = "") -> str:
    return f"<visual><geometry><mesh filename='{file}'/></geometry>{look}</visual>"


def one_link(folder: Path, *shapes: str) -> lw.Robot:
    text = f"<robot name='r'><link name='l'>{''.join(shapes)}</link></robot>"
    (folder / "robot.urdf").write_text(text)
    return lw.load(folder / "robot.urdf")


def at(T: np.ndarray, link: int, p: tuple[float, float, float]) -> np.ndarray:
    return T[link, :3, :3] @ p + T[link, :3, 3]


def lines(view: ViewModel, T: np.ndarray) -> np.ndarray:
    """The ends of the skeleton's lines in the world (n, 2, 3)."""
    ends = [(at(T, s.link_a, s.p_a), at(T, s.link_b, s.p_b)) for s in view.segments]
    return np.array(ends).reshape(-1, 2, 3)


def painted(folder: Path, name: str, colors: np.ndarray) -> Path:
    """A PLY with a strip of triangles of these colours (n, 3)."""
    n = len(colors)
    vertices = [f"{k} {j} 0" for k in range(n) for j in (0, 1, 2)]
    faces = [f"3 {3 * k} {3 * k + 1} {3 * k + 2} {r} {g} {b}" for k, (r, g, b) in enumerate(colors)]
    head = (
        f"ply\nformat ascii 1.0\nelement vertex {3 * n}\nproperty float x\nproperty float y\n"
        f"property float z\nelement face {n}\nproperty list uchar int vertex_indices\n"
        "property uchar red\nproperty uchar green\nproperty uchar blue\nend_header\n"
    )
    (folder / name).write_text(head + "\n".join([*vertices, *faces]) + "\n")
    return folder / name


def picture(folder: Path, name: str, color: tuple[int, int, int]) -> None:
    Image.new("RGB", (8, 8), color).save(folder / name)


TEXTURED = """mtllib {mtl}
v 0 0 0
v 1 0 0
v 0 1 0
vt 0 0
vt 1 0
vt 0 1
usemtl skin
f 1/1 2/2 3/3
"""


def textured(folder: Path, name: str, image: str) -> None:
    (folder / f"{name}.obj").write_text(TEXTURED.format(mtl=f"{name}.mtl"))
    (folder / f"{name}.mtl").write_text(f"newmtl skin\nKd 1 1 1\nmap_Kd {image}\n")


# --- shapes ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["panda", "ur5e", "four_bar"])
@pytest.mark.parametrize("kind", ["visual", "collision"])
def test_parts_are_the_meshes_of_the_robot_in_their_places(name: str, kind: Any):
    robot = lw.load(name)
    q = robot.neutral()
    view = view_model(robot, (kind,))
    T = robot.fk_all(q)
    found = [
        view.geometries[part.geometry].vertices @ pose[:3, :3].T + pose[:3, 3]
        for part in view.parts
        for pose in [T[part.link] @ part.T_link_part]
    ]
    np.testing.assert_allclose(np.vstack(found), robot.mesh(q, kind).vertices, atol=1e-6)
    assert view.messages == ()
    assert {part.kind for part in view.parts} == {kind}


def test_one_file_on_several_links_is_one_geometry(tmp_path: Path):
    trimesh.creation.box((1, 1, 1)).export(tmp_path / "a.stl")
    red = "<material name='m'><color rgba='1 0 0 1'/></material>"
    robot = one_link(
        tmp_path, mesh_of("a.stl", red), mesh_of("a.stl"), f"<visual>{BOX}</visual>",
        f"<collision>{BOX}</collision>",
        "<visual><geometry><mesh filename='a.stl' scale='2 2 2'/></geometry></visual>",
    )  # fmt: skip
    view = view_model(robot)
    assert [part.geometry for part in view.parts] == [0, 0, 1, 2, 1]
    assert [part.rgba for part in view.parts[:2]] == [(1, 0, 0, 1), None]
    assert view.n_faces == 36


def test_what_cannot_be_had_is_named_and_the_rest_is_shown(tmp_path: Path):
    trimesh.creation.box((1, 1, 1)).export(tmp_path / "good.stl")
    (tmp_path / "broken.stl").write_bytes(b"solid nothing")
    (tmp_path / "huge.stl").write_bytes(bytes(80) + (10**9).to_bytes(4, "little"))
    (tmp_path / "empty.obj").write_text("")
    robot = one_link(
        tmp_path, mesh_of("missing.stl"), mesh_of("broken.stl"), mesh_of("huge.stl"),
        mesh_of("empty.obj"), mesh_of("good.stl"), f"<collision>{BOX}</collision>",
    )  # fmt: skip
    view = view_model(robot)
    assert len(view.parts) == 2
    assert len(view.messages) == 4
    for name, message in zip(("missing", "broken", "huge", "empty"), view.messages, strict=True):
        assert message.startswith("link 'l': ")
        assert name in message


def test_faces_of_several_colours_are_a_part_for_each(tmp_path: Path):
    colors = np.array([[255, 0, 0], [0, 255, 0], [255, 0, 0], [0, 0, 255]])
    painted(tmp_path, "a.ply", colors)
    view = view_model(one_link(tmp_path, mesh_of("a.ply")))
    found = {part.rgba: len(view.geometries[part.geometry].faces) for part in view.parts}
    assert found == {(1, 0, 0, 1): 2, (0, 1, 0, 1): 1, (0, 0, 1, 1): 1}
    for geometry in view.geometries:
        assert geometry.faces.max() == len(geometry.vertices) - 1
    plain = one_link(
        tmp_path, mesh_of("a.ply", "<material name='m'><color rgba='0 1 1 1'/></material>")
    )
    assert {part.rgba for part in view_model(plain).parts} == {(0, 1, 1, 1)}


def test_a_mesh_of_very_many_colours_has_few(tmp_path: Path):
    shades = np.stack([np.arange(200), np.arange(200)[::-1], np.full(200, 7)], axis=1)
    painted(tmp_path, "a.ply", shades)
    view = view_model(one_link(tmp_path, mesh_of("a.ply")))
    assert 4 <= len(view.parts) <= MOST_COLORS
    assert view.n_faces == 200


def test_a_texture_comes_with_its_coordinates(tmp_path: Path):
    picture(tmp_path, "skin.png", (255, 0, 51))
    textured(tmp_path, "a", "skin.png")
    robot = one_link(tmp_path, mesh_of("a.obj"), mesh_of("a.obj"))
    view = view_model(robot)
    first, second = view.parts
    assert first.texture == second.texture == 0
    assert view.textures[0].media_type == "image/png"
    assert view.textures[0].data == (tmp_path / "skin.png").read_bytes()
    np.testing.assert_allclose(view.textures[0].mean, (1, 0, 0.2, 1), atol=1e-3)
    uv = view.geometries[first.geometry].uv
    assert uv is not None
    corners = np.hstack([view.geometries[first.geometry].vertices[:, :2], uv])
    np.testing.assert_array_equal(corners[:, :2], corners[:, 2:])


def test_a_texture_that_nothing_wears_is_not_kept(tmp_path: Path):
    picture(tmp_path, "skin.png", (255, 0, 51))
    textured(tmp_path, "a", "skin.png")
    red = "<material name='m'><color rgba='1 0 0 1'/></material>"
    view = view_model(one_link(tmp_path, mesh_of("a.obj", red)))
    assert view.textures == ()
    assert view.geometries[0].uv is None
    assert view.parts[0].rgba == (1, 0, 0, 1)


def test_a_picture_that_no_browser_shows_becomes_png(tmp_path: Path):
    picture(tmp_path, "skin.tif", (0, 255, 0))
    textured(tmp_path, "a", "skin.tif")
    (texture,) = view_model(one_link(tmp_path, mesh_of("a.obj"))).textures
    assert texture.media_type == "image/png"
    assert texture.data.startswith(b"\x89PNG")


def test_a_mesh_whose_texture_is_missing_is_shown_without(tmp_path: Path):
    textured(tmp_path, "a", "lost.png")
    view = view_model(one_link(tmp_path, mesh_of("a.obj")))
    assert len(view.parts) == 1
    assert view.parts[0].texture is None
    assert any("lost.png" in message for message in view.messages)


def test_a_texture_of_the_description_without_coordinates_is_its_mean_colour(tmp_path: Path):
    picture(tmp_path, "skin.png", (255, 0, 51))
    trimesh.creation.box((1, 1, 1)).export(tmp_path / "a.stl")
    skin = "<material name='m'><texture filename='skin.png'/></material>"
    lost = "<material name='n'><texture filename='lost.png'/></material>"
    view = view_model(one_link(tmp_path, mesh_of("a.stl", skin), mesh_of("a.stl", lost)))
    assert view.parts[0].rgba == pytest.approx((1, 0, 0.2, 1), abs=1e-3)
    assert view.parts[1].rgba is None
    assert "mean colour" in view.messages[0] and "a.stl" in view.messages[0]
    assert "lost.png" in view.messages[1]


def test_a_robot_without_shapes_says_so():
    robot = lw.from_dh([[0, 0.3, 0, 0], [0, 0, 0.4, 0]])
    view = view_model(robot)
    assert not view.has_shapes
    assert view.messages == ("'robot' has no shapes: its skeleton is shown",)
    assert len(view.segments) >= 2
    same = view_model(lw.Robot(robot.mechanism))
    assert same.segments == view.segments


def test_another_kind_is_refused():
    with pytest.raises(lw.InputError, match="'visual' and 'collision', not 'look'"):
        view_model(lw.load("ur5e"), ("look",))  # type: ignore[arg-type]


# --- skeleton, joints, loops, masses --------------------------------------------------------------


def joined(view: ViewModel, T: np.ndarray) -> bool:
    """Whether all lines hang together, ends nearer than 1e-6 m being one."""
    ends = lines(view, T).reshape(-1, 3)
    near = np.linalg.norm(ends[:, None] - ends[None], axis=2) < 1e-6
    for k in range(0, len(ends), 2):
        near[k, k + 1] = near[k + 1, k] = True
    reached = near[0]
    for _ in ends:
        reached = near[reached].any(axis=0)
    return bool(reached.all())


@pytest.mark.parametrize("name", ["panda", "ur5e", "scara", "puma560", "two_arm_torso"])
def test_an_arm_is_one_figure_from_its_base_to_its_tip(name: str):
    robot = lw.load(name)
    view = view_model(robot)
    for seed in range(3):
        T = robot.fk_all(robot.random(seed=seed))
        assert joined(view, T)
        for joint in view.joints:
            ends = lines(view, T).reshape(-1, 3)
            away = np.linalg.norm(ends - at(T, joint.link, joint.at), axis=1).min()
            assert away < 0.4, joint.name  # joints on one axis may share a line


SLOW = [pytest.param(name, marks=pytest.mark.slow) for name in ("five_bar", "delta", "stewart")]


@pytest.mark.parametrize("name", ["four_bar", "linkage_leg", *SLOW])
def test_closed_mechanisms_show_closed(name: str):
    robot = lw.load(name)
    T = robot.fk_all(robot.assemble().q)
    view = view_model(robot)
    assert joined(view, T)
    ends = lines(view, T).reshape(-1, 3)
    meeting = (np.linalg.norm(ends[:, None] - ends[None], axis=2) < 1e-6).sum(axis=1)
    if name != "delta":  # nothing ends in the air, but for a foot
        assert (meeting == 1).sum() <= (2 if name == "linkage_leg" else 0)
    assert len(view.loops) == len(robot.mechanism.loops)


@pytest.mark.slow
def test_rods_are_lines_of_their_length():
    robot = lw.load("delta")
    view = view_model(robot)
    T = robot.fk_all(robot.assemble().q)
    lengths = [
        np.linalg.norm(b - a)
        for segment, (a, b) in zip(view.segments, lines(view, T), strict=True)
        if segment.kind == "rod"
    ]
    np.testing.assert_allclose(lengths, [loop.distance for loop in view.loops], atol=1e-9)


SENSORS = """<robot name='r'>
<link name='base'><inertial><mass value='1'/><inertia ixx='1' iyy='1' izz='1' ixy='0' ixz='0'
 iyz='0'/></inertial></link>
<link name='arm'><inertial><origin xyz='0 0 0.2'/><mass value='1'/><inertia ixx='1' iyy='1' izz='1'
 ixy='0' ixz='0' iyz='0'/></inertial></link><link name='rail'/><link name='hand'/>
<joint name='j' type='revolute'><parent link='base'/><child link='arm'/><axis xyz='0 1 0'/>
 <origin xyz='0 0 0.5'/><limit lower='-1' upper='1' effort='1' velocity='1'/></joint>
<joint name='k' type='prismatic'><parent link='arm'/><child link='rail'/><axis xyz='1 0 0'/>
 <origin xyz='0 0 0.4'/><limit lower='0' upper='1' effort='1' velocity='1'/></joint>
<joint name='f' type='fixed'><parent link='rail'/><child link='hand'/><origin xyz='0 0 .3'/></joint>
{sensors}</robot>"""


def test_sensors_are_no_star():
    several = "".join(
        f"<link name='s{k}'/><joint name='s{k}_f' type='fixed'><parent link='arm'/>"
        f"<child link='s{k}'/><origin xyz='{k * 0.1} 0.3 0'/></joint>"
        for k in range(1, 9)
    )
    bare = view_model(lw.load(SENSORS.format(sensors="")))
    full = view_model(lw.load(SENSORS.format(sensors=several)))
    assert len(full.segments) == len(bare.segments) == 4  # ground, arm, rail, hand
    assert [segment.kind for segment in full.segments].count("rail") == 1


def test_what_slides_stays_on_its_rail():
    robot = lw.load(SENSORS.format(sensors=""))
    view = view_model(robot)
    for reach in (0.0, 0.7):
        T = robot.fk_all(np.array([0.4, reach]))
        (rail,) = (
            b - a
            for segment, (a, b) in zip(view.segments, lines(view, T), strict=True)
            if segment.kind == "rail"
        )
        np.testing.assert_allclose(rail, T[2, :3, 0] * reach, atol=1e-12)
        assert joined(view, T)


def test_a_pendulum_ends_at_its_mass():
    text = SENSORS.format(sensors="").split("<link name='rail'/>")[0]
    joint = "<joint name='j' type='continuous'><parent link='base'/><child link='arm'/></joint>"
    view = view_model(lw.load(f"{text}{joint}</robot>"))
    assert [(s.p_a, s.p_b) for s in view.segments] == [((0, 0, 0), (0, 0, 0.2))]


KINDS = """<robot name='r'><link name='l0'/>{}</robot>"""


def test_joints_of_every_kind_are_marked():
    kinds = ["revolute", "continuous", "prismatic", "planar", "floating", "spherical"]
    text = "".join(
        f"<link name='l{k}'/><joint name='j{k}' type='{kind}'><parent link='l{k - 1}'/>"
        f"<child link='l{k}'/><origin xyz='0.1 0 {k}'/><axis xyz='0 0.6 0.8'/>"
        "<limit lower='0' upper='1' effort='1' velocity='1'/></joint>"
        for k, kind in enumerate(kinds, 1)
    )
    robot = lw.load(KINDS.format(text))
    view = view_model(robot)
    assert [joint.type for joint in view.joints] == kinds
    assert [joint.index for joint in view.joints] == list(range(6))
    T = robot.fk_all(robot.neutral())
    for joint, name in zip(view.joints, robot.joint_names, strict=True):
        pose = robot.fk(robot.neutral(), name)
        np.testing.assert_allclose(at(T, joint.link, joint.at), pose[:3, 3], atol=1e-12)
        if joint.type in ("floating", "spherical"):
            assert joint.axis is None
        else:
            np.testing.assert_allclose(joint.axis, (0, 0.6, 0.8), atol=1e-12)


def test_a_chain_turned_around_has_its_joints_where_they_are():
    robot = lw.load("panda")
    chain = robot.subchain("link7", "link0")
    view, q = view_model(chain), chain.random(seed=1)
    T = chain.fk_all(q)
    assert len(view.parts) > 0
    whole = robot.fk_all(robot.configuration(dict(zip(chain.joint_names, q, strict=True))))
    T_chain_robot = np.linalg.inv(whole[robot.mechanism.frame("link7")])
    for joint in view.joints:
        other = next(j for j in view_model(robot).joints if j.name == joint.name)
        expected = T_chain_robot @ [*at(whole, other.link, other.at), 1]
        np.testing.assert_allclose(at(T, joint.link, joint.at), expected[:3], atol=1e-9)


def test_masses_are_those_of_the_links():
    robot = lw.load("panda")
    view = view_model(robot)
    assert sum(mass.mass for mass in view.masses) == pytest.approx(robot.mass)
    T = robot.fk_all(robot.neutral())
    com = sum(mass.mass * at(T, mass.link, tuple(mass.com)) for mass in view.masses) / robot.mass
    np.testing.assert_allclose(com, robot.com(robot.neutral()), atol=1e-12)


def test_a_view_can_have_fewer_triangles():
    view = view_model(lw.load("panda"))
    assert view.simplified() is view
    small = view.simplified(1500)
    assert small.n_faces <= 1500
    assert small.parts == view.parts
    assert "is shown with 1," in small.messages[-1] and "of its 3,724" in small.messages[-1]
    T = lw.load("panda").fk_all(np.zeros(7))
    np.testing.assert_allclose(small.bounds(T), view.bounds(T), atol=0.01)


def test_what_a_robot_holds_is_seen_in_its_place_and_colour():
    T_tool0_grip = lw.pose([0.0, 0.0, 0.1], rpy=[0.3, 0.0, 0.0])
    robot = lw.load("ur5e").with_frame("grip", "tool0", T_tool0_grip)
    scene = lw.Scene()
    box = scene.add_box("part", (0.1, 0.2, 0.3), rgba=(0.9, 0.5, 0.1, 1.0))
    T_grip_part = lw.pose([0.05, 0.0, 0.02], rpy=[0.0, 0.4, 0.0])
    holding = robot.with_attached("part", box, "grip", T_grip_part)
    q = robot.random(seed=3)
    T = robot.fk_all(q)
    view = view_model(holding)
    held = [part for part in view.parts if part.held == "part"]
    assert [part.kind for part in held] == ["visual", "collision"]
    assert {part.rgba for part in held} == {(0.9, 0.5, 0.1, 1.0)}
    for part in held:
        corners = view.geometries[part.geometry].vertices @ [1.0, 1.0, 1.0]
        assert corners.min() == pytest.approx(-0.3) and corners.max() == pytest.approx(0.3)
        np.testing.assert_allclose(
            T[part.link] @ part.T_link_part, robot.fk(q, "grip") @ T_grip_part, atol=1e-12
        )
    assert len(view.parts) == len(view_model(robot).parts) + 2
    assert {part.held for part in view_model(holding.without_attached("part")).parts} == {None}
    bare = lw.load("<robot name='r'><link name='l'/></robot>").with_attached("part", box, "l")
    assert not view_model(bare).has_shapes  # the skeleton is shown


# --- size -----------------------------------------------------------------------------------------


def test_bounds_hold_all_that_is_seen():
    robot = lw.load("ur5e")
    q = robot.random(seed=2)
    low, high = view_model(robot).bounds(robot.fk_all(q))
    box = robot.bounding_box(q)
    assert np.all(low <= box[0] + 1e-6)
    assert np.all(high >= box[1] - 1e-6)
    assert np.all(high - low < np.ptp(box, axis=0) + 0.1)


def test_a_robot_that_is_a_point_has_a_size():
    robot = lw.load("<robot name='r'><link name='l'/></robot>")
    low, high = view_model(robot).bounds(robot.fk_all([]))
    np.testing.assert_allclose(high - low, 0.1)


def test_poses_of_another_robot_are_refused():
    view = view_model(lw.load("ur5e"))
    with pytest.raises(lw.ShapeError, match="one pose for each of"):
        view.bounds(np.eye(4)[None])
