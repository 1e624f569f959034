"""Mass properties: against formulas, a tetrahedron by hand, and laws that any body follows."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from linkwork.errors import InputError
from linkwork.formats.urdf.records import Box, Capsule, Cylinder, Sphere
from linkwork.geometry import properties, volumes
from linkwork.geometry.properties import MassProperties, mass_properties
from linkwork.mechanism.shapes import Ellipsoid
from seeds import random_pose, rng

trimesh = pytest.importorskip("trimesh", reason="trimesh (pip install trimesh) is not installed")


def close(a: MassProperties, b: MassProperties, rtol: float = 1e-10) -> None:
    size = np.sqrt(np.trace(b.I_com) / b.mass)
    np.testing.assert_allclose(a.mass, b.mass, rtol=rtol)
    np.testing.assert_allclose(a.com, b.com, atol=rtol * (size + np.abs(b.com).max()))
    np.testing.assert_allclose(a.I_com, b.I_com, atol=rtol * np.trace(b.I_com))


def blob(label: str, n: int = 30) -> object:
    """A closed mesh of no symmetry, far from the origin."""
    points = rng(label).normal(size=(n, 3)) * [1, 0.3, 2] + [5, -3, 2]
    return trimesh.convex.convex_hull(points)


def test_a_tetrahedron_by_hand():
    # Corners 0, x, y, z. V = 1/6; ∫x² = 1/60, ∫xy = 1/120, com = 1/4;
    # so I_xx = 1/60 + 1/60 - V (1/16 + 1/16) and I_xy = -(1/120 - V/16).
    mesh = trimesh.Trimesh(
        [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]],
        [[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]],
        process=False,
    )
    found = mass_properties(mesh, 6.0)
    assert found.mass == pytest.approx(1, rel=1e-14)
    np.testing.assert_allclose(found.com, 0.25, rtol=1e-14)
    diagonal, product = 6 / 30 - 2 / 16, -(6 / 120 - 1 / 16)
    expected = np.full((3, 3), product) + np.eye(3) * (diagonal - product)
    np.testing.assert_allclose(found.I_com, expected, rtol=1e-12)


def test_a_box_of_triangles_is_the_box():
    size = tuple(rng("box").uniform(0.1, 3, size=3))
    close(mass_properties(volumes.box(size), 7.0), mass_properties(Box(size), 7.0), 1e-13)


@pytest.mark.parametrize(
    ("mesh", "formula"),
    [
        (
            lambda n: trimesh.creation.cylinder(0.3, 1.7, sections=n),
            mass_properties(Cylinder(0.3, 1.7), 5.0),
        ),
        (
            lambda n: trimesh.creation.uv_sphere(0.8, count=[n, n]),
            mass_properties(Sphere(0.8), 5.0),
        ),
        (
            lambda n: trimesh.creation.capsule(height=1.2, radius=0.4, count=[n, n]),
            mass_properties(Capsule(0.4, 1.2), 5.0),
        ),
    ],
    ids=["cylinder", "sphere", "capsule"],
)
def test_round_meshes_come_to_the_formulas(mesh, formula: MassProperties):
    """The error falls with the square of the number of sides: extrapolated, it is gone."""
    found = {}
    for n in (64, 128):
        body = mesh(n)
        body.apply_translation(-body.bounds.mean(axis=0))
        found[n] = mass_properties(body, 5.0)
    for name in ("mass", "I_com"):
        coarse, fine = getattr(found[64], name), getattr(found[128], name)
        limit = (4 * fine - coarse) / 3
        scale = np.max(getattr(formula, name))
        np.testing.assert_allclose(limit, getattr(formula, name), atol=1e-4 * scale)
        assert np.abs(fine - getattr(formula, name)).max() < 2e-3 * scale


def test_density_and_scale():
    mesh = blob("scale")
    one = mass_properties(mesh, 1.0)
    for s, rho in ((2.0, 3.0), (1e-3, 7800.0), (1e4, 1e-3)):
        other = mesh.copy()
        other.apply_scale(s)
        found = mass_properties(other, rho)
        close(
            found, MassProperties(one.mass * rho * s**3, one.com * s, one.I_com * rho * s**5), 1e-9
        )


def test_turned_and_moved():
    mesh, T = blob("turned"), random_pose(rng("T"))
    before = mass_properties(mesh, 2.0)
    moved = mesh.copy()
    moved.apply_transform(T)
    after = mass_properties(moved, 2.0)
    close(after, properties.placed(before, T), 1e-9)
    np.testing.assert_allclose(after.com, T[:3, :3] @ before.com + T[:3, 3], rtol=1e-9)


def test_far_from_the_origin_nothing_is_lost():
    near = volumes.box((0.01, 0.02, 0.03))
    far = near.copy()
    far.apply_translation([1000, -2000, 500])
    found = mass_properties(far, 1000.0)
    np.testing.assert_allclose(
        found.I_com, mass_properties(near, 1000.0).I_com, rtol=1e-6, atol=1e-12
    )
    np.testing.assert_allclose(found.com, [1000, -2000, 500], rtol=1e-12)


def test_pieces_lump_to_the_whole():
    whole = mass_properties(Box((2, 1, 1)), 3.0)
    T = np.eye(4)
    T[0, 3] = 0.5
    halves = [
        properties.placed(mass_properties(Box((1, 1, 1)), 3.0), M) for M in (T, np.linalg.inv(T))
    ]
    close(properties.lump(halves), whole, 1e-14)


def test_physical_and_independent_of_the_order_of_faces():
    for k in range(10):
        mesh = blob(f"physical {k}")
        found = mass_properties(mesh, 1.5)
        a, b, c = np.linalg.eigvalsh(found.I_com)
        assert 0 < a <= b <= c <= a + b
        order = rng("order").permutation(len(mesh.faces))
        close(mass_properties(trimesh.Trimesh(mesh.vertices, mesh.faces[order]), 1.5), found)
        np.testing.assert_allclose(found.com, mesh.center_mass, rtol=1e-7)  # trimesh's own formula
        np.testing.assert_allclose(found.mass, 1.5 * mesh.volume, rtol=1e-9)


def test_inside_out_as_a_whole_is_the_same_body():
    mesh = blob("inverted")
    inverted = trimesh.Trimesh(mesh.vertices, mesh.faces[:, ::-1], process=False)
    close(mass_properties(inverted, 1.0), mass_properties(mesh, 1.0), 1e-14)


def beside(*parts: tuple[object, float, bool]) -> object:
    """One mesh of several: where each stands along x, and whether it is inside out."""
    points, faces, n = [], [], 0
    for mesh, x, inverted in parts:
        points.append(mesh.vertices + np.array([x, 0, 0]))
        faces.append(mesh.faces[:, :: -1 if inverted else 1] + n)
        n += len(mesh.vertices)
    return trimesh.Trimesh(np.vstack(points), np.vstack(faces), process=False)


@pytest.mark.parametrize("size", [1.0, 0.9, 0.3])
@pytest.mark.parametrize("x", [1.0, 1.5, 40.0])
@pytest.mark.parametrize("turned", [0, 1])
def test_one_of_two_that_is_inside_out_is_refused(size: float, x: float, turned: int):
    one, other = volumes.box((1, 1, 1)), volumes.box((size, size, size))
    mesh = beside((one, 0.0, turned == 0), (other, x, turned == 1))
    with pytest.raises(InputError, match=r"inside out in places|no volume"):
        mass_properties(mesh, 1.0)
    both = mass_properties(beside((one, 0.0, False), (other, x, False)), 1.0)
    assert both.mass == pytest.approx(1 + size**3)
    close(mass_properties(beside((one, 0.0, True), (other, x, True)), 1.0), both)


def test_a_cavity_and_what_lies_in_it_count():
    cubes = {size: volumes.box((size,) * 3) for size in (3.0, 2.0, 1.0)}
    mesh = beside((cubes[3.0], 0, False), (cubes[2.0], 0.2, True), (cubes[1.0], 0.3, False))
    found = mass_properties(mesh, 2.0)
    assert found.mass == pytest.approx(2 * (27 - 8 + 1))
    assert found.com[0] == pytest.approx((-8 * 0.2 + 0.3) / 20)
    assert np.linalg.eigvalsh(found.I_com).min() > 0


def test_a_soup_of_triangles_is_closed_by_its_places():
    mesh = blob("soup")
    soup = trimesh.Trimesh(
        mesh.triangles.reshape(-1, 3), np.arange(3 * len(mesh.faces)).reshape(-1, 3), process=False
    )
    close(mass_properties(soup, 1.0), mass_properties(mesh, 1.0), 1e-14)


def test_an_open_mesh_offers_its_hull():
    mesh = volumes.box((1, 2, 3))
    broken = trimesh.Trimesh(mesh.vertices, mesh.faces[:-1], process=False)
    turned = mesh.faces.copy()
    turned[0] = turned[0, ::-1]
    for bad in (broken, trimesh.Trimesh(mesh.vertices, turned, process=False)):
        with pytest.raises(InputError, match="hull=True"):
            mass_properties(bad, 1.0)
        close(mass_properties(bad, 1.0, hull=True), mass_properties(Box((1, 2, 3)), 1.0))


def test_what_encloses_nothing():
    flat = trimesh.Trimesh([[0, 0, 0], [1, 0, 0], [0, 1, 0]], [[0, 1, 2], [0, 2, 1]], process=False)
    with pytest.raises(InputError, match="no volume"):
        mass_properties(flat, 1.0)
    with pytest.raises(InputError, match="no convex hull"):
        mass_properties(flat, 1.0, hull=True)
    with pytest.raises(InputError, match="without faces"):
        mass_properties(trimesh.Trimesh(), 1.0)


def test_what_is_neither_mesh_nor_shape():
    with pytest.raises(InputError, match="a mesh or a shape"):
        mass_properties(SimpleNamespace(name="x"), 1.0)


@pytest.mark.parametrize("bad", [0, -1.0, float("nan"), float("inf")])
def test_bad_numbers(bad: float):
    for make in (
        lambda: mass_properties(volumes.sphere(1), bad),
        lambda: mass_properties(Box((1, bad, 1)), 1),
        lambda: mass_properties(Cylinder(1, 1), bad),
        lambda: mass_properties(Sphere(bad), 1),
        lambda: mass_properties(Capsule(1, bad or -1), 1),
    ):
        with pytest.raises(InputError):
            make()
    with pytest.raises(InputError, match="pose"):
        properties.placed(mass_properties(Sphere(1), 1), np.diag([2.0, 1, 1, 1]))
    with pytest.raises(InputError, match="no bodies"):
        properties.lump([])


def test_results_are_read_only():
    found = mass_properties(volumes.sphere(1), 1.0)
    for array in (found.com, found.I_com):
        assert not array.flags.writeable


# --- ellipsoids -----------------------------------------------------------------------------------


def test_an_ellipsoid_has_the_moments_of_its_formula():
    found = properties.mass_properties(Ellipsoid((0.1, 0.2, 0.3)), 1000.0)
    mass = 1000 * 4 / 3 * np.pi * 0.006
    assert found.mass == pytest.approx(mass)
    expected = mass / 5 * np.array([0.04 + 0.09, 0.01 + 0.09, 0.01 + 0.04])
    np.testing.assert_allclose(found.I_com, np.diag(expected), rtol=1e-12)


@pytest.mark.parametrize("label", ["first", "second", "third"])
def test_the_ellipsoid_of_an_inertia_is_the_one_that_it_is_of(label: str):
    generator = rng(label)
    radii = np.sort(generator.uniform(0.01, 1, 3))[::-1]
    mass = float(generator.uniform(0.1, 10))
    R = np.linalg.qr(generator.normal(size=(3, 3)))[0]
    R *= np.sign(np.linalg.det(R))
    square = radii**2
    inertia = R @ np.diag(mass / 5 * (square.sum() - square)) @ R.T
    found, axes = properties.inertia_ellipsoid(mass, inertia)
    np.testing.assert_allclose(found, radii, rtol=1e-6)
    assert np.linalg.det(axes) == pytest.approx(1)
    np.testing.assert_allclose(np.abs(np.einsum("ij,ij->j", axes, R)), 1, atol=1e-6)
    x, y, z = np.diag(axes.T @ inertia @ axes)  # a = sqrt(5/2 (Iy + Iz - Ix) / m)
    expected = np.sqrt(2.5 / mass * np.array([y + z - x, x + z - y, x + y - z]))
    np.testing.assert_allclose(found, expected)


def test_a_flat_body_has_a_flat_ellipsoid():
    radii, axes = properties.inertia_ellipsoid(2.0, np.diag([1.0, 3.0, 2.0]))
    np.testing.assert_allclose(radii, np.sqrt(2.5 / 2 * np.array([4, 2, 0])), atol=1e-12)
    np.testing.assert_allclose(np.abs(axes[:, 2]), [0, 1, 0], atol=1e-12)


@pytest.mark.parametrize(
    ("mass", "inertia", "message"),
    [
        (0.0, np.eye(3), "needs one above 0"),
        (1.0, np.diag([1.0, 1.0, 3.0]), "of no real body"),
        (1.0, -np.eye(3), "of no real body"),
        (1.0, np.ones(3), r"finite matrix \(3, 3\)"),
    ],
)
def test_what_no_body_has_gives_no_ellipsoid(mass: float, inertia: np.ndarray, message: str):
    with pytest.raises(InputError, match=message):
        properties.inertia_ellipsoid(mass, inertia)
