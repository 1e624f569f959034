"""What tasks ask of frames: where one is, and how the velocities move it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from linkwork.algorithms.axes import matrix
from linkwork.algorithms.forward_kinematics import fk_by_sweep
from linkwork.algorithms.jacobian import jacobian_along, jacobian_by_sweep
from linkwork.algorithms.path import path_down, sums_to_end
from linkwork.algorithms.sweep import Output, Sweep, looped, poses
from linkwork.errors import InputError
from linkwork.mechanism.model import Mechanism
from linkwork.ops.protocol import Block, Ops
from linkwork.spatial.poses import Pose


class Moving(NamedTuple):
    """A frame in the world: its pose, and nv columns (3,) of its velocity, world axes."""

    pose: Pose
    linear: list[Block]  # of the frame's origin
    angular: list[Block]


def moving_frame(o: Ops, m: Mechanism, q: Block, frame: str, since: int = -1) -> Moving:
    """The frame at q; ``since`` is a body that carries it and stands for the world."""
    index = m.frame(frame)
    way = [body for body in m.ancestry(int(m.frame_body[index])) if body > since]
    looped_frame = looped(o, frame_by_sweep, m, (q,), way, frame=frame)
    if looped_frame is not None:
        T, whole = looped_frame
        R = o.matrix([o.part(o.column(T, j), 0, 3) for j in range(3)])
        pose = Pose(R, o.part(o.column(T, 3), 0, 3))
        moving = {k for body in way if m.coordinate[body] >= 0 for k in _velocities(m, body)}
    else:
        path = path_down(o, m, q, index, since)
        p = sums_to_end(path.segments)[0]
        pose = Pose(matrix(o, path.axes), o.const([0.0, 0.0, 0.0]) if p is None else p)
        whole, moving = jacobian_along(o, m, path), set(range(m.n_v))
    zero = o.const([0.0] * 6)
    columns = [o.column(whole, k) if k in moving else zero for k in range(m.n_v)]
    linear = [o.part(column, 0, 3) for column in columns]
    return Moving(pose, linear, [o.part(column, 3, 6) for column in columns])


def _velocities(m: Mechanism, body: int) -> range:
    coordinate = int(m.coordinate[body])
    return range(int(m.v_start[coordinate]), int(m.v_start[coordinate + 1]))


def frame_by_sweep(sweep: Sweep, *, frame: str) -> list[Output]:
    """The pose (4, 4) of a frame and its Jacobian (6, nv), world axes, in passes."""
    every = poses(sweep)
    return [fk_by_sweep(sweep, every, frame=frame), jacobian_by_sweep(sweep, every, frame=frame)]


def moving_point(o: Ops, frame: Moving, point: Sequence[float]) -> tuple[Block, list[Block]]:
    """A point (m) given in the frame: where it is, and the columns of its velocity."""
    if not any(point):
        return frame.pose.p, frame.linear
    arm = frame.pose.R @ o.const([float(x) for x in point])
    pairs = zip(frame.linear, frame.angular, strict=True)
    return frame.pose.p + arm, [v + o.cross(w, arm) for v, w in pairs]


def three(given: Sequence[float], what: str) -> tuple[float, float, float]:
    """Three finite numbers, as they become part of a task's code.

    Raises: InputError naming the argument.
    """
    try:
        values = [float(x) for x in given if not isinstance(x, str)]
    except (TypeError, ValueError):
        values = []
    if len(values) != 3 or not all(math.isfinite(x) for x in values):
        raise InputError(f"{what} must be three finite numbers, not {given!r}")
    # minus zero is zero: the same point has the same code
    return values[0] + 0.0, values[1] + 0.0, values[2] + 0.0


def unit(given: Sequence[float], what: str) -> tuple[float, float, float]:
    """A direction of any length but zero as a unit vector.

    Raises: InputError naming the argument.
    """
    vector = three(given, what)
    largest = max(abs(x) for x in vector)
    if largest == 0.0:
        raise InputError(f"{what} must be a direction: three numbers that are not all zero")
    x, y, z = (value / largest for value in vector)
    length = math.sqrt(x * x + y * y + z * z)
    return x / length, y / length, z / length


def across_from(axis: Sequence[float]) -> list[tuple[float, float, float]]:
    """Two unit vectors across a unit vector and each other; those of the frame where they are."""
    x, y, z = axis
    zeros = [k for k in range(3) if axis[k] == 0.0]
    if len(zeros) == 2:
        return [(float(k == 0), float(k == 1), float(k == 2)) for k in zeros]
    # the shortest component keeps the first of them long
    k = min(range(3), key=lambda k: abs(axis[k]))
    u = unit([(0.0, -z, y), (z, 0.0, -x), (-y, x, 0.0)][k], "across")
    return [u, (y * u[2] - z * u[1], z * u[0] - x * u[2], x * u[1] - y * u[0])]


def moving_axis(o: Ops, frame: Moving, axis: Sequence[float]) -> Block:
    """A unit vector given in the frame, in axes of the world."""
    named = [k for k in range(3) if axis[k] != 0.0]
    if len(named) == 1 and axis[named[0]] == 1.0:
        return o.column(frame.pose.R, named[0])
    return frame.pose.R @ o.const([float(x) for x in axis])
