"""The joint of one body at one configuration: vectors taken through it, either way.

Between the axes of the parent and those of the body lie two steps: the placement of the joint, a
constant that is most often a signed permutation, and the turn of the joint.
"""

from __future__ import annotations

from dataclasses import dataclass

from linkwork.algorithms.axes import added, signed_permutation
from linkwork.algorithms.joint_motion import displacement, joint_position, quaternion_matrix
from linkwork.algorithms.triples import Rows, Triple, applied, flipped, less, rows_of, times
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
