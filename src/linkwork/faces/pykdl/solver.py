"""Row S3-120: what all solvers share, and the codes that they give."""
# A solver asks its chain whether it has grown.
# pyright: reportPrivateUsage=false

from __future__ import annotations

from typing import Any, ClassVar

from linkwork.faces.pykdl.chain import Chain
from linkwork.faces.pykdl.scalars import index, wrong

E_DEGRADED = 1
E_NOERROR = 0
E_NO_CONVERGE = -1
E_UNDEFINED = -2
E_NOT_UP_TO_DATE = -3
E_SIZE_MISMATCH = -4
E_MAX_ITERATIONS_EXCEEDED = -5
E_OUT_OF_RANGE = -6
E_NOT_IMPLEMENTED = -7
E_SVD_FAILED = -8

_TEXTS = {
    E_NOERROR: "No error",
    E_NO_CONVERGE: "Failed to converge",
    E_UNDEFINED: "Undefined value",
    E_DEGRADED: "Converged but degraded solution",
    E_NOT_UP_TO_DATE: "Internal data structures not up to date with Chain",
    E_SIZE_MISMATCH: "The size of the input does not match the internal state",
    E_MAX_ITERATIONS_EXCEEDED: "The maximum number of iterations is exceeded",
    E_OUT_OF_RANGE: "The requested index is out of range",
    E_NOT_IMPLEMENTED: "The requested function is not yet implemented",
    E_SVD_FAILED: "SVD failed",
}


class OtherWayError(Exception):
    """A compiled call does not take these arguments, or has no finite result."""


def otherwise(*given: Any) -> Any:
    """What compiled calls do then.

    Raises: OtherWayError, always.
    """
    raise OtherWayError


class SolverI:
    """What all solvers have: the code of the last call, its text, and an update.

    A call gives 0 where all is well, a code below 0 where it could not do what was asked, and one
    above 0 where the result is of less worth. A solver is made for a chain as it is; once that has
    grown, calls give -3 until `updateInternalDataStructures`.
    """

    texts: ClassVar[dict[int, str]] = {}
    """Codes of this kind of solver only."""

    def __init__(self, chain: Chain) -> None:
        if not isinstance(chain, Chain):
            raise wrong(type(self).__name__, "a Chain first", chain)
        self._chain = chain
        self._error = E_NOERROR
        self._update()

    def getError(self) -> int:
        """The code of the last call."""
        return self._error

    def strError(self, error: int) -> str:
        """What a code means, in words."""
        return self.texts.get(error) or _TEXTS.get(error) or "UNKNOWN ERROR"

    def updateInternalDataStructures(self) -> None:
        """Take the chain as it is now."""
        self._update()

    def _update(self) -> None:
        """Note how long the chain is."""
        content = self._content = self._chain._content
        self._core = content.core
        self._joints = content.joints
        self._segments = len(content.segments)

    def _current(self) -> bool:
        return self._chain._content is self._content

    def _set(self, code: int) -> int:
        self._error = code
        return code

    def _count(self, segment_nr: int) -> int:
        """The number of segments that is meant; all of them below 0. -1 for too many."""
        if segment_nr.__class__ is int and segment_nr < 0:
            return self._segments
        count = index(segment_nr, 2**31, "chain: a number of segments")
        return count if count <= self._segments else -1


def check(call: str, *pairs: Any) -> None:
    """Whether arguments have their types: values, and a type or several of each, in turn.

    Raises: WrongTypeError.
    """
    values, kinds = pairs[::2], pairs[1::2]
    for value, kind in zip(values, kinds, strict=True):
        if not isinstance(value, kind):
            takes = [
                " or ".join([one.__name__ for one in (k if isinstance(k, tuple) else (k,))])
                for k in kinds
            ]
            raise wrong(call, ", ".join(takes), *values)
