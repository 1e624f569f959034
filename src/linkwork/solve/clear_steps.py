"""Steps that keep clear: what the tasks ask for, as far as it keeps pairs apart and all limits.

A step makes the weighted errors of all tasks least, inside the box of the limits and with linear
bounds on how the nearest pairs change. What the tasks leave free gives way first, lower priorities
next, the tasks last. It is a continuous function of what it is computed from, so that a robot that
is held back does not shake: in a controller distances are those after the step, asked of the model
again, and damping grows with the error that is left, as curved surfaces turn a push sideways.

Source: control barrier functions in a quadratic program (A. Ames et al., "Control barrier
functions: theory and applications", European Control Conference 2019), in discrete time.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from linkwork.compile.compiler import Compiler
from linkwork.compile.kernel import Kernel, build
from linkwork.solve.clearance import Clear, Near, slowed
from linkwork.solve.control_step import Output, rows_recipe, taken_recipe
from linkwork.solve.least_change import LeastChange
from linkwork.solve.nearest import Tangent
from linkwork.solve.problem import Problem

Floats = NDArray[np.float64]

_FREE, _FREE_BY_ERROR = 1.0e-3, 1.0
"""The weight of what the tasks leave free beside the tasks: at least, and by the error's length."""
_LOOKS = 5
"""Changes of a step at most, each with the distances that the one before has led to."""
_OVER = 1.0e-6
"""Metres by which a pair may come nearer than a step was to bring it."""
_REACH = 3.0
"""Times the fastest change of a distance; pairs that ought to part much faster are left."""
_BRAKES = 0.5
"""The share of the acceleration of all joints that a pair's approach is stopped with."""
_RESTS = 1.0e-12
"""A joint that is to go less far (rad, m) rests."""
_SPARE = 2.0e-6
"""Metres more than the margin that a push ends at: the search that follows takes some of them."""
_FARTHEST = 0.05
"""Metres by which a push brings a pair apart at once."""
_LONGEST = 0.5
"""Radians, over all joints, of one push."""


class Asked(NamedTuple):
    """The changes (N, n) of columns that the tasks ask of N configurations, measured by H."""

    x: Floats
    H: Floats  # (N, n, n)
    ends: tuple[Floats, Floats]  # the bounds (N, n)


class _Kernel:
    """A kernel of rows (N, ...) and settings, which takes one row the fast way."""

    def __init__(self, kernel: Kernel) -> None:
        self._kernel, self._one = kernel, kernel.bound()

    def __call__(self, arrays: Sequence[Floats], settings: Floats) -> Floats:
        if len(arrays[0]) == 1:
            return self._one(*(each[0] for each in arrays), settings)[None]
        return self._kernel(*arrays, settings)

    def marked(self, arrays: Sequence[Floats], settings: Floats) -> Floats:
        """The same, with NaN where the result is no number."""
        return self._kernel(*arrays, settings, on_bad="nan")


class ClearSteps:
    """Compiled steps of a problem that keep clear; it holds no state.

    ``given`` are the arrays of the problem's inputs, flat (N, ...), ``settings`` those of its
    layout.
    """

    def __init__(self, problem: Problem, clear: Clear, compiler: Compiler) -> None:
        self.problem, self.clear, self._compiler = problem, clear, compiler
        self._least, self._tangent = LeastChange(compiler), Tangent(problem)
        self._kernels: dict[Output, _Kernel] = {}
        self._moved, self._moved_v = list(problem.moved), list(problem.moved_v)
        self._speeds = problem.mechanism.velocity_limit[self._moved_v]
        unit = np.array([problem.lengths[k] for k in problem.moved_v])
        weights = problem.joint_weights
        self._unit = unit if weights is None else unit * weights

    @cached_property
    def _rows(self) -> _Kernel:
        return _Kernel(build(rows_recipe(self.problem), compiler=self._compiler))

    def _taken(self, output: Output) -> _Kernel:
        if output not in self._kernels:
            made = build(taken_recipe(self.problem, output), compiler=self._compiler)
            self._kernels[output] = _Kernel(made)
        return self._kernels[output]

    def taken(
        self, output: Output, q: Floats, given: Sequence[Floats], x: Floats, settings: Floats
    ) -> Floats:
        """The step by a change x (N, n), as the kernel of a controller gives it."""
        return self._taken(output)([q, *given, x], settings)

    def _asked_rows(self, flat: Floats, gain: float) -> Asked:
        """The changes that the numbers of the rows' kernel ask for."""
        n = len(self._moved_v)
        k = (flat.shape[1] - 3 * n) // (n + 1)  # 3 n numbers, k errors, n k entries
        lower, upper, down, error = np.split(flat[:, : 3 * n + k], [n, 2 * n, 3 * n], axis=1)
        J = flat[:, 3 * n + k :].reshape(len(flat), n, k)
        error = gain * error
        left = np.sqrt(np.square(error).sum(axis=1))[:, None]
        free = _FREE + _FREE_BY_ERROR * left
        H = J @ J.transpose(0, 2, 1) + free[:, :, None] * np.eye(n)
        wanted = (J @ error[:, :, None])[:, :, 0] + free * down
        return Asked(np.linalg.solve(H, wanted[:, :, None])[:, :, 0], H, (lower, upper))

    def _pairs(self, near: Near) -> Floats:
        """The changes of distances (N, pairs, n) by those of columns."""
        return near.gradient[:, :, self._moved_v] * self._unit

    # --- pushes -----------------------------------------------------------------------------------

    def pushed(
        self, q: Floats, start: Floats, given: Sequence[Floats], settings: Floats, steps: int
    ) -> Floats:
        """q (N, nq) after so many steps for the tasks and out of what it touches.

        ``start`` (N, nq) is where the move began. What is no number any more stays where it was.
        """
        q = q.copy()
        for _ in range(steps):
            near = self.clear.near(q)
            asked = self._asked_rows(self._rows.marked([q, start, *given], settings), 1.0)
            wanted = np.minimum(self.clear.margin + _SPARE - near.distance, _FARTHEST)
            x = self._least(asked.H, self._pairs(near), wanted, asked.x, asked.ends)
            length = np.sqrt(np.square(x).sum(axis=1, keepdims=True))
            x *= np.minimum(1.0, _LONGEST / np.maximum(length, 1e-300)) * self._unit
            after = self._tangent.moved(q[:, self._moved], x / self._tangent.unit)
            after = np.clip(after, self.problem.lower, self.problem.upper)
            good = np.isfinite(after).all(axis=1, keepdims=True)
            q[:, self._moved] = np.where(good, after, q[:, self._moved])
        return q

    # --- control ----------------------------------------------------------------------------------

    def kept_clear(
        self,
        q: Floats,
        given: Sequence[Floats],
        settings: Floats,
        gain: float,
        dt: float,
        a_max: Floats,
    ) -> Floats:
        """The change (N, n) of one step of ``dt`` that brings no pair nearer than is allowed.

        ``a_max`` (nv,) are accelerations that joints can be stopped by, infinite without limit.
        ``settings`` are those of a controller, with three more than the layout's.
        """
        own = settings[: self.problem.layout.n_settings]
        near, asked = self.clear.near(q), self._asked_rows(self._rows([q, q, *given], own), gain)
        asked = asked._replace(x=asked.x * self._stoppable(asked.x, gain, dt, a_max))
        rows, allowed = self._pairs(near), self._allowed(near, dt, a_max)
        wanted = allowed - near.distance
        x = self._least(asked.H, rows, wanted, asked.x, asked.ends)
        for _ in range(_LOOKS - 1):
            after = self.taken("q", q, given, x, settings)[:, : self.problem.mechanism.n_q]
            # gradients as at q: rows and tasks of one place, or what only curves seems a gain
            then = self.clear.near(np.ascontiguousarray(after), at=q)
            over = _of_pairs(then, near, allowed) - then.distance
            if not (over > _OVER).any():
                break
            more = self._pairs(then)
            again = over + (more @ x[:, :, None])[:, :, 0]
            rows = np.concatenate([rows, more], axis=1)
            wanted = np.concatenate([wanted, again], axis=1)
            x = self._least(asked.H, rows, wanted, asked.x, asked.ends)
        return x

    def _stoppable(self, x: Floats, gain: float, dt: float, a_max: Floats) -> Floats:
        """The share (N, 1) of a change that leaves every joint able to stop where the tasks end."""
        way = np.abs(x * self._unit)
        speed = slowed(way / gain, gain / dt, _BRAKES * a_max[self._moved_v])
        shares = np.where(way > _RESTS, dt * speed / np.maximum(way, _RESTS), 1.0)
        return shares.min(axis=1, keepdims=True, initial=1.0)

    def _allowed(self, near: Near, dt: float, a_max: Floats) -> Floats:
        """The distances (N, pairs) that pairs must have after a step."""
        slope = np.abs(near.gradient[:, :, self._moved_v])
        with np.errstate(invalid="ignore"):
            brake = np.where(slope > 0.0, slope * a_max[self._moved_v], 0.0)
            reach = np.where(slope > 0.0, slope * self._speeds, 0.0)
        rate = min(self.clear.rate, 1.0 / dt)
        speed = slowed(near.distance - self.clear.margin, rate, _BRAKES * brake.sum(axis=2))
        # what joints can hardly part, such as two links beside each other, they do not go at
        beyond = np.maximum(-speed, 0.0) / np.maximum(_REACH * reach.sum(axis=2), 1e-300)
        return near.distance - dt * speed / (1.0 + np.minimum(beyond, 1e30) ** 4)


def _of_pairs(then: Near, near: Near, allowed: Floats) -> Floats:
    """The distances allowed to pairs of ``then``; to those not among ``near``, as to the last."""
    same = (then.bodies[:, :, None] == near.bodies[:, None]).all(axis=3)
    own = np.take_along_axis(allowed, same.argmax(axis=2), axis=1)
    return np.where(same.any(axis=2), own, allowed[:, -1:])
