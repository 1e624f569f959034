"""All classes, and the functions of `utils`, by the module that the original has them in."""

from __future__ import annotations

from linkwork.faces.urdfpy import fragments as _fragments
from linkwork.faces.urdfpy.base import URDFType
from linkwork.faces.urdfpy.joint import (
    Joint,
    JointCalibration,
    JointDynamics,
    JointLimit,
    JointMimic,
    SafetyController,
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
from linkwork.faces.urdfpy.transmission import Actuator, Transmission, TransmissionJoint
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

del _fragments  # imported for what it does: the classes then read and write single elements

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
    "configure_origin",
    "get_filename",
    "load_meshes",
    "matrix_to_rpy",
    "matrix_to_xyz_rpy",
    "parse_origin",
    "rpy_to_matrix",
    "unparse_origin",
    "xyz_rpy_to_matrix",
]
