"""Poses, Jacobians and their rates, velocities and accelerations of frames.

Judges are products of matrices, numbers of 50 digits, differentiation by CasADi and JAX, Pinocchio,
and closed forms. Pinocchio on poses, Jacobians and frames' motions stands in tests/reference and
tests/contracts.
"""

from __future__ import annotations

import casadi as cs
import numpy as np
import pytest

import linkwork as lw
from dynamics_cases import as_column, evaluate, near, solid
from linkwork.algorithms.forward_kinematics import body_poses
from linkwork.algorithms.frame_motion import world_motion
from linkwork.algorithms.jacobian import REFERENCES
from linkwork.mechanism.model import Mechanism
from linkwork.ops.numpy import NUMPY
from robots import body_poses as plain_body_poses
from robots import (
    chain_urdf,
    every_joint_urdf,
    mechanism_from,
    model_poses,
    random_configuration,
    random_tree,
)
from seeds import rng


def trees(aligned_tree, label: str, n: int) -> list[Mechanism]:
    random = rng(label)
    found = [aligned_tree(random, 8) for _ in range(n)]
    return found + [mechanism_from(random_tree(random, 8)) for _ in range(n)]


def test_against_products_of_matrices(aligned_tree):
    random = rng("fk trees")
    for m in trees(aligned_tree, "fk trees", 40):
        q = random_configuration(random, m)
        expected = model_poses(m, q)
        for name, T in zip(m.frame_names, evaluate("fk_all", m, q), strict=True):
            near(T, expected[name], 2e-14)
            one = evaluate("fk", m, q, frame=name)
            near(one, expected[name], 2e-14)
            assert T[3].tolist() == one[3].tolist() == [0, 0, 0, 1]


def test_all_bodies_or_some(every_joint: Mechanism):
    m, q = every_joint, random_configuration(rng("bodies"), every_joint)
    expected = plain_body_poses(m, q)
    everything = body_poses(NUMPY, m, q, range(m.n_bodies))
    assert list(everything) == list(range(m.n_bodies))
    for body, pose in everything.items():
        near(pose.R, expected[body][:3, :3], 1e-14)
        near(pose.p, expected[body][:3, 3], 1e-14)
    for wanted in ([], [0], [4], [3, 7]):
        some = body_poses(NUMPY, m, q, wanted)
        assert sorted(some) == sorted({b for body in wanted for b in m.ancestry(body)})
        assert all(np.array_equal(pose.p, everything[b].p) for b, pose in some.items())


def test_a_frame_depends_only_on_the_joints_before_it(every_joint: Mechanism):
    m, q = every_joint, cs.SX.sym("q", every_joint.n_q)
    for k, name in enumerate(m.frame_names):
        T = evaluate("fk", m, q, frame=name)
        used = {i for i, needed in enumerate(cs.which_depends(cs.vec(T), q, 1)) if needed}
        moving = m.coordinates_moving(k)
        assert used <= {i for c in moving for i in range(m.q_start[c], m.q_start[c + 1])}


@pytest.mark.parametrize("n", [1_000, pytest.param(10_000, marks=pytest.mark.slow)])
def test_a_long_chain(n: int):
    # no recursion, and linear in joints: a quadratic way would take minutes
    m = mechanism_from(solid(chain_urdf(n)))
    T = evaluate("fk", m, np.full(n, 2 * np.pi / n), frame=f"link{n}")
    np.testing.assert_allclose(T, np.eye(4), rtol=0, atol=1e-9)  # all the way round, to the start
    J = evaluate("jacobian", m, np.zeros(n), frame=f"link{n}")
    x = 0.1 * np.arange(1, n + 1)
    np.testing.assert_allclose(J[1], x[-1] - x, rtol=0, atol=1e-9)
    assert (J[5] == 1).all() and not J[[0, 2, 3, 4]].any()
    own = m.link_com[m.frame("link1")]
    np.testing.assert_allclose(
        evaluate("com", m, np.zeros(n)), own + np.array([0.05 * n, 0, 0]), rtol=1e-12
    )
    assert not evaluate("gravity_forces", m, np.zeros(n)).any()  # its axes are vertical


def test_a_robot_whose_joints_are_fixed():
    m, nothing = mechanism_from(chain_urdf(2, "fixed")), np.zeros(0)
    T = evaluate("fk", m, nothing, frame="link2")
    assert T.tolist() == [[1, 0, 0, 0.2], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]]
    assert evaluate("relative", m, nothing, base="link1", frame="link2")[0, 3] == 0.1
    assert evaluate("jacobian", m, nothing, frame="link2").shape == (6, 0)


# -------------------------------------------------------------------------- one frame in another


def test_a_relative_pose_is_what_both_poses_in_the_world_say(aligned_tree):
    random = rng("relative")
    floating = mechanism_from(every_joint_urdf(), base="floating")
    for m in [*trees(aligned_tree, "relative", 30), floating]:
        q = random_configuration(random, m)
        poses = dict(zip(m.frame_names, evaluate("fk_all", m, q), strict=True))
        for base, frame in random.choice(m.frame_names, (12, 2)):
            expected = np.linalg.inv(poses[base]) @ poses[frame]
            found = evaluate("relative", m, q, base=base, frame=frame)
            scale = max(1.0, *(np.abs(poses[name]).max() for name in (base, frame)))
            np.testing.assert_allclose(found, expected, rtol=0, atol=1e-13 * scale)
            itself = evaluate("relative", m, q, base=frame, frame=frame)
            np.testing.assert_allclose(itself, np.eye(4), atol=1e-15)


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


def test_a_relative_pose_by_position_and_by_name():
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
    for call, error, text in (
        (lambda: robot.relative(q, "left", b), lw.UnknownNameError, "no frame named 'left'"),
        (lambda: robot.relative(q, a, "left"), lw.UnknownNameError, "no frame named 'left'"),
        (lambda: robot.relative(q, [a], b), lw.InputError, "a frame is meant by its name"),
        (lambda: robot.function("relative", a), lw.InputError, "'relative' needs base="),
        (lambda: robot.function("fk", a, base=b), lw.InputError, "has no argument 'base'"),
    ):
        with pytest.raises(error, match=text):
            call()


# ------------------------------------------------------------------------ Jacobians and their rates


def twist(T: np.ndarray, dT: np.ndarray, reference: str) -> np.ndarray:
    """The Jacobian (6, nv) in a reference, from T (4, 4) and its derivatives (4, 4, nv)."""
    R, p = T[:3, :3], T[:3, 3]
    W = np.einsum("ijk,lj->ilk", dT[:3, :3], R)
    angular = 0.5 * np.stack([W[2, 1] - W[1, 2], W[0, 2] - W[2, 0], W[1, 0] - W[0, 1]])
    linear = dT[:3, 3]
    if reference == "local":
        linear, angular = R.T @ linear, R.T @ angular
    if reference == "world":
        linear = linear + np.cross(p, angular, axis=0)
    return np.vstack([linear, angular])


@pytest.mark.sweep(1)
@pytest.mark.parametrize("reference", REFERENCES)
def test_casadi_differentiates_poses_through_integrate(aligned_tree, reference: str):
    random = rng("jacobian casadi")
    for m in trees(aligned_tree, "jacobian casadi", 15):
        name = m.frame_names[int(random.integers(len(m.frame_names)))]
        q, v = cs.SX.sym("q", m.n_q), cs.SX.sym("v", m.n_v)
        flat = as_column(evaluate("fk", m, evaluate("integrate", m, q, v), frame=name))
        still = cs.DM.zeros(m.n_v)
        both = [cs.substitute(x, v, still) for x in (flat, cs.jacobian(flat, v))]
        f = cs.Function("f", [q], [cs.densify(x) for x in both])
        for _ in range(3):
            at = random_configuration(random, m)
            T, dT = (np.array(x) for x in f(at))
            expected = twist(T.reshape(4, 4), dT.reshape(4, 4, -1), reference)
            near(evaluate("jacobian", m, at, frame=name, reference=reference), expected, 1e-13)


@pytest.mark.parametrize("name", ["jacobian_dot", "jacobian_dot_v"])
@pytest.mark.parametrize("reference", REFERENCES)
def test_casadi_differentiates_jacobians_along_the_motion(every_joint, name: str, reference: str):
    random = rng("jacobian derivative casadi")
    for m in (every_joint, mechanism_from(every_joint_urdf(), base="floating")):
        q, v, t = cs.SX.sym("q", m.n_q), cs.SX.sym("v", m.n_v), cs.SX.sym("t")
        moved = evaluate("integrate", m, q, t * v)
        for frame in m.frame_names[-4:]:
            static = {"frame": frame, "reference": reference}
            J = evaluate("jacobian", m, moved, **static)
            J = J @ v if name == "jacobian_dot_v" else J
            rate = cs.substitute(cs.reshape(cs.jacobian(cs.vec(J), t), J.shape), t, 0)
            f = cs.Function("f", [q, v], [cs.densify(rate)])
            at = random_configuration(random, m), random.normal(size=m.n_v)
            got = evaluate(name, m, *at, **static)
            near(got, np.array(f(*at)).reshape(got.shape), 1e-13)


def test_a_wheel():
    m = mechanism_from(chain_urdf(2))
    q, v, dv = np.array([0.3, 0.0]), np.array([2.0, 0.0]), np.array([5.0, 0.0])
    out, across = np.array([np.cos(0.3), np.sin(0.3), 0]), np.array([-np.sin(0.3), np.cos(0.3), 0])
    near(evaluate("frame_velocity", m, q, v, frame="link2"), [*(0.2 * across), 0, 0, 2.0], 1e-15)
    got = evaluate("frame_acceleration", m, q, v, dv, frame="link2")
    near(got, [*(0.5 * across - 0.4 * out), 0, 0, 5.0], 1e-15)
    near(evaluate("jacobian_dot_v", m, q, v, frame="link2"), [*(-0.4 * out), 0, 0, 0], 1e-15)
    column = evaluate("jacobian_dot", m, q, v, frame="link2")[:, 0]
    near(column, [*(-0.2 * out), 0, 0, 0], 1e-15)
    # in its own axes the twist of a wheel does not change
    for name in ("jacobian_dot_v", "jacobian_dot"):
        got = evaluate(name, m, q, v, frame="link2", reference="local")
        near(got[:, 0] if name == "jacobian_dot" else got, np.zeros(6), 1e-15)


def test_motion_since_a_body_that_carries_the_frame(every_joint: Mechanism):
    m, random = every_joint, rng("motion since")
    q, v = random_configuration(random, m), random.normal(size=m.n_v)
    for name in m.frame_names:
        at = world_motion(NUMPY, m, q, v, m.frame(name))
        near([*at.velocity, *at.omega], evaluate("frame_velocity", m, q, v, frame=name), 1e-12)
        rate = evaluate("jacobian_dot_v", m, q, v, frame=name)
        near([*at.acceleration, *at.alpha], rate, 1e-12)
    body = m.ancestry(int(m.frame_body[m.frame("tool")]))[2]
    at = world_motion(NUMPY, m, q, v, m.frame("tool"), since=body)
    T = evaluate("relative", m, q, base=m.body_names[body], frame="tool")
    place = m.frame_placement(m.frame(m.body_names[body]))
    R, p = np.array(place.R), np.array(place.p)
    near(np.array(at.R, float), R @ T[:3, :3], 1e-13)
    near(np.array(at.p, float), R @ T[:3, 3] + p, 1e-13)


@pytest.mark.slow
def test_float32_in_jax_stays_float32(every_joint: Mechanism, jax):
    jax.config.update("jax_enable_x64", False)  # the fixture restores it
    m, q = every_joint, random_configuration(rng("fk float32"), every_joint)
    T = jax.jit(lambda q: evaluate("fk_all", m, q))(jax.numpy.asarray(q))
    assert T.dtype == np.float32
    np.testing.assert_allclose(T, evaluate("fk_all", m, q), rtol=0, atol=5e-6)
