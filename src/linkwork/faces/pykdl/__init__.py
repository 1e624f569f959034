"""The names of PyKDL over Linkwork: ``from linkwork.faces.pykdl import Frame, Vector``.

Programs written for PyKDL run unchanged after ``linkwork.faces.install("PyKDL")``, or by
``linkwork run --as PyKDL program.py``. What is different stands in ``parity.toml``.
"""

from __future__ import annotations

from linkwork.faces.pykdl.frame import Frame
from linkwork.faces.pykdl.frame_vel import FrameVel
from linkwork.faces.pykdl.functions import Equal, SetToZero, addDelta, diff, dot
from linkwork.faces.pykdl.inertias import RigidBodyInertia, RotationalInertia
from linkwork.faces.pykdl.rotation import Rotation, ZeroAxisWarning
from linkwork.faces.pykdl.rotation_vel import RotationVel
from linkwork.faces.pykdl.twist import Twist
from linkwork.faces.pykdl.twist_vel import TwistVel
from linkwork.faces.pykdl.vector import Vector
from linkwork.faces.pykdl.vector_vel import VectorVel, doubleVel
from linkwork.faces.pykdl.wrench import Wrench

__version__ = "1.5.1"
"""The version of the original whose names are here."""

__all__ = [
    "Equal",
    "Frame",
    "FrameVel",
    "RigidBodyInertia",
    "Rotation",
    "RotationVel",
    "RotationalInertia",
    "SetToZero",
    "Twist",
    "TwistVel",
    "Vector",
    "VectorVel",
    "Wrench",
    "ZeroAxisWarning",
    "__version__",
    "addDelta",
    "diff",
    "dot",
    "doubleVel",
]
