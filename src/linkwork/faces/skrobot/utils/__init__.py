"""Helpers: ``skrobot.utils``."""

from __future__ import annotations

from linkwork.faces.refusals import refusing
from linkwork.faces.skrobot.utils.inertia import (
    combine_inertials,
    link_inertial_from_mesh,
    mesh_mass_properties,
    parallel_axis,
    rescale_inertial_to_mass,
    transform_inertial,
    validate_inertia,
)
from linkwork.faces.skrobot.utils.listify import listify
from linkwork.faces.skrobot.utils.urdf import URDF
from linkwork.faces.skrobot.utils.visualization import (
    auto_ik_hook,
    create_custom_ik_hook,
    create_ik_visualization_hook,
    get_ik_visualization_enabled,
    ik_visualization,
    set_ik_visualization_enabled,
)

__all__ = [
    "URDF",
    "auto_ik_hook",
    "combine_inertials",
    "create_custom_ik_hook",
    "create_ik_visualization_hook",
    "get_ik_visualization_enabled",
    "ik_visualization",
    "link_inertial_from_mesh",
    "listify",
    "mesh_mass_properties",
    "parallel_axis",
    "rescale_inertial_to_mass",
    "set_ik_visualization_enabled",
    "transform_inertial",
    "validate_inertia",
]

__getattr__ = refusing(__name__)
