"""Assembly: the passive joints for given actuated ones, the branches, and why there is none.

A branch is followed from a configuration on it: the actuated joints go straight to where they are
asked for, and the passive ones are followed. One iteration of the lanes is one evaluation: a
prediction along the tangent is corrected until the loops are closed, then taken, with a longer
step, or given up for a shorter one. It is taken where the tangent has hardly turned, the correction
is the one that this turn explains, and the Jacobian in the passive joints has passed no
singularity (`LeastSquares.kept`). Where no step is short enough, the branch ends: at a singularity,
or where a joint would leave its limits.

Source: E. L. Allgower and K. Georg, Introduction to Numerical Continuation Methods (SIAM, 2003),
chapters 2, 6 and 8: prediction and correction, step lengths, and the sign of the determinant.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from linkwork.algorithms.closure import valueless
from linkwork.algorithms.configuration import difference, integrate
from linkwork.algorithms.independent_rows import change_point, change_points
from linkwork.checks import (
    broadcast_rows,
    finite_number,
    finite_rows,
    leading_shape,
    real_rows,
    whole_number,
)
from linkwork.compile.compiler import Compiler, ProcessBound
from linkwork.compile.lanes import Stall
from linkwork.compile.native_call import Part, mapping_call
from linkwork.compile.numpy_abi import address
from linkwork.compile.threads import thread_count
from linkwork.errors import InputError, ShapeError, UnknownNameError
from linkwork.mechanism.model import Mechanism
from linkwork.mechanism.named_positions import Configuration
from linkwork.mechanism.neutral import neutral
from linkwork.ops.protocol import Block, Condition, Ops
from linkwork.renamed import renamed_keyword
from linkwork.solve.closed.polygons import at_rest, longest_excess, polygons
from linkwork.solve.expressions import (
    ROUNDING,
    Expressions,
    Linearised,
    far,
    first_level,
    inside,
    iteration,
    level_of,
    linearised,
    outside,
    seen_at,
    verified,
)
from linkwork.solve.inputs import Options, changed, configuration, settings_of
from linkwork.solve.joint_update import JointUpdate, sum_of_squares, times
from linkwork.solve.least_squares import LeastSquares
from linkwork.solve.problem import Problem, make_problem
from linkwork.solve.program import Listed, Otherwise, Program, Refused, program_of
from linkwork.solve.result import UNITS, AllSolutions, Column, IKResult, Terms, at_limits
from linkwork.solve.seeds import starting_points, starts_of
from linkwork.solve.selection import nearest_first
from linkwork.solve.tasks import Closed, Group

# --- the branch of a configuration, followed ---

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
    """The reason why a way ended: at its end, or before."""

    ARRIVED = 0
    BRANCH_ENDS = 1
    OPEN_AT_START = 2
    ITERATIONS = 3


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
        found, goal, way = self._ends_of_way(o, parameters)
        middle = integrate(o, self.problem.mechanism, o.vector(found), share * way)
        there = o.less(share, 1.0)
        for k in self.given:
            found[k] = o.select(there, middle[k], goal[k])
        return found

    def _ends_of_way(self, o: Ops, parameters: Block) -> tuple[list[Block], list[Block], Block]:
        """The beginning of the way, its end with the actuated joints, and the way (nv,)."""
        m = self.problem.mechanism
        near = [parameters[k] for k in range(m.n_q)]
        goal = list(near)
        for place, k in enumerate(self.given):
            goal[k] = parameters[m.n_q + place]
        return near, goal, difference(o, m, o.vector(near), o.vector(goal))

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
            last=chosen(0.0, 0.0, sum_of_squares(move)),
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
        way = self._ends_of_way(o, parameters)[2]
        speeds = [way[k] for k in self.driven]
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
        turn = o.sqrt(sum_of_squares(turns) + 1e-30)
        return turn, o.both(o.less(turn, _TURN), o.less(sum_of_squares(rest), _BEND * _BEND))

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
        squared = sum_of_squares(move)
        first = o.less(at.corrections, 0.5)
        long = o.both(first, o.less(_FARTHEST**2, squared))
        slow = o.both(o.negate(first), o.less(0.25 * at.last, squared))
        return o.either(o.either(long, slow), o.less(_CORRECTIONS - 0.5, at.corrections))


def _each(o: Ops, condition: Condition, a: Block, b: Block, n: int) -> Block:
    """The one or the other of two vectors (n,)."""
    return o.vector([o.select(condition, a[k], b[k]) for k in range(n)])


Floats = NDArray[np.float64]
Actuated = ArrayLike | Mapping[str, float]

_STEPS = 50
_TRIES = 200
"""So many find what few starts lead to: one state in 500 of a Stewart platform needs over 50."""
_CLOSER = 0.25
"""The search goes on to this share of the squared tolerance, so that rounding decides nothing."""
_ITERATIONS = 5000
"""Iterations of a way that is followed: a crank's fifty turns."""
_NONE = np.zeros((0, 0))
_OPEN = 1.0e-12
_MET = 1.0e-3
"""So little of the rows' rank is left where a way ends next to a change point."""
_AT_LIMIT = 1.0e-3
"""So near to a limit (rad, m) is at it where steps that got shorter ended a way."""


class _Schedule(NamedTuple):
    """A program and the numbers of one call of it."""

    program: Program
    options: Options
    numbers: Floats
    terms: Terms


class Assembly(ProcessBound):
    """A compiled solver for the passive joints of a mechanism, to be called again and again.

    ``actuated`` are the joints whose positions are given, by default those that the mechanism says;
    all others that a loop or coupling depends on are passive. It holds no state between calls.

    Source: damped least squares with damping in proportion to the error (Sugihara, 2011), on the
    normal equations of sparse blocks, iterated in vector lanes.
    Raises: UnknownNameError, InputError.
    """

    def __init__(
        self,
        mechanism: Mechanism,
        actuated: str | Sequence[str] | None = None,
        *,
        compiler: Compiler | None = None,
    ) -> None:
        self.mechanism = m = mechanism
        self.actuated = actuated_names(m, actuated)
        looped = [m.joint_names[c] for c in Closed().bind(m).coordinates]
        self.passive = tuple(name for name in looped if name not in self.actuated)
        if not self.passive:
            raise InputError(f"every joint in the loops of '{m.name}' is actuated: none is passive")
        self.problem = make_problem(m, Closed(), joints=self.passive)
        self._neutral = neutral(m)
        self._compiler = compiler or Compiler()
        self._given = given_positions(m, self.actuated)

    @cached_property
    def _search(self) -> _Schedule:
        """From starts to any branch."""
        expressions = assembly_expressions(self.problem, self._given)
        starts = np.ascontiguousarray(np.stack(starts_of(self.problem)))
        return self._schedule(
            self._program(expressions, starts), Options(steps=_STEPS, tries=_TRIES)
        )

    @cached_property
    def _following(self) -> _Schedule:
        """From ``q0`` along its branch."""
        expressions = following_expressions(self.problem, self._given)
        starts = np.zeros((3, expressions.n))  # of tries at random points: there are none
        program = self._program(expressions, starts)
        return self._schedule(program, Options(steps=_ITERATIONS), following=True)

    def _program(self, expressions: Expressions, starts: Floats) -> Program:
        with self._compiler.work(f"the assembly of {self.mechanism.name}"):
            return program_of(expressions, starts, (), compiler=self._compiler)

    def _schedule(
        self, program: Program, options: Options, *, following: bool = False
    ) -> _Schedule:
        """The numbers of a search, or of a way that is followed."""
        problem = self.problem
        columns = tuple(Column(t.name, g, t.priority) for t in problem.tasks for g in t.groups)
        settings = settings_of(problem, options)
        most = settings[: len(columns)].copy()
        settings[: len(columns)] *= _CLOSER
        numbers, thresholds = settings.tolist(), [*most.tolist(), ROUNDING]
        named = {"seed": options.seed, "seed_try": -1, "checked": 0}
        if following:
            if options.tries is not None or options.seed:
                raise InputError(
                    "tries and seed are those of a search, but the way from q0 is followed; "
                    "follow=False takes q0 as the start of a search"
                )
            iterations = options.steps or _ITERATIONS
            # the expression counts by itself; the lanes are never the first to end
            named |= {"steps": iterations + 3, "tries": 1}
            numbers.append(float(iterations))
            thresholds[-1:] = [float(End.ARRIVED), math.inf, ROUNDING]
        else:
            named |= {"steps": options.steps_for(problem), "tries": options.tries_for(problem)}
        messages = AssemblyMessages(
            self.mechanism,
            tuple(column.group for column in columns),
            self._given if following else None,
        )
        terms = Terms(columns, most, messages, messages.solved)
        return _Schedule(program, options, program.options(named, numbers, thresholds), terms)

    @property
    def given(self) -> tuple[int, ...]:
        """The indices in q of the positions that are given, in the order of `actuated`."""
        return tuple(self._given)

    @property
    def n_actuated(self) -> int:
        """The number of positions of the actuated joints."""
        return len(self._given)

    def solve(  # noqa: PLR0913  all but two are named options
        self,
        actuated: Actuated,
        q0: Configuration | None = None,
        *,
        follow: bool = True,
        steps: int | None = None,
        tries: int | None = None,
        seed: int | None = None,
        options: Options | None = None,
        threads: int = 1,
        near: Configuration | None = None,
    ) -> IKResult:
        """Configurations that are assembled, with the actuated joints at these positions.

        ``actuated`` (..., n_actuated) in the order of `actuated`, or by name: what is not named
        is where ``q0`` has it. From ``q0`` (..., nq) the actuated joints go straight to these
        positions, and the others are followed on their branch of assembly, past no singularity.
        Where that branch ends on the way, or a joint would leave its limits, ``success`` is False,
        ``q`` is the assembled configuration where it ends, and ``reason`` says so. A ``q0`` that
        is open is closed first, with its actuated joints where they are. ``follow=False``: it is
        only where a search for any branch starts. Without ``q0`` that search starts at neutral;
        it goes on at random. What is neither stays where ``q0``, or neutral, has it.

        Raises: ShapeError, InputError for what is not finite or has the wrong shape, and for
        options of a search (``tries``, ``seed``) where a way is followed.
        """
        if near is not None:
            q0 = renamed_keyword("Assembly.solve", "near", "q0", near, q0)
        following = follow and q0 is not None
        schedule = self._following if following else self._search
        changes = _changes(steps, tries, seed)
        if options is None and changes == _changes(None, None, None):
            row = schedule.program.one(
                actuated, self._neutral if q0 is None else q0, schedule.numbers
            )
            n_q = self.mechanism.n_q
            if row is not None and row[n_q] != 0.0:
                return IKResult(row[:n_q], row[n_q:], schedule.terms, _NONE)
        else:
            chosen = changed(options or schedule.options, changes)
            schedule = self._schedule(schedule.program, chosen, following=following)
        clock = self._compiler.clock
        begin = clock() if clock else math.nan
        given, start, lead = self._rows(actuated, q0)
        q, report = self._run(schedule, given, start, thread_count(threads))
        took = clock() - begin if clock else math.nan
        shape = (*lead, q.shape[1]), (*lead, report.shape[1])
        return IKResult(q.reshape(shape[0]), report.reshape(shape[1]), schedule.terms, given, took)

    def listed(self, rows: int) -> Listed:
        """Ways for compiled code that follows so many at a time from q0; see `Listed`."""
        schedule = self._following
        given = np.zeros((rows, self.n_actuated))
        return Listed(schedule.program, schedule.numbers, [given], rows)

    def named(
        self, given: Sequence[Part], found: Sequence[Part], q0: Configuration
    ) -> Callable[[Any], dict[str, Any] | None]:
        """``call(state)``: from a dict of positions to a dict of positions, in one native call.

        ``given`` are its parts with their places among the actuated positions, ``found`` those of
        the result with their places in q. The way from ``q0`` (nq,) is followed as by `solve`. It
        returns None where that does not assemble it, and for anything but dicts of floats.
        """
        schedule = self._following
        program, sizes = schedule.program, schedule.program.sizes
        if not program.made.facts["one"]:
            return Otherwise()
        kept = [np.ascontiguousarray(configuration(q0, self.mechanism, "q0")), schedule.numbers]
        return mapping_call(
            (tuple(given), tuple(found)),
            (sizes.n_q + sizes.report, sizes.n_q),
            self._compiler,
            Otherwise(program, kept),
            rows=program.made.code.address("one"),
            arrays=[address(a) for a in kept],
        )

    def all_solutions(  # noqa: PLR0913  all but two are named options
        self,
        actuated: Actuated,
        q0: Configuration | None = None,
        *,
        starts: int = 500,
        apart: float = 1.0e-3,
        steps: int | None = None,
        tries: int | None = None,
        seed: int | None = None,
        options: Options | None = None,
        threads: int = 1,
    ) -> AllSolutions:
        """Every branch that is found from ``starts`` starts (n, nq), the nearest to ``q0`` first.

        Branches that differ by less than ``apart`` (radians of the joint that differs most) are
        one. Of a mechanism that the actuated joints do not fix these are samples.

        Raises: as `solve`; ShapeError for more than one row.
        """
        n, apart = whole_number(starts, "starts"), finite_number(apart, "apart", least=0.0)
        given, start, lead = self._rows(actuated, q0)
        if lead != ():
            raise ShapeError(f"all branches are those of one row, not of rows of shape {lead}")
        usual = options or Options(steps=_STEPS, tries=1)
        schedule = self._schedule(
            self._search.program, changed(usual, _changes(steps, tries, seed))
        )
        points = starting_points(self.problem, start, n, schedule.options.seed)[0]
        many, points = np.repeat(given, n, axis=0), np.ascontiguousarray(points)
        q, report = self._run(schedule, many, points, thread_count(threads))
        solved = np.flatnonzero(report[:, 0] > 0.5)
        solved = solved[nearest_first(self.problem, q[solved], start, apart)]
        best = int(report[:, 1:-3].max(axis=1).argmin())
        why = schedule.terms.explain(q[best], report[best][1:-2], given[0])
        why = "solved" if solved.size else why
        return AllSolutions(q[solved], report[solved], schedule.terms, why_none=why)

    def _rows(
        self, actuated: Actuated, q0: Configuration | None
    ) -> tuple[Floats, Floats, tuple[int, ...]]:
        """The given positions (N, n), the starts (N, nq) and the leading shape."""
        m = self.mechanism
        start = self._neutral if q0 is None else configuration(q0, m, "q0")
        given = self._by_name(actuated, start) if isinstance(actuated, Mapping) else actuated
        rows = finite_rows(given, "actuated", self.n_actuated)
        lead = leading_shape({"actuated": rows, "q0": start})
        return broadcast_rows(rows, lead), broadcast_rows(start, lead), lead

    def _by_name(self, actuated: Mapping[str, Any], start: Floats) -> Floats:
        """The rows of positions by name, those that are not named from the start."""
        m, values = self.mechanism, start[..., list(self._given)].copy()
        places: dict[str, list[int]] = {}
        for name in self.actuated:
            c = m.joint(name)
            q = range(int(m.q_start[c]), int(m.q_start[c + 1]))
            places[name] = [self._given.index(k) for k in q]
        for name, value in actuated.items():
            if name not in places:
                raise UnknownNameError("actuated joint", str(name), self.actuated)
            where = places[name]
            own = np.asarray(real_rows(np.atleast_1d(value), f"actuated['{name}']", len(where)))
            if own.ndim > 1:
                raise ShapeError("positions by name are those of one row; give an array for more")
            values[..., where] = own
        return values

    def _run(
        self, schedule: _Schedule, given: Floats, start: Floats, threads: int
    ) -> tuple[Floats, Floats]:
        try:
            return schedule.program.run([given], start, schedule.numbers, threads=threads)
        except Refused as refused:
            # rows are verified some at a time, and the first of these is named
            rows = range(refused.row, min(refused.row + _TOGETHER, len(given)))
            q = start[[min(row, len(start) - 1) for row in rows]]
            asked = q.copy()
            asked[:, list(self._given)] = given[rows.start : rows.stop]
            for each in (asked, q):
                for row, at in zip(rows, each, strict=True):
                    why = valueless(self.mechanism, at)
                    if why:
                        raise InputError(f"row {row} cannot be assembled: {why}") from None
            why = "it has numbers so large that nothing could be verified"
            raise InputError(f"row {refused.row} cannot be assembled: {why}") from None


_TOGETHER = 16
"""Rows that are verified at once, at most."""
STALL = Stall(steps=10, share=0.02)
"""A try that does not get nearer stands in a minimum that is not assembled. Shorter patience ends
tries that pass a saddle slowly, and with them the branch that `q0` or neutral would lead to."""


def _changes(steps: int | None, tries: int | None, seed: int | None) -> tuple[Any, ...]:
    """Changes of options, as `changed` takes them."""
    return (None, None, steps, tries, seed, None, None, None)


def given_positions(m: Mechanism, actuated: Sequence[str]) -> tuple[int, ...]:
    """The indices in q of the actuated joints, in their order."""
    return tuple(k for name in actuated for k in m.q_indices([m.joint(name)]))


def assembly_expressions(problem: Problem, given: Sequence[int]) -> Expressions:
    """The expressions of closing a problem's loops with q at the indices ``given`` as asked for.

    A row is these positions. Parameters are the positions that the closure depends on and that are
    held, then all that is given, so that the answer has it. Rows that the lengths of sides forbid
    (`polygons`) get one try, which says how far they stay open.
    """
    held = problem.layout.n_parameters
    place = {k: i for i, k in enumerate(given)}
    m = problem.mechanism
    sides = polygons(m, problem.moved)

    def prepare(o: Ops, target: Block, q0: Block) -> dict[str, Block]:
        own = [target[place[k]] if k in place else q0[k] for k in problem.held]
        fault = [far(o, target, len(given))]
        if sides:
            beyond = longest_excess(o, m, sides, at_rest(o, m, (target, given), q0, problem.moved))
            fault.append(o.select(o.less(0.0, beyond), 1.0, 0.0))
        return {
            "x0": o.vector(inside(o, problem, q0)),
            "parameters": o.vector([*own, *(target[i] for i in range(len(given)))]),
            "fault": o.vector(fault),
            "features": o.vector([]),
        }

    def iterate(o: Ops, x: Block, parameters: Block, settings: Block) -> dict[str, Block]:
        after, state = iteration(o, problem, x, o.part(parameters, 0, held), settings)
        return {"x": after, "state": state}

    def verify(o: Ops, x: Block, q0: Block, parameters: Block, settings: Block) -> dict[str, Block]:
        own = o.part(parameters, 0, held)
        plain = o.vector([0.0] * problem.layout.n_settings)
        found = verified(o, problem, x, q0, own, plain)
        q, measures = found["q"], found["measures"]
        values = [parameters[held + place[k]] if k in place else q[k] for k in range(m.n_q)]
        n = sum(len(task.groups) for task in problem.tasks)
        worst = o.maximum(measures[n], outside(o, m, values, given))
        return {
            "q": o.vector(values),
            "measures": o.vector([*(measures[k] for k in range(n)), worst]),
        }

    return Expressions(
        key=("assembly", ",".join(map(str, given)), *problem.key),
        inputs=((len(given),),),
        n_q=m.n_q,
        n=len(problem.moved),
        n_parameters=held + len(given),
        n_settings=problem.layout.n_settings,
        prepare=prepare,
        iterate=iterate,
        verify=verify,
        stall=STALL,
    )


def actuated_names(m: Mechanism, actuated: str | Sequence[str] | None) -> tuple[str, ...]:
    """The joints that are meant: those that are named, or those that the mechanism says.

    Raises: UnknownNameError, InputError.
    """
    if actuated is None:
        if not m.actuated:
            raise InputError(
                f"'{m.name}' does not say which joints are actuated: name them, "
                "or use with_actuated([...]) first"
            )
        return m.actuated
    names = (actuated,) if isinstance(actuated, str) else tuple(actuated)
    for name in names:
        m.joint(name)
        if names.count(name) > 1:
            raise InputError(f"'{name}' is named twice among the actuated joints")
    return names


@dataclass(frozen=True, eq=False)
class AssemblyMessages:
    """Messages for failures, found when asked for; it can be pickled.

    ``given`` are the indices in q of the joints whose way was followed; None for a search.
    """

    mechanism: Mechanism
    groups: tuple[Group, ...]
    given: tuple[int, ...] | None = None

    def __call__(self, q: Floats, measures: Floats, _parameters: Floats) -> str:
        """A message on how far each loop stays open and why, or where a branch ends.

        Shapes: q (nq,), measures (groups + 1,), with two more of a way.
        """
        m = self.mechanism
        left = ", ".join(open_parts(self.groups, measures))
        if self.given is not None:
            return self._on_the_way(q, End(round(float(measures[-3]))), float(measures[-2]), left)
        parts = [f"it cannot be assembled from there: {left} open"] if left else []
        if measures[-1] > ROUNDING:
            parts.append("a joint would be outside of its limits")
        at = at_limits(m, range(len(m.joint_names)), q)
        if at:
            parts.append(f"at a limit there: {', '.join(at)}")
        return "; ".join(parts)

    def solved(self, q: Floats) -> str:
        """The word for success, and whether q (nq,) is a change point."""
        known = change_point(self.mechanism, q)
        return f"solved; {known}" if known else "solved"

    def _on_the_way(self, q: Floats, end: End, share: float, left: str) -> str:
        m, given = self.mechanism, self.given or ()
        if end is End.OPEN_AT_START:
            return (
                "q0 is not assembled, and cannot be assembled with its actuated joints where "
                f"they are: {left} open"
            )
        if end is End.ARRIVED:
            return "a joint would be outside of its limits"
        places: list[str] = []
        for name, start, stop in zip(m.joint_names, m.q_start, m.q_start[1:], strict=False):
            if int(start) in given:
                values = ", ".join(f"{x:.6g}" for x in q[int(start) : int(stop)])
                places.append(f"{name} = {values}" if stop - start == 1 else f"{name} = ({values})")
        where = f"after {100.0 * share:.4g} % of the way from q0, at {', '.join(places)}"
        if end is End.ITERATIONS:
            return f"{where}, the iterations are used up: steps= allows more"
        passive = [c for c in range(len(m.joint_names)) if int(m.q_start[c]) not in given]
        at = at_limits(m, passive, q, within=_AT_LIMIT)
        why = f"at a limit: {', '.join(at)}" if at else "the passive joints are singular there"
        met = change_points(m, q, _MET)
        if met and not at:
            why += f", next to a change point of {', '.join(map(repr, met))}"
        return (
            f"it cannot be assembled on the branch of q0, which ends {where}; {why}; "
            "follow=False searches for any branch"
        )


def open_parts(groups: Sequence[Group], measures: Floats, within: float = _OPEN) -> list[str]:
    """Each group of rows that is not closed within so much, and by how much."""
    found: list[str] = []
    for group, squared in zip(groups, measures, strict=False):
        error = float(group.error(squared))
        if error > within:
            found.append(f"'{group.name}' {error:.3g}{UNITS[group.unit]}")
    return found
