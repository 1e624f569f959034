from __future__ import annotations

import inspect
import warnings

import numpy as np
import pytest

from linkwork.faces.urdfpy import (
    Box,
    Collision,
    Geometry,
    Inertial,
    Link,
    Material,
    Mesh,
    Sphere,
    Visual,
)
from robots import origin
from seeds import rng

trimesh = pytest.importorskip("trimesh", reason="trimesh (pip install trimesh) is not installed")


def ball(radius: float = 1.0) -> Geometry:
    return Geometry(sphere=Sphere(radius))


@pytest.mark.row("S2-080", "S2-081", "S2-082")
def test_a_collision_has_its_own_order_of_arguments():
    geometry = ball()
    collision = Collision("hull", None, geometry)
    assert collision.geometry is geometry
    assert collision.name == "hull"
    assert list(inspect.signature(Collision).parameters) == ["name", "origin", "geometry"]
    collision.name = None
    assert collision.name is None
    collision.name = 7
    assert collision.name == "7"
    for wrong in (None, Sphere(1)):
        with pytest.raises(TypeError):
            collision.geometry = wrong
        with pytest.raises(TypeError):
            Collision(None, None, wrong)
    assert collision.geometry is geometry


@pytest.mark.row("S2-084", "S2-085", "S2-086", "S2-087")
def test_a_visual_may_have_a_material():
    geometry, material = ball(), Material("red", [1, 0, 0, 1])
    visual = Visual(geometry, "shell", None, material)
    assert (visual.geometry, visual.material, visual.name) == (geometry, material, "shell")
    assert list(inspect.signature(Visual).parameters) == ["geometry", "name", "origin", "material"]
    assert Visual(geometry).material is Visual(geometry).name is None
    for attribute, wrong in (("geometry", None), ("geometry", 3), ("material", "red")):
        with pytest.raises(TypeError):
            setattr(visual, attribute, wrong)
    visual.name = 3
    assert visual.name == "3"
    assert (visual.geometry, visual.material) == (geometry, material)


def with_origin(kind: str, value: object):
    if kind == "collision":
        return Collision(None, value, ball())
    if kind == "visual":
        return Visual(ball(), origin=value)
    return Inertial(1.0, np.eye(3), value)


@pytest.mark.row("S2-083", "S2-088", "S2-092")
@pytest.mark.parametrize("kind", ["collision", "visual", "inertial"])
def test_an_origin_is_a_matrix_six_numbers_or_none(kind: str):
    owner = with_origin(kind, None)
    assert np.array_equal(owner.origin, np.eye(4))
    row = rng(kind).uniform(-1, 1, 6)
    owner.origin = row
    expected = origin(row[:3], row[3:])
    assert np.abs(owner.origin - expected).max() < 1e-15
    assert np.abs(with_origin(kind, list(row)).origin - expected).max() < 1e-15
    given = owner.origin.copy()
    owner.origin = given
    given[0, 3] = 99.0  # what was given stays the giver's
    assert np.abs(owner.origin - expected).max() < 1e-15
    for wrong in (np.eye(3), np.zeros(7), [[1, 2], [3]], np.ones((4, 4)), np.full((4, 4), np.nan)):
        with pytest.raises(ValueError, match="origin"):
            owner.origin = wrong
    for wrong in ("here", 3.0):
        with pytest.raises(TypeError):
            owner.origin = wrong
    assert np.abs(owner.origin - expected).max() < 1e-15


@pytest.mark.row("S2-089", "S2-090", "S2-091")
def test_an_inertial_has_a_mass_and_a_symmetric_inertia():
    inertial = Inertial("2.5", np.diag([1, 2, 2.5]))
    assert inertial.mass == 2.5
    assert inertial.inertia.tolist() == np.diag([1, 2, 2.5]).tolist()
    with pytest.raises(ValueError, match="symmetric"):
        inertial.inertia = [[1, 0.1, 0], [0, 1, 0], [0, 0, 1]]
    with pytest.raises(ValueError, match="shape"):
        inertial.inertia = [1, 2, 3]
    with pytest.raises(TypeError):
        inertial.inertia = 3.0
    with pytest.raises(TypeError):
        inertial.mass = None
    with pytest.raises(ValueError, match="finite"):
        inertial.mass = float("inf")
    assert (inertial.mass, inertial.inertia[2, 2]) == (2.5, 2.5)
    inertial.mass = -1  # the sign is not checked
    assert inertial.mass == -1.0


@pytest.mark.row("S2-091")
@pytest.mark.parametrize("wrong", [np.diag([1.0, 1.0, -1.0]), np.diag([1.0, 1.0, 3.0])])
def test_an_inertia_that_no_body_has_is_warned_of(wrong: np.ndarray):
    with pytest.warns(UserWarning, match="no body has"):
        Inertial(1.0, wrong)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Inertial(1.0, np.diag([1.0, 1.0, 2.0]))
        Inertial(0.0, np.zeros((3, 3)))


@pytest.mark.row("S2-093", "S2-094", "S2-096", "S2-097")
def test_a_link_takes_four_arguments():
    visual, collision = Visual(ball()), Collision(None, None, ball())
    inertial = Inertial(1.0, np.eye(3))
    link = Link("arm", inertial, [visual], [collision])
    assert (link.name, link.inertial) == ("arm", inertial)
    assert (link.visuals, link.collisions) == ([visual], [collision])
    assert list(inspect.signature(Link).parameters) == ["name", "inertial", "visuals", "collisions"]
    with pytest.raises(TypeError):
        Link("arm", inertial)
    empty = Link(7, None, None, None)
    assert (empty.name, empty.visuals, empty.collisions) == ("7", [], [])
    for attribute, wrong in (
        ("visuals", [collision]),
        ("visuals", 3),
        ("collisions", [visual]),
        ("collisions", "x"),
    ):
        with pytest.raises(ValueError, match=attribute):
            setattr(link, attribute, wrong)
    assert (link.visuals, link.collisions) == ([visual], [collision])
    with pytest.raises(TypeError):
        link.inertial = 3.0


@pytest.mark.row("S2-095")
def test_a_link_without_inertial_reads_as_one_of_1_kg_but_has_none():
    link = Link("light", None, None, None)
    assert link.inertial.mass == 1.0
    assert np.array_equal(link.inertial.inertia, np.eye(3))
    assert link.inertial is link.inertial
    assert link.weight() is None
    link.inertial.mass = 2.0  # from here on it is what the program wants
    assert link.weight() is link.inertial


@pytest.mark.row("S2-098")
def test_the_collision_mesh_joins_all_in_the_link_s_frame():
    link = Link("l", None, None, None)
    assert link.collision_mesh is None
    cube = Mesh("cube.stl", scale=[2, 1, 1], meshes=trimesh.creation.box((1, 1, 1)))
    link.collisions = [
        Collision(None, [0, 0, 1, 0, 0, 0], Geometry(box=Box([1, 1, 1]))),
        Collision(None, [5, 0, 0, 0, 0, np.pi / 2], Geometry(mesh=cube)),
    ]
    mesh = link.collision_mesh
    assert isinstance(mesh, trimesh.Trimesh)
    assert len(mesh.faces) == 24
    assert np.allclose(mesh.bounds, [[-0.5, -1, -0.5], [5.5, 1, 1.5]])
    assert link.collision_mesh is mesh


@pytest.mark.row("S2-098")
def test_the_collision_mesh_follows_every_change():
    shape = Collision(None, None, Geometry(box=Box([1, 1, 1])))
    link = Link("l", None, None, [shape])
    top = lambda: float(link.collision_mesh.bounds[1, 2])
    assert top() == 0.5
    shape.origin[2, 3] = 1.0
    assert top() == 1.5
    shape.geometry.box.size = [1, 1, 3]
    assert top() == 2.5
    link.collisions.append(Collision(None, [0, 0, 9, 0, 0, 0], Geometry(box=Box([1, 1, 1]))))
    assert top() == 9.5
    shape.geometry = Geometry(sphere=Sphere(20))
    assert np.isclose(top(), 21.0)
