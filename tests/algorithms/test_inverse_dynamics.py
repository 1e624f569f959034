"""Inverse dynamics and gravity's forces: a textbook, energies, Pinocchio, the back ends."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from dynamics_textbook import (
    body_jacobians,
    inverse_dynamics,
    lagrange,
    near,
    skew,
    sound_trees,
    state,
)
from linkwork.algorithms.inverse_dynamics import body_motions, with_inertia
from linkwork.algorithms.joint_transforms import Inertia, Spatial
from linkwork.algorithms.registry import evaluate, parameters_of
from linkwork.algorithms.sweep import Sweep
from linkwork.compile.tracing import trace
from linkwork.conventions import GRAVITY
from linkwork.formats.urdf.read import read
from linkwork.loading import load
from linkwork.mechanism.assemble import JointPart, LinkPart, Parts, assemble
from linkwork.mechanism.from_urdf import from_urdf
from linkwork.mechanism.model import JointType, Mechanism
from linkwork.ops.numpy import NUMPY
from robots import (
    body_poses,
    chain_urdf,
    every_joint_urdf,
    example_robot_urdfs,
    mechanism_from,
    random_configuration,
    random_tree,
    total_inertia,
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


@pytest.mark.parametrize("sign", [-1, 0, 1])
def test_friction_is_zero_where_nothing_moves(every_joint: Mechanism, sign: int):
    m, size = every_joint, np.arange(1.0, every_joint.n_v + 1)
    q, v = random_configuration(rng("friction"), m), sign * np.ones(m.n_v)
    losses = evaluate(
        "bias_forces", m, q, v, parameters={"friction": 5 * size, "damping": 3 * size}
    )
    near(losses - evaluate("bias_forces", m, q, v), 3 * size * v + 5 * size * sign)


def test_motions_of_bodies(every_joint: Mechanism, aligned_tree):
    random, h = rng("motions"), 1e-4
    for m in [every_joint, *(aligned_tree(random, 7) for _ in range(6))]:
        q, v, dv = state(random, m)

        def speeds(t: float, m=m, q=q, v=v, dv=dv):
            at = evaluate("integrate", m, q, t * v + t * t / 2 * dv)
            for J, T in zip(body_jacobians(m, at), body_poses(m, at), strict=True):
                omega, linear = np.split(J @ (v + t * dv), 2)
                yield T[:3, :3] @ omega, T[:3, :3] @ linear

        now, later, before = list(speeds(0)), list(speeds(h)), list(speeds(-h))
        sweep = Sweep(NUMPY, m, q)
        for step, motion in zip(sweep.transforms, body_motions(sweep, v, dv), strict=True):
            if not step.owner:
                continue
            R = body_poses(m, q)[step.body][:3, :3]
            ends = zip(later[step.body], before[step.body], strict=True)
            alpha, a = ((x - y) / (2 * h) for x, y in ends)
            near(R @ motion.omega, now[step.body][0])
            near(R @ motion.alpha, alpha, 1e-5)
            near(R @ motion.acceleration - [0, 0, 9.80665], a, 1e-5)
            K, A = skew(motion.omega), skew(motion.alpha)
            near(motion.field, A + K @ K)


def test_a_body_takes_what_its_points_take(every_joint: Mechanism):
    random = rng("points")
    q, v, dv = state(random, every_joint)
    motion = body_motions(Sweep(NUMPY, every_joint, q), v, dv)[-1]
    points, masses = random.normal(size=(6, 3)), random.uniform(1, 2, 6)
    second = np.einsum("k,ki,kj->ij", masses, points, points)
    own = Inertia(masses.sum(), (masses @ points).tolist(), second.tolist())
    start = Spatial(*random.normal(size=(2, 3)).tolist())
    forces = masses[:, None] * (np.array(motion.acceleration) + points @ np.array(motion.field).T)
    got = with_inertia(start, own, motion)
    near(got.linear, start.linear + forces.sum(axis=0))
    near(got.angular, start.angular + np.cross(points, forces).sum(axis=0))


G = np.array(GRAVITY)


def trees(aligned_tree, seed: str) -> list[Mechanism]:
    random = rng(seed)
    found = [aligned_tree(random, 9) for _ in range(20)]
    found += [mechanism_from(random_tree(random, 9)) for _ in range(15)]
    found += [mechanism_from(random_tree(random, 9), base="floating") for _ in range(10)]
    return found


def near_of_gravity(got, expected, within: float = 1e-12) -> None:
    scale = max(1.0, float(np.abs(expected).max(initial=0)))
    np.testing.assert_allclose(got, expected, rtol=0, atol=within * scale)


def test_energy_is_that_of_the_centre_of_mass(aligned_tree):
    random = rng("energy")
    for m in trees(aligned_tree, "gravity trees"):
        q, g = random_configuration(random, m), random.normal(size=3)
        mass, centre, _ = total_inertia(m, q)
        near_of_gravity(evaluate("potential_energy", m, q), -mass * G @ centre)
        other = evaluate("potential_energy", m, q, parameters={"gravity": g})
        near_of_gravity(other, -mass * g @ centre)


def test_forces_are_the_derivative_of_the_energy(aligned_tree, along):
    random = rng("force")
    for m in trees(aligned_tree, "gravity trees 2"):
        q = random_configuration(random, m)
        slope = along("potential_energy", m)(q)
        near_of_gravity(evaluate("gravity_forces", m, q), slope, 1e-9)


def test_forces_by_the_jacobian_of_the_centre_of_mass(aligned_tree):
    random = rng("virtual work")
    for m in trees(aligned_tree, "gravity trees 3"):
        q, g = random_configuration(random, m), random.normal(size=3)
        work = -m.mass.sum() * evaluate("com_jacobian", m, q).T
        near_of_gravity(evaluate("gravity_forces", m, q), work @ G)
        near_of_gravity(evaluate("gravity_forces", m, q, parameters={"gravity": g}), work @ g)


def test_a_pendulum_and_a_lift():
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
    m = assemble(parts)
    got = evaluate("gravity_forces", m, np.array([0.7, 0.3]))
    near_of_gravity(got, [5 * 9.80665, 3 * 9.80665 * 0.5 * np.cos(0.3)])
    energy = 9.80665 * (2 * 0.7 + 3 * (0.7 + 0.5 * np.sin(0.3)))
    near_of_gravity(evaluate("potential_energy", m, np.array([0.7, 0.3])), energy)


def test_a_floating_base_carries_everything():
    m = mechanism_from(every_joint_urdf(), base="floating")
    q = random_configuration(rng("weight"), m)
    R = evaluate("fk", m, q, frame="base")[:3, :3]
    mass, centre, _ = total_inertia(m, q)
    got = evaluate("gravity_forces", m, q)
    near_of_gravity(got[:3], R.T @ (-mass * G))
    near_of_gravity(got[3:6], R.T @ np.cross(centre - q[:3], -mass * G))


def test_without_mass_there_is_no_force():
    m = mechanism_from(chain_urdf(3))
    assert not evaluate("gravity_forces", m, np.ones(3)).any()
    assert evaluate("potential_energy", m, np.ones(3)).tolist() == 0.0
    rigid = mechanism_from('<robot name="r"><link name="a"/></robot>')
    assert evaluate("gravity_forces", rigid, np.zeros(0)).shape == (0,)


def test_the_back_ends_agree_of_gravity(every_joint: Mechanism, agree):
    random = rng("gravity back ends")
    for m in (every_joint, mechanism_from(every_joint_urdf(), base="floating")):
        q = np.array([random_configuration(random, m) for _ in range(4)])
        agree("gravity_forces", m, q)
        agree("potential_energy", m, q)


def test_it_is_cheap_of_gravity():
    # one pass down and one up: less than the Jacobian of the centre of mass alone
    for name, most in (("panda", 120), ("ur5e", 62), ("humanoid", 460), ("mobile_arm", 75)):
        m = load(name).mechanism
        n, other = (
            trace(each, m).signature.instructions for each in ("gravity_forces", "com_jacobian")
        )
        assert n <= most and n < other


def test_a_long_chain_of_gravity():
    m = mechanism_from(chain_urdf(2000))
    assert not evaluate("gravity_forces", m, np.ones(2000)).any()


# --------------------------------------------------------------------------------- Pinocchio


@pytest.mark.parametrize("part", range(4))
def test_pinocchio_of_gravity(part: int):
    pin = pytest.importorskip("pinocchio", reason="Pinocchio (pip install pin) is not installed")
    from reference.test_pinocchio import Pair, pinocchio_model  # noqa: PLC0415  needs Pinocchio

    random = rng(f"gravity pinocchio {part}")
    for k in range(40):
        document = read(random_tree(random, int(random.integers(1, 12))))
        base = "floating" if k % 3 == 0 else "fixed"
        m = from_urdf(document, base=base)
        model = pinocchio_model(document, base, m.body_joint_names[0])
        pair = Pair(m, model, model.createData())
        q, g = random_configuration(random, m), random.normal(size=3)
        for gravity, parameters in ((G, None), (g, {"gravity": g})):
            model.gravity.linear = gravity
            theirs = np.zeros(model.nv)
            if model.nv:
                theirs = pin.computeGeneralizedGravity(model, pair.data, pair.configuration(q))
            got = evaluate("gravity_forces", m, q, parameters=parameters)
            near_of_gravity(got, pair.tangent(q).T @ theirs, 1e-11)
            zero = np.zeros(model.nv)
            rnea = (
                pin.rnea(model, pair.data, pair.configuration(q), zero, zero) if model.nv else zero
            )
            near_of_gravity(got, pair.tangent(q).T @ rnea, 1e-11)


@pytest.mark.parametrize("path", example_robot_urdfs()[::4], ids=lambda path: path.stem)
def test_real_robots(path: Path):
    pin = pytest.importorskip("pinocchio", reason="Pinocchio (pip install pin) is not installed")
    from reference.test_pinocchio import Pair  # noqa: PLC0415  needs Pinocchio

    m, model = from_urdf(read(path)), pin.buildModelFromUrdf(str(path))
    model.gravity.linear = G
    pair = Pair(m, model, model.createData())
    if model.nv:
        q = random_configuration(rng(f"gravity {path.name}"), m)
        theirs = pin.computeGeneralizedGravity(model, pair.data, pair.configuration(q))
        near_of_gravity(evaluate("gravity_forces", m, q), pair.tangent(q).T @ theirs, 1e-11)
