"""Differential inverse kinematics: one step for a control loop, inside all limits."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from linkwork.algorithms.configuration import difference
from linkwork.checks import finite_number
from linkwork.compile.compiler import Compiler, ProcessBound
from linkwork.compile.kernel import Kernel, build
from linkwork.compile.recipe import Recipe, text_recipe
from linkwork.errors import InputError, LinkworkError
from linkwork.mechanism.model import Mechanism
from linkwork.ops.protocol import Block, Ops
from linkwork.solve.bounded_step import Box, done_within, gone_within
from linkwork.solve.expressions import (
    Level,
    configuration_of,
    descent,
    free_columns,
    in_units,
    level_of,
    on_balls,
    only_free,
    parameters_of,
    seen_at,
)
from linkwork.solve.inputs import Inputs, Targets, configuration, settings_of
from linkwork.solve.joint_update import Numbers, limited, moved, places, scales, times, within_reach
from linkwork.solve.least_squares import damped, product
from linkwork.solve.limits import AccelerationLimit, Interval, Limit, VelocityLimit
from linkwork.solve.objectives import Objective
from linkwork.solve.options import Options
from linkwork.solve.problem import Problem, listed, make_problem
from linkwork.solve.tasks import Pose, Task

Floats = NDArray[np.float64]
Output = Literal["q", "v"]

_CLOSED = 1.0e-9
"""Distance or angle (m, rad) by which a loop may be open after a step."""
_SHORTER = 5
"""The number of times that a step which cannot be closed is made four times shorter."""
_CORRECTIONS = 3
"""Corrections of what a step opens: steps of up to a tenth of a radian are closed by two."""
_EXTRA_SETTINGS = 3
"""dt, gain and damping, after the settings of the problem's layout."""
_PASSES = 4
"""Joints that may be put at their bounds, one after the other, while a step is made."""
_LATER_PASSES = 2  # of lower priorities and objectives
_LONGEST_ERROR = 1.5
"""Radians: errors that are longer are gone towards, not all at once."""
_MOST_ROWS_SOLVED = 8
"""Levels below the first with more rows and more joints than this go down their gradient."""


def step_recipe(problem: Problem, output: Output) -> Recipe:
    """One step: (q, what is given, settings) -> the next q (nq,), or the velocity (nv,).

    The last three settings are dt, gain and damping. What is no rigid pose gives NaN. Where loops
    are to be closed, two numbers follow: how far they are open after the step, and before it.
    """
    m, layout = problem.mechanism, problem.layout

    def step(o: Ops, q: Block, *blocks: Block) -> dict[str, Block]:
        settings, given = blocks[-1], blocks[:-1]
        whole, faults = parameters_of(o, problem, given, q)
        wrong: Block = o.less(1.0, 0.0)
        for fault in faults:
            wrong = o.either(wrong, o.less(0.0, fault))
        x = o.vector([q[k] for k in problem.moved])
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
        **{f"given_{k}": math.prod(each.shape) for k, each in enumerate(problem.inputs)},
        "settings": layout.n_settings + _EXTRA_SETTINGS,
    }
    key = ("differential inverse kinematics", output, *problem.key)
    return text_recipe(key, f"step_{output}", sizes, step)


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
        rest = level.error - product(
            level.columns, [f + d for f, d in zip(forced, dx, strict=True)]
        )
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
        way = descent(o, problem, q, numbers, unit)
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
    """Distance or angle (m, rad) by which the farthest loop is open at x."""
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
    by = problem.elimination(closing)
    dx = damped(o, level.columns, level.rows, o.dot(error, error), by=by).step(error)
    moves, _ = limited(o, problem, dx, unit)
    return moved(o, problem, x, moves, reach, numbers, wrap=False)


def _for_a_step(o: Ops, level: Level, unit: Sequence[Block | float], gain: Block | float) -> Level:
    """The level in columns of joints that go ``unit``, with the error that a step is to remove."""
    length = o.sqrt(o.dot(level.error, level.error) + 1e-60)
    share = gain * o.minimum(1.0, _LONGEST_ERROR / length)
    return in_units(level._replace(error=share * level.error), unit)


def _box(
    o: Ops,
    problem: Problem,
    x: Block,
    reach: Sequence[Interval],
    unit: Sequence[Block | float],
) -> Box:
    """The box that each column may move in from x."""
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
    steepest = product(level.columns, way)
    far = o.dot(steepest, level.error) / (o.dot(steepest, steepest) + 1e-24)
    return gone_within(o, above, [far * w for w in way], box, _LATER_PASSES)


class Controller(ProcessBound):
    """Differential inverse kinematics: from a configuration to the next one, ``dt`` later.

    A step removes the share ``gain`` of the tasks' errors, or as much of that as the limits leave:
    then all of the step of a priority is made shorter, after joints at their bounds have been made
    up for by the others (only where next to nothing would be left is it bent). Lower priorities and
    ``objectives`` do what they can in the null space. Positions and velocities stay within
    their limits exactly, from the first step on: a joint outside its position limits is put inside
    at once. Without a `VelocityLimit` among ``limits`` the description's velocity limits hold, but
    those of floating joints.

    Loops come before every task and limit: each step ends with all of them closed within 1e-9 (m,
    rad), corrected on the manifold inside the limits. Where a step cannot be closed it is made
    shorter, and in the end stays at q, which is to be assembled.

    ``damping``, times the length of the error in radians, damps steps next to singularities and
    of mechanisms with too few joints; 1 lets targets out of reach be approached without shaking.
    It holds no state between calls, and may be used by threads at once.

    Source: saturation in the null space, Flacco, De Luca and Khatib, IEEE T-RO 31 (2015).
    Raises: UnknownNameError, InputError (see `make_problem`); InputError for dt, gain and damping;
    UnsupportedFeatureError for a `VelocityLimit` that names a floating joint.
    """

    def __init__(  # noqa: PLR0913  each is a choice of its own
        self,
        mechanism: Mechanism,
        tasks: str | Task | Sequence[Task],
        *,
        dt: float,
        limits: Limit | Iterable[Limit] = (),
        objectives: Objective | Iterable[Objective] = (),
        joints: str | Sequence[str] | None = None,
        joint_weights: Mapping[str, float] | None = None,
        gain: float = 1.0,
        damping: float = 1.0,
        compiler: Compiler | None = None,
    ) -> None:
        self.mechanism, self.dt = mechanism, finite_number(dt, "dt", above=0.0)
        gain = finite_number(gain, "gain", above=0.0, most=1.0)
        damping = finite_number(damping, "damping", least=0.0)
        self.problem: Problem = make_problem(
            mechanism,
            Pose(tasks) if isinstance(tasks, str) else tasks,
            joints=joints,
            limits=_with_velocity(limits, self.dt),
            objectives=objectives,
            joint_weights=joint_weights,
        )
        self._closes = bool(closing_tasks(self.problem))
        self._inputs = Inputs(self.problem)
        extra = np.array([self.dt, gain, damping])
        self._settings = np.concatenate([settings_of(self.problem, Options()), extra])
        self._accelerations = [each.name for each in self.problem.limits if each.n_numbers]
        self._compiler = compiler or Compiler()
        self._calls: dict[Output, Callable[..., Floats]] = {}
        self._kernels: dict[Output, Kernel] = {}
        self._call("q")

    def step(self, q: ArrayLike, targets: Targets = None, *, v: ArrayLike | None = None) -> Floats:
        """The configuration (..., nq) after one step from q (..., nq), its loops closed.

        ``targets``: as `InverseKinematics.solve` takes them. ``v`` (..., nv) is the velocity of
        the last step, for an `AccelerationLimit`. Joints that are not moved keep their positions.

        Raises: ShapeError, InputError for what is not finite, of the wrong shape or no rigid pose,
        and for a q whose loops are so far open that one step does not close them; UnknownNameError
        for a name that is none of the tasks'.
        """
        return self._run("q", q, targets, v)

    def velocity(
        self, q: ArrayLike, targets: Targets = None, *, v: ArrayLike | None = None
    ) -> Floats:
        """The velocity (..., nv) that leads in ``dt`` to what `step` gives: same arguments."""
        return self._run("v", q, targets, v)

    def _run(self, output: Output, q: ArrayLike, targets: Targets, v: ArrayLike | None) -> Floats:
        call = self._calls.get(output) or self._call(output)
        if v is not None:
            targets = {**self._inputs.by_name(targets), **dict.fromkeys(self._accelerations, v)}
        given = self._inputs.native(targets)
        flat: list[Floats] = []
        for a, each in zip(given or (), self._inputs.all, strict=False):
            if type(a) is np.ndarray and a.shape == each.shape:
                flat.append(a.reshape(-1))
        if given is not None and len(flat) == len(given):
            try:
                found = call(q, *flat, self._settings)
                if not self._closes:
                    return found
                if found.ndim == 1 and found[-2] <= _CLOSED:
                    return found[:-2]
            except LinkworkError:
                pass  # the general way says what is wrong in the words of who asked
        start = configuration(q, self.mechanism, "q")
        rows = self._inputs.rows(targets, start, checked=True)
        arrays = [a.reshape(rows.n, -1) for a in rows.arrays]
        whole = rows.starts
        result = self._kernels[output](whole, *arrays, self._settings)
        if self._closes:
            result = self._kept_closed(output, whole, arrays, result)
        return result.reshape(*rows.lead, result.shape[-1])

    def _kept_closed(self, output: Output, q: Floats, given: list[Floats], found: Floats) -> Floats:
        """Steps (N, n) from those found (N, n + 2), shorter ones where a step is not closed.

        Raises: InputError.
        """
        settings, gain = self._settings.copy(), self.problem.layout.n_settings + 1
        for _ in range(_SHORTER):
            left = np.flatnonzero(~(found[:, -2] <= _CLOSED))
            if not left.size:
                break
            settings[gain] *= 0.25
            found[left] = self._kernels[output](q[left], *(each[left] for each in given), settings)
        left = np.flatnonzero(~(found[:, -2] <= _CLOSED))
        for row in left:
            if not found[row, -1] <= _CLOSED:
                raise InputError(
                    f"row {row}: the loops of q are open by {found[row, -1]:.3g} (m, rad), and a "
                    f"step within the limits leaves {found[row, -2]:.3g}: assemble q first"
                )
            found[row, :-2] = q[row] if output == "q" else 0.0
        return np.ascontiguousarray(found[:, :-2])

    def _call(self, output: Output) -> Callable[..., Floats]:
        with self._compiler.work(f"a controller for {self.mechanism.name}"):
            if output not in self._calls:
                recipe = step_recipe(self.problem, output)
                kernel = build(recipe, compiler=self._compiler)
                self._kernels[output] = kernel
                self._calls[output] = kernel.bound()
        return self._calls[output]


def _with_velocity(limits: Limit | Iterable[Limit], dt: float) -> list[Limit]:
    """The limits, with the description's velocity limits where there are no others."""
    given = listed(limits, Limit, "limits", "PositionLimit(0.05)")
    for each in given:
        if isinstance(each, (VelocityLimit, AccelerationLimit)) and each.dt != dt:
            raise InputError(
                f"{type(each).__name__}.dt is {each.dt!r}, but the controller's dt is {dt!r}"
            )
    if not any(isinstance(each, VelocityLimit) for each in given):
        given.append(VelocityLimit(dt))
    return given
