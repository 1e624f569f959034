"""The mass matrix and the Coriolis matrix: a textbook, what they mean, and what they cost."""

from __future__ import annotations

import casadi as cs
import numpy as np
import pytest

from dynamics_pinocchio import Beside, real, trees
from dynamics_textbook import mass_matrix, near, sound_trees, state
from linkwork.algorithms.mass_matrix import mass_matrix as in_passes
from linkwork.algorithms.sweep import Sweep
from linkwork.compile.tracing import trace
from linkwork.loading import load
from linkwork.mechanism.model import Mechanism
from linkwork.ops.numpy import NUMPY
from robots import every_joint_urdf, mechanism_from, random_configuration, random_tree
from seeds import rng
from small_mechanisms import small_mechanisms
from symbols import evaluate


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
    entries = in_passes.passes(Sweep(NUMPY, m, np.ones(m.n_q))).lower()
    assert len(entries) < m.n_v * (m.n_v + 1) / 2


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


def test_the_back_ends_agree_of_coriolis(agree):
    random = rng("coriolis back ends")
    for m in small_mechanisms():
        q = np.array([random_configuration(random, m) for _ in range(3)])
        agree("coriolis_matrix", m, q, random.normal(size=(3, m.n_v)))


def test_it_is_cheap_of_coriolis():
    m = load("panda").mechanism
    derivatives = trace("inverse_dynamics_derivatives", m).signature.instructions
    assert trace("coriolis_matrix", m).signature.instructions < derivatives / 2


def test_without_speed_it_is_zero(every_joint: Mechanism):
    q = random_configuration(rng("still"), every_joint)
    assert not evaluate("coriolis_matrix", every_joint, q, np.zeros(every_joint.n_v)).any()
    rigid, empty = mechanism_from('<robot name="r"><link name="a"/></robot>'), np.zeros(0)
    assert evaluate("coriolis_matrix", rigid, empty, empty).shape == (0, 0)
