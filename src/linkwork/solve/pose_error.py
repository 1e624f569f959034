"""How far a rotation is from its target: the residual of inverse kinematics."""

from __future__ import annotations

from linkwork.ops.protocol import Block, Ops
from linkwork.spatial.rotations import vee

_BEND = 1.5
"""Between 1 and infinity: how much faster than its sine a large angle grows in the residual."""


def rotation_error(o: Ops, current: Block, target: Block) -> tuple[Block, Block]:
    """The rotation (3,) that takes ``current`` (3, 3) to ``target``, and the squared chord.

    The rotation is n sin(a) (1 + c) / (cos(a) + c) for a turn by a about n, in axes of the world:
    to second order the rotation vector n a near the target, without its logarithm's branches, and
    growing with the angle up to near pi. The chord is 2 sin(a / 2).
    """
    m = target @ o.transpose(current)
    cosine = 0.5 * (m[0, 0] + m[1, 1] + m[2, 2] - 1.0)
    gain = (1.0 + _BEND) / (cosine + _BEND)
    # by differences of elements, which lose nothing where the angle is small
    columns = [o.column(target, j) - o.column(current, j) for j in range(3)]
    squares = [o.dot(c, c) for c in columns]
    return gain * vee(o, m), 0.5 * (squares[0] + squares[1] + squares[2])
