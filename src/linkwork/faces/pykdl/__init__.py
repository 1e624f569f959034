"""The names of PyKDL over Linkwork: ``from linkwork.faces.pykdl import Frame, Vector``.

Programs written for PyKDL run unchanged after ``linkwork.faces.install("PyKDL")``, or by
``linkwork run --as PyKDL program.py``. What is different stands in ``parity.toml``.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from linkwork.faces.pykdl.chain import Chain, Joint, Segment, Tree
from linkwork.faces.pykdl.frame import Frame
from linkwork.faces.pykdl.inertias import RigidBodyInertia, RotationalInertia
from linkwork.faces.pykdl.joint_arrays import (
    Add,
    Divide,
    Jacobian,
    JntArray,
    JntArrayVel,
    JntSpaceInertiaMatrix,
    Multiply,
    MultiplyJacobian,
    Subtract,
    changeBase,
    changeRefFrame,
    changeRefPoint,
)
from linkwork.faces.pykdl.rates import (
    Equal,
    FrameVel,
    RotationVel,
    SetToZero,
    TwistVel,
    VectorVel,
    addDelta,
    diff,
    dot,
    doubleVel,
)
from linkwork.faces.pykdl.rotation import Rotation
from linkwork.faces.pykdl.solvers import (
    ChainDynParam,
    ChainFkSolverPos,
    ChainFkSolverPos_recursive,
    ChainFkSolverVel,
    ChainFkSolverVel_recursive,
    ChainIdSolver,
    ChainIdSolver_RNE,
    ChainJntToJacDotSolver,
    ChainJntToJacSolver,
    SolverI,
)
from linkwork.faces.pykdl.values import ZeroAxisWarning, ZeroQuaternionWarning
from linkwork.faces.pykdl.vectors import Twist, Vector, Wrench

if TYPE_CHECKING:
    from linkwork.faces.pykdl.ik import (
        ChainIkSolverPos,
        ChainIkSolverPos_LMA,
        ChainIkSolverPos_NR,
        ChainIkSolverPos_NR_JL,
        ChainIkSolverVel,
        ChainIkSolverVel_pinv,
        ChainIkSolverVel_pinv_givens,
        ChainIkSolverVel_pinv_nso,
        ChainIkSolverVel_wdls,
    )

__version__ = "1.5.1"
"""The version of the original whose names are here."""

_IK = "ChainIkSolver"
"""The names of `ik` begin so; it is loaded when one is asked for, since it needs what compiles."""


def __getattr__(name: str) -> Any:
    if not name.startswith(_IK) or name not in __all__:
        raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
    found = globals()[name] = getattr(import_module(f"{__name__}.ik"), name)
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


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
