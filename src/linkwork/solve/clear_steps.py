"""Steps that keep clear: what the tasks ask for, changed as little as keeps pairs apart.

The tasks propose a step inside all limits (`control_step`). Where it would bring a pair nearer than
is allowed, the nearest step by the tasks' own measure that does not is taken: what the tasks leave
free gives way first, lower priorities next, the tasks last. Distances are those after the step,
asked of the model again, so that curved surfaces are not cut.

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
from linkwork.solve.control_step import Output, change_recipe, taken_recipe
from linkwork.solve.least_change import LeastChange
from linkwork.solve.problem import Problem

Floats = NDArray[np.float64]

FREE = 1.0e-3
"""The weight of what the tasks leave free beside the tasks."""
_LOOKS = 3
"""Changes of a step at most, each with the distances that the one before has led to."""
_OVER = 1.0e-6
"""Metres by which a pair may come nearer than a step was to bring it."""
_BRAKES = 0.5
"""The share of the acceleration of all joints that a pair's approach is stopped with."""


def units(problem: Problem) -> Floats:
    """The unit of each column (n,): a length of slides, times the joint's weight."""
    unit = np.array([problem.lengths[k] for k in problem.moved_v])
    return unit if problem.joint_weights is None else unit * problem.joint_weights


class Change(NamedTuple):
    """What the tasks propose: a change (N, n), between bounds (N, n), measured by H (N, n, n)."""

    x: Floats
    ends: tuple[Floats, Floats]
    H: Floats


class ClearSteps:
    """Compiled steps of a problem that keep clear; it holds no state."""

    def __init__(self, problem: Problem, clear: Clear, compiler: Compiler) -> None:
        self.problem, self.clear, self._compiler = problem, clear, compiler
        self._least = LeastChange(compiler)
        self._kernels: dict[Output, Kernel] = {}
        self._moved = list(problem.moved_v)
        self._unit = units(problem)

    @cached_property
    def _change(self) -> Kernel:
        return build(change_recipe(self.problem), compiler=self._compiler)

    def _taken(self, output: Output) -> Kernel:
        if output not in self._kernels:
            made = build(taken_recipe(self.problem, output), compiler=self._compiler)
            self._kernels[output] = made
        return self._kernels[output]

    def proposed(self, q: Floats, given: Sequence[Floats], settings: Floats) -> Change:
        """The change that the tasks ask for at q (N, nq)."""
        n, flat = len(self._moved), self._change(q, *given, settings)
        x, lower, upper = flat[:, :n], flat[:, n : 2 * n], flat[:, 2 * n : 3 * n]
        J = flat[:, 3 * n :].reshape(len(q), n, -1)
        H = J @ J.transpose(0, 2, 1) + FREE * np.eye(n)
        return Change(np.ascontiguousarray(x), (lower, upper), H)

    def taken(
        self,
        output: Output,
        q: Floats,
        given: Sequence[Floats],
        x: Floats,
        settings: Floats,
    ) -> Floats:
        """The step by a change x (N, n), as the kernel of a controller gives it."""
        return self._taken(output)(q, *given, x, settings)

    def kept_clear(
        self, q: Floats, given: Sequence[Floats], settings: Floats, dt: float, a_max: Floats
    ) -> Floats:
        """The change (N, n) of one step of ``dt`` that brings no pair nearer than is allowed.

        ``a_max`` (nv,) are accelerations that joints can be stopped by, infinite without limit.
        """
        near, change = self.clear.near(q), self.proposed(q, given, settings)
        rows = self._rows(near)
        allowed = self._allowed(near.distance, near.gradient, dt, a_max)
        wanted = allowed - near.distance
        x = self._least(change.H, rows, wanted, change.x, change.ends)
        for _ in range(_LOOKS - 1):
            after = self.taken("q", q, given, x, settings)[:, : self.problem.mechanism.n_q]
            then = self.clear.near(np.ascontiguousarray(after))
            due = _of_pairs(then, near, allowed)
            over = due - then.distance
            if not (over > _OVER).any():
                break
            more = self._rows(then)
            both = np.concatenate([rows, more], axis=1)
            again = over + (more @ x[:, :, None])[:, :, 0]
            wants = np.concatenate([wanted, again], axis=1)
            x = self._least(change.H, both, wants, change.x, change.ends)
        return x

    def _rows(self, near: Near) -> Floats:
        return near.gradient[:, :, self._moved] * self._unit

    def _allowed(self, distance: Floats, gradient: Floats, dt: float, a_max: Floats) -> Floats:
        """The distances (N, n pairs) that pairs must have after a step."""
        rows = np.abs(gradient[:, :, self._moved])
        with np.errstate(invalid="ignore"):
            brake = np.where(rows > 0.0, rows * a_max[self._moved], 0.0)
        brake = _BRAKES * brake.sum(axis=2)
        room = distance - self.clear.margin
        rate = min(self.clear.rate, 1.0 / dt)
        return distance - dt * slowed(room, rate, brake)


def _of_pairs(then: Near, near: Near, allowed: Floats) -> Floats:
    """What is allowed of the pairs of ``then``: of those not among ``near``, as of its farthest."""
    same = then.pair[:, :, None] == near.pair[:, None, :]
    own = np.take_along_axis(allowed, same.argmax(axis=2), axis=1)
    return np.where(same.any(axis=2), own, allowed[:, -1:])
