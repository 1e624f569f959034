from __future__ import annotations

import numpy as np
import pytest
from benchmarks.matching import (
    NamesDiffer,
    compare,
    compare_frames,
    order,
    pose_errors,
)

from seeds import rng


def rotation(axis: np.ndarray, angle: float) -> np.ndarray:
    x, y, z = axis / np.linalg.norm(axis)
    K = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return np.eye(3) + np.sin(angle) * K + (1 - np.cos(angle)) * K @ K


def pose(R: np.ndarray, p: np.ndarray) -> np.ndarray:
    T = np.eye(4)
    T[:3, :3], T[:3, 3] = R, p
    return T


def test_order_finds_every_name_whatever_the_permutation() -> None:
    names = [f"joint{k}" for k in range(12)]
    other = list(rng("order").permutation(names))
    assert [other[k] for k in order(names, other)] == names


@pytest.mark.parametrize(
    ("present", "message"),
    [
        (["a"], r"missing \['b'\], extra none"),
        (["a", "b", "c"], r"missing none, extra \['c'\]"),
        (["a", "b", "b"], "appears twice"),
    ],
)
def test_names_that_are_not_the_same_are_refused(present: list[str], message: str) -> None:
    with pytest.raises(NamesDiffer, match=message):
        order(["a", "b"], present)


def test_agreement_at_1e_9_and_not_above() -> None:
    ours = rng("agreement").normal(size=(5, 4, 4))
    assert compare(ours, ours + 9e-10).ok
    far = ours.copy()
    far[3, 1, 2] += 2e-9
    assert not compare(ours, far).ok
    assert compare(ours, far).error == pytest.approx(2e-9, rel=1e-4)


def test_what_is_not_finite_or_not_of_one_shape_disagrees() -> None:
    ours = np.zeros((2, 3))
    theirs = ours.copy()
    theirs[1, 1] = np.nan
    assert "not finite" in str(compare(ours, theirs))
    assert not compare(ours, theirs).ok
    assert "shapes differ" in str(compare(ours, np.zeros((3, 2))))
    assert not compare(np.zeros((0, 3)), np.zeros((0, 3))).ok  # nothing compared is no agreement


def test_frames_are_matched_by_name() -> None:
    a = rng("frames").normal(size=(3, 4, 4, 4))
    names = ["base", "one", "two", "tip"]
    shuffled = ["tip", "extra", "base", "two", "one"]
    b = np.zeros((3, 5, 4, 4))
    for k, name in enumerate(shuffled):
        if name in names:
            b[:, k] = a[:, names.index(name)]
    assert compare_frames(a, names, b, shuffled, names).ok
    assert not compare_frames(a, names, b, ["tip", "extra", "base", "one", "two"], names).ok
    assert "frames missing" in str(compare_frames(a, names, b[:, :4], shuffled[:4], names))


@pytest.mark.parametrize("angle", [0.0, 1e-9, 1e-6, 1e-3, 1.0, 3.0, np.pi])
def test_pose_errors_are_precise_at_every_scale(angle: float) -> None:
    g = rng(f"pose_errors {angle}")
    R = rotation(g.normal(size=3), 2.0)
    p, away = g.normal(size=3), g.normal(size=3) * 1e-4
    turned = pose(rotation(g.normal(size=3), angle) @ R, p + away)
    position, found = pose_errors(pose(R, p)[None], turned[None])
    assert position[0] == pytest.approx(np.linalg.norm(away), rel=1e-9)
    # near pi the sine is flat: half the digits are left
    assert found[0] == pytest.approx(angle, rel=1e-6, abs=1e-15 if angle < 1e-6 else 1e-7)
