"""Positions of actuated joints that cannot be assembled, told by lengths alone.

With the actuated joints where they are given, bodies between passive joints are rigid parts. Parts
that hold each other at points, one after the other and round again, are a polygon: one side of each
part, of the length between its two points. A polygon closes only where no side is longer than all
others together. Where one is, nothing has to be searched for; where none is, nothing is known.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import reduce
from itertools import islice
from operator import add
from typing import NamedTuple

import numpy as np

from linkwork.algorithms.forward_kinematics import body_poses
from linkwork.mechanism.model import JointType, Mechanism
from linkwork.mechanism.neutral import neutral
from linkwork.ops.protocol import Block, Ops

_MARGIN = 1.0e-9
"""Metres by which a side must be too long: far more than closures are open, and than rounding."""
_MOST_SIDES = 6
_MOST_POLYGONS = 40
_MOST_CYCLES = 10_000


class Point(NamedTuple):
    """A point of a body, in its frame; body -1 is the world."""

    body: int
    place: tuple[float, float, float]


class Side(NamedTuple):
    """From one point of a rigid part to another, or a rod of a constant ``length``."""

    start: Point
    end: Point
    length: float | None = None

    @property
    def varies(self) -> bool:
        """Whether actuated joints may change its length."""
        return self.length is None and self.start.body != self.end.body


class _Hold(NamedTuple):
    """A hold between two parts: a point of both, or the two ends of a rod."""

    parts: tuple[int, int]
    points: tuple[Point, Point]
    length: float  # of the rod; 0 for a point


def polygons(m: Mechanism, moved: Sequence[int]) -> list[tuple[Side, ...]]:
    """The polygons that may forbid positions of what does not move, those of fewest sides first.

    ``moved``: the indices in q of what does. At most 40, of at most six parts.
    """
    part_of = _parts(m, set(moved))
    holds = _holds(m, part_of)
    found: list[tuple[Side, ...]] = []
    for cycle in sorted(islice(_cycles(holds), _MOST_CYCLES), key=len):
        sides = _sides(cycle)
        if any(side.varies for side in sides):
            found.append(sides)
        if len(found) == _MOST_POLYGONS:
            break
    return found


def longest_excess(o: Ops, m: Mechanism, found: Sequence[Sequence[Side]], q: Block) -> Block:
    """By how much (m) a side of any polygon is longer than the others together, less a margin.

    Shapes: q (nq,) to a scalar: where it is above zero nothing can be assembled.
    """
    bodies = {p.body for sides in found for side in sides for p in side[:2]} - {-1}
    poses = body_poses(o, m, q, sorted(bodies))

    def at(point: Point) -> Block:
        if point.body < 0:
            return o.const(list(point.place))
        pose = poses[point.body]
        return pose.p + pose.R @ o.const(list(point.place))

    def length(side: Side) -> Block:
        if side.length is not None:
            return o.const(side.length)
        if not side.varies:
            return o.const(float(np.linalg.norm(np.subtract(side.start.place, side.end.place))))
        way = at(side.end) - at(side.start)
        return o.sqrt(o.dot(way, way))

    beyond: list[Block] = []
    for sides in found:
        lengths = [length(side) for side in sides]
        beyond.append(2.0 * reduce(o.maximum, lengths) - reduce(add, lengths) - _MARGIN)
    return reduce(o.maximum, beyond) if beyond else o.const(-1.0)


def at_rest(
    o: Ops, m: Mechanism, given: tuple[Block, Sequence[int]], q0: Block, moved: Sequence[int]
) -> Block:
    """q with what is given, what moves at neutral (lengths do not depend on it), else as in q0.

    ``given``: positions, and their indices in q.
    """
    still, moving = neutral(m), set(moved)
    q = [o.const(float(still[k])) if k in moving else q0[k] for k in range(m.n_q)]
    for i, k in enumerate(given[1]):
        q[k] = given[0][i]
    return o.vector(q)


def _parts(m: Mechanism, moved: set[int]) -> dict[int, int]:
    """The first body of the rigid part that each body belongs to; -1 is the world's."""
    part = {-1: -1}
    for body in range(m.n_bodies):
        c = int(m.coordinate[body])
        moves = c >= 0 and int(m.q_start[c]) in moved
        part[body] = body if moves else part[int(m.parent[body])]
    return part


def _holds(m: Mechanism, part_of: dict[int, int]) -> list[_Hold]:
    holds: list[_Hold] = []

    def hold(a: Point, b: Point, length: float = 0.0) -> None:
        parts = part_of[a.body], part_of[b.body]
        if parts[0] != parts[1]:
            holds.append(_Hold(parts, (a, b), length))

    for body in range(m.n_bodies):
        kind = m.body_joint_types[body]
        if kind.turns or kind is JointType.SPHERICAL:
            x, y, z = m.p_parent_joint[body].tolist()
            hold(Point(int(m.parent[body]), (x, y, z)), Point(body, (0.0, 0.0, 0.0)))
    for loop in m.loops:
        frames = [m.frame(name) for name in (loop.frame_a, loop.frame_b)]
        a, b = (Point(int(m.frame_body[k]), tuple(m.p_body_frame[k].tolist())) for k in frames)
        if loop.held.length or loop.held.position == "xyz":
            hold(a, b, loop.distance)
    return holds


_Step = tuple[_Hold, bool]  # whether it is gone from its second part to its first


def _cycles(holds: Sequence[_Hold]) -> Iterator[list[_Step]]:
    """Every way from a part round to it again over different parts, once and in one direction."""
    at: dict[int, list[tuple[int, int, bool]]] = {}
    for k, hold in enumerate(holds):
        a, b = hold.parts
        at.setdefault(a, []).append((k, b, False))
        at.setdefault(b, []).append((k, a, True))

    def onward(first: int, way: list[tuple[int, bool]], seen: list[int]) -> Iterator[list[_Step]]:
        for k, there, back in at[seen[-1]]:
            if there == first and way and way[0][0] < k:
                yield [(holds[i], turned) for i, turned in [*way, (k, back)]]
            elif there > first and there not in seen and len(seen) < _MOST_SIDES:
                yield from onward(first, [*way, (k, back)], [*seen, there])

    for first in sorted(at):
        yield from onward(first, [], [first])


def _sides(cycle: Sequence[_Step]) -> tuple[Side, ...]:
    """In every part from the point that it is come to by to the one that it is left by; rods."""
    sides: list[Side] = []
    for k, (hold, back) in enumerate(cycle):
        before, before_back = cycle[k - 1]
        come = before.points[0] if before_back else before.points[1]
        leave = hold.points[1] if back else hold.points[0]
        if come != leave:
            sides.append(Side(come, leave))
        if hold.length > 0.0:
            sides.append(Side(*hold.points, length=hold.length))
    return tuple(sides)
