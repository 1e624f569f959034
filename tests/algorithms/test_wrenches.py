"""Wrenches handed inwards, against virtual work."""

from __future__ import annotations

import numpy as np

from dynamics_textbook import body_jacobians, near
from linkwork.algorithms.joint_passage import columns_of, passages
from linkwork.algorithms.parametric import Parametric
from linkwork.algorithms.wrenches import Load, Wrench, along_joint, in_joint
from linkwork.mechanism.model import Mechanism
from linkwork.ops.numpy import NUMPY
from robots import random_configuration
from seeds import rng


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
