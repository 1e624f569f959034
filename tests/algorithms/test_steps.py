"""Steps against plain products of matrices, and their transports against one another."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from linkwork.algorithms.steps import Spatial, columns, fixed_in, steps_of, way_to
from linkwork.mechanism.model import JointType, Mechanism
from linkwork.ops.numpy import NUMPY
from robots import body_poses, every_joint_urdf, mechanism_from, random_configuration, random_tree
from seeds import rng


def mechanisms(aligned_tree, label: str) -> list[Mechanism]:
    random = rng(label)
    found = [aligned_tree(random, 8) for _ in range(10)]
    found += [mechanism_from(random_tree(random, 8), base="floating") for _ in range(5)]
    return [*found, mechanism_from(every_joint_urdf())]


def pose(steps, k: int) -> np.ndarray:
    T = np.eye(4)
    for each in way_to(steps, k):
        own = np.eye(4)
        own[:3, :3], own[:3, 3] = np.array(steps[each].R, float), steps[each].r
        T = T @ own
    return T


def test_poses_of_the_bodies(aligned_tree):
    random = rng("step poses")
    for m in mechanisms(aligned_tree, "step trees"):
        q = random_configuration(random, m)
        steps, expected = steps_of(NUMPY, m, q), body_poses(m, q)
        owners = [k for k, step in enumerate(steps) if step.owner]
        assert [steps[k].body for k in owners] == list(range(m.n_bodies))
        for k in owners:
            np.testing.assert_allclose(pose(steps, k), expected[steps[k].body], atol=1e-13)


def test_every_number_of_v_belongs_to_one_step_of_each_joint(aligned_tree):
    random = rng("step numbers")
    for m in mechanisms(aligned_tree, "step trees"):
        steps = steps_of(NUMPY, m, random_configuration(random, m))
        for body, kind in enumerate(m.body_joint_types):
            own = [step for step in steps if step.body == body]
            assert len(own) == (3 if kind is JointType.PLANAR else 1)
            assert sum(len(step.free) for step in own) == kind.n_v
            assert all(step.factor == m.multiplier[body] for step in own)
            assert all(a.start + 1 == b.start for a, b in pairwise(own))
            assert [len(list(columns(step))) for step in own] == [len(s.free) for s in own]


def test_transports_are_those_of_the_rotation(aligned_tree):
    random = rng("transports")
    for m in mechanisms(aligned_tree, "step trees"):
        for step in steps_of(NUMPY, m, random_configuration(random, m)):
            R, r = np.array(step.R, float), np.array(step.r, float)
            v, f, a = random.normal(size=3), random.normal(size=3), random.normal(size=(3, 3))
            near = {"rtol": 0, "atol": 1e-12}
            np.testing.assert_allclose(step.out(list(v)), R @ v, **near)
            np.testing.assert_allclose(step.into(list(v)), R.T @ v, **near)
            np.testing.assert_allclose(step.matrix_out(a.tolist()), R @ a @ R.T, **near)
            whole = np.array(step.symmetric_out((a + a.T).tolist()))
            np.testing.assert_allclose(whole, R @ (a + a.T) @ R.T, **near)
            assert np.array_equal(whole, whole.T)
            force, moment = step.wrench_out(Spatial(list(f), list(v)))
            np.testing.assert_allclose(force, R @ f, **near)
            np.testing.assert_allclose(moment, R @ v + np.cross(r, R @ f), **near)
            there = step.twist_out(Spatial(list(f), list(v)))
            np.testing.assert_allclose(there.linear, R @ f + np.cross(r, R @ v), **near)
            back = step.twist_into(there)
            np.testing.assert_allclose(np.concatenate(back), np.concatenate([f, v]), **near)


def test_signed_permutations_are_told_from_other_placements(every_joint: Mechanism):
    q = random_configuration(rng("kinds"), every_joint)
    kinds = set()
    for step in steps_of(NUMPY, every_joint, q):
        if step.is_turn:
            exact = all(abs(x) in (0.0, 1.0) for row in step.placed for x in row)
            assert (step.turn is not None) == exact
            kinds.add(exact)
        else:
            assert step.turn is None
    assert kinds == {True, False}


def test_some_bodies_alone(every_joint: Mechanism):
    m = every_joint
    q, bodies = random_configuration(rng("alone"), m), m.ancestry(m.n_bodies - 1)
    steps = steps_of(NUMPY, m, q, bodies)
    assert [step.body for step in steps if step.owner] == bodies
    np.testing.assert_allclose(
        pose(steps, len(steps) - 1), body_poses(m, q)[bodies[-1]], atol=1e-13
    )
    with pytest.raises(KeyError):
        steps_of(NUMPY, m, q, bodies[1:])


def test_a_fixed_frame(every_joint: Mechanism):
    k = every_joint.frame("tool")
    step = fixed_in(every_joint.frame_placement(k))
    assert not step.free
    np.testing.assert_array_equal(np.array(step.R), every_joint.R_body_frame[k])
    np.testing.assert_array_equal(np.array(step.r), every_joint.p_body_frame[k])
