"""Rows S2-100 to S2-119: what a joint may have beside its axis."""

from __future__ import annotations

from typing import Any, ClassVar

from linkwork.faces.urdfpy.base import Attributes, URDFType
from linkwork.faces.urdfpy.values import Number, Text


class JointCalibration(URDFType):
    """The reference positions of a joint, None where there are none."""

    _ATTRIBS: ClassVar[Attributes] = {"rising": (float, False), "falling": (float, False)}
    _TAG = "calibration"

    rising: Any = Number("Where the mark is met when the joint moves up; or None.", optional=True)
    falling: Any = Number(
        "Where the mark is met when the joint moves down; or None.", optional=True
    )

    def __init__(self, rising: float | None = None, falling: float | None = None) -> None:
        self.rising = rising
        self.falling = falling


class JointDynamics(URDFType):
    """Damping and static friction of a joint; None where not known."""

    _ATTRIBS: ClassVar[Attributes] = {"damping": (float, False), "friction": (float, False)}
    _TAG = "dynamics"

    damping: Any = Number("Damping, N s/m or N m s/rad; or None.", optional=True)
    friction: Any = Number("Static friction, N or N m; or None.", optional=True)

    def __init__(self, damping: float | None, friction: float | None) -> None:
        self.damping = damping
        self.friction = friction


class JointLimit(URDFType):
    """Bounds of a joint; None (and an infinite number) is no bound."""

    _ATTRIBS: ClassVar[Attributes] = {
        "effort": (float, True),
        "velocity": (float, True),
        "lower": (float, False),
        "upper": (float, False),
    }
    _TAG = "limit"

    effort: Any = Number("The largest effort, N or N m.", bound=True)
    velocity: Any = Number("The largest velocity, m/s or rad/s.", bound=True)
    lower: Any = Number("The lowest position, m or rad; or None.", optional=True, bound=True)
    upper: Any = Number("The highest position, m or rad; or None.", optional=True, bound=True)

    def __init__(
        self,
        effort: float,
        velocity: float,
        lower: float | None = None,
        upper: float | None = None,
    ) -> None:
        self.effort = effort
        self.velocity = velocity
        self.lower = lower
        self.upper = upper


class JointMimic(URDFType):
    """A coupling: the joint's position is multiplier * (position of the other) + offset."""

    _ATTRIBS: ClassVar[Attributes] = {
        "joint": (str, True),
        "multiplier": (float, False),
        "offset": (float, False),
    }
    _TAG = "mimic"
    kinematic = True

    joint: Any = Text("The name of the joint that is followed.")
    multiplier: Any = Number("The factor, 1 by default.", optional=True, default=1.0)
    offset: Any = Number("What is added, 0 by default, m or rad.", optional=True, default=0.0)

    def __init__(
        self, joint: str, multiplier: float | None = None, offset: float | None = None
    ) -> None:
        self.joint = joint
        self.multiplier = multiplier
        self.offset = offset

    def _add_prefix(self, prefix: str) -> None:
        self.joint = prefix + self.joint


class SafetyController(URDFType):
    """Soft limits of a joint, and the gains that keep it within them."""

    _ATTRIBS: ClassVar[Attributes] = {
        "k_velocity": (float, True),
        "k_position": (float, False),
        "soft_lower_limit": (float, False),
        "soft_upper_limit": (float, False),
    }
    _TAG = "safety_controller"

    k_velocity: Any = Number("Effort for velocity.")
    k_position: Any = Number("Velocity for position, 0 by default.", optional=True, default=0.0)
    soft_lower_limit: Any = Number(
        "Where the controller sets in below, 0 by default.", optional=True, default=0.0
    )
    soft_upper_limit: Any = Number(
        "Where the controller sets in above, 0 by default.", optional=True, default=0.0
    )

    def __init__(
        self,
        k_velocity: float,
        k_position: float | None = None,
        soft_lower_limit: float | None = None,
        soft_upper_limit: float | None = None,
    ) -> None:
        self.k_velocity = k_velocity
        self.k_position = k_position
        self.soft_lower_limit = soft_lower_limit
        self.soft_upper_limit = soft_upper_limit
