"""Pushes: steps from solutions that touch, which do the tasks and keep the nearest pairs apart.

Each step is the least change, by the tasks' own measure, after which to first order nothing
touches. What the tasks leave free gives way first.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from linkwork.compile.compiler import Compiler
from linkwork.compile.kernel import Kernel, build
from linkwork.solve.clear_steps import FREE, units
from linkwork.solve.clearance import Clear
from linkwork.solve.control_step import rows_recipe
from linkwork.solve.least_change import LeastChange
from linkwork.solve.nearest import Tangent
from linkwork.solve.problem import Problem

Floats = NDArray[np.float64]

_SPARE = 2.0e-6
"""Metres more than the margin, so that the search for exactness does not end just below it."""
_FARTHEST = 0.05
"""Metres by which a pair is brought apart at once."""
_LONGEST = 0.5
"""Radians, over all joints, of one step."""


class Push:
    """Compiled pushes of a problem; it holds no state."""

    def __init__(self, problem: Problem, clear: Clear, compiler: Compiler) -> None:
        self._problem, self._clear, self._compiler = problem, clear, compiler
        self._least, self._tangent = LeastChange(compiler), Tangent(problem)
        self._moved, self._moved_v = list(problem.moved), list(problem.moved_v)
        self._unit = units(problem)

    @cached_property
    def _rows(self) -> Kernel:
        return build(rows_recipe(self._problem), compiler=self._compiler)

    def pushed(
        self, q: Floats, start: Floats, given: Sequence[Floats], settings: Floats, steps: int
    ) -> Floats:
        """q (N, nq) after so many steps; ``start`` is where the move began.

        What is no number any more stays where it was.
        """
        n, q = len(self._moved_v), q.copy()
        for _ in range(steps):
            near = self._clear.near(q)
            flat = self._rows(q, start, *given, settings, on_bad="nan")
            k = (flat.shape[1] - 2 * n) // (n + 1)
            error, ends = flat[:, :k], (flat[:, k : k + n], flat[:, k + n : k + 2 * n])
            J = flat[:, k + 2 * n :].reshape(len(q), n, k)
            H = J @ J.transpose(0, 2, 1) + FREE * np.eye(n)
            x = np.linalg.solve(H, J @ error[:, :, None])[:, :, 0]
            wanted = np.minimum(self._clear.margin + _SPARE - near.distance, _FARTHEST)
            x = self._least(H, near.gradient[:, :, self._moved_v] * self._unit, wanted, x, ends)
            length = np.sqrt(np.square(x).sum(axis=1, keepdims=True))
            x *= np.minimum(1.0, _LONGEST / np.maximum(length, 1e-300)) * self._unit
            after = self._moved_by(q[:, self._moved], x)
            good = np.isfinite(after).all(axis=1, keepdims=True)
            q[:, self._moved] = np.where(good, after, q[:, self._moved])
        return q

    def _moved_by(self, x: Floats, moves: Floats) -> Floats:
        """x (N, n) after moves (N, n_v) in units of v, inside the description's limits."""
        after = self._tangent.moved(x, moves / self._tangent.unit)
        return np.clip(after, self._problem.lower, self._problem.upper)
