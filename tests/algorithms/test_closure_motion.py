"""How closures move: rates and biases; see also tests/contracts/test_closed_dynamics.py."""

from __future__ import annotations

import numpy as np
import pytest

from closed_dynamics_cases import closed_case
from linkwork.algorithms.closure import closure_jacobian, closure_rows
from linkwork.algorithms.closure_motion import acceleration_bias, closure_bias, closure_rates
from linkwork.ops.numpy import NUMPY

NAMES = ("excavator", "pose, floating", "universal, fixed", "couplings", "everything")


@pytest.mark.parametrize("name", NAMES)
def test_rates_are_the_jacobian_times_v(name: str):
    case = closed_case(name)
    m, q, v = case.m, case.q[0], case.every[0]
    rows = closure_rows(NUMPY, m, q)
    expected = [sum(x * v[k] for k, x in row.items()) for row in rows]
    np.testing.assert_allclose(closure_rates(NUMPY, m, q, v), expected, atol=1e-12)


@pytest.mark.parametrize("name", NAMES)
def test_biases_off_the_loops_are_those_of_the_text(name: str):
    case, h = closed_case(name), 1e-6
    m, v = case.m, case.every[0]
    q = case.robot.integrate(case.q[0], 0.1 * v)  # not assembled
    up, down = (case.robot.integrate(q, step * v) for step in (h, -h))
    change = closure_jacobian(NUMPY, m, up) - closure_jacobian(NUMPY, m, down)
    np.testing.assert_allclose(closure_bias(NUMPY, m, q, v), change @ v / (2 * h), atol=1e-7)


def test_other_axes_have_the_same_length_where_assembled():
    case = closed_case("position, fixed")
    m, q, v = case.m, case.q[0], case.v[0]
    sizes = [np.linalg.norm(text(NUMPY, m, q, v)) for text in (closure_bias, acceleration_bias)]
    assert sizes[0] == pytest.approx(sizes[1], rel=1e-9)
