"""Links as meshes: in place, scaled, coloured, found once; and what is refused."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import trimesh

import linkwork as lw
from fresh_python import python
from linkwork.errors import InputError, UnknownNameError, UnsupportedFeatureError
from linkwork.mechanism.from_urdf import rotation_from_rpy

STL = """solid s
facet normal 0 0 -1
outer loop
vertex 0 0 0
vertex 0 1 0
vertex 1 0 0
endloop
endfacet
facet normal 0 -1 0
outer loop
vertex 0 0 0
vertex 1 0 0
vertex 0 0 1
endloop
endfacet
facet normal -1 0 0
outer loop
vertex 0 0 0
vertex 0 0 1
vertex 0 1 0
endloop
endfacet
facet normal 1 1 1
outer loop
vertex 1 0 0
vertex 0 1 0
vertex 0 0 1
endloop
endfacet
endsolid s
"""

TEXT = """<robot name="shown">
  <material name="red"><color rgba="1 0 0 1"/></material>
  <link name="base">
    <visual name="block"><origin xyz="0 0 1" rpy="0 0 1.5707963267948966"/>
      <geometry><box size="2 1 0.5"/></geometry><material name="red"/></visual>
    <visual><geometry><sphere radius="0.1"/></geometry>
      <material name="own"><color rgba="0 1 0 0.5"/></material></visual>
    <collision><geometry><cylinder radius="0.5" length="2"/></geometry></collision>
  </link>
  <link name="arm">
    <visual><origin xyz="1 0 0"/><geometry><mesh filename="corner.stl" scale="2 3 -4"/></geometry>
      <material name="own"/></visual>
    <collision><geometry><capsule radius="0.1" length="1"/></geometry></collision>
    <collision><origin xyz="0 0 5" rpy="0.3 0.2 0.1"/><geometry><box size="1 2 3"/></geometry>
    </collision>
  </link>
  <link name="bare"/>
  <joint name="lift" type="prismatic"><parent link="base"/><child link="arm"/>
    <origin xyz="0 0 2" rpy="0 0 0.5"/><axis xyz="0 0 1"/>
    <limit lower="0" upper="1" effort="1" velocity="1"/></joint>
  <joint name="end" type="fixed"><parent link="arm"/><child link="bare"/></joint>
</robot>"""


@pytest.fixture
def robot(tmp_path: Path) -> lw.Robot:
    (tmp_path / "corner.stl").write_text(STL)
    (tmp_path / "robot.urdf").write_text(TEXT)
    return lw.load(tmp_path / "robot.urdf")


def test_parts_come_in_order_with_their_looks(robot: lw.Robot):
    block, ball = robot.link_parts("base")
    assert (block.name, ball.name) == ("block", None)
    assert block.rgba == (1, 0, 0, 1)
    assert ball.rgba == (0, 1, 0, 0.5)
    assert block.file is None
    np.testing.assert_allclose(block.mesh.extents, [2, 1, 0.5])
    np.testing.assert_allclose(block.T_link_part[:3, 3], [0, 0, 1])
    np.testing.assert_array_equal(block.T_link_part[:3, :3], rotation_from_rpy((0, 0, np.pi / 2)))
    (part,) = robot.link_parts("arm")
    assert part.file is not None
    assert part.file.name == "corner.stl"
    assert part.rgba == (0, 1, 0, 0.5)  # a reference to what another visual defines


def test_meshes_are_scaled_and_stay_closed_when_mirrored(robot: lw.Robot):
    (part,) = robot.link_parts("arm")
    np.testing.assert_allclose(part.mesh.bounds, [[0, 0, -4], [2, 3, 0]])
    assert part.mesh.is_watertight
    np.testing.assert_allclose(part.mesh.volume, 2 * 3 * 4 / 6)


def test_what_is_handed_out_is_ones_own(robot: lw.Robot):
    for link in ("base", "arm"):
        first = robot.link_parts(link)[0].mesh
        first.apply_translation([5, 5, 5])
        assert not np.allclose(robot.link_parts(link)[0].mesh.bounds, first.bounds)


def test_a_link_as_one_mesh(robot: lw.Robot):
    mesh = robot.link_mesh("base")
    np.testing.assert_allclose(mesh.bounds, [[-0.5, -1, -0.1], [0.5, 1, 1.25]], atol=1e-9)
    assert robot.link_mesh("base", "collision").bounds[1][2] == pytest.approx(1.0)
    assert robot.link_mesh("bare").is_empty


def test_the_whole_robot_stands_where_its_links_are(robot: lw.Robot):
    q = np.array([0.25])
    mesh = robot.mesh(q)
    parts = [robot.link_mesh("base"), robot.link_mesh("arm")]
    assert len(mesh.faces) == sum(len(part.faces) for part in parts)
    placed = parts[1].copy()
    placed.apply_transform(robot.fk(q, "arm"))
    np.testing.assert_allclose(mesh.vertices[-len(placed.vertices) :], placed.vertices, atol=1e-12)
    box = robot.bounding_box(q)
    np.testing.assert_allclose(box, mesh.bounds, atol=1e-12)
    assert not np.allclose(robot.bounding_box(), box)
    with pytest.raises(InputError, match="not a batch"):
        robot.mesh(np.zeros((2, 1)))


def test_a_chain_shows_the_links_it_has(robot: lw.Robot):
    assert len(robot.subchain("arm", "bare").mesh().faces) == 4
    assert len(robot.with_locked("lift", [0.0]).mesh().faces) == len(robot.mesh().faces)


def test_masses_from_shapes_are_those_of_the_formulas(robot: lw.Robot):
    found = robot.link_mass_properties("arm", 1000.0)
    capsule = np.pi * 0.1**2 * 1 + 4 / 3 * np.pi * 0.1**3
    np.testing.assert_allclose(found.mass, 1000 * (capsule + 6), rtol=5e-3)
    np.testing.assert_allclose(found.com, [0, 0, 5 * 6 / (capsule + 6)], rtol=5e-3, atol=1e-9)
    box = robot.link_mass_properties("base", 10.0, "collision")
    np.testing.assert_allclose(box.mass, 10 * np.pi * 0.25 * 2, rtol=1e-2)
    with pytest.raises(InputError, match="no visual shapes"):
        robot.link_mass_properties("bare", 1.0, "visual")


def test_a_mesh_of_which_a_part_is_inside_out_has_no_mass_by_link(tmp_path: Path):
    def away(x: float) -> str:
        moved = STL.replace("vertex 0", f"vertex {x}").replace("vertex 1", f"vertex {x + 0.9}")
        return "\n".join(moved.splitlines()[1:-1])

    def turned(facets: str) -> str:
        lines = facets.splitlines()
        for k, line in enumerate(lines):
            if line == "outer loop":
                lines[k + 2], lines[k + 3] = lines[k + 3], lines[k + 2]
        return "\n".join(lines)

    text = """<robot name="r"><link name="block"><collision><geometry>
    <mesh filename="two.stl"/></geometry></collision></link></robot>"""
    robot_file = tmp_path / "robot.urdf"
    robot_file.write_text(text)
    file = tmp_path / "two.stl"
    file.write_text(f"solid s\n{away(0)}\n{away(20)}\nendsolid s\n")
    assert lw.load(robot_file).link_mass_properties("block", 6.0).mass == pytest.approx(1.8)
    file.write_text(f"solid s\n{away(0)}\n{turned(away(20))}\nendsolid s\n")
    with pytest.raises(InputError, match=r"'block'.*(inside out in places|no volume)"):
        lw.load(robot_file).link_mass_properties("block", 6.0)
    larger = away(0).replace("vertex 0 0 1", "vertex 0 0 2")
    file.write_text(f"solid s\n{larger}\n{turned(away(20))}\nendsolid s\n")
    with pytest.raises(InputError, match=r"'block'.*inside out in places"):
        lw.load(robot_file).link_mass_properties("block", 6.0)


def test_a_missing_mesh_raises_or_is_left_out(robot: lw.Robot, tmp_path: Path):
    (tmp_path / "corner.stl").unlink()
    with pytest.raises(InputError, match=r"link 'arm': mesh 'corner.stl' is not found"):
        robot.link_mesh("arm")
    assert robot.link_mesh("arm", missing="skip").is_empty
    assert not robot.mesh(missing="skip").is_empty
    with pytest.raises(InputError, match="missing is"):
        robot.link_mesh("arm", missing="ignore")  # type: ignore[arg-type]


def test_a_mesh_elsewhere_is_refused_unless_allowed(robot: lw.Robot, tmp_path: Path):
    far = tmp_path / "far" / "away" / "here"
    far.mkdir(parents=True)
    text = TEXT.replace("corner.stl", str(tmp_path / "corner.stl"))
    (far / "robot.urdf").write_text(text)
    moved = lw.load(far / "robot.urdf")
    with pytest.raises(InputError, match="lies outside"):
        moved.link_mesh("arm")
    assert len(moved.link_mesh("arm", allow=[tmp_path]).faces) == 4


def test_what_has_no_shapes_is_refused_by_name(robot: lw.Robot):
    with pytest.raises(UnknownNameError, match="no link named 'hand'"):
        robot.link_parts("hand")
    with pytest.raises(InputError, match="'visual' or 'collision'"):
        robot.link_parts("arm", "look")  # type: ignore[arg-type]
    with pytest.raises(UnsupportedFeatureError, match="has no description"):
        lw.Robot(robot.mechanism).mesh()
    empty = lw.load('<robot name="e"><link name="a"/></robot>')
    with pytest.raises(InputError, match="no visual shapes"):
        empty.bounding_box()
    assert empty.mesh().is_empty


@pytest.mark.parametrize("name", ["panda", "humanoid", "quadruped"])
def test_bundled_robots_can_be_looked_at(name: str):
    robot = lw.load(name)
    low, high = robot.bounding_box(missing="skip") if _has_shapes(robot) else (0.0, 1.0)
    assert np.all(np.asarray(high) > np.asarray(low))


def _has_shapes(robot: lw.Robot) -> bool:
    assert robot.document is not None
    return any(link.visuals for link in robot.document.robot.links)


def test_a_robot_that_is_not_looked_at_needs_no_trimesh():
    code = (
        "import sys, linkwork as lw; r = lw.load('ur5e'); r.fk(r.neutral());"
        "print([m for m in ('trimesh', 'linkwork.geometry.load') if m in sys.modules])"
    )
    assert python(code) == "[]"


# --- MJCF -----------------------------------------------------------------------------------------

MESHES = """<mujoco model="meshes"><compiler angle="degree"/><asset>
  <mesh name="a" file="a.stl" scale="1 -2 1"/>
  <mesh name="b" file="b.obj" refpos=".1 .2 .3" refquat=".6 .8 0 0" scale="1 1 2"/>
  <mesh name="i" vertex="0 0 0 1 0 0 0 2 0 0 0 3"/>
  <mesh name="f" vertex="0 0 0 1 0 0 0 2 0 0 0 3" face="0 2 1 0 1 3 0 3 2 1 2 3" scale="1 1 -1"/>
  <mesh name="m" builtin="cone" params="8 1"/><material name="red" rgba="1 0 0 1"/></asset>
<worldbody><geom type="plane" size="5 5 .1"/>
  <body name="p" pos="1 2 3" euler="10 20 30"><joint name="j" axis="0 1 0"/>
    <geom type="mesh" mesh="a" pos=".1 .2 .3" quat=".5 .5 .5 .5" material="red"/>
    <geom type="mesh" mesh="b" pos="0 .2 .3" quat=".5 -.5 .5 .5" mass="0"/>
    <geom type="mesh" mesh="i"/>
    <body name="c" pos="0 0 1"><joint name="k" type="slide" axis="1 0 0"/>
      <geom type="mesh" mesh="m" pos="1 2 3"/>
      <geom type="mesh" mesh="b" euler="10 30 0"/><geom type="mesh" mesh="f" mass="1"/></body>
  </body></worldbody></mujoco>"""


def mjcf_meshes(folder: Path) -> Path:
    """The MJCF of `MESHES` with its files."""
    box = trimesh.creation.box((0.2, 0.4, 0.1))
    box.apply_translation([0.3, 0.1, -0.2])
    box.export(folder / "a.stl")
    egg = trimesh.creation.icosphere(subdivisions=1, radius=0.2)
    egg.apply_transform(np.diag([1, 2, 0.5, 1]))
    egg.apply_translation([1, 0, 0])
    egg.export(folder / "b.obj")
    (folder / "robot.xml").write_text(MESHES)
    return folder / "robot.xml"


def engine_at(file: Path, q: np.ndarray) -> tuple[Any, Any]:
    mujoco = pytest.importorskip("mujoco")
    model = mujoco.MjModel.from_xml_path(str(file))
    data = mujoco.MjData(model)
    data.qpos[:] = q
    mujoco.mj_kinematics(model, data)
    return model, data


def test_meshes_of_mjcf_stand_where_mujoco_has_them(tmp_path: Path):
    file, q = mjcf_meshes(tmp_path), np.array([0.3, 0.4])
    model, data = engine_at(file, q)
    expected = []
    for k in range(model.ngeom):
        if model.geom_dataid[k] < 0:
            continue
        start, count = model.mesh_vertadr[model.geom_dataid[k]], model.mesh_vertnum
        own = model.mesh_vert[start : start + count[model.geom_dataid[k]]]
        expected.append(own @ data.geom_xmat[k].reshape(3, 3).T + data.geom_xpos[k])
    robot = lw.load(file)
    parts = [(link, part) for link in ("p", "c") for part in robot.link_parts(link)]
    assert len(parts) == len(expected) == 6
    for (link, part), vertices in zip(parts, expected, strict=True):
        T = robot.fk(q, link) @ part.T_link_part
        found = np.asarray(part.mesh.vertices) @ T[:3, :3].T + T[:3, 3]
        away = np.linalg.norm(found[:, None] - vertices[None], axis=2)
        assert away.min(axis=0).max() < 1e-6, link
        assert away.min(axis=1).max() < 1e-6, link
        assert part.mesh.volume > 0, link  # mirrored ones are not inside out
    assert parts[0][1].rgba == (1, 0, 0, 1)
    assert robot.mesh(q).bounds[1] == pytest.approx(np.vstack(expected).max(axis=0), abs=1e-6)


PRIMITIVES = """<mujoco><worldbody><geom type="plane" size="0 0 1"/>
  <body name="b" pos="0.1 0.2 0.3"><joint name="j" axis="1 1 0"/>
    <geom type="box" size=".1 .2 .3" euler="10 20 30"/>
    <geom type="sphere" size=".2" pos="1 0 0"/>
    <geom type="capsule" size=".05" fromto="0 0 0 1 1 1"/>
    <geom type="cylinder" size=".1 .3" quat=".6 0 .8 0"/>
    <geom type="ellipsoid" size=".1 .2 .3" pos="0 1 0"/>
  </body></worldbody></mujoco>"""


def test_primitives_of_mjcf_are_those_of_mujoco(tmp_path: Path):
    (tmp_path / "robot.xml").write_text(PRIMITIVES)
    robot, q = lw.load(tmp_path / "robot.xml"), np.array([0.7])
    model, data = engine_at(tmp_path / "robot.xml", q)
    parts = robot.link_parts("b")
    assert len(parts) == 5
    assert robot.link_parts("world") == ()  # a plane has no end
    for part, k in zip(parts, range(1, 6), strict=True):
        T = robot.fk(q, "b") @ part.T_link_part
        np.testing.assert_allclose(T[:3, 3], data.geom_xpos[k], atol=1e-12)
        np.testing.assert_allclose(T[:3, :3], data.geom_xmat[k].reshape(3, 3), atol=1e-12)
        low, high = part.mesh.bounds
        np.testing.assert_allclose((high - low) / 2, model.geom_aabb[k, 3:], rtol=0.01)
    mass = robot.link_mass_properties("b", 1000.0)
    assert mass.mass == pytest.approx(model.body_mass[1], rel=1e-9)
    about = np.sort(np.linalg.eigvalsh(mass.I_com))
    np.testing.assert_allclose(about, np.sort(model.body_inertia[1]), rtol=1e-9)


LOOKS = """<mujoco><worldbody>
  <body name="robosuite"><geom size=".1" mass="1"/>
    <geom name="look" type="box" size=".1 .1 .1" contype="0" conaffinity="0" group="1"/></body>
  <body name="menagerie"><geom name="seen" size=".1" contype="0" conaffinity="0" group="2"/>
    <geom name="bump" size=".1" group="3"/></body>
  <body name="gym"><geom name="both" size=".1"/></body>
  <body name="eyes"><geom name="head" size=".1"/>
    <geom name="eye" size=".01" contype="0" conaffinity="0"/></body>
  <body name="hidden"><geom name="helper" size=".1" contype="0" conaffinity="0" group="4"/></body>
</worldbody></mujoco>"""


def test_what_is_seen_of_mjcf_is_what_its_viewer_shows():
    robot = lw.load(LOOKS)
    assert robot.shapes is not None
    found = {
        link: tuple(
            [shape.name for shape in shapes if shape.kind == kind]
            for kind in ("visual", "collision")
        )
        for link, shapes in robot.shapes.of_link.items()
    }
    assert found == {
        "world": ([], []),
        "robosuite": (["look"], [None]),
        "menagerie": (["seen"], ["bump"]),
        "gym": (["both"], ["both"]),
        "eyes": (["head", "eye"], ["head"]),
        "hidden": ([], ["helper"]),
    }


def test_a_shape_of_mjcf_that_is_not_read_is_named(tmp_path: Path):
    robot = lw.load("""<mujoco><asset><hfield name="h" nrow="2" ncol="2" size="1 1 1 1"/>
      </asset><worldbody><geom name="hills" type="hfield" hfield="h"/><geom size=".1"/>
      </worldbody></mujoco>""")
    with pytest.raises(UnsupportedFeatureError, match="'world': the height field 'hills' is not"):
        robot.link_parts("world")
    assert len(robot.link_parts("world", missing="skip")) == 1


def test_edits_and_pickles_of_mjcf_keep_the_shapes():
    robot = lw.load(PRIMITIVES)
    assert len(pickle.loads(pickle.dumps(robot)).link_parts("b")) == 5
    assert len(robot.with_locked("j").link_parts("b", "collision")) == 5
    assert len(robot.subchain("world", "b").mesh().faces) == len(robot.mesh().faces)
