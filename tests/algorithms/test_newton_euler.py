"""Motions of bodies, and what moves them, against differences and points of mass."""

from __future__ import annotations

import numpy as np

from dynamics_textbook import body_jacobians, near, state
from linkwork.algorithms.body_masses import PLACES, BodyMass
from linkwork.algorithms.joint_passage import Wrench, passages
from linkwork.algorithms.newton_euler import Motion, motions, with_inertia
from linkwork.algorithms.registry import evaluate
from linkwork.mechanism.model import Mechanism
from linkwork.ops.numpy import NUMPY
from robots import body_poses
from seeds import rng


def found(m: Mechanism, q, v, dv) -> list[Motion]:
    return motions(m, passages(NUMPY, m, q), list(v), list(dv))


def test_motions(every_joint: Mechanism, aligned_tree):
    random = rng("motions")
    for m in [every_joint, *(aligned_tree(random, 7) for _ in range(12))]:
        q, v, dv = state(random, m)
        h = 1e-4

        def speeds(t: float, m=m, q=q, v=v, dv=dv):
            at = evaluate("integrate", m, q, t * v + t * t / 2 * dv)
            for J, T in zip(body_jacobians(m, at), body_poses(m, at), strict=True):
                omega, linear = np.split(J @ (v + t * dv), 2)
                yield T[:3, :3] @ omega, T[:3, :3] @ linear

        now, later, before = list(speeds(0)), list(speeds(h)), list(speeds(-h))
        for body, motion in enumerate(found(m, q, v, dv)):
            R = body_poses(m, q)[body][:3, :3]
            alpha, a = ((x - y) / (2 * h) for x, y in zip(later[body], before[body], strict=True))
            near(R @ motion.omega, now[body][0])
            near(R @ motion.alpha, alpha, 1e-5)
            near(R @ motion.acceleration - [0, 0, 9.80665], a, 1e-5)
            x, y, z = motion.omega
            K = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
            p, r, s = motion.alpha
            near(motion.field, np.array([[0, -s, r], [s, 0, -p], [-r, p, 0]]) + K @ K)
            near(motion.squares, [x * x, y * y, z * z])
            near(motion.xy, x * y)


def test_with_inertia_is_the_sum_over_points(every_joint: Mechanism):
    random = rng("points")
    q, v, dv = state(random, every_joint)
    motion = found(every_joint, q, v, dv)[-1]
    points, masses = random.normal(size=(6, 3)), random.uniform(1, 2, 6)
    second = np.einsum("k,ki,kj->ij", masses, points, points)
    own = BodyMass(masses.sum(), (masses @ points).tolist(), [second[i, j] for i, j in PLACES])
    start = Wrench(*random.normal(size=(2, 3)).tolist())
    forces = masses[:, None] * (np.array(motion.acceleration) + points @ np.array(motion.field).T)
    got = with_inertia(start, own, motion)
    near(got.force, start.force + forces.sum(axis=0))
    near(got.moment, start.moment + np.cross(points, forces).sum(axis=0))
