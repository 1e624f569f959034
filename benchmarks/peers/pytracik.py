"""TRAC-IK without ROS, through pytracik."""

from __future__ import annotations

from types import MappingProxyType
from typing import Any

import numpy as np

from benchmarks.description import read
from benchmarks.lines import Line
from benchmarks.peers.base import Floats, Peer, Solutions, part

_ONLY = "measured for inverse kinematics only"


class PEER(Peer):
    """`TracIK.ik` by its own protocol: 5 ms a target (wall time), error 1e-5, kind "Speed".

    It runs two solvers in two threads, and so do we let it: on one core they share it.
    """

    name = "pytracik"
    module = "trac_ik"
    requirement = ("pytracik==0.0.3", "numpy==2.4.6")
    lacks = MappingProxyType({"all_poses": _ONLY, "jacobian": _ONLY, "load": _ONLY})

    def load(self, path: str, tip: str) -> None:
        """The chain from the root to the tip."""
        tree = read(path)
        chain = [joint.name for joint in tree.chain(tip) if joint.moves]
        if len(chain) != len(tree.moving):
            raise ValueError("it knows chains only, and joints lie off the chain")
        kind: Any = part("trac_ik").TracIK
        self.robot: Any = kind(tree.root, tip, path, timeout=0.005, epsilon=1e-5)
        self.joint_names = chain
        # it takes zeros where a <safety_controller> stands, and single precision elsewhere
        moving = [joint for joint in tree.chain(tip) if joint.moves]
        lower, upper = np.array([(joint.lower, joint.upper) for joint in moving]).T
        given = self.robot.joint_limits
        self.robot.joint_limits = (
            np.where(np.isfinite(lower), lower, given[0]).tolist(),
            np.where(np.isfinite(upper), upper, given[1]).tolist(),
        )
        self.start: Floats = 0.5 * (np.clip(lower, -np.pi, np.pi) + np.clip(upper, -np.pi, np.pi))

    def pose(self) -> list[Line]:
        """Position and rotation."""

        def whole(r: Any, q: Any) -> Floats:
            T = np.eye(4)
            T[:3, 3], T[:3, :3] = r
            return T

        return [Line("TracIK.fk", "r = robot.fk(q)", {"robot": self.robot}, "arrays", read=whole)]

    def ik_lines(self) -> list[Line]:
        """A loop: it has no batches."""
        return [Line("loop over TracIK.ik, 5 ms", *self._statement(), "loop")]

    def ik_one_lines(self) -> list[Line]:
        """One call."""
        return [Line("TracIK.ik, 5 ms", *self._statement(), "call")]

    def _statement(self) -> tuple[str, dict[str, Any]]:
        names = {"robot": self.robot, "start": self.start}
        return "r = robot.ik(q[:3, 3], q[:3, :3], start)", names

    def ik_read(self, r: Any) -> Solutions:
        """The configuration, or None."""
        found = r is not None
        q: Floats = np.array([r if found else self.start], dtype=np.float64)
        return Solutions(q, np.array([found]))
