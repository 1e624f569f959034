"""Row S3-113: a chain of segments, one behind the other."""
# Chains read each other's slots.
# pyright: reportPrivateUsage=false

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from linkwork.faces.pykdl.scalars import index, wrong
from linkwork.faces.pykdl.segment import Segment

if TYPE_CHECKING:
    from linkwork.faces.pykdl.core import Core


class Content:
    """Segments in a row, which never change: copies of a chain share them, and what computes.

    Contents are equal where all numbers of their segments are, to the last bit.
    """

    __slots__ = ("_core", "_key", "joints", "segments")

    def __init__(self, segments: tuple[Segment, ...], joints: int) -> None:
        self.segments, self.joints = segments, joints
        self._key: tuple[bytes, ...] | None = None
        self._core: Core | None = None

    def with_segment(self, segment: Segment) -> Content:
        """These segments and a copy of another one behind them."""
        joint = segment.getJoint()
        moves = joint.getType() is not joint.Fixed
        return Content((*self.segments, Segment(segment)), self.joints + moves)

    @property
    def core(self) -> Core:
        """The core of the segments, found by their numbers or made."""
        if self._core is None:
            from linkwork.faces.pykdl.core import core_of  # noqa: PLC0415  loads what compiles

            self._core = core_of(self)
        return self._core

    @property
    def key(self) -> tuple[bytes, ...]:
        """The numbers of each segment."""
        if self._key is None:
            self._key = tuple([segment._bytes() for segment in self.segments])
        return self._key

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Content) and self.key == other.key

    def __hash__(self) -> int:
        return hash(self.key)


_EMPTY = Content((), 0)


class Chain:
    """Segments in a row, from the base to the tip; `Chain(other)` is a copy.

    Positions of joints stand in the order of the chain; fixed joints have none.

    Raises: WrongTypeError (a TypeError) for other arguments.
    """

    __slots__ = ("_content",)
    _content: Content
    """The segments, and what computes of them; replaced by another when the chain grows."""

    def __init__(self, *given: Any) -> None:
        if len(given) > 1 or (given and not isinstance(given[0], Chain)):
            raise wrong("Chain", "nothing, or a Chain to copy", *given)
        self._content = given[0]._content if given else _EMPTY

    def addSegment(self, segment: Segment) -> None:
        """Put a copy of a segment behind the last one. Solvers are to be made, or updated, then.

        Raises: WrongTypeError.
        """
        if not isinstance(segment, Segment):
            raise wrong("Chain.addSegment", "a Segment", segment)
        self._content = self._content.with_segment(segment)

    def addChain(self, chain: Chain) -> None:
        """Put copies of the segments of another chain behind the last one.

        Raises: WrongTypeError.
        """
        if not isinstance(chain, Chain):
            raise wrong("Chain.addChain", "a Chain", chain)
        for segment in chain._content.segments:
            self.addSegment(segment)

    def getNrOfJoints(self) -> int:
        """How many joints move."""
        return self._content.joints

    def getNrOfSegments(self) -> int:
        """How many segments there are, those with fixed joints included."""
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

    def __copy__(self) -> Chain:
        return Chain(self)

    def __deepcopy__(self, memo: dict[int, Any]) -> Chain:
        return Chain(self)

    def __repr__(self) -> str:
        if not self._content.segments:
            return "[]"
        return "[" + "\n".join([repr(segment) for segment in self._content.segments]) + "\n]"
