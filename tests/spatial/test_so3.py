"""Rotation vectors: exact values on a ladder of angles, group laws, Jacobians by derivatives."""

from __future__ import annotations

import mpmath as mp
import numpy as np
import pytest

from backends import derivative, jax_x64
from ladders import DIGITS, QUOTIENTS, angles, axes, exact, exact_exp, exact_polynomial, rounded
from linkwork.ops.dual import Duals
from linkwork.ops.numpy import NUMPY as o
from linkwork.spatial import rotations, so3
from seeds import rng

EPS = np.finfo(np.float64).eps
JACOBIANS = {
    "left_jacobian": ("b", "c", 1),
    "left_jacobian_inverse": (None, "d", 1),
    "right_jacobian": ("b", "c", -1),
    "right_jacobian_inverse": (None, "d", -1),
}


@pytest.fixture(scope="module")
def vectors() -> np.ndarray:
    """Rotation vectors: each angle of the ladder about an axis, the axes in turn."""
    some = axes()
    return np.stack([angle * some[k % len(some)] for k, angle in enumerate(angles())])


@pytest.fixture(scope="module")
def rotation_matrices(vectors: np.ndarray) -> np.ndarray:
    """The rotations of the vectors, rounded to float64."""
    with mp.workdps(DIGITS):
        return np.stack([rounded(exact_exp(exact(w))) for w in vectors])


def test_exp_is_exact(vectors: np.ndarray, rotation_matrices: np.ndarray):
    for w, R in zip(vectors, rotation_matrices, strict=True):
        # entry by entry relative to the angle: a small turn has small entries that are right too
        assert np.abs(so3.exp(o, w) - R).max() <= 4 * EPS
        off = np.abs((so3.exp(o, w) - R)[~np.eye(3, dtype=bool)])
        assert off.max() <= 4 * EPS * max(np.linalg.norm(w), 1e-300)


def test_exp_beyond_half_a_turn():
    for angle in (3.5, 6.0, 2 * np.pi, 7.0, 40.0):
        w = angle * axes()[6]
        with mp.workdps(DIGITS):
            expected = rounded(exact_exp(exact(w)))
        np.testing.assert_allclose(so3.exp(o, w), expected, rtol=0, atol=angle * 2 * EPS)


def test_log_is_exact(vectors: np.ndarray, rotation_matrices: np.ndarray):
    for w, R in zip(vectors, rotation_matrices, strict=True):
        angle, found = np.linalg.norm(w), so3.log(o, R)
        if angle > np.pi - 1e-15:
            found = found * np.sign(found @ w)  # at half a turn both signs are right
        # up to half a turn the error stays in proportion to the angle: small ones keep their digits
        assert np.abs(found - w).max() <= 4 * EPS * angle, angle


@pytest.mark.parametrize("axis", axes())
def test_log_of_half_a_turn(axis: np.ndarray):
    R = 2 * np.outer(axis, axis) - np.eye(3)
    w = so3.log(o, R)
    assert np.linalg.norm(w) == pytest.approx(np.pi, abs=4 * EPS)
    np.testing.assert_allclose(np.outer(w, w) / np.pi**2, np.outer(axis, axis), atol=4 * EPS)


def test_log_of_nothing_is_nothing():
    assert np.array_equal(so3.log(o, np.eye(3)), np.zeros(3))
    assert np.array_equal(so3.exp(o, np.zeros(3)), np.eye(3))
    assert np.array_equal(so3.quaternion_exp(o, np.zeros(3)), [1, 0, 0, 0])


def test_exp_and_log_are_inverse(vectors: np.ndarray):
    for w in vectors[np.linalg.norm(vectors, axis=1) < np.pi - 1e-9]:
        np.testing.assert_allclose(so3.log(o, so3.exp(o, w)), w, rtol=0, atol=8 * EPS)
        q = so3.quaternion_exp(o, w)
        np.testing.assert_allclose(so3.quaternion_log(o, q), w, rtol=0, atol=8 * EPS)
        np.testing.assert_allclose(so3.quaternion_log(o, -q), w, rtol=0, atol=8 * EPS)


def test_quaternion_exp_is_the_same_rotation_and_has_unit_length(vectors: np.ndarray):
    for w in [*vectors, np.array([3.0, 2.0, -4.0])]:
        q = so3.quaternion_exp(o, w)
        assert abs(q @ q - 1) < 4 * EPS
        np.testing.assert_allclose(
            rotations.from_quaternion(o, q), so3.exp(o, w), rtol=0, atol=8 * EPS
        )


def test_exp_is_a_rotation_and_minus_w_undoes_it():
    for w in rng("group").normal(size=(50, 3)) * 2:
        R = so3.exp(o, w)
        np.testing.assert_allclose(R @ R.T, np.eye(3), atol=16 * EPS)
        assert np.linalg.det(R) == pytest.approx(1, abs=24 * EPS)
        np.testing.assert_allclose(so3.exp(o, -w), R.T, atol=8 * EPS)
        np.testing.assert_allclose(so3.exp(o, 2 * w), R @ R, atol=16 * EPS)
        np.testing.assert_allclose(R @ w, w, atol=16 * EPS)


@pytest.mark.parametrize("name", JACOBIANS)
def test_jacobians_are_exact(name: str, vectors: np.ndarray):
    first, second, sign = JACOBIANS[name]
    with mp.workdps(DIGITS):
        for w in vectors:
            x = mp.norm(exact(w))
            b = QUOTIENTS[first](x) if first else -mp.mpf(1) / 2
            expected = rounded(exact_polynomial(exact(sign * w), b, QUOTIENTS[second](x)))
            assert np.abs(getattr(so3, name)(o, w) - expected).max() <= 4 * EPS


def test_inverse_jacobians_are_inverse(vectors: np.ndarray):
    for w in vectors:
        left = so3.left_jacobian(o, w) @ so3.left_jacobian_inverse(o, w)
        right = so3.right_jacobian_inverse(o, w) @ so3.right_jacobian(o, w)
        np.testing.assert_allclose(left, np.eye(3), atol=8 * EPS)
        np.testing.assert_allclose(right, np.eye(3), atol=8 * EPS)


def test_left_is_right_seen_from_outside():
    for w in rng("left and right").normal(size=(20, 3)):
        turned = so3.exp(o, w) @ so3.right_jacobian(o, w)
        np.testing.assert_allclose(so3.left_jacobian(o, w), turned, atol=8 * EPS)


def test_jacobian_is_how_exp_changes():
    # with 60 digits the finite difference itself is exact to 1e-20
    with mp.workdps(60):
        step = mp.mpf(10) ** -20
        for w in rng("finite differences").normal(size=(5, 3)):
            columns = []
            for k in range(3):
                moved = exact(w)
                moved[k] += step
                change = (exact_exp(moved) * exact_exp(exact(w)).T - mp.eye(3)) / step
                columns.append([float(change[2, 1]), float(change[0, 2]), float(change[1, 0])])
            expected = np.array(columns).T
            np.testing.assert_allclose(so3.left_jacobian(o, w), expected, atol=8 * EPS)


def test_log_differentiates_to_the_inverse_jacobian(vectors: np.ndarray):
    for w in vectors[np.linalg.norm(vectors, axis=1) < np.pi - 1e-9]:
        ours = derivative(lambda o, d, R: so3.log(o, so3.exp(o, d) @ R), np.zeros(3), so3.exp(o, w))
        np.testing.assert_allclose(ours, so3.left_jacobian_inverse(o, w), rtol=0, atol=60 * EPS)


@pytest.mark.slow
def test_exp_and_log_differentiate_in_jax(vectors: np.ndarray):
    keep = vectors[np.linalg.norm(vectors, axis=1) < np.pi - 1e-9][::3]
    with jax_x64():
        import jax  # noqa: PLC0415 -- jax_x64 skips where it is missing

        from linkwork.ops.jax import JAX  # noqa: PLC0415

        def moved(d, R):
            return so3.log(JAX, so3.exp(JAX, d) @ R)

        ws = jax.numpy.asarray(keep)
        Rs = jax.numpy.asarray(np.stack([so3.exp(o, w) for w in keep]))
        slope = jax.jit(jax.vmap(lambda R: jax.jacrev(moved)(jax.numpy.zeros(3), R)))(Rs)
        for w, ours in zip(keep, np.asarray(slope), strict=True):
            expected = so3.left_jacobian_inverse(o, w)
            np.testing.assert_allclose(ours, expected, rtol=0, atol=60 * EPS)
        # d exp(w)/dw_k = [J_l column k] exp(w)
        slopes = np.asarray(jax.jit(jax.vmap(jax.jacrev(lambda w: so3.exp(JAX, w))))(ws))
        for w, ours in zip(keep, slopes, strict=True):
            J = so3.left_jacobian(o, w)
            for k in range(3):
                expected = rotations.skew(o, J[:, k]) @ so3.exp(o, w)
                np.testing.assert_allclose(ours[:, :, k], expected, rtol=0, atol=20 * EPS)


def test_second_derivatives_at_zero_are_finite_and_right():
    outer = Duals(Duals(o))
    inner, units = outer.ops, {k: e for k, e in enumerate(np.eye(3))}
    at = outer.block(inner.block(np.zeros(3), units), {k: inner.const(e) for k, e in units.items()})
    found = so3.exp(outer, at)
    generators = [rotations.skew(o, e) for e in np.eye(3)]
    for i in range(3):
        for j in range(3):
            product = generators[i] @ generators[j]
            symmetric = 0.5 * (product + generators[j] @ generators[i])
            second = inner.change(outer.change(found, i), j)
            np.testing.assert_allclose(second, symmetric, atol=EPS)


# --- the scalar functions of the angle, against 200 digits and across their switches ---

FUNCTIONS = {
    "a": lambda o, h: so3.coefficient_a(h),
    "b": lambda o, h: so3.coefficient_b(h),
    "c": so3.coefficient_c,
    "d": so3.coefficient_d,
    "b'": so3.slope_b,
    "c'": so3.slope_c,
    "d'": so3.slope_d,
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
    values = [FUNCTIONS[name](o, so3.half_angle(o, t)) for t in squares]
    scale = np.abs(exact) if name not in "ab" else 1.0  # A and B have zeros of their own
    assert np.max(np.abs(values - exact) / scale) < BOUNDS[name] * EPS


@pytest.mark.parametrize("name", FUNCTIONS)
def test_what_an_error_of_the_coefficient_does_is_below_rounding(name: str, squares: np.ndarray):
    # A meets [w], B and C meet [w]² or [w], the slopes (w·v) [w]²: weigh by that power of θ
    power = {"a": 1, "b": 1, "c": 2, "d": 2, "b'": 2, "c'": 3, "d'": 3}[name]
    small = squares[squares <= np.pi**2]
    values = [FUNCTIONS[name](o, so3.half_angle(o, t)) for t in small]
    weighed = np.abs(values - exact_at(name, small)) * small ** (power / 2)
    assert np.max(weighed) < 4 * EPS


@pytest.mark.parametrize(("of", "slope"), [("b", "b'"), ("c", "c'"), ("d", "d'")])
def test_slopes_are_the_derivatives(of: str, slope: str, squares: np.ndarray):
    exact = exact_at(slope, squares)
    ours = [2 * derivative(lambda o, t: FUNCTIONS[of](o, so3.half_angle(o, t)), t) for t in squares]
    np.testing.assert_allclose(ours, exact, rtol=0, atol=30 * EPS)
    with jax_x64():
        import jax  # noqa: PLC0415 -- jax_x64 skips where it is missing

        from linkwork.ops.jax import JAX  # noqa: PLC0415

        gradient = jax.grad(lambda t: 2 * FUNCTIONS[of](JAX, so3.half_angle(JAX, t)))
        theirs = np.asarray(jax.jit(jax.vmap(gradient))(jax.numpy.asarray(squares)))
    np.testing.assert_allclose(theirs, exact, rtol=0, atol=30 * EPS)


@pytest.mark.parametrize(("x64", "huge"), [(False, 1e6), (True, 1e60)])
@pytest.mark.parametrize("name", ["a", "b", "c", "b'", "c'"])
def test_huge_angles_do_not_spoil_gradients(name: str, x64: bool, huge: float):
    # the unused series would overflow, and its gradient of 0 times infinity be NaN
    with jax_x64(x64):
        import jax  # noqa: PLC0415 -- jax_x64 skips where it is missing

        from linkwork.ops.jax import JAX  # noqa: PLC0415

        both = jax.value_and_grad(lambda t: FUNCTIONS[name](JAX, so3.half_angle(JAX, t)))
        assert all(np.isfinite(x) for x in jax.jit(both)(huge))
    assert np.isfinite(derivative(lambda o, t: FUNCTIONS[name](o, so3.half_angle(o, t)), 1e60))


def test_angle_over_half_sine():
    ladder = angles()
    with mp.workdps(DIGITS):
        for angle in ladder:
            half = mp.mpf(float(angle)) / 2
            exact = 2 * half / mp.sin(half) if half else mp.mpf(2)
            sine2, cosine = float(mp.sin(half) ** 2), float(mp.cos(half))
            ours = so3.angle_over_half_sine(o, np.float64(sine2), np.float64(cosine))
            assert abs(ours - float(exact)) < 4 * EPS * float(exact), angle
