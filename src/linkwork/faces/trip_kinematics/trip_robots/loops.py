"""A tree of joints for the ready-made robots; `linkwork.Robot.with_loop` says what closes it."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf

import numpy as np

from linkwork.mechanism.assemble import FramePart, JointPart, LinkPart, Parts, assemble
from linkwork.mechanism.model import Floats, JointType
from linkwork.robot import Robot

GROUND = "ground"


class Tree:
    """Joints, each with the link that it carries; both have its name."""

    def __init__(self, name: str) -> None:
        self._parts = Parts(name, [LinkPart(GROUND)], [])

    def joint(
        self,
        name: str,
        parent: str = GROUND,
        *,
        turns: Sequence[float] | None = None,
        slides: Sequence[float] | None = None,
        at: tuple[Sequence[float], Floats | None] = ((0.0, 0.0, 0.0), None),
        limits: tuple[float, float] = (-inf, inf),
    ) -> str:
        """Add a joint, placed ``at`` p, R, that turns about an axis (z) or slides along one."""
        p, R = at
        kind, axis = JointType.PRISMATIC, slides
        if slides is None:
            free = limits == (-inf, inf)
            kind, axis = JointType.CONTINUOUS if free else JointType.REVOLUTE, turns
        bounds = [None if abs(bound) == inf else bound for bound in limits]
        self._parts.links.append(LinkPart(name))
        self._parts.joints.append(
            JointPart(
                name=name,
                type=kind,
                parent=parent,
                child=name,
                R=np.eye(3) if R is None else R,
                p=np.array(p, np.float64),
                axis=np.array((0.0, 0.0, 1.0) if axis is None else axis, np.float64),
                lower=bounds[0],
                upper=bounds[1],
            )
        )
        return name

    def frame(self, name: str, link: str, p: Sequence[float]) -> str:
        """Add a frame on a link."""
        self._parts.frames.append(FramePart(name, link, p=np.array(p, np.float64)))
        return name

    def robot(self) -> Robot:
        """The robot that it makes."""
        return Robot(assemble(self._parts))
