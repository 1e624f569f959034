"""The names of urchin, the successor of urdfpy, over Linkwork: urdfpy's face and what differs.

Programs written for urchin run unchanged after ``linkwork.faces.install("urchin")``, or by
``linkwork run --as urchin program.py``. What is different stands in ``parity.toml``.
"""

from __future__ import annotations

from linkwork.faces.urchin import base, joint, link, material, transmission, urdf, utils, version
from linkwork.faces.urchin.base import URDFType, URDFTypeWithMesh
from linkwork.faces.urchin.joint import (
    Joint,
    JointCalibration,
    JointDynamics,
    JointLimit,
    JointMimic,
    SafetyController,
)
from linkwork.faces.urchin.link import (
    Box,
    Capsule,
    Collision,
    Cylinder,
    Geometry,
    Inertial,
    Link,
    Mesh,
    Sphere,
    Visual,
)
from linkwork.faces.urchin.material import Material, Texture
from linkwork.faces.urchin.transmission import Actuator, Transmission, TransmissionJoint
from linkwork.faces.urchin.urdf import URDF
from linkwork.faces.urchin.utils import (
    matrix_to_rpy,
    matrix_to_xyz_rpy,
    rpy_to_matrix,
    xyz_rpy_to_matrix,
)
from linkwork.faces.urchin.version import __version__

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
    "URDFTypeWithMesh",
    "Visual",
    "__version__",
    "base",
    "joint",
    "link",
    "material",
    "matrix_to_rpy",
    "matrix_to_xyz_rpy",
    "rpy_to_matrix",
    "transmission",
    "urdf",
    "utils",
    "version",
    "xyz_rpy_to_matrix",
]
