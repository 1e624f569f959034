"""Row S3-112: a segment, which is a joint, a frame behind it and what has mass there."""
# Its numbers are read out of its parts' own slots.
# pyright: reportPrivateUsage=false

from __future__ import annotations

from struct import error as StructError
from struct import pack
from typing import Any

from linkwork.faces.pykdl.frame import Frame
from linkwork.faces.pykdl.inertias import RigidBodyInertia
from linkwork.faces.pykdl.joint import Joint
from linkwork.faces.pykdl.scalars import ABSENT, wrong
from linkwork.faces.pykdl.twist import Twist

_TAKES = "a name (or none), a Joint, a Frame (the tip) and a RigidBodyInertia, or a Segment"
_PARTS = (("joint", Joint), ("f_tip", Frame), ("I", RigidBodyInertia))


class Segment:
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
        rest, by_name = list(given), dict(named)
        name = rest.pop(0) if rest and isinstance(rest[0], str) else by_name.pop("name", "NoName")
        parts: list[Any] = []
        for key, kind in _PARTS:
            part = rest.pop(0) if rest else by_name.pop(key, ABSENT)
            parts.append(kind() if part is ABSENT else part)
            if not isinstance(parts[-1], kind):
                raise wrong("Segment", _TAKES, *given, *named.values())
        if rest or by_name or not isinstance(name, str):
            raise wrong("Segment", _TAKES, *given, *named.values())
        joint, tip, inertia = parts
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
        """Set the inertia; chains that the segment was added to have their own copy of it.

        Raises: WrongTypeError.
        """
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
        """All numbers of the segment, without names: what is computed of it depends on them.

        Raises: WrongTypeError where a part is a batch.
        """
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

    def __copy__(self) -> Segment:
        return Segment(self)

    def __deepcopy__(self, memo: dict[int, Any]) -> Segment:
        return Segment(self)

    def __getstate__(self) -> Any:
        return self._name, self._joint, self._tip, self._inertia

    def __setstate__(self, state: Any) -> None:
        name, joint, tip, inertia = state
        self._name, self._joint = name, joint
        self._tip, self._inertia = Frame(tip), inertia.__copy__()
        self._behind = self._content = None

    def __repr__(self) -> str:
        return f"{self._name}:[{self._joint!r},\n tip: \n{self._tip!r}]"
