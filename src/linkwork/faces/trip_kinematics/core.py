"""The robot of `linkwork` behind a robot of this face: a joint for each state variable.

A transformation becomes up to six joints, first those along x, y and z, then its angles in their
order; what is constant lies in the placements of the joints. A quaternion of which a part moves
becomes a floating joint, whose constant values stand in q like others. Links are named as the
transformations, joints NAME_KEY.

Mechanisms with loops, which mappings are derived from, are attached to the ground beside the tree,
and their virtual joints follow those of the groups' chains. The loops then hold the chains to what
they can do.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np

from linkwork.errors import UnsupportedFeatureError
from linkwork.faces.trip_kinematics.KinematicGroup import KinematicGroup
from linkwork.faces.trip_kinematics.mappings import DerivedLoops, actuated_key
from linkwork.faces.trip_kinematics.Transformation import (
    EULER_ORDERS,
    QUATERNION,
    TRANSLATION,
    Transformation,
    quaternion_of,
)
from linkwork.faces.trip_kinematics.values import UnknownKeyError, Values, is_symbol
from linkwork.mechanism.assemble import FramePart, JointPart, LinkPart, Parts, assemble
from linkwork.mechanism.edit import Attachment, with_attached
from linkwork.mechanism.model import Floats, JointType
from linkwork.ops.numpy import NUMPY
from linkwork.robot import Robot
from linkwork.spatial import rotations

# core


_FREE = (*TRANSLATION, *QUATERNION)
"""The positions of a floating joint, in their order in q."""
_AXES = dict(zip("xyz", np.eye(3), strict=True))
_TURNS = {"rx": rotations.rotation_x, "ry": rotations.rotation_y, "rz": rotations.rotation_z}


class Slot(NamedTuple):
    """The place in q of a value of a transformation."""

    member: str
    key: str
    place: int


class Sphere(NamedTuple):
    """A transformation with a quaternion that moves, and the frame that it stands on."""

    member: str
    parent: str
    start: int  # of x y z w x y z in q
    constant: tuple[str, ...]  # what of these is no state


class Core:
    """The computations of a robot. They hold no state: robots share them with their copies.

    ``closures``: the derived mappings of groups by name, whose loops are closed in it.
    """

    def __init__(
        self, groups: Iterable[KinematicGroup], closures: Mapping[str, DerivedLoops] | None = None
    ) -> None:
        tree, closed = _Tree(groups), closures or {}
        m = assemble(Parts("robot", tree.links, tree.joints, tree.frames))
        attachments: list[Attachment] = []
        self.actuated: dict[str, dict[str, str]] = {}
        """By group: the joint for each key of the actuated state."""
        for group, loops in closed.items():
            for member, key in loops.virtual:
                if (member, key) not in tree.joint_of:
                    text = f"'{key}' of '{member}' cannot be closed in a quaternion"
                    raise UnsupportedFeatureError(text)
            leaders = {joint: tree.joint_of[where] for where, joint in loops.virtual.items()}
            self.actuated[group] = own = {
                key: leaders.get(joint) or (key if key not in m.joint_names else f"{group}: {key}")
                for key, joint in loops.actuated.items()
            }
            names = {joint: own[key] for key, joint in loops.actuated.items()}
            attachments.append(Attachment(group, loops.robot.mechanism, leaders, names))
        m = with_attached(m, attachments) if attachments else m
        self.robot = Robot(m)
        self._others = any(loops.others for loops in closed.values())
        self.ends: Mapping[str, str] = tree.ends
        self.rest: Floats = np.zeros(m.n_q)
        for each in attachments:  # where searches begin in joints that are not the chain's
            own, near = each.mechanism, closed[each.name].near
            for c, joint in enumerate(own.joint_names):
                if joint not in each.leaders:
                    self.rest[m.q_slice(m.joint(each.joint(joint)))] = near[own.q_slice(c)]
        start = {name: m.q_slice(c).start for c, name in enumerate(m.joint_names)}
        self.slots = [Slot(member, key, start[joint] + k) for member, key, joint, k in tree.moving]
        self.spheres = [
            Sphere(member, parent, start[joint], constant)
            for member, parent, joint, constant in tree.spheres
        ]
        for joint, k, value in tree.constants:
            self.rest[start[joint] + k] = value
        self.rest.setflags(write=False)

    def frame(self, endeffector: Any) -> str:
        """The frame at the end of a group.

        Raises: UnknownKeyError (a KeyError).
        """
        try:
            return self.ends[endeffector]
        except (KeyError, TypeError):
            raise UnknownKeyError("end effector", endeffector, list(self.ends)) from None

    def on_the_way(self, frame: str) -> list[Slot]:
        """The slots that the pose of a frame depends on."""
        m = self.robot.mechanism
        moving = set(m.q_indices(m.coordinates_moving(m.frame(frame))))
        return [slot for slot in self.slots if slot.place in moving]

    def joints_of(self, members: Iterable[str]) -> list[str]:
        """The joints of the robot that are values of some transformations."""
        names = set(members)
        m = self.robot.mechanism
        moved = [m.joint_of_q(slot.place) for slot in self.slots if slot.member in names]
        return [name for name in m.joint_names if name in moved]

    def closed(
        self, q: Floats, members: Iterable[str], actuated: Mapping[str, Mapping[str, float]]
    ) -> Floats:
        """q with the loops closed at the values of some transformations, where that is possible.

        ``actuated``: states of the groups whose loops they are, from which these joints begin:
        that decides between assemblies.
        """
        m, chain = self.robot.mechanism, self.joints_of(members)
        known = m.q_indices(map(m.joint, chain))
        begin, more = q.copy(), dict[str, int]()
        for group, joint_of in self.actuated.items():
            for key, joint in joint_of.items():
                if joint not in chain:
                    more[joint] = m.q_slice(m.joint(joint)).start
                    begin[more[joint]] = actuated[group][key]
        if not (more or self._others):
            return q
        if self._others:  # the joints that are in neither state go first: they must not decide
            both = [*known, *more.values()]
            begin = self.robot.assembler([*chain, *more]).solve(begin[both], begin).q
        found = self.robot.assembler(chain).solve(q[known], begin)
        return found.q if bool(found.success) else q

    def actuated_states(self, q: Floats) -> dict[str, Values]:
        """The actuated states at q of the groups whose loops are closed in it."""
        m = self.robot.mechanism
        return {
            group: {key: float(q[m.q_slice(m.joint(j)).start]) for key, j in joint_of.items()}
            for group, joint_of in self.actuated.items()
        }

    def configuration(self, values: Mapping[str, Mapping[str, Any]]) -> Any:
        """q (nq,) at the values of the transformations: an array, or a list where one is an SX."""
        q: list[Any] = self.rest.tolist()
        symbolic = False
        for member, key, place in self.slots:
            q[place] = value = values[member][key]
            symbolic = symbolic or not isinstance(value, float)
        for sphere in self.spheres:
            parts = q[sphere.start + 3 : sphere.start + 7]
            if all(isinstance(part, float) and part == 0.0 for part in parts):
                q[sphere.start + 3] = 1.0
        return q if symbolic else np.array(q)


class _Tree:
    """Links, joints and frames from the ground upwards."""

    def __init__(self, groups: Iterable[KinematicGroup]) -> None:
        names = {name for group in groups for name in group.members}
        self._taken = names | {group.get_name() for group in groups}
        self.links: list[LinkPart] = []
        self.joints: list[JointPart] = []
        self.frames: list[FramePart] = []
        self.joint_of: dict[tuple[str, str], str] = {}  # values that are joints of their own
        self.moving: list[tuple[str, str, str, int]] = []  # value, its joint, and which number of q
        self.spheres: list[tuple[str, str, str, tuple[str, ...]]] = []
        self.constants: list[tuple[str, int, float]] = []  # numbers of floating joints
        self.ends: dict[str, str] = {}
        ground = self._link("ground")
        links: dict[str, str] = {}  # what others may stand on
        for group in groups:
            name = group.get_name()
            at = ground if group.parent == name else links[group.parent]
            for member in group.members.values():
                links[member.get_name()] = at = self._member(member, at)
            links[name] = at
            if name not in names:
                self.frames.append(FramePart(name, at))
                at = name
            self.ends[name] = at

    def _member(self, member: Transformation, parent: str) -> str:
        """Add the joints and the links of a transformation; its own link."""
        name, values = member.get_name(), member.values
        moving = {*member.states, *(key for key, v in values.items() if is_symbol(v))}
        if any(key in moving for key in QUATERNION):
            joint = self._joint(
                JointType.FLOATING, (parent, name), (np.eye(3), np.zeros(3)), name=(name, "q")
            ).name
            for k, key in enumerate(_FREE):
                if key in moving:
                    self.moving.append((name, key, joint, k))
                else:
                    self.constants.append((joint, k, values.get(key, 0.0)))
            constant = tuple(key for key in _FREE if key not in moving)
            self.spheres.append((name, parent, joint, constant))
            return name
        at, turn, p = parent, np.eye(3), np.zeros(3)
        for key in (*TRANSLATION, *EULER_ORDERS[member.euler]):
            value = values.get(key, 0.0)
            if key not in moving:
                if key in TRANSLATION:
                    p = p + value * _AXES[key[1]]
                elif value != 0.0:
                    turn = turn @ _TURNS[key](NUMPY, np.float64(value))
                continue
            kind = JointType.PRISMATIC if key in TRANSLATION else JointType.CONTINUOUS
            ends = (at, f"{name}/{key}")
            joint = self._joint(kind, ends, (turn, p), axis=_AXES[key[1]], name=(name, key))
            self.joint_of[name, key] = joint.name
            self.moving.append((name, key, joint.name, 0))
            at, turn, p = str(joint.child), np.eye(3), np.zeros(3)
        if member.convention == "quaternion":
            turn = np.asarray(rotations.from_quaternion(NUMPY, np.array(quaternion_of(values))))
        return str(self._joint(JointType.FIXED, (at, name), (turn, p), name=(name, "end")).child)

    def _joint(
        self,
        kind: JointType,
        ends: tuple[str, str],
        placement: tuple[Any, Any],
        *,
        name: tuple[str, str],
        axis: Any = None,
    ) -> JointPart:
        """Add a joint and the link that it carries."""
        parent, child = ends
        exact = child == name[0]
        joint = JointPart(
            name=self._unique(actuated_key(*name)),
            type=kind,
            parent=parent,
            child=self._link(child, exact=exact),
            R=placement[0],
            p=placement[1],
            **({} if axis is None else {"axis": axis}),
        )
        self.joints.append(joint)
        return joint

    def _link(self, name: str, *, exact: bool = False) -> str:
        own = name if exact else self._unique(name)
        self.links.append(LinkPart(own))
        return own

    def _unique(self, name: str) -> str:
        while name in self._taken:
            name += "'"
        self._taken.add(name)
        return name
