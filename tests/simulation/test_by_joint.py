"""Numbers for joints: of all, of those that are actuated, or by name."""

from __future__ import annotations

import numpy as np
import pytest

import linkwork as lw
from linkwork.errors import InputError, ShapeError, UnknownNameError
from linkwork.simulation.by_joint import for_actuated, for_joints, places
from pendulums import brick, pendulum

FIVE_BAR = lw.load("five_bar").mechanism  # left, left_elbow, right, right_elbow
STEWART = lw.load("stewart").mechanism


def test_places():
    assert places(FIVE_BAR, FIVE_BAR.actuated) == [0, 2]
    assert places(STEWART, ["platform", "slide1"]) == [0, 1, 2, 3, 4, 5, 8]
    assert places(STEWART, ["platform"], of_q=True) == list(range(7))


def test_one_number_is_for_the_actuated_joints():
    assert for_actuated(FIVE_BAR, 3.0).tolist() == [3.0, 0.0, 3.0, 0.0]
    assert for_actuated(pendulum(3), 3.0).tolist() == [3.0, 3.0, 3.0]


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ([1.0, 2.0, 3.0, 4.0], [1.0, 2.0, 3.0, 4.0]),
        ([1.0, 2.0], [1.0, 0.0, 2.0, 0.0]),
        ([[1.0, 2.0], [3.0, 4.0]], [[1.0, 0.0, 2.0, 0.0], [3.0, 0.0, 4.0, 0.0]]),
        ({"right": 5.0}, [0.0, 0.0, 5.0, 0.0]),
        ({"right": [[5.0], [6.0]], "left": 1}, [[1.0, 0.0, 5.0, 0.0], [1.0, 0.0, 6.0, 0.0]]),
        ({}, [0.0, 0.0, 0.0, 0.0]),
    ],
)
def test_by_joint(given: object, expected: list[object]):
    np.testing.assert_array_equal(for_joints(FIVE_BAR, given, "kp"), expected)


def test_what_is_not_meant_stays():
    base = np.array([0.1, 0.2, 0.3, 0.4])
    found = for_joints(FIVE_BAR, [1.0, 2.0], "q_target", of_q=True, elsewhere=base)
    assert found.tolist() == [1.0, 0.2, 2.0, 0.4]
    assert base.tolist() == [0.1, 0.2, 0.3, 0.4]
    named = for_joints(brick(), {brick().joint_names[0]: 2.0}, "kp")
    assert named.tolist() == [2.0] * 6


def test_refusals():
    said = r"kp must have shape \(..., 4\), or \(..., 2\) for the actuated joints \(left, right\)"
    with pytest.raises(ShapeError, match=said):
        for_joints(FIVE_BAR, [1.0, 2.0, 3.0], "kp")
    with pytest.raises(ShapeError, match=r"kp must have shape \(..., 2\), not \(3,\)"):
        for_joints(pendulum(2), [1.0, 2.0, 3.0], "kp")
    with pytest.raises(UnknownNameError, match="lefty"):
        for_joints(FIVE_BAR, {"lefty": 1.0}, "kp")
    with pytest.raises(ShapeError, match=r"kp\['left'\] must have shape \(..., 1\)"):
        for_joints(FIVE_BAR, {"left": [1.0, 2.0]}, "kp")
    with pytest.raises(InputError, match=r"kp\['left'\] must be real numbers"):
        for_joints(FIVE_BAR, {"left": "much"}, "kp")
