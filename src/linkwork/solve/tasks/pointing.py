"""An axis of a frame that points at a point: cameras, lamps, sprays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from numpy.typing import ArrayLike

from linkwork.algorithms.residuals.frames import moving_frame, moving_point, three, unit
from linkwork.algorithms.residuals.rows import TINY, aligned, direction_groups, joined
from linkwork.mechanism.model import Mechanism
from linkwork.ops.protocol import Block, Ops
from linkwork.solve.tasks.base import (
    BoundTask,
    Residual,
    Structure,
    Task,
    bound,
    coordinates_of,
    has_slack,
)
from linkwork.solve.tasks.position import point_numbers


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
            Structure(
                name=self.frame,
                key=f"pointing {self.frame!r} {axis} {point}",
                groups=direction_groups(exact=exact),
                coordinates=coordinates_of(m, self.frame),
                frames=(self.frame,),
                n_target=3,
                read=point_numbers,
                residual=residual,
            ),
            self.target,
        )
