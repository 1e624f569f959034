"""Rows that tasks share: the way to a point, and the turn to an orientation.

Both the frame and what it is to reach may move: ``linear`` and ``angular`` are the columns of the
frame's velocity *relative to* its target, world axes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from linkwork.ops.protocol import Block, Ops
from linkwork.solve.pose_error import rotation_error
from linkwork.solve.tasks.axes import picked
from linkwork.solve.tasks.base import Residual
from linkwork.spatial import so3

_BEND = 1.5  # as in `rotation_error`


class Rows(NamedTuple):
    """A part of a residual: error (k,), columns of (k,), and its squared measure."""

    error: Block
    columns: list[Block]
    squared: Block


def joined(o: Ops, parts: Sequence[Rows]) -> Residual:
    """Parts one below the other, each a group."""
    if len(parts) == 1:
        return Residual(parts[0].error, parts[0].columns, [parts[0].squared])
    columns = [o.concat(list(each)) for each in zip(*(p.columns for p in parts), strict=True)]
    return Residual(o.concat([p.error for p in parts]), columns, [p.squared for p in parts])


def position_rows(o: Ops, way: Block, linear: Sequence[Block], indices: Sequence[int]) -> Rows:
    """The chosen components of the way (3,) that is left, in axes of the world."""
    error = picked(o, way, indices)
    return Rows(error, [picked(o, v, indices) for v in linear], o.dot(error, error))


def position_rows_in(
    o: Ops,
    way: Block,
    velocity: tuple[Sequence[Block], Sequence[Block]],
    axes: Block,
    indices: Sequence[int],
) -> Rows:
    """The chosen components of the way (3,) in axes R (3, 3) that turn with the given columns.

    ``velocity``: the columns of the relative linear velocity, and of how the axes turn.
    """
    turned = o.transpose(axes)
    error = picked(o, turned @ way, indices)
    columns = [
        picked(o, turned @ (v + o.cross(w, way)), indices) for v, w in zip(*velocity, strict=True)
    ]
    return Rows(error, columns, o.dot(error, error))


def mirrored(o: Ops, current: Block, target: Block, axis: int) -> Block:
    """The target (3, 3), or the target turned by pi about its own axis, whichever is nearer."""
    others = [k for k in range(3) if k != axis]
    along = [o.dot(o.column(current, k), o.column(target, k)) for k in others]
    sign = o.select(o.less(along[0] + along[1], 0.0), -1.0, 1.0)
    columns = [o.column(target, k) for k in range(3)]
    return o.matrix([c if k == axis else sign * c for k, c in enumerate(columns)])


def whole_rotation(o: Ops, current: Block, target: Block, angular: Sequence[Block]) -> Rows:
    """The turn that takes ``current`` (3, 3) to ``target``, in axes of the world."""
    turn, squared = rotation_error(o, current, target)
    return Rows(turn, list(angular), squared)


def alignment(o: Ops, current: Block, target: Block, angular: Sequence[Block]) -> Rows:
    """The turn that takes a unit vector (3,) to another: 3 rows, about any axis across them.

    The error is n sin(a) (1 + c) / (cos(a) + c) (see `rotation_error`); at the antipode, where it
    vanishes, the measure is the largest that there is.
    """
    cosine = o.dot(current, target)
    gain = (1.0 + _BEND) / (cosine + _BEND)
    error = gain * o.cross(current, target)
    apart = target - current
    columns = [w - o.dot(current, w) * current for w in angular]
    return Rows(error, columns, o.dot(apart, apart))


def rotation_vector(
    o: Ops,
    poses: tuple[Block, Block],
    angular: Sequence[Block],
    indices: Sequence[int],
    *,
    world: bool,
) -> Rows:
    """The chosen components of the rotation vector from ``poses[0]`` (3, 3) to ``poses[1]``.

    In axes of the world, or of the frame (which are those of the target as well: the vector is
    the axis of the turn). Its derivative is exact at any angle below half a turn.

    Source: T. D. Barfoot, State Estimation for Robotics (2017), section 7.1.5.
    """
    current, target = poses
    if world:
        turn = so3.log(o, target @ o.transpose(current))
        change = so3.right_jacobian_inverse(o, turn)
        columns = [change @ w for w in angular]
    else:
        back = o.transpose(current)
        turn = so3.log(o, back @ target)
        change = so3.left_jacobian_inverse(o, turn) @ back
        columns = [change @ w for w in angular]
    error = picked(o, turn, indices)
    return Rows(error, [picked(o, c, indices) for c in columns], o.dot(error, error))


def rotation_rows(
    o: Ops,
    poses: tuple[Block, Block],
    angular: Sequence[Block],
    indices: Sequence[int],
    *,
    world: bool,
    exact: bool,
) -> Rows:
    """The chosen components of the turn from ``poses[0]`` (3, 3) to ``poses[1]``.

    All three, or two (which leave turns about the third free), go by sines and cosines; one, and
    whatever is compared with a slack (``exact``), by the rotation vector.
    """
    current, target = poses
    if exact or len(indices) == 1:
        return rotation_vector(o, poses, angular, indices, world=world)
    if len(indices) == 3:
        return whole_rotation(o, current, target, angular)
    free = next(k for k in range(3) if k not in indices)
    if not world:
        return alignment(o, o.column(current, free), o.column(target, free), angular)
    # turns about the world's axis f are free: the turn left takes f to itself
    f = o.const([1.0 if k == free else 0.0 for k in range(3)])
    left = target @ o.row(current, free)
    return alignment(o, left, f, angular)


def is_chord(indices: Sequence[int], *, exact: bool) -> bool:
    """Whether the measure of `rotation_rows` is a chord."""
    return not exact and len(indices) > 1


def n_rotation_rows(indices: Sequence[int], *, exact: bool) -> int:
    """How many rows `rotation_rows` gives."""
    return len(indices) if exact or len(indices) == 1 else 3
