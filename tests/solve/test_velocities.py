"""Velocities of joints for a twist: least squares by textbook, weights, damping and projection."""

from __future__ import annotations

import numpy as np
import pytest

import linkwork as lw
from linkwork.errors import InputError, ShapeError
from seeds import rng

PANDA, UR5E = lw.load("panda"), lw.load("ur5e")
TWIST = np.array([0.1, -0.2, 0.05, 0.3, 0.1, -0.1])


def test_the_pseudo_inverse_of_any_shape():
    g = rng("velocities")
    for shape in ((6, 7), (6, 6), (6, 4), (3, 2)):
        J, V = g.normal(size=(5, *shape)), g.normal(size=(5, shape[0]))
        found = lw.ik.joint_velocities(J, V)
        wanted = np.einsum("kij,kj->ki", np.linalg.pinv(J), V)
        np.testing.assert_allclose(found.v, wanted, atol=1e-10)
        assert (found.rank == min(shape)).all()
        one = lw.ik.joint_velocities(J[2], V[2])
        np.testing.assert_allclose(one.v, wanted[2], atol=1e-10)
        assert type(one.rank) is int and one.damping == 0.0


def test_a_frame_gets_the_twist_in_every_reference():
    q = PANDA.random(4, seed=1)
    for reference in ("world-aligned", "local", "world"):
        found = PANDA.joint_velocities(q, TWIST, "tool0", reference=reference)
        J = PANDA.jacobian(q, "tool0", reference=reference)
        np.testing.assert_allclose(
            np.einsum("kij,kj->ki", J, found.v), np.tile(TWIST, (4, 1)), atol=1e-9
        )


def test_weights_move_joints_more_and_rows_count_more():
    J, W = PANDA.jacobian(PANDA.random(seed=2), "tool0"), np.array([1.0, 1, 1, 1, 1, 1, 10.0])
    v = lw.ik.joint_velocities(J, TWIST, joint_weights=W).v
    np.testing.assert_allclose(J @ v, TWIST, atol=1e-9)
    assert abs(v[6]) > abs(lw.ik.joint_velocities(J, TWIST).v[6])
    np.testing.assert_allclose(v, lw.ik.joint_velocities(J, TWIST, joint_weights=np.diag(W)).v)
    few = J[:, :3]  # cannot give all six
    strong = lw.ik.joint_velocities(few, TWIST, twist_weights=[100.0, 1, 1, 1, 1, 1]).v
    plain = lw.ik.joint_velocities(few, TWIST).v
    assert abs((few @ strong - TWIST)[0]) < abs((few @ plain - TWIST)[0])


def test_a_singularity_is_damped_and_passed_without_a_jump():
    stretched = UR5E.neutral()
    exact = UR5E.joint_velocities(stretched, TWIST, "tool0")
    assert exact.rank < 6 and np.abs(exact.v).max() < 1e3
    speeds = []
    for bend in np.linspace(-0.02, 0.02, 401):
        q = stretched.copy()
        q[2] += bend
        found = UR5E.joint_velocities(q, TWIST, "tool0", smallest=0.05, damping=0.05)
        assert 0.0 <= found.damping <= 0.05
        speeds.append(found.v)
    assert np.abs(speeds).max() < 20.0
    assert np.abs(np.diff(speeds, axis=0)).max() < 0.5


def test_what_is_preferred_leaves_the_twist_alone():
    q = PANDA.random(3, seed=4)
    away = PANDA.neutral() - q
    found = PANDA.joint_velocities(q, TWIST, "tool0", preferred=away)
    J = PANDA.jacobian(q, "tool0")
    np.testing.assert_allclose(
        np.einsum("kij,kj->ki", J, found.v), np.tile(TWIST, (3, 1)), atol=1e-9
    )
    least = PANDA.joint_velocities(q, TWIST, "tool0").v
    assert (((found.v - least) * away).sum(axis=1) > 0.0).all()


@pytest.mark.parametrize(
    ("changes", "error", "words"),
    [
        ({"jacobian": np.zeros(6)}, ShapeError, "jacobian must have shape"),
        ({"twist": np.zeros(5)}, ShapeError, "twist must have shape"),
        ({"twist": np.full(6, np.nan)}, InputError, "not a finite number"),
        ({"joint_weights": np.ones(3)}, ShapeError, "joint_weights"),
        ({"damping": -1.0}, InputError, "damping"),
        ({"preferred": np.zeros((2, 7)), "twist": np.zeros((3, 6))}, ShapeError, "leading shapes"),
    ],
)
def test_what_is_wrong_is_said(changes, error, words):
    given = {"jacobian": np.ones((6, 7)), "twist": np.ones(6)} | changes
    with pytest.raises(error, match=words):
        lw.ik.joint_velocities(given.pop("jacobian"), given.pop("twist"), **given)
