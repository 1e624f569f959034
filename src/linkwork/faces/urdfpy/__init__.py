"""The names of urdfpy over Linkwork: ``from linkwork.faces.urdfpy import URDF``.

Programs written for urdfpy run unchanged after ``linkwork.faces.install("urdfpy")``, or by
``linkwork run --as urdfpy program.py``. What is different stands in ``parity.toml``.
"""

from __future__ import annotations

from linkwork.faces.urdfpy import fragments as _fragments
from linkwork.faces.urdfpy.base import URDFType
from linkwork.faces.urdfpy.joint import Joint
from linkwork.faces.urdfpy.joint_parts import (
    JointCalibration,
    JointDynamics,
    JointLimit,
    JointMimic,
    SafetyController,
)
from linkwork.faces.urdfpy.link import Collision, Inertial, Link, Visual
from linkwork.faces.urdfpy.materials import Material, Texture
from linkwork.faces.urdfpy.rotations import (
    matrix_to_rpy,
    matrix_to_xyz_rpy,
    rpy_to_matrix,
    xyz_rpy_to_matrix,
)
from linkwork.faces.urdfpy.shapes import Box, Capsule, Cylinder, Geometry, Mesh, Sphere
from linkwork.faces.urdfpy.transmission import Actuator, Transmission, TransmissionJoint
from linkwork.faces.urdfpy.urdf import URDF

del _fragments  # imported for what it does: the classes then read and write single elements

__version__ = "0.0.22"
"""The version of the original whose names are all here."""

__all__ = [
    "URDF",
    "Actuator",
    "Box",
    "Capsule",
    "Collision",
    "Cylinder",
    "Geometry",
    "Inertial",
    "Joint",
    "JointCalibration",
    "JointDynamics",
    "JointLimit",
    "JointMimic",
    "Link",
    "Material",
    "Mesh",
    "SafetyController",
    "Sphere",
    "Texture",
    "Transmission",
    "TransmissionJoint",
    "URDFType",
    "Visual",
    "__version__",
    "matrix_to_rpy",
    "matrix_to_xyz_rpy",
    "rpy_to_matrix",
    "xyz_rpy_to_matrix",
]
