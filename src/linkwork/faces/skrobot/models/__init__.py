"""Robots by name: ``skrobot.models``."""

from __future__ import annotations

from linkwork.faces.refusals import refusing
from linkwork.faces.skrobot.models.fetch import Fetch
from linkwork.faces.skrobot.models.g1 import G1
from linkwork.faces.skrobot.models.kuka import Kuka
from linkwork.faces.skrobot.models.others import (
    R8_6,
    Aero,
    DifferentialWristSample,
    Griphis,
    Hydrus,
    JaxonJVRC,
    Jedy,
    Nextage,
    RoverArmedTycoon,
)
from linkwork.faces.skrobot.models.panda import Panda
from linkwork.faces.skrobot.models.pr2 import PR2
from linkwork.faces.skrobot.models.urdf import RobotModelFromURDF

__all__ = [
    "G1",
    "PR2",
    "R8_6",
    "Aero",
    "DifferentialWristSample",
    "Fetch",
    "Griphis",
    "Hydrus",
    "JaxonJVRC",
    "Jedy",
    "Kuka",
    "Nextage",
    "Panda",
    "RobotModelFromURDF",
    "RoverArmedTycoon",
]

__getattr__ = refusing(__name__)
