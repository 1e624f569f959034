"""Signed distances: of solids by their definition, of meshes on grids, of unions and robots."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from linkwork.errors import InputError, ShapeError
from linkwork.faces.skrobot.model import Box, MeshLink
from linkwork.faces.skrobot.models import Kuka
from linkwork.faces.skrobot.sdf import (
    BoxSDF,
    CylinderSDF,
    GridSDF,
    SignedDistanceFunction,
    SphereSDF,
    UnionSDF,
    trimesh2sdf,
)
from linkwork.faces.skrobot.sdf.signed_distance_function import link2sdf, ray_marching
from seeds import rng

SOLIDS = (BoxSDF([0.4, 0.6, 0.8]), SphereSDF(0.4), CylinderSDF(0.8, 0.3))


@pytest.mark.parametrize("sdf", SOLIDS, ids=lambda sdf: type(sdf).__name__)
def test_a_signed_distance_is_that_to_the_nearest_point_of_the_surface(
    sdf: SignedDistanceFunction,
):
    surface, off = sdf.surface_points(20_000)
    np.testing.assert_allclose(off, 0.0, atol=1e-12)
    assert sdf.on_surface(surface)[0].all()
    points = rng(f"sdf {type(sdf).__name__}").uniform(-1, 1, (200, 3))
    nearest = np.linalg.norm(points[:, None] - surface, axis=2).min(axis=1)
    found = sdf(points)
    assert np.all(np.abs(found) <= nearest + 1e-12)
    np.testing.assert_allclose(np.abs(found), nearest, atol=0.05)
    assert sdf(np.zeros((1, 3)))[0] < 0.0


def test_golden_distances():
    points = np.array([[1, 0, 0], [1.5, 0, 0], [3, 0, 0], [3, 3, 3.0]])
    expected = {
        BoxSDF([1, 2, 3]): [0.5, 1, 2.5, 3.53553391],
        SphereSDF(1.0): [0, 0.5, 2, 4.19615242],
        CylinderSDF(1, 2): [-0.5, -0.5, 1, 3.35848735],
        UnionSDF([BoxSDF([1, 1, 1]), SphereSDF(0.7)]): [0.3, 0.8, 2.3, 4.33012702],
    }
    for sdf, distances in expected.items():
        np.testing.assert_allclose(sdf(points), distances, atol=1e-8)
        assert sdf(points[0]) == pytest.approx(distances[0])


def test_absolute_distances_and_the_surface_of_one_percent():
    assert SphereSDF(1.0, use_abs=True)(np.zeros((1, 3)))[0] == 1.0
    with pytest.raises(AssertionError, match="use_abs"):
        UnionSDF([SphereSDF(1.0, use_abs=True)])
    near, far = np.array([[1.009, 0, 0]]), np.array([[1.011, 0, 0]])
    assert SphereSDF(1.0).on_surface(near)[0][0]
    assert not SphereSDF(1.0).on_surface(far)[0][0]


def test_a_grid_gives_the_distance_to_a_mesh():
    import trimesh  # noqa: PLC0415  as programs do

    pytest.importorskip("scipy")
    ring = trimesh.creation.torus(1.0, 0.3)
    sdf = trimesh2sdf(ring, dim_grid=30)
    assert isinstance(sdf, GridSDF)
    points = rng("ring").uniform(-1.2, 1.2, (500, 3)) * [1, 1, 0.3]
    exact = np.hypot(np.hypot(points[:, 0], points[:, 1]) - 1.0, points[:, 2]) - 0.3
    off = np.abs(sdf(points) - exact)
    assert off.max() < 0.6 * sdf.resolution
    assert off.mean() < 0.15 * sdf.resolution
    surface, distances = sdf.surface_points(200)
    np.testing.assert_allclose(distances, 0.0, atol=1e-12)
    assert sdf.on_surface(surface)[0].all()
    assert not np.isfinite(sdf(np.array([[9, 0, 0.0]])))[0]
    assert sdf.is_out_of_bounds(np.array([[0, 0, 0], [9, 0, 0.0]])).tolist() == [False, True]


def test_grids_of_files_and_of_several_meshes(tmp_path: Path):
    import trimesh  # noqa: PLC0415  as programs do

    pytest.importorskip("scipy")
    ball = trimesh.creation.icosphere()
    ball.export(tmp_path / "ball.obj")
    sdf = GridSDF.from_objfile(tmp_path / "ball.obj", dim_grid=25)
    assert sdf(np.array([[0.5, 0, 0]]))[0] == pytest.approx(-0.5, abs=0.02)
    two = [ball, ball.copy().apply_translation([3, 0, 0])]
    both = GridSDF.from_meshes(two, [-1.5] * 3, [4.5, 1.5, 1.5], resolution=0.25)
    assert both.resolution == 0.25
    np.testing.assert_allclose(both(np.array([[0.5, 0, 0], [3.5, 0, 0], [1.5, 0, 0]])),
                               [-0.5, -0.5, 0.5], atol=0.05)  # fmt: skip
    text = "2 2 2\n0 0 0\n0.5\n" + " ".join(str(k) for k in range(8))
    (tmp_path / "grid.sdf").write_text(text)
    read = GridSDF.from_file(tmp_path / "grid.sdf")
    corners = np.array([[0.5, 0, 0], [0, 0.5, 0], [0, 0, 0.5], [0.25, 0.25, 0.25]])
    assert read(corners).tolist() == [1.0, 2.0, 4.0, 3.5]
    (tmp_path / "grid.sdf").write_text("2 2 2\n0 0")
    with pytest.raises(InputError, match="numbers"):
        GridSDF.from_file(tmp_path / "grid.sdf")


def test_meshes_made_as_solids_are_exact_unless_they_were_moved():
    import trimesh  # noqa: PLC0415  as programs do

    kinds = {
        BoxSDF: trimesh.creation.box([1, 2, 3]),
        SphereSDF: trimesh.creation.icosphere(),
        CylinderSDF: trimesh.creation.cylinder(0.1, 1),
    }
    for kind, mesh in kinds.items():
        assert type(trimesh2sdf(mesh)) is kind
        assert type(MeshLink(mesh, with_sdf=True).sdf) is kind
    pytest.importorskip("scipy")
    moved = trimesh.creation.box([1, 1, 1]).apply_translation([5, 0, 0])
    assert trimesh2sdf(moved, dim_grid=12)(np.array([[5.0, 0, 0]]))[0] < 0.0


def test_a_robot_as_a_union_moves():
    pytest.importorskip("scipy")
    robot = Kuka()
    whole = UnionSDF.from_robot_model(robot, dim_grid=12)
    assert len(whole.sdf_list) == len([k for k in robot.link_list if k.collision_mesh is not None])
    tip = robot.rarm.end_coords.parent.worldpos()[None]
    assert whole(tip)[0] < 0.03
    robot.angle_vector(np.array([0, 1.5, *[0.0] * 9]))
    assert whole(tip)[0] > 0.3


def test_rays_meet_surfaces():
    sdf = SphereSDF(1.0)
    points, off = ray_marching(
        np.array([[3.0, 0, 0], [3.0, 3, 0]]), np.array([[-1.0, 0, 0], [1, 0, 0]]), sdf, 1e-6
    )
    np.testing.assert_allclose(points[0], [1, 0, 0], atol=1e-5)
    assert off[1] > 1.0


def test_what_is_refused():
    for give in (np.zeros((3, 2)), np.zeros(2)):
        with pytest.raises(ShapeError):
            SphereSDF(1.0)(give)
    with pytest.raises(InputError):
        UnionSDF([])
    with pytest.raises(ShapeError):
        GridSDF(np.zeros((3, 3)), np.zeros(3), 0.1)
    with pytest.raises(InputError):
        GridSDF(np.zeros((3, 3, 3)), np.zeros(3), 0.0)
    bare = Box([1, 1, 1])
    bare.collision_mesh = None
    with pytest.raises(InputError, match="collision mesh"):
        link2sdf(bare)
