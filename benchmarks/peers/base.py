"""What a peer has to offer.

To add a library, write ``peers/<name>.py`` with a subclass called ``PEER``: its pinned
requirement, `load`, `joint_names` in its own order, and a list of lines for each thing that it can
compute. What it cannot compute it leaves out. Take the library from `Peer.library`, never import it
at the top: the driver reads requirements without having the library.
"""

from __future__ import annotations

import importlib
import importlib.metadata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.ik.question import POSE, Question
from benchmarks.lines import Line
from benchmarks.matching import order

Floats = NDArray[np.float64]
GRAVITY = (0.0, 0.0, -9.80665)
"""What every side is told of gravity, m/s²: their own defaults differ."""


def part(name: str) -> Any:
    """A module that only the peer's own environment has."""
    return importlib.import_module(name)


@dataclass(frozen=True)
class Solutions:
    """Answers of an inverse kinematics batch; joints in the peer's own order."""

    q: Floats
    success: NDArray[Any]
    iterations: float = float("nan")  # mean steps a target, where the solver tells


class Peer:
    """One library under measurement."""

    name = ""
    module = ""  # what is imported
    # what the import case times besides the module: "module:name" where parts are imported late
    imports: tuple[str, ...] = ()
    requirement: tuple[str, ...] = ()  # pinned, as pip takes them
    dependencies = True  # False: the list is whole, where pip would install what it cannot run with
    debian: tuple[str, ...] = ()  # pinned packages of Debian that are unpacked into the environment
    # added to the worker's environment; "{folder}" stands for the peer's environment folder
    environment: Mapping[str, str] = MappingProxyType({})

    cache_variable = ""  # environment variable of a cache on disk, if the library has one

    # what single precision inside a library costs: operation -> tolerance and the reason for it
    looser: Mapping[str, tuple[float, str]] = MappingProxyType({})
    # what is not measured: "pose", "mass_matrix", "all_poses", "jacobian" or "load" -> the reason
    lacks: Mapping[str, str] = MappingProxyType({})
    moving_links_only = False  # `all_poses` leaves out links that are fixed to others
    compiles = False  # its first call does more than later ones: measured in the compile case
    # modules whose import is not its own: a first call is measured with these there too
    heavy_imports: tuple[str, ...] = ()
    needs_no_meshes = True  # reads the original file although its meshes are not there

    # this side's own order of the joints in q and of Jacobian columns
    joint_names: Sequence[str] = ()
    frame_names: Sequence[str] = ()  # names of what `all_poses` gives, in its order

    def load(self, path: str, tip: str) -> None:
        """Read the prepared file and get ready to compute; sets `joint_names` and `frame_names`."""
        raise NotImplementedError

    @property
    def library(self) -> Any:
        """The library itself, imported when first asked for."""
        return part(self.module)

    def version(self) -> str:
        """The version that is installed."""
        return importlib.metadata.version(self.requirement[0].split("==")[0])

    def offers(self, operation: str) -> bool:
        """Whether there is anything to measure for "pose", "all_poses", "jacobian", "ik"..."""
        name = {"load": "load_lines", "ik": "ik_lines"}.get(operation, operation)
        return operation not in self.lacks and getattr(type(self), name) is not getattr(Peer, name)

    def native(self, values: Floats) -> Floats:
        """Configurations (n, joints) in this side's joint order -> what its functions take."""
        return values

    # one configuration: lines whose statement turns `q` into `r`
    def pose(self) -> list[Line]:
        """Pose of the tip in the base; read as (4, 4)."""
        return []

    def all_poses(self) -> list[Line]:
        """Poses of every frame; read as (frames, 4, 4) in the order of `frame_names`."""
        return []

    def jacobian(self) -> list[Line]:
        """Jacobian at the tip's origin, axes of the base, linear rows first; (6, joints)."""
        return []

    # of motions: `q` is [q, v, a], or [q, v, tau], by `split_state`
    def inverse_dynamics(self) -> list[Line]:
        """Joint forces (joints,), gravity as `GRAVITY` says, no friction."""
        return []

    def mass_matrix(self) -> list[Line]:
        """The mass matrix (joints, joints); `q` is the configuration."""
        return []

    def forward_dynamics(self) -> list[Line]:
        """Accelerations (joints,) under joint forces, as `inverse_dynamics` has it."""
        return []

    def batch(self, operation: str, q: Floats) -> list[Line]:
        """Lines for a whole batch; a Python loop over the single call unless there is better."""
        return [
            Line(
                f"loop over {line.label}",
                line.statement,
                line.names,
                line.role or "loop",
                True,
                line.read,
                line.given,
                line.notes,
            )
            for line in self.lines(operation)
        ]

    def lines(self, operation: str) -> list[Line]:
        """The lines of one operation: "pose", "mass_matrix", ..."""
        found: list[Line] = getattr(self, operation)()
        return found

    def load_lines(self) -> list[Line]:
        """Reading a description: `q` is the file's path."""
        return []

    # inverse kinematics, where the peer has it
    question: Question = POSE  # what the lines are to solve, set before they are made
    ik_most = 0  # targets that one call of a slow batch may take; 0: all

    def answers(self, question: Question) -> bool:
        """Whether its solver can be asked this; by default the pose of the tip only."""
        return question.plain

    def reach(self, q: Floats) -> Floats:
        """What configurations (n, ...) reach: the targets of `question`, see there."""
        raise NotImplementedError

    def ik_lines(self) -> list[Line]:
        """Solve all targets `q` (n, 4, 4) for the tip; `r` is whatever `ik_read` takes."""
        return []

    def ik_one_lines(self) -> list[Line]:
        """Solve one target `q` (4, 4)."""
        return []

    def ik_read(self, r: Any) -> Solutions:
        """The answers (n, joints) out of the result of a statement; one target has one row."""
        raise NotImplementedError

    # from the driver's joint order to this side's, and back
    def configure(self, values: Floats, names: Sequence[str]) -> Floats:
        """Configurations in the order ``names`` as this side takes them (contiguous).

        Where velocities and more stand behind the configurations, their order changes with it.
        """
        n, own = len(names), order(self.joint_names, names)
        q, *more = (values[:, k : k + n][:, own] for k in range(0, values.shape[1], n))
        return np.hstack([self.native(np.ascontiguousarray(q)), *more])

    def columns(self, names: Sequence[str]) -> list[int]:
        """Which of this side's columns give the order ``names``."""
        return order(names, self.joint_names)
