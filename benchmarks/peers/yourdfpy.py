"""yourdfpy: URDF in Python."""

from __future__ import annotations

from types import MappingProxyType
from typing import Any

from benchmarks.description import read
from benchmarks.lines import Line
from benchmarks.peers.base import Peer


class PEER(Peer):
    """`update_cfg`, then `get_transform` from a graph of frames. No batch: batches are loops."""

    name = "yourdfpy"
    module = "yourdfpy"
    requirement = (
        "yourdfpy==0.0.60",
        "trimesh==5.2.0",
        "networkx==3.6.1",
        "scipy==1.17.1",
        "lxml==6.1.3",
        "numpy==2.4.6",
    )
    lacks = MappingProxyType({"jacobian": "it has no Jacobian"})

    def load(self, path: str, tip: str) -> None:
        """Load with the graph of frames and without meshes."""
        self.robot: Any = self._load(path)
        self.tip, self.base = tip, self.robot.base_link
        self.joint_names = list(self.robot.actuated_joint_names)
        self.frame_names = list(read(path).links)

    def _load(self, path: str) -> Any:
        return self.library.URDF.load(path, build_scene_graph=True, load_meshes=False)

    def _names(self) -> dict[str, Any]:
        return {
            "robot": self.robot,
            "tip": self.tip,
            "base": self.base,
            "names": list(self.frame_names),
        }

    def pose(self) -> list[Line]:
        """A 4x4 array."""
        return [
            Line(
                "update_cfg + get_transform",
                "robot.update_cfg(q); r = robot.get_transform(tip, base)",
                self._names(),
                "arrays",
            )
        ]

    def all_poses(self) -> list[Line]:
        """Link by link."""
        return [
            Line(
                "update_cfg + get_transform of every link",
                "robot.update_cfg(q); r = [robot.get_transform(name, base) for name in names]",
                self._names(),
                "arrays",
            )
        ]

    def load_lines(self) -> list[Line]:
        """With its graph of frames, and without it: reading alone. No meshes."""
        parse = self.library.URDF.load
        alone = "r = parse(q, build_scene_graph=False, load_meshes=False)"
        return [
            Line("URDF.load", "r = load(q)", {"load": self._load}, "load"),
            Line("URDF.load(build_scene_graph=False)", alone, {"parse": parse}, "parse"),
        ]
