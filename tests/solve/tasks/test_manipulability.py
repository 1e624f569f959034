"""Frames that shall be moved readily: checked by a Jacobian from finite differences."""

from __future__ import annotations

import numpy as np
import pytest

import ik_measures as measures
from ik_solving import postures, robot_of, solved
from linkwork.errors import InputError
from linkwork.ops.numpy import NUMPY
from linkwork.solve.tasks.manipulability import Manipulability
from linkwork.solve.tasks.position import Position
from robots import chain_urdf


@pytest.mark.sweep(1)
@pytest.mark.parametrize("name", ["panda", "ur5e"])
def test_it_is_kept_above_the_least_while_the_tool_gets_there(name):
    robot = robot_of(name)
    q = postures(robot, "least", 600)
    w = np.array([measures.manipulability(robot, each, "tool0") for each in q])
    q = q[np.argsort(w)[-200:]]
    least = 0.9 * np.sort(w)[-200:]
    p = robot.fk(q, "tool0")[:, :3, 3]
    tasks = [Position("tool0"), Manipulability("tool0")]
    found = solved(robot, tasks, [p, least[:, None]])
    assert np.linalg.norm(robot.fk(found, "tool0")[:, :3, 3] - p, axis=1).max() <= 1.001e-5
    reached = np.array([measures.manipulability(robot, each, "tool0") for each in found])
    assert (reached >= least - 1.1e-6).all()
    assert (reached > least + 1e-3).any()  # more is as good


def test_a_singular_arm_has_finite_numbers():
    robot = robot_of("ur5e")
    bound = Manipulability("tool0").bind(robot.mechanism)
    for q in (np.zeros(6), np.array([0.0, -1.57, 0.0, 0.0, 0.0, 0.0])):
        found = bound.residual(NUMPY, q, np.array([0.01]))
        assert found.error[0] == pytest.approx(0.01, abs=1e-5)
        assert np.isfinite(np.array(found.columns)).all()


def test_what_can_never_be_above_zero_is_refused():
    with pytest.raises(InputError, match="always zero; name those"):
        Manipulability("link3", rotation="").bind(robot_of(chain_urdf(3)).mechanism)
    Manipulability("link3", position="xy", rotation="").bind(robot_of(chain_urdf(3)).mechanism)
    m = robot_of("panda").mechanism
    with pytest.raises(InputError, match="no joint moves 'link0'"):
        Manipulability("link0").bind(m)
    with pytest.raises(InputError, match="both empty"):
        Manipulability("tool0", position="", rotation="").bind(m)
    with pytest.raises(InputError, match="at_least must be above 0"):
        Manipulability("tool0", 0.0).bind(m)
