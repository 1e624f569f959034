"""Masses of bodies as second moments, and what is handed to parents."""

from __future__ import annotations

import numpy as np
import pytest

from backends import PRECISE, run
from dynamics_textbook import inverse_dynamics, near, state
from linkwork.algorithms.body_masses import (
    PLACES,
    BodyMass,
    body_masses,
    in_parent,
    inertia_of_point,
    joined,
    lightened,
    momenta,
    moved,
    placed,
    symmetric,
    turned_inertia,
    turned_out,
    turned_square,
)
from linkwork.algorithms.joint_passage import passages
from linkwork.algorithms.parametric import Parametric
from linkwork.algorithms.path import free_axes
from linkwork.algorithms.registry import evaluate
from linkwork.mechanism.model import JointType, Mechanism, Placement
from linkwork.ops.numpy import NUMPY
from linkwork.spatial.rotations import from_rpy
from robots import (
    about,
    body_poses,
    every_joint_urdf,
    mechanism_from,
    random_configuration,
    random_tree,
)
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


def six(A: np.ndarray) -> list[float]:
    return [float(A[i, j]) for i, j in PLACES]


def test_the_places_are_the_upper_triangle():
    assert PLACES == tuple(zip(*(k.tolist() for k in np.triu_indices(3)), strict=True))


def test_constants_stay_constants():
    c = [0.3, 0.0, -0.7]
    got = inertia_of_point(2.0, c)
    expected = 2.0 * (np.dot(c, c) * np.eye(3) - np.outer(c, c))
    np.testing.assert_allclose(got, six(expected), rtol=0, atol=1e-15)
    assert all(type(x) is float for x in got) and got[1] == 0
    assert inertia_of_point(0.0, [1.0, 2.0, 3.0]) == [0.0] * 6
    R = about(np.array([0.6, 0, 0.8]), 0.4)
    A = rng("turned").normal(size=(3, 3))
    A = A @ A.T
    got = turned_inertia(R.tolist(), six(A))
    assert all(type(x) is float for x in got)
    np.testing.assert_allclose(got, six(R @ A @ R.T), rtol=0, atol=1e-14)
    np.testing.assert_array_equal(symmetric(six(A)), A)


@pytest.mark.parametrize("backend", PRECISE)
def test_blocks(backend: str):
    random = rng("inertia blocks")
    R, p, mass = about(np.array([0, 0.6, 0.8]), 1.1), random.normal(size=3), np.array([1.7])
    A = random.normal(size=(3, 3))
    A = A + A.T

    def both(o, R, p, mass, numbers):
        at = inertia_of_point(mass[0], [p[0], p[1], p[2]])
        return o.vector([*at, *turned_inertia(R, [numbers[k] for k in range(6)])])

    got = run(backend, both, R, p, mass, np.array(six(A)))
    point = mass[0] * (p @ p * np.eye(3) - np.outer(p, p))
    np.testing.assert_allclose(got, [*six(point), *six(R @ A @ R.T)], rtol=0, atol=1e-14)
