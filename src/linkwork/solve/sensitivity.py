"""The derivatives of an answer by its targets: the implicit function theorem at a solution.

At an answer the rows of its tasks are zero. They stay zero while targets and held joints change if
what moves makes up for it: J dx = B dp, where the errors change by B dp - J dx. Of the changes that
do, the least is taken, in the units in which the solver measures a move; this is where the solver
goes from the answer. What stands at a limit stays there.

Source: implicit function theorem, as in any textbook of analysis.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from linkwork.algorithms.configuration import integrate
from linkwork.compile.compiler import Compiler, ProcessBound
from linkwork.compile.differentiable import Differentiable
from linkwork.compile.recipe import expression_recipe
from linkwork.errors import UnsupportedFeatureError
from linkwork.ops.dual import Dual, Duals
from linkwork.ops.protocol import Block, Ops
from linkwork.solve.expressions import level_of, parameters_of, seen_at
from linkwork.solve.inputs import Options, settings_of
from linkwork.solve.joint_update import JointUpdate
from linkwork.solve.problem import Problem

Floats = NDArray[np.float64]

_AT_LIMIT = 1.0e-9
"""A joint so near to a limit (rad, m) stands at it."""
_RANK = 1.0e-9
"""Singular values below this share of the largest are none."""
_NONE = 1.0e300
"""A bound that is none."""


class Sensitivity(ProcessBound):
    """The derivatives of a problem's answers by its targets and by q0.

    Raises: UnsupportedFeatureError for objectives, tasks of lower priority, tasks with slack and
    limits that bind several joints together.
    """

    def __init__(self, problem: Problem, compiler: Compiler, *, most_threads: int = 1) -> None:
        if problem.has_secondary_goals:
            raise UnsupportedFeatureError(
                "answers to objectives or tasks of lower priority have no derivative here: "
                "leave them out"
            )
        if any(any(task.slack) for task in problem.tasks):
            raise UnsupportedFeatureError("answers to tasks with slack have no derivative here")
        if any(limit.coupled or limit.needs_start for limit in problem.limits):
            raise UnsupportedFeatureError(
                "answers under limits that bind joints together, or the move from q0, have no "
                "derivative here: limits of position alone"
            )
        self.problem = problem
        self._compiler, self._most_threads = compiler, most_threads

    def __call__(
        self, q: Floats, success: NDArray[np.bool_], q0: Floats, targets: Sequence[Floats]
    ) -> tuple[list[Floats], Floats]:
        """Derivatives of q (n, nq) by the targets (n, nq, size), flat, and by q0 (n, nq, nq).

        That by q0 is of the joints that stay there; of those that move q0 chooses the branch, which
        is no derivative. All are NaN where there was no success.
        """
        problem, n = self.problem, q.shape[0]
        m = problem.mechanism
        sizes = [math.prod(each.shape) for each in problem.inputs]
        flat = [t.reshape(n, size) for t, size in zip(targets, sizes, strict=True)]
        columns, changes, lift, lower, upper = self._function(q, q0, *flat)
        n_moved = len(problem.moved_v)
        J = columns.reshape(n, n_moved, -1)
        B = changes.reshape(n, sum(sizes) + len(problem.held), -1)
        L = lift.reshape(n, n_moved, m.n_q)
        x = q[:, list(problem.moved)]
        stands = (np.abs(x - lower) < _AT_LIMIT) | (np.abs(upper - x) < _AT_LIMIT)
        free = np.ones((n, n_moved))
        for place, column in self._bounded:
            free[stands[:, place], column] = 0.0
        unit = self._unit * free
        bad = ~(success & np.isfinite(J).all((1, 2)) & np.isfinite(B).all((1, 2)))
        bad |= self._pressed(q)
        rows = np.where(bad[:, None, None], 0.0, J * unit[:, :, None])
        least = np.linalg.pinv(rows.transpose(0, 2, 1), rcond=_RANK)  # (n, moved, rows)
        dx = unit[:, :, None] * (least @ B.transpose(0, 2, 1))
        dq = L.transpose(0, 2, 1) @ dx
        dq[bad] = np.nan
        edges = np.cumsum([0, *sizes])
        by_targets = [dq[:, :, a:b] for a, b in pairwise(edges)]
        by_q0 = np.zeros((n, m.n_q, m.n_q))
        still = [k for k in range(m.n_q) if k not in set(problem.moved)]
        by_q0[:, still, still] = 1.0
        by_q0[:, :, list(problem.held)] += dq[:, :, edges[-1] :]
        by_q0[bad] = np.nan
        return by_targets, by_q0

    def _pressed(self, q: Floats) -> NDArray[np.bool_]:
        """Rows in which a spherical joint stands at its limit: how it goes on is not known."""
        pressed = np.zeros(q.shape[0], np.bool_)
        for ball in self.problem.balls:
            if math.isfinite(ball.limit):
                w = q[:, self.problem.moved[ball.place]]
                pressed |= 2.0 * np.arccos(np.clip(np.abs(w), 0.0, 1.0)) > ball.limit - 1.0e-7
        return pressed

    @cached_property
    def _bounded(self) -> list[tuple[int, int]]:
        """The places in x of what is a position of its own, and its column."""
        problem, m = self.problem, self.problem.mechanism
        found: list[tuple[int, int]] = []
        for place, k in enumerate(problem.moved):
            c = int(np.searchsorted(m.q_start, k, side="right")) - 1
            kind = m.joint_types[c]
            own = k - int(m.q_start[c])
            if not kind.has_quaternion or own < kind.n_lengths:
                found.append((place, problem.moved_v.index(int(m.v_start[c]) + own)))
        return found

    @cached_property
    def _unit(self) -> Floats:
        """The weight of each moved velocity, as in the solver's steps."""
        problem = self.problem
        unit = np.array([problem.lengths[k] for k in problem.moved_v])
        weights = problem.joint_weights
        return unit if weights is None else unit * np.array(weights)

    @cached_property
    def _function(self) -> Differentiable:
        """Compiled: columns of what moves, changes of the rows, of q, and the bounds of x."""
        problem, m = self.problem, self.problem.mechanism
        settings = settings_of(problem, Options())
        sizes = {f"target {k}": math.prod(each.shape) for k, each in enumerate(problem.inputs)}
        members = problem.levels[0]

        def expressions(o: Ops, q: Block, q0: Block, *targets: Block) -> dict[str, Block]:
            parameters, _ = parameters_of(o, problem, targets, q0)
            own = o.const(settings)
            update = JointUpdate(o, problem, parameters, own)
            x = [q[k] for k in problem.moved]
            level = level_of(update, members, seen_at(update, update.configuration(x)))
            reach = update.reach(update.configuration(x))
            changed = _changed(o, problem, settings, [q, q0, *targets])
            return {
                "columns": o.concat(level.columns),
                "changes": o.concat(changed) if changed else o.vector([]),
                "lift": o.concat(_lift(o, problem, q)),
                "lower": o.vector([o.const(-_NONE) if a is None else a for a, _ in reach]),
                "upper": o.vector([o.const(_NONE) if b is None else b for _, b in reach]),
            }

        key = ("sensitivity", repr(settings.tolist()), *problem.key)
        recipe = expression_recipe(
            key, "sensitivity", {"q": m.n_q, "q0": m.n_q, **sizes}, expressions
        )
        return Differentiable(recipe, self._compiler, most_threads=self._most_threads)


def _changed(o: Ops, problem: Problem, settings: Floats, inputs: Sequence[Block]) -> list[Block]:
    """The changes of the rows with each number of each target, then of each held joint."""
    d = Duals(o)
    q, q0, *targets = inputs
    count, duals = 0, []
    for target, each in zip(targets, problem.inputs, strict=True):
        numbers: list[Block] = []
        for k in range(math.prod(each.shape)):
            numbers.append(d.block(target[k], {count: o.const(1.0)}))
            count += 1
        duals.append(d.vector(numbers))
    held = {k: count + place for place, k in enumerate(problem.held)}
    m = problem.mechanism
    start = d.vector(
        [d.block(q0[k], {held[k]: o.const(1.0)} if k in held else {}) for k in range(m.n_q)]
    )
    parameters, _ = parameters_of(d, problem, duals, start)
    update = JointUpdate(d, problem, parameters, d.const(settings))
    x: list[Block] = [Dual(o, q[k], {}) for k in problem.moved]
    level = level_of(update, problem.levels[0], seen_at(update, update.configuration(x)))
    return [d.change(level.error, k) for k in range(count + len(held))]


def _lift(o: Ops, problem: Problem, q: Block) -> list[Block]:
    """The changes of q with each moved velocity."""
    m, d = problem.mechanism, Duals(o)
    place = {v: k for k, v in enumerate(problem.moved_v)}
    v = d.vector(
        [
            d.block(o.const(0.0), {place[k]: o.const(1.0)} if k in place else {})
            for k in range(m.n_v)
        ]
    )
    there = d.const(integrate(d, m, d.const(q), v))
    return [d.change(there, k) for k in range(len(problem.moved_v))]
