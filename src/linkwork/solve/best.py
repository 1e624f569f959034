"""The best of many solutions, and all that are found: the same search from many starts."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from linkwork.solve.problem import Problem

Floats = NDArray[np.float64]


class Starts(NamedTuple):
    """Where random configurations lie: ``base + u span + kept q0`` for u from 0 to 1, each (n,)."""

    base: Floats
    span: Floats
    kept: Floats


def starts_of(problem: Problem) -> Starts:
    """Inside the limits; anywhere on the circle for angles without them.

    At q0 for lengths without limits and for floating joints.
    """
    lower, upper, wraps = problem.lower, problem.upper, problem.wraps
    bounded = np.isfinite(lower) & np.isfinite(upper)
    base = np.where(bounded, lower, 0.0)
    span = np.where(bounded, upper, 0.0) - base
    base, span = np.where(wraps, -np.pi, base), np.where(wraps, 2.0 * np.pi, span)
    return Starts(base, span, np.where(bounded | wraps, 0.0, 1.0))


def starting_points(problem: Problem, start: Floats, count: int, seed: int) -> Floats:
    """``count`` configurations for each row of ``start`` (N, nq): (N, count, nq), itself the first.

    The others are the same for every row: a row's answer does not depend on its neighbours.
    """
    where = starts_of(problem)
    moved = list(problem.moved)
    u = np.random.default_rng((seed, count)).random((count - 1, len(moved)))
    many = np.repeat(start[:, None, :], count, axis=1)
    kept = where.kept * start[:, None, moved]
    many[:, 1:, moved] = where.base + u * where.span + kept
    return many


def chosen(cost: Floats, success: NDArray[np.bool_], misses: Floats) -> NDArray[np.int64]:
    """Which of the solutions (N, K) to take: the cheapest success, else the nearest miss."""
    any_solved = np.any(success, axis=1, keepdims=True)
    ranked = np.where(any_solved, np.where(success, cost, np.inf), misses)
    return ranked.argmin(axis=1)


def nearest_turns(problem: Problem, q: Floats, start: Floats) -> Floats:
    """The same configurations with every angle on the turn that is nearest to ``start``.

    Shapes: (n, nq) all. Limits are kept: a joint that has more than a turn may choose.
    """
    moved = list(problem.moved)
    x = q[:, moved]
    turn = 2.0 * np.pi
    with np.errstate(invalid="ignore"):
        least, most = np.ceil((problem.lower - x) / turn), np.floor((problem.upper - x) / turn)
    count = np.clip(np.round((start[:, moved] - x) / turn), least, most)
    turned = q.copy()
    nearer = x + turn * np.where(problem.is_angle, count, 0.0)
    turned[:, moved] = np.clip(nearer, problem.lower, problem.upper)
    return turned


def distinct(problem: Problem, q: Floats, apart: float) -> NDArray[np.int64]:
    """The first of each group of rows of q (n, nq) that lie within ``apart`` of each other.

    By the largest difference of a joint; whole turns of an angle are no difference, and
    lengths count by the mechanism's.
    """
    x = q[:, list(problem.moved)]
    angle = problem.is_angle
    scale = np.where(angle, 1.0, 1.0 / problem.length)
    kept: list[int] = []
    for k, row in enumerate(x):
        away = x[kept] - row
        turns = np.where(angle, np.round(away / (2.0 * np.pi)), 0.0)
        away = np.abs(away - 2.0 * np.pi * turns) * scale
        if not kept or away.max(axis=1).min() > apart:
            kept.append(k)
    return np.array(kept, dtype=np.int64)
