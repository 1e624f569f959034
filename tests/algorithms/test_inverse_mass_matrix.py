"""The inverse of the mass matrix, against NumPy's."""

from __future__ import annotations

import numpy as np

from dynamics_textbook import mass_matrix, near, sound_trees
from linkwork.algorithms.registry import evaluate
from linkwork.loading import load
from robots import mechanism_from, random_configuration
from seeds import rng


def test_numpy():
    random = rng("inverse mass matrix")
    for m in sound_trees(random, 30):
        q = random_configuration(random, m)
        got = evaluate("inverse_mass_matrix", m, q)
        assert np.array_equal(got, got.T)
        near(got @ mass_matrix(m, q), np.eye(m.n_v), 1e-8)


def test_it_is_what_forces_give():
    random = rng("what forces give")
    for m in sound_trees(random, 8):
        q, tau, zero = random_configuration(random, m), random.normal(size=m.n_v), np.zeros(m.n_v)
        given = {"armature": random.uniform(0.1, 1, m.n_v)}
        pushed, free = (
            evaluate("forward_dynamics", m, q, zero, f, parameters=given) for f in (tau, zero)
        )
        W = evaluate("inverse_mass_matrix", m, q, parameters=given)
        near(W @ tau, pushed - free, 1e-8)


def test_branches_from_a_fixed_base_do_not_meet():
    m = load("quadruped").mechanism
    q = random_configuration(rng("branches"), m)
    W, M = evaluate("inverse_mass_matrix", m, q), evaluate("mass_matrix", m, q)
    near(W, np.linalg.inv(M), 1e-9)


def test_the_back_ends_agree(agree):
    m = load("scara").mechanism
    agree("inverse_mass_matrix", m, rng("inverse back ends").normal(size=(3, m.n_q)))


def test_nothing_moves():
    m = mechanism_from('<robot name="r"><link name="a"/></robot>')
    assert evaluate("inverse_mass_matrix", m, np.zeros(0)).shape == (0, 0)
