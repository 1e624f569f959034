"""Control laws: the formula and its bounds."""

from __future__ import annotations

import numpy as np

from linkwork.algorithms.configuration import difference
from linkwork.mechanism.model import Mechanism
from linkwork.ops.numpy import NUMPY
from linkwork.simulation.joint_forces import PD, drive_forces
from robots import every_joint_urdf, mechanism_from, random_configuration
from seeds import rng

M = mechanism_from(every_joint_urdf())


def given(label: str, m: Mechanism = M, **more: object) -> dict[str, np.ndarray]:
    random = rng(label)
    return {
        "kp": random.uniform(10, 20, m.n_v),
        "kd": random.uniform(1, 2, m.n_v),
        "q_target": random_configuration(random, m),
        "v_target": random.standard_normal(m.n_v),
        "feed_forward": random.standard_normal(m.n_v),
        **more,
    }


def state(label: str) -> tuple[np.ndarray, np.ndarray]:
    random = rng(label)
    return random_configuration(random, M), random.standard_normal(M.n_v)


def test_the_law():
    g, (q, v) = given("law"), state("law's state")
    error = difference(NUMPY, M, q, g["q_target"])
    expected = g["feed_forward"] + g["kp"] * error + g["kd"] * (g["v_target"] - v)
    np.testing.assert_allclose(drive_forces(NUMPY, M, q, v, g), expected, rtol=1e-12)


def test_without_a_law_there_is_no_force():
    q, v = state("none")
    assert drive_forces(NUMPY, M, q, v, {}) is None
    constant = np.arange(float(M.n_v))
    assert drive_forces(NUMPY, M, q, v, {"torque": constant}) is constant


def test_bounds():
    q, v = state("bounds")
    g = given("bounds")
    free = drive_forces(NUMPY, M, q, v, g)
    bounded = drive_forces(NUMPY, M, q, v, {**g, "effort_limit": np.full(M.n_v, 2.0)})
    np.testing.assert_allclose(bounded, np.clip(free, -2.0, 2.0))
    assert (np.abs(free) > 2.0).any()


def test_fields_are_what_is_given():
    assert PD(3.0).fields() == {"kp": 3.0, "kd": 0.0}
    assert set(PD(1, 2, 3, 4, 5, 6).fields()) == {
        "kp", "kd", "q_target", "v_target", "feed_forward", "effort_limit",
    }  # fmt: skip
