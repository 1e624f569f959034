"""The pose that a joint makes, and reading positions."""

from __future__ import annotations

import numpy as np
import pytest

import robots
from linkwork.errors import InputError
from linkwork.mechanism.locking import floats, joint_pose, positions_for
from linkwork.mechanism.model import JointType
from seeds import rng


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


def test_positions_are_copies():
    m = robots.mechanism_from(robots.chain_urdf(2))
    q = np.array([0.1, 0.2])
    found = positions_for(m, ["joint2"], q)
    q[1] = 9
    assert found["joint2"].tolist() == [0.2]


def test_floats_refuses_what_is_no_array_of_numbers():
    for value in ("x", [[1], [1, 2]], object(), 1j):
        with pytest.raises(InputError, match="its pose must be numbers"):
            floats("its pose", value)
