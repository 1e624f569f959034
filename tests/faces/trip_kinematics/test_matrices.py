"""Blocks and arrays."""

from __future__ import annotations

import casadi
import numpy as np
import pytest

from linkwork.faces.trip_kinematics.matrices import as_array, as_block


def test_there_and_back():
    a = casadi.SX.sym("a")
    block = casadi.SX(2, 3)
    block[0, 1], block[1, 2] = a, 2.0
    found = as_array(block)
    assert found.dtype == object and found.shape == (2, 3)
    assert (found[0, 0], found[1, 2]) == (0.0, 2.0)
    f = casadi.Function("f", [a], [as_block(found)])
    np.testing.assert_array_equal(np.array(f(5)), [[0, 5, 0], [0, 0, 2]])
    assert as_array(casadi.vertcat(a, 1)).shape == (2,)
    assert as_block(block) is block


def test_numbers_are_floats_and_copies():
    given = np.eye(2)
    found = as_array(given)
    found[0, 0] = 5
    assert given[0, 0] == 1.0
    assert as_block([[1, 2], [3, 4]]).dtype == np.float64
    with pytest.raises(ValueError):
        as_block([["a"]])
