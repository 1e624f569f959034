"""A branch by itself, and the rest without it: what stays is as it was, what belongs goes along."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from linkwork.errors import InputError, UnknownNameError
from linkwork.formats.urdf import materials
from linkwork.formats.urdf.edit import cut, merge, remove, rename, subtree
from linkwork.formats.urdf.edit.records import below, link_names, root_of
from linkwork.formats.urdf.read import read
from linkwork.formats.urdf.records import Document, ExtraElement, Mimic, Robot
from linkwork.formats.urdf.write import to_text
from robots import ALL_TYPES, chain_urdf, description_poses, random_tree
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


def test_cut_and_merged_again_is_the_same_mechanism():
    random = rng("cut and merge")
    for _ in range(15):
        document = read(random_tree(random, 12, ALL_TYPES, mimic=0.0))
        link = random.choice([n for n in link_names(document.robot) if n != "link0"])
        (joint,) = [j for j in document.robot.joints if j.child == link]
        again = merge(*cut(document, link), joint)
        assert set(again.robot.links) == set(document.robot.links)
        assert set(again.robot.joints) == set(document.robot.joints)
        positions = positions_of(document, random)
        poses = description_poses(document, positions)
        for name, T in description_poses(again, positions).items():
            np.testing.assert_array_equal(T, poses[name])


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


def test_a_long_chain():
    document = read(chain_urdf(20_000))
    rest, branch = cut(document, "link10000")
    assert (len(rest.robot.links), len(branch.robot.links)) == (10_000, 10_001)


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
