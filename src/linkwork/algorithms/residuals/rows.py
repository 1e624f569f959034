"""Rows that tasks share: the way to a point, and the turn to an orientation.

Both the frame and what it is to reach may move: ``linear`` and ``angular`` are the columns of the
frame's velocity relative to its target, in the axes that everything is given in: the world's, or
those of the frame that a relative pose is measured in.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from linkwork.algorithms.residuals.axes import picked
from linkwork.algorithms.residuals.frames import Moving, across_from, moving_axis
from linkwork.algorithms.residuals.pose_error import direction_error, rotation_error
from linkwork.algorithms.residuals.residual import Group, Residual
from linkwork.ops.protocol import Block, Ops
from linkwork.spatial import so3

TINY = 1.0e-24
"""Beside squares of lengths and sines, so that none of them is divided by zero."""


class Rows(NamedTuple):
    """A part of a residual: error (k,), columns of (k,), and its squared measure."""

    error: Block
    columns: list[Block]
    squared: Block


class Asked(NamedTuple):
    """Which parts of a pose count, and in whose axes.

    ``exact``: the rotation's error is to be compared with slacks, in true radians.
    """

    where: tuple[int, ...]
    turns: tuple[int, ...]
    of: str  # "target", "tool", or the axes that the pose is given in
    mirror: int | None
    exact: bool

    @property
    def in_given_axes(self) -> bool:
        """Whether the axes are those that the pose is given in."""
        return self.of not in ("target", "tool")

    @property
    def by_angle(self) -> bool:
        """Whether the rotation's error is in radians, and not measured by its chord."""
        return self.exact or len(self.turns) == 1

    @property
    def key(self) -> str:
        """All of it as text."""
        return f"{self.where} {self.turns} {self.of} {self.mirror}"

    def groups(self) -> list[Group]:
        """The rows of position, then those of rotation."""
        found: list[Group] = []
        if self.where:
            found.append(Group("position", "m", 0, len(self.where)))
        if self.turns:
            start = len(self.where)
            stop = start + len(self.turns)
            found.append(Group("rotation", "rad", start, stop, chord=not self.by_angle))
        return found


def joined(o: Ops, parts: Sequence[Rows]) -> Residual:
    """Parts one below the other, each a group."""
    if len(parts) == 1:
        return Residual(parts[0].error, parts[0].columns, [parts[0].squared])
    columns = [o.concat(list(each)) for each in zip(*(p.columns for p in parts), strict=True)]
    return Residual(o.concat([p.error for p in parts]), columns, [p.squared for p in parts])


def pose_rows(o: Ops, current: Moving, target: tuple[Block, Block], asked: Asked) -> Residual:
    """The rows of a frame at ``target``: a rotation (3, 3) and a position (3,), as far as asked."""
    R, p = target
    parts: list[Rows] = []
    if asked.where:
        way = p - current.pose.p
        if asked.in_given_axes:
            parts.append(position_rows(o, way, current.linear, asked.where))
        elif asked.of == "tool":
            parts.append(position_rows_in_tool(o, way, current, asked.where))
        else:
            turned = o.transpose(R)
            columns = [turned @ v for v in current.linear]
            parts.append(position_rows(o, turned @ way, columns, asked.where))
    if asked.turns:
        parts.append(rotation_rows(o, current.pose.R, R, current.angular, asked))
    return joined(o, parts)


def position_rows(o: Ops, way: Block, linear: Sequence[Block], indices: Sequence[int]) -> Rows:
    """The chosen components of the way (3,) that is left."""
    error = picked(o, way, indices)
    return Rows(error, [picked(o, v, indices) for v in linear], o.dot(error, error))


def position_rows_in_tool(o: Ops, way: Block, current: Moving, indices: Sequence[int]) -> Rows:
    """The chosen components, in the axes of the frame, of the way (3,) that is left.

    The axes turn with the frame, and the way's components with them: v + w x way is what changes.
    """
    back = o.transpose(current.pose.R)
    pairs = zip(current.linear, current.angular, strict=True)
    columns = [back @ (v + o.cross(w, way)) for v, w in pairs]
    return position_rows(o, back @ way, columns, indices)


def rotation_rows(
    o: Ops, current: Block, target: Block, angular: Sequence[Block], asked: Asked
) -> Rows:
    """The chosen components of the turn from ``current`` (3, 3) to ``target``.

    All three, or two (which leave turns about the third free), go by sines and cosines; one, and
    whatever is compared with a slack, by the rotation vector. With a mirror, of the target and the
    target turned by pi about that axis, the one counts that is nearer in what is asked for.
    """
    if len(asked.turns) == 3 and not asked.exact:
        if asked.mirror is not None:
            target = nearer_mirrored(o, current, target, asked.mirror)
        turn, squared = rotation_error(o, current, target)
        return Rows(turn, list(angular), squared)
    targets = [target] if asked.mirror is None else [target, mirrored(o, target, asked.mirror)]
    if asked.by_angle:
        return rotation_vector(o, current, targets, angular, asked)
    first, second = asked.turns[0], asked.turns[1]
    free = 3 - first - second
    if asked.in_given_axes:
        # turns about the given axis f are free: the frame's direction that is to lie along f is
        # the one that lies along it at the target
        f, *across = (o.const([float(k == i) for k in range(3)]) for i in (free, first, second))
        pairs = [(current @ o.row(R, free), f) for R in targets]
        return alignment(o, pairs, angular, across)
    tip, *across = (o.column(current, i) for i in (free, first, second))
    if asked.mirror == free:  # a turn about what is free changes nothing
        targets = targets[:1]
    return alignment(o, [(tip, o.column(R, free)) for R in targets], angular, across)


def mirrored(o: Ops, target: Block, axis: int) -> Block:
    """The target (3, 3) turned by pi about its own axis."""
    columns = [o.column(target, k) for k in range(3)]
    return o.matrix([c if k == axis else -c for k, c in enumerate(columns)])


def nearer_mirrored(o: Ops, current: Block, target: Block, axis: int) -> Block:
    """The target (3, 3) or the mirrored one, whichever is the smaller turn away."""
    others = [k for k in range(3) if k != axis]
    along = [o.dot(o.column(current, k), o.column(target, k)) for k in others]
    sign = o.select(o.less(along[0] + along[1], 0.0), -1.0, 1.0)
    columns = [o.column(target, k) for k in range(3)]
    return o.matrix([c if k == axis else sign * c for k, c in enumerate(columns)])


def nearest(o: Ops, candidates: Sequence[tuple[Block, ...]], apart: Sequence[Block]) -> list[Block]:
    """The candidate, of one or more blocks, that is least ``apart``; the first of equals."""
    best, least = list(candidates[0]), apart[0]
    for candidate, distance in zip(candidates[1:], apart[1:], strict=True):
        nearer = o.less(distance, least)
        best = [o.select(nearer, a, b) for a, b in zip(candidate, best, strict=True)]
        least = o.minimum(distance, least)
    return best


def alignment(
    o: Ops,
    pairs: Sequence[tuple[Block, Block]],
    angular: Sequence[Block],
    across: Sequence[Block],
) -> Rows:
    """The turn that takes a unit vector (3,) of the frame to another, of the pair that is nearest.

    It lies across both vectors, so 2 rows hold all of it: its components along two unit vectors
    ``across`` one of the two.
    """
    apart = [-o.dot(a, b) for a, b in pairs] if len(pairs) > 1 else [0.0]
    current, target = nearest(o, pairs, apart)
    turn, squared = direction_error(o, current, target)
    columns = [o.vector([o.dot(u, w) for u in across]) for w in angular]
    return Rows(o.vector([o.dot(u, turn) for u in across]), columns, squared)


def rotation_vector(
    o: Ops, current: Block, targets: Sequence[Block], angular: Sequence[Block], asked: Asked
) -> Rows:
    """The chosen components of the rotation vector from ``current`` (3, 3) to a target.

    In the axes that all is given in, or in those of the frame (which are those of the target as
    well: the vector is the axis of the turn). Of several targets that counts whose components are
    least. Its derivative is exact at any angle below half a turn.

    Source: T. D. Barfoot, State Estimation for Robotics (2017), section 7.1.5.
    """
    back = o.transpose(current)
    given = asked.in_given_axes
    turns = [so3.log(o, R @ back if given else back @ R) for R in targets]
    errors = [picked(o, turn, asked.turns) for turn in turns]
    squares = [o.dot(error, error) for error in errors]
    turn, error, squared = nearest(o, list(zip(turns, errors, squares, strict=True)), squares)
    if given:
        change = so3.right_jacobian_inverse(o, turn)
    else:
        change = so3.left_jacobian_inverse(o, turn) @ back
    return Rows(error, [picked(o, change @ w, asked.turns) for w in angular], squared)


def direction_groups(*, exact: bool) -> list[Group]:
    """The group of rows that `aligned` gives."""
    return [Group("rotation", "rad", 0, 1 if exact else 2, chord=not exact)]


def aligned(
    o: Ops,
    frame: Moving,
    axis: Sequence[float],
    target: Block,
    turning: Sequence[Block],
    *,
    exact: bool,
) -> Rows:
    """An axis of the frame along a unit vector (3,); ``turning`` are columns of the relative turn.

    ``exact``: the error is to be compared with a slack, and is the angle itself.
    """
    current = moving_axis(o, frame, axis)
    if exact:
        return angle_between(o, current, target, turning)
    across = [moving_axis(o, frame, u) for u in across_from(axis)]
    return alignment(o, [(current, target)], turning, across)


def angle_between(o: Ops, current: Block, target: Block, columns: Sequence[Block]) -> Rows:
    """The angle from a unit vector (3,) to another, 1 row; ``columns`` are those of the turn left.

    At zero and at half a turn, where it has no derivative, the columns are zero.
    """
    across = o.cross(current, target)
    sine = o.sqrt(o.dot(across, across) + TINY)
    angle = o.atan2(sine, o.dot(current, target))
    found = [o.vector([o.dot(across, c) / sine]) for c in columns]
    return Rows(o.vector([angle]), found, angle * angle)


def distance(o: Ops, way: Block, linear: Sequence[Block]) -> Rows:
    """The length of the way (3,) that is left, 1 row; its columns are zero where it is zero."""
    length = o.sqrt(o.dot(way, way) + TINY)
    along = (1.0 / length) * way
    columns = [o.vector([o.dot(along, v)]) for v in linear]
    return Rows(o.vector([length]), columns, length * length)
