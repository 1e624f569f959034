"""Primitive shapes as meshes: closed, centred, outward, and of the size they say."""

from __future__ import annotations

from math import pi

import numpy as np
import pytest

from linkwork.errors import InputError
from linkwork.geometry import shapes
from seeds import rng

pytest.importorskip("trimesh", reason="trimesh (pip install trimesh) is not installed")

SIZES = [0.001, 0.02, 1.0, 37.5]


def every():
    for size in SIZES:
        yield (
            shapes.box((size, 2 * size, 3 * size)),
            (size, 2 * size, 3 * size),
            6 * size**3,
            1e-12,
        )
        yield (
            shapes.cylinder(size, 3 * size),
            (2 * size, 2 * size, 3 * size),
            pi * 3 * size**3,
            0.007,
        )
        yield shapes.sphere(size), (2 * size,) * 3, 4 / 3 * pi * size**3, 0.01
        volume = 4 / 3 * pi * size**3 + pi * 2 * size**3
        yield shapes.capsule(size, 2 * size), (2 * size, 2 * size, 4 * size), volume, 0.01


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
    assert len(shapes.box((1, 1, 1)).faces) == 12
    assert len(shapes.sphere(1).vertices) == 642
    assert len(shapes.cylinder(1, 1).vertices) == 2 * shapes.SIDES + 2


def test_corners_lie_on_the_shape():
    r = float(rng("radius").uniform(0.1, 2))
    np.testing.assert_allclose(np.linalg.norm(shapes.sphere(r).vertices, axis=1), r, rtol=1e-12)
    around = np.linalg.norm(shapes.cylinder(r, 1).vertices[:, :2], axis=1)
    assert set(np.round(around / r, 9)) == {0.0, 1.0}
    capsule = shapes.capsule(r, 3.0)
    axis = np.clip(capsule.vertices[:, 2], -1.5, 1.5)
    from_axis = capsule.vertices - np.stack([0 * axis, 0 * axis, axis], axis=1)
    np.testing.assert_allclose(np.linalg.norm(from_axis, axis=1), r, rtol=1e-9)


def test_a_capsule_without_length_is_a_sphere():
    mesh = shapes.capsule(0.5, 0)
    assert mesh.is_watertight
    np.testing.assert_allclose(mesh.extents, 1, rtol=0.005)


@pytest.mark.parametrize("bad", [0, -1, float("nan"), float("inf")])
def test_bad_sizes(bad: float):
    for make in (
        lambda: shapes.box((1, bad, 1)),
        lambda: shapes.cylinder(bad, 1),
        lambda: shapes.cylinder(1, bad),
        lambda: shapes.sphere(bad),
        lambda: shapes.capsule(bad, 1),
    ):
        with pytest.raises(InputError, match="positive"):
            make()
    if bad != 0:
        with pytest.raises(InputError, match="positive"):
            shapes.capsule(1, bad)
    with pytest.raises(InputError, match="three edges"):
        shapes.box((1, 1))
