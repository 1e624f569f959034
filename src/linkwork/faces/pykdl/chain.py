"""Rows S3-111 to S3-114: joints, segments, chains of segments, and trees of them."""
# Chains and segments read each other's slots, and the values' own.
# pyright: reportPrivateUsage=false

from __future__ import annotations

from collections.abc import Sequence
from enum import IntEnum
from functools import cached_property
from math import isfinite
from struct import error as StructError
from struct import pack
from typing import TYPE_CHECKING, Any

from linkwork.errors import InputError
from linkwork.faces.pykdl.frame import Frame
from linkwork.faces.pykdl.inertias import RigidBodyInertia
from linkwork.faces.pykdl.rotation import Rotation
from linkwork.faces.pykdl.values import (
    ABSENT,
    Arguments,
    Copied,
    WrongTypeError,
    index,
    number,
    wrong,
)
from linkwork.faces.pykdl.vectors import Twist, Vector

if TYPE_CHECKING:
    from linkwork.faces.pykdl.core import Core

_JOINT_TAKES = (
    "a name (or none), then a type about the frame's own axes, as Joint.RotZ, or an origin, an "
    "axis and Joint.RotAxis or Joint.TransAxis; then scale, offset, inertia, damping, stiffness"
)
_DEFAULTS = {"scale": 1.0, "offset": 0.0, "inertia": 0.0, "damping": 0.0, "stiffness": 0.0}


class JointType(IntEnum):
    """The motion of a joint; also attributes of `Joint`."""

    RotAxis = 0
    RotX = 1
    RotY = 2
    RotZ = 3
    TransAxis = 4
    TransX = 5
    TransY = 6
    TransZ = 7
    Fixed = 8

    def __str__(self) -> str:
        return f"JointType.{self.name}"


class JointTypeError(WrongTypeError, RuntimeError):
    """An axis where the type has its own, or none where it needs one."""


_AXIS = {
    JointType.RotX: (1.0, 0.0, 0.0),
    JointType.RotY: (0.0, 1.0, 0.0),
    JointType.RotZ: (0.0, 0.0, 1.0),
    JointType.TransX: (1.0, 0.0, 0.0),
    JointType.TransY: (0.0, 1.0, 0.0),
    JointType.TransZ: (0.0, 0.0, 1.0),
    JointType.Fixed: (0.0, 0.0, 0.0),
}
_WITH_AXIS = (JointType.RotAxis, JointType.TransAxis)
_TURNS = (JointType.RotAxis, JointType.RotX, JointType.RotY, JointType.RotZ)


class Joint(Copied):
    """A joint: `Joint()` is fixed, and there are these, each with a name in front or without.

    `Joint(Joint.RotZ)` turns about the z axis of the frame that it stands in, `Joint(Joint.TransX)`
    slides along x. `Joint(origin, axis, Joint.RotAxis)` turns about an axis of any length through
    ``origin``, `Joint.TransAxis` slides along it. `Joint(other)` is a copy. A joint never changes.

    ``scale`` is radians or metres for each unit of the position, ``offset`` (rad, m) is added in
    `pose` (a `Segment` takes it out again), ``inertia`` (kg m², kg) is a rotor's, which counts in
    dynamics; ``damping`` and ``stiffness`` are kept and count nowhere, as in the original.

    Raises: JointTypeError (a TypeError and a RuntimeError) for a type that does not fit;
    InputError for an axis without a direction; WrongTypeError (a TypeError).
    """

    __slots__ = ("_axis", "_name", "_numbers", "_origin", "_type")

    JointType = JointType
    RotAxis = JointType.RotAxis
    RotX = JointType.RotX
    RotY = JointType.RotY
    RotZ = JointType.RotZ
    TransAxis = JointType.TransAxis
    TransX = JointType.TransX
    TransY = JointType.TransY
    TransZ = JointType.TransZ
    Fixed = JointType.Fixed

    def __init__(self, *given: Any, **named: Any) -> None:
        if len(given) == 1 and isinstance(given[0], Joint) and not named:
            self.__setstate__(given[0].__getstate__())
            return
        args = Arguments(given, named, "Joint", _JOINT_TAKES)
        self._name = args.take("name", str, "NoName", optional=True)
        origin = args.take("origin", Vector, ABSENT, optional=True)
        axis = args.take("axis", Vector, ABSENT, optional=True)
        self._type = args.take("type", JointType, JointType.Fixed)
        numbers = [(k, args.take(k, object, value)) for k, value in _DEFAULTS.items()]
        args.end()
        self._numbers = tuple([number(value, name) for name, value in numbers])
        if any(value.__class__ is not float for value in self._numbers):
            raise args.error
        if (origin is ABSENT) is not (axis is ABSENT):
            raise args.error
        self._origin, self._axis = _placed(self._type, origin, axis)

    def getName(self) -> str:
        """The name; "NoName" where none was given."""
        return self._name

    def getType(self) -> JointType:
        """The type."""
        return self._type

    def getTypeName(self) -> str:
        """The name of the type, as "RotAxis"."""
        return self._type.name

    def JointAxis(self) -> Vector:
        """The axis, of length 1; zero for a fixed joint."""
        return Vector(*self._axis)

    def JointOrigin(self) -> Vector:
        """A point on the axis."""
        return Vector(*self._origin)

    def pose(self, q: float) -> Frame:
        """The frame behind the joint, in the frame before it, at a position."""
        angle = self._numbers[0] * number(q, "a position") + self._numbers[1]
        if self.turns:
            return Frame(Rotation.Rot(self.JointAxis(), angle), self.JointOrigin())
        return Frame(self.JointOrigin() + self.JointAxis() * angle)

    def twist(self, qdot: float) -> Twist:
        """The twist of the frame behind the joint, at its origin, at a velocity."""
        velocity = self.JointAxis() * (self._numbers[0] * number(qdot, "a velocity"))
        return Twist(Vector(), velocity) if self.turns else Twist(velocity, Vector())

    @property
    def turns(self) -> bool:
        """Whether it is a rotation."""
        return self._type in _TURNS

    @property
    def moves(self) -> bool:
        """Whether it has a position."""
        return self._type is not JointType.Fixed

    @property
    def scale(self) -> float:
        """Radians or metres for each unit of the position."""
        return self._numbers[0]

    @property
    def inertia(self) -> float:
        """The inertia of its rotor, kg m² or kg for a unit of acceleration."""
        return self._numbers[2]

    def _bytes(self) -> bytes:
        """Its type and all its numbers, without the name."""
        return pack("b11d", self._type, *self._origin, *self._axis, *self._numbers)

    def reversed(self, tip: Frame) -> Joint:
        """The same joint seen from the other side, in the frame of the tip behind it."""
        if not self.moves:
            return Joint(self._name)
        back = tip.Inverse()
        kind = JointType.RotAxis if self.turns else JointType.TransAxis
        axis = -(back.M * self.JointAxis())
        scale, _, *others = self._numbers
        return Joint(self._name, back * self.JointOrigin(), axis, kind, scale, 0.0, *others)

    def __getstate__(self) -> Any:
        return self._name, self._type, self._origin, self._axis, self._numbers

    def __setstate__(self, state: Any) -> None:
        self._name, self._type, self._origin, self._axis, self._numbers = state

    def __repr__(self) -> str:
        axis, origin = self.JointAxis(), self.JointOrigin()
        return f"{self._name}:[{self._type.name}, axis: {axis!r}, origin{origin!r}]"


def _placed(kind: JointType, origin: Any, axis: Any) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """The point on the axis, and its direction."""
    if kind not in _WITH_AXIS:
        if axis is not ABSENT:
            text = f"Joint.{kind.name} has its own axis: give none, or Joint.RotAxis or TransAxis"
            raise JointTypeError(text)
        return (0.0, 0.0, 0.0), _AXIS[kind]
    if axis is ABSENT:
        text = f"Joint.{kind.name} takes an origin and an axis: Joint(Vector(...), Vector(...), "
        raise JointTypeError(f"{text}Joint.{kind.name})")
    point: tuple[Any, ...] = tuple(origin.ToArray().tolist())
    direction = Vector(axis)
    length = float(direction.Norm())
    if not (isfinite(length) and length > 0.0 and all(isfinite(x) for x in point)):
        raise InputError(f"a joint's axis is a finite Vector that is not zero, not {axis!r}")
    return point, tuple((direction / length).ToArray().tolist())


_SEGMENT_TAKES = "a name (or none), a Joint, a Frame (the tip) and a RigidBodyInertia, or a Segment"


class Segment(Copied):
    """`Segment(name, joint, f_tip, I)`, all of them optional; `Segment(other)` is a copy.

    The joint stands in the frame of the segment before. ``f_tip`` is the segment's own frame at
    position 0, in the same frame; the joint moves it. ``I`` is about the origin of the segment's
    own frame, in its axes.

    Raises: WrongTypeError (a TypeError) for other arguments.
    """

    __slots__ = ("_behind", "_content", "_inertia", "_joint", "_name", "_tip")
    _joint: Joint
    _tip: Frame
    _inertia: RigidBodyInertia
    _behind: Frame | None
    _content: bytes | None

    def __init__(self, *given: Any, **named: Any) -> None:
        if len(given) == 1 and isinstance(given[0], Segment) and not named:
            self._copy(given[0])
            return
        args = Arguments(given, named, "Segment", _SEGMENT_TAKES)
        name = args.take("name", str, "NoName", optional=True)
        joint = args.take("joint", Joint, Joint())
        tip = args.take("f_tip", Frame, Frame())
        inertia = args.take("I", RigidBodyInertia, RigidBodyInertia())
        args.end()
        self.__setstate__((name, Joint(joint), Frame(tip), inertia))

    def getName(self) -> str:
        """The name; "NoName" where none was given."""
        return self._name

    def getJoint(self) -> Joint:
        """The joint, which never changes."""
        return self._joint

    def getFrameToTip(self) -> Frame:
        """A copy of the segment's frame at position 0, in the frame of the segment before."""
        return Frame(self._tip)

    def getInertia(self) -> RigidBodyInertia:
        """A copy of the inertia, about the origin of the segment's own frame, in its axes."""
        return self._inertia.__copy__()

    def setInertia(self, Iin: RigidBodyInertia) -> None:
        """Set the inertia; chains that the segment was added to have their own copy of it."""
        if not isinstance(Iin, RigidBodyInertia):
            raise wrong("Segment.setInertia", "a RigidBodyInertia", Iin)
        self._inertia = Iin.__copy__()
        self._content = None

    def pose(self, q: float) -> Frame:
        """The segment's frame at a position of its joint, in the frame of the segment before."""
        return self._joint.pose(q) * self._after_joint()

    def twist(self, q: float, qdot: float) -> Twist:
        """The twist of the segment's frame at its origin, in the axes of the segment before."""
        moved = self._joint.pose(q)
        return self._joint.twist(qdot).RefPoint(moved.M * self._after_joint().p)

    def reversed(self, name: str, inertia: RigidBodyInertia) -> Segment:
        """The way back: from the segment's own frame to the one before, which gets these."""
        return Segment(name, self._joint.reversed(self._tip), self._tip.Inverse(), inertia)

    def _bytes(self) -> bytes:
        """All numbers of the segment, without names: what is computed of it depends on them."""
        found = self._content
        if found is None:
            joint, tip = self._joint, self._tip
            try:
                found = joint._bytes() + pack("12d", *tip.M._m, *tip.p._v)
                found += pack("13d", *self._inertia._numbers())
            except (StructError, TypeError):
                raise wrong("Segment", "single values, no batches", tip, self._inertia) from None
            self._content = found
        return found

    def _copy(self, other: Segment) -> None:
        """Become another; parts are shared, since nothing ever writes into them."""
        self._name, self._joint, self._tip = other._name, other._joint, other._tip
        self._inertia, self._behind = other._inertia, other._behind
        self._content = other._content

    def _after_joint(self) -> Frame:
        """The tip in the frame that the joint moves."""
        found = self._behind
        if found is None:
            found = self._behind = self._joint.pose(0.0).Inverse() * self._tip
        return found

    def __getstate__(self) -> Any:
        return self._name, self._joint, self._tip, self._inertia

    def __setstate__(self, state: Any) -> None:
        name, joint, tip, inertia = state
        self._name, self._joint = name, joint
        self._tip, self._inertia = Frame(tip), inertia.__copy__()
        self._behind = self._content = None

    def __repr__(self) -> str:
        return f"{self._name}:[{self._joint!r},\n tip: \n{self._tip!r}]"


class Content:
    """Segments in a row, which never change: copies of a chain share them, and what computes.

    Contents are equal where all numbers of their segments are, to the last bit.
    """

    def __init__(self, segments: tuple[Segment, ...], joints: int) -> None:
        self.segments, self.joints = segments, joints

    @cached_property
    def core(self) -> Core:
        """The core of the segments, found by their numbers or made."""
        from linkwork.faces.pykdl.core import core_of  # noqa: PLC0415  loads what compiles

        return core_of(self)

    @cached_property
    def key(self) -> tuple[bytes, ...]:
        """The numbers of each segment."""
        return tuple([segment._bytes() for segment in self.segments])

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Content) and self.key == other.key

    def __hash__(self) -> int:
        return hash(self.key)


_EMPTY = Content((), 0)


class Chain(Copied):
    """Segments in a row, from the base to the tip; `Chain(other)` is a copy.

    Positions of joints stand in the order of the chain; fixed joints have none.

    Raises, in all methods: WrongTypeError (a TypeError) for other arguments.
    """

    __slots__ = ("_content",)
    _content: Content
    """The segments, and what computes of them; replaced by another when the chain grows."""

    def __init__(self, *given: Any) -> None:
        if len(given) > 1 or (given and not isinstance(given[0], Chain)):
            raise wrong("Chain", "nothing, or a Chain to copy", *given)
        self._content = given[0]._content if given else _EMPTY

    def addSegment(self, segment: Segment) -> None:
        """Put a copy of a segment behind the last one. Solvers are to be made, or updated, then."""
        if not isinstance(segment, Segment):
            raise wrong("Chain.addSegment", "a Segment", segment)
        segments, joints = self._content.segments, self._content.joints
        self._content = Content((*segments, Segment(segment)), joints + segment.getJoint().moves)

    def addChain(self, chain: Chain) -> None:
        """Put copies of the segments of another chain behind the last one."""
        if not isinstance(chain, Chain):
            raise wrong("Chain.addChain", "a Chain", chain)
        for segment in chain._content.segments:
            self.addSegment(segment)

    def getNrOfJoints(self) -> int:
        """The number of joints that move."""
        return self._content.joints

    def getNrOfSegments(self) -> int:
        """The number of segments, those with fixed joints included."""
        return len(self._content.segments)

    def getSegment(self, nr: int) -> Any:
        """A copy of a Segment, from 0; None of a chain without segments.

        Raises: ElementError (an IndexError) for one that is not there in a chain that has some.
        """
        segments = self._content.segments
        if nr == 0 and not segments:
            return None
        return Segment(segments[index(nr, len(segments), "Chain")])

    @property
    def segments(self) -> tuple[Segment, ...]:
        """Copies of all segments."""
        return tuple([Segment(segment) for segment in self._content.segments])

    @property
    def core(self) -> Core:
        """The core: a robot of Linkwork, made when first asked for, kept by its numbers."""
        return self._content.core

    def __getstate__(self) -> Any:
        return list(self._content.segments)

    def __setstate__(self, state: Any) -> None:
        self.__init__()
        for segment in state:
            self.addSegment(segment)

    def __repr__(self) -> str:
        segments = self._content.segments
        return "[" + "\n".join(map(repr, segments)) + "\n]" if segments else "[]"


_MOST_CHAINS = 64
"""So many chains are kept by a tree, for programs that ask for them at each call."""


class Tree(Copied):
    """Segments by name, each behind another or behind the root; `Tree(other)` is a copy.

    Raises, in all methods: WrongTypeError (a TypeError) for other arguments.
    """

    __slots__ = ("_chains", "_children", "_joints", "_numbers", "_parents", "_root", "_segments")
    _root: str

    def __init__(self, root_name: Any = "root") -> None:
        if isinstance(root_name, Tree):
            self.__setstate__(root_name.__getstate__())
            return
        if not isinstance(root_name, str):
            raise wrong("Tree", "the name of its root, or a Tree to copy", root_name)
        self._root = root_name
        self._segments: dict[str, Segment] = {root_name: Segment(root_name)}
        self._parents: dict[str, str] = {}
        self._children: dict[str, list[str]] = {root_name: []}
        self._numbers: dict[str, int] = {root_name: 0}
        self._joints = 0
        self._chains: dict[tuple[str, str], Chain] = {}

    def addSegment(self, segment: Segment, hook_name: str) -> bool:
        """Put a copy of a segment behind another one, or behind the root.

        False where there is no such segment, or one of the new one's name already.
        """
        if not isinstance(segment, Segment) or not isinstance(hook_name, str):
            raise wrong("Tree.addSegment", "a Segment and a name", segment, hook_name)
        name = segment.getName()
        if hook_name not in self._segments or name in self._segments:
            return False
        self._chains = {}
        moves = segment.getJoint().moves
        self._segments[name], self._parents[name] = Segment(segment), hook_name
        self._children[name], self._numbers[name] = [], self._joints if moves else 0
        self._children[hook_name].append(name)
        self._joints += moves
        return True

    def addChain(self, chain: Chain, hook_name: str) -> bool:
        """Put copies of the segments of a chain behind a segment; False as `addSegment`."""
        if not isinstance(chain, Chain) or not isinstance(hook_name, str):
            raise wrong("Tree.addChain", "a Chain and a name", chain, hook_name)
        return self._all([(segment, None) for segment in chain.segments], hook_name)

    def addTree(self, tree: Tree, hook_name: str) -> bool:
        """Put copies of the segments of a tree, without its root, behind a segment.

        False as `addSegment`.
        """
        if not isinstance(tree, Tree) or not isinstance(hook_name, str):
            raise wrong("Tree.addTree", "a Tree and a name", tree, hook_name)
        hooks = {name: above for name, above in tree._parents.items() if above != tree._root}
        parts = [(tree._segments[name], hooks.get(name, hook_name)) for name in tree._parents]
        return self._all(parts, hook_name)

    def _all(self, parts: Sequence[tuple[Segment, str | None]], hook: str) -> bool:
        """Add all, each behind the segment named or behind the last; or nothing where one fails.

        True where there is nothing to be added, wherever to, as in the original.
        """
        if not parts:
            return True
        names = [segment.getName() for segment, _ in parts]
        taken = any(name in self._segments for name in names) or len(set(names)) < len(names)
        if hook not in self._segments or taken:
            return False
        for segment, above in parts:
            self.addSegment(segment, above or hook)
            hook = segment.getName()
        return True

    def getNrOfJoints(self) -> int:
        """The number of joints that move."""
        return self._joints

    def getNrOfSegments(self) -> int:
        """The number of segments, without the root."""
        return len(self._parents)

    def getChain(self, chain_root: str, chain_tip: str) -> Chain:
        """The chain from one segment to another; joints on the way to the root are turned round.

        Scales and rotors stay, where the original drops them for joints that are turned round. A
        segment that does not exist gives the empty chain, as there.

        Raises: WrongTypeError for what are no names.
        """
        if not isinstance(chain_root, str) or not isinstance(chain_tip, str):
            raise wrong("Tree.getChain", "two names of segments", chain_root, chain_tip)
        known = self._chains  # replaced as a whole when the tree grows
        found = known.get((chain_root, chain_tip))
        if found is None:
            found = self._chain(chain_root, chain_tip)
            if len(known) >= _MOST_CHAINS:
                known.clear()
            known[chain_root, chain_tip] = found
        return Chain(found)

    def _chain(self, root: str, tip: str) -> Chain:
        if root not in self._segments or tip not in self._segments:
            return Chain()
        down, up = self._way(tip), self._way(root)
        while down and up and down[-1] == up[-1]:
            down.pop()
            up.pop()
        chain = Chain()
        for name in up:
            above = self._parents[name]
            inertia = self._segments[above].getInertia()
            chain.addSegment(self._segments[name].reversed(above, inertia))
        for name in reversed(down):
            chain.addSegment(self._segments[name])
        return chain

    def _way(self, name: str) -> list[str]:
        """The segments from one to the root, without the root."""
        way: list[str] = []
        while name != self._root:
            way.append(name)
            name = self._parents[name]
        return way

    def __getstate__(self) -> Any:
        return self._root, [(self._segments[name], self._parents[name]) for name in self._parents]

    def __setstate__(self, state: Any) -> None:
        root, parts = state
        self.__init__(root)
        for segment, above in parts:
            self.addSegment(segment, above)

    def __repr__(self) -> str:
        texts: dict[str, str] = {}
        for name in [*reversed(self._parents), self._root]:  # what is behind comes first
            inner = "".join([f"{texts.pop(child)}\t" for child in self._children[name]])
            texts[name] = f"{name}(q_nr: {self._numbers[name]})\n \t{inner}\n"
        return texts[self._root]
