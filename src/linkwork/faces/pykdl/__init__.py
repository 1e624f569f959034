"""The names of PyKDL over Linkwork: ``from linkwork.faces.pykdl import Frame, Vector``.

Programs written for PyKDL run unchanged after ``linkwork.faces.install("PyKDL")``, or by
``linkwork run --as PyKDL program.py``. What is different stands in ``parity.toml``. Solvers
for positions are loaded when they are first asked for, since they need what compiles.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from linkwork.faces.pykdl.chain import Chain
from linkwork.faces.pykdl.dynamics_solvers import ChainDynParam, ChainIdSolver, ChainIdSolver_RNE
from linkwork.faces.pykdl.forward_solvers import (
    ChainFkSolverPos,
    ChainFkSolverPos_recursive,
    ChainFkSolverVel,
    ChainFkSolverVel_recursive,
)
from linkwork.faces.pykdl.frame import Frame
from linkwork.faces.pykdl.frame_vel import FrameVel
from linkwork.faces.pykdl.functions import Equal, SetToZero, addDelta, diff, dot
from linkwork.faces.pykdl.ik_velocity import (
    ChainIkSolverVel,
    ChainIkSolverVel_pinv,
    ChainIkSolverVel_pinv_givens,
    ChainIkSolverVel_pinv_nso,
    ChainIkSolverVel_wdls,
)
from linkwork.faces.pykdl.inertias import RigidBodyInertia, RotationalInertia
from linkwork.faces.pykdl.jacobian import (
    Jacobian,
    JntSpaceInertiaMatrix,
    MultiplyJacobian,
    changeBase,
    changeRefFrame,
    changeRefPoint,
)
from linkwork.faces.pykdl.jacobian_solvers import (
    ChainJntToJacDotSolver,
    ChainJntToJacSolver,
)
from linkwork.faces.pykdl.joint import Joint
from linkwork.faces.pykdl.joint_arrays import (
    Add,
    Divide,
    JntArray,
    JntArrayVel,
    Multiply,
    Subtract,
)
from linkwork.faces.pykdl.rotation import Rotation, ZeroAxisWarning
from linkwork.faces.pykdl.rotation_vel import RotationVel
from linkwork.faces.pykdl.scalars import ZeroQuaternionWarning
from linkwork.faces.pykdl.segment import Segment
from linkwork.faces.pykdl.solver import SolverI
from linkwork.faces.pykdl.tree import Tree
from linkwork.faces.pykdl.twist import Twist
from linkwork.faces.pykdl.twist_vel import TwistVel
from linkwork.faces.pykdl.vector import Vector
from linkwork.faces.pykdl.vector_vel import VectorVel, doubleVel
from linkwork.faces.pykdl.wrench import Wrench

if TYPE_CHECKING:
    from linkwork.faces.pykdl.ik_position import (
        ChainIkSolverPos,
        ChainIkSolverPos_LMA,
        ChainIkSolverPos_NR,
        ChainIkSolverPos_NR_JL,
    )

__version__ = "1.5.1"
"""The version of the original whose names are here."""

_LATER = {
    "ChainIkSolverPos": "ik_position",
    "ChainIkSolverPos_LMA": "ik_position",
    "ChainIkSolverPos_NR": "ik_position",
    "ChainIkSolverPos_NR_JL": "ik_position",
}


def __getattr__(name: str) -> Any:
    if name not in _LATER:
        raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
    found = getattr(import_module(f"{__name__}.{_LATER[name]}"), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *_LATER})


__all__ = [
    "Add",
    "Chain",
    "ChainDynParam",
    "ChainFkSolverPos",
    "ChainFkSolverPos_recursive",
    "ChainFkSolverVel",
    "ChainFkSolverVel_recursive",
    "ChainIdSolver",
    "ChainIdSolver_RNE",
    "ChainIkSolverPos",
    "ChainIkSolverPos_LMA",
    "ChainIkSolverPos_NR",
    "ChainIkSolverPos_NR_JL",
    "ChainIkSolverVel",
    "ChainIkSolverVel_pinv",
    "ChainIkSolverVel_pinv_givens",
    "ChainIkSolverVel_pinv_nso",
    "ChainIkSolverVel_wdls",
    "ChainJntToJacDotSolver",
    "ChainJntToJacSolver",
    "Divide",
    "Equal",
    "Frame",
    "FrameVel",
    "Jacobian",
    "JntArray",
    "JntArrayVel",
    "JntSpaceInertiaMatrix",
    "Joint",
    "Multiply",
    "MultiplyJacobian",
    "RigidBodyInertia",
    "Rotation",
    "RotationVel",
    "RotationalInertia",
    "Segment",
    "SetToZero",
    "SolverI",
    "Subtract",
    "Tree",
    "Twist",
    "TwistVel",
    "Vector",
    "VectorVel",
    "Wrench",
    "ZeroAxisWarning",
    "ZeroQuaternionWarning",
    "__version__",
    "addDelta",
    "changeBase",
    "changeRefFrame",
    "changeRefPoint",
    "diff",
    "dot",
    "doubleVel",
]
