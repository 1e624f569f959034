"""Planning: ``skrobot.planner``, whose names are refused by name.

A program that imports them alongside other things runs; a call says what there is instead.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

from linkwork.errors import UnsupportedFeatureError

__all__ = [
    "SweptSphereSdfCollisionChecker",
    "box_to_spheres",
    "solve_ik",
    "sqp_plan_trajectory",
]


def _refused(name: str, instead: str) -> Callable[..., NoReturn]:
    """A function in the place of one that the face does not have: a call is refused by name."""

    def refuse(*_: Any, **__: Any) -> NoReturn:
        raise UnsupportedFeatureError(
            f"skrobot.planner.{name} is not part of Linkwork's face: {instead}"
        )

    refuse.__name__ = refuse.__qualname__ = name
    refuse.__doc__ = f"Refused, with an UnsupportedFeatureError: {instead}."
    return refuse


SweptSphereSdfCollisionChecker = _refused(
    "SweptSphereSdfCollisionChecker",
    "linkwork.load(path).collision() checks a robot against a scene, and whole motions",
)
sqp_plan_trajectory = _refused(
    "sqp_plan_trajectory", "the robot's inverse_kinematics plans poses; there are no planned ways"
)
solve_ik = _refused("solve_ik", "the robot's inverse_kinematics and batch_inverse_kinematics do it")
box_to_spheres = _refused("box_to_spheres", "linkwork.Scene takes boxes as they are")
