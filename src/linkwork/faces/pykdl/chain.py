"""Row S3-113: a chain of segments, one behind the other."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from linkwork.faces.pykdl.scalars import index, wrong
from linkwork.faces.pykdl.segment import Segment

if TYPE_CHECKING:
    from linkwork.faces.pykdl.core import Core


class Chain:
    """Segments in a row, from the base to the tip; `Chain(other)` is a copy.

    Positions of joints stand in the order of the chain; fixed joints have none.

    Raises: WrongTypeError (a TypeError) for other arguments.
    """

    __slots__ = ("_core", "_joints", "_segments")

    def __init__(self, *given: Any) -> None:
        if len(given) > 1 or (given and not isinstance(given[0], Chain)):
            raise wrong("Chain", "nothing, or a Chain to copy", *given)
        self._core: Core | None = None
        self._joints = 0
        self._segments: list[Segment] = []
        if given:
            self.addChain(given[0])
            self._core = given[0]._core

    def addSegment(self, segment: Segment) -> None:
        """Put a copy of a segment behind the last one. Solvers are to be made, or updated, then.

        Raises: WrongTypeError.
        """
        if not isinstance(segment, Segment):
            raise wrong("Chain.addSegment", "a Segment", segment)
        self._segments.append(Segment(segment))
        self._joints += segment.getJoint().getType() is not segment.getJoint().Fixed
        self._core = None

    def addChain(self, chain: Chain) -> None:
        """Put copies of the segments of another chain behind the last one.

        Raises: WrongTypeError.
        """
        if not isinstance(chain, Chain):
            raise wrong("Chain.addChain", "a Chain", chain)
        for segment in list(chain._segments):
            self.addSegment(segment)

    def getNrOfJoints(self) -> int:
        """How many joints move."""
        return self._joints

    def getNrOfSegments(self) -> int:
        """How many segments there are, those with fixed joints included."""
        return len(self._segments)

    def getSegment(self, nr: int) -> Segment:
        """A copy of a segment, from 0.

        Raises: ElementError (an IndexError) for one that is not there.
        """
        return Segment(self._segments[index(nr, len(self._segments), "Chain")])

    @property
    def segments(self) -> tuple[Segment, ...]:
        """The segments themselves."""
        return tuple(self._segments)

    @property
    def core(self) -> Core:
        """What computes: a robot of Linkwork, made when first asked for."""
        if self._core is None:
            from linkwork.faces.pykdl.core import Core  # noqa: PLC0415  loads what compiles

            self._core = Core(self.segments)
        return self._core

    def __getstate__(self) -> Any:
        return self._segments

    def __setstate__(self, state: Any) -> None:
        self.__init__()
        for segment in state:
            self.addSegment(segment)

    def __copy__(self) -> Chain:
        return Chain(self)

    def __deepcopy__(self, memo: dict[int, Any]) -> Chain:
        return Chain(self)

    def __repr__(self) -> str:
        return "[" + "\n".join([repr(segment) for segment in self._segments]) + "\n]"
