"""One step of a control loop, as text for the tracer: what goes in, and how far it may go."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from linkwork.algorithms.configuration import difference
from linkwork.compile.recipe import Recipe, text_recipe
from linkwork.ops.protocol import Block, Ops
from linkwork.solve.damped import Damped
from linkwork.solve.elimination import elimination
from linkwork.solve.layout import Span
from linkwork.solve.limits.base import BoundLimit, Interval
from linkwork.solve.moves import Numbers, limited, moved, places, scales, times, within_reach
from linkwork.solve.objectives import BoundObjective
from linkwork.solve.problem import Problem
from linkwork.solve.saturation import Box, along, done_within, gone_within
from linkwork.solve.step import (
    Level,
    configuration_of,
    free_columns,
    in_units,
    level_of,
    on_balls,
    only_free,
    seen_at,
)
from linkwork.solve.tasks.base import Task
from linkwork.solve.tasks.pose import Pose
from linkwork.solve.tasks.position import Position

Floats = NDArray[np.float64]
Output = Literal["q", "v"]

CLOSED = 1.0e-9
"""How far (m, rad) a loop may be open after a step."""

_CORRECTIONS = 3
"""Of what a step opens, within its limits: steps of up to a tenth of a radian are closed by two."""

EXTRA_SETTINGS = 3
"""dt, gain and damping, after the settings of the problem's layout."""

_PASSES = 4
"""Joints that may be put at their bounds, one after the other, while a step is made."""
_LATER_PASSES = 2  # of lower priorities and objectives
_LONGEST_ERROR = 1.5
"""Radians: errors that are longer are gone towards, not all at once."""
_MOST_ROWS_SOLVED = 8
"""Levels below the first with more rows and more joints than this go down their gradient."""
_WITHIN = 1.0e-6
"""How far a given rotation may be from orthogonal, entry by entry."""


_PLAIN: dict[type[Task], tuple[int, ...]] = {Pose: (4, 4), Position: (3,)}
"""Tasks whose targets the kernel takes, and checks, as they are; those of others are read first."""


class Given(NamedTuple):
    """One array that the kernel takes: of whom, where its numbers stand, and how it is given."""

    name: str
    span: Span
    shape: tuple[int, ...]  # of what may be handed over as it is; () for what must be read first
    size: int
    own: Floats | None

    @property
    def is_pose(self) -> bool:
        """Whether the kernel takes it as a matrix (4, 4), row by row."""
        return self.shape == (4, 4)


def inputs_of(problem: Problem) -> list[Given]:
    """What the kernel takes beside q: what tasks, limits and objectives are given."""
    tasks = cast("Sequence[Task]", problem.asked["tasks"])
    given = dict(zip(problem.order, tasks, strict=True))
    layout = problem.layout
    found: list[Given] = []
    for task, span in zip(problem.tasks, layout.targets, strict=True):
        if task.n_target:
            shape = _PLAIN.get(type(given[task.name]), ())
            size = math.prod(shape) if shape else task.n_target
            found.append(Given(task.name, span, shape, size, task.target))
    rest: list[tuple[BoundLimit | BoundObjective, int, Span, Floats | None]] = [
        *(
            (each, each.n_numbers, span, each.numbers)
            for each, span in zip(problem.limits, layout.limit_numbers, strict=True)
        ),
        *(
            (each, each.n_target, span, each.target)
            for each, span in zip(problem.objectives, layout.objective_targets, strict=True)
        ),
    ]
    found += [Given(each.name, span, (n,), n, own) for each, n, span, own in rest if n]
    return found


def as_taken(each: Given, numbers: Floats | None) -> Floats | None:
    """Numbers (..., n) as the kernel takes them: those of a pose as 16, row by row."""
    if numbers is None or not each.is_pose:
        return numbers
    T = np.zeros((*numbers.shape[:-1], 4, 4))
    T[..., :3, 3] = numbers[..., :3]
    T[..., :3, :3] = numbers[..., 3:].reshape(*numbers.shape[:-1], 3, 3)
    T[..., 3, 3] = 1.0
    return T.reshape(*numbers.shape[:-1], 16)


def step_recipe(problem: Problem, inputs: Sequence[Given], output: Output) -> Recipe:
    """One step: (q, what is given, settings) -> the next q (nq,), or the velocity (nv,).

    The last three settings are dt, gain and damping. What is no rigid pose gives NaN. Where loops
    are to be closed, two numbers follow: how far they are open after the step, and before it.
    """
    m, layout = problem.mechanism, problem.layout

    def text(o: Ops, q: Block, *blocks: Block) -> dict[str, Block]:
        settings, given = blocks[-1], blocks[:-1]
        parameters: list[Block] = [o.const(0.0)] * layout.n_parameters
        for place, k in enumerate(problem.held):
            parameters[layout.held[0] + place] = q[k]
        for place in range(layout.start[1] - layout.start[0]):
            parameters[layout.start[0] + place] = q[problem.moved[place]]
        wrong: Block = o.less(1.0, 0.0)
        for each, block in zip(inputs, given, strict=True):
            numbers = [block[k] for k in range(each.size)]
            if each.is_pose:
                wrong = o.either(wrong, _is_no_pose(o, numbers))
                numbers = [numbers[k] for k in (3, 7, 11, 0, 1, 2, 4, 5, 6, 8, 9, 10)]
            parameters[slice(*each.span)] = numbers
        x = o.vector([q[k] for k in problem.moved])
        whole = o.vector(parameters)
        after, moves = controlled(o, problem, x, whole, settings)
        total: Block = o.const(0.0)
        for move in moves:
            total = total + o.absolute(move)
        wrong = o.either(wrong, o.negate(o.less(total, 1e12)))
        mark = o.sqrt(o.select(wrong, -1.0, 1.0)) - 1.0  # 0, or NaN
        place_of = {k: place for place, k in enumerate(problem.moved)}
        end = [after[place_of[k]] if k in place_of else q[k] for k in range(m.n_q)]
        values = end
        if output == "v":
            if problem.balls or (closing_tasks(problem) and problem.floats):  # corrected
                gone = difference(o, m, q, o.vector(end))
                moves = [gone[v] for v in problem.moved_v]
            values = _velocity(o, problem, (x, after), moves, settings[layout.n_settings])
        values[0] = values[0] + mark
        if closing_tasks(problem):
            values = [*values, *(gap(o, problem, y, (whole, settings)) for y in (after, x))]
        return {output: o.vector(values)}

    sizes = {
        "q": m.n_q,
        **{f"given_{k}": each.size for k, each in enumerate(inputs)},
        "settings": layout.n_settings + EXTRA_SETTINGS,
    }
    kinds = ",".join("pose" if each.is_pose else "numbers" for each in inputs)
    key = ("differential inverse kinematics", output, kinds, *problem.key)
    return text_recipe(key, f"step_{output}", sizes, text)


def _is_no_pose(o: Ops, T: Sequence[Block]) -> Block:
    """Whether 16 numbers, row by row, are no rigid pose."""
    rows = [o.vector([T[4 * i + j] for j in range(3)]) for i in range(3)]
    worst: Block = o.absolute(T[15] - 1.0)
    for k in range(12, 15):
        worst = o.maximum(worst, o.absolute(T[k]))
    for i in range(3):
        for j in range(i + 1):
            apart = o.dot(rows[i], rows[j]) - (1.0 if i == j else 0.0)
            worst = o.maximum(worst, o.absolute(apart))
    left = o.less(o.dot(o.cross(rows[0], rows[1]), rows[2]), 0.0)
    return o.either(left, o.less(_WITHIN, worst))


def _velocity(
    o: Ops, problem: Problem, ends: tuple[Block, Block], moves: Sequence[Block], dt: Block
) -> list[Block]:
    """The velocities of a step from ``ends[0]`` to ``ends[1]``: of positions, or on the group."""
    values: list[Block] = [o.const(0.0)] * problem.mechanism.n_v
    for v, place, move in zip(problem.moved_v, places(problem), moves, strict=True):
        change = move if place is None else ends[1][place] - ends[0][place]
        values[v] = change / dt
    return values


def controlled(
    o: Ops, problem: Problem, x: Block, parameters: Block, settings: Block
) -> tuple[Block, list[Block]]:
    """x after one step inside all limits, and the moves (in v) that it is made of."""
    first = problem.layout.n_settings
    gain, damping = settings[first + 1], settings[first + 2]
    numbers = (parameters, settings)
    q = configuration_of(o, problem, x, parameters)
    seen = seen_at(o, problem, q, parameters, settings)
    unit = scales(o, problem, settings)
    closing = closing_tasks(problem)
    rest = tuple(k for k in problem.levels[0] if k not in closing)
    members = [each for each in (closing, rest, *problem.levels[1:]) if each]
    main = int(bool(closing and rest))
    levels = [
        _for_a_step(
            o,
            level_of(o, problem, each, seen, problem.moved_v),
            unit,
            1.0 if each is closing else gain,
        )
        for each in members
    ]
    levels = on_balls(o, problem, x, levels, main)
    reach = within_reach(o, problem, q, parameters, settings)
    box = _box(o, problem, x, reach, unit)
    # where 0 is outside, as near to it as may be: the rest of the step starts from there
    forced = _nearest_to_nothing(o, box)
    dx, room = [o.const(0.0)] * len(unit), box.less(o, forced)
    for k, level in enumerate(levels):
        if k < main:
            continue  # the loops are closed: what the step opens of them is corrected in the end
        rest = level.error - along(level.columns, [f + d for f, d in zip(forced, dx, strict=True)])
        left, above = level._replace(error=rest), levels[:k]
        free = room.less(o, dx)
        if k > main and min(level.rows, len(unit)) > _MOST_ROWS_SOLVED:
            more = _down_the_gradient(o, above, left, free)
        else:
            more = done_within(
                o, above, left, free, damping, _LATER_PASSES if k > main else _PASSES
            )
        dx = [d + a for d, a in zip(dx, more, strict=True)]
    if problem.objectives:
        way = _descent(o, problem, q, numbers, unit)
        more = gone_within(o, levels, way, room.less(o, dx), _LATER_PASSES)
        dx = [d + a for d, a in zip(dx, more, strict=True)]
    moves, _ = limited(o, problem, dx, unit)
    moves = [d + times(u, f) for d, u, f in zip(moves, unit, forced, strict=True)]
    after = moved(o, problem, x, moves, reach, numbers, wrap=False)
    for _ in range(_CORRECTIONS if closing else 0):
        after = _closed(o, problem, after, reach, numbers)
    return after, moves


def closing_tasks(problem: Problem) -> tuple[int, ...]:
    """The places of the tasks that keep loops closed: they come before all else."""
    return tuple(k for k in problem.levels[0] if problem.tasks[k].keeps_tolerance)


def gap(o: Ops, problem: Problem, x: Block, numbers: Numbers) -> Block:
    """How far the farthest loop is open at x, in metres or radians."""
    q = configuration_of(o, problem, x, numbers[0])
    seen = seen_at(o, problem, q, *numbers)
    worst: Block = o.const(0.0)
    for k in closing_tasks(problem):
        for i in range(problem.tasks[k].n_rows):
            worst = o.maximum(worst, o.absolute(seen[k].residual.error[i]))
    return worst


def _closed(
    o: Ops, problem: Problem, x: Block, reach: Sequence[Interval], numbers: Numbers
) -> Block:
    """x with the loops nearer to closed, by the least change that its bounds leave."""
    q = configuration_of(o, problem, x, numbers[0])
    seen, unit = seen_at(o, problem, q, *numbers), scales(o, problem, numbers[1])
    closing = closing_tasks(problem)
    level = in_units(level_of(o, problem, closing, seen, problem.moved_v), unit)
    level = only_free(level, free_columns(o, problem, x, reach, level))
    (level,) = on_balls(o, problem, x, [level])
    error = level.error
    by = elimination(problem, closing)
    dx = Damped(o, level.columns, level.rows, o.dot(error, error), by=by).step(error)
    moves, _ = limited(o, problem, dx, unit)
    return moved(o, problem, x, moves, reach, numbers, wrap=False)


def _for_a_step(o: Ops, level: Level, unit: Sequence[Block | float], gain: Block | float) -> Level:
    """The level in columns of joints that go ``unit``, with the error that a step is to remove."""
    columns = [times(u, column) for u, column in zip(unit, level.columns, strict=True)]
    length = o.sqrt(o.dot(level.error, level.error) + 1e-60)
    share = gain * o.minimum(1.0, _LONGEST_ERROR / length)
    return Level(share * level.error, columns, level.rows)


def _box(
    o: Ops,
    problem: Problem,
    x: Block,
    reach: Sequence[Interval],
    unit: Sequence[Block | float],
) -> Box:
    """How far each column may go from x."""
    lower: list[Block | None] = []
    upper: list[Block | None] = []
    for place, u in zip(places(problem), unit, strict=True):
        ends = (None, None) if place is None else reach[place]
        inverse = 1.0 / u
        low, high = (None if end is None else times(inverse, end - x[place]) for end in ends)
        lower.append(low)
        upper.append(high)
    return Box(lower, upper)


def _nearest_to_nothing(o: Ops, box: Box) -> list[Block]:
    forced: list[Block] = []
    for lower, upper in zip(box.lower, box.upper, strict=True):
        value: Block = o.const(0.0)
        if upper is not None:
            value = o.minimum(value, upper)
        if lower is not None:
            value = o.maximum(value, lower)
        forced.append(value)
    return forced


def _down_the_gradient(o: Ops, above: Sequence[Level], level: Level, box: Box) -> list[Block]:
    """A step down the gradient of a level, as far as the level is least along it, in the box."""
    way = [o.dot(column, level.error) for column in level.columns]
    steepest = along(level.columns, way)
    far = o.dot(steepest, level.error) / (o.dot(steepest, steepest) + 1e-24)
    return gone_within(o, above, [far * w for w in way], box, _LATER_PASSES)


def _descent(
    o: Ops,
    problem: Problem,
    q: Block,
    numbers: tuple[Block, Block],
    unit: Sequence[Block | float],
) -> list[Block]:
    """The way that the objectives go, weighted and added, for each column."""
    parameters, settings = numbers
    way: list[Block] = [o.const(0.0)] * len(problem.moved_v)
    spans = zip(problem.layout.objective_targets, problem.layout.objective_weights, strict=True)
    for each, (target, weight) in zip(problem.objectives, spans, strict=True):
        found = each.descent(o, q, o.part(parameters, *target))
        for place, (v, u) in enumerate(zip(problem.moved_v, unit, strict=True)):
            way[place] = way[place] + settings[weight[0]] * found[v] / u
    return way
