"""The equation of motion: forward dynamics with everything that acts, as one text."""

from __future__ import annotations

import numpy as np
import pytest

from linkwork.algorithms.registry import evaluate
from linkwork.errors import InputError
from linkwork.ops.numpy import NUMPY
from linkwork.simulation.actuators import PD, torque
from linkwork.simulation.stops import limited
from linkwork.simulation.system import Quantity, System, moving_recipe, packed
from pendulums import LIBRARY, pendulum, request
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
    rate = system.stage(NUMPY, q, np.zeros(n), v, constants, np.zeros(0))
    np.testing.assert_allclose(rate[:n], v, atol=1e-15)
    parameters = {k: given[k] for k in ("gravity", "armature", f"wrench:{frame}")}
    parameters |= {"damping": m.damping}
    tau = system.force(NUMPY, q, v, given)
    expected = evaluate("forward_dynamics", m, q, v, tau, parameters=parameters)
    np.testing.assert_allclose(rate[n:], expected, rtol=1e-9, atol=1e-9)


def test_compiled_stage_equals_the_text():
    asked = request(
        pendulum(2), [0.3, 0.4], torque=PD(5.0, 1.0, q_target=lambda t: [t, t]), losses=True
    )
    kernel = LIBRARY.kernel(asked.system.stage_recipe())
    inputs = (asked.q0[0], np.array([0.1, 0.2]), np.array([1.0, -1.0]))
    constants, controls = asked.constants()[0], asked.controls(0.5)[0]
    np.testing.assert_allclose(
        kernel(*inputs, constants, controls),
        asked.system.stage(NUMPY, *inputs, constants, controls),
        rtol=1e-13,
    )
    forces = LIBRARY.kernel(asked.system.torque_recipe())
    given = asked.system.given(NUMPY, constants, controls)
    np.testing.assert_allclose(
        forces(inputs[0], inputs[2], constants, controls),
        torque(NUMPY, pendulum(2), inputs[0], inputs[2], given),
        rtol=1e-13,
    )


def test_nothing_acts_without_anything():
    system = System(pendulum(2))
    assert system.force(NUMPY, np.zeros(2), np.zeros(2), {}).tolist() == [0.0, 0.0]
    kernel = LIBRARY.kernel(system.torque_recipe())
    assert kernel(np.zeros(2), np.zeros(2), [], []).tolist() == [0.0, 0.0]


def test_the_key_tells_what_decides_the_text():
    m, torque_ = pendulum(2), Quantity("torque", 2)
    systems = [
        System(m), System(pendulum(3)), System(m, (torque_,)), System(m, (), (torque_,)),
        System(m, losses=True), System(m, stopped=(0,)), System(m, stopped=(1,)),
    ]  # fmt: skip
    assert len({system.key for system in systems}) == len(systems)
    assert System(pendulum(2)).key == System(m).key
    assert moving_recipe(m).key != System(m).stage_recipe().key


def test_masses_are_checked():
    m = mechanism_from(
        """<robot name="bare"><link name="base"/><link name="arm"/><joint name="hinge"
        type="continuous"><parent link="base"/><child link="arm"/></joint></robot>"""
    )
    with pytest.raises(InputError, match="hinge"):
        System(m).check()
    System(m, (Quantity("armature", 1),)).check()  # a rotor gives it inertia


def test_packed():
    entries = (Quantity("a", 2), Quantity("b", 1))
    one = packed(entries, {"a": np.array([1.0, 2.0]), "b": np.array([3.0])}, 4)
    assert one.tolist() == [[1.0, 2.0, 3.0]]
    rows = packed(entries, {"a": np.array([1.0, 2.0]), "b": np.array([[3.0], [4.0]])}, 2)
    assert rows.tolist() == [[1.0, 2.0, 3.0], [1.0, 2.0, 4.0]]
    assert packed((), {}, 3).shape == (1, 0)
