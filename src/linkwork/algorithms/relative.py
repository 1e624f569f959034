"""The pose of one frame in another."""

from __future__ import annotations

from linkwork.algorithms.forward_kinematics import homogeneous, put_pose
from linkwork.algorithms.path import path_between, sums_to_end
from linkwork.algorithms.sweep import FramePose, JointTransform, Output, Sweep, fixed_in, poses
from linkwork.algorithms.triples import applied, flipped, minus
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


def relative_by_sweep(sweep: Sweep, *, base: str, frame: str) -> Output:
    """`relative` in passes, for long mechanisms, by the poses of both frames in the world."""
    m, found, every = sweep.m, sweep.output(4, 4), poses(sweep)
    first = m.frame(base)

    def visit(_: int, step: JointTransform, pose: FramePose) -> None:
        start: FramePose = sweep.at(every, first).at(fixed_in(m.frame_placement(first)))
        end, back = pose.at(step), flipped(start.R)
        R = flipped([applied(back, column) for column in flipped(end.R)])
        put_pose(found, (), FramePose(R, applied(back, minus(end.p, start.p))))

    sweep.frames([m.frame(frame)], visit, every)
    return found
