"""Chains as arrays, and solvers for batches of targets: ``skrobot.kinematics``."""

from linkwork.faces.refusals import refusing
from linkwork.faces.skrobot.kinematics import differentiable
from linkwork.faces.skrobot.kinematics.differentiable import (
    create_batch_ik_solver,
    create_dynamic_limit_mask,
    extract_fk_parameters,
    forward_kinematics,
    forward_kinematics_ee,
    set_base_pose,
)

__all__ = [
    "create_batch_ik_solver",
    "create_dynamic_limit_mask",
    "differentiable",
    "extract_fk_parameters",
    "forward_kinematics",
    "forward_kinematics_ee",
    "set_base_pose",
]

__getattr__ = refusing(__name__)
