"""The table of seeds: even points, the right cell, the best sample of each."""

from __future__ import annotations

import numpy as np

from linkwork.compile.lanes import NO_SEED, SEED_STEPS
from linkwork.solve.program import GRID
from linkwork.solve.seeds import Axis, make_seeds, spread

STARTS = np.array([[-2.0, 1.0], [4.0, 3.0], [0.0, 0.0]])
AXES = (Axis(5), Axis(3, -1.0, 10.0))


def features(x):
    return np.stack([x[:, 0] + x[:, 1], x[:, 1] ** 2 / 2], axis=1)


def test_points_fill_the_cube_evenly():
    for n in (1, 3, 7):
        points = spread(4096, n)
        assert points.shape == (4096, n)
        assert (points >= 0.0).all()
        assert (points < 1.0).all()
        for k in range(n):
            counts = np.bincount((points[:, k] * 64).astype(int), minlength=64)
            assert abs(counts - 64).max() <= 6, "random points would differ by some 20"


def cells_of(seeds, found):
    """The row of the table of each feature, one by one."""
    low, scale, cells, stride = (seeds.grid[GRID.index(name)] for name in GRID)
    rows = []
    for feature in found:
        at = [int(np.floor((f - a) * s)) for f, a, s in zip(feature, low, scale, strict=True)]
        inside = [min(max(k, 0), int(c) - 1) for k, c in zip(at, cells, strict=True)]
        rows.append(sum(k * int(s) for k, s in zip(inside, stride, strict=True)))
    return np.array(rows)


def test_each_seed_reaches_the_cell_that_it_stands_in():
    seeds = make_seeds(features, STARTS, AXES, samples=3000)
    assert seeds.table.shape == (15, 2)
    assert seeds.table.dtype == np.uint16
    there = seeds.table[:, 0] != NO_SEED
    assert 5 < there.sum() < 15
    x = STARTS[0] + (seeds.table[there] + 0.5) / SEED_STEPS * STARTS[1]
    assert np.array_equal(cells_of(seeds, features(x)), np.flatnonzero(there))


def test_every_cell_that_a_sample_reaches_has_a_seed():
    asked = []

    def place(x):
        asked.append(x)
        return features(x)

    seeds = make_seeds(place, STARTS, AXES, samples=3000)
    (x,) = asked
    assert (x > STARTS[0]).all()
    assert (x < STARTS[0] + STARTS[1]).all()
    reached = np.unique(cells_of(seeds, features(x)))
    assert np.array_equal(np.flatnonzero(seeds.table[:, 0] != NO_SEED), reached)


def test_a_seed_is_near_the_middle_of_its_cell_and_away_from_limits():
    starts = np.array([[0.0, 0.0], [1.0, 1.0], [0.0, 0.0]])
    # the second number changes nothing but the distance from the limits
    seeds = make_seeds(lambda x: x[:, :1].copy(), starts, (Axis(4, 0.0, 1.0),), samples=20_000)
    x = (seeds.table + 0.5) / SEED_STEPS
    assert (np.abs(x[:, 1] - 0.5) < 0.25).all()
    assert np.abs(x[1:3, 0] - [0.375, 0.625]).max() < 0.06
    assert 0.125 < x[0, 0] < 0.25, "the lowest cell's seed keeps away from the limit"


def test_a_feature_that_never_changes_has_one_cell():
    seeds = make_seeds(lambda x: np.ones((len(x), 1)), STARTS, (Axis(4),), samples=500)
    assert np.isfinite(seeds.grid).all()
    assert (seeds.table[:, 0] != NO_SEED).sum() == 1
