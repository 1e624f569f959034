"""Steps inside a box: what they do of the task, against the best that there is."""

from __future__ import annotations

import numpy as np
import pytest

from linkwork.ops.numpy import NUMPY
from linkwork.solve.saturation import Box, along, done_within, gone_within
from linkwork.solve.step import Level
from seeds import rng

optimize = pytest.importorskip("scipy.optimize", reason="SciPy (pip install scipy) is missing")


def level_of(J, e):
    return Level(e, [J[:, k] for k in range(J.shape[1])], J.shape[0])


def box_of(low, high):
    return Box(list(low), list(high))


def best_share(J, e, low, high):
    """The largest s up to 1 for which some u in the box has J u = s e: a linear program.

    J u may differ by as much from s e as the step may: 1 per cent of e.
    """
    n, apart = J.shape[1], 0.01 * np.linalg.norm(e) * np.ones(len(e))
    rows = np.column_stack([J, -e])
    answer = optimize.linprog(
        [*[0.0] * n, -1.0],
        A_ub=np.vstack([rows, -rows]),
        b_ub=np.concatenate([apart, apart]),
        bounds=[*zip(low, high, strict=True), (0.0, 1.0)],
    )
    return -answer.fun


@pytest.mark.sweep(3)
@pytest.mark.parametrize(("rows", "n"), [(6, 7), (3, 7), (6, 10), (2, 4), (6, 6)])
def test_the_task_is_shortened_and_not_bent(rows, n):
    r = rng(f"straight {rows} {n}")
    shares, plain, best = [], [], []
    for _ in range(60):
        J, e = r.normal(size=(rows, n)), r.normal(size=rows)
        low, high = -r.uniform(0.05, 0.3, n), r.uniform(0.05, 0.3, n)
        dx = np.array(done_within(NUMPY, [], level_of(J, e), box_of(low, high), 0.0, 4))
        assert ((dx >= low - 1e-9) & (dx <= high + 1e-9)).all()
        done = J @ dx
        share = float(done @ e) / float(e @ e)
        least = np.linalg.pinv(J) @ e
        one = min(1.0, float(np.min(np.where(least > 0, high, -low) / np.abs(least))))
        most = best_share(J, e, low, high)
        if share >= 0.05:
            assert np.linalg.norm(done - share * e) < 0.02 * share * np.linalg.norm(e)
            assert one - 1e-6 <= share <= most + 0.02
        shares.append(share)
        plain.append(one)
        best.append(most)
    assert np.mean(shares) >= np.mean(plain)
    if n > rows:  # joints to spare are used
        gained = (np.mean(shares) - np.mean(plain)) / (np.mean(best) - np.mean(plain))
        assert gained > 0.25


def test_without_bounds_it_is_the_least_squares_step():
    r = rng("free")
    J, e = r.normal(size=(6, 7)), r.normal(size=6)
    free = Box([None] * 7, [None] * 7)
    dx = np.array(done_within(NUMPY, [], level_of(J, e), free, 0.0, 4))
    np.testing.assert_allclose(dx, np.linalg.pinv(J) @ e, atol=1e-6)


@pytest.mark.parametrize(("rows", "n"), [(6, 6), (6, 7), (6, 4)])
def test_where_a_joint_blocks_the_way_the_error_still_gets_smaller(rows, n):
    r = rng(f"blocked {rows} {n}")
    for _ in range(60):
        J, e = r.normal(size=(rows, n)), r.normal(size=rows)
        low, high = np.full(n, -0.1), np.full(n, 0.1)
        blocked = r.random(n) < 0.4
        up = r.random(n) < 0.5
        high[blocked & up], low[blocked & ~up] = 0.0, 0.0
        dx = np.array(done_within(NUMPY, [], level_of(J, e), box_of(low, high), 1.0, 4))
        assert ((dx >= low - 1e-9) & (dx <= high + 1e-9)).all()
        best = optimize.lsq_linear(J, e, (low - 1e-12, high + 1e-12))
        can = e @ e - 2.0 * best.cost
        does = e @ e - float(np.sum((e - J @ dx) ** 2))
        if can > 1e-3 * (e @ e):
            assert does > 0.02 * can


def test_lower_levels_leave_those_above_alone():
    r = rng("levels")
    for _ in range(40):
        first, second = r.normal(size=(3, 7)), r.normal(size=(3, 7))
        above = level_of(first, np.zeros(3))
        low, high = -r.uniform(0.05, 0.3, 7), r.uniform(0.05, 0.3, 7)
        e = r.normal(size=3)
        for room in (box_of(low, high), Box([None] * 7, [None] * 7)):
            dx = np.array(done_within(NUMPY, [above], level_of(second, e), room, 0.0, 3))
            np.testing.assert_allclose(first @ dx, 0.0, atol=1e-6)
            assert (second @ dx) @ e > 0.0
        np.testing.assert_allclose(second @ dx, e, atol=1e-3)
        way = r.normal(size=7)
        dx = np.array(gone_within(NUMPY, [above], way, box_of(low, high), 3))
        assert ((dx >= low - 1e-9) & (dx <= high + 1e-9)).all()
        np.testing.assert_allclose(first @ dx, 0.0, atol=1e-6)
        assert way @ dx > 0.0


def test_what_is_left_of_a_box_holds_nothing_at_all():
    box = box_of([-1.0, 0.0, None], [1.0, 0.5, 2.0])
    left = box.less(NUMPY, [0.25, 0.5, 3.0])
    assert left.lower == [-1.25, -0.5, None]
    assert left.upper == [0.75, 0.0, 0.0]
    assert box.bounded == [0, 1, 2]
    assert Box([None], [None]).bounded == []


def test_along_is_the_product():
    J = rng("along").normal(size=(3, 4))
    np.testing.assert_allclose(along(list(J.T), [1.0, 2.0, 3.0, 4.0]), J @ [1.0, 2.0, 3.0, 4.0])
