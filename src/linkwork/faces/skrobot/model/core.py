"""The robot of Linkwork behind a model of this face, made from its links and joints as they are.

Links that the model has, and, without mass, those on the way between them, are its links; joints
that carry them are its joints. What is above the model (the torso above an arm's links) is the
world of the core's robot: it may move without the core being made anew. Frames on the way that are
no links lie in the placements of joints. A joint with several degrees of freedom becomes joints
with one each, in their order, with links without mass between them; a follower follows there too.

A model keeps its core until what it was made of is another one.
"""

# pyright: reportPrivateUsage=false
from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from linkwork.errors import InputError, ShapeError, UnknownNameError
from linkwork.faces.skrobot.coordinates.base import CascadedCoords, Coordinates, carriers
from linkwork.faces.skrobot.model.joint import STAMP, Joint, leader_of, leaders_of
from linkwork.faces.skrobot.model.link import Link
from linkwork.mechanism.assemble import JointPart, LinkPart, Mimic, Parts, assemble
from linkwork.mechanism.edit import with_loops
from linkwork.mechanism.model import JointType, Mechanism
from linkwork.mechanism.rigid import joint_pose
from linkwork.robot import Robot
from linkwork.spatial.poses import pose_matrix

if TYPE_CHECKING:
    from linkwork.faces.skrobot.model.robot_model import CascadedLink

Floats = NDArray[np.float64]
Base = Literal["planar", "6dof"] | None

_BASES = {"planar": JointType.PLANAR, "6dof": JointType.FLOATING}
_AT_REST = {"planar": (0.0, 0.0, 0.0), "6dof": (0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0)}
_SLIDE, _TURN = JointType.PRISMATIC, JointType.CONTINUOUS
_MOTIONS = {3: (_SLIDE, _SLIDE, _TURN), 6: (_SLIDE, _SLIDE, _SLIDE, _TURN, _TURN, _TURN)}
"""The kinds of the degrees of freedom of joints with several, in their order."""


K = TypeVar("K")
V = TypeVar("V")


class Kept(dict[K, V]):
    """Things that a model keeps and can make anew: a copy of it begins without any."""

    def __deepcopy__(self, memo: dict[int, Any]) -> Kept[K, V]:
        return type(self)()

    def __reduce__(self) -> tuple[type[Kept[K, V]], tuple[()]]:
        return type(self), ()


@dataclass(frozen=True, slots=True)
class Member:
    """A link of the core, the link that it hangs on (None: the core's root), and what lies between.

    ``T_above_link`` (4, 4) is the pose of the frames between them that are no links, without the
    link's own.
    """

    link: Link
    above: Link | None
    T_above_link: Floats | None

    def make_up(self, outer: bool) -> tuple[Any, ...]:
        """All that the core's link and joint are made of, to be compared.

        ``outer`` says whether links that hang on none hang on the core's root.
        """
        link, joint = self.link, self.link._mover
        between = None if self.T_above_link is None else self.T_above_link.tobytes()
        own: tuple[Any, ...] = (link.name, id(link), id(self.above), between, *_inertial(link))
        if joint is not None:
            return own + joint._make_up()
        on_root = self.above is not None or outer
        return (*own, link._local().tobytes()) if on_root else own


class CoreModel:
    """The core's robot of a model, and the way from one to the other.

    `robot` has its base at the model's root link, or at the frame that the root link's joint
    stands on; `T_world_root` is where that is. With ``base`` "planar" or "6dof" the root moves
    against where it is now: the first columns are those of a planar or floating joint.
    """

    def __init__(self, model: CascadedLink, base: Base = None) -> None:
        if base is not None and base not in _BASES:
            raise InputError(f"base is None, 'planar' or '6dof', not {base!r:.40}")
        self.base: Base = base
        self._model = model
        self._stamp = STAMP.now
        self._lists = (list(model.link_list), list(model.joint_list))
        self._root, self._members = _members_of(model)
        self._made_of = _make_up(self._members)
        self._volatile = self._needs_looking()
        self._make()

    def _needs_looking(self) -> bool:
        """Whether what the core is made of may have changed without a new stamp: arrays in place,
        frames between links."""
        outer = self._root_is_outer
        return any(
            member.T_above_link is not None
            or (outer and member.link.parent is None)
            or member.link._handed_out
            or (member.link._mover is not None and member.link._mover.joint_dof > 1)
            for member in self._members
        )

    def is_current(self) -> bool:
        """Whether the model is still made of the same."""
        model, stamp = self._model, STAMP.now
        if not (_same(model.link_list, self._lists[0]) and _same(model.joint_list, self._lists[1])):
            return False
        if stamp == self._stamp and not self._volatile:
            return True
        root, members = _members_of(model)
        if root is not self._root or _make_up(members) != self._made_of:
            return False
        self._stamp, self._members = stamp, members
        self._volatile = self._needs_looking()
        return True

    # making it

    def _make(self) -> None:
        names = Names()
        self._name_of: dict[int, str] = {}
        self._link_of: dict[int, Link] = {}
        for member in self._members:
            self._name_of[id(member.link)] = names.unique(member.link.name or "link")
            self._link_of[id(member.link)] = member.link
        self._parts_of: dict[int, tuple[str, ...]] = {}
        movers = [each.link._mover for each in self._members if each.link._mover is not None]
        for joint in _with_leaders(movers):
            name = names.unique(joint.name or "joint")
            n = joint.joint_dof
            several = tuple(names.unique(f"{name}/{k}") for k in range(n)) if n > 1 else (name,)
            self._parts_of[id(joint)] = several
        own = {id(link) for link in self._lists[0]}
        links = [
            LinkPart(name, *inertial_numbers(each.link)) if id(each.link) in own else LinkPart(name)
            for each in self._members
            for name in (self._name_of[id(each.link)],)
        ]
        joints: list[tuple[int, list[JointPart]]] = []
        order = {id(joint): k for k, joint in enumerate(self._lists[1])}
        root = None if self._root_is_outer else self._name_of[id(self._members[0].link)]
        if root is None:
            root = names.unique("world" if self._root is None else self._root.name or "world")
            links.insert(0, LinkPart(root))
        for member in self._members:
            if member.above is None and not self._root_is_outer:
                continue
            above = root if member.above is None else self._name_of[id(member.above)]
            joint = member.link._mover
            own = self._joint_parts(member, above, links, names)
            joints.append((len(order) if joint is None else order.get(id(joint), len(order)), own))
        inside = {id(joint) for joint in movers}
        joints += [
            (len(order), [self._leading(joint)])
            for joint in _with_leaders(movers)
            if id(joint) not in inside
        ]
        listed = [part for _, parts in sorted(joints, key=_rank) for part in parts]
        self.root_name = root
        if self.base is not None:
            world, moving = names.unique("world"), names.unique(f"{self.base} base")
            links.insert(0, LinkPart(world))
            kind = _BASES[self.base]
            base = JointPart(name=moving, type=kind, parent=world, child=root)
            listed.insert(0, base)
            self._base_joint = moving
        name = str(self._model.name or "robot")
        m = assemble(Parts(name, links, listed, inertias_accepted=True))
        record = self._model._loops_record()
        if record is not None:
            m = with_loops(m, record)
        self.robot = Robot(m)
        self._find_columns()

    @property
    def _root_is_outer(self) -> bool:
        return _is_outer(self._members)

    def _joint_parts(
        self, member: Member, above: str, links: list[LinkPart], names: Names
    ) -> list[JointPart]:
        """The joints of the core that carry a link; links between them are added."""
        link, joint = member.link, member.link._mover
        own = self._name_of[id(link)]
        frame = link._local() if joint is None else joint._T_fixed
        if member.T_above_link is not None:
            frame = member.T_above_link @ frame
        place: dict[str, Any] = {"R": frame[:3, :3], "p": frame[:3, 3]}
        ends: dict[str, Any] = {"parent": above, "child": own, **place}
        if joint is None or joint.joint_dof == 0:
            label = names.unique(f"{own} fixed") if joint is None else self._parts_of[id(joint)][0]
            return [JointPart(name=label, type=JointType.FIXED, **ends)]
        if joint.joint_dof == 1:
            return [_single(self._parts_of[id(joint)][0], joint, self._mimic(joint), ends)]
        found: list[JointPart] = []
        several = self._parts_of[id(joint)]
        axes = np.asarray(joint.axis, np.float64)
        limits = (joint.min_angle, joint.max_angle, joint.max_joint_velocity)
        lower, upper, velocity = (np.broadcast_to(each, (joint.joint_dof,)) for each in limits)
        for k, kind in enumerate(_MOTIONS[joint.joint_dof]):
            last = k == joint.joint_dof - 1
            child = own if last else names.unique(f"{several[k]} link")
            if not last:
                links.append(LinkPart(child))
            limit = limits_of(kind, float(lower[k]), float(upper[k]))
            how: dict[str, Any] = {
                **ends,
                **limit,
                "child": child,
                "velocity": _positive(velocity[k]),
            }
            found.append(JointPart(name=several[k], axis=axes[k], **how))
            ends = {"parent": child}
        return found

    def _mimic(self, joint: Joint) -> Mimic | None:
        if joint._leader is None:
            return None
        leader, rate, shift = joint._leader
        return Mimic(self._parts_of[id(leader)][0], rate, shift)

    def _leading(self, joint: Joint) -> JointPart:
        """A joint of another part of the robot, which joints of this one follow."""
        name, ends = self._parts_of[id(joint)][0], {"parent": None, "child": None}
        return _single(name, joint, self._mimic(joint), ends)

    def _find_columns(self) -> None:
        """Note which joint each number of q and v belongs to."""
        m = self.robot.mechanism
        there = set(m.joint_names)
        self._rows: dict[int, tuple[slice, slice]] = {}
        self._singles: list[tuple[int, Joint]] = []
        self._several: list[tuple[slice, Joint]] = []
        movers = [each.link._mover for each in self._members if each.link._mover is not None]
        for joint in _with_leaders(movers):
            names = self._parts_of[id(joint)]
            if joint.joint_dof == 0 or names[0] not in there:
                continue
            self._rows[id(joint)] = in_q, _ = rows_of(m, names)
            if joint.joint_dof == 1:
                self._singles.append((in_q.start, joint))
            else:
                self._several.append((in_q, joint))
        self._base_rows = slice(0, 0), slice(0, 0)
        if self.base is not None:
            c = m.joint(self._base_joint)
            self._base_rows = m.q_slice(c), m.v_slice(c)

    # what it says

    @property
    def joints(self) -> list[Joint]:
        """The joints that have columns of their own, in the order of these; no followers."""
        found = [(rows[1].start, joint) for joint, rows in self._own_joints()]
        return [joint for _, joint in sorted(found, key=_rank)]

    def _own_joints(self) -> Iterator[tuple[Joint, tuple[slice, slice]]]:
        for joint in [*(j for _, j in self._singles), *(j for _, j in self._several)]:
            yield joint, self._rows[id(joint)]

    def columns(self, joint: Joint | None) -> slice:
        """The numbers of v, and columns of Jacobians, that are a joint's; None means the base.

        Those of a follower are its leader's.

        Raises: UnknownNameError for a joint that moves nothing of the model.
        """
        return self._rows_of(joint)[1]

    def positions(self, joint: Joint | None) -> slice:
        """The numbers of q that are a joint's; None means the base. As `columns`."""
        return self._rows_of(joint)[0]

    def _rows_of(self, joint: Joint | None) -> tuple[slice, slice]:
        if joint is None:
            return self._base_rows
        found = self._rows.get(id(leader_of(joint)))
        if found is None:
            names = [each.name or "" for each, _ in self._own_joints()]
            raise UnknownNameError("moving joint of the model", str(joint.name), names)
        return found

    def q(self) -> Floats:
        """The present configuration (nq,); a base is at rest."""
        q = np.zeros(self.robot.n_q)
        if self.base is not None:
            q[self._base_rows[0]] = _AT_REST[self.base]
        for k, joint in self._singles:
            q[k] = joint._q
        for rows, joint in self._several:
            q[rows] = joint._q
        return q

    def set_q(self, q: ArrayLike) -> None:
        """Move the model's joints to a configuration (nq,), and the model itself with a base.

        Raises: ShapeError, InputError.
        """
        values = np.asarray(q, np.float64)
        if values.shape != (self.robot.n_q,):
            raise ShapeError(f"q is ({self.robot.n_q},), not {values.shape}")
        if not np.isfinite(values).all():
            raise InputError("q must be finite")
        if self.base is not None:
            R, p = joint_pose(_BASES[self.base], values[self._base_rows[0]])
            self._move_root(self.T_world_root() @ pose_matrix(R, p))
        numbers = values.tolist()
        for k, joint in self._singles:
            joint.joint_angle(numbers[k])
        for rows, joint in self._several:
            joint.joint_angle(values[rows])

    def _move_root(self, T_world_root: Floats) -> None:
        """Put the root there, with all that hangs on the highest frame that is the model's own."""
        root: Any = self._root if self._root_is_outer else self._members[0].link
        frame: Any = root
        while frame is not None and frame is not self._model:
            frame = frame.parent
        moved: Any = self._model if frame is not None else root
        if moved is None:
            raise InputError(
                "the links of this model hang on no common frame, so it has no base to move; "
                "attach its root link to it: robot.assoc(root_link)"
            )
        T = T_world_root @ np.linalg.inv(self.T_world_root()) @ moved._world()
        moved.newcoords(Coordinates(T[:3, 3], T[:3, :3]), relative_coords="world")

    def T_world_root(self) -> Floats:
        """The pose (4, 4) of the core's root in the world now."""
        if not self._root_is_outer:
            return self._members[0].link._world().copy()
        return np.eye(4) if self._root is None else self._root._world().copy()

    def link_name(self, link: Link) -> str:
        """The core's name of a link of the model.

        Raises: UnknownNameError.
        """
        try:
            return self._name_of[id(link)]
        except KeyError:
            raise UnknownNameError(
                "link of the model", str(link.name), list(self._name_of.values())
            ) from None

    def frame(self, coords: CascadedCoords) -> tuple[str, Floats]:
        """The link that a frame hangs on, by the core's name, and the frame's pose in it (4, 4).

        What lies between, joints that are not the model's included, is taken as it is now.

        Raises: InputError (a ValueError) for a frame that does not hang on the model.
        """
        passed: list[Floats] = []
        at: Any = coords
        while isinstance(at, CascadedCoords):
            name = self._name_of.get(id(at))
            if name is None and (at is self._root and self._root_is_outer):
                name = self.root_name
            if name is not None:
                if len(passed) == 1:  # most frames hang on the link itself
                    return name, passed[0].copy()
                return name, reduce(np.dot, reversed(passed), np.eye(4))
            passed.append(at._local())
            at = at.parent
        raise InputError(
            f"the frame '{getattr(coords, 'name', coords)}' does not hang on a link of "
            f"'{self._model.name}': attach it (link.assoc(frame)), or give one that does"
        )


# ---- the links of a model


def _members_of(model: CascadedLink) -> tuple[CascadedCoords | None, list[Member]]:
    """The links of the core, each after the one it hangs on, and the frame above all of them."""
    links: dict[int, Link] = {id(link): link for link in model.link_list}
    for joint in model.joint_list:
        if joint.child_link is not None:
            links.setdefault(id(joint.child_link), joint.child_link)
    waiting = list(links.values())
    roots: list[Link] = []
    while waiting:  # links on the way between others are links of the core as well
        link = waiting.pop()
        passed: list[Link] = []
        at = link.parent
        while at is not None and id(at) not in links:
            if isinstance(at, Link):
                passed.append(at)
            at = at.parent
        if at is None:
            roots.append(link)
        else:
            links.update((id(each), each) for each in passed)
    hung_on: list[Any] = [root.parent for root in roots]
    common = _common_frame(hung_on)
    for root in roots:
        at = root.parent
        while at is not None and at is not common:
            if isinstance(at, Link):
                links.setdefault(id(at), at)
            at = at.parent
    members = [_member(link, links, common) for link in links.values()]
    return common, _parents_first(members)


def _member(link: Link, links: dict[int, Link], common: CascadedCoords | None) -> Member:
    """The member that a link hangs on, and the pose of the frames between."""
    at: Any = link.parent
    between: list[Floats] = []
    while at is not None and at is not common and id(at) not in links:
        between.append(at._local())
        at = at.parent
    above = links.get(id(at)) if at is not None else None
    return Member(link, above, reduce(np.dot, reversed(between)) if between else None)


def _common_frame(frames: Sequence[CascadedCoords | None]) -> CascadedCoords | None:
    """The lowest frame that all of these hang on, or are; None for the world."""
    if not frames or any(frame is None for frame in frames):
        return None
    first = carriers(frames[0])
    depth = {id(frame): k for k, frame in enumerate(first)}
    lowest = 0
    for frame in frames[1:]:
        met = next((depth[id(at)] for at in carriers(frame) if id(at) in depth), None)
        if met is None:
            return None
        lowest = max(lowest, met)
    return first[lowest]


def _parents_first(members: list[Member]) -> list[Member]:
    """Members with every one after the one that it hangs on, otherwise in their order."""
    by_link = {id(each.link): each for each in members}
    placed: set[int] = set()
    found: list[Member] = []
    for each in members:
        above: list[Member] = []
        at: Member | None = each
        while at is not None and id(at.link) not in placed:
            above.append(at)
            at = None if at.above is None else by_link[id(at.above)]
        for member in reversed(above):
            placed.add(id(member.link))
            found.append(member)
    return found


def _is_outer(members: Sequence[Member]) -> bool:
    """Whether the core's root is a frame above the model's links, not one of them."""
    roots = sum(each.above is None for each in members)
    return roots != 1 or members[0].link._mover is not None


def _make_up(members: Sequence[Member]) -> list[tuple[Any, ...]]:
    """All that a core is made of, to be compared."""
    outer = _is_outer(members)
    return [each.make_up(outer) for each in members]


def _with_leaders(joints: Sequence[Joint]) -> list[Joint]:
    """Joints, then those that they follow and that are not among them."""
    found = {id(joint): joint for joint in joints}
    for joint in joints:
        for way in leaders_of(joint):
            found.setdefault(id(way.leader), way.leader)
    return list(found.values())


# ---- parts


def _single(name: str, joint: Joint, mimic: Mimic | None, ends: dict[str, Any]) -> JointPart:
    """The core's joint of one with one degree of freedom."""
    slides = joint.type == "prismatic"
    kind = JointType.PRISMATIC if slides else JointType.REVOLUTE
    return JointPart(
        name=name,
        axis=joint.axis,
        mimic=mimic,
        velocity=_positive(joint.max_joint_velocity),
        effort=_positive(joint.max_joint_torque),
        **limits_of(kind, joint.min_angle, joint.max_angle),
        **ends,
    )


def rows_of(m: Mechanism, names: Sequence[str]) -> tuple[slice, slice]:
    """The numbers of q and of v that belong to joints of the core one after the other."""
    first, last = m.joint(names[0]), m.joint(names[-1])
    return (
        slice(m.q_slice(first).start, m.q_slice(last).stop),
        slice(m.v_slice(first).start, m.v_slice(last).stop),
    )


def limits_of(kind: JointType, lower: float, upper: float) -> dict[str, Any]:
    """The type and the limits of a joint; one that turns without limits is continuous."""
    bounds = {
        "lower": lower if math.isfinite(lower) else None,
        "upper": upper if math.isfinite(upper) else None,
    }
    if kind is not JointType.PRISMATIC:
        free = bounds["lower"] is None and bounds["upper"] is None
        kind = JointType.CONTINUOUS if free else JointType.REVOLUTE
    return {"type": kind, **bounds}


def _positive(value: Any) -> float | None:
    """A limit of a velocity or force; None where it limits nothing or says nothing."""
    number = float(value)
    return number if 0.0 < number < math.inf else None


def inertial_numbers(link: Link) -> tuple[float, Floats, Floats]:
    """Mass, centre (3,) and inertia about it (3, 3) that count; zero where they are not known."""
    mass = 0.0 if link._mass is None else link._mass
    centre = np.zeros(3) if link._centroid is None else link._centroid.copy()
    inertia = np.zeros((3, 3)) if link._inertia is None else link._inertia.copy()
    return mass, centre, inertia


def _inertial(link: Link) -> tuple[Any, ...]:
    """The same, to be compared."""
    arrays = (link._centroid, link._inertia)
    return link._mass, *(None if each is None else each.tobytes() for each in arrays)


class Names:
    """Names that are given once each."""

    def __init__(self) -> None:
        self._taken: set[str] = set()

    def unique(self, name: str) -> str:
        """This name, or one like it that is free."""
        free, k = name, 2
        while free in self._taken:
            free, k = f"{name} ({k})", k + 1
        self._taken.add(free)
        return free


def _same(a: Sequence[object], b: Sequence[object]) -> bool:
    """Whether two lists hold the same objects, which are equal to nothing else."""
    return (a if isinstance(a, list) else list(a)) == b


def _rank(pair: tuple[int, object]) -> int:
    return pair[0]
