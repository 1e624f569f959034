"""Singular configurations that mechanisms with loops pass: when, and of which loop."""

from __future__ import annotations

import numpy as np
import pytest

import linkwork as lw
from overclosed import four_bar
from pendulums import simulated
from scaled_robots import resized


def start_of(robot, actuated: dict, speed: float):
    at = {name.replace("a", x): s * value for name, value in actuated.items()
          for x, s in (("a", 1.0), ("b", -1.0), ("c", 1.0))}  # fmt: skip
    q = robot.assemble(actuated, near=[at[name] for name in robot.joint_names], follow=False).q
    return q, robot.passive_rates(q) @ np.full(len(actuated), speed)


@pytest.mark.parametrize("method", ["rk4", "euler"])
def test_change_points_are_named(method: str):
    """The parallelogram's rods turn at 6 rad/s from 1 rad, and are a line at each half turn."""
    robot = four_bar(0.0)
    found = simulated(
        robot.mechanism, *start_of(robot, {"a0": 1.0}, 6.0), 5.0, gravity=[0, 0, 0], method=method
    )
    when = (np.pi * np.arange(1, 10) - 1.0) / 6.0
    assert [p.name for p in found.singular_passages] == ["hinge0"] * 9
    np.testing.assert_allclose([p.time for p in found.singular_passages], when, atol=1.01e-3)
    assert (
        "loop 'hinge0' passes a singular configuration at t = 0.357 s and 8 times" in found.reason
    )


def test_of_two_loops_the_one_that_is_singular_is_named():
    robot = four_bar(0.1, 0.0)
    q, v = start_of(robot, {"a0": 1.0, "a1": 2.5}, 6.0)
    found = simulated(robot.mechanism, [q, q], [v, 0.0 * v], 0.2, gravity=[0, 0, 0])
    (passage,) = found.singular_passages
    assert (passage.name, passage.row) == ("hinge1", (0,))
    assert passage.time == pytest.approx((np.pi - 2.5) / 6.0, abs=1.01e-3)
    np.testing.assert_array_equal(passage.q, found.q[0, round(passage.time * 1000)])
    assert "1 of 2 pass singular configurations; the first, [0]: loop 'hinge1'" in found.reason


def test_branches_that_nearly_meet_are_named_as_if_they_met():
    """1e-6 m off the parallelogram they are 1e-3 rad apart; 1e-2 m off, steps tell them apart."""
    near, apart = (
        simulated(r.mechanism, *start_of(r, {"a0": 1.0}, 6.0), 0.5, gravity=[0, 0, 0])
        for r in (four_bar(1e-6), four_bar(1e-2))
    )
    assert near.singular_passages[0].time == pytest.approx((np.pi - 1.0) / 6.0, abs=2e-3)
    assert apart.singular_passages == ()
    assert apart.reason == "finished"


@pytest.mark.parametrize("name", ["four_bar", "five_bar", "slider_crank"])
def test_ordinary_motions_pass_nothing_singular(name: str):
    robot = lw.load(name)
    found = simulated(robot.mechanism, robot.neutral(), None, 2.0, gravity=[0.0, -9.80665, 0.0])
    assert found.finished
    assert found.singular_passages == ()
    assert found.energy_drift < 1e-4


@pytest.mark.parametrize("length", [1e-5, 1e3])
def test_size_does_not_matter(length: float):
    robot = four_bar(0.0)
    start = start_of(robot, {"a0": 2.5}, 6.0)
    found = simulated(resized(robot, length, 1.0).mechanism, *start, 0.3, gravity=[0, 0, 0])
    (passage,) = found.singular_passages
    assert passage.time == pytest.approx((np.pi - 2.5) / 6.0, abs=1.01e-3)
