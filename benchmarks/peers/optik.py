"""OptIK: inverse kinematics of serial chains, in Rust."""

from __future__ import annotations

from types import MappingProxyType
from typing import Any

import numpy as np

from benchmarks.description import read
from benchmarks.lines import Line
from benchmarks.peers.base import Floats, Peer, Solutions

_ONLY = "measured for inverse kinematics only"


class PEER(Peer):
    """`Robot.ik`, one target a call, from the middle of the limits.

    Its default tolerance (1e-6, of a squared error) gives answers that are a millimetre off; 9e-9
    is the loosest that keeps to 0.1 mm. It takes as many restarts as fit into 0.1 s.
    """

    name = "optik"
    module = "optik"
    requirement = ("optik-py==0.5.0", "numpy==2.4.6")
    lacks = MappingProxyType({"all_poses": _ONLY, "jacobian": _ONLY, "load": _ONLY})
    seconds = 0.1

    def load(self, path: str, tip: str) -> None:
        """The chain from the root to the tip."""
        tree = read(path)
        chain = [joint.name for joint in tree.chain(tip) if joint.moves]
        if len(chain) != len(tree.moving):
            raise ValueError("it knows chains only, and joints lie off the chain")
        self.robot: Any = self.library.Robot.from_urdf_file(path, tree.root, tip)
        self.robot.set_parallelism(1)
        self.joint_names = chain
        lower, upper = (np.array(limit) for limit in self.robot.joint_limits())
        inside = np.clip(lower, -np.pi, np.pi), np.clip(upper, -np.pi, np.pi)
        self.start: list[float] = (0.5 * (inside[0] + inside[1])).tolist()
        self.config: Any = self.library.SolverConfig(
            solution_mode="speed", max_time=self.seconds, max_restarts=1_000_000, tol_f=9e-9
        )

    def pose(self) -> list[Line]:
        """Lists of numbers."""
        return [Line("Robot.fk", "r = robot.fk(q)", {"robot": self.robot}, "lists")]

    def ik_lines(self) -> list[Line]:
        """A loop: it has no batches."""
        return [Line("loop over Robot.ik", *self._statement(), "loop")]

    def ik_one_lines(self) -> list[Line]:
        """One call."""
        return [Line("Robot.ik", *self._statement(), "call")]

    def _statement(self) -> tuple[str, dict[str, Any]]:
        names = {"robot": self.robot, "config": self.config, "start": self.start}
        return "r = robot.ik(config, q, start)", names

    def ik_read(self, r: Any) -> Solutions:
        """The configuration, or None."""
        found = r is not None
        q: Floats = np.array([r[0] if found else self.start])
        return Solutions(q, np.array([found]))
