"""Numbers of a pose: its features give the pose back."""

from __future__ import annotations

import numpy as np

from linkwork.ops.numpy import NUMPY
from linkwork.solve.pose_features import far_from_rigid, pose_features
from linkwork.spatial import so3
from seeds import rng


def test_features_tell_where_a_pose_is():
    g = rng("features")
    for _ in range(200):
        R, p = so3.exp(NUMPY, g.normal(size=3) * 2.0), g.normal(size=3)
        found = np.array(pose_features(NUMPY, list(p), [list(row) for row in R]))
        assert np.array_equal(found[:3], p)
        assert (np.abs(found[3:6]) <= 1.0 + 1e-12).all()
        which = int(found[6])
        quaternion = np.insert(found[3:6], which, 1.0)
        w, x, y, z = quaternion / np.linalg.norm(quaternion)
        v, k = np.array([x, y, z]), np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
        again = np.eye(3) + 2.0 * w * k + 2.0 * (np.outer(v, v) - v @ v * np.eye(3))
        np.testing.assert_allclose(again, R, atol=1e-12)


def test_how_far_a_matrix_is_from_a_rigid_one():
    R = [list(row) for row in so3.exp(NUMPY, np.array([0.3, -1.0, 2.0]))]
    assert far_from_rigid(NUMPY, R, [0.0, 0.0, 0.0, 1.0]) < 1e-15
    assert abs(far_from_rigid(NUMPY, R, [0.0, 0.1, 0.0, 1.0]) - 0.1) < 1e-15
    mirrored = [[-a, b, c] for a, b, c in R]
    assert far_from_rigid(NUMPY, mirrored, [0.0, 0.0, 0.0, 1.0]) >= 1.0
