"""A tree's derivatives entry by entry; the whole of them in test_inverse_dynamics_derivatives."""

from __future__ import annotations

import numpy as np

from dynamics_cases import case, rows, states
from linkwork.algorithms.steps import steps_of
from linkwork.algorithms.tree_derivatives import derivatives
from linkwork.ops.numpy import NUMPY
from seeds import rng


def test_they_are_those_of_inverse_dynamics():
    m = case("everything, floating")
    q, v, dv = states(m, rng("tree derivatives"), 1)
    found = derivatives(m, steps_of(NUMPY, m, q[0]), v[0], dv[0])
    expected = rows("inverse_dynamics_derivatives", m, q, v, dv)[0]
    for got, wanted in zip(found, expected, strict=True):
        np.testing.assert_allclose(got.block(NUMPY), wanted, atol=1e-10)
