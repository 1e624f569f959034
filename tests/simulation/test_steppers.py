"""The methods' numbers satisfy the conditions of their orders."""

from __future__ import annotations

import numpy as np
import pytest

from linkwork.simulation.steppers import DOPRI5, EULER, FIXED, IMPLICIT, METHODS, RK4, Method


def matrix(method: Method) -> np.ndarray:
    a = np.zeros((method.stages, method.stages))
    for i, row in enumerate(method.a):
        a[i, : len(row)] = row
    return a


@pytest.mark.parametrize("method", [EULER, RK4, DOPRI5], ids=lambda m: m.name)
def test_conditions_of_order(method: Method):
    a, b, c = matrix(method), np.array(method.b), np.array(method.c)
    np.testing.assert_allclose(a.sum(axis=1), c, atol=1e-15)
    for k in range(method.order):  # quadrature
        assert b @ c**k == pytest.approx(1.0 / (k + 1), abs=1e-15)
    assert abs(b @ c**method.order - 1.0 / (method.order + 1)) > 1e-5  # and no more
    if method.order >= 3:
        assert b @ a @ c == pytest.approx(1 / 6, abs=1e-15)
    if method.order >= 4:
        assert b @ (c * (a @ c)) == pytest.approx(1 / 8, abs=1e-15)
        assert b @ a @ c**2 == pytest.approx(1 / 12, abs=1e-15)
        assert b @ a @ a @ c == pytest.approx(1 / 24, abs=1e-15)
    if method.order >= 5:
        assert b @ a @ a @ a @ c == pytest.approx(1 / 120, abs=1e-15)
        assert b @ a @ c**3 == pytest.approx(1 / 20, abs=1e-15)


def test_the_estimate_of_dopri5_is_of_order_four():
    error, c, a = np.array(DOPRI5.error), np.array(DOPRI5.c), matrix(DOPRI5)
    embedded = np.array(DOPRI5.b) - error
    for k in range(4):
        assert embedded @ c**k == pytest.approx(1.0 / (k + 1), abs=1e-14)
    assert embedded @ a @ a @ c == pytest.approx(1 / 24, abs=1e-14)
    assert abs(embedded @ c**4 - 1 / 5) > 1e-5
    # the last stage is the first of the next step
    np.testing.assert_array_equal(matrix(DOPRI5)[-1], np.array(DOPRI5.b))


def test_when_the_stages_look_at_the_forces():
    assert (RK4.per_step, RK4.instants()) == (2, (0, 1, 1, 2))
    assert (EULER.per_step, EULER.instants()) == (1, (0,))
    assert (IMPLICIT.per_step, IMPLICIT.instants()) == (1, (1,))


def test_names():
    assert set(FIXED) < set(METHODS)
    assert all(FIXED[name].name == name for name in FIXED)
