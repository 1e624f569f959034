"""Robots whose descriptions do not come with Linkwork: a file of your own makes them whole.

``Nextage(urdf_file="nextage.urdf")`` has its limbs, ends and poses; without a file they are an
`UnsupportedFeatureError`, for nothing is downloaded.
"""

# limbs are made once, when they are first asked for
# pyright: reportIncompatibleMethodOverride=false
from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from linkwork.faces.skrobot import data
from linkwork.faces.skrobot.model import RobotModel
from linkwork.faces.skrobot.models.urdf import (
    RobotModelFromURDF,
    end_coords,
    limb,
    link_of,
    pose,
)

_X_DOWN = ((0, 0, 1), (0, 1, 0), (-1, 0, 0))
"""End frames whose x is the link's -z and whose z is its x."""
_X_UP = ((0, 0, -1), (0, 1, 0), (1, 0, 0))
"""End frames whose x is the link's z and whose z is its -x."""


class Aero(RobotModelFromURDF):
    """A SEED-Noid / Aero: the ends of its arms are ``r_eef_grasp_link``, ``l_eef_grasp_link``."""

    def __init__(self, use_hand: bool = True, **kwargs: Any) -> None:
        self._use_hand = use_hand
        super().__init__(**kwargs)
        self.rarm_end_coords = end_coords(self, "r_eef_grasp_link", "rarm_end_coords")
        self.larm_end_coords = end_coords(self, "l_eef_grasp_link", "larm_end_coords")

    @property
    def default_urdf_path(self) -> str:
        """Refused: the file does not come with Linkwork."""
        return data.aero_urdfpath(self._use_hand)


class DifferentialWristSample(RobotModelFromURDF):
    """An arm with a differential wrist; its end is ``end_effector_link``.

    The tables of the wrist's limits are set with `create_joint_limit_table`.
    """

    def __init__(self, use_joint_limit_table: bool = True, **kwargs: Any) -> None:
        self._use_joint_limit_table = use_joint_limit_table
        super().__init__(**kwargs)
        self.end_coords = end_coords(self, "end_effector_link", "end_coords")

    @property
    def default_urdf_path(self) -> str:
        """Refused: the file does not come with Linkwork."""
        return data.differential_wrist_sample_urdfpath()


class Griphis(RobotModelFromURDF):
    """A Griphis, a climbing robot with two grippers."""

    @property
    def default_urdf_path(self) -> str:
        """Refused: the file does not come with Linkwork."""
        return data.griphis_urdfpath()


class Hydrus(RobotModelFromURDF):
    """A Hydrus, an aerial robot of four links."""

    @property
    def default_urdf_path(self) -> str:
        """Refused: the file does not come with Linkwork."""
        return data.hydrus_urdfpath()


class JaxonJVRC(RobotModelFromURDF):
    """A Jaxon, a humanoid: links ``RARM_LINK0`` to ``RLEG_LINK5``."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for side in "rl":
            arm, leg = f"{side.upper()}ARM_LINK7", f"{side.upper()}LEG_LINK5"
            hand = end_coords(self, arm, f"{side}arm_end_coords", (0, 0, -0.217), _X_DOWN)
            foot = end_coords(self, leg, f"{side}leg_end_coords", (0, 0, -0.1))
            setattr(self, f"{side}arm_end_coords", hand)
            setattr(self, f"{side}leg_end_coords", foot)
        self.head_end_coords = end_coords(
            self, "HEAD_LINK1", "head_end_coords", (0.1, 0, 0.1), _X_DOWN
        )

    @property
    def default_urdf_path(self) -> str:
        """Refused: the file does not come with Linkwork."""
        return data.jaxon_urdfpath()

    @cached_property
    def rarm(self) -> RobotModel:
        """The right arm: eight joints."""
        return limb(self, [f"RARM_LINK{k}" for k in range(8)], self.rarm_end_coords)

    @cached_property
    def larm(self) -> RobotModel:
        """The left arm: eight joints."""
        return limb(self, [f"LARM_LINK{k}" for k in range(8)], self.larm_end_coords)

    @cached_property
    def rleg(self) -> RobotModel:
        """The right leg: six joints."""
        return limb(self, [f"RLEG_LINK{k}" for k in range(6)], self.rleg_end_coords)

    @cached_property
    def lleg(self) -> RobotModel:
        """The left leg: six joints."""
        return limb(self, [f"LLEG_LINK{k}" for k in range(6)], self.lleg_end_coords)

    @cached_property
    def head(self) -> RobotModel:
        """The head: two joints."""
        return limb(self, ("HEAD_LINK0", "HEAD_LINK1"), self.head_end_coords)


class Jedy(RobotModelFromURDF):
    """A Jedy, a small mobile robot with two arms."""

    @property
    def default_urdf_path(self) -> str:
        """Refused: the file does not come with Linkwork."""
        return data.jedy_urdfpath()


class Nextage(RobotModelFromURDF):
    """A Nextage Open of Kawada: links ``RARM_JOINT0_Link`` to ``HEAD_JOINT1_Link``."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        where = (-0.185, 0.0, -0.01)
        self.rarm_end_coords = end_coords(self, "RARM_JOINT5_Link", "rarm_end_coords", where, _X_UP)
        self.larm_end_coords = end_coords(self, "LARM_JOINT5_Link", "larm_end_coords", where, _X_UP)
        self.head_end_coords = end_coords(
            self, "HEAD_JOINT1_Link", "head_end_coords", (0.06, 0, 0.025), _X_DOWN
        )

    @property
    def default_urdf_path(self) -> str:
        """Refused: the file does not come with Linkwork."""
        return data.nextage_urdfpath()

    @cached_property
    def rarm(self) -> RobotModel:
        """The right arm: six joints."""
        return limb(self, [f"RARM_JOINT{k}_Link" for k in range(6)], self.rarm_end_coords)

    @cached_property
    def larm(self) -> RobotModel:
        """The left arm: six joints."""
        return limb(self, [f"LARM_JOINT{k}_Link" for k in range(6)], self.larm_end_coords)

    @cached_property
    def head(self) -> RobotModel:
        """The head: two joints."""
        return limb(self, ("HEAD_JOINT0_Link", "HEAD_JOINT1_Link"), self.head_end_coords)

    @cached_property
    def torso(self) -> RobotModel:
        """The chest: one joint."""
        return limb(self, ("CHEST_JOINT0_Link",))


class R8_6(RobotModelFromURDF):
    """An R8.6, a mobile robot with two arms: links ``r_zaxis_link`` to ``r_hand_y_link``."""

    def __init__(self, urdf_path: str | None = None, *args: Any, **kwargs: Any) -> None:
        if urdf_path is not None:
            kwargs["urdf_file"] = urdf_path
        super().__init__(*args, **kwargs)
        self.rarm_end_coords = end_coords(self, "r_hand_y_link", "rarm_end_coords")
        self.larm_end_coords = end_coords(self, "l_hand_y_link", "larm_end_coords")

    @property
    def default_urdf_path(self) -> str:
        """Refused: the file does not come with Linkwork."""
        return data.r8_6_urdfpath()

    def reset_pose(self) -> Any:
        """Elbows bent; gives the angle vector."""
        bent = {"shoulder_y": 0.0, "elbow_p1": 0.785, "elbow_p2": 0.785, "zaxis": 0.7}
        both = {f"{side}_{name}_joint": q for side in "lr" for name, q in bent.items()}
        return pose(self, {**both, "elv_zaxis_joint": 0.2})

    @cached_property
    def rarm(self) -> RobotModel:
        """The right arm."""
        return limb(self, self._arm("r"), self.rarm_end_coords)

    @cached_property
    def larm(self) -> RobotModel:
        """The left arm."""
        return limb(self, self._arm("l"), self.larm_end_coords)

    def _arm(self, side: str) -> list[str]:
        names = ("zaxis", "shoulder_y", "elbow_p1", "elbow_connector", "elbow_p2", "elbow_tip")
        return [f"{side}_{name}_link" for name in (*names, "upper_arm_y", "wrist", "hand_y")]


class RoverArmedTycoon(RobotModelFromURDF):
    """A Tycoon, a rover with an arm; its end lies in ``tycoon_7_roll_link``."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        turned = np.diag([-1.0, -1.0, 1.0])
        self._arm_end_coords = end_coords(
            self, "tycoon_7_roll_link", "arm_end_coords", (-0.05, 0.0, 0.0), turned
        )

    @property
    def default_urdf_path(self) -> str:
        """Refused: the file does not come with Linkwork."""
        return data.rover_armed_tycoon_urdfpath()

    @property
    def arm_end_coords(self) -> Any:
        """The end of the arm."""
        return self._arm_end_coords

    @property
    def arm(self) -> RobotModel:
        """The arm: all links above its end that move."""
        found, link = [], link_of(self, "tycoon_7_roll_link")
        while link is not None and link.joint is not None:
            found.append(link.name)
            link = link.parent_link
        return limb(self, found[::-1], self._arm_end_coords)
