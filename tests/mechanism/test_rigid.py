"""Alignment, exactness, and the poses that joints make."""

from __future__ import annotations

import numpy as np
import pytest

import robots
from linkwork.mechanism import rigid
from linkwork.mechanism.model import JointType
from linkwork.mechanism.rigid import joint_pose, point_velocities
from linkwork.ops.numpy import NUMPY
from linkwork.spatial import so3
from seeds import rng


def test_alignment_along_the_axes_is_exact():
    for axis in (*np.eye(3), *-np.eye(3)):
        R = rigid.align_z(axis[None])[0]
        assert set(np.abs(R).ravel()) == {0.0, 1.0} and not np.signbit(R[R == 0]).any()
    assert rigid.align_z(np.array([[0, 0, -1.0]]))[0].tolist() == [
        [1, 0, 0],
        [0, -1, 0],
        [0, 0, -1],
    ]


def test_exact_takes_only_what_is_next_to_it():
    near = np.array([[[6.1e-17, -2e-16, 1 - 1.2e-16], [3e-16, -1 + 4e-16, 0.5], [-0.0, 1, -1]]])
    expected = [[[0, 0, 1], [3e-16, -1 + 4e-16, 0.5], [0, 1, -1]]]
    assert rigid.exact(near).tolist() == expected
    assert not np.signbit(rigid.exact(near)[0, 2, 0])


def test_poses_of_each_type():
    z = np.array([0, 0, 1.0])
    for kind in (JointType.REVOLUTE, JointType.CONTINUOUS):
        R, p = joint_pose(kind, np.array([0.7]))
        np.testing.assert_allclose(R, robots.about(z, 0.7), atol=1e-16)
        assert not p.any()
    R, p = joint_pose(JointType.PRISMATIC, np.array([0.7]))
    assert (R == np.eye(3)).all() and p.tolist() == [0, 0, 0.7]
    R, p = joint_pose(JointType.PLANAR, np.array([1.0, 2.0, 0.7]))
    np.testing.assert_allclose(R, robots.about(z, 0.7), atol=1e-16)
    assert p.tolist() == [1, 2, 0]


@pytest.mark.parametrize("scale", [1e-200, 0.3, 1.0, 1e200])
def test_quaternions_of_any_length(scale):
    random = rng("quaternions")
    for _ in range(20):
        axis = random.normal(size=3)
        axis /= np.linalg.norm(axis)
        angle = random.uniform(-3, 3)
        wxyz = [np.cos(angle / 2), *(np.sin(angle / 2) * axis)]
        R, p = joint_pose(JointType.FLOATING, np.array([1, 2, 3, *np.multiply(scale, wxyz)]))
        np.testing.assert_allclose(R, robots.about(axis, angle), atol=2e-15)
        assert p.tolist() == [1, 2, 3]


def test_right_angles_are_exact():
    R, _ = joint_pose(JointType.REVOLUTE, np.array([np.pi / 2]))
    assert R.tolist() == [[0, -1, 0], [1, 0, 0], [0, 0, 1]]


def test_velocities_of_a_point_are_its_differences():
    g = rng("point velocities")
    axes = g.standard_normal((5, 3))
    axes /= np.linalg.norm(axes, axis=1, keepdims=True)
    origins, p = g.standard_normal((5, 3)), g.standard_normal(3)
    slides = [False, True, False, True, False]
    found = point_velocities(axes, origins, slides, p)
    step = 1e-6
    for k, (axis, origin, slide) in enumerate(zip(axes, origins, slides, strict=True)):
        ends = []
        for s in (-step, step):
            R = np.eye(3) if slide else so3.exp(NUMPY, s * axis)
            ends.append(R @ (p - origin) + (s * axis if slide else 0.0))
        assert np.abs(found[k, :3] - (ends[1] - ends[0]) / (2 * step)).max() < 1e-8
        assert np.array_equal(found[k, 3:], 0.0 * axis if slide else axis)
