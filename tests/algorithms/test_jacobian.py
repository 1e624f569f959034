"""The Jacobian and its time derivative against differences, differentiation, and closed forms."""

from __future__ import annotations

import casadi as cs
import numpy as np
import pytest

from linkwork.algorithms.jacobian import REFERENCES
from linkwork.compile.tracing import trace
from linkwork.errors import InputError, UnknownNameError
from linkwork.mechanism.model import Mechanism
from robots import (
    chain_urdf,
    every_joint_urdf,
    example_robot_urdfs,
    mechanism_from,
    random_configuration,
    random_tree,
)
from seeds import rng
from symbols import evaluate


def through_casadi(name: str, m: Mechanism, **static) -> cs.Function:
    """From q: T and its derivative along `integrate` at v = 0, by CasADi's differentiation."""
    q, v = cs.SX.sym("q", m.n_q), cs.SX.sym("v", m.n_v)
    moved = evaluate(name, m, evaluate("integrate", m, q, v), **static)
    flat = cs.vec(cs.densify(moved).T)
    derivative = cs.substitute(cs.jacobian(flat, v), v, cs.DM.zeros(m.n_v))
    here = cs.substitute(flat, v, cs.DM.zeros(m.n_v))
    return cs.Function("f", [q], [here, cs.densify(derivative)])


def test_central_differences_on_random_trees(along, twist):
    # property P14: 20 random trees x 50 states within 1e-8
    random = rng("jacobian P14")
    for _ in range(20):
        m = mechanism_from(random_tree(random, 6))
        name = m.frame_names[int(random.integers(len(m.frame_names)))]
        f = along("fk", m, frame=name)
        for _ in range(50):
            q = random_configuration(random, m)
            J = evaluate("jacobian", m, q, frame=name)
            T = evaluate("fk", m, q, frame=name)
            np.testing.assert_allclose(J, twist(T, f(q), "world-aligned"), rtol=0, atol=1e-8)


@pytest.mark.sweep(1)
@pytest.mark.parametrize("reference", REFERENCES)
def test_casadi_differentiation_through_integrate(aligned_tree, twist, reference: str):
    random = rng("jacobian casadi")
    trees = [aligned_tree(random, 8) for _ in range(15)]
    trees += [mechanism_from(random_tree(random, 8)) for _ in range(15)]
    for m in trees:
        name = m.frame_names[int(random.integers(len(m.frame_names)))]
        f = through_casadi("fk", m, frame=name)
        for _ in range(3):
            q = random_configuration(random, m)
            T, dT = (np.array(x) for x in f(q))
            expected = twist(T.reshape(4, 4), dT.reshape(4, 4, -1), reference)
            J = evaluate("jacobian", m, q, frame=name, reference=reference)
            scale = max(1.0, np.abs(expected).max(initial=0))
            np.testing.assert_allclose(J, expected, rtol=0, atol=1e-13 * scale)


@pytest.mark.slow
def test_jax_differentiation_through_integrate(every_joint: Mechanism, on_jax, twist):
    del on_jax  # for float64
    jax = pytest.importorskip("jax", reason="JAX (pip install jax) is not installed")
    m = every_joint

    @jax.jit
    def moved(q, v):
        return evaluate("fk", m, evaluate("integrate", m, q, v), frame="tool")

    derivative = jax.jit(jax.jacfwd(moved, argnums=1))
    for _ in range(3):
        q = random_configuration(rng("jacobian jax"), m)
        T, dT = np.array(moved(q, np.zeros(m.n_v))), np.array(derivative(q, np.zeros(m.n_v)))
        for reference in REFERENCES:
            J = evaluate("jacobian", m, q, frame="tool", reference=reference)
            np.testing.assert_allclose(J, twist(T, dT, reference), rtol=0, atol=1e-13)


@pytest.mark.sweep(1)
@pytest.mark.parametrize("reference", REFERENCES)
def test_the_back_ends_agree(every_joint: Mechanism, agree, reference: str):
    random = rng("jacobian back ends")
    for m in (every_joint, mechanism_from(every_joint_urdf(), base="floating")):
        q = np.array([random_configuration(random, m) for _ in range(5)])
        agree("jacobian", m, q, frame=m.frame_names[-1], reference=reference)


def test_references_follow_from_each_other(aligned_tree):
    random = rng("jacobian references")
    for _ in range(20):
        m = aligned_tree(random, 8)
        q = random_configuration(random, m)
        for name in m.frame_names:
            T = evaluate("fk", m, q, frame=name)
            J = evaluate("jacobian", m, q, frame=name)
            R, p = T[:3, :3], T[:3, 3]
            local = evaluate("jacobian", m, q, frame=name, reference="local")
            expected = np.vstack([R.T @ J[:3], R.T @ J[3:]])
            np.testing.assert_allclose(local, expected, rtol=0, atol=1e-13)
            world = evaluate("jacobian", m, q, frame=name, reference="world")
            expected = np.vstack([J[:3] + np.cross(p, J[3:], axis=0), J[3:]])
            np.testing.assert_allclose(world, expected, rtol=0, atol=1e-13)


def test_a_follower_adds_to_its_leader(every_joint: Mechanism):
    # l turns with k about the same axis: twice the angular velocity, one column
    m = every_joint
    q = random_configuration(rng("follower"), m)
    column = int(m.v_start[m.joint("side")])
    leader = evaluate("jacobian", m, q, frame="k")[:, column]
    both = evaluate("jacobian", m, q, frame="l")[:, column]
    np.testing.assert_allclose(both[3:], 2 * leader[3:], rtol=0, atol=1e-15)
    others = np.delete(evaluate("jacobian", m, q, frame="l"), column, axis=1)
    assert not others.any()


def test_operation_counts_stay_down():
    # the prototype took 224 instructions for the 42 numbers of Panda's Jacobian at its last joint
    path = next(p for p in example_robot_urdfs() if p.name == "panda.urdf")
    m = mechanism_from(path)
    for reference, most in zip(REFERENCES, (209, 208, 214), strict=True):
        traced = trace("jacobian", m, frame="panda_link8", reference=reference)
        assert traced.signature.instructions <= most
    # the flange lies on the axis of the last joint, which therefore cannot move it
    J = evaluate("jacobian", m, cs.SX.sym("q", m.n_q), frame="panda_link8")
    assert [J[i, 6].is_zero() for i in range(3)] == [True] * 3


def test_a_chain_of_10000_joints():
    m = mechanism_from(chain_urdf(10_000))
    J = evaluate("jacobian", m, np.zeros(m.n_q), frame="link10000")
    x = 0.1 * np.arange(1, m.n_q + 1)
    np.testing.assert_allclose(J[1], x[-1] - x, rtol=0, atol=1e-9)
    assert (J[5] == 1).all() and not J[[0, 2, 3, 4]].any()


def test_a_robot_without_joints(agree):
    m = mechanism_from(chain_urdf(2, "fixed"))
    for reference in REFERENCES:
        agree("jacobian", m, np.zeros((2, 0)), frame="link2", reference=reference)


def test_bad_arguments(every_joint: Mechanism):
    q = np.zeros(every_joint.n_q)
    text = r"reference='base' is not known; there are: 'world-aligned', 'local', 'world'"
    with pytest.raises(InputError, match=text):
        evaluate("jacobian", every_joint, q, frame="tool", reference="base")
    with pytest.raises(UnknownNameError, match="tool"):
        evaluate("jacobian", every_joint, q, frame="tools")


@pytest.mark.parametrize("reference", REFERENCES)
def test_differences_of_the_jacobian_along_the_motion(aligned_tree, reference: str):
    random = rng("jacobian derivative")
    trees = [aligned_tree(random, 8) for _ in range(15)]
    trees += [mechanism_from(random_tree(random, 8)) for _ in range(15)]
    h = 1e-3
    for m in trees:
        name = m.frame_names[int(random.integers(len(m.frame_names)))]
        q, v = random_configuration(random, m), random.normal(size=m.n_v)

        def matrix(t: float, m=m, q=q, v=v, name=name):
            moved = evaluate("integrate", m, q, t * v)
            return evaluate("jacobian", m, moved, frame=name, reference=reference)

        expected = (8 * (matrix(h) - matrix(-h)) - (matrix(2 * h) - matrix(-2 * h))) / (12 * h)
        got = evaluate("jacobian_dot", m, q, v, frame=name, reference=reference)
        scale = max(1.0, np.abs(expected).max()) ** 2
        np.testing.assert_allclose(got, expected, rtol=0, atol=1e-8 * scale)


@pytest.mark.parametrize("reference", REFERENCES)
def test_casadi_differentiation(every_joint: Mechanism, reference: str):
    random = rng("jacobian derivative casadi")
    for m in (every_joint, mechanism_from(every_joint_urdf(), base="floating")):
        q, v, t = cs.SX.sym("q", m.n_q), cs.SX.sym("v", m.n_v), cs.SX.sym("t")
        moved = evaluate("integrate", m, q, t * v)
        for name in m.frame_names[-4:]:
            J = evaluate("jacobian", m, moved, frame=name, reference=reference)
            rate = cs.substitute(cs.reshape(cs.jacobian(cs.vec(J), t), J.shape), t, 0)
            f = cs.Function("f", [q, v], [cs.densify(rate)])
            q0, v0 = random_configuration(random, m), random.normal(size=m.n_v)
            expected = np.array(f(q0, v0))
            got = evaluate("jacobian_dot", m, q0, v0, frame=name, reference=reference)
            scale = max(1.0, np.abs(expected).max())
            np.testing.assert_allclose(got, expected, rtol=0, atol=1e-13 * scale)


@pytest.mark.sweep(1)
@pytest.mark.parametrize("reference", REFERENCES)
def test_the_back_ends_agree_of_dot(every_joint: Mechanism, agree, reference: str):
    random = rng("jacobian derivative back ends")
    m = every_joint
    q = np.array([random_configuration(random, m) for _ in range(4)])
    v = random.normal(size=(4, m.n_v))
    agree("jacobian_dot", m, q, v, frame="tool", reference=reference)


@pytest.mark.parametrize("reference", REFERENCES)
def test_times_v_it_is_the_acceleration_at_rest(aligned_tree, every_joint, reference: str):
    random = rng("jacobian dot v")
    trees = [aligned_tree(random, 9) for _ in range(10)] + [every_joint]
    trees += [mechanism_from(every_joint_urdf(), base="floating")]
    for m in trees:
        for name in m.frame_names[-3:]:
            q, v = random_configuration(random, m), random.normal(size=m.n_v)
            static = {"frame": name, "reference": reference}
            got = evaluate("jacobian_dot", m, q, v, **static) @ v
            expected = evaluate("jacobian_dot_v", m, q, v, **static)
            scale = max(1.0, np.abs(expected).max())
            np.testing.assert_allclose(got, expected, rtol=0, atol=1e-13 * scale)


def test_a_wheel_turns_its_column():
    m = mechanism_from(chain_urdf(2))
    q, v = np.array([0.3, 0.0]), np.array([2.0, 0.0])
    got = evaluate("jacobian_dot", m, q, v, frame="link2")
    inwards = -0.1 * 2.0 * np.array([np.cos(0.3), np.sin(0.3), 0])
    np.testing.assert_allclose(got[:, 0], [*inwards, 0, 0, 0], rtol=0, atol=1e-15)
    own = evaluate("jacobian_dot", m, q, v, frame="link2", reference="local")
    np.testing.assert_allclose(own[:, 0], np.zeros(6), rtol=0, atol=1e-15)


@pytest.mark.parametrize(
    ("reference", "frame"),
    [("world-aligned", "LOCAL_WORLD_ALIGNED"), ("local", "LOCAL"), ("world", "WORLD")],
)
def test_pinocchio(reference: str, frame: str):
    pin = pytest.importorskip("pinocchio", reason="Pinocchio (pip install pin) is not installed")
    random = rng("jacobian dot pinocchio")
    for _ in range(5):
        text = random_tree(random, 8, ("revolute", "prismatic"), mimic=0.0)
        m, model = mechanism_from(text), pin.buildModelFromXML(text)
        data = model.createData()
        places = [model.joints[model.getJointId(name)].idx_v for name in m.joint_names]
        q, v, theirs = (random.normal(size=8) for _ in range(3))
        rates = np.zeros(8)
        theirs[places], rates[places] = q, v
        pin.computeJointJacobiansTimeVariation(model, data, theirs, rates)
        pin.updateFramePlacements(model, data)
        at = getattr(pin.ReferenceFrame, frame)
        for k in range(9):
            link = model.getFrameId(f"link{k}", pin.FrameType.BODY)
            expected = pin.getFrameJacobianTimeVariation(model, data, link, at)[:, places]
            got = evaluate("jacobian_dot", m, q, v, frame=f"link{k}", reference=reference)
            np.testing.assert_allclose(got, expected, rtol=0, atol=1e-12)


def test_nothing_moves(agree):
    m = mechanism_from(chain_urdf(2, "fixed"))
    for reference in REFERENCES:
        empty = np.zeros((2, 0))
        got = agree("jacobian_dot", m, empty, empty, frame="link2", reference=reference)
        assert not got.any()


def test_bad_arguments_of_dot(every_joint: Mechanism):
    m = every_joint
    q, v = np.zeros(m.n_q), np.zeros(m.n_v)
    with pytest.raises(InputError, match="reference='x'"):
        evaluate("jacobian_dot", m, q, v, frame="tool", reference="x")
    with pytest.raises(UnknownNameError, match="tool"):
        evaluate("jacobian_dot", m, q, v, frame="tolo")
