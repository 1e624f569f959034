"""Velocity and acceleration of the centre of mass: Jacobian, Pinocchio, parameters, back ends."""

from __future__ import annotations

import numpy as np
import pytest

from dynamics_pinocchio import Beside, near, real, trees
from linkwork.algorithms.center_of_mass_motion import total_mass
from linkwork.algorithms.registry import evaluate
from linkwork.compile.tracing import trace
from linkwork.errors import InputError
from linkwork.loading import load
from linkwork.mechanism.model import Mechanism
from robots import chain_urdf, mechanism_from, random_configuration
from seeds import rng


def compare(each: Beside) -> None:
    """Pinocchio's centre of mass is without what a fixed base carries."""
    pin = pytest.importorskip("pinocchio", reason="Pinocchio (pip install pin) is not installed")
    moving = pin.computeTotalMass(each.model)
    if not moving > 0:
        return
    pin.centerOfMass(*each.state)
    share = moving / each.m.mass.sum()
    near(evaluate("com_velocity", each.m, each.q, each.v), share * each.data.vcom[0])
    got = evaluate("com_acceleration", each.m, each.q, each.v, each.dv)
    near(got, share * each.data.acom[0])


def test_pinocchio():
    random = rng("com motion pinocchio")
    for each in (*trees(random, 60), *real(random)):
        compare(each)


def test_it_is_the_jacobian_times_v(every_joint: Mechanism, aligned_tree):
    random = rng("com velocity")
    for m in (every_joint, *[aligned_tree(random, 8) for _ in range(20)]):
        q, v = random_configuration(random, m), random.normal(size=m.n_v)
        near(evaluate("com_velocity", m, q, v), evaluate("com_jacobian", m, q) @ v, 1e-13)


def test_masses_as_parameters():
    m, random = load("panda").mechanism, rng("com parameters")
    q, v, dv = random_configuration(random, m), *random.normal(size=(2, m.n_v))
    link = m.body_names[-1]
    given = {f"mass:{link}": np.array([4.0]), f"payload:{link}": np.array([1.0, 0.1, 0.2, 0.3])}
    J = evaluate("com_jacobian", m, q, parameters=given)
    near(evaluate("com_velocity", m, q, v, parameters=given), J @ v, 1e-13)
    h, slope = 1e-4, []
    for t in (h, -h):
        moved = evaluate("integrate", m, q, t * v + t * t / 2 * dv)
        slope.append(evaluate("com_velocity", m, moved, v + t * dv, parameters=given))
    got = evaluate("com_acceleration", m, q, v, dv, parameters=given)
    near(got, (slope[0] - slope[1]) / (2 * h), 1e-6)


@pytest.mark.slow
def test_the_back_ends_agree(every_joint: Mechanism, agree):
    m, random = every_joint, rng("com motion back ends")
    q = np.array([random_configuration(random, m) for _ in range(4)])
    v, dv = random.normal(size=(2, 4, m.n_v))
    agree("com_velocity", m, q, v)
    agree("com_acceleration", m, q, v, dv)


def test_it_is_cheaper_than_the_jacobian():
    for name in ("panda", "humanoid"):
        m = load(name).mechanism
        n = trace("com_velocity", m).signature.instructions
        assert n < trace("com_jacobian", m).signature.instructions + 3 * m.n_v


def test_without_mass_there_is_no_centre():
    m = mechanism_from(chain_urdf(2))
    for name, n in (("com_velocity", 1), ("com_acceleration", 2)):
        with pytest.raises(InputError, match="add up to 0 kg"):
            evaluate(name, m, np.zeros(2), *[np.zeros(2)] * n)
    assert total_mass(load("panda").mechanism) == pytest.approx(load("panda").mechanism.mass.sum())
    rigid = mechanism_from(
        '<robot name="r"><link name="a"><inertial><mass value="2"/>'
        '<inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial></link></robot>'
    )
    assert not evaluate("com_velocity", rigid, np.zeros(0), np.zeros(0)).any()
