"""A point of a frame on a line."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from numpy.typing import ArrayLike

from linkwork.algorithms.residuals.frames import moving_frame, moving_point, three
from linkwork.algorithms.residuals.rows import distance, joined, position_rows
from linkwork.mechanism.model import Mechanism
from linkwork.ops.protocol import Block, Ops
from linkwork.solve.targets import points_and_directions
from linkwork.solve.tasks.base import (
    BoundTask,
    Group,
    Residual,
    Structure,
    Task,
    bound,
    coordinates_of,
    has_slack,
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
            Structure(
                name=self.frame,
                key=f"on line {self.frame!r} {point}",
                groups=[Group("distance", "m", 0, 1 if exact else 3)],
                coordinates=coordinates_of(m, self.frame),
                frames=(self.frame,),
                n_target=6,
                read=points_and_directions,
                residual=residual,
            ),
            self.target,
        )


def _across(o: Ops, v: Block, along: Block) -> Block:
    """The part of a vector (3,) that lies across a unit vector."""
    return v - o.dot(v, along) * along
