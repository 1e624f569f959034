"""Masses of bodies as second moments, and what is handed to parents."""

from __future__ import annotations

import numpy as np

from dynamics_textbook import inverse_dynamics, near, state
from linkwork.algorithms.body_masses import (
    PLACES,
    BodyMass,
    body_masses,
    joined,
    lightened,
    moved,
    placed,
    symmetric,
)
from linkwork.algorithms.parametric import Parametric
from linkwork.algorithms.registry import evaluate
from linkwork.mechanism.model import JointType, Placement
from linkwork.ops.numpy import NUMPY
from linkwork.spatial.rotations import from_rpy
from robots import every_joint_urdf, mechanism_from, random_tree
from seeds import rng


def as_matrix(own: BodyMass) -> np.ndarray:
    """The second moments (4, 4) of a body in homogeneous coordinates."""
    P = np.zeros((4, 4))
    P[:3, :3] = symmetric(own.second)
    P[:3, 3] = P[3, :3] = own.first
    P[3, 3] = own.mass
    return P


def some_body(random: np.random.Generator) -> BodyMass:
    points = random.normal(size=(5, 4))
    points[:, 3] = 1
    P = points.T @ points
    return BodyMass(P[3, 3], P[:3, 3].tolist(), [P[i, j] for i, j in PLACES])


def test_second_moments_are_those_of_the_inertia():
    m = mechanism_from(every_joint_urdf(), base="floating")
    for body, own in enumerate(body_masses(m)):
        J = np.array(symmetric(own.second))
        C, mass = m.p_body_com[body], m.mass[body]
        about = m.I_com[body] + mass * (C @ C * np.eye(3) - np.outer(C, C))
        near(np.trace(J) * np.eye(3) - J, about)
        near(own.first, mass * C)
        assert own.mass == mass


def test_placed_as_points_are():
    random = rng("placed masses")
    own, other = some_body(random), some_body(random)
    R, p = from_rpy(NUMPY, random.normal(size=3)), random.normal(size=3)
    T = np.eye(4)
    T[:3, :3], T[:3, 3] = R, p
    near(as_matrix(placed(own, Placement(R.tolist(), p.tolist()))), T @ as_matrix(own) @ T.T)
    T[:3, :3] = np.eye(3)
    near(as_matrix(moved(own, p.tolist())), T @ as_matrix(own) @ T.T)
    near(as_matrix(joined(own, other)), as_matrix(own) + as_matrix(other))


def test_what_remains(aligned_tree):
    random = rng("what remains")
    for m in [aligned_tree(random, 9) for _ in range(10)]:
        for type, own in zip(m.body_joint_types, lightened(m), strict=True):
            if type.turns:
                assert (own.mass, own.first[2], own.second[5]) == (0.0, 0.0, 0.0)
            elif type is JointType.PRISMATIC:
                assert own.second == [0.0] * 6
            elif type is JointType.PLANAR:
                assert own.second[5] == 0.0
            elif type is JointType.FIXED:
                assert not as_matrix(own).any()


def test_dynamics_do_not_notice():
    # the textbook, on bodies as they are, is what the algorithms on lightened ones are held to;
    # here the other way: what was handed on is needed
    random = rng("not noticed")
    m = mechanism_from(random_tree(random, 6, ("revolute", "prismatic"), mimic=0.0))
    q, v, dv = state(random, m)
    near(evaluate("inverse_dynamics", m, q, v, dv), inverse_dynamics(m, q, v, dv))
    assert lightened(m) != body_masses(m)


def test_parameters_stay_where_they_are():
    m = mechanism_from(every_joint_urdf())
    value = np.array([2.5])
    given = Parametric(NUMPY, m, {"mass:lower": value})
    body = int(m.frame_body[m.frame("lower")])
    assert lightened(given)[body].mass == 2.5 + (m.mass[body] - m.link_mass[m.frame("lower")])
    shifted = Parametric(NUMPY, m, {"xyz:shoulder": np.array([0.1, 0.2, 0.3])})
    body = int(m.frame_body[m.frame("upper")])
    assert lightened(m)[body].mass == 0
    assert lightened(shifted)[body].mass >= m.mass[body] > 0
