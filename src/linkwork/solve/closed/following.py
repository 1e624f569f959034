"""The branch of assembly that a configuration is on, followed: its expressions.

The actuated joints go straight from where they are in ``near`` to where they are asked for, and the
passive ones are followed on their branch of assembly. One iteration of the lanes is one evaluation:
a prediction along the tangent is corrected until the loops are closed, then taken, with a longer
step, or given up for a shorter one. It is taken where the tangent has hardly turned, the correction
is the one that this turn explains, and the Jacobian in the passive joints has passed no
singularity (`LeastSquares.kept`). Where no step is short enough, the branch ends: at a singularity,
or where a joint would leave its limits.

Source: E. L. Allgower and K. Georg, Introduction to Numerical Continuation Methods (SIAM, 2003),
chapters 2, 6 and 8: prediction and correction, step lengths, and the sign of the determinant.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntEnum
from typing import NamedTuple

import numpy as np

from linkwork.algorithms.configuration import difference, integrate
from linkwork.ops.protocol import Block, Condition, Ops
from linkwork.solve.expressions import (
    Expressions,
    Linearised,
    far,
    first_level,
    inside,
    level_of,
    linearised,
    outside,
    seen_at,
)
from linkwork.solve.joint_update import JointUpdate, times
from linkwork.solve.least_squares import LeastSquares
from linkwork.solve.problem import Problem

_LONGEST = 0.7
"""Radians, over all joints, that one prediction goes at most."""
_FARTHEST = 0.3
"""A first correction that is longer (radians, over all joints) is not made."""
_TURN = 0.2
"""Half of what the tangent may turn by over a step, times the step: the error of a prediction."""
_BEND = 0.1
"""Distance (rad) of a correction from the one that the turn of the tangent explains."""
_KEPT = 0.1
"""The share of the Jacobian's pivots that a step has to keep."""
_HELD = 1.0e3
"""Pivots above so many times the damping count for the rank, which is to stay as it is."""
_AIM = 0.25
"""The share of `_TURN` that the next step is to have."""
_LONGER, _SHORTER = 4.0, 0.4
_SHORTEST = 3.0e-5
"""Radians, over the actuated joints: steps that would be shorter end the way. Nearer than this to a
singularity rounding decides which branch a correction leads to."""
_WHOLE = 1.0 - 1.0e-9
"""A share of the way beyond this is the whole way."""
_CORRECTIONS = 6
"""So many, of which each is at most half as long as the one before, close the loops or never do."""
_MOST_AT_START = 50.0
"""Corrections of a ``near`` that is open: it is closed first, from wherever it is."""


class End(IntEnum):
    """Why a way ended: at its end, or before."""

    ARRIVED = 0
    BRANCH_ENDS = 1
    OPEN_AT_START = 2
    ITERATIONS = 3


MEASURES_OF_WAY = 2
"""After the measures of the loops: the `End`, and the share of the way that was gone."""


class _State(NamedTuple):
    """The state of a lane: the numbers of x, in this order."""

    y: Block  # what moves: predicted or corrected
    y0: Block  # what moves, where the last step was taken
    correction: Block  # of the step so far, in the units of the columns
    tangent: Block  # by the share of the way, at y0
    before: Block  # the entries of the Jacobian at y0
    rank: Block  # of that Jacobian
    taken: Block  # the share of the way at y0
    share: Block  # the share of the way at y
    corrections: Block  # how many the step has had
    last: Block  # the squared length of the last of them
    iterations: Block
    end: Block


def following_expressions(problem: Problem, given: Sequence[int]) -> Expressions:
    """The expressions of following the branch that ``near`` is on; ``given`` are indices into q.

    Settings are those of the problem, then the most iterations.
    """
    m = problem.mechanism
    way = _Way(problem, given)
    n_settings = problem.layout.n_settings + 1
    groups = sum(len(task.groups) for task in problem.tasks)

    def prepare(o: Ops, target: Block, q0: Block) -> dict[str, Block]:
        start = inside(o, problem, q0)
        rest = [0.0] * (way.size - 2 * len(start))
        return {
            "x0": o.vector([*start, *start, *map(o.const, rest)]),
            "parameters": o.concat([q0, target]),
            "fault": o.vector([far(o, target, len(given))]),
            "features": o.vector([]),
        }

    def iterate(o: Ops, x: Block, parameters: Block, settings: Block) -> dict[str, Block]:
        after, state = way.iteration(o, x, parameters, settings)
        return {"x": after, "state": state}

    def verify(o: Ops, x: Block, q0: Block, parameters: Block, settings: Block) -> dict[str, Block]:
        at = way.state(o, x)
        share = o.select(o.less(at.end, 0.5), 1.0, at.taken)
        whole = way.actuated_at(o, parameters, share)
        open_ = o.less(o.absolute(at.end - float(End.OPEN_AT_START)), 0.5)
        current = o.either(open_, o.less(at.end, 0.5))
        passive = [o.select(current, at.y[k], at.y0[k]) for k in range(len(problem.moved))]
        own = o.vector([whole[k] for k in problem.held])
        plain = o.vector([o.const(0.0)] * problem.layout.n_settings)
        update = JointUpdate(o, problem, own, plain)
        seen = seen_at(update, update.configuration(passive))
        for k, value in zip(problem.moved, passive, strict=True):
            whole[k] = value
        measures = [squared for each in seen for squared in each.residual.squared]
        beyond = outside(o, m, whole, [*given, *problem.moved])
        return {
            "q": o.vector(whole),
            "measures": o.vector([*measures[:groups], at.end, share, beyond]),
        }

    return Expressions(
        key=("following", ",".join(map(str, given)), *problem.key),
        inputs=((len(given),),),
        n_q=m.n_q,
        n=way.size,
        n_parameters=m.n_q + len(given),
        n_settings=n_settings,
        prepare=prepare,
        iterate=iterate,
        verify=verify,
    )


class _Way:
    """The straight way of the actuated joints, and the iteration that follows it."""

    def __init__(self, problem: Problem, given: Sequence[int]) -> None:
        m = problem.mechanism
        self.problem, self.given = problem, tuple(given)
        driven = [c for c in range(len(m.joint_types)) if int(m.q_start[c]) in self.given]
        self.driven = m.v_indices(driven)
        self.floats = any(m.joint_types[c].has_quaternion for c in driven)
        self.lengths = [problem.lengths[k] for k in self.driven]
        blocks = problem.row_blocks(problem.levels[0])
        self.entries = [
            (i, k) for block in blocks for i in range(block.start, block.stop)
            for k in sorted(block.columns)
        ]  # fmt: skip
        n, n_v = len(problem.moved), len(problem.moved_v)
        self.sizes = _State(n, n, n_v, n_v, len(self.entries), *[1] * 7)
        self.size = sum(self.sizes)

    def state(self, o: Ops, x: Block) -> _State:
        """The parts of x."""
        stops = np.cumsum(self.sizes).tolist()
        parts = [o.part(x, stop - size, stop) for size, stop in zip(self.sizes, stops, strict=True)]
        return _State(*parts[:5], *(part[0] for part in parts[5:]))

    def actuated_at(self, o: Ops, parameters: Block, share: Block) -> list[Block]:
        """All of q with the actuated joints at a share of their way, the rest as in ``near``."""
        m = self.problem.mechanism
        near, goal = self._ends(parameters)
        between = near
        if self.floats:
            v = difference(o, m, o.vector(near), o.vector(goal))
            there = integrate(o, m, o.vector(near), share * v)
            between = [there[k] for k in range(m.n_q)]
        found = list(near)
        there = o.less(share, 1.0)
        for k in self.given:
            middle = between[k] if self.floats else near[k] + share * (goal[k] - near[k])
            found[k] = o.select(there, middle, goal[k])
        return found

    def _ends(self, parameters: Block) -> tuple[list[Block], list[Block]]:
        n_q = self.problem.mechanism.n_q
        near = [parameters[k] for k in range(n_q)]
        goal = list(near)
        for place, k in enumerate(self.given):
            goal[k] = parameters[n_q + place]
        return near, goal

    def _speeds(self, o: Ops, parameters: Block) -> list[Block]:
        """The driven numbers of v over the whole way."""
        m = self.problem.mechanism
        near, goal = self._ends(parameters)
        if self.floats:
            v = difference(o, m, o.vector(near), o.vector(goal))
            return [v[k] for k in self.driven]
        return [goal[k] - near[k] for k in sorted(self.given)]

    def iteration(
        self, o: Ops, x: Block, parameters: Block, settings: Block
    ) -> tuple[Block, Block]:
        """x' and the state that the lanes look at: the gap is above 0 until the way has ended."""
        problem = self.problem
        at = self.state(o, x)
        whole = self.actuated_at(o, parameters, at.share)
        own = o.vector([whole[k] for k in problem.held])
        plain = o.part(settings, 0, problem.layout.n_settings)
        update = JointUpdate(o, problem, own, plain)
        seen = linearised(update, at.y)
        factored = first_level(update, seen.levels[0])
        move = factored.step(seen.levels[0].error)
        tangent, pace, length = self._tangent(o, seen, factored, parameters)
        closed = o.negate(o.less(0.0, seen.gap))
        begins = o.negate(o.less(0.0, at.share))
        step = at.share - at.taken
        turn, smooth = self._prediction_error(o, at, tangent, step)
        rank, regular = self._regular(o, at, factored)
        taken = o.both(closed, o.either(begins, o.both(smooth, regular)))
        given_up = o.either(closed, self._hopeless(o, at, move))
        lost = o.both(o.negate(o.either(begins, taken)), given_up)
        aim = o.maximum(_SHORTER, o.sqrt(_AIM * _TURN / (turn + 1e-12)))
        longer = step * o.minimum(_LONGER, aim)
        longer = o.minimum(o.select(begins, 1.0, longer), _LONGEST / pace)
        forward = o.minimum(longer, 1.0 - at.share)
        ahead = at.share + forward
        again = _SHORTER * step
        at_start = o.both(begins, o.negate(closed))
        late = o.less(settings[problem.layout.n_settings] - 1.5, at.iterations)
        endless = o.both(at_start, o.less(_MOST_AT_START, at.corrections))
        end = at.end
        for why, code in (
            (late, End.ITERATIONS),
            (endless, End.OPEN_AT_START),
            (o.both(lost, o.less(again * length, _SHORTEST)), End.BRANCH_ENDS),
        ):
            end = o.select(why, float(code), end)
        n = range(len(problem.moved_v))

        def chosen(if_taken: Block, if_lost: Block, otherwise: Block) -> Block:
            return o.select(taken, if_taken, o.select(lost, if_lost, otherwise))

        base = [o.select(lost, at.y0[k], at.y[k]) for k in range(len(problem.moved))]
        gone = [chosen(forward * tangent[k], again * at.tangent[k], move[k]) for k in n]
        moves = [times(unit, each) for unit, each in zip(update.unit, gone, strict=True)]
        y = update.moved(o.vector(base), moves, seen.reach, wrap=False)
        columns = seen.levels[0].columns
        entries = o.vector([columns[k][i] for i, k in self.entries])
        after = _State(
            y=y,
            y0=_each(o, taken, at.y, at.y0, len(problem.moved)),
            correction=o.vector([chosen(0.0, 0.0, at.correction[k] + move[k]) for k in n]),
            tangent=o.vector([o.select(taken, tangent[k], at.tangent[k]) for k in n]),
            before=_each(o, taken, entries, at.before, len(self.entries)),
            rank=o.select(taken, rank, at.rank),
            taken=o.select(taken, at.share, at.taken),
            share=chosen(o.select(o.less(_WHOLE, ahead), 1.0, ahead), at.taken + again, at.share),
            corrections=chosen(0.0, 0.0, at.corrections + 1.0),
            last=chosen(0.0, 0.0, _squares(move)),
            iterations=at.iterations + 1.0,
            end=end,
        )
        arrived = o.both(taken, o.negate(o.less(at.share, 1.0)))
        done = o.either(arrived, o.less(0.5, at.end))
        state = o.vector([o.select(done, -1.0, 1.0), 1.0 - at.taken])
        return o.concat([b if k < 5 else o.vector([b]) for k, b in enumerate(after)]), state

    def _tangent(
        self, o: Ops, seen: Linearised, factored: LeastSquares, parameters: Block
    ) -> tuple[list[Block], Block, Block]:
        """The tangent by the share of the way, the speed of all joints together, and that of the
        actuated ones."""
        problem = self.problem
        speeds = self._speeds(o, parameters)
        driven = level_of(seen.update, problem.levels[0], seen.seen, self.driven)
        opened: Block = o.const([0.0] * seen.levels[0].rows)
        for speed, column in zip(speeds, driven.columns, strict=True):
            opened = opened - speed * column
        tangent = factored.step(opened)
        own = [speed / length for speed, length in zip(speeds, self.lengths, strict=True)]
        squared = sum((v * v for v in own), o.const(1e-24))
        straight = problem.straight
        bent = [own_ for k, own_ in zip(self.driven, own, strict=True) if k not in straight]
        bent += [t for k, t in zip(problem.moved_v, tangent, strict=True) if k not in straight]
        together = sum((v * v for v in bent), o.const(1e-24))
        return tangent, o.sqrt(together), o.sqrt(squared)

    def _prediction_error(
        self, o: Ops, at: _State, tangent: Sequence[Block], step: Block
    ) -> tuple[Block, Condition]:
        """Half the turn of the tangent times the step; whether that and what it does not explain
        of the correction are small."""
        turns = [0.5 * step * (t - at.tangent[k]) for k, t in enumerate(tangent)]
        rest = [at.correction[k] - turn for k, turn in enumerate(turns)]
        turn = o.sqrt(_squares(turns) + 1e-30)
        return turn, o.both(o.less(turn, _TURN), o.less(_squares(rest), _BEND * _BEND))

    def _regular(self, o: Ops, at: _State, factored: LeastSquares) -> tuple[Block, Condition]:
        """The rank of the Jacobian, and whether no singularity lies between y0 and y."""
        rows = sum(self.problem.tasks[k].n_rows for k in self.problem.levels[0])
        before: list[list[Block]] = [[o.const(0.0)] * rows for _ in self.problem.moved_v]
        for place, (i, k) in enumerate(self.entries):
            before[k][i] = at.before[place]
        kept = factored.kept([o.vector(column) for column in before])
        rank = factored.rank(_HELD)
        same = o.less(o.absolute(rank - at.rank), 0.5)
        return rank, o.both(o.less(_KEPT, kept), same)

    def _hopeless(self, o: Ops, at: _State, move: Sequence[Block]) -> Condition:
        """Whether corrections are too long, too many, or do not get shorter."""
        squared = _squares(move)
        first = o.less(at.corrections, 0.5)
        long = o.both(first, o.less(_FARTHEST**2, squared))
        slow = o.both(o.negate(first), o.less(0.25 * at.last, squared))
        return o.either(o.either(long, slow), o.less(_CORRECTIONS - 0.5, at.corrections))


def _squares(values: Sequence[Block]) -> Block:
    return sum((v * v for v in values[1:]), values[0] * values[0])


def _each(o: Ops, condition: Condition, a: Block, b: Block, n: int) -> Block:
    """The one or the other of two vectors (n,)."""
    return o.vector([o.select(condition, a[k], b[k]) for k in range(n)])
