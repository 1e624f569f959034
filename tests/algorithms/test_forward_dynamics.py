"""Forward dynamics and the inverse mass matrix against the textbook's equations."""

from __future__ import annotations

import numpy as np

from dynamics_textbook import inverse_dynamics, mass_matrix, near, sound_trees, state
from linkwork.algorithms.forward_dynamics import is_coupled
from linkwork.algorithms.registry import evaluate
from linkwork.compile.tracing import trace
from linkwork.loading import load
from linkwork.mechanism.edit import subchain
from linkwork.mechanism.model import Mechanism
from robots import every_joint_urdf, mechanism_from, random_configuration, random_tree
from seeds import rng


def solution(m: Mechanism, q, v, tau) -> np.ndarray:
    bias = inverse_dynamics(m, q, v, np.zeros(m.n_v))
    return np.linalg.solve(mass_matrix(m, q), tau - bias)


def test_the_textbook():
    random = rng("forward dynamics")
    for mimic in (0.0, 0.5):
        trees = sound_trees(random, 20, mimic=mimic)
        assert any(is_coupled(m) for m in trees) == (mimic > 0)
        for m in trees:
            q, v, tau = state(random, m)
            near(evaluate("forward_dynamics", m, q, v, tau), solution(m, q, v, tau), 1e-8)


def test_parameters():
    random = rng("forward dynamics parameters")
    for m in sound_trees(random, 12):
        q, v, dv = state(random, m)
        of_v = ("armature", "damping", "friction")
        given = {name: random.uniform(0.1, 1, m.n_v) for name in of_v}
        given["gravity"] = random.normal(size=3)
        given[f"wrench:{m.frame_names[-1]}"] = random.normal(size=6)
        if not evaluate("jacobian", m, q, frame=m.frame_names[-1]).any():
            del given[f"wrench:{m.frame_names[-1]}"]
        tau = evaluate("inverse_dynamics", m, q, v, dv, parameters=given)
        near(evaluate("forward_dynamics", m, q, v, tau, parameters=given), dv, 1e-8)


def test_coupled_means_two_bodies_on_one_coordinate():
    assert is_coupled(mechanism_from(every_joint_urdf()))
    assert not is_coupled(mechanism_from(random_tree(rng("free"), 8, mimic=0.0)))


def test_the_back_ends_agree(agree):
    m = load("scara").mechanism
    random = rng("forward dynamics back ends")
    rows = [random.normal(size=(3, n)) for n in (m.n_q, m.n_v, m.n_v)]
    agree("forward_dynamics", m, *rows)


def test_nothing_moves():
    m = mechanism_from('<robot name="r"><link name="a"/></robot>')
    nothing = np.zeros(0)
    assert evaluate("forward_dynamics", m, nothing, nothing, nothing).shape == (0,)


def test_it_is_cheap():
    # one division for each joint: products of a reciprocal stay products
    for name, most in (("panda", 1400), ("ur5e", 1050), ("humanoid", 6500)):
        m = load(name).mechanism
        traced = trace("forward_dynamics", m)
        assert traced.signature.instructions <= most
        assert sum(traced.graph.operations[k] == "DIV" for k in traced.order) <= m.n_v


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


def test_the_back_ends_agree_of_inverse(agree):
    m = load("scara").mechanism
    agree("inverse_mass_matrix", m, rng("inverse back ends").normal(size=(3, m.n_q)))


def test_nothing_moves_of_inverse():
    m = mechanism_from('<robot name="r"><link name="a"/></robot>')
    assert evaluate("inverse_mass_matrix", m, np.zeros(0)).shape == (0, 0)


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
    q, v, tau = state(rng("gear"), m)
    for armature in (0.0, 0.7):
        given = {"armature": np.array([armature])}
        got = evaluate("forward_dynamics", m, q, v, tau, parameters=given)
        bias = inverse_dynamics(m, q, v, np.zeros(1))
        near(got, np.linalg.solve(mass_matrix(m, q) + armature, tau - bias))
