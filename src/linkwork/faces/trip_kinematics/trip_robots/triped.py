"""The TriPed: three legs around its axis, each a third of a turn from the next."""

from __future__ import annotations

from math import radians

from linkwork.faces.trip_kinematics.KinematicGroup import KinematicGroup
from linkwork.faces.trip_kinematics.Robot import Robot
from linkwork.faces.trip_kinematics.Transformation import Transformation
from linkwork.faces.trip_kinematics.trip_robots.triped_leg import (
    build,
    gimbal_chain,
    gimbal_to_swing,
    swing_to_gimbal,
)

__all__ = ["gimbal_to_swing", "leg_model", "swing_to_gimbal", "triped"]


def leg_model(leg_number: int) -> list[KinematicGroup | Transformation]:
    """The parts of a leg, 0, 1 or 2, whose names begin with "leg_0_" and so on.

    Its mappings take ``tips`` under the leg's own names.
    """
    prefix = f"leg_{leg_number}_"
    turn = Transformation(f"{prefix}leg_rotation", {"rz": -radians(120) * int(leg_number)})
    return build(prefix, [turn, *gimbal_chain(prefix, turn)])


triped = Robot([part for number in range(3) for part in leg_model(number)])
