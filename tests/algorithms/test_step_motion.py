"""Motions of steps against differences of poses; the algebra of spatial vectors."""

from __future__ import annotations

import numpy as np

from linkwork.algorithms.registry import evaluate
from linkwork.algorithms.step_motion import (
    both,
    crossed,
    crossed_wrench,
    doubled,
    motions_of,
    power,
)
from linkwork.algorithms.steps import Spatial, steps_of
from linkwork.mechanism.model import STANDARD_GRAVITY, Mechanism
from linkwork.ops.numpy import NUMPY
from robots import body_poses, mechanism_from, random_configuration, random_tree
from seeds import rng


def near(got, expected, within: float = 1e-13) -> None:
    np.testing.assert_allclose(np.concatenate(got), np.concatenate(expected), rtol=0, atol=within)


def spatial(random: np.random.Generator) -> Spatial:
    return Spatial(list(random.normal(size=3)), list(random.normal(size=3)))


def test_velocities_are_rates_of_poses(every_joint: Mechanism):
    random, h = rng("step velocities"), 1e-3
    for m in (every_joint, *[mechanism_from(random_tree(random, 7)) for _ in range(5)]):
        q, v = random_configuration(random, m), random.normal(size=m.n_v)
        steps = steps_of(NUMPY, m, q)
        moving = motions_of(m, steps, v)
        at = [body_poses(m, evaluate("integrate", m, q, k * h * v)) for k in (1, -1, 2, -2)]
        for body, T in enumerate(body_poses(m, q)):
            (k,) = [k for k, step in enumerate(steps) if step.owner and step.body == body]
            a, b, c, d = (poses[body] for poses in at)
            dT = (8 * (a - b) - (c - d)) / (12 * h)
            W = T[:3, :3].T @ dT[:3, :3]
            expected = T[:3, :3].T @ dT[:3, 3], [W[2, 1], W[0, 2], W[1, 0]]
            near(moving[k].velocity, expected, 1e-8)


def test_accelerations_are_rates_of_velocities(every_joint: Mechanism):
    # in the body's own axes the spatial acceleration is the rate of the velocity's numbers
    random, h = rng("step accelerations"), 1e-3
    for m in (every_joint, *[mechanism_from(random_tree(random, 7)) for _ in range(5)]):
        q, v, dv = random_configuration(random, m), *random.normal(size=(2, m.n_v))
        got = motions_of(m, steps_of(NUMPY, m, q), v, dv)
        ends = []
        for t in (h, -h, 2 * h, -2 * h):
            steps = steps_of(NUMPY, m, evaluate("integrate", m, q, t * v + t * t / 2 * dv))
            ends.append([each.velocity for each in motions_of(m, steps, v + t * dv)])
        for k, motion in enumerate(got):
            a, b, c, d = (np.concatenate(end[k]) for end in ends)
            rate = (8 * (a - b) - (c - d)) / (12 * h)
            near(motion.acceleration, (rate[:3], rate[3:]), 1e-7)


def test_gravity_is_an_acceleration_of_the_world(every_joint: Mechanism):
    m = every_joint
    q, still = random_configuration(rng("falling"), m), np.zeros(m.n_v)
    steps = steps_of(NUMPY, m, q)
    poses = body_poses(m, q)
    for step, motion in zip(steps, motions_of(m, steps, still, gravity=True), strict=True):
        if step.owner:
            up = -poses[step.body][:3, :3].T @ STANDARD_GRAVITY
            near(motion.acceleration, (up, np.zeros(3)))
    for motion in motions_of(m, steps, still):
        near(motion.acceleration, (np.zeros(3), np.zeros(3)), 0)


def test_before_a_step_and_after_it(every_joint: Mechanism):
    m, random = every_joint, rng("before")
    q, v = random_configuration(random, m), random.normal(size=m.n_v)
    steps = steps_of(NUMPY, m, q)
    for step, motion in zip(steps, motions_of(m, steps, v), strict=True):
        own = [0.0] * 6
        for k, (axis, turns) in enumerate(step.free):
            own[axis + 3 * turns] = step.factor * v[step.start + k]
        near(both(motion.velocity_before, Spatial(own[:3], own[3:])), motion.velocity)


def test_the_algebra():
    random = rng("algebra")
    a, b, c = (spatial(random) for _ in range(3))
    near(crossed(a, b), [-np.array(part) for part in crossed(b, a)])
    first, second, third = (
        crossed(*pair) for pair in ((crossed(a, b), c), (crossed(b, c), a), (crossed(c, a), b))
    )
    near(both(both(first, second), third), (np.zeros(3), np.zeros(3)), 1e-12)
    # a wrench that turns along does the same power
    np.testing.assert_allclose(power(crossed(a, b), c), -power(b, crossed_wrench(a, c)))
    near(doubled(a), both(a, a), 0)
