"""The Robotics Toolbox for Python."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from benchmarks.description import read
from benchmarks.lines import Line
from benchmarks.peers.base import Floats, Peer, Solutions


class PEER(Peer):
    """`Robot.fkine` and `jacob0`, and the C code under them through the `ETS` of the chain."""

    name = "roboticstoolbox"
    module = "roboticstoolbox"
    requirement = (
        "roboticstoolbox-python==1.5.0",
        "spatialmath-python==1.1.18",
        "spatialgeometry==1.4.2",
        "scipy==1.17.1",
        "numpy==2.4.6",
    )

    needs_no_meshes = False

    def load(self, path: str, tip: str) -> None:
        """The elementary transforms of the chain are looked up once; joints go by `jindex`."""
        self.robot: Any = self._load(path)
        self.tip = tip
        self.ets: Any = self.robot.ets(end=tip)
        joints = [link for link in self.robot.links if link.isjoint]
        names = {self._joint_of(path)[link.name]: link.jindex for link in joints}
        self.joint_names = sorted(names, key=lambda name: names[name])
        by_number = sorted(self.robot.links, key=lambda link: link.number)
        self.frame_names = [link.name for link in by_number]
        self.columns_of_chain = list(self.ets.jindices)

    def _load(self, path: str) -> Any:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
            return self.library.Robot.URDF(path)

    @staticmethod
    def _joint_of(path: str) -> dict[str, str]:
        return {joint.child: joint.name for joint in read(path).joints if joint.moves}

    def pose(self) -> list[Line]:
        """The robot's method, and the chain's."""
        return [
            Line(
                "Robot.fkine",
                "r = robot.fkine(q, end=tip)",
                {"robot": self.robot, "tip": self.tip},
                "method",
                read=lambda r, q: np.array(r.A),
            ),
            Line("ETS.eval", "r = ets.eval(q)", {"ets": self.ets}, "ets"),
        ]

    def all_poses(self) -> list[Line]:
        """One object that holds a pose a link, by the links' numbers; the base comes first."""
        count = len(self.frame_names)
        return [
            Line(
                "Robot.fkine_all",
                "r = robot.fkine_all(q)",
                {"robot": self.robot},
                "method",
                read=lambda r, q: np.array(r.A)[-count:],
            )
        ]

    def jacobian(self) -> list[Line]:
        """At the tip, axes of the base, linear rows first; columns of the chain."""
        columns, n = self.columns_of_chain, len(self.joint_names)

        def full(r: Any, q: Any) -> Floats:
            J = np.zeros((6, n))
            J[:, columns] = r
            return J

        return [
            Line(
                "Robot.jacob0",
                "r = robot.jacob0(q, end=tip)",
                {"robot": self.robot, "tip": self.tip},
                "method",
                read=full,
            ),
            Line("ETS.jacob0", "r = ets.jacob0(q)", {"ets": self.ets}, "ets", read=full),
        ]

    def batch(self, operation: str, q: Floats) -> list[Line]:
        """`ETS.eval` takes rows of configurations; the rest are loops."""
        if operation != "pose":
            return super().batch(operation, q)
        names = {"ets": self.ets}
        return [Line("ETS.eval of all rows", "r = ets.eval(q)", names, "batch", by_row=False)]

    def load_lines(self) -> list[Line]:
        """The robot with its links."""
        return [Line("Robot.URDF", "r = load(q)", {"load": self._load}, "load")]

    def ik_lines(self) -> list[Line]:
        """`ik_LM` in C, in a loop: 30 steps a try, 100 random tries, inside the limits.

        Its default ``tol`` (1e-6, of half a squared error) gives answers that are a millimetre
        off; 4.5e-9 is the loosest that keeps to 0.1 mm.
        """
        return [
            Line("loop over ETS.ik_LM", "r = ets.ik_LM(q, tol=4.5e-9)", {"ets": self.ets}, "ik")
        ]

    def ik_one_lines(self) -> list[Line]:
        """One call."""
        return [Line("ETS.ik_LM", "r = ets.ik_LM(q, tol=4.5e-9)", {"ets": self.ets}, "ik")]

    def ik_read(self, r: Any) -> Solutions:
        """The chain's joints; no others are there where it is asked."""
        q = np.zeros((1, len(self.joint_names)))
        q[0, self.columns_of_chain] = r.q
        return Solutions(q, np.array([bool(r.success)]), float(r.iterations))
