"""Names of meshes and textures changed, and relative ones made to work from another folder."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from linkwork.formats.urdf.edit.records import every, is_relative, name_from, renamed_meshes
from linkwork.formats.urdf.read import read
from linkwork.formats.urdf.records import Material, Mesh

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
