"""Poses of frames, in the world and in one another."""

from __future__ import annotations

import casadi as cs
import mpmath
import numpy as np
import pytest

import linkwork as lw
from linkwork.algorithms.forward_kinematics import body_poses
from linkwork.compile.tracing import trace
from linkwork.errors import UnknownNameError
from linkwork.mechanism.assemble import JointPart, LinkPart, Parts, assemble
from linkwork.mechanism.model import JointType, Mechanism
from linkwork.ops.numpy import NUMPY
from robots import body_poses as plain_body_poses
from robots import (
    chain_urdf,
    every_joint_urdf,
    example_robot_urdfs,
    mechanism_from,
    model_poses,
    random_configuration,
    random_tree,
)
from seeds import rng
from symbols import evaluate


def test_against_products_of_matrices(aligned_tree):
    random = rng("fk trees")
    trees = [aligned_tree(random, 10) for _ in range(40)]
    trees += [mechanism_from(random_tree(random, 10)) for _ in range(40)]
    for m in trees:
        q = random_configuration(random, m)
        expected = model_poses(m, q)
        for name, T in zip(m.frame_names, evaluate("fk_all", m, q), strict=True):
            scale = max(1.0, np.abs(expected[name]).max())
            np.testing.assert_allclose(T, expected[name], rtol=0, atol=2e-14 * scale)
            one = evaluate("fk", m, q, frame=name)
            np.testing.assert_allclose(one, expected[name], rtol=0, atol=2e-14 * scale)
            assert T[3].tolist() == one[3].tolist() == [0, 0, 0, 1]


def test_the_back_ends_agree(every_joint: Mechanism, agree):
    random = rng("fk back ends")
    for m in (every_joint, mechanism_from(every_joint_urdf(), base="floating")):
        q = np.array([random_configuration(random, m) for _ in range(5)])
        agree("fk_all", m, q)
        agree("fk", m, q, frame=m.frame_names[-1])


def test_float32_in_jax_stays_float32(every_joint: Mechanism):
    jax = pytest.importorskip("jax", reason="JAX (pip install jax) is not installed")
    m, q = every_joint, random_configuration(rng("fk float32"), every_joint)
    before = jax.config.jax_enable_x64
    jax.config.update("jax_enable_x64", False)
    try:
        T = jax.jit(lambda q: evaluate("fk_all", m, q))(jax.numpy.asarray(q))
    finally:
        jax.config.update("jax_enable_x64", before)
    assert T.dtype == np.float32
    np.testing.assert_allclose(T, evaluate("fk_all", m, q), rtol=0, atol=5e-6)


def test_all_bodies_or_some(every_joint: Mechanism):
    m, q = every_joint, random_configuration(rng("bodies"), every_joint)
    expected = plain_body_poses(m, q)
    everything = body_poses(NUMPY, m, q, range(m.n_bodies))
    assert list(everything) == list(range(m.n_bodies))
    for body, pose in everything.items():
        np.testing.assert_allclose(pose.R, expected[body][:3, :3], rtol=0, atol=1e-14)
        np.testing.assert_allclose(pose.p, expected[body][:3, 3], rtol=0, atol=1e-14)
    for wanted in ([], [0], [4], [3, 7]):
        some = body_poses(NUMPY, m, q, wanted)
        assert sorted(some) == sorted({b for body in wanted for b in m.ancestry(body)})
        for body, pose in some.items():
            assert np.array_equal(pose.p, everything[body].p)


def to_50_digits(m: Mechanism, q: np.ndarray) -> mpmath.matrix:
    """The last body's position and rotation, from the very same constants, nothing rounded."""
    R, p = mpmath.eye(3), mpmath.zeros(3, 1)
    for body in range(m.n_bodies):
        p = p + R * mpmath.matrix(m.p_parent_joint[body].tolist())
        R = R * mpmath.matrix(m.R_parent_joint[body].tolist())
        if body:
            angle = mpmath.mpf(float(q[body - 1]))
            c, s = mpmath.cos(angle), mpmath.sin(angle)
            R = R * mpmath.matrix([[c, -s, 0], [s, c, 0], [0, 0, 1]])
    return R, p


def test_exact_to_the_last_digits_on_chains_of_8_joints(aligned_tree):
    # property P13: the error of the position is at most 3e-15 times the length of the chain
    random = rng("fk 50 digits")
    with mpmath.workdps(50):
        for _ in range(60):
            text = random_tree(random, 8, ("revolute",), mimic=0.0, shuffle=False)
            for k in range(8):  # a chain: every joint on the one before
                joint = f'<joint name="joint{k}" type="revolute"><parent link="'
                start = text.index(joint) + len(joint)
                text = text[:start] + f"link{k}" + text[text.index('"/>', start) :]
            m = mechanism_from(text)
            length = np.linalg.norm(m.p_parent_joint, axis=1).sum()
            for q in random.uniform(-np.pi, np.pi, (5, m.n_q)):
                T = evaluate("fk", m, q, frame="link8")
                body = int(m.frame_body[m.frame("link8")])
                assert body == m.n_bodies - 1
                R, p = to_50_digits(m, q)
                error = [float(abs(p[i] - mpmath.mpf(float(T[i, 3])))) for i in range(3)]
                assert max(error) <= 3e-15 * length
                R = R * mpmath.matrix(m.R_body_frame[m.frame("link8")].tolist())
                turned = max(
                    float(abs(R[i, j] - mpmath.mpf(float(T[i, j]))))
                    for i in range(3)
                    for j in range(3)
                )
                assert turned <= 3e-15


def test_a_frame_depends_only_on_the_joints_before_it(every_joint: Mechanism):
    m, q = every_joint, cs.SX.sym("q", every_joint.n_q)
    for k, name in enumerate(m.frame_names):
        T = evaluate("fk", m, q, frame=name)
        used = {i for i, needed in enumerate(cs.which_depends(cs.vec(T), q, 1)) if needed}
        allowed = {
            i for c in m.coordinates_moving(k) for i in range(m.q_start[c], m.q_start[c + 1])
        }
        assert used <= allowed


def panda() -> Mechanism:
    return mechanism_from(next(p for p in example_robot_urdfs() if p.name == "panda.urdf"))


def test_operation_counts_stay_down():
    # panda_link7 is where the prototype ended, with 162 instructions for the 12 numbers of a pose
    m = panda()
    for frame, most in (("panda_link7", 159), ("panda_link8", 166)):
        assert trace("fk", m, frame=frame).signature.instructions <= most
    assert trace("fk_all", m).signature.instructions <= 545


@pytest.mark.slow
def test_a_chain_of_10000_joints():
    # no recursion, and linear in joints: a quadratic way would take minutes
    n = 10_000
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
    links = [LinkPart(f"l{k}") for k in range(n + 1)]
    m = assemble(Parts(name="long", links=links, joints=joints))
    angle = 2 * np.pi / n
    T = evaluate("fk", m, np.full(n, angle), frame=f"l{n}")
    np.testing.assert_allclose(T, np.eye(4), rtol=0, atol=1e-9)  # all the way round, to the start
    q = cs.SX.sym("q", n)
    traced = evaluate("fk", m, q, frame=f"l{n}")
    value = cs.Function("f", [q], [traced])(np.full(n, angle))
    np.testing.assert_allclose(np.array(value), T, rtol=0, atol=1e-12)


def test_a_robot_without_joints():
    m = mechanism_from(chain_urdf(2, "fixed"))
    T = evaluate("fk", m, np.zeros(0), frame="link2")
    assert T.tolist() == [[1, 0, 0, 0.2], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]]
    assert evaluate("fk_all", m, np.zeros(0)).shape == (5, 4, 4)


def test_a_frame_that_does_not_exist(every_joint: Mechanism):
    with pytest.raises(UnknownNameError, match=r"no frame named 'tol'; nearest: tool"):
        evaluate("fk", every_joint, np.zeros(every_joint.n_q), frame="tol")


def relative(m: Mechanism, q: np.ndarray, base: str, frame: str) -> np.ndarray:
    return evaluate("relative", m, q, base=base, frame=frame)


def test_it_is_what_both_poses_in_the_world_say(aligned_tree):
    random = rng("relative")
    trees = [aligned_tree(random, 9) for _ in range(30)]
    trees += [mechanism_from(random_tree(random, 9)) for _ in range(30)]
    trees.append(mechanism_from(every_joint_urdf(), base="floating"))
    for m in trees:
        q = random_configuration(random, m)
        poses = dict(zip(m.frame_names, evaluate("fk_all", m, q), strict=True))
        for base, frame in random.choice(m.frame_names, (12, 2)):
            expected = np.linalg.inv(poses[base]) @ poses[frame]
            found = relative(m, q, base, frame)
            scale = max(1.0, *(np.abs(poses[name]).max() for name in (base, frame)))
            np.testing.assert_allclose(found, expected, rtol=0, atol=1e-13 * scale)
            there_and_back = found @ relative(m, q, frame, base)
            np.testing.assert_allclose(there_and_back, np.eye(4), rtol=0, atol=1e-13 * scale)


def test_the_back_ends_agree_of_relative(every_joint: Mechanism, agree):
    random = rng("relative back ends")
    q = np.array([random_configuration(random, every_joint) for _ in range(5)])
    agree("relative", every_joint, q, base="last", frame="glue")


def test_a_frame_in_itself_and_in_its_own_body(every_joint: Mechanism):
    q = random_configuration(rng("relative itself"), every_joint)
    for name in every_joint.frame_names:
        np.testing.assert_allclose(relative(every_joint, q, name, name), np.eye(4), atol=1e-15)


def test_joints_that_carry_both_frames_make_no_difference():
    robot = lw.load("two_arm_torso", base="floating")
    q = robot.random(2, seed=3)
    hands = ("left_tool0", "right_tool0")
    shared = [name for name in robot.joint_names if not name.startswith(("left", "right"))]
    assert len(shared) == 3  # the floating base and the torso's
    other = q[0].copy()
    for name in shared:
        c = robot.mechanism.joint(name)
        own = slice(*robot.mechanism.q_start[c : c + 2])
        other[own] = q[1, own]
    first, second = robot.relative([q[0], other], *hands)
    assert first.tobytes() == second.tobytes()
    assert not np.allclose(robot.fk(q[0], hands[0]), robot.fk(other, hands[0]))
    # nor does it cost anything to have them
    fixed = lw.load("two_arm_torso").kernel("relative", hands[1], base=hands[0])
    floating = robot.kernel("relative", hands[1], base=hands[0])
    assert floating.signature.instructions == fixed.signature.instructions


def test_names_that_do_not_exist(every_joint: Mechanism):
    q = random_configuration(rng("relative names"), every_joint)
    for pair in (("last", "lasts"), ("lasts", "last")):
        with pytest.raises(UnknownNameError, match="no frame named 'lasts'; nearest: last"):
            relative(every_joint, q, *pair)
    robot = lw.load("planar_2r")
    with pytest.raises(lw.InputError, match="'relative' needs base="):
        robot.function("relative", "tool0")
    with pytest.raises(lw.InputError, match="a frame is meant by its name"):
        robot.relative(robot.neutral(), ["base"], "tool0")
    with pytest.raises(lw.UnknownNameError, match="tool0"):
        robot.relative(robot.neutral(), "tol0", "tool0")
    with pytest.raises(lw.InputError, match="has no argument 'base'"):
        robot.function("fk", "tool0", base="tool0")


def test_it_is_called_by_position_and_by_name():
    robot = lw.load("two_arm_torso")
    q, (a, b) = robot.neutral(), ("left_tool0", "right_tool0")
    expected = robot.relative(q, a, b).tobytes()
    for _ in range(3):  # the second call is another one inside
        assert robot.relative(q, base=a, frame=b).tobytes() == expected
        assert robot.relative(q, a, frame=b).tobytes() == expected
        assert robot.relative(q, frame=b, base=a).tobytes() == expected
        assert robot.relative(q, b, a).tobytes() != expected
    with pytest.raises(TypeError, match="frame"):
        robot.relative(q, a)
