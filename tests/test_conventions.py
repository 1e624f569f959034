"""The constants of the conventions, and that the text and the code say the same."""

from __future__ import annotations

import numpy as np

from linkwork import conventions as c
from linkwork.ops.numpy import NUMPY as o
from linkwork.spatial import rotations, se3


def test_constants():
    assert c.STANDARD_GRAVITY == 9.80665
    assert c.GRAVITY == (0.0, 0.0, -9.80665)


def test_the_linear_part_stands_first():
    pose = se3.exp(o, np.array([1.0, 2.0, 3.0, 0.0, 0.0, 0.0]))
    twist = se3.log(o, pose)
    assert np.array_equal(twist[c.LINEAR], [1, 2, 3])
    assert np.array_equal(twist[c.ANGULAR], [0, 0, 0])


def test_quaternions_are_in_the_order_named():
    q = rotations.to_quaternion(o, rotations.rotation_y(o, 1.0))
    named = dict(zip(c.QUATERNION_ORDER, q, strict=True))
    assert np.isclose(named["w"], np.cos(0.5)) and np.isclose(named["y"], np.sin(0.5))


def test_the_text_names_what_people_ask_for():
    text = c.__doc__ or ""
    for word in (
        "SI",
        "wxyz",
        "roll, pitch, yaw",
        "linear part",
        "world-aligned",
        "T_a_b",
        "mimic",
    ):
        assert word in text
