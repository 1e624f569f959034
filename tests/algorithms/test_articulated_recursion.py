"""The articulated recursion against the equations of motion, solved by NumPy."""

from __future__ import annotations

import numpy as np

from dynamics_textbook import inverse_dynamics, mass_matrix, near, sound_trees, state
from linkwork.algorithms.articulated_recursion import articulated_accelerations
from linkwork.algorithms.joint_passage import passages
from linkwork.algorithms.parametric import Parametric
from linkwork.mechanism.edit import subchain
from linkwork.ops.numpy import NUMPY
from robots import mechanism_from
from seeds import rng


def test_equations_of_motion():
    random = rng("articulated")
    for m in sound_trees(random, 30, mimic=0.0):
        q, v, push = state(random, m)
        bias = inverse_dynamics(m, q, v, np.zeros(m.n_v))
        M = mass_matrix(m, q)
        got = articulated_accelerations(m, passages(NUMPY, m, q), list(v), list(push))
        near(got, np.linalg.solve(M, push - bias), 1e-8)
        armature = random.uniform(0.1, 1, m.n_v)
        with_rotors = Parametric(NUMPY, m, {"armature": armature})
        got = articulated_accelerations(with_rotors, passages(NUMPY, m, q), list(v), list(push))
        near(got, np.linalg.solve(M + np.diag(armature), push - bias), 1e-8)


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
    q, v, push = state(rng("gear"), m)
    for armature in (0.0, 0.7):
        given = Parametric(NUMPY, m, {"armature": np.array([armature])})
        got = articulated_accelerations(given, passages(NUMPY, m, q), list(v), list(push))
        bias = inverse_dynamics(m, q, v, np.zeros(1))
        near(got, np.linalg.solve(mass_matrix(m, q) + armature, push - bias))
