"""Couplings of any rate, many turns from zero: assembled, followed, simulated; half turns told."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import linkwork as lw
from linkwork.errors import InputError

_WHEEL = """<link name="{0}"><inertial><mass value="1"/>
  <inertia ixx="1e-2" iyy="1e-2" izz="1e-2" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="turn_{0}" type="continuous"><parent link="base"/><child link="{0}"/>
  <axis xyz="0 0 1"/></joint>"""
WHEELS = f"""<robot name="gear"><link name="base"/>{_WHEEL.format("slow")}{_WHEEL.format("fast")}
</robot>"""
RATES = [1e-4, -0.01, 100.0, -1e4]


def gear(rate: float) -> Any:
    return lw.load(WHEELS).with_coupling("turn_fast", "turn_slow", rate=rate)


@pytest.mark.sweep(1)
@pytest.mark.parametrize("rate", RATES)
def test_every_position_is_assembled(rate: float):
    slow = np.linspace(-20.0, 20.0, 101)
    wanted = np.stack([slow, rate * slow], axis=1)
    robot = gear(rate)
    for joint, given in (("turn_slow", slow), ("turn_fast", rate * slow)):
        driven = robot.with_actuated(joint)
        for found in (
            driven.assemble(given[:, None]),
            driven.assemble(given[:, None], near=robot.neutral()),
            driven.assemble(given[:, None], near=wanted + 1e-3),
        ):
            assert found.success.all()
            np.testing.assert_allclose(found.q, wanted, rtol=1e-12, atol=1e-12 / min(1, abs(rate)))
    assert robot.is_assembled(wanted).all()
    assert not robot.is_assembled(wanted + np.array([0.0, 1e-3 * (1.0 + abs(rate))])).any()


@pytest.mark.sweep(2)
@pytest.mark.parametrize("rate", RATES)
def test_rates_and_forces(rate: float):
    robot = gear(rate)
    q = robot.with_actuated("turn_slow").assemble([7.0]).q
    np.testing.assert_allclose(
        robot.with_actuated("turn_slow").passive_rates(q)[:, 0], [1.0, rate], rtol=1e-12
    )
    np.testing.assert_allclose(
        robot.with_actuated("turn_fast").passive_rates(q)[:, 0], [1.0 / rate, 1.0], rtol=1e-12
    )
    driven, still = robot.with_actuated("turn_slow"), np.zeros(2)
    dv = driven.forward_dynamics(q, still, [1.0, 0.0])
    wanted = np.array([1.0, rate]) / (1e-2 * (1.0 + rate**2))
    np.testing.assert_allclose(dv, wanted, atol=1e-9 * np.abs(wanted).max())
    np.testing.assert_allclose(driven.inverse_dynamics(q, still, dv), [1.0, 0.0], rtol=1e-9)


@pytest.mark.sweep(2)
@pytest.mark.parametrize("rate", RATES)
def test_a_simulation_goes_on_for_many_turns(rate: float):
    robot = gear(rate)
    found = lw.simulate(robot, robot.neutral(), [10.0, 10.0 * rate], duration=20.0, dt=0.01)
    assert found.finished, found.reason
    np.testing.assert_allclose(found.q[-1], [200.0, 200.0 * rate], rtol=1e-9)
    np.testing.assert_allclose(found.energy, found.energy[0], rtol=1e-9)


def test_a_shaft_that_a_loop_also_holds_keeps_its_branch():
    """A gear on a four-bar's crank: the wheel may be at any number of turns."""
    robot = lw.load("four_bar")
    with_wheel = lw.load(WHEELS).with_coupling("turn_fast", "turn_slow", rate=100.0)
    assert with_wheel.with_actuated("turn_slow").assemble([3.0]).success
    near = robot.assemble([0.3]).q
    assert robot.assemble([0.31], near=near).success


def test_half_a_turn_from_closed_is_not_assembled():
    robot = lw.load("planar_2r").with_loop("tool0", "base_link", "/xyz", name="level")
    q = np.zeros(robot.n_q)
    assert robot.is_assembled(q)
    q[0] = np.pi
    assert np.abs(robot.closure(q)).max() < 1e-12  # the rows are zero at the antipode
    assert not robot.is_assembled(q)
    assert robot.is_assembled([q, 0 * q]).tolist() == [False, True]
    with pytest.raises(InputError, match="'level rotation' is open by 2 rad"):
        robot.mobility(q)
    driven = robot.with_actuated(robot.joint_names[0])
    with pytest.raises(InputError, match="is not assembled"):
        driven.passive_rates(q)
    assert driven.passive_rates(0 * q).shape == (robot.n_v, 1)
