"""Forward kinematics: poses of frames in the world."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from linkwork.algorithms.axes import Axes, axis, matrix, reference_axes, wanted_signs
from linkwork.algorithms.path import Path, path_down, sums_to_end
from linkwork.algorithms.sweep import (
    FramePose,
    JointTransform,
    Output,
    States,
    Sweep,
    looped,
    poses,
)
from linkwork.mechanism.model import Mechanism
from linkwork.ops.protocol import Block, Ops
from linkwork.spatial.poses import Pose


def fk(o: Ops, m: Mechanism, q: Block, *, frame: str) -> Block:
    """Pose of one frame in the world.

    Shapes: q (nq,) to T_world_frame (4, 4). Units: metre, radian. Only the joints between the base
    and the frame are computed.

    Raises: UnknownNameError for a frame that does not exist.
    """
    index = m.frame(frame)
    found = looped(o, fk_by_sweep, m, (q,), m.ancestry(int(m.frame_body[index])), frame=frame)
    if found is not None:
        return found[0]
    path = path_down(o, m, q, index)
    return homogeneous(o, path.axes, sums_to_end(path.segments)[0])


def fk_all(o: Ops, m: Mechanism, q: Block) -> list[Block]:
    """Poses of all frames in the world, in the order of `frame_names`.

    Shapes: q (nq,) to nf of T_world_frame (4, 4). Units: metre, radian. Every body is
    computed once.
    """
    states = body_states(o, m, q)
    poses: list[Block] = []
    for k, body in enumerate(m.frame_body.tolist()):
        frame = _placed(o, states[body], m, k)
        poses.append(homogeneous(o, frame.axes, frame.p))
    return poses


def body_poses(
    o: Ops, m: Mechanism, q: Block, bodies: Iterable[int] | None = None
) -> dict[int, Pose]:
    """Poses T_world_body of these bodies (default: all) and of those that carry them."""
    zero = o.const([0.0, 0.0, 0.0])
    return {
        body: Pose(matrix(o, state.axes), zero if state.p is None else state.p)
        for body, state in body_states(o, m, q, bodies).items()
    }


class BodyState(NamedTuple):
    """Axes and origin of a frame in the world; the origin is None where it is the world's own."""

    axes: Axes
    p: Block | None


def body_states(
    o: Ops, m: Mechanism, q: Block, bodies: Iterable[int] | None = None
) -> dict[int, BodyState]:
    """`body_poses` with axes not yet made into matrices, for what needs only some of them."""
    parents = m.parent.tolist()
    # signs as the body's own link wants them: its axes are the most likely to be asked for
    own = dict(zip(m.frame_body[::-1].tolist(), range(len(m.frame_names) - 1, -1, -1), strict=True))
    states: dict[int, BodyState] = {-1: BodyState(reference_axes(o), None)}
    for body in range(m.n_bodies) if bodies is None else _carriers(parents, bodies):
        start = states[parents[body]]
        path = Path(o, start.axes)
        path.place(m.placement(body))
        frame = own.get(body)
        path.down(m, q, body, (1, 1) if frame is None else wanted_signs(m.frame_placement(frame).R))
        states[body] = _arrived(path, start.p)
    del states[-1]
    return states


def _carriers(parents: list[int], bodies: Iterable[int]) -> list[int]:
    """These bodies and all that carry them, parents first."""
    needed: set[int] = set()
    for at in bodies:
        body = int(at)
        while body >= 0 and body not in needed:
            needed.add(body)
            body = parents[body]
    return sorted(needed)


def _placed(o: Ops, body: BodyState, m: Mechanism, frame: int) -> BodyState:
    path = Path(o, body.axes)
    path.place(m.frame_placement(frame))
    return _arrived(path, body.p)


def _arrived(path: Path, p: Block | None) -> BodyState:
    path.flush()
    for segment in path.segments:
        p = segment if p is None else p + segment
    return BodyState(path.axes, p)


def homogeneous(o: Ops, axes: Axes, p: Block | None) -> Block:
    """The matrix (4, 4) with the last row 0 0 0 1."""
    zero, one = o.const([0.0]), o.const([1.0])
    columns: Sequence[Block] = [o.concat([axis(axes, j), zero]) for j in range(3)]
    origin = o.const([0.0, 0.0, 0.0]) if p is None else p
    return o.matrix([*columns, o.concat([origin, one])])


def fk_by_sweep(sweep: Sweep, every: States = None, *, frame: str) -> Output:
    """`fk` in passes, for long mechanisms; written out, `path.Path` takes fewer products.

    ``every``: the poses of all transforms, where they are there already.
    """
    found = sweep.output(4, 4)
    sweep.frames(
        [sweep.m.frame(frame)],
        lambda k, step, pose: put_pose(found, (), pose.at(step)),
        poses(sweep) if every is None else every,
    )
    return found


def fk_all_by_sweep(sweep: Sweep) -> Output:
    """`fk_all` in passes, for long mechanisms; see `fk_by_sweep`."""
    n = len(sweep.m.frame_names)
    found = sweep.output(n, 4, 4)

    def visit(k: int, step: JointTransform, pose: FramePose) -> None:
        put_pose(found, (k,), pose.at(step))

    sweep.frames(range(n), visit, poses(sweep))
    return found


def put_pose(found: Output, first: tuple[int, ...], pose: FramePose) -> None:
    """Store a pose as a matrix (4, 4), after these indices."""
    for i, (row, x) in enumerate(zip(pose.R, pose.p, strict=True)):
        for j, value in enumerate([*row, x]):
            found.put((*first, i, j), value)
    for j, value in enumerate([0.0, 0.0, 0.0, 1.0]):
        found.put((*first, 3, j), value)
