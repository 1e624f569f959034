"""The Coriolis matrix: Pinocchio's, Christoffel's symbols, operations, back ends."""

from __future__ import annotations

import casadi as cs
import numpy as np
import pytest

from dynamics_pinocchio import Beside, near, real, trees
from linkwork.compile.tracing import trace
from linkwork.loading import load
from linkwork.mechanism.model import Mechanism
from robots import mechanism_from, random_configuration, random_tree
from seeds import rng
from small_mechanisms import small_mechanisms
from symbols import evaluate


def compare(each: Beside) -> None:
    pin = pytest.importorskip("pinocchio", reason="Pinocchio (pip install pin) is not installed")
    theirs = pin.computeCoriolisMatrix(*each.state[:4])
    near(evaluate("coriolis_matrix", each.m, each.q, each.v), each.G.T @ theirs @ each.G)


def test_pinocchio():
    random = rng("coriolis pinocchio")
    for each in (*trees(random, 60), *real(random)):
        compare(each)


def test_it_is_that_of_christoffel_where_nothing_floats():
    random = rng("christoffel")
    types = ("revolute", "prismatic", "planar")
    for _ in range(5):
        m = mechanism_from(random_tree(random, 4, types))
        q, v = cs.SX.sym("q", m.n_q), cs.SX.sym("v", m.n_v)
        M = cs.densify(evaluate("mass_matrix", m, q))
        by_q = [cs.reshape(cs.jacobian(cs.vec(M), q[k]), m.n_v, m.n_v) for k in range(m.n_v)]
        rate = sum((by_q[k] * v[k] for k in range(m.n_v)), cs.SX(m.n_v, m.n_v))
        along = cs.horzcat(*[part @ v for part in by_q])  # dM_ij / dq_k v_j
        C = (rate + along - along.T) / 2
        at = random_configuration(random, m), random.normal(size=m.n_v)
        expected = np.array(cs.Function("C", [q, v], [cs.densify(C)])(*at))
        near(evaluate("coriolis_matrix", m, *at), expected, 1e-12)


def test_the_back_ends_agree(agree):
    random = rng("coriolis back ends")
    for m in small_mechanisms():
        q = np.array([random_configuration(random, m) for _ in range(3)])
        agree("coriolis_matrix", m, q, random.normal(size=(3, m.n_v)))


def test_it_is_cheap():
    m = load("panda").mechanism
    derivatives = trace("inverse_dynamics_derivatives", m).signature.instructions
    assert trace("coriolis_matrix", m).signature.instructions < derivatives / 2


def test_without_speed_it_is_zero(every_joint: Mechanism):
    q = random_configuration(rng("still"), every_joint)
    assert not evaluate("coriolis_matrix", every_joint, q, np.zeros(every_joint.n_v)).any()
    rigid, empty = mechanism_from('<robot name="r"><link name="a"/></robot>'), np.zeros(0)
    assert evaluate("coriolis_matrix", rigid, empty, empty).shape == (0, 0)
