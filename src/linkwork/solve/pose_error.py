"""How far a pose is from its target: the residual of inverse kinematics."""

from __future__ import annotations

from typing import NamedTuple

from linkwork.ops.protocol import Block, Ops
from linkwork.spatial.poses import Pose
from linkwork.spatial.rotations import vee

_BEND = 1.5
"""Between 1 and infinity: how much faster than its sine a large angle grows in the residual."""


class PoseError(NamedTuple):
    """The way from a pose to its target, in axes of the world."""

    position: Block  # (3,) m
    rotation: Block  # (3,) about the axis of the remaining turn; its angle where that is small
    position_squared: Block
    sine_squared: Block  # of the remaining angle
    cosine: Block


def pose_error(o: Ops, current: Pose, target: Pose) -> PoseError:
    """Position and rotation that take ``current`` to ``target``.

    The rotation is n sin(a) (1 + c) / (cos(a) + c) for a turn by a about n: to second order
    the rotation vector n a near the target, without its logarithm's branches, and growing with
    the angle up to near pi.
    """
    e = target.p - current.p
    m = target.R @ o.transpose(current.R)
    v = vee(o, m)
    cosine = 0.5 * (m[0, 0] + m[1, 1] + m[2, 2] - 1.0)
    gain = (1.0 + _BEND) / (cosine + _BEND)
    return PoseError(e, gain * v, o.dot(e, e), o.dot(v, v), cosine)
