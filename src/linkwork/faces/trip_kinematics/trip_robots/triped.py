"""The TriPed: three legs around its axis, each a third of a turn from the next."""

from __future__ import annotations

from collections.abc import Mapping
from math import radians
from typing import Any

from linkwork.faces.trip_kinematics.KinematicGroup import KinematicGroup
from linkwork.faces.trip_kinematics.Robot import Robot
from linkwork.faces.trip_kinematics.Transformation import Transformation
from linkwork.faces.trip_kinematics.trip_robots.triped_leg import (
    build,
    gimbal_chain,
    gimbal_to_swing,
    swing_to_gimbal,
)
from linkwork.faces.trip_kinematics.values import mapping_of

State = Mapping[str, Any]


def leg_model(leg_number: int) -> list[KinematicGroup | Transformation]:
    """The parts of a leg, 0, 1 or 2, whose names begin with "leg_0_" and so on.

    Its mappings take ``tips`` under the leg's own names.
    """
    prefix = f"leg_{leg_number}_"

    def to_gimbal(swing: State, tips: Any = None) -> dict[str, Any]:
        found = swing_to_gimbal(_without(swing, prefix), _without(tips, prefix))
        return {prefix + name: values for name, values in found.items()}

    def to_swing(gimbal: State, tips: Any = None) -> dict[str, Any]:
        found = gimbal_to_swing(_without(gimbal, prefix), _without(tips, prefix))
        return {prefix + name: value for name, value in found.items()}

    turn = Transformation(f"{prefix}leg_rotation", {"rz": -radians(120) * int(leg_number)})
    return build(prefix, [turn, *gimbal_chain(prefix, turn)], (to_gimbal, to_swing))


def _without(state: Any, prefix: str) -> Any:
    """A state with its names as a single leg has them."""
    if state is None:
        return None
    given = mapping_of(state, "a state of a leg")
    return {str(name).removeprefix(prefix): value for name, value in given.items()}


triped = Robot([part for number in range(3) for part in leg_model(number)])
