"""Powers of two, products, and both forms against each other; test_accuracy.py has the digits."""

from __future__ import annotations

import numpy as np

from emitted import compiled
from linkwork.compile.elementary.exponential import exponential, exponential_less_one
from seeds import rng

EXP, EXPM1 = compiled(exponential, 1, 8), compiled(exponential_less_one, 1, 8)


def test_it_grows():
    x = np.sort(np.concatenate([rng("grows").uniform(-745, 709, 4000), np.linspace(-1, 1, 4000)]))
    assert (np.diff(EXP(x)) >= 0).all()
    assert (np.diff(EXPM1(x)) >= 0).all()


def test_products():
    x, y = rng("products").uniform(-300, 300, (2, 500))
    np.testing.assert_allclose(EXP(x) * EXP(y), EXP(x + y), rtol=3e-13)  # x + y is rounded


def test_less_one_is_the_exponential_less_one_and_small_numbers_themselves():
    x = rng("less one").uniform(1, 700, 500)
    np.testing.assert_allclose(EXPM1(x), EXP(x) - 1, rtol=1e-15)
    tiny = np.array([0.0, 5e-324, 1e-300, -1e-300, 1e-17])
    assert np.array_equal(EXPM1(tiny), tiny)


def test_beyond_the_largest_and_below_the_smallest():
    assert np.array_equal(EXP(np.array([710.0, -746.0, 0.0])), [np.inf, 0.0, 1.0])
    assert np.array_equal(EXPM1(np.array([710.0, -746.0, -50.0])), [np.inf, -1.0, -1.0])
