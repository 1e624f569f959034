"""The equation of motion: forward dynamics with everything that acts, and steps in the tangent."""

from __future__ import annotations

import numpy as np
import pytest

from linkwork.algorithms.configuration import integrate
from linkwork.algorithms.registry import evaluate
from linkwork.mechanism.neutral import neutral, quaternion_starts
from linkwork.ops.numpy import NUMPY
from linkwork.simulation.equation_of_motion import Quantity, System
from linkwork.simulation.joint_forces import PD, Stops, limited
from linkwork.simulation.tangent import growth, moved, unit_quaternions
from linkwork.spatial import se3, so3
from pendulums import brick, orders, pendulum, request
from robots import every_joint_urdf, mechanism_from, random_configuration
from seeds import rng

M = mechanism_from(every_joint_urdf())


def test_the_stage_is_forward_dynamics_with_all_that_acts():
    random = rng("stage")
    m, n = M, M.n_v
    stopped = limited(m, None)
    frame = m.frame_names[-1]
    sizes = {
        "torque": n, "gravity": 3, "armature": n, f"wrench:{frame}": 6,
        "stop_stiffness": len(stopped), "stop_damping": len(stopped), "stop_width": 1,
    }  # fmt: skip
    system = System(m, tuple(Quantity(*x) for x in sizes.items()), (), True, stopped)
    constants = np.abs(random.standard_normal(system.n_constants))
    q, v = random_configuration(random, m), random.standard_normal(n)
    q[: m.n_q] = q  # beyond some limits, within others
    given = system.given(NUMPY, constants, np.zeros(0))
    held = random.standard_normal(len(system.rubbing))
    rate = system.stage(NUMPY, q, np.zeros(n), v, constants, np.zeros(0), held)
    np.testing.assert_allclose(rate[:n], v, atol=1e-15)
    parameters = {k: given[k] for k in ("gravity", "armature", f"wrench:{frame}")}
    parameters |= {"damping": m.damping}
    tau = system.force(NUMPY, q, v, given)
    tau[list(system.rubbing)] += held
    expected = evaluate("forward_dynamics", m, q, v, tau, parameters=parameters)
    np.testing.assert_allclose(rate[n:], expected, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("limit", [12.0, 1e3], ids=["bounded", "free"])
def test_slopes_of_the_forces_are_their_differences(limit: float):
    """Along the tangent of q and along v: drives at their bounds and within, stops in and out."""
    m, n, random = M, M.n_v, rng("slopes")
    each = np.ones(n)  # floating joints too
    gains = 15.0 * each, 2.0 * each
    law = PD(*gains, q_target=random_configuration(random, m), effort_limit=limit)
    q, v = random_configuration(random, m), random.standard_normal(n)
    stops = Stops(100.0, 10.0, width=0.5)
    asked = request(m, q, v, torque=law, stops=stops, armature=0.1 * each)
    system, none = asked.system, np.zeros(0)
    given = system.given(NUMPY, asked.constants()[0], none)

    def force(turn: np.ndarray, more: np.ndarray) -> np.ndarray:
        return system.force(NUMPY, integrate(NUMPY, m, q, turn), v + more, given)

    found, *slopes = system.force_and_slopes(NUMPY, q, v, given)
    np.testing.assert_allclose(found, force(np.zeros(n), np.zeros(n)), atol=1e-12)
    for k, step in enumerate(1e-6 * np.eye(n)):
        still = 0.0 * step
        by_q = (force(step, still) - force(-step, still)) / 2e-6
        by_v = (force(still, step) - force(still, -step)) / 2e-6
        np.testing.assert_allclose(slopes[0][:, k], by_q, atol=2e-5)
        np.testing.assert_allclose(slopes[1][:, k], by_v, atol=2e-5)


def test_the_key_tells_what_decides_the_expression():
    m, torque_ = pendulum(2), Quantity("torque", 2)
    systems = [
        System(m), System(pendulum(3)), System(m, (torque_,)), System(m, (), (torque_,)),
        System(m, losses=True), System(m, stopped=(0,)), System(m, stopped=(1,)),
    ]  # fmt: skip
    assert len({system.key for system in systems}) == len(systems)
    assert System(pendulum(2)).key == System(m).key
    assert System(m).recipe("advance").key != System(m).recipe("stage").key


# steps in the tangent

BALL = mechanism_from(
    '<robot name="r"><link name="a"/><link name="b"/><joint name="j" type="spherical">'
    '<parent link="a"/><child link="b"/></joint></robot>'
)


@pytest.mark.parametrize(("m", "group"), [(brick(), se3), (BALL, so3)], ids=["floating", "ball"])
def test_growth_is_the_inverse_of_the_right_jacobian_to_fourth_order(m, group):
    random, errors = rng("growth"), []
    theta, v = random.standard_normal(m.n_v), random.standard_normal(m.n_v)
    for size in (0.4, 0.2, 0.1, 0.05):
        exact = group.right_jacobian_inverse(NUMPY, size * theta) @ v
        errors.append(np.abs(growth(NUMPY, m, size * theta, v) - exact).max())
    assert orders(errors) == pytest.approx(4.0, abs=0.15)
    assert errors[-1] < 1e-6


def test_moved_is_integrate_with_lengths_mended():
    m, random = M, rng("moved")
    q, theta = random_configuration(random, m), random.standard_normal(m.n_v)
    np.testing.assert_allclose(moved(NUMPY, m, q, theta), integrate(NUMPY, m, q, theta), atol=1e-14)
    (start, *_) = quaternion_starts(m)
    q[start : start + 4] *= 1.0 + 1e-7
    mended = moved(NUMPY, m, q, theta)
    assert np.linalg.norm(mended[start : start + 4]) == pytest.approx(1.0, abs=1e-13)


def test_unit_quaternions():
    m = brick()
    q = neutral(m)[None].copy()
    q[0, 3:] = [2.0, 0.0, 0.0, -2.0]
    made = unit_quaternions(m, q)
    np.testing.assert_allclose(made[0, 3:], [0.5**0.5, 0, 0, -(0.5**0.5)])
    assert q[0, 3] == 2.0
