"""The robot of this face: links in a tree, over Linkwork's mechanism."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Sequence
from operator import add, mul
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

import linkwork as lw
from linkwork.algorithms.jacobian import Seen
from linkwork.algorithms.joint_transforms import Spatial
from linkwork.checks import real_array
from linkwork.errors import InputError, ShapeError
from linkwork.faces.exudyn_robotics.kinematic_tree import KinematicTree66, tree_of
from linkwork.faces.exudyn_robotics.links import (
    JOINTS,
    RobotBase,
    RobotLink,
    RobotTool,
)
from linkwork.faces.exudyn_robotics.systems import InSystems
from linkwork.faces.exudyn_robotics.transformations import (
    ModDHKK2HT,
    StdDH2HT,
    as_HT,
    as_HTs,
)
from linkwork.mechanism.assemble import FramePart, JointPart, LinkPart, Parts, assemble
from linkwork.mechanism.model import JointType, Mechanism

Floats = NDArray[np.float64]
HTs = list[Floats]

_AT_REST = [0.0] * 6
MODES = {"all": slice(0, 6), "trans": slice(0, 3), "rot": slice(3, 6)}


class Robot(InSystems):
    """A robot of links on joints that turn or slide: a chain, or a tree.

    ``gravity`` (3,) in m/s²; ``referenceConfiguration``, the joints' positions that models of it
    begin at, gets a zero for each link that is added without one.
    """

    def __init__(
        self,
        gravity: ArrayLike = (0.0, 0.0, -9.81),
        base: RobotBase | None = None,
        tool: RobotTool | None = None,
        referenceConfiguration: ArrayLike = (),
    ) -> None:
        self.gravity = np.array(gravity, np.float64)
        if self.gravity.shape != (3,):
            raise ShapeError(f"gravity is (3,), not {self.gravity.shape}")
        self.base = RobotBase() if base is None else base
        self.tool = RobotTool() if tool is None else tool
        self.referenceConfiguration = np.array(referenceConfiguration, np.float64)
        self.links: list[RobotLink] = []
        self.isSerialRobot = True
        self._made: tuple[Any, lw.Robot] | None = None

    # links

    def AddLink(self, robotLink: RobotLink) -> int:
        """Add a copy of a link, and give its index.

        Raises: InputError (a ValueError) for a parent that is not before it, and nothing is added.
        """
        index, link = len(self.links), copy.deepcopy(robotLink)
        if link.parent == -2:
            link.parent = index - 1
        if not -1 <= link.parent < index:
            raise InputError(
                f"the parent of link {index} is {link.parent}; it is an index before its own, "
                "-1 for the ground, or -2 for the link before"
            )
        serial = self.isSerialRobot and link.parent == index - 1
        if self.isSerialRobot and not serial and not np.array_equal(self.tool.HT, np.eye(4)):
            warnings.warn(
                "the robot is a tree now, and its tool is on the link that was added last",
                stacklevel=2,
            )
        self.isSerialRobot = serial
        self.links.append(link)
        missing = len(self.links) - len(self.referenceConfiguration)
        if missing > 0:
            padded = np.append(self.referenceConfiguration, np.zeros(missing))
            self.referenceConfiguration = padded
        return index

    def IsSerialRobot(self) -> bool:
        """Whether each link hangs on the one before it."""
        return self.isSerialRobot

    def GetLink(self, i: int) -> RobotLink:
        """The link of an index; IndexError where there is none."""
        return self.links[i]

    def HasParent(self, i: int) -> bool:
        """Whether a link hangs on another one, not on the ground."""
        return self.links[i].parent >= 0

    def GetParentIndex(self, i: int) -> int:
        """The index of the link that a link hangs on; -1 for the ground."""
        return self.links[i].parent

    def NumberOfLinks(self) -> int:
        """The number of links."""
        return len(self.links)

    def GetBaseHT(self) -> Floats:
        """The base's transformation (4, 4) in the world."""
        return self.base.HT

    def GetToolHT(self) -> Floats:
        """The tool's transformation (4, 4) in the last link."""
        return self.tool.HT

    # the core's robot

    def core(self) -> lw.Robot:
        """This robot as Linkwork's: compiled once for links, base and tool as they are now.

        Gravity is not part of it: where it counts, give ``gravity=robot.gravity`` with each call.
        """
        key = (
            self.base.HT.tobytes(),
            self.tool.HT.tobytes(),
            *(
                (k.jointType, k.parent, float(k.mass), k.COM.tobytes(), k.inertia.tobytes(),
                 k.preHT.tobytes(), k.localHT.tobytes())
                for k in self.links
            ),
        )  # fmt: skip
        if self._made is None or self._made[0] != key:
            self._made = key, lw.Robot(_mechanism(self), tip="tool" if self.links else None)
        return self._made[1]

    # kinematics

    def LinkHT(self, q: ArrayLike) -> HTs:
        """The transformation (4, 4) of each link's frame, at joint positions q.

        Raises: as `JointHT`.
        """
        n = len(self.links)
        return list(self.core().fk_all(self._positions(q))[2 * n + 1 : 3 * n + 1]) if n else []

    def JointHT(self, q: ArrayLike) -> HTs:
        """The transformation (4, 4) of each joint once it has moved, at joint positions q.

        What q has beyond a position for each joint is left alone.

        Raises: ShapeError (a ValueError) for fewer positions than joints.
        """
        n = len(self.links)
        return list(self.core().fk_all(self._positions(q))[1 : n + 1]) if n else []

    def _positions(self, q: ArrayLike) -> Floats:
        given, n = real_array(q, "q"), len(self.links)
        if given.ndim != 1 or len(given) < n:
            raise ShapeError(f"q has {n} positions, one for each link, not shape {given.shape}")
        return given[:n]

    def COMHT(self, HT: Sequence[Any]) -> HTs:
        """The transformation (4, 4) of each centre of mass, from those of `JointHT`.

        Raises: ShapeError (a ValueError) for fewer transformations than links.
        """
        local = np.array([link.localHT for link in self.links]).reshape(-1, 4, 4)
        poses = self._poses(HT) @ local
        centres = np.array([link.COM for link in self.links]).reshape(-1, 3, 1)
        poses[:, :3, 3:] += poses[:, :3, :3] @ centres
        return list(poses)

    def _poses(self, HT: Sequence[Any]) -> Floats:
        """Transformations (n, 4, 4) of all joints."""
        n = len(self.links)
        if len(HT) < n:
            raise ShapeError(f"HT has {len(HT)} transformations, and the robot {n} links")
        return as_HTs(HT[:n])

    def Jacobian(
        self,
        HT: Sequence[Any],
        toolPosition: ArrayLike = (),
        mode: str = "all",
        linkIndex: int | None = None,
    ) -> Floats:
        """The Jacobian (6, n) or (3, n) at a point of the world, from transformations of `JointHT`.

        Rows: velocity, then angular velocity, along the axes of the world; ``mode`` "trans" and
        "rot" have one of them. A column for each transformation, zero for joints that do not carry
        the link ``linkIndex``, by default that of the last transformation; -1 counts from it.
        ``toolPosition`` (3,) is by default the origin of the link's frame.

        Raises: InputError (a ValueError) for another mode; IndexError for a link that is not there;
        ShapeError (a ValueError) for more transformations than links, and another point.
        """
        if mode not in MODES:
            raise InputError(f"mode is 'all', 'trans' or 'rot', not {mode!r:.40}")
        poses = as_HTs(HT)
        if len(poses) > len(self.links):
            raise ShapeError(f"HT has {len(poses)} transformations, and {len(self.links)} links")
        index = range(len(poses))[-1 if linkIndex is None else linkIndex]
        point = np.asarray(toolPosition, np.float64)
        if not point.size:
            point = (poses[index] @ self.links[index].localHT)[:3, 3]
        elif point.shape != (3,):
            raise ShapeError(f"toolPosition is (3,), not {point.shape}")
        place, rows = point.tolist(), poses.tolist()
        columns = [_AT_REST] * len(rows)
        while index >= 0:
            link = self.links[index]
            linear, angular = _twist(link, rows[index], place)
            columns[index] = [*linear, *angular]
            index = link.parent
        return np.array(columns).T[MODES[mode]].copy()

    def StaticTorques(self, HT: Sequence[Any]) -> Floats:
        """Generalised forces (n,) of gravity, N m or N, from transformations of `JointHT`.

        What motors hold against them is the negative: `HoldingTorques`. The tool has no mass.

        Raises: ShapeError (a ValueError) for fewer transformations than links.
        """
        g = np.asarray(self.gravity, np.float64).tolist()
        poses = self._poses(HT)
        centres = [T[:3, 3].tolist() for T in self.COMHT(HT)]
        found = np.zeros(len(poses))
        mass = [float(link.mass) for link in self.links]
        moment = [[m * x for x in p] for m, p in zip(mass, centres, strict=True)]
        for k in reversed(range(len(found))):  # of all that the joint carries
            link = self.links[k]
            if mass[k]:
                velocity, _ = _twist(link, poses[k].tolist(), [x / mass[k] for x in moment[k]])
                found[k] = mass[k] * sum(map(mul, velocity, g))
            if link.parent >= 0:
                mass[link.parent] += mass[k]
                moment[link.parent] = list(map(add, moment[link.parent], moment[k]))
        return found

    def HoldingTorques(self, HT: Sequence[Any]) -> Floats:
        """Forces (n,) of the joints that hold the robot still, N m or N: -`StaticTorques`."""
        return -self.StaticTorques(HT)

    def GetKinematicTree66(self) -> KinematicTree66:
        """The tree of links in Plücker coordinates, with the base's transformation in it.

        Raises: UnsupportedFeatureError, also a ValueError, where a localHT is not the identity.
        """
        return tree_of(self)

    def BuildFromDictionary(self, robotDict: dict[str, Any]) -> None:
        """Build the robot from a dictionary of older models.

        Its keys are base and tool (with HT), gravity, referenceConfiguration and links, each with
        mass, COM, inertia and stdDH [theta, d, a, alpha] or modDHcraig [alpha, d, theta, r].

        Raises: InputError (a ValueError) for a link without parameters.
        """
        warnings.warn(
            "BuildFromDictionary is deprecated; use AddLink", DeprecationWarning, stacklevel=2
        )
        base, tool = as_HT(robotDict["base"]["HT"]), as_HT(robotDict["tool"]["HT"])
        made: list[RobotLink] = []
        for k, link in enumerate(robotDict["links"]):
            inertial = (link["mass"], link["COM"], link["inertia"])
            if "stdDH" in link:
                made.append(RobotLink(*inertial, localHT=StdDH2HT(link["stdDH"])))
            elif "modDHcraig" in link:
                pre, post = ModDHKK2HT(link["modDHcraig"])
                made.append(RobotLink(*inertial, preHT=pre, localHT=post))
            else:
                raise InputError(f"link {k} has neither stdDH nor modDHcraig")
        self.base.HT, self.tool.HT = base, tool
        self.gravity = np.array(robotDict["gravity"], np.float64)
        given = robotDict.get("referenceConfiguration", ())
        self.referenceConfiguration = np.array(given, np.float64)
        for link in made:
            self.AddLink(link)

    def __str__(self) -> str:
        return (
            f"gravity = {self.gravity}\nreferenceConfiguration = {self.referenceConfiguration}\n"
            f"base: \n{self.base}\ntool: \n{self.tool}\nlinks: \n{self.links}"
        )

    __repr__ = __str__


def _twist(link: RobotLink, T: list[list[float]], point: list[float]) -> Spatial:
    """The velocity and angular velocity of a point for a rate of 1 of a link's joint at T."""
    axis, turns = JOINTS[link.jointType]
    arm = [point[0] - T[0][3], point[1] - T[1][3], point[2] - T[2][3]]
    return Seen(T[:3], arm, None).twist(axis, turns)


def _mechanism(robot: Robot) -> Mechanism:
    """The mechanism: frames are the base, each link, each joint, and the tool."""
    links = [LinkPart("base")]
    joints: list[JointPart] = []
    frames: list[FramePart] = []
    for k, link in enumerate(robot.links):
        above = robot.links[link.parent].localHT if link.parent >= 0 else robot.base.HT
        place = above @ link.preHT
        local = link.localHT
        R = local[:3, :3]
        links.append(
            LinkPart(
                f"body{k}",
                float(link.mass),
                R @ link.COM + local[:3, 3],
                R @ link.inertia @ R.T,
            )
        )
        joints.append(
            JointPart(
                name=f"joint{k}",
                type=JointType.CONTINUOUS if link.turns else JointType.PRISMATIC,
                parent=f"body{link.parent}" if link.parent >= 0 else "base",
                child=f"body{k}",
                R=place[:3, :3],
                p=place[:3, 3],
                axis=link.axis,
            )
        )
        frames.append(FramePart(f"link{k}", f"body{k}", R, local[:3, 3]))
    if robot.links:
        last = robot.links[-1].localHT @ robot.tool.HT
        frames.append(FramePart("tool", f"body{len(links) - 2}", last[:3, :3], last[:3, 3]))
    return assemble(Parts(name="robot", links=links, joints=joints, frames=frames))
