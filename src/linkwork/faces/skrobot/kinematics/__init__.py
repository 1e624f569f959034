"""Chains as arrays, and solvers for batches of targets: ``skrobot.kinematics``."""

from linkwork.faces.skrobot.kinematics import differentiable
from linkwork.faces.skrobot.kinematics.differentiable import (
    create_batch_ik_solver,
    extract_fk_parameters,
)

__all__ = ["create_batch_ik_solver", "differentiable", "extract_fk_parameters"]
