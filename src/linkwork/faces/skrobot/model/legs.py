"""Robots with legs: the feet are put where they are to stand (row S0-052)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from linkwork.faces.skrobot.coordinates.base import CascadedCoords, Coordinates

_LEFT, _RIGHT = ("left", "lleg"), ("right", "rleg")


class Legs:
    """The part of `CascadedLink` that moves a robot by its feet."""

    def fix_leg_to_coords(
        self: Any, fix_coords: Coordinates, leg: str = "both", mid: float = 0.5
    ) -> Coordinates | None:
        """The new root pose, after the robot was moved as a whole so that a foot lies on a frame.

        ``leg``: "left" or "lleg", "right" or "rleg"; with anything else a frame between the two
        feet, ``mid`` of the way from the left to the right one. None for a robot without legs.
        """
        names = [each for each in (_LEFT, _RIGHT) if leg in each] or [_LEFT, _RIGHT]
        feet = [foot for _, side in names if (foot := foot_of(self, side)) is not None]
        if len(feet) < len(names):
            return None
        foot = feet[0].copy_worldcoords()
        if len(feet) > 1:
            foot = foot.slerp(feet[1].copy_worldcoords(), mid)
        self.move_coords(fix_coords, foot)
        return self.copy_worldcoords()


def foot_of(robot: Any, limb: str) -> CascadedCoords | None:
    """The end of a limb ("lleg", "rleg"); None where the robot has none."""
    end = getattr(robot, f"{limb}_end_coords", None)
    if end is not None:
        return end
    try:
        return getattr(getattr(robot, limb, None), "end_coords", None)
    except NotImplementedError:  # what the class says of limbs that it has not
        return None
