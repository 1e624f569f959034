"""Zero, or what limits allow of it."""

from __future__ import annotations

import numpy as np

import robots
from linkwork.mechanism.neutral import neutral


def test_neutral_is_zero_clamped():
    m = robots.mechanism_from(robots.every_joint_urdf())
    positions = robots.by_name(m, neutral(m))
    assert positions["slide"].tolist() == [0.05]
    assert positions["free"].tolist() == [0, 0, 0, 1, 0, 0, 0]
    np.testing.assert_allclose(positions["grip_a"], [0.03], atol=1e-16)  # so that finger_c can be
    assert positions["socket"].tolist() == [1, 0, 0, 0]
    free_of_limits = set(m.joint_names) - {"slide", "free", "grip_a", "socket"}
    assert not any(positions[name].any() for name in free_of_limits)


def test_limits_on_one_side_of_zero_and_reversed_ones():
    text = robots.chain_urdf(1).replace('upper="1"', 'upper="-0.5"')
    assert neutral(robots.mechanism_from(text)).tolist() == [-0.5]
    reversed_limits = robots.chain_urdf(1).replace('upper="1"', 'upper="-3"')
    assert neutral(robots.mechanism_from(reversed_limits)).tolist() == [0.0]


def test_a_floating_base():
    m = robots.mechanism_from(robots.chain_urdf(1), base="floating")
    assert neutral(m).tolist() == [0, 0, 0, 1, 0, 0, 0, 0]
    assert np.isfinite(neutral(m)).all()
