"""Descriptions as they are: their structure, other roots, parts of them: ``skrobot.urdf``."""

from linkwork.faces.refusals import refusing
from linkwork.faces.skrobot.urdf.documents import (
    URDFXMLRootLinkChanger,
    change_urdf_root_link,
    extract_sub_urdf,
    find_root_link,
    transform_urdf_with_world_link,
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
    "URDFXMLRootLinkChanger",
    "ValidationResult",
    "change_urdf_root_link",
    "extract_sub_urdf",
    "find_root_link",
    "kinematic_tree",
    "print_urdf_tree",
    "transform_urdf_with_world_link",
    "validate_urdf_structure",
]

__getattr__ = refusing(__name__)
