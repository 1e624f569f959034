"""The look of a material name, and parts of a robot that keep theirs."""

from __future__ import annotations

from dataclasses import replace

from linkwork.formats.urdf import materials
from linkwork.formats.urdf.read import read
from linkwork.formats.urdf.records import Document, Material, Robot

BLUE, GREY = (0.0, 0.0, 1.0, 1.0), (0.6, 0.6, 0.6, 1.0)


def without(robot: Robot, *links: str) -> Robot:
    return replace(robot, links=tuple(link for link in robot.links if link.name not in links))


def test_the_first_definition_counts(cell: Document):
    assert materials.appearances(cell.robot)["blue"] == (BLUE, None)
    assert list(materials.material_names(cell.robot)) == ["steel", "rubber", "blue"]
    text = """<robot name="r"><link name="a">{}{}</link>{}</robot>"""
    shape = """<visual><geometry><sphere radius="1"/></geometry>
      <material name="m"><color rgba="{} 0 0 1"/></material></visual>"""
    own = '<material name="m"><color rgba="0 0 1 1"/></material>'
    robot = read(text.format(shape.format(1), shape.format(0), own)).robot
    assert materials.appearances(robot) == {"m": (BLUE, None)}
    robot = read(text.format(shape.format(1), shape.format(0), "")).robot
    assert materials.appearances(robot) == {"m": ((1.0, 0.0, 0.0, 1.0), None)}


def test_a_definition_on_a_shape_that_is_gone_is_carried(cell: Document):
    part = materials.with_materials_of(cell.robot, without(cell.robot, "arm"))
    assert part.materials[-1] == Material("blue", BLUE)
    assert materials.appearances(part) == materials.appearances(cell.robot)


def test_only_what_the_gone_alone_used_goes_with_them(cell: Document):
    spare = Material("spare", GREY)
    robot = replace(cell.robot, materials=(*cell.robot.materials, spare))
    part = materials.with_materials_of(robot, without(robot, "hand"))
    assert [m.name for m in part.materials] == ["steel", "spare"]


def test_another_look_of_the_name_does_not_take_over():
    shape = """<visual><geometry><sphere radius="1"/></geometry>
      <material name="m"><color rgba="{} 0 0 1"/></material></visual>"""
    text = f"""<robot name="r"><link name="a">{shape.format(1)}</link>
      <link name="b">{shape.format(0.5)}</link><joint name="j" type="fixed"><parent link="a"/>
      <child link="b"/></joint></robot>"""
    robot = read(text).robot
    part = materials.with_materials_of(robot, without(robot, "a"))
    assert materials.appearances(part) == materials.appearances(robot)
