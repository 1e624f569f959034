"""The expressions of a problem, for one target: where it starts, one iteration, what was reached.

    prepare (target..., q0)               -> x0, parameters, fault, features
    iterate (x, parameters, settings)     -> x', state           (iterated in lanes)
    verify  (x, q0, parameters, settings) -> q, measures         (settings where it needs them)
    place   (x)                           -> features            (of what x reaches; for seeds)

A target is fit where ``fault`` <= 0; a second number there is the most tries that it gets, 0 for
those of the call. An answer is a success where every measure is at most its threshold. Features say
where in the table of seeds a target belongs; none means no table.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import NamedTuple

from linkwork.algorithms.forward_kinematics import fk
from linkwork.compile.lanes import Stall
from linkwork.compile.recipe import Recipe, expression_recipe
from linkwork.conventions import RIGID_TOLERANCE
from linkwork.mechanism.model import Mechanism
from linkwork.mechanism.position_limits import limited_angles
from linkwork.ops.protocol import Block, Ops
from linkwork.solve.joint_update import (
    JointUpdate,
    Pressed,
    along_limits,
    beyond_angle,
    sum_of_squares,
    times,
)
from linkwork.solve.least_squares import MOST_DAMPING_ERROR, LeastSquares, damped, product
from linkwork.solve.limits import Interval
from linkwork.solve.problem import Problem, priority0_part
from linkwork.solve.seeds import Axis, starts_of
from linkwork.solve.tasks import BoundTask, Pose, Residual, beyond_slack

Expression = Callable[..., Mapping[str, Block]]

ROUNDING = 1.0e-12
"""Bounds that are computed may differ in their last bits between search and check."""
_LARGEST = 1.0e300
"""Numbers of targets that add up to more are refused."""

STATE = ("gap", "score", "going")
"""A step's report of the x that it was given: ``gap`` <= 0 where all tasks are within tolerance,
``going`` <= 0 where objectives have nothing left to move; the lowest ``score`` is the best miss."""

_MOST_SEEDED = 50
"""Positions that move with a table of seeds; more are solved as quickly without, from anywhere."""

_ROTATION_LENGTH = 0.22
"""A radian of rotation error weighs as much as this share of the mechanism's length."""
_FAR = 20.0
"""Lengths of the mechanism: from there on slides without limits go by themselves."""
_ERROR_OF_SLIDES = 1.0e-5
"""The squared error that they are damped by: what is linear needs hardly any."""
_MOST_ROWS_OF_A_LATER_LEVEL = 6
"""Levels below the first with more rows than this go down their gradient."""
_LEVEL_SCORE = 1.0e6
"""More than any squared error of a lower priority."""
_GAIN = 0.25
"""The share of a step down a gradient that is made: along what the first level leaves free the cost
is bent more than its own curvature says, and full steps would swing for ever."""
_GAIN_OF_A_LEVEL = 0.5
"""The same of a lower level that is solved for: as short as it may be to meet what can be met."""
_LONGEST_REST = 0.25
"""Radians, over all joints, of what lower levels and objectives add: the first level can follow."""
_CALM = 50.0
"""The factor by which the first level's squared error slows down what is below it."""
_NEAR = 1.0e-9
"""A joint that is so near to a limit (radians, metres) stands at it, where lower levels push."""
_ALLOWED = 5.0e-13
"""Excess over a limit that an answer may have by rounding; its check allows twice as much."""
_DAMPING_OF_LOOPS, _PASSES_OF_LOOPS = 1.0e-8, 3
"""The damping with which a way is freed of what opens loops, and how often. Once lets this damping,
over the squared singular values, of it through; rounding over the damping is noise where rows
follow from others. A loop is to stay closed to 1e-12, and a way to end to 1e-6."""
_STILL = 1.0e-6
"""A step that is shorter (radians, over all joints) makes nothing better."""


@dataclass(frozen=True)
class Expressions:
    """The expressions of a problem; ``key`` tells all that they depend on.

    ``inputs`` are the shapes of one target each; prepare takes them flat, by rows. Without
    ``iterate`` answers of others are verified, and without features ``place`` is None. ``stall``:
    when a try of the search is given up.
    """

    key: tuple[str, ...]
    inputs: tuple[tuple[int, ...], ...]
    n_q: int
    n: int
    n_parameters: int
    n_settings: int
    prepare: Expression
    iterate: Expression | None
    verify: Expression
    verify_needs_settings: bool = False
    place: Expression | None = None
    stall: Stall | None = None

    def recipes(self) -> dict[str, Recipe]:
        """The expressions by name, to be traced."""
        from linkwork.compile.rolled import Loops  # noqa: PLC0415  not for cached code

        x, q0 = {"x": self.n}, {"q0": self.n_q}
        parameters, settings = {"parameters": self.n_parameters}, {"settings": self.n_settings}
        verify_settings = settings if self.verify_needs_settings else {"settings": 0}
        flat = {f"target_{k}": math.prod(shape) for k, shape in enumerate(self.inputs)}
        given: dict[str, tuple[Expression | None, dict[str, int]]] = {
            "prepare": (self.prepare, {**flat, **q0}),
            "iterate": (self.iterate, {**x, **parameters, **settings}),
            "verify": (self.verify, {**x, **q0, **parameters, **verify_settings}),
            "place": (self.place, x),
        }
        loops = Loops()
        return {
            name: expression_recipe((), f"ik_{name}", sizes, expression, loops=loops)
            for name, (expression, sizes) in given.items()
            if expression is not None
        }


def expressions_of(problem: Problem, *, iterated: bool = True) -> Expressions:
    """The expressions of a problem, without an iteration where its parts are iterated."""
    layout = problem.layout
    n_parameters = layout.n_parameters
    needs_settings = any(any(task.slack) for task in problem.tasks) or bool(problem.limits)
    seeded = iterated and has_seeds(problem)

    def prepare(o: Ops, *given: Block) -> dict[str, Block]:
        *targets, q0 = given
        parameters, faults = parameters_of(o, problem, targets, q0)
        if problem.resting:
            faults.append(outside(o, problem.mechanism, q0, problem.resting))
        fault = faults[0] if faults else o.const(-1.0)
        if len(faults) > 1:  # above zero where any is, and not a number where any is none
            beyond = [o.select(o.less(each, 0.0), 0.0, each) for each in faults]
            fault = sum(beyond[1:], beyond[0])
        features: list[Block] = []
        if seeded:  # of the pose that is the first of the parameters
            R = [[parameters[3 + 3 * i + j] for j in range(3)] for i in range(3)]
            features = pose_features(o, [parameters[k] for k in range(3)], R)
        return {
            "x0": o.vector(inside(o, problem, q0)),
            "parameters": parameters,
            "fault": o.vector([fault]),
            "features": o.vector(features),
        }

    def iterate(o: Ops, x: Block, parameters: Block, settings: Block) -> dict[str, Block]:
        after, state = iteration(o, problem, x, parameters, settings)
        return {"x": after, "state": state}

    def verify(o: Ops, x: Block, q0: Block, parameters: Block, settings: Block) -> dict[str, Block]:
        given = settings if needs_settings else o.vector([0.0] * layout.n_settings)
        return verified(o, problem, x, q0, parameters, given)

    def place(o: Ops, x: Block) -> dict[str, Block]:
        nothing = o.vector([0.0] * n_parameters)
        q = JointUpdate(o, problem, nothing, nothing).configuration(x)
        T = fk(o, problem.mechanism, q, frame=problem.tasks[0].frames[0])
        R = [[T[i, j] for j in range(3)] for i in range(3)]
        return {"features": o.vector(pose_features(o, [T[i, 3] for i in range(3)], R))}

    return Expressions(
        key=("problem", str(iterated), *problem.key),
        inputs=tuple(each.shape for each in problem.inputs),
        n_q=problem.mechanism.n_q,
        n=len(problem.moved),
        n_parameters=n_parameters,
        n_settings=layout.n_settings,
        prepare=prepare,
        iterate=iterate if iterated else None,
        verify=verify,
        verify_needs_settings=needs_settings,
        place=place if seeded else None,
    )


def has_seeds(problem: Problem) -> bool:
    """Whether one whole pose decides, which depends on all that is moved and on nothing else.

    All that moves must be bounded, by the description alone, or turn freely, and be few enough that
    the points of a table say something of them.
    """
    deciding = priority0_part(problem) if problem.has_secondary_goals else problem
    if len(deciding.tasks) != 1 or not isinstance(deciding.tasks[0].task, Pose):
        return False
    if deciding.held or deciding.limits or deciding.moved != problem.moved:
        return False
    if len(problem.moved) > _MOST_SEEDED:
        return False
    whole = deciding.tasks[0].n_rows == 6 and not any(deciding.tasks[0].slack)
    return whole and not starts_of(problem).kept.any()


def parameters_of(
    o: Ops, problem: Problem, targets: Sequence[Block], q0: Block
) -> tuple[Block, list[Block]]:
    """The parameters of the problem's inputs, poses given by rows (16,), and what is unfit of each.

    Unfit is above zero, or not a number.
    """
    layout = problem.layout
    numbers: list[Block] = [o.const(0.0)] * layout.n_parameters
    for place, k in enumerate(problem.held):
        numbers[layout.held[0] + place] = q0[k]
    for place in range(layout.start[1] - layout.start[0]):
        numbers[layout.start[0] + place] = q0[problem.moved[place]]
    faults: list[Block] = []
    for each, target in zip(problem.inputs, targets, strict=True):
        count = math.prod(each.shape)
        if each.is_pose:
            R = [[target[4 * i + j] for j in range(3)] for i in range(3)]
            own = [target[4 * i + 3] for i in range(3)] + [x for row in R for x in row]
            faults.append(
                far_from_rigid(o, R, [target[12 + j] for j in range(4)]) - RIGID_TOLERANCE
            )
        else:
            own = [target[i] for i in range(count)]
            faults.append(far(o, target, count))
        numbers[slice(*each.span)] = own
    return o.vector(numbers), faults


def inside(o: Ops, problem: Problem, q0: Block) -> list[Block]:
    """The positions of q0 that move, inside the limits of the description."""
    x0: list[Block] = []
    for at, k in enumerate(problem.moved):
        value = q0[k]
        if math.isfinite(problem.upper[at]):
            value = o.minimum(value, float(problem.upper[at]))
        if math.isfinite(problem.lower[at]):
            value = o.maximum(value, float(problem.lower[at]))
        x0.append(value)
    return x0


def outside(o: Ops, m: Mechanism, q: Block | Sequence[Block], indices: Sequence[int]) -> Block:
    """The largest excess of these positions of q over their limits; 0 inside."""
    worst: Block = o.const(0.0)
    for k in indices:
        if math.isfinite(m.upper[k]):
            worst = o.maximum(worst, q[k] - float(m.upper[k]))
        if math.isfinite(m.lower[k]):
            worst = o.maximum(worst, float(m.lower[k]) - q[k])
    for c in limited_angles(m, indices):
        wxyz = [q[int(m.q_start[c]) + k] for k in range(4)]
        worst = o.maximum(worst, beyond_angle(o, wxyz, float(m.angle_limit[c])))
    return worst


def far(o: Ops, numbers: Block, count: int) -> Block:
    """Above zero where a number is infinite, and not a number where one is none."""
    return sum((o.absolute(numbers[k]) for k in range(count)), o.const(-_LARGEST))


def verified(
    o: Ops, problem: Problem, x: Block, q0: Block, parameters: Block, settings: Block
) -> dict[str, Block]:
    """q, with angles without limits on the turn nearest to q0, and its measures.

    Its quaternions have length 1, whatever q0 had. The measures are the squared measure of every
    group of every task, then how far q is outside of limits: more than `ROUNDING` for any position
    that is outside of the description's.
    """
    q = [q0[k] for k in range(problem.mechanism.n_q)]
    beyond_ends: list[Block] = [o.const(0.0)]
    for at, k in enumerate(problem.moved):
        value = x[at]
        if problem.wraps[at]:
            value = value + (2.0 * math.pi) * o.floor((q0[k] - value) * (0.5 / math.pi) + 0.5)
        if math.isfinite(problem.upper[at]):
            beyond_ends.append(value - float(problem.upper[at]))
        if math.isfinite(problem.lower[at]):
            beyond_ends.append(float(problem.lower[at]) - value)
        q[k] = value
    for _, at, _ in problem.quaternions:
        wxyz = problem.moved[at : at + 4]
        shorter = 1.0 / o.sqrt(sum_of_squares([q[k] for k in wxyz]))
        for k in wxyz:
            q[k] = shorter * q[k]
    moving = [q[k] for k in problem.moved]
    update = JointUpdate(o, problem, parameters, settings)
    seen = seen_at(update, update.configuration(moving))
    measures = [squared for each in seen for squared in each.residual.squared]
    beyond = reduce(o.maximum, beyond_ends)
    beyond = o.select(o.less(0.0, beyond), beyond + 2.0 * ROUNDING, 0.0)
    worst = o.maximum(beyond, update.violation(moving))
    return {"q": o.vector(q), "measures": o.vector([*measures, worst])}


class Seen(NamedTuple):
    """A task at a configuration, its weight and slack applied to nothing yet."""

    residual: Residual
    weight: Block | float
    scale: tuple[float, ...]  # of each row, to radians


class Level(NamedTuple):
    """The weighted rows of the tasks of one priority."""

    error: Block
    columns: list[Block]  # of what moves
    rows: int

    def in_units(self, unit: Sequence[Block | float]) -> Level:
        """The columns for joints that go ``unit`` where they go one."""
        columns = [times(u, column) for u, column in zip(unit, self.columns, strict=True)]
        return self._replace(columns=columns)

    def only(self, free: Sequence[Block | None]) -> Level:
        """The level with the columns of `free_columns` that are stopped taken away."""
        columns = [c if f is None else f * c for c, f in zip(self.columns, free, strict=True)]
        return self._replace(columns=columns)

    def along(self, stopped: Sequence[Pressed]) -> Level:
        """The level without what turns these spherical joints beyond their limits."""
        return self._replace(columns=along_limits(self.columns, stopped))

    def push(self, o: Ops, k: int) -> Block:
        """The way of a column down the gradient of the squared error."""
        return o.dot(self.columns[k], self.error)


def seen_at(update: JointUpdate, q: Block) -> list[Seen]:
    """Every task at q."""
    o, problem, settings = update.o, update.problem, update.settings
    layout = problem.layout
    result: list[Seen] = []
    for k, task in enumerate(problem.tasks):
        found = task.residual(o, q, o.part(update.parameters, *layout.targets[k]))
        if any(task.slack):
            slack = o.part(settings, *layout.slacks[k])
            found = beyond_slack(o, found, slack, task.groups)
        first, stop = layout.weights[k]
        weight = settings[first] if stop > first else 1.0
        result.append(Seen(found, weight, row_scales_of(problem, task)))
    return result


def row_scales_of(problem: Problem, task: BoundTask) -> tuple[float, ...]:
    """The factors of a task's rows, by which they count as radians."""
    per_metre = 1.0 / (_ROTATION_LENGTH * problem.length)
    scale = [per_metre if g.unit == "m" else 1.0 for g in task.groups]
    return tuple(s for s, g in zip(scale, task.groups, strict=True) for _ in range(g.start, g.stop))


def gap_and_score(update: JointUpdate, seen: Sequence[Seen]) -> tuple[Block, Block]:
    """The largest excess over a threshold, and how bad what is missed is.

    The squares of priority 0 are what is bad, and count more than any others; where priority 0 is
    done, those of the next priority, and so on.
    """
    o, problem = update.o, update.problem
    score: Block = o.const(0.0)
    gap: Block | None = None
    for depth, members in reversed(list(enumerate(problem.levels))):
        above: list[Block] = []
        terms: list[Block] = []
        for k in members:
            first = problem.layout.thresholds[k][0]
            for place, group in enumerate(problem.tasks[k].groups):
                squared = seen[k].residual.squared[place]
                above.append(squared - update.settings[first + place])
                terms.append(times(seen[k].weight, times(seen[k].scale[group.start] ** 2, squared)))
        excess, squares = reduce(o.maximum, above), reduce(add, terms)
        missed = _LEVEL_SCORE ** (len(problem.levels) - 1 - depth) + squares
        behind = o.less(0.0, excess)
        score = squares if gap is None else o.select(behind, missed, score)
        gap = excess if gap is None else o.maximum(gap, excess)
    return gap, score


def level_of(
    update: JointUpdate,
    members: Sequence[int],
    seen: Sequence[Seen],
    columns: Sequence[int] | None = None,
) -> Level:
    """The rows of some tasks, weighted and one below the other.

    ``columns`` are indices of v, by default those of what moves.
    """
    o, problem = update.o, update.problem
    chosen = problem.moved_v if columns is None else columns
    errors: list[Block] = []
    parts: list[list[Block]] = [[] for _ in chosen]
    for k in members:
        each = seen[k]
        factors: list[Block | float] = [s for s in each.scale]
        if not isinstance(each.weight, float):
            root = o.sqrt(each.weight)
            factors = [times(s, root) for s in each.scale]
        errors.append(_scaled(o, each.residual.error, factors))
        for part, v in zip(parts, chosen, strict=True):
            part.append(_scaled(o, each.residual.columns[v], factors))
    rows = sum(problem.tasks[k].n_rows for k in members)
    return Level(o.concat(errors), [o.concat(part) for part in parts], rows)


def _scaled(o: Ops, v: Block, factors: Sequence[Block | float]) -> Block:
    return o.vector([times(f, v[i]) for i, f in enumerate(factors)])


class Linearised(NamedTuple):
    """The tasks of a problem at a configuration inside its limits."""

    update: JointUpdate
    x: Block
    q: Block
    reach: list[Interval]
    seen: list[Seen]
    gap: Block
    score: Block
    levels: list[Level]  # in the units of the update


def linearised(update: JointUpdate, x: Block) -> Linearised:
    """The tasks at x, which is moved inside the limits first, and then is no answer itself."""
    o, problem = update.o, update.problem
    reach = update.reach(update.configuration(x))
    outside: Block | None = None
    if problem.limits or problem.balls:  # beside the description's
        values = [x[place] for place in range(len(problem.moved))]
        outside = update.violation(values) - _ALLOWED
    x = update.entered(x, reach)
    q = update.configuration(x)
    seen = seen_at(update, q)
    gap, score = gap_and_score(update, seen)
    if outside is not None:
        gap = o.maximum(gap, outside)
    levels = [level_of(update, members, seen).in_units(update.unit) for members in problem.levels]
    return Linearised(update, x, q, reach, seen, gap, score, levels)


def first_level(update: JointUpdate, level: Level) -> LeastSquares:
    """The rows of priority 0 factored, damped in proportion to their squared error up to a most.

    It is reached at a less error where a joint moves less readily: what only such a joint can do is
    then done in as many steps as with equal weights.
    """
    o, problem = update.o, update.problem
    most: Block | float = MOST_DAMPING_ERROR
    if problem.weights is not None:
        first, stop = problem.layout.joint_weights
        least = reduce(o.minimum, [update.settings[k] for k in range(first, stop)])
        most = MOST_DAMPING_ERROR * o.minimum(1.0, least * least)
    squared = o.dot(level.error, level.error)
    by = problem.elimination(problem.levels[0])
    return damped(o, level.columns, level.rows, squared, most, by=by)


def iteration(
    o: Ops, problem: Problem, x: Block, parameters: Block, settings: Block
) -> tuple[Block, Block]:
    """One iteration: x' and the state of the x that came.

    An x outside of limits is moved inside them first, and is no answer itself.
    Priority 0 by damped least squares, by slides without limits alone while these have far to go;
    each lower priority in what the higher ones leave free,
    objectives in what all leave. Joints that stand at a limit and are pushed against it are left
    out; the rest is limited in length, then clamped to the limits, so every x' lies inside them.

    Source: damping of Sugihara (2011); task priority by projected Jacobians, Siciliano and
    Slotine, "A general framework for managing multiple tasks in highly redundant robotic systems",
    ICAR 1991.
    """
    update = JointUpdate(o, problem, parameters, settings)
    at = linearised(update, x)
    first = at.levels[0]
    free = free_columns(update, at.x, at.reach, lambda k: first.push(o, k))
    if problem.objectives:  # the rest of an error that is small enough holds no joint at its limit
        open_ = o.less(0.0, at.gap)
        free = [None if f is None else o.select(open_, f, 1.0) for f in free]
    levels = [level.only(free) for level in at.levels]
    stopped = pressed(update, at.x, levels[0])
    levels = [level.along(stopped) for level in levels]
    dx = first_level(update, levels[0]).step(levels[0].error)
    if len(levels) > 1 or problem.objectives:
        way = [_GAIN * w for w in descent(update, at.q)]
        way = along_limits(_only(way, free), stopped)
        dx = _with_the_rest(at, levels, way, dx)
    dx = _carried(update, at.levels[0], dx)
    moves, squared_length = update.limited(dx)
    after = update.moved(at.x, moves, at.reach)
    state = [at.gap, at.score]
    if problem.objectives:
        state.append(squared_length - _STILL * _STILL)
    return after, o.vector(state)


def _carried(update: JointUpdate, level: Level, dx: list[Block]) -> list[Block]:
    """The step, or that of slides without limits alone where these have far to go.

    All else then waits, and is not asked to make up for what no turn can: turns far beyond what is
    linear would cut the step short.
    """
    o, problem = update.o, update.problem
    places = [k for k, v in enumerate(problem.moved_v) if v in problem.carrying]
    if not places or len(places) == len(dx):
        return dx
    columns = [level.columns[k] for k in places]
    slides = damped(o, columns, level.rows, o.const(_ERROR_OF_SLIDES)).step(level.error)
    metres = [times(update.unit[k], slide) for k, slide in zip(places, slides, strict=True)]
    most = _FAR * problem.length
    far = o.less(most * most, sum_of_squares(metres))
    waiting: list[Block | float] = [0.0] * len(dx)
    for k, slide in zip(places, slides, strict=True):
        waiting[k] = slide
    return [o.select(far, w, d) for w, d in zip(waiting, dx, strict=True)]


def pressed(update: JointUpdate, x: Block, level: Level) -> list[Pressed]:
    """The spherical joints that the way down the gradient of a level presses against limits."""
    if not update.problem.balls:
        return []
    return update.pressed(x, [level.push(update.o, k) for k in range(len(level.columns))])


def _ends(
    update: JointUpdate, reach: Sequence[Interval]
) -> list[tuple[int, Block | None, Block | None]]:
    """The place in x and the limits of each column."""
    return [
        (0, None, None) if place is None else (place, *reach[place])
        for place in update.problem.places
    ]


def free_columns(
    update: JointUpdate,
    x: Block,
    reach: Sequence[Interval],
    push: Callable[[int], Block],
    within: float = 0.0,
) -> list[Block | None]:
    """For each column 0 where its joint stands at a limit and ``push`` drives it on, else 1.

    ``push(k)`` is the way of column k. A joint stands there from ``within`` on. None where there is
    no limit.
    """
    o = update.o
    free: list[Block | None] = []
    for k, (place, lower, upper) in enumerate(_ends(update, reach)):
        stuck: list[Block] = []
        for end, sign in ((lower, -1.0), (upper, 1.0)):
            if end is None:
                continue
            below, above = (end, x[place]) if sign < 0.0 else (x[place], end)
            there = o.less(above - below, within) if within else o.negate(o.less(below, above))
            on = o.less(push(k), 0.0) if sign < 0.0 else o.less(0.0, push(k))
            stuck.append(o.both(there, on))
        free.append(o.select(reduce(o.either, stuck), 0.0, 1.0) if stuck else None)
    return free


def _only(way: Sequence[Block], free: Sequence[Block | None]) -> list[Block]:
    return [w if f is None else f * w for w, f in zip(way, free, strict=True)]


def _with_the_rest(
    at: Linearised, levels: Sequence[Level], way: Sequence[Block], dx: list[Block]
) -> list[Block]:
    """The step ``dx`` of the first level with lower levels and objectives in what it leaves free.

    Computed twice: joints that it would push against a limit which they stand at take no part the
    second time, so that the limit does not bend what is left to the first level. The rest is then
    made short: the first level can follow its bend, and it ends at the next limit.
    """
    update, o = at.update, at.update.o
    closing = any(update.problem.tasks[k].keeps_tolerance for k in update.problem.levels[0])

    def above(level: Level) -> list[LeastSquares]:
        if closing:  # to rounding
            exact = LeastSquares(o, level.columns, level.rows, _DAMPING_OF_LOOPS)
            return [exact] * _PASSES_OF_LOOPS
        # hardly damped: it is left alone from anywhere
        return [damped(o, level.columns, level.rows, o.const(0.0))]

    once = _lower(o, levels[1:], levels[1:], way, (dx, above(levels[0])))
    still = free_columns(update, at.x, at.reach, once.__getitem__, _NEAR)
    stopped = update.pressed(at.x, once)
    tight = [level.only(still).along(stopped) for level in levels]
    way = along_limits(_only(way, still), stopped)
    again = _lower(o, levels[1:], tight[1:], way, (dx, above(tight[0])))
    more = [a - d for a, d in zip(again, dx, strict=True)]
    error = levels[0].error
    length = o.sqrt(o.dot(o.vector(more), o.vector(more)) + 1e-24)
    share = o.minimum(1.0, _LONGEST_REST / length) / (1.0 + _CALM * o.dot(error, error))
    more = [share * m for m in more]
    fits: Block = o.const(
        1.0
    )  # as much as ends at the next limit; joints that are there do not count
    for (place, lower, upper), a, b, unit in zip(
        _ends(update, at.reach), dx, more, update.unit, strict=True
    ):
        for end, sign in ((lower, -1.0), (upper, 1.0)):
            if end is None:
                continue
            room = sign * (end - at.x[place])
            ahead, beside = sign * times(unit, a), sign * times(unit, b)
            most = o.maximum(0.0, room - ahead) / o.maximum(beside, 1e-12)
            counts = o.both(o.less(_NEAR, room), o.less(room, ahead + beside))
            fits = o.minimum(fits, o.select(counts, most, 1.0))
    return [a + fits * b for a, b in zip(dx, more, strict=True)]


def _lower(
    o: Ops,
    levels: Sequence[Level],
    tight: Sequence[Level],
    way: Sequence[Block],
    done: tuple[list[Block], list[LeastSquares]],
) -> list[Block]:
    """The step with lower levels and the way of the objectives; only ``tight`` joints add to it."""
    dx, above = done
    for level, own in zip(levels, tight, strict=True):
        rest = level.error - product(level.columns, dx)
        more = _of_level(o, own._replace(error=rest), above)
        dx = [d + a for d, a in zip(dx, more, strict=True)]
    return [d + w for d, w in zip(dx, _left_alone(way, above), strict=True)]


def _of_level(o: Ops, level: Level, above: list[LeastSquares]) -> list[Block]:
    """The step of a lower level in what those above leave free; it joins them.

    A few rows are solved for with their projected Jacobian, with the damping of all levels above
    added: what damping lets through of them must not count as a direction of its own. Many rows go
    down their gradient, as far as it is least along it (Cauchy's step).
    """
    rest, n = level.error, len(level.columns)
    if level.rows > _MOST_ROWS_OF_A_LATER_LEVEL:
        way = _left_alone([level.push(o, k) for k in range(n)], above)
        along = product(level.columns, way)
        far = o.dot(along, rest) / (o.dot(along, along) + 1e-24)
        return [_GAIN * far * w for w in way]
    rows = [_left_alone([column[i] for column in level.columns], above) for i in range(level.rows)]
    columns = [o.vector([rows[i][k] for i in range(level.rows)]) for k in range(n)]
    squared = sum((each.squared_error for each in above), o.dot(rest, rest))
    projected = damped(o, columns, level.rows, squared)
    more = _left_alone([_GAIN_OF_A_LEVEL * d for d in projected.step(rest)], above)
    above.append(projected)
    return more


def _left_alone(dx: Sequence[Block], above: Sequence[LeastSquares]) -> list[Block]:
    """The part of dx that changes nothing that the levels above ask for."""
    dx = list(dx)
    for level in above:
        dx = level.left_alone(dx)
    return dx


def descent(update: JointUpdate, q: Block) -> list[Block]:
    """The way that the objectives go, weighted and added, for each column."""
    o, problem, layout = update.o, update.problem, update.problem.layout
    way: list[Block] = [o.const(0.0)] * len(problem.moved_v)
    for k, each in enumerate(problem.objectives):
        target = o.part(update.parameters, *layout.objective_targets[k])
        found = each.descent(o, q, target)
        weight = update.settings[layout.objective_weights[k][0]]
        for place, v in enumerate(problem.moved_v):
            way[place] = way[place] + weight * found[v] / update.unit[place]
    return way


POSE_AXES = (*[Axis(6)] * 3, *[Axis(2, -1.0, 1.0)] * 3, Axis(4, -0.5, 3.5))
"""The cells of `pose_features`."""


def far_from_rigid(o: Ops, R: Sequence[Sequence[Block]], last: Sequence[Block]) -> Block:
    """The largest number of |R Rᵀ - 1| and of the last row less 0 0 0 1.

    It is 1 more where R is not right-handed.
    """
    far: list[Block] = []
    for i in range(3):
        for j in range(i + 1):
            dot = R[i][0] * R[j][0] + R[i][1] * R[j][1] + R[i][2] * R[j][2]
            far.append(o.absolute(dot - 1.0 if i == j else dot))
    normal = o.cross(o.vector(list(R[0])), o.vector(list(R[1])))
    handed = o.dot(normal, o.vector(list(R[2])))
    far += [o.absolute(last[j] - (1.0 if j == 3 else 0.0)) for j in range(4)]
    return reduce(o.maximum, far) + o.select(o.less(0.0, handed), 0.0, 1.0)


def pose_features(o: Ops, p: Sequence[Block], R: Sequence[Sequence[Block]]) -> list[Block]:
    """Position; three parts of the quaternion over the largest one, and which part that is."""
    a, b, c = R[0][0], R[1][1], R[2][2]
    squares = [1.0 + a + b + c, 1.0 + a - b - c, 1.0 - a + b - c, 1.0 - a - b + c]
    wx, wy, wz = R[2][1] - R[1][2], R[0][2] - R[2][0], R[1][0] - R[0][1]
    xy, xz, yz = R[0][1] + R[1][0], R[0][2] + R[2][0], R[1][2] + R[2][1]
    products = [[wx, wy, wz], [wx, xy, xz], [wy, xy, yz], [wz, xz, yz]]
    largest, chosen, which = squares[0], products[0], o.const(0.0)
    for k in range(1, 4):
        larger = o.less(largest, squares[k])
        chosen = [o.select(larger, n, m) for n, m in zip(products[k], chosen, strict=True)]
        which = o.select(larger, float(k), which)
        largest = o.select(larger, squares[k], largest)
    scale = 1.0 / largest
    return [*p, *[scale * n for n in chosen], which]
