"""How far a rotation is from its target: the residual of inverse kinematics."""

from __future__ import annotations

from linkwork.ops.protocol import Block, Ops
from linkwork.spatial.rotations import vee

_BEND = 1.5
"""Between 1 and infinity: how much faster than its sine a large angle grows in the residual."""


def bend(cosine: Block) -> Block:
    """(1 + c) / (cos(a) + c), by which the sine of an angle a is made to grow up to near pi."""
    return (1.0 + _BEND) / (cosine + _BEND)


def rotation_error(o: Ops, current: Block, target: Block) -> tuple[Block, Block]:
    """The rotation (3,) that takes ``current`` (3, 3) to ``target``, and the squared chord.

    The rotation is n sin(a) (1 + c) / (cos(a) + c) for a turn by a about n, in axes of the world:
    to second order the rotation vector n a near the target, without its logarithm's branches, and
    growing with the angle up to near pi. The chord is 2 sin(a / 2).
    """
    m = target @ o.transpose(current)
    cosine = 0.5 * (m[0, 0] + m[1, 1] + m[2, 2] - 1.0)
    # by differences of elements, which lose nothing where the angle is small
    columns = [o.column(target, j) - o.column(current, j) for j in range(3)]
    squares = [o.dot(c, c) for c in columns]
    return bend(cosine) * vee(o, m), 0.5 * (squares[0] + squares[1] + squares[2])


def direction_error(o: Ops, current: Block, target: Block) -> tuple[Block, Block]:
    """The rotation (3,) that takes a unit vector (3,) to another, and the squared chord.

    It lies across both, and is made of the angle between them as in `rotation_error`. At the
    antipode it vanishes, and the chord is 2, the largest that there is.
    """
    apart = target - current
    turn = bend(o.dot(current, target)) * o.cross(current, target)
    return turn, o.dot(apart, apart)
