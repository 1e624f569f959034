"""One joint at a time: pose, free twists, positions of coupled joints."""

from __future__ import annotations

import numpy as np
import pytest

from linkwork.algorithms import axes as ax
from linkwork.algorithms.joint_motion import (
    body_axes,
    displacement,
    joint_axes,
    joint_columns,
    joint_pose,
    joint_position,
    joint_rate,
)
from linkwork.mechanism.model import JointType, Mechanism
from linkwork.ops.graph import GraphOps
from linkwork.ops.numpy import NUMPY
from linkwork.spatial import so3
from linkwork.spatial.poses import to_matrix
from linkwork.spatial.rotations import multiply_quaternions, rotation_z
from seeds import rng

TYPES = list(JointType)


def position(type: JointType, seed: str) -> np.ndarray:
    q = rng(f"{seed} {type.label}").uniform(-2, 2, type.n_q)
    if type.has_quaternion:
        q[-4:] /= np.linalg.norm(q[-4:])
    return q


def moved(type: JointType, q: np.ndarray, v: np.ndarray) -> np.ndarray:
    """A small step, to second order the same as the exact one."""
    if not type.has_quaternion:
        return q + v
    pose = joint_pose(NUMPY, type, q)
    turn = multiply_quaternions(NUMPY, q[-4:], so3.quaternion_exp(NUMPY, v[-3:]))
    slide = q[:-4] + pose.R @ v[:-3] if type is JointType.FLOATING else []
    return np.concatenate([slide, turn])


def test_poses_by_hand():
    poses = {type: joint_pose(NUMPY, type, position(type, "hand")) for type in TYPES}
    for type, pose in poses.items():
        q = position(type, "hand")
        if type.turns:
            assert np.array_equal(pose.R, rotation_z(NUMPY, q[0])) and not pose.p.any()
    q = position(JointType.PLANAR, "hand")
    assert np.array_equal(poses[JointType.PLANAR].R, rotation_z(NUMPY, q[2]))
    assert poses[JointType.PLANAR].p.tolist() == [q[0], q[1], 0]
    assert poses[JointType.PRISMATIC].R.tolist() == np.eye(3).tolist()
    assert poses[JointType.PRISMATIC].p.tolist() == [0, 0, position(JointType.PRISMATIC, "hand")[0]]
    half = joint_pose(NUMPY, JointType.FLOATING, [1.0, 2.0, 3.0, 0.0, 0.0, 2.0, 0.0])
    assert half.R.tolist() == np.diag([-1.0, 1.0, -1.0]).tolist() and half.p.tolist() == [1, 2, 3]
    assert to_matrix(NUMPY, joint_pose(NUMPY, JointType.FIXED, [])).tolist() == np.eye(4).tolist()


@pytest.mark.parametrize("type", TYPES)
def test_columns_are_the_derivatives_of_the_pose(type: JointType):
    q, h = position(type, "columns"), 1e-6
    T = to_matrix(NUMPY, joint_pose(NUMPY, type, q))
    columns = joint_columns(NUMPY, type, q)
    assert len(columns) == type.n_v
    for e, column in zip(np.eye(type.n_v), columns, strict=True):
        ahead = to_matrix(NUMPY, joint_pose(NUMPY, type, moved(type, q, h * e)))
        behind = to_matrix(NUMPY, joint_pose(NUMPY, type, moved(type, q, -h * e)))
        twist = np.linalg.inv(T) @ (ahead - behind) / (2 * h)
        got = [*twist[:3, 3], twist[2, 1], twist[0, 2], twist[1, 0]]
        np.testing.assert_allclose(column, got, rtol=0, atol=1e-9)


@pytest.mark.parametrize("type", TYPES)
def test_axes_go_there_and_back(type: JointType):
    q = list(position(type, "back"))
    start = ax.placed(
        NUMPY, ax.reference_axes(NUMPY), np.array([[0, 0, 1.0], [1, 0, 0], [0, 1, 0]])
    )
    there = body_axes(NUMPY, type, start, q)
    pose = joint_pose(NUMPY, type, q)
    np.testing.assert_allclose(
        ax.matrix(NUMPY, there), ax.matrix(NUMPY, start) @ pose.R, rtol=0, atol=4e-16
    )
    back = joint_axes(NUMPY, type, there, q)
    np.testing.assert_allclose(ax.matrix(NUMPY, back), ax.matrix(NUMPY, start), rtol=0, atol=1e-15)
    shift = displacement(type, q)
    assert np.array_equal(np.zeros(3) if shift is None else shift, pose.p)


def test_coupled_positions_and_rates(every_joint: Mechanism):
    m = every_joint
    q, v = np.arange(1.0, m.n_q + 1), np.arange(1.0, m.n_v + 1)
    turn = m.joint("turn")
    body = m.body_joint_names.index("copy")
    assert joint_position(m, q, body) == [-0.5 * q[m.q_start[turn]] + 0.3]
    assert joint_rate(m, v, body) == [-0.5 * v[m.v_start[turn]]]
    assert joint_position(m, q, 0) == [] and joint_rate(m, v, 0) == []


def test_a_multiplier_of_one_costs_nothing(every_joint: Mechanism):
    m = every_joint
    o = GraphOps()
    q = o.input(0, m.n_q)
    (value,) = joint_position(m, q, m.body_joint_names.index("parallel"))
    assert o.graph.operations[value.numbers[0]] == "INPUT"
    (scaled,) = joint_position(m, q, m.body_joint_names.index("copy2"))
    assert o.graph.operations[scaled.numbers[0]] == "MUL"
