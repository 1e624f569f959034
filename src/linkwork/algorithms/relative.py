"""The pose of one frame in another."""

from __future__ import annotations

from linkwork.algorithms.forward_kinematics import homogeneous
from linkwork.algorithms.path import path_between, sums_to_end
from linkwork.mechanism.model import Mechanism
from linkwork.ops.protocol import Block, Ops


def relative(o: Ops, m: Mechanism, q: Block, *, base: str, frame: str) -> Block:
    """Pose of one frame in another.

    Shapes: q (nq,) to T_base_frame (4, 4). Units: metre, radian. Only the joints between the two
    frames are computed: what carries both of them, a floating base for instance, does not enter.

    Raises: UnknownNameError for a frame that does not exist.
    """
    path = path_between(o, m, q, m.frame(base), m.frame(frame))
    return homogeneous(o, path.axes, sums_to_end(path.segments)[0])
