"""A frame at a pose."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from linkwork.mechanism.model import Mechanism
from linkwork.ops.protocol import Block, Ops
from linkwork.solve.pose_error import rotation_error
from linkwork.solve.targets import rigid_poses
from linkwork.solve.tasks.base import (
    BoundTask,
    Group,
    Residual,
    Task,
    checked_numbers,
    coordinates_of,
)
from linkwork.solve.tasks.frames import moving_frame

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Pose(Task):
    """A frame at a pose T_world_frame (4, 4): position and rotation."""

    frame: str
    target: ArrayLike | None = None

    def bind(self, m: Mechanism) -> BoundTask:
        """The task for one mechanism (see `Task.bind`)."""
        frame = self.frame
        m.frame(frame)

        def residual(o: Ops, q: Block, target: Block) -> Residual:
            current = moving_frame(o, m, q, frame)
            rows = [o.part(target, 3 + 3 * i, 6 + 3 * i) for i in range(3)]
            R_target = o.transpose(o.matrix(rows))
            e = o.part(target, 0, 3) - current.pose.p
            turn, squared = rotation_error(o, current.pose.R, R_target)
            pairs = zip(current.linear, current.angular, strict=True)
            columns = [o.concat([v, w]) for v, w in pairs]
            return Residual(o.concat([e, turn]), columns, [o.dot(e, e), squared])

        groups = (Group("position", "m", 0, 3), Group("rotation", "rad", 3, 6))
        numbers = checked_numbers(self, groups)
        return BoundTask(
            name=self.name or frame,
            key=f"pose {frame!r}",
            priority=int(self.priority),
            groups=groups,
            n_target=12,
            frames=(frame,),
            coordinates=coordinates_of(m, frame),
            rows_of=_rows,
            residual=residual,
            target=None if self.target is None else _rows(self.target),
            weight=numbers.weight,
            tolerances=numbers.tolerances,
            slack=numbers.slack,
            reaches=_point,
        )


def _rows(target: ArrayLike) -> Floats:
    """Positions, then rotations by rows (..., 12)."""
    poses = rigid_poses(target)
    lead: Sequence[int] = poses.shape[:-2]
    return np.concatenate([poses[..., :3, 3], poses[..., :3, :3].reshape(*lead, 9)], axis=-1)


def _point(numbers: Floats) -> Floats:
    return numbers[:3]
