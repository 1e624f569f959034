"""exudyn: its robotics module."""

from __future__ import annotations

from types import MappingProxyType
from typing import Any

import numpy as np

from benchmarks.description import Description, Joint, onto_z, read
from benchmarks.lines import Line
from benchmarks.peers.base import Floats, Peer, part


class PEER(Peer):
    """A `Robot` of `RobotLink`s built by hand: its own reader of URDF needs another toolbox.

    Its joints turn about or slide along z here, so a constant turn stands before and after each;
    only moving links have frames. Its documentation has no call for a batch: batches are loops.
    """

    name = "exudyn"
    module = "exudyn"
    imports = ("exudyn.robotics",)
    requirement = ("exudyn==1.13.6", "numpy==2.4.6")
    moving_links_only = True
    lacks = MappingProxyType({"load": "its reader of URDF goes through roboticstoolbox"})

    def load(self, path: str, tip: str) -> None:
        """Add the moving joints one by one, parents first."""
        description = read(path)
        joints = description.moving_in_order()
        self.joint_names = [joint.name for joint in joints]
        self.frame_names = [joint.child for joint in joints]
        robotics = part("exudyn.robotics")
        self.robot: Any = robotics.Robot()
        turns = {joint.name: _turn(joint) for joint in joints}
        for joint in joints:
            self.robot.AddLink(self._link(robotics, description, joint, turns))
        place = description.place(tip)
        self.index = self.joint_names.index(str(place.joint))
        self.tool = turns[str(place.joint)].T @ place.T
        self.after = [turns[name].T for name in self.joint_names]

    def _link(
        self, robotics: Any, description: Description, joint: Joint, turns: dict[str, Floats]
    ) -> Any:
        above = description.place(joint.parent)
        before = turns[above.joint].T @ above.T if above.joint else above.T
        return robotics.RobotLink(
            mass=1.0,
            COM=[0.0, 0.0, 0.0],
            inertia=np.eye(3),
            jointType="Pz" if joint.type == "prismatic" else "Rz",
            parent=self.joint_names.index(above.joint) if above.joint else -1,
            preHT=before @ joint.T @ turns[joint.name],
        )

    def pose(self) -> list[Line]:
        """`JointHT` gives all moving frames; there is no call for one."""
        return [
            Line(
                "Robot.JointHT, last frame times tool",
                "r = robot.JointHT(q)[index] @ tool",
                {"robot": self.robot, "index": self.index, "tool": self.tool},
                "arrays",
            )
        ]

    def all_poses(self) -> list[Line]:
        """The frames have their z axis along the joint; turned back for the check only."""
        after = self.after
        return [
            Line(
                "Robot.JointHT",
                "r = robot.JointHT(q)",
                {"robot": self.robot},
                "arrays",
                read=lambda r, q: np.array([T @ back for T, back in zip(r, after, strict=True)]),
            )
        ]

    def jacobian(self) -> list[Line]:
        """At the tip's origin: it is given the point, as its documentation says."""
        return [
            Line(
                "Robot.JointHT + Robot.Jacobian",
                "HT = robot.JointHT(q); p = (HT[index] @ tool)[:3, 3]\n"
                "r = robot.Jacobian(HT, toolPosition=p, linkIndex=index)",
                {"robot": self.robot, "index": self.index, "tool": self.tool},
                "arrays",
            )
        ]


def _turn(joint: Joint) -> Floats:
    """The constant turn from the joint's own axes to axes whose z lies along the joint's axis."""
    T = np.eye(4)
    T[:3, :3] = onto_z(joint.axis)
    return T
