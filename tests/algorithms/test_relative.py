"""The pose of a frame in another: from both poses in the world, and what it does not depend on."""

from __future__ import annotations

import numpy as np
import pytest

import linkwork as lw
from linkwork.algorithms.registry import evaluate
from linkwork.errors import UnknownNameError
from linkwork.mechanism.model import Mechanism
from robots import every_joint_urdf, mechanism_from, random_configuration, random_tree
from seeds import rng


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


def test_the_back_ends_agree(every_joint: Mechanism, agree):
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
