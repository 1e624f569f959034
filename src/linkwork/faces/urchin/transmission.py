"""Transmissions: those of urdfpy."""

from __future__ import annotations

from linkwork.faces.urchin.base import URDFType
from linkwork.faces.urdfpy import Actuator, Transmission, TransmissionJoint

__all__ = ["Actuator", "Transmission", "TransmissionJoint", "URDFType"]
