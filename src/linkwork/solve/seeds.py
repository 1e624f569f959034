"""Starts of a search: random ones inside the limits, and a table of those near a target.

The reach is cut into cells (a grid over the features of a target); each cell keeps the sample that
lies nearest to its centre, and away from limits. The table is made once for a solver, of points
that fill space evenly, so it is the same in every process.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from linkwork.compile.lanes import NO_SEED, SEED_STEPS
from linkwork.mechanism.model import JointType
from linkwork.solve.problem import Problem

Floats = NDArray[np.float64]

SAMPLES = 1 << 15
"""Configurations that the table is chosen from."""

_NEAR_LIMIT = 0.3
"""From this share of the span to a limit on, a sample is the worse the nearer it is."""

_ROOM = 3.0
"""Lengths of the mechanism, in which no rods count that are loops, to where what floats is."""


class Starts(NamedTuple):
    """The box of random configurations: ``base + u span + kept q0`` with u from 0 to 1, (n,)."""

    base: Floats
    span: Floats
    kept: Floats


def starts_of(problem: Problem) -> Starts:
    """Inside the limits, of several turns on the middle one; anywhere on the circle for angles
    without limits, on q0's turn where turns are not alike.

    At q0 for lengths without limits and for floating joints; anywhere for spherical ones, near to
    their limits or beyond, from where a search enters them. Where nothing but loops is asked for,
    what floats in one is within `_ROOM` lengths of the mechanism of q0.
    """
    lower, upper, wraps = problem.lower, problem.upper, problem.wraps
    with np.errstate(over="ignore", invalid="ignore"):
        bounded = np.isfinite(upper - lower)  # not so far apart that no number tells how far
    free = problem.is_angle & np.isinf(lower) & np.isinf(upper)
    base = np.where(bounded, lower, 0.0)
    span = np.where(bounded, upper, 0.0) - base
    # of an angle that has more than a turn, the middle one
    wide = bounded & problem.same_turns & (span > 2.0 * np.pi)
    base = np.where(wide, base + 0.5 * span - np.pi, np.where(free, -np.pi, base))
    span = np.where(wide | free, 2.0 * np.pi, span)
    kept = np.where(bounded | wraps, 0.0, 1.0)
    for ball in problem.balls:
        half = min(0.5 * ball.limit, 0.5 * np.pi)
        part = slice(ball.place, ball.place + 4)
        base[part], kept[part] = [np.cos(half), *[-np.sin(half)] * 3], 0.0
        span[part] = [1.0 - np.cos(half), *[2.0 * np.sin(half)] * 3]
    for place in _floating_in_loops(problem):
        part = slice(place - JointType.FLOATING.n_lengths, place)
        base[part], span[part] = -_ROOM * problem.length, 2.0 * _ROOM * problem.length
    return Starts(base, span, kept)


def _floating_in_loops(problem: Problem) -> list[int]:
    """The starts in x of floating joints' quaternions, if nothing but loops is asked for."""
    if not all(task.keeps_tolerance for task in problem.tasks):
        return []
    types = problem.mechanism.joint_types
    return [place for c, place, _ in problem.quaternions if types[c] is JointType.FLOATING]


def starting_points(problem: Problem, start: Floats, count: int, seed: int) -> Floats:
    """``count`` configurations for each row of ``start`` (N, nq): (N, count, nq), itself the first.

    The others are the same for every row: a row's answer does not depend on its neighbours. What
    floats in a loop is turned anyhow.
    """
    where = starts_of(problem)
    moved = list(problem.moved)
    random = np.random.default_rng((seed, count))
    u = random.random((count - 1, len(moved)))
    many = np.repeat(start[:, None, :], count, axis=1)
    kept = where.kept * start[:, None, moved]
    many[:, 1:, moved] = where.base + u * where.span + kept
    for place in _floating_in_loops(problem):
        turned = random.normal(size=(count - 1, 4))
        turned /= np.linalg.norm(turned, axis=1, keepdims=True)
        many[:, 1:, moved[place : place + 4]] = turned
    return many


@dataclass(frozen=True)
class Axis:
    """One feature: into how many cells its range is cut; without a range, that of the samples."""

    cells: int
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, eq=False)
class Seeds:
    """The grid (`program.GRID` by features) and the table (cells, n) of 16-bit numbers."""

    grid: Floats
    table: NDArray[np.uint16]


def spread(count: int, n: int) -> Floats:
    """Points (count, n) that fill the unit cube evenly.

    Source: the additive recurrence with powers of 1/g, g the positive root of x^(n+1) = x + 1
    (Roberts, "The unreasonable effectiveness of quasirandom sequences", 2018).
    """
    g = 1.5
    for _ in range(60):
        g = (1.0 + g) ** (1.0 / (n + 1))
    steps = g ** -np.arange(1.0, n + 1)
    points = 0.5 + np.arange(1.0, count + 1)[:, None] * steps
    return points - np.floor(points)


def make_seeds(
    place: Callable[[Floats], Floats],
    starts: Floats,
    axes: Sequence[Axis],
    *,
    samples: int = SAMPLES,
) -> Seeds:
    """The table for a problem: ``place(x)`` (samples, f) are the features of what x reaches.

    ``starts`` (3, n) as in `lanes`; nothing of x0 may be kept.
    """
    numbers = np.minimum(spread(samples, starts.shape[1]) * SEED_STEPS, NO_SEED - 1)
    numbers = numbers.astype(np.uint16)
    shares = (numbers + 0.5) / SEED_STEPS
    features = place(starts[0] + shares * starts[1])
    ends = np.stack([features.min(axis=0), features.max(axis=0)])
    low = np.array([ends[0, k] if a.low is None else a.low for k, a in enumerate(axes)])
    high = np.array([ends[1, k] if a.high is None else a.high for k, a in enumerate(axes)])
    cells = np.array([a.cells for a in axes], dtype=np.float64)
    scale = cells / np.maximum(high - low, 1e-12)
    stride = np.cumprod([1.0, *cells[:-1]])
    at = (features - low) * scale
    cell = np.clip(np.floor(at), 0.0, cells - 1.0)
    cost = np.square(at - cell - 0.5).sum(axis=1)
    margin = np.minimum(shares, 1.0 - shares)
    cost += np.square(np.maximum(0.0, 1.0 - margin / _NEAR_LIMIT)).sum(axis=1)
    order = np.argsort(-cost, kind="stable")
    table = np.full((int(cells.prod()), starts.shape[1]), NO_SEED, dtype=np.uint16)
    table[(cell @ stride).astype(np.int64)[order]] = numbers[order]  # of equals the last stays
    grid: Floats = np.array([low, scale, cells, stride], np.float64)
    return Seeds(grid, table)
