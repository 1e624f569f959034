"""Trees of joints for the ready-made robots."""

from __future__ import annotations

from math import inf, pi

import numpy as np

from linkwork.faces.trip_kinematics.trip_robots.loops import GROUND, Tree
from trip_samples import rz


def test_a_tree():
    tree = Tree("two")
    arm = tree.joint("arm", turns=(0.0, 1.0, 0.0), limits=(-1.0, inf))
    slide = tree.joint("slide", arm, slides=(1.0, 0.0, 0.0), at=((0.0, 0.5, 0.0), rz(pi / 2)))
    tree.joint("other", GROUND)
    tip = tree.frame("tip", slide, (0.0, 0.0, 0.25))
    robot = tree.robot()
    assert (robot.name, robot.joint_names) == ("two", ("arm", "slide", "other"))
    assert robot.limits.lower.tolist() == [-1.0, -inf, -inf]
    assert robot.limits.upper.tolist() == [inf, inf, inf]
    at = robot.fk(np.array([0.0, 0.1, 0.0]), tip)[:3, 3]
    np.testing.assert_allclose(at, (0.0, 0.6, 0.25), atol=1e-15)
    turned = robot.fk(np.array([pi / 2, 0.1, 0.0]), tip)[:3, 3]
    np.testing.assert_allclose(turned, (0.25, 0.6, 0.0), atol=1e-15)
