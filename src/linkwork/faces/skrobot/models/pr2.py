"""PR2: ``skrobot.models.pr2``."""

from __future__ import annotations

from typing import Any

import numpy as np

from linkwork.errors import InputError
from linkwork.faces.skrobot.data import pr2_urdfpath
from linkwork.faces.skrobot.model import RobotModel
from linkwork.faces.skrobot.models.urdf import (
    RobotModelFromURDF,
    link_of,
    pose,
)

_ARM = (
    *("shoulder_pan", "shoulder_lift", "upper_arm_roll"),
    *("elbow_flex", "forearm_roll", "wrist_flex", "wrist_roll"),
)
# degrees of the right arm; the left one's pan and rolls have the other sign
_RESET = (-60.0, 74.0, -70.0, -120.0, -20.0, -30.0, 180.0)
_MANIP = (-75.0, 50.0, -110.0, -110.0, 20.0, -10.0, -10.0)
_MIRRORED = ("shoulder_pan", "upper_arm_roll", "forearm_roll")
# degrees within which the arms' own controllers stay, of the right arm
_TIGHT = {
    "shoulder_pan": (-122.349, 32.3493),
    "shoulder_lift": (-20.2598, 74.2725),
    "upper_arm_roll": (-214.859, 37.2423),
    "elbow_flex": (-121.542, -8.59437),
    "wrist_flex": (-114.592, -5.72958),
}
_TIGHT_HEAD = {"head_pan": (-163.694, 163.694), "head_tilt": (-21.2682, 74.2702)}
_TIGHT_LIFT = (0.0115, 0.325)  # m
_PADS = 0.03
"""The distance (m) between the origins of the fingers' tips where the pads meet."""


def _links(side: str) -> tuple[str, ...]:
    return tuple(f"{side}_{name}_link" for name in _ARM)


class PR2(RobotModelFromURDF):
    """A PR2 of Willow Garage: two arms of seven joints, a head, a torso that lifts.

    The ends of the arms are ``r_gripper_tool_frame`` and ``l_gripper_tool_frame``.
    ``use_tight_joint_limit`` takes the limits that the robot's own controllers keep to.
    """

    _file = staticmethod(pr2_urdfpath)
    _ends = {  # noqa: RUF012
        "rarm_end_coords": ("r_gripper_tool_frame",),
        "larm_end_coords": ("l_gripper_tool_frame",),
        "head_end_coords": ("head_tilt_link", (0.08, 0, 0.13), ((0, 0, 1), (0, 1, 0), (-1, 0, 0))),
        "torso_end_coords": ("torso_lift_link",),
    }
    _limbs = {  # noqa: RUF012
        "rarm": _links("r"),
        "larm": _links("l"),
        "rarm_with_torso": ("torso_lift_link", *_links("r")),
        "larm_with_torso": ("torso_lift_link", *_links("l")),
        "head": ("head_pan_link", "head_tilt_link"),
    }

    def __init__(
        self, use_tight_joint_limit: bool = True, urdf: str | None = None, urdf_file: Any = None
    ) -> None:
        super().__init__(urdf=urdf, urdf_file=urdf_file)
        self.torso = [link_of(self, "torso_lift_link")]
        if use_tight_joint_limit:
            self._tighten()

    def _tighten(self) -> None:
        joints = {joint.name: joint for joint in self.joint_list}
        bounds = {f"{name}_joint": np.radians(pair) for name, pair in _TIGHT_HEAD.items()}
        for name, (low, high) in _TIGHT.items():
            bounds[f"r_{name}_joint"] = np.radians((low, high))
            mirrored = (-high, -low) if name in _MIRRORED else (low, high)
            bounds[f"l_{name}_joint"] = np.radians(mirrored)
        for name, (low, high) in {**bounds, "torso_lift_joint": _TIGHT_LIFT}.items():
            joints[name].min_angle, joints[name].max_angle = float(low), float(high)

    def reset_pose(self) -> Any:
        """Arms folded before the body; gives the angle vector."""
        lift = {"torso_lift_joint": 0.05, "head_pan_joint": 0.0, "head_tilt_joint": 0.0}
        return pose(self, {**_both(_RESET), **lift})

    def reset_manip_pose(self) -> Any:
        """Arms ready to grasp, head down; gives the angle vector."""
        lift = {"torso_lift_joint": 0.3, "head_pan_joint": 0.0, "head_tilt_joint": np.radians(50)}
        return pose(self, {**_both(_MANIP), **lift})

    def gripper_distance(self, dist: float | None = None, arm: str = "arms") -> Any:
        """The distance of the pads of a gripper, m; set first where ``dist`` is given.

        ``arm``: "arms" gives both, right first; "left_arm", "larm", "right_arm", "rarm".

        Raises: InputError for another arm.
        """
        sides = {"arms": "rl", "left_arm": "l", "larm": "l", "right_arm": "r", "rarm": "r"}
        if arm not in sides:
            raise InputError(f"arm is one of {', '.join(sides)}, not {arm!r}")
        if dist is not None:
            for side in sides[arm]:
                self._open_gripper(side, float(dist))
        found = [self._between_pads(side) for side in sides[arm]]
        return found if arm == "arms" else found[0]

    def _between_pads(self, side: str) -> float:
        tips = [link_of(self, f"{side}_gripper_{k}_finger_tip_link").worldpos() for k in "lr"]
        return float(np.linalg.norm(tips[0] - tips[1])) - _PADS

    def _open_gripper(self, side: str, dist: float) -> None:
        finger = link_of(self, f"{side}_gripper_l_finger_link")
        tip = link_of(self, f"{side}_gripper_l_finger_tip_link")
        to_finger = finger.worldcoords().transformation(tip.worldcoords()).worldpos()
        hand = finger.parent.worldcoords().transformation(finger.worldcoords()).worldpos()
        x, y = to_finger[:2]  # the tip swings about the finger's joint, off the middle by hand's y
        sine = np.clip((0.5 * (dist + _PADS) - hand[1]) / np.hypot(x, y), -1.0, 1.0)
        angle = float(np.arcsin(sine) - np.arctan2(y, x))
        for name in ("l_finger", "r_finger", "l_finger_tip", "r_finger_tip"):
            joint = self.joints[f"{side}_gripper_{name}_joint"]
            if abs(joint.joint_angle() - angle) > 1e-9:  # the others follow the first
                joint.joint_angle(float(np.clip(angle, joint.min_angle, joint.max_angle)))

    @property
    def right_arm_with_torso(self) -> RobotModel:
        """As ``rarm_with_torso``."""
        return self.rarm_with_torso

    @property
    def left_arm_with_torso(self) -> RobotModel:
        """As ``larm_with_torso``."""
        return self.larm_with_torso


def _both(degrees: tuple[float, ...]) -> dict[str, float]:
    """Angles of both arms by joint, of the right arm's in degrees."""
    found: dict[str, float] = {}
    for name, angle in zip(_ARM, np.radians(degrees).tolist(), strict=True):
        found[f"r_{name}_joint"] = angle
        found[f"l_{name}_joint"] = -angle if name in _MIRRORED else angle
    return found
