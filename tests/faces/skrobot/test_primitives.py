"""Links with simple shapes: their meshes, sizes, places and signed distances."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from linkwork.errors import InputError, ShapeError
from linkwork.faces.skrobot.coordinates import make_cascoords, make_coords
from linkwork.faces.skrobot.model import (
    Annulus,
    Axis,
    Box,
    CameraMarker,
    Capsule,
    Cone,
    Cylinder,
    LineString,
    Link,
    MeshLink,
    PointCloudLink,
    Sphere,
)
from seeds import rng

CORNERS = {
    "Box": (lambda **how: Box([1, 2, 3], **how), 8, [0.5, 1.0, 1.5]),
    "Sphere": (lambda **how: Sphere(0.5, **how), 642, [0.5, 0.5, 0.5]),
    "Cylinder": (lambda **how: Cylinder(0.1, 0.4, **how), 66, [0.1, 0.1, 0.2]),
    "Capsule": (lambda **how: Capsule(0.1, 0.3, **how), 1026, [0.1, 0.1, 0.25]),
    "Annulus": (lambda **how: Annulus(0.1, 0.2, 0.3, **how), 128, [0.2, 0.2, 0.15]),
}


@pytest.mark.parametrize("kind", CORNERS)
def test_solids_have_the_mesh_of_the_original_at_their_place(kind: str):
    make, corners, half = CORNERS[kind]
    link = make(pos=[1, 2, 3], name="it")
    assert isinstance(link, Link)
    assert link.name == "it"
    assert link.worldpos() == pytest.approx([1, 2, 3])
    for mesh in (link.visual_mesh, link.collision_mesh):
        assert len(mesh.vertices) == corners
        np.testing.assert_allclose(mesh.bounds, [np.negative(half), half], atol=1e-12)
    assert link.sdf is None


def test_a_cone_stands_on_its_frame():
    cone = Cone(0.1, 0.3)
    assert (cone.radius, cone.height, len(cone.visual_mesh.vertices)) == (0.1, 0.3, 34)
    np.testing.assert_allclose(cone.visual_mesh.bounds, [[-0.1, -0.1, 0], [0.1, 0.1, 0.3]])


def test_sizes_are_as_given():
    assert Box([1, 2, 3]).extents == [1, 2, 3]
    assert (Cylinder(0.1, 0.2).radius, Cylinder(0.1, 0.2).height) == (0.1, 0.2)
    assert Sphere(0.2).radius == 0.2
    assert (Capsule(0.1, 0.2).radius, Capsule(0.1, 0.2).height) == (0.1, 0.2)
    ring = Annulus(0.1, 0.2, 0.3)
    assert (ring.r_min, ring.r_max, ring.height) == (0.1, 0.2, 0.3)
    assert (Axis().axis_radius, Axis().axis_length) == (0.01, 0.1)


def test_names_that_are_not_given_are_those_of_nothing_else():
    names = {Box([1, 1, 1]).name for _ in range(5)} | {Sphere(1).name}
    assert len(names) == 6
    assert all(name.startswith(("box_", "sphere_")) for name in names)


def test_colors():
    red = [255, 0, 0, 255]
    assert Box([1, 1, 1], face_colors=[255, 0, 0]).visual_mesh.visual.face_colors[0].tolist() == red
    corners = Box([1, 1, 1], vertex_colors=red).visual_mesh.visual.vertex_colors
    assert corners[3].tolist() == red
    assert Sphere(1, color=[255, 0, 0]).visual_mesh.visual.face_colors[0].tolist() == red
    line = LineString(np.eye(3), color=[0, 255, 0, 255])
    assert np.array(line.visual_mesh.colors).tolist() == [[0, 255, 0, 255]]
    cloud = PointCloudLink(np.eye(3), colors=[255, 0, 0])
    assert np.array(cloud.visual_mesh.colors).tolist() == [red] * 3
    arrows = {tuple(c) for c in Axis(alpha=0.5).visual_mesh.visual.face_colors.tolist()}
    assert {(255, 0, 0, 127), (0, 255, 0, 127), (0, 0, 255, 127)} <= arrows


def test_an_axis_stands_where_a_frame_is_or_moves_with_it():
    frame = make_cascoords(pos=[1, 2, 3])
    still = Axis.from_coords(make_coords(pos=[1, 2, 3]), axis_length=0.3)
    moving = Axis.from_cascoords(frame, axis_radius=0.02)
    assert (still.axis_length, moving.axis_radius) == (0.3, 0.02)
    frame.translate([1, 0, 0])
    assert still.worldpos() == pytest.approx([1, 2, 3])
    assert moving.worldpos() == pytest.approx([2, 2, 3])
    assert still.collision_mesh is None


def test_links_of_meshes_points_and_lines():
    import trimesh  # noqa: PLC0415  an optional kind of argument

    cube, ball = trimesh.creation.box([1, 1, 1]), trimesh.creation.icosphere()
    one, two = MeshLink(cube, pos=[0, 0, 1]), MeshLink([cube, ball])
    assert one.visual_mesh is cube
    assert (len(two.visual_mesh), len(two.collision_mesh.vertices)) == (2, 650)
    assert MeshLink().visual_mesh is None
    points = rng("point cloud").uniform(size=(10, 3))
    for given in (points, points.tolist(), trimesh.PointCloud(points)):
        link = PointCloudLink(given)
        np.testing.assert_allclose(link.visual_mesh.vertices, points)
        assert link.collision_mesh is None
    assert PointCloudLink().visual_mesh is None
    line = LineString(points)
    np.testing.assert_allclose(line.visual_mesh.vertices, points)


def test_a_camera_marker_opens_by_its_field_of_view():
    marker = CameraMarker(fov=(90, 60), marker_height=1.0, without_axis=True)
    x, y, z = marker.visual_mesh.bounds[1]
    assert (x, y, z) == pytest.approx((1.0, np.tan(np.radians(30)), 1.0), abs=0.02)
    assert CameraMarker(focal=(1.0, 2.0)).collision_mesh is None


@pytest.mark.parametrize(
    ("make", "error"),
    [
        (lambda: Box(1), ShapeError),
        (lambda: Box([1, 2]), ShapeError),
        (lambda: Box([1, -2, 3]), InputError),
        (lambda: Sphere(-1), InputError),
        (lambda: Sphere(np.nan), InputError),
        (lambda: Sphere("a"), ValueError),
        (lambda: Cylinder(np.inf, 1), InputError),
        (lambda: MeshLink(3), TypeError),
        (lambda: MeshLink(with_sdf=True), InputError),
        (lambda: PointCloudLink(np.zeros((3, 2))), AssertionError),
        (lambda: LineString([[1, 2, 3]]), TypeError),
        (lambda: LineString(np.zeros((1, 3))), AssertionError),
        (lambda: CameraMarker(fov=(180, 10)), InputError),
    ],
)
def test_what_is_refused(make: Any, error: type[Exception]):
    with pytest.raises(error):
        make()


def test_signed_distances_move_with_their_link():
    box = Box([1, 2, 3], pos=[1, 0, 0], with_sdf=True)
    points = np.array([[1, 0, 0], [1.5, 0, 0], [3, 0, 0], [3, 3, 3.0]])
    np.testing.assert_allclose(box.sdf(points), [-0.5, 0, 1.5, np.hypot(np.hypot(1.5, 2), 1.5)])
    box.translate([1, 0, 0])
    assert box.sdf(points)[0] == pytest.approx(0.5)
    box.rotate(np.pi / 2, "y")
    assert box.sdf(np.array([[3.5, 0, 0]]))[0] == pytest.approx(0.0, abs=1e-12)
    assert Sphere(0.5, with_sdf=True).sdf(np.zeros((1, 3)))[0] == -0.5
    assert Cylinder(0.1, 0.4, with_sdf=True).sdf(np.array([[0, 0, 0.3]]))[0] == pytest.approx(0.1)
