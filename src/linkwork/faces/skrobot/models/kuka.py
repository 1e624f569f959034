"""Kuka: ``skrobot.models.kuka``."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from linkwork.faces.skrobot.data import kuka_urdfpath
from linkwork.faces.skrobot.model import RobotModel as RobotModel  # noqa: PLC0414  a name there
from linkwork.faces.skrobot.models.urdf import RobotModelFromURDF, pose

_PREFIX = "lbr_iiwa_with_wsg50__"
_LINKS = tuple(f"{_PREFIX}lbr_iiwa_link_{k}" for k in range(1, 8))


class Kuka(RobotModelFromURDF):
    """An LBR iiwa 14 with a gripper.

    The end of the arm lies in ``lbr_iiwa_link_7`` at (0, 0.03, 0.25), its x along the link's z, its
    y along the link's x.
    """

    _file = staticmethod(kuka_urdfpath)
    _ends = {  # noqa: RUF012
        "rarm_end_coords": (_LINKS[-1], (0, 0.03, 0.25), ((0, 1, 0), (0, 0, 1), (1, 0, 0)))
    }
    _limbs = {"rarm": _LINKS}  # noqa: RUF012

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.end_coords = [self.rarm_end_coords]

    def reset_manip_pose(self) -> Any:
        """Elbow bent, hand down; gives the angle vector."""
        bent = np.radians([0, 10, 0, -90, 0, 90, 0])
        return pose(self, {f"{_PREFIX}J{k}": angle for k, angle in enumerate(bent.tolist())})

    def open_hand(self, default_angle: float = np.deg2rad(10), av: ArrayLike | None = None) -> Any:
        """Turn the fingers apart by ``default_angle``, rad; gives the angle vector."""
        return self._move_hand(float(default_angle), av)

    def close_hand(self, av: ArrayLike | None = None) -> Any:
        """Turn the fingers together; gives the angle vector."""
        return self._move_hand(0.0, av)

    def _move_hand(self, angle: float, av: ArrayLike | None) -> Any:
        if av is not None:
            self.angle_vector(av)
        fingers = {"left_finger": -angle, "right_finger": angle}
        turned = {f"{_PREFIX}base_{name}_joint": value for name, value in fingers.items()}
        tips = {f"{_PREFIX}{side}_base_tip_joint": 0.0 for side in ("left", "right")}
        return pose(self, turned | tips)
