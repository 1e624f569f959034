"""Roots, branches and paths of random trees, against plain definitions; names and their clashes."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from linkwork.errors import DescriptionError, InputError, UnknownNameError
from linkwork.formats.urdf import materials
from linkwork.formats.urdf.convert import listed
from linkwork.formats.urdf.edit import records as tree
from linkwork.formats.urdf.edit.records import (
    every,
    is_relative,
    name_from,
    outcome,
    renamed_meshes,
)
from linkwork.formats.urdf.findings import Findings
from linkwork.formats.urdf.read import read
from linkwork.formats.urdf.records import (
    Document,
    Material,
    Mesh,
    Robot,
)
from robots import random_tree
from seeds import rng


def test_random_trees():
    random = rng("trees")
    for n in (0, 1, 5, 30):
        robot = read(random_tree(random, n)).robot
        parent = {joint.child: joint.parent for joint in robot.joints}
        root = tree.root_of(robot)
        assert root not in parent

        def above(link: str, parent: dict[str, str] = parent) -> list[str]:
            found = [link]
            while found[-1] in parent:
                found.append(parent[found[-1]])
            return found

        for link in tree.link_names(robot):
            path = tree.path_to(robot, link)
            assert [j.child for j in path] == above(link)[-2::-1]
            below = {other for other in tree.link_names(robot) if link in above(other)}
            assert tree.below(robot, link) == below


def test_listed_names():
    assert listed(["a", "b"]) == "'a', 'b'"
    assert listed(list("abcdefg")) == "'a', 'b', 'c', 'd', 'e' and 2 more"


def test_changes_of_names():
    names = ["a", "b", "c"]
    assert tree.renaming("link", {"a": "b", "b": "a"}, names) == {"a": "b", "b": "a"}
    assert tree.renaming("link", {"a": "a"}, names) == {}
    with pytest.raises(UnknownNameError, match="no link named 'd'"):
        tree.renaming("link", {"d": "e"}, names)
    for changes, text in [
        ({"a": "b"}, "'b': another one has it"),
        ({"a": "x", "b": "x"}, "given to 'a' too"),
        ({"a": ""}, "give it a name"),
        ({"a": " "}, "give it a name"),
        ({"a": 3}, "give it a name"),
    ]:
        with pytest.raises(InputError, match=text):
            tree.renaming("link", changes, names)


# ---- Names of meshes and textures changed, and relative ones made to work from another folder


TEXT = """<robot name="r">
  <material name="wood"><texture filename="wood.png"/></material>
  <link name="a">
    <visual><geometry><mesh filename="a.stl"/></geometry>
      <material name=""><texture filename="a.png"/></material></visual>
    <collision><geometry><mesh filename="b.stl"/></geometry></collision>
    <collision><geometry><mesh filename=""/></geometry></collision>
    <visual><geometry><box size="1 1 1"/></geometry></visual>
  </link></robot>"""


def test_every_name_is_changed_and_nothing_else():
    robot = read(TEXT).robot
    new = renamed_meshes(robot, lambda name: "x/" + name)
    meshes = [r.filename for r in every(new) if isinstance(r, Mesh)]
    textures = [r.texture for r in every(new) if isinstance(r, Material)]
    assert meshes == ["x/a.stl", "x/b.stl", ""]
    assert sorted(textures) == ["x/a.png", "x/wood.png"]
    assert renamed_meshes(new, lambda name: name.removeprefix("x/")) == robot
    assert renamed_meshes(robot, lambda name: name) is robot


STAY = ["package://p/a.stl", "file:///a/b.stl", "/a/b.stl", "http://x/a.stl", "C:/a.stl", "C:\\a"]
STAY += ["\\\\host\\a.stl", "model://a.dae", "~/a.stl", "$HOME/a.stl", ""]


@pytest.mark.parametrize("name", STAY)
def test_names_that_are_not_relative_stay(name: str):
    assert not is_relative(name)
    assert name_from(name, "/a/b.urdf", "/c/d.urdf") == name
    assert name_from(name, "/a/b.urdf", None) == name


PART = st.text("abc.-_ ", min_size=1, max_size=4).filter(lambda t: t.strip(". ") == t != "")
FOLDER = st.lists(PART, max_size=4).map("/".join)


@given(FOLDER, FOLDER, st.lists(st.one_of(PART, st.just("..")), min_size=1, max_size=5))
def test_a_relative_name_means_the_same_file(old: str, new: str, parts: list[str]):
    base = Path(os.path.abspath(os.sep))
    was, now = base / old / "r.urdf", base / new / "r.urdf"
    name = "/".join([*parts, "m.stl"])
    wanted = os.path.normpath(was.parent / name)
    for changed in (name_from(name, str(was), str(now)), name_from(name, str(was), None)):
        assert os.path.normpath(now.parent / changed) == wanted
        assert "\\" not in changed


def test_in_one_folder_names_stay_as_they_are_written():
    assert name_from("./m//a.stl", "x/a.urdf", "x/b.urdf") == "./m//a.stl"
    assert name_from("m\\a.stl", "x/a.urdf", "y/b.urdf") == "../x/m/a.stl"


# ---- An edit ends with a description that is checked, and with its own findings among the others


def test_a_faulty_robot_is_refused(cell: Document):
    with pytest.raises(DescriptionError, match="unconnected"):
        outcome(replace(cell.robot, joints=cell.robot.joints[1:]))


def test_findings_are_those_of_the_new_robot_and_of_the_edit_by_line(cell: Document):
    unlimited = replace(cell.robot.joints[0], limit=None)
    joints = (unlimited, *cell.robot.joints[1:])
    robot = replace(cell.robot, joints=joints, file="cell.urdf")
    plain = outcome(robot)
    assert plain.robot == robot
    assert plain.robot.file == "cell.urdf"
    assert "missing-limits" in [problem.code for problem in plain.problems]
    findings = Findings(robot.file)
    findings.add("warning", "name-left", "x", line=1)
    findings.add("warning", "name-left", "y", line=10_000)
    both = outcome(robot, findings)
    assert [p.message for p in both.problems if p.code == "name-left"] == ["x", "y"]
    assert [p.line for p in both.problems] == sorted(p.line for p in both.problems)
    assert len(both.problems) == len(plain.problems) + 2


# ---- The look of a material name, and parts of a robot that keep theirs


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
