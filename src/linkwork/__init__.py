"""Robot mechanisms: load, compute, solve; one configuration or millions by the same call.

import linkwork as lw

robot = lw.load("ur5e")
T = robot.fk(robot.neutral(), "tool0")
result = robot.ik(T, "tool0")
"""

from __future__ import annotations

import functools
import importlib
import warnings
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from linkwork import faces as faces
    from linkwork import ik as ik
    from linkwork import plots as plots
    from linkwork import poses as poses
    from linkwork import trajectory as trajectory
    from linkwork import urdf as urdf
    from linkwork.errors import DescriptionError as DescriptionError
    from linkwork.errors import Finding as Finding
    from linkwork.errors import InputError as InputError
    from linkwork.errors import LinkworkError as LinkworkError
    from linkwork.errors import MissingExtraError as MissingExtraError
    from linkwork.errors import MissingFileError as MissingFileError
    from linkwork.errors import ProgramError as ProgramError
    from linkwork.errors import ShapeError as ShapeError
    from linkwork.errors import UnknownNameError as UnknownNameError
    from linkwork.errors import UnsupportedFeatureError as UnsupportedFeatureError
    from linkwork.formats.dh import DHRow as DHRow
    from linkwork.formats.dh import DHTable as DHTable
    from linkwork.loading import from_dh as from_dh
    from linkwork.loading import load as load
    from linkwork.mechanism.loops import Coupling as Coupling
    from linkwork.mechanism.loops import Loop as Loop
    from linkwork.mechanism.model import JointType as JointType
    from linkwork.mechanism.model import Mechanism as Mechanism
    from linkwork.poses import pose as pose
    from linkwork.poses import xyz_rpy as xyz_rpy
    from linkwork.poses import xyz_wxyz as xyz_wxyz
    from linkwork.robot import Limits as Limits
    from linkwork.robot import Robot as Robot
    from linkwork.saving import Saved as Saved
    from linkwork.saving import save as save
    from linkwork.saving import to_text as to_text
    from linkwork.scene import Scene as Scene
    from linkwork.simulating import simulate as simulate
    from linkwork.simulation.inputs import Event as Event
    from linkwork.simulation.joint_forces import PD as PD
    from linkwork.simulation.joint_forces import Stops as Stops
    from linkwork.simulation.result import Simulation as Simulation

__version__ = "0.1.0.dev0"

# Where each public name lives. Nothing is imported before it is asked for, so that
# ``import linkwork`` costs milliseconds.
_HOMES = {
    "DescriptionError": "errors",
    "Finding": "errors",
    "InputError": "errors",
    "LinkworkError": "errors",
    "MissingExtraError": "errors",
    "MissingFileError": "errors",
    "ProgramError": "errors",
    "ShapeError": "errors",
    "UnknownNameError": "errors",
    "UnsupportedFeatureError": "errors",
    "Coupling": "mechanism.loops",
    "JointType": "mechanism.model",
    "Loop": "mechanism.loops",
    "Limits": "robot",
    "Mechanism": "mechanism.model",
    "Event": "simulation.inputs",
    "PD": "simulation.joint_forces",
    "Robot": "robot",
    "Simulation": "simulation.result",
    "Stops": "simulation.joint_forces",
    "DHRow": "formats.dh",
    "DHTable": "formats.dh",
    "from_dh": "loading",
    "load": "loading",
    "Saved": "saving",
    "save": "saving",
    "Scene": "scene",
    "to_text": "saving",
    "simulate": "simulating",
    "pose": "poses",
    "xyz_rpy": "poses",
    "xyz_wxyz": "poses",
}

__all__ = [  # noqa: RUF022  in the order of dir()
    "Coupling",
    "DHRow",
    "DHTable",
    "DescriptionError",
    "Event",
    "Finding",
    "InputError",
    "JointType",
    "Limits",
    "LinkworkError",
    "Loop",
    "Mechanism",
    "MissingExtraError",
    "MissingFileError",
    "PD",
    "ProgramError",
    "Robot",
    "Saved",
    "Scene",
    "ShapeError",
    "Simulation",
    "Stops",
    "UnknownNameError",
    "UnsupportedFeatureError",
    "__version__",
    "faces",
    "from_dh",
    "ik",
    "load",
    "plots",
    "pose",
    "poses",
    "save",
    "simulate",
    "to_text",
    "trajectory",
    "urdf",
    "xyz_rpy",
    "xyz_wxyz",
]


# Modules that are public as a whole.
_MODULES = ("faces", "ik", "plots", "poses", "trajectory", "urdf")

# Names of the last release, with those of now.
_RENAMED = {
    "IKOptions": "ik.Options",
    "IKResult": "ik.IKResult",
    "InverseKinematics": "ik.InverseKinematics",
    "Problem": "Finding",
}


def __getattr__(name: str) -> Any:
    if name in _RENAMED:
        new = _RENAMED[name]
        message = f"linkwork.{name} is called linkwork.{new}, and has the old name for one release"
        warnings.warn(message, DeprecationWarning, stacklevel=2)
        return functools.reduce(getattr, new.split("."), importlib.import_module(__name__))
    if name in _MODULES:
        return importlib.import_module(f"linkwork.{name}")
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module 'linkwork' has no attribute '{name}'")
    value = getattr(importlib.import_module(f"linkwork.{home}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return list(__all__)
