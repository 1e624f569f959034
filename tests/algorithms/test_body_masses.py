"""Inertias of bodies, and what is handed to parents."""

from __future__ import annotations

import numpy as np

from dynamics_textbook import near
from linkwork.algorithms.body_masses import PLACES, body_inertias, inertia_of_point, lightened
from linkwork.algorithms.parametric import Parametric
from linkwork.mechanism.model import JointType
from linkwork.ops.numpy import NUMPY
from robots import every_joint_urdf, mechanism_from
from seeds import rng


def test_second_moments_are_those_of_the_inertia():
    m = mechanism_from(every_joint_urdf(), base="floating")
    for body, own in enumerate(body_inertias(m)):
        J = np.array(own.second)
        C, mass = m.p_body_com[body], m.mass[body]
        about = m.I_com[body] + mass * (C @ C * np.eye(3) - np.outer(C, C))
        near(np.trace(J) * np.eye(3) - J, about)
        near(own.first, mass * C)
        assert own.mass == mass
    assert not any(np.any(own.second) for own in body_inertias(m, points=True))


def test_what_remains(aligned_tree):
    # that nothing is lost, the textbook says to which dynamics are held
    random = rng("what remains")
    for m in [aligned_tree(random, 9) for _ in range(10)]:
        for type, own in zip(m.body_joint_types, lightened(m), strict=True):
            if type.turns:
                assert (own.mass, own.first[2], own.second[2][2]) == (0.0, 0.0, 0.0)
            elif type is JointType.PRISMATIC:
                assert not np.any(own.second)
            elif type is JointType.PLANAR:
                assert own.second[2][2] == 0.0
            elif type is JointType.FIXED:
                assert own.mass == 0.0 and not np.any(own.first) and not np.any(own.second)


def test_a_fixed_base_counts_where_it_is_asked_for(aligned_tree):
    m = mechanism_from(every_joint_urdf())
    whole = sum(own.mass for own in lightened(m, base=True))
    near(whole, m.mass.sum())
    assert lightened(m)[0].mass == 0.0


def test_parameters_stay_where_they_are():
    m = mechanism_from(every_joint_urdf())
    given = Parametric(NUMPY, m, {"mass:lower": np.array([2.5])})
    body = int(m.frame_body[m.frame("lower")])
    assert lightened(given)[body].mass == 2.5 + (m.mass[body] - m.link_mass[m.frame("lower")])
    shifted = Parametric(NUMPY, m, {"xyz:shoulder": np.array([0.1, 0.2, 0.3])})
    body = int(m.frame_body[m.frame("upper")])
    assert lightened(m)[body].mass == 0
    assert lightened(shifted)[body].mass >= m.mass[body] > 0


def test_a_point():
    c = [0.3, 0.0, -0.7]
    got = inertia_of_point(2.0, c)
    expected = 2.0 * (np.dot(c, c) * np.eye(3) - np.outer(c, c))
    near(got, [expected[i, j] for i, j in PLACES], 1e-15)
    assert all(type(x) is float for x in got) and got[1] == 0
    assert inertia_of_point(0.0, [1.0, 2.0, 3.0]) == [0.0] * 6
    assert PLACES == tuple(zip(*(k.tolist() for k in np.triu_indices(3)), strict=True))
