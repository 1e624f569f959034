"""Turns and ways by themselves, away from any robot: directions, nearest mirrors, smoothness."""

from __future__ import annotations

import numpy as np
import pytest

import ik_measures as measures
from linkwork.algorithms.residuals.frames import Moving
from linkwork.algorithms.residuals.pose_error import bend
from linkwork.algorithms.residuals.rows import (
    Asked,
    aligned,
    alignment,
    angle_between,
    direction_groups,
    distance,
    joined,
    mirrored,
    nearest,
    pose_rows,
    position_rows,
    rotation_rows,
)
from linkwork.ops.numpy import NUMPY
from linkwork.spatial import so3
from linkwork.spatial.poses import Pose
from seeds import rng

WORLD = list(np.eye(3))


def rotation(g):
    return so3.exp(NUMPY, g.normal(size=3))


def asked(turns, of="world", mirror=None, *, exact=False, where=()):
    return Asked(tuple("xyz".index(a) for a in where), tuple("xyz".index(a) for a in turns), of,
                 None if mirror is None else "xyz".index(mirror), exact)  # fmt: skip


PARTS = [(t, of, x) for t in ("xyz", "xy", "yz", "z") for of in ("world", "tool") for x in (0, 1)]


@pytest.mark.sweep(5)
@pytest.mark.parametrize(("turns", "of", "exact"), PARTS)
def test_following_the_error_comes_to_the_target(turns, of, exact):
    # R turns by the least w with J w = error: what the solver does, with three turns to choose
    g = rng(f"{turns} {of} {exact}")
    for _ in range(20):
        R, target = rotation(g), rotation(g)
        for _ in range(30):
            rows = rotation_rows(NUMPY, R, target, WORLD, asked(turns, of, exact=bool(exact)))
            J = np.array(rows.columns).T
            step = np.linalg.lstsq(J, rows.error, rcond=1e-9)[0]
            R = so3.exp(NUMPY, step * min(1.0, 1.0 / np.linalg.norm(step + 1e-30))) @ R
        assert rows.squared < 1e-20, (turns, of)


@pytest.mark.parametrize(("turns", "of", "mirror"), [
    ("xyz", "world", "x"), ("xyz", "tool", "z"), ("xy", "tool", "x"), ("yz", "world", "y"),
    ("z", "tool", "y"),
])  # fmt: skip
def test_a_mirrored_target_is_the_nearer_of_two(turns, of, mirror):
    g = rng(f"mirror {turns} {of} {mirror}")
    chosen = []
    for _ in range(50):
        R, target = rotation(g), rotation(g)
        other = mirrored(NUMPY, target, "xyz".index(mirror))
        np.testing.assert_allclose(
            other, target @ measures.turned("xyz".index(mirror), np.pi)[:3, :3], atol=1e-15
        )
        one, two = (
            rotation_rows(NUMPY, R, each, WORLD, asked(turns, of)) for each in (target, other)
        )
        both = rotation_rows(NUMPY, R, target, WORLD, asked(turns, of, mirror))
        assert both.squared == pytest.approx(min(one.squared, two.squared), abs=1e-15)
        best = one if one.squared < two.squared else two
        np.testing.assert_allclose(both.error, best.error, atol=1e-14)
        np.testing.assert_allclose(both.columns, best.columns, atol=1e-14)
        chosen.append(one.squared < two.squared)
    assert 5 < sum(chosen) < 45


def test_the_nearest_of_several():
    blocks = [(np.array([k, k]), float(k)) for k in range(3)]
    found = nearest(NUMPY, blocks, [3.0, 1.0, 2.0])
    assert found[0].tolist() == [1, 1]
    assert found[1] == 1.0
    assert nearest(NUMPY, blocks, [1.0, 1.0, 1.0])[1] == 0.0


def test_rows_of_a_pose_one_below_the_other():
    g = rng("pose")
    current = Moving(Pose(rotation(g), g.normal(size=3)), WORLD, WORLD)
    target = (rotation(g), g.normal(size=3))
    how = asked("xyz", "tool", where="xz")
    found = pose_rows(NUMPY, current, target, how)
    assert [(x.name, x.start, x.stop, x.chord) for x in how.groups()] == [
        ("position", 0, 2, False),
        ("rotation", 2, 5, True),
    ]
    assert found.error.shape == (5,)
    assert [c.shape for c in found.columns] == [(5,)] * 3
    way = (current.pose.R.T @ (target[1] - current.pose.p))[[0, 2]]
    np.testing.assert_allclose(found.error[:2], way, atol=1e-15)
    assert found.squared[0] == pytest.approx(way @ way)


def test_groups_by_angle_have_as_many_rows_as_axes():
    assert [g.stop - g.start for g in asked("xy", exact=True).groups()] == [2]
    assert [g.stop - g.start for g in asked("xy").groups()] == [2]
    assert [g.stop - g.start for g in asked("y").groups()] == [1]
    assert [g.chord for g in direction_groups(exact=False)] == [True]
    assert [(g.stop, g.chord) for g in direction_groups(exact=True)] == [(1, False)]


@pytest.mark.parametrize("angle", [1e-9, 1e-6, 1e-3, 0.5, 2.0, 3.1])
def test_the_angle_of_two_vectors(angle):
    g = rng(f"angle {angle}")
    a = rotation(g)[0]
    across = np.cross(a, rotation(g)[0])
    axis = across / np.linalg.norm(across)
    b = so3.exp(NUMPY, angle * axis) @ a
    rows = angle_between(NUMPY, a, b, WORLD)
    assert rows.error[0] == pytest.approx(angle, abs=1e-11)
    if angle > 1e-6:
        np.testing.assert_allclose(np.array(rows.columns)[:, 0], axis, atol=1e-9)
    frame = Moving(Pose(rotation(g), np.zeros(3)), WORLD, WORLD)
    named = frame.pose.R.T @ a
    exact = aligned(NUMPY, frame, named, b, WORLD, exact=True)
    assert exact.error == pytest.approx(rows.error, abs=1e-11)
    chord = aligned(NUMPY, frame, named, b, WORLD, exact=False)
    assert 2 * np.arcsin(0.5 * np.sqrt(chord.squared)) == pytest.approx(angle, rel=1e-6)
    # nothing of the turn is lost in the two rows
    np.testing.assert_allclose(
        np.array(chord.columns) @ chord.error, axis * np.sin(angle) * bend(np.cos(angle)), rtol=1e-6
    )


def test_nothing_is_divided_by_zero():
    a = np.array([0.0, 0.6, 0.8])
    for b in (a, -a):
        across = [np.array([1.0, 0.0, 0.0]), np.array([0.0, 0.8, -0.6])]
        for rows in (
            angle_between(NUMPY, a, b, WORLD),
            alignment(NUMPY, [(a, b)], WORLD, across),
        ):
            assert np.isfinite(np.array(rows.columns)).all()
            assert np.isfinite(rows.error).all()
    rows = distance(NUMPY, np.zeros(3), WORLD)
    assert rows.error[0] < 1e-11
    assert np.abs(rows.columns).max() < 1e-11


def test_lengths_of_ways():
    way = np.array([3.0, 0.0, 4.0])
    rows = distance(NUMPY, way, WORLD)
    assert rows.error[0] == pytest.approx(5.0)
    np.testing.assert_allclose(np.array(rows.columns)[:, 0], [0.6, 0.0, 0.8])
    plain = joined(NUMPY, [position_rows(NUMPY, way, WORLD, (2,))])
    assert plain.error.tolist() == [4.0]
    assert plain.squared == [16.0]
