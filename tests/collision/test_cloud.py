"""Point clouds against all of their points one by one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import linkwork as lw
from linkwork.collision.aggregates import Aggregates, aggregates_of
from linkwork.collision.cloud import (
    Aggregate,
    aggregate_at,
    cloud_nearest,
    cloud_touches,
    point_piece,
    points_near,
)
from linkwork.collision.narrow import closest
from linkwork.compile.typed import F64, PtrF64, PtrI64, local_f64, typed
from linkwork.mechanism.shapes import Points
from seeds import rng
from typed_calls import compiled

Calls = dict[str, Callable[..., Any]]
MOST = 3000


@typed
def piece_to_cloud(cloud: Aggregate, piece: PtrF64, pose: PtrF64, found: PtrI64) -> F64:
    """The signed distance of a piece, in a body at a pose, to the points within 0.5 m of it."""
    ball = local_f64(4)
    row = local_f64(24)
    rest = local_f64(12)
    out = local_f64(9)
    for i in range(12):
        rest[i] = 0.0
    for i in range(3):
        rest[5 * i] = 1.0
        ball[i] = pose[4 * i + 3]
    ball[3] = piece[23] + 0.5
    n = points_near(cloud, ball, found, MOST)
    best = 1e9
    for i in range(n):
        point_piece(cloud, found[i], row)
        best = min(best, closest(piece, pose, row, rest, piece, best, out))
    return best


@pytest.fixture(scope="module")
def code() -> Calls:
    return compiled([cloud_touches, cloud_nearest, points_near, point_piece])


def clouds(random: np.random.Generator) -> tuple[list[tuple[int, Points, np.ndarray]], Aggregates]:
    given = []
    for k, n in enumerate((1, 20, 3000)):
        T = lw.pose(random.uniform(-1, 1, 3), rpy=random.uniform(-3, 3, 3))
        given.append((10 + k, Points(random.uniform(-1, 1, (n, 3)), 0.01 * k), T))
    return given, aggregates_of(given)


def places(found: Aggregates, k: int) -> Aggregate:
    return aggregate_at(k, found.index, found.numbers)


def test_every_question_against_all_points(code: Calls) -> None:
    random = rng("test_every_question_against_all_points")
    given, found = clouds(random)
    assert found.count == 3 and found.objects == [10, 11, 12]
    out = np.zeros(3001, np.int64)
    for k, (_, shape, T) in enumerate(given):
        world = shape.points @ T[:3, :3].T + T[:3, 3]
        for _ in range(200):
            ball = np.append(random.uniform(-2, 2, 3), random.uniform(0, 0.4))
            away = np.linalg.norm(world - ball[:3], axis=1) - shape.radius - ball[3]
            asked = (*places(found, k), ball)
            assert code["cloud_touches"](*asked) == bool((away <= 0).any())
            n = code["points_near"](*asked, out, 3001)
            assert sorted(out[:n]) == np.flatnonzero(away <= 0).tolist()
            assert code["cloud_nearest"](*asked, 1e9, out) == pytest.approx(away.min(), abs=1e-13)
            assert away[out[0]] == pytest.approx(away.min(), abs=1e-13)
            assert code["cloud_nearest"](*asked, -9.0, out) == -9.0 and out[0] == -1


def test_a_point_as_a_piece(code: Calls) -> None:
    random = rng("test_a_point_as_a_piece")
    given, found = clouds(random)
    row = np.full(24, np.nan)
    for k, (_, shape, T) in enumerate(given):
        last = len(shape.points) - 1
        code["point_piece"](*places(found, k), last, row)
        p = T[:3, :3] @ shape.points[last] + T[:3, 3]
        expected = np.zeros(24)
        expected[1], expected[7], expected[20:23], expected[23] = shape.radius, -1, p, shape.radius
        expected[8:20] = np.column_stack([np.eye(3), p]).reshape(-1)
        np.testing.assert_allclose(row, expected, atol=1e-15)


@pytest.mark.slow
def test_a_box_against_the_points_near_it() -> None:
    code = compiled([piece_to_cloud])
    random = rng("test_a_box_against_the_points_near_it")
    given, found = clouds(random)
    out = np.zeros(MOST, np.int64)
    near = 0
    for _ in range(100):
        halves = random.uniform(0.02, 0.3, 3)
        piece = np.zeros(24)
        piece[0], piece[2:5], piece[[8, 13, 18]], piece[7] = 2, halves, 1, -1
        piece[23] = np.linalg.norm(halves)
        T = lw.pose(random.uniform(-1.5, 1.5, 3), rpy=random.uniform(-3, 3, 3))
        for k, (_, shape, T_world_cloud) in enumerate(given):
            world = shape.points @ T_world_cloud[:3, :3].T + T_world_cloud[:3, 3]
            away = np.abs((world - T[:3, 3]) @ T[:3, :3]) - halves
            outside = np.linalg.norm(np.maximum(away, 0), axis=1)
            least = (outside + np.minimum(away.max(axis=1), 0)).min() - shape.radius
            pose = np.ascontiguousarray(T[:3]).reshape(-1)
            value = code["piece_to_cloud"](*places(found, k), piece, pose, out)
            if least < 0.5:
                near += 1
                assert value == pytest.approx(least, abs=1e-9)
    assert near > 50


def test_no_clouds() -> None:
    found = aggregates_of([])
    assert found.count == 0 and not found.index.size and not found.numbers.size


@pytest.mark.slow
def test_a_large_cloud_is_ready_quickly_and_right(code: Calls) -> None:
    random = rng("test_a_large_cloud_is_ready_quickly_and_right")
    points = random.normal(size=(100_000, 3))
    points /= np.linalg.norm(points, axis=1)[:, None]
    found = aggregates_of([(0, Points(points), np.eye(4))])
    out = np.zeros(1, np.int64)
    for _ in range(300):
        ball = np.append(random.uniform(-1.2, 1.2, 3), 0.05)
        away = np.linalg.norm(points - ball[:3], axis=1) - 0.05
        asked = (*places(found, 0), ball)
        assert code["cloud_touches"](*asked) == bool((away <= 0).any())
        assert code["cloud_nearest"](*asked, 1e9, out) == pytest.approx(away.min(), abs=1e-13)
