"""Parts are plain: their defaults are shared, so they cannot be written to."""

from __future__ import annotations

import pytest

from linkwork.mechanism.model import JointType
from linkwork.mechanism.parts import FramePart, JointPart, LinkPart


def test_defaults_cannot_be_changed():
    joint = JointPart(name="j", type=JointType.REVOLUTE, parent="a", child="b")
    link, frame = LinkPart("a"), FramePart("f", "a")
    for array in (joint.R, joint.p, joint.axis, link.com, link.I_com, frame.R, frame.p):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1.0


def test_defaults_mean_nothing_moved():
    joint = JointPart(name="j", type=JointType.REVOLUTE, parent="a", child="b")
    assert joint.axis.tolist() == [0, 0, 1] and joint.R.tolist() == [
        [1, 0, 0],
        [0, 1, 0],
        [0, 0, 1],
    ]
    assert (joint.lower, joint.upper, joint.mimic) == (None, None, None)
