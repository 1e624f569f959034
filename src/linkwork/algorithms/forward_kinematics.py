"""Forward kinematics: poses of frames in the world, and in one another."""

from __future__ import annotations

from collections.abc import Iterable

from linkwork.algorithms.joint_transforms import JointTransform, fixed_in
from linkwork.algorithms.sweep import FramePose, InPasses, Output, Sweep, poses
from linkwork.algorithms.vector3 import applied, minus, product, transposed
from linkwork.mechanism.model import Mechanism
from linkwork.ops.protocol import Block, Ops
from linkwork.spatial.poses import Pose


@InPasses
def fk(sweep: Sweep, *, frame: str) -> Output:
    """Pose of one frame in the world.

    Shapes: q (nq,) to T_world_frame (4, 4). Units: metre, radian. Only the joints between the base
    and the frame are computed.

    Raises: UnknownNameError for a frame that does not exist.
    """
    return _stored(sweep, [sweep.m.frame(frame)], sweep.output(4, 4))


@InPasses
def fk_all(sweep: Sweep) -> Output:
    """Poses of all frames in the world, in the order of `frame_names`.

    Shapes: q (nq,) to nf of T_world_frame (4, 4). Units: metre, radian. Every body is
    computed once.
    """
    n = len(sweep.m.frame_names)
    return _stored(sweep, range(n), sweep.output(n, 4, 4))


def _stored(sweep: Sweep, frames: Iterable[int], found: Output) -> Output:
    single = len(found.shape) == 2

    def visit(k: int, place: JointTransform, body: FramePose) -> None:
        _put(found, () if single else (k,), body.at(place))

    sweep.frames(frames, visit, poses(sweep))
    return found


@InPasses
def relative(sweep: Sweep, *, base: str, frame: str) -> Output:
    """Pose of one frame in another.

    Shapes: q (nq,) to T_base_frame (4, 4). Units: metre, radian. Only the joints between the two
    frames are computed: what carries both of them, a floating base for instance, does not enter.

    Raises: UnknownNameError for a frame that does not exist.
    """
    m, found, every = sweep.m, sweep.output(4, 4), poses(sweep)
    first = m.frame(base)

    def visit(_: int, place: JointTransform, body: FramePose) -> None:
        start: FramePose = sweep.at(every, first).at(fixed_in(m.frame_placement(first)))
        end, back = body.at(place), transposed(start.R)
        _put(found, (), FramePose(product(back, end.R), applied(back, minus(end.p, start.p))))

    sweep.frames([m.frame(frame)], visit, every)
    return found


def _put(found: Output, first: tuple[int, ...], pose: FramePose) -> None:
    """Store a pose as a matrix (4, 4), after these indices."""
    for i, (row, x) in enumerate(zip(pose.R, pose.p, strict=True)):
        for j, value in enumerate([*row, x]):
            found.put((*first, i, j), value)
    for j, value in enumerate([0.0, 0.0, 0.0, 1.0]):
        found.put((*first, 3, j), value)


def body_poses(o: Ops, m: Mechanism, q: Block, bodies: Iterable[int]) -> dict[int, Pose]:
    """Poses T_world_body of these bodies and of those that carry them."""
    way = sorted({each for body in bodies for each in m.ancestry(int(body))})
    sweep, found = Sweep(o, m, q, way), dict[int, Pose]()
    for step, pose in zip(sweep.transforms, poses(sweep), strict=True):
        found[step.body] = pose.blocks(o)
    return found
