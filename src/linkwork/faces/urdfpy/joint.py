"""Rows S2-100 to S2-119 and S2-140 to S2-159: joints, and what they have beside an axis."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from linkwork.errors import InputError
from linkwork.faces.urdfpy import adapt
from linkwork.faces.urdfpy.base import Attributes, Elements, URDFType
from linkwork.faces.urdfpy.link import scaled_pose
from linkwork.faces.urdfpy.values import Array, Number, Part, Text, Value, direction, pose


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


Floats = NDArray[np.float64]

_TYPES = ["fixed", "prismatic", "revolute", "continuous", "floating", "planar"]
_LIMITED = ("prismatic", "revolute")
_WITHOUT_AXIS = ("fixed", "floating")


class _Kind(Value):
    def check(self, owner: Any, value: Any) -> str:
        """Raises: InputError for a type that joints do not have.

        A limit that the new type needs may be set later, before the joint is used.
        """
        kind = str(value)
        if kind not in _TYPES:
            raise InputError(
                f"{self.what(owner)} of '{getattr(owner, 'name', '')}' is one of "
                f"{', '.join(_TYPES)}, not '{kind:.40}'"
            )
        return kind


class _Limit(Part):
    def check(self, owner: Any, value: Any) -> Any:
        """Raises: WrongTypeError; InputError for None where the joint needs one."""
        if value is None and owner.joint_type in _LIMITED:
            raise InputError(f"joint '{owner.name}': a {owner.joint_type} joint needs a limit")
        return super().check(owner, value)


def lacks_limit(joint: Joint) -> str:
    """What is to be said of a joint that needs a limit and has none; nothing of any other."""
    if joint.limit is not None or joint.joint_type not in _LIMITED:
        return ""
    return f"a {joint.joint_type} joint needs a limit; set its `limit`"


def _axis(owner: Any, what: str, value: Any) -> Floats:
    """A direction of length 1; x for None, and for a zero axis where the joint needs none."""
    if value is None:
        return np.array([1.0, 0.0, 0.0])
    axis = direction(what, value)
    if axis is not None:
        return axis
    if owner.joint_type not in _WITHOUT_AXIS:
        raise InputError(f"joint '{owner.name}': its axis is zero, so nothing says how it moves")
    return np.array([1.0, 0.0, 0.0])


class Joint(URDFType):
    """A connection between two links, which are meant by their names.

    ``origin`` (4, 4) or xyz and rpy (6,) is the pose of the child in the parent at position zero,
    ``axis`` (3,) a direction in that frame, by default x.

    Raises: InputError, WrongTypeError; a prismatic or revolute joint needs a limit.
    """

    TYPES: ClassVar[list[str]] = list(_TYPES)

    _ATTRIBS: ClassVar[Attributes] = {"name": (str, True)}
    _ELEMENTS: ClassVar[Elements] = {
        "dynamics": (JointDynamics, False, False),
        "limit": (JointLimit, False, False),
        "mimic": (JointMimic, False, False),
        "safety_controller": (SafetyController, False, False),
        "calibration": (JointCalibration, False, False),
    }
    _TAG = "joint"
    kinematic = True

    name: Any = Text("The name of the joint.")
    joint_type: Any = _Kind("The type, one of `Joint.TYPES`.")
    parent: Any = Text("The name of the parent link.")
    child: Any = Text("The name of the child link.")
    axis: Any = Array("The axis (3,), a unit vector in the joint's frame.", _axis, watched=True)
    origin: Any = Array(
        "The pose (4, 4) of child and joint in the parent link.", pose, watched=True
    )
    limit: Any = _Limit("The limits; or None.", JointLimit)
    dynamics: Any = Part("Damping and friction; or None.", JointDynamics)
    safety_controller: Any = Part("The safety controller; or None.", SafetyController)
    calibration: Any = Part("The calibration; or None.", JointCalibration)
    mimic: Any = Part("The joint that is followed; or None.", JointMimic)

    def __init__(  # noqa: PLR0913, PLR0917 -- the original's signature
        self,
        name: str,
        joint_type: str,
        parent: str,
        child: str,
        axis: Any = None,
        origin: Any = None,
        limit: JointLimit | None = None,
        dynamics: JointDynamics | None = None,
        safety_controller: SafetyController | None = None,
        calibration: JointCalibration | None = None,
        mimic: JointMimic | None = None,
    ) -> None:
        self.name = name
        self.joint_type = joint_type
        self.parent = parent
        self.child = child
        self.axis = axis
        self.origin = origin
        self.limit = limit
        self.dynamics = dynamics
        self.safety_controller = safety_controller
        self.calibration = calibration
        self.mimic = mimic

    def get_child_pose(self, cfg: Any = None) -> Floats:
        """The pose (4, 4) of the child in the parent at a position; None is the origin.

        Fixed: not used. Prismatic: m along the axis. Revolute, continuous: rad about the axis.
        Planar: (2,) m along the two directions across the axis that x and y turn into when z is
        turned onto the axis by the smallest rotation. Floating: xyz and rpy (6,), or (4, 4).

        Raises: InputError, WrongTypeError for a position that the joint cannot have.
        """
        origin: Floats = self.__dict__["_origin"]
        if cfg is None or self.joint_type == "fixed":
            return origin.copy()
        return origin @ adapt.motion(self, cfg)

    def get_child_poses(self, cfg: Any, n_cfgs: int) -> Floats:
        """The poses (n_cfgs, 4, 4) of the child in the parent at n positions; None is the origin.

        ``cfg`` has a row for each, or one for all; a row as `get_child_pose` takes it.

        Raises: as `get_child_pose`; ShapeError for another number of rows.
        """
        origin: Floats = self.__dict__["_origin"]
        if cfg is None or self.joint_type == "fixed":
            return np.tile(origin, (n_cfgs, 1, 1))
        return origin @ adapt.motions(self, cfg, n_cfgs)

    def _add_prefix(self, prefix: str) -> None:
        self.name = prefix + self.name
        self.parent, self.child = prefix + self.parent, prefix + self.child

    def _scale_lengths(self, factors: Floats) -> None:
        self.origin = scaled_pose(self.origin, factors)
        if self.joint_type == "prismatic" and self.limit is not None:
            factor = float(np.linalg.norm(factors * self.axis))
            for side in ("lower", "upper", "velocity"):
                value = getattr(self.limit, side)
                setattr(self.limit, side, None if value is None else value * factor)

    def is_valid(self, cfg: Any) -> bool:
        """Whether a position is one that the joint may have: of its kind, finite, within limits.

        Raises: InputError where the joint has become one that needs a limit, and has none.
        """
        if lacks_limit(self):
            raise InputError(f"joint '{self.name}': {lacks_limit(self)}")
        return adapt.is_valid(self, cfg)

    def __repr__(self) -> str:
        return f"<Joint '{self.name}' {self.joint_type}: '{self.parent}' to '{self.child}'>"
