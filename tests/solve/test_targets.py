"""Targets: what is taken, what is refused, and in which words."""

from __future__ import annotations

import numpy as np
import pytest

from linkwork.errors import InputError, ShapeError
from linkwork.ops.numpy import NUMPY
from linkwork.solve.targets import (
    directions,
    finite_rows,
    points_and_directions,
    rotations,
)
from linkwork.spatial import so3
from seeds import rng


def poses(n, label):
    g = rng(label)
    T = np.tile(np.eye(4), (n, 1, 1))
    for each in T:
        each[:3, :3], each[:3, 3] = so3.exp(NUMPY, g.normal(size=3)), g.normal(size=3)
    return T


def test_rotations_by_themselves_or_in_poses():
    T = poses(4, "rotations")
    np.testing.assert_array_equal(rotations(T), T[:, :3, :3])
    np.testing.assert_array_equal(rotations(T[:, :3, :3]), T[:, :3, :3])
    with pytest.raises(ShapeError, match=r"a: targets .*3, 3\) or \(\.\.\., 4, 4\), not \(4,\)"):
        rotations(np.zeros(4), "a")
    T[2, 3, 0] = 1.0  # a pose must be one as a whole
    with pytest.raises(InputError, match=r"target \[2\]"):
        rotations(T)


def test_rows_of_finite_numbers_are_copied():
    rows = np.ones((2, 3))
    found = finite_rows(rows, 3)
    found[:] = 0.0
    assert rows.all()
    assert finite_rows([1, 2], 2).tolist() == [1.0, 2.0]
    with pytest.raises(ShapeError, match=r"b: targets must have shape \(\.\.\., 3\), not \(2, 2\)"):
        finite_rows(np.ones((2, 2)), 3, "b")
    with pytest.raises(InputError, match=r"b: target \[1\] is not finite"):
        finite_rows([[1, 2, 3], [1, np.inf, 3]], 3, "b")
    for wrong in (None, "abc", [True, False, True], [1j, 0, 0]):
        with pytest.raises(InputError, match="b: targets must be real numbers"):
            finite_rows(wrong, 3, "b")


def test_directions_have_length_one():
    g = rng("directions")
    given = g.normal(size=(50, 3)) * 10.0 ** g.uniform(-300, 300, (50, 1))
    found = directions(given)
    np.testing.assert_allclose(np.linalg.norm(found, axis=1), 1.0, rtol=1e-15)
    largest = np.abs(given).max(axis=1, keepdims=True)
    np.testing.assert_allclose(np.cross(found, given / largest), 0.0, atol=1e-15)
    assert (np.sum(found * (given / largest), axis=1) > 0.0).all()
    with pytest.raises(InputError, match=r"c: target \[0\] has the direction 0 0 0"):
        directions([[0, 0, 0], [0, 0, 1]], "c")


def test_points_with_directions():
    found = points_and_directions([[1, 2, 3, 0, 0, -9]])
    assert found.tolist() == [[1.0, 2.0, 3.0, 0.0, 0.0, -1.0]]
    with pytest.raises(InputError, match="direction 0 0 0"):
        points_and_directions([1, 2, 3, 0, 0, 0])
    with pytest.raises(ShapeError, match=r"\(\.\.\., 6\), not \(3,\)"):
        points_and_directions([1, 2, 3])
