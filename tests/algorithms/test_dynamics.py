"""Forces, accelerations, momenta and energies: textbooks, Pinocchio, numbers worked out by hand.

What must hold of them whatever the mechanism stands in tests/contracts, other engines there too.
"""

from __future__ import annotations

import dataclasses

import casadi as cs
import numpy as np
import pytest

from dynamics_cases import evaluate, near
from dynamics_engines import pinocchio, real
from dynamics_engines import trees as pinocchio_trees
from dynamics_textbook import inverse_dynamics, lagrange, mass_matrix, sound_trees, state
from linkwork.algorithms.center_of_mass import total_mass
from linkwork.algorithms.mass_matrix import mass_matrix as in_passes
from linkwork.algorithms.registry import parameters_of
from linkwork.algorithms.regressor import N_NUMBERS, inertial_parameters
from linkwork.algorithms.sweep import Sweep
from linkwork.conventions import GRAVITY
from linkwork.loading import load
from linkwork.mechanism.assemble import JointPart, LinkPart, Parts, assemble
from linkwork.mechanism.edit import subchain
from linkwork.mechanism.model import JointType, Mechanism
from linkwork.ops.numpy import NUMPY
from robots import (
    every_joint_urdf,
    mechanism_from,
    random_configuration,
    random_tree,
    total_inertia,
)
from seeds import rng

G = np.array(GRAVITY)


@pytest.fixture(scope="module")
def trees(aligned_tree) -> list[Mechanism]:
    """Random trees of every joint type, on fixed and on floating bases."""
    random = rng("dynamics trees")
    found = [mechanism_from(random_tree(random, 9)) for _ in range(20)]
    found += [mechanism_from(random_tree(random, 9), base="floating") for _ in range(10)]
    return found + [aligned_tree(random, 9) for _ in range(30)]


# --------------------------------------------------------------------------- forces and motions


def test_inverse_dynamics_and_the_mass_matrix_of_the_textbook(trees):
    random = rng("inverse dynamics")
    for m in trees:
        q, v, dv = state(random, m)
        zero = np.zeros(m.n_v)
        near(evaluate("inverse_dynamics", m, q, v, dv), inverse_dynamics(m, q, v, dv))
        near(evaluate("bias_forces", m, q, v), inverse_dynamics(m, q, v, zero))
        near(evaluate("bias_forces", m, q, zero), evaluate("gravity_forces", m, q))
        M = evaluate("mass_matrix", m, q)
        near(M, mass_matrix(m, q))
        assert np.array_equal(M, M.T)


def test_the_forces_along_a_path_are_those_of_every_motion_on_it(trees):
    random = rng("path forces")
    for m in trees:
        q, slope, bend = state(random, m)
        change, speed = random.normal(size=2)
        given = {"gravity": random.normal(size=3), "armature": random.uniform(0.0, 1.0, m.n_v)}
        rows = evaluate("path_forces", m, q, slope, bend, parameters=given)
        motion = slope * speed, slope * change + bend * speed**2
        expected = evaluate("inverse_dynamics", m, q, *motion, parameters=given)
        near(np.array([change, speed**2, 1.0]) @ rows, expected)
        near(rows[0], evaluate("mass_matrix", m, q) @ slope + given["armature"] * slope)


@pytest.mark.parametrize("mimic", [0.0, 0.5])
def test_forward_dynamics_solves_the_equations_of_the_textbook(mimic: float):
    random = rng(f"forward dynamics {mimic}")
    for m in sound_trees(random, 20, mimic=mimic):
        q, v, tau = state(random, m)
        M, bias = mass_matrix(m, q), inverse_dynamics(m, q, v, np.zeros(m.n_v))
        near(evaluate("forward_dynamics", m, q, v, tau), np.linalg.solve(M, tau - bias), 1e-8)
        W = evaluate("inverse_mass_matrix", m, q)
        assert np.array_equal(W, W.T)
        near(W @ M, np.eye(m.n_v), 1e-8)


def test_inverse_dynamics_by_the_energies_alone():
    random = rng("lagrange")
    for _ in range(8):
        m = mechanism_from(random_tree(random, 6, ("revolute", "prismatic", "planar", "fixed")))
        q, v, dv = state(random, m)
        near(evaluate("inverse_dynamics", m, q, v, dv), np.array(lagrange(m)(q, v, dv)).ravel())


def test_parameters_by_their_meaning():
    m = mechanism_from(every_joint_urdf(), base="floating")
    random = rng("dynamics parameters")
    q, v, dv = state(random, m)
    plain = evaluate("inverse_dynamics", m, q, v, dv)

    def extra(name: str, value: np.ndarray) -> np.ndarray:
        return evaluate("inverse_dynamics", m, q, v, dv, parameters={name: value}) - plain

    size, wrench, g = random.uniform(1, 2, m.n_v), random.normal(size=6), random.normal(size=3)
    near(extra("armature", size), size * dv)
    near(extra("damping", size), size * v)
    near(extra("friction", size), size * np.sign(v))
    for frame in ("hand", "finger_b"):
        J = evaluate("jacobian", m, q, frame=frame)
        near(extra(f"wrench:{frame}", wrench), -J.T @ wrench)
    near(extra("gravity", g), inverse_dynamics(m, q, v, dv, g) - plain, 1e-10)
    names = [name for name in parameters_of("inverse_dynamics", m) if name.startswith("inertia:")]
    for name in [*names[:3], "mass:lower", "com:upper", "payload:hand"]:
        size = 6 if name.startswith("inertia") else {"m": 1, "c": 3, "p": 4}[name[0]]
        given = {name: random.uniform(0.1, 1, size)}
        force = evaluate("inverse_dynamics", m, q, v, dv, parameters=given)
        M = evaluate("mass_matrix", m, q, parameters=given)
        near(force - evaluate("bias_forces", m, q, v, parameters=given), M @ dv, 1e-10)


def test_numbers_worked_out_by_hand():
    inertial = (
        '<inertial><mass value="{}"/><inertia ixx="1" iyy="{}" izz="{}" ixy="0" ixz="0" iyz="0"/>'
        "</inertial></link>"
    )
    links = f'<link name="a"/><link name="b"/><link name="c">{inertial.format(1, 1, 3)}'
    # two equal turns about one axis and one coordinate: the outer body turns by their sum
    m = mechanism_from(
        f'<robot name="two">{links}<joint name="j" type="continuous"><parent link="a"/>'
        '<child link="b"/><axis xyz="0 0 1"/></joint><joint name="k" type="continuous">'
        '<parent link="b"/><child link="c"/><axis xyz="0 0 1"/><mimic joint="j" multiplier="2"/>'
        "</joint></robot>"
    )
    near(evaluate("mass_matrix", m, np.ones(1)), [[3.0 * 3**2]])
    # a chain that holds a follower alone: its coordinate is the leader's, which moves nothing here
    body = inertial.format(2, 2, 2)
    m = mechanism_from(
        f'<robot name="r"><link name="a">{body}<link name="b">{body}<link name="c">{body}'
        '<joint name="j" type="continuous"><parent link="a"/><child link="b"/></joint>'
        '<joint name="k" type="continuous"><parent link="a"/><child link="c"/>'
        '<origin xyz="0.3 0.1 0"/><axis xyz="0 1 0"/><mimic joint="j" multiplier="-0.5"/></joint>'
        "</robot>"
    )
    m = subchain(m, "a", "c")
    assert m.n_v == 1 and m.multiplier[-1] == -0.5
    q, v, tau = state(rng("gear"), m)
    for armature in (0.0, 0.7):
        got = evaluate("forward_dynamics", m, q, v, tau, parameters={"armature": [armature]})
        bias = inverse_dynamics(m, q, v, np.zeros(1))
        near(got, np.linalg.solve(mass_matrix(m, q) + armature, tau - bias))
    # a pendulum on a lift
    parts = Parts(
        name="two",
        links=[LinkPart("a", 5.0), LinkPart("b", 2.0), LinkPart("c", 3.0, np.array([0.5, 0, 0]))],
        joints=[
            JointPart(name="lift", type=JointType.PRISMATIC, parent="a", child="b"),
            JointPart(
                name="swing",
                type=JointType.REVOLUTE,
                parent="b",
                child="c",
                axis=np.array([0.0, -1.0, 0.0]),
            ),
        ],
    )
    m, q = assemble(parts), np.array([0.7, 0.3])
    near(evaluate("gravity_forces", m, q), 9.80665 * np.array([5, 3 * 0.5 * np.cos(0.3)]))
    energy = 9.80665 * (2 * 0.7 + 3 * (0.7 + 0.5 * np.sin(0.3)))
    near(evaluate("potential_energy", m, q), energy)
    lifted = evaluate("inverse_dynamics", m, q, [1.0, 0.0], [1.0, 0.0])
    near(lifted, (1 + 9.80665) * np.array([5, 3 * 0.5 * np.cos(0.3)]))


def test_branches_have_no_entries():
    m = load("humanoid").mechanism
    entries = in_passes.passes(Sweep(NUMPY, m, np.ones(m.n_q))).lower()
    assert len(entries) < m.n_v * (m.n_v + 1) / 2


@pytest.mark.slow
def test_coriolis_matrix_of_pinocchio():
    pin, random = pinocchio(), rng("coriolis pinocchio")
    for each in (*pinocchio_trees(random, 60), *real(random)):
        theirs = pin.computeCoriolisMatrix(*each.state[:4])
        got = evaluate("coriolis_matrix", each.m, each.q, each.v)
        near(got, each.G.T @ theirs @ each.G)
        assert not evaluate("coriolis_matrix", each.m, each.q, 0 * each.v).any()


def test_coriolis_matrix_is_that_of_christoffel_where_nothing_floats():
    random = rng("christoffel")
    for _ in range(5):
        m = mechanism_from(random_tree(random, 4, ("revolute", "prismatic", "planar")))
        q, v = cs.SX.sym("q", m.n_q), cs.SX.sym("v", m.n_v)
        M = cs.densify(evaluate("mass_matrix", m, q))
        by_q = [cs.reshape(cs.jacobian(cs.vec(M), q[k]), m.n_v, m.n_v) for k in range(m.n_v)]
        rate = sum((by_q[k] * v[k] for k in range(m.n_v)), cs.SX(m.n_v, m.n_v))
        along = cs.horzcat(*[part @ v for part in by_q])  # dM_ij / dq_k v_j
        C = (rate + along - along.T) / 2
        at = random_configuration(random, m), random.normal(size=m.n_v)
        expected = np.array(cs.Function("C", [q, v], [cs.densify(C)])(*at))
        near(evaluate("coriolis_matrix", m, *at), expected, 1e-12)


# -------------------------------------------------------------------------------- inertial numbers

PIN_ORDER = [0, 1, 2, 3, 4, 5, 7, 6, 8, 9]  # where Pinocchio has our numbers: xx xy yy xz yz zz


@pytest.mark.slow
def test_regressor_of_pinocchio():
    pin, random = pinocchio(), rng("regressor pinocchio")
    for each in (*pinocchio_trees(random, 60), *real(random)):
        m = each.m
        theirs = np.atleast_2d(pin.computeJointTorqueRegressor(*each.state))
        got = evaluate("regressor", m, each.q, each.v, each.dv).reshape(m.n_v, -1, N_NUMBERS)
        for body, joint in enumerate(m.body_joint_names):
            if not m.body_joint_types[body].n_v:
                assert not got[:, body].any()
                continue
            first = 10 * (each.model.getJointId(joint) - 1)
            expected = each.G.T @ theirs[:, first : first + 10][:, PIN_ORDER]
            near(got[:, body], expected, 1e-10)


def test_masses_are_found_from_forces():
    """Joint forces of a robot whose masses are other than its description says, 30 states."""
    m, random = load("panda").mechanism, rng("identify")
    true = dataclasses.replace(m, mass=m.mass * random.uniform(0.5, 2, m.n_bodies))
    rows, forces = [], []
    for _ in range(30):
        at = state(random, m)
        rows.append(evaluate("regressor", m, *at))
        forces.append(evaluate("inverse_dynamics", true, *at))
    Y, tau = np.vstack(rows), np.concatenate(forces)
    found, _, rank, _ = np.linalg.lstsq(Y, tau, rcond=1e-10)
    assert rank < Y.shape[1]  # some numbers act only together
    near(Y @ found, tau, 1e-10)
    # the least change of the described numbers that explains the forces predicts others
    p = inertial_parameters(m)
    assert np.abs(tau - Y @ p).max() > 1
    p = p + np.linalg.lstsq(Y, tau - Y @ p, rcond=1e-10)[0]
    at = state(random, m)
    near(evaluate("regressor", m, *at) @ p, evaluate("inverse_dynamics", true, *at), 1e-9)


def test_the_inertial_numbers_of_a_link():
    m = mechanism_from(every_joint_urdf())
    body = m.body_names.index("upper")
    found = inertial_parameters(m)[10 * body : 10 * body + 10]
    about = [0.03 + 2 * 0.0404, 0, 0.001, 0.03 + 2 * 0.04, -2 * 0.004, 0.01 + 2 * 0.0004]
    near(found, [2, 0, 0.04, 0.4, *about], 1e-15)


# ------------------------------------------------------------------- energies, the centre of mass


def test_gravity_is_the_weight_of_the_centre_of_mass(trees):
    random = rng("gravity")
    for m in trees:
        q, g = random_configuration(random, m), random.normal(size=3)
        mass, centre, _ = total_inertia(m, q)
        near(evaluate("com", m, q), centre, 2e-14)
        J = mass * evaluate("com_jacobian", m, q)
        for gravity, given in ((G, {}), (g, {"gravity": g})):
            near(evaluate("potential_energy", m, q, parameters=given), -mass * gravity @ centre)
            near(evaluate("gravity_forces", m, q, parameters=given), -J.T @ gravity, 1e-12)


@pytest.mark.slow
def test_casadi_differentiates_the_centre_of_mass(trees):
    random = rng("com casadi")
    for m in trees:
        q, v = cs.SX.sym("q", m.n_q), cs.SX.sym("v", m.n_v)
        centre = evaluate("com", m, evaluate("integrate", m, q, v))
        derivative = cs.substitute(cs.jacobian(centre, v), v, cs.DM.zeros(m.n_v))
        at = random_configuration(random, m)
        expected = cs.Function("f", [q], [cs.densify(derivative)])(at)
        near(evaluate("com_jacobian", m, at), np.array(expected).reshape(3, m.n_v), 1e-13)


def test_a_root_that_is_placed_in_the_world():
    turn = np.array([[0.0, -1, 0], [1, 0, 0], [0, 0, 1]])
    parts = Parts(
        name="placed",
        links=[LinkPart("a", 1.0, np.array([1.0, 0, 0])), LinkPart("b", 3.0)],
        joints=[JointPart(name="j", type=JointType.PRISMATIC, parent="a", child="b")],
        R_world_root=turn,
        p_world_root=np.array([0.0, 0, 5.0]),
    )
    near(evaluate("com", assemble(parts), np.array([2.0])), [0, 0.25, 5 + 0.75 * 2], 1e-15)
    for base in ("fixed", "floating"):  # `assemble` leaves the joint in the world frame
        m = mechanism_from(every_joint_urdf(), base=base)
        R, p = m.R_parent_joint.copy(), m.p_parent_joint.copy()
        R[0], p[0] = turn, [0.5, -1.0, 2.0]
        placed = dataclasses.replace(m, R_parent_joint=R, p_parent_joint=p)
        q = random_configuration(rng("placed"), m)
        near(evaluate("com", placed, q), R[0] @ evaluate("com", m, q) + p[0], 1e-14)
        near(evaluate("com_jacobian", placed, q), R[0] @ evaluate("com_jacobian", m, q), 1e-14)


def test_what_carries_no_mass_does_not_move_the_centre():
    m = mechanism_from(every_joint_urdf())
    J = evaluate("com_jacobian", m, random_configuration(rng("no mass"), m))
    for name in ("spin", "plane", "free", "grip_a"):
        c = m.joint(name)
        assert not J[:, m.v_start[c] : m.v_start[c + 1]].any()
    assert J[:, m.v_start[m.joint("shoulder")]].any()


def test_masses_as_parameters_of_the_centre():
    m, random = load("panda").mechanism, rng("com parameters")
    q, v, dv = state(random, m)
    link = m.body_names[-1]
    given = {f"mass:{link}": np.array([4.0]), f"payload:{link}": np.array([1.0, 0.1, 0.2, 0.3])}
    J = evaluate("com_jacobian", m, q, parameters=given)
    near(evaluate("com_velocity", m, q, v, parameters=given), J @ v, 1e-13)
    h, speeds = 1e-4, []
    for t in (h, -h):
        moved = evaluate("integrate", m, q, t * v + t * t / 2 * dv)
        speeds.append(evaluate("com_velocity", m, moved, v + t * dv, parameters=given))
    got = evaluate("com_acceleration", m, q, v, dv, parameters=given)
    near(got, (speeds[0] - speeds[1]) / (2 * h), 1e-6)
    assert total_mass(m) == pytest.approx(m.mass.sum())


def test_without_forces_momentum_is_conserved():
    """What floats freely keeps its momentum while its joints move it as they like."""
    m, random = mechanism_from(every_joint_urdf(), base="floating"), rng("conserved")
    q, v, dv = state(random, m)
    # the base's acceleration that takes no force at the base
    bias = evaluate("bias_forces", m, q, v, parameters={"gravity": np.zeros(3)})
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


BAR = """<robot name="bar"><link name="base"/>
<link name="bar"><inertial><origin xyz="0.5 0 0"/><mass value="3"/>
<inertia ixx="0.01" ixy="0" ixz="0" iyy="0.2" iyz="0" izz="0.25"/></inertial></link>
<joint name="hinge" type="continuous"><parent link="base"/><child link="bar"/>
<axis xyz="0 0 1"/></joint></robot>"""


def test_kinetic_energy_of_a_bar_that_turns_and_flies_and_of_rotors(every_joint: Mechanism):
    m = mechanism_from(BAR)
    got = evaluate("kinetic_energy", m, np.array([0.3]), np.array([2.0]))
    near(got, 0.5 * (0.25 + 3 * 0.25) * 4, 1e-15)
    m = mechanism_from(BAR, base="floating")
    q = np.array([1, 2, 3, 1, 0, 0, 0, 0.0])
    v = np.array([0, 4.0, 0, 0, 0, 0, 2.0])  # the centre of mass at 4 + 0.5 * 2
    near(evaluate("kinetic_energy", m, q, v), 0.5 * 3 * 25 + 0.5 * 0.25 * 4, 1e-15)
    m, random = every_joint, rng("kinetic")
    q, v, _ = state(random, m)
    given = {"armature": random.uniform(0, 1, m.n_v)}
    M = evaluate("mass_matrix", m, q, parameters=given)
    near(evaluate("kinetic_energy", m, q, v, parameters=given), v @ M @ v / 2, 1e-13)
