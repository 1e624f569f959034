"""Panda: ``skrobot.models.panda``."""

from __future__ import annotations

from typing import Any

import numpy as np

from linkwork.faces.skrobot.data import panda_urdfpath
from linkwork.faces.skrobot.model import RobotModel as RobotModel  # noqa: PLC0414  a name there
from linkwork.faces.skrobot.models.urdf import RobotModelFromURDF, pose

_LINKS = tuple(f"panda_link{k}" for k in range(1, 8))
_REST = (0.03942200, -0.95581198, -0.01480100, -2.13028193, -0.01310400, 1.17455196, 0.81122297)


class Panda(RobotModelFromURDF):
    """A Franka Emika Panda with its hand.

    The end of the arm lies in ``panda_hand`` at (0, 0, 0.1034), its x along the hand's z.
    """

    _file = staticmethod(panda_urdfpath)
    _ends = {  # noqa: RUF012
        "rarm_end_coords": ("panda_hand", (0, 0, 0.1034), ((0, 0, -1), (0, 1, 0), (1, 0, 0)))
    }
    _limbs = {"rarm": _LINKS}  # noqa: RUF012

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.reset_pose()

    def reset_pose(self) -> Any:
        """The pose in which it begins; gives the angle vector."""
        return self._pose(_REST)

    def reset_manip_pose(self) -> Any:
        """As ``reset_pose``."""
        return self.reset_pose()

    def ready_pose(self) -> Any:
        """Franka's neutral pose; gives the angle vector."""
        quarter = np.pi / 4
        return self._pose((0.0, -quarter, 0.0, -3 * quarter, 0.0, 2 * quarter, quarter))

    def _pose(self, q: tuple[float, ...]) -> Any:
        return pose(self, {f"panda_joint{k + 1}": value for k, value in enumerate(q)})
