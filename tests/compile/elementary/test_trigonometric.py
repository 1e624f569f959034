"""Sines and cosines where the reduction is hardest, and one reduction for both."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest

from emitted import compiled, same_bits
from linkwork.compile.elementary.accuracy import ACCURACY
from linkwork.compile.elementary.trigonometric import FAR, cosine, sincos, sine, tangent
from linkwork.compile.optable import OP_TABLE

BITS = 500  # of pi/2 below the point


def nearest_to_quarter_turns():
    """All numbers up to FAR that are next to a multiple of pi/2, with the multiple."""
    k = np.arange(1, int(FAR * 2 / np.pi) + 1)
    near = k * (np.pi / 2)
    x = np.concatenate([near, np.nextafter(near, 0), np.nextafter(near, np.inf)])
    k = np.tile(k, 3)
    return x[x <= FAR], k[x <= FAR]


def exact_rest(x, k, half_pi):
    """sin(x - k pi/2) times 2**BITS, a whole number; the difference is below 2e-11."""
    above, below = x.as_integer_ratio()
    r = (above << BITS) // below - k * half_pi
    return r - ((r * r * r // 6) >> 2 * BITS)


@pytest.mark.sweep(1)
@pytest.mark.parametrize("fused", [True, False])
def test_small_values_next_to_every_quarter_turn(fused):
    with mpmath.workprec(BITS + 60):
        half_pi = int(mpmath.floor(mpmath.ldexp(mpmath.pi / 2, BITS)))
    x, k = nearest_to_quarter_turns()
    sines, cosines = compiled(sincos, 1, 8, fused=fused, results=2)(x)
    small = np.where(k % 2 == 0, sines, cosines) * np.array([1, -1, -1, 1])[k % 4]
    exponents = np.frexp(small)[1]
    worst = 0.0
    for a, n, value, exponent in zip(
        x.tolist(), k.tolist(), small.tolist(), exponents.tolist(), strict=True
    ):
        above, below = value.as_integer_ratio()
        error = abs((above << BITS) // below - exact_rest(a, n, half_pi))
        worst = max(worst, error / 2 ** (BITS + exponent - 53))
    assert worst <= ACCURACY["SIN"].ulp


def test_sine_and_cosine_of_one_value_share_the_work():
    lines = []
    for functions in ([sine], [sine, cosine], [cosine, sine, cosine]):

        def write(e, x, functions=functions):
            values = [f(e, x) for f in functions]
            lines.append(sum(len(b.instructions) for b in e.builder.function.blocks))
            return values[0]

        compiled(write, 1, 4)
    assert lines[0] == lines[1] == lines[2]


@pytest.mark.parametrize("fused", [True, False])
def test_odd_and_even(fused):
    x = np.concatenate([[0.0], np.logspace(-300, 5, 500)])
    for function, sign in ((sine, -1.0), (cosine, 1.0), (tangent, -1.0)):
        f = compiled(function, 1, 8, fused=fused)
        assert same_bits(f(-x), sign * f(x))


def test_beyond_the_reduction_it_is_the_librarys_value():
    x = np.nextafter(FAR, np.inf) * np.array([1.0, 1e3, 1e100])
    for name in ("SIN", "COS", "TAN"):
        with_library = compiled(lambda e, v, n=name: e.lanes(n.lower(), v), 1, 4)
        assert same_bits(compiled(OP_TABLE[name].emit, 1, 4)(x), with_library(x))
