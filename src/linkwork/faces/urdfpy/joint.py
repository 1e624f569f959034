"""Rows S2-140 to S2-159: a joint, and where it puts its child."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from linkwork.errors import InputError
from linkwork.faces.urdfpy import adapt
from linkwork.faces.urdfpy.base import Attributes, Elements, URDFType
from linkwork.faces.urdfpy.joint_parts import (
    JointCalibration,
    JointDynamics,
    JointLimit,
    JointMimic,
    SafetyController,
)
from linkwork.faces.urdfpy.link import scaled_pose
from linkwork.faces.urdfpy.values import Array, Part, Text, Value, direction, pose

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
