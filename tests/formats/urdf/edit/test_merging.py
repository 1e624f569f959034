"""Two robots at a joint: both are as they were, names are unique, meshes are still found."""

from __future__ import annotations

import numpy as np
import pytest

from linkwork.errors import DescriptionError, InputError, UnknownNameError
from linkwork.formats.urdf.edit import merge, prefix
from linkwork.formats.urdf.edit.records import every
from linkwork.formats.urdf.read import read
from linkwork.formats.urdf.records import Document, Joint, Mesh, Mimic
from robots import ALL_TYPES, chain_urdf, description_poses, origin, random_tree
from seeds import rng

TOOL = """<!-- licence -->
<robot name="tool">
  <!-- flange -->
  <link name="flange"><visual><geometry><mesh filename="m/f.stl"/></geometry>
    <material name="steel"><color rgba="0.6 0.6 0.6 1"/></material></visual></link>
  <joint name="turn" type="continuous"><parent link="flange"/><child link="tip"/></joint>
  <!-- tip -->
  <link name="tip"><collision><geometry><mesh filename="package://t/t.stl"/></geometry></collision>
  </link>
  <material name="steel"><color rgba="0.6 0.6 0.6 1"/></material>
  <gazebo reference="tip"/>
</robot>
<!-- end -->"""


def at(parent: str, child: str, **more: object) -> Joint:
    return Joint("mount", "fixed", parent, child, (0.1, 0.2, 0.3), (0.3, -0.2, 1.0), **more)


def test_random_robots_are_as_they_were():
    random = rng("merge")
    for _ in range(10):
        a = read(random_tree(random, 8, ALL_TYPES, mimic=0.3))
        b = prefix(read(random_tree(random, 8, ALL_TYPES, mimic=0.3)), "b/")
        link = f"link{random.integers(9)}"
        mount = at(link, "b/link0")
        positions = {}
        for document in (a, b):
            for joint in document.robot.joints:
                q = random.uniform(
                    -3, 3, {"planar": 3, "floating": 7, "spherical": 4}.get(joint.type, 1)
                )
                positions[joint.name] = q
        poses = description_poses(merge(a, b, mount), positions)
        for name, T in description_poses(a, positions).items():
            np.testing.assert_array_equal(poses[name], T)
        T_a_b = poses[link] @ origin(mount.xyz, mount.rpy)
        for name, T in description_poses(b, positions).items():
            scale = 1 + np.abs(T).max()
            np.testing.assert_allclose(poses[name], T_a_b @ T, atol=1e-13 * scale)


def test_everything_of_both_is_there(cell: Document):
    other = read(TOOL)
    new = merge(cell, other, at("hand", "flange")).robot
    assert new.name == "cell"
    assert new.links == cell.robot.links + other.robot.links
    assert new.joints == (*cell.robot.joints, at("hand", "flange"), *other.robot.joints)
    assert new.extra == cell.robot.extra + other.robot.extra
    assert new.transmissions == cell.robot.transmissions
    # one steel is enough
    assert new.materials == cell.robot.materials


def place(record: object) -> int:
    return getattr(record, "position") or 0  # noqa: B009 -- records of many types


def test_the_other_stands_last_in_its_own_order_with_its_comments(cell: Document):
    new = merge(cell, read(TOOL), at("hand", "flange")).robot
    inside = [comment for comment in new.comments if comment.within]
    everything = [*new.links, *new.joints, *new.materials, *new.extra, *new.transmissions, *inside]
    everything.sort(key=place)
    names = [getattr(r, "text", getattr(r, "name", "-")).strip() for r in everything]
    wanted = ["mount", "licence", "flange", "flange", "turn", "tip", "tip", "-", "end"]
    assert names[-len(wanted) :] == wanted
    kept = [comment.text.strip() for comment in new.comments if not comment.within]
    assert kept == ["a cell"]


def test_lines_of_another_file_are_not_given(cell: Document):
    new = merge(cell, read(TOOL), at("hand", "flange"))
    theirs = (*new.robot.links[-2:], new.robot.joints[-1], new.robot.extra[-1])
    lines = {getattr(r, "line", 0) for record in theirs for r in every(record)}
    assert lines == {0}
    assert new.robot.links[1].line == cell.robot.links[1].line > 0


FILES = [
    ("/r/cell.urdf", "/r/tools/tool.urdf", "tools/m/f.stl"),
    ("/r/a/cell.urdf", "/r/tools/tool.urdf", "../tools/m/f.stl"),
    ("/r/cell.urdf", "/r/tool.urdf", "m/f.stl"),
    ("/r/cell.urdf", None, "m/f.stl"),
    (None, "/r/tool.urdf", "/r/m/f.stl"),
    (None, None, "m/f.stl"),
]


@pytest.mark.parametrize(("one", "two", "wanted"), FILES)
def test_mesh_names_work_from_the_first_file(one: str | None, two: str | None, wanted: str):
    cell = read('<robot name="c"><link name="hand"/></robot>', file=one)
    new = merge(cell, read(TOOL, file=two), at("hand", "flange")).robot
    assert [r.filename for r in every(new) if isinstance(r, Mesh)] == [wanted, "package://t/t.stl"]
    assert new.file == one


def test_names_that_both_have(cell: Document):
    for text, part in [
        ('<robot name="t"><link name="arm"/></robot>', r"links with one name: 'arm'; prefix"),
        (
            '<robot name="t"><link name="x"/><link name="y"/><joint name="wrist" type="fixed">'
            '<parent link="x"/><child link="y"/></joint></robot>',
            "joints with one name: 'wrist'",
        ),
        (
            '<robot name="t"><link name="x"/><transmission name="drive"/></robot>',
            "transmissions with one name: 'drive'",
        ),
    ]:
        other = read(text)
        root = other.robot.links[0].name
        with pytest.raises(InputError, match=part):
            merge(cell, other, at("hand", root))
        merge(cell, prefix(other, "t_"), at("hand", "t_" + root))
    other = read(TOOL)
    for name in ("turn", "wrist"):
        joint = Joint(name, "fixed", "hand", "flange")
        with pytest.raises(InputError, match=f"joints with one name: '{name}'"):
            merge(cell, other, joint)


SHAPE = (
    '<visual><geometry><sphere radius="1"/></geometry><material name="{}">{}</material></visual>'
)


@pytest.mark.parametrize(
    ("name", "inside", "alike"),
    [
        ("steel", '<color rgba="0.6 0.6 0.6 1"/>', True),
        ("steel", '<color rgba="0.6 0.6 0.5 1"/>', False),
        ("blue", '<color rgba="0 0 1 1"/>', True),
        ("blue", '<texture filename="b.png"/>', False),
        ("blue", "", False),  # it had no look and would get one
        ("", '<color rgba="1 0 0 1"/>', True),
        ("green", '<color rgba="0 1 0 1"/>', True),
    ],
)
def test_materials(cell: Document, name: str, inside: str, alike: bool):
    text = f'<robot name="t"><link name="x">{SHAPE.format(name, inside)}</link></robot>'
    other = read(text)
    if alike:
        assert merge(cell, other, at("hand", "x")).robot.links[-1] == other.robot.links[0]
    else:
        with pytest.raises(InputError, match=f"look different: '{name}'; prefix"):
            merge(cell, other, at("hand", "x"))
        merge(cell, prefix(other, "t"), at("hand", "tx"))


def test_name_spaces():
    def robot(name: str, space: str, inside: str = "") -> Document:
        return read(f'<robot name="{name}" xmlns:s="{space}"><link name="{name}"/>{inside}</robot>')

    mount = at("a", "b")
    assert len(merge(robot("a", "u:1"), robot("b", "u:1"), mount).robot.extra) == 1
    unused = merge(robot("a", "u:1"), robot("b", "u:2"), mount).robot.extra
    assert [e.value for e in unused] == ["u:1"]
    with pytest.raises(InputError, match="prefix 's' is 'u:1' in the one"):
        merge(robot("a", "u:1"), robot("b", "u:2", "<s:x/>"), mount)
    assert len(merge(robot("a", "u:1"), robot("b", "u:1", "<s:x/>"), mount).robot.extra) == 2


def test_ends_of_the_joint(cell: Document):
    tool = read(TOOL)
    with pytest.raises(UnknownNameError, match="no link named 'arn'"):
        merge(cell, tool, at("arn", "flange"))
    with pytest.raises(UnknownNameError, match="no link named 'base'"):
        merge(cell, tool, at("arm", "base"))
    with pytest.raises(InputError, match="the root of the other robot is 'flange'"):
        merge(cell, tool, at("arm", "tip"))
    with pytest.raises(InputError, match=r"records\.Joint, not str"):
        merge(cell, tool, "mount")


def test_the_joint_is_checked_as_any_other(cell: Document):
    tool = read(TOOL)
    joint = Joint("mount", "revolute", "hand", "flange", mimic=Mimic("nobody"))
    with pytest.raises(DescriptionError, match="nobody"):
        merge(cell, tool, joint)
    follower = Joint("mount", "revolute", "hand", "flange", mimic=Mimic("turn"))
    assert merge(cell, tool, follower).robot.joints[-2] == follower


@pytest.mark.slow
def test_long_chains():
    a = read(chain_urdf(10_000))
    merged = merge(a, prefix(a, "b"), at("link10000", "blink0"))
    assert len(merged.robot.links) == 20_002
