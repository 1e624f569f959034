"""Bodies around meshes: they contain every point, and no smaller one would."""

from __future__ import annotations

from math import pi

import numpy as np
import pytest

from linkwork.errors import InputError
from linkwork.geometry import volumes
from seeds import rng

trimesh = pytest.importorskip("trimesh", reason="trimesh (pip install trimesh) is not installed")
pytest.importorskip("scipy", reason="scipy (pip install scipy) is not installed")


def clouds():
    for k in range(12):
        g = rng(f"cloud {k}")
        scale = 10.0 ** g.uniform(-3, 2)
        T = trimesh.transformations.random_rotation_matrix(g.uniform(size=3))[:3, :3]
        yield (g.normal(size=(int(g.integers(5, 200)), 3)) * [1, 0.4, 0.1]) @ T * scale + g.normal(
            size=3
        )


def test_axis_aligned_box():
    for points in clouds():
        low, high = volumes.axis_aligned_box(points)
        assert (points >= low).all() and (points <= high).all()
        np.testing.assert_array_equal(low, points.min(axis=0))
        np.testing.assert_array_equal(high, points.max(axis=0))


def test_convex_hull_contains_and_is_convex():
    for points in clouds():
        hull = volumes.convex_hull(points)
        size = np.ptp(points, axis=0).max()
        assert hull.is_watertight and hull.is_winding_consistent
        above = (points[:, None] - hull.triangles_center) * hull.face_normals
        assert above.sum(axis=2).max() < 1e-9 * size
        corners = {tuple(p) for p in points}
        assert {tuple(p) for p in hull.vertices} <= corners
    box = volumes.box((1, 2, 3))
    assert volumes.convex_hull(box).volume == pytest.approx(6)


def test_oriented_box_contains_and_touches():
    for points in clouds():
        T, extents = volumes.oriented_box(points)
        np.testing.assert_allclose(T[:3, :3] @ T[:3, :3].T, np.eye(3), atol=1e-9)
        assert np.linalg.det(T[:3, :3]) == pytest.approx(1)
        local = (points - T[:3, 3]) @ T[:3, :3]
        size = extents.max()
        np.testing.assert_allclose(local.min(axis=0), -extents / 2, atol=1e-9 * size)
        np.testing.assert_allclose(local.max(axis=0), extents / 2, atol=1e-9 * size)


def test_oriented_box_of_a_turned_box_is_the_box():
    for k in range(5):
        mesh = volumes.box((0.3, 1.1, 2.0))
        mesh.apply_transform(
            trimesh.transformations.random_rotation_matrix(rng(f"turn {k}").uniform(size=3))
        )
        mesh.apply_translation([4, 5, 6])
        T, extents = volumes.oriented_box(mesh)
        np.testing.assert_allclose(np.sort(extents), [0.3, 1.1, 2.0], rtol=1e-6)
        np.testing.assert_allclose(T[:3, 3], [4, 5, 6], rtol=1e-6)


def test_bounding_sphere_contains_and_is_tight():
    for points in clouds():
        centre, radius = volumes.bounding_sphere(points)
        distances = np.linalg.norm(points - centre, axis=1)
        assert distances.max() <= radius
        # Smallest: its centre is in the hull of the points on it, so no direction leaves them.
        rim = points[distances > radius * (1 - 1e-7)] - centre
        assert 2 <= len(rim)
        directions = rng("directions").normal(size=(500, 3))
        directions /= np.linalg.norm(directions, axis=1, keepdims=True)
        assert (rim @ directions.T).min(axis=0).max() <= 1e-5 * radius


def test_bounding_sphere_of_known_bodies():
    centre, radius = volumes.bounding_sphere(volumes.box((1, 2, 2)))
    np.testing.assert_allclose(centre, 0, atol=1e-12)
    assert radius == pytest.approx(1.5)
    centre, radius = volumes.bounding_sphere(volumes.sphere(0.7))
    np.testing.assert_allclose(centre, 0, atol=1e-6)
    assert radius == pytest.approx(0.7, rel=1e-6)
    centre, radius = volumes.bounding_sphere(np.array([[1.0, 2, 3]]))
    assert radius == 0 and list(centre) == [1, 2, 3]
    _, radius = volumes.bounding_sphere(np.array([[0.0, 0, 0], [2, 0, 0], [2, 0, 0]]))
    assert radius == pytest.approx(1)
    line = np.outer(np.linspace(0, 1, 11), [3.0, 4, 0])
    assert volumes.bounding_sphere(line)[1] == pytest.approx(2.5)


def test_what_has_no_volume():
    flat = np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 1, 0]])
    for points in (flat, flat[:2], flat[:1]):
        with pytest.raises(InputError, match="no convex hull"):
            volumes.convex_hull(points)
        with pytest.raises(InputError, match="no convex hull"):
            volumes.oriented_box(points)
    for bad in (np.zeros((0, 3)), np.zeros((4, 2)), np.zeros(3)):
        with pytest.raises(InputError, match="shape"):
            volumes.axis_aligned_box(bad)
    with pytest.raises(InputError, match="finite"):
        volumes.bounding_sphere(np.array([[0, 0, np.nan]]))


# ---- shapes as meshes: closed, centred, outward, and of the size they say

SIZES = [0.001, 0.02, 1.0, 37.5]


def every():
    for size in SIZES:
        yield (
            volumes.box((size, 2 * size, 3 * size)),
            (size, 2 * size, 3 * size),
            6 * size**3,
            1e-12,
        )
        yield (
            volumes.cylinder(size, 3 * size),
            (2 * size, 2 * size, 3 * size),
            pi * 3 * size**3,
            0.007,
        )
        yield volumes.sphere(size), (2 * size,) * 3, 4 / 3 * pi * size**3, 0.01
        volume = 4 / 3 * pi * size**3 + pi * 2 * size**3
        yield volumes.capsule(size, 2 * size), (2 * size, 2 * size, 4 * size), volume, 0.01


def test_closed_outward_centred_and_of_their_size():
    for mesh, extents, volume, loss in every():
        assert mesh.is_watertight and mesh.is_winding_consistent and mesh.is_volume
        assert volume * (1 - loss) <= mesh.volume <= volume * (1 + 1e-12)
        size = max(extents)
        np.testing.assert_allclose(mesh.bounds.sum(axis=0), 0, atol=1e-15 * size)
        np.testing.assert_allclose(mesh.extents, extents, rtol=0.005)
        outward = np.einsum("ij,ij->i", mesh.face_normals, mesh.triangles_center)
        assert (outward > 0).all()


def test_counts():
    assert len(volumes.box((1, 1, 1)).faces) == 12
    assert len(volumes.sphere(1).vertices) == 642
    assert len(volumes.cylinder(1, 1).vertices) == 2 * volumes.SIDES + 2


def test_corners_lie_on_the_shape():
    r = float(rng("radius").uniform(0.1, 2))
    np.testing.assert_allclose(np.linalg.norm(volumes.sphere(r).vertices, axis=1), r, rtol=1e-12)
    around = np.linalg.norm(volumes.cylinder(r, 1).vertices[:, :2], axis=1)
    assert set(np.round(around / r, 9)) == {0.0, 1.0}
    capsule = volumes.capsule(r, 3.0)
    axis = np.clip(capsule.vertices[:, 2], -1.5, 1.5)
    from_axis = capsule.vertices - np.stack([0 * axis, 0 * axis, axis], axis=1)
    np.testing.assert_allclose(np.linalg.norm(from_axis, axis=1), r, rtol=1e-9)


def test_a_capsule_without_length_is_a_sphere():
    mesh = volumes.capsule(0.5, 0)
    assert mesh.is_watertight
    np.testing.assert_allclose(mesh.extents, 1, rtol=0.005)


@pytest.mark.parametrize("bad", [0, -1, float("nan"), float("inf")])
def test_bad_sizes(bad: float):
    for make in (
        lambda: volumes.box((1, bad, 1)),
        lambda: volumes.cylinder(bad, 1),
        lambda: volumes.cylinder(1, bad),
        lambda: volumes.sphere(bad),
        lambda: volumes.capsule(bad, 1),
    ):
        with pytest.raises(InputError, match="positive"):
            make()
    if bad != 0:
        with pytest.raises(InputError, match="positive"):
            volumes.capsule(1, bad)
    with pytest.raises(InputError, match="three edges"):
        volumes.box((1, 1))


def test_an_ellipsoid_has_its_half_axes():
    mesh = volumes.ellipsoid((0.1, 0.2, 0.3))
    np.testing.assert_allclose(mesh.extents, (0.2, 0.4, 0.6), rtol=0.01)
    assert mesh.volume == pytest.approx(4 / 3 * np.pi * 0.006, rel=0.01)
    with pytest.raises(InputError, match="half axis of an ellipsoid is 0 m"):
        volumes.ellipsoid((0.1, 0, 0.3))
    with pytest.raises(InputError, match="three half axes, not 2"):
        volumes.ellipsoid((0.1, 0.2))


def test_triangles_are_a_mesh_or_the_hull_of_their_corners():
    corners = [(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1), (0.1, 0.1, 0.1)]
    assert volumes.triangles(corners).volume == pytest.approx(1 / 6)
    assert len(volumes.triangles(corners, [[0, 1, 2]]).faces) == 1
    with pytest.raises(InputError, match="vertex 5, and there are 5"):
        volumes.triangles(corners, [[0, 1, 5]])
    with pytest.raises(InputError, match="faces of shape"):
        volumes.triangles(corners, [[0, 1]])
