"""Unitree's G1: ``skrobot.models.g1``."""

# limbs are made once, when they are first asked for
# pyright: reportIncompatibleMethodOverride=false
from __future__ import annotations

from functools import cached_property
from typing import Any

from linkwork.errors import InputError
from linkwork.faces.skrobot.data import g1_urdfpath
from linkwork.faces.skrobot.model import FixedJoint, RobotModel
from linkwork.faces.skrobot.models.urdf import RobotModelFromURDF, end_coords, limb, pose

_HELD = (
    *("waist_roll_joint", "waist_pitch_joint"),
    *(f"{side}_wrist_{way}_joint" for side in ("left", "right") for way in ("pitch", "yaw")),
)
_ARM = ("shoulder_pitch", "shoulder_roll", "shoulder_yaw", "elbow", "wrist_roll")
_LEG = ("hip_pitch", "hip_roll", "hip_yaw", "knee", "ankle_pitch", "ankle_roll")
_REST = {"hip_pitch": -0.1, "knee": 0.3, "ankle_pitch": -0.2, "elbow": 0.3}
_SOLE = (0.0, 0.0, -0.03)


class G1(RobotModelFromURDF):
    """A humanoid of Unitree with 29 joints, or 23: then waist and wrists only turn one way.

    Raises: InputError for another ``dof``.
    """

    def __init__(self, dof: int = 23, urdf: str | None = None, urdf_file: Any = None) -> None:
        if dof not in (23, 29):
            raise InputError(f"dof must be 23 or 29, not {dof}")
        super().__init__(urdf=urdf, urdf_file=urdf_file)
        if dof == 23:
            self._hold()
        sides = {"r": "right", "l": "left"}
        for short, side in sides.items():
            hand = end_coords(self, f"{side}_wrist_yaw_link", f"{short}arm_end_coords")
            foot = end_coords(self, f"{side}_ankle_roll_link", f"{short}leg_end_coords", _SOLE)
            setattr(self, f"{short}arm_end_coords", hand)
            setattr(self, f"{short}leg_end_coords", foot)
        self.end_coords = [self.rarm_end_coords, self.larm_end_coords]
        self.reset_pose()

    def _hold(self) -> None:
        """Fix the joints that the robot with 23 of them lacks, at zero."""
        for link in self.link_list:
            joint = link.joint
            if joint is not None and joint.name in _HELD:
                joint.joint_angle(0.0)
                fixed = FixedJoint(name=joint.name, child_link=link, parent_link=link.parent_link)
                link.joint = fixed
        self.joint_list = [joint for joint in self.joint_list if joint.name not in _HELD]

    @property
    def default_urdf_path(self) -> str:
        """The description with 29 joints, of the extra ``robots``."""
        return g1_urdfpath(dof=29)

    def reset_pose(self) -> Any:
        """Standing with bent knees and elbows; gives the angle vector."""
        rest = {f"{side}_{n}_joint": q for side in ("left", "right") for n, q in _REST.items()}
        arms = {"left_shoulder_roll_joint": 0.2, "right_shoulder_roll_joint": -0.2}
        return pose(self, rest | arms)

    @cached_property
    def rarm(self) -> RobotModel:
        """The right arm."""
        return limb(self, self._limb_links("right", _ARM), self.rarm_end_coords)

    @cached_property
    def larm(self) -> RobotModel:
        """The left arm."""
        return limb(self, self._limb_links("left", _ARM), self.larm_end_coords)

    @cached_property
    def rleg(self) -> RobotModel:
        """The right leg."""
        return limb(self, self._limb_links("right", _LEG), self.rleg_end_coords)

    @cached_property
    def lleg(self) -> RobotModel:
        """The left leg."""
        return limb(self, self._limb_links("left", _LEG), self.lleg_end_coords)

    def _limb_links(self, side: str, names: tuple[str, ...]) -> list[str]:
        found = [f"{side}_{name}_link" for name in names]
        wrist = [f"{side}_wrist_{way}_link" for way in ("pitch", "yaw")]
        return found + (wrist if names is _ARM else [])
