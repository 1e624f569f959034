"""Rotation matrices, quaternions and roll-pitch-yaw: laws, exact values, and the hard corners."""

from __future__ import annotations

import mpmath as mp
import numpy as np
import pytest

from backends import derivative, jax_x64
from ladders import DIGITS, angles, axes, exact, exact_exp, rounded
from linkwork.errors import InputError, ShapeError
from linkwork.ops.numpy import NUMPY as o
from linkwork.spatial import rotations as r
from seeds import random_rotation, rng

EPS = np.finfo(np.float64).eps
Z = np.array([0.0, 0.0, 1.0])


# matrices


@pytest.mark.parametrize("k", range(3))
def test_turns_about_the_coordinate_axes(k: int):
    turn = (r.rotation_x, r.rotation_y, r.rotation_z)[k]
    for angle in (-2.0, 0.0, 0.3, np.pi):
        R = turn(o, angle)
        np.testing.assert_allclose(R, r.from_axis_angle(o, np.eye(3)[k], angle), atol=2 * EPS)
        # right-handed: the next axis turns towards the one after it
        after = R @ np.eye(3)[(k + 1) % 3]
        assert after[(k + 1) % 3] == pytest.approx(np.cos(angle), abs=EPS)
        assert after[(k + 2) % 3] == pytest.approx(np.sin(angle), abs=EPS)


def test_axis_and_angle_are_exact():
    with mp.workdps(DIGITS):
        for angle in [*angles(), 5.0, -0.3]:
            axis = exact(axes()[6])
            axis /= mp.norm(axis)  # the float64 axis is not quite of length 1
            expected = rounded(exact_exp(mp.mpf(float(angle)) * axis))
            R = r.from_axis_angle(o, rounded(axis), angle)
            assert np.abs(R - expected).max() <= 4 * EPS
            off = ~np.eye(3, dtype=bool)
            assert np.abs((R - expected)[off]).max() <= 4 * EPS * max(abs(angle), 1e-300)


def test_skew_is_the_cross_product_and_vee_undoes_it():
    generator = rng("skew")
    u, v, A = generator.normal(size=3), generator.normal(size=3), generator.normal(size=(3, 3))
    np.testing.assert_allclose(r.skew(o, u) @ v, np.cross(u, v), atol=4 * EPS)
    assert np.array_equal(r.skew(o, u), -r.skew(o, u).T)
    assert np.array_equal(r.vee(o, r.skew(o, u)), u)
    np.testing.assert_allclose(r.skew(o, r.vee(o, A)), (A - A.T) / 2, atol=EPS)


# roll, pitch, yaw


def test_rpy_turns_about_fixed_axes_in_this_order():
    roll, pitch, yaw = 0.3, -0.7, 2.0
    expected = r.rotation_z(o, yaw) @ r.rotation_y(o, pitch) @ r.rotation_x(o, roll)
    np.testing.assert_allclose(r.from_rpy(o, [roll, pitch, yaw]), expected, atol=2 * EPS)


def test_rpy_there_and_back():
    for roll, pitch, yaw in rng("rpy").uniform(-1, 1, (200, 3)) * [np.pi, 1.5, np.pi]:
        found = r.to_rpy(o, r.from_rpy(o, [roll, pitch, yaw]))
        # a pitch near a right angle is known to eps / cos(pitch)
        np.testing.assert_allclose(found, [roll, pitch, yaw], atol=8 * EPS / np.cos(pitch))


def from_exact_rpy(rpy) -> np.ndarray:
    """The rotation of given angles, computed exactly and then rounded."""
    with mp.workdps(DIGITS):
        z, y, x = (
            exact_exp(exact(axis * float(angle)))
            for axis, angle in zip(np.eye(3)[::-1], rpy[::-1], strict=True)
        )
        return rounded(z * y * x)


@pytest.mark.parametrize("side", [-1, 1])
@pytest.mark.parametrize("short_of_it", [0.0, 1e-17, 1e-15, 1e-12, 1e-9, 1e-8, 1e-6, 1e-3])
def test_at_and_near_the_gimbal_lock_the_angles_give_the_rotation_back(side, short_of_it):
    for roll, yaw in [(0.0, 0.0), (0.4, -1.2), (-2.5, 3.0), (np.pi, 0.1), (1.0, 1.0)]:
        R = from_exact_rpy([roll, side * (np.pi / 2 - short_of_it), yaw])
        found = r.to_rpy(o, R)
        assert abs(found[1]) <= np.pi / 2
        np.testing.assert_allclose(r.from_rpy(o, found), R, rtol=0, atol=8 * EPS)


@pytest.mark.parametrize("side", [-1, 1])
def test_at_the_lock_roll_is_zero_and_yaw_takes_it_all(side: int):
    for roll, yaw in rng("lock").uniform(-1.5, 1.5, (30, 2)):
        found = r.to_rpy(o, from_exact_rpy([roll, side * np.pi / 2, yaw]))
        assert found[0] == 0.0
        assert found[1] == side * np.pi / 2
        assert found[2] == pytest.approx(yaw - side * roll, abs=4 * EPS)


def test_rpy_of_the_identity_is_zero():
    assert np.array_equal(r.to_rpy(o, np.eye(3)), np.zeros(3))


# quaternions


def test_quaternion_of_a_turn():
    np.testing.assert_allclose(
        r.to_quaternion(o, r.rotation_x(o, 1.0)), [np.cos(0.5), np.sin(0.5), 0, 0], atol=EPS
    )
    assert np.array_equal(r.to_quaternion(o, np.eye(3)), [1, 0, 0, 0])


def test_quaternion_of_every_angle_about_every_axis():
    some = axes()
    with mp.workdps(DIGITS):
        for k, angle in enumerate(np.repeat(angles(), 2)):
            axis = exact(some[k % len(some)])
            w = mp.mpf(float(angle)) * axis
            half = mp.norm(w) / 2
            scale = mp.sin(half) / (2 * half) if half else 0
            expected = np.array([float(mp.cos(half)), *(float(x * scale) for x in w)])
            q = r.to_quaternion(o, rounded(exact_exp(w)))
            assert q[0] >= 0
            if angle > np.pi - 1e-14:
                q = q * np.sign(q @ expected)  # at half a turn both signs are right
            np.testing.assert_allclose(q, expected, rtol=0, atol=3 * EPS)
            # the axis part of a small turn is right relative to itself
            assert np.abs(q - expected)[1:].max() <= 4 * EPS * max(angle, 1e-300)


@pytest.mark.parametrize("k", range(3))
def test_quaternion_of_exact_half_turns(k: int):
    R = 2.0 * np.outer(np.eye(3)[k], np.eye(3)[k]) - np.eye(3)
    assert np.array_equal(r.to_quaternion(o, R), [0, *np.eye(3)[k]])


def test_quaternion_there_and_back():
    generator = rng("quaternion")
    for _ in range(200):
        R = random_rotation(generator)
        q = r.to_quaternion(o, R)
        assert q[0] >= 0 and abs(q @ q - 1) < 4 * EPS
        np.testing.assert_allclose(r.from_quaternion(o, q), R, atol=8 * EPS)
        np.testing.assert_allclose(r.from_quaternion(o, -q), R, atol=8 * EPS)


@pytest.mark.parametrize("norm", [1e-100, 1e-3, 0.5, 7.0, 1e100])
def test_the_norm_of_a_quaternion_does_not_matter(norm: float):
    q = np.array([0.5, -0.1, 0.7, 0.2])
    R = r.from_quaternion(o, norm * q)
    np.testing.assert_allclose(R @ R.T, np.eye(3), atol=8 * EPS)
    np.testing.assert_allclose(R, r.from_quaternion(o, q), atol=8 * EPS)


@pytest.mark.parametrize("norm", [1e155, 1e200, 1e307, 1e-155, 1e-200, 0.0])
def test_a_norm_whose_square_float64_does_not_hold_is_no_rotation(norm: float):
    for q in ([0.5, -0.1, 0.7, 0.2], [1.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 1.0], [1.0, 1e-3, 0, 0]):
        with np.errstate(all="ignore"):
            assert not np.isfinite(r.from_quaternion(o, norm * np.array(q))).all()


def test_product_of_quaternions_is_the_product_of_rotations():
    generator = rng("quaternion product")
    for _ in range(50):
        a, b, c = generator.normal(size=(3, 4))
        ab = r.multiply_quaternions(o, a, b)
        product = r.from_quaternion(o, a) @ r.from_quaternion(o, b)
        np.testing.assert_allclose(r.from_quaternion(o, ab), product, atol=16 * EPS)
        left = r.multiply_quaternions(o, ab, c)
        right = r.multiply_quaternions(o, a, r.multiply_quaternions(o, b, c))
        np.testing.assert_allclose(left, right, rtol=0, atol=200 * EPS)
        whole = r.multiply_quaternions(o, a, r.conjugate(o, a))
        np.testing.assert_allclose(whole, [a @ a, 0, 0, 0], atol=8 * EPS * (a @ a))
        np.testing.assert_allclose(
            r.from_quaternion(o, r.conjugate(o, a)), r.from_quaternion(o, a).T, atol=4 * EPS
        )


# derivatives


@pytest.mark.parametrize("name", ["to_quaternion", "to_rpy"])
def test_derivatives_are_finite_everywhere(name: str):
    function = getattr(r, name)
    locks = [from_exact_rpy([0.3, side * np.pi / 2, 0.1]) for side in (-1, 1)]
    locks += [np.array([[0.0, 0, side], [0, 1, 0], [-side, 0, 0]]) for side in (-1, 1)]
    halves = [2.0 * np.outer(a, a) - np.eye(3) for a in axes()]
    Rs = np.stack([np.eye(3), *halves, *locks, random_rotation(rng("derivatives"))])
    assert all(np.isfinite(derivative(function, R)).all() for R in Rs)
    with jax_x64():
        import jax  # noqa: PLC0415 -- jax_x64 skips where it is missing

        from linkwork.ops.jax import JAX  # noqa: PLC0415

        for direction in (jax.jacfwd, jax.jacrev):
            slopes = jax.jit(jax.vmap(direction(lambda R: function(JAX, R))))(Rs)
            assert np.isfinite(np.asarray(slopes)).all()


def test_rate_of_a_quaternion():
    # q' = (0, w) q / 2 for a rotation that turns with w seen from outside
    def moved(o, d, R):
        return r.to_quaternion(o, (o.const(np.eye(3)) + r.skew(o, d)) @ R)

    generator = rng("rate")
    for _ in range(30):
        turn, w = random_rotation(generator), generator.normal(size=3)
        expected = r.multiply_quaternions(o, [0, *w], r.to_quaternion(o, turn)) / 2
        ours = derivative(moved, np.zeros(3), turn) @ w
        np.testing.assert_allclose(ours, expected, atol=20 * EPS)


# the z axis of a joint


@pytest.mark.parametrize("length", [1.0, 1e-200, 3.0, 1e200])
@pytest.mark.parametrize("axis", axes())
def test_align_z_takes_z_to_the_axis_by_the_smallest_rotation(axis: np.ndarray, length: float):
    R = r.align_z(length * axis)
    np.testing.assert_allclose(R @ Z, axis, atol=2 * EPS)
    np.testing.assert_allclose(R @ R.T, np.eye(3), atol=4 * EPS)
    assert np.linalg.det(R) == pytest.approx(1, abs=4 * EPS)
    # the smallest one: its trace is 1 + 2 cos(angle between z and the axis)
    assert np.trace(R) == pytest.approx(1 + 2 * axis[2], abs=4 * EPS)


def test_align_z_is_exact_along_z():
    assert np.array_equal(r.align_z([0, 0, 2.5]), np.eye(3))
    assert np.array_equal(r.align_z([0, 0, -1]), np.diag([1.0, -1.0, -1.0]))
    assert np.array_equal(r.align_z([1, 0, 0]), [[0, 0, 1], [0, 1, 0], [-1, 0, 0]])


@pytest.mark.parametrize("tilt", np.logspace(-16, -1, 16))
@pytest.mark.parametrize("side", [-1, 1])
def test_align_z_near_the_poles(tilt: float, side: int):
    axis = np.array([np.sin(tilt) * 0.6, np.sin(tilt) * 0.8, side * np.cos(tilt)])
    R = r.align_z(axis)
    np.testing.assert_allclose(R @ R.T, np.eye(3), atol=4 * EPS)
    np.testing.assert_allclose(R @ Z, axis, rtol=4 * EPS)


@pytest.mark.parametrize("axis", [[0, 0, 0], [np.nan, 0, 1], [np.inf, 0, 0]])
def test_align_z_refuses_what_is_no_axis(axis):
    with pytest.raises(InputError, match="an axis needs finite numbers that are not all zero"):
        r.align_z(axis)


def test_align_z_refuses_other_shapes():
    with pytest.raises(ShapeError, match=r"shape \(3,\), this one \(2,\)"):
        r.align_z([1.0, 0.0])
