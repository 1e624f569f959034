"""The robot of the core behind a robot of this face, and mechanisms attached to it."""

from __future__ import annotations

import numpy as np
import pytest

from linkwork.faces.trip_kinematics import Robot, Transformation, forward_kinematics
from linkwork.faces.trip_kinematics.trip_robots.loops import Tree
from linkwork.mechanism.edit import Attachment, with_attached
from trip_samples import branched


def test_names_of_the_core_never_meet():
    # what the core would call these by itself is taken by other transformations
    parts = [Transformation("ground", {"rx": 0.1, "ry": 0.2}, ["rx", "ry"])]
    for name in ("ground/rx", "ground_rx", "ground_end", "ground'"):
        parts.append(Transformation(name, {"rz": 0.1}, ["rz"], parts[-1]))
    robot, T = Robot(parts), np.eye(4)
    for part in parts:
        T = T @ part.get_transformation_matrix()
    np.testing.assert_allclose(forward_kinematics(robot, "ground'"), T, atol=1e-15)


def test_what_moves_a_frame():
    core = branched().core
    assert {s.member for s in core.on_the_way(core.frame("slide"))} == {"a", "slide"}
    assert core.on_the_way(core.frame("base")) == []
    for name in ("a", [], None):
        with pytest.raises(KeyError, match="no end effector named"):
            core.frame(name)


def test_a_mechanism_on_the_ground_of_another():
    tree, other = Tree("arm"), Tree("crank")
    tree.joint("hinge_rz")
    other.joint("hinge", limits=(-1.0, 2.0))
    other.joint("motor", at=((0.0, 0.0, 0.5), None))
    other.joint("third")
    crank = other.robot().with_coupling("motor", "hinge", rate=2.0).with_coupling("third", "motor")
    attachment = Attachment("g", crank.mechanism, {"hinge": "hinge_rz"}, {"motor": "m"})
    m = with_attached(tree.robot().mechanism, [attachment])
    assert m.joint_names == ("hinge_rz", "m", "g: third")
    assert (m.lower[0], m.upper[0]) == (-1.0, 2.0)  # what holds the follower holds the leader
    assert [(c.joint, c.leaders) for c in m.couplings] == [
        ("m", ("hinge_rz",)),
        ("g: third", ("m",)),
    ]
    assert attachment.joint("hinge") == "hinge_rz"
    assert attachment.joint("third") == "g: third"


@pytest.mark.row("S1-084", "S1-083")
def test_the_robots_closed():
    # these modules make their robots, which takes a second, when they are imported
    from linkwork.faces.trip_kinematics.trip_robots.excavator_rr import closure_excavator  # noqa: PLC0415
    from linkwork.faces.trip_kinematics.trip_robots.triped import triped  # noqa: PLC0415
    from linkwork.faces.trip_kinematics.trip_robots.triped_leg import triped_leg  # noqa: PLC0415

    leg = triped_leg.to_linkwork(closed=True)
    assert leg.actuated == ("swing_left", "swing_right", "extend_joint_ry")
    assert leg.mobility().degrees_of_freedom == 4
    arm = closure_excavator.to_linkwork(closed=True)
    assert arm.actuated == ("a_1", "a_2")
    assert arm.mobility().degrees_of_freedom == 2
    whole = triped.to_linkwork(closed=True)
    assert len(whole.loops) == 6 and len(whole.actuated) == 9
    assert triped.to_linkwork().loops == ()
