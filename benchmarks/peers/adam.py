"""adam: one text of the algorithms for NumPy, CasADi, JAX and PyTorch; here NumPy."""

from __future__ import annotations

from types import MappingProxyType
from typing import Any

import numpy as np

from benchmarks.description import read
from benchmarks.lines import Line
from benchmarks.peers.base import Peer, part


class PEER(Peer):
    """`KinDynComputations` of adam.numpy, base fixed by giving it the identity.

    Its Jacobian has six columns of the base in front; they are cut off for the check only.
    """

    name = "adam"
    module = "adam"
    imports = ("adam.numpy:KinDynComputations",)
    requirement = (
        "adam-robotics==0.5.0",
        "urdfdom_py==1.2.1.post1",
        "casadi==3.8.2",
        "scipy==1.17.1",
        "numpy==2.4.6",
    )
    lacks = MappingProxyType({"load": "it has to be told the joints' names"})

    def load(self, path: str, tip: str) -> None:
        """The order of the joints is ours to choose: the file's."""
        description = read(path)
        self.joint_names = description.moving
        self.frame_names = list(description.links)
        computations: Any = part("adam.numpy").KinDynComputations
        self.robot: Any = computations(path, list(self.joint_names))
        self.tip = tip

    def _names(self) -> dict[str, Any]:
        names = list(self.frame_names)
        return {"robot": self.robot, "tip": self.tip, "base": np.eye(4), "names": names}

    def pose(self) -> list[Line]:
        """A 4x4 array."""
        return [
            Line(
                "numpy, forward_kinematics",
                "r = robot.forward_kinematics(tip, base, q)",
                self._names(),
                "arrays",
            )
        ]

    def all_poses(self) -> list[Line]:
        """Link by link."""
        return [
            Line(
                "numpy, forward_kinematics of every link",
                "r = [robot.forward_kinematics(name, base, q) for name in names]",
                self._names(),
                "arrays",
            )
        ]

    def jacobian(self) -> list[Line]:
        """Mixed representation: at the tip's origin, axes of the world, linear rows first."""
        return [
            Line(
                "numpy, jacobian",
                "r = robot.jacobian(tip, base, q)",
                self._names(),
                "arrays",
                read=lambda r, q: np.array(r)[:, 6:],
            )
        ]
