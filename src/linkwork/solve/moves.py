"""How a step moves the configuration: its units, its length, and the limits that it ends at."""

from __future__ import annotations

import math
from collections.abc import Sequence

from linkwork.algorithms.configuration import integrate
from linkwork.mechanism.model import JointType
from linkwork.ops.protocol import Block, Ops
from linkwork.solve.limits.base import BoundLimit, Interval
from linkwork.solve.problem import Problem

_LONGEST_STEP = 1.2
"""Radians, over all joints: beyond this the linearisation is not worth following."""
_SLIDES = {JointType.PRISMATIC: 1, JointType.PLANAR: 2, JointType.FLOATING: 3}
"""How many of a joint's velocities are lengths; they come first."""

Numbers = tuple[Block, Block]
"""The parameters and the settings."""


def scales(o: Ops, problem: Problem, settings: Block) -> list[Block | float]:
    """What each moved velocity does while an angle goes one radian: 1, or a length for slides.

    Times the joint's weight: a joint of weight 0.1 goes a tenth as readily.
    """
    m = problem.mechanism
    base = [1.0] * m.n_v
    for c, kind in enumerate(m.joint_types):
        start = int(m.v_start[c])
        for k in range(_SLIDES.get(kind, 0)):
            base[start + k] = problem.length
    result: list[Block | float] = [base[k] for k in problem.moved_v]
    if problem.joint_weights is None:
        return result
    first = problem.layout.joint_weights[0]
    return [times(s, settings[first + k]) for k, s in enumerate(result)]


def times(factor: Block | float, value: Block) -> Block:
    """The product, which costs nothing where the factor is a plain 1."""
    return value if isinstance(factor, float) and factor == 1.0 else factor * value


def places(problem: Problem) -> list[int | None]:
    """The place in x of each moved velocity; None for those of floating joints."""
    m = problem.mechanism
    found: list[int | None] = []
    place = 0
    for c in problem.coordinates:
        kind = m.joint_types[c]
        single = kind is not JointType.FLOATING
        found += [place + k if single else None for k in range(kind.n_v)]
        place += kind.n_q
    return found


def _interval_of(
    o: Ops, problem: Problem, limit: BoundLimit, q: Block, numbers: Numbers
) -> dict[int, Interval]:
    """The bounds that one limit gives, by index in q."""
    parameters, settings = numbers
    layout, k = problem.layout, problem.limits.index(limit)
    start = list(_as_list(q, problem.mechanism.n_q))
    if limit.needs_start:
        for place, index in enumerate(problem.moved):
            start[index] = parameters[layout.start[0] + place]
    return dict(
        limit.bounds(
            o,
            q,
            o.vector(start),
            o.part(settings, *layout.limit_settings[k]),
            o.part(parameters, *layout.limit_numbers[k]),
        )
    )


def _as_list(v: Block, n: int) -> Sequence[Block]:
    return [v[k] for k in range(n)]


def _narrowed(o: Ops, a: Interval, b: Interval) -> Interval:
    """The positions that both allow; where they exclude each other, the nearest ones of ``a``."""
    lower = b[0] if a[0] is None else a[0] if b[0] is None else o.maximum(a[0], b[0])
    upper = b[1] if a[1] is None else a[1] if b[1] is None else o.minimum(a[1], b[1])
    return lower, upper


def within_reach(
    o: Ops, problem: Problem, q: Block, parameters: Block, settings: Block
) -> list[Interval]:
    """The bounds of each position of x: the description's, and of limits that are not coupled."""
    result: list[Interval] = []
    for lower, upper in zip(problem.lower.tolist(), problem.upper.tolist(), strict=True):
        finite = math.isfinite(lower), math.isfinite(upper)
        result.append((lower if finite[0] else None, upper if finite[1] else None))
    place_of = {k: place for place, k in enumerate(problem.moved)}
    for limit in problem.limits:
        if limit.coupled:
            continue
        for index, found in _interval_of(o, problem, limit, q, (parameters, settings)).items():
            if index in place_of:
                place = place_of[index]
                result[place] = _narrowed(o, result[place], found)
    return result


def limited(
    o: Ops, problem: Problem, dx: Sequence[Block], unit: Sequence[Block | float]
) -> tuple[list[Block], Block]:
    """The step with its turns limited in length, in the units of v; and its squared length."""
    slides = _is_slide(problem)
    turns = [d for d, slide in zip(dx, slides, strict=True) if not slide]
    squared = _sum_of_squares(o, dx)
    if not turns:
        return [times(s, d) for s, d in zip(unit, dx, strict=True)], squared
    length = o.sqrt(_sum_of_squares(o, turns) + 1e-24)
    shrink = o.minimum(1.0, _LONGEST_STEP / length)
    return [times(s, shrink) * d for s, d in zip(unit, dx, strict=True)], squared


def _is_slide(problem: Problem) -> list[bool]:
    m = problem.mechanism
    slides = [False] * m.n_v
    for c, kind in enumerate(m.joint_types):
        for k in range(_SLIDES.get(kind, 0)):
            slides[int(m.v_start[c]) + k] = True
    return [slides[k] for k in problem.moved_v]


def _sum_of_squares(o: Ops, values: Sequence[Block]) -> Block:
    return sum((v * v for v in values[1:]), values[0] * values[0])


def moved(
    o: Ops,
    problem: Problem,
    x: Block,
    moves: Sequence[Block],
    reach: Sequence[Interval],
    numbers: Numbers,
) -> Block:
    """x after the step: on the group, angles without limits in [-pi, pi), the rest clamped."""
    m = problem.mechanism
    v: list[Block] = [o.const(0.0)] * m.n_v
    for k, move in zip(problem.moved_v, moves, strict=True):
        v[k] = move
    q: list[Block] = [o.const(0.0)] * m.n_q
    for place, k in enumerate(problem.moved):
        q[k] = x[place]
    after = integrate(o, m, o.vector(q), o.vector(v))
    values: list[Block] = []
    for place, k in enumerate(problem.moved):
        value = after[k]
        if problem.wraps[place]:
            value = value - (2.0 * math.pi) * o.floor(value * (0.5 / math.pi) + 0.5)
        values.append(clamped(o, value, reach[place]))
    return o.vector(_coupled(o, problem, x, values, numbers))


def clamped(o: Ops, value: Block, interval: Interval) -> Block:
    """The value, or the end of the interval that it is beyond; the lower end counts last."""
    lower, upper = interval
    if upper is not None:
        value = o.minimum(value, upper)
    if lower is not None:
        value = o.maximum(value, lower)
    return value


def _coupled(
    o: Ops, problem: Problem, x: Block, values: list[Block], numbers: Numbers
) -> list[Block]:
    """The values, each clamped to the bounds that the others give it.

    Where one coupled limit moves a joint out of another's, all joints that these limits bound or
    read stay where they were: there they kept them all.
    """
    limits = [limit for limit in problem.limits if limit.coupled]
    if not limits:
        return values
    place_of = {k: place for place, k in enumerate(problem.moved)}
    values = list(values)
    for limit in limits:
        found = _interval_of(o, problem, limit, _whole(o, problem, values, numbers), numbers)
        for index, interval in found.items():
            if index in place_of:
                values[place_of[index]] = clamped(o, values[place_of[index]], interval)
    broken = violation(o, problem, values, numbers)
    involved = {
        place_of[k]
        for limit in limits
        for c in limit.coordinates
        for k in range(int(problem.mechanism.q_start[c]), int(problem.mechanism.q_start[c + 1]))
        if k in place_of
    }
    outside = o.less(0.0, broken)
    return [
        o.select(outside, x[place], value) if place in involved else value
        for place, value in enumerate(values)
    ]


def _whole(o: Ops, problem: Problem, values: Sequence[Block], numbers: Numbers) -> Block:
    q: list[Block] = [o.const(0.0)] * problem.mechanism.n_q
    for place, k in enumerate(problem.held):
        q[k] = numbers[0][problem.layout.held[0] + place]
    for place, k in enumerate(problem.moved):
        q[k] = values[place]
    return o.vector(q)


def violation(o: Ops, problem: Problem, values: Sequence[Block], numbers: Numbers) -> Block:
    """How far the farthest position is outside a limit that is not of the description; 0 inside."""
    q = _whole(o, problem, values, numbers)
    place_of = {k: place for place, k in enumerate(problem.moved)}
    worst: Block = o.const(0.0)
    for limit in problem.limits:
        for index, (lower, upper) in _interval_of(o, problem, limit, q, numbers).items():
            if index not in place_of:
                continue
            value = values[place_of[index]]
            if lower is not None:
                worst = o.maximum(worst, lower - value)
            if upper is not None:
                worst = o.maximum(worst, value - upper)
    return worst
