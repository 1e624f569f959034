"""urdfpy: not kept up since 2020, and still what much code was written for."""

from __future__ import annotations

from types import MappingProxyType
from typing import Any

from benchmarks.lines import Line
from benchmarks.peers.base import Peer

_KINEMATICS = "only its reading is measured; its kinematics lives on in urchin"


class PEER(Peer):
    """`URDF.load`, which opens every mesh: it reads files without shapes only."""

    name = "urdfpy"
    module = "urdfpy"
    # What it still runs with: as pip installs it today, it cannot be imported.
    requirement = (
        "urdfpy==0.0.22", "networkx==2.8.8", "numpy==1.23.5", "scipy==1.15.3", "trimesh==5.2.0",
        "lxml==6.1.3", "pillow==13.0.0", "pycollada==0.6", "pyrender==0.1.45", "pyglet==2.1.19",
        "PyOpenGL==3.1.0", "freetype-py==2.5.1", "ImageIO==2.38.1", "six==1.17.0",
        "python-dateutil==4.0.0",
    )  # fmt: skip
    dependencies = False
    needs_no_meshes = False
    lacks = MappingProxyType(
        {"pose": _KINEMATICS, "all_poses": _KINEMATICS, "jacobian": "it has no Jacobian"}
    )

    def load(self, path: str, tip: str) -> None:
        """Load, for the names of the joints and links."""
        robot = self._load(path)
        self.joint_names = [joint.name for joint in robot.actuated_joints]
        self.frame_names = [link.name for link in robot.links]

    def _load(self, path: str) -> Any:
        return self.library.URDF.load(path)

    def load_lines(self) -> list[Line]:
        """With its graph of frames; there are no meshes in what it is given."""
        return [Line("URDF.load", "r = load(q)", {"load": self._load}, "load")]
