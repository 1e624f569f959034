"""Kinetic energy: closed forms, the mass matrix, Pinocchio, back ends."""

from __future__ import annotations

import numpy as np
import pytest

from dynamics_pinocchio import near, real, trees
from linkwork.algorithms.registry import evaluate
from linkwork.compile.tracing import trace
from linkwork.loading import load
from linkwork.mechanism.model import Mechanism
from robots import mechanism_from, random_configuration
from seeds import rng

BAR = """<robot name="bar"><link name="base"/>
<link name="bar"><inertial><origin xyz="0.5 0 0"/><mass value="3"/>
<inertia ixx="0.01" ixy="0" ixz="0" iyy="0.2" iyz="0" izz="0.25"/></inertial></link>
<joint name="hinge" type="continuous"><parent link="base"/><child link="bar"/>
<axis xyz="0 0 1"/></joint></robot>"""


def test_a_bar_that_turns_and_flies():
    m = mechanism_from(BAR)
    got = evaluate("kinetic_energy", m, np.array([0.3]), np.array([2.0]))
    near(got, 0.5 * (0.25 + 3 * 0.25) * 4, 1e-15)
    m = mechanism_from(BAR, base="floating")
    q = np.concatenate([[1, 2, 3, 1, 0, 0, 0], [0.0]])
    v = np.array([0, 4.0, 0, 0, 0, 0, 2.0])  # the centre of mass at 4 + 0.5 * 2
    near(evaluate("kinetic_energy", m, q, v), 0.5 * 3 * 25 + 0.5 * 0.25 * 4, 1e-15)


def test_the_mass_matrix_and_rotors(every_joint: Mechanism):
    m, random = every_joint, rng("kinetic")
    q, v = random_configuration(random, m), random.normal(size=m.n_v)
    given = {"armature": random.uniform(0, 1, m.n_v)}
    M = evaluate("mass_matrix", m, q, parameters=given)
    near(evaluate("kinetic_energy", m, q, v, parameters=given), v @ M @ v / 2, 1e-13)


def test_pinocchio():
    pin = pytest.importorskip("pinocchio", reason="Pinocchio (pip install pin) is not installed")
    random = rng("kinetic pinocchio")
    for each in (*trees(random, 60), *real(random)):
        theirs = pin.computeKineticEnergy(*each.state[:4])
        near(evaluate("kinetic_energy", each.m, each.q, each.v), theirs, 1e-12)


def test_the_back_ends_agree(every_joint: Mechanism, agree):
    m, random = every_joint, rng("kinetic back ends")
    q = np.array([random_configuration(random, m) for _ in range(4)])
    agree("kinetic_energy", m, q, random.normal(size=(4, m.n_v)))


def test_it_is_cheap():
    m = load("panda").mechanism
    n = trace("kinetic_energy", m).signature.instructions
    assert n < trace("inverse_dynamics", m).signature.instructions / 2
    assert n < trace("mass_matrix", m).signature.instructions


def test_nothing_moves():
    m = mechanism_from('<robot name="r"><link name="a"/></robot>')
    assert evaluate("kinetic_energy", m, np.zeros(0), np.zeros(0)) == 0
