"""The names of urdfpy over Linkwork: ``from linkwork.faces.urdfpy import URDF``.

Programs written for urdfpy run unchanged after ``linkwork.faces.install("urdfpy")``, or by
``linkwork run --as urdfpy program.py``. What is different stands in ``parity.toml``.
"""

from __future__ import annotations

from linkwork.faces.table import stand_for
from linkwork.faces.urdfpy import utils
from linkwork.faces.urdfpy.base import URDFType
from linkwork.faces.urdfpy.joint import (
    Actuator,
    Joint,
    JointCalibration,
    JointDynamics,
    JointLimit,
    JointMimic,
    SafetyController,
    Transmission,
    TransmissionJoint,
)
from linkwork.faces.urdfpy.link import (
    Box,
    Capsule,
    Collision,
    Cylinder,
    Geometry,
    Inertial,
    Link,
    Material,
    Mesh,
    Sphere,
    Texture,
    Visual,
)
from linkwork.faces.urdfpy.robot import URDF
from linkwork.faces.urdfpy.utils import (
    configure_origin,
    get_filename,
    load_meshes,
    matrix_to_rpy,
    matrix_to_xyz_rpy,
    parse_origin,
    rpy_to_matrix,
    unparse_origin,
    xyz_rpy_to_matrix,
)

__version__ = "0.0.22"
"""The version of the original whose names are all here."""

stand_for(__name__, "urdf", "version")

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
    "configure_origin",
    "get_filename",
    "load_meshes",
    "matrix_to_rpy",
    "matrix_to_xyz_rpy",
    "parse_origin",
    "rpy_to_matrix",
    "unparse_origin",
    "utils",
    "xyz_rpy_to_matrix",
]
