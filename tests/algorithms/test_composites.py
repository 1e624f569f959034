"""Composite bodies against sums over points, and against all bodies at once."""

from __future__ import annotations

import numpy as np
import pytest

from linkwork.algorithms.composites import (
    composite_inertias,
    composite_mass_matrix,
    composite_momenta,
    composite_wrenches,
    inertial_wrench,
    momentum_matrix,
)
from linkwork.algorithms.registry import evaluate
from linkwork.algorithms.sweep import Inertia, Motion, Spatial, Sweep, motions, power, traced
from linkwork.mechanism.model import Mechanism
from linkwork.ops.numpy import NUMPY
from robots import (
    every_joint_urdf,
    mechanism_from,
    random_configuration,
    random_tree,
    total_inertia,
)
from seeds import rng


class Points:
    """A rigid body of some point masses, and a motion of it."""

    def __init__(self, label: str) -> None:
        random = rng(label)
        self.m, self.r = random.uniform(0.1, 1, 5), random.normal(size=(5, 3))
        self.velocity, self.acceleration = (
            Spatial(list(random.normal(size=3)), list(random.normal(size=3))) for _ in range(2)
        )
        second = np.einsum("n,ni,nj->ij", self.m, self.r, self.r)
        self.inertia = Inertia(float(self.m.sum()), list(self.m @ self.r), second.tolist())

    def at(self, motion: Spatial) -> np.ndarray:
        """The values of a motion at the points."""
        return np.array(motion.linear) + np.cross(motion.angular, self.r)

    def wrench(self, forces: np.ndarray) -> np.ndarray:
        """Forces on the points, per mass, as one wrench."""
        on = self.m[:, None] * forces
        return np.concatenate([on.sum(axis=0), np.cross(self.r, on).sum(axis=0)])


def near(got, expected, within: float = 1e-12) -> None:
    np.testing.assert_allclose(np.concatenate(got), expected, rtol=0, atol=within)


def test_a_body_of_points():
    body = Points("points")
    near(body.inertia.of(body.velocity), body.wrench(body.at(body.velocity)))
    own = momentum_matrix(body.inertia, body.velocity)
    np.testing.assert_allclose(own.p, body.m @ body.at(body.velocity), atol=1e-12)
    G = np.einsum("n,ni,nj->ij", body.m, body.r, body.at(body.velocity))
    np.testing.assert_allclose(own.G, G, atol=1e-12)
    turning = np.cross(body.velocity.angular, body.at(body.velocity))
    got = inertial_wrench(
        body.inertia, own, Motion(body.velocity, body.acceleration, body.velocity, body.velocity)
    )
    near(got, body.wrench(body.at(body.acceleration) + turning))


def test_B_from_both_sides():
    body, other = Points("B"), Points("other")
    own = momentum_matrix(body.inertia, body.velocity)
    for column in (other.velocity, other.acceleration):
        for row in (other.acceleration, body.acceleration):
            from_left = np.dot(own.against(row), column.angular)
            np.testing.assert_allclose(from_left, power(row, own.of(column)), atol=1e-12)
    a = rng("traced").normal(size=(3, 3))
    expected = (np.trace(a) * np.eye(3) - a) @ [1.0, 2.0, 3.0]
    np.testing.assert_allclose(traced(a.tolist(), [1.0, 2.0, 3.0]), expected, atol=1e-14)


@pytest.fixture(scope="module")
def free() -> list[Mechanism]:
    random = rng("composite trees")
    found = [mechanism_from(random_tree(random, 7), base="floating") for _ in range(8)]
    return [*found, mechanism_from(every_joint_urdf(), base="floating")]


def test_the_first_joint_moves_everything(free: list[Mechanism]):
    random = rng("everything")
    for m in free:
        if not m.mass.sum() > 0:
            continue
        q, v, dv = random_configuration(random, m), *random.normal(size=(2, m.n_v))
        sweep = Sweep(NUMPY, m, q)
        own, moving = sweep.inertias(), motions(sweep, v, dv, gravity=True)
        whole = composite_inertias(sweep, own)[0]
        mass, centre, about = total_inertia(m, q)
        step = sweep.transforms[0]
        R, p = np.array(step.R, float), np.array(step.r, float)
        c = R.T @ (centre - p)
        np.testing.assert_allclose(whole.mass, mass)
        np.testing.assert_allclose(whole.first, mass * c, atol=1e-11)
        inertia = R.T @ about @ R + mass * (c @ c * np.eye(3) - np.outer(c, c))
        second = np.trace(inertia) / 2 * np.eye(3) - inertia
        np.testing.assert_allclose(whole.second, second, atol=1e-10)
        every = [momentum_matrix(body, at.velocity) for body, at in zip(own, moving, strict=True)]
        momentum = mass * R.T @ evaluate("com_jacobian", m, q) @ v
        np.testing.assert_allclose(composite_momenta(sweep, every)[0].p, momentum, atol=1e-10)
        on = list(map(inertial_wrench, own, every, moving))
        expected = evaluate("inverse_dynamics", m, q, v, dv)[:6]
        near(composite_wrenches(sweep, on)[0], expected, 1e-9)
        masses = composite_mass_matrix(sweep).block(NUMPY)
        np.testing.assert_allclose(masses, evaluate("mass_matrix", m, q), atol=1e-10)


def test_what_is_moved_by_a_turn_has_no_mass_left():
    m = mechanism_from(every_joint_urdf())
    sweep = Sweep(NUMPY, m, random_configuration(rng("light"), m))
    for step, own in zip(sweep.transforms, sweep.inertias(), strict=True):
        if not step.owner:
            assert own.mass == 0.0 and not np.any(own.second)
        elif m.body_joint_types[step.body].turns:
            assert type(own.mass) is float and own.mass == 0.0
            assert own.first[2] == own.second[2][2] == 0.0
