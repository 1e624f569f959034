"""What loops do, where it is plain: weights that hang, rods that pull."""

from __future__ import annotations

import numpy as np
import pytest

import linkwork as lw
from closed_dynamics_cases import closed_case
from linkwork.algorithms.loop_forces import loop_forces, loop_wrenches
from linkwork.conventions import GRAVITY
from linkwork.ops.numpy import NUMPY

HANGING = """<robot name="hanging"><link name="world"/><link name="arm"><inertial>
<origin xyz="0.5 0 0"/><mass value="2"/><inertia ixx="0.01" iyy="0.02" izz="0.02" ixy="0" ixz="0"
iyz="0"/></inertial></link><joint name="hinge" type="continuous"><parent link="world"/>
<child link="arm"/><axis xyz="0 1 0"/></joint></robot>"""


@pytest.mark.parametrize("kind", ["position", "distance"])
def test_a_beam_on_a_support_gives_it_half_its_weight(kind: str):
    robot = lw.load(HANGING)
    tip = np.eye(4)
    tip[0, 3] = 1.0
    above = tip.copy()
    above[2, 3] = 0.3 if kind == "distance" else 0.0
    robot = robot.with_frame("tip", "arm", tip).with_frame("hook", "world", above)
    distance = 0.3 if kind == "distance" else 0.0
    robot = robot.with_loop("hook", "tip", kind, name="support", distance=distance)
    zero = np.zeros(1)
    half = 0.5 * 2.0 * -GRAVITY[2]
    wrench = robot.loop_wrenches(zero, zero, zero)["support"]
    np.testing.assert_allclose(wrench, [0.0, 0.0, half, 0.0, 0.0, 0.0], atol=1e-9)
    f = robot.loop_forces(zero, zero, zero)
    # the rod is pulled: it would be longer, so what holds it is negative
    np.testing.assert_allclose(f, [-half] if kind == "distance" else [0, 0, half], atol=1e-9)
    np.testing.assert_allclose(robot.forward_dynamics(zero, zero, zero), 0.0, atol=1e-12)


def test_shapes():
    case = closed_case("everything")
    state = case.q[0], case.v[0], case.every[0]
    assert np.shape(loop_forces(NUMPY, case.m, *state)) == (6,)
    assert [np.shape(w) for w in loop_wrenches(NUMPY, case.m, *state)] == [(6,)] * 2
