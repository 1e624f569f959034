"""Unitree's G1: ``skrobot.models.g1``."""

from __future__ import annotations

from functools import partial
from typing import Any

from linkwork.errors import InputError
from linkwork.faces.skrobot.data import g1_urdfpath
from linkwork.faces.skrobot.model import FixedJoint
from linkwork.faces.skrobot.models.urdf import RobotModelFromURDF, pose

_HELD = (
    *("waist_roll_joint", "waist_pitch_joint"),
    *(f"{side}_wrist_{way}_joint" for side in ("left", "right") for way in ("pitch", "yaw")),
)
_ARM = ("shoulder_pitch", "shoulder_roll", "shoulder_yaw", "elbow", "wrist_roll")
_LEG = ("hip_pitch", "hip_roll", "hip_yaw", "knee", "ankle_pitch", "ankle_roll")
_REST = {"hip_pitch": -0.1, "knee": 0.3, "ankle_pitch": -0.2, "elbow": 0.3}
_SOLE = (0.0, 0.0, -0.03)
_SIDES = {"r": "right", "l": "left"}


class G1(RobotModelFromURDF):
    """A humanoid of Unitree with 29 joints, or 23: then waist and wrists only turn one way.

    Raises: InputError for another ``dof``.
    """

    _file = staticmethod(partial(g1_urdfpath, dof=29))
    _ends = {  # noqa: RUF012
        f"{short}{limb}_end_coords": (f"{side}_{link}_link", *where)
        for short, side in _SIDES.items()
        for limb, link, *where in (("arm", "wrist_yaw"), ("leg", "ankle_roll", _SOLE))
    }
    _limbs = {  # noqa: RUF012
        f"{short}{limb}": [f"{side}_{name}_link" for name in names]
        for short, side in _SIDES.items()
        for limb, names in (("arm", (*_ARM, "wrist_pitch", "wrist_yaw")), ("leg", _LEG))
    }

    def __init__(self, dof: int = 23, urdf: str | None = None, urdf_file: Any = None) -> None:
        if dof not in (23, 29):
            raise InputError(f"dof must be 23 or 29, not {dof}")
        super().__init__(urdf=urdf, urdf_file=urdf_file)
        if dof == 23:
            self._hold()
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

    def reset_pose(self) -> Any:
        """Standing with bent knees and elbows; gives the angle vector."""
        rest = {f"{side}_{n}_joint": q for side in ("left", "right") for n, q in _REST.items()}
        arms = {"left_shoulder_roll_joint": 0.2, "right_shoulder_roll_joint": -0.2}
        return pose(self, rest | arms)
