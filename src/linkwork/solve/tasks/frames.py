"""What tasks ask of frames: where one is, and how the velocities move it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from linkwork.algorithms.forward_kinematics import fk
from linkwork.algorithms.jacobian import jacobian
from linkwork.mechanism.model import Mechanism
from linkwork.ops.protocol import Block, Ops
from linkwork.spatial.poses import Pose, from_matrix


class Moving(NamedTuple):
    """A frame in the world: its pose, and nv columns (3,) of its velocity, world axes."""

    pose: Pose
    linear: list[Block]  # of the frame's origin
    angular: list[Block]


def moving_frame(o: Ops, m: Mechanism, q: Block, frame: str) -> Moving:
    """The frame at q; what tasks on one frame share is computed once."""
    pose = from_matrix(o, fk(o, m, q, frame=frame))
    whole = jacobian(o, m, q, frame=frame)
    columns = [o.column(whole, k) for k in range(m.n_v)]
    linear = [o.part(column, 0, 3) for column in columns]
    return Moving(pose, linear, [o.part(column, 3, 6) for column in columns])


def moving_point(o: Ops, frame: Moving, point: Sequence[float]) -> tuple[Block, list[Block]]:
    """A point (m) given in the frame: where it is, and the columns of its velocity."""
    if not any(point):
        return frame.pose.p, frame.linear
    arm = frame.pose.R @ o.const([float(x) for x in point])
    pairs = zip(frame.linear, frame.angular, strict=True)
    return frame.pose.p + arm, [v + o.cross(w, arm) for v, w in pairs]
