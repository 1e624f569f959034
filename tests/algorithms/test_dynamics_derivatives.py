"""Derivatives of inverse and forward dynamics against differences and differentiation."""

from __future__ import annotations

import numpy as np
import pytest

from dynamics_pinocchio import Beside, beside, near, real, trees
from linkwork.algorithms.dynamics_derivatives import forward_dynamics_derivatives
from linkwork.algorithms.registry import evaluate
from linkwork.compile.tracing import trace
from linkwork.formats.urdf.read import read
from linkwork.loading import load
from linkwork.mechanism.model import Mechanism
from linkwork.ops.numpy import NUMPY
from robots import chain_urdf, every_joint_urdf, mechanism_from, random_configuration, random_tree
from seeds import rng
from small_mechanisms import small_mechanisms

NAME = "inverse_dynamics_derivatives"


def compare(each: Beside) -> None:
    pin = pytest.importorskip("pinocchio", reason="Pinocchio (pip install pin) is not installed")
    got = evaluate(NAME, each.m, each.q, each.v, each.dv)
    theirs = pin.computeRNEADerivatives(*each.state)
    for ours, part in zip(got, theirs, strict=True):
        near(ours, each.G.T @ np.array(part) @ each.G)


@pytest.mark.sweep(2)
@pytest.mark.parametrize("part", range(4))
def test_pinocchio_on_trees(part: int):
    for each in trees(rng(f"rnea derivatives {part}"), 30):
        compare(each)


def test_pinocchio_on_real_robots():
    for each in real(rng("rnea derivatives real")):
        compare(each)


def test_the_parts_of_inverse_dynamics(every_joint: Mechanism):
    # tau is quadratic in v and linear in dv: what its derivatives must give back (Euler)
    random = rng("euler")
    for m in (every_joint, mechanism_from(every_joint_urdf(), base="floating")):
        q, v, dv = random_configuration(random, m), *random.normal(size=(2, m.n_v))
        _, by_v, by_dv = evaluate(NAME, m, q, v, dv)
        near(by_dv, evaluate("mass_matrix", m, q), 1e-13)
        gravity = evaluate("gravity_forces", m, q)
        near(by_v @ v / 2, evaluate("bias_forces", m, q, v) - gravity, 1e-12)
        # a floating base that is at another place feels nothing
        if m.joint_types[0].n_v == 6:
            by_q = evaluate(NAME, m, q, v, dv)[0]
            near(by_q[:, :3], np.zeros((m.n_v, 3)), 1e-13)


def test_it_is_linear_where_it_should_be(every_joint: Mechanism):
    m, random = every_joint, rng("linear")
    q, v, dv = random_configuration(random, m), *random.normal(size=(2, m.n_v))
    still = evaluate(NAME, m, q, 0 * v, dv)
    near(still[1], np.zeros((m.n_v, m.n_v)), 0)
    once, thrice = (evaluate(NAME, m, q, k * v, dv) for k in (1, -3))
    near(thrice[1], -3 * once[1], 1e-12)
    near(thrice[0] - still[0], 9 * (once[0] - still[0]), 1e-12)


def test_gravity_alone_is_symmetric():
    # at rest the forces are the slope of an energy, and coordinates that add up commute
    m = load("panda").mechanism
    q = random_configuration(rng("symmetric"), m)
    by_q = evaluate(NAME, m, q, np.zeros(m.n_v), np.zeros(m.n_v))[0]
    assert np.abs(by_q).max() > 1
    near(by_q, by_q.T, 1e-13)


def test_a_wrench_keeps_its_direction():
    m = load("planar_2r").mechanism
    frame = m.frame_names[m.n_link_frames - 1]
    q, zero = np.array([0.4, -0.9]), np.zeros(2)
    given = {f"wrench:{frame}": np.array([2.0, 1.0, -3.0, 0.3, 0.2, 5.0])}
    got = (
        evaluate(NAME, m, q, zero, zero, parameters=given)[0] - evaluate(NAME, m, q, zero, zero)[0]
    )
    h, expected = 1e-5, np.zeros((2, 2))
    for k in range(2):
        ends = []
        for step in (h, -h):
            moved = q + step * np.eye(2)[k]
            J = evaluate("jacobian", m, moved, frame=frame)
            ends.append(-J.T @ given[f"wrench:{frame}"])
        expected[:, k] = (ends[0] - ends[1]) / (2 * h)
    assert np.abs(expected).max() > 0.1
    near(got, expected, 1e-9)


def test_rotors_and_damping_stand_on_the_diagonal(every_joint: Mechanism):
    m, random = every_joint, rng("diagonal")
    q, v, dv = random_configuration(random, m), *random.normal(size=(2, m.n_v))
    given = {key: random.uniform(1, 2, m.n_v) for key in ("armature", "damping")}
    plain = evaluate(NAME, m, q, v, dv)
    got = evaluate(NAME, m, q, v, dv, parameters=given)
    near(got[0], plain[0], 0)
    near(got[1] - plain[1], np.diag(given["damping"]), 1e-12)
    near(got[2] - plain[2], np.diag(given["armature"]), 1e-12)


@pytest.mark.slow
def test_the_back_ends_agree(agree):
    random = rng("derivatives back ends")
    for m in small_mechanisms():
        q = np.array([random_configuration(random, m) for _ in range(3)])
        agree(NAME, m, q, *random.normal(size=(2, 3, m.n_v)))


def test_it_costs_less_than_six_inverse_dynamics():
    # counted as the compiler does; in batches the ratio of times is smaller still
    for name, most in (("panda", 3400), ("ur5e", 1850), ("humanoid", 13600)):
        m = load(name).mechanism
        n = trace(NAME, m).signature.instructions
        assert n <= most
        if name != "humanoid":  # a tree has more pairs of joints
            assert n < 6 * trace("inverse_dynamics", m).signature.instructions


def test_nothing_moves():
    m = mechanism_from('<robot name="r"><link name="a"/></robot>')
    empty = np.zeros(0)
    assert evaluate(NAME, m, empty, empty, empty).shape == (3, 0, 0)
    m = mechanism_from(chain_urdf(3))
    assert not evaluate(NAME, m, np.ones(3), np.ones(3), np.ones(3)).any()


NAME_of_forward = "forward_dynamics_derivatives"


def compare_of_forward(each: Beside, tau: np.ndarray, within: float) -> None:
    pin = pytest.importorskip("pinocchio", reason="Pinocchio (pip install pin) is not installed")
    back = np.linalg.inv(each.G)  # its inputs are theirs: no coupled joints here
    model, data, q, v, _ = each.state
    pin.computeABADerivatives(model, data, q, v, back.T @ tau)
    by_q, by_v, by_tau = evaluate(NAME_of_forward, each.m, each.q, each.v, tau)
    near(by_q, back @ data.ddq_dq @ each.G, within)
    near(by_v, back @ data.ddq_dv @ each.G, within)
    near(by_tau, back @ np.array(data.Minv) @ back.T, within)


def test_pinocchio_on_trees_of_forward():
    random, compared = rng("aba derivatives"), 0
    for k in range(30):
        text = random_tree(random, 6, ("revolute", "prismatic", "floating"), mimic=0)
        base = "floating" if k % 3 == 0 else "fixed"
        each = beside(random, read(text), base)
        condition = np.linalg.cond(evaluate("mass_matrix", each.m, each.q))
        if condition < 1e6:  # else some link without a weight is moved by nothing but itself
            compared += 1
            compare_of_forward(
                each, 5 * random.normal(size=each.m.n_v), 1e-13 * max(1e3, condition)
            )
    assert compared > 10


def test_pinocchio_on_real_robots_of_forward():
    random = rng("aba derivatives real")
    for each in real(random):
        if each.G.shape[0] == each.G.shape[1]:
            compare_of_forward(each, 5 * random.normal(size=each.m.n_v), 1e-8)


@pytest.mark.parametrize("which", range(3))
def test_they_are_those_of_inverse_dynamics(which: int):
    m, random = small_mechanisms()[which], rng(f"inverse of inverse {which}")
    q, v, tau = random_configuration(random, m), *random.normal(size=(2, m.n_v))
    given = {key: random.uniform(0.1, 1, m.n_v) for key in ("armature", "damping", "friction")}
    dv = evaluate("forward_dynamics", m, q, v, tau, parameters=given)
    got = evaluate(NAME_of_forward, m, q, v, tau, parameters=given)
    del given["friction"]  # it acts through the accelerations alone
    by_q, by_v, M = evaluate("inverse_dynamics_derivatives", m, q, v, dv, parameters=given)
    near(got[2] @ M, np.eye(m.n_v), 1e-9)
    near(M @ got[0], -by_q, 1e-8)
    near(M @ got[1], -by_v, 1e-8)


def test_the_back_ends_agree_of_forward(agree):
    random = rng("forward derivatives back ends")
    for m in small_mechanisms()[:1]:
        q = np.array([random_configuration(random, m) for _ in range(3)])
        agree(NAME_of_forward, m, q, *random.normal(size=(2, 3, m.n_v)))


def test_nothing_moves_of_forward():
    m, empty = mechanism_from('<robot name="r"><link name="a"/></robot>'), np.zeros(0)
    parts = forward_dynamics_derivatives(NUMPY, m, empty, empty, empty)
    assert [part.shape for part in parts] == [(0, 0)] * 3
