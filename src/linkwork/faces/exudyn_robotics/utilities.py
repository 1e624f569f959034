"""Names of ``exudyn.robotics.utilities``: refused by name, with what takes their place."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

from linkwork.errors import UnsupportedFeatureError


def refused(name: str, instead: str) -> Callable[..., NoReturn]:
    """A function in the place of one that the face does not have: a call is refused by name."""

    def refuse(*_: Any, **__: Any) -> NoReturn:
        raise UnsupportedFeatureError(
            f"exudyn.robotics.{name} is not part of Linkwork's face: {instead}"
        )

    refuse.__name__ = refuse.__qualname__ = name.rpartition(".")[2]
    refuse.__doc__ = f"Refused, with an UnsupportedFeatureError: {instead}."
    return refuse


_URDF = "linkwork.load reads URDF, and its robots have kinematics and dynamics of their own"

AddLidar = refused("utilities.AddLidar", "it builds sensors in exudyn, not robots")
GetRoboticsToolboxInternalModel = refused("utilities.GetRoboticsToolboxInternalModel", _URDF)
GetURDFrobotData = refused("utilities.GetURDFrobotData", _URDF)
LoadURDFrobot = refused("utilities.LoadURDFrobot", _URDF)
