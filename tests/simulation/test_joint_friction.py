"""Friction holds against motion, at most as hard as it is said, and lets nothing jump."""

from __future__ import annotations

import numpy as np
import pytest

from linkwork.ops.numpy import NUMPY
from linkwork.simulation.joint_friction import CREEP, acts, friction
from pendulums import simulated
from robots import every_joint_urdf, mechanism_from

M = mechanism_from(every_joint_urdf())

SLED = """<robot name="sled"><link name="base"/><link name="block"><inertial><mass value="2"/>
  <inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <joint name="slide" type="prismatic"><parent link="base"/><child link="block"/>
  <axis xyz="1 0 0"/><limit lower="-9" upper="9" effort="100" velocity="10"/>
  <dynamics damping="0" friction="{friction}"/></joint></robot>"""


def test_size_and_direction():
    assert acts(M)
    assert not acts(mechanism_from(SLED.format(friction=0)))
    for sign in (1.0, -1.0):
        np.testing.assert_allclose(
            friction(NUMPY, M, np.full(M.n_v, sign)), -sign * M.friction, rtol=1e-14
        )
    half = friction(NUMPY, M, np.full(M.n_v, 0.5 * CREEP))
    np.testing.assert_allclose(half, -0.5 * M.friction, rtol=1e-14)


@pytest.mark.sweep(1)
@pytest.mark.parametrize("method", ["rk4", "euler", "implicit", "dopri5"])
def test_a_sled_comes_to_rest_and_stays(method: str):
    m = mechanism_from(SLED.format(friction=4))
    how = {"losses": True, "method": method, "tolerance": 1e-6}
    moving = simulated(m, [0.0], [1.0], 1.0, **how)  # it brakes with 2 m/s²: 0.25 m in 0.5 s
    assert moving.finished
    assert moving.q[250, 0] == pytest.approx(0.25 - 0.25**2, abs=1e-3)
    assert moving.q[-1, 0] == pytest.approx(0.25, abs=2e-3)
    assert abs(moving.v[-1, 0]) < 5e-3
    pushed = simulated(m, [0.0], None, 1.0, torque=[3.0], **how)
    assert abs(pushed.q[-1, 0]) < 1.1e-3  # it creeps, at most a millimetre a second
    pulled = simulated(m, [0.0], None, 1.0, torque=[6.0], **how)
    assert pulled.q[-1, 0] == pytest.approx(0.5, abs=4e-3)
