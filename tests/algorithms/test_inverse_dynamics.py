"""Inverse dynamics: a textbook, energies, Pinocchio, parameters, the back ends, its cost."""

from __future__ import annotations

from pathlib import Path

import casadi as cs
import numpy as np
import pytest

from dynamics_textbook import inverse_dynamics, lagrange, near, sound_trees, state
from linkwork.algorithms.inverse_dynamics import losses, rotor_forces
from linkwork.algorithms.parametric import Parametric
from linkwork.algorithms.registry import evaluate, parameters_of
from linkwork.compile.symbolic import on_symbols
from linkwork.compile.tracing import trace
from linkwork.conventions import GRAVITY
from linkwork.formats.urdf.read import read
from linkwork.loading import load
from linkwork.mechanism.from_urdf import from_urdf
from linkwork.mechanism.model import JointType, Mechanism
from linkwork.ops.numpy import NUMPY
from robots import (
    chain_urdf,
    every_joint_urdf,
    example_robot_urdfs,
    mechanism_from,
    random_configuration,
    random_tree,
)
from seeds import rng


def test_the_textbook(aligned_tree):
    random = rng("inverse dynamics")
    trees = [mechanism_from(random_tree(random, 9)) for _ in range(20)]
    trees += [mechanism_from(random_tree(random, 9), base="floating") for _ in range(10)]
    trees += [aligned_tree(random, 9) for _ in range(30)]
    for m in trees:
        q, v, dv = state(random, m)
        near(evaluate("inverse_dynamics", m, q, v, dv), inverse_dynamics(m, q, v, dv))
        zero = np.zeros(m.n_v)
        near(evaluate("bias_forces", m, q, v), inverse_dynamics(m, q, v, zero))
        near(evaluate("bias_forces", m, q, zero), evaluate("gravity_forces", m, q))


def test_the_energies():
    random = rng("lagrange")
    types = ("revolute", "prismatic", "planar", "fixed")
    for _ in range(8):
        m = mechanism_from(random_tree(random, 6, types))
        q, v, dv = state(random, m)
        expected = np.array(lagrange(m)(q, v, dv)).ravel()
        near(evaluate("inverse_dynamics", m, q, v, dv), expected)


def test_parameters_by_their_meaning():
    m = mechanism_from(every_joint_urdf(), base="floating")
    random = rng("dynamics parameters")
    q, v, dv = state(random, m)
    plain = evaluate("inverse_dynamics", m, q, v, dv)

    def extra(**given):
        parameters = {key.replace("__", ":"): value for key, value in given.items()}
        return evaluate("inverse_dynamics", m, q, v, dv, parameters=parameters) - plain

    size, wrench = random.uniform(1, 2, m.n_v), random.normal(size=6)
    near(extra(armature=size), size * dv)
    near(extra(damping=size), size * v)
    near(extra(friction=size), size * np.sign(v))
    for frame in ("hand", "finger_b"):
        J = evaluate("jacobian", m, q, frame=frame)
        near(extra(**{f"wrench__{frame}": wrench}), -J.T @ wrench)
    g = random.normal(size=3)
    near(extra(gravity=g), inverse_dynamics(m, q, v, dv, g) - plain, 1e-10)
    still = evaluate("bias_forces", m, q, 0 * v, parameters={"friction": size})
    near(still, evaluate("gravity_forces", m, q))


@pytest.mark.parametrize("base", ["fixed", "floating"])
def test_masses_as_parameters_have_the_same_meaning(base: str):
    m = mechanism_from(every_joint_urdf(), base=base)
    random = rng("mass parameters")
    q, v, dv = state(random, m)
    names = [name for name in parameters_of("inverse_dynamics", m) if name.startswith("inertia:")]
    for name in [*names[:3], "mass:lower", "com:upper", "payload:hand"]:
        size = 6 if name.startswith("inertia") else {"m": 1, "c": 3, "p": 4}[name[0]]
        value = random.uniform(0.1, 1, size)
        got = evaluate("inverse_dynamics", m, q, v, dv, parameters={name: value})
        # it enters linearly, but for the centre of mass of a payload and of a link
        force = got - evaluate("bias_forces", m, q, v, parameters={name: value})
        M = evaluate("mass_matrix", m, q, parameters={name: value})
        near(force, M @ dv, 1e-10)


def test_what_does_not_turn_has_no_inertia():
    m = mechanism_from(
        '<robot name="lift"><link name="a"/><link name="b"><inertial><mass value="2"/><inertia '
        'ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link><joint name="j" '
        'type="prismatic"><parent link="a"/><child link="b"/><axis xyz="0 0 1"/>'
        '<limit effort="1" velocity="1"/></joint></robot>'
    )
    one = np.ones(1)
    near(evaluate("inverse_dynamics", m, one, one, one), [2 * (1 + 9.80665)])


def test_nothing_moves():
    m = mechanism_from('<robot name="r"><link name="a"/></robot>')
    nothing = np.zeros(0)
    assert evaluate("inverse_dynamics", m, nothing, nothing, nothing).shape == (0,)
    assert evaluate("bias_forces", m, nothing, nothing).shape == (0,)


def test_the_back_ends_agree(every_joint: Mechanism, agree):
    random = rng("inverse dynamics back ends")
    q = np.array([random_configuration(random, every_joint) for _ in range(3)])
    v, dv = random.normal(size=(2, 3, every_joint.n_v))
    agree("inverse_dynamics", every_joint, q, v, dv)


def test_it_is_cheap():
    # the prototype took 1,066 for Panda; ur5e's three parallel axes and its wrist cost less
    for name, most in (("panda", 710), ("ur5e", 440), ("humanoid", 3000)):
        m = load(name).mechanism
        assert trace("inverse_dynamics", m).signature.instructions <= most


def test_real_robots_are_cheap():
    most = {"panda.urdf": 900, "talos_reduced.urdf": 3300}
    found = {path.name: path for path in example_robot_urdfs() if path.name in most}
    for name, path in found.items():
        m = from_urdf(read(path))
        assert trace("inverse_dynamics", m).signature.instructions <= most[name]


def test_a_long_chain():
    m = mechanism_from(chain_urdf(300))
    one = np.ones(300)
    assert not evaluate("inverse_dynamics", m, one, one, one).any()


# --------------------------------------------------------------------------------- Pinocchio


@pytest.mark.parametrize("path", example_robot_urdfs()[::6], ids=lambda path: path.stem)
def test_pinocchio(path: Path):
    pin = pytest.importorskip("pinocchio", reason="Pinocchio (pip install pin) is not installed")
    from reference.test_pinocchio import Pair  # noqa: PLC0415  needs Pinocchio

    m, model = from_urdf(read(path)), pin.buildModelFromUrdf(str(path))
    if any(type is JointType.PLANAR for type in m.joint_types) or not model.nv:
        pytest.skip("its velocities are others in Pinocchio, or it has none")
    model.gravity.linear = np.array(GRAVITY)
    pair = Pair(m, model, model.createData())
    q, v, dv = state(rng(f"rnea {path.name}"), m)
    G, at = pair.tangent(q), pair.configuration(q)
    theirs = G.T @ pin.rnea(model, pair.data, at, G @ v, G @ dv)
    near(evaluate("inverse_dynamics", m, q, v, dv), theirs, 1e-10)


def test_it_is_undone():
    random = rng("undone")
    for m in sound_trees(random, 12):
        q, v, dv = state(random, m)
        tau = evaluate("inverse_dynamics", m, q, v, dv)
        near(evaluate("forward_dynamics", m, q, v, tau), dv, 1e-7)


def test_they_count_as_parameters_only(every_joint: Mechanism):
    v = [2.0 * (-1) ** k for k in range(every_joint.n_v)]
    v[0] = np.float64(0)
    assert losses(NUMPY, every_joint, v) == [0.0] * every_joint.n_v == rotor_forces(every_joint, v)
    size = np.arange(1.0, every_joint.n_v + 1)
    given = Parametric(
        NUMPY, every_joint, {"armature": size, "damping": 3 * size, "friction": 5 * size}
    )
    near(losses(NUMPY, given, v), 3 * size * v + 5 * size * np.sign(v))
    near(rotor_forces(given, v), size * v)


def test_friction_is_zero_where_nothing_moves(every_joint: Mechanism):
    size, v = cs.SX.sym("f", every_joint.n_v), cs.SX.sym("v", every_joint.n_v)

    def taken(o, size, v):
        given = Parametric(o, every_joint, {"friction": size})
        return losses(o, given, [v[k] for k in range(every_joint.n_v)])

    function = cs.Function("f", [size, v], [cs.vertcat(*on_symbols(taken, size, v))])
    one = np.ones(every_joint.n_v)
    for sign in (-1, 0, 1):
        near(np.array(function(2 * one, sign * one)).ravel(), 2 * sign * one)
    given = Parametric(NUMPY, every_joint, {"friction": one})
    assert losses(NUMPY, given, [0.0] * every_joint.n_v) == [0.0] * every_joint.n_v
