"""A point of a frame at a point of the world, or on parts of the way to it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike, NDArray

from linkwork.algorithms.residuals.axes import AxesOf, axes, frame_of_axes
from linkwork.algorithms.residuals.frames import moving_frame, moving_point, three
from linkwork.algorithms.residuals.rows import joined, position_rows, position_rows_in_tool
from linkwork.mechanism.model import Mechanism
from linkwork.ops.protocol import Block, Ops
from linkwork.solve.targets import finite_rows
from linkwork.solve.tasks.base import (
    BoundTask,
    Group,
    Residual,
    Structure,
    Task,
    bound,
    coordinates_of,
)


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
            Structure(
                name=self.frame,
                key=f"position {self.frame!r} {where} {of} {point}",
                groups=[Group("position", "m", 0, len(where))],
                coordinates=coordinates_of(m, self.frame),
                frames=(self.frame,),
                n_target=3,
                read=point_numbers,
                residual=residual,
                reaches=_itself if len(where) == 3 and not any(point) else None,
            ),
            self.target,
        )


def point_numbers(target: ArrayLike, of: str) -> NDArray[np.float64]:
    """Points (..., 3), checked."""
    return finite_rows(target, 3, of)


def _itself(numbers: NDArray[np.float64]) -> NDArray[np.float64]:
    return numbers
