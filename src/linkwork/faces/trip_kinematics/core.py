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

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from linkwork.errors import UnsupportedFeatureError
from linkwork.faces.trip_kinematics.mappings import DerivedLoops, actuated_key
from linkwork.faces.trip_kinematics.Transformation import (
    EULER_ORDERS,
    QUATERNION,
    TRANSLATION,
    Transformation,
    quaternion_of,
)
from linkwork.faces.trip_kinematics.values import UnknownKeyError, Values, is_symbol
from linkwork.mechanism.assemble import (
    FramePart,
    JointPart,
    LinkPart,
    Mimic,
    Parts,
    assemble,
)
from linkwork.mechanism.edit import parts_of
from linkwork.mechanism.loops import Closures
from linkwork.mechanism.model import Floats, JointType, Mechanism
from linkwork.ops.numpy import NUMPY
from linkwork.robot import Robot
from linkwork.spatial import rotations

# core


_FREE = (*TRANSLATION, *QUATERNION)
"""The positions of a floating joint, in their order in q."""
_AXES = dict(zip("xyz", np.eye(3), strict=True))
_TURNS = {"rx": rotations.rotation_x, "ry": rotations.rotation_y, "rz": rotations.rotation_z}


class Slot(NamedTuple):
    """Where in q a value of a transformation stands."""

    member: str
    key: str
    place: int


class Branch(NamedTuple):
    """The transformations of a group in order, and what the first stands on (None: the ground)."""

    group: str
    parent: str | None
    members: Sequence[Transformation]


class Sphere(NamedTuple):
    """A transformation with a quaternion that moves: its frame, and the one it stands on."""

    member: str
    frame: str
    parent: str
    start: int  # of x y z w x y z in q
    constant: tuple[str, ...]  # what of these is no state


class Core:
    """What is computed of a robot. It holds no state: robots share it with their copies.

    ``closures``: the derived mappings of groups by name, whose loops are closed in it.
    """

    def __init__(
        self, branches: Sequence[Branch], closures: Mapping[str, DerivedLoops] | None = None
    ) -> None:
        tree = _Tree(branches)
        m = assemble(Parts("robot", tree.links, tree.joints, tree.frames))
        joints = {(value.member, value.key): value.joint for value in tree.moving}
        attachments = [
            _attachment(group, loops, joints, m.joint_names)
            for group, loops in (closures or {}).items()
        ]
        m = attached(m, attachments) if attachments else m
        self.robot = Robot(m)
        self.actuated = {  # by group: the joint for each key of the actuated state
            attachment.group: {
                key: attachment.actuated[joint]
                for key, joint in (closures or {})[attachment.group].actuated.items()
            }
            for attachment in attachments
        }
        self._others = any(loops.others for loops in (closures or {}).values())
        self.ends: Mapping[str, str] = tree.ends
        self.rest: Floats = np.zeros(m.n_q)
        for attachment in attachments:
            _begin(attachment, m, self.rest)
        self.slots: list[Slot] = []
        self.spheres: list[Sphere] = []
        for value in tree.moving:
            start = int(m.q_start[m.joint(value.joint)])
            if value.sphere is None:
                self.slots.append(Slot(value.member, value.key, start))
                continue
            sphere = value.sphere._replace(start=start)
            self.spheres.append(sphere)
            for k, key in enumerate(_FREE):
                if key in sphere.constant:
                    self.rest[start + k] = value.constants.get(key, 0.0)
                else:
                    self.slots.append(Slot(value.member, key, start + k))
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
        parts = [
            range(int(m.q_start[c]), int(m.q_start[c + 1]))
            for c in m.coordinates_moving(m.frame(frame))
        ]
        return [slot for slot in self.slots if any(slot.place in part for part in parts)]

    def joints_of(self, members: Iterable[str]) -> list[str]:
        """The joints of the robot that are values of some transformations."""
        m, names = self.robot.mechanism, set(members)
        places = {slot.place for slot in self.slots if slot.member in names}
        return [
            name
            for c, name in enumerate(m.joint_names)
            if places.intersection(range(int(m.q_start[c]), int(m.q_start[c + 1])))
        ]

    def closed(
        self, q: Floats, members: Iterable[str], actuated: Mapping[str, Mapping[str, float]]
    ) -> Floats:
        """q with the loops closed at the values of some transformations, where that is possible.

        ``actuated``: states of the groups whose loops they are, from which these joints begin:
        that decides between assemblies.
        """
        m, chain = self.robot.mechanism, self.joints_of(members)
        known = [k for joint in chain for k in self._places(m.joint(joint))]
        begin, more = q.copy(), dict[str, int]()
        for group, joint_of in self.actuated.items():
            for key, joint in joint_of.items():
                if joint not in chain:
                    more[joint] = int(m.q_start[m.joint(joint)])
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
            group: {key: float(q[m.q_start[m.joint(joint)]]) for key, joint in joint_of.items()}
            for group, joint_of in self.actuated.items()
        }

    def _places(self, joint: int) -> range:
        """Where the positions of a joint stand in q."""
        m = self.robot.mechanism
        return range(int(m.q_start[joint]), int(m.q_start[joint + 1]))

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


def _attachment(
    group: str,
    loops: DerivedLoops,
    joints: Mapping[tuple[str, str], str],
    taken: Sequence[str],
) -> Attachment:
    """What of a mechanism goes where."""
    for member, key in loops.virtual:
        if (member, key) not in joints:
            raise UnsupportedFeatureError(f"'{key}' of '{member}' cannot be closed in a quaternion")
    leaders = {joint: joints[where] for where, joint in loops.virtual.items()}
    actuated = {
        joint: leaders.get(joint) or (key if key not in taken else f"{group}: {key}")
        for key, joint in loops.actuated.items()
    }
    return Attachment(group, loops.robot.mechanism, loops.near, leaders, actuated)


def _begin(attachment: Attachment, m: Mechanism, rest: Floats) -> None:
    """Where searches begin in the joints of a mechanism that are not the chain's."""
    own = attachment.mechanism
    for c, joint in enumerate(own.joint_names):
        if joint not in attachment.leaders:
            start = int(m.q_start[m.joint(attachment.joint(joint))])
            values = attachment.near[int(own.q_start[c]) : int(own.q_start[c + 1])]
            rest[start : start + len(values)] = values


class _Moving(NamedTuple):
    """A joint, and the value it stands for, or the transformation where it is a floating one."""

    member: str
    key: str
    joint: str
    sphere: Sphere | None
    constants: Mapping[str, Any]


class _Tree:
    """Links, joints and frames from the ground upwards."""

    def __init__(self, branches: Sequence[Branch]) -> None:
        names = {member.get_name() for branch in branches for member in branch.members}
        self._taken = names | {branch.group for branch in branches}
        self.links: list[LinkPart] = []
        self.joints: list[JointPart] = []
        self.frames: list[FramePart] = []
        self.moving: list[_Moving] = []
        self.ends: dict[str, str] = {}
        self._links_of: dict[str, str] = {}  # what others may stand on
        ground = self._link("ground")
        for branch in branches:
            at = ground if branch.parent is None else self._known(branch)
            for member in branch.members:
                at = self._member(member, at)
                self._links_of[member.get_name()] = at
            self._links_of[branch.group] = at
            if branch.group not in names:
                self.frames.append(FramePart(branch.group, at))
                at = branch.group
            self.ends[branch.group] = at

    def _known(self, branch: Branch) -> str:
        """The link that a branch stands on."""
        found = self._links_of.get(str(branch.parent))
        if found is None:
            raise UnknownKeyError(f"parent of '{branch.group}'", branch.parent, [*self._links_of])
        return found

    def _member(self, member: Transformation, parent: str) -> str:
        """Add the joints and the links of a transformation; its own link."""
        name, values = member.get_name(), member.values
        moving = {*member.states, *(key for key, v in values.items() if is_symbol(v))}
        if any(key in moving for key in QUATERNION):
            return self._floating(member, parent, moving)
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
            self.moving.append(_Moving(name, key, joint.name, None, {}))
            at, turn, p = str(joint.child), np.eye(3), np.zeros(3)
        if member.convention == "quaternion":
            turn = np.asarray(rotations.from_quaternion(NUMPY, np.array(quaternion_of(values))))
        return str(self._joint(JointType.FIXED, (at, name), (turn, p), name=(name, "end")).child)

    def _floating(self, member: Transformation, parent: str, moving: Iterable[str]) -> str:
        name = member.get_name()
        joint = self._joint(
            JointType.FLOATING, (parent, name), (np.eye(3), np.zeros(3)), name=(name, "q")
        )
        constant = tuple(key for key in _FREE if key not in moving)
        sphere = Sphere(name, name, parent, 0, constant)
        self.moving.append(_Moving(name, "", joint.name, sphere, member.values))
        return name

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


# attachments


class Attachment(NamedTuple):
    """The mechanism of a group."""

    group: str
    mechanism: Mechanism
    near: Floats  # (nq,), where searches begin
    leaders: Mapping[str, str]  # the chain's joint for each virtual joint
    actuated: Mapping[str, str]  # the name of each actuated joint in the whole

    def own(self, name: str) -> str:
        """The name of a link, frame or loop of the mechanism in the whole."""
        return f"{self.group}: {name}"

    def joint(self, name: str) -> str:
        """That of a joint."""
        return self.leaders.get(name) or self.actuated.get(name) or self.own(name)


def attached(m: Mechanism, attachments: Sequence[Attachment]) -> Mechanism:
    """The mechanism of a robot with those of its groups beside it.

    Raises: UnsupportedFeatureError for a mechanism on a floating base.
    """
    whole = parts_of(m)
    root = whole.links[0].name
    for each in attachments:
        other, own = parts_of(each.mechanism), each.own
        if other.base != "fixed":
            raise UnsupportedFeatureError(f"the mechanism of group '{each.group}' is not fixed")
        whole.links += [LinkPart(own(link.name)) for link in other.links]
        name, ground = own("ground joint"), own(other.links[0].name)
        whole.joints.append(JointPart(name=name, type=JointType.FIXED, parent=root, child=ground))
        whole.joints += [_joint(joint, each) for joint in other.joints]
        whole.frames += [_frame(frame, each) for frame in other.frames]
        loops = [
            replace(p, name=own(p.name), frame_a=own(p.frame_a), frame_b=own(p.frame_b))
            for p in other.closures.loops
        ]
        couplings = [
            replace(c, joint=each.joint(c.joint), leaders=tuple(map(each.joint, c.leaders)))
            for c in other.closures.couplings
        ]
        there = whole.closures
        whole.closures = Closures(
            (*there.loops, *loops), (*there.couplings, *couplings), there.actuated
        )
    return assemble(whole)


def _joint(joint: JointPart, attachment: Attachment) -> JointPart:
    own, leader, mimic = attachment.own, attachment.leaders.get(joint.name), joint.mimic
    if mimic is not None:
        mimic = mimic._replace(leader=attachment.joint(mimic.leader))
    elif leader is not None:
        mimic = Mimic(leader)
    return replace(
        joint,
        name=own(joint.name) if mimic is not None else attachment.joint(joint.name),
        parent=None if joint.parent is None else own(joint.parent),
        child=None if joint.child is None else own(joint.child),
        mimic=mimic,
    )


def _frame(frame: FramePart, attachment: Attachment) -> FramePart:
    own = attachment.own
    return replace(
        frame,
        name=own(frame.name),
        link=own(frame.link),
        fixed_to=None if frame.fixed_to is None else own(frame.fixed_to),
        carrier=None if frame.carrier is None else own(frame.carrier),
        described=None if frame.described is None else LinkPart(own(frame.name)),
    )
