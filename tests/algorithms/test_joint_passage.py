"""Vectors through joints, against the poses of a plain walk."""

from __future__ import annotations

import numpy as np

from dynamics_textbook import near
from linkwork.algorithms.joint_passage import columns_of, passages
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
