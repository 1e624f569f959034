"""Descriptions as they are: their structure, other roots, parts of them: ``skrobot.urdf``."""

from linkwork.faces.skrobot.urdf.documents import (
    change_urdf_root_link,
    extract_sub_urdf,
    find_root_link,
)
from linkwork.faces.skrobot.urdf.structure import (
    MOVABLE_JOINT_TYPES,
    JointInfo,
    ValidationResult,
    kinematic_tree,
    print_urdf_tree,
    validate_urdf_structure,
)

__all__ = [
    "MOVABLE_JOINT_TYPES",
    "JointInfo",
    "ValidationResult",
    "change_urdf_root_link",
    "extract_sub_urdf",
    "find_root_link",
    "kinematic_tree",
    "print_urdf_tree",
    "validate_urdf_structure",
]
