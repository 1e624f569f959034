"""Derivatives of forward dynamics: Pinocchio, those of inverse dynamics, parameters."""

from __future__ import annotations

import numpy as np
import pytest

from dynamics_pinocchio import Beside, beside, near, real
from linkwork.algorithms.forward_dynamics_derivatives import forward_dynamics_derivatives
from linkwork.algorithms.registry import evaluate
from linkwork.formats.urdf.read import read
from linkwork.ops.numpy import NUMPY
from robots import mechanism_from, random_configuration, random_tree
from seeds import rng
from small_mechanisms import small_mechanisms

NAME = "forward_dynamics_derivatives"


def compare(each: Beside, tau: np.ndarray, within: float) -> None:
    pin = pytest.importorskip("pinocchio", reason="Pinocchio (pip install pin) is not installed")
    back = np.linalg.inv(each.G)  # its inputs are theirs: no coupled joints here
    model, data, q, v, _ = each.state
    pin.computeABADerivatives(model, data, q, v, back.T @ tau)
    by_q, by_v, by_tau = evaluate(NAME, each.m, each.q, each.v, tau)
    near(by_q, back @ data.ddq_dq @ each.G, within)
    near(by_v, back @ data.ddq_dv @ each.G, within)
    near(by_tau, back @ np.array(data.Minv) @ back.T, within)


def test_pinocchio_on_trees():
    random, compared = rng("aba derivatives"), 0
    for k in range(30):
        text = random_tree(random, 6, ("revolute", "prismatic", "floating"), mimic=0)
        base = "floating" if k % 3 == 0 else "fixed"
        each = beside(random, read(text), base)
        condition = np.linalg.cond(evaluate("mass_matrix", each.m, each.q))
        if condition < 1e6:  # else some link without a weight is moved by nothing but itself
            compared += 1
            compare(each, 5 * random.normal(size=each.m.n_v), 1e-13 * max(1e3, condition))
    assert compared > 10


def test_pinocchio_on_real_robots():
    random = rng("aba derivatives real")
    for each in real(random):
        if each.G.shape[0] == each.G.shape[1]:
            compare(each, 5 * random.normal(size=each.m.n_v), 1e-8)


@pytest.mark.parametrize("which", range(3))
def test_they_are_those_of_inverse_dynamics(which: int):
    m, random = small_mechanisms()[which], rng(f"inverse of inverse {which}")
    q, v, tau = random_configuration(random, m), *random.normal(size=(2, m.n_v))
    given = {key: random.uniform(0.1, 1, m.n_v) for key in ("armature", "damping", "friction")}
    dv = evaluate("forward_dynamics", m, q, v, tau, parameters=given)
    got = evaluate(NAME, m, q, v, tau, parameters=given)
    del given["friction"]  # it acts through the accelerations alone
    by_q, by_v, M = evaluate("inverse_dynamics_derivatives", m, q, v, dv, parameters=given)
    near(got[2] @ M, np.eye(m.n_v), 1e-9)
    near(M @ got[0], -by_q, 1e-8)
    near(M @ got[1], -by_v, 1e-8)


def test_the_back_ends_agree(agree):
    random = rng("forward derivatives back ends")
    for m in small_mechanisms()[:1]:
        q = np.array([random_configuration(random, m) for _ in range(3)])
        agree(NAME, m, q, *random.normal(size=(2, 3, m.n_v)))


def test_nothing_moves():
    m, empty = mechanism_from('<robot name="r"><link name="a"/></robot>'), np.zeros(0)
    parts = forward_dynamics_derivatives(NUMPY, m, empty, empty, empty)
    assert [part.shape for part in parts] == [(0, 0)] * 3
