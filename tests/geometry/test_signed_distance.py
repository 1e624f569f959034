"""Signed distances of solids, and grids of those of meshes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import trimesh

from linkwork.errors import InputError, ShapeError
from linkwork.geometry.signed_distance import DistanceGrid, to_ball, to_box, to_cylinder
from seeds import rng

SIZE = np.array([0.4, 0.6, 1.0])
SOLIDS = [
    (lambda p: to_box(p, SIZE), trimesh.creation.box(SIZE)),
    (lambda p: to_ball(p, 0.4), trimesh.creation.icosphere(subdivisions=4, radius=0.4)),
    (lambda p: to_cylinder(p, 0.3, 0.8), trimesh.creation.cylinder(0.3, 0.8, sections=128)),
]


@pytest.mark.parametrize(("distance", "mesh"), SOLIDS, ids=["box", "ball", "cylinder"])
def test_distances_are_those_to_the_nearest_point_of_the_surface(distance, mesh):
    points = rng("signed distances").uniform(-0.8, 0.8, (200, 3))
    surface, _ = trimesh.sample.sample_surface(mesh, 40_000, seed=1)
    away = np.min([np.linalg.norm(points - part[:, None], axis=2).min(axis=0)
                   for part in np.array_split(surface, 40)], axis=0)  # fmt: skip
    found = distance(points)
    assert np.abs(np.abs(found) - away).max() < 0.02  # about the spacing of the samples
    assert (np.abs(found) - away).max() < 2e-3  # the meshes are polyhedra
    assert (found < 0.0).any()
    assert np.abs(distance(surface)).max() < 2e-3
    assert (distance(0.9 * surface) < 0.0).all()
    assert (distance(1.1 * surface) > 0.0).all()


@pytest.mark.parametrize(("distance", "mesh"), SOLIDS, ids=["box", "ball", "cylinder"])
def test_slopes_have_the_length_one(distance, mesh):
    points = rng("slopes").uniform(-0.8, 0.8, (100, 3))
    step = 1e-6
    slopes = [(distance(points + e) - distance(points - e)) / (2 * step) for e in np.eye(3) * step]
    assert np.median(np.abs(np.linalg.norm(slopes, axis=0) - 1.0)) < 1e-8


def test_a_grid_has_the_distances_of_its_mesh():
    mesh = trimesh.creation.box(SIZE)
    grid = DistanceGrid.of_mesh(mesh, 30)
    points = rng("grid").uniform(-0.5, 0.5, (200, 3)) * SIZE
    assert np.abs(grid.at(points) - to_box(points, SIZE)).max() < grid.spacing
    assert np.abs(to_box(grid.surface(), SIZE)).max() < 1e-6 + 0.5 * grid.spacing
    assert grid.holds(points).all()
    far = np.array([[9.0, 0.0, 0.0]])
    assert not grid.holds(far).any()
    assert grid.at(far, outside=7.0).tolist() == [7.0]
    part = DistanceGrid.over_box(mesh, np.zeros(3), SIZE, 0.05)
    assert np.abs(part.at(0.5 * np.abs(points)) - to_box(0.5 * np.abs(points), SIZE)).max() < 0.05


def test_a_grid_is_read(tmp_path: Path):
    file = tmp_path / "a.sdf"
    file.write_text("2 2 3\n0 0 1\n0.5\n" + " ".join(map(str, range(12))))
    grid = DistanceGrid.read(file)
    assert grid.data.shape == (2, 2, 3)
    assert grid.at(np.array([[0.5, 0.0, 1.0], [0.0, 0.5, 1.0], [0.0, 0.0, 1.5]])).tolist() == [
        1,
        2,
        4,
    ]
    file.write_text("2 2 3\n0 0 1\n0.5\n1 2 3")
    with pytest.raises(InputError, match="follow the dimensions"):
        DistanceGrid.read(file)


def test_what_is_no_grid():
    with pytest.raises(ShapeError, match="three axes"):
        DistanceGrid(np.zeros((3, 3)), np.zeros(3), 1.0)
    with pytest.raises(InputError, match="above zero"):
        DistanceGrid(np.zeros((3, 3, 3)), np.zeros(3), 0.0)
    with pytest.raises(InputError, match="four nodes"):
        DistanceGrid.of_mesh(trimesh.creation.box(SIZE), 3)
    with pytest.raises(InputError, match="above lower"):
        DistanceGrid.over_box(trimesh.creation.box(SIZE), np.ones(3), np.zeros(3), 0.1)
