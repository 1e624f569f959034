"""The update of the joints in one iteration: its units, length, and the limits it ends at."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import NamedTuple

from linkwork.algorithms.configuration import integrate
from linkwork.mechanism.neutral import quaternion_starts
from linkwork.ops.protocol import Block, Ops
from linkwork.solve.limits import POSITION, BoundLimit, Interval, Where
from linkwork.solve.problem import Ball, Problem

_LONGEST_STEP = 1.2
"""Radians, over all joints: beyond this the linearisation is not worth following."""
_INSET = 1.0e-12
"""The distance (rad, m) inside a coupled bound at which what it stops comes to lie."""
_INSIDE = 1.0e-12
"""The share of its limit by which an angle that is stopped stays inside, so that rounding does."""
_AT_LIMIT = 1.0e-9
"""An angle that is nearer to its limit than this (rad) stands at it."""
_NOTHING = 1.0e-300


def times(factor: Block | float, value: Block) -> Block:
    """The product, which costs nothing where the factor is a plain 1."""
    return value if isinstance(factor, float) and factor == 1.0 else factor * value


def clamped(o: Ops, value: Block, interval: Interval) -> Block:
    """The value, or the end of the interval that it is beyond; the lower end counts last."""
    lower, upper = interval
    if upper is not None:
        value = o.minimum(value, upper)
    if lower is not None:
        value = o.maximum(value, lower)
    return value


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


class Pressed(NamedTuple):
    """A joint at its limit: the first of its columns, and n, or zero where nothing presses it."""

    column: int
    outward: list[Block]


class JointUpdate:
    """Bounds and moves of the joints of a problem, in the operations ``o``.

    ``parameters`` and ``settings`` are the numbers of `Problem.layout`. x is what moves (n,), or
    the list of its positions.
    """

    def __init__(self, o: Ops, problem: Problem, parameters: Block, settings: Block) -> None:
        self.o, self.problem = o, problem
        self.parameters, self.settings = parameters, settings
        self._place = {k: place for place, k in enumerate(problem.moved)}
        self._coupled = [limit for limit in problem.limits if limit.coupled]

    @cached_property
    def unit(self) -> list[Block | float]:
        """The unit of each moved velocity, per radian of an angle: 1, or a length for slides.

        Times the joint's weight: a joint of weight 0.1 goes a tenth as readily.
        """
        problem = self.problem
        unit: list[Block | float] = [problem.lengths[k] for k in problem.moved_v]
        if problem.weights is None:
            return unit
        first = problem.layout.joint_weights[0]
        return [times(s, self.settings[first + k]) for k, s in enumerate(unit)]

    def configuration(self, x: Block | Sequence[Block]) -> Block:
        """All of q from what moves and what is held; joints that do not matter are at zero."""
        problem = self.problem
        q: list[Block] = [self.o.const(0.0)] * problem.mechanism.n_q
        for w in quaternion_starts(problem.mechanism):
            q[w] = self.o.const(1.0)
        first = problem.layout.held[0]
        for place, k in enumerate(problem.held):
            q[k] = self.parameters[first + place]
        for place, k in enumerate(problem.moved):
            q[k] = x[place]
        return self.o.vector(q)

    # --- bounds -----------------------------------------------------------------------------------

    @cached_property
    def room(self) -> list[Interval]:
        """The positions of x that the description and limits of position allow."""
        o, problem = self.o, self.problem
        room: list[Interval] = []
        for lower, upper in zip(problem.lower.tolist(), problem.upper.tolist(), strict=True):
            finite = math.isfinite(lower), math.isfinite(upper)
            room.append((lower if finite[0] else None, upper if finite[1] else None))
        nowhere = Where(o.const([0.0]), o.const([0.0]), {})
        for limit in problem.limits:
            if limit.rank == POSITION and not limit.coupled:
                self._narrow(room, self._bounds_at(limit, nowhere))
        return room

    @cached_property
    def _start(self) -> Block:
        """q (nq,) where the move began, inside the room; zero where no limit needs it."""
        start: list[Block] = [self.o.const(0.0)] * self.problem.mechanism.n_q
        if any(limit.needs_start for limit in self.problem.limits):
            first = self.problem.layout.start[0]
            for index, place in self._place.items():
                value = self.parameters[first + place]
                start[index] = clamped(self.o, value, self.room[place])
        return self.o.vector(start)

    def bounds(self, limit: BoundLimit, q: Block) -> Mapping[int, Interval]:
        """The bounds that a limit gives at q, by index in q."""
        room = dict(zip(self.problem.moved, self.room, strict=True))
        return self._bounds_at(limit, Where(q, self._start, room))

    def _bounds_at(self, limit: BoundLimit, where: Where) -> Mapping[int, Interval]:
        o, layout, k = self.o, self.problem.layout, self.problem.limits.index(limit)
        return limit.bounds(
            o,
            where,
            o.part(self.settings, *layout.limit_settings[k]),
            o.part(self.parameters, *layout.limit_numbers[k]),
        )

    def _narrow(self, room: list[Interval], bounds: Mapping[int, Interval]) -> None:
        for index, found in bounds.items():
            if index in self._place:
                place = self._place[index]
                room[place] = narrowed(self.o, room[place], found)

    def reach(self, q: Block) -> list[Interval]:
        """The bounds of each position of x: the description's, and of limits that are not coupled.

        Where they exclude each other, position is kept before velocity, that before acceleration.
        """
        reach = list(self.room)
        later = [each for each in self.problem.limits if each.rank != POSITION and not each.coupled]
        for limit in sorted(later, key=lambda each: each.rank):
            self._narrow(reach, self.bounds(limit, q))
        return reach

    def violation(self, x: Sequence[Block]) -> Block:
        """The largest excess of a position over a limit that is not of the description; 0 inside.

        Spherical joints count with their angle, and how far their quaternion is from unit length.
        """
        worst = self._excess(x, self.problem.limits)
        turned = self.angle_excess(x)
        return worst if turned is None else self.o.maximum(worst, turned)

    def _excess(self, x: Sequence[Block], limits: Sequence[BoundLimit]) -> Block:
        o, moving = self.o, set(self.problem.coordinates)
        worst: Block = o.const(0.0)
        q = self.configuration(x) if limits else worst
        for limit in limits:
            # a joint that is held may be bounded by where another one goes
            reads = limit.coupled and not moving.isdisjoint(limit.coordinates)
            for index, (lower, upper) in self.bounds(limit, q).items():
                if index not in self._place and not reads:
                    continue
                if lower is not None:
                    worst = o.maximum(worst, lower - q[index])
                if upper is not None:
                    worst = o.maximum(worst, q[index] - upper)
        return worst

    # --- moves ------------------------------------------------------------------------------------

    def entered(self, x: Block, reach: Sequence[Interval]) -> Block:
        """x itself where it lies within its limits; else a point within them.

        What is outside an interval is mirrored at its ends until it lies inside: a little outside
        becomes a little inside, and points drawn from far around become points drawn from within.
        Only where limits beside the description's bound what moves; x keeps its bits inside.
        """
        o, problem = self.o, self.problem
        if problem.balls:
            x = o.vector(self.inside_angles([x[k] for k in range(len(problem.moved))]))
        if not problem.limits:
            return x
        values: list[Block] = [x[place] for place in range(len(problem.moved))]
        for place, index in enumerate(problem.moved):
            if index not in problem.bounded:
                continue
            value, (lower, upper) = values[place], reach[place]
            if lower is not None and upper is not None:
                width = o.maximum(upper - lower, 1e-300)
                turns = (value - lower) / width
                turns = turns - 2.0 * o.floor(0.5 * turns)  # in [0, 2)
                inside = lower + width * (1.0 - o.absolute(1.0 - turns))
                outside = o.either(o.less(value, lower), o.less(upper, value))
                value = o.select(outside, inside, value)
            values[place] = clamped(o, value, reach[place])
        return o.vector(self._clamped_to_coupled(values, reach))

    def limited(self, dx: Sequence[Block]) -> tuple[list[Block], Block]:
        """The step with its turns limited in length, in the units of v; and its squared length."""
        o, problem = self.o, self.problem
        any_length = problem.slides | problem.straight
        turns = [d for k, d in zip(problem.moved_v, dx, strict=True) if k not in any_length]
        squared = sum_of_squares(dx)
        if not turns:
            return [times(s, d) for s, d in zip(self.unit, dx, strict=True)], squared
        length = o.sqrt(sum_of_squares(turns) + 1e-24)
        shrink = o.minimum(1.0, _LONGEST_STEP / length)
        return [times(s, shrink) * d for s, d in zip(self.unit, dx, strict=True)], squared

    def moved(
        self, x: Block, moves: Sequence[Block], reach: Sequence[Interval], *, wrap: bool = True
    ) -> Block:
        """x after the step: on the group, angles without limits in [-pi, pi), the rest clamped.

        Without ``wrap`` angles stay on their turn. Where one coupled limit moves a joint out of
        another's, all joints that these limits bound or read stay where they were.
        """
        o, problem, m = self.o, self.problem, self.problem.mechanism
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
        values = self._clamped_to_coupled(self.inside_angles(values), reach)
        if self._coupled:
            outside = o.less(0.0, self._excess(values, self._coupled))
            involved = {c for limit in self._coupled for c in limit.coordinates}
            for k in m.q_indices(involved):
                if k in self._place:
                    place = self._place[k]
                    stays = clamped(o, x[place], reach[place])
                    values[place] = o.select(outside, stays, values[place])
        return o.vector(values)

    def _clamped_to_coupled(self, values: list[Block], reach: Sequence[Interval]) -> list[Block]:
        """The values, each clamped a little inside the bounds that the others give it, in turn.

        The little keeps two limits that describe one region from both sides from disagreeing in
        the last bit. No value leaves its reach.
        """
        o, values = self.o, list(values)
        for limit in self._coupled:
            for index, (lower, upper) in self.bounds(limit, self.configuration(values)).items():
                if index not in self._place:
                    continue
                place, little = self._place[index], _INSET
                if lower is not None and upper is not None:
                    little = o.maximum(0.0, o.minimum(_INSET, 0.5 * (upper - lower)))
                inset = (
                    None if lower is None else lower + little,
                    None if upper is None else upper - little,
                )
                values[place] = clamped(o, values[place], narrowed(o, reach[place], inset))
        return values

    # --- spherical joints -------------------------------------------------------------------------

    def _parts(self, ball: Ball, x: Sequence[Block] | Block) -> tuple[Block, Block, Block]:
        """w, u and |u| of a quaternion."""
        w, *rest = (x[ball.place + k] for k in range(4))
        u = self.o.vector(rest)
        return w, u, self.o.sqrt(self.o.dot(u, u) + _NOTHING)

    def angle_excess(self, x: Sequence[Block]) -> Block | None:
        """The distance of the farthest quaternion of x from a rotation inside; None without any."""
        o = self.o
        worst: Block | None = None
        for ball in self.problem.balls:
            w, u, length = self._parts(ball, x)
            off = o.absolute(o.dot(u, u) + w * w - 1.0)
            if math.isfinite(ball.limit):
                off = o.maximum(off, -_room(o, w, length, ball.limit))
            worst = off if worst is None else o.maximum(worst, off)
        return worst

    def inside_angles(self, x: Sequence[Block]) -> list[Block]:
        """x with quaternions of unit length, turned back about their axis where beyond a limit."""
        o, values = self.o, list(x)
        for ball in self.problem.balls:
            w, u, length = self._parts(ball, values)
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

    def pressed(self, x: Sequence[Block] | Block, push: Sequence[Block]) -> list[Pressed]:
        """The joints at their limits that ``push``, a number for each column, drives outwards."""
        o = self.o
        found: list[Pressed] = []
        for ball in self.problem.balls:
            if not math.isfinite(ball.limit):
                continue
            w, u, length = self._parts(ball, x)
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


def beyond_angle(o: Ops, wxyz: Sequence[Block], limit: float) -> Block:
    """The angle (rad, next to the limit) by which a quaternion of any length is beyond it."""
    w, u = wxyz[0], o.vector(list(wxyz[1:]))
    square = o.dot(u, u)
    whole = o.sqrt(square + w * w + _NOTHING)
    return -_room(o, w, o.sqrt(square + _NOTHING), limit) / whole


def _room(o: Ops, w: Block, length: Block, limit: float) -> Block:
    """2 sin((limit - angle) / 2), of a quaternion of unit length."""
    half = 0.5 * limit
    return 2.0 * (o.absolute(w) * math.sin(half) - length * math.cos(half))


def sum_of_squares(values: Sequence[Block]) -> Block:
    """The squared length of some numbers, added up in their order."""
    return sum((v * v for v in values[1:]), values[0] * values[0])
