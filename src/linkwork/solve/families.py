"""Solutions that are part of a continuum: along which directions they go on, and which are joined.

Where the task's Jacobian loses rank a solution may go on for a while, as the joints of a wrist with
two axes in line do. Rank alone is no proof: an arm that is stretched is singular, and its solution
alone. So a step is made along each direction in which the task is flat, and brought back onto the
task: a solution goes on where that ends a step away.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from linkwork.ops.numpy import NUMPY
from linkwork.solve.engine import PartRows, scores
from linkwork.solve.expressions import level_of, seen_at
from linkwork.solve.joint_update import JointUpdate
from linkwork.solve.nearest import Tangent
from linkwork.solve.problem import Problem
from linkwork.solve.seeds import starts_of

Floats = NDArray[np.float64]
Places = NDArray[np.int64]

_FLAT = 1.0e-4
"""A share of the largest bend of the squared error: a smaller bend may be none at all."""
_STEP = 0.05
"""Radians, over all joints, of a step along a direction."""
_NEIGHBOURS, _ROUNDS = 4, 12
_POINTS = 12
"""Points on the way between two solutions, each of which has to come back to one near it."""
_RANK = 1.0e-6


class Ways(NamedTuple):
    """Functions of a problem's code on positions of what moves (M, n)."""

    exact: Callable[[Floats], tuple[Floats, NDArray[np.bool_]]]
    """The solutions (M, n) next to them, and which of these are some."""
    bend: Callable[[Floats], Floats]
    """The second derivative (M, n_v, n_v) of the squared error there."""


def bend_of(row: PartRows, x: Floats) -> Floats:
    """The bend (M, n_v, n_v) of a part's squared error at x (M, n), for one target."""

    def score(points: Floats, _: int) -> Floats:
        return scores(row.take(np.zeros(len(points), dtype=np.int64)), points)[0]

    return Tangent(row.part.problem).slope_and_bend(score, x)[1]


def free_directions(problem: Problem, x: Floats, ways: Ways) -> list[Floats]:
    """Orthonormal directions (d, n_v) along which each solution x (K, n) goes on.

    n_v counts what moves; a slide's metre counts by the mechanism's length.
    """
    tangent = Tangent(problem)
    w, V = np.linalg.eigh(ways.bend(x))
    row, column = np.nonzero(w < _FLAT * np.maximum(w[:, -1:], 1e-300))
    along = V[row, :, column]
    before, both = np.tile(x[row], (2, 1)), np.concatenate([along, -along])
    there, good = ways.exact(tangent.moved(before, np.clip(_STEP * both, *tangent.room(before))))
    gone = tangent.apart(there, before)
    good &= (gone > 0.3 * _STEP) & (gone < 3.0 * _STEP)
    goes = good[: len(row)] | good[len(row) :]
    return [along[(row == k) & goes] for k in range(len(x))]


def nullity(problem: Problem, parameters: Floats, settings: Floats) -> int:
    """The number of directions that the tasks of priority 0 leave free in general."""
    where = starts_of(problem)
    u = np.modf(np.sqrt(2.0) * np.arange(1.0, len(where.base) + 1.0))[0]
    q = np.zeros(problem.mechanism.n_q)
    q[list(problem.held)] = parameters[slice(*problem.layout.held)]
    x = where.base + (0.1 + 0.8 * u) * where.span
    for first in Tangent(problem).quaternions:
        x[first[0]] = 1.0
    q[list(problem.moved)] = x
    update = JointUpdate(NUMPY, problem, parameters, settings)
    level = level_of(update, problem.levels[0], seen_at(update, q))
    sizes = np.linalg.svd(np.array(level.columns), compute_uv=False)
    return len(problem.moved_v) - int(np.count_nonzero(sizes > _RANK * sizes[0]))


def joined(problem: Problem, x: Floats, ways: Ways) -> Places:
    """The number (K,) of the family of each of some solutions x (K, n) that go on: its first row.

    Two are of one family where the straight way between them comes back to solutions all along.
    """
    tangent, family = Tangent(problem), np.arange(len(x))
    apart = np.stack([tangent.apart(x, np.broadcast_to(row, x.shape)) for row in x])
    np.fill_diagonal(apart, np.inf)
    groups = [np.array([k]) for k in family]  # each tries the ways to those next to it
    for _ in range(_ROUNDS):
        pairs: list[tuple[int, int]] = []
        for rows in groups:
            ways_out = np.where(family[rows][:, None] == family, np.inf, apart[rows])
            nearest = np.argsort(ways_out, axis=None, kind="stable")[:_NEIGHBOURS]
            at, to = np.unravel_index(nearest, ways_out.shape)
            some = ways_out[at, to] < np.inf
            pairs += zip(rows[at[some]].tolist(), to[some].tolist(), strict=True)
        if not pairs:
            break
        a, b = np.array(pairs).T
        apart[a, b] = apart[b, a] = np.inf  # tried
        over = _go_over(problem, x[a], x[b], ways)
        for i, k in zip(a[over], b[over], strict=True):
            low, high = sorted((family[i], family[k]))
            family[family == high] = low
        groups = [np.flatnonzero(family == first) for first in np.unique(family)]
    return family


def _go_over(problem: Problem, a: Floats, b: Floats, ways: Ways) -> NDArray[np.bool_]:
    """Whether each of a (P, n) is joined to that of b by solutions."""
    tangent, n, whole = Tangent(problem), a.shape[1], b - a
    turns = problem.same_turns
    whole = np.where(turns, whole - 2.0 * np.pi * np.round(whole / (2.0 * np.pi)), whole)
    shares = np.arange(1.0, _POINTS + 1.0) / (_POINTS + 1.0)
    points = a[:, None] + shares[:, None] * whole[:, None]
    found, good = ways.exact(points.reshape(-1, n))
    found = np.concatenate([a[:, None], found.reshape(points.shape), (a + whole)[:, None]], axis=1)
    after, before = found[:, 1:].reshape(-1, n), found[:, :-1].reshape(-1, n)
    steps = tangent.apart(after, before).reshape(len(a), -1)
    most = 4.0 * tangent.apart(b, a) / (_POINTS + 1.0)
    return good.reshape(len(a), -1).all(axis=1) & (steps.max(axis=1) <= most)
