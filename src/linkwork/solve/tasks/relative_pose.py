"""A frame at a pose in another frame that moves as well."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Literal

from numpy.typing import ArrayLike

from linkwork.algorithms.residuals.axes import Axis
from linkwork.algorithms.residuals.frames import Moving, moving_frame
from linkwork.algorithms.residuals.rows import pose_rows
from linkwork.errors import UnsupportedFeatureError
from linkwork.mechanism.edit import subchain
from linkwork.mechanism.model import Mechanism
from linkwork.ops.protocol import Block, Ops
from linkwork.solve.tasks.base import (
    BoundTask,
    Residual,
    Structure,
    Task,
    bound,
    coordinates_of,
)
from linkwork.solve.tasks.pose import asked_of_pose, pose_numbers, pose_of
from linkwork.spatial.poses import Pose

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
            Structure(
                name=self.frame,
                key=f"relative pose {self.frame!r} {self.other!r} {asked.key}",
                groups=asked.groups(),
                coordinates=coordinates,
                frames=(self.frame, self.other),
                n_target=12,
                read=pose_numbers,
                residual=residual,
            ),
            self.target,
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
        return Moving(Pose(back @ tool.pose.R, back @ arm), linear, angular)

    return list(coordinates_of(m, frame, other)), moving
