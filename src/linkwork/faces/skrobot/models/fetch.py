"""Fetch: ``skrobot.models.fetch``."""

from __future__ import annotations

from typing import Any

from linkwork.faces.skrobot.data import fetch_urdfpath
from linkwork.faces.skrobot.model import RobotModel
from linkwork.faces.skrobot.models.urdf import RobotModelFromURDF, pose

_ARM = ("shoulder_pan", "shoulder_lift", "upperarm_roll", "elbow_flex", "forearm_roll")
_LINKS = tuple(f"{name}_link" for name in (*_ARM, "wrist_flex", "wrist_roll"))


class Fetch(RobotModelFromURDF):
    """A mobile manipulator with a lifting torso and one arm, of Fetch Robotics.

    The end of the arm is ``gripper_link``.
    """

    _file = staticmethod(fetch_urdfpath)
    _ends = {"rarm_end_coords": ("gripper_link",)}  # noqa: RUF012
    _limbs = {"rarm": _LINKS, "rarm_with_torso": ("torso_lift_link", *_LINKS)}  # noqa: RUF012

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.end_coords = [self.rarm_end_coords]

    def reset_pose(self) -> Any:
        """Tuck the arm, as Fetch's own programs do; gives the angle vector."""
        return self._arm_at(1.32, 1.4, -0.2, 1.72, 0.0, 1.66, 0.0)

    def reset_manip_pose(self) -> Any:
        """Forearm up, hand down, before the robot; gives the angle vector."""
        return self._arm_at(0.0, 0.0, 0.0, 1.5707963267948966, 0.0, -1.5707963267948966, 0.0)

    def _arm_at(self, *angles: float) -> Any:
        """Put the arm's joints at these angles, torso and head at zero; gives the angle vector."""
        joints = [link.replace("_link", "_joint") for link in _LINKS]
        rest = {"torso_lift_joint": 0.0, "head_pan_joint": 0.0, "head_tilt_joint": 0.0}
        return pose(self, {**rest, **dict(zip(joints, angles, strict=True))})

    @property
    def arm_with_torso(self) -> RobotModel:
        """As ``rarm_with_torso``."""
        return self.rarm_with_torso
