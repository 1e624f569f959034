"""Steps in the tangent: the series against the closed form, and lengths that stay."""

from __future__ import annotations

import numpy as np
import pytest

from linkwork.algorithms.configuration import integrate
from linkwork.mechanism.neutral import neutral, quaternion_starts
from linkwork.ops.numpy import NUMPY
from linkwork.simulation.tangent import growth, lengths, moved, unit_quaternions
from linkwork.spatial import se3, so3
from pendulums import brick, orders
from robots import every_joint_urdf, mechanism_from, random_configuration
from seeds import rng


def test_growth_is_the_inverse_of_the_right_jacobian_to_fourth_order():
    random, m = rng("growth"), brick()
    theta, v = random.standard_normal(6), random.standard_normal(6)
    errors = []
    for size in (0.4, 0.2, 0.1, 0.05):
        exact = se3.right_jacobian_inverse(NUMPY, size * theta) @ v
        errors.append(np.abs(growth(NUMPY, m, size * theta, v) - exact).max())
    assert orders(errors) == pytest.approx(4.0, abs=0.15)
    assert errors[-1] < 1e-6


def test_growth_of_a_spherical_joint_is_the_inverse_of_the_right_jacobian():
    m = mechanism_from(
        '<robot name="r"><link name="a"/><link name="b"/><joint name="j" type="spherical">'
        '<parent link="a"/><child link="b"/></joint></robot>'
    )
    random, errors = rng("growth of turns"), []
    theta, v = random.standard_normal(3), random.standard_normal(3)
    for size in (0.4, 0.2, 0.1, 0.05):
        exact = so3.right_jacobian_inverse(NUMPY, size * theta) @ v
        errors.append(np.abs(growth(NUMPY, m, size * theta, v) - exact).max())
    assert orders(errors) == pytest.approx(4.0, abs=0.15)


def test_growth_of_other_joints_is_the_velocity():
    m = mechanism_from(every_joint_urdf())
    random = rng("growth of all")
    theta, v = random.standard_normal(m.n_v), random.standard_normal(m.n_v)
    kept = [k for k, place in enumerate(lengths(m)) if not on_a_group(m, k)]
    np.testing.assert_array_equal(growth(NUMPY, m, theta, v)[kept], v[kept])


def on_a_group(m, k: int) -> bool:
    c = int(np.searchsorted(m.v_start, k, side="right")) - 1
    return m.joint_types[c].has_quaternion


def test_moved_is_integrate_with_lengths_mended():
    m = mechanism_from(every_joint_urdf())
    random = rng("moved")
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


def test_lengths_say_which_number_of_q_belongs_to_one_of_v():
    m = brick()
    assert lengths(m) == (0, 1, 2, -1, -1, -1)
    m = mechanism_from(every_joint_urdf())
    assert len(lengths(m)) == m.n_v
