"""Fewer triangles: how many are left, how far the surface is away, what stays sharp and whole."""

from __future__ import annotations

import numpy as np
import pytest
import trimesh

from linkwork.errors import InputError
from linkwork.geometry.simplify import SimpleMesh, clustered, simplified
from seeds import rng


def of(mesh: trimesh.Trimesh, uv: np.ndarray | None = None) -> SimpleMesh:
    return SimpleMesh(np.asarray(mesh.vertices), np.asarray(mesh.faces), uv)


def sampled(mesh: SimpleMesh, n: int, generator: np.random.Generator) -> np.ndarray:
    """Points on a surface, evenly by area (n, 3)."""
    a, b, c = (mesh.vertices[mesh.faces[:, k]] for k in range(3))
    area = np.linalg.norm(np.cross(b - a, c - a), axis=1)
    k = generator.choice(len(area), n, p=area / area.sum())
    u, v = np.sort(generator.random((2, n)), axis=0)[..., None]
    return a[k] * u + b[k] * (v - u) + c[k] * (1 - v)


def apart(a: SimpleMesh, b: SimpleMesh) -> float:
    """How far points of each surface are from the other one, at most (m), of a sample."""
    far = 0.0
    for one, other in ((a, b), (b, a)):
        corners = other.vertices[other.faces]
        middles = corners.mean(axis=1)
        for point in sampled(one, 250, rng("points")):
            near = np.argsort(((middles - point) ** 2).sum(axis=1))[:150]
            on = trimesh.triangles.closest_point(
                corners[near], np.repeat(point[None], len(near), 0)
            )
            far = max(far, float(np.linalg.norm(on - point, axis=1).min()))
    return far


def bumpy() -> trimesh.Trimesh:
    ball = trimesh.creation.icosphere(subdivisions=4)
    x, y, z = ball.vertices.T
    ball.vertices *= (1 + 0.1 * np.sin(5 * x) * np.cos(4 * y) + 0.1 * z)[:, None]
    return ball


def part() -> trimesh.Trimesh:
    """A machine part, finely divided: a box with flat sides and sharp edges."""
    box = trimesh.creation.box((1, 0.5, 0.25))
    for _ in range(5):
        box = box.subdivide()
    return box


@pytest.mark.parametrize(
    ("mesh", "n", "bound"), [(bumpy(), 2500, 0.006), (bumpy(), 800, 0.012), (part(), 60, 1e-9)]
)
def test_the_surface_stays_near(mesh: trimesh.Trimesh, n: int, bound: float):
    before = of(mesh)
    (after,) = simplified([before], n)
    assert 0.7 * n <= len(after.faces) <= n
    assert apart(before, after) < bound


def test_flat_sides_and_sharp_edges_stay():
    (after,) = simplified([of(part())], 40)
    made = trimesh.Trimesh(after.vertices, after.faces)
    assert len(after.faces) <= 40
    assert made.area == pytest.approx(2 * (0.5 + 0.25 + 0.125), rel=1e-9)
    assert made.volume == pytest.approx(1 * 0.5 * 0.25, rel=1e-9)
    assert np.abs(np.abs(made.face_normals).max(axis=1) - 1).max() < 1e-9


def test_a_closed_surface_stays_closed_and_outward():
    (after,) = simplified([of(bumpy())], 1000)
    made = trimesh.Trimesh(after.vertices, after.faces, process=False)
    assert made.is_watertight
    assert made.volume == pytest.approx(bumpy().volume, rel=0.02)
    outward = np.einsum("ij,ij->i", made.face_normals, made.triangles_center)
    assert (outward > 0).mean() > 0.99


def test_the_ends_of_an_open_surface_stay_where_they_are():
    tube = trimesh.creation.cylinder(radius=1, height=2, sections=64)
    for _ in range(2):
        tube = tube.subdivide()
    open_ = tube.faces[np.abs(tube.face_normals[:, 2]) < 0.5]
    (after,) = simplified([SimpleMesh(tube.vertices, open_)], len(open_) // 4)
    z = after.vertices[:, 2]
    assert (z.min(), z.max()) == pytest.approx((-1, 1), abs=1e-6)
    assert np.linalg.norm(after.vertices[:, :2], axis=1).min() > 0.97


def test_a_sheet_keeps_its_outline():
    n = 20
    x, y = np.meshgrid(np.linspace(0, 1, n), np.linspace(0, 1, n))
    points = np.stack([x.ravel(), y.ravel(), np.zeros(n * n)], axis=1)
    corner = np.arange(n * n).reshape(n, n)[:-1, :-1].reshape(-1, 1)
    faces = np.vstack([corner + np.array([0, 1, n]), corner + np.array([1, n + 1, n])])
    inside = np.abs(points[faces].mean(axis=1) - (0.5, 0.5, 0)).max(axis=1) > 0.25  # with a hole
    before = SimpleMesh(points, faces[inside])
    (after,) = simplified([before], 60)
    areas = [trimesh.Trimesh(m.vertices, m.faces).area for m in (before, after)]
    assert areas[1] == pytest.approx(areas[0], rel=1e-6)
    np.testing.assert_allclose(np.ptp(after.vertices, axis=0), (1, 1, 0), atol=1e-9)


def test_what_fits_is_given_back_as_it_is():
    meshes = [of(trimesh.creation.box((1, 1, 1))), of(bumpy())]
    found = simplified(meshes, 10_000)
    assert all(a is b for a, b in zip(found, meshes, strict=True))


def test_several_share_a_budget_and_none_vanishes():
    small = bumpy()
    small.apply_scale(0.01)
    flat = trimesh.creation.box((1, 1, 1)).subdivide().subdivide()
    meshes = [of(bumpy()), of(small), of(flat), of(trimesh.creation.icosphere(subdivisions=1))]
    found = simplified(meshes, 3000)
    counts = [len(mesh.faces) for mesh in found]
    assert 2500 <= sum(counts) <= 3000
    assert counts[0] > counts[1] > 100  # in mm a change of a small one shows less
    assert counts[2] <= 100  # of 192: flat sides need few
    assert min(len(mesh.faces) for mesh in simplified(meshes, 5)) >= 1


def test_it_is_the_same_every_time():
    first, second = (simplified([of(bumpy())], 500)[0] for _ in range(2))
    np.testing.assert_array_equal(first.vertices, second.vertices)
    np.testing.assert_array_equal(first.faces, second.faces)


def test_vertices_that_a_file_has_twice_leave_no_cracks():
    mesh = bumpy()
    torn = SimpleMesh(mesh.triangles.reshape(-1, 3), np.arange(3 * len(mesh.faces)).reshape(-1, 3))
    (after,) = simplified([torn], 1000)
    assert trimesh.Trimesh(after.vertices, after.faces, process=False).is_watertight


def test_a_texture_stays_on_its_place_and_whole():
    n = 30
    x, y = np.meshgrid(np.linspace(0, 1, n), np.linspace(0, 1, n))
    corner = np.arange(n * n).reshape(n, n)[:-1, :-1].reshape(-1, 1)
    faces = np.vstack([corner + np.array([0, 1, n]), corner + np.array([1, n + 1, n])])
    z = 0.05 * np.sin(6 * x) * np.sin(6 * y)
    points = np.stack([x.ravel(), y.ravel(), z.ravel()], axis=1)
    left, right = points[:, :2], points[:, :2] + [5, 0]
    # two sheets side by side, whose picture is cut where they meet
    both = np.vstack([points, points * [-1, 1, 1]])
    mesh = SimpleMesh(both, np.vstack([faces, faces[:, ::-1] + n * n]), np.vstack([left, right]))
    (after,) = simplified([mesh], 1200)
    assert len(after.faces) <= 1200
    assert after.uv is not None
    own = np.abs(after.vertices[:, :2])
    np.testing.assert_allclose(after.uv - np.where(after.uv > 2, [5, 0], 0), own, atol=1e-9)
    seam = after.vertices[np.abs(after.vertices[:, 0]) < 1e-9]
    assert len(seam) == 2 * n  # no crack: both sides have all their vertices there


def test_very_many_triangles_go_through_cells_first():
    ball = trimesh.creation.icosphere(subdivisions=6)  # 81,920
    (after,) = simplified([of(ball)], 1000)
    assert 700 <= len(after.faces) <= 1000
    radius = np.linalg.norm(after.vertices, axis=1)
    assert radius.min() > 0.98 and radius.max() < 1.02


@pytest.mark.parametrize("cell", [0.05, 0.1, 0.3])
def test_cells_keep_the_surface_within_their_diagonal(cell: float):
    before = of(bumpy())
    after = clustered(before, cell)
    assert 0 < len(after.faces) < len(before.faces)
    assert apart(before, after) <= 0.35 * cell  # the diagonal, 1.7, is what is promised


def test_cells_keep_edges_sharp():
    after = clustered(of(part()), 0.11)
    low, high = after.vertices.min(axis=0), after.vertices.max(axis=0)
    np.testing.assert_allclose(high - low, (1, 0.5, 0.25), atol=1e-9)
    on = np.isclose(np.abs(after.vertices), (0.5, 0.25, 0.125), atol=1e-9).any(axis=1)
    assert on.all()


def test_a_mesh_smaller_than_a_cell_is_nothing():
    assert len(clustered(of(trimesh.creation.box((1, 1, 1))), 10.0).faces) == 0


@pytest.mark.parametrize(
    ("mesh", "message"),
    [
        (SimpleMesh(np.zeros((3, 2)), np.zeros((1, 3), int)), r"vertices must be finite.*\(3, 2\)"),
        (SimpleMesh(np.full((3, 3), np.nan), np.zeros((1, 3), int)), "must be finite"),
        (SimpleMesh(np.eye(3), np.array([[0, 1, 3]])), "from 0 to 2"),
        (SimpleMesh(np.eye(3), np.eye(3)), "whole numbers"),
        (SimpleMesh(np.eye(3), np.array([[0, 1, 2]]), np.zeros((2, 2))), r"shape \(3, 2\)"),
    ],
)
def test_meshes_that_are_none_are_refused(mesh: SimpleMesh, message: str):
    with pytest.raises(InputError, match=message):
        simplified([mesh], 1)
    with pytest.raises(InputError, match=message):
        clustered(mesh, 1.0)


def test_budgets_and_cells_that_are_none_are_refused():
    box = of(trimesh.creation.box((1, 1, 1)))
    with pytest.raises(InputError, match="one triangle or more, not 0"):
        simplified([box], 0)
    with pytest.raises(InputError, match="above 0 m, not -1"):
        clustered(box, -1.0)
