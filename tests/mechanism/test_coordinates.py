"""Which joints q consists of, and the numbers kept for each."""

from __future__ import annotations

import numpy as np

from linkwork.mechanism.assemble import JointPart, LinkPart, Mimic, Parts, assemble
from linkwork.mechanism.coordinates import find, limits_of
from linkwork.mechanism.model import JointType
from linkwork.mechanism.tree import resolve


def parts(*joints, base="fixed"):
    links = [LinkPart("root"), *(LinkPart(j.child) for j in joints if j.child)]
    return Parts("p", links, list(joints), base=base)


def joint(name, kind, **more):
    more.setdefault("parent", "root")
    more.setdefault("child", f"{name} link")
    return JointPart(name=name, type=kind, **more)


def test_numbers_are_repeated_for_each_velocity():
    given = parts(
        joint("plane", JointType.PLANAR, velocity=2.0, damping=0.5, lower=-1.0, upper=1.0),
        joint("free", JointType.FLOATING, effort=7.0, friction=0.25),
    )
    found = limits_of(given, find(given, resolve(given)))
    assert found["q_start"].tolist() == [0, 3, 10] and found["v_start"].tolist() == [0, 3, 9]
    assert np.isinf(found["lower"]).all() and np.isinf(found["upper"]).all()
    assert found["velocity_limit"].tolist() == [2.0] * 3 + [np.inf] * 6
    assert found["effort_limit"].tolist() == [np.inf] * 3 + [7.0] * 6
    assert found["damping"].tolist() == [0.5] * 3 + [0.0] * 6
    assert found["friction"].tolist() == [0.0] * 3 + [0.25] * 6


def test_followers_and_fixed_joints_are_no_coordinates():
    given = parts(
        joint("follower", JointType.REVOLUTE, mimic=Mimic("lead", 2.0)),
        joint("fixed", JointType.FIXED),
        joint("lead", JointType.PRISMATIC),
    )
    found = find(given, resolve(given))
    assert found.names == ["lead"] and [j.name for j in found.followers] == ["follower"]


def test_a_coordinate_without_a_body():
    given = parts(
        joint("before", JointType.REVOLUTE),
        joint("lead", JointType.REVOLUTE, parent=None, child=None, lower=-0.5, upper=0.5),
        joint("follower", JointType.REVOLUTE, mimic=Mimic("lead", -1.0)),
    )
    m = assemble(given)
    assert m.joint_names == ("before", "lead")
    assert m.body_joint_names == ("", "before", "follower")
    assert m.coordinate.tolist() == [-1, 0, 1]
    assert list(m.followers()) == [2]
    assert m.frame_names == ("root", "before link", "follower link", "before", "follower")
    assert m.lower.tolist() == [-np.inf, -0.5]


def test_a_follower_without_a_body_narrows_nothing():
    free = {"parent": None, "child": None}
    m = assemble(
        parts(
            joint("lead", JointType.REVOLUTE),
            joint("f", JointType.REVOLUTE, mimic=Mimic("lead"), lower=-0.1, upper=0.1, **free),
        )
    )
    assert m.joint_names == ("lead",) and np.isinf(m.lower).all()


def test_the_floating_base_comes_first_under_a_new_name():
    given = parts(joint("floating_base", JointType.REVOLUTE), base="floating")
    found = find(given, resolve(given))
    assert found.names == ["floating_base_", "floating_base"]
    given.base_joint = "free"
    assert find(given, resolve(given)).names[0] == "free"
