"""A frame at a pose, or at parts of one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from linkwork.algorithms.residuals.axes import (
    AXES_OF,
    AxesOf,
    Axis,
    axes,
    axis_index,
    frame_of_axes,
)
from linkwork.algorithms.residuals.frames import moving_frame
from linkwork.algorithms.residuals.rows import Asked, pose_rows
from linkwork.errors import InputError
from linkwork.mechanism.model import Mechanism
from linkwork.ops.protocol import Block, Ops
from linkwork.solve.targets import rigid_poses
from linkwork.solve.tasks.base import (
    BoundTask,
    Residual,
    Structure,
    Task,
    bound,
    coordinates_of,
    has_slack,
)

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
            Structure(
                name=self.frame,
                key=f"pose {self.frame!r} {asked.key}",
                groups=asked.groups(),
                coordinates=coordinates_of(m, self.frame),
                frames=(self.frame,),
                n_target=12,
                read=pose_numbers,
                residual=residual,
                reaches=position_of if len(asked.where) == 3 else None,
            ),
            self.target,
        )


def asked_of_pose(task: Any, allowed: Sequence[str]) -> Asked:
    """What a task with ``position``, ``rotation``, ``axes_of`` and ``mirror`` asks for, checked.

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


def position_of(numbers: Floats) -> Floats:
    """The point that a target of a position or a pose begins with."""
    return numbers[:3]
