"""Limits of a joint that depend on another joint's angle (row S0-033)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from linkwork.checks import finite_number
from linkwork.errors import InputError, ShapeError, UnknownNameError
from linkwork.faces.skrobot.model.joint import Joint

if TYPE_CHECKING:
    from linkwork.faces.skrobot.model.robot_model import CascadedLink

Floats = NDArray[np.float64]


class NoJointError(UnknownNameError, InputError):
    """A joint that the robot has not, as a KeyError and a ValueError."""


class JointLimitTable:
    """Bounds (n,) of a joint at n even angles of its target; linear between, constant outside.

    Angles are rad, or m of joints that slide.

    Raises: ShapeError, InputError (ValueErrors).
    """

    def __init__(
        self,
        target_joint: Joint,
        target_min_angle: float,
        target_max_angle: float,
        min_angles: ArrayLike,
        max_angles: ArrayLike,
    ) -> None:
        self.target_joint = target_joint
        self.target_min_angle = finite_number(target_min_angle, "target_min_angle")
        self.target_max_angle = finite_number(target_max_angle, "target_max_angle")
        self.min_angles = _bounds(min_angles, "min_angles")
        self.max_angles = _bounds(max_angles, "max_angles")
        n = len(self.min_angles)
        if n != len(self.max_angles):
            raise ShapeError(
                f"length mismatch: min_angles has {n} numbers and max_angles "
                f"{len(self.max_angles)}; each angle of the target has one of both"
            )
        if n > 1 and not self.target_min_angle < self.target_max_angle:
            raise InputError(
                f"target_min_angle is {self.target_min_angle:g} and must be below target_max_angle,"
                f" which is {self.target_max_angle:g}"
            )
        self.sample_angles = np.linspace(self.target_min_angle, self.target_max_angle, n)

    def min_angle_function(self, target_angle: float) -> float:
        """The lower bound at an angle of the target joint."""
        return float(np.interp(target_angle, self.sample_angles, self.min_angles))

    def max_angle_function(self, target_angle: float) -> float:
        """The upper bound at an angle of the target joint."""
        return float(np.interp(target_angle, self.sample_angles, self.max_angles))

    def get_data_for_differentiable(self) -> dict[str, Floats]:
        """The numbers of the table: "sample_angles", "min_angles", "max_angles", each (n,)."""
        return {
            "sample_angles": self.sample_angles,
            "min_angles": self.min_angles,
            "max_angles": self.max_angles,
        }


def create_joint_limit_table(
    robot: CascadedLink,
    target_joint: Joint | str,
    dependent_joint: Joint | str,
    target_min_angle: float,
    target_max_angle: float,
    min_angles: ArrayLike,
    max_angles: ArrayLike,
    use_degrees: bool = True,
) -> JointLimitTable:
    """A table of limits, given to a joint: bounds (n,) at even angles of the target joint.

    Joints are objects or names. Angles are degrees, or rad without ``use_degrees``.

    Raises: NoJointError (a ValueError) for a joint that the robot has not; ShapeError, InputError.
    """
    target = _joint_of(robot, target_joint, "target joint")
    dependent = _joint_of(robot, dependent_joint, "dependent joint")
    for joint in (target, dependent):
        if joint.joint_dof != 1:
            raise InputError(f"joint '{joint.name}' has {joint.joint_dof} positions; one is needed")
    unit: Any = np.deg2rad if use_degrees else np.asarray
    table = JointLimitTable(
        target,
        unit(target_min_angle),
        unit(target_max_angle),
        unit(_bounds(min_angles, "min_angles")),
        unit(_bounds(max_angles, "max_angles")),
    )
    dependent.joint_min_max_table = table
    dependent.joint_min_max_target = target
    return table


def _bounds(values: ArrayLike, what: str) -> Floats:
    try:
        array = np.array(values, np.float64)
    except (TypeError, ValueError):
        raise InputError(f"{what} is numbers, not {values!r:.60}") from None
    if array.ndim != 1 or not len(array):
        raise ShapeError(f"{what} is at least one number, in a list, not shape {array.shape}")
    if not np.isfinite(array).all():
        raise InputError(f"{what} must be finite")
    return array


def _joint_of(robot: CascadedLink, joint: Joint | str, what: str) -> Joint:
    if isinstance(joint, Joint):
        return joint
    found = robot.joints.get(joint)
    if found is None:
        raise NoJointError(what, str(joint), list(robot.joints))
    return found
