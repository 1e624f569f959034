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
    """Inside the limits, of several turns on the middle one; anywhere on the circle for angles
    without limits, on q0's turn where turns are not alike.

    At q0 for lengths without limits and for floating joints; anywhere for spherical ones, near to
    their limits or beyond, from where a search enters them.
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
    return Starts(base, span, kept)


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

    Shapes: (n, nq) all. Limits are kept: a joint that has more than a turn may choose. A quaternion
    takes the sign that is nearer.
    """
    moved = list(problem.moved)
    x = q[:, moved]
    turn = 2.0 * np.pi
    with np.errstate(invalid="ignore"):
        least, most = np.ceil((problem.lower - x) / turn), np.floor((problem.upper - x) / turn)
    count = np.clip(np.round((start[:, moved] - x) / turn), least, most)
    count = np.where(problem.same_turns & (least <= most), count, 0.0)
    turned = q.copy()
    nearer = np.clip(x + turn * count, problem.lower, problem.upper)
    turned[:, moved] = np.where(count == 0.0, x, nearer)
    for first in _quaternions(problem):
        part = slice(first, first + 4)
        away = np.einsum("ni,ni->n", turned[:, part], start[:, part]) < 0.0
        turned[away, part] *= -1.0
    return turned


def unwrapped(problem: Problem, q: Floats, start: Floats) -> Floats:
    """Angles without limits on the turn that is nearest to ``start``."""
    wraps = problem.wraps
    if wraps.any():
        moved = list(problem.moved)
        turns = np.round((start[:, moved] - q[:, moved]) / (2.0 * np.pi))
        q[:, moved] += np.where(wraps, 2.0 * np.pi * turns, 0.0)
    return q


def _quaternions(problem: Problem) -> list[int]:
    """Where in q the quaternions of the joints that move begin."""
    m = problem.mechanism
    kinds = [(c, m.joint_types[c]) for c in problem.coordinates]
    return [int(m.q_start[c]) + kind.n_lengths for c, kind in kinds if kind.has_quaternion]


def distinct(problem: Problem, q: Floats, apart: float) -> NDArray[np.int64]:
    """The first of each group of rows of q (n, nq) that lie within ``apart`` of each other.

    By the largest difference of a joint; whole turns are no difference where `nearest_turns` may
    choose them, lengths count by the mechanism's, and quaternions by twice their difference.
    """
    moved = list(problem.moved)
    turns = problem.same_turns
    scale = np.where(problem.is_angle, 1.0, 1.0 / problem.length)
    quaternions = [moved.index(first) for first in _quaternions(problem)]
    for first in quaternions:
        scale[first : first + 4] = 2.0
    x = q[:, moved]
    kept: list[int] = []
    for k, row in enumerate(x):
        away = x[kept] - row
        whole = np.where(turns, np.round(away / (2.0 * np.pi)), 0.0)
        away = np.abs(away - 2.0 * np.pi * whole)
        for first in quaternions:  # one and its negative are one rotation
            part = slice(first, first + 4)
            away[:, part] = np.minimum(away[:, part], np.abs(x[kept][:, part] + row[part]))
        away *= scale
        if not kept or away.max(axis=1).min() > apart:
            kept.append(k)
    return np.array(kept, dtype=np.int64)
