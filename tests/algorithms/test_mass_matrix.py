"""The mass matrix: a textbook, what it means, its entries as a dictionary, and what it costs."""

from __future__ import annotations

import numpy as np
import pytest

from dynamics_textbook import mass_matrix, near, sound_trees, state
from linkwork.algorithms.joint_passage import passages
from linkwork.algorithms.mass_matrix import mass_entries, symmetric_matrix
from linkwork.algorithms.registry import evaluate
from linkwork.compile.tracing import trace
from linkwork.loading import load
from linkwork.mechanism.model import Mechanism
from linkwork.ops.numpy import NUMPY
from robots import every_joint_urdf, mechanism_from, random_configuration, random_tree
from seeds import rng


def test_the_textbook(aligned_tree):
    random = rng("mass matrix")
    trees = [mechanism_from(random_tree(random, 9)) for _ in range(20)]
    trees += [mechanism_from(random_tree(random, 9), base="floating") for _ in range(10)]
    trees += [aligned_tree(random, 9) for _ in range(30)]
    for m in trees:
        q = random_configuration(random, m)
        M = evaluate("mass_matrix", m, q)
        near(M, mass_matrix(m, q))
        assert np.array_equal(M, M.T)


def test_it_is_what_accelerations_take():
    random = rng("mass matrix meaning")
    for m in sound_trees(random, 12):
        q, v, dv = state(random, m)
        armature = random.uniform(0, 1, m.n_v)
        given = {"armature": armature}
        force = evaluate("inverse_dynamics", m, q, v, dv, parameters=given)
        M = evaluate("mass_matrix", m, q, parameters=given)
        near(M @ dv, force - evaluate("bias_forces", m, q, v), 1e-10)
        near(M, evaluate("mass_matrix", m, q) + np.diag(armature))
        assert np.linalg.eigvalsh(M)[0] > 0


def test_coupled_joints_meet_each_other():
    # two equal turns about one axis and one coordinate: the outer body turns by their sum
    m = mechanism_from(
        '<robot name="two"><link name="a"/><link name="b"/><link name="c"><inertial><mass '
        'value="1"/><inertia ixx="1" iyy="1" izz="3" ixy="0" ixz="0" iyz="0"/></inertial></link>'
        '<joint name="j" type="continuous"><parent link="a"/><child link="b"/><axis xyz="0 0 1"/>'
        '</joint><joint name="k" type="continuous"><parent link="b"/><child link="c"/><axis '
        'xyz="0 0 1"/><mimic joint="j" multiplier="2"/></joint></robot>'
    )
    near(evaluate("mass_matrix", m, np.ones(1)), [[3.0 * 3**2]])


def test_branches_have_no_entries():
    m = load("humanoid").mechanism
    entries = mass_entries(m, passages(NUMPY, m, NUMPY.const(np.ones(m.n_q))))
    M = symmetric_matrix(NUMPY, entries, m.n_v)
    assert len(entries) < m.n_v * (m.n_v + 1) / 2
    assert (M != 0).sum() <= 2 * len(entries) - m.n_v


def test_nothing_moves():
    m = mechanism_from('<robot name="r"><link name="a"/></robot>')
    assert evaluate("mass_matrix", m, np.zeros(0)).shape == (0, 0)


@pytest.mark.sweep(1)
@pytest.mark.parametrize("base", ["fixed", "floating"])
def test_the_back_ends_agree(every_joint: Mechanism, agree, base: str):
    random = rng("mass matrix back ends")
    m = every_joint if base == "fixed" else mechanism_from(every_joint_urdf(), base="floating")
    agree("mass_matrix", m, np.array([random_configuration(random, m) for _ in range(3)]))


def test_it_is_cheap():
    for name, most in (("panda", 510), ("ur5e", 310), ("humanoid", 2600)):
        m = load(name).mechanism
        assert trace("mass_matrix", m).signature.instructions <= most


def test_fingers_that_move_apart_cancel():
    # what a slide and its fingers share is a constant of each finger, and zero for both
    m, random = load("two_arm_torso").mechanism, rng("fingers")
    q, v = random_configuration(random, m), random.normal(size=m.n_v)
    M = evaluate("mass_matrix", m, q)
    assert evaluate("kinetic_energy", m, q, v) == pytest.approx(0.5 * v @ M @ v, rel=1e-12)
