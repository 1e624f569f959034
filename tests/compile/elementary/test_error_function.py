"""The inverse error function: there and back, its ends, and the same in Python."""

from __future__ import annotations

import math

import numpy as np

from emitted import compiled, same_bits
from linkwork.compile.elementary.error_function import error_function_inverse, reference
from seeds import rng


def test_there_and_back():
    x = np.concatenate([rng("erfinv").uniform(-1, 1, 500), np.logspace(-300, -1, 50)])
    y = compiled(error_function_inverse, 1, 8)(x)
    back = np.array([math.erf(v) for v in y])
    np.testing.assert_allclose(back, x, rtol=4e-16, atol=0)


def test_ends_and_beyond():
    x = np.array([1.0, -1.0, 1.5, -1.5, np.inf, -np.inf, np.nan, 0.0, -0.0])
    found = compiled(error_function_inverse, 1, 8)(x)
    assert same_bits(found, [np.inf, -np.inf, *[np.nan] * 5, 0.0, -0.0])
    assert same_bits(found, [reference(v) for v in x])


def test_near_one_the_complement_decides():
    missing = np.logspace(-15.9, -1, 60)
    x = 1.0 - missing
    y = compiled(error_function_inverse, 1, 8)(x)
    back = np.array([math.erfc(v) for v in y])
    np.testing.assert_allclose(back, 1.0 - x, rtol=3e-14)


def test_python_agrees():
    x = np.concatenate([rng("python").uniform(-1, 1, 200), [1e-300, 0.1, 0.5, 1 - 1e-16]])
    found = compiled(error_function_inverse, 1, 8)(x)
    np.testing.assert_allclose(found, [reference(v) for v in x], rtol=2e-15)
