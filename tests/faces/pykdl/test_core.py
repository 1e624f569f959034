from __future__ import annotations

import numpy as np

from kdl_chains import chain
from kdl_small import arm
from linkwork.faces import pykdl
from linkwork.faces.pykdl import Chain, Frame, Joint, Segment, Vector
from linkwork.faces.pykdl.core import Core


def test_poses_are_those_of_the_segments():
    made = chain(pykdl, "core", 6, scaled=True)
    q = np.linspace(-1.0, 1.5, made.getNrOfJoints())
    rest, pose = q.tolist(), Frame()
    for k, segment in enumerate(made.segments):
        moves = segment.getJoint().getType() is not Joint.Fixed
        pose = pose * segment.pose(rest.pop(0) if moves else 0.0)
        found = made.core.behind(k + 1, "fk")(q)
        assert np.abs(found - pose.ToArray()).max() < 1e-14


def test_order_says_where_frames_are():
    core = arm(fixed=True).core
    poses = core.whole("fk_all")(np.zeros(2))
    assert poses[core.order, 0, 3].tolist() == [0.0, 1.0, 1.5, 1.5]


def test_names_may_be_the_same():
    made = Chain()
    for _ in range(3):
        made.addSegment(Segment("same", Joint("same", Joint.RotZ), Frame(Vector(1, 0, 0))))
    assert made.core.robot.n_q == 3


def test_bounds_are_limits():
    core = arm().core.bounded([(-1.0, None), (0.5, 2.0)])
    assert core.robot.limits.lower.tolist() == [-1.0, 0.5]
    assert core.robot.limits.upper.tolist() == [np.inf, 2.0]


def test_wrenches_count_where_something_moves():
    made = Chain()
    made.addSegment(Segment("foot", Joint(), Frame()))
    made.addChain(arm())
    assert made.core.standing == 1
    assert made.core.wrenches == ("wrench:2", "wrench:3")
    assert Core([]).wrenches == ()
