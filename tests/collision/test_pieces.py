"""Pieces of shapes and meshes: hulls, bounds on what they add, their table."""

from __future__ import annotations

import numpy as np
import pytest
import trimesh

import seeds
from linkwork.collision.mesh_pieces import convex_pieces
from linkwork.collision.pieces import (
    BOX,
    CYLINDER,
    ELLIPSOID,
    HALF_SPACE,
    HULL,
    N_PLANES,
    OUTER,
    POINT,
    SEGMENT,
    enclosing_spheres,
    hull_of,
    hull_piece,
    hull_planes,
    outer_planes,
    simplified,
    solid_piece,
    table,
)
from linkwork.errors import InputError, LinkworkError, MissingExtraError, UnsupportedFeatureError
from linkwork.formats.urdf.records import Box, Capsule, Cylinder, Sphere
from linkwork.geometry import volumes
from linkwork.mechanism.shapes import Ellipsoid, HalfSpace, MeshFile, Triangles
from seeds import random_pose

HERE = np.eye(4)


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
def test_a_hull_holds_its_points_and_has_no_others(scale: float) -> None:
    points = seeds.rng("hull").normal(size=(200, 3)) * scale
    vertices, faces = hull_of(points)
    planes = hull_planes(vertices, faces)
    assert (points @ planes[:, :3].T <= planes[:, 3] + 1e-12 * scale).all()
    assert {tuple(v) for v in vertices} <= {tuple(p) for p in points}
    a, b, c = (vertices[faces[:, k]] for k in range(3))
    volume = np.einsum("nj,nj->n", a, np.cross(b, c)).sum() / 6
    assert volume == pytest.approx(volumes.convex_hull(points).volume, rel=1e-9)


def test_flat_straight_and_single_sets_are_hulls() -> None:
    rng = seeds.rng("flat")
    T = random_pose(rng)
    square = np.column_stack([rng.uniform(-1, 1, (50, 2)), np.zeros(50)]) @ T[:3, :3].T + T[:3, 3]
    vertices, faces = hull_of(square)
    assert len(faces) == len(vertices) - 2
    assert not len(hull_planes(vertices, faces))
    line = np.outer(rng.uniform(0, 1, 20), [1.0, 2, 3])
    ends, none = hull_of(line)
    assert len(ends) == 2 and not len(none)
    assert np.linalg.norm(ends[1] - ends[0]) == pytest.approx(np.linalg.norm(np.ptp(line, axis=0)))
    only, _ = hull_of([[1.0, 2, 3]] * 5)
    np.testing.assert_array_equal(only, [[1.0, 2, 3]])


def test_shapes_become_pieces() -> None:
    for shape, kind in (
        (Sphere(0.1), POINT),
        (Capsule(0.1, 0.4), SEGMENT),
        (Capsule(0.1, 0.0), POINT),
        (Box((0.2, 0.4, 0.6)), BOX),
        (Cylinder(0.1, 0.4), CYLINDER),
        (Ellipsoid((0.1, 0.2, 0.3)), ELLIPSOID),
        (HalfSpace(), HALF_SPACE),
        (Triangles(np.eye(3), np.zeros((0, 3), np.int64)), HULL),
    ):
        assert solid_piece(shape, HERE).kind == kind
    np.testing.assert_allclose(solid_piece(Box((0.2, 0.4, 0.6)), HERE).sizes, [0.1, 0.2, 0.3])
    np.testing.assert_allclose(solid_piece(Cylinder(0.1, 0.4), HERE).sizes, [0.1, 0.2, 0.0])
    with pytest.raises(InputError, match="a sphere's radius"):
        solid_piece(Sphere(-0.1), HERE)
    with pytest.raises(InputError, match="a box's edge"):
        solid_piece(Box((1.0, float("nan"), 1.0)), HERE)
    with pytest.raises(UnsupportedFeatureError, match="MeshFile"):
        solid_piece(MeshFile(("a.stl",)), HERE)


def test_the_table_holds_what_kernels_read() -> None:
    rng = seeds.rng("table")
    pieces = [
        solid_piece(Sphere(0.1), random_pose(rng)),
        hull_piece(rng.normal(size=(30, 3)), random_pose(rng)),
        solid_piece(Capsule(0.1, 0.4), random_pose(rng)),
        hull_piece(rng.normal(size=(5, 3)), random_pose(rng)),
        solid_piece(HalfSpace(), random_pose(rng)),
    ]
    rows, flat = table(pieces, [0, 0, 1, 1, -1])
    assert rows.shape == (5, 24)
    np.testing.assert_array_equal(rows[:, 7], [0, 0, 1, 1, -1])
    for row, piece in zip(rows, pieces, strict=True):
        np.testing.assert_array_equal(row[8:20].reshape(3, 4), piece.T_body_piece[:3])
        if piece.vertices is not None:
            first, n = int(row[5]), int(row[6])
            assert n % 8 == 0
            read = flat[first : first + 3 * n].reshape(3, n).T
            assert {tuple(v) for v in read} == {tuple(v) for v in piece.vertices}
            placed = piece.vertices @ piece.T_body_piece[:3, :3].T + piece.T_body_piece[:3, 3]
            assert (np.linalg.norm(placed - row[20:23], axis=1) <= row[23]).all()
    assert np.isinf(rows[4, 23])
    assert (table(pieces)[0][:, 7] == -1).all()


def test_enclosing_spheres_hold_balls_and_are_small() -> None:
    rng = seeds.rng("enclosing")
    balls = rng.normal(size=(40, 7, 4))
    balls[:, :, 3] = rng.uniform(0, 0.5, (40, 7))
    around = enclosing_spheres(balls)
    reach = np.linalg.norm(balls[:, :, :3] - around[:, None, :3], axis=2) + balls[:, :, 3]
    assert (reach <= around[:, 3:]).all()
    points = rng.normal(size=(1, 100, 4))
    points[:, :, 3] = 0
    best = volumes.bounding_sphere(points[0, :, :3])[1]
    assert best * (1 - 1e-9) <= enclosing_spheres(points)[0, 3] <= best * 1.02


def test_a_simplified_hull_holds_all_of_it_and_another_lies_in_it() -> None:
    g = seeds.rng("simplified")
    points = g.normal(size=(400, 3))
    points *= [0.3, 0.1, 0.2] / np.linalg.norm(points, axis=1)[:, None]
    points += 0.5
    vertices, all_faces = hull_of(points)
    inner, faces, outer = simplified(vertices, 60)
    assert len(inner) == len(outer) <= 60
    planes = hull_planes(outer, faces)
    assert (vertices @ planes[:, :3].T <= planes[:, 3] + 1e-12).all()
    planes = hull_planes(vertices, all_faces)
    assert (inner @ planes[:, :3].T <= planes[:, 3] + 1e-12).all()
    assert 0 < np.linalg.norm(outer - inner, axis=1).max() < 0.08
    few = points[:50]
    assert len(simplified(few, 60)[0]) <= len(hull_of(few)[0])
    flat = np.column_stack([g.normal(size=(300, 2)), np.zeros(300)])
    assert not len(simplified(flat, 60)[1])
    with pytest.raises(InputError, match="at least 4"):
        simplified(vertices, 3)


# --- meshes ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("turned", [False, True], ids=["outward", "inverted"])
def test_a_convex_mesh_is_its_hull(turned: bool) -> None:
    mesh = volumes.capsule(0.1, 0.3)
    found = convex_pieces(mesh.vertices, mesh.faces[:, ::-1] if turned else mesh.faces)
    assert found.made_by == "convex"
    assert len(found.pieces) == 1
    assert found.outside < 1e-6 and found.missing == 0


@pytest.mark.parametrize("dent", [0.0, 0.01])
def test_a_finely_meshed_ball_says_how_deep_its_dent_is(dent: float) -> None:
    """A cone of 0.2 rad is taken out of its top, over which the hull is flat."""
    ball = trimesh.creation.icosphere(subdivisions=4, radius=0.3)
    vertices = np.array(ball.vertices)
    angle = np.arccos(np.clip(vertices[:, 2] / 0.3, -1.0, 1.0))
    radius = 0.3 - dent * np.clip(1.0 - angle / 0.2, 0.0, 1.0)
    found = convex_pieces(vertices * (radius / 0.3)[:, None], ball.faces)
    assert len(found.pieces) == 1
    deep = max(0.3 * np.cos(0.2) - (0.3 - dent), 0.0)
    assert deep - 1e-12 <= found.outside <= deep + 1e-3


def cup(depth: float = 0.2) -> tuple[np.ndarray, np.ndarray]:
    """A square cup: outer walls at 0.1, inner ones at 0.09, open above, its bottom 0.01 thick."""
    ring = np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]])
    levels = [(0.1, 0.0), (0.1, depth), (0.09, depth), (0.09, 0.01)]
    vertices = np.concatenate([np.column_stack([ring * a, np.full(4, z)]) for a, z in levels])
    faces = [[0, 2, 1], [0, 3, 2], [12, 13, 14], [12, 14, 15]]
    for k in range(3):
        for i in range(4):
            a, b = 4 * k + i, 4 * k + (i + 1) % 4
            faces += [[a, b, b + 4], [a, b + 4, a + 4]]
    return vertices, np.array(faces)


def test_a_cup_says_how_far_its_hull_overhangs() -> None:
    found = convex_pieces(*cup())
    assert found.made_by == "hull"
    # a point on the axis, 0.09 above the bottom or more, is 0.09 away from every wall
    assert 0.09 <= found.outside <= 0.11
    vertices, faces = cup()
    turned = convex_pieces(vertices, faces[:, ::-1])
    assert turned.outside == pytest.approx(found.outside, rel=1e-6)


def test_parts_that_do_not_touch_are_pieces_and_held_ones_are_dropped() -> None:
    far, small = volumes.box((0.1, 0.1, 0.1)), volumes.box((0.02, 0.02, 0.02))
    vertices = np.concatenate([far.vertices, np.add(far.vertices, (0.5, 0, 0)), small.vertices])
    faces = np.concatenate([far.faces, far.faces + 8, small.faces + 16])
    found = convex_pieces(vertices, faces)
    assert (found.made_by, len(found.pieces)) == ("components", 2)
    assert found.outside < 0.02  # the resolution of what is measured
    assert convex_pieces(vertices, faces, decompose="hull").outside >= 0.2


def test_hostile_meshes() -> None:
    box = volumes.box((1.0, 1.0, 1.0))
    with pytest.raises(InputError, match="without vertices"):
        convex_pieces(np.zeros((0, 3)))
    with pytest.raises(InputError, match=r"finite|nan"):
        convex_pieces([[0.0, 0, float("nan")]])
    with pytest.raises(InputError, match="vertex 99"):
        convex_pieces(box.vertices, [[0, 1, 99]])
    with pytest.raises(InputError, match="faces of shape"):
        convex_pieces(box.vertices, [[0, 1]])
    with pytest.raises(InputError, match="'components', 'coacd', 'hull'"):
        convex_pieces(box.vertices, box.faces, decompose="other")  # type: ignore[arg-type]
    large = convex_pieces(box.vertices * 1e6, box.faces)
    assert large.made_by == "convex" and large.outside < 1e-3
    flat = convex_pieces([[0.0, 0, 0], [1, 0, 0], [0, 1, 0]], [[0, 1, 2]])
    assert len(flat.pieces) == 1
    point = convex_pieces([[1.0, 1, 1]] * 3, [[0, 1, 2]])
    assert len(point.pieces) == 1


@pytest.mark.slow
def test_decomposition_needs_its_package_or_holds_the_surface() -> None:
    vertices, faces = cup()
    try:
        found = convex_pieces(vertices, faces, decompose="coacd", tolerance=0.02)
    except MissingExtraError as error:
        assert "linkwork[collision]" in str(error)
        return
    except LinkworkError:
        raise
    assert len(found.pieces) > 1
    assert found.outside < 0.05
    for face in faces:
        weights = seeds.rng("cup").dirichlet(np.ones(3), 50)
        inside = np.zeros(50, bool)
        for piece in found.pieces:
            assert piece.vertices is not None and piece.faces is not None
            planes = hull_planes(piece.vertices, piece.faces)
            room = planes[:, 3] - weights @ vertices[face] @ planes[:, :3].T
            inside |= room.min(axis=1) >= -1e-9
        assert inside.all()


def test_planes_and_boxes_around_hulls() -> None:
    rng = seeds.rng("outer planes")
    for scale in ((1, 1, 1), (1, 0.2, 0.01), (3, 1e-3, 1)):
        piece = hull_piece(rng.normal(size=(60, 3)) * scale + rng.normal(size=3), HERE)
        for faces in (piece.faces, None):
            found = outer_planes(piece.vertices, faces)
            assert found.shape == (OUTER,)
            *normal, reach = found[: 4 * N_PLANES].reshape(4, N_PLANES)
            np.testing.assert_allclose(np.linalg.norm(normal, axis=0), 1.0, rtol=1e-14)
            heights = piece.vertices @ np.array(normal)
            np.testing.assert_allclose(heights.max(axis=0), reach, rtol=1e-14, atol=1e-15)
            middle, half = found[4 * N_PLANES :][:3], found[4 * N_PLANES :][3:6]
            off = np.abs(piece.vertices - middle) - half
            assert off.max() < 1e-14 and (off.max(axis=0) > -1e-14).all()


@pytest.mark.parametrize("decompose", ["components", "coacd"])
def test_parts_that_are_convex_are_their_own_pieces(decompose):
    boxes = [trimesh.creation.box((1, 1, 1)) for _ in range(2)]
    boxes[1].apply_translation((2, 0.5, 0))
    two = trimesh.util.concatenate(boxes)
    found = convex_pieces(two.vertices, two.faces, decompose=decompose)
    assert (len(found.pieces), found.made_by) == (2, "components")
    assert found.outside < 1e-9
