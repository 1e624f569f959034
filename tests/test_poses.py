"""Poses composed, inverted and interpolated, against products of matrices and small steps."""

from __future__ import annotations

import numpy as np
import pytest

import linkwork as lw
from seeds import rng


def some(label: str, *shape: int) -> np.ndarray:
    g = rng(label)
    return lw.pose(g.normal(size=(*shape, 3)), wxyz=g.normal(size=(*shape, 4)))


def test_composed_is_the_product_and_the_inverse_undoes():
    A, B, C = (some(f"poses {k}", 40) for k in "abc")
    np.testing.assert_allclose(lw.poses.compose(A, B), A @ B, rtol=0, atol=1e-14)
    np.testing.assert_allclose(lw.poses.compose(A, B, C), A @ B @ C, rtol=0, atol=3e-14)
    assert np.array_equal(lw.poses.compose(A), A)
    back = lw.poses.compose(lw.poses.inverse(A), A)
    np.testing.assert_allclose(back, np.broadcast_to(np.eye(4), A.shape), rtol=0, atol=1e-14)
    assert lw.poses.compose(A[0], some("poses lead", 3, 1, 2)).shape == (3, 1, 2, 4, 4)
    alone = lw.poses.compose(A)
    alone[0] = 0.0
    assert A[0, 3, 3] == 1.0


@pytest.mark.parametrize("path", ["screw", "separate"])
def test_interpolation_begins_and_ends_where_it_should_and_turns_evenly(path):
    A, B = some("from", 30), some("to", 30)
    for s, expected in ((0.0, A), (1.0, B)):
        found = lw.poses.interpolate(A, B, s, path=path)
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-13)
    s = np.linspace(-0.2, 1.2, 15)
    way = lw.poses.interpolate(A[:, None], B[:, None], s, path=path)
    assert way.shape == (30, 15, 4, 4)
    R = way[..., :3, :3]
    turns = np.swapaxes(R[:, :-1], -1, -2) @ R[:, 1:]  # each step is the same turn
    np.testing.assert_allclose(turns, np.broadcast_to(turns[:, :1], turns.shape), atol=1e-13)
    if path == "separate":
        line = A[:, None, :3, 3] + s[:, None] * (B - A)[:, None, :3, 3]
        np.testing.assert_allclose(way[..., :3, 3], line, rtol=0, atol=1e-13)
    else:
        steps = np.linalg.inv(way[:, :-1]) @ way[:, 1:]  # and each step the same screw
        np.testing.assert_allclose(steps, np.broadcast_to(steps[:, :1], steps.shape), atol=1e-12)


def test_both_paths_take_the_shorter_way_around():
    B = lw.pose([1.0, 0.0, 0.0], rpy=[0.0, 0.0, 3.0])
    for path in ("screw", "separate"):
        half = lw.poses.interpolate(np.eye(4), B, 0.5, path=path)
        np.testing.assert_allclose(lw.xyz_rpy(half)[1], [0.0, 0.0, 1.5], atol=1e-14)
        there = lw.poses.interpolate(B, B, 0.3, path=path)
        np.testing.assert_allclose(there, B, atol=1e-15)


def test_what_is_no_pose_and_what_is_no_path():
    A = some("wrong")
    with pytest.raises(lw.InputError, match="not a rigid pose"):
        lw.poses.inverse(2 * A)
    with pytest.raises(lw.ShapeError, match=r"\(..., 4, 4\)"):
        lw.poses.compose(A, np.eye(3))
    with pytest.raises(lw.InputError, match="one pose or more"):
        lw.poses.compose()
    with pytest.raises(lw.InputError, match="'screw' or 'separate', not 'slerp'"):
        lw.poses.interpolate(A, A, 0.5, path="slerp")
    with pytest.raises(lw.InputError, match=r"s\[0\] is nan"):
        lw.poses.interpolate(A, A, float("nan"))
