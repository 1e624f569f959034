"""Exponential coordinates of poses, against the matrix exponential in 60 digits and derivatives."""

from __future__ import annotations

import mpmath as mp
import numpy as np
import pytest

from backends import derivative, jax_x64
from ladders import angles, axes, exact, exact_skew
from linkwork.ops.numpy import NUMPY as o
from linkwork.spatial import poses, rotations, se3, so3
from linkwork.spatial.poses import Pose
from seeds import random_rotation, rng

EPS = np.finfo(np.float64).eps


@pytest.fixture(scope="module")
def some_twists() -> np.ndarray:
    """Twists with every angle of the ladder and a linear part of about 1."""
    generator, turns = rng("twists"), axes()
    return np.stack(
        [[*generator.normal(size=3), *(a * turns[k % len(turns)])] for k, a in enumerate(angles())]
    )


def below_half_a_turn(some: np.ndarray) -> np.ndarray:
    return some[np.linalg.norm(some[:, 3:], axis=1) < np.pi - 1e-9]


def exact_ad(twist) -> mp.matrix:
    """The 6 x 6 matrix of cross_motion: [[w], [v]; 0, [w]]."""
    m = mp.zeros(6)
    v, w = exact_skew(twist[:3]), exact_skew(twist[3:])
    for i in range(3):
        for j in range(3):
            m[i, j] = m[i + 3, j + 3] = w[i, j]
            m[i, j + 3] = v[i, j]
    return m


def exact_left_jacobian(twist) -> mp.matrix:
    """The sum of ad^n / (n + 1)!, independent of every closed form."""
    ad, term, total = exact_ad(exact(twist)), mp.eye(6), mp.eye(6)
    for n in range(1, 80):
        term = term * ad / (n + 1)
        total += term
    return total


def as_floats(matrix: mp.matrix) -> np.ndarray:
    return np.array(matrix.tolist(), dtype=np.float64)


def test_exp_is_the_matrix_exponential(some_twists: np.ndarray):
    with mp.workdps(60):
        for twist in some_twists[::7]:
            generator = mp.zeros(4)
            generator[:3, :3] = exact_skew(exact(twist[3:]))
            for i in range(3):
                generator[i, 3] = mp.mpf(float(twist[i]))
            term, total = mp.eye(4), mp.eye(4)
            for n in range(1, 80):
                term = term * generator / n
                total += term
            T = poses.to_matrix(o, se3.exp(o, twist))
            np.testing.assert_allclose(T, as_floats(total), rtol=0, atol=12 * EPS)


def test_log_undoes_exp(some_twists: np.ndarray):
    for twist in below_half_a_turn(some_twists):
        found = se3.log(o, se3.exp(o, twist))
        np.testing.assert_allclose(found, twist, rtol=0, atol=20 * EPS)


def test_exp_undoes_log():
    generator = rng("poses")
    for _ in range(100):
        pose = Pose(random_rotation(generator), generator.normal(size=3))
        back = se3.exp(o, se3.log(o, pose))
        np.testing.assert_allclose(back.R, pose.R, atol=16 * EPS)
        np.testing.assert_allclose(back.p, pose.p, atol=32 * EPS)


def test_log_of_half_a_turn_gives_the_pose_back():
    for axis in axes():
        pose = Pose(2 * np.outer(axis, axis) - np.eye(3), np.array([0.3, -1.0, 2.0]))
        back = se3.exp(o, se3.log(o, pose))
        np.testing.assert_allclose(back.R, pose.R, atol=16 * EPS)
        np.testing.assert_allclose(back.p, pose.p, atol=32 * EPS)


def test_pure_translations_are_exact():
    twist = np.array([0.3, -1.0, 2.0, 0, 0, 0])
    pose = se3.exp(o, twist)
    assert np.array_equal(pose.R, np.eye(3)) and np.array_equal(pose.p, twist[:3])
    assert np.array_equal(se3.log(o, pose), twist)
    assert np.array_equal(se3.left_jacobian(o, np.zeros(6)), np.eye(6))
    assert np.array_equal(se3.left_jacobian_inverse(o, np.zeros(6)), np.eye(6))


def test_left_jacobian_is_its_series(some_twists: np.ndarray):
    with mp.workdps(60):
        for twist in some_twists[::9]:
            expected = as_floats(exact_left_jacobian(twist))
            ours = se3.left_jacobian(o, twist)
            np.testing.assert_allclose(ours, expected, rtol=0, atol=12 * EPS)


def test_left_jacobian_inverse_is_the_inverse_of_the_series(some_twists: np.ndarray):
    with mp.workdps(60):
        for twist in some_twists[::9]:
            expected = as_floats(exact_left_jacobian(twist) ** -1)
            ours = se3.left_jacobian_inverse(o, twist)
            np.testing.assert_allclose(ours, expected, rtol=0, atol=16 * EPS)


def test_right_jacobians(some_twists: np.ndarray):
    for twist in some_twists[::3]:
        # exp(x + δ) = exp(J_l δ) exp(x) = exp(x) exp(J_r δ): J_l = Ad(exp x) J_r
        ad = se3.adjoint(o, se3.exp(o, twist))
        J = se3.right_jacobian(o, twist)
        np.testing.assert_allclose(ad @ J, se3.left_jacobian(o, twist), atol=40 * EPS)
        inverse = se3.right_jacobian_inverse(o, twist)
        np.testing.assert_allclose(inverse @ J, np.eye(6), atol=40 * EPS)


def test_adjoint():
    generator = rng("adjoint")
    a, b = (Pose(random_rotation(generator), generator.normal(size=3)) for _ in range(2))
    twist = generator.normal(size=6)
    A, B = se3.adjoint(o, a), se3.adjoint(o, b)
    np.testing.assert_allclose(A @ B, se3.adjoint(o, poses.compose(o, a, b)), atol=32 * EPS)
    back = se3.adjoint(o, poses.inverse(o, a))
    np.testing.assert_allclose(A @ back, np.eye(6), atol=32 * EPS)
    np.testing.assert_allclose(A @ twist, poses.transform_twist(o, a, twist), atol=16 * EPS)
    # Ad(T) x is what x becomes when T moves everything: T exp(x) T⁻¹ = exp(Ad(T) x)
    moved = poses.compose(o, poses.compose(o, a, se3.exp(o, twist)), poses.inverse(o, a))
    np.testing.assert_allclose(
        poses.to_matrix(o, moved), poses.to_matrix(o, se3.exp(o, A @ twist)), atol=64 * EPS
    )


@pytest.mark.slow
def test_log_differentiates_to_the_inverse_jacobian(some_twists: np.ndarray):
    def moved(o, d, T):
        return se3.log(o, poses.compose(o, se3.exp(o, d), poses.from_matrix(o, T)))

    keep = below_half_a_turn(some_twists)[::3]
    Ts = np.stack([poses.to_matrix(o, se3.exp(o, twist)) for twist in keep])
    expected = np.stack([se3.left_jacobian_inverse(o, twist) for twist in keep])
    ours = np.stack([derivative(moved, np.zeros(6), T) for T in Ts])
    np.testing.assert_allclose(ours, expected, rtol=0, atol=200 * EPS)
    with jax_x64():
        import jax  # noqa: PLC0415 -- jax_x64 skips where it is missing

        from linkwork.ops.jax import JAX  # noqa: PLC0415

        slope = jax.jit(
            jax.vmap(lambda T: jax.jacrev(lambda d: moved(JAX, d, T))(jax.numpy.zeros(6)))
        )
        theirs = np.asarray(slope(jax.numpy.asarray(Ts)))
    np.testing.assert_allclose(theirs, expected, rtol=0, atol=200 * EPS)


@pytest.mark.slow
def test_single_precision(some_twists: np.ndarray):
    eps = float(np.finfo(np.float32).eps)
    keep = below_half_a_turn(some_twists)[::3].astype(np.float32)
    keep = keep[np.linalg.norm(keep[:, 3:], axis=1) < np.pi - 1e-5]
    with jax_x64(False):
        import jax  # noqa: PLC0415 -- jax_x64 skips where it is missing

        from linkwork.ops.jax import JAX  # noqa: PLC0415

        def all_of_them(x):
            pose = se3.exp(JAX, x)
            jacobians = se3.left_jacobian(JAX, x), se3.left_jacobian_inverse(JAX, x)
            return poses.to_matrix(JAX, pose), se3.log(JAX, pose), *jacobians

        results = jax.jit(jax.vmap(all_of_them))(jax.numpy.asarray(keep))
        T, x, J, inverse = (np.asarray(r) for r in results)
    for k, twist in enumerate(keep.astype(np.float64)):
        expected = poses.to_matrix(o, se3.exp(o, twist))
        np.testing.assert_allclose(T[k], expected, rtol=0, atol=12 * eps)
        np.testing.assert_allclose(x[k], twist, rtol=0, atol=30 * eps)
        np.testing.assert_allclose(J[k], se3.left_jacobian(o, twist), rtol=0, atol=12 * eps)
        expected = se3.left_jacobian_inverse(o, twist)
        np.testing.assert_allclose(inverse[k], expected, rtol=0, atol=16 * eps)


def test_so3_is_the_rotation_part(some_twists: np.ndarray):
    for twist in some_twists[::5]:
        assert np.array_equal(se3.exp(o, twist).R, so3.exp(o, twist[3:]))
        assert np.array_equal(se3.left_jacobian(o, twist)[3:, 3:], so3.left_jacobian(o, twist[3:]))


def test_numbers_there_and_back():
    g = rng("there and back")
    for _ in range(50):
        xyz, rpy = g.normal(size=3), g.uniform(-1.5, 1.5, 3)
        T = se3.matrix_from_rpy(o, xyz, rpy)
        assert np.array_equal(T[3], [0.0, 0.0, 0.0, 1.0])
        assert np.array_equal(T[:3, 3], xyz)
        rows = T[:3, :3].ravel()
        np.testing.assert_allclose(se3.rpy_from_rows(o, rows), rpy, atol=1e-14)
        wxyz = se3.quaternion_from_rows(o, rows)
        assert wxyz[0] >= 0.0
        np.testing.assert_allclose(se3.matrix_from_quaternion(o, xyz, -3.0 * wxyz), T, atol=1e-15)


def test_rows_are_rows():
    R = rotations.rotation_z(o, o.const(0.3))
    rpy = se3.rpy_from_rows(o, np.asarray(R).ravel())
    np.testing.assert_allclose(rpy, [0.0, 0.0, 0.3], atol=1e-15)
