"""The names of exudyn.robotics over Linkwork: ``from linkwork.faces.exudyn_robotics import Robot``.

Programs written for exudyn.robotics run unchanged after
``linkwork.faces.install("exudyn.robotics")``, or by ``linkwork run --as exudyn.robotics
program.py``. What is different stands in ``parity.toml``.
"""

from __future__ import annotations

import copy

import numpy as np

from linkwork.faces.exudyn_robotics.inverse_kinematics import InverseKinematicsNumerical
from linkwork.faces.exudyn_robotics.links import (
    RobotBase,
    RobotLink,
    RobotTool,
    VRobotBase,
    VRobotLink,
    VRobotTool,
)
from linkwork.faces.exudyn_robotics.robot import Robot
from linkwork.faces.exudyn_robotics.transformations import (
    ModDHKK2HT,
    StdDH2HT,
    projectAngleToPMPi,
)
from linkwork.faces.table import stand_for

stand_for(__name__, "roboticsCore")

__all__ = [
    "InverseKinematicsNumerical",
    "ModDHKK2HT",
    "Robot",
    "RobotBase",
    "RobotLink",
    "RobotTool",
    "StdDH2HT",
    "VRobotBase",
    "VRobotLink",
    "VRobotTool",
    "copy",
    "np",
    "projectAngleToPMPi",
]
