"""A frame at a pose, or at parts of one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike, NDArray

from linkwork.errors import InputError
from linkwork.mechanism.model import Mechanism
from linkwork.ops.protocol import Block, Ops
from linkwork.solve.targets import rigid_poses
from linkwork.solve.tasks.axes import AxesOf, Axis, axes, axis_index, frame_of_axes
from linkwork.solve.tasks.base import (
    BoundTask,
    Group,
    Residual,
    Structure,
    Task,
    bound,
    coordinates_of,
)
from linkwork.solve.tasks.frames import moving_frame
from linkwork.solve.tasks.rows import (
    Rows,
    is_chord,
    joined,
    mirrored,
    n_rotation_rows,
    position_rows,
    position_rows_in,
    rotation_rows,
)

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Pose(Task):
    """A frame at a pose T_world_frame (4, 4), or at parts of it.

    ``position`` and ``rotation`` name the axes that count ("" for none), in ``axes_of`` the world,
    the target or the tool (the frame). Where a rotation counts about two axes, turns about the
    third are free. ``mirror``: turned by pi about that axis of the tool is as good.
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
        where = axes(self.position, "Pose.position", none=True)
        turns = axes(self.rotation, "Pose.rotation", none=True)
        if not where and not turns:
            raise InputError("Pose: position and rotation are both empty, so nothing is asked for")
        of = frame_of_axes(self.axes_of, "Pose.axes_of")
        mirror = axis_index(self.mirror, "Pose.mirror")
        exact = bool(np.any(np.asarray(self.slack)))
        groups: list[Group] = []
        if where:
            groups.append(Group("position", "m", 0, len(where)))
        if turns:
            stop = len(where) + n_rotation_rows(turns, exact=exact)
            chord = is_chord(turns, exact=exact)
            groups.append(Group("rotation", "rad", len(where), stop, chord))

        def residual(o: Ops, q: Block, target: Block) -> Residual:
            current = moving_frame(o, m, q, self.frame)
            at = o.part(target, 0, 3)
            rows = [o.part(target, 3 + 3 * i, 6 + 3 * i) for i in range(3)]
            R_target = o.transpose(o.matrix(rows))
            if mirror is not None:
                R_target = mirrored(o, current.pose.R, R_target, mirror)
            parts: list[Rows] = []
            if where:
                way = at - current.pose.p
                if of == "world":
                    parts.append(position_rows(o, way, current.linear, where))
                else:
                    still = [o.const([0.0, 0.0, 0.0])] * m.n_v
                    tool = of == "tool"
                    turning = current.angular if tool else still
                    in_axes = current.pose.R if tool else R_target
                    velocity = (current.linear, turning)
                    parts.append(position_rows_in(o, way, velocity, in_axes, where))
            if turns:
                both = (current.pose.R, R_target)
                world = of == "world"
                found = rotation_rows(o, both, current.angular, turns, world=world, exact=exact)
                parts.append(found)
            return joined(o, parts)

        return bound(
            self,
            Structure(
                name=self.frame,
                key=f"pose {self.frame!r} {where} {turns} {of} {mirror}",
                groups=groups,
                coordinates=coordinates_of(m, self.frame),
                frames=(self.frame,),
                n_target=12,
                rows_of=_pose_rows,
                residual=residual,
                reaches=_point if len(where) == 3 else None,
            ),
        )


def _pose_rows(target: ArrayLike) -> Floats:
    """Positions, then rotations by rows (..., 12)."""
    poses = rigid_poses(target)
    flat = poses[..., :3, :3].reshape(*poses.shape[:-2], 9)
    return np.concatenate([poses[..., :3, 3], flat], axis=-1)


def _point(numbers: Floats) -> Floats:
    return numbers[:3]
