"""Every coefficient against 200 digits, across its switch, and its slope by differentiation."""

from __future__ import annotations

from math import factorial

import mpmath as mp
import numpy as np
import pytest

from backends import derivative, jax_x64
from ladders import DIGITS, QUOTIENTS, angles
from linkwork.ops.numpy import NUMPY
from linkwork.spatial import coefficients as c

EPS = np.finfo(np.float64).eps
FUNCTIONS = {
    "a": lambda o, h: c.coefficient_a(h),
    "b": lambda o, h: c.coefficient_b(h),
    "c": c.coefficient_c,
    "d": c.coefficient_d,
    "b'": c.slope_b,
    "c'": c.slope_c,
    "d'": c.slope_d,
}
# (relative error allowed at any angle; a few eps, more where the closed form cancels at its switch)
BOUNDS = {"a": 2, "b": 2, "c": 8, "d": 12, "b'": 16, "c'": 40, "d'": 400}


def exact_at(name: str, ladder: np.ndarray) -> np.ndarray:
    """The exact values at the angles whose squares are the floats t."""
    with mp.workdps(DIGITS):
        return np.array([float(QUOTIENTS[name](mp.sqrt(mp.mpf(float(t))))) for t in ladder])


@pytest.fixture(scope="module")
def squares() -> np.ndarray:
    beyond = np.linspace(np.pi, 5.5, 20)  # D has its pole at 2 pi
    return np.concatenate([angles(), beyond]) ** 2


@pytest.mark.parametrize("name", FUNCTIONS)
def test_value_to_the_last_digits(name: str, squares: np.ndarray):
    exact = exact_at(name, squares)
    values = [FUNCTIONS[name](NUMPY, c.half_angle(NUMPY, t)) for t in squares]
    scale = np.abs(exact) if name not in "ab" else 1.0  # A and B have zeros of their own
    assert np.max(np.abs(values - exact) / scale) < BOUNDS[name] * EPS


@pytest.mark.parametrize("name", FUNCTIONS)
def test_what_an_error_of_the_coefficient_does_is_below_rounding(name: str, squares: np.ndarray):
    # A meets [w], B and C meet [w]² or [w], the slopes (w·v) [w]²: weigh by that power of θ
    power = {"a": 1, "b": 1, "c": 2, "d": 2, "b'": 2, "c'": 3, "d'": 3}[name]
    small = squares[squares <= np.pi**2]
    values = [FUNCTIONS[name](NUMPY, c.half_angle(NUMPY, t)) for t in small]
    weighed = np.abs(values - exact_at(name, small)) * small ** (power / 2)
    assert np.max(weighed) < 4 * EPS


@pytest.mark.parametrize(
    ("coefficients", "switch", "term"),
    [
        (c._SINC, c.SWITCH_HALF / 4, lambda k: (-1) ** k / mp.factorial(2 * k + 1)),
        (c._COS, c.SWITCH_HALF / 4, lambda k: (-1) ** k / mp.factorial(2 * k)),
        (c._C, c.SWITCH_C, lambda k: (-1) ** k / mp.factorial(2 * k + 3)),
        (c._B_SLOPE, c.SWITCH_SLOPE, lambda k: -2 * (k + 1) * (-1) ** k / mp.factorial(2 * k + 4)),
        (c._C_SLOPE, c.SWITCH_SLOPE, lambda k: -2 * (k + 1) * (-1) ** k / mp.factorial(2 * k + 5)),
        (c._D, c.SWITCH_D, lambda k: abs(mp.bernoulli(2 * k + 2)) / factorial(2 * k + 2)),
        (
            c._D_SLOPE,
            c.SWITCH_D_SLOPE,
            lambda k: 2 * (k + 1) * abs(mp.bernoulli(2 * k + 4)) / factorial(2 * k + 4),
        ),
        (
            c._ASIN,
            c.SWITCH_LOG,
            lambda k: mp.mpf(factorial(2 * k)) / (4**k * factorial(k) ** 2 * (2 * k + 1)),
        ),
    ],
)
def test_series_are_right_and_long_enough(coefficients, switch, term):
    with mp.workdps(40):
        for k, coefficient in enumerate(coefficients):
            assert coefficient == pytest.approx(float(term(k)), rel=2 * EPS, abs=0)
        first_left_out = term(len(coefficients)) * mp.mpf(switch) ** len(coefficients)
        assert abs(first_left_out / term(0)) < EPS / 16


@pytest.mark.parametrize(("of", "slope"), [("b", "b'"), ("c", "c'"), ("d", "d'")])
def test_slopes_are_the_derivatives(of: str, slope: str, squares: np.ndarray):
    exact = exact_at(slope, squares)
    ours = [2 * derivative(lambda o, t: FUNCTIONS[of](o, c.half_angle(o, t)), t) for t in squares]
    np.testing.assert_allclose(ours, exact, rtol=0, atol=30 * EPS)
    with jax_x64():
        import jax  # noqa: PLC0415 -- jax_x64 skips where it is missing

        from linkwork.ops.jax import JAX  # noqa: PLC0415

        gradient = jax.grad(lambda t: 2 * FUNCTIONS[of](JAX, c.half_angle(JAX, t)))
        theirs = np.asarray(jax.jit(jax.vmap(gradient))(jax.numpy.asarray(squares)))
    np.testing.assert_allclose(theirs, exact, rtol=0, atol=30 * EPS)


@pytest.mark.parametrize(("x64", "huge"), [(False, 1e6), (True, 1e60)])
@pytest.mark.parametrize("name", ["a", "b", "c", "b'", "c'"])
def test_huge_angles_do_not_spoil_gradients(name: str, x64: bool, huge: float):
    # the unused series would overflow, and its gradient of 0 times infinity be NaN
    with jax_x64(x64):
        import jax  # noqa: PLC0415 -- jax_x64 skips where it is missing

        from linkwork.ops.jax import JAX  # noqa: PLC0415

        both = jax.value_and_grad(lambda t: FUNCTIONS[name](JAX, c.half_angle(JAX, t)))
        assert all(np.isfinite(x) for x in both(huge))
    assert np.isfinite(derivative(lambda o, t: FUNCTIONS[name](o, c.half_angle(o, t)), 1e60))


def test_angle_over_half_sine():
    ladder = angles()
    with mp.workdps(DIGITS):
        for angle in ladder:
            half = mp.mpf(float(angle)) / 2
            exact = 2 * half / mp.sin(half) if half else mp.mpf(2)
            sine2, cosine = float(mp.sin(half) ** 2), float(mp.cos(half))
            ours = c.angle_over_half_sine(NUMPY, np.float64(sine2), np.float64(cosine))
            assert abs(ours - float(exact)) < 4 * EPS * float(exact), angle
