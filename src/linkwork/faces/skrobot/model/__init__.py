"""Robots, links and joints: ``skrobot.model``."""

from linkwork.faces.refusals import refusing
from linkwork.faces.skrobot.model import joint, joint_limit_table, link, primitives, robot_model
from linkwork.faces.skrobot.model.joint import (
    FixedJoint,
    FloatingJoint,
    Joint,
    LinearJoint,
    OmniWheelJoint,
    PlanarJoint,
    RotationalJoint,
    calc_angle_speed_gain_scalar,
    calc_angle_speed_gain_vector,
    calc_jacobian_default_rotate_vector,
    calc_jacobian_linear,
    calc_jacobian_rotational,
    calc_joint_angle_min_max_for_limit_calculation,
    calc_target_joint_dimension,
    calc_target_joint_dimension_from_link_list,
    joint_angle_limit_nspace,
    joint_angle_limit_weight,
)
from linkwork.faces.skrobot.model.joint_limit_table import (
    JointLimitTable,
    create_joint_limit_table,
)
from linkwork.faces.skrobot.model.link import Link
from linkwork.faces.skrobot.model.primitives import (
    Annulus,
    Axis,
    Box,
    CameraMarker,
    Capsule,
    Cone,
    Cylinder,
    LineString,
    MeshLink,
    PointCloudLink,
    Sphere,
)
from linkwork.faces.skrobot.model.robot_model import CascadedLink, RobotModel

__all__ = [
    "Annulus",
    "Axis",
    "Box",
    "CameraMarker",
    "Capsule",
    "CascadedLink",
    "Cone",
    "Cylinder",
    "FixedJoint",
    "FloatingJoint",
    "Joint",
    "JointLimitTable",
    "LineString",
    "LinearJoint",
    "Link",
    "MeshLink",
    "OmniWheelJoint",
    "PlanarJoint",
    "PointCloudLink",
    "RobotModel",
    "RotationalJoint",
    "Sphere",
    "calc_angle_speed_gain_scalar",
    "calc_angle_speed_gain_vector",
    "calc_jacobian_default_rotate_vector",
    "calc_jacobian_linear",
    "calc_jacobian_rotational",
    "calc_joint_angle_min_max_for_limit_calculation",
    "calc_target_joint_dimension",
    "calc_target_joint_dimension_from_link_list",
    "create_joint_limit_table",
    "joint",
    "joint_angle_limit_nspace",
    "joint_angle_limit_weight",
    "joint_limit_table",
    "link",
    "primitives",
    "robot_model",
]

__getattr__ = refusing(__name__)
