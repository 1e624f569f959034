"""What a rounding takes away is kept, exactly."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from emitted import compiled
from linkwork.compile.elementary.pairs import fast_two_sum, product_less, quotient, two_sum
from seeds import rng


def numbers(label, n=300):
    g = rng(label)
    return g.normal(size=n) * np.exp(g.uniform(-30, 30, n))


def exact(*values):
    return [[Fraction(v) for v in column.tolist()] for column in values]


@pytest.mark.parametrize("fused", [True, False])
def test_sums(fused):
    a, b = numbers("a"), numbers("b")
    large, small = np.where(np.abs(a) >= np.abs(b), a, b), np.where(np.abs(a) < np.abs(b), a, b)
    for function, x, y in ((two_sum, a, b), (fast_two_sum, large, small)):
        total, lost = compiled(function, 2, 4, fused=fused, results=2)(x, y)
        assert np.array_equal(total, x + y)
        for s, t, u, v in zip(*exact(total, lost, x, y), strict=True):
            assert s + t == u + v


@pytest.mark.parametrize("fused", [True, False])
def test_product_less_the_rounded_product(fused):
    a, b = numbers("a"), numbers("b")
    rest = compiled(product_less, 3, 4, fused=fused)(a, b, a * b)
    for r, x, y, p in zip(*exact(rest, a, b, a * b), strict=True):
        assert r == x * y - p


@pytest.mark.parametrize("fused", [True, False])
def test_quotient_of_pairs(fused):
    a, b = numbers("a"), numbers("b")
    a_low, b_low = a * 2.0**-54, b * -(2.0**-55)

    def write(e, *v):
        return quotient(e, (v[0], v[1]), (v[2], v[3]))

    high, low = compiled(write, 4, 4, fused=fused, results=2)(a, a_low, b, b_low)
    for h, s, p, q, u, v in zip(*exact(high, low, a, a_low, b, b_low), strict=True):
        true = (p + q) / (u + v)
        assert abs(h + s - true) <= abs(true) * Fraction(1, 2**100)
