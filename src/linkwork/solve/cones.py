"""Spherical joints in a search: rotations of unit length inside the angles that limit them.

Turned by an angle from 1 0 0 0, a unit quaternion w, u has |w| = cos(angle / 2) and
|u| = sin(angle / 2). The angle grows at the rate n·omega with n = u / |u| sign(w), in the axes of
the body and of the joint alike.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from linkwork.ops.protocol import Block, Ops
from linkwork.solve.problem import Ball, Problem

_INSIDE = 1.0e-12
"""The share of its limit by which an angle that is stopped stays inside, so that rounding does."""
_AT_LIMIT = 1.0e-9
"""An angle that is nearer to its limit than this (rad) stands at it."""
_NOTHING = 1.0e-300


class Pressed(NamedTuple):
    """A joint at its limit: the first of its columns, and n, or zero where nothing presses it."""

    column: int
    outward: list[Block]


def excess(o: Ops, problem: Problem, values: Sequence[Block]) -> Block | None:
    """How far the farthest quaternion of x is from a rotation inside; None without any."""
    worst: Block | None = None
    for ball in problem.balls:
        w, u, length = _parts(o, ball, values)
        off = o.absolute(o.dot(u, u) + w * w - 1.0)
        if math.isfinite(ball.limit):
            off = o.maximum(off, -_room(o, w, length, ball.limit))
        worst = off if worst is None else o.maximum(worst, off)
    return worst


def beyond(o: Ops, wxyz: Sequence[Block], limit: float) -> Block:
    """How far (rad, next to the limit) a quaternion of any length is turned beyond it."""
    w, u = wxyz[0], o.vector(list(wxyz[1:]))
    square = o.dot(u, u)
    whole = o.sqrt(square + w * w + _NOTHING)
    return -_room(o, w, o.sqrt(square + _NOTHING), limit) / whole


def _room(o: Ops, w: Block, length: Block, limit: float) -> Block:
    """2 sin((limit - angle) / 2), of a quaternion of unit length."""
    half = 0.5 * limit
    return 2.0 * (o.absolute(w) * math.sin(half) - length * math.cos(half))


def entered(o: Ops, problem: Problem, values: Sequence[Block]) -> list[Block]:
    """x with every quaternion of unit length, turned back about its axis to its limit if beyond."""
    values = list(values)
    for ball in problem.balls:
        w, u, length = _parts(o, ball, values)
        whole = o.sqrt(o.dot(u, u) + w * w + _NOTHING)
        along, real = 1.0 / whole, w / whole
        if math.isfinite(ball.limit):
            half = 0.5 * ball.limit * (1.0 - _INSIDE)
            cosine, sine = math.cos(half), math.sin(half)
            beyond = o.less(o.absolute(w) * sine, length * cosine)
            real = o.select(beyond, o.select(o.less(w, 0.0), -cosine, cosine), real)
            along = o.select(beyond, sine / o.maximum(length, _NOTHING), along)
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
