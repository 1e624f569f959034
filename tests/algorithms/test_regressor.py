"""The regressor: Pinocchio, inverse dynamics, masses found from forces, back ends."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from dynamics_pinocchio import Beside, near, real, trees
from linkwork.algorithms.registry import evaluate
from linkwork.algorithms.regressor import N_NUMBERS, inertial_parameters
from linkwork.loading import load
from linkwork.mechanism.model import Mechanism
from robots import every_joint_urdf, mechanism_from, random_configuration
from seeds import rng
from small_mechanisms import small_mechanisms

PIN_ORDER = [0, 1, 2, 3, 4, 5, 7, 6, 8, 9]  # where Pinocchio has our numbers: xx xy yy xz yz zz


def compare(each: Beside) -> None:
    pin = pytest.importorskip("pinocchio", reason="Pinocchio (pip install pin) is not installed")
    m = each.m
    theirs = np.atleast_2d(pin.computeJointTorqueRegressor(*each.state))
    got = evaluate("regressor", m, each.q, each.v, each.dv).reshape(m.n_v, -1, N_NUMBERS)
    for body, joint in enumerate(m.body_joint_names):
        if not m.body_joint_types[body].n_v:
            assert not got[:, body].any()
            continue
        first = 10 * (each.model.getJointId(joint) - 1)
        expected = each.G.T @ theirs[:, first : first + 10][:, PIN_ORDER]
        near(got[:, body], expected)


def test_pinocchio():
    random = rng("regressor pinocchio")
    for each in (*trees(random, 60), *real(random)):
        compare(each)


def test_times_the_numbers_it_is_inverse_dynamics(every_joint: Mechanism, aligned_tree):
    random = rng("regressor")
    for m in (every_joint, *[aligned_tree(random, 8) for _ in range(20)]):
        q, v, dv = random_configuration(random, m), *random.normal(size=(2, m.n_v))
        Y = evaluate("regressor", m, q, v, dv)
        near(Y @ inertial_parameters(m), evaluate("inverse_dynamics", m, q, v, dv), 1e-12)


def test_masses_are_found_from_forces():
    """Joint forces of a robot whose masses are other than its description says, 30 states."""
    m, random = load("panda").mechanism, rng("identify")
    true = replace(m, mass=m.mass * random.uniform(0.5, 2, m.n_bodies))
    rows, forces = [], []
    for _ in range(30):
        q, v, dv = random_configuration(random, m), *random.normal(size=(2, m.n_v))
        rows.append(evaluate("regressor", m, q, v, dv))
        forces.append(evaluate("inverse_dynamics", true, q, v, dv))
    Y, tau = np.vstack(rows), np.concatenate(forces)
    found, _, rank, _ = np.linalg.lstsq(Y, tau, rcond=1e-10)
    assert rank < Y.shape[1]  # some numbers act only together
    near(Y @ found, tau, 1e-10)
    # the least change of the described numbers that explains the forces predicts others
    p = inertial_parameters(m)
    p = p + np.linalg.lstsq(Y, tau - Y @ p, rcond=1e-10)[0]
    q, v, dv = random_configuration(random, m), *random.normal(size=(2, m.n_v))
    near(evaluate("regressor", m, q, v, dv) @ p, evaluate("inverse_dynamics", true, q, v, dv), 1e-9)
    assert np.abs(tau - Y @ inertial_parameters(m)).max() > 1


def test_the_numbers_of_a_link():
    m = mechanism_from(every_joint_urdf())
    body = m.body_names.index("upper")
    mass, *rest = inertial_parameters(m)[10 * body : 10 * body + 10]
    assert mass == 2
    near(rest[:3], [0, 0.04, 0.4], 1e-15)
    near(
        rest[3:],
        [0.03 + 2 * 0.0404, 0, 0.001, 0.03 + 2 * 0.04, -2 * 0.004, 0.01 + 2 * 0.0004],
        1e-15,
    )


@pytest.mark.slow
def test_the_back_ends_agree(agree):
    random = rng("regressor back ends")
    for m in small_mechanisms():
        q = np.array([random_configuration(random, m) for _ in range(3)])
        agree("regressor", m, q, *random.normal(size=(2, 3, m.n_v)))


def test_nothing_moves():
    m, empty = mechanism_from('<robot name="r"><link name="a"/></robot>'), np.zeros(0)
    assert evaluate("regressor", m, empty, empty, empty).shape == (0, 10)
