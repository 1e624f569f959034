"""Distances of a robot: brute force, central differences, ties and emptiness, then coal."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from dressed_robots import (
    BOX,
    CYLINDER,
    ELLIPSOID,
    HULL,
    POINT,
    SEGMENT,
    Solids,
    World,
    distances_of,
    dressed,
    made_up_world,
    nearest_of,
    rounded_boxes,
)
from linkwork.algorithms.registry import evaluate
from linkwork.collision.distances import (
    BOUND,
    INFINITELY_FAR,
    WIDTH,
    Things,
    bounds_of,
    boxes_apart,
    in_lanes,
    nearest,
    place_balls,
    tables,
    things_of,
)
from linkwork.collision.narrow import closest
from linkwork.mechanism.model import Mechanism
from linkwork.models import MODELS, path
from robots import chain_urdf, every_joint_urdf, mechanism_from, random_configuration
from seeds import rng

UNIT = np.eye(4)
WORLD_POSE = UNIT[:3].ravel()


def rows_of(m: Mechanism, n: int, label: str) -> Any:
    """So many configurations."""
    random = rng(label)
    return np.array([random_configuration(random, m) for _ in range(n)]).reshape(n, m.n_q)


def every_pair(world: World) -> Any:
    """The list of all that is checked: pairs of bodies, then bodies and rows one by one."""
    n_rows = len(world.tables.rows)
    own = [(a, b, 0, 0) for a, b in world.bodies.pairs]
    others = [(a, -1, row, 1) for a in world.bodies.movers for row in range(n_rows)]
    return np.array(own + others, np.int64).reshape(-1, 4)


def numbered(world: World, wanted: Any) -> list[tuple[int, int]]:
    """The numbers of the things of a list."""
    n_bodies = len(world.bodies.of_body)
    return [(int(a), int(b) if b >= 0 else n_bodies + int(row)) for a, b, row, _ in wanted]


@pytest.fixture(scope="module")
def robot() -> World:
    return made_up_world(mechanism_from(every_joint_urdf()), "every joint")


@pytest.fixture(scope="module")
def small() -> World:
    return made_up_world(mechanism_from(chain_urdf(3)), "chain", n_rows=9)


# --- bounds ---------------------------------------------------------------------------------------


def test_ball_and_box_are_as_far_apart_as_their_closed_form() -> None:
    random = rng("boxes")
    boxes = Solids([])
    for _ in range(2 * WIDTH):
        boxes.random(random, BOX, 0.7)
    lanes_ = in_lanes(rounded_boxes(boxes.table, np.zeros(1)), WIDTH, INFINITELY_FAR)
    for _ in range(40):
        ball = np.array([*random.normal(size=3) * 0.5, random.uniform(0, 0.3)])
        found = [boxes_apart(ball, lanes_[k * BOUND :]) for k in (0, WIDTH)]
        for row, d in zip(boxes.table, np.concatenate(found), strict=True):
            T = row[8:20].reshape(3, 4)
            local = np.abs(T[:, :3].T @ (ball[:3] - T[:, 3])) - row[2:5]
            outside = np.linalg.norm(np.maximum(local, 0))
            expected = (outside if local.max() > 0 else local.max()) - ball[3]
            assert d == pytest.approx(expected, abs=1e-14)


@pytest.mark.slow
def test_bounds_are_below_distances(robot: World) -> None:
    q = rows_of(robot.mechanism, 12, "bounds")
    wanted = every_pair(robot)
    place = {things: k for k, things in enumerate(numbered(robot, wanted))}
    records, _ = distances_of(robot, q, wanted)
    t, seen, in_overlap, close = robot.tables, 0, 0, 0
    for poses, exact in zip(robot.frames.poses(q), records[:, :, 0], strict=True):
        placed, bounds = np.zeros(4 * len(poses) + 4), np.full(t.n_bounds, np.nan)
        arrays = (t.index, t.pieces.ravel(), t.balls.ravel(), t.rows.ravel(), t.boxes, t.vertices)
        things = Things(*arrays, poses.ravel(), placed)
        place_balls(things)
        n = bounds_of(things, bounds)
        assert n == t.n_bounds
        for k in range(n):
            if bounds[k] < 1e300 and np.isfinite(bounds[k]):
                d = exact[place[things_of(t.index, k)]]
                assert bounds[k] <= d + 1e-9
                seen += 1
                in_overlap += d < 0
                close += d - bounds[k] < 0.05
    assert seen == len(q) * len(wanted)
    assert in_overlap > 50
    assert close > seen / 10, "bounds that are always far below prune nothing"


def test_padding_lies_nowhere() -> None:
    found = boxes_apart(
        np.array([0.1, 0.2, 0.3, 0.4]), in_lanes(np.zeros((1, BOUND)), WIDTH, INFINITELY_FAR)
    )
    assert np.isfinite(found[0])
    assert (found[1:] == np.inf).all()


# --- the nearest, against all ---------------------------------------------------------------------


def by_brute_force(world: World, q: Any, wanted: Any) -> Any:
    """Distances (rows, n) of all pairs by the text that Python runs, two pieces at a time."""
    n_bodies, t, found = len(world.bodies.of_body), world.tables, []
    pieces, rows = t.pieces.ravel(), t.rows.ravel()
    for poses in world.frames.poses(q).reshape(len(q), n_bodies, 12):
        for a, b, first, count in wanted:
            n, m = world.bodies.of_body[a], world.bodies.of_body[max(b, 0)]
            others = pieces[24 * m[0] :] if b >= 0 else rows[24 * first :]
            pose = poses[b] if b >= 0 else WORLD_POSE
            apart = [
                closest(
                    *(pieces[24 * (n[0] + i) :], poses[a], others[24 * j :], pose),
                    *(t.vertices, np.inf, np.full(9, np.nan)),
                )
                for i in range(n[1])
                for j in range(m[1] if b >= 0 else count)
            ]
            found.append(min(apart))
    return np.array(found).reshape(len(q), -1)


@pytest.mark.slow
def test_distances_are_those_of_brute_force_in_python(small: World) -> None:
    q, wanted = rows_of(small.mechanism, 1, "brute"), every_pair(small)
    records, _ = distances_of(small, q, wanted)
    np.testing.assert_allclose(records[:, :, 0], by_brute_force(small, q, wanted), atol=1e-9)


@pytest.mark.slow
def test_a_distance_is_the_same_alone_and_among_others(robot: World) -> None:
    """To the bit: eight descents side by side know nothing of each other."""
    q, wanted = rows_of(robot.mechanism, 4, "among others"), every_pair(robot)
    order = rng("order").permutation(len(wanted))
    together, slopes = distances_of(robot, q, wanted)
    shuffled, _ = distances_of(robot, q, wanted[order])
    np.testing.assert_array_equal(shuffled, together[:, order])
    for k in order[:40]:
        one, slope = distances_of(robot, q, wanted[k : k + 1])
        np.testing.assert_array_equal(one[:, 0], together[:, k])
        np.testing.assert_array_equal(slope[:, 0], slopes[:, k])


@pytest.mark.parametrize(("size", "deep"), [(0.05, False), (0.3, True)])
def test_bodies_of_many_pieces_are_as_far_apart_as_their_nearest_two(
    size: float, deep: bool
) -> None:
    """Apart and in overlap, against bodies of one piece each on the same frames."""
    m, random = mechanism_from(chain_urdf(3)), rng(f"pieces {size}")
    names, kinds = list(m.frame_names[: m.n_link_frames]), (BOX, HULL, SEGMENT, CYLINDER)
    body_of = np.repeat(np.arange(len(names)), random.integers(1, 6, len(names)))
    whole, single = Solids([]), Solids([])
    for k, body in enumerate(body_of.tolist()):
        whole.random(random, kinds[k % len(kinds)], size, body=body)
        single.rows.append(whole.rows[-1].copy())
        single.rows[-1][7] = k
    single.vertices = whole.vertices
    world = dressed(m, names, whole, Solids(whole.vertices))
    parts = dressed(m, [names[body] for body in body_of], single, Solids(whole.vertices))
    q, pairs = rows_of(m, 300, f"pieces {size}"), world.bodies.pairs
    found = distances_of(world, q, every_pair(world))[0][:, :, 0]
    a, b = body_of[parts.bodies.pairs].T
    each = distances_of(parts, q, every_pair(parts))[0][:, :, 0]
    least = [each[:, (a == one) & (b == other)].min(axis=1) for one, other in pairs.tolist()]
    np.testing.assert_allclose(found, np.transpose(least), atol=1e-10)
    assert (found < 0 if deep else found > 0).mean() > 0.1
    np.testing.assert_allclose(nearest_of(world, q, 1)[0][:, 0, 0], found.min(axis=1), atol=1e-10)


def check_nearest(world: World, q: Any, n: int, within: float = np.inf) -> None:
    """The nearest are the least of all, with their things, points and normals."""
    wanted = every_pair(world)
    things = {pair: k for k, pair in enumerate(numbered(world, wanted))}
    full, slopes = distances_of(world, q, wanted)
    records, which, gradients = nearest_of(world, q, n, within)
    for row in range(len(q)):
        least = np.sort(full[row, :, 0])[:n]
        least = least[least <= within]
        count = len(least)
        np.testing.assert_allclose(records[row, :count, 0], least, atol=1e-10)
        assert (records[row, count:, 0] == np.inf).all()
        assert (which[row, count:] == -1).all()
        assert (gradients[row, count:] == 0).all()
        seen = [tuple(pair) for pair in which[row, :count].tolist()]
        assert len(set(seen)) == count
        for k, pair in enumerate(seen):
            one = full[row, things[pair]]
            assert one[0] == pytest.approx(records[row, k, 0], abs=1e-10)
            np.testing.assert_allclose(gradients[row, k], slopes[row, things[pair]], atol=1e-5)


@pytest.mark.parametrize(
    ("n", "within"),
    [(1, np.inf), (8, np.inf), pytest.param(500, np.inf, marks=pytest.mark.slow), (6, 0.05)],
)
def test_nearest_are_the_least_of_all(robot: World, n: int, within: float) -> None:
    check_nearest(robot, rows_of(robot.mechanism, 60, f"nearest {n}"), n, within)


@pytest.mark.slow
@pytest.mark.parametrize("name", MODELS)
def test_nearest_of_bundled_models(name: str) -> None:
    world = made_up_world(mechanism_from(path(name)), name)
    for n in (1, 8):
        check_nearest(world, rows_of(world.mechanism, 100, name), n)


def test_records_fit_together(robot: World) -> None:
    q = rows_of(robot.mechanism, 60, "records")
    records, _ = distances_of(robot, q, every_pair(robot))
    d, p_a, p_b, normal = records[..., 0], records[..., 1:4], records[..., 4:7], records[..., 7:]
    assert np.isfinite(records).all()
    np.testing.assert_allclose(np.linalg.norm(normal, axis=-1), 1, atol=1e-9)
    np.testing.assert_allclose(p_b - p_a, d[..., None] * normal, atol=1e-5)


def test_python_text_finds_the_same(small: World) -> None:
    q, t = rows_of(small.mechanism, 3, "python"), small.tables
    expected, things, _ = nearest_of(small, q, 5)
    arrays = [t.index, *(x.ravel() for x in (t.pieces, t.balls, t.rows)), t.boxes, t.vertices]
    for row, poses in enumerate(small.frames.poses(q)):
        records, which = np.full(50, np.nan), np.zeros(10, np.int64)
        order, room = np.zeros(5, np.int64), np.full(t.room, np.nan)
        placed = np.concatenate([poses.ravel(), WORLD_POSE])
        count = nearest(Things(*arrays, placed, room), 5, np.inf, order, records, which)
        assert count == 5
        found = records.reshape(5, 10)
        np.testing.assert_allclose(found[:, 0], expected[row, :, 0], atol=1e-9)
        np.testing.assert_allclose(found, expected[row], atol=1e-4)  # of curved solids in overlap
        assert which.reshape(5, 2).tolist() == things[row].tolist()


def test_what_is_too_far_is_inf_without_a_gradient(robot: World) -> None:
    q, wanted = rows_of(robot.mechanism, 40, "within"), every_pair(robot)
    full, all_slopes = distances_of(robot, q, wanted)
    records, slopes = distances_of(robot, q, wanted, within=0.2)
    near = full[..., 0] <= 0.2
    assert 0.02 < near.mean() < 0.98
    np.testing.assert_allclose(records[near], full[near], atol=1e-6)
    np.testing.assert_allclose(slopes[near], all_slopes[near], atol=1e-5)
    assert (records[~near, 0] == np.inf).all()
    assert (records[~near, 1:] == 0).all()
    assert (slopes[~near] == 0).all()


def test_object_of_many_rows_is_as_near_as_its_nearest(robot: World) -> None:
    q, n = rows_of(robot.mechanism, 20, "objects"), len(robot.tables.rows)
    each = np.array([(3, -1, row, 1) for row in range(n)])
    records, slopes = distances_of(robot, q, each)
    whole, slope = distances_of(robot, q, np.array([(3, -1, 0, n)]))
    least = records[:, :, 0].argmin(axis=1)
    rows = np.arange(len(q))
    np.testing.assert_allclose(whole[:, 0, 0], records[rows, least, 0], atol=1e-10)
    np.testing.assert_allclose(slope[:, 0], slopes[rows, least], atol=1e-5)


def test_allowed_contacts_are_left_out() -> None:
    m, label = mechanism_from(chain_urdf(3)), "allowed"
    world = made_up_world(m, label)
    q = rows_of(m, 20, label)
    _, which, _ = nearest_of(world, q, 1000)
    n_bodies = len(world.bodies.of_body)
    allowed = [(a, row) for a in (0, 2) for row in range(0, 13, 2)]
    rows, vertices = world.tables.rows, world.tables.vertices
    boxes = rounded_boxes(rows, vertices)
    made = tables(world.bodies, rows, vertices, boxes, allowed=allowed)
    records, left, _ = nearest_of(world._replace(tables=made), q, 1000)
    gone = {(a, n_bodies + row) for a, row in allowed}
    for one, other in zip(which.tolist(), left.tolist(), strict=True):
        before = {tuple(pair) for pair in one} - {(-1, -1)}
        assert {tuple(pair) for pair in other} - {(-1, -1)} == before - gone
    assert not np.isnan(records).any()


# --- nothing, and everything in one place ---------------------------------------------------------


def test_nothing_to_check_is_far() -> None:
    m = mechanism_from(chain_urdf(1))
    worn, scene = Solids([]), Solids([])
    for body in range(2):
        worn.add(POINT, (0, 0, 0), UNIT, radius=0.1, body=body)
    world = dressed(m, m.frame_names[:2], worn, scene)
    alone = replace(world.bodies, pairs=np.zeros((0, 2), np.int64))
    world = world._replace(
        tables=tables(alone, scene.table, [0.0], rounded_boxes(scene.table, np.zeros(1)))
    )
    records, which, gradients = nearest_of(world, np.zeros((2, 1)), 3)
    assert (records[:, :, 0] == np.inf).all()
    assert (which == -1).all()
    assert (gradients == 0).all()


@pytest.mark.parametrize("kind", [POINT, SEGMENT, BOX, CYLINDER, ELLIPSOID, HULL])
def test_solids_in_one_place_have_numbers(kind: int) -> None:
    m = mechanism_from(chain_urdf(1).replace('xyz="0.1 0 0"', ""))
    corners = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1.0)]) * 0.1
    sizes = {POINT: (0, 0, 0), SEGMENT: (0, 0.1, 0), CYLINDER: (0.1, 0.1, 0), HULL: (0, 0, 0)}
    more = {"corners": corners} if kind == HULL else {}
    worn = Solids([])
    for body in range(2):
        radius = 0.1 if kind in (POINT, SEGMENT) else 0.0
        worn.add(kind, sizes.get(kind, (0.1, 0.1, 0.1)), UNIT, radius=radius, body=body, **more)
    scene = Solids(worn.vertices)
    scene.add(kind, sizes.get(kind, (0.1, 0.1, 0.1)), UNIT, radius=worn.rows[0][1], **more)
    world = dressed(m, m.frame_names[:2], worn, scene)
    records, which, gradients = nearest_of(world, np.zeros((1, 1)), 3)
    assert np.isfinite(records).all()
    assert np.isfinite(gradients).all()
    np.testing.assert_allclose(records[0, :, 0], -0.2, atol=1e-6)
    assert sorted(map(tuple, which[0].tolist())) == [(0, 1), (0, 2), (1, 2)]


# --- gradients ------------------------------------------------------------------------------------

STEP = 1e-6


def check_gradients(world: World, q: Any) -> float:
    """Gradients are central differences where those to both sides agree; how often they do."""
    m, wanted = world.mechanism, every_pair(world)
    records, slopes = distances_of(world, q, wanted)
    agreed = []
    for k in range(m.n_v):
        v = np.zeros(m.n_v)
        v[k] = STEP
        moved = [[evaluate("integrate", m, row, sign * v) for row in q] for sign in (1, -1)]
        after, before = (distances_of(world, np.array(rows), wanted)[0] for rows in moved)
        up = (after[..., 0] - records[..., 0]) / STEP
        down = (records[..., 0] - before[..., 0]) / STEP
        smooth = np.abs(up - down) < 1e-3
        agreed.append(smooth.mean())
        error = np.abs(slopes[..., k] - (up + down) / 2)[smooth]
        assert error.max() < 2e-4, f"number {k} of v"
    assert np.abs(slopes).max() > 0.1
    return float(np.mean(agreed))


def test_gradients_are_differences_for_every_type_of_joint(robot: World) -> None:
    q = rows_of(robot.mechanism, 6, "gradients")
    assert check_gradients(robot, q) > 0.95


@pytest.mark.slow
@pytest.mark.parametrize("name", ["panda", "quadruped", "humanoid", "mobile_arm", "two_arm_torso"])
def test_gradients_of_bundled_models(name: str) -> None:
    world = made_up_world(mechanism_from(path(name)), name)
    assert check_gradients(world, rows_of(world.mechanism, 10, name)) > 0.95


def test_gradients_of_a_floating_base() -> None:
    m = mechanism_from(chain_urdf(2), base="floating")
    world = made_up_world(m, "floating")
    assert check_gradients(world, rows_of(m, 6, "floating")) > 0.95


def test_joints_that_carry_both_things_do_not_count() -> None:
    m = mechanism_from(chain_urdf(3))
    world = made_up_world(m, "both", n_rows=0)
    _, slopes = distances_of(world, rows_of(m, 20, "both"), np.array([(2, 3, 0, 0)]))
    assert (slopes[:, 0, :2] == 0).all()
    assert (slopes[:, 0, 2] != 0).any()


# --- coal -----------------------------------------------------------------------------------------


def coal_shape(coal: Any, row: Any, vertices: Any) -> Any:
    """A piece as a shape of coal."""
    if row[0] == HULL:
        first, n = int(row[5]), int(row[6])
        given = coal.StdVec_Vec3s()
        for corner in vertices[first : first + 3 * n].reshape(3, n).T:
            given.append(corner)
        return coal.Convex.convexHull(given, False, "")
    return {
        POINT: lambda: coal.Sphere(row[1]),
        SEGMENT: lambda: coal.Capsule(row[1], 2 * row[3]),
        BOX: lambda: coal.Box(2 * row[2:5]),
    }[row[0]]()


def test_distances_of_solids_of_many_pieces_are_coals() -> None:
    coal: Any = pytest.importorskip("coal")
    m, random = mechanism_from(chain_urdf(3)), rng("coal")
    worn = Solids([])
    for k in range(12):
        worn.random(random, (BOX, HULL, POINT, SEGMENT)[k % 4], 0.15, body=k % 4)
    scene = Solids(worn.vertices)
    for kind in (BOX, HULL, POINT, SEGMENT):
        scene.random(random, kind, 0.3, at=random.normal(size=3) * 0.4)
    world = dressed(m, m.frame_names[:4], worn, scene)
    q = rows_of(m, 25, "coal rows")
    request = coal.DistanceRequest()
    request.enable_signed_distance = True
    request.gjk_tolerance = request.epa_tolerance = 1e-8
    pieces, rows, vertices = world.bodies.pieces, world.tables.rows, world.tables.vertices
    shapes = [[coal_shape(coal, row, vertices) for row in each] for each in (pieces, rows)]

    def theirs(poses: Any, a: int, b: int, row: int) -> float:
        sides = []
        for body in (a, b):
            table, made = (pieces, shapes[0]) if body >= 0 else (rows, shapes[1])
            of = np.flatnonzero(table[:, 7] == body) if body >= 0 else [row]
            T_body = poses[body] if body >= 0 else UNIT[:3]
            placed = []
            for k in of:
                T = T_body @ np.vstack([table[k, 8:20].reshape(3, 4), UNIT[3]])
                placed.append((made[k], coal.Transform3s(T[:, :3], T[:, 3])))
            sides.append(placed)
        return min(
            coal.distance(*one, *other, request, coal.DistanceResult())
            for one in sides[0]
            for other in sides[1]
        )

    wanted = every_pair(world)
    records, _ = distances_of(world, q, wanted)
    for poses, found in zip(world.frames.poses(q), records[:, :, 0], strict=True):
        expected = [theirs(poses, a, b, row) for a, b, row, _ in wanted]
        np.testing.assert_allclose(found, expected, atol=1e-7)
    assert 0.05 < (records[..., 0] < 0).mean() < 0.95
