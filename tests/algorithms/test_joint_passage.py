"""Vectors through joints, against the poses of a plain walk."""

from __future__ import annotations

import numpy as np

from dynamics_textbook import body_jacobians, near
from linkwork.algorithms.joint_passage import (
    Load,
    Wrench,
    along_joint,
    columns_of,
    in_joint,
    passages,
)
from linkwork.algorithms.parametric import Parametric
from linkwork.mechanism.model import JointType, Mechanism
from linkwork.ops.numpy import NUMPY
from robots import body_poses, random_configuration
from seeds import rng


def test_there_and_back(every_joint: Mechanism, aligned_tree):
    random = rng("passages")
    for m in [every_joint, *(aligned_tree(random, 8) for _ in range(10))]:
        q = random_configuration(random, m)
        poses = body_poses(m, q)
        for body, way in enumerate(passages(NUMPY, m, q)):
            above = poses[m.parent[body]] if m.parent[body] >= 0 else np.eye(4)
            T = np.linalg.inv(above) @ poses[body]
            v = random.normal(size=3).tolist()
            near(way.out_of_joint(way.out_of_body(v)), T[:3, :3] @ v)
            near(way.into_body(way.into_joint(v)), T[:3, :3].T @ v)
            shift = way.shift or [0.0, 0.0, 0.0]
            near(np.array(way.p) + way.out_of_joint(shift), T[:3, 3])
            assert way.exact == (np.count_nonzero(m.R_parent_joint[body]) == 3)


def test_columns(every_joint: Mechanism):
    m = every_joint
    for body, type in enumerate(m.body_joint_types):
        columns, factor = columns_of(m, body)
        assert len(columns) == (0 if type is JointType.FIXED else type.n_v)
        assert factor == m.multiplier[body]
    copy = m.body_joint_names.index("copy")
    start = int(m.v_start[m.joint("turn")])
    assert columns_of(m, copy) == (range(start, start + 1), -0.5)


def joint_forces(m: Mechanism, load: Load, q: np.ndarray) -> np.ndarray:
    tau = np.zeros(m.n_v)
    ways = passages(NUMPY, m, q)
    for body in range(m.n_bodies - 1, -1, -1):
        columns, factor = columns_of(m, body)
        tau[list(columns)] += factor * np.array(along_joint(ways[body], load.of(body)))
        load.hand_inwards(body, in_joint(ways[body], load.of(body)))
    return tau


def test_virtual_work(every_joint: Mechanism, aligned_tree):
    random = rng("virtual work")
    for m in [every_joint, *(aligned_tree(random, 8) for _ in range(10))]:
        q = random_configuration(random, m)
        frame = m.frame_names[-1]
        body, wrench = int(m.frame_body[-1]), random.normal(size=6)
        given = Parametric(NUMPY, m, {f"wrench:{frame}": wrench})
        load = Load(given, passages(NUMPY, given, q))
        on = load.of(body)
        J = body_jacobians(m, q)[body]
        expected = J[3:].T @ on.force + J[:3].T @ on.moment
        near(joint_forces(m, load, q), expected)


def test_nothing_is_there_without_parameters(every_joint: Mechanism):
    q = random_configuration(rng("nothing"), every_joint)
    load = Load(every_joint, passages(NUMPY, every_joint, q))
    nothing = Wrench([0.0] * 3, [0.0] * 3)
    assert all(load.of(body) == nothing for body in range(every_joint.n_bodies))
