"""Articulated bodies as matrices (6, 6)."""

from __future__ import annotations

import numpy as np
import pytest

from dynamics_textbook import inverse_dynamics, mass_matrix, near, skew, sound_trees, state
from linkwork.algorithms.articulated_bodies import (
    Resistance,
    articulated_accelerations,
    give_way,
    in_parent,
    joined,
    of_body,
    turned_out,
)
from linkwork.algorithms.body_masses import PLACES, BodyMass
from linkwork.algorithms.joint_passage import passages
from linkwork.algorithms.parametric import Parametric
from linkwork.mechanism.edit import subchain
from linkwork.mechanism.model import Mechanism
from linkwork.ops.numpy import NUMPY
from robots import mechanism_from, random_configuration
from seeds import rng


def as_matrix(own: Resistance) -> np.ndarray:
    M, H, inertia = (np.array(block, float) for block in (own.M, own.H, own.I))
    return np.block([[M, H], [H.T, inertia]])


def some(random: np.random.Generator) -> Resistance:
    A = random.normal(size=(6, 6))
    A = A @ A.T
    return Resistance(A[:3, :3].tolist(), A[:3, 3:].tolist(), A[3:, 3:].tolist())


def test_a_rigid_body_is_the_sum_over_its_points():
    points = rng("rigid").normal(size=(4, 3))
    second = points.T @ points
    own = BodyMass(4.0, points.sum(axis=0).tolist(), [second[i, j] for i, j in PLACES])
    rows = [np.hstack([np.eye(3), -skew(p)]) for p in points]
    near(as_matrix(of_body(own)), sum(B.T @ B for B in rows))


@pytest.mark.parametrize("axis", range(6))
@pytest.mark.parametrize("armature", [0.0, np.float64(0.3)])
def test_giving_way_takes_a_rank(axis: int, armature: float):
    whole = some(rng(f"give way {axis}"))
    A, unit = as_matrix(whole), np.eye(6)[axis]
    found = give_way(whole, axis, armature)
    near(as_matrix(found.left), A - np.outer(A @ unit, unit @ A) / (A[axis, axis] + armature))
    near(found.column, A @ unit)
    near(found.inverse, -1 / (A[axis, axis] + armature))
    assert found.is_bare == (armature == 0)
    if found.is_bare:  # zero by structure
        left = found.left
        assert left.column(axis) == [0.0] * 6
    near([found.left.column(k) for k in range(6)], as_matrix(found.left))


def test_through_a_joint(every_joint: Mechanism, aligned_tree):
    random = rng("articulated passage")
    for m in [every_joint, *(aligned_tree(random, 8) for _ in range(8))]:
        q = random_configuration(random, m)
        for way in passages(NUMPY, m, q):
            own, other = some(random), some(random)
            R = np.array([way.out_of_body(row) for row in np.eye(3).tolist()]).T
            turn = np.kron(np.eye(2), R)
            turned = turned_out(way, own)
            near(as_matrix(turned), turn @ as_matrix(own) @ turn.T)
            # wrenches go as [1 0; [p] 1], by virtual work A goes to both sides
            at = np.array(way.p) + way.out_of_joint(way.shift or [0.0] * 3)
            placed = np.kron(np.eye(2), np.array(way.R))
            X = np.eye(6)
            X[3:, :3] = skew(at)
            expected = X @ placed @ as_matrix(turned) @ placed.T @ X.T
            near(as_matrix(in_parent(way, turned)), expected)
            near(as_matrix(joined(own, other)), as_matrix(own) + as_matrix(other))


def test_equations_of_motion():
    random = rng("articulated")
    for m in sound_trees(random, 30, mimic=0.0):
        q, v, push = state(random, m)
        bias = inverse_dynamics(m, q, v, np.zeros(m.n_v))
        M = mass_matrix(m, q)
        got = articulated_accelerations(m, passages(NUMPY, m, q), list(v), list(push))
        near(got, np.linalg.solve(M, push - bias), 1e-8)
        armature = random.uniform(0.1, 1, m.n_v)
        with_rotors = Parametric(NUMPY, m, {"armature": armature})
        got = articulated_accelerations(with_rotors, passages(NUMPY, m, q), list(v), list(push))
        near(got, np.linalg.solve(M + np.diag(armature), push - bias), 1e-8)


def test_a_multiplier_is_a_gear():
    # a chain that holds a follower alone: its coordinate is the leader's, which moves nothing here
    link = '<inertial><mass value="2"/><inertia ixx="1" iyy="2" izz="2" ixy="0" ixz="0" iyz="0"/>'
    names = ("a", "b", "c")
    links = "".join(f'<link name="{name}">{link}</inertial></link>' for name in names)
    joint = '<joint name="{0}" type="continuous"><parent link="a"/><child link="{1}"/>{2}</joint>'
    mimic = '<origin xyz="0.3 0.1 0"/><axis xyz="0 1 0"/><mimic joint="j" multiplier="-0.5"/>'
    joints = joint.format("j", "b", "") + joint.format("k", "c", mimic)
    m = subchain(mechanism_from(f'<robot name="r">{links}{joints}</robot>'), "a", "c")
    assert m.n_v == 1 and m.multiplier[-1] == -0.5
    q, v, push = state(rng("gear"), m)
    for armature in (0.0, 0.7):
        given = Parametric(NUMPY, m, {"armature": np.array([armature])})
        got = articulated_accelerations(given, passages(NUMPY, m, q), list(v), list(push))
        bias = inverse_dynamics(m, q, v, np.zeros(1))
        near(got, np.linalg.solve(mass_matrix(m, q) + armature, push - bias))
