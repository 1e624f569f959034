"""Centroidal momentum and its matrix: Pinocchio, a free fall, back ends."""

from __future__ import annotations

import numpy as np
import pytest

from dynamics_pinocchio import Beside, near, real, trees
from linkwork.algorithms.registry import evaluate
from linkwork.errors import InputError
from linkwork.loading import load
from robots import chain_urdf, every_joint_urdf, mechanism_from, random_configuration
from seeds import rng
from small_mechanisms import small_mechanisms


def compare(each: Beside) -> None:
    """Pinocchio's centre of mass is without what a fixed base carries: the moment is moved."""
    pin = pytest.importorskip("pinocchio", reason="Pinocchio (pip install pin) is not installed")
    if not pin.computeTotalMass(each.model) > 0:
        return
    pin.ccrba(*each.state[:4])
    A = np.array(each.data.Ag).reshape(6, each.model.nv) @ each.G
    arm = each.data.com[0] - evaluate("com", each.m, each.q)
    A[3:] += np.cross(arm, A[:3], axis=0)
    near(evaluate("centroidal_matrix", each.m, each.q), A)
    near(evaluate("centroidal_momentum", each.m, each.q, each.v), A @ each.v)


def test_pinocchio():
    random = rng("centroidal pinocchio")
    for each in (*trees(random, 60), *real(random)):
        compare(each)


def test_without_forces_it_is_conserved():
    """What floats freely keeps its momentum while its joints move it as they like."""
    m, random = mechanism_from(every_joint_urdf(), base="floating"), rng("conserved")
    q, v, dv = random_configuration(random, m), *random.normal(size=(2, m.n_v))
    weightless = {"gravity": np.zeros(3)}
    # the base's acceleration that takes no force at the base
    bias = evaluate("bias_forces", m, q, v, parameters=weightless)
    M = evaluate("mass_matrix", m, q)
    dv[:6] = np.linalg.solve(M[:6, :6], -bias[:6] - M[:6, 6:] @ dv[6:])
    h, ends = 1e-4, []
    for t in (h, -h):
        moved = evaluate("integrate", m, q, t * v + t * t / 2 * dv)
        ends.append(evaluate("centroidal_momentum", m, moved, v + t * dv))
    near((ends[0] - ends[1]) / (2 * h), np.zeros(6), 1e-5)
    dv[:6] += 1
    moved = evaluate("integrate", m, q, h * v)
    assert np.abs(evaluate("centroidal_momentum", m, moved, v + h * dv) - ends[0]).max() > 1e-5


def test_the_back_ends_agree(agree):
    random = rng("centroidal back ends")
    for m in small_mechanisms():
        q = np.array([random_configuration(random, m) for _ in range(4)])
        agree("centroidal_momentum", m, q, random.normal(size=(4, m.n_v)))
        agree("centroidal_matrix", m, q)


def test_nothing_moves_or_weighs():
    rigid = load("planar_2r").mechanism
    assert evaluate("centroidal_matrix", rigid, np.zeros(rigid.n_q)).shape == (6, rigid.n_v)
    with pytest.raises(InputError, match="centre of mass"):
        evaluate("centroidal_momentum", mechanism_from(chain_urdf(2)), np.zeros(2), np.zeros(2))
