"""Joints and their parts: those of urdfpy."""

from __future__ import annotations

from linkwork.faces.urchin.base import URDFType
from linkwork.faces.urchin.utils import configure_origin, parse_origin, unparse_origin
from linkwork.faces.urdfpy import (
    Joint,
    JointCalibration,
    JointDynamics,
    JointLimit,
    JointMimic,
    SafetyController,
)

__all__ = [
    "Joint",
    "JointCalibration",
    "JointDynamics",
    "JointLimit",
    "JointMimic",
    "SafetyController",
    "URDFType",
    "configure_origin",
    "parse_origin",
    "unparse_origin",
]
