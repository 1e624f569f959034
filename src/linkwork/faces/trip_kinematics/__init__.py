"""The names of TriP over Linkwork: ``from linkwork.faces.trip_kinematics.Robot import Robot``.

Programs written for trip_kinematics run unchanged after
``linkwork.faces.install("trip_kinematics")``, or by ``linkwork run --as trip_kinematics
program.py``. What is different stands in ``parity.toml``.
"""

from __future__ import annotations

from linkwork.faces.trip_kinematics import Utility, urdf_parser
from linkwork.faces.trip_kinematics.KinematicGroup import KinematicGroup, OpenKinematicGroup
from linkwork.faces.trip_kinematics.mappings import derived_mappings
from linkwork.faces.trip_kinematics.Robot import Robot, forward_kinematics
from linkwork.faces.trip_kinematics.Solver import (
    CCDSolver,
    NewtonSolver,
    NoSolution,
    SimpleInvKinSolver,
)
from linkwork.faces.trip_kinematics.Transformation import Transformation, array_find, use_euler
from linkwork.faces.trip_kinematics.urdf_parser import from_urdf
from linkwork.faces.trip_kinematics.Utility import (
    Rotation,
    get_rotation,
    get_translation,
    hom_rotation,
    hom_translation_matrix,
    identity_transformation,
    quat_rotation_matrix,
    x_axis_rotation_matrix,
    y_axis_rotation_matrix,
    z_axis_rotation_matrix,
)

__version__ = "1.0.4"
"""The version of the original whose names are all here."""

__all__ = [
    "CCDSolver",
    "KinematicGroup",
    "NewtonSolver",
    "NoSolution",
    "OpenKinematicGroup",
    "Robot",
    "Rotation",
    "SimpleInvKinSolver",
    "Transformation",
    "Utility",
    "__version__",
    "array_find",
    "derived_mappings",
    "forward_kinematics",
    "from_urdf",
    "get_rotation",
    "get_translation",
    "hom_rotation",
    "hom_translation_matrix",
    "identity_transformation",
    "quat_rotation_matrix",
    "urdf_parser",
    "use_euler",
    "x_axis_rotation_matrix",
    "y_axis_rotation_matrix",
    "z_axis_rotation_matrix",
]
