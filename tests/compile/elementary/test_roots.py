"""Whole triangles, symmetry and scaling; test_accuracy.py has the digits."""

from __future__ import annotations

import numpy as np

from emitted import compiled, same_bits
from linkwork.compile.elementary.roots import hypotenuse
from seeds import rng

HYPOT = compiled(hypotenuse, 2, 8)


def test_whole_triangles_are_exact():
    m, n = (v.ravel() for v in np.meshgrid(np.arange(2.0, 40), np.arange(1.0, 40)))
    m, n = m[m > n], n[m > n]
    assert np.array_equal(HYPOT(m * m - n * n, 2 * m * n), m * m + n * n)


def test_order_signs_and_scale_do_not_matter():
    a, b = rng("hypot").normal(size=(2, 500))
    length = HYPOT(a, b)
    assert same_bits(HYPOT(b, -a), length)
    for k in (-400, 10, 450):
        assert same_bits(HYPOT(np.ldexp(a, k), np.ldexp(b, k)), np.ldexp(length, k))


def test_one_side_alone_is_the_length():
    a = np.concatenate([[0.0, 5e-324, 1e308, np.inf], np.logspace(-307, 307, 200)])
    assert np.array_equal(HYPOT(a, np.zeros_like(a)), a)
    assert HYPOT(np.array([np.nan]), np.array([np.inf]))[0] == np.inf
