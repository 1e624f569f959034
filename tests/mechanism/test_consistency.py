"""Arrays that contradict each other."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import robots
from linkwork.mechanism.consistency import FieldError, check_consistent
from linkwork.mechanism.model import JointType

MOVING = (JointType.REVOLUTE,) * 2


def mechanism():
    return robots.mechanism_from(robots.chain_urdf(2))


def test_an_assembled_one_is_consistent():
    check_consistent(mechanism())
    check_consistent(robots.mechanism_from(robots.every_joint_urdf(), base="floating"))


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"parent": np.array([0, 0, 1])}, "parent must be -1 for body 0"),
        ({"parent": np.array([-1, 0, 2])}, "must name a body that comes before"),
        ({"parent": np.array([-1, 0, -1])}, "must name a body that comes before"),
        ({"body_joint_types": (JointType.PLANAR, *MOVING)}, "must begin with fixed or floating"),
        ({"body_joint_types": (JointType.FIXED,) * 3}, "fixed joints for body 0 only"),
        ({"body_joint_types": (JointType.FLOATING, *MOVING)}, "coordinate of body 0"),
        ({"body_names": ("a", "b", "a")}, "body_names has 'a' more than once"),
        ({"body_joint_names": ("", "a", "a")}, "body_joint_names has 'a' more than once"),
        ({"joint_names": ("a", "a")}, "joint_names has 'a' more than once"),
        ({"frame_names": ("a",) * 5}, "frame_names has 'a' more than once"),
        ({"coordinate": np.array([0, 0, 1])}, "coordinate of body 0 must be 0"),
        ({"coordinate": np.array([-1, 0, 2])}, "must be indices of joint_names"),
        ({"coordinate": np.array([-1, -1, 1])}, "must be indices of joint_names"),
        ({"q_start": np.array([0, 1, 3])}, "q_start must be the running sum"),
        ({"v_start": np.array([1, 2, 3])}, "v_start must be the running sum"),
        ({"frame_body": np.array([0, 1, 2, 1, 3])}, "frame_body must be indices of bodies"),
        ({"n_link_frames": 4}, "n_link_frames and n_joint_frames"),
        ({"n_joint_frames": -1}, "n_link_frames and n_joint_frames"),
        ({"body_names": ("link0", "link1", "b")}, "must have the links that body_names lists"),
        ({"frame_link": np.array([0, 1, 2, 1, 3])}, "frame_link must be indices of the frames"),
        ({"frame_link": np.array([0, 1, 2, 2, 1])}, "frame_link must be links on the bodies"),
        ({"link_parent": np.array([-1, 0, 3])}, "link_parent must be -1 or indices"),
        ({"link_parent": np.array([-1, 2, 1])}, "link_parent must not form a cycle"),
        ({"link_parent": np.array([2, 0, 1])}, "link_parent must not form a cycle"),
        ({"R_parent_joint": np.stack([2 * np.eye(3)] * 3)}, "R_parent_joint must be rotations"),
        ({"R_parent_joint": np.stack([-np.eye(3)] * 3)}, "R_parent_joint must be rotations"),
        ({"R_body_frame": np.stack([0 * np.eye(3)] * 5)}, "R_body_frame must be rotations"),
    ],
)
def test_contradictions(change, text):
    with pytest.raises(FieldError, match=text):
        check_consistent(replace(mechanism(), **change))
