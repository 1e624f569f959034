"""The tree of balls against all balls one by one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from linkwork.collision.tree import balls_met, nearest, touches, tree_of, visit_near
from seeds import rng
from typed_calls import compiled

Calls = dict[str, Callable[..., Any]]


@pytest.fixture(scope="module")
def code() -> Calls:
    return compiled([visit_near, touches, nearest, balls_met])


def ball(random: np.random.Generator, spread: float = 1.2) -> tuple[list[float], float]:
    return random.uniform(-spread, spread, 3).tolist(), float(random.uniform(0, 0.3))


def sets(label: str) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Balls of every kind: none, few, many, coincident, in a line, some very large."""
    random = rng(label)
    found = {
        str(n): (random.uniform(-1, 1, (n, 3)), random.uniform(0, 0.1, n))
        for n in (0, 1, 7, 8, 9, 64, 65, 513, 3000)
    }
    found["coincident"] = np.ones((100, 3)) * 0.5, np.zeros(100)
    found["line"] = random.uniform(-1, 1, (200, 1)) * [1.0, 0.0, 0.0], np.zeros(200)
    found["large"] = random.uniform(-1, 1, (300, 3)), random.uniform(0, 1, 300) ** 20 * 50
    found["grid"] = np.indices((6, 6, 6)).reshape(3, -1).T / 5 - 0.5, np.full(216, 0.1)
    return found


def test_visits_what_meets_a_ball_and_nothing_else(code: Calls) -> None:
    random = rng("test_visits_what_meets_a_ball_and_nothing_else")
    for name, (centres, radii) in sets("sets").items():
        tree, out = tree_of(centres, radii), np.zeros(len(centres) + 1, np.int64)
        for _ in range(100):
            x, r = ball(random)
            met = np.flatnonzero(np.linalg.norm(centres - x, axis=1) <= radii + r)
            n = code["visit_near"](tree.index, tree.numbers, *x, r, out, len(out))
            assert sorted(out[:n]) == met.tolist(), name
            assert code["touches"](tree.index, tree.numbers, *x, r) == bool(len(met))


def test_balls_that_just_touch_are_found(code: Calls) -> None:
    # neighbours of a grid of halves touch exactly, and every number here is one of float64
    centres = np.indices((8, 8, 8)).reshape(3, -1).T * 0.5
    tree, out = tree_of(centres, np.full(512, 0.25)), np.zeros(512, np.int64)
    for centre in centres[::37]:
        n = code["visit_near"](tree.index, tree.numbers, *centre.tolist(), 0.25, out, 512)
        away = np.linalg.norm(centres - centre, axis=1)
        assert sorted(out[:n]) == np.flatnonzero(away <= 0.5).tolist()


def test_rounding_loses_no_ball_that_a_leaf_would_find(code: Calls) -> None:
    random = rng("test_rounding_loses_no_ball_that_a_leaf_would_find")
    for scale in (1e-3, 1.0, 1e3):
        centres, radii = scale * random.uniform(-1, 1, (64, 3)), random.uniform(0, scale, 64)
        radii[::2] *= 1e-6
        tree, out = tree_of(centres, radii), np.zeros(64, np.int64)
        for k in range(64):
            leaf = np.repeat([*centres[k], radii[k]], 8)
            # along an axis the nearest side of a box is where the ball ends
            away = scale * 2 * np.eye(3)[k % 3] * random.choice([-1, 1]) * random.uniform(0.5, 1)
            x = (centres[k] + away).tolist()
            r = float(np.linalg.norm(away) - radii[k])
            for _ in range(6):
                r = float(np.nextafter(r, 0))
            for _ in range(12):
                r = float(np.nextafter(r, np.inf))
                if code["balls_met"](leaf, 0, *x, r):
                    n = code["visit_near"](tree.index, tree.numbers, *x, r, out, 64)
                    assert k in out[:n]


def test_a_list_that_is_too_short_is_told(code: Calls) -> None:
    tree, out = tree_of(np.zeros((50, 3)), np.ones(50)), np.full(50, -7)
    assert code["visit_near"](tree.index, tree.numbers, 0.0, 0.0, 0.0, 0.0, out, 10) == 50
    assert (out[:10] >= 0).all() and (out[10:] == -7).all()


def test_the_nearest(code: Calls) -> None:
    random = rng("test_the_nearest")
    out = np.zeros(1, np.int64)
    for name, (centres, radii) in sets("sets").items():
        tree = tree_of(centres, radii)
        for _ in range(100):
            x, most = ball(random, 2.0)
            away = np.linalg.norm(centres - x, axis=1) - radii
            least = float(away.min(initial=1e9))
            found = code["nearest"](tree.index, tree.numbers, *x, 1e9, out)
            assert found == pytest.approx(least, abs=1e-14), name
            assert (
                out[0] == -1 if not len(away) else away[out[0]] == pytest.approx(least, abs=1e-14)
            )
            found = code["nearest"](tree.index, tree.numbers, *x, most, out)
            assert found == pytest.approx(min(least, most), abs=1e-14), name
            assert (out[0] == -1) == (least >= most)


def test_python_gives_what_compiled_code_gives(code: Calls) -> None:
    random = rng("test_python_gives_what_compiled_code_gives")
    centres, radii = sets("sets")["513"]
    tree = tree_of(centres, radii)
    one, other = np.zeros(513, np.int64), np.zeros(513, np.int64)
    for _ in range(5):
        x, r = ball(random)
        given = (tree.index, tree.numbers, *x, r)
        assert visit_near(*given, one, 513) == code["visit_near"](*given, other, 513)
        np.testing.assert_array_equal(one, other)
        assert touches(*given) == code["touches"](*given)
        assert nearest(*given, one) == pytest.approx(code["nearest"](*given, other), abs=1e-15)
        assert one[0] == other[0]


def test_the_same_balls_make_the_same_tree() -> None:
    for centres, radii in sets("sets").values():
        one, other = tree_of(centres, radii), tree_of(centres.copy(), radii.copy())
        np.testing.assert_array_equal(one.index, other.index)
        np.testing.assert_array_equal(one.numbers, other.numbers)


def test_questions_far_away_and_of_great_balls(code: Calls) -> None:
    centres, radii = sets("sets")["3000"]
    tree, out = tree_of(centres, radii), np.zeros(3000, np.int64)
    assert code["visit_near"](tree.index, tree.numbers, 1e9, 0.0, 0.0, 1.0, out, 3000) == 0
    assert code["visit_near"](tree.index, tree.numbers, 1e9, 0.0, 0.0, 1.1e9, out, 3000) == 3000
    assert code["visit_near"](tree.index, tree.numbers, 0.0, 0.0, 0.0, 1e140, out, 3000) == 3000
    assert not code["touches"](tree.index, tree.numbers, 0.0, 0.0, 0.0, -1.0)
