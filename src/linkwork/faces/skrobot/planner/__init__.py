"""Paths past obstacles by the core's planner: ``skrobot.planner``."""

from typing import Any, NoReturn

from linkwork.errors import UnsupportedFeatureError
from linkwork.faces.refusals import refusing
from linkwork.faces.skrobot.planner import sqp_based, swept_sphere, utils
from linkwork.faces.skrobot.planner.sqp_based import sqp_plan_trajectory
from linkwork.faces.skrobot.planner.swept_sphere import (
    SweptSphereSdfCollisionChecker,
    box_to_spheres,
)

__all__ = [
    "SweptSphereSdfCollisionChecker",
    "box_to_spheres",
    "solve_ik",
    "sqp_based",
    "sqp_plan_trajectory",
    "swept_sphere",
    "utils",
]


def solve_ik(*_: Any, **__: Any) -> NoReturn:
    """Refused: the robot's inverse kinematics takes targets, and the core's obstacles.

    Raises: UnsupportedFeatureError.
    """
    raise UnsupportedFeatureError(
        "skrobot.planner.solve_ik is not part of Linkwork's face: the robot's inverse_kinematics "
        "does it, and past obstacles linkwork.ik.Clearance with RobotModel.linkwork()"
    )


__getattr__ = refusing(__name__)
