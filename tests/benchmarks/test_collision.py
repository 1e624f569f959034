"""The case of collisions: its work is the same for a seed, its sides agree, lies are told."""

from __future__ import annotations

import numpy as np
import pytest
from benchmarks.environments import find_data

from benchmarks import collision
from benchmarks import collision_peers as peers
from benchmarks import collision_work as work

pytest.importorskip("pinocchio", reason="Pinocchio (pip install pin) is not installed")
LIMITS = (np.full(7, -2.0), np.full(7, 2.0))


def test_the_scene_follows_from_its_seed_and_stands_where_the_arm_reaches() -> None:
    for a, b in zip(work.scene(3), work.scene(3), strict=True):
        assert a.name == b.name
        np.testing.assert_array_equal(a.T_world_obstacle, b.T_world_obstacle)
    assert len(work.scene(3)) == work.OBSTACLES
    for each in work.scene(4):
        at = each.T_world_obstacle[:3, 3]
        assert work.SHELL[0] <= np.linalg.norm(at - work.SHOULDER) <= work.SHELL[1]
        assert np.hypot(*at[:2]) >= work.BESIDE_BASE
    assert sum(each.sides is None for each in work.scene(3)) == work.OBSTACLES // 2


def test_rows_of_a_motion_are_near_each_other_and_within_limits() -> None:
    q = work.motions(LIMITS, 5 * work.EDGE, 1).reshape(5, work.EDGE, 7)
    assert np.abs(q).max() <= 2.0
    steps = np.linalg.norm(np.diff(q, axis=1), axis=2)
    assert steps.max() <= 1.0 / (work.EDGE - 1) + 1e-12
    assert work.unrelated(LIMITS, 9, 1).shape == (9, 7)


def test_all_sides_say_the_same() -> None:
    data = find_data()
    robot = peers.Robot(data / collision.FILE, data.parents[1], collision.JOINTS, collision.BASE)
    pairs, obstacles = robot.every_pair(data / collision.SRDF), work.scene(1)
    assert len(pairs) > 10
    q = [robot.to(row) for row in work.unrelated(LIMITS, 60, 2)]
    pin = peers.ByPinocchio(robot, pairs, obstacles)
    depths = pin.depths(q)
    expected = depths <= 0.0
    assert 0 < expected.sum() < len(q)
    managers = peers.by_managers(robot, pairs, obstacles)
    np.testing.assert_array_equal([managers(row) for row in q], expected)
    found = [pin.collisions(pin.model, pin.data, pin.tree, row, True) for row in q]
    np.testing.assert_array_equal(found, expected)
    near = peers.ByPinocchio(robot, pairs, ()).by_links(q[0])
    assert set(near) == {frozenset(pair) for pair in pairs}
    pytest.importorskip("fcl", reason="python-fcl (pip install python-fcl) is not installed")
    fcl = peers.ByFcl(robot, pairs, obstacles)
    np.testing.assert_array_equal([fcl.collides(row) for row in q], expected)


def test_a_wrong_verdict_counts_as_deep_as_it_is() -> None:
    depths = np.array([-0.02, 0.5, 3e-7])
    judge = collision.judged(depths)
    assert judge([np.array([True, False, False])]) == (0.0, "33 % touch")
    wrong, said = judge([True, False, True])
    assert wrong == 3e-7 and "1 of 3 differ" in said
    assert judge([False, False, False])[0] == 0.02
