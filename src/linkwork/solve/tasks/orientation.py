"""A frame at an orientation, or at parts of one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

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
from linkwork.algorithms.residuals.rows import Asked, joined, rotation_rows
from linkwork.mechanism.model import Mechanism
from linkwork.ops.protocol import Block, Ops
from linkwork.solve.targets import rotations
from linkwork.solve.tasks.base import (
    BoundTask,
    Residual,
    Structure,
    Task,
    bound,
    coordinates_of,
    has_slack,
)
from linkwork.solve.tasks.pose import rotation_of


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
            Structure(
                name=self.frame,
                key=f"orientation {self.frame!r} {asked.key}",
                groups=asked.groups(),
                coordinates=coordinates_of(m, self.frame),
                frames=(self.frame,),
                n_target=9,
                read=_numbers,
                residual=residual,
            ),
            self.target,
        )


def _numbers(target: ArrayLike, of: str) -> NDArray[np.float64]:
    """Rotations by rows (..., 9)."""
    R = rotations(target, of)
    return np.array(R).reshape(*R.shape[:-2], 9)
