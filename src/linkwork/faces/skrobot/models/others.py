"""Robots whose descriptions do not come with Linkwork: a file of your own makes them whole.

``Nextage(urdf_file="nextage.urdf")`` has its limbs, ends and poses; without a file they are an
`UnsupportedFeatureError`, for nothing is downloaded. A class is a table of its ends and limbs.
"""

from __future__ import annotations

from typing import Any

from linkwork.faces.skrobot import data
from linkwork.faces.skrobot.model import RobotModel
from linkwork.faces.skrobot.models.urdf import (
    RobotModelFromURDF,
    limb,
    link_of,
    pose,
)
from linkwork.faces.table import stand_for

_X_DOWN = ((0, 0, 1), (0, 1, 0), (-1, 0, 0))
"""End frames whose x is the link's -z and whose z is its x."""
_X_UP = ((0, 0, -1), (0, 1, 0), (1, 0, 0))
"""End frames whose x is the link's z and whose z is its -x."""


class _OfAFile(RobotModelFromURDF):
    """A robot of a file of one's own."""

    @property
    def default_urdf_path(self) -> str:
        """Refused: the file does not come with Linkwork."""
        data.refuse(f"skrobot.models.{type(self).__name__}", type(self).__name__)


def _numbered(text: str, count: int) -> list[str]:
    return [text.format(k) for k in range(count)]


class Aero(_OfAFile):
    """A SEED-Noid / Aero: the ends of its arms are ``r_eef_grasp_link``, ``l_eef_grasp_link``."""

    _ends = {"rarm_end_coords": ("r_eef_grasp_link",), "larm_end_coords": ("l_eef_grasp_link",)}  # noqa: RUF012

    def __init__(self, use_hand: bool = True, **kwargs: Any) -> None:
        self._use_hand = use_hand
        super().__init__(**kwargs)


class DifferentialWristSample(_OfAFile):
    """An arm with a differential wrist; its end is ``end_effector_link``.

    The tables of the wrist's limits are set with `create_joint_limit_table`.
    """

    _ends = {"end_coords": ("end_effector_link",)}  # noqa: RUF012

    def __init__(self, use_joint_limit_table: bool = True, **kwargs: Any) -> None:
        self._use_joint_limit_table = use_joint_limit_table
        super().__init__(**kwargs)


class Griphis(_OfAFile):
    """A Griphis, a climbing robot with two grippers."""


class Hydrus(_OfAFile):
    """A Hydrus, an aerial robot of four links."""


class JaxonJVRC(_OfAFile):
    """A Jaxon, a humanoid: links ``RARM_LINK0`` to ``RLEG_LINK5``."""

    _ends = {  # noqa: RUF012
        "rarm_end_coords": ("RARM_LINK7", (0, 0, -0.217), _X_DOWN),
        "rleg_end_coords": ("RLEG_LINK5", (0, 0, -0.1)),
        "larm_end_coords": ("LARM_LINK7", (0, 0, -0.217), _X_DOWN),
        "lleg_end_coords": ("LLEG_LINK5", (0, 0, -0.1)),
        "head_end_coords": ("HEAD_LINK1", (0.1, 0, 0.1), _X_DOWN),
    }
    _limbs = {  # noqa: RUF012
        "rarm": _numbered("RARM_LINK{}", 8),
        "larm": _numbered("LARM_LINK{}", 8),
        "rleg": _numbered("RLEG_LINK{}", 6),
        "lleg": _numbered("LLEG_LINK{}", 6),
        "head": _numbered("HEAD_LINK{}", 2),
    }


class Jedy(_OfAFile):
    """A Jedy, a small mobile robot with two arms."""


class Nextage(_OfAFile):
    """A Nextage Open of Kawada: links ``RARM_JOINT0_Link`` to ``HEAD_JOINT1_Link``."""

    _ends = {  # noqa: RUF012
        "rarm_end_coords": ("RARM_JOINT5_Link", (-0.185, 0.0, -0.01), _X_UP),
        "larm_end_coords": ("LARM_JOINT5_Link", (-0.185, 0.0, -0.01), _X_UP),
        "head_end_coords": ("HEAD_JOINT1_Link", (0.06, 0, 0.025), _X_DOWN),
    }
    _limbs = {  # noqa: RUF012
        "rarm": _numbered("RARM_JOINT{}_Link", 6),
        "larm": _numbered("LARM_JOINT{}_Link", 6),
        "head": _numbered("HEAD_JOINT{}_Link", 2),
        "torso": ("CHEST_JOINT0_Link",),
    }


_R8_6_ARM = (
    *("zaxis", "shoulder_y", "elbow_p1", "elbow_connector", "elbow_p2", "elbow_tip"),
    *("upper_arm_y", "wrist", "hand_y"),
)


class R8_6(_OfAFile):
    """An R8.6, a mobile robot with two arms: links ``r_zaxis_link`` to ``r_hand_y_link``."""

    _ends = {"rarm_end_coords": ("r_hand_y_link",), "larm_end_coords": ("l_hand_y_link",)}  # noqa: RUF012
    _limbs = {f"{side}arm": [f"{side}_{n}_link" for n in _R8_6_ARM] for side in "rl"}  # noqa: RUF012

    def __init__(self, urdf_path: str | None = None, *args: Any, **kwargs: Any) -> None:
        if urdf_path is not None:
            kwargs["urdf_file"] = urdf_path
        super().__init__(*args, **kwargs)

    def reset_pose(self) -> Any:
        """Elbows bent; gives the angle vector."""
        bent = {"shoulder_y": 0.0, "elbow_p1": 0.785, "elbow_p2": 0.785, "zaxis": 0.7}
        both = {f"{side}_{name}_joint": q for side in "lr" for name, q in bent.items()}
        return pose(self, {**both, "elv_zaxis_joint": 0.2})


class RoverArmedTycoon(_OfAFile):
    """A Tycoon, a rover with an arm; its end lies in ``tycoon_7_roll_link``."""

    _ends = {  # noqa: RUF012
        "_arm_end_coords": (
            "tycoon_7_roll_link", (-0.05, 0.0, 0.0), ((-1, 0, 0), (0, -1, 0), (0, 0, 1))
        )
    }  # fmt: skip

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


stand_for(
    __name__,
    *("aero", "differential_wrist_sample", "griphis", "hydrus", "jaxon_jvrc", "jedy"),
    *("nextage", "r8_6", "tycoon"),
    under=__name__.rpartition(".")[0],
)
