"""A branch by itself, and the rest without it: what stays is as it was, what belongs goes along."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from linkwork.errors import DescriptionError, InputError, UnknownNameError
from linkwork.formats.urdf import materials
from linkwork.formats.urdf.edit import cut, merge, prefix, remove, rename, subtree
from linkwork.formats.urdf.edit.records import below, every, link_names, root_of
from linkwork.formats.urdf.read import read
from linkwork.formats.urdf.records import Document, ExtraElement, Joint, Mesh, Mimic, Robot
from linkwork.formats.urdf.write import to_text
from robots import ALL_TYPES, chain_urdf, description_poses, origin, random_tree
from seeds import rng
from urdf_strategies import robots


def positions_of(document: Document, random: np.random.Generator) -> dict[str, np.ndarray]:
    """A position for every joint, four numbers of which are a unit quaternion."""
    found = {}
    for joint in document.robot.joints:
        q = random.uniform(-3, 3, {"planar": 3, "floating": 7, "spherical": 4}.get(joint.type, 1))
        if joint.type in ("floating", "spherical"):
            q[-4:] /= np.linalg.norm(q[-4:])
        found[joint.name] = q
    return found


def extras(document: Document) -> list[str]:
    return [e.xml for e in document.robot.extra if isinstance(e, ExtraElement)]


def comments(document: Document) -> list[str]:
    return [comment.text.strip() for comment in document.robot.comments]


def test_random_trees_keep_their_kinematics_in_both_parts():
    random = rng("branches")
    for _ in range(15):
        document = read(random_tree(random, 12, ALL_TYPES, mimic=0.0))
        positions = positions_of(document, random)
        poses = description_poses(document, positions)
        link = random.choice([n for n in link_names(document.robot) if n != "link0"])
        rest, branch = cut(document, link)
        assert root_of(branch.robot) == link
        assert set(link_names(branch.robot)) == below(document.robot, link)
        for name, T in description_poses(rest, positions).items():
            np.testing.assert_array_equal(T, poses[name])
        for name, T in description_poses(branch, positions).items():
            np.testing.assert_allclose(poses[link] @ T, poses[name], atol=1e-13)
        assert len(rest.robot.links) + len(branch.robot.links) == len(document.robot.links)
        assert len(rest.robot.joints) + len(branch.robot.joints) + 1 == len(document.robot.joints)


def test_what_belongs_to_a_branch_goes_with_it(cell: Document):
    rest, branch = cut(cell, "hand")
    assert link_names(rest.robot) == ["base", "arm"]
    assert link_names(branch.robot) == ["hand", "finger_a", "finger_b"]
    assert [t.name for t in rest.robot.transmissions] == ["drive"]
    assert [t.name for t in branch.robot.transmissions] == ["pinch"]
    assert [m.name for m in rest.robot.materials] == ["steel"]
    assert [(m.name, m.rgba) for m in branch.robot.materials] == [
        ("rubber", (0, 0, 0, 1)),
        ("blue", (0, 0, 1, 1)),  # it was defined on the arm
    ]
    texts = extras(rest)
    assert [text.split()[0] for text in texts] == ["<gazebo"] * 2 + [
        "<gazebo><plugin",
        "<ros2_control",
    ]
    assert '<joint name="shoulder">' in texts[3]
    assert "grip" not in texts[3]
    texts = extras(branch)
    assert [text.split()[0] for text in texts] == ["<gazebo><plugin", "<ros2_control", "<sensor"]
    assert "shoulder" not in texts[1]
    assert '<joint name="grip_a"/>' in texts[1]
    (left,) = [p for p in branch.problems if p.code == "name-left"]
    assert "'shoulder': gone" in left.message
    assert not [p for p in rest.problems if p.code == "name-left"]


def test_a_transmission_goes_with_any_of_its_joints(cell: Document):
    assert [t.name for t in remove(cell, "finger_b").robot.transmissions] == ["drive"]


def test_comments(cell: Document):
    assert comments(cell) == ["a cell", "the arm", "the hand", "joints"]
    assert comments(remove(cell, "hand")) == comments(cell)
    # right before the hand, and right before the shoulder, which is not in the branch
    assert comments(subtree(cell, "hand")) == ["a cell", "the hand"]
    assert comments(subtree(cell, "base")) == comments(cell)


def test_comments_in_a_row_go_together(cell: Document):
    text = to_text(cell.robot).replace("<!-- joints -->", "<!-- one --><!-- two -->")
    text = text.replace("<!-- the hand -->", "<!-- three --><!-- four -->")
    assert comments(subtree(read(text), "hand")) == ["a cell", "three", "four"]


def test_followers_without_a_leader(cell: Document):
    with pytest.raises(InputError, match=r"'grip_b'; mimic=\"free\""):
        remove(cell, "finger_a")
    free = remove(cell, "finger_a", mimic="free")
    assert free.robot.joints[-1].name == "grip_b"
    assert free.robot.joints[-1].mimic is None
    gone = [p.message for p in free.problems if p.code == "name-left"]
    assert gone == ["the text still holds 'grip_a': gone"]  # the mimic of ros2_control
    with pytest.raises(InputError, match="grip_b"):
        cut(cell, "finger_a")
    joints = [
        replace(joint, mimic=Mimic("shoulder")) if joint.name == "grip_a" else joint
        for joint in cell.robot.joints
    ]
    led = replace(cell, robot=replace(cell.robot, joints=tuple(joints)))
    with pytest.raises(InputError, match="gone: 'grip_a';"):
        subtree(led, "hand")
    assert subtree(led, "hand", mimic="free").robot.joints == cell.robot.joints[2:]
    with pytest.raises(InputError, match="'refuse' or 'free'"):
        subtree(cell, "finger_b", mimic="x")
    # a follower that goes with its leader, or whose leader stays, is no matter
    assert remove(cell, "hand").robot.joints[-1].name == "shoulder"
    assert remove(cell, "finger_b").robot.joints[-1].name == "grip_a"


def test_the_whole_tree_and_new_names(cell: Document):
    whole = subtree(cell, "base")
    assert whole.robot == cell.robot
    assert whole.problems == rename(cell).problems
    assert subtree(cell, "hand", "gripper").robot.name == "gripper"
    assert subtree(cell, "hand").robot.name == "cell"


def test_a_joint_and_all_below_it(cell: Document):
    assert remove(cell, joint="wrist").robot == remove(cell, "hand").robot
    assert link_names(remove(cell, joint="grip_b").robot) == ["base", "arm", "hand", "finger_a"]


def test_what_cannot_be(cell: Document):
    for edit in (remove, cut):
        with pytest.raises(InputError, match="'base' is the root"):
            edit(cell, "base")
    for edit in (remove, cut, subtree):
        with pytest.raises(UnknownNameError, match="nearest: hand"):
            edit(cell, "hond")
    with pytest.raises(UnknownNameError, match="no joint"):
        remove(cell, joint="hand")
    with pytest.raises(InputError, match="say what to remove"):
        remove(cell)
    with pytest.raises(InputError, match="say what to remove"):
        remove(cell, "hand", joint="wrist")
    with pytest.raises(InputError, match="give it a name"):
        subtree(cell, "hand", "")


def test_an_unnamed_part_of_other_elements_stays(cell: Document):
    """Elements that name nothing known belong to nobody."""
    odd = ExtraElement("robot", "gazebo", '<gazebo reference="nobody"/>')
    robot = replace(cell.robot, extra=(*cell.robot.extra, odd))
    rest, branch = cut(replace(cell, robot=robot), "hand")
    assert odd in rest.robot.extra
    assert odd in branch.robot.extra


def test_what_stands_inside_of_a_part_that_stays_is_kept_whatever_it_names():
    """Simulators read `<gazebo reference>` below the robot only."""
    inside = '<gazebo reference="j"><x/></gazebo>'
    document = read(
        f"""<robot name="r"><link name="a"/><link name="b"><visual><geometry><box size="1 1 1"/>
        </geometry><material name="m"><texture filename="t.png">{inside}</texture></material>
        </visual></link><joint name="j" type="fixed"><parent link="a"/><child link="b"/></joint>
        {inside}</robot>"""
    )
    rest, branch = cut(document, "b")
    assert {*rest.robot.links, *branch.robot.links} == set(document.robot.links)
    assert extras(rest) == extras(branch) == []
    (left,) = [p for p in branch.problems if p.code == "name-left"]
    assert "still holds 'j'" in str(left)
    renamed = rename(document, joints={"j": "k"}).robot
    assert [to_text(renamed).count(f'"{name}"') for name in ("j", "k")] == [0, 3]


def test_a_long_chain():
    document = read(chain_urdf(2_000))
    rest, branch = cut(document, "link1000")
    assert (len(rest.robot.links), len(branch.robot.links)) == (1_000, 1_001)


@pytest.mark.slow
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(robots(), st.data())
def test_any_robot_cut_and_merged_again(robot: Robot, data: st.DataObject):
    document = read(to_text(robot))
    robot = document.robot
    assert subtree(document, root_of(robot)).robot == document.robot
    if not robot.joints:
        return
    joint = data.draw(st.sampled_from(robot.joints))
    rest, branch = cut(document, joint.child, mimic="free")
    for part in (rest, branch):
        assert read(to_text(part.robot)).robot == part.robot
        assert materials.appearances(part.robot).items() <= materials.appearances(robot).items()
    assert {*rest.robot.links, *branch.robot.links} == set(robot.links)
    joint = replace(joint, mimic=None)
    again = merge(rest, branch, joint).robot
    assert set(again.links) == set(robot.links)
    free = {replace(one, mimic=None) for one in robot.joints}
    assert {replace(one, mimic=None) for one in again.joints} == free


# ---- Two robots at a joint: both are as they were, names are unique, meshes are still found


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
