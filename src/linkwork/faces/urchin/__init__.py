"""The names of urchin, the successor of urdfpy, over Linkwork: urdfpy's face and what differs.

Programs written for urchin run unchanged after ``linkwork.faces.install("urchin")``, or by
``linkwork run --as urchin program.py``. What is different stands in ``parity.toml``. The modules of
the original are all this one.
"""

# ruff: noqa: F403  the names are those of the modules below
from __future__ import annotations

from linkwork.faces import urdfpy
from linkwork.faces.table import stand_for
from linkwork.faces.urdfpy import *
from linkwork.faces.urdfpy.base import URDFTypeWithMesh

from linkwork.faces.urchin.robot import *  # isort: skip  of its own, over those of urdfpy

__version__ = "0.0.30"
"""The version of the original whose names are all here."""

__all__ = ["URDFTypeWithMesh"]
__all__ += urdfpy.__all__

stand_for(__name__, "base", "joint", "link", "material", "transmission", "urdf", "utils", "version")
