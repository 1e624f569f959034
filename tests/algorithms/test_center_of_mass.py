"""The centre of mass, the momentum about it and the energies, against sums over the bodies."""

from __future__ import annotations

import dataclasses

import casadi as cs
import numpy as np
import pytest

from dynamics_pinocchio import Beside, near, real
from dynamics_pinocchio import trees as pinocchio_trees
from linkwork.algorithms.center_of_mass import total_mass
from linkwork.compile.tracing import trace
from linkwork.errors import InputError
from linkwork.loading import load
from linkwork.mechanism.assemble import JointPart, LinkPart, Parts, assemble
from linkwork.mechanism.model import JointType, Mechanism
from robots import (
    chain_urdf,
    every_joint_urdf,
    mechanism_from,
    random_configuration,
    random_tree,
    total_inertia,
)
from seeds import rng
from small_mechanisms import small_mechanisms
from symbols import evaluate


def trees(aligned_tree, seed: str) -> list[Mechanism]:
    random = rng(seed)
    found = [aligned_tree(random, 9) for _ in range(25)]
    found += [mechanism_from(random_tree(random, 9)) for _ in range(15)]
    found += [mechanism_from(random_tree(random, 9), base="floating") for _ in range(10)]
    return found


def test_sums_over_the_bodies(aligned_tree):
    random = rng("com")
    for m in trees(aligned_tree, "com trees"):
        for _ in range(3):
            q = random_configuration(random, m)
            _, expected, _ = total_inertia(m, q)
            scale = max(1.0, np.abs(expected).max())
            got = evaluate("com", m, q)
            np.testing.assert_allclose(got, expected, rtol=0, atol=2e-14 * scale)


def test_the_root_link_counts():
    m = mechanism_from(
        '<robot name="r"><link name="a"><inertial><origin xyz="1 2 3"/><mass value="2"/>'
        '<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link></robot>'
    )
    assert evaluate("com", m, np.zeros(0)).tolist() == [1, 2, 3]
    assert evaluate("com_jacobian", m, np.zeros(0)).shape == (3, 0)


def test_a_root_that_is_placed_in_the_world():
    turn = np.array([[0.0, -1, 0], [1, 0, 0], [0, 0, 1]])
    m = assemble(
        Parts(
            name="placed",
            links=[LinkPart("a", 1.0, np.array([1.0, 0, 0])), LinkPart("b", 3.0)],
            joints=[JointPart(name="j", type=JointType.PRISMATIC, parent="a", child="b")],
            R_world_root=turn,
            p_world_root=np.array([0.0, 0, 5.0]),
        )
    )
    got = evaluate("com", m, np.array([2.0]))
    np.testing.assert_allclose(got, [0, 0.25, 5 + 0.75 * 2], rtol=0, atol=1e-15)


@pytest.mark.parametrize("base", ["fixed", "floating"])
def test_a_root_joint_that_is_placed_in_the_world(base: str):
    # `assemble` leaves it in the world frame; the model allows more
    m = mechanism_from(every_joint_urdf(), base=base)
    R, p = m.R_parent_joint.copy(), m.p_parent_joint.copy()
    R[0], p[0] = [[0, -1, 0], [1, 0, 0], [0, 0, 1]], [0.5, -1.0, 2.0]
    placed = dataclasses.replace(m, R_parent_joint=R, p_parent_joint=p)
    q = random_configuration(rng("placed"), m)
    expected = R[0] @ evaluate("com", m, q) + p[0]
    np.testing.assert_allclose(evaluate("com", placed, q), expected, rtol=0, atol=1e-14)
    expected = R[0] @ evaluate("com_jacobian", m, q)
    np.testing.assert_allclose(evaluate("com_jacobian", placed, q), expected, rtol=0, atol=1e-14)


def test_differences(aligned_tree, along):
    random = rng("com differences")
    for m in trees(aligned_tree, "com trees 2")[::2]:
        q = random_configuration(random, m)
        expected = along("com", m)(q)
        np.testing.assert_allclose(evaluate("com_jacobian", m, q), expected, rtol=0, atol=1e-9)


def test_casadi_differentiation(aligned_tree):
    random = rng("com casadi")
    for m in trees(aligned_tree, "com trees 3"):
        q, v = cs.SX.sym("q", m.n_q), cs.SX.sym("v", m.n_v)
        centre = evaluate("com", m, evaluate("integrate", m, q, v))
        derivative = cs.substitute(cs.jacobian(centre, v), v, cs.DM.zeros(m.n_v))
        f = cs.Function("f", [q], [cs.densify(derivative)])
        q0 = random_configuration(random, m)
        expected = np.array(f(q0)).reshape(3, m.n_v)
        scale = max(1.0, np.abs(expected).max(initial=0))
        got = evaluate("com_jacobian", m, q0)
        np.testing.assert_allclose(got, expected, rtol=0, atol=1e-13 * scale)


@pytest.mark.slow
def test_jax_differentiation(every_joint: Mechanism, on_jax):
    del on_jax  # for float64
    jax = pytest.importorskip("jax", reason="JAX (pip install jax) is not installed")
    m = every_joint
    q = random_configuration(rng("com jax"), m)

    def centre(v):
        return evaluate("com", m, evaluate("integrate", m, jax.numpy.asarray(q), v))

    expected = np.asarray(jax.jit(jax.jacfwd(centre))(np.zeros(m.n_v)))
    np.testing.assert_allclose(evaluate("com_jacobian", m, q), expected, rtol=0, atol=1e-13)


@pytest.mark.slow
def test_the_back_ends_agree(every_joint: Mechanism, agree):
    random = rng("com back ends")
    for m in (every_joint, mechanism_from(every_joint_urdf(), base="floating")):
        q = np.array([random_configuration(random, m) for _ in range(4)])
        agree("com", m, q)
        agree("com_jacobian", m, q)


def test_a_floating_base_moves_it_as_a_whole():
    m = mechanism_from(every_joint_urdf(), base="floating")
    q = random_configuration(rng("com base"), m)
    R = evaluate("fk", m, q, frame="base")[:3, :3]
    J = evaluate("com_jacobian", m, q)
    np.testing.assert_allclose(J[:, :3], R, rtol=0, atol=1e-15)


def test_what_carries_no_mass_does_not_move_it():
    m = mechanism_from(every_joint_urdf())
    J = evaluate("com_jacobian", m, random_configuration(rng("no mass"), m))
    for name in ("spin", "plane", "free", "grip_a"):
        c = m.joint(name)
        assert not J[:, m.v_start[c] : m.v_start[c + 1]].any()
    assert J[:, m.v_start[m.joint("shoulder")]].any()


@pytest.mark.parametrize("algorithm", ["com", "com_jacobian"])
def test_no_mass_at_all(algorithm: str):
    m = mechanism_from(chain_urdf(3))
    with pytest.raises(InputError, match=r"'chain': the masses of its 4 bodies add up to 0 kg"):
        evaluate(algorithm, m, np.zeros(3))


def test_a_chain_of_10000_joints():
    n = 10_000
    links = [LinkPart(f"l{k}", 1.0) for k in range(n + 1)]
    joints = [
        JointPart(
            name=f"j{k}",
            type=JointType.REVOLUTE,
            parent=f"l{k}",
            child=f"l{k + 1}",
            p=np.array([0.1, 0.0, 0.0]),
        )
        for k in range(n)
    ]
    m = assemble(Parts(name="long", links=links, joints=joints))
    got = evaluate("com", m, np.zeros(n))
    np.testing.assert_allclose(got, [0.05 * n, 0, 0], rtol=1e-12, atol=0)


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
    for each in (*pinocchio_trees(random, 60), *real(random)):
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
def test_the_back_ends_agree_on_its_motion(every_joint: Mechanism, agree):
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


def compare_of_momentum(each: Beside) -> None:
    """Pinocchio's centre of mass is without what a fixed base carries: the moment is moved."""
    pin = pytest.importorskip("pinocchio", reason="Pinocchio (pip install pin) is not installed")
    if not pin.computeTotalMass(each.model) > 0:
        return
    pin.ccrba(*each.state[:4])
    A = np.array(each.data.Ag).reshape(6, each.model.nv) @ each.G
    arm = each.data.com[0] - evaluate("com", each.m, each.q)
    A[3:] += np.cross(arm, A[:3], axis=0)
    near(evaluate("centroidal_matrix", each.m, each.q), A)
    near(evaluate("centroidal_momentum", each.m, each.q, each.v), A @ each.v)


def test_pinocchio_of_momentum():
    random = rng("centroidal pinocchio")
    for each in (*pinocchio_trees(random, 60), *real(random)):
        compare_of_momentum(each)


def test_without_forces_it_is_conserved():
    """What floats freely keeps its momentum while its joints move it as they like."""
    m, random = mechanism_from(every_joint_urdf(), base="floating"), rng("conserved")
    q, v, dv = random_configuration(random, m), *random.normal(size=(2, m.n_v))
    weightless = {"gravity": np.zeros(3)}
    # the base's acceleration that takes no force at the base
    bias = evaluate("bias_forces", m, q, v, parameters=weightless)
    M = evaluate("mass_matrix", m, q)
    dv[:6] = np.linalg.solve(M[:6, :6], -bias[:6] - M[:6, 6:] @ dv[6:])
    h, ends = 1e-4, []
    for t in (h, -h):
        moved = evaluate("integrate", m, q, t * v + t * t / 2 * dv)
        ends.append(evaluate("centroidal_momentum", m, moved, v + t * dv))
    near((ends[0] - ends[1]) / (2 * h), np.zeros(6), 1e-5)
    dv[:6] += 1
    moved = evaluate("integrate", m, q, h * v)
    assert np.abs(evaluate("centroidal_momentum", m, moved, v + h * dv) - ends[0]).max() > 1e-5


def test_the_back_ends_agree_of_momentum(agree):
    random = rng("centroidal back ends")
    for m in small_mechanisms():
        q = np.array([random_configuration(random, m) for _ in range(4)])
        agree("centroidal_momentum", m, q, random.normal(size=(4, m.n_v)))
        agree("centroidal_matrix", m, q)


def test_nothing_moves_or_weighs():
    rigid = load("planar_2r").mechanism
    assert evaluate("centroidal_matrix", rigid, np.zeros(rigid.n_q)).shape == (
        6,
        rigid.n_v,
    )
    with pytest.raises(InputError, match="centre of mass"):
        evaluate("centroidal_momentum", mechanism_from(chain_urdf(2)), np.zeros(2), np.zeros(2))


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


def test_pinocchio_of_energy():
    pin = pytest.importorskip("pinocchio", reason="Pinocchio (pip install pin) is not installed")
    random = rng("kinetic pinocchio")
    for each in (*pinocchio_trees(random, 60), *real(random)):
        theirs = pin.computeKineticEnergy(*each.state[:4])
        near(evaluate("kinetic_energy", each.m, each.q, each.v), theirs, 1e-12)


def test_the_back_ends_agree_of_energy(every_joint: Mechanism, agree):
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
