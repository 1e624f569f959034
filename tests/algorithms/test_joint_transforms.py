"""Joints as transforms, against matrices; the algebra of twists and wrenches."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from linkwork.algorithms.joint_transforms import (
    Inertia,
    Spatial,
    both,
    crossed,
    crossed_wrench,
    doubled,
    fixed_in,
    joint_position,
    power,
)
from linkwork.algorithms.sweep import Sweep
from linkwork.mechanism.model import JointType, Mechanism
from linkwork.ops.graph import GraphOps
from linkwork.ops.numpy import NUMPY
from robots import every_joint_urdf, mechanism_from, random_configuration, random_tree
from seeds import rng


@pytest.fixture(scope="module")
def mechanisms(aligned_tree) -> list[Mechanism]:
    random = rng("sweep trees")
    found = [aligned_tree(random, 8) for _ in range(10)]
    found += [mechanism_from(random_tree(random, 8), base="floating") for _ in range(5)]
    return [*found, mechanism_from(every_joint_urdf())]


def sweep_of(label: str, m: Mechanism) -> Sweep:
    return Sweep(NUMPY, m, random_configuration(rng(label), m))


def near(got, expected, within: float = 1e-13) -> None:
    np.testing.assert_allclose(np.concatenate(got), np.concatenate(expected), rtol=0, atol=within)


def spatial(random: np.random.Generator) -> Spatial:
    return Spatial(list(random.normal(size=3)), list(random.normal(size=3)))


def test_transports_are_those_of_the_rotation(mechanisms):
    random = rng("transports")
    for step in (step for m in mechanisms for step in sweep_of("transports", m).transforms):
        R, r = np.array(step.R, float), np.array(step.r, float)
        v, f, a = random.normal(size=3), random.normal(size=3), random.normal(size=(3, 3))
        tight = {"rtol": 0, "atol": 1e-12}
        np.testing.assert_allclose(step.out(list(v)), R @ v, **tight)
        np.testing.assert_allclose(step.into(list(v)), R.T @ v, **tight)
        np.testing.assert_allclose(step.matrix_out(a.tolist()), R @ a @ R.T, **tight)
        points = random.normal(size=(4, 4)) * [1, 1, 1, 0] + [0, 0, 0, 1]
        P, T = points.T @ points, np.vstack([np.column_stack([R, r]), [0, 0, 0, 1]])
        there = step.inertia_out(Inertia(P[3, 3], P[:3, 3].tolist(), P[:3, :3].tolist()))
        np.testing.assert_allclose(there.second, (T @ P @ T.T)[:3, :3], **tight)
        np.testing.assert_allclose(there.first, (T @ P @ T.T)[:3, 3], **tight)
        whole = np.array(step.symmetric_out((a + a.T).tolist()))
        np.testing.assert_allclose(whole, R @ (a + a.T) @ R.T, **tight)
        assert np.array_equal(whole, whole.T)
        force, moment = step.wrench_out(Spatial(list(f), list(v)))
        np.testing.assert_allclose(force, R @ f, **tight)
        np.testing.assert_allclose(moment, R @ v + np.cross(r, R @ f), **tight)
        there = step.twist_out(Spatial(list(f), list(v)))
        np.testing.assert_allclose(there.linear, R @ f + np.cross(r, R @ v), **tight)
        near(step.twist_into(there), (f, v), 1e-12)


def test_a_fixed_frame(every_joint: Mechanism):
    k = every_joint.frame("tool")
    step = fixed_in(every_joint.frame_placement(k))
    assert not step.free
    np.testing.assert_array_equal(np.array(step.R), every_joint.R_body_frame[k])
    np.testing.assert_array_equal(np.array(step.r), every_joint.p_body_frame[k])


def test_positions_of_coupled_joints(every_joint: Mechanism):
    m, o = every_joint, GraphOps()
    q = np.arange(1.0, m.n_q + 1)
    copy = m.body_joint_names.index("copy")
    assert joint_position(m, q, copy) == [-0.5 * q[m.q_start[m.joint("turn")]] + 0.3]
    assert joint_position(m, q, 0) == []
    # a multiplier of one costs nothing
    (value,) = joint_position(m, o.input(0, m.n_q), m.body_joint_names.index("parallel"))
    assert o.graph.operations[value.numbers[0]] == "INPUT"


def test_the_algebra():
    random = rng("algebra")
    a, b, c = (spatial(random) for _ in range(3))
    near(crossed(a, b), [-np.array(part) for part in crossed(b, a)])
    first, second, third = (
        crossed(*pair) for pair in ((crossed(a, b), c), (crossed(b, c), a), (crossed(c, a), b))
    )
    near(both(both(first, second), third), (np.zeros(3), np.zeros(3)), 1e-12)
    # a wrench that turns along does the same power
    np.testing.assert_allclose(power(crossed(a, b), c), -power(b, crossed_wrench(a, c)))
    near(doubled(a), both(a, a), 0)


def test_every_number_of_v_belongs_to_one_transform_of_each_joint(mechanisms):
    for m in mechanisms:
        sweep = sweep_of("numbers", m)
        for body, kind in enumerate(m.body_joint_types):
            own = [step for step in sweep.transforms if step.body == body]
            assert len(own) == (3 if kind is JointType.PLANAR else 1)
            assert sum(len(step.free) for step in own) == kind.n_v
            assert all(step.factor == m.multiplier[body] for step in own)
            assert all(a.start + 1 == b.start for a, b in pairwise(own))
            assert [len(list(step.columns())) for step in own] == [len(s.free) for s in own]
