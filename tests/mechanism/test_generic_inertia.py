"""The mass matrix that checks look at, against the algorithm and against energies."""

from __future__ import annotations

import numpy as np
import pytest

from dynamics_cases import case, case_texts
from linkwork.algorithms.registry import evaluate
from linkwork.mechanism.generic_inertia import _SEED, generic_mass_matrix
from linkwork.mechanism.model import Mechanism
from robots import chain_urdf, mechanism_from, random_tree
from seeds import rng


def generic(m: Mechanism) -> np.ndarray:
    q = np.random.default_rng(_SEED).uniform(0.4, 1.2, m.n_q)
    for kind, start in zip(m.joint_types, m.q_start, strict=False):
        if kind.has_quaternion:
            wxyz = q[start + kind.n_lengths : start + kind.n_q]
            wxyz /= np.linalg.norm(wxyz)
    return q


@pytest.mark.parametrize("name", case_texts())
def test_it_is_the_mass_matrix(name: str):
    m = case(name)
    got, least = generic_mass_matrix(m)
    expected = evaluate("mass_matrix", m, generic(m))
    np.testing.assert_allclose(got, expected, rtol=0, atol=1e-12 * np.abs(expected).max())
    assert (least > 0).all()


def test_massless_links_count_as_nothing():
    for k in range(10):
        m = mechanism_from(random_tree(rng(f"bare {k}"), 6), base="floating" if k % 2 else "fixed")
        got, _ = generic_mass_matrix(m)
        expected = evaluate("mass_matrix", m, generic(m))
        np.testing.assert_allclose(got, expected, rtol=0, atol=1e-12 * np.abs(expected).max())


def test_what_is_unknown_has_a_weight():
    m = mechanism_from(chain_urdf(3))
    assert not generic_mass_matrix(m)[0].any()
    got, least = generic_mass_matrix(m, {3})
    assert (np.diagonal(got) > 0).all() and (least > 0).all()
    assert np.linalg.matrix_rank(got) == 3  # one square kilogram is felt three ways
    got, _ = generic_mass_matrix(m, {2})
    assert not got[2].any() and not got[:, 2].any() and got[1, 1] > 0


def test_without_joints():
    m = mechanism_from('<robot name="r"><link name="a"/></robot>')
    got, least = generic_mass_matrix(m)
    assert got.shape == (0, 0) and least.shape == (0,)
