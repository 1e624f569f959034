"""What is shown of a collision model lies where the model has it."""

from __future__ import annotations

import numpy as np
import pytest

import linkwork as lw
from linkwork.errors import InputError, ShapeError


def inside(points: np.ndarray, cover: np.ndarray) -> np.ndarray:
    """How deep points (n, 3) lie in the nearest of some balls (k, 4)."""
    gap = np.linalg.norm(points[:, None] - cover[:, :3], axis=-1) - cover[:, 3]
    return -gap.min(axis=1)


def test_pieces_are_the_shapes_and_lie_in_the_balls():
    robot = lw.load("panda")
    q = robot.random(seed=3)
    model = robot.collision()
    pieces, balls = (lw.Scene.of_model(model, q, what=what) for what in ("pieces", "balls"))
    assert pieces.names == balls.names == model.links
    for k, link in enumerate(model.links):
        shape, T = pieces.get(link).shape, pieces.get(link).T_world_object
        np.testing.assert_allclose(T, robot.fk(q, link), atol=1e-12)
        meshes = [each for each in robot.link_parts(link, "collision")]
        low = np.min([lowest(part.mesh.vertices, part.T_link_part) for part in meshes], axis=0)
        np.testing.assert_allclose(shape.vertices.min(axis=0), low, atol=1e-9)
        cover = model.parts.covers[k]
        assert inside(shape.vertices, cover.spheres).min() > -1e-9
        around = balls.get(link).shape.vertices
        gap = np.linalg.norm(around[:, None] - cover.spheres[:, :3], axis=-1)
        assert np.abs(gap - cover.spheres[:, 3]).min(axis=1).max() < 1e-9


def lowest(vertices: np.ndarray, T: np.ndarray) -> np.ndarray:
    return (np.asarray(vertices) @ T[:3, :3].T + T[:3, 3]).min(axis=0)


def test_what_is_held_is_shown_and_colours_are_taken():
    robot = lw.load("panda")
    q = robot.neutral()
    ball = lw.Scene().add_sphere("ball", 0.05)
    model = robot.collision().with_attached("ball", ball, "tool0", (0.0, 0.0, 0.1))
    scene = lw.Scene.of_model(model, q, what="pieces", rgba=(1, 0, 0, 1))
    held = scene.get("ball")
    assert held.rgba == (1.0, 0.0, 0.0, 1.0)
    middle = robot.fk(q, "tool0") @ [0.0, 0.0, 0.1, 1.0]
    corners = held.shape.vertices @ held.T_world_object[:3, :3].T + held.T_world_object[:3, 3]
    np.testing.assert_allclose(np.linalg.norm(corners - middle[:3], axis=1), 0.05, atol=1e-9)


def test_wrong_input():
    model = lw.load("panda").collision()
    with pytest.raises(InputError, match="what is one of balls, pieces, not 'meshes'"):
        lw.Scene.of_model(model, np.zeros(7), what="meshes")
    with pytest.raises(ShapeError):
        lw.Scene.of_model(model, np.zeros((2, 7)))
    with pytest.raises(InputError):
        lw.Scene.of_model(model, np.full(7, np.nan))
    with pytest.raises(InputError, match=r"a collision model, as robot\.collision\(\) gives"):
        lw.Scene.of_model(lw.load("panda"), np.zeros(7))  # type: ignore[arg-type]
