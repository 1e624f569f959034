"""Links as meshes: in place, scaled, coloured, found once; and what is refused."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import linkwork as lw
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
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=120
    )
    assert done.stdout.strip() == "[]"
