"""Powers of two, products, and both forms against each other; test_accuracy.py has the digits."""

from __future__ import annotations

import numpy as np

from emitted import compiled
from linkwork.compile.elementary.logarithmic import logarithm, logarithm_of_one_more
from seeds import rng

LOG, LOG1P = compiled(logarithm, 1, 8), compiled(logarithm_of_one_more, 1, 8)


def test_it_grows():
    g = rng("grows")
    x = np.sort(np.concatenate([np.exp(g.uniform(-740, 709, 4000)), g.uniform(0.4, 3, 4000)]))
    assert (np.diff(LOG(x)) >= 0).all()
    assert (np.diff(LOG1P(x)) >= 0).all()


def test_powers_of_two():
    k = np.arange(-1074.0, 1024.0)
    np.testing.assert_allclose(LOG(np.ldexp(1.0, k.astype(int))), k * np.log(2), rtol=3e-16)


def test_one_and_its_products():
    x, y = np.exp(rng("products").uniform(-300, 300, (2, 500)))
    np.testing.assert_allclose(LOG(x * y), LOG(x) + LOG(y), atol=2e-13, rtol=0)
    assert LOG(np.array([1.0]))[0] == 0.0


def test_of_one_more_is_that_of_the_sum_and_small_numbers_themselves():
    x = np.floor(rng("one more").uniform(1, 1e9, 500))  # 1 + x is exact
    np.testing.assert_allclose(LOG1P(x), LOG(1 + x), rtol=3e-16)
    tiny = np.array([0.0, 5e-324, 1e-300, -1e-300, 1e-17])
    assert np.array_equal(LOG1P(tiny), tiny)


def test_ends():
    with_ends = np.array([0.0, -1.0, np.inf, -0.0])
    assert np.array_equal(LOG(with_ends), [-np.inf, np.nan, np.inf, -np.inf], equal_nan=True)
    assert np.array_equal(LOG1P(with_ends), [0.0, -np.inf, np.inf, 0.0])
