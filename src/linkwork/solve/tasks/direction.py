"""An axis of a frame along a direction of the world: a cup upright, a tool downwards."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from numpy.typing import ArrayLike

from linkwork.algorithms.residuals.frames import moving_frame, unit
from linkwork.algorithms.residuals.rows import aligned, direction_groups, joined
from linkwork.mechanism.model import Mechanism
from linkwork.ops.protocol import Block, Ops
from linkwork.solve.targets import directions
from linkwork.solve.tasks.base import (
    BoundTask,
    Residual,
    Structure,
    Task,
    bound,
    coordinates_of,
    has_slack,
)


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
            Structure(
                name=self.frame,
                key=f"direction {self.frame!r} {axis}",
                groups=direction_groups(exact=exact),
                coordinates=coordinates_of(m, self.frame),
                frames=(self.frame,),
                n_target=3,
                read=directions,
                residual=residual,
            ),
            self.target,
        )
