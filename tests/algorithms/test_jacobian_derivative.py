"""dJ/dt v against differences of J along the motion, differentiation, and closed forms."""

from __future__ import annotations

import casadi as cs
import numpy as np
import pytest

from linkwork.algorithms.jacobian import REFERENCES
from linkwork.errors import InputError, UnknownNameError
from linkwork.mechanism.model import Mechanism
from robots import (
    chain_urdf,
    every_joint_urdf,
    mechanism_from,
    random_configuration,
    random_tree,
)
from seeds import rng
from symbols import evaluate


@pytest.mark.parametrize("reference", REFERENCES)
def test_differences_of_the_jacobian_along_the_motion(aligned_tree, reference: str):
    random = rng("jacobian derivative")
    trees = [aligned_tree(random, 8) for _ in range(15)]
    trees += [mechanism_from(random_tree(random, 8)) for _ in range(15)]
    h = 1e-3
    for m in trees:
        name = m.frame_names[int(random.integers(len(m.frame_names)))]
        q, v = random_configuration(random, m), random.normal(size=m.n_v)

        def twist(t: float, m=m, q=q, v=v, name=name):
            moved = evaluate("integrate", m, q, t * v)
            return evaluate("jacobian", m, moved, frame=name, reference=reference) @ v

        expected = (8 * (twist(h) - twist(-h)) - (twist(2 * h) - twist(-2 * h))) / (12 * h)
        got = evaluate("jacobian_dot_v", m, q, v, frame=name, reference=reference)
        scale = max(1.0, np.abs(expected).max()) ** 2
        np.testing.assert_allclose(got, expected, rtol=0, atol=1e-8 * scale)


@pytest.mark.parametrize("reference", REFERENCES)
def test_casadi_differentiation(every_joint: Mechanism, reference: str):
    random = rng("jacobian derivative casadi")
    for m in (every_joint, mechanism_from(every_joint_urdf(), base="floating")):
        q, v, t = cs.SX.sym("q", m.n_q), cs.SX.sym("v", m.n_v), cs.SX.sym("t")
        moved = evaluate("integrate", m, q, t * v)
        for name in m.frame_names[-4:]:
            J = evaluate("jacobian", m, moved, frame=name, reference=reference)
            rate = cs.substitute(cs.jacobian(J @ v, t), t, 0)
            f = cs.Function("f", [q, v], [cs.densify(rate)])
            q0, v0 = random_configuration(random, m), random.normal(size=m.n_v)
            expected = np.array(f(q0, v0)).ravel()
            got = evaluate("jacobian_dot_v", m, q0, v0, frame=name, reference=reference)
            scale = max(1.0, np.abs(expected).max())
            np.testing.assert_allclose(got, expected, rtol=0, atol=1e-13 * scale)


@pytest.mark.sweep(1)
@pytest.mark.parametrize("reference", REFERENCES)
def test_the_back_ends_agree(every_joint: Mechanism, agree, reference: str):
    random = rng("jacobian derivative back ends")
    m = every_joint
    q = np.array([random_configuration(random, m) for _ in range(4)])
    v = random.normal(size=(4, m.n_v))
    agree("jacobian_dot_v", m, q, v, frame="tool", reference=reference)


def test_a_wheel_pulls_inwards():
    m = mechanism_from(chain_urdf(2))
    q, v = np.array([0.3, 0.0]), np.array([2.0, 0.0])
    inwards = -0.1 * 4.0 * np.array([np.cos(0.3), np.sin(0.3), 0])
    got = evaluate("jacobian_dot_v", m, q, v, frame="link2")
    np.testing.assert_allclose(got, [*inwards, 0, 0, 0], rtol=0, atol=1e-15)
    # in its own axes the twist of a wheel does not change, nor does the twist at its axis
    for reference in ("local",):
        got = evaluate("jacobian_dot_v", m, q, v, frame="link2", reference=reference)
        np.testing.assert_allclose(got, np.zeros(6), rtol=0, atol=1e-15)


def test_quadratic_in_v(every_joint: Mechanism):
    m, random = every_joint, rng("quadratic")
    q, v = random_configuration(random, m), random.normal(size=m.n_v)
    once = evaluate("jacobian_dot_v", m, q, v, frame="tool")
    thrice = evaluate("jacobian_dot_v", m, q, -3 * v, frame="tool")
    np.testing.assert_allclose(thrice, 9 * once, rtol=1e-13, atol=1e-13)


def test_nothing_moves(agree):
    m = mechanism_from(chain_urdf(2, "fixed"))
    for reference in REFERENCES:
        empty = np.zeros((2, 0))
        got = agree("jacobian_dot_v", m, empty, empty, frame="link2", reference=reference)
        assert not got.any()


def test_bad_arguments(every_joint: Mechanism):
    m = every_joint
    q, v = np.zeros(m.n_q), np.zeros(m.n_v)
    with pytest.raises(InputError, match="reference='x'"):
        evaluate("jacobian_dot_v", m, q, v, frame="tool", reference="x")
    with pytest.raises(UnknownNameError, match="tool"):
        evaluate("jacobian_dot_v", m, q, v, frame="tolo")
