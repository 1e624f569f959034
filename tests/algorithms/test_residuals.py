"""Rows that shall become zero: what is asked for, and how it changes."""

from __future__ import annotations

import math

import numpy as np
import pytest

import ik_measures as measures
from linkwork.algorithms.residuals import (
    Asked,
    Group,
    Moving,
    across_from,
    aligned,
    alignment,
    angle_between,
    axes,
    bend,
    direction_error,
    distance,
    mirrored,
    rotation_error,
    rotation_rows,
    three,
    unit,
)
from linkwork.errors import InputError
from linkwork.ops.numpy import NUMPY
from linkwork.spatial import so3
from linkwork.spatial.poses import Pose
from seeds import rng


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("xyz", (0, 1, 2)),
        ("zx", (0, 2)),
        ("y", (1,)),
        ((True, False, True), (0, 2)),
        ([0, 1, 0], (1,)),
        (np.array([False, True, True]), (1, 2)),
        (np.array([1, 0, 0]), (0,)),
    ],
)
def test_axes_by_letters_or_by_truth_values(given, expected):
    assert axes(given, "Task.axes") == expected


@pytest.mark.parametrize(
    "given",
    ["", "xx", "a", "X", "xyzx", (), (1, 1), (2, 0, 0), (0.5, 0, 0), (0, 0, 0), None, 7, ["x"] * 3],
)
def test_anything_else_is_refused_by_the_name_of_the_argument(given):
    with pytest.raises(InputError, match=r"Task\.axes must name axes"):
        axes(given, "Task.axes")


def test_three_numbers():
    assert three([1, 2, -0.0], "Task.point") == (1.0, 2.0, 0.0)
    assert str(three([1, 2, -0.0], "Task.point")) == "(1.0, 2.0, 0.0)"
    assert three(np.array([1.0, 2.0, 3.0]), "Task.point") == (1.0, 2.0, 3.0)
    for wrong in ((1, 2), (1, 2, 3, 4), (1, 2, np.nan), "123", 5, None, [[1, 2, 3]], "xyz"):
        with pytest.raises(InputError, match=r"Task\.point must be three finite numbers"):
            three(wrong, "Task.point")


def test_unit_vectors():
    assert unit((0, 0, 5), "Task.axis") == (0.0, 0.0, 1.0)
    for size in (1e-300, 1.0, 1e300):
        found = unit((3 * size, 0.0, -4 * size), "Task.axis")
        np.testing.assert_allclose(found, (0.6, 0.0, -0.8), rtol=1e-15)
    with pytest.raises(InputError, match=r"Task\.axis must be a direction"):
        unit((0, 0, 0), "Task.axis")


@pytest.mark.parametrize(
    "axis", [(1, 0, 0), (0, -1, 0), (0, 0, 1), (1, 2, 3), (1e-9, 0, 1), (0.6, 0.8, 0), (-5, 1, 5)]
)
def test_two_vectors_across_an_axis(axis):
    axis = unit(axis, "axis")
    B = np.array([axis, *across_from(axis)])
    np.testing.assert_allclose(B @ B.T, np.eye(3), atol=1e-15)
    if axis.count(0.0) == 2:  # those of the frame, which cost nothing
        assert np.count_nonzero(B) == 3


ANGLES = [1e-12, 1e-9, 1e-6, 1e-3, 0.1, 1.0, 2.0, 3.0, np.pi - 1e-6]


def unit_of_error(g):
    v = g.normal(size=3)
    return v / np.linalg.norm(v)


@pytest.mark.parametrize("angle", ANGLES)
def test_error_of_a_known_turn(angle):
    g = rng(f"turn {angle}")
    axis, R = unit_of_error(g), so3.exp(NUMPY, g.normal(size=3))
    turn, squared = rotation_error(NUMPY, R, so3.exp(NUMPY, axis * angle) @ R)
    if angle > 1e-9:
        np.testing.assert_allclose(turn / np.linalg.norm(turn), axis, atol=1e-6)
        assert np.sqrt(squared) == pytest.approx(2.0 * np.sin(angle / 2), rel=1e-6)
    # digits are not lost in the trace: an angle of 1e-12 is not taken for none, nor for 1e-8
    assert np.sqrt(squared) == pytest.approx(2.0 * np.sin(angle / 2), rel=1e-6, abs=3e-16)


@pytest.mark.parametrize("angle", ANGLES)
def test_error_of_a_known_tilt(angle):
    g = rng(f"tilt {angle}")
    a = unit_of_error(g)
    axis = np.cross(a, unit_of_error(g))
    axis /= np.linalg.norm(axis)
    turn, squared = direction_error(NUMPY, a, so3.exp(NUMPY, axis * angle) @ a)
    assert np.sqrt(squared) == pytest.approx(2.0 * np.sin(angle / 2), rel=1e-6, abs=3e-16)
    assert turn @ axis == pytest.approx(np.sin(angle) * bend(np.cos(angle)), rel=1e-6, abs=3e-16)
    assert abs(turn @ a) < 1e-15


def test_the_rotation_error_is_the_rotation_vector_to_second_order():
    g = rng("order")
    R, axis = so3.exp(NUMPY, g.normal(size=3)), unit_of_error(g)
    gaps = []
    for angle in (0.2, 0.1, 0.05):
        turn, _ = rotation_error(NUMPY, R, so3.exp(NUMPY, axis * angle) @ R)
        gaps.append(np.linalg.norm(turn - angle * axis))
    assert gaps[0] / gaps[1] > 6.0  # the gap is of third order in the angle
    assert gaps[1] / gaps[2] > 6.0


def test_half_a_turn_is_as_far_as_can_be():
    for R in (np.diag([1.0, -1.0, -1.0]), np.diag([-1.0, -1.0, 1.0])):
        turn, squared = rotation_error(NUMPY, np.eye(3), R)
        assert squared == 4.0
        assert np.abs(turn).max() == 0.0
    turn, squared = direction_error(NUMPY, np.array([0.0, 1.0, 0.0]), np.array([0.0, -1.0, 0.0]))
    assert squared == 4.0
    assert np.abs(turn).max() == 0.0


def test_chords_and_plain_lengths():
    plain, chord = Group("a", "rad", 0, 3), Group("a", "rad", 0, 3, chord=True)
    for angle in (1e-9, 1e-4, 0.5, 3.0):
        assert plain.error(np.array(angle**2)) == pytest.approx(angle, rel=1e-12)
        squared = (2 * math.sin(angle / 2)) ** 2
        assert chord.error(np.array(squared)) == pytest.approx(angle, rel=1e-12)
        assert chord.threshold(angle) == pytest.approx(squared, rel=1e-12)
        assert plain.threshold(angle) == pytest.approx(angle**2, rel=1e-12)
    # half a turn is the most that there is, and rounding goes no further
    assert chord.threshold(10.0) == pytest.approx(4.0)
    assert chord.error(np.array([4.0 + 1e-15, -1e-30])).tolist() == [math.pi, 0.0]


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
