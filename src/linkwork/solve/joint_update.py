"""The update of the joints in one iteration: its units, length, and the limits it ends at."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from linkwork.algorithms.configuration import integrate
from linkwork.ops.protocol import Block, Ops
from linkwork.solve.limits import POSITION, BoundLimit, Interval, Where
from linkwork.solve.problem import Ball, Problem

_LONGEST_STEP = 1.2
"""Radians, over all joints: beyond this the linearisation is not worth following."""

_INSET = 1.0e-12
"""How far inside a coupled bound what it stops comes to lie, in radians or metres."""

Numbers = tuple[Block, Block]
"""The parameters and the settings."""


def scales(o: Ops, problem: Problem, settings: Block) -> list[Block | float]:
    """What each moved velocity does while an angle goes one radian: 1, or a length for slides.

    Times the joint's weight: a joint of weight 0.1 goes a tenth as readily.
    """
    base = lengths_of(problem)
    result: list[Block | float] = [base[k] for k in problem.moved_v]
    if problem.joint_weights is None:
        return result
    first = problem.layout.joint_weights[0]
    return [times(s, settings[first + k]) for k, s in enumerate(result)]


def lengths_of(problem: Problem) -> list[float]:
    """For each number of v 1 where it is an angle's, and where it is a slide's a length (m)."""
    m = problem.mechanism
    lengths = [1.0] * m.n_v
    for c, kind in enumerate(m.joint_types):
        start = int(m.v_start[c])
        for k in range(kind.n_lengths):
            lengths[start + k] = problem.length
    return lengths


def times(factor: Block | float, value: Block) -> Block:
    """The product, which costs nothing where the factor is a plain 1."""
    return value if isinstance(factor, float) and factor == 1.0 else factor * value


def places(problem: Problem) -> list[int | None]:
    """The place in x of each moved velocity; None for those on a group."""
    m = problem.mechanism
    found: list[int | None] = []
    place = 0
    for c in problem.coordinates:
        kind = m.joint_types[c]
        single = not kind.has_quaternion
        found += [place + k if single else None for k in range(kind.n_v)]
        place += kind.n_q
    return found


def configuration_of(
    o: Ops, problem: Problem, x: Block | Sequence[Block], parameters: Block
) -> Block:
    """All of q from what moves and what is held; positions that do not matter are zero."""
    q: list[Block] = [o.const(0.0)] * problem.mechanism.n_q
    first = problem.layout.held[0]
    for place, k in enumerate(problem.held):
        q[k] = parameters[first + place]
    for place, k in enumerate(problem.moved):
        q[k] = x[place]
    return o.vector(q)


class _Frame(NamedTuple):
    """What the bounds of all limits are computed from, but for q."""

    room: list[Interval]  # of each position of x, by the description and limits of position
    start: list[Block]  # of x, inside the room


def _frame(o: Ops, problem: Problem, numbers: Numbers) -> _Frame:
    room: list[Interval] = []
    for lower, upper in zip(problem.lower.tolist(), problem.upper.tolist(), strict=True):
        finite = math.isfinite(lower), math.isfinite(upper)
        room.append((lower if finite[0] else None, upper if finite[1] else None))
    place_of = {k: place for place, k in enumerate(problem.moved)}
    nowhere = Where(o.const([0.0]), o.const([0.0]), {})
    for limit in problem.limits:
        if limit.coupled or limit.rank != POSITION:
            continue
        for index, found in _found(o, problem, limit, nowhere, numbers).items():
            if index in place_of:
                place = place_of[index]
                room[place] = narrowed(o, room[place], found)
    start: list[Block] = []
    if any(limit.needs_start for limit in problem.limits):
        first = problem.layout.start[0]
        start = [clamped(o, numbers[0][first + k], each) for k, each in enumerate(room)]
    return _Frame(room, start)


def _found(
    o: Ops, problem: Problem, limit: BoundLimit, where: Where, numbers: Numbers
) -> Mapping[int, Interval]:
    """The bounds that one limit gives, by index in q."""
    parameters, settings = numbers
    layout, k = problem.layout, problem.limits.index(limit)
    return limit.bounds(
        o,
        where,
        o.part(settings, *layout.limit_settings[k]),
        o.part(parameters, *layout.limit_numbers[k]),
    )


def _where(o: Ops, problem: Problem, frame: _Frame, q: Block) -> Where:
    start: list[Block] = [o.const(0.0)] * problem.mechanism.n_q
    for index, value in zip(problem.moved, frame.start, strict=False):
        start[index] = value
    return Where(q, o.vector(start), dict(zip(problem.moved, frame.room, strict=True)))


def narrowed(o: Ops, a: Interval, b: Interval) -> Interval:
    """The positions that both allow; where they exclude each other, those of ``a`` nearest to b."""
    lower, upper = b
    lower = a[0] if lower is None else lower if a[0] is None else o.maximum(a[0], lower)
    upper = a[1] if upper is None else upper if a[1] is None else o.minimum(a[1], upper)
    if b[0] is not None and a[1] is not None:
        lower = o.minimum(lower, a[1])
    if b[1] is not None and a[0] is not None:
        upper = o.maximum(upper, a[0])
    return lower, upper


def within_reach(
    o: Ops, problem: Problem, q: Block, parameters: Block, settings: Block
) -> list[Interval]:
    """The bounds of each position of x: the description's, and of limits that are not coupled.

    Where they exclude each other, position is kept before velocity, and that before acceleration.
    """
    numbers = (parameters, settings)
    frame = _frame(o, problem, numbers)
    result = list(frame.room)
    place_of = {k: place for place, k in enumerate(problem.moved)}
    later = [limit for limit in problem.limits if limit.rank != POSITION and not limit.coupled]
    for limit in sorted(later, key=lambda each: each.rank):
        where = _where(o, problem, frame, q)
        for index, found in _found(o, problem, limit, where, numbers).items():
            if index in place_of:
                place = place_of[index]
                result[place] = narrowed(o, result[place], found)
    return result


def entered(
    o: Ops, problem: Problem, x: Block, reach: Sequence[Interval], numbers: Numbers
) -> Block:
    """x itself where it lies within its limits; else a point within them.

    What is outside an interval is mirrored at its ends until it lies inside: a little outside
    becomes a little inside, and points drawn from far around become points drawn from within.
    Only where limits beside the description's bound what moves; x keeps its bits inside.
    """
    if problem.balls:
        x = o.vector(inside_angles(o, problem, [x[k] for k in range(len(problem.moved))]))
    if not problem.limits:
        return x
    values: list[Block] = []
    for place, index in enumerate(problem.moved):
        value = x[place]
        if index in problem.bounded:
            value = _mirrored(o, value, reach[place])
        values.append(value)
    return o.vector(_clamped_to_coupled(o, problem, values, reach, numbers))


def _mirrored(o: Ops, value: Block, interval: Interval) -> Block:
    lower, upper = interval
    if lower is None or upper is None:
        return clamped(o, value, interval)
    width = o.maximum(upper - lower, 1e-300)
    turns = (value - lower) / width
    turns = turns - 2.0 * o.floor(0.5 * turns)  # in [0, 2)
    inside = lower + width * (1.0 - o.absolute(1.0 - turns))
    outside = o.either(o.less(value, lower), o.less(upper, value))
    return clamped(o, o.select(outside, inside, value), interval)


def limited(
    o: Ops, problem: Problem, dx: Sequence[Block], unit: Sequence[Block | float]
) -> tuple[list[Block], Block]:
    """The step with its turns limited in length, in the units of v; and its squared length."""
    slides = zip(problem.moved_v, _is_slide(problem), strict=True)
    free = [slide or k in problem.straight for k, slide in slides]
    turns = [d for d, any_length in zip(dx, free, strict=True) if not any_length]
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
        for k in range(kind.n_lengths):
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
    *,
    wrap: bool = True,
) -> Block:
    """x after the step: on the group, angles without limits in [-pi, pi), the rest clamped.

    Without ``wrap`` angles stay on their turn.
    """
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
        if wrap and problem.wraps[place]:
            value = value - (2.0 * math.pi) * o.floor(value * (0.5 / math.pi) + 0.5)
        values.append(clamped(o, value, reach[place]))
    values = inside_angles(o, problem, values)
    return o.vector(_coupled(o, problem, x, values, reach, numbers))


def clamped(o: Ops, value: Block, interval: Interval) -> Block:
    """The value, or the end of the interval that it is beyond; the lower end counts last."""
    lower, upper = interval
    if upper is not None:
        value = o.minimum(value, upper)
    if lower is not None:
        value = o.maximum(value, lower)
    return value


def _coupled(
    o: Ops,
    problem: Problem,
    x: Block,
    values: list[Block],
    reach: Sequence[Interval],
    numbers: Numbers,
) -> list[Block]:
    """The values, each clamped to the bounds that the others give it.

    Where one coupled limit moves a joint out of another's, all joints that these limits bound or
    read stay where they were.
    """
    limits = [limit for limit in problem.limits if limit.coupled]
    if not limits:
        return values
    values = _clamped_to_coupled(o, problem, values, reach, numbers)
    outside = o.less(0.0, _excess(o, problem, values, numbers, limits))
    starts = problem.mechanism.q_start
    involved = {
        k
        for limit in limits
        for c in limit.coordinates
        for k in range(int(starts[c]), int(starts[c + 1]))
    }
    return [
        o.select(outside, clamped(o, x[place], reach[place]), value)
        if problem.moved[place] in involved
        else value
        for place, value in enumerate(values)
    ]


def _clamped_to_coupled(
    o: Ops,
    problem: Problem,
    values: Sequence[Block],
    reach: Sequence[Interval],
    numbers: Numbers,
) -> list[Block]:
    """The values, each clamped a little inside the bounds that the others give it, in turn.

    The little keeps two limits that describe one region from both sides from disagreeing in the
    last bit. No value leaves its reach.
    """
    values = list(values)
    limits = [limit for limit in problem.limits if limit.coupled]
    if not limits:
        return values
    place_of = {k: place for place, k in enumerate(problem.moved)}
    frame = _frame(o, problem, numbers)
    for limit in limits:
        where = _where(o, problem, frame, configuration_of(o, problem, values, numbers[0]))
        for index, found in _found(o, problem, limit, where, numbers).items():
            if index not in place_of:
                continue
            place = place_of[index]
            inset = narrowed(o, reach[place], _inset(o, found))
            values[place] = clamped(o, values[place], inset)
    return values


def _inset(o: Ops, interval: Interval) -> Interval:
    lower, upper = interval
    if lower is None or upper is None:
        little: Block | float = _INSET
    else:
        little = o.maximum(0.0, o.minimum(_INSET, 0.5 * (upper - lower)))
    return None if lower is None else lower + little, None if upper is None else upper - little


def violation(o: Ops, problem: Problem, values: Sequence[Block], numbers: Numbers) -> Block:
    """How far the farthest position is outside a limit that is not of the description; 0 inside.

    Spherical joints count with their angle, and with how far their quaternion is from unit length.
    """
    worst = _excess(o, problem, values, numbers, problem.limits)
    turned = angle_excess(o, problem, values)
    return worst if turned is None else o.maximum(worst, turned)


def _excess(
    o: Ops,
    problem: Problem,
    values: Sequence[Block],
    numbers: Numbers,
    limits: Sequence[BoundLimit],
) -> Block:
    worst: Block = o.const(0.0)
    if not limits:
        return worst
    q = configuration_of(o, problem, values, numbers[0])
    where = _where(o, problem, _frame(o, problem, numbers), q)
    moving = set(problem.coordinates)
    for limit in limits:
        # a joint that is held may be bounded by where another one goes
        reads = limit.coupled and not moving.isdisjoint(limit.coordinates)
        for index, (lower, upper) in _found(o, problem, limit, where, numbers).items():
            if index not in problem.moved and not reads:
                continue
            if lower is not None:
                worst = o.maximum(worst, lower - q[index])
            if upper is not None:
                worst = o.maximum(worst, q[index] - upper)
    return worst


_INSIDE = 1.0e-12
"""The share of its limit by which an angle that is stopped stays inside, so that rounding does."""
_AT_LIMIT = 1.0e-9
"""An angle that is nearer to its limit than this (rad) stands at it."""
_NOTHING = 1.0e-300


class Pressed(NamedTuple):
    """A joint at its limit: the first of its columns, and n, or zero where nothing presses it."""

    column: int
    outward: list[Block]


def angle_excess(o: Ops, problem: Problem, values: Sequence[Block]) -> Block | None:
    """How far the farthest quaternion of x is from a rotation inside; None without any."""
    worst: Block | None = None
    for ball in problem.balls:
        w, u, length = _parts(o, ball, values)
        off = o.absolute(o.dot(u, u) + w * w - 1.0)
        if math.isfinite(ball.limit):
            off = o.maximum(off, -_room(o, w, length, ball.limit))
        worst = off if worst is None else o.maximum(worst, off)
    return worst


def beyond_angle(o: Ops, wxyz: Sequence[Block], limit: float) -> Block:
    """How far (rad, next to the limit) a quaternion of any length is turned beyond it."""
    w, u = wxyz[0], o.vector(list(wxyz[1:]))
    square = o.dot(u, u)
    whole = o.sqrt(square + w * w + _NOTHING)
    return -_room(o, w, o.sqrt(square + _NOTHING), limit) / whole


def _room(o: Ops, w: Block, length: Block, limit: float) -> Block:
    """2 sin((limit - angle) / 2), of a quaternion of unit length."""
    half = 0.5 * limit
    return 2.0 * (o.absolute(w) * math.sin(half) - length * math.cos(half))


def inside_angles(o: Ops, problem: Problem, values: Sequence[Block]) -> list[Block]:
    """x with every quaternion of unit length, turned back about its axis to its limit if beyond."""
    values = list(values)
    for ball in problem.balls:
        w, u, length = _parts(o, ball, values)
        whole = o.sqrt(o.dot(u, u) + w * w + _NOTHING)
        along, real = 1.0 / whole, w / whole
        if math.isfinite(ball.limit):
            half = 0.5 * ball.limit * (1.0 - _INSIDE)
            cosine, sine = math.cos(half), math.sin(half)
            outside = o.less(o.absolute(w) * sine, length * cosine)
            real = o.select(outside, o.select(o.less(w, 0.0), -cosine, cosine), real)
            along = o.select(outside, sine / o.maximum(length, _NOTHING), along)
        values[ball.place : ball.place + 4] = [real, *(along * u[k] for k in range(3))]
    return values


def pressed(
    o: Ops, problem: Problem, x: Sequence[Block] | Block, push: Sequence[Block]
) -> list[Pressed]:
    """The joints at their limits that ``push``, a number for each column, drives outwards."""
    found: list[Pressed] = []
    for ball in problem.balls:
        if not math.isfinite(ball.limit):
            continue
        w, u, length = _parts(o, ball, x)
        room = _room(o, w, length, ball.limit)
        sign = o.select(o.less(w, 0.0), -1.0, 1.0)
        outward = [sign * u[k] / o.maximum(length, _NOTHING) for k in range(3)]
        ahead = sum((outward[k] * push[ball.column + k] for k in range(3)), o.const(0.0))
        stands = o.both(o.less(room, _AT_LIMIT), o.less(0.0, ahead))
        found.append(Pressed(ball.column, [o.select(stands, x_, 0.0) for x_ in outward]))
    return found


def along_limits(columns: Sequence[Block], joints: Sequence[Pressed]) -> list[Block]:
    """Columns, or a number for each, without what turns these joints outwards."""
    result = list(columns)
    for first, n in joints:
        own = result[first : first + 3]
        radial = n[0] * own[0] + n[1] * own[1] + n[2] * own[2]
        for k in range(3):
            result[first + k] = own[k] - n[k] * radial
    return result


def _parts(o: Ops, ball: Ball, values: Sequence[Block] | Block) -> tuple[Block, Block, Block]:
    """w, u and |u| of a quaternion."""
    w, *rest = (values[ball.place + k] for k in range(4))
    u = o.vector(rest)
    return w, u, o.sqrt(o.dot(u, u) + _NOTHING)
