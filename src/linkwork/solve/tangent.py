"""Positions of what moves, and small moves of them: angles count by radians, slides by lengths."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from linkwork.solve.moves import lengths_of
from linkwork.solve.problem import Problem

Floats = NDArray[np.float64]

_AROUND = 1.0e-3
"""How far the points are that differences are taken of."""


class Tangent:
    """Moves (K, n_v) of positions x (K, n) of what moves in a problem.

    A slide goes the mechanism's length where an angle goes one radian.
    """

    def __init__(self, problem: Problem) -> None:
        self._lower, self._upper, self._turns = problem.lower, problem.upper, problem.same_turns
        lengths = lengths_of(problem)
        self.unit = np.array([lengths[k] for k in problem.moved_v])
        self._position = np.zeros(len(problem.moved_v), dtype=np.int64)  # in x, of each move
        self._plain = np.ones(len(problem.moved_v), dtype=bool)
        self.quaternions: list[tuple[int, int]] = []  # where one begins in x, its turns in a move
        at = at_v = 0
        for c in problem.coordinates:
            kind = problem.mechanism.joint_types[c]
            self._position[at_v : at_v + kind.n_v] = at + np.arange(kind.n_v)
            if kind.has_quaternion:
                first = at_v + kind.n_lengths
                self.quaternions.append((at + kind.n_lengths, first))
                self._plain[first : first + 3] = False
            at, at_v = at + kind.n_q, at_v + kind.n_v

    def room(self, x: Floats) -> tuple[Floats, Floats]:
        """How far down and up each move may go (K, n_v) inside the description's limits."""
        at = x[:, self._position]
        lower = np.where(self._plain, (self._lower[self._position] - at) / self.unit, -np.inf)
        upper = np.where(self._plain, (self._upper[self._position] - at) / self.unit, np.inf)
        return np.minimum(lower, 0.0), np.maximum(upper, 0.0)

    def moved(self, x: Floats, moves: Floats) -> Floats:
        """x (K, n) after moves (K, n_v)."""
        way = moves * self.unit
        if not self.quaternions:
            return x + way
        after = x.copy()
        plain = self._position[self._plain]
        after[:, plain] = x[:, plain] + way[:, self._plain]
        for at, v in self.quaternions:
            w, axis, turn = x[:, at], x[:, at + 1 : at + 4], 0.5 * way[:, v : v + 3]
            after[:, at] = w - (axis * turn).sum(axis=1)
            after[:, at + 1 : at + 4] = axis + w[:, None] * turn + np.cross(axis, turn)
            part = after[:, at : at + 4]
            after[:, at : at + 4] = part / np.sqrt((part * part).sum(axis=1, keepdims=True))
        return after

    def apart(self, a: Floats, b: Floats) -> Floats:
        """How far a (K, n) is from b (K, n), as the length of the move; whole turns are none."""
        way = a - b
        way = np.where(self._turns, way - 2.0 * np.pi * np.round(way / (2.0 * np.pi)), way)
        plain = self._position[self._plain]
        squares = np.square(way[:, plain] / self.unit[self._plain]).sum(axis=1)
        for at, _ in self.quaternions:
            part = slice(at, at + 4)
            chords = [np.square(a[:, part] - s * b[:, part]).sum(axis=1) for s in (1.0, -1.0)]
            squares += 4.0 * np.minimum(*chords)
        return np.sqrt(squares)

    def slope_and_bend(
        self, score: Callable[[Floats, int], Floats], x: Floats
    ) -> tuple[Floats, Floats]:
        """The slope (K, n_v) and the bend (K, n_v, n_v) of a score at x (K, n), by differences.

        ``score(points, m)`` (K m,) is that of m points (K m, n) for each row of x.
        """
        n = len(self.unit)
        pairs = np.array([(i, j) for i in range(n) for j in range(i)], dtype=np.int64)
        i, j = pairs.reshape(-1, 2).T
        one = np.eye(n)
        ways = np.concatenate([one, one[i] + one[j]])
        ways = _AROUND * np.concatenate([np.zeros((1, n)), ways, -ways])
        near = self.moved(np.repeat(x, len(ways), axis=0), np.tile(ways, (len(x), 1)))
        found = score(near, len(ways)).reshape(len(x), -1)
        ahead, behind = np.split(found[:, 1:], 2, axis=1)
        slope = (ahead[:, :n] - behind[:, :n]) / (2.0 * _AROUND)
        twice = ahead + behind - 2.0 * found[:, :1]  # h² times the bend along each way
        bend = np.zeros((len(x), n, n))
        bend[:, range(n), range(n)] = twice[:, :n]
        bend[:, i, j] = bend[:, j, i] = 0.5 * (twice[:, n:] - twice[:, i] - twice[:, j])
        return slope, bend / (_AROUND * _AROUND)
