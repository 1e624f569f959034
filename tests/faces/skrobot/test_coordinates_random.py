"""Frames moved at random agree with a naive model of 4x4 matrices, and products are a group."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from linkwork import poses
from linkwork.faces.skrobot.coordinates import CascadedCoords, Coordinates, make_coords
from linkwork.faces.skrobot.coordinates.math import rotation_matrix
from seeds import random_pose, rng

Floats = NDArray[np.float64]
inv = np.linalg.inv


class Naive:
    """A frame as a local matrix and a parent; its world pose is a product, computed each time."""

    def __init__(self, M: Floats) -> None:
        self.M = M
        self.parent: Naive | None = None

    def above(self) -> Floats:
        return np.eye(4) if self.parent is None else self.parent.world()

    def world(self) -> Floats:
        return self.above() @ self.M

    def set_world(self, W: Floats) -> None:
        self.M = inv(self.above()) @ W

    def is_below(self, other: Naive) -> bool:
        frame: Naive | None = self
        while frame is not None and frame is not other:
            frame = frame.parent
        return frame is other


def only_turn(M: Floats) -> Floats:
    return poses.pose(R=M[:3, :3])


def reference(W: Floats, above: Floats, wrt: Any) -> Floats:
    """The frame that a reference means, in the world."""
    if isinstance(wrt, Naive):
        return wrt.world()
    return {"local": W, "parent": above, "world": np.eye(4)}[wrt]


KINDS = ["translate", "rotate", "orient", "transform", "newcoords", "assoc", "dissoc", "set"]
KINDS += ["move", "align"]


def one_step(  # noqa: C901  a switch over the operations
    random: np.random.Generator, frames: list[CascadedCoords], naive: list[Naive]
) -> str:
    """Do the same thing at random to both."""
    i, j, k = (int(n) for n in random.integers(len(frames), size=3))
    frame, model = frames[i], naive[i]
    which = str(random.choice(["local", "parent", "world", "frame"]))
    wrt: Any = frames[j] if which == "frame" else which
    model_wrt: Any = naive[j] if which == "frame" else which
    kind = str(random.choice(KINDS))
    W, above = model.world(), model.above()
    X = reference(W, above, model_wrt)
    if kind == "translate":
        v = random.normal(size=3)
        frame.translate(v, wrt)
        W[:3, 3] += X[:3, :3] @ v
        model.set_world(W)
    elif kind == "rotate":
        axis, angle = random.normal(size=3), float(random.normal())
        frame.rotate(angle, axis, wrt)
        W[:3, :3] = X[:3, :3] @ rotation_matrix(angle, axis) @ X[:3, :3].T @ W[:3, :3]
        model.set_world(W)
    elif kind == "orient":
        R = random_pose(random)[:3, :3]
        frame.orient_with_matrix(R, wrt)
        W[:3, :3] = X[:3, :3] @ R
        model.set_world(W)
    elif kind == "transform":
        C = random_pose(random)
        frame.transform(make_coords(C), wrt)
        model.set_world(X @ C @ inv(X) @ W)
    elif kind == "newcoords":
        C = random_pose(random)
        frame.newcoords(make_coords(C), relative_coords=wrt)
        model.set_world((above if which == "local" else X) @ C)
    elif kind == "assoc":
        if naive[k].is_below(model):
            with pytest.raises(ValueError):
                frames[k].assoc(frame, force=True)
            return kind
        relative = str(random.choice(["world", "local"]))
        frames[k].assoc(frame, relative, force=True)
        model.parent = naive[k]
        if relative == "world":
            model.set_world(W)
        else:
            model.M = W
    elif kind == "dissoc":
        parent = frame.parent
        if isinstance(parent, CascadedCoords):
            parent.dissoc(frame)
        model.parent = None
        model.M = W
    elif kind == "set":
        frame.translation = v = random.normal(size=3)
        model.M = model.M.copy()
        model.M[:3, 3] = v
    elif kind == "move":
        goal = random_pose(random)
        frame.move_coords(make_coords(goal), frames[k])
        model.set_world(goal @ inv(naive[k].world()) @ W)
    else:
        direction = random.normal(size=3)
        frame.align_axis_to_direction(direction, "x")
        made = frame.axis("x")
        np.testing.assert_allclose(made, direction / np.linalg.norm(direction), atol=1e-9)
        model.set_world(frame.worldcoords().T())
    return kind


def run(random: np.random.Generator, count: int, steps: int) -> None:
    matrices = [random_pose(random) for _ in range(count)]
    frames = [CascadedCoords(pos=M, name=str(k)) for k, M in enumerate(matrices)]
    naive = [Naive(M) for M in matrices]
    done: list[str] = []
    for _ in range(steps):
        done.append(one_step(random, frames, naive))
        for k in random.integers(count, size=2):  # others stay marked
            np.testing.assert_allclose(
                frames[k].worldcoords().T(), naive[k].world(), atol=1e-8, err_msg=str(done[-5:])
            )
    for frame, model in zip(frames, naive, strict=True):
        np.testing.assert_allclose(frame.T(), model.M, atol=1e-8)
        np.testing.assert_allclose(frame.worldcoords().T(), model.world(), atol=1e-8)
        parent = None if model.parent is None else frames[naive.index(model.parent)]
        assert frame.parent is parent
        below = [f for f, m in zip(frames, naive, strict=True) if m.parent is model]
        assert sorted(f.name for f in frame.descendants) == sorted(f.name for f in below)


def test_random_operations_agree_with_a_naive_model():
    random = rng("skrobot frames at random")
    for _ in range(3):
        run(random, count=6, steps=60)


@pytest.mark.slow
def test_many_random_operations_agree_with_a_naive_model():
    random = rng("skrobot frames at random, many")
    for count in (2, 5, 12, 30):
        for _ in range(8):
            run(random, count, steps=200)


def test_products_are_a_group():
    random = rng("skrobot group")
    one = Coordinates()
    for _ in range(10):
        a, b, c = (make_coords(random_pose(random)) for _ in range(3))
        for left, right in (
            ((a * b) * c, a * (b * c)),
            (a * one, a),
            (one * a, a),
            (a * a**-1, one),
            (a**-1 * a, one),
            ((a * b) ** -1, b**-1 * a**-1),
            (a**2 * a**-3, a**-1),
            (a * a.transformation(b), b),
            (a.transformation(b, "world") * a, b),
            (a.interpolate(b, 0.3), b.interpolate(a, 0.7)),
            (a.copy().transform(b), a * b),
            (a.copy().transform(b, "world"), b * a),
        ):
            assert left.isclose(right, atol=1e-9)
        v = random.normal(size=(4, 3))
        product = (a * b).transform_vector(v)
        np.testing.assert_allclose(product, a.transform_vector(b.transform_vector(v)), atol=1e-12)
        both = a.get_transform() * b.get_transform()
        after = b.transform_vector(a.transform_vector(v))
        np.testing.assert_allclose(both.transform_vector(v), after, atol=1e-12)
        np.testing.assert_allclose(
            a.difference_rotation(b), -b.difference_rotation(a), atol=1e-9
        )  # each in its own axes, which the rotation leaves alone
