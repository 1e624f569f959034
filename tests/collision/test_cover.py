"""Covers: bodies lie in their spheres, inner spheres in bodies, and overhangs are as stated."""

from __future__ import annotations

import os
from dataclasses import replace
from functools import cache

import coal
import numpy as np
import pytest

import linkwork as lw
import robots
import seeds
from linkwork.collision import pieces as kinds
from linkwork.collision.cover import Cover, cover, moved
from linkwork.collision.mesh_pieces import convex_pieces
from linkwork.collision.pieces import Piece, hull_piece, solid_piece
from linkwork.errors import InputError
from linkwork.formats.urdf.records import Box, Capsule, Cylinder, Sphere
from linkwork.mechanism.shapes import Ellipsoid, HalfSpace, MeshFile
from seeds import random_pose

HERE = np.eye(4)


def points_of(piece: Piece, rng: np.random.Generator, n: int) -> np.ndarray:
    """Points in a piece, half of them on its surface, in the body's frame."""
    way = rng.normal(size=(n, 3))
    way /= np.linalg.norm(way, axis=1)[:, None]
    part = np.where(rng.random(n) < 0.5, 1.0, rng.random(n) ** (1 / 3))[:, None]
    a, b, _ = piece.sizes
    if piece.kind == kinds.BOX:
        own = way / np.abs(way).max(axis=1)[:, None] * part * piece.sizes
    elif piece.kind == kinds.ELLIPSOID:
        own = way * part * piece.sizes
    elif piece.kind == kinds.CYLINDER:
        flat = np.hypot(way[:, 0], way[:, 1])
        own = way / np.maximum(flat, np.abs(way[:, 2]))[:, None] * part * [a, a, b]
    elif piece.vertices is not None and piece.faces is not None and len(piece.faces):
        corners = piece.vertices[piece.faces[rng.integers(len(piece.faces), size=n)]]
        own = np.einsum("nk,nkj->nj", rng.dirichlet(np.ones(3), n), corners)
        middle = piece.vertices.mean(axis=0)
        own = middle + part * (own - middle)
    elif piece.vertices is not None:
        own = piece.vertices[0] + rng.random((n, 1)) * (piece.vertices[-1] - piece.vertices[0])
    else:
        own = way * part * piece.radius + np.outer(rng.uniform(-b, b, n), [0, 0, 1.0])
    return own @ piece.T_body_piece[:3, :3].T + piece.T_body_piece[:3, 3]


def parts_of(made: Cover, body: int) -> range:
    first, count = made.body_parts[body]
    return range(first, first + count)


def check_levels(made: Cover) -> None:
    for body in range(len(made.body_parts)):
        bx = made.body_spheres[body]
        for part in parts_of(made, body):
            px = made.part_spheres[part]
            first, count = made.part_ranges[part]
            own = made.spheres[first : first + count]
            if not np.isfinite(own[:, 3]).all():
                assert np.isinf(px[3]) and np.isinf(bx[3])
                continue
            assert (np.linalg.norm(own[:, :3] - px[:3], axis=1) + own[:, 3] <= px[3]).all()
            assert (np.linalg.norm(own[:, :3] - bx[:3], axis=1) + own[:, 3] <= bx[3]).all()


def check_held(made: Cover, bodies: list[list[Piece]], rng: np.random.Generator, n: int) -> None:
    """Each sampled point lies in a sphere of a part that its piece is listed with."""
    number = 0
    for body, pieces in enumerate(bodies):
        for piece in pieces:
            if piece.kind == kinds.HALF_SPACE:
                number += 1
                continue
            points = points_of(piece, rng, n)
            deepest = np.full(n, -np.inf)
            for part in parts_of(made, body):
                start, count = made.part_piece_ranges[part]
                if number not in made.part_pieces[start : start + count]:
                    continue
                first, count = made.part_ranges[part]
                for ball in made.spheres[first : first + count]:
                    room = ball[3] - np.linalg.norm(points - ball[:3], axis=1)
                    deepest = np.maximum(deepest, room)
            assert deepest.min() >= -1e-12, f"body {body}, piece {number}: {deepest.min()}"
            number += 1


def signed_distance(piece: Piece, ball: np.ndarray) -> float:
    """By coal: how far the ball's centre is from the piece; below 0 inside."""
    a, b, _ = piece.sizes
    if piece.kind == kinds.BOX:
        shape = coal.Box(*(2 * piece.sizes))
    elif piece.kind == kinds.CYLINDER:
        shape = coal.Cylinder(a, 2 * b)
    elif piece.kind == kinds.ELLIPSOID:
        shape = coal.Ellipsoid(*piece.sizes)
    elif piece.kind in (kinds.POINT, kinds.SEGMENT):
        shape = coal.Capsule(piece.radius, 2 * b)
    else:
        points = coal.StdVec_Vec3s()
        points.extend(list(piece.vertices))
        triangles = coal.StdVec_Triangle()
        triangles.extend([coal.Triangle(*map(int, face)) for face in piece.faces])
        shape = coal.Convex(points, triangles)
    T = piece.T_body_piece
    at = coal.Transform3s(T[:3, :3], T[:3, 3])
    there = coal.Transform3s(np.eye(3), ball[:3])
    found = coal.DistanceResult()
    request = coal.DistanceRequest()
    return float(coal.distance(shape, at, coal.Sphere(1e-9), there, request, found)) + 1e-9


def check_overhang(made: Cover, bodies: list[list[Piece]]) -> None:
    """What spheres reach out of bodies is at most what is stated, and inner ones do not."""
    for body, pieces in enumerate(bodies):
        solid = [piece for piece in pieces if piece.kind != kinds.HALF_SPACE]
        worst = 0.0
        for part in parts_of(made, body):
            first, count = made.part_ranges[part]
            for ball in made.spheres[first : first + count]:
                if np.isfinite(ball[3]):
                    worst = max(worst, ball[3] + min(signed_distance(p, ball) for p in solid))
        assert worst <= made.overhang[body] + 2e-6
        first, count = made.body_inner[body]
        for ball in made.inner[first : first + count]:
            assert min(signed_distance(p, ball) for p in solid) <= -ball[3] + 2e-6


def some_bodies(rng: np.random.Generator) -> list[list[Piece]]:
    return [
        [hull_piece(rng.normal(size=(40, 3)) * 0.05, random_pose(rng))],
        [solid_piece(Box((0.3, 0.1, 0.02)), random_pose(rng))],
        [solid_piece(Cylinder(0.06, 0.2), random_pose(rng))],
        [solid_piece(Ellipsoid((0.05, 0.1, 0.08)), random_pose(rng))],
        [solid_piece(Capsule(0.05, 0.4), random_pose(rng))],
        [solid_piece(Sphere(0.07), random_pose(rng))],
        [solid_piece(Sphere(0.07), HERE), solid_piece(Box((0.2, 0.05, 0.05)), HERE)],
    ]


def test_solids_lie_in_their_cover_and_inner_spheres_in_them() -> None:
    rng = seeds.rng("cover of solids")
    bodies = some_bodies(rng)
    made = cover(bodies, overhang=0.02)
    assert (made.overhang <= 0.02).all()
    assert made.overhang[5] == 0  # a sphere is its own
    check_levels(made)
    check_held(made, bodies, rng, 3000)
    check_overhang(made, bodies)
    assert (made.part_ranges[:, 1] <= 6).all()
    assert (made.body_inner[:, 1] > 0).all()


@pytest.mark.sweep(2)
@pytest.mark.parametrize("far", [1.0, 1e3])
@pytest.mark.parametrize("stretch", [1.0, 1.0 + 1e-7, 1.0 - 1e-7])
def test_a_cover_that_is_moved_covers_what_is_moved(far: float, stretch: float) -> None:
    rng = seeds.rng(f"moved cover {far} {stretch}")
    for body in some_bodies(rng):
        T = random_pose(rng)
        T[:3, 3] *= far
        T[:3, 0] *= stretch
        there = [replace(piece, T_body_piece=T @ piece.T_body_piece) for piece in body]
        made = moved(cover([body], overhang=0.02), T)
        check_levels(made)
        check_held(made, [there], rng, 2000)
        check_overhang(made, [there])


def test_a_cover_is_the_same_each_time() -> None:
    bodies = some_bodies(seeds.rng("again"))[:3]
    first, second = cover(bodies), cover(bodies)
    np.testing.assert_array_equal(first.spheres, second.spheres)
    np.testing.assert_array_equal(first.part_pieces, second.part_pieces)
    np.testing.assert_array_equal(first.inner, second.inner)


@pytest.mark.slow
def test_odd_pieces_are_covered() -> None:
    rng = seeds.rng("odd pieces")
    plate = np.column_stack([rng.uniform(-0.08, 0.08, (30, 2)), np.zeros(30)])
    bodies = [
        [hull_piece(plate, random_pose(rng))],
        [hull_piece([[0.0, 0, 0], [0.3, 0.1, 0]], random_pose(rng))],
        [hull_piece([[0.1, 0.2, 0.3]], random_pose(rng))],
        [solid_piece(Sphere(0.0), random_pose(rng))],
        [solid_piece(Box((0.1, 0.1, 0.0)), random_pose(rng))],
        [solid_piece(Box((1e6, 1e6, 1e6)), HERE)],
        [solid_piece(HalfSpace(), HERE), solid_piece(Box((0.1, 0.1, 0.1)), HERE)],
    ]
    made = cover(bodies, overhang=0.02)
    check_levels(made)
    check_held(made, bodies, rng, 1000)
    assert made.overhang[5] > 100  # too large for so fine a cover, and said so
    assert np.isinf(made.overhang[6])
    assert (made.overhang[:5] <= 0.02 + 1e-12).all()


def thin_bodies(rng: np.random.Generator) -> list[list[Piece]]:
    """Plates, discs, rods and blades, alone and several of them."""
    corners = rng.uniform(-1, 1, (9, 3)) * [0.3, 0.15, 0.002]
    blade = np.concatenate([rng.uniform(-1, 1, (12, 3)) * [0.3, 0.1, 0.0], [[0.0, 0.0, 0.008]]])
    return [
        [solid_piece(Box((0.4, 0.4, 0.0001)), random_pose(rng))],
        [solid_piece(Box((0.4, 0.4, 0.03)), random_pose(rng))],
        [solid_piece(Box((1.0, 0.1, 0.02)), random_pose(rng))],
        [solid_piece(Box((0.9, 0.0, 0.0)), random_pose(rng))],
        [solid_piece(Cylinder(0.2, 0.001), random_pose(rng))],
        [solid_piece(Cylinder(0.001, 2.0), random_pose(rng))],
        [solid_piece(Ellipsoid((0.2, 0.1, 0.001)), random_pose(rng))],
        [hull_piece(corners, random_pose(rng))],
        [hull_piece(blade, random_pose(rng))],
        [hull_piece(rng.uniform(-1, 1, (20, 3)) * [0.2, 0.2, 0.0], random_pose(rng))],
        [
            solid_piece(Box((0.5, 0.3, 0.002)), random_pose(rng)),
            solid_piece(Cylinder(0.05, 0.2), HERE),
        ],
    ]


@pytest.mark.slow
def test_thin_pieces_are_cut_into_few() -> None:
    rng = seeds.rng("thin pieces")
    bodies = thin_bodies(rng)
    made = cover(bodies, overhang=0.02)
    assert (made.overhang <= 0.02).all()
    check_levels(made)
    check_held(made, bodies, rng, 3000)
    check_overhang(made, [body for body in bodies if body[0].faces is None or len(body[0].faces)])
    counts = [sum(made.part_ranges[part, 1] for part in parts_of(made, b)) for b in range(4)]
    assert np.all(np.array(counts) <= (215, 100, 70, 24)), counts


@pytest.mark.parametrize(
    "size",
    [
        (3.0, 3.0, 0.01),
        pytest.param((4e3, 4e3, 1.0), marks=pytest.mark.slow),
        (1e6, 2e5, 3e5),
        (1e9, 1.0, 1.0),
    ],
)
def test_large_pieces_are_covered_as_finely_as_is_worth_it(size: tuple[float, ...]) -> None:
    rng = seeds.rng(f"large {size}")
    bodies = [[solid_piece(Box(size), random_pose(rng))]]
    made = cover(bodies, overhang=0.02)
    check_levels(made)
    check_held(made, bodies, rng, 1000)
    assert 20 < len(made.spheres) < 1100
    assert 0.02 < made.overhang[0] < max(size) / 15


def test_what_cannot_be_covered_is_refused() -> None:
    with pytest.raises(InputError, match="body 0 has no pieces"):
        cover([[]])
    with pytest.raises(InputError, match="overhang"):
        cover([[solid_piece(Sphere(0.1), HERE)]], overhang=0.0)
    none = cover([])
    assert none.spheres.shape == (0, 4) and none.body_spheres.shape == (0, 4)


# --- robots ---------------------------------------------------------------------------------------


@cache
def robot_bodies(path: str) -> list[list[Piece]]:
    from linkwork.appearance import pieces as meshes_of  # noqa: PLC0415

    robot = lw.load(path)
    shapes = robot.shapes
    bodies: list[list[Piece]] = []
    assert shapes is not None
    for link in shapes.of_link:
        own: list[Piece] = []
        for each in shapes.of_link[link]:
            if each.kind != "collision":
                continue
            if not isinstance(each.shape, MeshFile):
                own.append(solid_piece(each.shape, each.T_link_shape))
                continue
            try:
                parts = meshes_of(each.shape, shapes.file)[0]
            except InputError:  # a file that the package lacks
                continue
            for part in parts:
                mesh = part.mesh
                own += convex_pieces(
                    mesh.vertices, mesh.faces, T_body_mesh=each.T_link_shape
                ).pieces
        if own:
            bodies.append(own)
    return bodies


def check_robot(path: str) -> None:
    rng = seeds.rng(f"cover of {path.rsplit('/', 1)[-1]}")
    bodies = robot_bodies(path)
    made = cover(bodies)
    check_levels(made)
    check_held(made, bodies, rng, 2000)
    if path.endswith("panda.urdf"):
        check_overhang(made, bodies)
        assert len(made.spheres) < 150


QUICK = ("panda.urdf", "ur5_robot.urdf")


@pytest.mark.parametrize("name", ["panda", pytest.param("ur5_robot", marks=pytest.mark.slow)])
def test_robots_lie_in_their_covers(name: str) -> None:
    check_robot(str(robots.example_robot_urdf(name)))


@pytest.mark.slow
@pytest.mark.parametrize(
    "number", range(20) if os.environ.get("LINKWORK_TRUTH_ROBOTS") else range(1)
)
def test_more_robots_lie_in_their_covers(number: int) -> None:
    paths = [p for p in robots.example_robot_urdfs() if p.name not in QUICK]
    one_each = list({path.parents[1]: path for path in paths}.values())
    if number >= len(one_each):
        pytest.skip("there are no more robots")
    check_robot(str(one_each[number]))
