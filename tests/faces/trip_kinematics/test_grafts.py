"""Mechanisms of groups beside the tree of a robot."""

from __future__ import annotations

import numpy as np
import pytest

from linkwork.faces.trip_kinematics.grafts import Graft, grafted, name_in_whole
from linkwork.faces.trip_kinematics.trip_robots.excavator_rr import closure_excavator
from linkwork.faces.trip_kinematics.trip_robots.loops import Tree
from linkwork.faces.trip_kinematics.trip_robots.triped import triped
from linkwork.faces.trip_kinematics.trip_robots.triped_leg import triped_leg


def test_a_mechanism_on_the_ground_of_another():
    tree, other = Tree("arm"), Tree("crank")
    tree.joint("hinge_rz")
    other.joint("hinge", limits=(-1.0, 2.0))
    other.joint("motor", at=((0.0, 0.0, 0.5), None))
    other.joint("third")
    crank = other.robot().with_coupling("motor", "hinge", rate=2.0).with_coupling("third", "motor")
    graft = Graft("g", crank.mechanism, np.zeros(3), {"hinge": "hinge_rz"}, {"motor": "m"})
    m = grafted(tree.robot().mechanism, [graft])
    assert m.joint_names == ("hinge_rz", "m", "g: third")
    assert (m.lower[0], m.upper[0]) == (-1.0, 2.0)  # what holds the follower holds the leader
    assert [(c.joint, c.leaders) for c in m.couplings] == [
        ("m", ("hinge_rz",)),
        ("g: third", ("m",)),
    ]
    assert name_in_whole(graft, "hinge") == "hinge_rz"
    assert name_in_whole(graft, "third") == "g: third"


@pytest.mark.row("S1-084", "S1-083")
def test_the_robots_closed():
    leg = triped_leg.to_linkwork(closed=True)
    assert leg.actuated == ("swing_left", "swing_right", "extend_joint_ry")
    assert leg.mobility().degrees_of_freedom == 4
    arm = closure_excavator.to_linkwork(closed=True)
    assert arm.actuated == ("a_1", "a_2")
    assert arm.mobility().degrees_of_freedom == 2
    whole = triped.to_linkwork(closed=True)
    assert len(whole.loops) == 6 and len(whole.actuated) == 9
    assert triped.to_linkwork().loops == ()


@pytest.mark.row("S1-049", "S1-081")
def test_how_fast_the_bucket_moves_with_derived_cylinders():
    arm = closure_excavator.to_linkwork(closed=True)
    q = arm.assemble({"a_1": 1.1, "a_2": 1.3}).q
    J = arm.actuation_jacobian(q, "geometric group 2")[:3]
    for k in range(2):
        ends = []
        for h in (1e-6, -1e-6):
            lengths = np.array([1.1, 1.3])
            lengths[k] += h
            at = arm.assemble(lengths, near=q).q
            ends.append(arm.fk(at, "geometric group 2")[:3, 3])
        np.testing.assert_allclose(J[:, k], (ends[0] - ends[1]) / 2e-6, atol=1e-8)
