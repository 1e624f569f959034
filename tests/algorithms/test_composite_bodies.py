"""Composite bodies: turned and placed as points of mass are, and their momenta."""

from __future__ import annotations

import numpy as np

from dynamics_textbook import near
from linkwork.algorithms.body_masses import PLACES, BodyMass, symmetric
from linkwork.algorithms.composite_bodies import in_parent, momenta, turned_out, turned_square
from linkwork.algorithms.joint_passage import passages
from linkwork.algorithms.path import free_axes
from linkwork.mechanism.model import JointType, Mechanism
from linkwork.ops.numpy import NUMPY
from robots import body_poses, random_configuration
from seeds import rng


def of_points(points: np.ndarray) -> BodyMass:
    """Masses of 1 at points (n, 3)."""
    second = points.T @ points
    return BodyMass(
        float(len(points)), points.sum(axis=0).tolist(), [second[i, j] for i, j in PLACES]
    )


def same(a: BodyMass, b: BodyMass) -> None:
    near([a.mass, *a.first, *a.second], [b.mass, *b.first, *b.second])


def test_in_parent(every_joint: Mechanism, aligned_tree):
    random = rng("composites")
    for m in [every_joint, *(aligned_tree(random, 8) for _ in range(10))]:
        q = random_configuration(random, m)
        poses, points = body_poses(m, q), random.normal(size=(4, 3))
        for body, way in enumerate(passages(NUMPY, m, q)):
            own = of_points(points)
            turned = turned_out(way, own)
            same(turned, of_points(np.array([way.out_of_body(list(p)) for p in points])))
            if way.type.turns:  # the row along z vanishes, and is left out of the turn
                flat = points * [1, 1, 0]
                turned = turned_out(way, of_points(flat))
                assert turned.first[2] == turned.second[2] == turned.second[4] == 0
            above = poses[m.parent[body]] if m.parent[body] >= 0 else np.eye(4)
            T = np.linalg.inv(above) @ poses[body]
            same(in_parent(way, turned_out(way, own)), of_points(points @ T[:3, :3].T + T[:3, 3]))


def test_turned_square():
    random = rng("turned square")
    A, angle = random.normal(size=(2, 2)), 0.7
    A = A + A.T
    c, s = np.cos(angle), np.sin(angle)
    R = np.array([[c, -s], [s, c]])
    B = R @ A @ R.T
    near(turned_square((c, s), A[0, 0], A[0, 1], A[1, 1]), [B[0, 0], B[0, 1], B[1, 1]])


def test_momenta():
    random = rng("momenta")
    points = random.normal(size=(5, 3))
    own = of_points(points)
    for type in JointType:
        found = momenta(type, own, own)
        assert len(found) == type.n_v
        for (axis, turns), wrench in zip(free_axes(type), found, strict=True):
            unit = np.eye(3)[axis]
            speeds = np.cross(unit, points) if turns else np.tile(unit, (5, 1))
            near(wrench.force, speeds.sum(axis=0))
            near(wrench.moment, np.cross(points, speeds).sum(axis=0))
    assert len(symmetric(own.second)) == 3
