"""What is stated about the elementary functions, on ladders, random values and special ones."""

from __future__ import annotations

import ctypes

import mpmath
import numpy as np
import pytest

from emitted import WIDTHS, compiled, same_bits, ulps
from linkwork.compile.elementary.accuracy import ACCURACY
from linkwork.compile.optable import OP_TABLE
from seeds import rng


def both_signs(a):
    return np.concatenate([a, -a])


def around(*points, steps=3):
    """Each point and its nearest neighbours."""
    found = list(points)
    for p in points:
        up, down = p, p
        for _ in range(steps):
            up, down = np.nextafter(up, np.inf), np.nextafter(down, -np.inf)
            found += [up, down]
    return np.array(found)


def angles(g):
    k = np.concatenate([np.arange(1, 120), [1000, 10007, 63661]]) * (np.pi / 4)
    small = [5e-324, 1e-310, 1e-300, 1e-160, 1e-30]
    random = np.concatenate([g.uniform(0, 4, 600), g.uniform(0, 100, 300), g.uniform(0, 1e5, 300)])
    ladder = np.logspace(-12, 5, 200)
    far = np.concatenate([around(1e5), np.logspace(5.1, 22, 30), [1e300]])
    return both_signs(np.concatenate([small, ladder, k, np.nextafter(k, 0), random, far]))


def fractions(g):
    ends = around(0.25, 0.5, np.sqrt(0.5))
    near_one = 1 - np.logspace(-15.9, -1, 100)
    small = [5e-324, 1e-310, 1e-300, 1e-160]
    ladder = np.logspace(-30, 0, 100)
    return both_signs(np.concatenate([small, ladder, ends, near_one, g.uniform(0, 1, 1500), [1.0]]))


def slopes(g):
    ends = around(np.sqrt(2) - 1, 1.0, np.sqrt(2) + 1, 2.0**-900, 2.0**900)
    every = [np.logspace(-307, 308, 300), np.logspace(-3, 3, 300), g.uniform(0, 4, 1000), ends]
    return both_signs(np.concatenate([[5e-324, 1e-310], *every]))


def exponents(g):
    halves = np.arange(-2044, 2048, 14) * (np.log(2) / 2)
    ladder = both_signs(np.concatenate([np.logspace(-300, -20, 50), np.logspace(-20, 2.8, 300)]))
    ends = around(708.0, -708.0, 700.0, -700.0, 709.78, -708.4, -745.0)
    random = np.concatenate([g.uniform(-2, 2, 1000), g.uniform(-745, 709, 500)])
    return np.concatenate([halves[np.abs(halves) < 709], ladder, ends, random])


def positives(g):
    ends = around(1.0, np.sqrt(0.5), np.sqrt(2), 2.0, 2.0**-1022, steps=5)
    near_one = 1 + both_signs(np.logspace(-15, -1, 200))
    ladder = np.concatenate([np.logspace(-307, 308, 300), [5e-324, 1e-310, 1.7976931348623157e308]])
    random = np.concatenate([g.uniform(0.5, 2, 1000), g.uniform(0, 10, 500)])
    return np.concatenate([ends, near_one, ladder, random])


def more_than_minus_one(g):
    small = both_signs(np.concatenate([[5e-324, 1e-310], np.logspace(-300, -0.001, 300)]))
    random = np.concatenate([g.uniform(-1, 3, 800), g.uniform(-0.5, 0.5, 800)])
    ends = around(-0.5, np.sqrt(0.5) - 1, np.sqrt(2) - 1, 1.0, 2.0**53, 2.0**1000)
    return np.concatenate([small, random, ends, np.logspace(0, 308, 200), [-1 + 2.0**-53]])


def pairs(g):
    spread = np.exp(g.uniform(-700, 700, (2, 600))) * g.choice([-1.0, 1.0], (2, 600))
    level = spread[0], spread[0] * g.normal(size=600)
    normal = g.normal(size=(2, 1500))
    tiny = (
        np.array([1e-310, 5e-324, 3.0, 1e-300, 2.0**-900]),
        np.array([2.0, 1e-310, -1e-310, -2, 1]),
    )
    return tuple(np.concatenate(c) for c in zip(spread, level, normal, tiny, strict=True))


def log1p(x):
    with mpmath.workdps(450):  # a sum of 1 and 1e-324 has that many digits
        return mpmath.log(1 + x)


def expm1(x):
    with mpmath.workdps(450):
        return mpmath.exp(x) - 1


def triangle(a, b):
    return mpmath.sqrt(a * a + b * b)


CASES = {
    "SIN": (angles, mpmath.sin),
    "COS": (angles, mpmath.cos),
    "TAN": (angles, mpmath.tan),
    "ASIN": (fractions, mpmath.asin),
    "ACOS": (fractions, mpmath.acos),
    "ATAN": (slopes, mpmath.atan),
    "ATAN2": (pairs, mpmath.atan2),
    "EXP": (exponents, mpmath.exp),
    "EXPM1": (exponents, expm1),
    "LOG": (positives, mpmath.log),
    "LOG1P": (more_than_minus_one, log1p),
    "SQRT": (positives, mpmath.sqrt),
    "HYPOT": (pairs, triangle),
    "ERFINV": (lambda g: both_signs(g.uniform(0, 1, 60)), mpmath.erfinv),
}
INF, NAN = np.inf, np.nan
SPECIAL = np.array(
    [0.0, -0.0, 1.0, -1.0, 2.0, -2.0, INF, -INF, NAN, 5e-324, -5e-324, 1e308, -1e308, 2.0**-1000]
)


def arguments(name):
    made = CASES[name][0](rng(name))
    return made if isinstance(made, tuple) else (made,)


def test_every_statement_is_tested():
    assert set(CASES) == set(ACCURACY)


@pytest.mark.sweep(7)
@pytest.mark.parametrize("fused", [True, False])
@pytest.mark.parametrize("name", sorted(CASES))
def test_error_is_within_what_is_stated(name, fused):
    arrays = arguments(name)
    function = compiled(OP_TABLE[name].emit, len(arrays), 8, fused=fused)
    errors = ulps(function(*arrays), CASES[name][1], *arrays)
    worst = int(np.argmax(errors))
    print(name, errors[worst], [a[worst] for a in arrays])
    assert errors[worst] <= ACCURACY[name].ulp


@pytest.mark.sweep(18)
@pytest.mark.parametrize("fused", [True, False])
@pytest.mark.parametrize("name", sorted(CASES))
def test_every_width_gives_the_same_bits(name, fused):
    arrays = [np.concatenate([a, SPECIAL]) for a in arguments(name)]
    found = [
        compiled(OP_TABLE[name].emit, len(arrays), width, fused=fused)(*arrays) for width in WIDTHS
    ]
    assert all(same_bits(found[0], f) for f in found[1:])


@pytest.mark.parametrize("fused", [True, False])
@pytest.mark.parametrize("name", sorted(CASES))
def test_special_values_are_those_of_c(name, fused):
    """Infinities, NaN and the signs of zeros as the C library (annex F of the C standard)."""
    if name == "ERFINV":
        pytest.skip("the C library has no erfinv: test_error_function.py")
    arity = OP_TABLE[name].arity
    arrays = [a.ravel() for a in np.meshgrid(*[SPECIAL] * arity)]
    library = getattr(ctypes.CDLL(None), name.lower())
    library.restype, library.argtypes = ctypes.c_double, [ctypes.c_double] * arity
    expected = np.array([library(*row) for row in zip(*arrays, strict=True)])
    found = compiled(OP_TABLE[name].emit, arity, 8, fused=fused)(*arrays)
    exact = ~np.isfinite(expected) | (expected == 0)
    assert same_bits(found[exact], expected[exact])
    found, expected = found[~exact], expected[~exact]
    assert (np.abs(found - expected) <= 2 * np.spacing(np.abs(expected))).all()


@pytest.mark.parametrize("name", sorted(CASES))
def test_a_rare_lane_does_not_touch_its_neighbours(name):
    arity = OP_TABLE[name].arity
    usual = [rng(f"{name}{k}").uniform(0.1, 0.9, 16) for k in range(arity)]
    for value in (INF, NAN, 1e300, 5e-324):
        mixed = [a.copy() for a in usual]
        for a in mixed:
            a[5] = value
        function = compiled(OP_TABLE[name].emit, arity, 8)
        found, expected = function(*mixed), function(*usual)
        assert same_bits(np.delete(found, 5), np.delete(expected, 5))
