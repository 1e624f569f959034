"""Names and order of frames."""

from __future__ import annotations

import numpy as np
import pytest

import robots
from linkwork.errors import InputError, UnknownNameError
from linkwork.formats.urdf.read import read
from linkwork.mechanism.assemble import FramePart, JointPart, LinkPart, Parts, assemble
from linkwork.mechanism.model import JointType


def pair(*frames, links=("a", "b"), joint="j"):
    part = JointPart(name=joint, type=JointType.REVOLUTE, parent="a", child="b")
    return Parts("pair", [LinkPart(name) for name in links], [part], list(frames))


def test_links_then_joints_in_the_order_of_the_file():
    document = read(robots.every_joint_urdf())
    m = robots.mechanism_from(robots.every_joint_urdf())
    links = [link.name for link in document.robot.links]
    joints = [joint.name for joint in document.robot.joints]
    joints[joints.index("elbow")] = "elbow/joint"
    assert m.frame_names == (*links, *joints)
    assert (m.n_link_frames, m.n_joint_frames) == (len(links), len(joints))


def test_a_joint_that_is_called_as_a_link_is():
    m = robots.mechanism_from(robots.every_joint_urdf())
    poses = robots.model_poses(m, np.zeros(m.n_q) + 0.1)
    assert (poses["elbow/joint"] == poses["lower"]).all()  # its child
    assert not np.allclose(poses["elbow"], poses["lower"])


def test_names_that_clash_twice_over():
    links = [LinkPart(name) for name in ("a", "a/joint", "c")]
    joints = [
        JointPart(name="a", type=JointType.FIXED, parent="a", child="a/joint"),
        JointPart(name="a/joint", type=JointType.FIXED, parent="a", child="c"),
    ]
    m = assemble(Parts("clash", links, joints))
    assert m.frame_names == ("a", "a/joint", "c", "a/joint/joint", "a/joint/joint/joint")


def test_frames_of_the_user_come_last():
    shift = np.array([1.0, 2.0, 3.0])
    m = assemble(pair(FramePart("tool", "b", p=shift), FramePart("eye", "a")))
    assert m.frame_names == ("a", "b", "j", "tool", "eye")
    assert m.frame_body.tolist() == [0, 1, 1, 1, 0]
    assert m.p_body_frame[3].tolist() == shift.tolist()


@pytest.mark.parametrize("name", ["a", "j"])
def test_a_name_that_is_taken(name):
    with pytest.raises(InputError, match=f"'{name}' is used more than once"):
        assemble(pair(FramePart(name, "b")))


def test_a_link_that_does_not_exist():
    with pytest.raises(UnknownNameError, match="no link named 'c'"):
        assemble(pair(FramePart("tool", "c")))


def test_a_pose_that_is_not_finite():
    with pytest.raises(InputError, match="frame 'tool': its pose must be finite"):
        assemble(pair(FramePart("tool", "a", p=np.array([0, np.nan, 0]))))


def test_links_are_kept_as_described():
    m = robots.mechanism_from(robots.every_joint_urdf())
    for document_joint in read(robots.every_joint_urdf()).robot.joints:
        child, parent = m.frame(document_joint.child), m.frame(document_joint.parent)
        assert m.link_parent[child] == parent
    assert m.link_parent[m.frame("base")] == -1
    assert m.frame_link[: m.n_link_frames].tolist() == list(range(m.n_link_frames))
    assert m.frame_names[m.frame_link[m.frame("wrist")]] == "hand"
    assert (m.frame_body[m.frame_link] == m.frame_body).all()
    lumped = np.bincount(m.frame_body[: m.n_link_frames], m.link_mass, m.n_bodies)
    np.testing.assert_allclose(lumped, m.mass, rtol=1e-15)


def test_a_frame_of_the_user_is_fixed_to_its_link():
    m = assemble(pair(FramePart("tool", "b"), FramePart("eye", "a")))
    assert m.frame_link.tolist() == [0, 1, 1, 1, 0]
    with pytest.raises(UnknownNameError, match="no link named 'z'"):
        assemble(pair(FramePart("tool", "b", fixed_to="z")))
