"""The way to a frame: its segments add up, and its axes go through its anchors."""

from __future__ import annotations

import numpy as np
import pytest

from linkwork.algorithms import axes as ax
from linkwork.algorithms.path import (
    free_axes,
    path_down,
    path_up,
    sums_from_start,
    sums_to_end,
)
from linkwork.mechanism.assemble import JointPart, LinkPart, Parts, assemble
from linkwork.mechanism.model import JointType, Mechanism
from linkwork.ops.numpy import NUMPY
from robots import body_poses, mechanism_from, model_poses, random_configuration, random_tree
from seeds import rng


def robots(aligned_tree) -> list[tuple[Mechanism, np.ndarray]]:
    random = rng("path")
    found = [aligned_tree(random, 8) for _ in range(15)]
    found += [mechanism_from(random_tree(random, 8)) for _ in range(15)]
    return [(m, random_configuration(random, m)) for m in found]


def total(vector) -> np.ndarray:
    return np.zeros(3) if vector is None else vector


def test_both_ways_arrive(aligned_tree):
    for m, q in robots(aligned_tree):
        expected = model_poses(m, q)
        for k, name in enumerate(m.frame_names):
            T = expected[name]
            down, up = path_down(NUMPY, m, q, k), path_up(NUMPY, m, q, k)
            R, p = ax.matrix(NUMPY, down.axes), total(sums_to_end(down.segments)[0])
            np.testing.assert_allclose(R, T[:3, :3], rtol=0, atol=1e-14)
            np.testing.assert_allclose(p, T[:3, 3], rtol=0, atol=1e-13)
            R, p = ax.matrix(NUMPY, up.axes), np.zeros(3)
            up.flush()
            p = total(sums_from_start(up.segments)[-1])
            np.testing.assert_allclose(R.T, T[:3, :3], rtol=0, atol=1e-14)
            np.testing.assert_allclose(-R.T @ p, T[:3, 3], rtol=0, atol=1e-13)


def test_axes_go_through_anchors(aligned_tree):
    for m, q in robots(aligned_tree):
        bodies = body_poses(m, q)
        for k in range(len(m.frame_names)):
            path = path_down(NUMPY, m, q, k)
            sums = [total(s) for s in sums_from_start(path.segments)]
            way = [b for b in m.ancestry(int(m.frame_body[k])) if m.coordinate[b] >= 0]
            expected = [(b, j, turns) for b in way for j, turns in free_axes(m.body_joint_types[b])]
            assert len(path.motions) == len(expected)
            for motion, (b, j, turns) in zip(path.motions, expected, strict=True):
                assert motion.turns == turns
                if not turns:
                    continue
                axis = bodies[b][:3, j]
                np.testing.assert_allclose(motion.sign * motion.axis, axis, rtol=0, atol=1e-13)
                for anchor in (motion.anchor, motion.anchor + motion.along):
                    aside = np.cross(axis, sums[anchor] - bodies[b][:3, 3])
                    np.testing.assert_allclose(aside, 0, rtol=0, atol=1e-13)


def test_offsets_along_parallel_axes_are_one_product():
    # three parallel axes with offsets along them: only the last segment has that component
    joints = [
        JointPart(
            name=f"j{k}",
            type=JointType.REVOLUTE,
            parent=f"l{k}",
            child=f"l{k + 1}",
            p=np.array([0.0, 0.0, 0.1]) if k == 0 else np.array([0.4, 0.0, 0.1]),
        )
        for k in range(3)
    ]
    m = assemble(Parts(name="arm", links=[LinkPart(f"l{k}") for k in range(4)], joints=joints))
    path = path_down(NUMPY, m, np.array([0.1, 0.2, 0.3]), m.frame("l3"))
    heights = [segment[2] for segment in path.segments]
    assert heights[:-1] == [0.0, 0.0] and heights[-1] == pytest.approx(0.3)


def test_the_last_turn_needs_no_arm_along_its_axis():
    m = assemble(
        Parts(
            name="one",
            links=[LinkPart("a"), LinkPart("b"), LinkPart("tip")],
            joints=[
                JointPart(name="turn", type=JointType.REVOLUTE, parent="a", child="b"),
                JointPart(
                    name="on",
                    type=JointType.FIXED,
                    parent="b",
                    child="tip",
                    p=np.array([0.0, 0.0, 0.5]),
                ),
            ],
        )
    )
    (motion,) = path_down(NUMPY, m, np.array([0.4]), m.frame("tip")).motions
    assert (motion.anchor, motion.along) == (0, 1)


def test_sums():
    a, b = np.array([1.0, 0, 0]), np.array([0, 2.0, 0])
    assert [None if s is None else s.tolist() for s in sums_from_start([a, b])] == [
        None,
        [1, 0, 0],
        [1, 2, 0],
    ]
    assert [None if s is None else s.tolist() for s in sums_to_end([a, b])] == [
        [1, 2, 0],
        [0, 2, 0],
        None,
    ]
    assert sums_from_start([]) == sums_to_end([]) == [None]
