"""A tree's derivatives as entries; the whole of them in test_inverse_dynamics_derivatives."""

from __future__ import annotations

import numpy as np

from dynamics_cases import case, rows, states
from linkwork.algorithms.sweep import Sweep
from linkwork.algorithms.tree_derivatives import add_derivatives, derivatives
from linkwork.ops.numpy import NUMPY
from seeds import rng


def test_they_are_those_of_inverse_dynamics_and_add_up():
    m = case("everything, floating")
    q, v, dv = states(m, rng("tree derivatives"), 1)
    sweep = Sweep(NUMPY, m, q[0])
    found = derivatives(sweep, v[0], dv[0])
    expected = rows("inverse_dynamics_derivatives", m, q, v, dv)[0]
    np.testing.assert_allclose(found.block(NUMPY), expected, atol=1e-10)
    add_derivatives(sweep, v[0], dv[0], found)
    np.testing.assert_allclose(found.block(NUMPY), 2 * expected, atol=1e-10)
