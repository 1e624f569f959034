"""Lengths that forbid: never what can be assembled, and all that a plane five-bar forbids."""

from __future__ import annotations

import numpy as np
import pytest

import linkwork as lw
from linkwork.mechanism.edit import close
from linkwork.models import MODELS
from linkwork.ops.numpy import NUMPY
from linkwork.solve.closed.assembly import assembly_expressions, given_positions
from linkwork.solve.closed.polygons import polygons
from seeds import rng

CLOSED = sorted(name for name in MODELS if MODELS[name].closed)


def possible_rows(robot, given):
    """Which rows of positions no length forbids, by the code that `Assembly` uses."""
    a = robot.assembler()
    given_at = given_positions(robot.mechanism, a.actuated)
    prepare, neutral = assembly_expressions(a.problem, given_at).prepare, robot.neutral()
    faults = [np.asarray(prepare(NUMPY, row, neutral)["fault"]) for row in given]
    return np.array([fault[1] <= 0.0 if len(fault) > 1 else True for fault in faults])


def states(robot, n):
    at = [int(robot.mechanism.q_start[robot.mechanism.joint(j)]) for j in robot.actuated]
    lower, upper = (np.clip(x[at], -np.pi, np.pi) for x in robot.limits[:2])
    return lower + (upper - lower) * rng("lengths").uniform(size=(n, len(at)))


@pytest.mark.parametrize("name", CLOSED)
@pytest.mark.slow
def test_nothing_that_can_be_assembled_is_forbidden(name):
    robot = lw.load(name)
    result = robot.assemble(states(robot, 5000 if name == "five_bar" else 600))
    at = [int(robot.mechanism.q_start[robot.mechanism.joint(j)]) for j in robot.actuated]
    possible = possible_rows(robot, result.q[:, at])
    assert possible[result.success].all()
    if name == "five_bar":  # a triangle of which one side varies: that is all there is
        np.testing.assert_array_equal(possible, result.success)
        assert 0.7 < possible.mean() < 0.9


def test_a_rod_is_a_side():
    """Joint 1 is given: from the base to joint 2, two bars, and a rod back to the base."""
    m = lw.load("planar_3r").mechanism
    m = close(m, m.frame_names[0], "tool0", "distance", distance=0.2)
    robot = lw.Robot(m).with_actuated(["joint1"])
    (sides,) = polygons(m, robot.assembler().problem.moved)
    assert [side.length for side in sides if side.length] == [0.2]
    assert len(sides) == 4 and sum(side.varies for side in sides) == 1
    plain = lw.load("planar_3r").mechanism
    longer = lw.Robot(close(plain, m.frame_names[0], "tool0", "distance", distance=5.0))
    longer = longer.with_actuated(["joint1"])
    assert possible_rows(robot, np.array([[0.3]])).all()
    assert not possible_rows(longer, np.array([[0.3]])).any()


def test_a_row_that_is_forbidden_gets_one_try():
    a = lw.load("five_bar").assembler()
    result = a.solve([1.4, -1.4])
    assert not result.success and result.iterations < 50 and result.restarts == 0
    assert "cannot be assembled" in result.reason
    m = lw.load("slider_crank").mechanism  # what slides has no length
    problem = lw.load("slider_crank").assembler().problem
    given = given_positions(m, m.actuated)
    prepare = assembly_expressions(problem, given).prepare
    assert len(prepare(NUMPY, np.zeros(1), np.zeros(3))["fault"]) == 1
