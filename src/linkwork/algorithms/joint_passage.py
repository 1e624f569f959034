"""The joint of one body at one configuration: vectors taken through it, either way.

Between the axes of the parent and those of the body lie two steps: the placement of the joint, a
constant that is most often a signed permutation, and the turn of the joint.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from linkwork.algorithms.axes import Scalar, added, signed_permutation
from linkwork.algorithms.joint_motion import displacement, joint_position, quaternion_matrix
from linkwork.algorithms.triples import (
    Rows,
    Triple,
    applied,
    flipped,
    less,
    minus,
    plus,
    plus_cross,
    rows_of,
    times,
    zeros,
)
from linkwork.mechanism.model import JointType, Mechanism
from linkwork.ops.protocol import Block, Ops


@dataclass(frozen=True)
class Passage:
    """How vectors go between a body's parent, its joint frame and itself.

    The *joint frame* does not move with the joint; the axes of the body are those of the joint
    frame after the turn; ``shift`` is where the body's origin lies in the joint frame.
    """

    type: JointType
    R: Rows  # the joint frame in the parent
    p: Triple
    exact: bool  # whether R is a signed permutation
    back: Rows  # R transposed
    shift: Triple | None
    turn: tuple[Block, Block] | None  # cosine and sine
    free: Rows | None  # the rotation of a quaternion, from the body to the joint frame

    def into_joint(self, v: Triple) -> Triple:
        """From the parent's axes to the joint frame's."""
        return applied(self.back, v)

    def out_of_joint(self, v: Triple) -> Triple:
        """From the joint frame's axes to the parent's."""
        return applied(self.R, v)

    def into_body(self, v: Triple) -> Triple:
        """From the joint frame's axes to the body's."""
        if self.free is not None:
            return applied(flipped(self.free), v)
        if self.turn is None:
            return list(v)
        (c, s), (x, y, z) = self.turn, v
        return [added(times(c, x), times(s, y)), less(times(c, y), times(s, x)), z]

    def out_of_body(self, v: Triple) -> Triple:
        """From the body's axes to the joint frame's."""
        if self.free is not None:
            return applied(self.free, v)
        if self.turn is None:
            return list(v)
        (c, s), (x, y, z) = self.turn, v
        return [less(times(c, x), times(s, y)), added(times(s, x), times(c, y)), z]


def passages(o: Ops, m: Mechanism, q: Block) -> list[Passage]:
    """The joints of all bodies."""
    return [_passage(o, m, q, body) for body in range(m.n_bodies)]


def _passage(o: Ops, m: Mechanism, q: Block, body: int) -> Passage:
    type, at = m.body_joint_types[body], m.placement(body)
    position = joint_position(m, q, body)
    turns = type.turns or type is JointType.PLANAR
    R = rows_of(at.R)
    return Passage(
        type=type,
        R=R,
        p=list(at.p),
        exact=signed_permutation(at.R) is not None,
        back=flipped(R),
        shift=displacement(type, position),
        turn=(o.cos(position[-1]), o.sin(position[-1])) if turns else None,
        free=rows_of(quaternion_matrix(o, type, position)) if type.has_quaternion else None,
    )


def columns_of(m: Mechanism, body: int) -> tuple[range, float]:
    """The numbers of v that move the joint of a body, and the multiplier that they count with."""
    coordinate = int(m.coordinate[body])
    if coordinate < 0:
        return range(0), 1.0
    start = int(m.v_start[coordinate])
    return range(start, start + m.body_joint_types[body].n_v), float(m.multiplier[body])


def moves(m: Mechanism) -> list[bool]:
    """Whether each body moves at all: all but a fixed base."""
    return [type is not JointType.FIXED for type in m.body_joint_types]


class Wrench(NamedTuple):
    """A force, and the moment about the origin of the frame whose axes both are given in."""

    force: Triple
    moment: Triple


def in_parent(way: Passage, wrench: Wrench) -> Wrench:
    """A wrench on a body, as one on its parent about the parent's origin."""
    return placed_in_parent(way, in_joint(way, wrench))


def placed_in_parent(way: Passage, wrench: Wrench) -> Wrench:
    """A wrench in the joint frame, as one on the parent about the parent's origin."""
    if way.exact:
        moment = plus_cross(wrench.moment, way.into_joint(way.p), wrench.force)
        return Wrench(way.out_of_joint(wrench.force), way.out_of_joint(moment))
    force = way.out_of_joint(wrench.force)
    return Wrench(force, plus_cross(way.out_of_joint(wrench.moment), way.p, force))


def in_joint(way: Passage, wrench: Wrench) -> Wrench:
    """A wrench on a body in its joint frame, about that one's origin."""
    force, moment = way.out_of_body(wrench.force), way.out_of_body(wrench.moment)
    if way.shift is None:
        return Wrench(force, moment)
    return Wrench(force, plus_cross(moment, way.shift, force))


def along_joint(way: Passage, wrench: Wrench) -> list[Scalar]:
    """A wrench on a body along what its joint leaves free: a number for each one of v."""
    if way.type.turns:
        return [wrench.moment[2]]
    if way.type is JointType.PRISMATIC:
        return [wrench.force[2]]
    if way.type is JointType.PLANAR:
        force = way.out_of_body(wrench.force)
        return [force[0], force[1], wrench.moment[2]]
    if way.type.has_quaternion:
        return [*wrench.force[: way.type.n_lengths], *wrench.moment]
    return []


class Load:
    """Wrenches on the bodies, gathered inwards: what is added to a body goes on to its parent."""

    def __init__(self, m: Mechanism, ways: list[Passage]) -> None:
        """No wrench on any body but those that the world exerts."""
        self._m, self._ways = m, ways
        self._on = [_external(m, ways, body) for body in range(m.n_bodies)]

    def of(self, body: int) -> Wrench:
        """The wrench that a body's joint has to exert on it."""
        return self._on[body]

    def hand_inwards(self, body: int, wrench: Wrench) -> None:
        """Add a wrench, given in the joint frame of a body, to the parent's."""
        parent = int(self._m.parent[body])
        if parent >= 0 and self._ways[parent].type is not JointType.FIXED:
            more, at = placed_in_parent(self._ways[body], wrench), self._on[parent]
            force, moment = plus(at.force, more.force), plus(at.moment, more.moment)
            self._on[parent] = Wrench(force, moment)


def _external(m: Mechanism, ways: list[Passage], body: int) -> Wrench:
    """The wrench that a joint holds against the push of the world on a body."""
    force, moment = zeros(), zeros()
    if ways[body].type is JointType.FIXED:
        return Wrench(force, moment)  # what pushes a fixed base moves nothing
    for frame, given in m.wrenches(body):
        push = _in_body(m, ways, body, [given[k] for k in range(3)])
        turn = _in_body(m, ways, body, [given[k] for k in range(3, 6)])
        force = minus(force, push)
        moment = minus(moment, plus_cross(turn, m.frame_placement(frame).p, push))
    return Wrench(force, moment)


def _in_body(m: Mechanism, ways: list[Passage], body: int, vector: Triple) -> Triple:
    """A vector given along the world's axes, along those of a body."""
    for each in m.ancestry(body):
        vector = ways[each].into_body(ways[each].into_joint(vector))
    return vector
