"""Poses to and from numbers: there and back, and as SciPy-free formulas say."""

from __future__ import annotations

import numpy as np

from linkwork.ops.numpy import NUMPY as O
from linkwork.spatial import flat, rotations
from seeds import rng


def test_there_and_back():
    g = rng("flat")
    for _ in range(50):
        xyz, rpy = g.normal(size=3), g.uniform(-1.5, 1.5, 3)
        T = flat.matrix_from_rpy(O, xyz, rpy)
        assert np.array_equal(T[3], [0.0, 0.0, 0.0, 1.0])
        assert np.array_equal(T[:3, 3], xyz)
        rows = T[:3, :3].ravel()
        np.testing.assert_allclose(flat.rpy_from_rows(O, rows), rpy, atol=1e-14)
        wxyz = flat.quaternion_from_rows(O, rows)
        assert wxyz[0] >= 0.0
        np.testing.assert_allclose(flat.matrix_from_quaternion(O, xyz, -3.0 * wxyz), T, atol=1e-15)


def test_rows_are_rows():
    R = rotations.rotation_z(O, O.const(0.3))
    rpy = flat.rpy_from_rows(O, np.asarray(R).ravel())
    np.testing.assert_allclose(rpy, [0.0, 0.0, 0.3], atol=1e-15)
