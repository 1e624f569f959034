"""A point of a frame on a plane."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from numpy.typing import ArrayLike

from linkwork.algorithms.residuals.frames import moving_frame, moving_point, three
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
)


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
            Structure(
                name=self.frame,
                key=f"on plane {self.frame!r} {point}",
                groups=[Group("distance", "m", 0, 1)],
                coordinates=coordinates_of(m, self.frame),
                frames=(self.frame,),
                n_target=6,
                read=points_and_directions,
                residual=residual,
            ),
            self.target,
        )
