"""A mechanism as single steps: each turns about one axis, slides along one, or moves freely.

A planar joint is three steps, two slides and a turn, of which only the last has a body; every other
joint is one. What is said of a step is in the frame that it moves, about the origin of that frame.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from linkwork.algorithms.axes import Scalar, added, all_constant, signed_permutation
from linkwork.algorithms.joint_motion import displacement, joint_position, quaternion_matrix
from linkwork.algorithms.path import free_axes
from linkwork.algorithms.triples import (
    Rows,
    Triple,
    applied,
    cross,
    flipped,
    less,
    plus,
    rows_of,
    times,
    zeros,
)
from linkwork.mechanism.model import JointType, Mechanism, Placement
from linkwork.ops.protocol import Block, Ops

UNTURNED: Rows = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]


class Spatial(NamedTuple):
    """A twist, an acceleration or a wrench: the linear and the angular part."""

    linear: Triple
    angular: Triple


class Step(NamedTuple):
    """One step: what it leaves free, and where its frame is in that of the step before."""

    parent: int  # -1 for the world
    body: int
    owner: bool  # whether it moves the body itself, rather than what a later step of its joint does
    free: tuple[tuple[int, bool], ...]  # for each number of v: the axis, and whether it turns
    start: int  # the first of its numbers of v
    factor: float  # the multiplier of a coupled joint
    placed: Rows  # the part of R that does not depend on q
    turn: tuple[Block, Block] | None  # cosine and sine, where R is a signed permutation and a turn
    R: Rows
    r: Triple

    @property
    def is_turn(self) -> bool:
        """Whether it is a single turn; it is about z."""
        return len(self.free) == 1 and self.free[0][1]

    def out(self, v: Triple) -> Triple:
        """A vector along the axes of this step, along those of the step before."""
        if self.turn is None:
            return applied(self.R, v)
        (c, s), (x, y, z) = self.turn, v
        turned = [less(times(c, x), times(s, y)), added(times(s, x), times(c, y)), z]
        return applied(self.placed, turned)

    def into(self, v: Triple) -> Triple:
        """A vector along the axes of the step before, along those of this one."""
        if self.turn is None:
            return applied(flipped(self.R), v)
        (c, s), (x, y, z) = self.turn, applied(flipped(self.placed), v)
        return [added(times(c, x), times(s, y)), less(times(c, y), times(s, x)), z]

    def wrench_out(self, wrench: Spatial) -> Spatial:
        """A wrench of this step, as one of the step before."""
        force = self.out(wrench.linear)
        return Spatial(force, plus(self.out(wrench.angular), cross(self.r, force)))

    def twist_out(self, twist: Spatial) -> Spatial:
        """A twist of this step, as one of the step before."""
        angular = self.out(twist.angular)
        return Spatial(plus(self.out(twist.linear), cross(self.r, angular)), angular)

    def twist_into(self, twist: Spatial) -> Spatial:
        """A twist of the step before, as one of this step."""
        linear = plus(twist.linear, cross(twist.angular, self.r))
        return Spatial(self.into(linear), self.into(twist.angular))

    def matrix_out(self, a: Rows) -> Rows:
        """``R a Rᵀ`` for a matrix (3, 3)."""
        rows = self.R
        if self.turn is not None:
            a, rows = _about_z(a, *self.turn), self.placed
        half = [applied(rows, column) for column in flipped(a)]  # column after column of R a
        return [applied(rows, row) for row in flipped(half)]

    def symmetric_out(self, a: Rows) -> Rows:
        """`matrix_out` for a symmetric matrix; the result is symmetric to the last bit."""
        (xx, xy, xz), (_, yy, yz), (_, _, zz) = self.matrix_out(a)
        return [[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]


def _about_z(a: Rows, c: Block, s: Block) -> Rows:
    """A matrix turned about z; with t = s (axx - ayy) + c (axy + ayx) it changes by s t and c t."""
    (xx, xy, xz), (yx, yy, yz), (zx, zy, zz) = a
    t = added(times(s, less(xx, yy)), times(c, added(xy, yx)))
    across, along = times(c, t), times(s, t)
    return [
        [less(xx, along), less(across, yx), less(times(c, xz), times(s, yz))],
        [less(across, xy), added(yy, along), added(times(s, xz), times(c, yz))],
        [less(times(c, zx), times(s, zy)), added(times(s, zx), times(c, zy)), zz],
    ]


def steps_of(o: Ops, m: Mechanism, q: Block, bodies: Iterable[int] | None = None) -> list[Step]:
    """The steps of these bodies (default: all), each after the one that carries it.

    Of some bodies, all that carry them must be among them, carriers first.
    """
    last: dict[int, int] = {-1: -1}
    found: list[Step] = []
    for body in range(m.n_bodies) if bodies is None else bodies:
        above = last[int(m.parent[body])]
        for step in _of_joint(o, m, q, body):
            found.append(step._replace(parent=above))
            above = len(found) - 1
        last[body] = above
    return found


def _of_joint(o: Ops, m: Mechanism, q: Block, body: int) -> list[Step]:
    type, place = m.body_joint_types[body], m.placement(body)
    position, free = joint_position(m, q, body), tuple(free_axes(type))
    coordinate = int(m.coordinate[body])
    start = int(m.v_start[coordinate]) if free else 0
    R, p = rows_of(place.R), list(place.p)
    step = Step(-1, body, True, free, start, float(m.multiplier[body]), R, None, R, p)
    if type is JointType.PLANAR:
        x = _slid(step, [position[0], 0.0, 0.0])._replace(owner=False, free=free[:1])
        here = step._replace(placed=UNTURNED, R=UNTURNED, r=zeros())
        y = here._replace(owner=False, free=free[1:2], start=start + 1)
        z = here._replace(free=free[2:], start=start + 2)
        return [x, _slid(y, [0.0, position[1], 0.0]), _turned(o, z, position[2])]
    if type.turns:
        return [_turned(o, step, position[0])]
    local = displacement(type, position)
    step = step if local is None else _slid(step, local)
    if type.has_quaternion:
        step = step._replace(R=_product(R, rows_of(quaternion_matrix(o, type, position))))
    return [step]


def _slid(step: Step, local: list[Scalar]) -> Step:
    return step._replace(r=plus(step.r, applied(step.R, local)))


def _turned(o: Ops, step: Step, angle: Block) -> Step:
    c, s = o.cos(angle), o.sin(angle)
    R = _product(step.placed, [[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
    # other placements are multiplied out: nine products a vector then, instead of thirteen
    return step._replace(R=R, turn=(c, s) if _is_permutation(step.placed) else None)


def _is_permutation(R: Rows) -> bool:
    return all(map(all_constant, R)) and signed_permutation(R) is not None


def _product(a: Rows, b: Rows) -> Rows:
    return flipped([applied(a, column) for column in flipped(b)])


def fixed_in(place: Placement) -> Step:
    """A frame that is fixed in the one before, as a step that leaves nothing free."""
    R = rows_of(place.R)
    return Step(-1, -1, False, (), 0, 1.0, R, None, R, list(place.p))


def way_to(steps: list[Step], k: int) -> list[int]:
    """The steps from the world to step k, both ends included."""
    way = [k]
    while steps[way[-1]].parent >= 0:
        way.append(steps[way[-1]].parent)
    return way[::-1]


def columns(step: Step) -> Iterator[Spatial]:
    """The motions that the numbers of v are factors of."""
    for axis, turns in step.free:
        linear, angular = zeros(), zeros()
        (angular if turns else linear)[axis] = 1.0
        yield Spatial(linear, angular)
