"""Composite bodies against sums over points, and against all bodies at once."""

from __future__ import annotations

import numpy as np
import pytest

from linkwork.algorithms.composite_bodies import (
    External,
    composite_inertias,
    composite_momenta,
    composite_wrenches,
    external_wrenches,
    inertial_wrench,
    momentum_matrix,
    point_masses,
)
from linkwork.algorithms.joint_transforms import Inertia, Spatial, power, traced
from linkwork.algorithms.parametric import Parametric
from linkwork.algorithms.registry import evaluate
from linkwork.algorithms.sweep import Motion, Sweep, motions
from linkwork.mechanism.model import Mechanism
from linkwork.ops.numpy import NUMPY
from linkwork.spatial import so3
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


def test_masses_behind_each_joint(free: list[Mechanism]):
    for m in free:
        q = random_configuration(rng("behind"), m)
        sweep = Sweep(NUMPY, m, q)
        whole = sweep.inwards(point_masses(sweep), lambda step, own: (own, own.out(step)))[0]
        expected = composite_inertias(sweep, sweep.inertias())[0]
        np.testing.assert_allclose([whole.mass, *whole.first], [expected.mass, *expected.first])


def test_what_is_moved_by_a_turn_has_no_mass_left():
    m = mechanism_from(every_joint_urdf())
    sweep = Sweep(NUMPY, m, random_configuration(rng("light"), m))
    for step, own in zip(sweep.transforms, sweep.inertias(), strict=True):
        if not step.owner:
            assert own.mass == 0.0 and not np.any(own.second)
        elif m.body_joint_types[step.body].turns:
            assert type(own.mass) is float and own.mass == 0.0
            assert own.first[2] == own.second[2][2] == 0.0


def one(F: np.ndarray, M: np.ndarray, r: np.ndarray) -> External:
    return External(list(F), list(M), np.outer(F, r).tolist())


def test_one_wrench():
    random = rng("one wrench")
    F, M, r, w, s, z = random.normal(size=(6, 3))
    given = one(F, M, r)
    np.testing.assert_allclose(
        np.concatenate(given.wrench), [*F, *(M + np.cross(r, F))], atol=1e-14
    )
    # turned about the point of attack at the rate w
    h, ends = 1e-5, []
    for t in (h, -h):
        R = np.array(so3.exp(NUMPY, t * w))
        ends.append(np.concatenate(one(R @ F, R @ M, r).wrench))
    expected = (ends[0] - ends[1]) / (2 * h)
    np.testing.assert_allclose(np.concatenate(given.turned(list(w))), expected, atol=1e-8)
    motion = Spatial(list(s), list(z))
    work = power(motion, given.turned(list(w)))
    np.testing.assert_allclose(np.dot(given.against(motion), w), work, atol=1e-13)


def test_wrenches_on_all_that_a_joint_moves(every_joint: Mechanism):
    random = rng("externals")
    for m in (every_joint, mechanism_from(every_joint_urdf(), base="floating")):
        q = random_configuration(random, m)
        moving = [k for k, b in enumerate(m.frame_body) if b > 0]
        names = [f"wrench:{m.frame_names[k]}" for k in random.choice(moving, 3, replace=False)]
        values = {name: random.normal(size=6) for name in names}
        given = Parametric(NUMPY, m, values)
        sweep = Sweep(NUMPY, given, q)
        found = external_wrenches(sweep)
        forces = np.zeros(m.n_v)
        for step, outside in zip(sweep.transforms, found, strict=True):
            if outside is not None:
                on = [*outside.wrench.linear, *outside.wrench.angular]
                for k, (axis, turns) in enumerate(step.free):
                    forces[step.start + k] += step.factor * on[axis + 3 * turns]
        expected = sum(
            evaluate("jacobian", m, q, frame=name.partition(":")[2]).T @ value
            for name, value in values.items()
        )
        np.testing.assert_allclose(forces, expected, rtol=0, atol=1e-12)
        assert given.unused() == []


def test_without_any_there_is_nothing(every_joint: Mechanism):
    sweep = Sweep(NUMPY, every_joint, random_configuration(rng("none"), every_joint))
    assert external_wrenches(sweep) == [None] * len(sweep.transforms)


def test_a_fixed_base_is_not_asked():
    m = mechanism_from(every_joint_urdf())
    given = Parametric(NUMPY, m, {"wrench:base": np.ones(6)})
    external_wrenches(Sweep(NUMPY, given, random_configuration(rng("base"), m)))
    assert given.unused() == ["wrench:base"]
