"""Tasks of a frame: poses and parts of poses, directions, lines and planes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from linkwork.algorithms.residuals import (
    AXES_OF,
    TINY,
    Asked,
    AxesOf,
    Axis,
    Moving,
    aligned,
    axes,
    axis_index,
    direction_groups,
    distance,
    frame_of_axes,
    joined,
    moving_frame,
    moving_point,
    pose_rows,
    position_rows,
    position_rows_in_tool,
    rotation_rows,
    three,
    unit,
)
from linkwork.errors import InputError, UnsupportedFeatureError
from linkwork.mechanism.edit import subchain
from linkwork.mechanism.model import Mechanism
from linkwork.ops.protocol import Block, Ops
from linkwork.solve.targets import (
    directions,
    finite_rows,
    points_and_directions,
    rigid_poses,
    rotations,
)
from linkwork.solve.tasks.base import (
    BoundTask,
    Group,
    Residual,
    Task,
    bound,
    coordinates_of,
    has_slack,
)
from linkwork.spatial import poses

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Pose(Task):
    """A frame at a pose T_world_frame (4, 4), or at parts of it.

    ``position`` and ``rotation`` name the axes that count ("" for none), in ``axes_of`` the world,
    the target or the tool (the frame). Where a rotation counts about two axes, turns about the
    third are free; where about one, that component of the rotation vector is to vanish.
    ``mirror``: turned by pi about that axis of the tool is as good.
    """

    frame: str
    target: ArrayLike | None = None
    position: str | Sequence[bool] = field(default="xyz", kw_only=True)
    rotation: str | Sequence[bool] = field(default="xyz", kw_only=True)
    axes_of: AxesOf = field(default="world", kw_only=True)
    mirror: Axis | None = field(default=None, kw_only=True)

    def bind(self, m: Mechanism) -> BoundTask:
        """The task for one mechanism (see `Task.bind`)."""
        m.frame(self.frame)
        asked = asked_of_pose(self, AXES_OF)

        def residual(o: Ops, q: Block, target: Block) -> Residual:
            return pose_rows(o, moving_frame(o, m, q, self.frame), pose_of(o, target), asked)

        return bound(
            self,
            target=self.target,
            name=self.frame,
            key=f"pose {self.frame!r} {asked.key}",
            groups=asked.groups(),
            coordinates=coordinates_of(m, self.frame),
            frames=(self.frame,),
            n_target=12,
            read=pose_numbers,
            target_shape=(4, 4),
            residual=residual,
            has_point=len(asked.where) == 3,
        )


def asked_of_pose(task: Any, allowed: Sequence[str]) -> Asked:
    """The rows that ``position``, ``rotation``, ``axes_of`` and ``mirror`` ask for, checked.

    Raises: InputError naming the task and the argument.
    """
    what = type(task).__name__
    where = axes(task.position, f"{what}.position", none=True)
    turns = axes(task.rotation, f"{what}.rotation", none=True)
    if not where and not turns:
        raise InputError(f"{what}: position and rotation are both empty, so nothing is asked for")
    mirror = axis_index(task.mirror, f"{what}.mirror")
    if mirror is not None and not turns:
        raise InputError(f"{what}.mirror is about rotations, and rotation is empty")
    of = frame_of_axes(task.axes_of, f"{what}.axes_of", allowed)
    return Asked(where, turns, of, mirror, has_slack(task))


def pose_numbers(target: ArrayLike, of: str) -> Floats:
    """Poses (..., 4, 4) as positions, then rotations by rows (..., 12)."""
    poses = rigid_poses(target, of)
    flat = poses[..., :3, :3].reshape(*poses.shape[:-2], 9)
    return np.concatenate([poses[..., :3, 3], flat], axis=-1)


def pose_of(o: Ops, numbers: Block) -> tuple[Block, Block]:
    """The rotation (3, 3) and the position (3,) of twelve numbers."""
    return rotation_of(o, o.part(numbers, 3, 12)), o.part(numbers, 0, 3)


def rotation_of(o: Ops, numbers: Block) -> Block:
    """The rotation (3, 3) that nine numbers are the rows of."""
    return o.transpose(o.matrix([o.part(numbers, 3 * i, 3 * i + 3) for i in range(3)]))


@dataclass(frozen=True, eq=False)
class Position(Task):
    """A point of a frame at a point (3,) of the world.

    ``point`` (m) is given in the frame; by default it is its origin. ``axes`` are those that
    count, in ``axes_of`` the world or the tool (the frame).
    """

    frame: str
    target: ArrayLike | None = None
    axes: str | Sequence[bool] = field(default="xyz", kw_only=True)
    axes_of: AxesOf = field(default="world", kw_only=True)
    point: Sequence[float] = field(default=(0.0, 0.0, 0.0), kw_only=True)

    def bind(self, m: Mechanism) -> BoundTask:
        """The task for one mechanism (see `Task.bind`)."""
        m.frame(self.frame)
        where = axes(self.axes, "Position.axes")
        of = frame_of_axes(self.axes_of, "Position.axes_of", ("world", "tool"))
        point = three(self.point, "Position.point")

        def residual(o: Ops, q: Block, target: Block) -> Residual:
            frame = moving_frame(o, m, q, self.frame)
            at, linear = moving_point(o, frame, point)
            way = target - at
            if of == "world":
                return joined(o, [position_rows(o, way, linear, where)])
            moved = frame._replace(linear=linear)
            return joined(o, [position_rows_in_tool(o, way, moved, where)])

        return bound(
            self,
            target=self.target,
            name=self.frame,
            key=f"position {self.frame!r} {where} {of} {point}",
            groups=[Group("position", "m", 0, len(where))],
            coordinates=coordinates_of(m, self.frame),
            frames=(self.frame,),
            n_target=3,
            read=point_numbers,
            target_shape=(3,),
            residual=residual,
            has_point=len(where) == 3 and not any(point),
        )


def point_numbers(target: ArrayLike, of: str) -> Floats:
    """Points (..., 3), checked."""
    return finite_rows(target, 3, of)


@dataclass(frozen=True, eq=False)
class Orientation(Task):
    """A frame at an orientation R_world_frame (3, 3), or that of a pose (4, 4).

    ``axes`` are those that turns count about, in ``axes_of`` the world, the target or the tool (the
    frame): with two, turns about the third are free; with one, that component of the rotation
    vector is to vanish. ``mirror``: turned by pi about that axis of the tool is as good.
    """

    frame: str
    target: ArrayLike | None = None
    axes: str | Sequence[bool] = field(default="xyz", kw_only=True)
    axes_of: AxesOf = field(default="world", kw_only=True)
    mirror: Axis | None = field(default=None, kw_only=True)

    def bind(self, m: Mechanism) -> BoundTask:
        """The task for one mechanism (see `Task.bind`)."""
        m.frame(self.frame)
        turns = axes(self.axes, "Orientation.axes")
        of = frame_of_axes(self.axes_of, "Orientation.axes_of", AXES_OF)
        mirror = axis_index(self.mirror, "Orientation.mirror")
        asked = Asked((), turns, of, mirror, has_slack(self))

        def residual(o: Ops, q: Block, target: Block) -> Residual:
            frame = moving_frame(o, m, q, self.frame)
            R = rotation_of(o, target)
            return joined(o, [rotation_rows(o, frame.pose.R, R, frame.angular, asked)])

        return bound(
            self,
            target=self.target,
            name=self.frame,
            key=f"orientation {self.frame!r} {asked.key}",
            groups=asked.groups(),
            coordinates=coordinates_of(m, self.frame),
            frames=(self.frame,),
            n_target=9,
            read=rotation_numbers,
            residual=residual,
        )


def rotation_numbers(target: ArrayLike, of: str) -> Floats:
    """Rotations by rows (..., 9)."""
    R = rotations(target, of)
    return np.array(R).reshape(*R.shape[:-2], 9)


Between = Callable[[Ops, Block], Moving]


@dataclass(frozen=True, eq=False)
class RelativePose(Task):
    """A frame at a pose T_other_frame (4, 4) in another frame, or at parts of it: two hands.

    ``position``, ``rotation`` and ``mirror`` as for a `Pose`; ``axes_of`` the other frame, the
    target or the tool (the frame). Only the joints between the two matter.
    """

    frame: str
    other: str
    target: ArrayLike | None = None
    position: str | Sequence[bool] = field(default="xyz", kw_only=True)
    rotation: str | Sequence[bool] = field(default="xyz", kw_only=True)
    axes_of: Literal["other", "target", "tool"] = field(default="other", kw_only=True)
    mirror: Axis | None = field(default=None, kw_only=True)

    def bind(self, m: Mechanism) -> BoundTask:
        """The task for one mechanism (see `Task.bind`)."""
        m.frame(self.frame)
        m.frame(self.other)
        asked = asked_of_pose(self, ("other", "target", "tool"))
        coordinates, found = between(m, self.other, self.frame)

        def residual(o: Ops, q: Block, target: Block) -> Residual:
            return pose_rows(o, found(o, q), pose_of(o, target), asked)

        return bound(
            self,
            target=self.target,
            name=self.frame,
            key=f"relative pose {self.frame!r} {self.other!r} {asked.key}",
            groups=asked.groups(),
            coordinates=coordinates,
            frames=(self.frame, self.other),
            n_target=12,
            read=pose_numbers,
            target_shape=(4, 4),
            residual=residual,
        )


def between(m: Mechanism, other: str, frame: str) -> tuple[list[int], Between]:
    """The coordinates between two frames, and the one as it moves in the other."""
    try:
        chain = subchain(m, other, frame)
    except UnsupportedFeatureError:  # planar or floating joints on the way towards the root
        return _through_the_world(m, other, frame)
    names = [chain.joint_names[c] for c in chain.coordinates_moving(chain.frame(frame))]
    index = [m.joint(name) for name in chain.joint_names]

    def moving(o: Ops, q: Block) -> Moving:
        parts = [o.part(q, int(m.q_start[c]), int(m.q_start[c + 1])) for c in index]
        own = moving_frame(o, chain, o.concat(parts), frame)
        zero = o.const([0.0, 0.0, 0.0])
        linear, angular = [zero] * m.n_v, [zero] * m.n_v
        for place, c in enumerate(index):
            start = int(chain.v_start[place])
            for k in range(m.joint_types[c].n_v):
                linear[int(m.v_start[c]) + k] = own.linear[start + k]
                angular[int(m.v_start[c]) + k] = own.angular[start + k]
        return Moving(own.pose, linear, angular)

    return sorted(m.joint(name) for name in names), moving


def _through_the_world(m: Mechanism, other: str, frame: str) -> tuple[list[int], Between]:
    """The same from both poses in the world: more work, and any joints."""

    def moving(o: Ops, q: Block) -> Moving:
        tool, base = moving_frame(o, m, q, frame), moving_frame(o, m, q, other)
        back, arm = o.transpose(base.pose.R), tool.pose.p - base.pose.p
        linear: list[Block] = []
        angular: list[Block] = []
        for k in range(m.n_v):
            turning = base.angular[k]
            linear.append(back @ (tool.linear[k] - base.linear[k] - o.cross(turning, arm)))
            angular.append(back @ (tool.angular[k] - turning))
        return Moving(poses.Pose(back @ tool.pose.R, back @ arm), linear, angular)

    return list(coordinates_of(m, frame, other)), moving


@dataclass(frozen=True, eq=False)
class Direction(Task):
    """An axis of the frame lies along a direction (3,) of the world, of any length but zero.

    ``axis`` is given in the frame. The opposite direction is not the same. The error is the angle
    between the two; with ``slack``, a cone is allowed.
    """

    frame: str
    target: ArrayLike | None = None
    axis: Sequence[float] = field(default=(0.0, 0.0, 1.0), kw_only=True)

    def bind(self, m: Mechanism) -> BoundTask:
        """The task for one mechanism (see `Task.bind`)."""
        m.frame(self.frame)
        axis, exact = unit(self.axis, "Direction.axis"), has_slack(self)

        def residual(o: Ops, q: Block, target: Block) -> Residual:
            frame = moving_frame(o, m, q, self.frame)
            return joined(o, [aligned(o, frame, axis, target, frame.angular, exact=exact)])

        return bound(
            self,
            target=self.target,
            name=self.frame,
            key=f"direction {self.frame!r} {axis}",
            groups=direction_groups(exact=exact),
            coordinates=coordinates_of(m, self.frame),
            frames=(self.frame,),
            n_target=3,
            read=directions,
            residual=residual,
        )


@dataclass(frozen=True, eq=False)
class Pointing(Task):
    """The ray from a point of the frame along an axis of the frame goes through a point (3,).

    ``axis`` and ``point`` (m) are given in the frame, the target in the world. Pointing away from
    the target is not pointing at it, and standing in it is not either. The error is the angle
    between the ray and the way to the target; with ``slack``, a cone about the ray is allowed.
    """

    frame: str
    target: ArrayLike | None = None
    axis: Sequence[float] = field(default=(0.0, 0.0, 1.0), kw_only=True)
    point: Sequence[float] = field(default=(0.0, 0.0, 0.0), kw_only=True)

    def bind(self, m: Mechanism) -> BoundTask:
        """The task for one mechanism (see `Task.bind`)."""
        m.frame(self.frame)
        axis, point = unit(self.axis, "Pointing.axis"), three(self.point, "Pointing.point")
        exact = has_slack(self)

        def residual(o: Ops, q: Block, target: Block) -> Residual:
            frame = moving_frame(o, m, q, self.frame)
            at, linear = moving_point(o, frame, point)
            way = target - at
            scale = 1.0 / o.sqrt(o.dot(way, way) + TINY)
            to, pairs = scale * way, zip(frame.angular, linear, strict=True)
            # where the point moves by v, the way to the target turns by -(to x v) / length
            turning = [w + o.cross(scale * to, v) for w, v in pairs]
            return joined(o, [aligned(o, frame, axis, to, turning, exact=exact)])

        return bound(
            self,
            target=self.target,
            name=self.frame,
            key=f"pointing {self.frame!r} {axis} {point}",
            groups=direction_groups(exact=exact),
            coordinates=coordinates_of(m, self.frame),
            frames=(self.frame,),
            n_target=3,
            read=point_numbers,
            target_shape=(3,),
            residual=residual,
        )


@dataclass(frozen=True, eq=False)
class OnLine(Task):
    """A point of the frame lies on a line of the world, endless both ways.

    The target (6,) is a point of the line and a direction of any length but zero; ``point`` (m) is
    given in the frame. The error is the distance; with ``slack``, a cylinder is allowed.
    """

    frame: str
    target: ArrayLike | None = None
    point: Sequence[float] = field(default=(0.0, 0.0, 0.0), kw_only=True)

    def bind(self, m: Mechanism) -> BoundTask:
        """The task for one mechanism (see `Task.bind`)."""
        m.frame(self.frame)
        point, exact = three(self.point, "OnLine.point"), has_slack(self)

        def residual(o: Ops, q: Block, target: Block) -> Residual:
            at, linear = moving_point(o, moving_frame(o, m, q, self.frame), point)
            through, along = o.part(target, 0, 3), o.part(target, 3, 6)
            way = _across(o, through - at, along)
            columns = [_across(o, v, along) for v in linear]
            rows = distance(o, way, columns) if exact else position_rows(o, way, columns, (0, 1, 2))
            return joined(o, [rows])

        return bound(
            self,
            target=self.target,
            name=self.frame,
            key=f"on line {self.frame!r} {point}",
            groups=[Group("distance", "m", 0, 1 if exact else 3)],
            coordinates=coordinates_of(m, self.frame),
            frames=(self.frame,),
            n_target=6,
            read=points_and_directions,
            residual=residual,
        )


def _across(o: Ops, v: Block, along: Block) -> Block:
    """The part of a vector (3,) that lies across a unit vector."""
    return v - o.dot(v, along) * along


@dataclass(frozen=True, eq=False)
class OnPlane(Task):
    """A point of the frame lies on a plane of the world.

    The target (6,) is a point of the plane and a normal of any length but zero; ``point`` (m) is
    given in the frame. The error is the distance, 1 row; with ``slack``, a slab is allowed.
    """

    frame: str
    target: ArrayLike | None = None
    point: Sequence[float] = field(default=(0.0, 0.0, 0.0), kw_only=True)

    def bind(self, m: Mechanism) -> BoundTask:
        """The task for one mechanism (see `Task.bind`)."""
        m.frame(self.frame)
        point = three(self.point, "OnPlane.point")

        def residual(o: Ops, q: Block, target: Block) -> Residual:
            at, linear = moving_point(o, moving_frame(o, m, q, self.frame), point)
            through, normal = o.part(target, 0, 3), o.part(target, 3, 6)
            away = o.dot(normal, through - at)
            columns = [o.vector([o.dot(normal, v)]) for v in linear]
            return Residual(o.vector([away]), columns, [away * away])

        return bound(
            self,
            target=self.target,
            name=self.frame,
            key=f"on plane {self.frame!r} {point}",
            groups=[Group("distance", "m", 0, 1)],
            coordinates=coordinates_of(m, self.frame),
            frames=(self.frame,),
            n_target=6,
            read=points_and_directions,
            residual=residual,
        )
