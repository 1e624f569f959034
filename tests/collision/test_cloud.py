"""Point clouds against all of their points one by one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import linkwork as lw
from linkwork.collision.cloud import (
    Clouds,
    cloud_nearest,
    cloud_touches,
    clouds_of,
    point_piece,
    points_near,
)
from linkwork.mechanism.shapes import Points
from seeds import rng
from typed_calls import compiled

Calls = dict[str, Callable[..., Any]]


@pytest.fixture(scope="module")
def code() -> Calls:
    return compiled([cloud_touches, cloud_nearest, points_near, point_piece])


def clouds(random: np.random.Generator) -> tuple[list[tuple[int, Points, np.ndarray]], Clouds]:
    given = []
    for k, n in enumerate((1, 20, 3000)):
        T = lw.pose(random.uniform(-1, 1, 3), rpy=random.uniform(-3, 3, 3))
        given.append((10 + k, Points(random.uniform(-1, 1, (n, 3)), 0.01 * k), T))
    return given, clouds_of(given)


def test_every_question_against_all_points(code: Calls) -> None:
    random = rng("test_every_question_against_all_points")
    given, found = clouds(random)
    assert found.count == 3 and [found.index[4 * k] for k in range(3)] == [10, 11, 12]
    out = np.zeros(3001, np.int64)
    for k, (_, shape, T) in enumerate(given):
        world = shape.points @ T[:3, :3].T + T[:3, 3]
        for _ in range(200):
            ball = np.append(random.uniform(-2, 2, 3), random.uniform(0, 0.4))
            away = np.linalg.norm(world - ball[:3], axis=1) - shape.radius - ball[3]
            asked = (k, found.index, found.numbers, ball)
            assert code["cloud_touches"](*asked) == bool((away <= 0).any())
            n = code["points_near"](*asked, out, 3001)
            assert sorted(out[:n]) == np.flatnonzero(away <= 0).tolist()
            assert code["cloud_nearest"](*asked, 1e9, out) == pytest.approx(away.min(), abs=1e-13)
            assert away[out[0]] == pytest.approx(away.min(), abs=1e-13)
            assert code["cloud_nearest"](*asked, -9.0, out) == -9.0 and out[0] == -1


def test_a_point_as_a_piece(code: Calls) -> None:
    random = rng("test_a_point_as_a_piece")
    given, found = clouds(random)
    row, other = np.full(24, np.nan), np.full(24, np.nan)
    for k, (_, shape, T) in enumerate(given):
        last = len(shape.points) - 1
        code["point_piece"](k, last, found.index, found.numbers, row)
        point_piece(k, last, found.index, found.numbers, other)
        p = T[:3, :3] @ shape.points[last] + T[:3, 3]
        expected = np.zeros(24)
        expected[1], expected[7], expected[20:23], expected[23] = shape.radius, -1, p, shape.radius
        expected[8:20] = np.column_stack([np.eye(3), p]).reshape(-1)
        np.testing.assert_allclose(row, expected, atol=1e-15)
        np.testing.assert_allclose(other, expected, atol=1e-15)


def test_no_clouds() -> None:
    found = clouds_of([])
    assert found.count == 0 and not found.index.size and not found.numbers.size


@pytest.mark.slow
def test_a_large_cloud_is_ready_quickly_and_right(code: Calls) -> None:
    random = rng("test_a_large_cloud_is_ready_quickly_and_right")
    points = random.normal(size=(100_000, 3))
    points /= np.linalg.norm(points, axis=1)[:, None]
    found = clouds_of([(0, Points(points), np.eye(4))])
    out = np.zeros(1, np.int64)
    for _ in range(300):
        ball = np.append(random.uniform(-1.2, 1.2, 3), 0.05)
        away = np.linalg.norm(points - ball[:3], axis=1) - 0.05
        asked = (0, found.index, found.numbers, ball)
        assert code["cloud_touches"](*asked) == bool((away <= 0).any())
        assert code["cloud_nearest"](*asked, 1e9, out) == pytest.approx(away.min(), abs=1e-13)
