"""urchin: the fork of urdfpy that is kept up."""

from __future__ import annotations

from types import MappingProxyType
from typing import Any

import numpy as np

from benchmarks.lines import Line
from benchmarks.peers.base import Floats, Peer


class PEER(Peer):
    """`link_fk` for one configuration, `link_fk_batch` for many."""

    name = "urchin"
    module = "urchin"
    requirement = (
        "urchin==0.0.30",
        "networkx==3.6.1",
        "trimesh==5.2.0",
        "scipy==1.17.1",
        "lxml==6.1.3",
        "numpy==2.4.6",
    )
    lacks = MappingProxyType({"jacobian": "it has no Jacobian"})

    def load(self, path: str, tip: str) -> None:
        """Load; the tip is kept as its link object, which saves a look-up a call."""
        self.robot: Any = self._load(path)
        self.tip: Any = self.robot.link_map[tip]
        self.joint_names = [joint.name for joint in self.robot.actuated_joints]
        self.frame_names = [link.name for link in self.robot.links]

    def _load(self, path: str) -> Any:
        return self.library.URDF.load(path, lazy_load_meshes=True)

    def _read(self, r: Any, q: Any) -> Floats:
        return np.array([r[link] for link in self.robot.links])

    def _read_batch(self, r: Any, q: Any) -> Floats:
        return np.stack([r[link] for link in self.robot.links], axis=1)

    def pose(self) -> list[Line]:
        """A 4x4 array."""
        names = {"robot": self.robot, "tip": self.tip}
        return [Line("link_fk(link=)", "r = robot.link_fk(q, link=tip)", names, "arrays")]

    def all_poses(self) -> list[Line]:
        """A dictionary of 4x4 arrays."""
        names = {"robot": self.robot}
        return [Line("link_fk", "r = robot.link_fk(q)", names, "arrays", read=self._read)]

    def batch(self, operation: str, q: Floats) -> list[Line]:
        """All rows in one call, link after link in NumPy."""
        names = {"robot": self.robot, "tip": self.tip}
        if operation == "pose":
            statement = "r = robot.link_fk_batch(q, link=tip)"
            return [Line("link_fk_batch(link=)", statement, names, "batch", by_row=False)]
        return [
            Line(
                "link_fk_batch",
                "r = robot.link_fk_batch(q)",
                names,
                "batch",
                by_row=False,
                read=self._read_batch,
            )
        ]

    def load_lines(self) -> list[Line]:
        """Meshes are left for later."""
        names = {"load": self._load}
        return [Line("URDF.load(lazy_load_meshes=True)", "r = load(q)", names, "load")]
