"""The names of urdfpy over Linkwork: ``from linkwork.faces.urdfpy import URDF``.

Programs written for urdfpy run unchanged after ``linkwork.faces.install("urdfpy")``, or by
``linkwork run --as urdfpy program.py``. What is different stands in ``parity.toml``.
"""

from __future__ import annotations

from linkwork.faces.urdfpy import urdf, utils, version
from linkwork.faces.urdfpy.urdf import (
    URDF,
    Actuator,
    Box,
    Capsule,
    Collision,
    Cylinder,
    Geometry,
    Inertial,
    Joint,
    JointCalibration,
    JointDynamics,
    JointLimit,
    JointMimic,
    Link,
    Material,
    Mesh,
    SafetyController,
    Sphere,
    Texture,
    Transmission,
    TransmissionJoint,
    URDFType,
    Visual,
    matrix_to_rpy,
    matrix_to_xyz_rpy,
    rpy_to_matrix,
    xyz_rpy_to_matrix,
)
from linkwork.faces.urdfpy.version import __version__

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
    "urdf",
    "utils",
    "version",
    "xyz_rpy_to_matrix",
]
