"""Helpers: ``skrobot.utils``."""

from __future__ import annotations

from linkwork.faces.skrobot.utils.listify import listify
from linkwork.faces.skrobot.utils.urdf import URDF

__all__ = ["URDF", "listify"]
